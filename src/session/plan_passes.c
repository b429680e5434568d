/*
 * plan_passes.c - the runs of the program that a request needs.
 *
 * Times and counters never come from one run where both are wanted: counters serialise the kernels
 * and change their times. So there is one pass for the trace and one for each packed set of
 * counters; a request for counters alone has its kernels' times from the counter pass, and is told so.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "session/environment.h"
#include "session/library_trace.h"
#include "session/plan.h"

extern char **environ;

/* A job file of rocprofv3 may ask for more than counters: traces, filters, places for files. */
static void note_job_file(struct rk_plan *p)
{
	static const char *const endings[] = { ".yaml", ".yml", ".json" };
	const char *spec = p->want.counters;

	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
		if (rk_text_ends(spec, strlen(spec), endings[i]))
			rk_list_addf(&p->notes,
				     "of '%s' the counters are taken and nothing else: see -t, "
				     "--kernel-regex and -d",
				     spec);
}

int rk_plan_counters(struct rk_plan *p, struct rk_error *err)
{
	int rc;

	if (!p->want.counters[0])
		return 0;
	rc = rk_counters_plan(p->arch, p->want.counters, &p->counters, err);
	if (rc < 0)
		return rc;
	note_job_file(p);
	return 0;
}

/* Of a tool that takes no counters from us they say nothing. */
static void note_counters(struct rk_plan *p)
{
	if (!p->counters || p->tool->one_run)
		return;
	for (size_t i = 0; i < p->counters->nchecks; i++) {
		const struct rk_counter_check *c = &p->counters->checks[i];

		if (c->status == RK_COUNTER_MISSING)
			rk_list_addf(&p->notes, "counter %s: %s", c->asked, c->reason);
	}
	if (!p->counters->npasses)
		rk_list_addf(&p->notes, "none of the counters exists on %s", p->arch);
}

/* The folder of pass i: of its own when there are several. */
static char *pass_dir(const struct rk_plan *p, size_t i)
{
	return p->npasses > 1 ? rk_strf("%s/pass_%zu", p->raw_dir, i + 1) : rk_strdup(p->raw_dir);
}

static const char *what_is(const struct rk_plan_pass *pass, bool pc)
{
	if (pass->counters.n)
		return "counters";
	return pc ? "PC samples and trace" : "trace";
}

static void add_notes(struct rk_plan *p, const struct rk_list *notes)
{
	for (size_t i = 0; i < notes->n; i++)
		rk_list_add_once(&p->notes, notes->v[i]);
	p->notes.bad = p->notes.bad || notes->bad;
}

static void add_env(struct rk_plan_pass *pass, const struct rk_list *env)
{
	for (size_t k = 0; k < env->n; k++) {
		char name[256];
		const char *value = rk_list_entry(env->v[k], name, sizeof(name));

		if (value && !rk_list_value(&pass->how.env, name))
			rk_list_set(&pass->how.env, name, value);
	}
}

/* What the user has set is the user's. */
static void note_kept(struct rk_plan *p, const struct rk_list *env)
{
	struct rk_list names = { 0 }, notes = { 0 };

	rk_env_kept(environ, env, &names);
	for (size_t i = 0; i < names.n; i++)
		rk_list_addf(&notes, "%s is set already and keeps its value", names.v[i]);
	notes.bad = notes.bad || names.bad;
	add_notes(p, &notes);
	rk_list_release(&names);
	rk_list_release(&notes);
}

/* One command line; `pass` has its counters and traces already. */
static int make_pass(struct rk_plan *p, size_t i, struct rk_error *err)
{
	struct rk_plan_pass *pass = &p->passes[i];
	bool pc = p->want.pc_wanted && !pass->counters.n;
	const struct rk_want want = {
		.traces = pass->traces,
		.stats = p->want.stats && !pass->counters.n,
		.counters = p->tool->one_run ? &p->own_counters : &pass->counters,
		.pc = pc ? &p->want.pc : NULL,
		.kernel_regex = p->kernel_regex,
		.arch = p->arch,
		.dir = pass->dir,
		.rank_key = p->rank_key,
		.extra = &p->want.tool_args,
		.app = &p->want.command,
	};
	int rc = p->tool->command(p->tool_path, p->version, &want, &pass->how, err);

	if (rc < 0)
		return rc;
	if (pass->how.instead.n) {
		rk_list_release(&pass->counters);
		rk_list_append(&pass->counters, &pass->how.instead);
	}
	add_notes(p, &pass->how.notes);
	/* Behind the tool's own, which has the last word over what preset and libraries want. */
	add_env(pass, &p->want.env);
	if (i == 0)
		add_env(pass, &p->library_env);
	note_kept(p, &pass->how.env);
	return pass->how.argv.bad || pass->how.env.bad || pass->counters.bad ? rk_fail_nomem(err) :
									       0;
}

static void take_counters(struct rk_list *l, const struct rk_counter_pass *c)
{
	for (size_t k = 0; k < c->n; k++)
		rk_list_add(l, c->counters[k]);
}

/*
 * Libraries log in the first pass alone: every run of the program makes the same calls, and they
 * would be counted once for each.
 */
static int library_env(struct rk_plan *p, struct rk_error *err)
{
	struct rk_list known = { 0 };
	int rc;

	if (!p->want.libraries)
		return 0;
	rk_list_addv(&known, environ);
	rk_list_append(&known, &p->want.env);
	rc = known.bad ? rk_fail_nomem(err) :
			 rk_library_env(p->want.libraries, p->library_dir, known.v, &p->library_env,
					&p->notes, err);
	rk_list_release(&known);
	return rc;
}

/* A profiler that is asked for nothing collects nothing, or refuses. */
static void trace_something(struct rk_plan *p)
{
	if (p->want.traces || p->want.pc_wanted)
		return;
	p->want.traces = RK_TRACE_KERNEL;
	rk_list_add(&p->notes, "nothing else is left to collect: kernels are traced");
}

/* Files that go elsewhere are never seen again: nothing would tell why the run is empty. */
static void note_output_options(struct rk_plan *p)
{
	static const char *const moves[] = { "-d", "-o", "--output-directory", "--output-file" };
	const struct rk_list *args = &p->want.tool_args;

	if (strncmp(p->tool->name, "rocprof", 7) != 0 || strchr(p->tool->name, '-'))
		return;
	for (size_t i = 0; i < args->n; i++)
		for (size_t k = 0; k < sizeof(moves) / sizeof(moves[0]); k++)
			if (!strncmp(args->v[i], moves[k], strlen(moves[k])) &&
			    strchr("=", args->v[i][strlen(moves[k])]))
				rk_list_addf(&p->notes,
					     "'%s' among the options of %s may take its files out "
					     "of the run directory, where they are not found",
					     moves[k], p->tool->name);
}

/* Counters that will be asked for are of some chip: it must be said when that is a guess. */
static void note_arch(struct rk_plan *p)
{
	if (!p->arch_assumed || p->tool->library)
		return;
	if (p->amd)
		rk_list_addf(&p->notes,
			     "the AMD GPU here does not say its gfx target (it is not in "
			     "/sys/class/kfd): taken for %s; --arch GFX names another",
			     p->arch);
	else if (p->counters)
		rk_list_addf(
			&p->notes,
			"no AMD GPU is seen here: counters are chosen for %s; --arch GFX names another",
			p->arch);
}

int rk_plan_passes(struct rk_plan *p, struct rk_error *err)
{
	size_t npacked = p->counters ? p->counters->npasses : 0;
	size_t ncounters = p->tool->replays && npacked ? 1 : npacked;
	bool alone = p->tool->one_run;
	bool trace = p->want.traces || p->want.pc_wanted || !ncounters;
	size_t at = 0;
	int rc = library_env(p, err);

	note_arch(p);
	note_counters(p);
	if (rc < 0)
		return rc;
	if (trace && !alone)
		trace_something(p);
	else if (!alone)
		rk_list_add(&p->notes,
			    "counters alone are asked for: kernel times are of a run "
			    "with counters, not real ones; -t kernel adds a run for times");
	note_output_options(p);
	p->npasses = alone ? 1 : (size_t)trace + ncounters;
	p->passes = rk_calloc(p->npasses, sizeof(*p->passes));
	if (!p->passes)
		return rk_fail_nomem(err);
	if (trace || alone)
		p->passes[at++].traces = p->want.traces;
	for (size_t i = 0; i < npacked; i++) {
		bool more = p->tool->replays && i > 0;

		take_counters(alone ? &p->own_counters : &p->passes[more ? at - 1 : at].counters,
			      &p->counters->passes[i]);
		if (!alone && !more)
			p->passes[at++].traces = RK_TRACE_KERNEL;
	}
	if (p->own_counters.bad)
		return rk_fail_nomem(err);
	for (size_t i = 0; rc == 0 && i < p->npasses; i++) {
		p->passes[i].what = what_is(&p->passes[i], p->want.pc_wanted);
		p->passes[i].dir = pass_dir(p, i);
		rc = p->passes[i].dir && !p->passes[i].counters.bad ? make_pass(p, i, err) :
								      rk_fail_nomem(err);
	}
	return rc;
}
