/* child.c - runs a program, passes signals on, minds the time, and says how it ended. */
#include "io/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "io/child_impl.h"

enum {
	MS = 1000000,
	TICK_MS = 100,
	GROUP_MS = 10,      /* how often we look whether a group is gone that must go */
	GRACE_MS = 10000,   /* between SIGTERM and SIGKILL */
	GIVE_UP_MS = 10000, /* a driver may keep even a killed process */
};

enum phase { RUNNING, TERMINATED, KILLED };

struct watch {
	const struct rk_child_options *opt;
	struct rk_child_result *ret;
	struct rk_child_signals signals;
	struct rk_child_tty tty;
	bool ended;
	enum phase phase;
	int64_t start_ns, due_ns, tick_ns; /* steady; due: the next phase, INT64_MAX for never */
};

/* `from` + ms; never for 0 and for what is beyond the clock. */
static int64_t later(int64_t from, uint64_t ms)
{
	if (ms == 0 || ms > (uint64_t)(INT64_MAX - from) / MS)
		return INT64_MAX;
	return from + (int64_t)ms * MS;
}

static void pass_on(struct watch *w, int sig)
{
	/* Once reaped its number may be another's, unless the group is still there. */
	if (!w->ended || rk_child_group_runs(w->ret->pid))
		kill(-w->ret->pid, sig);
}

/* ---- how it ends ---- */

static int64_t timeval_ns(struct timeval t)
{
	return (int64_t)t.tv_sec * 1000000000 + (int64_t)t.tv_usec * 1000;
}

static void note_end(struct watch *w, int status, const struct rusage *use)
{
	struct rk_child_result *ret = w->ret;

	ret->end_ns = rk_clock_ns(CLOCK_BOOTTIME);
	ret->user_ns = timeval_ns(use->ru_utime);
	ret->system_ns = timeval_ns(use->ru_stime);
	ret->max_rss_bytes = (uint64_t)use->ru_maxrss * 1024;
	ret->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	ret->status = ret->signal ? 128 + ret->signal : WEXITSTATUS(status);
	if (w->phase != RUNNING)
		ret->end = RK_CHILD_TIMED_OUT;
	else
		ret->end = ret->signal ? RK_CHILD_SIGNALLED : RK_CHILD_EXITED;
	w->ended = true;
}

/* The terminal stopped it: our shell must see us stop, or the user would wait for ever. */
static void stop_too(struct watch *w, int sig)
{
	static const struct timespec pause = { .tv_nsec = TICK_MS * MS };
	bool asks = sig == SIGTTIN || sig == SIGTTOU;
	bool stopped;

	if (w->tty.fd < 0 || w->phase != RUNNING || (!asks && sig != SIGTSTP))
		return;
	if (asks && rk_child_tty_give(&w->tty, w->ret->pid)) {
		pass_on(w, SIGCONT);
		return;
	}
	w->tty.wanted = w->tty.wanted || asks;
	rk_child_tty_take(&w->tty);
	stopped = rk_child_signals_stop(sig);
	/* The SIGCONT that woke us is in the pipe and passed on from there. */
	if (stopped)
		return;
	/* Nobody could continue us, so the kernel did not stop us. A child that reads a terminal
	 * which it cannot get would come back at once. */
	if (asks)
		nanosleep(&pause, NULL);
	if (w->tty.wanted)
		rk_child_tty_give(&w->tty, w->ret->pid);
	pass_on(w, SIGCONT);
}

static void reap(struct watch *w)
{
	struct rusage use;
	int status;
	pid_t pid;

	while (!w->ended) {
		pid = wait4(w->ret->pid, &status, WNOHANG | WUNTRACED, &use);
		if (pid < 0 && errno == EINTR)
			continue;
		if (pid <= 0)
			return;
		if (WIFSTOPPED(status))
			stop_too(w, WSTOPSIG(status));
		else
			note_end(w, status, &use);
	}
}

/* ---- what happens while it runs ---- */

static void take_signals(struct watch *w)
{
	int sig;

	while ((sig = rk_child_signals_next(&w->signals))) {
		if (sig == SIGCHLD)
			continue;
		if (sig == SIGCONT && w->tty.wanted)
			rk_child_tty_give(&w->tty, w->ret->pid);
		if (rk_child_signals_meant_us(sig))
			w->ret->forwarded = sig;
		pass_on(w, sig);
	}
}

static void mind_time(struct watch *w, int64_t now)
{
	uint64_t grace = w->opt->grace_ms ? w->opt->grace_ms : GRACE_MS;

	if (now < w->due_ns || w->phase == KILLED)
		return;
	if (w->phase == RUNNING) {
		w->phase = TERMINATED;
		w->due_ns = later(now, grace);
		pass_on(w, SIGTERM);
		pass_on(w, SIGCONT); /* or a stopped one would not notice */
	} else {
		w->ret->killed = true;
		w->phase = KILLED;
		w->due_ns = later(now, GIVE_UP_MS);
		pass_on(w, SIGKILL);
	}
}

static void mind_tick(struct watch *w, int64_t now)
{
	if (!w->opt->tick || w->ended || now < w->tick_ns)
		return;
	w->tick_ns = now + TICK_MS * MS;
	w->opt->tick(w->opt->arg, (uint64_t)(now - w->start_ns) / MS);
}

/* Past its leader's end a group is ended only at a timeout. */
static bool done(const struct watch *w)
{
	return w->ended && (w->phase == RUNNING || !rk_child_group_runs(w->ret->pid));
}

static bool hopeless(const struct watch *w, int64_t now)
{
	return w->phase == KILLED && now >= w->due_ns;
}

static int patience_ms(const struct watch *w, int64_t now)
{
	int64_t due = w->due_ns;

	if (w->opt->tick && !w->ended && w->tick_ns < due)
		due = w->tick_ns;
	if (w->ended && now + GROUP_MS * MS < due)
		due = now + GROUP_MS * MS;
	if (due == INT64_MAX)
		return -1;
	if (due <= now)
		return 0;
	due = (due - now + MS - 1) / MS;
	return due > INT32_MAX ? INT32_MAX : (int)due;
}

static void watch_until_end(struct watch *w)
{
	int64_t now = rk_clock_steady_ns();

	while (!hopeless(w, now)) {
		struct pollfd fd = { .fd = w->signals.fd[0], .events = POLLIN };

		poll(&fd, 1, patience_ms(w, now));
		take_signals(w);
		reap(w);
		if (done(w))
			return;
		now = rk_clock_steady_ns();
		mind_time(w, now);
		mind_tick(w, now);
	}
}

/* ---- from start to end ---- */

/* "sh", the path, and the arguments: how a script without "#!" is run. */
static char **shell_argv(char *const *argv, const char *path)
{
	static char sh[] = "sh";
	size_t n = 0;
	char **v;

	while (argv[n])
		n++;
	v = rk_calloc(n + 2, sizeof(*v));
	if (!v)
		return NULL;
	v[0] = sh;
	v[1] = (char *)(uintptr_t)path; /* exec does not write to it */
	for (size_t i = 1; i < n; i++)
		v[i + 1] = argv[i];
	return v;
}

static int start(struct watch *w, const struct rk_child_start *how, struct rk_error *err)
{
	int exec_errno = 0, rc;

	w->ret->start_ns = rk_clock_ns(CLOCK_BOOTTIME);
	w->start_ns = rk_clock_steady_ns();
	rc = rk_child_fork(how, &w->ret->pid, &exec_errno);
	if (rc)
		return rk_fail_errno(err, rc, "cannot start '%.200s'", how->path);
	if (w->tty.early)
		w->tty.child = w->ret->pid;
	w->due_ns = later(w->start_ns, w->opt->timeout_ms);
	w->tick_ns = w->start_ns + TICK_MS * MS;
	if (!exec_errno)
		return 0;
	while (waitpid(w->ret->pid, NULL, 0) < 0 && errno == EINTR)
		;
	w->ret->pid = 0;
	w->ret->start_ns = 0;
	rk_child_explain(how->path, exec_errno, w->ret);
	return 0;
}

static void finish(struct watch *w)
{
	struct rk_child_result *ret = w->ret;

	if (!w->ended) {
		/* Killed, and yet there. */
		ret->end = RK_CHILD_TIMED_OUT;
		ret->signal = SIGKILL;
		ret->status = 128 + SIGKILL;
		ret->end_ns = rk_clock_ns(CLOCK_BOOTTIME);
	}
	ret->left = !w->ended || rk_child_group_runs(ret->pid);
}

/* Signals are caught and blocked when this is called. */
static int run_caught(struct watch *w, const struct rk_child_start *how, struct rk_error *err)
{
	int rc = start(w, how, err);

	rk_child_signals_wait(&w->signals);
	if (!rc && w->ret->pid) {
		watch_until_end(w);
		finish(w);
	}
	rk_child_tty_close(&w->tty);
	return rc;
}

static void note_late_signals(struct watch *w)
{
	int sig;

	while ((sig = rk_child_signals_next(&w->signals)))
		if (rk_child_signals_meant_us(sig))
			w->ret->forwarded = sig;
}

static int run(struct watch *w, struct rk_child_start *how, struct rk_error *err)
{
	char *path = NULL;
	int rc = rk_child_find(how->argv[0], how->envp, &path, w->ret, err);

	if (rc < 0 || !path)
		return rc;
	how->path = path;
	how->tty = &w->tty;
	how->sh_argv = shell_argv(how->argv, path);
	rc = how->sh_argv ? rk_child_signals_open(&w->signals, err) : rk_fail_nomem(err);
	if (rc < 0)
		goto out;
	rk_child_tty_open(&w->tty);
	rc = run_caught(w, how, err);
	note_late_signals(w);
	rk_child_signals_close(&w->signals);
out:
	rk_free(how->sh_argv);
	rk_free(path);
	return rc;
}

int rk_child_run(const struct rk_child_options *opt, struct rk_child_result *ret,
		 struct rk_error *err)
{
	struct rk_child_result got = { .end = RK_CHILD_EXITED };
	struct watch w = { .opt = opt, .ret = &got };
	struct rk_child_start how = { .argv = opt->argv,
				      .envp = opt->envp ? opt->envp : environ,
				      .out = opt->out_fd,
				      .err = opt->err_fd };
	int rc;

	if (!opt->argv || !opt->argv[0])
		return rk_fail(err, RK_E_USAGE, "no program to run");
	rc = run(&w, &how, err);
	if (!rc)
		*ret = got;
	return rc;
}
