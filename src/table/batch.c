/* batch.c - fills a batch. */
#include "table/batch.h"

#include <string.h>

#include "base/alloc.h"
#include "base/num.h"

int rk_builder_init(struct rk_builder *b, const struct rk_schema *schema, size_t cap,
		    struct rk_error *err)
{
	size_t n = schema->nfields;

	*b = (struct rk_builder){ .schema = schema, .cap = cap };
	b->cols = rk_calloc(n, sizeof(*b->cols));
	b->data = rk_calloc(n, sizeof(*b->data));
	b->valid = rk_calloc(n, sizeof(*b->valid));
	b->nulls = rk_calloc(n, sizeof(*b->nulls));
	if (b->cols && b->data && b->valid && b->nulls)
		return 0;
	rk_builder_release(b);
	return rk_fail_nomem(err);
}

void rk_builder_release(struct rk_builder *b)
{
	for (unsigned i = 0; b->schema && i < b->schema->nfields; i++) {
		if (b->data)
			rk_free(b->data[i]);
		if (b->valid)
			rk_free(b->valid[i]);
	}
	rk_free(b->cols);
	rk_free(b->data);
	rk_free(b->valid);
	rk_free(b->nulls);
	*b = (struct rk_builder){ 0 };
}

void *rk_builder_column(struct rk_builder *b, unsigned field)
{
	size_t bytes;

	/* not zeroed: pages without rows are never touched */
	if (!b->data[field] && rk_mul(b->cap, rk_type_size(b->schema->fields[field].type), &bytes))
		b->data[field] = rk_alloc(bytes);
	return b->data[field];
}

bool rk_builder_null(struct rk_builder *b, unsigned field, size_t row)
{
	size_t words = (b->cap + 63) / 64, size = rk_type_size(b->schema->fields[field].type);

	if (!b->nulls[field]) {
		if (!b->valid[field])
			b->valid[field] = rk_alloc(words * sizeof(uint64_t));
		if (!b->valid[field])
			return false;
		memset(b->valid[field], 0xff, words * sizeof(uint64_t));
		b->nulls[field] = true;
	}
	b->valid[field][row / 64] &= ~(UINT64_C(1) << (row % 64));
	memset((char *)b->data[field] + row * size, 0, size);
	return true;
}

int rk_builder_put(struct rk_builder *b, unsigned field, int64_t v)
{
	enum rk_type type = b->schema->fields[field].type;
	bool fits = type != RK_I32 || v == (int32_t)v || v == RK_NONE;
	void *col = rk_builder_column(b, field);

	if (!col || ((v == RK_NONE || !fits) && !rk_builder_null(b, field, b->nrows)))
		return RK_E_NOMEM;
	if (v != RK_NONE && fits) {
		if (type == RK_I64)
			((int64_t *)col)[b->nrows] = v;
		else
			((uint32_t *)col)[b->nrows] = (uint32_t)v;
	}
	return !fits;
}

bool rk_builder_append(struct rk_builder *b, unsigned field, size_t at, const struct rk_column *c,
		       size_t from, size_t n)
{
	size_t size = rk_type_size(b->schema->fields[field].type);
	bool present = b->data[field] != NULL;
	char *data;

	if (!c->data && !present)
		return true;
	data = rk_builder_column(b, field);
	if (!data)
		return false;
	for (size_t i = 0; !present && i < at; i++)
		if (!rk_builder_null(b, field, i))
			return false;
	if (c->data)
		memcpy(data + at * size, (const char *)c->data + from * size, n * size);
	for (size_t i = 0; (!c->data || c->valid) && i < n; i++)
		if (!rk_column_has(c, from + i) && !rk_builder_null(b, field, at + i))
			return false;
	return true;
}

void rk_builder_move(struct rk_builder *b, size_t to, size_t from)
{
	for (unsigned f = 0; f < b->schema->nfields; f++) {
		size_t size = rk_type_size(b->schema->fields[f].type);
		uint64_t bit = UINT64_C(1) << (to % 64);

		if (!b->data[f])
			continue;
		memcpy((char *)b->data[f] + to * size, (char *)b->data[f] + from * size, size);
		if (!b->nulls[f])
			continue;
		if (rk_builder_is_null(b, f, from))
			b->valid[f][to / 64] &= ~bit;
		else
			b->valid[f][to / 64] |= bit;
	}
}

void rk_builder_reset(struct rk_builder *b)
{
	b->nrows = 0;
	memset(b->nulls, 0, b->schema->nfields * sizeof(*b->nulls));
}

const struct rk_batch *rk_builder_batch(struct rk_builder *b)
{
	for (unsigned i = 0; i < b->schema->nfields; i++)
		b->cols[i] = (struct rk_column){ .data = b->data[i],
						 .valid = b->nulls[i] ? b->valid[i] : NULL };
	b->batch = (struct rk_batch){ .schema = b->schema, .nrows = b->nrows, .cols = b->cols };
	return &b->batch;
}
