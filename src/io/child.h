/* child.h - runs one child process in its own process group and waits until it ends. */
#ifndef RK_CHILD_H
#define RK_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct rk_child_options {
	char *const *argv;   /* argv[0] is looked up in PATH unless it contains a slash */
	char *const *envp;   /* the whole environment, PATH included; NULL: ours */
	uint64_t timeout_ms; /* 0: none. Then SIGTERM to the group, after grace_ms SIGKILL */
	uint64_t grace_ms;   /* 0: 10 s, or with `output` as long as that changes */
	/*
	 * A number that changes while the program writes; may be NULL. With it SIGKILL comes when
	 * it has not changed for quiet_ms (0: 30 s), at the latest after most_ms (0: 15 minutes).
	 * And a program that crashed but hangs in the handler of its signal is ended: after
	 * grace_ms, or if that is 0, after quiet_ms without a change. Called once a second.
	 */
	uint64_t (*output)(void *arg);
	uint64_t quiet_ms, most_ms;
	int out_fd, err_fd; /* its stdout and stderr; -1: ours. Not closed */
	/* SIGTERM, SIGHUP and SIGQUIT for us reach it as SIGINT, the only one that it ends well by. */
	bool interrupt;
	/* Called ten times a second from the waiting thread; may be NULL. */
	void (*tick)(void *arg, uint64_t elapsed_ms);
	/* A signal for us that is not passed on and not reported: `signalled` is called instead. */
	int own_signal; /* 0: none */
	void (*signalled)(void *arg);
	void *arg; /* of all three */
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
	int status; /* as in a shell: exit status, or 128 + signal; 126, 127 */
	int signal; /* the signal that ended it, 0: none */
	/*
	 * The last signal that we received in the meantime, 0: none. Does not count job control and
	 * signals that we ignored.
	 */
	int forwarded;
	int exec_errno;             /* why exec failed */
	int64_t start_ns, end_ns;   /* CLOCK_BOOTTIME; 0 when it was not started */
	int64_t user_ns, system_ns; /* including descendants that were waited for */
	uint64_t max_rss_bytes;     /* never below our own at its start (a property of Linux) */
	pid_t pid;
	int64_t grace_ns; /* from SIGTERM at the timeout to the end, or to SIGKILL */
	bool killed;      /* SIGKILL was needed */
	bool writing;     /* ... although `output` still changed */
	bool quiet;       /* ... because `output` did not change any more */
	int hung;      /* the fatal signal whose handler did not end, also in `signal`; 0: none */
	bool left;     /* processes of its group still run; we do not end them */
	char why[512]; /* NOT_FOUND, NOT_EXECUTABLE: one sentence, else "" */
};

/*
 * Runs it and fills *ret. Any outcome of the program is a result, not an error, even a name that is
 * not found. Errors: RK_E_IO, RK_E_NOMEM, RK_E_LIMIT if no process could be created.
 *
 * The program sees the same environment as if it had been started instead of us: signals blocked
 * and ignored as they were when our program began, descriptors, directory, umask, limits. It leads
 * a process group. While it runs SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2 that reach us
 * are passed to that group, and so are SIGTSTP, SIGCONT and SIGWINCH. If we own a terminal's
 * foreground, the group gets it: at once if we are alone in our group, or when the program first
 * needs it (SIGTTIN, SIGTTOU) if a pipeline or a script shares the terminal with us. When the
 * terminal stops it, we stop too and continue it afterwards. At the end signals, mask and terminal
 * are restored.
 *
 * At the timeout the whole group is ended and not only its leader. Any thread, several at once.
 */
int rk_child_run(const struct rk_child_options *opt, struct rk_child_result *ret,
		 struct rk_error *err);

/*
 * Between begin and end, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1 and SIGUSR2 do not end this
 * process, unless it ignored them before. `signal` is the last one that arrived since begin or
 * clear, 0: none. rk_child_run passes such signals on to its child, reports them in its result, and
 * clears them. For all threads of the process together.
 */
void rk_child_guard_begin(void);
int rk_child_guard_signal(void);
void rk_child_guard_clear(void);
void rk_child_guard_end(void);

/*
 * Checks in advance whether `name` can be run: ret->status is 0, or 126 or 127 with end, exec_errno
 * and why. It does not find problems that only exec sees, such as a missing interpreter. Fails only
 * when out of memory.
 */
int rk_child_check(const char *name, char *const *envp, struct rk_child_result *ret,
		   struct rk_error *err);

#endif
