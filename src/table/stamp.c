/* stamp.c - constants for columns that a file leaves out. */
#include "table/stamp.h"

#include <string.h>

#include "base/alloc.h"

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

static void fill(void *data, enum rk_type type, int64_t value, size_t n)
{
	if (type == RK_I64)
		for (size_t i = 0; i < n; i++)
			((int64_t *)data)[i] = value;
	else
		for (size_t i = 0; i < n; i++)
			((int32_t *)data)[i] = (int32_t)value;
}

static int grow(struct stamp *s, size_t rows, struct rk_error *err)
{
	for (unsigned i = 0; s->cap < rows && i < s->n; i++) {
		enum rk_type type = s->base.schema->fields[s->stamps[i].field].type;

		rk_free(s->data[i]);
		s->data[i] = rk_alloc(rows * rk_type_size(type));
		if (!s->data[i])
			return rk_fail_nomem(err);
		fill(s->data[i], type, s->stamps[i].value, rows);
	}
	s->cap = s->cap < rows ? rows : s->cap;
	return 0;
}

static int stamp_next(struct rk_source *base, const struct rk_batch **batch, struct rk_error *err)
{
	struct stamp *s = (struct stamp *)base;
	const struct rk_batch *b;
	int rc = rk_source_next(s->rows, &b, err);

	if (rc <= 0)
		return rc;
	rc = grow(s, b->nrows, err);
	if (rc < 0)
		return rc;
	memcpy(s->cols, b->cols, b->schema->nfields * sizeof(*s->cols));
	for (unsigned i = 0; i < s->n; i++)
		if (s->stamps[i].over || !s->cols[s->stamps[i].field].data)
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
