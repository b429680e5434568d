/*
 * deflate_pack.c - see deflate_pack.h: zlib, libdeflate, and how much effort to spend.
 *
 * A few samples, 16 KB in total, are compressed with low and with full effort. If the difference is less than
 * 0.6 %, low effort is used. That is the case for one MB in fifteen of compiled libraries, and for nearly all
 * code with few repetitions.
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

enum { NO_HEADER = -15, MEMORY = 9, BEST = 9, FLUSH_BYTES = 16 };
enum { SAMPLES = 4, SAMPLE_BYTES = 4096, SAMPLED = SAMPLES * SAMPLE_BYTES };
enum { WORTH_LOOKING = 128 << 10, GAIN_PARTS = 170 };
enum { LITTLE = 2, LEAST_SPLIT = 5 }; /* levels: at 4, sampling saves no time and loses 0.3 % */
enum { STORED_MAX = 65535, STORED_HEADER = 5 };

enum effort { NONE, LESS, FULL };

/* The functions do what rk_deflater_new and its siblings do; none may be NULL. */
struct rk_deflater_ops {
	int (*open)(int level, struct rk_deflater **ret, struct rk_error *err);
	size_t (*bound)(struct rk_deflater *d, size_t len);
	size_t (*pack)(struct rk_deflater *d, const void *p, size_t len, void *to, size_t room);
	int (*piece)(struct rk_deflater *d, const void *p, size_t len, bool last, void *to,
		     size_t room, size_t *ret_len, struct rk_error *err);
	void (*close)(struct rk_deflater *d);
	uint32_t (*crc)(const void *p, size_t len);
};

/* The first member of what `open` makes. */
struct rk_deflater {
	const struct rk_deflater_ops *ops;
};

/* -- zlib --------------------------------------------------------------------------------- */

struct slow {
	struct rk_deflater base;
	z_stream z;
};

static const struct rk_deflater_ops ops_zlib;

static voidpf take(voidpf opaque, uInt n, uInt size)
{
	(void)opaque;
	return rk_calloc(n, size);
}

static void give(voidpf opaque, voidpf p)
{
	(void)opaque;
	rk_free(p);
}

static int slow_open(int level, struct rk_deflater **ret, struct rk_error *err)
{
	struct slow *s = rk_calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return rk_fail_nomem(err);
	s->z.zalloc = take;
	s->z.zfree = give;
	rc = deflateInit2(&s->z, level < BEST ? level : BEST, Z_DEFLATED, NO_HEADER, MEMORY,
			  Z_DEFAULT_STRATEGY);
	if (rc != Z_OK) {
		rk_free(s);
		return rk_fail_nomem(err);
	}
	s->base.ops = &ops_zlib;
	*ret = &s->base;
	return 0;
}

static void slow_close(struct rk_deflater *d)
{
	struct slow *s = (struct slow *)d;

	deflateEnd(&s->z);
	rk_free(s);
}

static size_t slow_bound(struct rk_deflater *d, size_t len)
{
	struct slow *s = (struct slow *)d;

	return deflateBound(&s->z, len) + FLUSH_BYTES;
}

/* 0: it does not fit. */
static size_t slow_all(struct slow *s, const void *p, size_t len, int flush, void *to, size_t room)
{
	int rc;

	if (len > UINT_MAX || deflateReset(&s->z) != Z_OK)
		return 0;
	s->z.next_in = (z_const Bytef *)p;
	s->z.avail_in = (uInt)len;
	s->z.next_out = to;
	s->z.avail_out = (uInt)(room < UINT_MAX ? room : UINT_MAX);
	rc = deflate(&s->z, flush);
	if (flush == Z_FINISH ? rc != Z_STREAM_END : rc != Z_OK || !s->z.avail_out)
		return 0;
	return s->z.total_out;
}

static size_t slow_pack(struct rk_deflater *d, const void *p, size_t len, void *to, size_t room)
{
	return slow_all((struct slow *)d, p, len, Z_FINISH, to, room);
}

static int slow_piece(struct rk_deflater *d, const void *p, size_t len, bool last, void *to,
		      size_t room, size_t *ret_len, struct rk_error *err)
{
	size_t n = slow_all((struct slow *)d, p, len, last ? Z_FINISH : Z_FULL_FLUSH, to, room);

	if (!n)
		return rk_fail(err, RK_E_LIMIT, "%zu compressed bytes do not fit into %zu", len,
			       room);
	*ret_len = n;
	return 0;
}

static uint32_t slow_crc(const void *p, size_t len)
{
	return (uint32_t)crc32_z(0, len ? p : (const Bytef *)"", len);
}

static const struct rk_deflater_ops ops_zlib = {
	.open = slow_open,
	.bound = slow_bound,
	.pack = slow_pack,
	.piece = slow_piece,
	.close = slow_close,
	.crc = slow_crc,
};

/* -- libdeflate: whole buffers only, three times as fast ----------------------------------- */

#ifdef ROCKIT_HAVE_LIBDEFLATE
struct fast {
	struct rk_deflater base;
	struct libdeflate_compressor *c;
};

static const struct rk_deflater_ops ops_fast;

static void fast_close(struct rk_deflater *d)
{
	struct fast *f = (struct fast *)d;

	libdeflate_free_compressor(f->c);
	rk_free(f);
}

static int fast_open(int level, struct rk_deflater **ret, struct rk_error *err)
{
	struct fast *f = rk_calloc(1, sizeof(*f));

	if (f)
		f->c = libdeflate_alloc_compressor(level);
	if (!f || !f->c) {
		rk_free(f);
		return rk_fail_nomem(err);
	}
	f->base.ops = &ops_fast;
	*ret = &f->base;
	return 0;
}

static size_t fast_bound(struct rk_deflater *d, size_t len)
{
	struct fast *f = (struct fast *)d;

	return libdeflate_deflate_compress_bound(f->c, len) + RK_DEFLATE_JOIN_BYTES;
}

static size_t fast_pack(struct rk_deflater *d, const void *p, size_t len, void *to, size_t room)
{
	struct fast *f = (struct fast *)d;

	return libdeflate_deflate_compress(f->c, p, len, to, room);
}

static int fast_piece(struct rk_deflater *d, const void *p, size_t len, bool last, void *to,
		      size_t room, size_t *ret_len, struct rk_error *err)
{
	size_t n = room > RK_DEFLATE_JOIN_BYTES ?
			   fast_pack(d, p, len, to, room - RK_DEFLATE_JOIN_BYTES) :
			   0;

	if (!n)
		return rk_fail(err, RK_E_LIMIT, "%zu compressed bytes do not fit into %zu", len,
			       room);
	*ret_len = n;
	return last ? 0 : rk_deflate_open(to, ret_len, err);
}

static uint32_t fast_crc(const void *p, size_t len)
{
	return len ? libdeflate_crc32(0, p, len) : 0;
}

static const struct rk_deflater_ops ops_fast = {
	.open = fast_open,
	.bound = fast_bound,
	.pack = fast_pack,
	.piece = fast_piece,
	.close = fast_close,
	.crc = fast_crc,
};
#endif

/* -- either ------------------------------------------------------------------------------- */

static atomic_bool force_zlib;

void rk_deflater_force_zlib(bool on)
{
	atomic_store(&force_zlib, on);
}

static const struct rk_deflater_ops *chosen(void)
{
#ifdef ROCKIT_HAVE_LIBDEFLATE
	if (!atomic_load(&force_zlib))
		return &ops_fast;
#endif
	return &ops_zlib;
}

int rk_deflater_new(int level, struct rk_deflater **ret, struct rk_error *err)
{
	return chosen()->open(level, ret, err);
}

size_t rk_deflater_bound(struct rk_deflater *d, size_t len)
{
	return d->ops->bound(d, len);
}

size_t rk_deflater_pack(struct rk_deflater *d, const void *p, size_t len, void *to, size_t room)
{
	return room ? d->ops->pack(d, p, len, to, room) : 0;
}

int rk_deflater_piece(struct rk_deflater *d, const void *p, size_t len, bool last, void *to,
		      size_t room, size_t *ret_len, struct rk_error *err)
{
	return d->ops->piece(d, p, len, last, to, room, ret_len, err);
}

void rk_deflater_free(struct rk_deflater *d)
{
	if (d)
		d->ops->close(d);
}

uint32_t rk_crc32(const void *p, size_t len)
{
	return chosen()->crc(p, len);
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
	}; /* four counters, so that equal bytes do not wait for each other */
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
	size_t a = rk_deflater_bound(k->full, len),
	       b = k->less ? rk_deflater_bound(k->less, len) : 0;
	size_t most = a > b ? a : b;

	return most > stored_bytes(len) ? most : stored_bytes(len);
}

size_t rk_packer_whole(struct rk_packer *k, const void *p, size_t len, void *to, size_t room)
{
	enum effort e = judge(k, p, len);

	return e == NONE ? 0 : rk_deflater_pack(e == LESS ? k->less : k->full, p, len, to, room);
}

/* Stored blocks, which begin and end on byte boundaries. */
static size_t store(const uint8_t *p, size_t len, bool last, uint8_t *to)
{
	uint8_t *at = to;
	size_t n;

	for (; len; p += n, len -= n, at += n) {
		n = len < STORED_MAX ? len : STORED_MAX;
		*at++ = last && n == len;
		*at++ = (uint8_t)n;
		*at++ = (uint8_t)(n >> 8);
		*at++ = (uint8_t)~n;
		*at++ = (uint8_t)(~n >> 8);
		memcpy(at, p, n);
	}
	return (size_t)(at - to);
}

int rk_packer_piece(struct rk_packer *k, const void *p, size_t len, bool last, void *to,
		    size_t room, size_t *ret_len, struct rk_error *err)
{
	enum effort e = judge(k, p, len);

	if (e == NONE && room >= stored_bytes(len)) {
		*ret_len = store(p, len, last, to);
		return 0;
	}
	return rk_deflater_piece(e == LESS ? k->less : k->full, p, len, last, to, room, ret_len,
				 err);
}
