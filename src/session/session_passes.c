/* session_passes.c - runs the program pass by pass. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/alloc.h"
#include "counters/counter_ask.h"
#include "io/dirs.h"
#include "io/output.h"
#include "run/run_dir.h"
#include "session/library_trace.h"
#include "session/session_impl.h"
#include "session/window.h"

extern char **environ;

enum { RENAMED_SHOWN = 4 };

/* What happened after the SIGTERM of --timeout: the end of a sentence. */
static void tell_grace(const struct rk_session *s, const struct rk_child_result *c, char *ret,
		       size_t size)
{
	double seconds = (double)c->grace_ns / 1e9;

	ret[0] = '\0';
	if (!c->killed && seconds >= 1)
		snprintf(ret, size, " and needed %.0f s to end", seconds);
	else if (c->killed && c->writing)
		snprintf(ret, size,
			 " and killed after another %.0f s although it still wrote: the output is "
			 "incomplete; --grace S allows more time",
			 seconds);
	else if (c->killed && c->quiet)
		snprintf(ret, size,
			 " and killed after another %.0f s, because it did not end and wrote "
			 "nothing any more",
			 seconds);
	else if (c->killed && !s->plan->grace_ms)
		snprintf(ret, size, " and killed after another %.0f s", seconds);
	else if (c->killed)
		snprintf(ret, size,
			 " and killed after --grace %.0f s: what was not yet written is lost",
			 seconds);
}

/* Warns when a process did not end normally. */
static void tell_end(struct rk_session *s, const char *who, const struct rk_child_result *c)
{
	char grace[256];

	tell_grace(s, c, grace, sizeof(grace));
	if (c->end == RK_CHILD_TIMED_OUT)
		rk_session_warn(s, "%s was stopped after %.0f s by --timeout%s", who,
				(double)s->plan->timeout_ms / 1e3, grace);
	else if (c->hung)
		rk_session_warn(s,
				"%s crashed by signal %d (%s) and hung in the handler of that "
				"signal: ended by rockit; what was not yet written is lost",
				who, c->hung, strsignal(c->hung));
	else if (c->end == RK_CHILD_NOT_FOUND || c->end == RK_CHILD_NOT_EXECUTABLE)
		rk_session_warn(s, "cannot run '%s': %s", who, strerror(c->exec_errno));
	else if (c->signal)
		rk_session_warn(s, "%s was killed by signal %d (%s)", who, c->signal,
				strsignal(c->signal));
	else if (c->status)
		rk_session_warn(s, "%s exited with status %d", who, c->status);
}

/* The size of what a pass has written, its spool files included. */
static uint64_t output_of(void *arg)
{
	const struct rk_plan_pass *pass = arg;
	uint64_t files, bytes = 0;

	(void)rk_count_files(pass->dir, true, &files, &bytes, NULL);
	return bytes;
}

/* `opt` has everything except the environment, which is ours with `set` over it. */
static int run_child(struct rk_child_options *opt, const struct rk_list *set,
		     struct rk_child_result *ret, struct rk_error *err)
{
	struct rk_list env = { 0 };
	static char *none[] = { NULL };
	int rc;

	rk_env_make(environ, set, &env);
	opt->envp = env.n ? env.v : none;
	if (env.bad)
		rc = rk_fail_nomem(err);
	else
		rc = rk_child_run(opt, ret, err);
	rk_list_release(&env);
	return rc;
}

int rk_session_alone(struct rk_session *s, struct rk_child_result *ret, struct rk_error *err)
{
	struct rk_child_options opt = { .argv = s->plan->want.command.v,
					.timeout_ms = s->plan->timeout_ms,
					.grace_ms = s->plan->grace_ms,
					.out_fd = -1,
					.err_fd = -1 };

	return run_child(&opt, &s->plan->want.env, ret, err);
}

/*
 * PC sampling that the GPU or its driver does not support ends rocprofv3 before the program has
 * started, with the same status as a failure of the program. The same options with 'true' tell one
 * from the other.
 */
static bool refuses_pc(const struct rk_session *s, const struct rk_plan_pass *pass)
{
	enum { PROBE_MS = 60000 };
	const struct rk_list *argv = &pass->how.argv;
	struct rk_child_options opt = { .timeout_ms = PROBE_MS };
	struct rk_child_result did = { 0 };
	struct rk_list probe = { 0 };
	bool refused = false;

	/* it would attach once more */
	if (s->plan->attach_pid)
		return false;
	for (size_t i = 0; i + s->plan->want.command.n < argv->n; i++)
		rk_list_add(&probe, argv->v[i]);
	rk_list_add(&probe, "true");
	opt.argv = probe.v;
	opt.out_fd = opt.err_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (!probe.bad && opt.out_fd >= 0 && run_child(&opt, &pass->how.env, &did, NULL) == 0)
		refused = did.status != 0;
	if (opt.out_fd >= 0)
		close(opt.out_fd);
	rk_list_release(&probe);
	return refused;
}

/* Removes spool files that nobody needs, or says where they are. */
static void end_spool(struct rk_session *s, const struct rk_plan_pass *pass,
		      const struct rk_pass_record *did)
{
	uint64_t files = 0, bytes;

	if (!pass->how.spool || rk_count_files(pass->how.spool, true, &files, &bytes, NULL) < 0)
		return;
	if (files && (did->child.status || !did->files))
		rk_session_warn(s, "unfinished records of %s are kept in '%s'", s->plan->tool->name,
				pass->how.spool);
	else
		rk_remove_tree(pass->how.spool, NULL);
}

static void tell_output(struct rk_session *s, size_t i)
{
	const struct rk_pass_record *did = &s->record.passes[i];

	/* the reason was already given */
	if (did->files || did->disk_full || did->refused || did->child.hung || did->child.killed)
		return;
	if (s->plan->tool->library)
		rk_session_warn(s, "the collector was never loaded: %s", s->plan->tool->not_loaded);
	else if (s->plan->attach_pid && did->child.status == 0)
		rk_session_warn(s,
				"%s wrote no file: process %" PRIu64 " made no GPU call while it "
				"was recorded, or cannot write to '%s'",
				s->plan->tool->name, s->plan->attach_pid, s->plan->passes[i].dir);
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
	struct rk_child_options opt = { .argv = pass->how.argv.v,
					.timeout_ms = p->timeout_ms,
					.grace_ms = p->grace_ms,
					.out_fd = -1,
					.err_fd = -1,
					/* at any other signal it would not detach */
					.interrupt = p->attach_pid != 0,
					.arg = &p->passes[i] };
	struct rk_stderr_split *split = NULL;
	struct rk_window *window = NULL;
	struct rk_error lost = { 0 };
	char *path = NULL, who[512];
	struct statvfs fs;
	int rc;

	if ((rc = rk_make_dirs(pass->dir, err)) < 0 ||
	    (pass->how.spool && (rc = rk_make_dirs(pass->how.spool, err)) < 0))
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
		opt.err_fd = rk_stderr_split_fd(split);
	}
	/* our own collectors write as they go and have no handlers */
	if (!p->tool->library)
		opt.output = output_of;
	rc = rk_window_open(s, pass, &window, err);
	if (window)
		rk_window_attend(window, &opt);
	if (rc == 0)
		rc = run_child(&opt, &pass->how.env, &did->child, err);
	rk_window_close(window, &did->child);
	if (rk_stderr_split_stop(split, &lost) < 0)
		rk_session_warn(s, "%s", lost.message);
	if (rc < 0)
		return rc;
	did->ran = true;
	s->result->ran = true;
	s->result->passes_done++;

	/* we only see the profiler's exit; it may never have started the program */
	if (p->attach_pid)
		snprintf(who, sizeof(who), "%s of process %" PRIu64, p->tool->name, p->attach_pid);
	else if (p->npasses > 1)
		snprintf(who, sizeof(who), "%.400s under %s (%s)", p->want.command.v[0],
			 p->tool->name, pass->what);
	else
		snprintf(who, sizeof(who), "%.400s under %s", p->want.command.v[0], p->tool->name);
	rc = rk_count_files(pass->dir, false, &did->files, &did->bytes, err);
	if (rc < 0)
		return rc;
	/* The input file that we wrote is not its output. */
	if (input->path && did->files && !strncmp(input->path, pass->dir, strlen(pass->dir))) {
		did->files--;
		did->bytes -= strlen(input->text);
	}
	s->result->raw_files += did->files;
	did->refused = pass->how.pc && did->child.status && !did->child.signal && !did->files &&
		       refuses_pc(s, pass);
	if (did->refused)
		rk_session_warn(s,
				"%s refused PC sampling, so the program was not run: this GPU, "
				"its driver or these settings do not support it",
				p->tool->name);
	else
		tell_end(s, who, &did->child);
	end_spool(s, pass, did);
	/* a file that could not be written to its end looks like a damaged one */
	if (statvfs(pass->dir, &fs) == 0 && fs.f_blocks &&
	    fs.f_bavail <= NOTHING_LEFT / (fs.f_frsize ? fs.f_frsize : 1)) {
		did->disk_full = true;
		rk_session_warn(s, "the disk of '%s' is full: the output of %s is incomplete",
				pass->dir, p->tool->name);
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
	if (s->plan->attach_pid && !s->plan->duration_s)
		rk_session_say(s,
			       "attaching to process %" PRIu64 " (%s): Enter or Ctrl-C ends the "
			       "recording, which can take two minutes",
			       s->plan->attach_pid, s->record.target);
	for (; on && i < n && !rk_child_guard_signal(); i++) {
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
				last->forwarded || rk_child_guard_signal() ?
					"" :
					"; use --keep-going to run them anyway");
	return 0;
}
