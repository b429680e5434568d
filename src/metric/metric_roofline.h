/* metric_roofline.h - ceilings of a chip, and where a kernel stands below them. */
#ifndef RK_METRIC_ROOFLINE_H
#define RK_METRIC_ROOFLINE_H

#include "base/error.h"
#include "rockit/metrics.h"

/* What roofline.csv measured, by the names of its columns ("HBMBw", "MFMAF16Flops", ...). */
struct rk_roof_measure {
	const char *name;
	double value;
};

/* *ret is the caller's: rk_free. Empty for a chip of which nothing is known. */
int rk_roof_ceilings(const struct rk_metric_device *d, const struct rk_roof_measure *measured,
		     size_t n, struct rk_ceiling **ret, size_t *ret_n, struct rk_error *err);

/* What is known of a kernel: totals over its dispatches. NaN: not known. */
struct rk_roof_kernel {
	double time_ns;
	double bytes[RK_NLEVELS];
	/* operations by ceiling: "vector f32", ... in the order of rk_roof_pipes */
	double flops[16];
};
/* Names of the pipes, in the order of rk_roof_kernel.flops; NULL at the end. At most 16. */
extern const char *const rk_roof_pipes[];

void rk_roof_place(const struct rk_ceiling *ceilings, size_t n, const struct rk_roof_kernel *k,
		   struct rk_roof_point *ret);

#endif
