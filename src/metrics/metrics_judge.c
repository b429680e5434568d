/* metrics_judge.c - one kernel's place in the roofline, and its verdict. */
#include "metrics/metrics_judge.h"

#include <math.h>
#include <string.h>

#include "metrics/metric_limits.h"
#include "metrics/metric_verdict.h"

static const struct rk_metric_value *find(const struct rk_metric_kernel *k, const char *id)
{
	for (size_t i = 0; i < k->nmetrics; i++)
		if (strcmp(k->metrics[i].id, id) == 0)
			return &k->metrics[i];
	return NULL;
}

/* Over the time of the kernel where there are times, else over its dispatches. */
static double value(const struct rk_metric_kernel *k, const char *id)
{
	const struct rk_metric_value *v = find(k, id);

	if (!v)
		return NAN;
	return isnan(v->weighted) ? v->avg : v->weighted;
}

static double percent_of_peak(const struct rk_metric_kernel *k, const char *id)
{
	const struct rk_metric_value *v = find(k, id);

	return v && v->peak > 0 ? 100 * value(k, id) / v->peak : NAN;
}

static double larger(double a, double b)
{
	return isnan(a) || b > a ? b : a;
}

static double plus(double a, double b)
{
	return isnan(a) ? b : isnan(b) ? a : a + b;
}

static double ceiling(const struct rk_metric_roof *r, const char *name)
{
	for (size_t i = 0; i < r->n; i++)
		if (strcmp(r->ceilings[i].name, name) == 0)
			return r->ceilings[i].theory;
	return NAN;
}

static const char *const levels[RK_NLEVELS] = { "lds", "l1", "l2", "hbm" };

/* Totals per ns of the dispatches that have them, scaled to the time of all. */
static void fill_roof(const struct rk_metric_group *g, double time_ns, struct rk_roof_kernel *ret)
{
	ret->time_ns = time_ns;
	for (unsigned i = 0; i < RK_NTOTALS; i++) {
		double v = g->total_time[i] > 0 ? g->totals[i] / g->total_time[i] * time_ns : NAN;

		if (i < RK_TOTAL_OPS)
			ret->bytes[i - RK_TOTAL_BYTES] = v;
		else
			ret->flops[i - RK_TOTAL_OPS] = v;
	}
}

static void fill_rates(const struct rk_metric_roof *r, const struct rk_roof_kernel *roof,
		       const struct rk_metric_kernel *k, struct rk_verdict_facts *f)
{
	for (unsigned i = 0; i < RK_NLEVELS; i++)
		f->level_pct[i] = 100 * roof->bytes[i] / roof->time_ns / ceiling(r, levels[i]);
	/* requests that hit count for L2, too */
	f->level_pct[RK_LEVEL_L2] = larger(f->level_pct[RK_LEVEL_L2], percent_of_peak(k, "l2_bw"));
	/* NVIDIA's says it itself */
	f->level_pct[RK_LEVEL_HBM] = larger(f->level_pct[RK_LEVEL_HBM], value(k, "dram_busy_pct"));
	f->flop_pct = NAN;
	f->flop_pipe = "";
	for (unsigned i = 0; rk_roof_pipes[i]; i++) {
		double share = 100 * roof->flops[i] / roof->time_ns / ceiling(r, rk_roof_pipes[i]);

		if (isnan(share) || share <= f->flop_pct)
			continue;
		f->flop_pct = share;
		f->flop_pipe = rk_roof_pipes[i];
	}
}

/* FETCH_SIZE without WRITE_SIZE, as it is often recorded. */
static void fill_side(const struct rk_metric_kernel *k, struct rk_verdict_facts *f)
{
	double reads = percent_of_peak(k, "fabric_read_bw");
	double writes = percent_of_peak(k, "fabric_write_bw");

	f->side = isnan(reads) ? "writes" : "reads";
	f->side_pct = !isnan(f->level_pct[RK_LEVEL_HBM]) ? NAN : isnan(reads) ? writes : reads;
}

/* Of reads and of writes, those that are not too few to matter. */
static double remote_share(const struct rk_metric_kernel *k)
{
	const struct rk_limits *l = rk_limits_borrow(NULL);
	double reads = value(k, "hbm_rd_req") + value(k, "remote_rd_req");
	double writes = value(k, "hbm_wr_req") + value(k, "remote_wr_req");
	double few = l ? l->remote_side_pct / 100 * (reads + writes) : NAN;

	return larger(reads < few ? NAN : value(k, "remote_rd_pct"),
		      writes < few ? NAN : value(k, "remote_wr_pct"));
}

static bool has_counters(const struct rk_run *run)
{
	for (size_t i = 0; i < run->nfound; i++)
		if (run->found[i].ncounters)
			return true;
	return false;
}

static void fill_links(const struct rk_metric_kernel *k, struct rk_verdict_facts *f)
{
	static const char *const stalls[] = { "fabric_rd_pcie_stall_pct",
					      "fabric_rd_xgmi_stall_pct",
					      "fabric_wr_pcie_stall_pct",
					      "fabric_wr_xgmi_stall_pct" };

	f->remote_pct = remote_share(k);
	f->link_stall_pct = NAN;
	for (size_t i = 0; i < sizeof(stalls) / sizeof(stalls[0]); i++)
		f->link_stall_pct = plus(f->link_stall_pct, value(k, stalls[i]));
}

static void fill_waits(const struct rk_metric_kernel *k, struct rk_verdict_facts *f)
{
	f->valu_busy_pct = value(k, "valu_busy_pct");
	f->mfma_busy_pct = value(k, "mfma_busy_pct");
	f->dep_wait_pct = value(k, "dep_wait_frac");
	f->issue_wait_pct = value(k, "issue_wait_frac");
	f->lanes_on = value(k, "valu_active_threads");
	f->occupancy_pct = value(k, "occupancy_pct");
	if (isnan(f->occupancy_pct))
		f->occupancy_pct = value(k, "occupancy_pct_from_wave_cycles");
	f->vmem_latency = value(k, "vmem_latency");
	f->no_waveslot_pct = value(k, "no_waveslot_pct");
	f->no_vgpr_pct = value(k, "no_vgpr_pct");
	f->no_sgpr_pct = value(k, "no_sgpr_pct");
	f->no_lds_pct = value(k, "no_lds_pct");
	f->no_barrier_pct = value(k, "no_barrier_pct");
}

void rk_metric_judge(const struct rk_metric_work *w, const struct rk_metric_roof *r,
		     const struct rk_metric_group *g, const struct rk_agg_row *times,
		     struct rk_metric_kernel *k)
{
	const struct rk_metric_device *d = &w->kinds.v[g->kind];
	struct rk_roof_kernel roof;
	struct rk_verdict_facts f = {
		.name = k->name,
		.arch = d->arch,
		.counters = g->counted > 0,
		.others = has_counters(w->run),
		.unnamed = !*d->arch && !*d->product,
		.timed = times->timed && times->total_ns > 0,
		.calls = k->calls,
		.mean_ns = times->timed ? times->mean_ns : NAN,
		.median_ns = times->median_ns,
		.cycles = value(k, "kernel_cycles"),
		.sclk = d->sclk,
		.waves = value(k, "wavefronts"),
		.cus = d->cus,
		.window_ratio = value(k, "effective_sclk_mhz") / d->sclk,
		.gap_share = w->traced ? rk_timeline_gap_share(&w->trace) : NAN,
	};

	fill_roof(g, (double)times->total_ns, &roof);
	fill_rates(r, &roof, k, &f);
	fill_side(k, &f);
	fill_links(k, &f);
	fill_waits(k, &f);
	rk_roof_place(r->ceilings, r->n, &roof, &k->roof);
	f.intensity = k->roof.intensity[RK_LEVEL_HBM];
	f.ridge = *k->roof.pipe ? ceiling(r, k->roof.pipe) / ceiling(r, "hbm") : NAN;
	rk_verdict_judge(&f, &k->verdict);
	/* of another vendor's device no counter of ours would tell more */
	if (!*d->arch && *d->product)
		k->verdict.collect[0] = '\0';
}
