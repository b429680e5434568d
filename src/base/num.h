/*
 * num.h - checked arithmetic; converts text to numbers exactly: never through double, never past
 * the end.
 */
#ifndef RK_NUM_H
#define RK_NUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rk_num {
	RK_NUM_OK,       /* the whole text was the number */
	RK_NUM_EMPTY,    /* no text */
	RK_NUM_BAD,      /* not a number */
	RK_NUM_RANGE,    /* a number, but out of range */
	RK_NUM_SCIENCE,  /* has an exponent: digits were lost ("8.1097E+14") */
	RK_NUM_FRACTION, /* *ret is the integer part; a fraction other than .0 was dropped */
};

/* Decimal with optional sign; "123.0" is 123. *ret is written for OK, FRACTION and SCIENCE. */
enum rk_num rk_num_i64(const char *s, size_t len, int64_t *ret);
/* Unsigned 64-bit decimal or 0x hexadecimal. */
enum rk_num rk_num_u64(const char *s, size_t len, uint64_t *ret);
/* Any finite decimal or scientific number; "nan" and "inf" give RK_NUM_BAD. Locale-free. */
enum rk_num rk_num_f64(const char *s, size_t len, double *ret);

/* Decimal text of v at `out` (at least 21 bytes); returns the length. Not terminated. */
size_t rk_num_put_i64(char *out, int64_t v);
/* Shortest text that reads back as the same double; `out` at least 32 bytes, not terminated. */
size_t rk_num_put_f64(char *out, double v);

static inline size_t rk_min(size_t a, size_t b)
{
	return a < b ? a : b;
}

static inline size_t rk_max(size_t a, size_t b)
{
	return a > b ? a : b;
}

static inline int64_t rk_min_i64(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static inline int64_t rk_max_i64(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* ---- arithmetic: each returns true when the result is exact ---- */

static inline bool rk_mul(size_t a, size_t b, size_t *ret)
{
	return !__builtin_mul_overflow(a, b, ret);
}

static inline bool rk_add(size_t a, size_t b, size_t *ret)
{
	return !__builtin_add_overflow(a, b, ret);
}

static inline bool rk_add_i64(int64_t a, int64_t b, int64_t *ret)
{
	return !__builtin_add_overflow(a, b, ret);
}

/*
 * A sum past INT64_MAX becomes INT64_MAX. For totals of untrusted times, which are never negative.
 */
static inline int64_t rk_add_saturated(int64_t a, int64_t b)
{
	int64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static inline bool rk_sub_i64(int64_t a, int64_t b, int64_t *ret)
{
	return !__builtin_sub_overflow(a, b, ret);
}

/*
 * How far `to` is after `from`; negative: before it. Any two times are fine. Subtract times like
 * this, never as doubles: those since 1970 have lost their last eight bits.
 */
static inline double rk_apart(int64_t from, int64_t to)
{
	if (to < from)
		return -(double)((uint64_t)from - (uint64_t)to);
	return (double)((uint64_t)to - (uint64_t)from);
}

/*
 * Any int64 is a valid time, since boot or since 1970. An era holds the times within `most` of its
 * origin: that is 0, or the first time it sees if this one is further away. With RK_ERA_MOST the
 * difference between any two times in it fits in an int64. Zero it before use.
 */
struct rk_era {
	bool begun;
	int64_t origin;
};

#define RK_ERA_MOST (INT64_MAX / 2) /* ns: 146 years */

static inline bool rk_era_holds(struct rk_era *e, int64_t most, int64_t start, int64_t end)
{
	int64_t from, to;

	if (!e->begun)
		*e = (struct rk_era){ true, start >= -most && start <= most ? 0 : start };
	return rk_sub_i64(start, e->origin, &from) && rk_sub_i64(end, e->origin, &to) &&
	       from >= -most && from <= most && to >= -most && to <= most;
}

#endif
