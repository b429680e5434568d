/*
 * sha256_x86.c - SHA-256 with the SHA instructions of x86-64, if the processor has them.
 *
 * The state is kept as two vectors, ABEF and CDGH (highest word first); sha256rnds2 does two rounds
 * with the two lowest words of its third operand, w + k, and swaps the roles of the vectors.
 */
#include "base/sha256/sha256_impl.h"

#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>

#define WITH_SHA __attribute__((target("sha,sse4.1,ssse3")))

enum { LEAF1_SSSE3 = 1 << 9, LEAF1_SSE41 = 1 << 19, LEAF7_SHA = 1 << 29 };

bool rk_sha256_x86_there(void)
{
	unsigned a, b, c, d;

	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & LEAF1_SSSE3) || !(c & LEAF1_SSE41))
		return false;
	return __get_cpuid_count(7, 0, &a, &b, &c, &d) && b & LEAF7_SHA;
}

struct state {
	__m128i abef, cdgh;
};

/* Four rounds with the four words w and four constants k[0..3]. */
WITH_SHA static inline void rounds(struct state *s, __m128i w, const uint32_t *k)
{
	__m128i wk = _mm_add_epi32(w, _mm_loadu_si128((const __m128i *)k));

	s->cdgh = _mm_sha256rnds2_epu32(s->cdgh, s->abef, wk);
	s->abef = _mm_sha256rnds2_epu32(s->abef, s->cdgh, _mm_shuffle_epi32(wk, 0x0e));
}

/* Words t to t+3 of the schedule from the previous 16: a starts at t-16, d at t-4. */
WITH_SHA static inline __m128i more(__m128i a, __m128i b, __m128i c, __m128i d)
{
	__m128i x = _mm_add_epi32(_mm_sha256msg1_epu32(a, b), _mm_alignr_epi8(d, c, 4));

	return _mm_sha256msg2_epu32(x, d);
}

WITH_SHA static inline __m128i load(const uint8_t *p)
{
	const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);

	return _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)p), swap);
}

WITH_SHA static inline void block(struct state *s, const uint8_t *p)
{
	__m128i a = load(p), b = load(p + 16), c = load(p + 32), d = load(p + 48);

	for (unsigned t = 0;; t += 16) {
		rounds(s, a, rk_sha256_k + t);
		rounds(s, b, rk_sha256_k + t + 4);
		rounds(s, c, rk_sha256_k + t + 8);
		rounds(s, d, rk_sha256_k + t + 12);
		if (t == 48)
			return;
		a = more(a, b, c, d);
		b = more(b, c, d, a);
		c = more(c, d, a, b);
		d = more(d, a, b, c);
	}
}

/* h holds A to H in memory order: as vectors DCBA and HGFE. */
WITH_SHA static inline struct state split(const uint32_t h[8])
{
	__m128i cdab = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)h), 0xb1);
	__m128i efgh = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(h + 4)), 0x1b);

	return (struct state){ .abef = _mm_alignr_epi8(cdab, efgh, 8),
			       .cdgh = _mm_blend_epi16(efgh, cdab, 0xf0) };
}

WITH_SHA static inline void join(const struct state *s, uint32_t h[8])
{
	__m128i feba = _mm_shuffle_epi32(s->abef, 0x1b);
	__m128i dchg = _mm_shuffle_epi32(s->cdgh, 0xb1);

	_mm_storeu_si128((__m128i *)h, _mm_blend_epi16(feba, dchg, 0xf0));
	_mm_storeu_si128((__m128i *)(h + 4), _mm_alignr_epi8(dchg, feba, 8));
}

WITH_SHA void rk_sha256_x86(uint32_t h[8], const uint8_t *p, size_t n)
{
	struct state s = split(h);

	for (size_t i = 0; i < n; i++) {
		struct state before = s;

		block(&s, p + 64 * i);
		s.abef = _mm_add_epi32(s.abef, before.abef);
		s.cdgh = _mm_add_epi32(s.cdgh, before.cdgh);
	}
	join(&s, h);
}
#else
bool rk_sha256_x86_there(void)
{
	return false;
}

void rk_sha256_x86(uint32_t h[8], const uint8_t *p, size_t n)
{
	(void)h, (void)p, (void)n;
}
#endif
