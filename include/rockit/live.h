/*
 * live.h - programs that run with a collector of rockit: copy what they have recorded so far, and
 * switch their recording on and off.
 *
 * A program is found by its process number or by the directory of its run. It is not stopped, and
 * no code runs in it.
 */
#ifndef ROCKIT_LIVE_H
#define ROCKIT_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rockit/decls.h"
#include "rockit/error.h"

RK_BEGIN_DECLS

/* ---- snap ---- */

struct rk_snap_options {
	int64_t pid;     /* a running process; 0: `dir` */
	const char *dir; /* a run directory: all its processes, running or not */
	/* The new run directory: missing or empty; NULL: rockit_output/<time>-<pid> */
	const char *out;
	int64_t last_ns;         /* only what ended in this time before the last record; 0: all */
	bool (*stop)(void *arg); /* called often; true ends the work; may be NULL */
	void *arg;
	uint64_t reserved[8]; /* 0 */
};

struct rk_snap_result {
	char dir[4096];   /* the new run directory */
	unsigned files;   /* recorder files: one per process and collector */
	unsigned running; /* of these, whose process is alive */
	uint64_t records; /* that are in it */
	uint64_t bytes;   /* of its files */
	uint64_t cut;     /* records that were left out because they are older than last_ns */
	uint64_t damaged; /* unreadable blocks */
	/* blocks that the program overwrote while they were copied */
	uint64_t copied_over;
	/*
	 * If `enough_bytes` is not 0, the window of a program holds less than last_ns: only held_ns.
	 * A window of enough_bytes would do.
	 */
	int64_t held_ns;
	uint64_t enough_bytes;
	char note[256];       /* files that were left out, and why; or "" */
	uint64_t reserved[8]; /* 0 */
};

/*
 * Writes what the recorder files hold at this moment as a run directory, which other functions read
 * like any other. It appears complete or not at all. RK_E_UNSUPPORTED: there is nothing to copy.
 */
int rk_live_snap(const struct rk_snap_options *opt, struct rk_snap_result *ret,
		 struct rk_error *err);

/* ---- start, stop ---- */

struct rk_switch_options {
	int64_t pid;     /* a running process; 0: all of `dir` */
	const char *dir; /* with a pid: only files below it */
	bool on;
	bool children;        /* also the processes that these have started, at any depth */
	unsigned wait_ms;     /* how long to wait until the collectors follow; 0: 1000 */
	uint64_t reserved[8]; /* 0 */
};

struct rk_switch_result {
	unsigned switched; /* recorder files whose collector follows */
	unsigned silent;   /* the word was written, but the collector did not follow in time */
	unsigned fixed;    /* collectors that were not started so that they can be switched */
	int64_t silent_pid;
	uint64_t reserved[8]; /* 0 */
};

/*
 * Switches recording on or off. Files are written only if they belong to the process as they should:
 * owner, mode, number and start of the process. RK_E_UNSUPPORTED: no process has such a file, or
 * none can be switched; RK_E_IO: the process is another user's, or a collector did not follow (then
 * *ret is filled).
 */
int rk_live_switch(const struct rk_switch_options *opt, struct rk_switch_result *ret,
		   struct rk_error *err);

/* ---- env ---- */

enum rk_env_format { RK_ENV_SH, RK_ENV_SYSTEMD, RK_ENV_DOCKER };

struct rk_env_options {
	const char *tool; /* "rocm", "cupti", "opencl"; NULL or "auto": by the GPUs of this machine */
	const char *dir;  /* where files are written; NULL: a new directory, which is created */
	const char *root; /* for tests: prefix of /sys; NULL or "" */
	enum rk_env_format format;
	/* rocm: do not prepare queues, so that only those made later can be recorded */
	bool no_kernels;
	uint64_t reserved[8]; /* 0 */
};

/*
 * The variables that load a collector which sleeps until rk_live_switch(), as text: a shell script,
 * lines of a systemd unit, or a file for `docker run --env-file`. RK_E_USAGE: a path that cannot be
 * expressed. Free *ret_text with rk_text_free.
 */
int rk_live_env(const struct rk_env_options *opt, char **ret_text, size_t *ret_len,
		struct rk_error *err);

RK_END_DECLS

#endif
