/* csv.h - between the parts of the rocprofv3 CSV reader. */
#ifndef RK_ROCPROFV3_CSV_H
#define RK_ROCPROFV3_CSV_H

#include "codec/csv/csv_scan.h"
#include "read/reader.h"

/* What `finish` needs to know; one per scan. */
struct rk_v3_scan {
	struct rk_context *ctx;
	const char *file;
	bool has_stream; /* the header names a stream */
	uint64_t want;
	uint32_t source_id, clock_id; /* constant strings of the kernels table */
	uint32_t stats_of_id;
	uint64_t other_rows; /* rows of the file's other table met on the way (atomic) */
};

/* One table that a kind of file gives. */
struct rk_v3_table {
	enum rk_table table;
	const struct rk_csv_bind *binds;
	uint64_t (*needs)(
		uint64_t want); /* fields to fill so that `want` can be derived; NULL: want */
	int (*finish)(void *scan, struct rk_builder *b, struct rk_error *err);
};

/* One kind of file, told by header names it must have and must not have. */
struct rk_v3_kind {
	const char *name; /* as in the file name: "kernel_trace" */
	const char *must[6], *must_not[4];
	const char *free_header;
	struct rk_v3_table tables[2];
	unsigned ntables;
};

extern const struct rk_v3_kind rk_v3_kinds[]; /* ends with .name NULL */

/* Finishers (finish.c): derive what the file does not say outright. */
int rk_v3_finish_kernels(void *scan, struct rk_builder *b, struct rk_error *err);
int rk_v3_finish_dispatches(void *scan, struct rk_builder *b, struct rk_error *err);
int rk_v3_finish_api(void *scan, struct rk_builder *b, struct rk_error *err);
int rk_v3_finish_markers(void *scan, struct rk_builder *b, struct rk_error *err);
int rk_v3_finish_memcpy(void *scan, struct rk_builder *b, struct rk_error *err);
int rk_v3_finish_memalloc(void *scan, struct rk_builder *b, struct rk_error *err);
int rk_v3_finish_agents(void *scan, struct rk_builder *b, struct rk_error *err);
int rk_v3_finish_pc(void *scan, struct rk_builder *b, struct rk_error *err);
int rk_v3_finish_stats(void *scan, struct rk_builder *b, struct rk_error *err);

#endif
