/* sha256.c - see sha256.h. Variables are named as in FIPS 180-4, section 6.2. */
#include "base/sha256/sha256.h"

#include <stdatomic.h>
#include <string.h>

#include "base/num.h"
#include "base/sha256/sha256_impl.h"

enum { BLOCK = RK_SHA256_BLOCK, LENGTH_AT = BLOCK - 8 };

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
const uint32_t rk_sha256_k[64] = {
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

static inline uint32_t rotr(uint32_t x, unsigned n)
{
	return x >> n | x << (32 - n);
}

static inline uint32_t word(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* Word t >= 16 of the schedule; replaces word t - 16, since only the last 16 are kept. */
static inline uint32_t more(uint32_t w[16], unsigned t)
{
	uint32_t w15 = w[(t - 15) % 16], w2 = w[(t - 2) % 16];
	uint32_t s0 = rotr(w15, 7) ^ rotr(w15, 18) ^ w15 >> 3;
	uint32_t s1 = rotr(w2, 17) ^ rotr(w2, 19) ^ w2 >> 10;

	return w[t % 16] += s1 + w[(t - 7) % 16] + s0;
}

/*
 * One round. After it a becomes b, b becomes c, and so on. Instead of moving eight values, EIGHT
 * writes the next round with rotated names, so that each value stays in its register.
 */
static inline void one(uint32_t a, uint32_t b, uint32_t c, uint32_t *d, uint32_t e, uint32_t f,
		       uint32_t g, uint32_t *h, uint32_t kw)
{
	uint32_t t1 = *h + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) + (g ^ (e & (f ^ g))) + kw;
	uint32_t t2 = (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) + ((a & b) | (c & (a | b)));

	*d += t1;
	*h = t1 + t2;
}

#define EIGHT(W, t)                                      \
	do {                                             \
		one(a, b, c, &d, e, f, g, &h, W(t));     \
		one(h, a, b, &c, d, e, f, &g, W(t + 1)); \
		one(g, h, a, &b, c, d, e, &f, W(t + 2)); \
		one(f, g, h, &a, b, c, d, &e, W(t + 3)); \
		one(e, f, g, &h, a, b, c, &d, W(t + 4)); \
		one(d, e, f, &g, h, a, b, &c, W(t + 5)); \
		one(c, d, e, &f, g, h, a, &b, W(t + 6)); \
		one(b, c, d, &e, f, g, h, &a, W(t + 7)); \
	} while (0)
#define FIRST(t) (rk_sha256_k[t] + (w[t] = word(p + 4 * (t))))
#define LATER(t) (rk_sha256_k[from + (t)] + more(w, (t) + 16))

static void block(uint32_t s[8], const uint8_t *p)
{
	uint32_t a = s[0], b = s[1], c = s[2], d = s[3], e = s[4], f = s[5], g = s[6], h = s[7];
	uint32_t w[16];

	EIGHT(FIRST, 0);
	EIGHT(FIRST, 8);
	for (unsigned from = 16; from < 64; from += 16) {
		EIGHT(LATER, 0);
		EIGHT(LATER, 8);
	}
	s[0] += a, s[1] += b, s[2] += c, s[3] += d;
	s[4] += e, s[5] += f, s[6] += g, s[7] += h;
}

static void plain(uint32_t h[8], const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		block(h, p + BLOCK * i);
}

typedef void blocks_fn(uint32_t h[8], const uint8_t *p, size_t n);

/* The implementation for this machine; NULL: not chosen yet. */
static _Atomic(blocks_fn *) chosen;

static blocks_fn *choose(void)
{
	blocks_fn *fn = atomic_load_explicit(&chosen, memory_order_relaxed);

	if (fn)
		return fn;
	fn = plain;
	if (rk_sha256_x86_there())
		fn = rk_sha256_x86;
	else if (rk_sha256_arm_there())
		fn = rk_sha256_arm;
	atomic_store_explicit(&chosen, fn, memory_order_relaxed);
	return fn;
}

const char *rk_sha256_by(void)
{
	blocks_fn *fn = choose();

	if (fn == rk_sha256_x86)
		return "sha-ni";
	if (fn == rk_sha256_arm)
		return "armv8";
	return "plain";
}

void rk_sha256_force_plain(bool on)
{
	atomic_store(&chosen, on ? plain : NULL);
}

void rk_sha256_begin(struct rk_sha256 *s)
{
	*s = (struct rk_sha256){ .h = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
					0x9b05688c, 0x1f83d9ab, 0x5be0cd19 } };
}

void rk_sha256_add(struct rk_sha256 *s, const void *p, size_t len)
{
	const uint8_t *from = p;
	size_t have = s->len % BLOCK, take;

	s->len += len;
	if (have && len) {
		take = rk_min(len, BLOCK - have);
		memcpy(s->rest + have, from, take);
		from += take, len -= take;
		if (have + take < BLOCK)
			return;
		choose()(s->h, s->rest, 1);
	}
	if (len >= BLOCK)
		choose()(s->h, from, len / BLOCK);
	if (len % BLOCK)
		memcpy(s->rest, from + len - len % BLOCK, len % BLOCK);
}

/* Appends the padding: a one bit, zeros, and the length in bits. */
void rk_sha256_end(struct rk_sha256 *s, uint8_t ret[RK_SHA256_BYTES])
{
	uint8_t last[2 * BLOCK] = { 0 };
	size_t n = s->len % BLOCK, end = n < LENGTH_AT ? BLOCK : 2 * BLOCK;

	memcpy(last, s->rest, n);
	last[n] = 0x80;
	for (unsigned i = 0; i < 8; i++)
		last[end - 1 - i] = (uint8_t)(s->len * 8 >> 8 * i);
	choose()(s->h, last, end / BLOCK);
	for (unsigned i = 0; i < RK_SHA256_BYTES; i++)
		ret[i] = (uint8_t)(s->h[i / 4] >> (24 - 8 * (i % 4)));
}

void rk_sha256(const void *p, size_t len, uint8_t ret[RK_SHA256_BYTES])
{
	struct rk_sha256 s;

	rk_sha256_begin(&s);
	rk_sha256_add(&s, p, len);
	rk_sha256_end(&s, ret);
}
