/* hash.c - 64-bit hash of bytes. Four lanes, so that long names cost a nanosecond per 32 bytes. */
#include "base/hash.h"

uint64_t rk_hash_seed = 0x2545f4914f6cdd1du;

static inline uint64_t load64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, 8);
	return v;
}

/* The last 0..15 bytes, each byte covered once or twice. */
static uint64_t tail(const uint8_t *p, size_t len)
{
	uint32_t lo, hi;

	if (len >= 8)
		return rk_hash_mix(load64(p) ^ 0xa0761d6478bd642fu, load64(p + len - 8) ^ len);
	if (len >= 4) {
		memcpy(&lo, p, 4);
		memcpy(&hi, p + len - 4, 4);
		return (uint64_t)lo << 32 | hi;
	}
	return len ? (uint64_t)p[0] << 16 | (uint64_t)p[len / 2] << 8 | p[len - 1] : 0;
}

uint64_t rk_hash_bytes(const void *data, size_t len)
{
	const uint8_t *p = data;
	uint64_t h = rk_hash_seed ^ len, g = h ^ 0xe7037ed1a0b428dbu;
	size_t left = len;

	for (; left >= 32; left -= 32, p += 32) {
		h = rk_hash_mix(h ^ load64(p), 0xa0761d6478bd642fu ^ load64(p + 8));
		g = rk_hash_mix(g ^ load64(p + 16), 0x8ebc6af09c88c6e3u ^ load64(p + 24));
	}
	if (left >= 16) {
		h = rk_hash_mix(h ^ load64(p), 0x589965cc75374cc3u ^ load64(p + 8));
		left -= 16;
		p += 16;
	}
	return rk_hash_mix(h ^ tail(p, left) ^ 0x1d8e4e27c47d124fu, g ^ 0x9e3779b97f4a7c15u);
}
