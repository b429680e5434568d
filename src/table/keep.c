/* keep.c - the rows of one rank, or of some. */
#include "table/keep.h"

#include <string.h>

#include "base/alloc.h"

struct keep {
	struct rk_source base;
	struct rk_source *rows;
	unsigned field;
	int64_t value; /* where there is one */
	const int64_t *values;
	size_t n;
	bool null;
	/* what came last, and whether it is one of them: rows of a rank follow each other */
	int64_t last;
	bool last_kept, looked;
	struct rk_builder b;
	bool made; /* `b` has been initialised, for b.cap rows */
	uint32_t *at;
	size_t cap;
};

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

static bool is_kept(struct keep *k, const struct rk_column *c, size_t row)
{
	int64_t value;

	if (!rk_column_has(c, row))
		return k->null;
	value = ((const int32_t *)c->data)[row];
	if (!k->looked || value != k->last) {
		k->last_kept = is_one(k, value);
		k->last = value;
		k->looked = true;
	}
	return k->last_kept;
}

/* Which rows are kept; how many, or < 0. */
static int64_t choose(struct keep *k, const struct rk_batch *b, struct rk_error *err)
{
	uint32_t *at = rk_grow(k->at, &k->cap, b->nrows, sizeof(*at));
	size_t n = 0;

	if (!at)
		return rk_fail_nomem(err);
	k->at = at;
	for (size_t i = 0; i < b->nrows; i++)
		if (is_kept(k, &b->cols[k->field], i))
			at[n++] = (uint32_t)i;
	return (int64_t)n;
}

static int copy_column(struct keep *k, const struct rk_batch *b, unsigned field, size_t n,
		       struct rk_error *err)
{
	const struct rk_column *c = &b->cols[field];
	size_t size = rk_type_size(b->schema->fields[field].type);
	uint8_t *to = rk_builder_column(&k->b, field);

	if (!to)
		return rk_fail_nomem(err);
	for (size_t i = 0; i < n; i++) {
		memcpy(to + i * size, (const uint8_t *)c->data + k->at[i] * size, size);
		if (!rk_column_has(c, k->at[i]) && !rk_builder_null(&k->b, field, i))
			return rk_fail_nomem(err);
	}
	return 0;
}

/* Each batch begins anew: which columns are present may change. */
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
	for (unsigned f = 0; rc == 0 && f < b->schema->nfields; f++)
		if (b->cols[f].data)
			rc = copy_column(k, b, f, n, err);
	k->b.nrows = n;
	return rc;
}

static int keep_next(struct rk_source *base, const struct rk_batch **batch, struct rk_error *err)
{
	struct keep *k = (struct keep *)base;
	const struct rk_batch *b;
	int64_t n = 0;
	int rc;

	while ((rc = rk_source_next(k->rows, &b, err)) > 0 && (n = choose(k, b, err)) == 0)
		;
	if (rc <= 0 || n < 0)
		return rc <= 0 ? rc : (int)n;
	if ((size_t)n == b->nrows) {
		*batch = b;
		return 1;
	}
	rc = copy_rows(k, b, (size_t)n, err);
	*batch = rc < 0 ? NULL : rk_builder_batch(&k->b);
	return rc < 0 ? rc : 1;
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
	struct keep *k = (struct keep *)*ret;

	if (rc == 0 && !null) {
		k->value = value;
		k->values = &k->value;
		k->n = 1;
	}
	return rc;
}
