/* convert_trace.h - a run as one trace, or as an archive of traces, one for each rank. */
#ifndef RK_CONVERT_TRACE_H
#define RK_CONVERT_TRACE_H

#include "run/run.h"
#include "write/writer.h"

/* Rows of one table in order of their times (convert.c); kernels with their counters. */
int rk_run_sorted(struct rk_run *run, enum rk_table t, bool spill, struct rk_source **ret,
		  struct rk_error *err);

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
	int table;      /* < 0: all */
	int64_t rank;   /* or RK_RANK_ANY, RK_RANK_NONE */
	uint32_t spill; /* tables that must be sorted on disk */
	uint64_t rows;
	uint32_t node;       /* name of the first node that a row names, 0: none does */
	struct rk_map *pids; /* of an archive: see struct rk_writer */
	uint32_t member;
};

/* All of it into `out`; RK_E_UNSORTED: a table was added to `spill`, begin again. */
int rk_trace_write(struct rk_trace_job *j, struct rk_output *out, struct rk_error *err);

/* The archive (convert_ranks.c). */
int rk_trace_archive(struct rk_trace_job *j, const char *path, unsigned *ret_files,
		     struct rk_error *err);

#endif
