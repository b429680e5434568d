/* child_impl.h - what the files of rk_child_run share: signals, terminal, start, group. */
#ifndef RK_CHILD_IMPL_H
#define RK_CHILD_IMPL_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "io/child.h"

/* ---- signals that reach us while children run ---- */

struct rk_child_signals {
	int slot;
	int fd[2];     /* one byte per signal: read end, write end */
	sigset_t mask; /* previous mask of the calling thread */
};

/* Catches the signals, and blocks all of them in this thread until rk_child_signals_wait. */
int rk_child_signals_open(struct rk_child_signals *s, struct rk_error *err);
void rk_child_signals_wait(const struct rk_child_signals *s);
/* The next signal received, 0: none. */
int rk_child_signals_next(const struct rk_child_signals *s);
/* Would it have had an effect on us? Not if it is job control or was ignored. */
bool rk_child_signals_meant_us(int sig);
/* Restores the mask and, if nobody else waits for a child, the dispositions. */
void rk_child_signals_close(struct rk_child_signals *s);
/*
 * Stops our process by `sig` as if it were not caught; true if a SIGCONT arrived in the meantime.
 */
bool rk_child_signals_stop(int sig);

/* ---- the terminal ---- */

struct rk_child_tty {
	int fd;      /* the controlling terminal, -1: none */
	pid_t own;   /* our group */
	pid_t child; /* the group to which we gave the foreground, 0: none */
	bool early;  /* give it before exec */
	bool wanted; /* the child should have it whenever we have it */
};

void rk_child_tty_open(struct rk_child_tty *t);
/*
 * True if the foreground was ours and now belongs to the group. SIGTTOU must be blocked in these.
 */
bool rk_child_tty_give(struct rk_child_tty *t, pid_t group);
void rk_child_tty_take(struct rk_child_tty *t);
void rk_child_tty_close(struct rk_child_tty *t);

/* ---- the program ---- */

struct rk_child_start {
	const char *path;
	char *const *argv, *const *envp;
	char **sh_argv; /* for a script without "#!" */
	int out, err;   /* -1: inherited */
	const struct rk_child_tty *tty;
};

/*
 * Forks with all signals blocked. 0 or an errno; *ret_exec is the errno of exec, 0: it is running.
 */
int rk_child_fork(const struct rk_child_start *s, pid_t *ret, int *ret_exec);

/* ---- its group (child_group.c) ---- */

/* Whether the group still has running processes. */
bool rk_child_group_runs(pid_t group);

enum { RK_CHILD_TASK_BYTES = 64 }; /* "/proc/PID/task/TID" */
/*
 * The fatal signal (SIGSEGV, SIGABRT, ...) whose handler a thread of the group is in; 0: none. Then
 * `task` names the thread. Reads a file for each thread.
 */
int rk_child_find_crash(pid_t group, char task[RK_CHILD_TASK_BYTES]);
/* The same for one thread. */
int rk_child_in_handler(const char *task);

#endif
