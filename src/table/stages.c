/* stages.c - stages: read ahead, select rows, fill columns with constants. */
#include "table/stages.h"

#include <string.h>

#include "base/alloc.h"
#include "base/num.h"

enum { FILL_ROWS = 2 * RK_BATCH_ROWS, MAX_FIELDS = 64 };

/* The rows read at a time. */
struct fill {
	struct rk_builder b;
	int rc; /* of the last `next`: 0 at the end of the rows */
	struct rk_error err;
};

struct ahead {
	struct rk_source base;
	struct rk_source *rows;
	struct rk_context *ctx;
	struct fill fills[2];
	unsigned front; /* index of the fill that the caller uses */
	struct rk_job job;
	bool begun, flying;
	const struct rk_batch *rest; /* rows from rest_at on of the last batch */
	size_t rest_at;
};

/* Copies as many batches as fit; the rest of the last one is kept for the next fill. */
static void fill_one(struct ahead *a, struct fill *f)
{
	rk_builder_reset(&f->b);
	f->rc = 1;
	while (f->rc > 0 && f->b.nrows < f->b.cap) {
		size_t n;

		if (!a->rest) {
			a->rest_at = 0;
			f->rc = rk_source_next(a->rows, &a->rest, &f->err);
			if (f->rc <= 0)
				a->rest = NULL;
			continue;
		}
		n = rk_min(a->rest->nrows - a->rest_at, f->b.cap - f->b.nrows);
		for (unsigned i = 0; i < f->b.schema->nfields; i++) {
			if (!rk_builder_append(&f->b, i, f->b.nrows, &a->rest->cols[i], a->rest_at,
					       n)) {
				f->rc = rk_fail_nomem(&f->err);
				return;
			}
		}
		f->b.nrows += n;
		a->rest_at += n;
		if (a->rest_at == a->rest->nrows)
			a->rest = NULL;
	}
}

static void fill_task(void *arg, size_t i, unsigned worker)
{
	struct ahead *a = arg;

	(void)i;
	(void)worker;
	fill_one(a, &a->fills[!a->front]);
}

static int ahead_next(struct rk_source *base, const struct rk_batch **batch, struct rk_error *err)
{
	struct ahead *a = (struct ahead *)base;
	struct fill *f;

	if (!a->begun) {
		fill_one(a, &a->fills[!a->front]);
		a->begun = true;
	} else if (a->flying) {
		rk_pool_finish(a->ctx->pool, &a->job);
		a->flying = false;
	} else {
		return 0; /* the rows have ended */
	}
	a->front = !a->front;
	f = &a->fills[a->front];
	if (f->rc < 0) {
		if (err)
			*err = f->err;
		return f->rc;
	}
	if (f->rc > 0) {
		a->job = (struct rk_job){ .fn = fill_task, .arg = a, .n = 1 };
		a->flying = true;
		rk_pool_start(a->ctx->pool, &a->job);
	}
	*batch = rk_builder_batch(&f->b);
	return f->b.nrows > 0;
}

static void ahead_close(struct rk_source *base)
{
	struct ahead *a = (struct ahead *)base;

	if (a->flying)
		rk_pool_finish(a->ctx->pool, &a->job);
	rk_source_close(a->rows);
	rk_builder_release(&a->fills[0].b);
	rk_builder_release(&a->fills[1].b);
	rk_free(a);
}

static const struct rk_source_ops ahead_ops = { .next = ahead_next, .close = ahead_close };

int rk_ahead_open(struct rk_source *rows, struct rk_context *ctx, struct rk_source **ret,
		  struct rk_error *err)
{
	struct ahead *a;
	int rc;

	if (rk_pool_threads(ctx->pool) < 2 || rows->schema->nfields > MAX_FIELDS) {
		*ret = rows;
		return 0;
	}
	a = rk_calloc(1, sizeof(*a));
	if (!a) {
		rk_source_close(rows);
		return rk_fail_nomem(err);
	}
	a->base = (struct rk_source){ &ahead_ops, rows->schema };
	a->rows = rows;
	a->ctx = ctx;
	rc = rk_builder_init(&a->fills[0].b, rows->schema, FILL_ROWS, err);
	if (rc < 0 || (rc = rk_builder_init(&a->fills[1].b, rows->schema, FILL_ROWS, err)) < 0) {
		ahead_close(&a->base);
		return rc;
	}
	*ret = &a->base;
	return 0;
}

/* ---- select rows by the value of one column ---- */

struct keep {
	struct rk_source base;
	struct rk_source *rows;
	unsigned field;
	int64_t value; /* if only one value is selected */
	const int64_t *values;
	size_t n;
	bool null;
	/* the last value, and whether it is selected: rows of one rank are adjacent */
	int64_t last;
	bool last_kept, looked;
	struct rk_builder b;
	bool made; /* `b` is initialised, for b.cap rows */
	uint32_t *at;
	size_t cap;
};

/* Whether the value is selected. */
static bool is_one(const struct keep *k, int64_t value)
{
	size_t low = 0, high = k->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (k->values[mid] < value)
			low = mid + 1;
		else
			high = mid;
	}
	return low < k->n && k->values[low] == value;
}

/* Stores the selected rows in k->at; returns their number, or < 0. */
static int64_t choose(struct keep *k, const struct rk_batch *b, struct rk_error *err)
{
	uint32_t *at = rk_grow(k->at, &k->cap, b->nrows, sizeof(*at));
	const struct rk_column *c = &b->cols[k->field];
	size_t n = 0;

	if (!at)
		return rk_fail_nomem(err);
	k->at = at;
	for (size_t i = 0; i < b->nrows; i++) {
		bool kept = k->null;

		if (rk_column_has(c, i)) {
			int64_t value = ((const int32_t *)c->data)[i];

			if (!k->looked || value != k->last) {
				k->last_kept = is_one(k, value);
				k->last = value;
				k->looked = true;
			}
			kept = k->last_kept;
		}
		if (kept)
			at[n++] = (uint32_t)i;
	}
	return (int64_t)n;
}

/* Starts empty for each batch, because its columns may differ from the last one's. */
static int copy_rows(struct keep *k, const struct rk_batch *b, size_t n, struct rk_error *err)
{
	int rc;

	if (k->made)
		rk_builder_release(&k->b);
	k->made = false;
	rc = rk_builder_init(&k->b, b->schema, n, err);
	if (rc < 0)
		return rc;
	k->made = true;
	for (unsigned f = 0; f < b->schema->nfields; f++) {
		const struct rk_column *c = &b->cols[f];
		size_t size = rk_type_size(b->schema->fields[f].type);
		uint8_t *to;

		if (!c->data)
			continue;
		to = rk_builder_column(&k->b, f);
		if (!to)
			return rk_fail_nomem(err);
		for (size_t i = 0; i < n; i++) {
			memcpy(to + i * size, (const uint8_t *)c->data + k->at[i] * size, size);
			if (!rk_column_has(c, k->at[i]) && !rk_builder_null(&k->b, f, i))
				return rk_fail_nomem(err);
		}
	}
	k->b.nrows = n;
	return 0;
}

static int keep_next(struct rk_source *base, const struct rk_batch **batch, struct rk_error *err)
{
	struct keep *k = (struct keep *)base;
	const struct rk_batch *b;
	int64_t n = 0;
	int rc;

	while (!n) {
		rc = rk_source_next(k->rows, &b, err);
		if (rc <= 0)
			return rc;
		n = choose(k, b, err);
		if (n < 0)
			return (int)n;
	}
	if ((size_t)n == b->nrows) {
		*batch = b;
		return 1;
	}
	rc = copy_rows(k, b, (size_t)n, err);
	if (rc < 0)
		return rc;
	*batch = rk_builder_batch(&k->b);
	return 1;
}

static void keep_close(struct rk_source *base)
{
	struct keep *k = (struct keep *)base;

	rk_source_close(k->rows);
	if (k->made)
		rk_builder_release(&k->b);
	rk_free(k->at);
	rk_free(k);
}

int rk_keep_some_open(struct rk_source *rows, unsigned field, const int64_t *values, size_t n,
		      bool null, struct rk_source **ret, struct rk_error *err)
{
	static const struct rk_source_ops ops = { .next = keep_next, .close = keep_close };
	struct keep *k = rk_calloc(1, sizeof(*k));

	if (!k) {
		rk_source_close(rows);
		*ret = NULL;
		return rk_fail_nomem(err);
	}
	k->base = (struct rk_source){ &ops, rows->schema };
	k->rows = rows;
	k->field = field;
	k->values = values;
	k->n = n;
	k->null = null;
	*ret = &k->base;
	return 0;
}

int rk_keep_open(struct rk_source *rows, unsigned field, int64_t value, bool null,
		 struct rk_source **ret, struct rk_error *err)
{
	int rc = rk_keep_some_open(rows, field, NULL, 0, null, ret, err);
	struct keep *k;

	if (rc < 0 || null)
		return rc;
	k = (struct keep *)*ret;
	k->value = value;
	k->values = &k->value;
	k->n = 1;
	return 0;
}

/* ---- constants for columns that a file does not have ---- */

struct stamp {
	struct rk_source base;
	struct rk_source *rows;
	struct rk_stamp stamps[RK_STAMPS_MAX];
	unsigned n;
	void *data[RK_STAMPS_MAX];
	size_t cap;
	struct rk_column *cols;
	struct rk_batch batch;
};

/* Has none of the rows a value, as in a column that only some files of a format have? */
static bool is_empty(const struct rk_column *c, size_t nrows)
{
	size_t i = 0;

	if (!c->data)
		return true;
	while (i < nrows && !rk_column_has(c, i))
		i++;
	return i == nrows;
}

static int stamp_next(struct rk_source *base, const struct rk_batch **batch, struct rk_error *err)
{
	struct stamp *s = (struct stamp *)base;
	const struct rk_batch *b;
	int rc = rk_source_next(s->rows, &b, err);

	if (rc <= 0)
		return rc;
	for (unsigned i = 0; s->cap < b->nrows && i < s->n; i++) {
		enum rk_type type = s->base.schema->fields[s->stamps[i].field].type;
		int64_t value = s->stamps[i].value;

		rk_free(s->data[i]);
		s->data[i] = rk_alloc(b->nrows * rk_type_size(type));
		if (!s->data[i])
			return rk_fail_nomem(err);
		for (size_t k = 0; k < b->nrows; k++) {
			if (type == RK_I64)
				((int64_t *)s->data[i])[k] = value;
			else
				((int32_t *)s->data[i])[k] = (int32_t)value;
		}
	}
	s->cap = rk_max(s->cap, b->nrows);
	memcpy(s->cols, b->cols, b->schema->nfields * sizeof(*s->cols));
	for (unsigned i = 0; i < s->n; i++)
		if (s->stamps[i].over || is_empty(&s->cols[s->stamps[i].field], b->nrows))
			s->cols[s->stamps[i].field] = (struct rk_column){ .data = s->data[i] };
	s->batch = (struct rk_batch){ b->schema, b->nrows, s->cols };
	*batch = &s->batch;
	return 1;
}

static void stamp_close(struct rk_source *base)
{
	struct stamp *s = (struct stamp *)base;

	rk_source_close(s->rows);
	for (unsigned i = 0; i < s->n; i++)
		rk_free(s->data[i]);
	rk_free(s->cols);
	rk_free(s);
}

static const struct rk_source_ops stamp_ops = { .next = stamp_next, .close = stamp_close };

int rk_stamp_open(struct rk_source *rows, const struct rk_stamp *stamps, unsigned n,
		  struct rk_source **ret, struct rk_error *err)
{
	struct stamp *s;

	if (!n) {
		*ret = rows;
		return 0;
	}
	s = rk_calloc(1, sizeof(*s));
	if (!s) {
		rk_source_close(rows);
		return rk_fail_nomem(err);
	}
	s->base = (struct rk_source){ &stamp_ops, rows->schema };
	s->rows = rows;
	s->n = n;
	memcpy(s->stamps, stamps, n * sizeof(*stamps));
	s->cols = rk_calloc(rows->schema->nfields, sizeof(*s->cols));
	if (!s->cols) {
		stamp_close(&s->base);
		return rk_fail_nomem(err);
	}
	*ret = &s->base;
	return 0;
}
