/* csv.h - shared by the CSV readers of rocprofv3 and of older tools (read/wide). */
#ifndef RK_ROCPROFV3_CSV_H
#define RK_ROCPROFV3_CSV_H

#include "codec/csv/scan.h"
#include "read/reader.h"

enum { RK_V3_MAX_AGENTS = 512 };

/* Agents of one type: their numbers in agent_info.csv, in order. */
struct rk_v3_agents {
	int64_t v[RK_V3_MAX_AGENTS];
	size_t n;
};

/* Context of `finish`; one per scan. */
struct rk_v3_scan {
	struct rk_context *ctx;
	const char *file;
	bool has_stream; /* the header has a stream column */
	uint64_t want;
	uint32_t source_id, clock_id; /* constant strings of the kernels table */
	uint32_t stats_of_id;
	uint64_t other_rows; /* rows of the file's other table seen so far (atomic) */
	/* files with "GPU 0" and "CPU 0" (--agent-index type-relative), if the agents are known */
	struct rk_v3_agents gpus, cpus;
};

/* One table of a kind of file. */
struct rk_v3_table {
	enum rk_table table;
	const struct rk_csv_bind *binds;
	/* fields that must be filled to derive `want`; NULL: `want` and `also` */
	uint64_t (*needs)(uint64_t want);
	int (*finish)(void *scan, struct rk_builder *b, struct rk_error *err);
	uint64_t also;
};

/* Does the header have all, or any, of n names? A NULL ends the list early. */
bool rk_v3_has_all(const struct rk_csv_header *h, const char *const *names, size_t n);
bool rk_v3_has_any(const struct rk_csv_header *h, const char *const *names, size_t n);

/*
 * Finishers (finish.c): derive values that the file does not have. `scan` is a struct rk_v3_scan.
 */
int rk_v3_finish_kernels(void *scan, struct rk_builder *b, struct rk_error *err);
int rk_v3_finish_dispatches(void *scan, struct rk_builder *b, struct rk_error *err);
int rk_v3_finish_counters(void *scan, struct rk_builder *b, struct rk_error *err);
int rk_v3_finish_streamed(void *scan, struct rk_builder *b, struct rk_error *err);
int rk_v3_finish_launches(void *scan, struct rk_builder *b, struct rk_error *err);
int rk_v3_finish_events(void *scan, struct rk_builder *b, struct rk_error *err);
int rk_v3_finish_api(void *scan, struct rk_builder *b, struct rk_error *err);
int rk_v3_finish_markers(void *scan, struct rk_builder *b, struct rk_error *err);
int rk_v3_finish_memcpy(void *scan, struct rk_builder *b, struct rk_error *err);
int rk_v3_finish_memalloc(void *scan, struct rk_builder *b, struct rk_error *err);
int rk_v3_finish_agents(void *scan, struct rk_builder *b, struct rk_error *err);
int rk_v3_finish_pc(void *scan, struct rk_builder *b, struct rk_error *err);
int rk_v3_finish_stats(void *scan, struct rk_builder *b, struct rk_error *err);

/* Shared with the JSON reader. Ranges and marks have the same domains; a mark has no duration. */
const char *rk_v3_marker_kind(const char *domain, size_t len, bool has_length);
/* Some builds of 2024 wrote HOST_TO_DEVICE instead of MEMORY_COPY_HOST_TO_DEVICE. */
int rk_v3_full_direction(struct rk_context *ctx, uint32_t *id, struct rk_error *err);

/*
 * Passes only the first row of each (pid, dispatch_id) of `rows`, which are kernels. Rows without a
 * dispatch id all pass. It remembers two million dispatches; beyond that it only compares
 * neighbours and reports the warning "many-dispatches". Takes ownership of `rows`, also on failure.
 */
int rk_dispatch_once_open(struct rk_source *rows, struct rk_context *ctx, const char *file,
			  struct rk_source **ret, struct rk_error *err);

#endif
