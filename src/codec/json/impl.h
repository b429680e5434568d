/* impl.h - shared by stream.c and skip.c only. */
#ifndef RK_JSON_IMPL_H
#define RK_JSON_IMPL_H

#include "base/bytes.h"
#include "codec/json/stream.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

enum { JSON_BLOCK = 128 << 10, JSON_PAD = 64 };

/* What the tokenizer expects next. */
enum rk_json_state {
	JSON_VALUE,       /* a value */
	JSON_FIRST_VALUE, /* a value or ] */
	JSON_FIRST_KEY,   /* a key or } */
	JSON_KEY,         /* a key */
	JSON_COLON,
	JSON_NEXT, /* a comma, or the end of the innermost object or array */
	JSON_OVER, /* the document has ended */
};

/*
 * The input is read in blocks; [pos, end) is the rest of the current one. *end and JSON_PAD - 1
 * bytes after it are 0, so loops and loads may run past the end.
 */
struct rk_json {
	struct rk_instream *in; /* NULL: read `given` instead */
	const char *given;
	size_t given_len;
	const char *name; /* for errors */
	char *buf;
	const char *pos, *end;
	uint64_t base; /* offset of buf in the content */
	enum rk_json_state state;
	bool last; /* the content has no more blocks */
	bool begun;
	bool truncated;
	bool loose;
	unsigned depth;
	uint64_t objects[RK_JSON_DEPTH_MAX /
			 64]; /* bit d: an object (not an array) is open at depth d */
	struct rk_bytes text; /* a token that could not be borrowed */
	uint32_t high;        /* high surrogate that waits for its low one */
	bool cut;
	struct rk_json_notes notes;
};

/* Call only if pos == end. 1: there are bytes at pos again; 0: end of content; < 0: error. */
int rk_json_refill(struct rk_json *j, struct rk_error *err);
int rk_json_fail_end(struct rk_json *j, struct rk_error *err);
int rk_json_fail_at(struct rk_json *j, const char *p, int code, const char *what,
		    struct rk_error *err);

static inline bool rk_json_in_object(const struct rk_json *j)
{
	return j->objects[j->depth / 64] >> (j->depth % 64) & 1;
}

static inline void rk_json_value_done(struct rk_json *j)
{
	j->state = j->depth ? JSON_NEXT : JSON_OVER;
}

#if defined(__SSE2__)
typedef __m128i rk_json_vec;
#define JSON_LOAD(p) _mm_loadu_si128((const __m128i *)(const void *)(p))
#define JSON_EQ(v, c) _mm_cmpeq_epi8(v, _mm_set1_epi8(c))
#define JSON_OR(a, b) _mm_or_si128(a, b)
#define JSON_SET(c) _mm_set1_epi8(c)

static inline uint64_t rk_json_bits(rk_json_vec a, rk_json_vec b, rk_json_vec c, rk_json_vec d)
{
	return (uint64_t)(uint32_t)_mm_movemask_epi8(a) |
	       (uint64_t)(uint32_t)_mm_movemask_epi8(b) << 16 |
	       (uint64_t)(uint32_t)_mm_movemask_epi8(c) << 32 |
	       (uint64_t)(uint32_t)_mm_movemask_epi8(d) << 48;
}

/* The first quote or backslash from p on; at or past `end` if there is none. */
static inline const char *rk_json_string_end(const char *p, const char *end)
{
	for (; p < end; p += 16) {
		rk_json_vec v = JSON_LOAD(p);
		int m = _mm_movemask_epi8(JSON_OR(JSON_EQ(v, '"'), JSON_EQ(v, '\\')));

		if (m)
			return p + __builtin_ctz((unsigned)m);
	}
	return p;
}
#elif defined(__aarch64__)
typedef uint8x16_t rk_json_vec;
#define JSON_LOAD(p) vld1q_u8((const uint8_t *)(const void *)(p))
#define JSON_EQ(v, c) vceqq_u8(v, vdupq_n_u8((uint8_t)(c)))
#define JSON_OR(a, b) vorrq_u8(a, b)
#define JSON_SET(c) vdupq_n_u8((uint8_t)(c))

static inline uint64_t rk_json_bits(rk_json_vec a, rk_json_vec b, rk_json_vec c, rk_json_vec d)
{
	static const uint8_t weights[16] = { 1, 2, 4, 8, 16, 32, 64, 128,
					     1, 2, 4, 8, 16, 32, 64, 128 };
	uint8x16_t w = vld1q_u8(weights);
	uint8x16_t ab = vpaddq_u8(vandq_u8(a, w), vandq_u8(b, w));
	uint8x16_t cd = vpaddq_u8(vandq_u8(c, w), vandq_u8(d, w));
	uint8x16_t all = vpaddq_u8(ab, cd);

	return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(all, all)), 0);
}

static inline const char *rk_json_string_end(const char *p, const char *end)
{
	for (; p < end; p += 16) {
		rk_json_vec v = JSON_LOAD(p);
		uint8x16_t hit = JSON_OR(JSON_EQ(v, '"'), JSON_EQ(v, '\\'));
		/* four bits for each byte */
		uint64_t m = vget_lane_u64(
			vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(hit), 4)), 0);

		if (m)
			return p + __builtin_ctzll(m) / 4;
	}
	return p;
}
#else
#error "no vector unit that is known here"
#endif

#endif
