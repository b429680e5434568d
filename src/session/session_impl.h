/* session_impl.h - shared by the session_*.c files only. */
#ifndef RK_SESSION_IMPL_H
#define RK_SESSION_IMPL_H

#include <stdatomic.h>

#include "rockit/rockit.h"
#include "rockit/session.h"

#include "session/plan.h"
#include "session/record.h"

struct rk_session {
	struct rk_plan *plan;
	struct rk_record record;
	struct rk_session_hooks hooks;
	struct rk_session_result *result;
	bool stranded; /* what belongs in the target is still in the scratch */
	atomic_flag running;
	struct rk_planned view; /* of the plan, for others */
	struct rk_planned_pass *view_passes;
};

/* Through the hooks; a warning is kept for run.json, too. */
void rk_session_say(struct rk_session *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void rk_session_warn(struct rk_session *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The program without profiler, in an environment without one. */
int rk_session_alone(struct rk_session *s, struct rk_child_result *ret, struct rk_error *err);
/* Passes one after the other, the baseline before them. */
int rk_session_passes(struct rk_session *s, struct rk_error *err);
/* Raw files to Parquet; what came of them into the ledger. */
int rk_session_convert(struct rk_session *s, struct rk_error *err);
/* Where no kernels came, their table without rows. */
int rk_session_empty_kernels(const struct rk_session *s, struct rk_error *err);
void rk_session_ledger(struct rk_session *s, const struct rk_report *r);
/* The same of the files of our own collectors: lost records, error of the clocks. */
void rk_session_recorders(struct rk_session *s);

#endif
