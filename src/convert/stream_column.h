/* stream_column.h - one column of the array that is being filled, and the texts of its dictionary. */
#ifndef RK_STREAM_COLUMN_H
#define RK_STREAM_COLUMN_H

#include "base/strtab.h"
#include "convert/stream_buffer.h"
#include "table/batch.h"

/* Texts in the order they came; they outlive the arrays that were made so far. */
struct rk_stream_dict {
	uint32_t *place; /* by id of the run's names: where the text stands, from 1; 0: nowhere */
	size_t nplace;
	uint32_t *ids;
	size_t n, cap;
	/* as Arrow has them, of the first `frozen` texts */
	struct rk_buffer *offsets, *text;
	size_t frozen;
};

struct rk_stream_column {
	const char *name; /* own */
	enum rk_type type;
	bool plain;     /* texts stand in the column itself */
	unsigned field; /* of the source */
	/* NULL: every row so far is null */
	struct rk_buffer *values;
	/* NULL: as for values; or, when there are values, no row is null */
	struct rk_buffer *valid;
	struct rk_buffer *text; /* of plain ones, whose values are offsets into it */
	struct rk_stream_dict dict;
};

/*
 * Rows [from, from + n) of c become rows [at, at + n) of a column with room for `cap`; fails when out
 * of memory alone. For plain texts the caller has seen to rk_stream_column_fits.
 */
int rk_stream_column_add(struct rk_stream_column *col, const struct rk_strtab *names,
			 const struct rk_column *c, size_t from, size_t at, size_t n, size_t cap,
			 struct rk_error *err);
/* Whether the texts of n rows fit behind those that are there. */
bool rk_stream_column_fits(const struct rk_stream_column *col, const struct rk_strtab *names,
			   const struct rk_column *c, size_t from, size_t at, size_t n,
			   size_t max_bytes);
/* Room for more rows. */
int rk_stream_column_grow(struct rk_stream_column *col, size_t at, size_t cap,
			  struct rk_error *err);
/* dict.offsets and dict.text hold all texts so far. */
int rk_stream_column_freeze(struct rk_stream_column *col, const struct rk_strtab *names,
			    struct rk_error *err);
/* Back to no rows; texts of a dictionary stay. */
void rk_stream_column_reset(struct rk_stream_column *col);
void rk_stream_column_release(struct rk_stream_column *col);

#endif
