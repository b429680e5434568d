/* plan_request.c - the request (options, context, preset) and the choice of the profiler. */
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text.h"
#include "base/words.h"
#include "counters/counter_table.h"
#include "io/file.h"
#include "monitor/sampler.h"
#include "monitor/sysfs.h"
#include "rockit/gpus.h"
#include "rockit/monitor.h"
#include "rockit/rockit.h"
#include "rockit/tools.h"
#include "session/library_trace.h"
#include "session/plan.h"
#include "tool/hazards.h"

/* ---- the request ---- */

extern char **environ;

enum { CONTEXT_BYTES = 1 << 20 };

static bool says_nothing(const struct rk_session_options *opt)
{
	return !opt->preset && !opt->traces && !opt->counters && !opt->context &&
	       !opt->context_file && !opt->spm && !opt->thread_trace;
}

/* Applies a context to *preset. */
static int over(struct rk_preset **preset, const char *text, size_t len, const char *name,
		struct rk_error *err)
{
	struct rk_preset *with = NULL;
	int rc = rk_preset_from_context(*preset, text, len, name, &with, err);

	if (rc < 0)
		return rc;
	rk_preset_free(*preset);
	*preset = with;
	return 0;
}

static int over_file(struct rk_preset **preset, const char *path, struct rk_error *err)
{
	struct rk_file *f = NULL;
	char *text = rk_alloc(CONTEXT_BYTES);
	size_t len = 0;
	int rc;

	if (!text)
		return rk_fail_nomem(err);
	if ((rc = rk_file_open(path, &f, err)) < 0 ||
	    (rc = rk_file_read(f, text, CONTEXT_BYTES, &len, err)) < 0)
		goto out;
	if (len == CONTEXT_BYTES) {
		rc = rk_fail(err, RK_E_LIMIT, "the context is larger than one megabyte");
		rk_error_at(err, path, 0, 0);
		goto out;
	}
	rc = over(preset, text, len, path, err);
out:
	rk_file_close(f);
	rk_free(text);
	return rc;
}

/* "power,vram" from the option, else from the preset's words; "none" is none. */
static int choose_bits(const char *option, const char *const *words,
		       int (*parse)(const char *, unsigned *, struct rk_error *), unsigned *ret,
		       struct rk_error *err)
{
	if (option && !strcmp(option, "none"))
		return 0;
	if (option)
		return parse(option, ret, err);
	for (; words && *words; words++) {
		unsigned bit = 0;
		int rc = parse(*words, &bit, err);

		if (rc < 0)
			return rc;
		*ret |= bit;
	}
	return 0;
}

static bool is_python(const char *word)
{
	return strncmp(rk_base_name(word), "python", 6) == 0;
}

/*
 * distributed{} of a context: a Python program is started by torchrun; for anything else the
 * command line of the launcher is left in MAD_MULTI_NODE_RUNNER, where its scripts look for it.
 */
static void launch_by(const struct rk_preset *p, char *const *argv, struct rk_request *r,
		      struct rk_list *notes)
{
	bool torchrun = strcmp(p->launcher, "torchrun") == 0;
	struct rk_list given = { 0 }, runner = { 0 };
	struct rk_bytes line;

	rk_list_addv(&given, argv);
	rk_list_add(&runner, "torchrun");
	if (p->nnodes > 1)
		rk_list_addf(&runner, "--nnodes=%llu", (unsigned long long)p->nnodes);
	else
		rk_list_add(&runner, "--standalone");
	if (p->nproc_per_node)
		rk_list_addf(&runner, "--nproc_per_node=%llu",
			     (unsigned long long)p->nproc_per_node);

	if (rk_launcher_key(&given)) {
		rk_list_add(notes, "the command has its own launcher: distributed{} is ignored");
		rk_list_append(&r->command, &given);
	} else if (torchrun && argv[0] &&
		   (rk_is_python_script(argv[0]) ||
		    (is_python(argv[0]) && argv[1] && argv[1][0] != '-'))) {
		rk_list_append(&r->command, &runner);
		rk_list_addv(&r->command, argv + is_python(argv[0]));
	} else {
		rk_bytes_init(&line, 4096);
		for (size_t i = 0; i < runner.n; i++)
			rk_bytes_printf(&line, "%s%s", i ? " " : "", runner.v[i]);
		rk_list_append(&r->command, &given);
		if (torchrun && rk_bytes_str(&line))
			rk_list_set(&r->env, "MAD_MULTI_NODE_RUNNER", rk_bytes_str(&line));
		r->env.bad = r->env.bad || line.bad;
		rk_list_addf(notes, "launcher %s: the command must start it itself%s", p->launcher,
			     torchrun ? "; MAD_MULTI_NODE_RUNNER has its command line" : "");
		rk_bytes_release(&line);
	}
	r->command.bad = r->command.bad || given.bad || runner.bad;
	rk_list_release(&given);
	rk_list_release(&runner);
}

/* 'rockit slurm' already applied slurm{} and distributed{}. */
static bool is_launched(void)
{
	return rk_env_value(environ, "ROCKIT_LAUNCHED") != NULL;
}

/* A context or the user's file, not a built-in preset. */
static bool is_own(const struct rk_session_options *opt, const struct rk_preset *p)
{
	return opt->context || opt->context_file || strcmp(p->source, "built in") != 0;
}

static void from_preset(const struct rk_session_options *opt, struct rk_request *r,
			struct rk_list *notes)
{
	const struct rk_preset *p = r->preset;

	r->stats = p->stats;
	/* a run for which nothing was requested stays as light as possible */
	if (!r->nothing_said)
		r->timeline = p->timeline;
	r->pc_wanted = p->pc_method[0] != '\0';
	r->pc.interval = p->pc_interval;
	if (strcmp(p->pc_method, "auto") != 0)
		r->pc.method = p->pc_method;
	if (p->pc_unit[0] && strcmp(p->pc_unit, "auto") != 0)
		r->pc.unit = p->pc_unit;
	if (!r->interval_ms)
		r->interval_ms = p->monitor_interval_ms;
	for (const char *const *word = p->env; word && *word; word++)
		rk_list_add(&r->env, *word);
	for (const char *const *word = p->tool_args; word && *word; word++)
		rk_list_add(&r->tool_args, *word);

	/* The notes of our own presets are for 'rockit presets': they are the same in every run. */
	if (!is_own(opt, p))
		return;
	for (const char *const *n = p->notes; n && *n; n++)
		rk_list_add(notes, *n);
	for (const char *const *k = p->ignored; k && *k; k++)
		rk_list_addf(notes, "'%s' of the context is ignored", *k);
	if (p->slurm && p->slurm[0] && !is_launched())
		rk_list_add(notes,
			    "slurm{} is for submitting jobs and is ignored: this run uses only "
			    "this node");
}

/* The counters: as typed, else those of the preset and those that verdicts need. */
static char *counters_of(const struct rk_session_options *opt, const struct rk_preset *preset,
			 struct rk_list *notes)
{
	if (opt->counters)
		return rk_strdup(opt->counters);
	if (!preset)
		return rk_strdup("");
	if (!opt->verdicts || !preset->counters[0])
		return rk_strdup(preset->counters);
	rk_list_add(notes, "also collecting the counters that verdicts need (@limits)");
	return rk_strf("%s,@limits", preset->counters);
}

int rk_plan_preset(const struct rk_session_options *opt, struct rk_preset **ret,
		   struct rk_error *err)
{
	int rc = 0;

	/* The named one, or the lightest if nothing else is requested. */
	if (opt->preset)
		rc = rk_preset_load(opt->preset, ret, err);
	else if (says_nothing(opt))
		rc = rk_preset_load("lightweight", ret, err);
	if (rc < 0)
		return rc;
	/* The file first, then the option. */
	if (opt->context_file && (rc = over_file(ret, opt->context_file, err)) < 0)
		return rc;
	if (opt->context)
		rc = over(ret, opt->context, strlen(opt->context), "--additional-context", err);
	return rc;
}

int rk_plan_request(const struct rk_session_options *opt, struct rk_request *ret,
		    struct rk_list *notes, struct rk_error *err)
{
	const struct rk_preset *p;
	int rc = rk_plan_preset(opt, &ret->preset, err);

	if (rc < 0)
		return rc;
	p = ret->preset;
	ret->interval_ms = opt->monitor_interval_ms;
	ret->nothing_said = says_nothing(opt);
	ret->timeline = "";
	if ((rc = choose_bits(opt->traces, p ? p->traces : NULL, rk_trace_parse, &ret->traces,
			      err)) < 0 ||
	    (rc = choose_bits(opt->monitor, p ? p->monitors : NULL, rk_monitor_parse,
			      &ret->monitors, err)) < 0 ||
	    (rc = choose_bits(opt->library_trace, p ? p->libraries : NULL, rk_library_parse,
			      &ret->libraries, err)) < 0)
		return rc;
	if (p)
		from_preset(opt, ret, notes);
	ret->stats |= opt->stats;
	if (!ret->interval_ms)
		ret->interval_ms = RK_MONITOR_INTERVAL_MS;
	ret->counters = counters_of(opt, p, notes);
	if (!ret->counters)
		return rk_fail_nomem(err);
	if (opt->tool_args && !rk_list_split_words(&ret->tool_args, opt->tool_args))
		return rk_fail(err, RK_E_USAGE, "unclosed quote in --tool-args");
	for (size_t i = 0; i < ret->tool_args.n; i++)
		if (strcmp(ret->tool_args.v[i], "--") == 0)
			return rk_fail(err, RK_E_USAGE,
				       "'--' is not allowed in --tool-args; put the program "
				       "after rockit's own '--'");
	if (p && is_own(opt, p) && p->launcher[0] && !is_launched() && !opt->attach_pid)
		launch_by(p, opt->argv, ret, notes);
	else
		rk_list_addv(&ret->command, opt->argv);
	return ret->command.bad || ret->env.bad || ret->tool_args.bad ? rk_fail_nomem(err) : 0;
}

void rk_request_release(struct rk_request *r)
{
	rk_preset_free(r->preset);
	rk_free(r->counters);
	rk_list_release(&r->env);
	rk_list_release(&r->tool_args);
	rk_list_release(&r->command);
}

/* ---- the profiler ---- */

/* Without a GPU we still need a chip for the counters: use the most common one. */
#define ARCH_ASSUMED "gfx942"

static bool is_auto(const char *tool)
{
	return !tool || strcmp(tool, "auto") == 0;
}

static int keep(char **at, const char *text, struct rk_error *err)
{
	*at = rk_strdup(text);
	return *at ? 0 : rk_fail_nomem(err);
}

int rk_plan_arch(const struct rk_session_options *opt, struct rk_plan *p, struct rk_error *err)
{
	const struct rk_tool_ops *tool = opt->tool ? rk_tool_find(opt->tool) : NULL;
	const char *known, *name = opt->arch;
	struct rk_gpus gpus = { 0 };
	int rc;

	/* loaded here, where lack of memory can be reported: a look-up takes it for an unknown chip */
	if (!rk_counter_table_get(err))
		return RK_E_NOMEM;
	if ((!name || (tool && tool->gpu)) && (rc = rk_gpus_find(opt->root, &gpus, err)) < 0)
		return rc;
	for (size_t i = 0; i < gpus.n; i++) {
		const struct rk_gpu *g = &gpus.gpus[i];

		/* Even if KFD does not name its gfx target: a container may have no KFD. */
		p->amd |= !strcmp(g->vendor, "AMD");
		/* With NVIDIA's driver: under nouveau there is no CUDA. */
		p->cuda |= !strcmp(g->vendor, "NVIDIA") && !strcmp(g->driver, "nvidia");
	}
	if (!name)
		name = rk_gpus_arch(&gpus);
	if (!name[0]) {
		p->arch_assumed = true;
		name = ARCH_ASSUMED;
	}
	known = rk_counters_arch_find(name);
	rc = keep(&p->arch, known ? known : name, err);
	rk_gpus_release(&gpus);
	return rc;
}

/* The path of a tool: its program among `found`, or the library of our own collector. */
static bool find_tool(const struct rk_tool_ops *t, const struct rk_tools_found *found,
		      struct rk_bytes *path)
{
	const struct rk_tool_found *best;

	rk_bytes_clear(path);
	if (t->library)
		return rk_collector_find(t->programs[0], path);
	best = rk_tools_best(found, t->name);
	if (best)
		rk_bytes_puts(path, best->path);
	return best != NULL;
}

/* "rocprofv3 is not installed, but rocprof is: add '--tool rocprof'". */
static int tool_missing(const char *name, const struct rk_tools_found *found, struct rk_error *err)
{
	for (const struct rk_tool_ops *const *t = rk_tools; *t; t++)
		if (!(*t)->library && rk_tools_best(found, (*t)->name))
			return rk_fail(err, RK_E_UNSUPPORTED,
				       "%s is not installed, but %s is: add '--tool %s', or see "
				       "'rockit doctor' for what to install",
				       name, (*t)->name, (*t)->name);
	return rk_fail(err, RK_E_UNSUPPORTED,
		       "no profiler found: install rocprofiler-sdk (ROCm) or the rocm[profiler] "
		       "wheels, or set ROCM_PATH; 'rockit doctor' lists where it looked");
}

/*
 * The version to use: the given one, else the one found. The release of the installation and the
 * tool's own version may differ, because ROCm 7.2.4 has the rocprofv3 of 7.13: the later one counts.
 */
static int set_version(struct rk_plan *p, const char *told, const struct rk_tool_found *found,
		       struct rk_error *err)
{
	const char *own = !told && found && found->rocm[0] ? found->version : "", *text = "";
	const struct rk_version newest = RK_ROCM_NEWEST;
	struct rk_version v;

	if (told)
		text = told;
	else if (found)
		text = found->rocm[0] ? found->rocm : found->version;
	if (text[0] && !rk_version_of_tool(p->tool->name, text, &p->version)) {
		if (told)
			return rk_fail(err, RK_E_USAGE, "invalid version '%s' of %s", told,
				       p->tool->name);
		rk_list_addf(&p->notes,
			     "cannot parse the version of %s ('%s'): assuming the newest",
			     p->tool_path, text);
	}
	if (rk_version_newer(p->tool->name, own))
		text = own;
	if (rk_version_newer(p->tool->name, text))
		rk_list_addf(&p->notes,
			     "%s %s is newer than this rockit: it is called with the options of "
			     "ROCm %d.%d",
			     p->tool->name, text, newest.major, newest.minor);
	else if (rk_version_known(p->version) && rk_version_of_tool(p->tool->name, own, &v) &&
		 rk_version_compare(v, p->version) > 0)
		p->version = v;
	return keep(&p->tool_version, text, err);
}

/*
 * Whether this machine has the GPUs that a collector needs. An AMD GPU without a gfx target beside
 * NVIDIA's driver only drives the screen.
 */
static bool has_gpu(const struct rk_plan *p, const struct rk_tool_ops *t)
{
	switch (t->gpu) {
	case RK_TOOL_NVIDIA_GPU:
		return p->cuda;
	case RK_TOOL_AMD_GPU:
		return p->amd && (!p->arch_assumed || !p->cuda);
	default:
		return true;
	}
}

/* The first one found among AMD's profilers, or among our own collectors. */
static const struct rk_tool_ops *choose_among(bool library, const struct rk_plan *p,
					      const struct rk_tools_found *found,
					      struct rk_bytes *path)
{
	for (const struct rk_tool_ops *const *t = rk_tools; *t; t++)
		if ((*t)->library == library && has_gpu(p, *t) && find_tool(*t, found, path))
			return *t;
	return NULL;
}

/*
 * With an AMD GPU (or --arch) AMD's profilers come first. Without one, our own collectors do, the
 * one for the GPU before OpenCL, which works everywhere.
 */
static const struct rk_tool_ops *choose(const struct rk_session_options *opt, struct rk_plan *p,
					const struct rk_tools_found *found, struct rk_bytes *path)
{
	const struct rk_tool_ops *tool = NULL;

	if (opt->record)
		return choose_among(true, p, found, path);
	if (!p->arch_assumed || (p->amd && !p->cuda))
		tool = choose_among(false, p, found, path);
	if (!tool && !opt->arch)
		tool = choose_among(true, p, found, path);
	if (!tool && p->arch_assumed)
		tool = choose_among(false, p, found, path);
	return tool;
}

/* Fills tool, path and version. */
static int from_found(const struct rk_session_options *opt, struct rk_plan *p,
		      const struct rk_tools_found *found, struct rk_bytes *path,
		      struct rk_error *err)
{
	static const char *const gpus[] = {
		[RK_TOOL_NVIDIA_GPU] = "NVIDIA GPU with NVIDIA's driver",
		[RK_TOOL_AMD_GPU] = "AMD GPU",
	};
	bool there;
	int rc;

	p->tool = is_auto(opt->tool) ? choose(opt, p, found, path) : rk_tool_find(opt->tool);
	if (!p->tool)
		return tool_missing("a profiler", found, err);
	there = find_tool(p->tool, found, path);
	/* With NVIDIA's GPUs alone everybody expects their own collector, and 'record' has no other. */
	if (is_auto(opt->tool) && p->tool->library && !opt->record &&
	    !(p->tool->gpu == RK_TOOL_NVIDIA_GPU && p->arch_assumed))
		rk_list_addf(&p->notes, "%s; tracing %s (see 'rockit doctor')",
			     p->arch_assumed && !p->amd ? "no AMD GPU found" :
							  "no AMD profiler found",
			     p->tool->api);
	/* A plan for another machine names a version. */
	if (!has_gpu(p, p->tool) && !opt->tool_version)
		rk_list_addf(&p->notes,
			     "no %s found: the program runs, but nothing will be recorded",
			     gpus[p->tool->gpu]);
	/* With a given version, planning needs no installed profiler, but running does. */
	if (!there && p->tool->library && !opt->tool_version)
		return rk_fail(
			err, RK_E_UNSUPPORTED,
			"%s not found beside the rockit command or in its lib directory: this "
			"rockit was built without it",
			p->tool->programs[0]);
	if (!there && !opt->tool_version)
		return tool_missing(p->tool->name, found, err);
	if (!there) {
		const struct rk_version *r = &p->tool->renamed;
		struct rk_version v = { 0 };
		bool known = rk_version_of_tool(p->tool->name, opt->tool_version, &v);

		rk_bytes_puts(path,
			      p->tool->programs[known && rk_version_before(v, r->major, r->minor)]);
	}
	if (!rk_bytes_str(path))
		return rk_fail_nomem(err);
	rc = keep(&p->tool_path, rk_bytes_str(path), err);
	if (rc < 0)
		return rc;
	if (p->tool->library)
		return keep(&p->tool_version,
			    opt->tool_version ? opt->tool_version : ROCKIT_VERSION, err);
	return set_version(p, opt->tool_version, rk_tools_best(found, p->tool->name), err);
}

int rk_plan_tool(const struct rk_session_options *opt, struct rk_plan *p, struct rk_error *err)
{
	const struct rk_tools_options where = { .root = opt->root };
	const char *names[16] = { NULL };
	struct rk_tools_found found = { 0 };
	struct rk_bytes path;
	int rc;

	if (!is_auto(opt->tool) && !rk_tool_find(opt->tool)) {
		for (size_t i = 0; i < 15; i++)
			names[i] = rk_tool_word(i);
		return rk_fail_unknown(err, "tool", opt->tool, names);
	}
	rc = rk_tools_find(&where, &found, err);
	if (rc < 0)
		return rc;
	rk_bytes_init(&path, 1 << 16);
	rc = from_found(opt, p, &found, &path, err);
	rk_tools_release(&found);
	rk_bytes_release(&path);
	return rc;
}

/* Python, or a launcher of Python programs. */
static bool runs_python(const struct rk_list *command)
{
	const char *key = rk_launcher_key(command);

	return command->n && (is_python(command->v[0]) || rk_is_python_script(command->v[0]) ||
			      (key && !strcmp(key, "RANK")));
}

int rk_plan_hazards(struct rk_plan *p, struct rk_error *err)
{
	struct rk_hazards found = { 0 };
	struct rk_hazard_case c = {
		.tool = p->tool->name,
		.version = p->version,
		.arch = p->arch_assumed ? "" : p->arch,
		.asks = p->asks & ~(unsigned)RK_ASK_REPLAY,
	};
	struct rk_machine machine;
	int rc = rk_machine_read(p->root, &machine, err);

	if (rc < 0)
		return rc;
	c.driver = machine.driver;
	c.firmware = machine.firmware;
	if (machine.wsl)
		c.asks |= RK_CASE_WSL;
	if (runs_python(&p->want.command))
		c.asks |= RK_CASE_PYTHON;
	if ((p->rank.rank >= 0 && p->rank.size != 1) || p->rank_key)
		c.asks |= RK_CASE_JOB;
	if (p->attach_pid && rk_attach_has_torch(p))
		c.asks |= RK_CASE_TORCH;
	for (size_t i = 0; i < p->npasses; i++) {
		c.traces |= p->passes[i].how.delivers;
		if (p->passes[i].ngroups > 1) /* one set of counters is not replayed */
			c.asks |= RK_ASK_REPLAY;
	}
	rc = rk_hazards_find(&c, &found, err);
	for (size_t i = 0; i < found.n; i++)
		rk_list_add_once(&p->hazards, found.v[i].text);
	rk_hazards_release(&found);
	return rc;
}
