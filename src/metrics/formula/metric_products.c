/* metric_products.c - the table of targets and products, and which product a device is. */
#include "metrics/formula/metric_products.h"

#include <math.h>
#include <string.h>

#include "base/data.h"
#include "base/num.h"
#include "base/text.h"

int rk_products_load(struct rk_tree **ret, struct rk_error *err)
{
	const struct rk_data_file *f = rk_data_find("metrics/devices.json");

	if (!f)
		return rk_fail(err, RK_E_UNSUPPORTED, "no table of devices in this build");
	return rk_tree_parse_json(f->text, f->len, f->name, ret, err);
}

double rk_products_number(const struct rk_tree *t, const char *key)
{
	const char *text = rk_tree_text(rk_tree_get(t, key), "");
	double v;

	return rk_num_f64(text, strlen(text), &v) == RK_NUM_OK ? v : NAN;
}

const struct rk_tree *rk_products_target(const struct rk_tree *table, const char *arch)
{
	return rk_tree_get(rk_tree_get(table, "targets"), arch);
}

static bool is_alnum(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Whether `name` stands in `text` as a word: "MI300X" does in "MI300X_A1", "MI300" does not. */
static bool has_word(const char *text, const char *name)
{
	size_t len = strlen(text), n = strlen(name);

	for (size_t i = 0; n && i + n <= len; i++)
		if (rk_text_iprefix(text + i, len - i, name) && !(i && is_alnum(text[i - 1])) &&
		    !is_alnum(text[i + n]))
			return true;
	return false;
}

static bool is_named(const struct rk_tree *product, const char *text)
{
	return has_word(text, rk_tree_text(rk_tree_get(product, "name"), ""));
}

const char *rk_products_target_of(const struct rk_tree *table, const char *product)
{
	RK_TREE_EACH(p, rk_tree_get(table, "products"))
	if (is_named(p, product))
		return rk_tree_text(rk_tree_get(p, "target"), "");
	RK_TREE_EACH(t, rk_tree_get(table, "targets"))
	RK_TREE_EACH(n, rk_tree_get(t, "names"))
	if (has_word(product, rk_tree_text(n, "")))
		return t->key;
	return NULL;
}

/*
 * The dies of a partition, where the device does not tell: 38 of MI300X's 304 CUs are one of its
 * eight dies. NaN: no mode has as many.
 */
static double dies(const struct rk_tree *p, const struct rk_metric_device *d)
{
	double cus = rk_products_number(p, "cus"), xcds = rk_products_number(p, "xcds");

	if (!isnan(d->xcds))
		return d->xcds;
	if (isnan(d->cus) || isnan(cus) || d->cus == cus)
		return xcds;
	RK_TREE_EACH(mode, rk_tree_get(p, "partitions"))
	{
		int64_t n;

		if (rk_tree_int(mode, &n) && d->cus * xcds == cus * (double)n)
			return (double)n;
	}
	return NAN;
}

static struct rk_product_facts facts_of(const struct rk_tree *p, const struct rk_metric_device *d)
{
	double share = dies(p, d) / rk_products_number(p, "xcds");

	return (struct rk_product_facts){
		.cus = rk_products_number(p, "cus") * share,
		.xcds = dies(p, d),
		.sclk = rk_products_number(p, "sclk"),
		.mclk = rk_products_number(p, "mclk"),
		/* how the memory is divided is not told by the dies: all of it can be reached */
		.hbmch = rk_products_number(p, "hbmch"),
	};
}

/* How well a product fits: its name counts most, then its CUs, then its clocks. */
static int fit(const struct rk_tree *p, const struct rk_metric_device *d)
{
	struct rk_product_facts f = facts_of(p, d);
	bool named = is_named(p, d->product);

	if (strcmp(rk_tree_text(rk_tree_get(p, "target"), ""), d->arch) != 0)
		return 0;
	if (!named && (isnan(f.cus) || (!isnan(d->cus) && d->cus != f.cus)))
		return 0;
	return 1 + 8 * named + 4 * (d->cus == f.cus) + 2 * (d->sclk == f.sclk) +
	       (d->mclk == f.mclk);
}

static void keep_equal(double *v, double other)
{
	if (*v != other)
		*v = NAN;
}

bool rk_products_facts(const struct rk_tree *table, const struct rk_metric_device *d,
		       struct rk_product_facts *ret)
{
	const struct rk_tree *products = rk_tree_get(table, "products");
	int best = 0;
	bool any = false;

	RK_TREE_EACH(p, products)
	if (fit(p, d) > best)
		best = fit(p, d);
	RK_TREE_EACH(p, products)
	{
		struct rk_product_facts f = facts_of(p, d);

		if (!best || fit(p, d) != best)
			continue;
		if (!any)
			*ret = f;
		any = true;
		keep_equal(&ret->cus, f.cus);
		keep_equal(&ret->xcds, f.xcds);
		keep_equal(&ret->sclk, f.sclk);
		keep_equal(&ret->mclk, f.mclk);
		keep_equal(&ret->hbmch, f.hbmch);
	}
	return any;
}
