/* child.h - one child process in a group of its own, watched until it has ended. */
#ifndef RK_CHILD_H
#define RK_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct rk_child_options {
	char *const *argv;   /* argv[0] is looked up in PATH unless it holds a slash */
	char *const *envp;   /* the whole environment; NULL: ours */
	uint64_t timeout_ms; /* 0: none. Then SIGTERM to the group, after grace_ms SIGKILL */
	uint64_t grace_ms;   /* 0: 10 s */
	int out_fd, err_fd;  /* its stdout and stderr; -1: ours, untouched */
	/* Called from the waiting thread now and then while it runs; may be NULL. */
	void (*tick)(void *arg, uint64_t elapsed_ms);
	void *arg;
};

enum rk_child_end {
	RK_CHILD_EXITED,
	RK_CHILD_SIGNALLED,
	RK_CHILD_TIMED_OUT,      /* status and signal are those it ended with */
	RK_CHILD_NOT_FOUND,      /* 127 */
	RK_CHILD_NOT_EXECUTABLE, /* 126 */
};

struct rk_child_result {
	enum rk_child_end end;
	int status;               /* as a shell sees it: exit status, or 128 + signal; 126, 127 */
	int signal;               /* that ended it, 0 for none */
	int forwarded;            /* the last signal that we were sent and passed on, 0 for none */
	int exec_errno;           /* why exec failed */
	int64_t start_ns, end_ns; /* CLOCK_BOOTTIME */
	int64_t user_ns, system_ns; /* of it and its descendants that were waited for */
	uint64_t max_rss_bytes;
	pid_t pid;
	bool killed; /* SIGKILL was needed */
	bool left;   /* processes of its group are still there; they are left alone */
};

/*
 * Runs it. While it runs SIGINT, SIGTERM, SIGHUP and SIGQUIT that reach us are passed to its
 * group, job control signals too; when we own a terminal's foreground, it gets it. Afterwards all
 * of this is as before. RK_E_IO only when no process could be made at all.
 */
int rk_child_run(const struct rk_child_options *opt, struct rk_child_result *ret,
		 struct rk_error *err);

#endif
