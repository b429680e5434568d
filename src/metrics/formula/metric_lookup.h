/* metric_lookup.h - what a name in a formula stands for, in one run on one chip. */
#ifndef RK_METRIC_LOOKUP_H
#define RK_METRIC_LOOKUP_H

#include "metrics/formula/metric_plan.h"

struct rk_metric_lookup {
	const struct rk_metric_set *set;
	const struct rk_metric_device *device;
	const struct rk_expr *normal; /* what D stands for */
	struct rk_counter_names *names;
	struct rk_metric_inputs *inputs;
	const char *pass; /* of the metric at hand, "" */
	struct rk_name_instance *instances;
	size_t cap_instances;
};

/* The function of struct rk_names; `arg` is a struct rk_metric_lookup. */
int rk_metric_look_up(void *arg, const char *name, enum rk_name_use use, int64_t index,
		      struct rk_name *ret, struct rk_error *err);

#endif
