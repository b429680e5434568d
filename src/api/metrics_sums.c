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
	return s->worst ? 0 : rk_fail_nomem(err);
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

static void add_value(struct rk_metric_sum *m, double v, double t)
{
	m->n++;
	m->sum += v;
	m->min = v < m->min ? v : m->min;
	m->max = v > m->max ? v : m->max;
	if (t > 0) {
		m->weighted += v * t;
		m->weight += t;
	}
}

static void add_metric(struct rk_metric_sums *s, const struct rk_metric_rows *r, size_t output)
{
	const double *v = rk_program_result(r->state, r->plan->outputs[output].result);
	unsigned metric = r->place[output];

	for (size_t i = 0; i < r->n; i++)
		if (!isnan(v[i]))
			add_value(&s->groups[r->groups[i]].sums[metric], v[i], r->time[i]);
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
	const double *v;

	if (r->plan->totals[total] == RK_NO_RESULT)
		return;
	v = rk_program_result(r->state, r->plan->totals[total]);
	for (size_t i = 0; i < r->n; i++) {
		struct rk_metric_group *g = &s->groups[r->groups[i]];

		if (isnan(v[i]) || !(r->time[i] > 0))
			continue;
		g->totals[total] += v[i];
		g->total_time[total] += r->time[i];
	}
}

static void add_check(struct rk_metric_sums *s, const struct rk_metric_rows *r, size_t check)
{
	const struct rk_metric_bound *bound = &r->plan->checks[check];
	const double *margin, *factor;

	if (bound->margin == RK_NO_RESULT)
		return;
	margin = rk_program_result(r->state, bound->margin);
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
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < rows->plan->noutputs; i++) {
		add_metric(s, rows, i);
		if (rows->plan->outputs[i].def->median)
			rc = keep_values(s, rows, i, err);
	}
	for (unsigned i = 0; i < RK_NTOTALS; i++)
		add_total(s, rows, i);
	for (size_t i = 0; i < s->nchecks; i++)
		add_check(s, rows, i);
	return rc;
}
