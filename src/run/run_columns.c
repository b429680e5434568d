/* run_columns.c - a file whose counters are columns: each put where the run's schema has it. */
#include <string.h>

#include "base/alloc.h"
#include "run/run.h"

struct feed {
	unsigned column, field; /* of the set; of the file */
};

/* A column that several feed. */
struct sum {
	double *values; /* NULL: it is none */
	uint64_t *valid;
};

struct columns {
	struct rk_source base;
	struct rk_source *rows;
	const struct rk_counter_set *set;
	struct feed *feeds; /* by column */
	size_t nfeeds, cap_feeds;
	struct sum *sums; /* per column */
	size_t cap_rows;
	struct rk_column *cols;
	struct rk_batch batch;
};

/* A missing part makes the sum missing. */
static void add_to(const struct sum *sum, const struct rk_column *c, size_t n)
{
	const double *v = c->data;

	if (!v)
		memset(sum->valid, 0, (n + 63) / 64 * sizeof(*sum->valid));
	for (size_t i = 0; v && i < n; i++)
		sum->values[i] += v[i];
	for (size_t i = 0; v && c->valid && i < (n + 63) / 64; i++)
		sum->valid[i] &= c->valid[i];
}

static int grow_sum(struct sum *s, size_t nrows, struct rk_error *err)
{
	double *values = rk_reallocn(s->values, nrows, sizeof(*values));
	uint64_t *valid = values ? rk_reallocn(s->valid, (nrows + 63) / 64, sizeof(*valid)) : NULL;

	if (values)
		s->values = values;
	if (valid)
		s->valid = valid;
	return values && valid ? 0 : rk_fail_nomem(err);
}

static int room_for(struct columns *r, size_t nrows, struct rk_error *err)
{
	if (nrows <= r->cap_rows)
		return 0;
	for (size_t i = 1; i < r->nfeeds; i++) {
		unsigned column = r->feeds[i].column;
		bool summed = column == r->feeds[i - 1].column && r->set->columns[column].sum;

		if (summed && grow_sum(&r->sums[column], nrows, err) < 0)
			return RK_E_NOMEM;
	}
	r->cap_rows = nrows;
	return 0;
}

static void put_column(struct columns *r, const struct rk_batch *b, const struct feed *f,
		       bool first)
{
	struct rk_column *to = &r->cols[RK_K_NFIELDS + f->column];
	const struct sum *sum = &r->sums[f->column];
	const struct rk_column *from = &b->cols[f->field];
	bool nulls = !from->data || from->valid || (!first && to->valid);

	if (first && !sum->values)
		*to = *from;
	if (!sum->values)
		return;
	if (first) {
		memset(sum->values, 0, b->nrows * sizeof(*sum->values));
		memset(sum->valid, 0xff, (b->nrows + 63) / 64 * sizeof(*sum->valid));
	}
	add_to(sum, from, b->nrows);
	*to = (struct rk_column){ sum->values, nulls ? sum->valid : NULL };
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
	for (size_t i = 0; r->sums && i < r->set->n; i++) {
		rk_free(r->sums[i].values);
		rk_free(r->sums[i].valid);
	}
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

static int find_feeds(struct columns *r, struct rk_run *run, const struct rk_found *from,
		      struct rk_error *err)
{
	const struct rk_schema *file = r->rows->schema;
	int rc = 0;

	for (unsigned f = RK_K_NFIELDS; rc == 0 && f < file->nfields; f++) {
		const char *name = file->fields[f].name;
		size_t at = 0;
		uint32_t id;
		int column;

		rc = rk_strtab_add(run->ctx.names, name, strlen(name), &id, err);
		if (rc == 0)
			id = rk_run_counter_key(from, id);
		while (rc == 0 && (column = rk_counter_set_next(r->set, id, &at)) >= 0)
			rc = add_feed(r, (unsigned)column, f, err);
	}
	return rc;
}

int rk_run_columns_open(struct rk_run *run, const struct rk_found *f,
			const struct rk_counter_set *set, struct rk_source **rows,
			struct rk_error *err)
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
	rc = r->sums && r->cols ? find_feeds(r, run, f, err) : rk_fail_nomem(err);
	*rows = rc < 0 ? NULL : &r->base;
	if (rc < 0)
		columns_close(&r->base);
	return rc;
}
