/* metrics_order.c - rows of a batch by their groups. */
#include <string.h>

#include "base/alloc.h"
#include "metrics/metrics_impl.h"

static void as_they_come(struct rk_metric_order *o, size_t first, const uint32_t *groups, size_t n)
{
	o->nruns = 0;
	for (size_t i = 0; i < n; i++) {
		o->rows[i] = (uint32_t)(first + i);
		if (!o->nruns || o->runs[o->nruns - 1].group != groups[i])
			o->runs[o->nruns++].group = groups[i];
		o->runs[o->nruns - 1].end = (uint32_t)i + 1;
	}
}

/* Counting sort; rows of a group stay in their order. */
static void sort(struct rk_metric_order *o, size_t first, const uint32_t *groups, size_t n,
		 size_t ngroups)
{
	uint32_t at = 0;

	o->nruns = 0;
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
}

int rk_metric_order_make(struct rk_metric_order *o, size_t first, const uint32_t *groups, size_t n,
			 size_t ngroups, bool sorted, struct rk_error *err)
{
	uint32_t *grown = rk_grow(o->first, &o->cap, ngroups, sizeof(*grown));

	if (!grown)
		return rk_fail_nomem(err);
	o->first = grown;
	o->n = n;
	/* many more groups than rows: sorting would cost more than it saves */
	if (sorted && ngroups <= 4 * RK_PROGRAM_ROWS)
		sort(o, first, groups, n, ngroups);
	else
		as_they_come(o, first, groups, n);
	return 0;
}
