/* child.c - runs a program: forwards signals, watches the time limit, and reports how it ended. */
#include "io/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/list.h"
#include "base/num.h"
#include "io/child_impl.h"

/* ---- which file a command name means, and why it could not be executed ---- */

/* The shell's default if PATH is not set. */
#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"

static bool may_execute(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) &&
	       !faccessat(AT_FDCWD, path, X_OK, AT_EACCESS);
}

static void say(struct rk_child_result *ret, enum rk_child_end end, int errnum)
{
	ret->end = end;
	ret->status = end == RK_CHILD_NOT_FOUND ? 127 : 126;
	ret->exec_errno = errnum;
}

static void explain_file(const char *path, int errnum, struct rk_child_result *ret)
{
	char line[256] = "", name[200] = "", why[128];
	struct stat st;
	ssize_t n = -1;
	int fd;

	if (!stat(path, &st) && S_ISDIR(st.st_mode)) {
		snprintf(ret->why, sizeof(ret->why), "cannot run '%.200s': it is a directory",
			 path);
		return;
	}
	if (errnum == EACCES && faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0) {
		snprintf(ret->why, sizeof(ret->why),
			 "cannot run '%.200s': no permission to execute it (chmod +x?)", path);
		return;
	}
	if (errnum != ENOENT) {
		snprintf(ret->why, sizeof(ret->why), "cannot run '%.200s': %s", path,
			 strerror_r(errnum, why, sizeof(why)));
		return;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0) {
		n = read(fd, line, sizeof(line) - 1);
		close(fd);
	}
	if (n >= 2 && line[0] == '#' && line[1] == '!') {
		const char *p = line + 2 + strspn(line + 2, " \t");
		size_t len = strcspn(p, " \t\n");
		bool cr = len && p[len - 1] == '\r'; /* a common reason why it does not exist */

		snprintf(name, sizeof(name), "%.*s%s", (int)(len - cr), p, cr ? "\\r" : "");
	}
	if (*name)
		snprintf(ret->why, sizeof(ret->why),
			 "cannot run '%.200s': its interpreter '%s' does not exist", path, name);
	else
		snprintf(ret->why, sizeof(ret->why),
			 "cannot run '%.200s': its loader does not exist", path);
}

/* Fills end, status, exec_errno and why for an exec of `path` that failed. */
static void explain(const char *path, int errnum, struct rk_child_result *ret)
{
	struct stat st;

	/* ENOENT for an existing file means that its interpreter or loader is missing. */
	if ((errnum == ENOENT || errnum == ENOTDIR) && stat(path, &st) < 0) {
		say(ret, RK_CHILD_NOT_FOUND, errnum);
		snprintf(ret->why, sizeof(ret->why), "'%.200s' does not exist", path);
		return;
	}
	say(ret, RK_CHILD_NOT_EXECUTABLE, errnum);
	explain_file(path, errnum, ret);
}

/* *ret is the first file that may be executed; else the first that exists, or NULL. */
static int search(const char *name, const char *dirs, char **ret, bool *ret_good)
{
	char *there = NULL;
	bool more = true;
	struct stat st;

	*ret_good = false;
	while (more) {
		size_t len = strcspn(dirs, ":");
		char *path = NULL;

		if (len <= 4096) {
			if (len)
				path = rk_strf("%.*s/%s", (int)len, dirs, name);
			else /* an empty part means the working directory */
				path = rk_strf("./%s", name);
			if (!path) {
				rk_free(there);
				return RK_E_NOMEM;
			}
		}
		*ret_good = path && may_execute(path);
		if (*ret_good || (path && !there && !stat(path, &st))) {
			rk_free(there);
			there = path;
			path = NULL;
		}
		rk_free(path);
		more = dirs[len] == ':' && !*ret_good;
		dirs += len + more;
	}
	*ret = there;
	return 0;
}

/*
 * *ret is the path to execute, owned by the caller; NULL if there is none: then ret_why has end,
 * status, exec_errno and why. Negative: out of memory.
 */
static int find_program(const char *name, char *const *envp, char **ret,
			struct rk_child_result *ret_why, struct rk_error *err)
{
	const char *dirs = rk_env_value(envp, "PATH");
	char *path = NULL;
	bool good = true;

	if (strchr(name, '/')) {
		/* Leave it to exec to report what is wrong with it. */
		path = rk_strdup(name);
		if (!path)
			return rk_fail_nomem(err);
	} else if (*name && search(name, dirs ? dirs : DEFAULT_PATH, &path, &good) < 0) {
		return rk_fail_nomem(err);
	}
	if (!path) {
		say(ret_why, RK_CHILD_NOT_FOUND, ENOENT);
		snprintf(ret_why->why, sizeof(ret_why->why), "'%.200s' was not found in PATH",
			 name);
	} else if (!good) {
		explain(path, EACCES, ret_why);
		rk_free(path);
		path = NULL;
	}
	*ret = path;
	return 0;
}

int rk_child_check(const char *name, char *const *envp, struct rk_child_result *ret,
		   struct rk_error *err)
{
	struct rk_child_result got = { .end = RK_CHILD_EXITED };
	struct stat st;
	char *path = NULL;
	int rc = find_program(name, envp ? envp : environ, &path, &got, err);

	if (rc < 0)
		return rc;
	if (path && !may_execute(path))
		explain(path, stat(path, &st) < 0 ? errno : EACCES, &got);
	rk_free(path);
	*ret = got;
	return 0;
}

/* ---- watching the child ---- */

enum {
	MS = 1000000,
	TICK_MS = 100,
	GROUP_MS = 10,      /* how often we check whether a group that must end is gone */
	GRACE_MS = 10000,   /* between SIGTERM and SIGKILL */
	QUIET_MS = 30000,   /* the same while nothing is written; also after a crash */
	MOST_MS = 900000,   /* the same while something is written */
	OUTPUT_MS = 1000,   /* how often we look at the output */
	SCAN_MS = 5000,     /* how often, at most, we look at all threads: there may be thousands */
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
	int64_t start_ns, due_ns, tick_ns; /* steady clock; due: the next phase, INT64_MAX: never */
	int64_t term_ns;                   /* when we sent SIGTERM */
	/* opt->output: what it said last, when that changed, when to ask again */
	uint64_t output, quiet_ms;
	int64_t grown_ns, output_ns;
	/* A thread that may hang in a handler: its signal or 0, since when, and when last seen. */
	int suspect;
	char task[RK_CHILD_TASK_BYTES];
	int64_t since_ns, seen_ns, look_ns, scan_ms;
};

/* `from` + ms; never if ms is 0 or the sum overflows. */
static int64_t later(int64_t from, uint64_t ms)
{
	if (ms == 0 || ms > (uint64_t)(INT64_MAX - from) / MS)
		return INT64_MAX;
	return from + (int64_t)ms * MS;
}

/* The signal that our caller keeps for itself. */
static bool is_own(const struct watch *w, int sig)
{
	if (!w->opt->own_signal || sig != w->opt->own_signal)
		return false;
	w->opt->signalled(w->opt->arg);
	return true;
}

static void pass_on(struct watch *w, int sig)
{
	/*
	 * Once it is reaped, its pid may belong to another process, unless the group still exists.
	 */
	if (w->ended && !rk_child_group_runs(w->ret->pid))
		return;
	if (w->opt->interrupt && (sig == SIGTERM || sig == SIGHUP || sig == SIGQUIT))
		sig = SIGINT;
	kill(-w->ret->pid, sig);
}

/* ---- how it ends ---- */

static int64_t timeval_ns(struct timeval t)
{
	return (int64_t)t.tv_sec * 1000000000 + (int64_t)t.tv_usec * 1000;
}

/* The terminal stopped it: our shell must see us stop, or the user would wait forever. */
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
	/* The SIGCONT that woke us is in the pipe and gets forwarded from there. */
	if (stopped)
		return;
	/*
	 * Nobody could continue us, so the kernel did not stop us. A child that reads from a
	 * terminal which it cannot get would be back at once.
	 */
	if (asks)
		nanosleep(&pause, NULL);
	if (w->tty.wanted)
		rk_child_tty_give(&w->tty, w->ret->pid);
	pass_on(w, SIGCONT);
}

static void reap(struct watch *w)
{
	struct rk_child_result *ret = w->ret;
	struct rusage use;
	int status;
	pid_t pid;

	while (!w->ended) {
		pid = wait4(ret->pid, &status, WNOHANG | WUNTRACED, &use);
		if (pid < 0 && errno == EINTR)
			continue;
		if (pid <= 0)
			return;
		if (WIFSTOPPED(status)) {
			stop_too(w, WSTOPSIG(status));
			continue;
		}
		w->ended = true;
		ret->end_ns = rk_clock_ns(CLOCK_BOOTTIME);
		ret->user_ns = timeval_ns(use.ru_utime);
		ret->system_ns = timeval_ns(use.ru_stime);
		ret->max_rss_bytes = (uint64_t)use.ru_maxrss * 1024;
		if (WIFSIGNALED(status)) {
			ret->end = RK_CHILD_SIGNALLED;
			ret->signal = WTERMSIG(status);
			ret->status = 128 + ret->signal;
		} else {
			ret->end = RK_CHILD_EXITED;
			ret->signal = 0;
			ret->status = WEXITSTATUS(status);
		}
		if (w->phase != RUNNING)
			ret->end = RK_CHILD_TIMED_OUT;
		if (w->phase == TERMINATED)
			ret->grace_ns = rk_clock_steady_ns() - w->term_ns;
	}
}

/* ---- what happens while it runs ---- */

static void terminate(struct watch *w, int64_t now)
{
	const struct rk_child_options *opt = w->opt;

	w->phase = TERMINATED;
	w->term_ns = now;
	w->look_ns = w->output_ns = INT64_MAX;
	if (w->ret->hung) {
		w->due_ns = later(now, rk_min(GRACE_MS, w->quiet_ms));
	} else if (opt->grace_ms || !opt->output) {
		w->due_ns = later(now, opt->grace_ms ? opt->grace_ms : GRACE_MS);
	} else {
		w->output = opt->output(opt->arg);
		w->grown_ns = now;
		w->output_ns = now + OUTPUT_MS * MS;
		w->due_ns = later(now, w->quiet_ms);
	}
	pass_on(w, SIGTERM);
	pass_on(w, SIGCONT); /* or a stopped process would not notice the signal */
}

static void end_by_force(struct watch *w, int64_t now)
{
	w->ret->killed = true;
	if (w->output_ns != INT64_MAX) {
		w->ret->writing = now < later(w->grown_ns, w->quiet_ms);
		w->ret->quiet = !w->ret->writing;
	}
	if (!w->ended)
		w->ret->grace_ns = now - w->term_ns;
	w->phase = KILLED;
	w->look_ns = w->output_ns = INT64_MAX;
	w->due_ns = later(now, GIVE_UP_MS);
	pass_on(w, SIGKILL);
}

/* A program that writes gets more time. */
static void look_at_output(struct watch *w, int64_t now)
{
	const struct rk_child_options *opt = w->opt;
	uint64_t n = opt->output(opt->arg);

	w->output_ns = now + OUTPUT_MS * MS;
	if (n == w->output)
		return;
	w->output = n;
	w->grown_ns = now;
	if (w->phase == TERMINATED)
		w->due_ns = rk_min_i64(later(now, w->quiet_ms),
				       later(w->term_ns, opt->most_ms ? opt->most_ms : MOST_MS));
}

/*
 * A profiler's handler of a fatal signal may wait for a lock that its own thread holds, or return to
 * the instruction that failed, for ever. Then some thread is always or very often in that handler,
 * and nothing is written.
 */
static void look_for_crash(struct watch *w, int64_t now)
{
	const struct rk_child_options *opt = w->opt;
	int64_t quiet;

	if (!w->suspect) {
		w->suspect = rk_child_find_crash(w->ret->pid, w->task);
		w->since_ns = w->seen_ns = w->grown_ns = now;
		if (w->suspect)
			w->output = opt->output(opt->arg);
	} else if (rk_child_in_handler(w->task)) {
		w->seen_ns = now;
	} else if (now - w->seen_ns > (int64_t)SCAN_MS * MS) {
		w->suspect = 0;
	}
	w->look_ns = now + (w->suspect ? TICK_MS : w->scan_ms) * MS;
	if (!w->suspect)
		w->output_ns = INT64_MAX;
	else if (w->output_ns == INT64_MAX)
		w->output_ns = now + OUTPUT_MS * MS;

	quiet = later(rk_max_i64(w->since_ns, w->grown_ns),
		      opt->grace_ms ? opt->grace_ms : w->quiet_ms);
	if (w->suspect && now >= quiet) {
		w->ret->hung = w->suspect;
		terminate(w, now);
	}
}

static void watch_until_end(struct watch *w)
{
	const struct rk_child_options *opt = w->opt;
	int64_t now = rk_clock_steady_ns();
	int sig;

	while (w->phase != KILLED || now < w->due_ns) {
		struct pollfd fd = { .fd = w->signals.fd[0], .events = POLLIN };
		int64_t due = w->due_ns, wait = -1;

		if (opt->tick && !w->ended)
			due = rk_min_i64(due, w->tick_ns);
		due = rk_min_i64(due, rk_min_i64(w->look_ns, w->output_ns));
		if (w->ended)
			due = rk_min_i64(due, now + GROUP_MS * MS);
		if (due != INT64_MAX)
			wait = rk_min_i64(rk_max_i64(due - now + MS - 1, 0) / MS, INT32_MAX);
		poll(&fd, 1, (int)wait);
		while ((sig = rk_child_signals_next(&w->signals))) {
			if (sig == SIGCHLD || is_own(w, sig))
				continue;
			if (sig == SIGCONT && w->tty.wanted)
				rk_child_tty_give(&w->tty, w->ret->pid);
			if (rk_child_signals_meant_us(sig))
				w->ret->forwarded = sig;
			pass_on(w, sig);
		}
		reap(w);
		/* after its leader has ended, a group is ended only at a timeout */
		if (w->ended && (w->phase == RUNNING || !rk_child_group_runs(w->ret->pid)))
			return;

		now = rk_clock_steady_ns();
		if (now >= w->output_ns)
			look_at_output(w, now);
		if (now >= w->due_ns && w->phase == RUNNING)
			terminate(w, now);
		else if (now >= w->due_ns && w->phase == TERMINATED)
			end_by_force(w, now);
		if (now >= w->look_ns)
			look_for_crash(w, now);
		if (opt->tick && !w->ended && now >= w->tick_ns) {
			w->tick_ns = now + TICK_MS * MS;
			opt->tick(opt->arg, (uint64_t)(now - w->start_ns) / MS);
		}
	}
}

/* ---- the whole life of a child ---- */

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
	w->quiet_ms = w->opt->quiet_ms ? w->opt->quiet_ms : QUIET_MS;
	w->output_ns = INT64_MAX;
	w->scan_ms = rk_min_i64(SCAN_MS, (int64_t)rk_min(w->quiet_ms, INT32_MAX));
	if (w->opt->grace_ms)
		w->scan_ms = rk_min_i64(w->scan_ms, (int64_t)rk_min(w->opt->grace_ms, INT32_MAX));
	w->look_ns = w->opt->output ? later(w->start_ns, (uint64_t)w->scan_ms) : INT64_MAX;
	if (!exec_errno)
		return 0;
	while (waitpid(w->ret->pid, NULL, 0) < 0 && errno == EINTR)
		;
	w->ret->pid = 0;
	w->ret->start_ns = 0;
	explain(how->path, exec_errno, w->ret);
	return 0;
}

static int run(struct watch *w, struct rk_child_start *how, struct rk_error *err)
{
	static char sh[] = "sh";
	struct rk_child_result *ret = w->ret;
	char *path = NULL;
	size_t n = 0;
	int sig, rc;

	rc = find_program(how->argv[0], how->envp, &path, ret, err);
	if (rc < 0 || !path)
		return rc;
	how->path = path;
	how->tty = &w->tty;
	/* "sh", the path, and the arguments: how a script without "#!" is run */
	while (how->argv[n])
		n++;
	how->sh_argv = rk_calloc(n + 2, sizeof(*how->sh_argv));
	if (!how->sh_argv) {
		rc = rk_fail_nomem(err);
		goto out;
	}
	how->sh_argv[0] = sh;
	how->sh_argv[1] = path;
	for (size_t i = 1; i < n; i++)
		how->sh_argv[i + 1] = how->argv[i];

	rc = rk_child_signals_open(&w->signals, err);
	if (rc < 0)
		goto out;
	sig = rk_child_guard_signal(); /* arrived before there was a child */
	rk_child_tty_open(&w->tty);
	rc = start(w, how, err);
	rk_child_signals_wait(&w->signals);
	if (!rc && ret->pid && sig && !is_own(w, sig)) {
		ret->forwarded = sig;
		pass_on(w, sig);
	}
	if (!rc && ret->pid) {
		watch_until_end(w);
		if (!w->ended) { /* killed, but still there */
			ret->end = RK_CHILD_TIMED_OUT;
			ret->signal = SIGKILL;
			ret->status = 128 + SIGKILL;
			ret->end_ns = rk_clock_ns(CLOCK_BOOTTIME);
		}
		if (ret->hung) {
			ret->end = RK_CHILD_SIGNALLED;
			ret->signal = ret->hung;
			ret->status = 128 + ret->hung;
		}
		ret->left = !w->ended || rk_child_group_runs(ret->pid);
	}
	rk_child_tty_close(&w->tty);
	rk_child_guard_clear();
	while ((sig = rk_child_signals_next(&w->signals))) /* signals that arrived late */
		if (rk_child_signals_meant_us(sig) && sig != w->opt->own_signal)
			ret->forwarded = sig;
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
