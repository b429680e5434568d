/*
 * stream_column.h - the columns of the array that is being filled: buffers, dictionary strings, and
 * the Arrow array built from them.
 */
#ifndef RK_STREAM_COLUMN_H
#define RK_STREAM_COLUMN_H

#include <stdatomic.h>

#include "base/strtab.h"
#include "rockit/stream.h"
#include "table/batch.h"

enum { RK_BUFFER_ALIGN = 64 }; /* recommended by Arrow */

/*
 * Memory that arrays may share. Arrays are released on any thread: the reference count is atomic,
 * and shared bytes are never written.
 */
struct rk_buffer {
	_Atomic size_t refs;
	size_t size;
	size_t mapped; /* size of its own mapping; 0: part of this allocation */
	uint8_t *data;
};

/* Has one reference; NULL if out of memory. With `zero` all bytes are 0. */
struct rk_buffer *rk_buffer_new(size_t size, bool zero);
/* Resizes *b to `size` bytes and keeps the first `keep`; with `zero` the other bytes are 0. */
bool rk_buffer_grow(struct rk_buffer **b, size_t size, size_t keep, bool zero);
struct rk_buffer *rk_buffer_ref(struct rk_buffer *b); /* returns b; NULL is fine */
void rk_buffer_unref(struct rk_buffer *b);            /* NULL is fine */

/* Strings in order of first use; they outlive the arrays built so far. */
struct rk_stream_dict {
	uint32_t *place; /* by name id of the run: index of the string, from 1; 0: none */
	size_t nplace;
	uint32_t *ids;
	size_t n, cap;
	/* in Arrow's layout, for the first `frozen` strings */
	struct rk_buffer *offsets, *text;
	size_t frozen;
};

struct rk_stream_column {
	const char *name; /* owned */
	enum rk_type type;
	bool plain;     /* strings are in the column itself, not in a dictionary */
	unsigned field; /* field of the source */
	/* NULL: every row so far is null */
	struct rk_buffer *values;
	/* NULL: as for `values`; if there are values, NULL means that no row is null */
	struct rk_buffer *valid;
	struct rk_buffer *text; /* strings of a plain column; its values are offsets into it */
	struct rk_stream_dict dict;
};

/*
 * Copies rows [from, from + n) of c to rows [at, at + n) of a column with room for `cap`; fails
 * only if out of memory. For plain strings, check rk_stream_column_fits first.
 */
int rk_stream_column_add(struct rk_stream_column *col, const struct rk_strtab *names,
			 const struct rk_column *c, size_t from, size_t at, size_t n, size_t cap,
			 struct rk_error *err);
/* Do the strings of n more rows fit? */
bool rk_stream_column_fits(const struct rk_stream_column *col, const struct rk_strtab *names,
			   const struct rk_column *c, size_t from, size_t at, size_t n,
			   size_t max_bytes);
/* Makes room for more rows. */
int rk_stream_column_grow(struct rk_stream_column *col, size_t at, size_t cap,
			  struct rk_error *err);
/* Moves all strings so far to dict.offsets and dict.text. */
int rk_stream_column_freeze(struct rk_stream_column *col, const struct rk_strtab *names,
			    struct rk_error *err);
/* Removes all rows; the dictionary keeps its strings. */
void rk_stream_column_reset(struct rk_stream_column *col);
void rk_stream_column_release(struct rk_stream_column *col);

/*
 * Builds an array of the first n rows that shares the buffers of the columns. Dictionaries must be
 * frozen. The columns may be reset afterwards. Fails only if out of memory; then *ret is unchanged.
 */
int rk_stream_array(const struct rk_stream_column *cols, size_t ncols, size_t n,
		    struct ArrowArray *ret, struct rk_error *err);

/*
 * For tests. rk_bits_copy copies n bits, starting at `skip`, to `at`; rk_bits_count counts the set
 * bits among the first n.
 */
void rk_bits_copy(uint64_t *to, size_t at, const uint64_t *from, size_t skip, size_t n);
size_t rk_bits_count(const uint64_t *bits, size_t n);

/* For tests: limit of plain text per array and column, in bytes. Call before the first array. */
void rk_stream_limit_text(struct ArrowArrayStream *stream, size_t bytes);

#endif
