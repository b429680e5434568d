/* ahead.c - a source that works ahead of its user, on another thread. */
#include "table/ahead.h"

#include <string.h>

#include "base/alloc.h"

enum { FILL_ROWS = 2 * RK_BATCH_ROWS, MAX_FIELDS = 64 };

/* Rows taken in one go. */
struct fill {
	struct rk_builder b;
	int rc; /* of the last next: 0 when the rows have ended */
	struct rk_error err;
};

struct ahead {
	struct rk_source base;
	struct rk_source *rows;
	struct rk_context *ctx;
	struct fill fills[2];
	unsigned front; /* the fill the user has */
	struct rk_job job;
	bool begun, flying;
	const struct rk_batch *rest; /* of the last batch, rows from rest_at on */
	size_t rest_at;
};

static int copy_column(struct fill *f, const struct rk_column *c, unsigned field, size_t from,
		       size_t n)
{
	size_t size = rk_type_size(f->b.schema->fields[field].type), at = f->b.nrows;
	bool present = f->b.data[field] != NULL;
	char *data;

	if (!c->data && !present)
		return 0;
	data = rk_builder_column(&f->b, field);
	if (!data)
		return rk_fail_nomem(&f->err);
	for (size_t i = 0; !present && i < at; i++)
		if (!rk_builder_null(&f->b, field, i))
			return rk_fail_nomem(&f->err);
	if (c->data)
		memcpy(data + at * size, (const char *)c->data + from * size, n * size);
	for (size_t i = 0; (!c->data || c->valid) && i < n; i++)
		if (!rk_column_has(c, from + i) && !rk_builder_null(&f->b, field, at + i))
			return rk_fail_nomem(&f->err);
	return 0;
}

/* As many of the waiting rows as there is room for. */
static int take_rest(struct ahead *a, struct fill *f)
{
	size_t n = a->rest->nrows - a->rest_at;
	int rc = 0;

	if (n > f->b.cap - f->b.nrows)
		n = f->b.cap - f->b.nrows;
	for (unsigned i = 0; rc == 0 && i < f->b.schema->nfields; i++)
		rc = copy_column(f, &a->rest->cols[i], i, a->rest_at, n);
	f->b.nrows += n;
	a->rest_at += n;
	if (a->rest_at == a->rest->nrows)
		a->rest = NULL;
	return rc < 0 ? rc : 1;
}

static void fill_one(struct ahead *a, struct fill *f)
{
	rk_builder_reset(&f->b);
	f->rc = 1;
	while (f->rc > 0 && f->b.nrows < f->b.cap) {
		if (a->rest) {
			f->rc = take_rest(a, f);
			continue;
		}
		a->rest_at = 0;
		f->rc = rk_source_next(a->rows, &a->rest, &f->err);
		if (f->rc <= 0)
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

static void start(struct ahead *a)
{
	a->job = (struct rk_job){ .fn = fill_task, .arg = a, .n = 1 };
	a->flying = true;
	rk_pool_start(a->ctx->pool, &a->job);
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
		return 0; /* the rows had ended */
	}
	a->front = !a->front;
	f = &a->fills[a->front];
	if (f->rc < 0) {
		if (err)
			*err = f->err;
		return f->rc;
	}
	if (f->rc > 0)
		start(a);
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
	int rc = 0;

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
	for (unsigned i = 0; rc == 0 && i < 2; i++)
		rc = rk_builder_init(&a->fills[i].b, rows->schema, FILL_ROWS, err);
	if (rc < 0) {
		ahead_close(&a->base);
		return rc;
	}
	*ret = &a->base;
	return 0;
}
