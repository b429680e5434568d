/* metric_roofline.c - ceilings of a chip, and the position of a kernel below them. */
#include "metrics/metric_roofline.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "metrics/metric_device.h"

const char *const rk_level_names[RK_NLEVELS] = {
	[RK_LEVEL_LDS] = "lds",
	[RK_LEVEL_L1] = "l1",
	[RK_LEVEL_L2] = "l2",
	[RK_LEVEL_HBM] = "hbm",
};

const char *rk_level_name(const struct rk_metric_device *d, enum rk_level level)
{
	if (d && level == RK_LEVEL_HBM && d->memory && strcmp(d->memory, "HBM") != 0)
		return "dram";
	return rk_level_names[level];
}

const char *const rk_roof_pipes[] = {
	"vector f16",  "vector f32", "vector f64", "matrix f16", "matrix bf16", "matrix f8",
	"matrix f6f4", "matrix f32", "matrix f64", "matrix i8",  "matrix xf32", NULL,
};
enum { NPIPES = sizeof(rk_roof_pipes) / sizeof(rk_roof_pipes[0]) - 1 };
_Static_assert((int)NPIPES <= 16, "room in rk_roof_kernel.flops");

static const char i8[] = "matrix i8";

/* In display order. No counter measures "mall" and "vector f32 packed". */
static const char *const ceiling_names[] = {
	"lds",         "l1",         "l2",          "mall",
	"hbm",         "vector f16", "vector f32",  "vector f32 packed",
	"vector f64",  "matrix f16", "matrix bf16", "matrix f8",
	"matrix f6f4", "matrix f32", "matrix f64",  "matrix xf32",
	"matrix i8",
};
enum { NCEILINGS = sizeof(ceiling_names) / sizeof(ceiling_names[0]) };

/*
 * Releases of the tool name a column differently: use the mean of the first one that has a value.
 */
static double measured_of(const struct rk_tree *columns, const struct rk_roof_measure *m, size_t n)
{
	RK_TREE_EACH(column, columns)
	{
		const char *name = rk_tree_text(column, "");
		double sum = 0;
		size_t count = 0;

		for (size_t i = 0; i < n; i++) {
			if (m[i].value > 0 && isfinite(m[i].value) &&
			    rk_text_same(m[i].name, name)) {
				sum += m[i].value;
				count++;
			}
		}
		if (count && isfinite(sum))
			return sum / (double)count;
	}
	return NAN;
}

/* Theory: MHz times bytes or operations per clock, in GB/s or GFLOP/s. */
static struct rk_ceiling ceiling(const struct rk_tree *table, const struct rk_metric_device *d,
				 const char *name, const struct rk_roof_measure *m, size_t n)
{
	const struct rk_tree *target = rk_products_target(table, d->arch);
	const struct rk_tree *facts = rk_tree_get(rk_tree_get(table, "ceilings"), name);
	/* RDNA has a cache more: the one next to the CUs is "l1" here and L0 there */
	const struct rk_tree *own = rk_tree_get(rk_tree_get(target, "columns"), name);
	struct rk_ceiling c = { .name = name };

	c.measured = measured_of(own ? own : rk_tree_get(facts, "columns"), m, n);
	c.bandwidth = !strchr(name, ' ');
	if (!strcmp(name, "hbm"))
		c.theory = rk_products_number(target, name) * d->mclk * d->hbmch / 1000;
	else if (!strcmp(name, "l2"))
		c.theory = rk_products_number(target, name) * d->sclk * d->l2ch / 1000;
	else if (c.bandwidth)
		c.theory = rk_products_number(target, name) * d->sclk * d->cus / 1000;
	else if (!strncmp(name, "vector ", 7)) /* "vector f32" is "f32" in "vector" */
		c.theory = rk_products_number(rk_tree_get(target, "vector"), name + 7) * d->sclk *
			   d->cus / 1000;
	else
		c.theory = rk_products_number(rk_tree_get(target, "matrix"), name + 7) * d->sclk *
			   d->cus / 1000;
	if (!strcmp(name, "hbm"))
		c.name = rk_level_name(d, RK_LEVEL_HBM);
	c.achievable = c.measured;
	if (isnan(c.measured))
		c.achievable = c.theory * rk_products_number(facts, "usual");
	return c;
}

int rk_roof_ceilings(const struct rk_metric_device *d, const struct rk_roof_measure *measured,
		     size_t n, struct rk_ceiling **ret, size_t *ret_n, struct rk_error *err)
{
	struct rk_tree *table = NULL;
	struct rk_ceiling *list;
	size_t count = 0;
	int rc = rk_products_load(&table, err);

	if (rc < 0)
		return rc;
	list = rk_calloc(NCEILINGS, sizeof(*list));
	if (!list) {
		rk_tree_free(table);
		return rk_fail_nomem(err);
	}
	for (size_t i = 0; i < NCEILINGS; i++) {
		struct rk_ceiling c = ceiling(table, d, ceiling_names[i], measured, n);

		if (!isnan(c.theory) || !isnan(c.measured))
			list[count++] = c;
	}
	rk_tree_free(table);
	*ret = list;
	*ret_n = count;
	return 0;
}

/* ---- the position of a kernel ---- */

/* NaN unless the values are finite and above 0. */
static double ratio(double a, double b)
{
	if (!(b > 0) || !isfinite(a / b))
		return NAN;
	return a / b;
}

const struct rk_ceiling *rk_roof_find(const struct rk_ceiling *c, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(c[i].name, name))
			return &c[i];
	return NULL;
}

const struct rk_ceiling *rk_roof_level(const struct rk_ceiling *c, size_t n, enum rk_level level)
{
	const struct rk_ceiling *found = rk_roof_find(c, n, rk_level_names[level]);

	if (!found && level == RK_LEVEL_HBM)
		found = rk_roof_find(c, n, "dram");
	return found;
}

static double height_of(const struct rk_ceiling *c)
{
	if (!c)
		return NAN;
	return isnan(c->achievable) ? c->theory : c->achievable;
}

static double height(const struct rk_ceiling *ceilings, size_t n, const char *name)
{
	return height_of(rk_roof_find(ceilings, n, name));
}

void rk_roof_place(const struct rk_ceiling *ceilings, size_t n, const struct rk_roof_kernel *k,
		   struct rk_roof_point *ret)
{
	double flops = NAN, top, most = 0;
	bool integers;

	ret->pipe = "";
	for (size_t i = 0; i < NPIPES; i++) {
		double share = ratio(k->flops[i], height(ceilings, n, rk_roof_pipes[i]));

		if (share > most) {
			most = share;
			ret->pipe = rk_roof_pipes[i];
		}
	}
	/* the operations that the pipe executes; NaN if none of them was counted */
	integers = !strcmp(ret->pipe, i8);
	for (size_t i = 0; i < NPIPES; i++)
		if (!isnan(k->flops[i]) && !strcmp(rk_roof_pipes[i], i8) == integers)
			flops = isnan(flops) ? k->flops[i] : flops + k->flops[i];
	top = height(ceilings, n, ret->pipe);
	ret->rate = ratio(flops, k->time_ns);

	for (size_t l = 0; l < RK_NLEVELS; l++) {
		double slope, percent;

		ret->intensity[l] = ratio(flops, k->bytes[l]);
		slope = ret->intensity[l] * height_of(rk_roof_level(ceilings, n, (enum rk_level)l));
		ret->attainable[l] = isnan(slope) || isnan(top) ? NAN : fmin(top, slope);
		percent = 100 * ratio(ret->rate, ret->attainable[l]);
		/* a quotient just above 1 can round to 1, which would contradict the two rates */
		if (ret->rate > ret->attainable[l] && percent <= 100)
			percent = nextafter(100, 200);
		ret->percent[l] = percent;
	}
}
