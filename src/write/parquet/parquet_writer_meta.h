/* parquet_writer_meta.h - what stands around a Parquet file's pages: row groups, indexes, footer. */
#ifndef RK_PARQUET_WRITER_META_H
#define RK_PARQUET_WRITER_META_H

#include "write/parquet/parquet_encode.h"

/* Where a column's chunk and its two page indexes were written; no column index: length 0. */
struct rk_pq_place {
	uint64_t offset;
	uint64_t column_index, offset_index;
	uint32_t column_index_len, offset_index_len;
};

/* All append to `out`, whose `bad` tells of failure. */
void rk_pq_put_column_index(struct rk_bytes *out, const struct rk_pq_column *c);
/* `offset`: where the chunk begins in the file. */
void rk_pq_put_offset_index(struct rk_bytes *out, const struct rk_pq_column *c, uint64_t offset);
void rk_pq_put_group(struct rk_bytes *out, const struct rk_schema *schema,
		     const struct rk_pq_column *cols, const struct rk_pq_place *places,
		     size_t ordinal);
/* `groups`: what rk_pq_put_group has made, ngroups of them. */
void rk_pq_put_footer(struct rk_bytes *out, const struct rk_schema *schema, uint64_t rows,
		      const struct rk_bytes *groups, size_t ngroups);

#endif
