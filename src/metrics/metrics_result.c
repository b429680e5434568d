/* metrics_result.c - build the result from the sums: values, roofline, verdicts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/handle.h"
#include "base/num.h"
#include "metrics/metric_limits.h"
#include "metrics/metric_verdict.h"
#include "metrics/metrics_impl.h"

/* ---- position in the roofline and verdict of one kernel ---- */

/* Ceilings of the chip that the kernel ran on. */
struct roof {
	struct rk_ceiling *ceilings;
	size_t n;
};

static const struct rk_metric_value *find(const struct rk_metric_kernel *k, const char *id)
{
	for (size_t i = 0; i < k->nmetrics; i++)
		if (strcmp(k->metrics[i].id, id) == 0)
			return &k->metrics[i];
	return NULL;
}

/* Weighted by time if there are times, else the mean over dispatches. */
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

static double ceiling(const struct roof *r, const char *name)
{
	const struct rk_ceiling *c = rk_roof_find(r->ceilings, r->n, name);

	return c ? c->theory : NAN;
}

static double level_ceiling(const struct roof *r, enum rk_level level)
{
	const struct rk_ceiling *c = rk_roof_level(r->ceilings, r->n, level);

	return c ? c->theory : NAN;
}

static void fill_rates(const struct roof *r, const struct rk_roof_kernel *roof,
		       const struct rk_metric_kernel *k, struct rk_verdict_facts *f)
{
	for (unsigned i = 0; i < RK_NLEVELS; i++)
		f->level_pct[i] =
			100 * roof->bytes[i] / roof->time_ns / level_ceiling(r, (enum rk_level)i);
	/* requests that hit also count for L2 */
	f->level_pct[RK_LEVEL_L2] = larger(f->level_pct[RK_LEVEL_L2], percent_of_peak(k, "l2_bw"));
	/* NVIDIA has a metric for this */
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

/* HBM reads or writes alone, and the share that leaves the chip. */
static void fill_traffic(const struct rk_metric_kernel *k, struct rk_verdict_facts *f)
{
	static const char *const stalls[] = { "fabric_rd_pcie_stall_pct",
					      "fabric_rd_xgmi_stall_pct",
					      "fabric_wr_pcie_stall_pct",
					      "fabric_wr_xgmi_stall_pct" };
	const struct rk_limits *l = rk_limits_borrow(NULL);
	double read_pct = percent_of_peak(k, "fabric_read_bw");
	double write_pct = percent_of_peak(k, "fabric_write_bw");
	double reads = value(k, "hbm_rd_req") + value(k, "remote_rd_req");
	double writes = value(k, "hbm_wr_req") + value(k, "remote_wr_req");
	double remote_rd = value(k, "remote_rd_pct"), remote_wr = value(k, "remote_wr_pct");

	/* FETCH_SIZE without WRITE_SIZE is often recorded */
	f->side = isnan(read_pct) ? "writes" : "reads";
	f->side_pct = NAN;
	if (isnan(f->level_pct[RK_LEVEL_HBM]))
		f->side_pct = isnan(read_pct) ? write_pct : read_pct;
	/* use reads and writes, unless they are too few to matter */
	if (l && reads < l->remote_side_pct / 100 * (reads + writes))
		remote_rd = NAN;
	if (l && writes < l->remote_side_pct / 100 * (reads + writes))
		remote_wr = NAN;
	f->remote_pct = larger(remote_rd, remote_wr);
	f->link_stall_pct = NAN;
	for (size_t i = 0; i < sizeof(stalls) / sizeof(stalls[0]); i++) {
		double stall = value(k, stalls[i]);

		if (isnan(f->link_stall_pct))
			f->link_stall_pct = stall;
		else if (!isnan(stall))
			f->link_stall_pct += stall;
	}
}

/* Which operations of the kernel were not counted, as in rk_roof_point. */
static const char *find_uncounted(const struct rk_metric_plan *p, const struct roof *r,
				  const struct rk_roof_kernel *roof,
				  const struct rk_metric_kernel *k)
{
	bool vector = false, matrix = false;

	for (unsigned i = 0; rk_roof_pipes[i]; i++) {
		if (!isnan(roof->flops[i]) || !p->countable[RK_TOTAL_OPS + i] ||
		    !rk_roof_find(r->ceilings, r->n, rk_roof_pipes[i]))
			continue;
		if (rk_roof_pipes[i][0] == 'm')
			matrix = true;
		else
			vector = true;
	}
	/* other counters may say that it has no matrix instructions */
	if (value(k, "inst_mfma") == 0 || value(k, "mfma_busy_pct") == 0)
		matrix = false;
	if (matrix)
		return vector ? "vector and matrix" : "matrix";
	return vector ? "vector" : NULL;
}

/*
 * Fills k->roof and k->verdict from k->metrics. Returns the largest share of a peak if it is above
 * what can be, else NaN.
 */
static double judge(const struct rk_metric_work *w, const struct roof *r,
		    const struct rk_metric_group *g, const struct rk_agg_row *times,
		    struct rk_metric_kernel *k)
{
	const struct rk_metric_device *d = &w->kinds.v[g->kind];
	double time_ns = (double)times->total_ns;
	struct rk_roof_kernel roof = { .time_ns = time_ns };
	struct rk_verdict_facts f = {
		.name = k->name,
		.arch = d->arch,
		.memory = d->memory,
		.counters = g->counted > 0,
		.unnamed = !*d->arch && !*d->product,
		.timed = times->timed && times->total_ns > 0,
		.mean_ns = times->timed ? times->mean_ns : NAN,
		.median_ns = times->median_ns,
		.cycles = value(k, "kernel_cycles"),
		.sclk = d->sclk,
		.waves = value(k, "wavefronts"),
		.cus = d->cus,
		.window_ratio = value(k, "effective_sclk_mhz") / d->sclk,
		.gap_share = w->traced ? rk_timeline_gap_share(&w->trace) : NAN,
		.valu_busy_pct = value(k, "valu_busy_pct"),
		.mfma_busy_pct = value(k, "mfma_busy_pct"),
		.dep_wait_pct = value(k, "dep_wait_frac"),
		.issue_wait_pct = value(k, "issue_wait_frac"),
		.lanes_on = value(k, "valu_active_threads"),
		.occupancy_pct = value(k, "occupancy_pct"),
		.vmem_latency = value(k, "vmem_latency"),
		.no_waveslot_pct = value(k, "no_waveslot_pct"),
		.no_vgpr_pct = value(k, "no_vgpr_pct"),
		.no_sgpr_pct = value(k, "no_sgpr_pct"),
		.no_lds_pct = value(k, "no_lds_pct"),
		.no_barrier_pct = value(k, "no_barrier_pct"),
	};

	for (size_t i = 0; i < w->run->nfound && !f.others; i++)
		f.others = w->run->found[i].ncounters > 0;
	if (isnan(f.occupancy_pct))
		f.occupancy_pct = value(k, "occupancy_pct_from_wave_cycles");
	/* totals of the dispatches that have them, scaled to the time of all */
	for (unsigned i = 0; i < RK_NTOTALS; i++) {
		double v = g->total_time[i] > 0 ? g->totals[i] / g->total_time[i] * time_ns : NAN;

		if (i < RK_TOTAL_OPS)
			roof.bytes[i - RK_TOTAL_BYTES] = v;
		else
			roof.flops[i - RK_TOTAL_OPS] = v;
	}
	fill_rates(r, &roof, k, &f);
	fill_traffic(k, &f);
	rk_roof_place(r->ceilings, r->n, &roof, &k->roof);
	k->roof.uncounted = find_uncounted(w->plans[g->kind], r, &roof, k);
	f.intensity = k->roof.intensity[RK_LEVEL_HBM];
	f.ridge = *k->roof.pipe ? ceiling(r, k->roof.pipe) / level_ceiling(r, RK_LEVEL_HBM) : NAN;
	/* uncounted operations can only move it to the right */
	if (k->roof.uncounted && f.intensity <= f.ridge)
		f.intensity = NAN;
	rk_verdict_judge(&f, &k->verdict);
	/* we have no counters for another vendor's device */
	if (!*d->arch && *d->product)
		k->verdict.collect[0] = '\0';
	return rk_verdict_impossible(&f);
}

/* ---- the result ---- */

/* A result and the owners of its strings. */
struct owned {
	struct rk_metrics pub;
	struct rk_metric_set *set;
	struct rk_metric_plan **plans;
	size_t nplans;
	struct rk_run *run; /* kept open, because it owns the names */
};

struct build {
	struct rk_metric_work *w;
	struct rk_metrics *m;
	unsigned kind;     /* the kind that most dispatches ran on */
	unsigned *flag_of; /* by check: its index in m->flags, UINT32_MAX: none */
	struct rk_agg_row *rows;
	size_t nrows;
	struct roof *roofs;  /* by kind, created when a kernel needs it */
	uint64_t above_peak; /* dispatches of kernels above a peak, and by how much */
	double worst_peak;
};

static int by_value(const void *a, const void *b)
{
	const struct rk_metric_kept *x = a, *y = b;

	if (x->metric != y->metric)
		return x->metric < y->metric ? -1 : 1;
	return (x->value > y->value) - (x->value < y->value);
}

static int by_group(const void *a, const void *b)
{
	const struct rk_metric_kept *x = a, *y = b;

	if (x->metric != y->metric)
		return x->metric < y->metric ? -1 : 1;
	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	return (x->value > y->value) - (x->value < y->value);
}

/*
 * The median of the values of a metric, or of one group of them (UINT32_MAX: all); the values are
 * sorted.
 */
static double median_of(const struct rk_metric_sums *s, size_t metric, uint32_t group, uint64_t n)
{
	size_t low = 0, high = s->nkept;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct rk_metric_kept *k = &s->kept[mid];

		if (k->metric < metric ||
		    (k->metric == metric && group != UINT32_MAX && k->group < group))
			low = mid + 1;
		else
			high = mid;
	}
	return s->kept[low + (n - 1) / 2].value / 2 + s->kept[low + n / 2].value / 2;
}

/* Clamps the mean to minimum and maximum despite rounding; an infinite sum has no mean. */
static double between(double mean, const struct rk_metric_sum *s)
{
	if (!isfinite(mean))
		return NAN;
	if (mean < s->min)
		return s->min;
	return mean > s->max ? s->max : mean;
}

static void set_value(const struct build *b, unsigned kind, size_t def, uint32_t group,
		      const struct rk_metric_sum *s, struct rk_metric_value *ret)
{
	const struct rk_metric_def *d = &b->w->set->defs[def];
	const struct rk_metric_plan *p = b->w->plans[kind];

	*ret = (struct rk_metric_value){
		.id = d->id,
		.group = d->group,
		.unit = d->unit,
		.dispatches = s->n,
		.avg = between(s->sum / (double)s->n, s),
		.min = s->min,
		.max = s->max,
		.weighted = s->weight > 0 ? between(s->weighted / s->weight, s) : NAN,
		.median = NAN,
		.peak = NAN,
		.percent_of_peak = NAN,
	};
	if (b->w->of_sums && s->under > 0)
		ret->avg = between(s->over / s->under, s);
	if (d->median && !b->w->sums.kept_full)
		ret->median = median_of(&b->w->sums, def, group, s->n);
	for (size_t i = 0; i < p->noutputs; i++) {
		if (b->w->places[kind][i] == def) {
			ret->peak = p->outputs[i].peak;
			ret->split = p->outputs[i].split;
			break;
		}
	}
	if (ret->peak > 0 && isfinite(100 * ret->avg / ret->peak))
		ret->percent_of_peak = 100 * ret->avg / ret->peak;
}

static bool has_metric(const struct rk_metrics *m, const char *id)
{
	for (size_t i = 0; i < m->nmetrics; i++)
		if (strcmp(m->metrics[i].id, id) == 0)
			return true;
	return false;
}

/* Metrics over all kernels. Metrics that no dispatch has are absent: the plan may know why. */
static int make_metrics(struct build *b, struct rk_error *err)
{
	const struct rk_metric_plan *p = b->w->plans[b->kind];
	struct rk_metric_sums *s = &b->w->sums;
	struct rk_metrics *m = b->m;

	m->metrics = rk_calloc(s->nmetrics, sizeof(*m->metrics));
	m->absent = rk_calloc(b->w->set->ndefs, sizeof(*m->absent));
	if (!m->metrics || !m->absent)
		return rk_fail_nomem(err);
	if (s->nkept)
		qsort(s->kept, s->nkept, sizeof(*s->kept), by_value);
	for (size_t d = 0; d < s->nmetrics; d++) {
		struct rk_metric_sum all = { .min = INFINITY, .max = -INFINITY };

		for (size_t g = 0; g < s->n; g++) {
			const struct rk_metric_sum *from = &s->groups[g].sums[d];

			all.n += from->n;
			all.sum += from->sum;
			if (from->min < all.min)
				all.min = from->min;
			if (from->max > all.max)
				all.max = from->max;
			all.weighted += from->weighted;
			all.weight += from->weight;
			all.over += from->over;
			all.under += from->under;
		}
		if (all.n)
			set_value(b, b->kind, d, UINT32_MAX, &all, &m->metrics[m->nmetrics++]);
	}
	for (size_t i = 0; i < p->nabsent; i++)
		if (!has_metric(m, p->absent[i].id))
			m->absent[m->nabsent++] = p->absent[i];
	for (size_t i = 0; i < p->noutputs; i++) {
		const char *why = "no dispatch has a value: a divisor is 0 or a counter is missing";

		if (!b->w->rows)
			why = "there are no kernels";
		if (!has_metric(m, p->outputs[i].def->id))
			m->absent[m->nabsent++] =
				(struct rk_metric_absent){ p->outputs[i].def->id, why };
	}
	return 0;
}

/* Inserts a kernel sorted by its time. */
static int add_kernel(struct build *b, const char *name, const struct rk_agg_row *r, uint32_t group,
		      struct rk_error *err)
{
	struct rk_metrics *m = b->m;
	const struct rk_metric_sums *s = &b->w->sums;
	const struct rk_metric_group *g = &s->groups[group];
	struct rk_metric_kernel k = { .name = name, .calls = r->calls, .total_ns = r->total_ns };
	struct roof *roof = &b->roofs[g->kind];
	double above;
	size_t at, n = 0;
	int rc;

	/* assume that the benchmark ran on the chip that most dispatches ran on */
	if (!roof->ceilings) {
		rc = rk_roof_ceilings(&b->w->kinds.v[g->kind], b->w->measured,
				      g->kind == b->kind ? b->w->nmeasured : 0, &roof->ceilings,
				      &roof->n, err);
		if (rc < 0)
			return rc;
	}
	for (size_t d = 0; d < s->nmetrics; d++)
		n += g->sums[d].n > 0;
	k.metrics = rk_calloc(n, sizeof(*k.metrics));
	k.flags = rk_calloc(m->nflags + 1, sizeof(*k.flags)); /* one that is added at the end */
	if (!k.metrics || !k.flags) {
		rk_free(k.metrics);
		rk_free(k.flags);
		return rk_fail_nomem(err);
	}
	for (size_t d = 0; d < s->nmetrics; d++)
		if (g->sums[d].n)
			set_value(b, g->kind, d, group, &g->sums[d], &k.metrics[k.nmetrics++]);
	for (size_t c = 0; c < s->nchecks; c++)
		if (b->flag_of[c] != UINT32_MAX)
			k.flags[b->flag_of[c]] = g->flags[c];
	above = judge(b->w, roof, g, r, &k);
	if (!isnan(above)) {
		k.flags[m->nflags] = k.calls;
		b->above_peak += k.calls;
		b->worst_peak = fmax(b->worst_peak, above / 100);
	}

	for (at = m->nkernels++; at && m->kernels[at - 1].total_ns < k.total_ns; at--)
		m->kernels[at] = m->kernels[at - 1];
	m->kernels[at] = k;
	m->total_ns = rk_add_saturated(m->total_ns, k.total_ns);
	return 0;
}

static int by_share(const void *a, const void *b)
{
	const struct rk_verdict_share *x = a, *y = b;

	if (x->total_ns != y->total_ns)
		return x->total_ns < y->total_ns ? 1 : -1;
	return strcmp(x->name, y->name);
}

static void add_flag(struct rk_metrics *m, const char *kind, const char *text, uint64_t n,
		     double worst)
{
	if (n)
		m->flags[m->nflags++] = (struct rk_metric_flag){ kind, text, n, worst };
}

/* Kernels with their own sums, and the others as one; then the time of each verdict. */
static int make_kernels(struct build *b, struct rk_error *err)
{
	struct rk_metrics *m = b->m;
	struct rk_metric_sums *s = &b->w->sums;
	struct rk_agg_row others = { .mean_ns = NAN, .median_ns = NAN };
	int rc;

	m->kernels = rk_calloc(s->n, sizeof(*m->kernels));
	if (!m->kernels)
		return rk_fail_nomem(err);
	for (size_t i = 0; i < b->nrows; i++) {
		const struct rk_agg_row *r = &b->rows[i];
		const uint32_t *at = rk_idmap_at(&s->by_name, r->name);

		if (r->barrier || !at || !*at)
			continue;
		if (s->groups[*at - 1].name == r->name) {
			rc = add_kernel(b, rk_strtab_borrow(b->w->run->ctx.names, r->name, NULL), r,
					*at - 1, err);
			if (rc < 0)
				return rc;
			continue;
		}
		others.calls += r->calls;
		others.timed += r->timed;
		others.total_ns = rk_add_saturated(others.total_ns, r->total_ns);
		if (others.timed)
			others.mean_ns = (double)others.total_ns / (double)others.timed;
	}
	if (others.calls) {
		rc = add_kernel(b, "(other kernels)", &others, (uint32_t)s->n - 1, err);
		if (rc < 0)
			return rc;
	}
	add_flag(m, "above-peak",
		 "more than 105 % of a peak, which decides no verdict: the chip is not the one "
		 "described (--arch, --sysinfo), a memory-side cache answered, or time and "
		 "counters come from different passes",
		 b->above_peak, b->worst_peak);
	for (size_t i = 0; m->total_ns && i < m->nkernels; i++)
		m->kernels[i].percent = 100 * (double)m->kernels[i].total_ns / (double)m->total_ns;

	m->verdicts = rk_calloc(m->nkernels, sizeof(*m->verdicts));
	if (!m->verdicts)
		return rk_fail_nomem(err);
	for (size_t i = 0; i < m->nkernels; i++) {
		const struct rk_metric_kernel *k = &m->kernels[i];
		struct rk_verdict_share *v;
		size_t at = 0;

		while (at < m->nverdicts && strcmp(m->verdicts[at].name, k->verdict.name) != 0)
			at++;
		m->nverdicts += at == m->nverdicts;
		v = &m->verdicts[at];
		v->name = k->verdict.name;
		v->kernels++;
		v->calls += k->calls;
		v->total_ns = rk_add_saturated(v->total_ns, k->total_ns);
		v->percent += k->percent;
	}
	qsort(m->verdicts, m->nverdicts, sizeof(*m->verdicts), by_share);
	return 0;
}

/* Failed checks first, then flags that no formula can express. */
static int make_flags(struct build *b, struct rk_error *err)
{
	enum { OWN = 8 };
	const struct rk_metric_work *w = b->w;
	const struct rk_metric_sums *s = &w->sums;
	struct rk_metrics *m = b->m;
	uint64_t mixed = 0, unknown = 0;

	m->flags = rk_calloc(s->nchecks + OWN, sizeof(*m->flags));
	b->flag_of = rk_calloc(s->nchecks, sizeof(*b->flag_of));
	if (!m->flags || !b->flag_of)
		return rk_fail_nomem(err);
	for (size_t c = 0; c < s->nchecks; c++) {
		const struct rk_metric_check *check = &w->set->checks[c];
		uint64_t n = 0;

		for (size_t g = 0; g < s->n; g++)
			n += s->groups[g].flags[c];
		b->flag_of[c] = n ? (unsigned)m->nflags : UINT32_MAX;
		add_flag(m, check->kind, check->text, n, s->worst[c] > 0 ? s->worst[c] : NAN);
	}
	for (size_t i = 0; i < w->kinds.n; i++) {
		if (strcmp(w->kinds.v[i].arch, w->kinds.v[b->kind].arch) != 0)
			mixed += w->kind_rows[i];
		if (!*w->kinds.v[i].arch && w->inputs.n)
			unknown += w->kind_rows[i];
	}
	add_flag(m, "no-time",
		 "dispatches without a time above 0 have no rates: the recorded times are "
		 "damaged, rounded or missing; record again",
		 w->untimed, NAN);
	add_flag(m, "damaged-counter",
		 "counter values that are negative or not a number are treated as missing",
		 w->block.damaged, NAN);
	add_flag(m, "partial-passes",
		 "some dispatches lack counters that others have: a pass ended early or ran "
		 "other kernels",
		 w->partial, NAN);
	add_flag(m, "mixed-architectures",
		 "kernels ran on several kinds of chips; each kernel uses the formulas and "
		 "peaks of its own chip, the totals use those of the first",
		 mixed, NAN);
	add_flag(m, "unknown-target",
		 "unknown chip, so no formula applies; name it with --arch or --sysinfo", unknown,
		 NAN);
	return 0;
}

static int build_all(struct build *b, struct rk_error *err)
{
	const struct rk_metric_work *w = b->w;
	struct rk_metric_sums *s = &b->w->sums;
	struct rk_metrics *m = b->m;
	int rc = rk_agg_finish(w->agg, &b->rows, &b->nrows, err);

	if (rc < 0)
		return rc;

	/* the kind that most dispatches ran on comes first */
	for (size_t i = 0; i < w->kinds.n; i++)
		if (w->kind_rows[i] > w->kind_rows[b->kind])
			b->kind = (unsigned)i;
	m->devices = rk_calloc(w->kinds.n, sizeof(*m->devices));
	b->roofs = rk_calloc(w->kinds.n, sizeof(*b->roofs));
	if (!m->devices || !b->roofs)
		return rk_fail_nomem(err);
	m->devices[m->ndevices++] = w->kinds.v[b->kind];
	for (size_t i = 0; i < w->kinds.n; i++)
		if (i != b->kind && w->kind_rows[i])
			m->devices[m->ndevices++] = w->kinds.v[i];
	m->arch = m->devices[0].arch;

	if ((rc = rk_roof_ceilings(&m->devices[0], w->measured, w->nmeasured, &m->ceilings,
				   &m->nceilings, err)) < 0 ||
	    (rc = make_flags(b, err)) < 0 || (rc = make_metrics(b, err)) < 0)
		return rc;
	if (s->nkept)
		qsort(s->kept, s->nkept, sizeof(*s->kept), by_group);
	return make_kernels(b, err);
}

static void destroy_metrics(void *p)
{
	struct owned *o = p;
	struct rk_metrics *m = p; /* its first member */

	if (!o)
		return;
	for (size_t i = 0; i < m->nkernels; i++) {
		rk_free(m->kernels[i].metrics);
		rk_free(m->kernels[i].flags);
	}
	for (size_t i = 0; i < o->nplans; i++)
		rk_metric_plan_free(o->plans[i]);
	rk_free(o->plans);
	rk_metric_set_free(o->set);
	rk_free(m->kernels);
	rk_free(m->metrics);
	rk_free(m->absent);
	rk_free(m->flags);
	rk_free(m->devices);
	rk_free(m->ceilings);
	rk_free(m->verdicts);
	rk_free(m->trace.devices);
	rk_free((void *)m->warnings);
	if (o->run)
		rk_handle_drop(o->run);
	rk_free(o);
}

int rk_metric_result(struct rk_metric_work *w, struct rk_metrics **ret, struct rk_error *err)
{
	struct build b = { .w = w };
	struct owned *o = rk_calloc(1, sizeof(*o));
	int rc;

	if (!o)
		return rk_fail_nomem(err);
	b.m = &o->pub;
	rc = build_all(&b, err);
	for (size_t i = 0; b.roofs && i < w->kinds.n; i++)
		rk_free(b.roofs[i].ceilings);
	rk_free(b.roofs);
	rk_free(b.rows);
	rk_free(b.flag_of);
	if (rc < 0)
		goto out;
	if (w->sums.full)
		rk_diag_add(w->run->ctx.diag, "many-kernels", "", 0, 1,
			    "too many distinct kernels; the rest is counted as '(other kernels)'");
	/* From here on the result owns the definitions and plans, which own its strings. */
	o->set = w->set;
	o->plans = w->plans;
	o->nplans = w->kinds.n;
	o->pub.trace = w->trace;
	o->pub.trace.serialised = !w->traced;
	w->set = NULL;
	w->plans = NULL;
	w->trace = (struct rk_trace_facts){ 0 };
	o->pub.normal = w->opt->normal;
	o->pub.of_sums = w->of_sums;
	o->pub.dispatches = w->rows;
	rk_run_tell_names(w->run);
	rc = rk_run_copy_warnings(w->run, &o->pub.warnings, &o->pub.nwarnings, err);
	if (rc < 0 || (rc = rk_handle_open(RK_HANDLE_METRICS, o, destroy_metrics, err)) < 0)
		goto out;
	rk_handle_keep(w->run);
	o->run = w->run;
	*ret = &o->pub;
	o = NULL;
out:
	destroy_metrics(o);
	return rc;
}

void rk_metrics_free(struct rk_metrics *m)
{
	rk_handle_close(RK_HANDLE_METRICS, m);
}
