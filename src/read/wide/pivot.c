/* pivot.c - find the counter columns of a wide CSV file and turn them into rows. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "read/wide/wide.h"

/* ---- columns ---- */

/* The header's names, sorted, to find one among thousands. */
struct place {
	const char *name;
	unsigned col;
};

static int by_name(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	int c = strcmp(x->name, y->name);

	return c ? c : (x->col > y->col) - (x->col < y->col);
}

/* The first column with the name [name, name + len), or n. */
static unsigned first_col(const struct place *places, unsigned n, const char *name, size_t len)
{
	unsigned lo = 0, hi = n;

	while (lo < hi) {
		unsigned mid = lo + (hi - lo) / 2;
		int c = strncmp(places[mid].name, name, len);

		if (c < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < n && !strncmp(places[lo].name, name, len) && !places[lo].name[len])
		return places[lo].col;
	return n;
}

static const struct rk_csv_bind *fixed_of(const struct rk_csv_bind *binds, const char *name,
					  size_t len)
{
	for (; binds; binds = binds->more)
		for (; binds->header; binds++)
			if ((*name | 0x20) == (*binds->header | 0x20) &&
			    rk_text_ieq(name, len, binds->header))
				return binds;
	return NULL;
}

/* SQ_WAVES_1 is a copy if there is a SQ_WAVES; SQ_WAVES_LT_16 is a counter of its own. */
static bool is_copy(const struct rk_csv_bind *fixed, const struct place *places, unsigned n,
		    unsigned col, const char *name)
{
	size_t len = strlen(name), base = len;

	if (first_col(places, n, name, len) < col)
		return true;
	while (base && name[base - 1] >= '0' && name[base - 1] <= '9')
		base--;
	if (base == len || base <= 1 || name[--base] != '_')
		return false;
	return fixed_of(fixed, name, base) || first_col(places, n, name, base) < n;
}

/* Fixed columns that counter rows also have. */
static struct rk_csv_bind kept(const struct rk_csv_bind *b, const char *name)
{
	static const struct {
		unsigned kernels, wide;
	} map[] = {
		{ RK_K_DISPATCH, RK_W_DISPATCH },
		{ RK_K_NAME, RK_W_NAME },
		{ RK_K_DEVICE, RK_W_DEVICE },
		{ RK_K_PID, RK_W_PID },
	};
	struct rk_csv_bind ret = { name, RK_CELL_SKIP, 0, NULL };

	if (rk_text_ieq(name, strlen(name), "XCC_Index"))
		return (struct rk_csv_bind){ name, RK_CELL_I64, RK_W_XCC, NULL };
	for (size_t i = 0; b->cell != RK_CELL_SKIP && i < sizeof(map) / sizeof(map[0]); i++)
		if (b->field == map[i].kernels)
			ret = (struct rk_csv_bind){ name, b->cell, map[i].wide, NULL };
	return ret;
}

int rk_wide_columns_make(const struct rk_csv_header *h, const struct rk_csv_bind *fixed,
			 struct rk_wide_columns *ret, struct rk_error *err)
{
	static const struct rk_field first[RK_W_NFIELDS] = {
		{ "dispatch_id", RK_I64 }, { "kernel_name", RK_STR }, { "device_id", RK_I64 },
		{ "pid", RK_I64 },         { "xcc", RK_I64 },
	};
	struct rk_wide_columns c = { 0 };
	struct place *places = rk_calloc(h->ncols, sizeof(*places));

	c.kernels = rk_calloc((size_t)h->ncols + 1, sizeof(*c.kernels));
	c.counters = rk_calloc((size_t)h->ncols + 1, sizeof(*c.counters));
	c.fields = rk_calloc((size_t)h->ncols + RK_W_NFIELDS, sizeof(*c.fields));
	if (!places || !c.kernels || !c.counters || !c.fields) {
		rk_free(places);
		rk_wide_columns_release(&c);
		return rk_fail_nomem(err);
	}
	for (unsigned i = 0; i < h->ncols; i++)
		places[i] = (struct place){ h->names[i], i };
	qsort(places, h->ncols, sizeof(*places), by_name);
	memcpy(c.fields, first, sizeof(first));
	for (unsigned i = 0; i < h->ncols; i++) {
		const char *name = h->names[i];
		const struct rk_csv_bind *b = fixed_of(fixed, name, strlen(name));

		c.kernels[i] = (struct rk_csv_bind){ name, RK_CELL_SKIP, 0, NULL };
		c.counters[i] = c.kernels[i];
		if (b) {
			c.kernels[i].cell = b->cell;
			c.kernels[i].field = b->field;
			c.counters[i] = kept(b, name);
			c.per_xcc |= c.counters[i].cell != RK_CELL_SKIP &&
				     c.counters[i].field == RK_W_XCC;
		} else if (*name && !is_copy(fixed, places, h->ncols, i, name)) {
			unsigned field = RK_W_NFIELDS + c.ncounters++;

			c.fields[field] = (struct rk_field){ name, RK_F64 };
			c.counters[i] = (struct rk_csv_bind){ name, RK_CELL_F64, field, NULL };
		}
	}
	rk_free(places);
	c.schema = (struct rk_schema){ RK_COUNTERS, RK_W_NFIELDS + c.ncounters, c.fields, -1 };
	*ret = c;
	return 0;
}

void rk_wide_columns_release(struct rk_wide_columns *c)
{
	rk_free(c->kernels);
	rk_free(c->counters);
	rk_free(c->fields);
	*c = (struct rk_wide_columns){ 0 };
}

/* ---- rows ---- */

struct pivot {
	struct rk_source base;
	struct rk_source *rows;
	const struct rk_wide_columns *columns;
	uint64_t want;
	uint32_t *ids;            /* name ids of the counters */
	const struct rk_batch *b; /* batch being converted, or NULL */
	size_t row;
	unsigned counter; /* the first counter of that row not yet converted */
	struct rk_builder out;
};

/* Maps fields of a wide row to fields of a counters row. */
static const uint8_t turned[RK_W_NFIELDS] = { RK_N_DISPATCH, RK_N_NAME, RK_N_DEVICE, RK_N_PID,
					      RK_N_INSTANCE };

/* Copies the value at `from` (4 or 8 bytes) n times. */
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

/*
 * Converts the rest of one row as far as there is room: its counters, then the dispatch's values.
 */
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
		for (size_t row = from; row < to && !rk_column_has(c, p->row); row++)
			if (!rk_builder_null(&p->out, turned[f], row))
				return rk_fail_nomem(err);
	}
	return 0;
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
	if (rc < 0)
		goto out;
	p->ids = rk_calloc(c->ncounters, sizeof(*p->ids));
	if (!p->ids) {
		rc = rk_fail_nomem(err);
		goto out;
	}
	for (unsigned i = 0; rc == 0 && i < c->ncounters; i++)
		rc = rk_strtab_adds(ctx->names, c->fields[RK_W_NFIELDS + i].name, &p->ids[i], err);
out:
	if (rc < 0) {
		pivot_close(&p->base);
		return rc;
	}
	*ret = &p->base;
	return 0;
}
