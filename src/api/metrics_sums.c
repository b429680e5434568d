/* metrics_sums.c - values of dispatches added up by kernel. */
#include <math.h>
#include <string.h>

#include "api/metrics_impl.h"
#include "base/alloc.h"

/* Sums of all groups together stay below RK_METRIC_SUMS_BYTES; one group there always is. */
int rk_metric_sums_init(struct rk_metric_sums *s, size_t nmetrics, size_t nchecks,
			struct rk_error *err)
{
	size_t one = sizeof(*s->groups) + nmetrics * sizeof(struct rk_metric_sum) +
		     nchecks * sizeof(uint64_t);

	*s = (struct rk_metric_sums){ .nmetrics = nmetrics, .nchecks = nchecks };
	s->max = RK_METRIC_SUMS_BYTES / one ? RK_METRIC_SUMS_BYTES / one : 1;
	s->worst = rk_calloc(nchecks, sizeof(*s->worst));
	s->order = rk_calloc(1, sizeof(*s->order));
	return s->worst && s->order ? 0 : rk_fail_nomem(err);
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
	if (s->order)
		rk_free(s->order->first);
	rk_free(s->order);
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
	if (!*at && s->n < s->max) {
		rc = group_add(s, name, kind, err);
		*at = (uint32_t)s->n;
	} else if (!*at) {
		s->full = true;
		*at = (uint32_t)s->n;
	}
	*ret = *at - 1;
	return rc;
}

static void add_times(struct rk_metric_order *o)
{
	size_t at = 0;

	for (size_t i = 0; i < o->nruns; i++) {
		o->runs[i].time = 0;
		for (; at < o->runs[i].end; at++)
			o->runs[i].time += o->time[at];
	}
}

/* Counting sort: equal groups together, rows of a group in their order. */
static int order_rows(struct rk_metric_sums *s, const struct rk_metric_rows *r,
		      struct rk_error *err)
{
	struct rk_metric_order *o = s->order;
	uint32_t *first = rk_grow(o->first, &o->cap, s->n + 1, sizeof(*first));
	uint32_t at = 0;

	if (!first)
		return rk_fail_nomem(err);
	o->first = first;
	o->nruns = 0;
	memset(first, 0, s->n * sizeof(*first));
	for (size_t i = 0; i < r->n; i++)
		first[r->groups[i]]++;
	for (uint32_t g = 0; g < s->n; g++) {
		uint32_t count = first[g];

		first[g] = at;
		at += count;
		if (!count)
			continue;
		o->runs[o->nruns].group = g;
		o->runs[o->nruns++].end = at;
	}
	for (uint32_t i = 0; i < r->n; i++)
		o->rows[first[r->groups[i]]++] = i;
	for (size_t i = 0; i < r->n; i++)
		o->time[i] = r->time[o->rows[i]] > 0 ? r->time[o->rows[i]] : 0;
	add_times(o);
	return 0;
}

enum { LANES = 4 };

static double lanes_sum(const double v[LANES])
{
	return v[0] + v[1] + (v[2] + v[3]);
}

/* Four rows at a time, for rows that all have a value; false when one has none. */
static bool add_whole(struct rk_metric_sum *m, const double *restrict v, const double *restrict t,
		      size_t n, double time)
{
	double sum[LANES] = { 0 }, weighted[LANES] = { 0 };
	double min[LANES] = { v[0], v[0], v[0], v[0] }, max[LANES] = { v[0], v[0], v[0], v[0] };
	size_t whole = n / LANES * LANES;

	for (size_t i = 0; i < whole; i += LANES) {
		for (size_t l = 0; l < LANES; l++) {
			sum[l] += v[i + l];
			weighted[l] += v[i + l] * t[i + l];
			min[l] = v[i + l] < min[l] ? v[i + l] : min[l];
			max[l] = v[i + l] > max[l] ? v[i + l] : max[l];
		}
	}
	for (size_t i = whole, l = 0; i < n; i++, l++) {
		sum[l] += v[i];
		weighted[l] += v[i] * t[i];
		min[l] = v[i] < min[l] ? v[i] : min[l];
		max[l] = v[i] > max[l] ? v[i] : max[l];
	}
	if (isnan(lanes_sum(sum)))
		return false;
	m->n += n;
	m->sum += lanes_sum(sum);
	m->weighted += lanes_sum(weighted);
	m->weight += time;
	for (size_t l = 0; l < LANES; l++) {
		m->min = min[l] < m->min ? min[l] : m->min;
		m->max = max[l] > m->max ? max[l] : m->max;
	}
	return true;
}

/* Rows without a time weigh nothing; those without a value count nowhere. */
static void add_holed(struct rk_metric_sum *m, const double *v, const double *t, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (isnan(v[i]))
			continue;
		m->n++;
		m->sum += v[i];
		m->min = v[i] < m->min ? v[i] : m->min;
		m->max = v[i] > m->max ? v[i] : m->max;
		m->weighted += v[i] * t[i];
		m->weight += t[i];
	}
}

static void add_metric(struct rk_metric_sums *s, const struct rk_metric_rows *r, size_t output)
{
	const double *v = rk_program_result(r->state, r->plan->outputs[output].result);
	struct rk_metric_order *o = s->order;
	unsigned metric = r->place[output];
	size_t at = 0;

	for (size_t i = 0; i < r->n; i++)
		o->values[i] = v[o->rows[i]];
	for (size_t i = 0; i < o->nruns; i++) {
		const struct rk_metric_stretch *run = &o->runs[i];
		struct rk_metric_sum *m = &s->groups[run->group].sums[metric];

		if (!add_whole(m, o->values + at, o->time + at, run->end - at, run->time))
			add_holed(m, o->values + at, o->time + at, run->end - at);
		at = run->end;
	}
}

static int keep_values(struct rk_metric_sums *s, const struct rk_metric_rows *r, size_t output,
		       struct rk_error *err)
{
	const double *v = rk_program_result(r->state, r->plan->outputs[output].result);

	for (size_t i = 0; i < r->n && !s->kept_full; i++) {
		struct rk_metric_kept *kept;

		if (isnan(v[i]))
			continue;
		s->kept_full = s->nkept == RK_METRIC_KEPT_MAX;
		if (s->kept_full)
			break;
		kept = rk_grow(s->kept, &s->cap_kept, s->nkept + 1, sizeof(*kept));
		if (!kept)
			return rk_fail_nomem(err);
		s->kept = kept;
		kept[s->nkept++] = (struct rk_metric_kept){ r->place[output], r->groups[i], v[i] };
	}
	return 0;
}

static void add_total(struct rk_metric_sums *s, const struct rk_metric_rows *r, unsigned total)
{
	const struct rk_metric_order *o = s->order;
	const double *v;
	size_t at = 0;

	if (r->plan->totals[total] == RK_NO_RESULT)
		return;
	v = rk_program_result(r->state, r->plan->totals[total]);
	for (size_t i = 0; i < o->nruns; i++) {
		struct rk_metric_group *g = &s->groups[o->runs[i].group];

		for (; at < o->runs[i].end; at++) {
			double value = v[o->rows[at]];
			bool has = !isnan(value) && o->time[at] > 0;

			g->totals[total] += has ? value : 0;
			g->total_time[total] += has ? o->time[at] : 0;
		}
	}
}

static bool any_above_zero(const double *v, size_t n)
{
	unsigned any = 0;

	for (size_t i = 0; i < n; i++)
		any |= v[i] > 0;
	return any;
}

static void add_check(struct rk_metric_sums *s, const struct rk_metric_rows *r, size_t check)
{
	const struct rk_metric_bound *bound = &r->plan->checks[check];
	const double *margin, *factor;

	if (bound->margin == RK_NO_RESULT)
		return;
	margin = rk_program_result(r->state, bound->margin);
	if (!any_above_zero(margin, r->n))
		return;
	factor = bound->factor == RK_NO_RESULT ? margin :
						 rk_program_result(r->state, bound->factor);
	for (size_t i = 0; i < r->n; i++) {
		if (!(margin[i] > 0))
			continue;
		s->groups[r->groups[i]].flags[check]++;
		if (factor != margin && factor[i] > s->worst[check])
			s->worst[check] = factor[i];
	}
}

int rk_metric_sums_add(struct rk_metric_sums *s, const struct rk_metric_rows *rows,
		       struct rk_error *err)
{
	int rc = order_rows(s, rows, err);

	for (size_t i = 0; rc == 0 && i < rows->plan->noutputs; i++) {
		add_metric(s, rows, i);
		if (rows->plan->outputs[i].def->median)
			rc = keep_values(s, rows, i, err);
	}
	for (unsigned i = 0; rc == 0 && i < RK_NTOTALS; i++)
		add_total(s, rows, i);
	for (size_t i = 0; rc == 0 && i < s->nchecks; i++)
		add_check(s, rows, i);
	return rc;
}
