/* clock.h - the time of day and a steady clock. */
#ifndef RK_BASE_CLOCK_H
#define RK_BASE_CLOCK_H

#include <stdint.h>

int64_t rk_clock_steady_ns(void); /* CLOCK_MONOTONIC */

#endif
