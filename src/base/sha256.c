/* sha256.c - see sha256.h. Names of variables as in FIPS 180-4, section 6.2. */
#include "base/sha256.h"

#include <string.h>

enum { BLOCK = 64, LENGTH_AT = BLOCK - 8 };

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t k[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

static uint32_t rotr(uint32_t x, unsigned n)
{
	return x >> n | x << (32 - n);
}

/* The message schedule. */
static void schedule(const uint8_t *p, uint32_t w[64])
{
	for (unsigned t = 0; t < 16; t++)
		w[t] = (uint32_t)p[4 * t] << 24 | (uint32_t)p[4 * t + 1] << 16 |
		       (uint32_t)p[4 * t + 2] << 8 | p[4 * t + 3];
	for (unsigned t = 16; t < 64; t++) {
		uint32_t s0 = rotr(w[t - 15], 7) ^ rotr(w[t - 15], 18) ^ w[t - 15] >> 3;
		uint32_t s1 = rotr(w[t - 2], 17) ^ rotr(w[t - 2], 19) ^ w[t - 2] >> 10;

		w[t] = s1 + w[t - 7] + s0 + w[t - 16];
	}
}

static void block(uint32_t h[8], const uint8_t *p)
{
	uint32_t w[64], s[8]; /* s: a to h of the standard */

	schedule(p, w);
	memcpy(s, h, sizeof(s));
	for (unsigned t = 0; t < 64; t++) {
		uint32_t e1 = rotr(s[4], 6) ^ rotr(s[4], 11) ^ rotr(s[4], 25);
		uint32_t t1 = s[7] + e1 + ((s[4] & s[5]) ^ (~s[4] & s[6])) + k[t] + w[t];
		uint32_t e0 = rotr(s[0], 2) ^ rotr(s[0], 13) ^ rotr(s[0], 22);
		uint32_t t2 = e0 + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));

		memmove(s + 1, s, 7 * sizeof(*s));
		s[4] += t1;
		s[0] = t1 + t2;
	}
	for (unsigned i = 0; i < 8; i++)
		h[i] += s[i];
}

/* What is left of the message, a one bit, zeros, and the length in bits. */
static void finish(uint32_t h[8], const uint8_t *rest, size_t n, uint64_t len)
{
	uint8_t last[2 * BLOCK] = { 0 };
	size_t end = n < LENGTH_AT ? BLOCK : 2 * BLOCK;

	memcpy(last, rest, n);
	last[n] = 0x80;
	for (unsigned i = 0; i < 8; i++)
		last[end - 1 - i] = (uint8_t)(len * 8 >> 8 * i);
	for (size_t i = 0; i < end; i += BLOCK)
		block(h, last + i);
}

void rk_sha256(const void *p, size_t len, uint8_t ret[RK_SHA256_BYTES])
{
	uint32_t h[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
			  0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };
	const uint8_t *from = len ? p : (const uint8_t *)"";
	size_t whole = len - len % BLOCK;

	for (size_t i = 0; i < whole; i += BLOCK)
		block(h, from + i);
	finish(h, from + whole, len - whole, len);
	for (unsigned i = 0; i < RK_SHA256_BYTES; i++)
		ret[i] = (uint8_t)(h[i / 4] >> (24 - 8 * (i % 4)));
}
