/* aggregate_counters.c - hardware counter values by counter name. */
#include <math.h>

#include "table/aggregate.h"
#include "table/aggregate_map.h"

struct counters {
	struct rk_idmap by_name;
	struct rk_agg_counter *rows;
	size_t n, cap;
};

static struct rk_agg_counter *counter_of(struct counters *s, uint32_t name)
{
	uint32_t *at = rk_idmap_at(&s->by_name, name);

	if (at && *at)
		return &s->rows[*at - 1];
	if (at && s->n == s->cap) {
		size_t cap = s->cap ? s->cap * 2 : 32;
		struct rk_agg_counter *rows = rk_reallocn(s->rows, cap, sizeof(*rows));

		if (!rows)
			return NULL;
		s->rows = rows;
		s->cap = cap;
	}
	if (!at)
		return NULL;
	s->rows[s->n] = (struct rk_agg_counter){ .name = name, .min = NAN, .max = NAN };
	*at = (uint32_t)++s->n;
	return &s->rows[s->n - 1];
}

static int counters_add(struct counters *s, const struct rk_column *name,
			const struct rk_column *value, size_t nrows, struct rk_error *err)
{
	for (size_t i = 0; i < nrows; i++) {
		uint32_t id = rk_column_has(name, i) ? ((const uint32_t *)name->data)[i] : 0;
		struct rk_agg_counter *c = counter_of(s, id);
		double v;

		if (!c)
			return rk_fail_nomem(err);
		c->rows++;
		if (!rk_column_has(value, i))
			continue;
		v = ((const double *)value->data)[i];
		c->sum += v;
		c->min = isnan(c->min) || v < c->min ? v : c->min;
		c->max = isnan(c->max) || v > c->max ? v : c->max;
	}
	return 0;
}

int rk_agg_counters(struct rk_source *src, unsigned name_field, unsigned value_field,
		    struct rk_agg_counter **ret, size_t *ret_n, uint64_t *ret_rows,
		    struct rk_error *err)
{
	struct counters s = { .rows = NULL };
	const struct rk_batch *b;
	uint64_t rows = 0;
	int rc;

	while ((rc = rk_source_next(src, &b, err)) > 0) {
		rc = counters_add(&s, &b->cols[name_field], &b->cols[value_field], b->nrows, err);
		if (rc < 0)
			break;
		rows += b->nrows;
	}
	rk_idmap_release(&s.by_name);
	if (rc < 0) {
		rk_free(s.rows);
		return rc;
	}
	*ret = s.rows;
	*ret_n = s.n;
	*ret_rows = rows;
	return 0;
}
