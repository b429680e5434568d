/* parquet_reader.h - between the halves of the Parquet reader: the file, and a scan over it. */
#ifndef RK_PARQUET_READER_H
#define RK_PARQUET_READER_H

#include "codec/parquet/parquet_page.h"
#include "read/reader.h"

struct rk_pq_reader {
	struct rk_reader base;
	struct rk_instream *in;
	struct rk_context *ctx;
	struct rk_file *file;
	struct rk_pq_footer footer;
	struct rk_schema schema; /* the standard table's, and counters behind it */
	struct rk_field *fields; /* its fields when it has counters */
	int *leaf_of;            /* per field, the column of the file or -1 */
};

/* A pass over all rows. The reader must outlive it. */
int rk_pq_scan(struct rk_pq_reader *r, uint64_t want, struct rk_source **ret, struct rk_error *err);

#endif
