/* clock.h - the system's clocks in nanoseconds. */
#ifndef RK_BASE_CLOCK_H
#define RK_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

int64_t rk_clock_ns(clockid_t clock);
int64_t rk_clock_steady_ns(void); /* CLOCK_MONOTONIC */

#endif
