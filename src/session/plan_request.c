/* plan_request.c - what is wanted: options over context over preset. */
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text.h"
#include "io/file.h"
#include "monitor/sampler.h"
#include "rockit/monitor.h"
#include "session/library_trace.h"
#include "session/plan.h"

extern char **environ;

enum { CONTEXT_BYTES = 1 << 20 };

static bool says_nothing(const struct rk_session_options *opt)
{
	return !opt->preset && !opt->traces && !opt->counters && !opt->context &&
	       !opt->context_file;
}

/* The preset to begin with: as named, or the lightest one when nothing else says what to do. */
static int base_preset(const struct rk_session_options *opt, struct rk_preset **ret,
		       struct rk_error *err)
{
	if (opt->preset)
		return rk_preset_load(opt->preset, ret, err);
	return says_nothing(opt) ? rk_preset_load("lightweight", ret, err) : 0;
}

static int read_context(const char *path, char **ret, size_t *ret_len, struct rk_error *err)
{
	struct rk_file *f = NULL;
	char *text = rk_alloc(CONTEXT_BYTES);
	int rc = text ? rk_file_open(path, &f, err) : rk_fail_nomem(err);

	if (rc == 0)
		rc = rk_file_read(f, text, CONTEXT_BYTES, ret_len, err);
	if (rc == 0 && *ret_len == CONTEXT_BYTES) {
		rc = rk_fail(err, RK_E_LIMIT, "a context of a megabyte or more");
		rk_error_at(err, path, 0, 0);
	}
	rk_file_close(f);
	if (rc < 0)
		rk_free(text);
	else
		*ret = text;
	return rc;
}

/* *preset becomes what the context makes of it. */
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

/* The file first, then what was typed. */
static int contexts(const struct rk_session_options *opt, struct rk_preset **preset,
		    struct rk_error *err)
{
	char *text = NULL;
	size_t len = 0;
	int rc = 0;

	if (opt->context_file) {
		rc = read_context(opt->context_file, &text, &len, err);
		if (rc == 0)
			rc = over(preset, text, len, opt->context_file, err);
		rk_free(text);
	}
	if (rc == 0 && opt->context)
		rc = over(preset, opt->context, strlen(opt->context), "--additional-context", err);
	return rc;
}

static void add_words(struct rk_list *l, const char *const *words)
{
	for (; words && *words; words++)
		rk_list_add(l, *words);
}

/* "power,vram" from the option, else from the preset's words; "none" is none. */
static int choose_bits(const char *option, const char *const *words,
		       int (*parse)(const char *, unsigned *, struct rk_error *), unsigned *ret,
		       struct rk_error *err)
{
	int rc = 0;

	if (option)
		return strcmp(option, "none") ? parse(option, ret, err) : 0;
	for (; rc == 0 && words && *words; words++) {
		unsigned bit = 0;

		rc = parse(*words, &bit, err);
		*ret |= bit;
	}
	return rc;
}

static bool is_python(const char *word)
{
	return strncmp(rk_base_name(word), "python", 6) == 0;
}

static void put_torchrun(struct rk_list *l, const struct rk_preset *p)
{
	rk_list_add(l, "torchrun");
	if (p->nnodes > 1)
		rk_list_addf(l, "--nnodes=%llu", (unsigned long long)p->nnodes);
	else
		rk_list_add(l, "--standalone");
	if (p->nproc_per_node)
		rk_list_addf(l, "--nproc_per_node=%llu", (unsigned long long)p->nproc_per_node);
}

/*
 * distributed{} of a context: a Python program is started by torchrun; for anything else the
 * command line of the launcher is left in MAD_MULTI_NODE_RUNNER, where its scripts look for it.
 */
static void launch_by(const struct rk_preset *p, char *const *argv, struct rk_request *r,
		      struct rk_list *notes)
{
	struct rk_list given = { 0 }, runner = { 0 };
	struct rk_bytes line;

	rk_list_addv(&given, argv);
	put_torchrun(&runner, p);
	if (rk_launcher_key(&given)) {
		rk_list_add(notes,
			    "the command has a launcher of its own: distributed{} is not used");
		rk_list_append(&r->command, &given);
	} else if (strcmp(p->launcher, "torchrun") == 0 && argv[0] &&
		   (rk_is_python_script(argv[0]) ||
		    (is_python(argv[0]) && argv[1] && argv[1][0] != '-'))) {
		rk_list_append(&r->command, &runner);
		rk_list_addv(&r->command, argv + is_python(argv[0]));
	} else {
		rk_bytes_init(&line, 4096);
		for (size_t i = 0; i < runner.n; i++)
			rk_bytes_printf(&line, "%s%s", i ? " " : "", runner.v[i]);
		rk_list_append(&r->command, &given);
		if (strcmp(p->launcher, "torchrun") == 0 && rk_bytes_str(&line))
			rk_list_set(&r->env, "MAD_MULTI_NODE_RUNNER", rk_bytes_str(&line));
		r->env.bad = r->env.bad || line.bad;
		rk_list_addf(notes, "launcher %s: the command starts it itself%s", p->launcher,
			     strcmp(p->launcher, "torchrun") ? "" :
							       "; MAD_MULTI_NODE_RUNNER says how");
		rk_bytes_release(&line);
	}
	r->command.bad = r->command.bad || given.bad || runner.bad;
	rk_list_release(&given);
	rk_list_release(&runner);
}

/* 'rockit slurm' has done what slurm{} and distributed{} ask for. */
static bool is_launched(void)
{
	return rk_env_value(environ, "ROCKIT_LAUNCHED") != NULL;
}

static void note_context(const struct rk_preset *p, struct rk_list *notes)
{
	for (const char *const *n = p->notes; n && *n; n++)
		rk_list_add(notes, *n);
	for (const char *const *k = p->ignored; k && *k; k++)
		rk_list_addf(notes, "'%s' of the context means nothing here", *k);
	if (p->slurm && p->slurm[0] && !is_launched())
		rk_list_add(notes,
			    "slurm{} says how to submit a job; this run is on this node alone");
}

/* Words of the options, else of the preset (NULL: none). */
static int choose_words(const struct rk_session_options *opt, const struct rk_preset *p,
			struct rk_request *r, struct rk_error *err)
{
	int rc = choose_bits(opt->traces, p ? p->traces : NULL, rk_trace_parse, &r->traces, err);

	if (rc == 0)
		rc = choose_bits(opt->monitor, p ? p->monitors : NULL, rk_monitor_parse,
				 &r->monitors, err);
	if (rc == 0)
		rc = choose_bits(opt->library_trace, p ? p->libraries : NULL, rk_library_parse,
				 &r->libraries, err);
	return rc;
}

/* Somebody's own words, a context or a file, not a preset of ours. */
static bool is_own(const struct rk_session_options *opt, const struct rk_preset *p)
{
	return opt->context || opt->context_file || strcmp(p->source, "built in") != 0;
}

static void from_preset(const struct rk_session_options *opt, struct rk_request *r,
			struct rk_list *notes)
{
	const struct rk_preset *p = r->preset;

	r->stats = p->stats;
	r->pc_wanted = p->pc_method[0] != '\0';
	r->pc = (struct rk_pc_sampling){
		.method = strcmp(p->pc_method, "auto") ? p->pc_method : NULL,
		.unit = p->pc_unit[0] && strcmp(p->pc_unit, "auto") ? p->pc_unit : NULL,
		.interval = p->pc_interval,
	};
	if (!r->interval_ms)
		r->interval_ms = p->monitor_interval_ms;
	add_words(&r->env, p->env);
	add_words(&r->tool_args, p->tool_args);
	/* Those of our own presets are for 'rockit presets': they are the same in every run. */
	if (is_own(opt, p))
		note_context(p, notes);
}

/* Between the profiler's options a "--" would make the next word the program. */
static int check_tool_args(const struct rk_list *args, struct rk_error *err)
{
	for (size_t i = 0; i < args->n; i++)
		if (strcmp(args->v[i], "--") == 0)
			return rk_fail(err, RK_E_USAGE,
				       "'--' among the profiler's options would end them; the "
				       "program stands behind rockit's own '--'");
	return 0;
}

/* A spec of counters: what was typed, or what the preset has and what a verdict needs besides. */
static char *counters_of(const struct rk_session_options *opt, const struct rk_preset *preset,
			 struct rk_list *notes)
{
	if (opt->counters || !preset)
		return rk_strdup(opt->counters ? opt->counters : "");
	if (!opt->verdicts || !preset->counters[0])
		return rk_strdup(preset->counters);
	rk_list_add(notes, "the counters that verdicts need (@limits) are collected as well");
	return rk_strf("%s,@limits", preset->counters);
}

int rk_plan_preset(const struct rk_session_options *opt, struct rk_preset **ret,
		   struct rk_error *err)
{
	int rc = base_preset(opt, ret, err);

	return rc == 0 ? contexts(opt, ret, err) : rc;
}

int rk_plan_request(const struct rk_session_options *opt, struct rk_request *ret,
		    struct rk_list *notes, struct rk_error *err)
{
	int rc = rk_plan_preset(opt, &ret->preset, err);

	ret->interval_ms = opt->monitor_interval_ms;
	ret->nothing_said = says_nothing(opt);
	if (rc == 0)
		rc = choose_words(opt, ret->preset, ret, err);
	if (rc < 0)
		return rc;
	if (ret->preset)
		from_preset(opt, ret, notes);
	if (!ret->interval_ms)
		ret->interval_ms = RK_MONITOR_INTERVAL_MS;
	ret->counters = counters_of(opt, ret->preset, notes);
	if (!ret->counters)
		return rk_fail_nomem(err);
	if (opt->tool_args && !rk_list_split_words(&ret->tool_args, opt->tool_args))
		return rk_fail(err, RK_E_USAGE, "a quote is left open in --tool-args");
	rc = check_tool_args(&ret->tool_args, err);
	if (rc < 0)
		return rc;
	if (ret->preset && is_own(opt, ret->preset) && ret->preset->launcher[0] && !is_launched())
		launch_by(ret->preset, opt->argv, ret, notes);
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
