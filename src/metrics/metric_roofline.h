/* metric_roofline.h - ceilings of a chip, and the place of a kernel below them. */
#ifndef RK_METRIC_ROOFLINE_H
#define RK_METRIC_ROOFLINE_H

#include "base/error.h"
#include "rockit/metrics.h"

/*
 * What roofline.csv measured, by the names of its columns ("HBMBw", "MFMAF16Flops", ...), in GB/s
 * and Gop/s. Of a name that comes several times (devices) the mean counts. Other names are passed
 * over, and so are values that are not above 0.
 */
struct rk_roof_measure {
	const char *name;
	double value;
};

/*
 * *ret is the caller's: rk_free; names are static. Levels first, then pipes, each only where a
 * number is known. "vector f32 packed" and "mall" are ceilings that no counter is held against.
 */
int rk_roof_ceilings(const struct rk_metric_device *d, const struct rk_roof_measure *measured,
		     size_t n, struct rk_ceiling **ret, size_t *ret_n, struct rk_error *err);

/* The ceiling of that name; NULL: there is none. */
const struct rk_ceiling *rk_roof_find(const struct rk_ceiling *c, size_t n, const char *name);

/* "lds", "l1", "l2", "hbm": by enum rk_level. */
extern const char *const rk_level_names[];

/* What is known of a kernel: totals over its dispatches. NaN: not known. */
struct rk_roof_kernel {
	double time_ns;
	double bytes[RK_NLEVELS];
	/* operations by ceiling: "vector f32", ... in the order of rk_roof_pipes */
	double flops[16];
};
/* Names of the pipes, in the order of rk_roof_kernel.flops; NULL at the end. At most 16. */
extern const char *const rk_roof_pipes[];

/*
 * The pipe is that of which the largest share was used. rate and intensity count operations in
 * floating point, unless the pipe is "matrix i8": then its operations alone. Without a pipe or
 * without bytes of a level that level is not known; percent <= 100 exactly when rate <= attainable.
 */
void rk_roof_place(const struct rk_ceiling *ceilings, size_t n, const struct rk_roof_kernel *k,
		   struct rk_roof_point *ret);

#endif
