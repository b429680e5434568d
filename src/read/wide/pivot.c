/* pivot.c - counters in columns, turned to a row each. */
#include <string.h>

#include "base/alloc.h"
#include "read/wide/wide.h"

struct pivot {
	struct rk_source base;
	struct rk_source *rows;
	const struct rk_wide_columns *columns;
	uint64_t want;
	uint32_t *ids;            /* names of the counters */
	const struct rk_batch *b; /* being turned; NULL: none */
	size_t row;
	unsigned counter; /* the first of that row not yet turned */
	struct rk_builder out;
};

/* Which field of a turned row each of a wide row is. */
static const uint8_t turned[RK_W_NFIELDS] = { RK_N_DISPATCH, RK_N_NAME, RK_N_DEVICE, RK_N_PID,
					      RK_N_INSTANCE };

/* n times the value at `from`, of 4 or 8 bytes. */
static void repeat(void *out, const void *from, size_t size, size_t n)
{
	uint64_t v8;
	uint32_t v4;

	if (size == 8) {
		memcpy(&v8, from, 8);
		for (size_t i = 0; i < n; i++)
			((uint64_t *)out)[i] = v8;
	} else {
		memcpy(&v4, from, 4);
		for (size_t i = 0; i < n; i++)
			((uint32_t *)out)[i] = v4;
	}
}

/* What the wide row says of the dispatch, for the rows [from, to) made of it. */
static int put_fixed(struct pivot *p, size_t from, size_t to, struct rk_error *err)
{
	for (unsigned f = 0; f < RK_W_NFIELDS; f++) {
		const struct rk_column *c = &p->b->cols[f];
		size_t size = rk_type_size(p->columns->fields[f].type);
		char *out;

		if (!c->data || !(p->want >> turned[f] & 1))
			continue;
		out = rk_builder_column(&p->out, turned[f]);
		if (!out)
			return rk_fail_nomem(err);
		repeat(out + from * size, (const char *)c->data + p->row * size, size, to - from);
		for (size_t i = from; i < to && !rk_column_has(c, p->row); i++)
			if (!rk_builder_null(&p->out, turned[f], i))
				return rk_fail_nomem(err);
	}
	return 0;
}

/* Turns the rest of one row, as far as there is room. */
static int turn_row(struct pivot *p, struct rk_error *err)
{
	uint32_t *name = rk_builder_column(&p->out, RK_N_COUNTER);
	double *value = rk_builder_column(&p->out, RK_N_VALUE);
	size_t from = p->out.nrows, to = from;
	unsigned i = p->counter;

	if (!name || !value)
		return rk_fail_nomem(err);
	for (; i < p->columns->ncounters && to < p->out.cap; i++) {
		const struct rk_column *c = &p->b->cols[RK_W_NFIELDS + i];

		if (!rk_column_has(c, p->row))
			continue;
		name[to] = p->ids[i];
		value[to++] = ((const double *)c->data)[p->row];
	}
	p->out.nrows = to;
	p->counter = i;
	return put_fixed(p, from, to, err);
}

static int pivot_next(struct rk_source *base, const struct rk_batch **batch, struct rk_error *err)
{
	struct pivot *p = (struct pivot *)base;
	int rc;

	rk_builder_reset(&p->out);
	p->out.nrows = 0;
	while (p->out.nrows < p->out.cap) {
		if (!p->b) {
			rc = rk_source_next(p->rows, &p->b, err);
			if (rc < 0)
				return rc;
			if (rc == 0)
				break;
			p->row = p->counter = 0;
		}
		rc = turn_row(p, err);
		if (rc < 0)
			return rc;
		if (p->counter == p->columns->ncounters) {
			p->counter = 0;
			p->row++;
		}
		if (p->row == p->b->nrows)
			p->b = NULL;
	}
	*batch = rk_builder_batch(&p->out);
	return p->out.nrows != 0;
}

static void pivot_close(struct rk_source *base)
{
	struct pivot *p = (struct pivot *)base;

	rk_source_close(p->rows);
	rk_builder_release(&p->out);
	rk_free(p->ids);
	rk_free(p);
}

static const struct rk_source_ops pivot_ops = { .next = pivot_next, .close = pivot_close };

static int name_counters(struct pivot *p, struct rk_context *ctx, struct rk_error *err)
{
	int rc = 0;

	p->ids = rk_calloc(p->columns->ncounters, sizeof(*p->ids));
	if (!p->ids)
		return rk_fail_nomem(err);
	for (unsigned i = 0; rc == 0 && i < p->columns->ncounters; i++) {
		const char *name = p->columns->fields[RK_W_NFIELDS + i].name;

		rc = rk_strtab_add(ctx->names, name, strlen(name), &p->ids[i], err);
	}
	return rc;
}

int rk_wide_pivot_open(struct rk_source *rows, const struct rk_wide_columns *c,
		       struct rk_context *ctx, uint64_t want, struct rk_source **ret,
		       struct rk_error *err)
{
	struct pivot *p = rk_calloc(1, sizeof(*p));
	int rc;

	if (!p) {
		rk_source_close(rows);
		return rk_fail_nomem(err);
	}
	p->base = (struct rk_source){ &pivot_ops, rk_table_schema(RK_COUNTERS) };
	p->rows = rows;
	p->columns = c;
	p->want = want;
	rc = rk_builder_init(&p->out, p->base.schema, RK_BATCH_ROWS, err);
	if (rc == 0)
		rc = name_counters(p, ctx, err);
	if (rc < 0) {
		pivot_close(&p->base);
		return rc;
	}
	*ret = &p->base;
	return 0;
}
