/* plan.c - see plan.h: directories, rank, passes, and the environment of a pass. */
#include "session/plan.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text.h"
#include "run/run_dir.h"
#include "session/library_trace.h"

extern char **environ;

/* ---- the environment of a pass ---- */

/* The separator of a variable that is a list; 0: it is not a list. */
static char separator_of(const char *name)
{
	static const struct {
		const char *name;
		char separator;
	} lists[] = {
		{ "LD_PRELOAD", ':' },    { "LD_LIBRARY_PATH", ':' },
		{ "PATH", ':' },          { "PYTHONPATH", ':' },
		{ "HSA_TOOLS_LIB", ' ' }, { "ROCP_TOOL_LIBRARIES", ':' },
		{ "OPENCL_LAYERS", ':' }, { "KOKKOS_TOOLS_LIBS", ';' },
	};

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		if (!strcmp(name, lists[i].name))
			return lists[i].separator;
	return 0;
}

/* Of several HSA tools the first is nearest to the hardware, and its times are right. */
static char *joined(const char *name, const char *old, char separator, const char *value)
{
	if (!strcmp(name, "HSA_TOOLS_LIB"))
		return rk_strf("%s%c%s", value, separator, old);
	return rk_strf("%s%c%s", old, separator, value);
}

/*
 * A variable of an earlier profiler, ROCPROF_*, that would leak into this one. Profilers only read
 * ROCPROF_TMPDIR: it is the user's.
 */
static bool leaks(const char *entry)
{
	return strncmp(entry, "ROCPROF_", 8) == 0 && strncmp(entry, "ROCPROF_TMPDIR=", 15) != 0;
}

void rk_env_make(char *const *base, const struct rk_list *set, struct rk_list *ret)
{
	for (; base && *base; base++)
		if (!leaks(*base))
			rk_list_add(ret, *base);
	for (size_t i = 0; i < set->n; i++) {
		char name[256], separator;
		const char *value = rk_list_entry(set->v[i], name, sizeof(name)), *old;

		if (!value)
			continue;
		separator = separator_of(name);
		old = rk_list_value(ret, name);
		if (old && old[0] && separator) {
			char *both = joined(name, old, separator, value);

			if (both)
				rk_list_set(ret, name, both);
			ret->bad = ret->bad || !both;
			rk_free(both);
		} else if (!old || separator || !strncmp(name, "ROCKIT_", 7)) {
			rk_list_set(ret, name, value);
		}
	}
	ret->bad = ret->bad || set->bad;
}

void rk_env_kept(char *const *base, const struct rk_list *set, struct rk_list *ret)
{
	for (size_t i = 0; i < set->n; i++) {
		char name[256];
		const char *value = rk_list_entry(set->v[i], name, sizeof(name));
		const char *old = value ? rk_env_value(base, name) : NULL;

		if (old && !separator_of(name) && strncmp(name, "ROCKIT_", 7) != 0 &&
		    !leaks(set->v[i]) && strcmp(old, value))
			rk_list_add_once(ret, name);
	}
}

/*
 * ---- the passes ----
 *
 * If both times and counters are requested, they come from different passes, because counters
 * serialise the kernels and change their times. So there is one pass for the trace and one for
 * each packed set of counters. A request for only counters takes kernel times from the counter
 * pass and prints a note.
 */

static int plan_counters(struct rk_plan *p, struct rk_error *err)
{
	static const char *const endings[] = { ".yaml", ".yml", ".json" };
	const char *spec = p->want.counters;
	int rc;

	if (!spec[0])
		return 0;
	rc = rk_counters_plan(p->arch, spec, &p->counters, err);
	if (rc < 0)
		return rc;
	/* A job file of rocprofv3 may ask for more than counters: traces, filters, directories. */
	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
		if (rk_text_ends(spec, strlen(spec), endings[i]))
			rk_list_addf(&p->notes,
				     "only the counters of '%s' are used; for the rest see -t, "
				     "--kernel-regex and -d",
				     spec);
	return 0;
}

/*
 * Plans the counters again with those that the rocprofv3-avail beside the tool reports for this
 * chip. If it cannot be asked, the plan stays and a note says why.
 */
static int ask_installed(struct rk_plan *p, struct rk_error *err)
{
	struct rk_counter_plan *plan = NULL;
	struct rk_error why = { 0 };
	const char *name = strrchr(p->tool_path, '/');
	char *program;
	int rc;

	if (!p->want.counters[0] || strcmp(p->tool->name, "rocprofv3") != 0 || !name)
		return 0;
	program = rk_strf("%.*s/rocprofv3-avail", (int)(name - p->tool_path), p->tool_path);
	if (!program)
		return rk_fail_nomem(err);
	if (access(program, X_OK) != 0) { /* before ROCm 7.0 it has another name and other output */
		rk_free(program);
		return 0;
	}
	rc = rk_counters_plan_installed(program, p->arch, p->want.counters, &plan, &why);
	rk_free(program);
	if (rc == 0) {
		rk_counter_plan_free(p->counters);
		p->counters = plan;
	} else if (rc == RK_E_NOMEM) {
		return rk_fail_nomem(err);
	} else if (rc != RK_E_USAGE) {
		rk_list_addf(&p->notes, "%s: counters are chosen from rockit's own table",
			     why.message);
	}
	return 0;
}

/*
 * Counters that could not be planned, for the reason `why`. On a chip that we do not know a preset
 * still collects its traces; counters that were typed are an error.
 */
static int without_counters(const struct rk_session_options *opt, struct rk_plan *p,
			    const struct rk_error *why, struct rk_error *err)
{
	if (opt->counters || opt->arch || rk_counters_arch_find(p->arch)) {
		if (err)
			*err = *why;
		return why->code;
	}
	rk_list_addf(&p->notes,
		     "no counters: this rockit does not know those of %s, and no rocprofv3-avail "
		     "lists them; traces are collected as usual",
		     p->arch);
	p->want.counters[0] = '\0';
	return 0;
}

/* The counters, and the tool, which may know counters and chips that are unknown to us. */
static int plan_tool(const struct rk_session_options *opt, struct rk_plan *p, struct rk_error *err)
{
	bool ask = opt->ask_installed && p->chosen;
	struct rk_error why = { 0 };
	int unknown = plan_counters(p, &why), rc;

	if (unknown < 0 && (!ask || unknown != RK_E_USAGE) &&
	    (rc = without_counters(opt, p, &why, err)) < 0)
		return rc;
	rc = rk_plan_tool(opt, p, err);
	if (rc < 0) {
		/* without a tool, a wrong name is what to mend first */
		unknown = unknown < 0 ? without_counters(opt, p, &why, err) : 0;
		return unknown < 0 ? unknown : rc;
	}
	if (ask && (rc = ask_installed(p, err)) < 0)
		return rc;
	if (p->want.counters[0] && !p->counters)
		return without_counters(opt, p, &why, err);
	return 0;
}

/* Notes about the chip, and about its counters if we pass some to the tool. */
static void note_counters(struct rk_plan *p)
{
	/* counters depend on the chip: print a note if it is a guess */
	if (p->arch_assumed && !p->tool->library && p->amd)
		rk_list_addf(
			&p->notes,
			"the gfx target of the AMD GPU is unknown (it is not in /sys/class/kfd): "
			"using %s; --arch GFX selects another",
			p->arch);
	else if (p->arch_assumed && !p->tool->library && p->counters)
		rk_list_addf(
			&p->notes,
			"no AMD GPU found: counters are chosen for %s; --arch GFX selects another",
			p->arch);
	if (!p->counters || p->tool->one_run)
		return;
	for (size_t i = 0; i < p->counters->nchecks; i++) {
		const struct rk_counter_check *c = &p->counters->checks[i];

		if (c->status == RK_COUNTER_MISSING)
			rk_list_addf(&p->notes, "counter %s: %s", c->asked, c->reason);
	}
	if (!p->counters->npasses)
		rk_list_addf(&p->notes, "none of the counters exist on %s", p->arch);
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

/* One command line; `pass` has its counters and traces already. */
static int make_pass(struct rk_plan *p, size_t i, struct rk_error *err)
{
	struct rk_plan_pass *pass = &p->passes[i];
	const struct rk_want want = {
		.traces = pass->traces,
		.stats = p->want.stats && !pass->counters.n,
		.counters = p->tool->one_run ? &p->own_counters : &pass->counters,
		.pc = p->want.pc_wanted && &p->passes[0] == pass ? &p->want.pc : NULL,
		.kernel_regex = p->kernel_regex,
		.arch = p->arch,
		.dir = pass->dir,
		.rank_key = p->rank_key,
		.extra = &p->want.tool_args,
		.app = &p->want.command,
		.groups = pass->groups,
		.ngroups = pass->ngroups,
		.spm = pass->spm ? &p->spm : NULL,
		.thread_trace = pass->thread_trace,
		.attach_pid = p->attach_pid,
		.delay_s = p->delay_s,
		.duration_s = p->duration_s,
		/* a step to watch does not limit what is recorded */
		.range = p->window.slow_percent ? NULL : p->range,
		.range_library = p->range_library,
		.window_bytes = p->window.bytes,
		.switched = p->window.bytes || rk_plan_switches(p),
		.asleep = p->delay_s && p->tool->library,
		.every_on = p->range ? p->window.every_on : 0,
		.every_of = p->range ? p->window.every_of : 0,
		.sample = p->window.sample,
	};
	const struct rk_list *notes = &pass->how.notes;
	struct rk_list kept = { 0 };
	int rc = p->tool->command(p->tool_path, p->version, &want, &pass->how, err);

	if (rc < 0)
		return rc;
	if (pass->how.instead.n) {
		rk_list_release(&pass->counters);
		rk_list_append(&pass->counters, &pass->how.instead);
	}
	for (size_t k = 0; k < notes->n; k++)
		rk_list_add_once(&p->notes, notes->v[k]);
	p->notes.bad = p->notes.bad || notes->bad;
	/* After the tool's variables, which override those of preset and libraries. */
	add_env(pass, &p->want.env);
	if (i == 0)
		add_env(pass, &p->library_env);
	/* variables that the user has set keep their values */
	rk_env_kept(environ, &pass->how.env, &kept);
	for (size_t k = 0; k < kept.n; k++) {
		char *text = rk_strf("%s is already set and keeps its value", kept.v[k]);

		if (text)
			rk_list_add_once(&p->notes, text);
		p->notes.bad = p->notes.bad || !text;
		rk_free(text);
	}
	p->notes.bad = p->notes.bad || kept.bad;
	rk_list_release(&kept);
	if (pass->how.argv.bad || pass->how.env.bad || pass->counters.bad)
		return rk_fail_nomem(err);
	return 0;
}

/*
 * Libraries log only in the first pass: every execution of the program makes the same calls, so
 * they would be counted several times.
 */
static int plan_libraries(struct rk_plan *p, struct rk_error *err)
{
	struct rk_list known = { 0 };
	int rc;

	if (!p->want.libraries)
		return 0;
	rk_list_addv(&known, environ);
	rk_list_append(&known, &p->want.env);
	if (known.bad)
		rc = rk_fail_nomem(err);
	else
		rc = rk_library_env(p->want.libraries, p->library_dir, known.v, &p->library_env,
				    &p->notes, err);
	rk_list_release(&known);
	return rc;
}

/* Warn about files written elsewhere, else nothing explains why the run is empty. */
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
					     "option '%s' of %s may write files outside the run "
					     "directory, where rockit does not find them",
					     moves[k], p->tool->name);
}

/* Distributes the packed counters over `passes`, those of a replaying tool over one. */
static int share_counters(struct rk_plan *p, struct rk_plan_pass *passes, struct rk_error *err)
{
	const struct rk_counter_plan *c = p->counters;
	bool replay = p->asks & RK_ASK_REPLAY;
	bool together = replay || p->tool->replays || p->tool->one_run;

	if (replay) {
		passes->groups = rk_calloc(c->npasses, sizeof(*passes->groups));
		if (!passes->groups)
			return rk_fail_nomem(err);
		passes->ngroups = c->npasses;
	}
	for (size_t i = 0; i < c->npasses; i++) {
		struct rk_plan_pass *pass = &passes[together ? 0 : i];
		struct rk_list *l = p->tool->one_run ? &p->own_counters : &pass->counters;

		if (!p->tool->one_run)
			pass->traces = RK_TRACE_KERNEL;
		/*
		 * A counter that two groups measure is one counter of the pass, but an accumulator
		 * follows each level counter.
		 */
		for (size_t k = 0; k < c->passes[i].n; k++) {
			const char *name = c->passes[i].counters[k];

			if (together && strncmp(name, "SQ_ACCUM_PREV", 13) != 0)
				rk_list_add_once(l, name);
			else
				rk_list_add(l, name);
			if (replay)
				rk_list_add(&pass->groups[i], name);
		}
		if (l->bad || (replay && pass->groups[i].bad))
			return rk_fail_nomem(err);
	}
	return 0;
}

static const char *what_of(const struct rk_plan *p, const struct rk_plan_pass *pass)
{
	if (pass->ngroups > 1)
		return "counters, by kernel replay";
	if (pass->counters.n)
		return "counters";
	if (pass->spm)
		return "streamed counters";
	if (pass->thread_trace)
		return "thread trace";
	return p->want.pc_wanted ? "PC samples and trace" : "trace";
}

static int plan_passes(struct rk_plan *p, struct rk_error *err)
{
	size_t npacked = p->counters ? p->counters->npasses : 0;
	bool together = p->tool->replays || p->asks & RK_ASK_REPLAY;
	size_t ncounters = together && npacked ? 1 : npacked;
	bool alone = p->tool->one_run, att = p->asks & RK_ASK_ATT;
	bool trace = p->want.traces || p->want.pc_wanted || !(ncounters || p->spm.n || att);
	size_t at = 0;
	int rc = plan_libraries(p, err);

	if (rc < 0)
		return rc;
	note_counters(p);
	/* Without any request a profiler collects nothing or fails. */
	if (trace && !alone && !p->want.traces && !p->want.pc_wanted) {
		p->want.traces = RK_TRACE_KERNEL;
		rk_list_add(&p->notes, "nothing else to collect: tracing kernels");
	}
	if (!trace && !alone && att && !ncounters && !p->spm.n)
		rk_list_add(&p->notes,
			    "only a thread trace is collected, which slows kernels down; -t kernel "
			    "adds a pass for times");
	else if (!trace && !alone)
		rk_list_add(&p->notes,
			    "only counters are collected, so kernel times include counter "
			    "overhead; -t kernel adds a pass for times");
	note_output_options(p);

	p->npasses = alone ? 1 : (size_t)trace + ncounters + (p->spm.n > 0) + att;
	if (p->attach_pid && p->npasses > 1)
		return rk_fail(err, RK_E_USAGE,
			       "--attach makes one pass, but this request needs %zu: ask for "
			       "traces, or for counters that fit into one pass, not for both",
			       p->npasses);
	p->passes = rk_calloc(p->npasses, sizeof(*p->passes));
	if (!p->passes)
		return rk_fail_nomem(err);
	if (trace || alone)
		p->passes[at++].traces = p->want.traces;
	if (npacked && (rc = share_counters(p, &p->passes[alone ? 0 : at], err)) < 0)
		return rc;
	at += ncounters;
	/* Kernels are traced where no other pass does it. */
	if (p->spm.n) {
		p->passes[at].spm = true;
		p->passes[at++].traces = RK_TRACE_KERNEL;
	}
	if (att) {
		p->passes[at].thread_trace = true;
		p->passes[at].traces = at ? 0 : RK_TRACE_KERNEL;
	}

	for (size_t i = 0; i < p->npasses; i++) {
		struct rk_plan_pass *pass = &p->passes[i];

		pass->what = what_of(p, pass);
		/* a folder of its own when there are several */
		if (p->npasses > 1)
			pass->dir = rk_strf("%s/pass_%zu", p->raw_dir, i + 1);
		else
			pass->dir = rk_strdup(p->raw_dir);
		if (!pass->dir)
			return rk_fail_nomem(err);
		rc = make_pass(p, i, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* ---- options that only rocprofv3 has ---- */

/* Streaming is for the registers themselves; a derived counter is computed from several. */
static int plan_spm(const char *names, struct rk_plan *p, struct rk_error *err)
{
	rk_list_split(&p->spm, names, ", ");
	if (p->spm.bad)
		return rk_fail_nomem(err);
	if (!p->spm.n)
		return rk_fail(err, RK_E_USAGE, "--spm needs the names of counters");
	/* of a chip that we do not know, rocprofv3 knows more */
	for (size_t i = 0; rk_counters_arch_find(p->arch) && i < p->spm.n; i++) {
		const struct rk_counter *c = rk_counters_find(p->arch, p->spm.v[i]);

		if (!c)
			return rk_fail(
				err, RK_E_USAGE,
				"unknown counter '%s' of %s in --spm, which takes names and no "
				"sets; see 'rockit counters --arch %s'",
				p->spm.v[i], p->arch, p->arch);
		if (c->derived)
			return rk_fail(
				err, RK_E_USAGE,
				"--spm cannot stream '%s': it is derived from other counters",
				c->name);
	}
	return 0;
}

/* The collector that follows ranges; a plan for another machine does not need it. */
static int plan_range(const struct rk_session_options *opt, struct rk_plan *p, struct rk_error *err)
{
	struct rk_bytes path;
	int rc = 0;

	if (!opt->range[0])
		return rk_fail(err, RK_E_USAGE, "--range needs the name of a ROCTx range");
	if (p->tool->library) { /* it knows the ranges itself */
		p->range = rk_strdup(opt->range);
		return p->range ? 0 : rk_fail_nomem(err);
	}
	rk_bytes_init(&path, 1 << 16);
	if (rk_collector_find(RK_RANGE_LIBRARY, &path))
		p->range_library = rk_strdup(rk_bytes_str(&path));
	else if (opt->tool_version)
		p->range_library = rk_strdup(RK_RANGE_LIBRARY);
	else if (!path.bad)
		rc = rk_fail(err, RK_E_UNSUPPORTED,
			     RK_RANGE_LIBRARY " not found beside the rockit command or in its lib "
					      "directory: this rockit was built without it");
	p->range = rk_strdup(opt->range);
	if (rc == 0 && (!p->range || !p->range_library))
		rc = rk_fail_nomem(err);
	rk_bytes_release(&path);
	return rc;
}

static int plan_asks(const struct rk_session_options *opt, struct rk_plan *p, struct rk_error *err)
{
	const unsigned known = RK_ASK_COUNTERS | RK_ASK_PC;
	const struct {
		bool asked;
		unsigned bit;
	} asks[] = {
		/* those of a preset that a collector does not have are a note */
		{ p->want.counters[0] && (opt->counters || !p->tool->library), RK_ASK_COUNTERS },
		{ p->want.pc_wanted, RK_ASK_PC },
		{ opt->attach_pid, RK_ASK_ATTACH },
		{ opt->thread_trace, RK_ASK_ATT },
		{ opt->spm, RK_ASK_SPM },
		{ opt->delay_s, RK_ASK_DELAY },
		{ opt->duration_s, RK_ASK_DURATION },
		{ opt->range, RK_ASK_RANGE },
		{ opt->window || opt->record, RK_ASK_WINDOW },
		{ opt->every, RK_ASK_EVERY },
		{ opt->sample, RK_ASK_SAMPLE },
	};
	int rc;

	for (size_t i = 0; i < sizeof(asks) / sizeof(asks[0]); i++)
		if (asks[i].asked)
			p->asks |= asks[i].bit;
	if (opt->replay && !strcmp(opt->replay, "kernel"))
		p->asks |= RK_ASK_REPLAY;
	else if (opt->replay && strcmp(opt->replay, "application") != 0)
		return rk_fail(err, RK_E_USAGE, "unknown replay '%s'; known: kernel, application",
			       opt->replay);
	if (p->asks & ~known && !p->tool->check)
		return rk_fail(err, RK_E_USAGE,
			       "%s has no --attach, --att, --spm, --replay kernel, --delay, "
			       "--duration, --range, --window, --every or --sample; use --tool "
			       "rocprofv3, or rockit's own rocm, cupti or opencl",
			       p->tool->name);
	if (p->tool->check && (rc = p->tool->check(p->version, p->asks, err)) < 0)
		return rc;
	p->attach_pid = opt->attach_pid;
	p->delay_s = opt->delay_s;
	p->duration_s = opt->duration_s;
	if (opt->spm && (rc = plan_spm(opt->spm, p, err)) < 0)
		return rc;
	if (opt->range && (rc = plan_range(opt, p, err)) < 0)
		return rc;
	return rk_plan_window(opt, p, err);
}

/* A running process has its own environment, and is not ours to end. */
static int check_attach(const struct rk_session_options *opt, struct rk_error *err)
{
	if (opt->attach_pid > INT32_MAX)
		return rk_fail(err, RK_E_USAGE, "invalid process number in --attach");
	if (opt->argv && opt->argv[0])
		return rk_fail(err, RK_E_USAGE,
			       "--attach records a running process and takes no program ('%s')",
			       opt->argv[0]);
	if (opt->baseline)
		return rk_fail(err, RK_E_USAGE, "--attach cannot be combined with --baseline");
	if (opt->timeout_s)
		return rk_fail(err, RK_E_USAGE,
			       "--attach cannot be combined with --timeout, which would kill the "
			       "profiler inside the process; use --duration");
	return 0;
}

/* ---- the plan ---- */

/*
 * Ranks that were given no directory share one that is named after job and step. *ret is owned by
 * the caller, or NULL if that does not apply.
 */
static int common_dir(const struct rk_session_options *opt, struct rk_plan *p, char **ret,
		      struct rk_error *err)
{
	const struct rk_rank *r = &p->rank;

	*ret = NULL;
	if (opt->dir || r->rank < 0)
		return 0;
	if (!r->job[0]) {
		rk_list_add(&p->notes,
			    "the job has no id, so each rank gets its own run directory; use -d "
			    "DIR to share one");
		return 0;
	}
	*ret = rk_strf("rockit_output/job-%s%s%s", r->job, r->step[0] ? "." : "", r->step);
	if (!*ret)
		return rk_fail_nomem(err);
	for (char *c = *ret + strlen("rockit_output/"); *c; c++)
		if ((unsigned char)*c <= ' ' || *c == '/')
			*c = '_';
	return 0;
}

/* Under a launcher each rank has its own folder. */
static int plan_dirs(const struct rk_session_options *opt, struct rk_plan *p, struct rk_error *err)
{
	struct rk_bytes b;
	char *common = NULL;
	int rc = common_dir(opt, p, &common, err);

	if (rc < 0)
		return rc;
	rk_bytes_init(&b, 1 << 16);
	rc = rk_run_dir_name(common ? common : opt->dir, p->rank.rank, &b, err);
	if (rc < 0)
		goto out;
	p->target = rk_strdup(rk_bytes_str(&b));
	if (!p->target) {
		rc = rk_fail_nomem(err);
		goto out;
	}
	if (p->rank.rank >= 0 && p->chosen) {
		rc = rk_scratch_pick(environ, p->target, &p->notes, &p->scratch, err);
		if (rc < 0)
			goto out;
	}
	if (p->scratch)
		p->dir = rk_strf("%s/%s", p->scratch, rk_base_name(p->target));
	else
		p->dir = rk_strdup(p->target);
	if (p->dir) {
		p->raw_dir = rk_strf("%s/rocprof_raw", p->dir);
		p->library_dir = rk_strf("%s/library_logs", p->dir);
	}
	if (!p->raw_dir || !p->library_dir)
		rc = rk_fail_nomem(err);
out:
	rk_bytes_release(&b);
	rk_free(common);
	return rc;
}

/* Copies a text that may be NULL; false: out of memory. */
static bool copy(char **at, const char *text)
{
	if (text)
		*at = rk_strdup(text);
	return *at || !text;
}

static int make(const struct rk_session_options *opt, struct rk_plan *p, struct rk_error *err)
{
	const char *key;
	bool chosen;
	int rc;

	p->timeout_ms = opt->timeout_s > UINT64_MAX / 1000 ? UINT64_MAX : opt->timeout_s * 1000;
	p->grace_ms = opt->grace_s > UINT64_MAX / 1000 ? UINT64_MAX : opt->grace_s * 1000;
	p->force = opt->force;
	p->keep_going = opt->keep_going;
	p->baseline = opt->baseline;
	p->redact = opt->redact;
	if (!copy(&p->kernel_regex, opt->kernel_regex) || !copy(&p->ranks, opt->ranks) ||
	    !copy(&p->root, opt->root))
		return rk_fail_nomem(err);
	if (opt->attach_pid && (rc = check_attach(opt, err)) < 0)
		return rc;
	if (!opt->attach_pid && (!opt->argv || !opt->argv[0] || !opt->argv[0][0]))
		return rk_fail(err, RK_E_USAGE, "no program to run; put it after '--'");
	p->rank = rk_rank_find(environ);
	p->chosen = true;
	if (opt->ranks && p->rank.rank < 0)
		rk_list_add(&p->notes, "--ranks is ignored: no launcher has set a rank variable");
	if (p->rank.contradicts[0])
		rk_list_addf(&p->notes,
			     "%s says rank %" PRId64 " and %s says %" PRId64 " of as many: using "
			     "%s; set ROCKIT_RANK to choose",
			     p->rank.variable, p->rank.rank, p->rank.contradicts,
			     p->rank.other_rank, p->rank.variable);
	/* a malformed list is an error without a launcher, too */
	rc = rk_rank_chosen(opt->ranks, p->rank.rank, &chosen, err);
	if (rc < 0)
		return rc;
	if (p->rank.rank >= 0)
		p->chosen = chosen;
	if ((rc = plan_dirs(opt, p, err)) < 0 ||
	    (rc = rk_plan_request(opt, &p->want, &p->notes, err)) < 0 ||
	    (rc = rk_plan_arch(opt, p, err)) < 0 || (rc = plan_tool(opt, p, err)) < 0)
		return rc;
	if (p->want.nothing_said && p->tool->library)
		p->want.traces = p->tool->lightest;
	if ((rc = plan_asks(opt, p, err)) < 0)
		return rc;
	if (p->attach_pid && (p->want.libraries || p->want.env.n)) {
		rk_list_add(&p->notes,
			    "no library traces, and no variables of the preset: they would "
			    "have to be set when the process starts");
		p->want.libraries = 0;
		rk_list_release(&p->want.env);
	}
	/*
	 * One torchrun on each node of a job: the job's rank is the node's, its workers have RANK.
	 * Workers of mpirun would be known by %rank%, which is the node's as well.
	 */
	key = rk_launcher_key(&p->want.command);
	if (p->rank.rank < 0 || (key && strcmp(key, "RANK") == 0))
		p->rank_key = key;
	/* Inherited variables of an earlier profiler. */
	for (char **e = environ; e && *e; e++)
		if (leaks(*e))
			rk_list_addn(&p->unset, *e, strcspn(*e, "="));
	if (p->redact)
		rk_list_add(&p->notes, "--redact does not change the profiler's files in "
				       "rocprof_raw: remove them before you share the run");
	if ((rc = plan_passes(p, err)) < 0 || (rc = rk_plan_hazards(p, err)) < 0)
		return rc;
	if (p->notes.bad || p->unset.bad || p->hazards.bad)
		return rk_fail_nomem(err);
	return 0;
}

int rk_plan_make(const struct rk_session_options *opt, struct rk_plan **ret, struct rk_error *err)
{
	struct rk_plan *p = rk_calloc(1, sizeof(*p));
	int rc;

	if (!p)
		return rk_fail_nomem(err);
	rc = make(opt, p, err);
	if (rc < 0) {
		rk_plan_free(p);
		return rc;
	}
	*ret = p;
	return 0;
}

void rk_plan_free(struct rk_plan *p)
{
	if (!p)
		return;
	for (size_t i = 0; p->passes && i < p->npasses; i++) {
		rk_tool_command_release(&p->passes[i].how);
		rk_list_release(&p->passes[i].counters);
		for (size_t k = 0; k < p->passes[i].ngroups; k++)
			rk_list_release(&p->passes[i].groups[k]);
		rk_free(p->passes[i].groups);
		rk_free(p->passes[i].dir);
	}
	rk_free(p->passes);
	rk_request_release(&p->want);
	rk_counter_plan_free(p->counters);
	rk_list_release(&p->own_counters);
	rk_free(p->tool_path);
	rk_free(p->tool_version);
	rk_free(p->arch);
	rk_free(p->ranks);
	rk_free(p->target);
	rk_free(p->scratch);
	rk_free(p->dir);
	rk_free(p->raw_dir);
	rk_free(p->library_dir);
	rk_free(p->kernel_regex);
	rk_list_release(&p->spm);
	rk_free(p->range);
	rk_free(p->range_library);
	rk_free(p->root);
	rk_list_release(&p->unset);
	rk_list_release(&p->library_env);
	rk_list_release(&p->notes);
	rk_list_release(&p->hazards);
	rk_free(p);
}
