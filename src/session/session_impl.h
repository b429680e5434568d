/* session_impl.h - the execution of a plan: the record of it, and what its files share. */
#ifndef RK_SESSION_IMPL_H
#define RK_SESSION_IMPL_H

#include <stdatomic.h>

#include "rockit/rockit.h"
#include "rockit/session.h"

#include "io/child.h"
#include "rockit/gpus.h"
#include "rockit/monitor.h"
#include "run/run_json.h"
#include "session/plan.h"

/* ---- what a session did, for run.json (record.c) ---- */

struct rk_pass_record {
	bool ran;
	struct rk_child_result child;
	uint64_t files, bytes; /* that the tool left */
	bool disk_full;        /* when it ended */
	bool refused;          /* the profiler did not start the program */
};

struct rk_record {
	const char *state; /* "running", "done", "stopped" */
	struct rk_clock_pair start, end;
	struct rk_pass_record *passes; /* one for each of the plan's */
	char target[16];               /* the name of the process that we attached to */
	bool baseline_ran, monitored;
	struct rk_child_result baseline;
	struct rk_gpus gpus;
	struct rk_monitor_result monitor;
	int status;
	int64_t clock_error_ns; /* of the records of our own collectors */
	/* The ledger; "name=value" entries. */
	struct rk_list tables;   /* rows per table */
	struct rk_list traces;   /* rows per requested trace */
	struct rk_list counters; /* delivered, with values */
	struct rk_list dropped;  /* what was requested but not delivered, and why */
	struct rk_list repaired; /* what readers repaired, and how often */
	struct rk_list snaps;    /* copies of the window, and why each was made */
	struct rk_list warnings; /* a sentence each */
};

/* After a failure, release still works. */
int rk_record_init(struct rk_record *r, const struct rk_plan *p, struct rk_error *err);
void rk_record_release(struct rk_record *r);

/* Writes <dir>/run.json, whole or not at all. */
int rk_record_write(const struct rk_record *r, const struct rk_plan *p, const char *dir,
		    struct rk_error *err);

/* ---- the session ---- */

struct rk_session {
	struct rk_plan *plan;
	struct rk_record record;
	struct rk_session_hooks hooks;
	struct rk_session_result *result;
	bool stranded; /* the files are still in the scratch directory */
	atomic_flag running;
	struct rk_planned view; /* of the plan, for others */
	struct rk_planned_pass *view_passes;
};

/* Call the hooks; warnings are kept for run.json, too. */
void rk_session_say(struct rk_session *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void rk_session_warn(struct rk_session *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Looks at the process to attach to, without touching it: it must run, be ours to trace, and have
 * the thread that rocprofiler-sdk starts where ROCP_TOOL_ATTACH=1 was set. RK_E_UNSUPPORTED says what
 * is missing. `name`: what the process calls itself. (attach.c)
 */
int rk_attach_check(const struct rk_plan *p, char name[16], struct rk_error *err);

/* Runs the program without the profiler and its variables. */
int rk_session_alone(struct rk_session *s, struct rk_child_result *ret, struct rk_error *err);
/* Runs the baseline, then the passes one after the other. */
int rk_session_passes(struct rk_session *s, struct rk_error *err);
/* Converts raw files to Parquet and fills the ledger. */
int rk_session_convert(struct rk_session *s, struct rk_error *err);
/* The progress of conversions: nonzero when a signal for us has arrived. */
int rk_session_cancelled(void *arg, uint64_t done, uint64_t total);
/* The trace that a function belongs to, by its name; 0: unknown. */
unsigned rk_session_call_trace(const char *name);

/* Writes the timeline that the preset asks for; a failure is a warning. */
void rk_session_timeline(struct rk_session *s);
/*
 * If statistics are wanted, writes results.stats.csv (kernels), results.hip_stats.csv,
 * results.hsa_stats.csv and results.copy_stats.csv to the raw folder, those that have rows. A failure
 * is a warning.
 */
void rk_session_stats(struct rk_session *s, const struct rk_report *r);

#endif
