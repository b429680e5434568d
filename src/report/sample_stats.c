/* sample_stats.c - see sample_stats.h. */
#include "report/sample_stats.h"

#include <math.h>

#include "base/alloc.h"
#include "table/table.h"

/* NULL with *ret_rc 0: there are too many already. */
static struct rk_sample_stat *stat_of(struct rk_sample_stats *s, const struct rk_batch *b, size_t i,
				      int *ret_rc, struct rk_error *err)
{
	struct rk_sample_stat one = { .metric = rk_batch_id(b, RK_S_METRIC, i),
				      .unit = rk_batch_id(b, RK_S_UNIT, i),
				      .node = rk_batch_id(b, RK_S_NODE, i),
				      .device = rk_batch_int(b, RK_S_DEVICE, i, -1),
				      .min = (double)INFINITY,
				      .max = -(double)INFINITY };
	struct rk_key3 key = { one.node, (int64_t)((uint64_t)one.metric << 32 | one.unit),
			       one.device };
	struct rk_sample_stat *v;
	uint32_t at;

	s->keys.max = RK_SAMPLE_STATS_MAX;
	*ret_rc = rk_keys_number(&s->keys, key, &at, err);
	if (*ret_rc < 0 || at >= RK_SAMPLE_STATS_MAX)
		return NULL;
	if (at < s->n)
		return &s->v[at];
	v = rk_grow(s->v, &s->cap, at + 1u, sizeof(*v));
	if (!v) {
		*ret_rc = rk_fail_nomem(err);
		return NULL;
	}
	s->v = v;
	s->v[at] = one;
	s->n = at + 1u;
	return &s->v[at];
}

static int add_one(struct rk_sample_stats *s, const struct rk_batch *b, size_t i,
		   struct rk_error *err)
{
	double value = ((const double *)b->cols[RK_S_VALUE].data)[i];
	struct rk_sample_stat *v;
	int rc;

	if (!isfinite(value))
		return 0;
	v = stat_of(s, b, i, &rc, err);
	if (!v) {
		s->left_out += rc == 0;
		return rc;
	}
	v->n++;
	v->sum += value;
	v->min = value < v->min ? value : v->min;
	v->max = value > v->max ? value : v->max;
	return 0;
}

int rk_sample_stats_add(struct rk_sample_stats *s, const struct rk_batch *b, struct rk_error *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < b->nrows; i++)
		if (rk_column_has(&b->cols[RK_S_TIME], i) && rk_column_has(&b->cols[RK_S_VALUE], i))
			rc = add_one(s, b, i, err);
	return rc;
}

void rk_sample_stats_release(struct rk_sample_stats *s)
{
	rk_keys_release(&s->keys);
	rk_free(s->v);
	*s = (struct rk_sample_stats){ 0 };
}
