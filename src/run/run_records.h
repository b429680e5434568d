/*
 * run_records.h - what the run.json in the folders of a run say: who recorded what, where and when.
 *
 * Written by rockit, but files come from anywhere: sizes and depth are bounded by codec/json/tree.h, each
 * value is used only when it has the type and the range it should have, and text is kept short and
 * without control characters.
 */
#ifndef RK_RUN_RECORDS_H
#define RK_RUN_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct rk_run;

enum rk_record_text {
	RK_REC_NODE,
	RK_REC_BOOT, /* the kernel's id of this boot: equal, then one machine and one clock */
	RK_REC_JOB,
	RK_REC_STEP,
	RK_REC_RANKS, /* that were to be profiled, "0,8-15"; "" all */
	RK_REC_STATE,
	RK_REC_TOOL,
	RK_REC_TOOL_VERSION,
	RK_REC_ROCKIT,
	RK_REC_SCRATCH,
	RK_REC_WARNING, /* the first of what was wrong with the result */
	RK_REC_NTEXTS,
};

/* The clock of the records and the realtime clock, read together. */
struct rk_align_snapshot {
	int64_t clock_ns, real_ns;
	int64_t error_ns; /* of real_ns against UTC, the reading included; -1: not known, not used */
};

/* -1 and "" where it does not say. */
struct rk_run_record {
	char *dir;   /* its folder, with the slash */
	char *fault; /* why it cannot be read; NULL: it could */
	bool ours;   /* false: unreadable, or some other program's file of that name */
	bool above;  /* folders of ranks lie below it: it is of whoever started them */
	char *text[RK_REC_NTEXTS];
	int64_t rank, local_rank, size, status;
	int64_t kernels;    /* rows that were delivered */
	int64_t mismatches; /* dispatches whose counters could not be joined to them */
	int64_t clock_error_ns;
	struct rk_align_snapshot snapshots[2];
	unsigned nsnapshots;
};

/* Of the text of a run.json; `ret` is zeroed or filled as above. Fails with RK_E_NOMEM alone. */
int rk_record_parse(const char *text, size_t len, struct rk_run_record *ret, struct rk_error *err);
void rk_record_clear(struct rk_run_record *r);

/* Length of the path up to and with the slash of the innermost folder that names a rank; 0 without. */
size_t rk_rank_prefix(const char *path);

/* One more, `path` being DIR/run.json, a regular file. */
int rk_records_add(struct rk_run *run, const char *path, struct rk_error *err);
/* Those near a file that was named itself. */
int rk_records_near(struct rk_run *run, const char *path, struct rk_error *err);
/* All are there: each found file gets its own, and the rank it names where its path names none. */
void rk_records_settle(struct rk_run *run);
/* The one that lies above the folders of ranks of which the file, or its rows, are; NULL: none. */
const struct rk_run_record *rk_record_above(const struct rk_run *run, const char *path);

#endif
