/* metric_numbers.c - see metric_numbers.h. */
#include "metrics/formula/metric_numbers.h"

#include <math.h>

/* Every number of the facts, most telling first within what it is about. */
static const struct entry {
	const char *name, *unit;
	size_t at;
	enum rk_verdict_about about;
} entries[] = {
#define AT(f) offsetof(struct rk_verdict_facts, f)
	{ "hbm_pct", "%", AT(level_pct[RK_LEVEL_HBM]), RK_ABOUT_MEMORY },
	{ "hbm_side_pct", "%", AT(side_pct), RK_ABOUT_MEMORY },
	{ "dep_wait_pct", "%", AT(dep_wait_pct), RK_ABOUT_WAITS },
	{ "mean_ns", "ns", AT(mean_ns), RK_ABOUT_TIME },
	{ "occupancy_pct", "%", AT(occupancy_pct), RK_ABOUT_WAITS },
	{ "l2_pct", "%", AT(level_pct[RK_LEVEL_L2]), RK_ABOUT_MEMORY },
	{ "l1_pct", "%", AT(level_pct[RK_LEVEL_L1]), RK_ABOUT_MEMORY },
	{ "lds_pct", "%", AT(level_pct[RK_LEVEL_LDS]), RK_ABOUT_MEMORY },
	{ "flop_pct", "%", AT(flop_pct), RK_ABOUT_COMPUTE },
	{ "valu_busy_pct", "%", AT(valu_busy_pct), RK_ABOUT_COMPUTE },
	{ "mfma_busy_pct", "%", AT(mfma_busy_pct), RK_ABOUT_COMPUTE },
	{ "window_ratio", "", AT(window_ratio), RK_ABOUT_COMPUTE },
	{ "gap_share", "", AT(gap_share), RK_ABOUT_TIME },
	{ "median_ns", "ns", AT(median_ns), RK_ABOUT_TIME },
	{ "remote_pct", "%", AT(remote_pct), RK_ABOUT_LINKS },
	{ "link_stall_pct", "%", AT(link_stall_pct), RK_ABOUT_LINKS },
	{ "issue_wait_pct", "%", AT(issue_wait_pct), RK_ABOUT_WAITS },
	{ "lanes_on", "lanes", AT(lanes_on), RK_ABOUT_WAITS },
	{ "vmem_latency", "cycles", AT(vmem_latency), RK_ABOUT_WAITS },
	{ "intensity", "FLOP/B", AT(intensity), RK_ABOUT_ROOF },
	{ "ridge", "FLOP/B", AT(ridge), RK_ABOUT_ROOF },
	{ "no_waveslot_pct", "%", AT(no_waveslot_pct), RK_ABOUT_WAITS },
	{ "no_vgpr_pct", "%", AT(no_vgpr_pct), RK_ABOUT_WAITS },
	{ "no_sgpr_pct", "%", AT(no_sgpr_pct), RK_ABOUT_WAITS },
	{ "no_lds_pct", "%", AT(no_lds_pct), RK_ABOUT_WAITS },
	{ "no_barrier_pct", "%", AT(no_barrier_pct), RK_ABOUT_WAITS },
	{ "waves", "waves", AT(waves), RK_ABOUT_WAVES },
	{ "cus", "CUs", AT(cus), RK_ABOUT_WAVES },
	{ "cycles", "cycles", AT(cycles), RK_ABOUT_WAVES },
	{ "sclk", "MHz", AT(sclk), RK_ABOUT_WAVES },
#undef AT
};

enum { NENTRIES = sizeof(entries) / sizeof(entries[0]) };

static double *entry_of(struct rk_verdict_facts *f, const struct entry *e)
{
	return (double *)(void *)((char *)f + e->at);
}

static double value_of(const struct rk_verdict_facts *f, const struct entry *e)
{
	return *(const double *)(const void *)((const char *)f + e->at);
}

void rk_verdict_facts_clean(struct rk_verdict_facts *f)
{
	for (size_t i = 0; i < NENTRIES; i++)
		if (isinf(*entry_of(f, &entries[i])))
			*entry_of(f, &entries[i]) = NAN;
}

static void add(struct rk_verdict *v, const char *name, double value, const char *unit)
{
	if (isnan(value) || v->nnumbers == RK_VERDICT_NUMBERS)
		return;
	v->numbers[v->nnumbers++] = (struct rk_verdict_number){ name, value, unit };
}

void rk_verdict_numbers(const struct rk_verdict_facts *f, double comp, double fill,
			enum rk_verdict_about about, struct rk_verdict *ret)
{
	ret->nnumbers = 0;
	if (about == RK_ABOUT_WAVES)
		add(ret, "fill", fill, "waves per SIMD");
	if (about == RK_ABOUT_COMPUTE)
		add(ret, "compute_pct", comp, "%");
	for (size_t i = 0; i < NENTRIES; i++)
		if (entries[i].about == about)
			add(ret, entries[i].name, value_of(f, &entries[i]), entries[i].unit);
	if (about != RK_ABOUT_COMPUTE)
		add(ret, "compute_pct", comp, "%");
	for (size_t i = 0; i < NENTRIES; i++)
		if (entries[i].about != about)
			add(ret, entries[i].name, value_of(f, &entries[i]), entries[i].unit);
}
