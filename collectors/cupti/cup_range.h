/*
 * cup_range.h - counters of kernels, by CUPTI's range profiler: each kernel of a context is a range,
 * run as often as its counters need (its memory is restored in between), one after another.
 *
 * Not thread-safe. Every failure names its step.
 */
#ifndef RK_CUP_RANGE_H
#define RK_CUP_RANGE_H

#include <stdbool.h>

#include "cupti_range_abi.h"

struct rk_range; /* of one context */

struct rk_range_trouble {
	const char *step; /* CUPTI's function that failed; NULL: none */
	int code;
	char what[160]; /* a metric that the chip does not have */
};

/* Looks up the functions in CUPTI; returns the first missing one, or NULL. CUDA before 12.6 has none. */
const char *rk_range_load(struct cupti_range *f, void *lib);

/*
 * Starts to count on a context, which must not be in use. `metrics` are borrowed until the end;
 * `most` kernels are counted between two drains. On failure NULL, with `t` filled.
 */
struct rk_range *rk_range_open(const struct cupti_range *f, void *context, const char **metrics,
			       size_t n, size_t most, struct rk_range_trouble *t);
/* How often each kernel is run; the chip; the device's number. */
size_t rk_range_passes(const struct rk_range *r);
const char *rk_range_chip(const struct rk_range *r);
uint32_t rk_range_device(const struct rk_range *r);
/* The device of a context, 0 when CUPTI does not say. */
uint32_t rk_range_device_of(const struct cupti_range *f, void *context);

/*
 * Returns the values of the kernels since the last call, in the order in which they ran, and
 * continues counting. `values` has one for each metric; a missing one is NaN. False, with `t`
 * filled: counting has stopped.
 */
typedef void rk_range_row(void *user, size_t range, const double *values);
bool rk_range_drain(struct rk_range *r, rk_range_row *row, void *user, size_t *ret_ranges,
		    size_t *ret_dropped, struct rk_range_trouble *t);

void rk_range_close(struct rk_range *r); /* NULL is fine */

/* Advice for the user; "" when there is none. */
const char *rk_range_advice(int code);

#endif
