/* metric_device.h - the chip behind the numbers: from the run, from a table of products. */
#ifndef RK_METRIC_DEVICE_H
#define RK_METRIC_DEVICE_H

#include "base/error.h"
#include "codec/json/tree.h"
#include "rockit/metrics.h"
#include "table/batch.h"

/* All unknown. */
void rk_metric_device_clear(struct rk_metric_device *d);
/* "gfx942:sramecc+:xnack-", "GFX942", "942", "MI300X" as "gfx942"; false: no such target. */
bool rk_metric_arch_parse(const char *text, char ret[16]);
/* Of a row of the agents table; strings through `text_of`, which borrows by id. */
void rk_metric_device_of_agent(const struct rk_batch *agents, size_t row,
			       const char *(*text_of)(void *arg, uint32_t id), void *arg,
			       struct rk_metric_device *ret);
/*
 * Fills what is not known yet from the product and the target (data/metrics/devices.json). What
 * the partition mode makes of a chip is taken from what is known: channels follow the dies.
 */
int rk_metric_device_complete(struct rk_metric_device *d, struct rk_error *err);
/* Same numbers and same target. */
bool rk_metric_device_equal(const struct rk_metric_device *a, const struct rk_metric_device *b);

/* A constant of formulas ("cus", "CU_NUM", "simd_count", ...). False: no such name. NaN: unknown. */
bool rk_metric_device_constant(const struct rk_metric_device *d, const char *name, double *ret);

/* data/metrics/devices.json: what is known of targets and products. Freed by rk_tree_free. */
int rk_products_load(struct rk_tree **ret, struct rk_error *err);
/* NaN where there is none. `t` may be NULL. */
double rk_products_number(const struct rk_tree *t, const char *key);
/* NULL: nothing is known of it. */
const struct rk_tree *rk_products_target(const struct rk_tree *table, const char *arch);

#endif
