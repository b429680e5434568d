/* clock.c - the system's clocks in nanoseconds. */
#include "base/clock.h"

int64_t rk_clock_ns(clockid_t clock)
{
	struct timespec t = { 0 };

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t rk_clock_steady_ns(void)
{
	return rk_clock_ns(CLOCK_MONOTONIC);
}
