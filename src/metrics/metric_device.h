/* metric_device.h - facts about the chip, from the run and from a table of products. */
#ifndef RK_METRIC_DEVICE_H
#define RK_METRIC_DEVICE_H

#include "base/error.h"
#include "base/strtab.h"
#include "codec/json/tree.h"
#include "rockit/metrics.h"
#include "table/batch.h"

/* Sets all fields to unknown. */
void rk_metric_device_clear(struct rk_metric_device *d);
/*
 * Turns "gfx942:sramecc+:xnack-", "GFX942", "942" or "MI300X" into "gfx942"; false: no such target.
 */
bool rk_metric_arch_parse(const char *text, char ret[16]);
/* Reads a row of the agents table, whose strings are in `names`. */
void rk_metric_device_of_agent(const struct rk_batch *agents, size_t row,
			       const struct rk_strtab *names, struct rk_metric_device *ret);
/* What the user should know about the numbers of a device; "": nothing. */
struct rk_device_notes {
	char wrong[200];   /* impossible numbers of the run, each with the one used instead */
	char assumed[320]; /* a sentence: the product that a bare target is treated as */
};
/*
 * Fills in unknown fields from the product and the target (data/metrics/devices.json), and replaces
 * those that this product cannot have. The known fields determine the partition mode: channels
 * follow the dies.
 */
int rk_metric_device_complete(struct rk_metric_device *d, struct rk_device_notes *notes,
			      struct rk_error *err);
/* True if all numbers and the target are equal. */
bool rk_metric_device_equal(const struct rk_metric_device *a, const struct rk_metric_device *b);

/* A constant of formulas ("cus", "CU_NUM", "simd_count", ...). False: unknown name. NaN: no value. */
bool rk_metric_device_constant(const struct rk_metric_device *d, const char *name, double *ret);

/* Loads data/metrics/devices.json: facts about targets and products. Free with rk_tree_free. */
int rk_products_load(struct rk_tree **ret, struct rk_error *err);
/* NaN if it is missing. `t` may be NULL. */
double rk_products_number(const struct rk_tree *t, const char *key);
/* NULL: unknown target. */
const struct rk_tree *rk_products_target(const struct rk_tree *table, const char *arch);

#endif
