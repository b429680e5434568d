/* join.c - kernels with the hardware counters of each dispatch as columns. */
#include "pass/join.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"

enum { SLOTS = 4 * RK_JOIN_MAX_COUNTERS };

/* The slot of a name, or the empty one where it belongs: three in four are empty. */
static unsigned slot_of(const struct rk_counter_set *set, uint32_t id)
{
	unsigned i = (unsigned)(rk_hash_u64(id) % SLOTS);

	while (set->slots[i] && set->ids[set->slots[i] - 1] != id)
		i = (i + 1) % SLOTS;
	return i;
}

static int find(const struct rk_counter_set *set, uint32_t id)
{
	return (int)set->slots[slot_of(set, id)] - 1;
}

int rk_counter_set_field(const struct rk_counter_set *set, uint32_t id)
{
	int i = find(set, id);

	return i < 0 ? -1 : (int)rk_table_schema(RK_KERNELS)->nfields + i;
}

void rk_counter_set_add(struct rk_counter_set *set, struct rk_context *ctx, uint32_t id)
{
	const struct rk_schema *kernels = rk_table_schema(RK_KERNELS);
	const char *name = rk_strtab_borrow(ctx->names, id, NULL);

	if (!*name || find(set, id) >= 0)
		return;
	for (unsigned f = 0; f < kernels->nfields; f++)
		if (!strcmp(kernels->fields[f].name, name))
			return;
	if (set->n == RK_JOIN_MAX_COUNTERS) {
		set->more = true;
		return;
	}
	set->ids[set->n] = id;
	set->slots[slot_of(set, id)] = (uint16_t)++set->n;
}

int rk_counter_set_scan(struct rk_counter_set *set, struct rk_context *ctx,
			struct rk_source *counters, struct rk_error *err)
{
	const struct rk_batch *b;
	uint32_t last = 0;
	int rc;

	while ((rc = rk_source_next(counters, &b, err)) > 0) {
		const struct rk_column *c = &b->cols[RK_N_COUNTER];

		for (size_t i = 0; c->data && i < b->nrows; i++) {
			uint32_t id = ((const uint32_t *)c->data)[i];

			if (id == last || !rk_column_has(c, i))
				continue;
			rk_counter_set_add(set, ctx, id);
			last = id;
		}
	}
	return rc;
}

int rk_counter_set_schema(struct rk_counter_set *set, struct rk_context *ctx, struct rk_error *err)
{
	const struct rk_schema *kernels = rk_table_schema(RK_KERNELS);

	set->fields = rk_calloc(kernels->nfields + set->n, sizeof(*set->fields));
	if (!set->fields)
		return rk_fail_nomem(err);
	memcpy(set->fields, kernels->fields, kernels->nfields * sizeof(*set->fields));
	for (unsigned i = 0; i < set->n; i++)
		set->fields[kernels->nfields + i] =
			(struct rk_field){ rk_strtab_borrow(ctx->names, set->ids[i], NULL),
					   RK_F64 };
	set->schema = *kernels;
	set->schema.fields = set->fields;
	set->schema.nfields += set->n;
	return 0;
}

void rk_counter_set_release(struct rk_counter_set *set)
{
	rk_free(set->fields);
	*set = (struct rk_counter_set){ 0 };
}

static int64_t value_or(const struct rk_column *c, size_t row, int64_t missing)
{
	return rk_column_has(c, row) ? ((const int64_t *)c->data)[row] : missing;
}

int rk_join_note(struct rk_matrix *m, struct rk_source *counters, struct rk_error *err)
{
	const struct rk_batch *b;
	int rc;

	while ((rc = rk_source_next(counters, &b, err)) > 0) {
		for (size_t i = 0; i < b->nrows; i++) {
			if (!rk_column_has(&b->cols[RK_N_DISPATCH], i))
				continue;
			rc = rk_matrix_note(m, value_or(&b->cols[RK_N_PID], i, -1),
					    value_or(&b->cols[RK_N_DISPATCH], i, 0), err);
			if (rc < 0)
				return rc;
		}
	}
	return rc;
}

static int fill_row(struct rk_matrix *m, const struct rk_counter_set *set, const struct rk_batch *b,
		    size_t i, struct rk_error *err)
{
	const struct rk_column *name = &b->cols[RK_N_COUNTER], *value = &b->cols[RK_N_VALUE];
	int col;

	if (!rk_column_has(&b->cols[RK_N_DISPATCH], i) || !rk_column_has(name, i) ||
	    !rk_column_has(value, i))
		return 0;
	col = find(set, ((const uint32_t *)name->data)[i]);
	if (col < 0)
		return 0;
	return rk_matrix_put(m, value_or(&b->cols[RK_N_PID], i, -1),
			     value_or(&b->cols[RK_N_DISPATCH], i, 0), (unsigned)col,
			     ((const double *)value->data)[i], err);
}

int rk_join_fill(struct rk_matrix *m, const struct rk_counter_set *set, struct rk_source *counters,
		 struct rk_error *err)
{
	const struct rk_batch *b;
	int rc;

	while ((rc = rk_source_next(counters, &b, err)) > 0)
		for (size_t i = 0; i < b->nrows; i++) {
			rc = fill_row(m, set, b, i, err);
			if (rc < 0)
				return rc;
		}
	return rc;
}

struct join {
	struct rk_source base;
	struct rk_source *rows;
	struct rk_matrix *m;
	const struct rk_counter_set *set;
	bool by_order;
	int64_t ordinal;     /* of the last row */
	struct rk_builder b; /* only its counter columns are used */
	struct rk_column *cols;
	struct rk_batch batch;
};

/* Makes the counter columns and returns where each begins. */
static int counter_columns(struct join *j, size_t nrows, struct rk_error *err)
{
	unsigned first = rk_table_schema(RK_KERNELS)->nfields;
	int rc = 0;

	if (j->b.cap < nrows) {
		rk_builder_release(&j->b);
		rc = rk_builder_init(&j->b, &j->set->schema, nrows, err);
	}
	for (unsigned i = 0; rc == 0 && j->m && i < j->set->n; i++)
		if (!rk_builder_column(&j->b, first + i))
			rc = rk_fail_nomem(err);
	if (rc == 0)
		rk_builder_reset(&j->b);
	return rc;
}

static int join_row(struct join *j, const struct rk_batch *b, size_t row, struct rk_error *err)
{
	unsigned first = rk_table_schema(RK_KERNELS)->nfields;
	const double *values = NULL;
	int rc = 0;

	j->ordinal++;
	if (j->by_order)
		rc = rk_matrix_row(j->m, -1, j->ordinal, &values, err);
	else if (rk_column_has(&b->cols[RK_K_DISPATCH], row))
		rc = rk_matrix_row(j->m, value_or(&b->cols[RK_K_PID], row, -1),
				   value_or(&b->cols[RK_K_DISPATCH], row, 0), &values, err);
	for (unsigned i = 0; rc >= 0 && i < j->set->n; i++) {
		if (rc > 0 && !isnan(values[i]))
			((double *)j->b.data[first + i])[row] = values[i];
		else if (!rk_builder_null(&j->b, first + i, row))
			return rk_fail_nomem(err);
	}
	return rc < 0 ? rc : 0;
}

static int join_next(struct rk_source *base, const struct rk_batch **batch, struct rk_error *err)
{
	struct join *j = (struct join *)base;
	unsigned first = rk_table_schema(RK_KERNELS)->nfields;
	const struct rk_batch *b;
	int rc = rk_source_next(j->rows, &b, err);

	if (rc <= 0)
		return rc;
	rc = counter_columns(j, b->nrows, err);
	for (size_t i = 0; rc == 0 && j->m && i < b->nrows; i++)
		rc = join_row(j, b, i, err);
	if (rc < 0)
		return rc;
	j->b.nrows = b->nrows;
	memcpy(j->cols, rk_builder_batch(&j->b)->cols, j->set->schema.nfields * sizeof(*j->cols));
	memcpy(j->cols, b->cols, first * sizeof(*j->cols));
	j->batch = (struct rk_batch){ &j->set->schema, b->nrows, j->cols };
	*batch = &j->batch;
	return 1;
}

static void join_close(struct rk_source *base)
{
	struct join *j = (struct join *)base;

	rk_source_close(j->rows);
	rk_matrix_free(j->m);
	rk_builder_release(&j->b);
	rk_free(j->cols);
	rk_free(j);
}

static const struct rk_source_ops join_ops = { .next = join_next, .close = join_close };

int rk_join_open(struct rk_source *rows, struct rk_matrix *m, const struct rk_counter_set *set,
		 bool by_order, struct rk_source **ret, struct rk_error *err)
{
	struct join *j = rk_calloc(1, sizeof(*j));
	int rc;

	if (!j) {
		rk_source_close(rows);
		rk_matrix_free(m);
		return rk_fail_nomem(err);
	}
	j->base = (struct rk_source){ &join_ops, &set->schema };
	j->rows = rows;
	j->m = m;
	j->set = set;
	j->by_order = by_order;
	rc = rk_builder_init(&j->b, &set->schema, RK_BATCH_ROWS, err);
	j->cols = rk_calloc(set->schema.nfields, sizeof(*j->cols));
	if (rc == 0 && !j->cols)
		rc = rk_fail_nomem(err);
	if (rc < 0) {
		join_close(&j->base);
		return rc;
	}
	*ret = &j->base;
	return 0;
}
