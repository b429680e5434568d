/*
 * deflate_pack.c - see deflate_pack.h: zlib, libdeflate, and how much effort to spend.
 *
 * A few samples, 16 KB in total, are compressed with low and with full effort. If the difference is
 * less than 0.6 %, low effort is used. That is the case for one MB in fifteen of compiled
 * libraries, and for nearly all code with few repetitions.
 */
#include "archive/deflate_pack.h"

#include <limits.h>
#include <stdatomic.h>
#include <string.h>
#include <zlib.h>

#ifdef ROCKIT_HAVE_LIBDEFLATE
#include <libdeflate.h>
#endif

#include "archive/deflate_join.h"
#include "base/alloc.h"
#include "base/num.h"

enum { NO_HEADER = -15, MEMORY = 9, BEST = 9, FLUSH_BYTES = 16 };
enum { SAMPLES = 4, SAMPLE_BYTES = 4096, SAMPLED = SAMPLES * SAMPLE_BYTES };
enum { WORTH_LOOKING = 128 << 10, GAIN_PARTS = 170 };
enum { LITTLE = 2, LEAST_SPLIT = 5 }; /* levels: at 4, sampling saves no time and loses 0.3 % */
enum { STORED_MAX = 65535, STORED_HEADER = 5 };

enum effort { NONE, LESS, FULL };

/* -- zlib, or libdeflate: whole buffers only, three times as fast ------------------------- */

struct rk_deflater {
#ifdef ROCKIT_HAVE_LIBDEFLATE
	struct libdeflate_compressor *fast; /* NULL: zlib */
#endif
	z_stream z;
};

static atomic_bool force_zlib;

void rk_deflater_force_zlib(bool on)
{
	atomic_store(&force_zlib, on);
}

void *rk_zlib_alloc(void *opaque, unsigned n, unsigned size)
{
	(void)opaque;
	return rk_calloc(n, size);
}

void rk_zlib_free(void *opaque, void *p)
{
	(void)opaque;
	rk_free(p);
}

int rk_deflater_new(int level, struct rk_deflater **ret, struct rk_error *err)
{
	struct rk_deflater *d = rk_calloc(1, sizeof(*d));

	if (!d)
		return rk_fail_nomem(err);
#ifdef ROCKIT_HAVE_LIBDEFLATE
	if (!atomic_load(&force_zlib)) {
		d->fast = libdeflate_alloc_compressor(level);
		if (!d->fast)
			goto nomem;
		*ret = d;
		return 0;
	}
#endif
	d->z.zalloc = rk_zlib_alloc;
	d->z.zfree = rk_zlib_free;
	if (level > BEST)
		level = BEST;
	if (deflateInit2(&d->z, level, Z_DEFLATED, NO_HEADER, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
		goto nomem;
	*ret = d;
	return 0;
nomem:
	rk_free(d);
	return rk_fail_nomem(err);
}

void rk_deflater_free(struct rk_deflater *d)
{
	if (!d)
		return;
#ifdef ROCKIT_HAVE_LIBDEFLATE
	if (d->fast)
		libdeflate_free_compressor(d->fast);
	else
#endif
		deflateEnd(&d->z);
	rk_free(d);
}

size_t rk_deflater_bound(struct rk_deflater *d, size_t len)
{
#ifdef ROCKIT_HAVE_LIBDEFLATE
	if (d->fast)
		return libdeflate_deflate_compress_bound(d->fast, len) + RK_DEFLATE_JOIN_BYTES;
#endif
	return deflateBound(&d->z, len) + FLUSH_BYTES;
}

/* 0: the output does not fit. */
static size_t pack_zlib(struct rk_deflater *d, const void *p, size_t len, int flush, void *to,
			size_t room)
{
	int rc;

	if (len > UINT_MAX || deflateReset(&d->z) != Z_OK)
		return 0;
	d->z.next_in = (z_const Bytef *)p;
	d->z.avail_in = (uInt)len;
	d->z.next_out = to;
	d->z.avail_out = (uInt)rk_min(room, UINT_MAX);
	rc = deflate(&d->z, flush);
	if (flush == Z_FINISH)
		return rc == Z_STREAM_END ? d->z.total_out : 0;
	return rc == Z_OK && d->z.avail_out ? d->z.total_out : 0;
}

size_t rk_deflater_pack(struct rk_deflater *d, const void *p, size_t len, void *to, size_t room)
{
	if (!room)
		return 0;
#ifdef ROCKIT_HAVE_LIBDEFLATE
	if (d->fast)
		return libdeflate_deflate_compress(d->fast, p, len, to, room);
#endif
	return pack_zlib(d, p, len, Z_FINISH, to, room);
}

int rk_deflater_piece(struct rk_deflater *d, const void *p, size_t len, bool last, void *to,
		      size_t room, size_t *ret_len, struct rk_error *err)
{
	size_t n = 0;

#ifdef ROCKIT_HAVE_LIBDEFLATE
	if (d->fast) {
		if (room > RK_DEFLATE_JOIN_BYTES)
			n = libdeflate_deflate_compress(d->fast, p, len, to,
							room - RK_DEFLATE_JOIN_BYTES);
	} else
#endif
		n = pack_zlib(d, p, len, last ? Z_FINISH : Z_FULL_FLUSH, to, room);
	if (!n)
		return rk_fail(err, RK_E_LIMIT, "%zu compressed bytes do not fit into %zu", len,
			       room);
	*ret_len = n;
#ifdef ROCKIT_HAVE_LIBDEFLATE
	if (d->fast && !last)
		return rk_deflate_open(to, ret_len, err);
#endif
	return 0;
}

uint32_t rk_crc32(const void *p, size_t len)
{
	if (!len)
		return 0;
#ifdef ROCKIT_HAVE_LIBDEFLATE
	if (!atomic_load(&force_zlib))
		return libdeflate_crc32(0, p, len);
#endif
	return (uint32_t)crc32_z(0, p, len);
}

uint32_t rk_crc32_join(uint32_t a, uint32_t b, uint64_t len)
{
	return (uint32_t)crc32_combine(a, b, (z_off_t)len);
}

/* -- effort ------------------------------------------------------------------------------- */

struct rk_packer {
	struct rk_deflater *full, *less; /* less: NULL at low levels */
	uint8_t sample[SAMPLED], packed[2 * SAMPLED];
};

int rk_packer_new(int level, struct rk_packer **ret, struct rk_error *err)
{
	struct rk_packer *k = rk_calloc(1, sizeof(*k));
	int rc;

	if (!k)
		return rk_fail_nomem(err);
	rc = rk_deflater_new(level, &k->full, err);
	if (rc == 0 && level >= LEAST_SPLIT)
		rc = rk_deflater_new(LITTLE, &k->less, err);
	if (rc < 0) {
		rk_packer_free(k);
		return rc;
	}
	*ret = k;
	return 0;
}

void rk_packer_free(struct rk_packer *k)
{
	if (!k)
		return;
	rk_deflater_free(k->full);
	rk_deflater_free(k->less);
	rk_free(k);
}

/* -- judging ------------------------------------------------------------------------------ */

/*
 * Are all byte values about equally frequent? Chi-squared of their counts is about 255 for noise.
 * An excess of 1 % of the length means that Huffman codes would save 0.1 %.
 */
static bool is_flat(const uint8_t *p, size_t len)
{
	uint32_t counts[4][256] = {
		{ 0 }
	}; /* four arrays, so that equal bytes need not wait for each other */
	uint64_t sum = 0, n = len / 4 * 4;

	for (size_t i = 0; i < n; i += 4)
		for (unsigned k = 0; k < 4; k++)
			counts[k][p[i + k]]++;
	for (unsigned b = 0; b < 256; b++) {
		int64_t count = (int64_t)counts[0][b] + counts[1][b] + counts[2][b] + counts[3][b];
		int64_t d = 256 * count - (int64_t)n;

		sum += (uint64_t)(d * d);
	}
	return sum / 256 / n < n / 100 + 600;
}

static size_t try_sample(struct rk_packer *k, struct rk_deflater *d)
{
	return rk_deflater_pack(d, k->sample, SAMPLED, k->packed, sizeof(k->packed));
}

static enum effort judge(struct rk_packer *k, const uint8_t *p, size_t len)
{
	size_t full, less;

	if (len < WORTH_LOOKING)
		return FULL;
	for (size_t i = 0; i < SAMPLES; i++)
		memcpy(k->sample + i * SAMPLE_BYTES, p + len / SAMPLES * i + len / SAMPLES / 4,
		       SAMPLE_BYTES);
	if (is_flat(k->sample, SAMPLED) && is_flat(p, len) &&
	    try_sample(k, k->full) > SAMPLED - SAMPLED / 100)
		return NONE;
	if (!k->less)
		return FULL;
	full = try_sample(k, k->full);
	less = try_sample(k, k->less);
	return less <= full + full / GAIN_PARTS ? LESS : FULL;
}

/* -- packing ------------------------------------------------------------------------------ */

static size_t stored_bytes(size_t len)
{
	return len + STORED_HEADER * (len / STORED_MAX + 1);
}

size_t rk_packer_bound(struct rk_packer *k, size_t len)
{
	size_t most = rk_max(stored_bytes(len), rk_deflater_bound(k->full, len));

	return k->less ? rk_max(most, rk_deflater_bound(k->less, len)) : most;
}

size_t rk_packer_whole(struct rk_packer *k, const void *p, size_t len, void *to, size_t room)
{
	enum effort e = judge(k, p, len);

	if (e == NONE)
		return 0;
	return rk_deflater_pack(e == LESS ? k->less : k->full, p, len, to, room);
}

int rk_packer_piece(struct rk_packer *k, const void *p, size_t len, bool last, void *to,
		    size_t room, size_t *ret_len, struct rk_error *err)
{
	enum effort e = judge(k, p, len);
	const uint8_t *from = p;
	uint8_t *at = to;
	size_t n;

	if (e != NONE || room < stored_bytes(len))
		return rk_deflater_piece(e == LESS ? k->less : k->full, p, len, last, to, room,
					 ret_len, err);
	/* stored blocks, which begin and end on byte boundaries */
	for (; len; from += n, len -= n, at += n) {
		n = rk_min(len, STORED_MAX);
		*at++ = last && n == len;
		*at++ = (uint8_t)n;
		*at++ = (uint8_t)(n >> 8);
		*at++ = (uint8_t)~n;
		*at++ = (uint8_t)(~n >> 8);
		memcpy(at, from, n);
	}
	*ret_len = (size_t)(at - (uint8_t *)to);
	return 0;
}
