/* metric_roofline.h - ceilings of a chip, and the position of a kernel below them. */
#ifndef RK_METRIC_ROOFLINE_H
#define RK_METRIC_ROOFLINE_H

#include "base/error.h"
#include "rockit/metrics.h"

/*
 * Values of roofline.csv by column name ("HBMBw", "MFMAF16Flops", ...), in GB/s and Gop/s. If a
 * name appears several times (devices), the mean is used. Other names and values that are not above
 * 0 are ignored.
 */
struct rk_roof_measure {
	const char *name;
	double value;
};

/*
 * Free *ret with rk_free; names are static. Levels first, then pipes, each only if its number is
 * known. No counter is compared with the ceilings "vector f32 packed" and "mall".
 */
int rk_roof_ceilings(const struct rk_metric_device *d, const struct rk_roof_measure *measured,
		     size_t n, struct rk_ceiling **ret, size_t *ret_n, struct rk_error *err);

/* The ceiling of that name, or NULL. */
const struct rk_ceiling *rk_roof_find(const struct rk_ceiling *c, size_t n, const char *name);
const struct rk_ceiling *rk_roof_level(const struct rk_ceiling *c, size_t n, enum rk_level level);

/* "lds", "l1", "l2", "hbm": indexed by enum rk_level. */
extern const char *const rk_level_names[];
/* The same with "dram" for a memory that is not HBM, as ceilings and verdicts name it; `d` may be NULL. */
const char *rk_level_name(const struct rk_metric_device *d, enum rk_level level);

/* Totals over the dispatches of a kernel. NaN: unknown. */
struct rk_roof_kernel {
	double time_ns;
	double bytes[RK_NLEVELS];
	/* operations by ceiling: "vector f32", ... in the order of rk_roof_pipes */
	double flops[16];
};
/* Names of the pipes, in the order of rk_roof_kernel.flops; ends with NULL. At most 16. */
extern const char *const rk_roof_pipes[];

/*
 * The pipe is the one with the largest share of its ceiling. rate and intensity count
 * floating-point operations, or for "matrix i8" only its operations. A level is unknown without a
 * pipe or without its bytes. percent <= 100 exactly when rate <= attainable.
 */
void rk_roof_place(const struct rk_ceiling *ceilings, size_t n, const struct rk_roof_kernel *k,
		   struct rk_roof_point *ret);

#endif
