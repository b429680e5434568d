/* dispatch_once.c - kernels rows with each dispatch once. */
#include "read/dispatch_once.h"

#include <string.h>

#include "base/alloc.h"
#include "base/map.h"

enum { FIRST_SLOTS = 1024, MAX_SLOTS = 1 << 22 };

struct once {
	struct rk_source base;
	struct rk_source *rows;
	struct rk_context *ctx;
	const char *file;
	uint64_t *slots; /* hashes of (pid, dispatch), 0: empty */
	size_t nslots, used;
	uint64_t last;
	bool full;
	struct rk_builder out;
};

static bool grow(struct once *o)
{
	size_t n = o->nslots ? o->nslots * 2 : FIRST_SLOTS;
	uint64_t *slots = rk_calloc(n, sizeof(*slots));

	if (!slots)
		return false;
	for (size_t i = 0; i < o->nslots; i++) {
		size_t at = o->slots[i] & (n - 1);

		while (o->slots[i] && slots[at])
			at = (at + 1) & (n - 1);
		if (o->slots[i])
			slots[at] = o->slots[i];
	}
	rk_free(o->slots);
	o->slots = slots;
	o->nslots = n;
	return true;
}

/* 1: seen for the first time, 0: seen before, < 0: out of memory. */
static int first_sight(struct once *o, uint64_t key, struct rk_error *err)
{
	size_t i;

	if (key == o->last)
		return 0;
	o->last = key;
	if (o->full)
		return 1;
	if (o->used * 2 >= o->nslots) {
		if (o->nslots >= MAX_SLOTS) {
			o->full = true;
			rk_diag_add(o->ctx->diag, "many-dispatches", o->file, 0, 1,
				    "too many dispatches to remember; only neighbouring rows are "
				    "joined from here on");
			return 1;
		}
		if (!grow(o))
			return rk_fail_nomem(err);
	}
	for (i = key & (o->nslots - 1); o->slots[i]; i = (i + 1) & (o->nslots - 1))
		if (o->slots[i] == key)
			return 0;
	o->slots[i] = key;
	o->used++;
	return 1;
}

static uint64_t key_of(const struct rk_batch *b, size_t row)
{
	const struct rk_column *pid = &b->cols[RK_K_PID], *id = &b->cols[RK_K_DISPATCH];
	uint64_t p = rk_column_has(pid, row) ? (uint64_t)((const int64_t *)pid->data)[row] : 0;
	/* one hash inside the other: side by side, those of small numbers cancel each other out */
	uint64_t h = rk_hash_u64((uint64_t)((const int64_t *)id->data)[row] ^ rk_hash_u64(~p));

	return h ? h : 1;
}

static int take_row(struct once *o, const struct rk_batch *b, size_t row, struct rk_error *err)
{
	size_t to = o->out.nrows++;

	for (unsigned f = 0; f < b->schema->nfields; f++) {
		size_t size = rk_type_size(b->schema->fields[f].type);
		char *data;

		if (!b->cols[f].data)
			continue;
		data = rk_builder_column(&o->out, f);
		if (!data)
			return rk_fail_nomem(err);
		memcpy(data + to * size, (const char *)b->cols[f].data + row * size, size);
		if (!rk_column_has(&b->cols[f], row) && !rk_builder_null(&o->out, f, to))
			return rk_fail_nomem(err);
	}
	return 0;
}

static int filter(struct once *o, const struct rk_batch *b, struct rk_error *err)
{
	int rc = 0;

	if (o->out.cap < b->nrows) {
		rk_builder_release(&o->out);
		rc = rk_builder_init(&o->out, b->schema, b->nrows, err);
	}
	if (rc < 0)
		return rc;
	rk_builder_reset(&o->out);
	for (size_t i = 0; i < b->nrows; i++) {
		rc = rk_column_has(&b->cols[RK_K_DISPATCH], i) ? first_sight(o, key_of(b, i), err) :
								 1;
		if (rc > 0)
			rc = take_row(o, b, i, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int once_next(struct rk_source *base, const struct rk_batch **batch, struct rk_error *err)
{
	struct once *o = (struct once *)base;
	const struct rk_batch *b;
	int rc;

	while ((rc = rk_source_next(o->rows, &b, err)) > 0) {
		rc = filter(o, b, err);
		if (rc < 0)
			return rc;
		if (o->out.nrows) {
			*batch = rk_builder_batch(&o->out);
			return 1;
		}
	}
	return rc;
}

static void once_close(struct rk_source *base)
{
	struct once *o = (struct once *)base;

	rk_source_close(o->rows);
	rk_builder_release(&o->out);
	rk_free(o->slots);
	rk_free(o);
}

static const struct rk_source_ops once_ops = { .next = once_next, .close = once_close };

int rk_dispatch_once_open(struct rk_source *rows, struct rk_context *ctx, const char *file,
			  struct rk_source **ret, struct rk_error *err)
{
	struct once *o = rk_calloc(1, sizeof(*o));
	int rc;

	if (!o) {
		rk_source_close(rows);
		return rk_fail_nomem(err);
	}
	o->base = (struct rk_source){ &once_ops, rows->schema };
	o->rows = rows;
	o->ctx = ctx;
	o->file = file;
	rc = rk_builder_init(&o->out, rows->schema, RK_BATCH_ROWS, err);
	if (rc < 0) {
		once_close(&o->base);
		return rc;
	}
	*ret = &o->base;
	return 0;
}
