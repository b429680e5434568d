/* convert_trace.h - a run as one trace, or as an archive of traces, one for each rank. */
#ifndef RK_CONVERT_TRACE_H
#define RK_CONVERT_TRACE_H

#include "run/sorted.h"
#include "write/writer.h"

/* `format` is a trace; table < 0: all. opt->out may end in ".tar". */
int rk_run_convert_trace(struct rk_run *run, const struct rk_convert_options *opt,
			 const struct rk_writer_ops *format, int table,
			 struct rk_convert_result *ret, struct rk_error *err);

#define RK_RANK_ANY (-1)  /* rows of all ranks */
#define RK_RANK_NONE (-2) /* rows that name none */

/* What a trace is made of, and what became of it. */
struct rk_trace_job {
	struct rk_run *run;
	const struct rk_writer_ops *format;
	int table;    /* < 0: all */
	int64_t rank; /* or RK_RANK_ANY, RK_RANK_NONE */
	struct rk_sorted sorted;
	const char *path;
	struct rk_spill *to; /* of an archive: where the trace of this rank goes */
	uint64_t rows;
	uint32_t node;       /* name of the first node that a row names, 0: none does */
	struct rk_map *pids; /* of an archive: see struct rk_writer */
	uint32_t member;
};

/* All of it into `out`, within rk_run_sorted. */
int rk_trace_write(struct rk_trace_job *j, struct rk_output *out, struct rk_error *err);

/* The archive (convert_ranks.c). */
int rk_trace_archive(struct rk_trace_job *j, unsigned *ret_files, struct rk_error *err);

#endif
