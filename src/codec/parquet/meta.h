/* meta.h - Parquet's constants (parquet.thrift), and reading a footer. */
#ifndef RK_PARQUET_META_H
#define RK_PARQUET_META_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum rk_pq_physical {
	RK_PQ_BOOLEAN = 0,
	RK_PQ_INT32 = 1,
	RK_PQ_INT64 = 2,
	RK_PQ_INT96 = 3,
	RK_PQ_FLOAT = 4,
	RK_PQ_DOUBLE = 5,
	RK_PQ_BYTE_ARRAY = 6,
	RK_PQ_FIXED = 7,
};

enum rk_pq_repetition { RK_PQ_REQUIRED = 0, RK_PQ_OPTIONAL = 1, RK_PQ_REPEATED = 2 };

enum rk_pq_encoding {
	RK_PQ_PLAIN = 0,
	RK_PQ_PLAIN_DICTIONARY = 2, /* the old name of RLE_DICTIONARY */
	RK_PQ_RLE = 3,
	RK_PQ_DELTA_BINARY_PACKED = 5,
	RK_PQ_DELTA_LENGTH_BYTE_ARRAY = 6,
	RK_PQ_DELTA_BYTE_ARRAY = 7,
	RK_PQ_RLE_DICTIONARY = 8,
	RK_PQ_BYTE_STREAM_SPLIT = 9,
	RK_PQ_NENCODINGS = 10,
};

enum rk_pq_codec {
	RK_PQ_UNCOMPRESSED = 0,
	RK_PQ_SNAPPY = 1,
	RK_PQ_GZIP = 2,
	RK_PQ_ZSTD = 6,
};

enum rk_pq_page_type {
	RK_PQ_DATA_PAGE = 0,
	RK_PQ_INDEX_PAGE = 1,
	RK_PQ_DICTIONARY_PAGE = 2,
	RK_PQ_DATA_PAGE_V2 = 3,
};

enum {
	RK_PQ_MAX_COLUMNS = 65536,
	RK_PQ_MAX_FOOTER = 256 << 20,
};

/* A leaf of the schema. Nested and repeated ones are marked, not described. */
struct rk_pq_leaf {
	char *name; /* terminated */
	int physical;
	bool optional;
	bool is_unsigned; /* INT32 and INT64 with an unsigned logical type */
	bool is_null;     /* has no values; its physical type is ignored */
	bool nested;
};

/* One column of one row group. */
struct rk_pq_chunk {
	int physical;
	int codec;
	int64_t num_values;
	int64_t start; /* of its first page, dictionary included */
	int64_t bytes; /* all pages with their headers */
};

struct rk_pq_group {
	int64_t num_rows;
	struct rk_pq_chunk *chunks; /* one per leaf */
};

/* Row groups are parsed only when they are visited: their number is not limited. */
struct rk_pq_footer {
	uint8_t *bytes;
	size_t len;
	struct rk_pq_leaf *leaves;
	unsigned nleaves;
	int64_t num_rows;
	size_t groups, ngroups; /* offset of the first group in `bytes`; number of groups */
	char *table;            /* "rockit.table", NULL when absent */
	char *schema;           /* "rockit.schema", NULL when absent */
	char *passes;           /* "rockit.passes", NULL when absent */
};

/* Takes ownership of `bytes` (from rk_alloc), also on failure. */
int rk_pq_footer_parse(struct rk_pq_footer *f, uint8_t *bytes, size_t len, struct rk_error *err);
void rk_pq_footer_release(struct rk_pq_footer *f);

/*
 * Reads the row group at *offset (f->groups for the first) and moves *offset past it. The caller
 * provides ret->chunks, with room for f->nleaves.
 */
int rk_pq_footer_group(const struct rk_pq_footer *f, size_t *offset, struct rk_pq_group *ret,
		       struct rk_error *err);

struct rk_pq_page_header {
	int type;
	int64_t raw_bytes, bytes; /* uncompressed and stored size of the page after the header */
	int64_t num_values;
	int encoding;
	int def_encoding;             /* V1 */
	int64_t def_bytes, rep_bytes; /* V2 */
	bool compressed;              /* V2; true otherwise */
};

/* 1: parsed, *ret_len is its length; 0: `len` bytes are too few; < 0: damaged. */
int rk_pq_page_header_parse(const uint8_t *bytes, size_t len, struct rk_pq_page_header *ret,
			    size_t *ret_len);

#endif
