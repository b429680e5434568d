/* monitor_run.c - 'rockit monitor': its directory, the program it runs, and when it ends. */
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/handle.h"
#include "io/child.h"
#include "io/dirs.h"
#include "io/output.h"
#include "rockit/monitor.h"
#include "run/run_dir.h"

enum { PATH_BYTES = 4096 };

/* How often we check whether the sampler has given up. */
static const int64_t look_ns = 250000000;

/* ---- where ---- */

/* `dir`, or the name of a new run. */
static int name_dir(const char *dir, char *path, size_t size, struct rk_error *err)
{
	struct rk_bytes b;
	int rc = 0, n;

	/* a longer name fails below, as it would in any system call */
	rk_bytes_init(&b, PATH_BYTES);
	if (dir)
		rk_bytes_puts(&b, dir);
	else
		rc = rk_run_dir_name(NULL, -1, &b, err);
	if (rc < 0)
		goto out;
	if (!rk_bytes_str(&b)) {
		rc = rk_fail_nomem(err);
		goto out;
	}
	n = snprintf(path, size, "%s", rk_bytes_str(&b));
	if (n < 0 || (size_t)n >= size)
		rc = rk_fail(err, RK_E_LIMIT, "the name of the directory is too long");
out:
	rk_bytes_release(&b);
	return rc;
}

/* Cuts the last folder off a path of `len` bytes, but keeps `least`; returns the length. */
static size_t cut_last(char *path, size_t len, size_t least)
{
	while (len > least && path[len - 1] == '/')
		path[--len] = '\0';
	while (len > least && path[len - 1] != '/')
		path[--len] = '\0';
	return len;
}

int rk_monitor_open(const struct rk_monitor_options *opt, struct rk_monitor **ret, char *path,
		    size_t path_size, struct rk_error *err)
{
	struct rk_monitor_options here;
	char part[PATH_BYTES];
	size_t there, len;
	int rc;

	if (!opt || !ret || !path)
		return rk_misuse(__func__, err);
	rc = name_dir(opt->dir, path, path_size, err);
	if (rc < 0)
		return rc;
	/* how much of the path is there already */
	there = (size_t)snprintf(part, sizeof(part), "%s", path);
	while (there && !rk_is_dir(part))
		there = cut_last(part, there, 0);
	here = *opt;
	here.dir = path;
	if ((rc = rk_make_dirs(path, err)) == 0 && (rc = rk_monitor_start(&here, ret, err)) == 0)
		return 0;
	/* remove the directories that we created, unless they are not empty */
	len = (size_t)snprintf(part, sizeof(part), "%s", path);
	while (len > there && rmdir(part) == 0)
		len = cut_last(part, len, there);
	return rc;
}

/* ---- until when ---- */

/*
 * Until the time is over, the sampler gives up or a signal comes; signals that were ignored at the
 * start (nohup, a job with &) stay ignored.
 */
static void wait_alone(struct rk_monitor *m, uint64_t duration_ms)
{
	static const int ending[] = { SIGINT, SIGTERM, SIGHUP };
	int64_t now = rk_clock_steady_ns();
	int64_t end = duration_ms ? now + (int64_t)duration_ms * 1000000 : INT64_MAX;
	struct sigaction was;
	sigset_t set, old;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++)
		if (sigaction(ending[i], NULL, &was) == 0 && was.sa_handler != SIG_IGN)
			sigaddset(&set, ending[i]);
	pthread_sigmask(SIG_BLOCK, &set, &old);
	for (; now < end && rk_monitor_alive(m); now = rk_clock_steady_ns()) {
		int64_t left = end - now < look_ns ? end - now : look_ns;
		struct timespec t = { .tv_sec = 0, .tv_nsec = (long)left };

		if (sigtimedwait(&set, NULL, &t) > 0)
			break;
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

struct attendance {
	struct rk_monitor *m; /* NULL once it is stopped */
	uint64_t duration_ms;
	struct rk_monitor_end *end;
};

static void stop(struct attendance *a)
{
	if (a->m)
		rk_monitor_stop(a->m, &a->end->samples, &a->end->trouble);
	a->m = NULL;
}

static void tick(void *arg, uint64_t elapsed_ms)
{
	struct attendance *a = arg;

	if (a->duration_ms && elapsed_ms >= a->duration_ms)
		stop(a);
}

int rk_monitor_attend(struct rk_monitor *m, char *const *argv, uint64_t duration_ms,
		      struct rk_monitor_end *ret, struct rk_error *err)
{
	struct attendance a = { .m = m, .duration_ms = duration_ms, .end = ret };
	const struct rk_child_options opt = {
		.argv = argv, .out_fd = -1, .err_fd = -1, .tick = tick, .arg = &a
	};
	struct rk_child_result did = { 0 };
	int rc = 0;

	if (!ret || (!m && !argv))
		return rk_misuse(__func__, err);
	*ret = (struct rk_monitor_end){ 0 };
	if (argv) {
		rc = rk_child_run(&opt, &did, err);
		ret->status = did.status;
		snprintf(ret->why, sizeof(ret->why), "%s", did.why);
	} else {
		wait_alone(m, duration_ms);
	}
	stop(&a);
	return rc;
}
