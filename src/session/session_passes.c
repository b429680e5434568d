/* session_passes.c - runs the program pass by pass. */
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/alloc.h"
#include "counters/counter_ask.h"
#include "io/output.h"
#include "session/library_trace.h"
#include "session/run_dir.h"
#include "session/session_impl.h"

extern char **environ;

enum { RENAMED_SHOWN = 4 };

/* Warns when a process did not end normally. */
static void tell_end(struct rk_session *s, const char *who, const struct rk_child_result *c)
{
	if (c->end == RK_CHILD_TIMED_OUT)
		rk_session_warn(s, "%s was stopped after %.0f s by --timeout%s", who,
				(double)s->plan->timeout_ms / 1e3,
				c->killed ? " (with SIGKILL)" : "");
	else if (c->end == RK_CHILD_NOT_FOUND || c->end == RK_CHILD_NOT_EXECUTABLE)
		rk_session_warn(s, "cannot run '%s': %s", who, strerror(c->exec_errno));
	else if (c->signal)
		rk_session_warn(s, "%s was killed by signal %d (%s)", who, c->signal,
				strsignal(c->signal));
	else if (c->status)
		rk_session_warn(s, "%s exited with status %d", who, c->status);
}

static int run_child(struct rk_session *s, const struct rk_list *argv, const struct rk_list *set,
		     int err_fd, struct rk_child_result *ret, struct rk_error *err)
{
	struct rk_child_options opt = {
		.argv = argv->v, .timeout_ms = s->plan->timeout_ms, .out_fd = -1, .err_fd = err_fd
	};
	struct rk_list env = { 0 };
	static char *none[] = { NULL };
	int rc;

	rk_env_make(environ, set, &env);
	opt.envp = env.n ? env.v : none;
	if (env.bad)
		rc = rk_fail_nomem(err);
	else
		rc = rk_child_run(&opt, ret, err);
	rk_list_release(&env);
	return rc;
}

int rk_session_alone(struct rk_session *s, struct rk_child_result *ret, struct rk_error *err)
{
	return run_child(s, &s->plan->want.command, &s->plan->want.env, -1, ret, err);
}

static void tell_output(struct rk_session *s, size_t i)
{
	const struct rk_pass_record *did = &s->record.passes[i];

	/* with a full disk, there is no telling why */
	if (did->files || did->disk_full)
		return;
	if (s->plan->tool->library)
		rk_session_warn(s, "the collector was never loaded: %s", s->plan->tool->not_loaded);
	else if (did->child.status == 0)
		rk_session_warn(s,
				"%s wrote no file in pass %zu: the program made no GPU call, or "
				"it ended by _exit or in another process",
				s->plan->tool->name, i + 1);
	else
		rk_session_warn(s, "%s wrote no file in pass %zu", s->plan->tool->name, i + 1);
}

static int run_pass(struct rk_session *s, size_t i, struct rk_error *err)
{
	enum { NOTHING_LEFT = 64 << 10 };
	const struct rk_plan *p = s->plan;
	const struct rk_plan_pass *pass = &p->passes[i];
	const struct rk_tool_file *input = &pass->how.file;
	struct rk_pass_record *did = &s->record.passes[i];
	const char *log = i ? NULL : rk_library_stderr_copy(p->want.libraries);
	struct rk_stderr_split *split = NULL;
	struct rk_error lost = { 0 };
	char *path = NULL, who[512];
	struct statvfs fs;
	int rc;

	if ((rc = rk_make_dirs(pass->dir, err)) < 0)
		return rc;
	if (input->path &&
	    (rc = rk_write_file(input->path, input->text, strlen(input->text), err)) < 0)
		return rc;
	/* the log of a library that writes only to standard error is extracted from it */
	if (log) {
		path = rk_strf("%s/%s", p->library_dir, log);
		rc = path ? rk_stderr_split_start(path, STDERR_FILENO, &split, err) :
			    rk_fail_nomem(err);
		rk_free(path);
		if (rc < 0)
			return rc;
	}
	rc = run_child(s, &pass->how.argv, &pass->how.env, split ? rk_stderr_split_fd(split) : -1,
		       &did->child, err);
	if (rk_stderr_split_stop(split, &lost) < 0)
		rk_session_warn(s, "%s", lost.message);
	if (rc < 0)
		return rc;
	did->ran = true;
	s->result->ran = true;
	s->result->passes_done++;

	/* we only see the profiler's exit; it may never have started the program */
	if (p->npasses > 1)
		snprintf(who, sizeof(who), "%.400s under %s (%s)", p->want.command.v[0],
			 p->tool->name, pass->what);
	else
		snprintf(who, sizeof(who), "%.400s under %s", p->want.command.v[0], p->tool->name);
	tell_end(s, who, &did->child);
	/* a file that could not be written to its end looks like a damaged one */
	if (statvfs(pass->dir, &fs) == 0 && fs.f_blocks &&
	    fs.f_bavail <= NOTHING_LEFT / (fs.f_frsize ? fs.f_frsize : 1)) {
		did->disk_full = true;
		rk_session_warn(s, "the disk of '%s' is full: the output of %s is incomplete",
				pass->dir, p->tool->name);
	}

	rc = rk_count_files(pass->dir, &did->files, &did->bytes, err);
	if (rc < 0)
		return rc;
	/* The input file that we wrote is not its output. */
	if (input->path && did->files && !strncmp(input->path, pass->dir, strlen(pass->dir))) {
		did->files--;
		did->bytes -= strlen(input->text);
	}
	tell_output(s, i);
	return 0;
}

/*
 * One line with the first few, so that nobody looks for the old name; the plan and run.json list
 * all.
 */
static void say_renamed(struct rk_session *s)
{
	const struct rk_plan *p = s->plan;
	const struct rk_counter_plan *c = p->counters;
	const char *preset = p->want.preset ? p->want.preset->counters : "";
	struct rk_bytes line;
	size_t n = 0;

	if (!c || p->tool->library || p->tool->one_run)
		return;
	/* Only for names that the user gave; the names in presets and shipped sets are ours. */
	if ((preset[0] && !strncmp(p->want.counters, preset, strlen(preset))) ||
	    rk_counter_set_find(p->want.counters))
		return;
	rk_bytes_init(&line, 4096);
	for (size_t i = 0; i < c->nchecks; i++) {
		if (c->checks[i].status != RK_COUNTER_RENAMED || n++ >= RENAMED_SHOWN)
			continue;
		if (n > 1)
			rk_bytes_puts(&line, ", ");
		for (const char *const *u = c->checks[i].use; *u; u++)
			rk_bytes_printf(&line, "%s%s", u > c->checks[i].use ? " and " : "", *u);
		rk_bytes_printf(&line, " for %s", c->checks[i].asked);
	}
	if (n > RENAMED_SHOWN)
		rk_bytes_printf(&line, " and %zu more", n - RENAMED_SHOWN);
	if (n && rk_bytes_str(&line))
		rk_session_say(s, "counters renamed for %s: %s", c->arch, rk_bytes_str(&line));
	rk_bytes_release(&line);
}

/* The session's status is the first that is not 0; a signal sent to us ends it. */
static bool goes_on(struct rk_session *s, const struct rk_child_result *c)
{
	if (!s->result->status)
		s->result->status = c->status;
	return !c->forwarded && (c->status == 0 || s->plan->keep_going);
}

int rk_session_passes(struct rk_session *s, struct rk_error *err)
{
	const struct rk_child_result *last = &s->record.baseline;
	size_t i = 0, n = s->plan->npasses;
	bool on = true;
	int rc = 0;

	if (s->plan->baseline) {
		rk_session_say(s, "baseline: running the program without profiler");
		rc = rk_session_alone(s, &s->record.baseline, err);
		if (rc == 0) {
			s->record.baseline_ran = true;
			s->result->ran = true;
			tell_end(s, s->plan->want.command.v[0], last);
			on = goes_on(s, last);
		}
	}
	say_renamed(s);
	if (rc < 0)
		return rc;
	for (; on && i < n; i++) {
		if (n > 1)
			rk_session_say(s, "pass %zu of %zu: %s", i + 1, n, s->plan->passes[i].what);
		rc = run_pass(s, i, err);
		if (rc < 0)
			return rc;
		last = &s->record.passes[i].child;
		on = goes_on(s, last);
	}
	/* when a signal for us ended it, --keep-going would not help */
	if (i < n)
		rk_session_warn(s, "%zu of %zu passes were not run%s", n - i, n,
				last->forwarded ? "" : "; use --keep-going to run them anyway");
	return 0;
}
