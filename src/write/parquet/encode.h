/*
 * encode.h - one column of a row group on its way into a Parquet file.
 *
 * The writer appends rows until a page is full. Flush then encodes and compresses the page at once
 * and keeps only the bytes, so a row group takes as much memory as it will take in the file.
 * Columns share nothing: any number may be flushed at the same time, each with its own scratch.
 */
#ifndef RK_PARQUET_ENCODE_H
#define RK_PARQUET_ENCODE_H

#include "base/bytes.h"
#include "base/strtab.h"
#include "codec/parquet/meta.h"
#include "table/batch.h"

enum { RK_PQ_PAGE_ROWS = 16384 }; /* upper limit; a multiple of 64 */

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
	uint64_t offset; /* in `data` of the column */
	uint64_t first_row, nulls;
	uint32_t bytes; /* header included */
	bool all_null;
	struct rk_pq_range range;
};

struct rk_pq_column {
	enum rk_type type;
	struct rk_strtab *names;

	/* The page being filled: values without nulls, and the rows they belong to. */
	uint8_t *vals;
	uint64_t *valid; /* meaningful only while nvals and nulls are both above 0 */
	size_t nvals, nulls;
	uint64_t pending; /* null rows before this page that are not in a page yet */

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
	bool compressed;                  /* at least one page is compressed */
	bool no_range;                    /* a value has no order: NaN */

	struct rk_pq_dict dict;
	bool dict_off;      /* no dictionary for the rest of this chunk */
	unsigned dict_rest; /* chunks until a dictionary is tried again */
	unsigned zstd_rest; /* pages until compression is tried again */
	int rc;             /* for the writer: result of the last flush or finish */
};

/* Buffers of one worker; needed only while it encodes. */
struct rk_pq_scratch {
	uint32_t *idx;   /* RK_PQ_PAGE_ROWS dictionary indices */
	uint32_t *table; /* RK_PQ_PAGE_ROWS entries, for a narrow span of values */
	uint8_t *packed; /* an encoded page of numbers */
	size_t packed_cap;
	uint8_t *alt;         /* a second encoding, to compare sizes */
	struct rk_bytes body; /* strings */
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
 * Appends rows [first, first + n) of a batch's column to the page. The caller keeps the page within
 * RK_PQ_PAGE_ROWS. False when out of memory.
 */
bool rk_pq_column_append(struct rk_pq_column *c, const struct rk_column *from, size_t first,
			 size_t n);

/* Encodes the page and starts the next one. 0 or RK_E_NOMEM. */
int rk_pq_column_flush(struct rk_pq_column *c, struct rk_pq_scratch *s);
/* Ends the chunk: writes pending rows and the dictionary. Flush the page first. 0 or RK_E_NOMEM. */
int rk_pq_column_finish(struct rk_pq_column *c, struct rk_pq_scratch *s);
/* Clears the chunk for the next row group. */
void rk_pq_column_reset(struct rk_pq_column *c);

/* ---- append.c ---- */

/* All values, as unsigned numbers of their size, are in [base, base + len). len 0: unknown. */
struct rk_pq_span {
	uint32_t *table; /* scratch memory for len entries */
	uint64_t base;
	size_t len;
};

/*
 * Finds or adds each of n values (`size` 4 or 8 bytes each) and writes its index to idx. 0: done,
 * *ret_runs is the number of runs of equal values; 1: gave up because more than `max_new` or nearly
 * all values are new; < 0: out of memory.
 */
int rk_pq_dict_map(struct rk_pq_dict *d, const void *vals, size_t n, size_t size, size_t max_new,
		   const struct rk_pq_span *span, uint32_t *idx, size_t *ret_runs);
void rk_pq_dict_clear(struct rk_pq_dict *d);
void rk_pq_dict_release(struct rk_pq_dict *d);

/* Compares two values stored as in rk_pq_range: < 0, 0, > 0. */
int rk_pq_compare(enum rk_type type, const struct rk_strtab *names, uint64_t a, uint64_t b);

#endif
