/*
 * encode.h - one column of a row group on its way into a Parquet file.
 *
 * Rows are taken in (append) until the writer says that a page is full; the page is encoded and
 * compressed at once (flush) and only its bytes are kept, so that a row group costs what it
 * will take in the file. Columns share nothing: any number may be flushed at the same time, each
 * with its own scratch.
 */
#ifndef RK_PARQUET_ENCODE_H
#define RK_PARQUET_ENCODE_H

#include "base/bytes.h"
#include "base/strtab.h"
#include "codec/parquet/meta.h"
#include "table/batch.h"

enum { RK_PQ_PAGE_ROWS = 16384 }; /* at most; a multiple of 64 */

/* Distinct values in order of first appearance. Open addressing; idx 0 marks a free slot. */
struct rk_pq_dict {
	uint64_t *vals;
	struct rk_pq_slot {
		uint64_t key;
		uint32_t idx; /* index into vals + 1 */
	} * slots;
	uint32_t n, cap, mask;
	uint32_t used; /* entries that pages refer to: vals[0 .. used) are written */
};

/* Smallest and largest value: int64, the bits of a double, or the id of a string. */
struct rk_pq_range {
	bool set;
	uint64_t min, max;
};

struct rk_pq_page {
	uint64_t offset; /* in `data` */
	uint64_t first_row, nulls;
	uint32_t bytes; /* header included */
	bool all_null;
	struct rk_pq_range range;
};

struct rk_pq_column {
	enum rk_type type;
	struct rk_strtab *names;

	/* The page being filled: values without nulls, and which rows they belong to. */
	uint8_t *vals;
	uint64_t *valid; /* meaningful only while nvals and nulls are both above 0 */
	size_t nvals, nulls;
	uint64_t pending; /* rows before it, all null, not in a page yet */

	/* The chunk so far. */
	struct rk_bytes data;
	struct rk_bytes dict_page; /* after finish; empty without dictionary */
	struct rk_pq_page *pages;
	size_t npages, cap_pages;
	uint64_t rows, null_rows;
	uint64_t raw_bytes; /* all pages uncompressed, headers included */
	struct rk_pq_range range;
	unsigned count[RK_PQ_NENCODINGS]; /* data pages by encoding */
	enum rk_pq_codec codec;           /* after finish */
	bool compressed;                  /* some data page is */
	bool no_range;                    /* values that have no order: NaN */

	struct rk_pq_dict dict;
	bool dict_off;      /* for the rest of this chunk */
	unsigned dict_rest; /* chunks to go until a dictionary is tried again */
	unsigned zstd_rest; /* pages to go until compression is tried again */
	int rc;             /* for the writer: of the last flush or finish */
};

/* What one worker needs while it encodes. */
struct rk_pq_scratch {
	uint32_t *idx;   /* RK_PQ_PAGE_ROWS dictionary indices */
	uint32_t *table; /* RK_PQ_PAGE_ROWS, for a narrow span of values */
	uint8_t *packed; /* an encoded page of numbers */
	size_t packed_cap;
	uint8_t *alt;         /* a second one, to compare with */
	struct rk_bytes body; /* texts */
	struct rk_bytes head;
	struct rk_bytes zout; /* compressed page */
	struct rk_bytes seen; /* a byte per dictionary entry */
	void *zstd;           /* ZSTD_CCtx */
};

int rk_pq_scratch_init(struct rk_pq_scratch *s, struct rk_error *err);
void rk_pq_scratch_release(struct rk_pq_scratch *s);

void rk_pq_column_init(struct rk_pq_column *c, enum rk_type type, struct rk_strtab *names);
void rk_pq_column_release(struct rk_pq_column *c);

/*
 * Takes rows [first, first + n) of a batch's column behind those that the page has; the caller
 * keeps them within RK_PQ_PAGE_ROWS. False when out of memory.
 */
bool rk_pq_column_append(struct rk_pq_column *c, const struct rk_column *from, size_t first,
			 size_t n);

/* Ends the page. 0 or RK_E_NOMEM. */
int rk_pq_column_flush(struct rk_pq_column *c, struct rk_pq_scratch *s);
/* Ends the chunk: its dictionary and what is pending. The page must be flushed. 0 or RK_E_NOMEM. */
int rk_pq_column_finish(struct rk_pq_column *c, struct rk_pq_scratch *s);
/* Forgets the chunk: the next row group begins. */
void rk_pq_column_reset(struct rk_pq_column *c);

/* ---- append.c ---- */

/* All values, as unsigned numbers of their size, are in [base, base + len). len 0: unknown. */
struct rk_pq_span {
	uint32_t *table; /* scratch, len of them */
	uint64_t base;
	size_t len;
};

/*
 * Finds or adds each of n values (`size` 4 or 8 bytes each) and puts its index at idx.
 * 1: given up, because more than `max_new` were new or nearly all are; 0: done, *ret_runs says
 * how often neighbours differ; < 0: out of memory.
 */
int rk_pq_dict_map(struct rk_pq_dict *d, const void *vals, size_t n, size_t size, size_t max_new,
		   const struct rk_pq_span *span, uint32_t *idx, size_t *ret_runs);
void rk_pq_dict_clear(struct rk_pq_dict *d);
void rk_pq_dict_release(struct rk_pq_dict *d);

/* Order of two values of a type as in rk_pq_range: < 0, 0, > 0. */
int rk_pq_compare(enum rk_type type, const struct rk_strtab *names, uint64_t a, uint64_t b);

#endif
