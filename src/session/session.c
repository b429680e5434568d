/* session.c - executes a plan. */
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/handle.h"
#include "base/page.h"
#include "io/dirs.h"
#include "io/output.h"
#include "rockit/session.h"
#include "run/run_dir.h"
#include "run/run_json.h"
#include "session/session_impl.h"

enum { LINE_BYTES = 1024 };

/* ---- messages ---- */

void rk_session_say(struct rk_session *s, const char *fmt, ...)
{
	char line[LINE_BYTES];
	va_list ap;

	if (!s->hooks.say)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	s->hooks.say(s->hooks.arg, line);
}

void rk_session_warn(struct rk_session *s, const char *fmt, ...)
{
	char line[LINE_BYTES];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	rk_list_add_once(&s->record.warnings, line);
	if (s->hooks.warn)
		s->hooks.warn(s->hooks.arg, line);
}

/* ---- the session ---- */

static void destroy_session(void *p)
{
	struct rk_session *s = p;

	rk_record_release(&s->record);
	rk_plan_free(s->plan);
	rk_free(s->view_passes);
	rk_free(s);
}

static const char *const *words_of(const struct rk_list *l)
{
	static const char *const nothing[] = { NULL };

	return l->n ? (const char *const *)l->v : nothing;
}

/* The plan for callers; everything it points at belongs to the plan. */
static int make_view(struct rk_session *s, struct rk_error *err)
{
	const struct rk_plan *p = s->plan;

	s->view_passes = rk_calloc(p->npasses + 1, sizeof(*s->view_passes));
	if (!s->view_passes)
		return rk_fail_nomem(err);
	for (size_t i = 0; i < p->npasses; i++) {
		const struct rk_plan_pass *pass = &p->passes[i];

		s->view_passes[i] = (struct rk_planned_pass){
			.what = pass->what,
			.dir = pass->dir,
			.argv = (const char *const *)pass->how.argv.v,
			.env = words_of(&pass->how.env),
			.counters = words_of(&pass->counters),
		};
	}
	s->view = (struct rk_planned){ .tool = p->tool->name,
				       .tool_path = p->tool_path,
				       .tool_version = p->tool_version,
				       .arch = p->arch,
				       .profiled = p->chosen,
				       .passes = s->view_passes,
				       .npasses = p->chosen ? p->npasses : 0 };
	return 0;
}

int rk_session_plan(const struct rk_session_options *opt, struct rk_session **ret,
		    struct rk_error *err)
{
	struct rk_session *s;
	int rc;

	if (!opt || !ret)
		return rk_misuse(__func__, err);
	if (RK_CHECK_OPTIONS(opt, __func__, err) < 0)
		return RK_E_USAGE;
	s = rk_calloc(1, sizeof(*s));
	if (!s)
		return rk_fail_nomem(err);
	if ((rc = rk_plan_make(opt, &s->plan, err)) < 0 || (rc = make_view(s, err)) < 0 ||
	    (rc = rk_handle_open(RK_HANDLE_SESSION, s, destroy_session, err)) < 0) {
		destroy_session(s);
		return rc;
	}
	*ret = s;
	return 0;
}

void rk_session_free(struct rk_session *s)
{
	rk_handle_close(RK_HANDLE_SESSION, s);
}

const char *rk_session_dir(const struct rk_session *s)
{
	const char *dir;

	if (!rk_handle_hold(RK_HANDLE_SESSION, s))
		return NULL;
	dir = s->stranded ? s->plan->dir : s->plan->target;
	rk_handle_drop(s);
	return dir;
}

static const char *const *list_of(const struct rk_session *s, bool notes, size_t *ret_n)
{
	const char *const *v;
	const struct rk_list *l;

	if (!ret_n)
		return NULL;
	*ret_n = 0;
	if (!rk_handle_hold(RK_HANDLE_SESSION, s))
		return NULL;
	l = notes ? &s->plan->notes : &s->plan->hazards;
	*ret_n = l->n;
	v = (const char *const *)l->v;
	rk_handle_drop(s);
	return v;
}

const char *const *rk_session_notes(const struct rk_session *s, size_t *ret_n)
{
	return list_of(s, true, ret_n);
}

const char *const *rk_session_hazards(const struct rk_session *s, size_t *ret_n)
{
	return list_of(s, false, ret_n);
}

const struct rk_planned *rk_session_planned(const struct rk_session *s)
{
	const struct rk_planned *view;

	if (!rk_handle_hold(RK_HANDLE_SESSION, s))
		return NULL;
	view = &s->view;
	rk_handle_drop(s);
	return view;
}

int rk_session_render(const struct rk_session *s, enum rk_report_format format, char **ret_text,
		      size_t *ret_len, struct rk_error *err)
{
	static rk_form *const forms[RK_NFORMS] = { rk_plan_text, rk_plan_json };
	const struct rk_render_options look = { .format = format };
	int rc;

	if (format == RK_REPORT_CSV)
		return rk_fail(err, RK_E_USAGE, "plans can be printed as text or JSON, not CSV");
	if (rk_handle_use(RK_HANDLE_SESSION, s, __func__, err) < 0)
		return RK_E_USAGE;
	rc = rk_render(forms, s->plan, &look, ret_text, ret_len, __func__, err);
	rk_handle_drop(s);
	return rc;
}

/* Check that the program and the profiler can start before we create anything. */
static int check_program(struct rk_session *s, struct rk_error *err)
{
	const struct rk_list *command = &s->plan->want.command;
	struct rk_child_result can = { 0 };
	int rc;

	if (s->plan->attach_pid)
		rc = rk_attach_check(s->plan, s->record.target, err);
	else
		rc = rk_child_check(command->v[0], NULL, &can, err);
	if (rc < 0)
		return rc;
	s->result->status = can.status;
	if (can.status)
		return rk_fail(err, RK_E_IO, "%s", can.why);
	if (!s->plan->chosen || s->plan->tool->library)
		return 0;
	rc = rk_child_check(s->plan->tool_path, NULL, &can, err);
	if (rc < 0)
		return rc;
	if (can.status)
		return rk_fail(err, RK_E_UNSUPPORTED,
			       "%s is not installed; 'rockit doctor' lists what is",
			       s->plan->tool_path);
	return 0;
}

static void drop_monitors(struct rk_session *s, const char *why)
{
	rk_list_set(&s->record.dropped, "monitors", why);
	rk_session_warn(s, "monitor: %s", why);
}

/*
 * One monitor per node, by local rank 0. If no variable gives the local rank, or --ranks may
 * exclude it, the first rank that asks gets it. *ret_lock is for rk_claim_node_end.
 */
static void start_monitor(struct rk_session *s, char **ret_lock, struct rk_monitor **ret)
{
	const struct rk_plan *p = s->plan;
	struct rk_monitor_options opt = {
		.dir = p->dir, .metrics = p->want.monitors, .interval_ms = UINT_MAX, .root = p->root
	};
	bool ours = p->rank.rank < 0 || p->rank.local_rank == 0;
	struct rk_error err = { 0 };
	char *top;

	if (!p->want.monitors)
		return;
	if (p->rank.rank >= 0 && (p->rank.local_rank < 0 || p->ranks)) {
		top = rk_strdup(p->target);
		if (top)
			*strrchr(top, '/') = '\0';
		ours = top && rk_claim_node(top, &p->rank, ret_lock);
		rk_free(top);
	}
	if (!ours) {
		rk_list_set(&s->record.dropped, "monitors",
			    "another rank samples the GPUs of this node");
		return;
	}
	if (p->want.interval_ms < UINT_MAX)
		opt.interval_ms = (unsigned)p->want.interval_ms;
	if (rk_monitor_start(&opt, ret, &err) < 0)
		drop_monitors(s, err.message);
}

/*
 * Creates the directories, and a first run.json so that a killed run can be identified. It is
 * written in both places, because tables in the scratch directory are read before they move to the
 * target. On failure no claim and no scratch directory is left.
 */
static int make_dir(struct rk_session *s, struct rk_error *err)
{
	const struct rk_plan *p = s->plan;
	bool claimed = p->rank.rank >= 0, scratch = false;
	int rc;

	if (claimed && (rc = rk_claim_rank(p->target, &p->rank, p->force, err)) < 0)
		return rc;
	if ((rc = rk_run_dir_make(p->target, p->force, err)) < 0)
		goto fail;
	if (p->scratch) {
		if ((rc = rk_scratch_make(p->scratch, err)) < 0)
			goto fail;
		scratch = true;
		if ((rc = rk_make_dirs(p->dir, err)) < 0)
			goto fail;
	}
	if ((rc = rk_run_dir_claim(p->raw_dir, err)) < 0 ||
	    (p->want.libraries && (rc = rk_make_dirs(p->library_dir, err)) < 0))
		goto fail;
	s->record.start = rk_clock_pair_read();
	if ((rc = rk_record_write(&s->record, p, p->dir, err)) < 0 ||
	    (p->scratch && (rc = rk_record_write(&s->record, p, p->target, err)) < 0))
		goto fail;
	return 0;
fail:
	if (scratch)
		rk_remove_tree(p->scratch, NULL);
	if (claimed)
		rk_claim_drop(p->target);
	return rc;
}

/*
 * Moves the run from the scratch directory to its target. If that fails, it stays there and is
 * still a valid run.
 */
static void bring_home(struct rk_session *s)
{
	const struct rk_plan *p = s->plan;
	struct rk_error err = { 0 };

	if (!p->scratch)
		return;
	if (rk_move_tree(p->dir, p->target, RK_OWN_PREFIX "incoming", RK_RUN_JSON, &err) == 0) {
		rk_remove_tree(p->scratch, NULL);
		return;
	}
	s->stranded = true;
	rk_session_warn(s, "the run stays in '%s': %s", p->dir, err.message);
	rk_list_set(&s->record.dropped, rk_run_key(RK_RUN_DROPPED_MOVE), err.message);
}

static int run_profiled(struct rk_session *s, struct rk_error *err)
{
	const char *failed = "passes"; /* the part that an error belongs to */
	struct rk_record *r = &s->record;
	const struct rk_plan *p = s->plan;
	struct rk_monitor *monitor = NULL;
	struct rk_error why = { 0 };
	char *lock = NULL;
	int rc = make_dir(s, err), rc2, sig;

	if (rc < 0)
		return rc;
	start_monitor(s, &lock, &monitor);
	rc = rk_session_passes(s, err);
	if (monitor) {
		r->monitored = true;
		if (rk_monitor_stop(monitor, &r->monitor, &why) < 0)
			drop_monitors(s, why.message);
		else if (r->monitor.note[0])
			drop_monitors(s, r->monitor.note);
	}
	rk_claim_node_end(lock);
	r->end = rk_clock_pair_read();

	if (rc == 0) {
		failed = "conversion";
		rc = rk_session_convert(s, err);
	}
	/* a signal that no child received; one that asks for a snapshot is not meant to stop us */
	sig = rk_child_guard_signal();
	if (sig == SIGUSR2 && p->window.on_signal)
		sig = 0;
	if (sig)
		rk_session_warn(s, "stopped by signal %d (%s); what was recorded is in '%s'", sig,
				strsignal(sig), p->target);
	if (sig && !s->result->status)
		s->result->status = 128 + sig;
	r->status = s->result->status;
	r->state = "done";
	if (rc < 0 || sig || s->result->passes_done < s->result->passes)
		r->state = "stopped";
	if (rc < 0 && err)
		rk_list_set(&r->dropped, failed, err->message);
	bring_home(s);
	if (s->stranded)
		rk_record_write(r, p, p->dir, NULL);
	rc2 = rk_record_write(r, p, p->target, rc < 0 ? NULL : err);
	return rc < 0 ? rc : rc2;
}

int rk_session_run(struct rk_session *s, const struct rk_session_hooks *hooks,
		   struct rk_session_result *ret, struct rk_error *err)
{
	struct rk_child_result did = { 0 };
	int rc;

	if (!ret)
		return rk_misuse(__func__, err);
	if ((rc = RK_CHECK_OPTIONS(hooks, __func__, err)) < 0 ||
	    (rc = rk_handle_use(RK_HANDLE_SESSION, s, __func__, err)) < 0)
		return rc;
	if (atomic_flag_test_and_set(&s->running)) {
		rk_handle_drop(s);
		return rk_fail(err, RK_E_USAGE, "the session is already running");
	}
	*ret = (struct rk_session_result){ .profiled = s->plan->chosen,
					   .passes = (unsigned)s->plan->npasses };
	s->hooks = (struct rk_session_hooks){ 0 };
	if (hooks)
		s->hooks = *hooks;
	s->result = ret;
	s->stranded = false;
	rk_record_release(&s->record); /* of an earlier run of this session */
	if ((rc = rk_record_init(&s->record, s->plan, err)) < 0 || (rc = check_program(s, err)) < 0)
		goto out;
	if (s->plan->chosen) {
		/* whatever stops us, run.json says so */
		rk_child_guard_begin();
		rc = run_profiled(s, err);
		rk_child_guard_end();
		goto out;
	}
	/* A rank that was not chosen: the program alone, which already runs if we would attach. */
	if (s->plan->attach_pid)
		goto out;
	rc = rk_session_alone(s, &did, err);
	ret->ran = rc == 0;
	ret->status = did.status;
out:
	atomic_flag_clear(&s->running);
	rk_handle_drop(s);
	return rc;
}

/* ---- sessions for the usual questions ---- */

static const char *or_else(const char *said, const char *otherwise)
{
	return said ? said : otherwise;
}

/* Times come from a separate pass, so that rates can be computed. */
static int plan_counters(const struct rk_session_options *base, const char *counters,
			 struct rk_session **ret, struct rk_error *err)
{
	struct rk_session_options o = *base;

	o.traces = or_else(base->traces, base->preset ? NULL : "kernel");
	o.counters = or_else(base->counters, counters);
	return rk_session_plan(&o, ret, err);
}

int rk_session_for_kernel(const struct rk_session_options *base, const char *kernel,
			  struct rk_session **ret, struct rk_error *err)
{
	struct rk_session_options o;

	if (!base)
		return rk_misuse(__func__, err);
	o = *base;
	o.kernel_regex = or_else(kernel, base->kernel_regex);
	return plan_counters(&o, "@waves,@instructions", ret, err);
}

int rk_session_for_memory(const struct rk_session_options *base, struct rk_session **ret,
			  struct rk_error *err)
{
	if (!base)
		return rk_misuse(__func__, err);
	return plan_counters(base, "@memory,@cache", ret, err);
}

int rk_session_for_compute_unit(const struct rk_session_options *base, struct rk_session **ret,
				struct rk_error *err)
{
	if (!base)
		return rk_misuse(__func__, err);
	return plan_counters(base, "@compute_unit", ret, err);
}

int rk_session_for_rocprof_compute(const struct rk_session_options *base, const char *arch,
				   struct rk_session **ret, struct rk_error *err)
{
	struct rk_session_options o;

	if (!base)
		return rk_misuse(__func__, err);
	o = *base;
	o.tool = or_else(base->tool, "rocprof-compute");
	o.arch = or_else(arch, base->arch);
	return rk_session_plan(&o, ret, err);
}
