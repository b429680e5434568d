/*
 * cup_range.h - hardware counters of kernels with CUPTI's range profiler: each kernel of a context
 * is a range and is run as often as its counters need (memory is restored in between), one kernel
 * after another.
 *
 * Not thread-safe. Every failure names the step that failed.
 */
#ifndef RK_CUP_RANGE_H
#define RK_CUP_RANGE_H

#include <stdbool.h>

#include "cupti_range_abi.h"

struct rk_range; /* for one context */

struct rk_range_trouble {
	const char *step; /* the CUPTI function that failed; NULL: none */
	int code;
	char what[160]; /* a metric that the chip does not have */
};

/* Looks up the functions in CUPTI; returns the first missing one, or NULL. CUDA before 12.6 has none. */
const char *rk_range_load(struct cupti_range *f, void *lib);

/*
 * Starts counting on a context, which must not be in use. `metrics` are borrowed until
 * rk_range_close; at most `most` kernels are counted between two drains. On failure returns NULL
 * and fills `t`.
 */
struct rk_range *rk_range_open(const struct cupti_range *f, void *context, const char **metrics,
			       size_t n, size_t most, struct rk_range_trouble *t);
/* How often each kernel is run; the chip; the device's number. */
size_t rk_range_passes(const struct rk_range *r);
const char *rk_range_chip(const struct rk_range *r);
uint32_t rk_range_device(const struct rk_range *r);
/* The device number of a context, 0 if CUPTI does not know. */
uint32_t rk_range_device_of(const struct cupti_range *f, void *context);

/*
 * Passes on the values of the kernels since the last call, in the order in which they ran, and
 * continues counting. `values` has one value per metric; missing ones are NaN. Returns false and
 * fills `t` if counting has stopped.
 */
typedef void rk_range_row(void *user, size_t range, const double *values);
bool rk_range_drain(struct rk_range *r, rk_range_row *row, void *user, size_t *ret_ranges,
		    size_t *ret_dropped, struct rk_range_trouble *t);

void rk_range_close(struct rk_range *r); /* NULL is fine */

/* Advice for the user, or "". */
const char *rk_range_advice(int code);

#endif
