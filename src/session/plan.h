/*
 * plan.h - what a session will do, as plain data. plan.c builds it from options, plan_text.c prints
 * it, session.c executes it.
 */
#ifndef RK_PLAN_H
#define RK_PLAN_H

#include "rockit/counters.h"
#include "rockit/preset.h"
#include "rockit/session.h"

#include "base/bytes.h"
#include "base/json_out.h"
#include "base/list.h"
#include "run/ranks.h"
#include "tool/tool.h"

/* What to collect, with any tool: options override the context, which overrides the preset. */
struct rk_request {
	struct rk_preset *preset; /* NULL: none */
	unsigned traces;
	char *counters; /* spec; "" for none */
	struct rk_pc_sampling pc;
	bool pc_wanted, stats;
	bool nothing_said; /* no preset, traces or counters: use the tool's lightest choice */
	unsigned monitors, libraries;
	uint64_t interval_ms;
	const char *timeline; /* the preset's: "pftrace", "json" or "" */
	struct rk_list env, tool_args, command;
};

struct rk_plan_pass {
	struct rk_tool_command how;
	struct rk_list counters; /* of this pass */
	struct rk_list *groups;  /* kernel replay: the counters of each replay; NULL: none */
	size_t ngroups;
	bool spm, thread_trace; /* what this pass is for */
	char *dir;              /* absolute */
	const char *what;       /* "trace", "counters", "PC samples and trace", ... */
	unsigned traces;        /* requested */
};

/* Which parts of the execution our own collector records, and when rockit copies its window. */
struct rk_plan_window {
	uint64_t bytes; /* of the ring of each process; 0: everything is kept */
	bool record;    /* nothing is converted at the end */
	uint64_t last_s, keep;
	uint64_t every_on, every_of; /* seconds, or ranges if there is one; 0: always */
	uint64_t sample;
	bool on_signal, on_crash;
	uint64_t slow_percent, gap_ms; /* 0: no such trigger */
};

struct rk_plan {
	struct rk_request want;
	const struct rk_tool_ops *tool;
	struct rk_version version;
	char *tool_path, *tool_version; /* the version as it was given or found; "" */
	char *arch;
	bool arch_assumed;                /* no GPU's target was seen and none was named */
	bool amd;                         /* there is an AMD GPU, perhaps of unknown target */
	bool cuda;                        /* there is an NVIDIA GPU with NVIDIA's driver */
	struct rk_counter_plan *counters; /* NULL: none */
	struct rk_list own_counters;      /* for a tool that makes its own passes: all counters */
	struct rk_plan_pass *passes;
	size_t npasses;
	struct rk_rank rank;
	bool chosen;          /* by --ranks; else the program runs without profiler */
	const char *rank_key; /* as in struct rk_want; static */
	char *ranks;          /* as --ranks was given; NULL: all */
	char *target;         /* final place of the run; equal to dir without scratch */
	char *scratch;        /* folder on the node's own disk that has dir meanwhile; NULL: none */
	char *dir, *raw_dir, *library_dir;
	char *root; /* before /sys, for tests; NULL: none */
	char *kernel_regex;
	unsigned asks;                /* RK_ASK_ bits */
	struct rk_list spm;           /* counters to stream */
	uint64_t attach_pid;          /* 0: start the program */
	uint64_t delay_s, duration_s; /* 0: not set */
	char *range, *range_library;  /* NULL: record everywhere */
	struct rk_plan_window window;
	uint64_t timeout_ms, grace_ms;
	bool force, keep_going, baseline, redact;
	struct rk_list unset;       /* names of inherited variables that are removed */
	struct rk_list library_env; /* for the first pass alone */
	struct rk_list notes;       /* a sentence each */
	struct rk_list hazards;     /* known trouble of this tool, release and chip */
};

int rk_plan_make(const struct rk_session_options *opt, struct rk_plan **ret, struct rk_error *err);
void rk_plan_free(struct rk_plan *p); /* NULL is fine */

/* Options of our own collectors: reads and checks them. (plan_window.c) */
int rk_plan_window(const struct rk_session_options *opt, struct rk_plan *p, struct rk_error *err);
/* Whether rockit switches recording on and off while the program runs. */
bool rk_plan_switches(const struct rk_plan *p);

/* The parts of rk_plan_make in plan_request.c. */
int rk_plan_request(const struct rk_session_options *opt, struct rk_request *ret,
		    struct rk_list *notes, struct rk_error *err);
int rk_plan_arch(const struct rk_session_options *opt, struct rk_plan *p, struct rk_error *err);
int rk_plan_tool(const struct rk_session_options *opt, struct rk_plan *p, struct rk_error *err);
/* The preset with the contexts over it; *ret is NULL where neither was named. */
int rk_plan_preset(const struct rk_session_options *opt, struct rk_preset **ret,
		   struct rk_error *err);
void rk_request_release(struct rk_request *r);
/* The known faults that the planned passes may meet. */
int rk_plan_hazards(struct rk_plan *p, struct rk_error *err);
/* Whether the process to attach to has loaded torch; false if that cannot be seen. (attach.c) */
bool rk_attach_has_torch(const struct rk_plan *p);

/* ---- the environment of a pass ---- */

/*
 * Sets `set` over `base`, into *ret. ROCPROF_* of `base`, from an earlier profiler, are left out,
 * except ROCPROF_TMPDIR. Lists of libraries and paths (LD_PRELOAD, LD_LIBRARY_PATH, ...) are appended
 * to, but HSA_TOOLS_LIB is put in front. ROCKIT_* are replaced.
 * Any other variable of `base` keeps its value.
 */
void rk_env_make(char *const *base, const struct rk_list *set, struct rk_list *ret);

/* The variables in `set` for which rk_env_make keeps a different value of `base`; once each. */
void rk_env_kept(char *const *base, const struct rk_list *set, struct rk_list *ret);

/* ---- the plan as text and JSON (plan_text.c) ---- */

/* What a pass has beside its counters: "groups" of a kernel replay, "spm"; perhaps nothing. */
void rk_plan_groups(struct rk_json_out *j, const struct rk_plan *p,
		    const struct rk_plan_pass *pass);

/* "every", "sample" and "window", those that were requested; `snaps` were made, NULL in a plan. */
void rk_plan_window_json(struct rk_json_out *j, const struct rk_plan *p,
			 const struct rk_list *snaps);

/* By rk_render; `what` is a plan. */
void rk_plan_text(struct rk_bytes *out, const void *what, const struct rk_render_options *look);
void rk_plan_json(struct rk_bytes *out, const void *what, const struct rk_render_options *look);

#endif
