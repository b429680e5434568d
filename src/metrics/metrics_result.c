/* metrics_result.c - sums become the answer. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/handle.h"
#include "metrics/metrics_impl.h"
#include "metrics/metrics_judge.h"

/* A result, and what its texts belong to. */
struct owned {
	struct rk_metrics pub;
	struct rk_metric_set *set;
	struct rk_metric_plan **plans;
	size_t nplans;
	struct rk_run *run; /* kept: names are its */
};

struct build {
	struct rk_metric_work *w;
	struct rk_metrics *m;
	unsigned kind;     /* the one most dispatches ran on */
	unsigned *flag_of; /* per check: its place in m->flags, UINT32_MAX for none */
	struct rk_agg_row *rows;
	size_t nrows;
	struct rk_metric_roof *roofs; /* per kind, made when a kernel asks */
};

static double peak_of(const struct build *b, unsigned kind, size_t def)
{
	const struct rk_metric_plan *p = b->w->plans[kind];

	for (size_t i = 0; i < p->noutputs; i++)
		if (b->w->places[kind][i] == def)
			return p->outputs[i].peak;
	return NAN;
}

static int by_metric(const struct rk_metric_kept *x, const struct rk_metric_kept *y)
{
	return (x->metric > y->metric) - (x->metric < y->metric);
}

static int by_value(const void *a, const void *b)
{
	const struct rk_metric_kept *x = a, *y = b;
	int order = by_metric(x, y);

	return order ? order : (x->value > y->value) - (x->value < y->value);
}

static int by_group(const void *a, const void *b)
{
	const struct rk_metric_kept *x = a, *y = b;
	int order = by_metric(x, y);

	if (!order)
		order = (x->group > y->group) - (x->group < y->group);
	return order ? order : by_value(a, b);
}

/* The first place of a metric, or of a group in it (UINT32_MAX: all), in the order they are in. */
static size_t first_of(const struct rk_metric_sums *s, size_t metric, uint32_t group)
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
	return low;
}

static double median_of(const struct rk_metric_sums *s, size_t metric, uint32_t group, uint64_t n)
{
	size_t at = first_of(s, metric, group);

	return s->kept[at + (n - 1) / 2].value / 2 + s->kept[at + n / 2].value / 2;
}

/* Never infinite. */
static double or_missing(double v)
{
	return isfinite(v) ? v : NAN;
}

/* A mean lies between the least and the most, whatever rounding says; too large a sum has none. */
static double between(double mean, const struct rk_metric_sum *s)
{
	mean = or_missing(mean);
	return mean < s->min ? s->min : mean > s->max ? s->max : mean;
}

static void set_value(const struct build *b, unsigned kind, size_t def, uint32_t group,
		      const struct rk_metric_sum *s, struct rk_metric_value *ret)
{
	const struct rk_metric_def *d = &b->w->set->defs[def];

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
		.peak = peak_of(b, kind, def),
		.percent_of_peak = NAN,
	};
	if (d->median && !b->w->sums.kept_full)
		ret->median = median_of(&b->w->sums, def, group, s->n);
	if (ret->peak > 0)
		ret->percent_of_peak = or_missing(100 * ret->avg / ret->peak);
}

static void merge(struct rk_metric_sum *to, const struct rk_metric_sum *from)
{
	to->n += from->n;
	to->sum += from->sum;
	to->min = from->min < to->min ? from->min : to->min;
	to->max = from->max > to->max ? from->max : to->max;
	to->weighted += from->weighted;
	to->weight += from->weight;
}

static int make_metrics(struct build *b, struct rk_error *err)
{
	struct rk_metric_sums *s = &b->w->sums;

	if (s->nkept)
		qsort(s->kept, s->nkept, sizeof(*s->kept), by_value);
	b->m->metrics = rk_calloc(s->nmetrics, sizeof(*b->m->metrics));
	if (!b->m->metrics)
		return rk_fail_nomem(err);
	for (size_t d = 0; d < s->nmetrics; d++) {
		struct rk_metric_sum all = { .min = INFINITY, .max = -INFINITY };

		for (size_t g = 0; g < s->n; g++)
			merge(&all, &s->groups[g].sums[d]);
		if (all.n)
			set_value(b, b->kind, d, UINT32_MAX, &all,
				  &b->m->metrics[b->m->nmetrics++]);
	}
	return 0;
}

static bool has_metric(const struct rk_metrics *m, const char *id)
{
	for (size_t i = 0; i < m->nmetrics; i++)
		if (strcmp(m->metrics[i].id, id) == 0)
			return true;
	return false;
}

/* What no dispatch has: the plan says why, or every dispatch lacked something. */
static int make_absent(struct build *b, struct rk_error *err)
{
	const struct rk_metric_plan *p = b->w->plans[b->kind];
	struct rk_metrics *m = b->m;

	m->absent = rk_calloc(b->w->set->ndefs, sizeof(*m->absent));
	if (!m->absent)
		return rk_fail_nomem(err);
	for (size_t i = 0; i < p->nabsent; i++)
		if (!has_metric(m, p->absent[i].id))
			m->absent[m->nabsent++] = p->absent[i];
	for (size_t i = 0; i < p->noutputs; i++)
		if (!has_metric(m, p->outputs[i].def->id))
			m->absent[m->nabsent++] = (struct rk_metric_absent){
				p->outputs[i].def->id,
				b->w->rows ? "no dispatch has a value: a divisor is 0 or a counter "
					     "is missing" :
					     "there are no kernels"
			};
	return 0;
}

static int make_kernel(struct build *b, uint32_t group, struct rk_metric_kernel *k,
		       struct rk_error *err)
{
	const struct rk_metric_group *g = &b->w->sums.groups[group];
	size_t n = 0;

	for (size_t d = 0; d < b->w->sums.nmetrics; d++)
		n += g->sums[d].n > 0;
	k->metrics = rk_calloc(n, sizeof(*k->metrics));
	k->flags = rk_calloc(b->m->nflags, sizeof(*k->flags));
	if (!k->metrics || !k->flags)
		return rk_fail_nomem(err);
	for (size_t d = 0; d < b->w->sums.nmetrics; d++)
		if (g->sums[d].n)
			set_value(b, g->kind, d, group, &g->sums[d], &k->metrics[k->nmetrics++]);
	for (size_t c = 0; c < b->w->sums.nchecks; c++)
		if (b->flag_of[c] != UINT32_MAX)
			k->flags[b->flag_of[c]] = g->flags[c];
	return 0;
}

static int64_t plus_ns(int64_t a, int64_t b)
{
	int64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

/* What a benchmark has measured is of the chip that most ran on, as far as one can tell. */
static int roof_of(struct build *b, unsigned kind, const struct rk_metric_roof **ret,
		   struct rk_error *err)
{
	struct rk_metric_roof *r = &b->roofs[kind];

	*ret = r;
	if (r->ceilings)
		return 0;
	return rk_roof_ceilings(&b->w->kinds.v[kind], b->w->measured,
				kind == b->kind ? b->w->nmeasured : 0, &r->ceilings, &r->n, err);
}

/* In its place by time; the rows come by time. */
static int add_kernel(struct build *b, const char *name, const struct rk_agg_row *r, uint32_t group,
		      struct rk_error *err)
{
	struct rk_metrics *m = b->m;
	struct rk_metric_kernel k = { .name = name, .calls = r->calls, .total_ns = r->total_ns };
	const struct rk_metric_group *g = &b->w->sums.groups[group];
	const struct rk_metric_roof *roof;
	int rc = make_kernel(b, group, &k, err);
	size_t at = m->nkernels++;

	if (rc == 0)
		rc = roof_of(b, g->kind, &roof, err);
	if (rc == 0)
		rk_metric_judge(b->w, roof, g, r, &k);
	for (; at && m->kernels[at - 1].total_ns < k.total_ns; at--)
		m->kernels[at] = m->kernels[at - 1];
	m->kernels[at] = k;
	m->total_ns = plus_ns(m->total_ns, k.total_ns);
	return rc;
}

static void add_other(struct rk_agg_row *others, const struct rk_agg_row *r)
{
	others->calls += r->calls;
	others->timed += r->timed;
	others->total_ns = plus_ns(others->total_ns, r->total_ns);
	if (others->timed)
		others->mean_ns = (double)others->total_ns / (double)others->timed;
}

/* Those that have sums of their own, and the others as one. */
static int add_kernels(struct build *b, struct rk_error *err)
{
	struct rk_metric_sums *s = &b->w->sums;
	struct rk_agg_row others = { .mean_ns = NAN, .median_ns = NAN };
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < b->nrows; i++) {
		const struct rk_agg_row *r = &b->rows[i];
		const uint32_t *at = rk_idmap_at(&s->by_name, r->name);

		if (r->barrier || !at || !*at)
			continue;
		if (s->groups[*at - 1].name == r->name)
			rc = add_kernel(b, rk_strtab_borrow(b->w->run->ctx.names, r->name, NULL), r,
					*at - 1, err);
		else
			add_other(&others, r);
	}
	if (rc == 0 && others.calls)
		rc = add_kernel(b, "(other kernels)", &others, (uint32_t)s->n - 1, err);
	return rc;
}

static int make_kernels(struct build *b, struct rk_error *err)
{
	struct rk_metrics *m = b->m;
	int rc;

	m->kernels = rk_calloc(b->w->sums.n, sizeof(*m->kernels));
	rc = m->kernels ? add_kernels(b, err) : rk_fail_nomem(err);
	for (size_t i = 0; i < m->nkernels; i++)
		m->kernels[i].percent =
			m->total_ns ? 100 * (double)m->kernels[i].total_ns / (double)m->total_ns :
				      0;
	return rc;
}

static int by_share(const void *a, const void *b)
{
	const struct rk_verdict_share *x = a, *y = b;

	if (x->total_ns != y->total_ns)
		return x->total_ns < y->total_ns ? 1 : -1;
	return strcmp(x->name, y->name);
}

static int make_shares(struct build *b, struct rk_error *err)
{
	struct rk_metrics *m = b->m;

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
		v->total_ns = plus_ns(v->total_ns, k->total_ns);
		v->percent += k->percent;
	}
	qsort(m->verdicts, m->nverdicts, sizeof(*m->verdicts), by_share);
	return 0;
}

static void add_flag(struct rk_metrics *m, const char *kind, const char *text, uint64_t n,
		     double worst)
{
	if (n)
		m->flags[m->nflags++] = (struct rk_metric_flag){ kind, text, n, worst };
}

/* Doubts that no formula expresses. */
static void add_own_flags(struct build *b)
{
	const struct rk_metric_work *w = b->w;
	struct rk_metrics *m = b->m;
	uint64_t mixed = 0, unknown = 0;

	for (size_t i = 0; i < w->kinds.n; i++) {
		if (strcmp(w->kinds.v[i].arch, w->kinds.v[b->kind].arch) != 0)
			mixed += w->kind_rows[i];
		if (!*w->kinds.v[i].arch)
			unknown += w->kind_rows[i];
	}
	add_flag(
		m, "no-time",
		"dispatches without a time above 0 have no rates: their recorded times are damaged, "
		"rounded or missing; measure again",
		w->untimed, NAN);
	add_flag(m, "damaged-counter",
		 "counter values that are negative or no number are taken for missing",
		 w->block.damaged, NAN);
	add_flag(m, "partial-passes",
		 "dispatches lack some of the counters that others have: a pass ended early or ran "
		 "other kernels",
		 w->partial, NAN);
	add_flag(m, "mixed-architectures",
		 "kernels ran on several kinds of chips; each was computed by its own formulas "
		 "and judged by its own peaks, those of all together are of the first",
		 mixed, NAN);
	if (w->inputs.n)
		add_flag(m, "unknown-target",
			 "the chip is not known, so no formula applies; name it with --arch or "
			 "--sysinfo",
			 unknown, NAN);
}

static int make_flags(struct build *b, struct rk_error *err)
{
	enum { OWN = 8 };
	const struct rk_metric_sums *s = &b->w->sums;

	b->m->flags = rk_calloc(s->nchecks + OWN, sizeof(*b->m->flags));
	b->flag_of = rk_calloc(s->nchecks, sizeof(*b->flag_of));
	if (!b->m->flags || !b->flag_of)
		return rk_fail_nomem(err);
	for (size_t c = 0; c < s->nchecks; c++) {
		const struct rk_metric_check *check = &b->w->set->checks[c];
		uint64_t n = 0;

		for (size_t g = 0; g < s->n; g++)
			n += s->groups[g].flags[c];
		b->flag_of[c] = n ? (unsigned)b->m->nflags : UINT32_MAX;
		add_flag(b->m, check->kind, check->text, n, s->worst[c] > 0 ? s->worst[c] : NAN);
	}
	add_own_flags(b);
	return 0;
}

/* The kind that most dispatches ran on comes first. */
static int make_devices(struct build *b, struct rk_error *err)
{
	const struct rk_metric_work *w = b->w;
	struct rk_metrics *m = b->m;

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
	return rk_roof_ceilings(&m->devices[0], w->measured, w->nmeasured, &m->ceilings,
				&m->nceilings, err);
}

static int build_all(struct build *b, struct rk_error *err)
{
	struct rk_metric_sums *s = &b->w->sums;
	int rc = rk_agg_finish(b->w->agg, &b->rows, &b->nrows, err);
	if (rc == 0)
		rc = make_devices(b, err);
	if (rc == 0)
		rc = make_flags(b, err);
	if (rc == 0)
		rc = make_metrics(b, err);
	if (s->nkept)
		qsort(s->kept, s->nkept, sizeof(*s->kept), by_group);
	if (rc == 0)
		rc = make_absent(b, err);
	if (rc == 0)
		rc = make_kernels(b, err);
	return rc < 0 ? rc : make_shares(b, err);
}

/* The texts of the result belong to definitions and plans, which go with it from here on. */
static void take_over(struct rk_metric_work *w, struct owned *o)
{
	o->set = w->set;
	o->plans = w->plans;
	o->nplans = w->kinds.n;
	o->pub.trace = w->trace;
	o->pub.trace.serialised = !w->traced;
	w->set = NULL;
	w->plans = NULL;
	w->trace = (struct rk_trace_facts){ 0 };
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
	struct owned *o = rk_calloc(1, sizeof(*o));
	struct build b = { .w = w, .m = o ? &o->pub : NULL };
	int rc = o ? build_all(&b, err) : rk_fail_nomem(err);

	for (size_t i = 0; b.roofs && i < w->kinds.n; i++)
		rk_free(b.roofs[i].ceilings);
	rk_free(b.roofs);
	rk_free(b.rows);
	rk_free(b.flag_of);
	if (rc < 0) {
		destroy_metrics(b.m);
		return rc;
	}
	if (w->sums.full)
		rk_diag_add(w->run->ctx.diag, "many-kernels", "", 0, 1,
			    "too many distinct kernels; the later ones count together as '(other "
			    "kernels)'");
	take_over(w, o);
	o->pub.normal = w->opt->normal;
	o->pub.dispatches = w->rows;
	rk_run_tell_names(w->run);
	rc = rk_run_copy_warnings(w->run, &o->pub.warnings, &o->pub.nwarnings, err);
	if (rc == 0)
		rc = rk_handle_open(RK_HANDLE_METRICS, o, destroy_metrics, err);
	if (rc < 0) {
		destroy_metrics(o);
		return rc;
	}
	rk_handle_keep(w->run);
	o->run = w->run;
	*ret = &o->pub;
	return 0;
}

void rk_metrics_free(struct rk_metrics *m)
{
	rk_handle_close(RK_HANDLE_METRICS, m);
}
