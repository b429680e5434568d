/* metrics_sums.c - group rows by kernel, and add up the values of dispatches per kernel. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "metrics/metrics_impl.h"

/* ---- grouping the rows of a batch ---- */

int rk_metric_order_make(struct rk_metric_order *o, size_t first, const uint32_t *groups, size_t n,
			 size_t ngroups, bool sorted, struct rk_error *err)
{
	uint32_t *grown = rk_grow(o->first, &o->cap, ngroups, sizeof(*grown));
	uint32_t at = 0;

	if (!grown)
		return rk_fail_nomem(err);
	o->first = grown;
	o->n = n;
	o->nruns = 0;
	/* if there are many more groups than rows, sorting would cost more than it saves */
	if (!sorted || ngroups > 4 * RK_PROGRAM_ROWS) {
		for (size_t i = 0; i < n; i++) {
			o->rows[i] = (uint32_t)(first + i);
			if (!o->nruns || o->runs[o->nruns - 1].group != groups[i])
				o->runs[o->nruns++].group = groups[i];
			o->runs[o->nruns - 1].end = (uint32_t)i + 1;
		}
		return 0;
	}

	/* counting sort; rows of a group keep their order */
	memset(o->first, 0, ngroups * sizeof(*o->first));
	for (size_t i = 0; i < n; i++)
		o->first[groups[i]]++;
	for (uint32_t g = 0; g < ngroups; g++) {
		uint32_t count = o->first[g];

		o->first[g] = at;
		at += count;
		if (count)
			o->runs[o->nruns++] = (struct rk_metric_stretch){ g, at };
	}
	for (size_t i = 0; i < n; i++)
		o->rows[o->first[groups[i]]++] = (uint32_t)(first + i);
	return 0;
}

/* ---- sums ---- */

/*
 * The sums of all groups stay below RK_METRIC_SUMS_BYTES in total; there is always at least one
 * group.
 */
int rk_metric_sums_init(struct rk_metric_sums *s, size_t nmetrics, size_t nchecks,
			struct rk_error *err)
{
	size_t one = sizeof(*s->groups) + nmetrics * sizeof(struct rk_metric_sum) +
		     nchecks * sizeof(uint64_t);

	*s = (struct rk_metric_sums){ .nmetrics = nmetrics, .nchecks = nchecks };
	s->max = RK_METRIC_SUMS_BYTES / one;
	if (!s->max)
		s->max = 1;
	s->worst = rk_calloc(nchecks, sizeof(*s->worst));
	if (!s->worst)
		return rk_fail_nomem(err);
	return 0;
}

void rk_metric_sums_release(struct rk_metric_sums *s)
{
	for (size_t i = 0; i < s->n; i++) {
		rk_free(s->groups[i].sums);
		rk_free(s->groups[i].flags);
	}
	rk_free(s->groups);
	rk_free(s->worst);
	rk_free(s->kept);
	rk_idmap_release(&s->by_name);
	*s = (struct rk_metric_sums){ 0 };
}

static int group_add(struct rk_metric_sums *s, uint32_t name, unsigned kind, struct rk_error *err)
{
	struct rk_metric_group *g = rk_grow(s->groups, &s->cap, s->n + 1, sizeof(*g));

	if (!g)
		return rk_fail_nomem(err);
	s->groups = g;
	g += s->n;
	*g = (struct rk_metric_group){ .name = name, .kind = kind };
	g->sums = rk_calloc(s->nmetrics, sizeof(*g->sums));
	g->flags = rk_calloc(s->nchecks, sizeof(*g->flags));
	s->n++;
	if (!g->sums || !g->flags)
		return rk_fail_nomem(err);
	for (size_t i = 0; i < s->nmetrics; i++)
		g->sums[i] = (struct rk_metric_sum){ .min = INFINITY, .max = -INFINITY };
	return 0;
}

int rk_metric_sums_group(struct rk_metric_sums *s, uint32_t name, unsigned kind, uint32_t *ret,
			 struct rk_error *err)
{
	uint32_t *at = rk_idmap_at(&s->by_name, name);
	int rc = 0;

	if (!at)
		return rk_fail_nomem(err);
	if (!*at) {
		if (s->n + 1 < s->max) {
			rc = group_add(s, name, kind, err);
		} else if (!s->full) {
			rc = group_add(s, RK_OTHER_KERNELS, kind, err);
			s->full = true;
		}
		*at = (uint32_t)s->n;
	}
	*ret = *at - 1;
	return rc;
}

enum { LANES = 4 };

/*
 * Kahan summation: exact enough for millions of values; the mean of equal values is exactly that
 * value.
 */
static void add_exactly(double *sum, double *lost, double part)
{
	double corrected = part - *lost, next = *sum + corrected;

	*lost = next - *sum - corrected;
	*sum = next;
}

static double lanes_sum(const double v[LANES])
{
	return v[0] + v[1] + (v[2] + v[3]);
}

/* Adds four rows at a time; false if one of them has no value or no time. */
static bool add_whole(struct rk_metric_sum *m, const double *restrict v, const double *restrict t,
		      size_t n)
{
	double sum[LANES] = { 0 }, weighted[LANES] = { 0 }, weight[LANES] = { 0 };
	double min[LANES] = { v[0], v[0], v[0], v[0] }, max[LANES] = { v[0], v[0], v[0], v[0] };
	size_t whole = n / LANES * LANES;

	for (size_t i = 0; i < whole; i += LANES) {
		for (size_t l = 0; l < LANES; l++) {
			sum[l] += v[i + l];
			weighted[l] += v[i + l] * t[i + l];
			weight[l] += t[i + l];
			min[l] = v[i + l] < min[l] ? v[i + l] : min[l];
			max[l] = v[i + l] > max[l] ? v[i + l] : max[l];
		}
	}
	for (size_t i = whole, l = 0; i < n; i++, l++) {
		sum[l] += v[i];
		weighted[l] += v[i] * t[i];
		weight[l] += t[i];
		min[l] = v[i] < min[l] ? v[i] : min[l];
		max[l] = v[i] > max[l] ? v[i] : max[l];
	}
	if (isnan(lanes_sum(weighted)))
		return false;
	m->n += n;
	add_exactly(&m->sum, &m->lost, lanes_sum(sum));
	add_exactly(&m->weighted, &m->lost_weight, lanes_sum(weighted));
	m->weight += lanes_sum(weight);
	for (size_t l = 0; l < LANES; l++) {
		m->min = min[l] < m->min ? min[l] : m->min;
		m->max = max[l] > m->max ? max[l] : m->max;
	}
	return true;
}

/* Skips rows without a value; rows without a time have no weight. */
static void add_holed(struct rk_metric_sum *m, const double *v, const double *t, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (isnan(v[i]))
			continue;
		m->n++;
		add_exactly(&m->sum, &m->lost, v[i]);
		m->min = v[i] < m->min ? v[i] : m->min;
		m->max = v[i] > m->max ? v[i] : m->max;
		if (!(t[i] > 0))
			continue;
		add_exactly(&m->weighted, &m->lost_weight, v[i] * t[i]);
		m->weight += t[i];
	}
}

static void add_metric(struct rk_metric_sums *s, const struct rk_metric_rows *r, size_t output)
{
	const double *v = rk_program_result(r->state, r->plan->outputs[output].result);
	unsigned metric = r->place[output];
	size_t at = 0;

	for (size_t i = 0; i < r->order->nruns; i++) {
		const struct rk_metric_stretch *run = &r->order->runs[i];
		struct rk_metric_sum *m = &s->groups[run->group].sums[metric];

		if (!add_whole(m, v + at, r->time + at, run->end - at))
			add_holed(m, v + at, r->time + at, run->end - at);
		at = run->end;
	}
}

static void add_sides(struct rk_metric_sums *s, const struct rk_metric_rows *r, size_t output)
{
	const struct rk_metric_output *o = &r->plan->outputs[output];
	const double *over, *under;
	size_t at = 0;

	if (o->over == RK_NO_RESULT || o->under == RK_NO_RESULT)
		return;
	over = rk_program_result(r->state, o->over);
	under = rk_program_result(r->state, o->under);
	for (size_t i = 0; i < r->order->nruns; i++) {
		const struct rk_metric_stretch *run = &r->order->runs[i];
		struct rk_metric_sum *m = &s->groups[run->group].sums[r->place[output]];

		for (; at < run->end; at++) {
			bool has = !isnan(over[at]) && !isnan(under[at]);

			m->over += has ? over[at] : 0;
			m->under += has ? under[at] : 0;
		}
	}
}

static int keep_values(struct rk_metric_sums *s, const struct rk_metric_rows *r, size_t output,
		       struct rk_error *err)
{
	const double *v = rk_program_result(r->state, r->plan->outputs[output].result);
	size_t at = 0;

	for (size_t i = 0; i < r->order->nruns; i++) {
		for (; at < r->order->runs[i].end; at++) {
			struct rk_metric_kept *kept;

			s->kept_full |= s->nkept == RK_METRIC_KEPT_MAX;
			if (s->kept_full || isnan(v[at]))
				continue;
			kept = rk_grow(s->kept, &s->cap_kept, s->nkept + 1, sizeof(*kept));
			if (!kept)
				return rk_fail_nomem(err);
			s->kept = kept;
			kept[s->nkept++] = (struct rk_metric_kept){ r->place[output],
								    r->order->runs[i].group,
								    v[at] };
		}
	}
	return 0;
}

static void add_total(struct rk_metric_sums *s, const struct rk_metric_rows *r, unsigned total)
{
	const double *v;
	size_t at = 0;

	if (r->plan->totals[total] == RK_NO_RESULT)
		return;
	v = rk_program_result(r->state, r->plan->totals[total]);
	for (size_t i = 0; i < r->order->nruns; i++) {
		struct rk_metric_group *g = &s->groups[r->order->runs[i].group];

		for (; at < r->order->runs[i].end; at++) {
			bool has = !isnan(v[at]) && r->time[at] > 0;

			g->totals[total] += has ? v[at] : 0;
			g->total_time[total] += has ? r->time[at] : 0;
		}
	}
}

static void add_check(struct rk_metric_sums *s, const struct rk_metric_rows *r, size_t check)
{
	const struct rk_metric_bound *bound = &r->plan->checks[check];
	const double *margin, *factor = NULL;
	unsigned any = 0;
	size_t at = 0;

	if (bound->margin == RK_NO_RESULT)
		return;
	margin = rk_program_result(r->state, bound->margin);
	/* without a branch, because nearly always none is above 0 */
	for (size_t i = 0; i < r->order->n; i++)
		any |= margin[i] > 0;
	if (!any)
		return;
	if (bound->factor != RK_NO_RESULT)
		factor = rk_program_result(r->state, bound->factor);
	for (size_t i = 0; i < r->order->nruns; i++) {
		for (; at < r->order->runs[i].end; at++) {
			if (!(margin[at] > 0))
				continue;
			s->groups[r->order->runs[i].group].flags[check]++;
			if (factor && factor[at] > s->worst[check])
				s->worst[check] = factor[at];
		}
	}
}

int rk_metric_sums_add(struct rk_metric_sums *s, const struct rk_metric_rows *rows,
		       struct rk_error *err)
{
	int rc;

	for (size_t i = 0; i < rows->plan->noutputs; i++) {
		add_metric(s, rows, i);
		add_sides(s, rows, i);
		if (rows->plan->outputs[i].def->median) {
			rc = keep_values(s, rows, i, err);
			if (rc < 0)
				return rc;
		}
	}
	for (unsigned i = 0; i < RK_NTOTALS; i++)
		add_total(s, rows, i);
	for (size_t i = 0; i < s->nchecks; i++)
		add_check(s, rows, i);
	return 0;
}
