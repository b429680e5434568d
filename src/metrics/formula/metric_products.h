/* metric_products.h - data/metrics/devices.json: what is known of targets and products. */
#ifndef RK_METRIC_PRODUCTS_H
#define RK_METRIC_PRODUCTS_H

#include "codec/json/tree.h"
#include "rockit/metrics.h"

/* The whole table; freed by rk_tree_free. */
int rk_products_load(struct rk_tree **ret, struct rk_error *err);

/* NaN where there is none. `t` may be NULL. */
double rk_products_number(const struct rk_tree *t, const char *key);
/* NULL: nothing is known of it. */
const struct rk_tree *rk_products_target(const struct rk_tree *table, const char *arch);
/* The target that a product or a family of them ("MI300", "AMD Instinct MI300X OAM") has; NULL. */
const char *rk_products_target_of(const struct rk_tree *table, const char *product);

/* What a data sheet says, less what the partition of the chip takes away. NaN: it does not say. */
struct rk_product_facts {
	double cus, xcds, sclk, mclk, hbmch;
};

/*
 * Of the products that `d` may be: those its name says, else those of its target with as many CUs;
 * clocks decide between several. Only what all of them have alike. False: no product fits.
 */
bool rk_products_facts(const struct rk_tree *table, const struct rk_metric_device *d,
		       struct rk_product_facts *ret);

#endif
