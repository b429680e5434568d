/* child.c - run a program: forward signals, watch the time limit, and report how it ended. */
#include "io/child.h"

#include <dirent.h>
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

static const char *path_of(char *const *envp)
{
	const char *path = rk_env_value(envp, "PATH");

	return path ? path : DEFAULT_PATH;
}

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

/* The interpreter after "#!" in a script, "" if the file is not a script. */
static void interpreter_of(const char *path, char *name, size_t size)
{
	char line[256] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd < 0 ? -1 : read(fd, line, sizeof(line) - 1);
	const char *p = line + 2;
	size_t len;
	bool cr;

	if (fd >= 0)
		close(fd);
	name[0] = '\0';
	if (n < 2 || line[0] != '#' || line[1] != '!')
		return;
	p += strspn(p, " \t");
	len = strcspn(p, " \t\n");
	/* A carriage return is a common reason why it does not exist. */
	cr = len && p[len - 1] == '\r';
	snprintf(name, size, "%.*s%s", (int)(len - cr), p, cr ? "\\r" : "");
}

static void explain_file(const char *path, int errnum, struct rk_child_result *ret)
{
	char why[128], name[200];
	struct stat st;

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
	interpreter_of(path, name, sizeof(name));
	if (errnum == ENOENT)
		snprintf(ret->why, sizeof(ret->why),
			 "cannot run '%.200s': its %s%s%s does not exist", path,
			 *name ? "interpreter '" : "loader", name, *name ? "'" : "");
	else
		snprintf(ret->why, sizeof(ret->why), "cannot run '%.200s': %s", path,
			 strerror_r(errnum, why, sizeof(why)));
}

/* Fills end, status, exec_errno and why for an exec of `path` that failed. */
static void explain(const char *path, int errnum, struct rk_child_result *ret)
{
	struct stat st;

	/* ENOENT for an existing file is about its interpreter or loader. */
	if ((errnum == ENOENT || errnum == ENOTDIR) && stat(path, &st) < 0) {
		say(ret, RK_CHILD_NOT_FOUND, errnum);
		snprintf(ret->why, sizeof(ret->why), "'%.200s' does not exist", path);
		return;
	}
	say(ret, RK_CHILD_NOT_EXECUTABLE, errnum);
	explain_file(path, errnum, ret);
}

/* The first file that may be executed; else *ret is the first that is there at all, or NULL. */
static int search(const char *name, const char *dirs, char **ret, bool *ret_good)
{
	char *there = NULL;
	bool more = true;
	struct stat st;

	*ret_good = false;
	while (more) {
		size_t len = strcspn(dirs, ":");
		char *path = NULL;

		/* An empty part means the working directory. */
		if (len <= 4096)
			path = rk_strf("%.*s/%s", len ? (int)len : 1, len ? dirs : ".", name);
		if (!path && len <= 4096) {
			rk_free(there);
			return RK_E_NOMEM;
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
 * *ret is the path to execute, owned by the caller; NULL when there is none, ret_why has end,
 * status, exec_errno and why then. Negative: out of memory.
 */
static int find_program(const char *name, char *const *envp, char **ret,
			struct rk_child_result *ret_why, struct rk_error *err)
{
	char *path = NULL;
	bool good = true;
	int rc = 0;

	if (strchr(name, '/')) {
		/* Let exec find out what is wrong with it. */
		path = rk_strdup(name);
		rc = path ? 0 : RK_E_NOMEM;
	} else if (*name) {
		rc = search(name, path_of(envp), &path, &good);
	}
	if (rc < 0)
		return rk_fail_nomem(err);
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

/* ---- does any process of a group still run? ---- */

/* The n-th word of text, counted from 0; NULL when there are fewer. */
static const char *word(const char *text, unsigned n, size_t *ret_len)
{
	while (n-- && text)
		text = strchr(text, ' ') ? strchr(text, ' ') + 1 : NULL;
	*ret_len = text ? strcspn(text, " \n") : 0;
	return text;
}

/* Of /proc/PID/stat, after the name in parentheses: state, parent, group. */
static bool runs_in(int proc, const char *pid, pid_t group)
{
	char name[32], text[512] = "";
	const char *state, *id;
	int64_t got = 0;
	size_t len;
	int fd;

	snprintf(name, sizeof(name), "%.20s/stat", pid);
	fd = openat(proc, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	close(fd);
	state = strrchr(text, ')');
	if (!state || state[1] != ' ')
		return false;
	state += 2;
	id = word(state, 2, &len);
	return id && rk_num_i64(id, len, &got) == RK_NUM_OK && got == group && *state != 'Z' &&
	       *state != 'X';
}

/* Whether the group has processes that have not ended. */
static bool group_runs(pid_t group)
{
	bool found = false;
	struct dirent *e;
	DIR *dir;

	if (kill(-group, 0) < 0 && errno == ESRCH)
		return false;
	/* If init does not reap, zombies stay forever, and the kernel still counts them. */
	dir = opendir("/proc");
	if (!dir)
		return true;
	while (!found && (e = readdir(dir)))
		if (e->d_name[0] >= '1' && e->d_name[0] <= '9')
			found = runs_in(dirfd(dir), e->d_name, group);
	closedir(dir);
	return found;
}

/* ---- watching it ---- */

enum {
	MS = 1000000,
	TICK_MS = 100,
	GROUP_MS = 10,      /* how often we check whether a group that must end is gone */
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
	/* Once reaped, its pid may belong to another process, unless the group still exists. */
	if (!w->ended || group_runs(w->ret->pid))
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

	while (w->phase != KILLED || now < w->due_ns) {
		struct pollfd fd = { .fd = w->signals.fd[0], .events = POLLIN };

		poll(&fd, 1, patience_ms(w, now));
		take_signals(w);
		reap(w);
		/* past its leader's end a group is ended only at a timeout */
		if (w->ended && (w->phase == RUNNING || !group_runs(w->ret->pid)))
			return;
		now = rk_clock_steady_ns();
		mind_time(w, now);
		if (w->opt->tick && !w->ended && now >= w->tick_ns) {
			w->tick_ns = now + TICK_MS * MS;
			w->opt->tick(w->opt->arg, (uint64_t)(now - w->start_ns) / MS);
		}
	}
}

/* ---- the whole life of a child ---- */

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
	explain(how->path, exec_errno, w->ret);
	return 0;
}

static void finish(struct watch *w)
{
	struct rk_child_result *ret = w->ret;

	if (!w->ended) {
		/* Killed, but still there. */
		ret->end = RK_CHILD_TIMED_OUT;
		ret->signal = SIGKILL;
		ret->status = 128 + SIGKILL;
		ret->end_ns = rk_clock_ns(CLOCK_BOOTTIME);
	}
	ret->left = !w->ended || group_runs(ret->pid);
}

static int run(struct watch *w, struct rk_child_start *how, struct rk_error *err)
{
	char *path = NULL;
	int sig, rc = find_program(how->argv[0], how->envp, &path, w->ret, err);

	if (rc < 0 || !path)
		return rc;
	how->path = path;
	how->tty = &w->tty;
	how->sh_argv = shell_argv(how->argv, path);
	rc = how->sh_argv ? rk_child_signals_open(&w->signals, err) : rk_fail_nomem(err);
	if (rc < 0)
		goto out;
	rk_child_tty_open(&w->tty);
	rc = start(w, how, err);
	rk_child_signals_wait(&w->signals);
	if (!rc && w->ret->pid) {
		watch_until_end(w);
		finish(w);
	}
	rk_child_tty_close(&w->tty);
	while ((sig = rk_child_signals_next(&w->signals))) /* those that came late */
		if (rk_child_signals_meant_us(sig))
			w->ret->forwarded = sig;
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
