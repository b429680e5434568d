/*
 * page.h - the pages of one column chunk: finds, unpacks and decodes them, some rows at a time.
 *
 * Values of all physical types are delivered as 64-bit words: integers widened (zero-extended if
 * unsigned), doubles as their bits, booleans as 0 or 1, strings as ids of a strtab.
 */
#ifndef RK_PARQUET_PAGE_H
#define RK_PARQUET_PAGE_H

#include "base/bytes.h"
#include "base/strtab.h"
#include "codec/parquet/meta.h"
#include "codec/parquet/rle.h"
#include "io/file.h"

enum {
	RK_PQ_MAX_PAGE = 64 << 20,  /* one page, unpacked */
	RK_PQ_MAX_HELD = 256 << 20, /* pages of all open columns together */
	RK_PQ_STEP = 8192,          /* max rows decoded at a time */
};

/* Values of one page, without nulls. */
struct rk_pq_values {
	const struct rk_pq_leaf *leaf;
	struct rk_strtab *names;
	int encoding;
	struct rk_cursor c;
	struct rk_rle rle;      /* dictionary indices, booleans */
	struct rk_delta delta;  /* integers, lengths of strings or of their prefixes */
	struct rk_delta suffix; /* lengths of suffixes */
	size_t pos, count;      /* position of bits or split streams; total bytes of strings */
	const uint64_t *dict;
	size_t ndict;
	struct rk_bytes last; /* DELTA_BYTE_ARRAY: the previous string */
};

/* Shared by the columns of one scan. */
struct rk_pq_shared {
	struct rk_file *file;
	struct rk_strtab *names;
	struct rk_bytes stored; /* a page as it is in the file */
	size_t held;            /* bytes of all columns' unpacked pages */
	uint64_t done;          /* bytes read, for progress */
};

struct rk_pq_pages {
	struct rk_pq_shared *shared;
	const struct rk_pq_leaf *leaf;
	int codec;
	uint64_t pos, end;    /* in the file */
	uint64_t values_left; /* of the chunk, nulls included, in pages not yet opened */
	uint8_t *raw;         /* the current page */
	size_t raw_cap;
	size_t page_left;     /* rows left in it */
	struct rk_rle levels; /* which rows are null, if the column is optional */
	struct rk_pq_values values;
	uint64_t *dict;
	size_t ndict;
};

void rk_pq_pages_init(struct rk_pq_pages *p, struct rk_pq_shared *shared,
		      const struct rk_pq_leaf *leaf);
void rk_pq_pages_release(struct rk_pq_pages *p);
/* Begins a chunk; num_rows is that of the row group. */
int rk_pq_pages_begin(struct rk_pq_pages *p, const struct rk_pq_chunk *chunk, int64_t num_rows,
		      struct rk_error *err);
/*
 * Reads up to n rows (at most RK_PQ_STEP) of one page; `out` gets the *ret_present values without
 * gaps. Only if some but not all rows have a value, levels[i] is set: 1 for rows with a value, 0
 * for null. Returns the number of rows, < 0 on error.
 */
int rk_pq_pages_next(struct rk_pq_pages *p, size_t n, uint32_t *levels, uint64_t *out,
		     size_t *ret_present, struct rk_error *err);

#endif
