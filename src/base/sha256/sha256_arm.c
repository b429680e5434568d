/*
 * sha256_arm.c - SHA-256 with the ARMv8 instructions, if the processor has them.
 *
 * Compilers before clang 16 support the instructions only if the whole build targets machines that
 * have them.
 */
#include "base/sha256/sha256_impl.h"

#if defined(__aarch64__) && defined(__clang__) && __clang_major__ < 16 && \
	!defined(__ARM_FEATURE_SHA2)
#define CANNOT
#endif

#if defined(__aarch64__) && !defined(CANNOT)
#include <arm_neon.h>
#include <sys/auxv.h>

#ifdef __clang__
#define WITH_SHA __attribute__((target("sha2")))
#else
#define WITH_SHA __attribute__((target("+crypto")))
#endif

enum { HAS_SHA2 = 1 << 6 }; /* HWCAP_SHA2 of the Linux kernel */

bool rk_sha256_arm_there(void)
{
	return getauxval(AT_HWCAP) & HAS_SHA2;
}

/* a to d and e to h of the standard. */
struct state {
	uint32x4_t abcd, efgh;
};

/* Four rounds with the four words w and four constants k[0..3]. */
WITH_SHA static inline void rounds(struct state *s, uint32x4_t w, const uint32_t *k)
{
	uint32x4_t wk = vaddq_u32(w, vld1q_u32(k)), abcd = s->abcd;

	s->abcd = vsha256hq_u32(abcd, s->efgh, wk);
	s->efgh = vsha256h2q_u32(s->efgh, abcd, wk);
}

/* Words t to t+3 of the schedule from the previous 16: a starts at t-16, d at t-4. */
WITH_SHA static inline uint32x4_t more(uint32x4_t a, uint32x4_t b, uint32x4_t c, uint32x4_t d)
{
	return vsha256su1q_u32(vsha256su0q_u32(a, b), c, d);
}

WITH_SHA static inline uint32x4_t load(const uint8_t *p)
{
	return vreinterpretq_u32_u8(vrev32q_u8(vld1q_u8(p)));
}

WITH_SHA static inline void block(struct state *s, const uint8_t *p)
{
	uint32x4_t a = load(p), b = load(p + 16), c = load(p + 32), d = load(p + 48);

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

WITH_SHA void rk_sha256_arm(uint32_t h[8], const uint8_t *p, size_t n)
{
	struct state s = { .abcd = vld1q_u32(h), .efgh = vld1q_u32(h + 4) };

	for (size_t i = 0; i < n; i++) {
		struct state before = s;

		block(&s, p + 64 * i);
		s.abcd = vaddq_u32(s.abcd, before.abcd);
		s.efgh = vaddq_u32(s.efgh, before.efgh);
	}
	vst1q_u32(h, s.abcd);
	vst1q_u32(h + 4, s.efgh);
}
#else
bool rk_sha256_arm_there(void)
{
	return false;
}

void rk_sha256_arm(uint32_t h[8], const uint8_t *p, size_t n)
{
	(void)h, (void)p, (void)n;
}
#endif
