/* batch.h - a few thousand rows of one table, column by column. */
#ifndef RK_BATCH_H
#define RK_BATCH_H

#include "base/error.h"
#include "table/table.h"

enum { RK_BATCH_ROWS = 8192 };

/* data NULL: every row is null. valid NULL: no row is null; else bit i set: row i has a value. */
struct rk_column {
	const void *data;
	const uint64_t *valid;
};

struct rk_batch {
	const struct rk_schema *schema;
	size_t nrows;
	const struct rk_column *cols; /* schema->nfields of them */
};

static inline bool rk_column_has(const struct rk_column *c, size_t row)
{
	return c->data && (!c->valid || c->valid[row / 64] >> (row % 64) & 1);
}

/* One value of an int64 or int32 column, or `missing`. */
static inline int64_t rk_batch_int(const struct rk_batch *b, unsigned field, size_t row,
				   int64_t missing)
{
	const struct rk_column *c = &b->cols[field];

	if (!rk_column_has(c, row))
		return missing;
	return b->schema->fields[field].type == RK_I64 ? ((const int64_t *)c->data)[row] :
							 ((const int32_t *)c->data)[row];
}

/* The id in a string column; 0, i.e. "", if it is null. */
static inline uint32_t rk_batch_id(const struct rk_batch *b, unsigned field, size_t row)
{
	return rk_column_has(&b->cols[field], row) ? ((const uint32_t *)b->cols[field].data)[row] :
						     0;
}

/* A batch being filled. Columns are allocated on first use, so missing columns cost nothing. */
struct rk_builder {
	const struct rk_schema *schema;
	size_t cap, nrows; /* the caller sets nrows */
	struct rk_column *cols;
	void **data;
	uint64_t **valid;
	bool *nulls; /* the column has a null in this batch */
	struct rk_batch batch;
};

int rk_builder_init(struct rk_builder *b, const struct rk_schema *schema, size_t cap,
		    struct rk_error *err);
void rk_builder_release(struct rk_builder *b);
/*
 * Writable values of a column: room for cap of them, not zeroed; NULL when out of memory. From then
 * on the column is present: each row needs a value or rk_builder_null.
 */
void *rk_builder_column(struct rk_builder *b, unsigned field);
/* Marks one row null in a column that rk_builder_column created. False when out of memory. */
bool rk_builder_null(struct rk_builder *b, unsigned field, size_t row);
/*
 * Sets an integer or a name's id in row nrows; RK_NONE is null. Returns 0, 1 if it does not fit int32
 * (the row is null), or RK_E_NOMEM.
 */
int rk_builder_put(struct rk_builder *b, unsigned field, int64_t v);
static inline bool rk_builder_is_null(const struct rk_builder *b, unsigned field, size_t row)
{
	return b->nulls[field] && !(b->valid[field][row / 64] >> (row % 64) & 1);
}

/*
 * Copies rows [from, from + n) of a column to row `at` and the rows after it. If this creates the
 * column, earlier rows become null; if `c` has no data, the rows become null. False when out of
 * memory.
 */
bool rk_builder_append(struct rk_builder *b, unsigned field, size_t at, const struct rk_column *c,
		       size_t from, size_t n);
/* Moves row `from` to row `to` (to <= from) in every present column. */
void rk_builder_move(struct rk_builder *b, size_t to, size_t from);
/* Back to no rows and no nulls; columns stay present. */
void rk_builder_reset(struct rk_builder *b);
/* Borrowed view of the rows so far, valid until the builder changes. */
const struct rk_batch *rk_builder_batch(struct rk_builder *b);

#endif
