/* run_columns.c - a file whose counters are columns: each put where the run's schema has it. */
#include <math.h>
#include <string.h>

#include "api/run.h"
#include "base/alloc.h"

struct feed {
	unsigned column, field; /* of the set; of the file */
};

struct columns {
	struct rk_source base;
	struct rk_source *rows;
	const struct rk_counter_set *set;
	struct feed *feeds; /* by column */
	size_t nfeeds, cap_feeds;
	double **sums; /* per column that several feed, else NULL */
	size_t cap_rows;
	struct rk_column *cols;
	struct rk_batch batch;
};

/* A missing part makes the sum missing. */
static void add_to(double *sum, const struct rk_column *c, size_t n)
{
	const double *v = c->data;

	for (size_t i = 0; i < n; i++)
		sum[i] += rk_column_has(c, i) ? v[i] : NAN;
}

static int room_for(struct columns *r, size_t nrows, struct rk_error *err)
{
	if (nrows <= r->cap_rows)
		return 0;
	for (size_t i = 1; i < r->nfeeds; i++) {
		unsigned column = r->feeds[i].column;
		double *grown;

		if (column != r->feeds[i - 1].column || !r->set->columns[column].sum)
			continue;
		grown = rk_reallocn(r->sums[column], nrows, sizeof(*grown));
		if (!grown)
			return rk_fail_nomem(err);
		r->sums[column] = grown;
	}
	r->cap_rows = nrows;
	return 0;
}

static void put_column(struct columns *r, const struct rk_batch *b, const struct feed *f,
		       bool first)
{
	struct rk_column *to = &r->cols[RK_K_NFIELDS + f->column];
	double *sum = r->sums[f->column];

	if (first && !sum)
		*to = b->cols[f->field];
	if (!sum)
		return;
	if (first)
		memset(sum, 0, b->nrows * sizeof(*sum));
	add_to(sum, &b->cols[f->field], b->nrows);
	*to = (struct rk_column){ sum, NULL };
}

static int columns_next(struct rk_source *base, const struct rk_batch **batch, struct rk_error *err)
{
	struct columns *r = (struct columns *)base;
	const struct rk_batch *b;
	int rc = rk_source_next(r->rows, &b, err);

	if (rc > 0 && room_for(r, b->nrows, err) < 0)
		return RK_E_NOMEM;
	if (rc <= 0)
		return rc;
	memset(r->cols, 0, base->schema->nfields * sizeof(*r->cols));
	memcpy(r->cols, b->cols, RK_K_NFIELDS * sizeof(*r->cols));
	for (size_t i = 0; i < r->nfeeds; i++)
		put_column(r, b, &r->feeds[i], !i || r->feeds[i - 1].column != r->feeds[i].column);
	r->batch = (struct rk_batch){ base->schema, b->nrows, r->cols };
	*batch = &r->batch;
	return 1;
}

static void columns_close(struct rk_source *base)
{
	struct columns *r = (struct columns *)base;

	rk_source_close(r->rows);
	for (size_t i = 0; r->sums && i < r->set->n; i++)
		rk_free(r->sums[i]);
	rk_free(r->sums);
	rk_free(r->feeds);
	rk_free(r->cols);
	rk_free(r);
}

static const struct rk_source_ops columns_ops = { .next = columns_next, .close = columns_close };

static int add_feed(struct columns *r, unsigned column, unsigned field, struct rk_error *err)
{
	struct feed *feeds = rk_grow(r->feeds, &r->cap_feeds, r->nfeeds + 1, sizeof(*feeds));
	size_t i = r->nfeeds;

	if (!feeds)
		return rk_fail_nomem(err);
	r->feeds = feeds;
	for (; i && feeds[i - 1].column > column; i--)
		feeds[i] = feeds[i - 1];
	feeds[i] = (struct feed){ column, field };
	r->nfeeds++;
	return 0;
}

static int find_feeds(struct columns *r, struct rk_run *run, struct rk_error *err)
{
	const struct rk_schema *file = r->rows->schema;
	int rc = 0;

	for (unsigned f = RK_K_NFIELDS; rc == 0 && f < file->nfields; f++) {
		const char *name = file->fields[f].name;
		size_t at = 0;
		uint32_t id;
		int column;

		rc = rk_strtab_add(run->ctx.names, name, strlen(name), &id, err);
		while (rc == 0 && (column = rk_counter_set_next(r->set, id, &at)) >= 0)
			rc = add_feed(r, (unsigned)column, f, err);
	}
	return rc;
}

int rk_run_columns_open(struct rk_run *run, const struct rk_counter_set *set,
			struct rk_source **rows, struct rk_error *err)
{
	struct columns *r = rk_calloc(1, sizeof(*r));
	int rc;

	if (!r) {
		rk_source_close(*rows);
		*rows = NULL;
		return rk_fail_nomem(err);
	}
	r->base = (struct rk_source){ &columns_ops, &set->schema };
	r->rows = *rows;
	r->set = set;
	r->sums = rk_calloc(set->n, sizeof(*r->sums));
	r->cols = rk_calloc(set->schema.nfields, sizeof(*r->cols));
	rc = r->sums && r->cols ? find_feeds(r, run, err) : rk_fail_nomem(err);
	*rows = rc < 0 ? NULL : &r->base;
	if (rc < 0)
		columns_close(&r->base);
	return rc;
}
