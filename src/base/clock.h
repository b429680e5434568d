/* clock.h - the system's clocks in nanoseconds. */
#ifndef RK_BASE_CLOCK_H
#define RK_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t rk_clock_ns(clockid_t clock)
{
	struct timespec t = { 0 };

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline int64_t rk_clock_steady_ns(void)
{
	return rk_clock_ns(CLOCK_MONOTONIC);
}

#endif
