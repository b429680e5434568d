/* metrics_judge.h - one kernel's place in the roofline, and its verdict. */
#ifndef RK_METRICS_JUDGE_H
#define RK_METRICS_JUDGE_H

#include "metrics/metrics_impl.h"

/* Ceilings of the chip that the kernel ran on. */
struct rk_metric_roof {
	struct rk_ceiling *ceilings;
	size_t n;
};

/* k->metrics are there; fills k->roof and k->verdict. */
void rk_metric_judge(const struct rk_metric_work *w, const struct rk_metric_roof *r,
		     const struct rk_metric_group *g, const struct rk_agg_row *times,
		     struct rk_metric_kernel *k);

#endif
