/* csv.h - what the readers of rocprofv3's CSV and of older tools' (read/wide) share. */
#ifndef RK_ROCPROFV3_CSV_H
#define RK_ROCPROFV3_CSV_H

#include "codec/csv/csv.h"
#include "read/reader.h"

/* What `finish` needs to know; one per scan. */
struct rk_v3_scan {
	struct rk_context *ctx;
	const char *file;
	bool has_stream; /* the header names a stream */
	uint64_t want;
	uint32_t source_id, clock_id; /* constant strings of the kernels table */
	uint32_t stats_of_id;
	uint64_t other_rows; /* rows of the file's other table seen so far (atomic) */
};

/* One table of a kind of file. */
struct rk_v3_table {
	enum rk_table table;
	const struct rk_csv_bind *binds;
	/* fields to fill so that `want` can be derived; NULL: `want` and `also` */
	uint64_t (*needs)(uint64_t want);
	int (*finish)(void *scan, struct rk_builder *b, struct rk_error *err);
	uint64_t also;
};

/* Whether the header has all, or any, of n names; NULL ends them early. */
bool rk_v3_has_all(const struct rk_csv_header *h, const char *const *names, size_t n);
bool rk_v3_has_any(const struct rk_csv_header *h, const char *const *names, size_t n);

/*
 * Finishers (finish.c): derive values that the file does not have directly. `scan` is a struct
 * rk_v3_scan.
 */
int rk_v3_finish_kernels(void *scan, struct rk_builder *b, struct rk_error *err);
int rk_v3_finish_dispatches(void *scan, struct rk_builder *b, struct rk_error *err);
int rk_v3_finish_api(void *scan, struct rk_builder *b, struct rk_error *err);
int rk_v3_finish_markers(void *scan, struct rk_builder *b, struct rk_error *err);
int rk_v3_finish_memcpy(void *scan, struct rk_builder *b, struct rk_error *err);
int rk_v3_finish_memalloc(void *scan, struct rk_builder *b, struct rk_error *err);
int rk_v3_finish_agents(void *scan, struct rk_builder *b, struct rk_error *err);
int rk_v3_finish_pc(void *scan, struct rk_builder *b, struct rk_error *err);
int rk_v3_finish_stats(void *scan, struct rk_builder *b, struct rk_error *err);

/* Shared with the JSON reader. Ranges and marks have the same domains; a mark has no length. */
const char *rk_v3_marker_kind(const char *domain, size_t len, bool has_length);
/* Builds of 2024 wrote HOST_TO_DEVICE instead of MEMORY_COPY_HOST_TO_DEVICE. */
int rk_v3_full_direction(struct rk_context *ctx, uint32_t *id, struct rk_error *err);

/*
 * Passes on the first row of each (pid, dispatch_id) of `rows`, which are kernels. Rows without a
 * dispatch id all pass. Two million dispatches are remembered; past that only neighbours are compared
 * and the warning "many-dispatches" says so. Takes over `rows`, also on failure.
 */
int rk_dispatch_once_open(struct rk_source *rows, struct rk_context *ctx, const char *file,
			  struct rk_source **ret, struct rk_error *err);

#endif
