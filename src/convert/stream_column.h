/*
 * stream_column.h - the columns of the array that is being filled: buffers, texts of dictionaries, and
 * the Arrow array made of them.
 */
#ifndef RK_STREAM_COLUMN_H
#define RK_STREAM_COLUMN_H

#include <stdatomic.h>

#include "base/strtab.h"
#include "rockit/stream.h"
#include "table/batch.h"

enum { RK_BUFFER_ALIGN = 64 }; /* as Arrow likes it */

/*
 * Memory that several arrays may share. Arrays are released on any thread: the count is atomic, the bytes
 * are not written any more.
 */
struct rk_buffer {
	_Atomic size_t refs;
	size_t size;
	size_t mapped; /* bytes of a mapping of its own; 0: it is part of this block */
	uint8_t *data;
};

/* One reference; NULL when out of memory. With `zero` all bytes are 0. */
struct rk_buffer *rk_buffer_new(size_t size, bool zero);
/* *b with `size` bytes, of which the first `keep` are as before; with `zero` the others are 0. */
bool rk_buffer_grow(struct rk_buffer **b, size_t size, size_t keep, bool zero);
struct rk_buffer *rk_buffer_ref(struct rk_buffer *b); /* b; NULL is fine */
void rk_buffer_unref(struct rk_buffer *b);            /* NULL is fine */

/* Texts in the order they came; they outlive the arrays that were made so far. */
struct rk_stream_dict {
	uint32_t *place; /* by id of the run's names: place of the text, from 1; 0: none */
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
	bool plain;     /* texts are in the column itself */
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

/*
 * The first n rows of the columns, whose buffers they share; dictionaries were frozen. The columns
 * may be reset after it. On failure *ret is untouched; out of memory is the only one.
 */
int rk_stream_array(const struct rk_stream_column *cols, size_t ncols, size_t n,
		    struct ArrowArray *ret, struct rk_error *err);

/* For tests: n bits from `at` on become those of `from`, from `skip` on; set ones of the first n. */
void rk_bits_copy(uint64_t *to, size_t at, const uint64_t *from, size_t skip, size_t n);
size_t rk_bits_count(const uint64_t *bits, size_t n);

/* For tests: bytes of plain text that an array may have in a column; before the first array. */
void rk_stream_limit_text(struct ArrowArrayStream *stream, size_t bytes);

#endif
