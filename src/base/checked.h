/* checked.h - arithmetic that says when it overflows. Each returns true when the result is exact. */
#ifndef RK_CHECKED_H
#define RK_CHECKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

static inline bool rk_sub_i64(int64_t a, int64_t b, int64_t *ret)
{
	return !__builtin_sub_overflow(a, b, ret);
}

#endif
