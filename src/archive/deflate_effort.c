/*
 * deflate_effort.c - see deflate_effort.h.
 *
 * A few samples, 16 KB together, are packed with little and with full effort: where that makes less
 * than 0.6 % of a difference, little is enough. Of libraries made by compilers that is one MB in
 * fifteen, of code that has few repetitions nearly all.
 */
#include "archive/deflate_effort.h"

#include <string.h>

#include "base/alloc.h"

enum { SAMPLES = 4, SAMPLE_BYTES = 4096, SAMPLED = SAMPLES * SAMPLE_BYTES };
enum { WORTH_LOOKING = 128 << 10, GAIN_PARTS = 170 };
enum { LITTLE = 2, LEAST_SPLIT = 5 }; /* levels: at 4, looking gains no time and loses 0.3 % */
enum { STORED_MAX = 65535, STORED_HEADER = 5 };

enum effort { NONE, LESS, FULL };

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
 * Whether all bytes are about equally frequent: chi-squared of their counts is about 255 for noise.
 * A hundredth of the length more is a gain of 0.1 % by codes of different lengths.
 */
static bool is_flat(const uint8_t *p, size_t len)
{
	uint32_t counts[4][256] = {
		{ 0 }
	}; /* four, so that equal bytes do not wait for each other */
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

/* Stored blocks, which begin and end at bytes. */
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
