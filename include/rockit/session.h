/*
 * session.h - profile a program: a plan, which is plain data, and its execution.
 *
 * A session is planned from options alone: if tool, tool_version and arch are given, nothing has to
 * be installed. Running it creates the run directory described in docs/architecture.md. A session
 * belongs to one thread; while it runs, signals that would end the process are passed to the
 * program, or stop the session.
 */
#ifndef ROCKIT_SESSION_H
#define ROCKIT_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rockit/decls.h"
#include "rockit/error.h"
#include "rockit/report.h"

RK_BEGIN_DECLS

/* NULL and 0 mean "not set". All strings are copied. */
struct rk_session_options {
	const char *preset;   /* name or file; default: lightweight, unless traces or counters */
	const char *traces;   /* "hip,kernel,..." replaces the preset's; "none" */
	const char *counters; /* counter spec (see counters.h), replaces the preset's */
	const char *tool;     /* "auto", "rocprofv3", ...: see rk_tool_word in tools.h */
	const char *tool_version; /* replaces the installed version */
	const char *arch;         /* "gfx942"; default: the first AMD GPU */
	const char *tool_args;    /* raw profiler options, split as in a shell */
	const char *context;      /* madengine's JSON */
	const char *context_file;
	const char *dir;           /* default: rockit_output/<time>-<pid> */
	const char *monitor;       /* "power,vram"; "none" */
	const char *library_trace; /* "rocblas,miopen"; "none" */
	const char *kernel_regex;
	const char *ranks; /* "0,8-15": other ranks run without the profiler */
	uint64_t monitor_interval_ms, timeout_s;
	bool force, keep_going, baseline, redact;
	bool verdicts;     /* a preset with counters also collects those that verdicts need */
	bool stats;        /* also write statistics: rocprof_raw/results.hip_stats.csv and others */
	const char *root;  /* for tests: prefix of /sys and /opt */
	char *const *argv; /* the program and its arguments; ends with NULL */
	/* seconds from SIGTERM at the timeout to SIGKILL; 0: as long as the output grows */
	uint64_t grace_s;
	/*
	 * For rocprofv3; a release that lacks one of them, or forbids it together with another, is
	 * RK_E_USAGE. `attach_pid`: record this running process; argv must be NULL or empty.
	 * `spm`: counters to stream, "SQ_WAVES,TCC_HIT". `replay`: "kernel" repeats kernels for
	 * counters, "application" (default) the program. `range`: record only in ROCTx ranges of
	 * this name. `delay_s`, `duration_s`: record only this window. `thread_trace`: the
	 * instructions of waves.
	 */
	const char *spm, *replay, *range;
	uint64_t attach_pid, delay_s, duration_s;
	bool thread_trace;
	/*
	 * Ask the installed rocprofv3-avail which counters the GPU has, which overrules our own
	 * table; rk_session_plan then starts it. False: planning starts nothing.
	 */
	bool ask_installed;
	/*
	 * For rockit's own collectors (rocm, cupti, opencl), which also take delay_s, duration_s
	 * and range; RK_E_USAGE for others. `window`: keep only the newest `max_size` bytes
	 * (0: 512 MiB) of each process. `snap_on`: "signal,crash,slow-step:20%,gap:100ms", when the
	 * window is copied to a run directory <dir>/snap-NNN: the newest `last_s` seconds (0: all), at
	 * most `keep` copies (0: 10). `every`: "N:M", N seconds of every M, or N of every M ranges.
	 * `sample`: one call record of so many. `record`: a window with a collector of rockit's own
	 * whatever else is installed, and nothing is converted at the end.
	 */
	const char *snap_on, *every;
	uint64_t max_size, last_s, keep, sample;
	bool window, record;
	uint64_t reserved[1]; /* 0 */
};

struct rk_session;

int rk_session_plan(const struct rk_session_options *opt, struct rk_session **ret,
		    struct rk_error *err);
void rk_session_free(struct rk_session *s); /* NULL is fine */

/* The plan as text or JSON (schema 1); free with rk_text_free. */
int rk_session_render(const struct rk_session *s, enum rk_report_format format, char **ret_text,
		      size_t *ret_len, struct rk_error *err);

const char *rk_session_dir(const struct rk_session *s);
/* Requested data that will not be delivered, and other notes, one sentence each. Borrowed. */
const char *const *rk_session_notes(const struct rk_session *s, size_t *ret_n);
/* Known problems of this tool, release and chip. Borrowed. */
const char *const *rk_session_hazards(const struct rk_session *s, size_t *ret_n);

/* One execution of the program, as it would be started. The session owns it. */
struct rk_planned_pass {
	const char *what;            /* "trace", "counters", "PC samples and trace" */
	const char *dir;             /* where its files go */
	const char *const *argv;     /* the profiler's command line; ends with NULL */
	const char *const *env;      /* NAME=VALUE, added to the environment; ends with NULL */
	const char *const *counters; /* ends with NULL */
	uint64_t reserved[4];        /* 0 */
};

struct rk_planned {
	const char *tool, *tool_path, *tool_version; /* "" if unknown */
	const char *arch; /* "gfx942" or ""; assumed if no GPU is found */
	bool profiled;    /* false: a rank that was not selected; the program runs alone */
	const struct rk_planned_pass *passes;
	size_t npasses;
};

/* What running the session would do: builds the commands but starts nothing. Borrowed. */
const struct rk_planned *rk_session_planned(const struct rk_session *s);

struct rk_session_hooks {
	/* Called with a line about the current step ("pass 1 of 3: trace"); may be NULL. */
	void (*say)(void *arg, const char *line);
	/* Called with a sentence about a problem with the result; may be NULL. */
	void (*warn)(void *arg, const char *line);
	void *arg;
	uint64_t reserved[8]; /* 0 */
};

struct rk_session_result {
	int status;    /* status to exit with: the program's own, 126, 127 or 128 + signal */
	bool ran;      /* the program was started */
	bool profiled; /* false: a rank that was not selected */
	bool usable;   /* kernels or other rows were recorded */
	uint64_t kernels;
	unsigned passes_done, passes;
	uint64_t raw_files;   /* that the profiler left */
	uint64_t reserved[7]; /* 0 */
};

/*
 * Creates the directory, runs every pass, collects, converts and writes run.json. Fails only if
 * rockit itself fails (directory, disk, memory); the result of the program is in *ret, which is
 * always filled. A session may run again, into the same directory if `force` was given.
 */
int rk_session_run(struct rk_session *s, const struct rk_session_hooks *hooks,
		   struct rk_session_result *ret, struct rk_error *err);

/*
 * Sessions for common questions, planned like rk_session_plan. `base` has the program and the
 * common options; each function only sets options that base does not set.
 */

/*
 * Kernels whose name matches a regular expression (NULL: all): times, and counters of the
 * categories waves and instructions. If the profiler can only filter counters, times cover all
 * kernels.
 */
int rk_session_for_kernel(const struct rk_session_options *base, const char *kernel,
			  struct rk_session **ret, struct rk_error *err);
/* Memory traffic and bandwidth: counters of the categories memory and cache. */
int rk_session_for_memory(const struct rk_session_options *base, struct rk_session **ret,
			  struct rk_error *err);
/* How busy the compute units are: counters of the category compute_unit. */
int rk_session_for_compute_unit(const struct rk_session_options *base, struct rk_session **ret,
				struct rk_error *err);
/* rocprof-compute (Omniperf) for the target `arch`, "gfx942"; NULL: base->arch, or this machine. */
int rk_session_for_rocprof_compute(const struct rk_session_options *base, const char *arch,
				   struct rk_session **ret, struct rk_error *err);

RK_END_DECLS

#endif
