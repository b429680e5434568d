/*
 * context.c - madengine's JSON contexts: reads the keys that rockit supports.
 *
 * Besides the profiler, a context describes a container, a cluster and a model. Keys that we do not
 * support are listed in `ignored`, so that users notice. A tool's cmd, "bash .../rocprof_wrapper.sh
 * OPTIONS --", is never executed: its options are translated into a request, so that any tool and
 * version can fulfil it. Unknown options are passed to the profiler unchanged, and a command that
 * needs a shell is refused.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/handle.h"
#include "base/num.h"
#include "base/text.h"
#include "rockit/nearest.h"
#include "session/preset_draft.h"

/* The traces of rocprofv3's --runtime-trace. */
#define RUNTIME_TRACES "hip,marker,kernel,memcpy,alloc,scratch,rccl"

/* A context while it is read. */
struct context {
	struct rk_draft *d;
	const char *file;
	struct rk_error *err;
	bool nccl_debug; /* the context itself sets NCCL_DEBUG */
};

static void add_line(struct rk_list *l, const char *fmt, va_list ap)
{
	char text[400];

	vsnprintf(text, sizeof(text), fmt, ap);
	rk_list_add_once(l, text);
}

__attribute__((format(printf, 2, 3))) static void note(struct context *m, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_line(&m->d->list[RK_DRAFT_NOTES], fmt, ap);
	va_end(ap);
}

/* Remembers a key that has no effect here, by its path: "tools[0].pre_scripts". */
__attribute__((format(printf, 2, 3))) static void ignore(struct context *m, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_line(&m->d->list[RK_DRAFT_IGNORED], fmt, ap);
	va_end(ap);
}

/* env_vars{} of the context or of a tool. */
static int take_env(struct context *m, const struct rk_tree *object)
{
	if (rk_tree_get(object, "NCCL_DEBUG"))
		m->nccl_debug = true;
	return rk_draft_pairs(m->d, RK_DRAFT_ENV, object, m->file, m->err);
}

/* ---- the cmd of a tool ---- */

/* How an option and the words after it are handled. */
enum option_kind {
	OPT_TRACE, /* `what` are traces; a word for yes or no may follow */
	OPT_STATS,
	OPT_INPUT,   /* a file of counters */
	OPT_PMC,     /* names of counters */
	OPT_IGNORED, /* one word follows */
	OPT_FORMATS, /* several words follow */
	OPT_PC_FLAG,
	OPT_PC_METHOD,
	OPT_PC_UNIT,
	OPT_PC_INTERVAL,
};

static const struct option {
	const char *name;
	enum option_kind kind;
	const char *what;
} options[] = {
	{ "--hip-trace", OPT_TRACE, "hip" },
	{ "--hip-runtime-trace", OPT_TRACE, "hip" },
	{ "--hip-compiler-trace", OPT_TRACE, "hip" },
	{ "--hip-api", OPT_TRACE, "hip" },
	{ "--hsa-trace", OPT_TRACE, "hsa" },
	{ "--hsa-core-trace", OPT_TRACE, "hsa" },
	{ "--hsa-amd-trace", OPT_TRACE, "hsa" },
	{ "--hsa-api", OPT_TRACE, "hsa" },
	{ "--kernel-trace", OPT_TRACE, "kernel" },
	{ "--memory-copy-trace", OPT_TRACE, "memcpy" },
	{ "--memory-allocation-trace", OPT_TRACE, "alloc" },
	{ "--scratch-memory-trace", OPT_TRACE, "scratch" },
	{ "--rccl-trace", OPT_TRACE, "rccl" },
	{ "--marker-trace", OPT_TRACE, "marker" },
	{ "--roctx-trace", OPT_TRACE, "marker" },
	{ "--kfd-trace", OPT_TRACE, "kfd" },
	{ "--hip-graph-trace", OPT_TRACE, "graph" },
	{ "--rocshmem-trace", OPT_TRACE, "rocshmem" },
	{ "--hipfile-trace", OPT_TRACE, "hipfile" },
	{ "--rocdecode-trace", OPT_TRACE, "rocdecode" },
	{ "--rocjpeg-trace", OPT_TRACE, "rocjpeg" },
	{ "--sys-trace", OPT_TRACE, "sys" },
	{ "-s", OPT_TRACE, "sys" },
	{ "--runtime-trace", OPT_TRACE, RUNTIME_TRACES },
	{ "-r", OPT_TRACE, RUNTIME_TRACES },
	{ "--stats", OPT_STATS, NULL },
	{ "-i", OPT_INPUT, NULL },
	{ "--input", OPT_INPUT, NULL },
	{ "--pmc", OPT_PMC, NULL },
	{ "-d", OPT_IGNORED, "each run has its own directory" },
	{ "--output-directory", OPT_IGNORED, "each run has its own directory" },
	{ "-o", OPT_IGNORED, "each process writes its own file" },
	{ "--output-file", OPT_IGNORED, "each process writes its own file" },
	{ "--perfetto-trace-filename", OPT_IGNORED, "use 'rockit convert' to write a trace" },
	{ "-f", OPT_FORMATS, NULL },
	{ "--output-format", OPT_FORMATS, NULL },
	{ "--pc-sampling-beta-enabled", OPT_PC_FLAG, NULL },
	{ "--pc-sampling-method", OPT_PC_METHOD, NULL },
	{ "--pc-sampling-unit", OPT_PC_UNIT, NULL },
	{ "--pc-sampling-interval", OPT_PC_INTERVAL, NULL },
};

enum { NOPTIONS = sizeof(options) / sizeof(options[0]) };

/* The words of a command while they are parsed. */
struct words {
	struct context *m;
	const struct rk_tree *cmd;
	const struct rk_list *l;
	size_t at;
	const char *value; /* of "--option=value", else NULL */
};

static int refuse(const struct words *w, const char *why, const char *word)
{
	rk_fail(w->m->err, RK_E_USAGE,
		"'cmd' is only read, not executed, and %s '%s'; give only options of the profiler",
		why, word);
	rk_error_at(w->m->err, w->m->file, w->cmd->line, 0);
	return RK_E_USAGE;
}

/* The first character that only a shell can handle, or '\0'. */
static char shell_character(const char *s)
{
	char quote = '\0';

	for (; *s; s++) {
		if (quote != '\'' && *s == '\\' && s[1])
			s++;
		else if (quote && *s == quote)
			quote = '\0';
		else if (!quote && (*s == '\'' || *s == '"'))
			quote = *s;
		else if (quote != '\'' && strchr("$`", *s))
			return *s;
		else if (!quote && strchr("&|;<>()\n", *s))
			return *s;
	}
	return '\0';
}

static bool is_one_of(const char *word, const char *const *words)
{
	while (*words && strcmp(*words, word) != 0)
		words++;
	return *words != NULL;
}

static bool option_next(const struct words *w)
{
	return w->at >= w->l->n || w->l->v[w->at][0] == '-';
}

/* The one word that an option takes; NULL when there is none. */
static const char *argument(struct words *w)
{
	if (w->value)
		return w->value;
	if (option_next(w))
		return NULL;
	return w->l->v[w->at++];
}

/* The word for yes or no that may follow a switch; true without one. */
static bool switched_on(struct words *w)
{
	static const char *const no[] = { "n", "no", "f", "false", "off", "0", NULL };
	static const char *const yes[] = { "y", "yes", "t", "true", "on", "1", NULL };
	const char *next = "";
	bool off = false, said = false;

	if (w->value)
		next = w->value;
	else if (!option_next(w))
		next = w->l->v[w->at];

	for (unsigned i = 0; no[i]; i++) {
		off |= rk_text_ieq(next, strlen(next), no[i]);
		said |= rk_text_ieq(next, strlen(next), yes[i]);
	}
	if ((off || said) && !w->value)
		w->at++;
	return !off;
}

/* madengine's own files are built in under the same names; others are the user's files. */
static int add_spec(struct words *w, const char *spec)
{
	static const char *const shipped[] = { "compute_bound.txt", "memory_bound.txt",
					       "communication_bound.txt", "full_profile.txt",
					       NULL };
	struct rk_draft *d = w->m->d;
	const char *had = d->text[RK_DRAFT_COUNTERS], *base = rk_base_name(spec);
	int len = (int)strlen(spec), rc;
	char *text;

	if (strstr(spec, "tools/counters/") && is_one_of(base, shipped)) {
		spec = base;
		len = (int)(strlen(base) - strlen(".txt"));
	}
	text = rk_strf("%s%s%.*s", had, had[0] ? "," : "", len, spec);
	if (!text)
		return rk_fail_nomem(w->m->err);
	rc = rk_draft_set(d, RK_DRAFT_COUNTERS, text, w->m->err);
	rk_free(text);
	return rc;
}

static int take_pc(struct words *w, enum option_kind kind)
{
	struct rk_draft *d = w->m->d;
	const char *word = NULL;
	int rc;

	if (kind != OPT_PC_FLAG)
		word = argument(w);
	else if (!switched_on(w))
		return 0;
	for (enum rk_draft_text t = RK_DRAFT_PC_METHOD; t <= RK_DRAFT_PC_UNIT; t++)
		if (!d->text[t][0] && (rc = rk_draft_set(d, t, "auto", w->m->err)) < 0)
			return rc;
	if (!word)
		return 0;
	if (kind == OPT_PC_METHOD)
		return rk_draft_set(d, RK_DRAFT_PC_METHOD, word, w->m->err);
	if (kind == OPT_PC_UNIT)
		return rk_draft_set(d, RK_DRAFT_PC_UNIT, word, w->m->err);
	if (rk_num_u64(word, strlen(word), &d->preset.pc_interval) != RK_NUM_OK)
		return refuse(w, "has no number in", word);
	return 0;
}

/* A format that viewers read is written from the tables. */
static int take_format(struct words *w, const char *format)
{
	if (!rk_timeline_file(format))
		return 0;
	return rk_draft_set(w->m->d, RK_DRAFT_TIMELINE, format, w->m->err);
}

static int take_option(struct words *w, const struct option *o)
{
	const char *word;
	int rc = 0;

	switch (o->kind) {
	case OPT_TRACE:
		if (switched_on(w))
			rc = rk_draft_words(w->m->d, RK_DRAFT_TRACES, o->what, w->m->err);
		return rc;
	case OPT_STATS:
		w->m->d->preset.stats |= switched_on(w);
		return 0;
	case OPT_INPUT:
		word = argument(w);
		return word ? add_spec(w, word) : refuse(w, "needs a file after", o->name);
	case OPT_PMC:
		if (w->value)
			return add_spec(w, w->value);
		while (rc == 0 && !option_next(w))
			rc = add_spec(w, w->l->v[w->at++]);
		return rc;
	case OPT_IGNORED:
		word = argument(w);
		note(w->m, "'%s %s' of a cmd is ignored: %s", o->name, word ? word : "", o->what);
		return 0;
	case OPT_FORMATS:
		note(w->m, "the output format of a cmd is ignored: rockit uses the best format "
			   "of the profiler's release, writes pftrace and json from the tables, "
			   "and 'rockit convert' writes others");
		if (w->value)
			return take_format(w, w->value);
		while (rc == 0 && !option_next(w))
			rc = take_format(w, w->l->v[w->at++]);
		return rc;
	default:
		return take_pc(w, o->kind);
	}
}

static int take_words(struct words *w)
{
	static const char *const shells[] = { "bash", "sh", NULL };
	static const char *const programs[] = { "rocprof_wrapper.sh", "rocprofv3", "rocprofv2",
						"rocprof", NULL };
	const struct rk_list *l = w->l;
	struct rk_draft *d = w->m->d;
	int rc;

	/* "bash .../rocprof_wrapper.sh" or a profiler: all that may precede the options */
	while (w->at < l->n && is_one_of(rk_base_name(l->v[w->at]), shells))
		w->at++;
	if (w->at == l->n)
		return refuse(w, "it has no", "rocprof_wrapper.sh");
	if (!is_one_of(rk_base_name(l->v[w->at]), programs))
		return refuse(w, "it would start", l->v[w->at]);
	w->at++;

	while (w->at < l->n && strcmp(l->v[w->at], "--") != 0) {
		const char *word = l->v[w->at++], *equals = strchr(word, '=');
		size_t len = strlen(word);
		unsigned i = 0;

		w->value = NULL;
		if (equals && word[1] == '-') {
			w->value = equals + 1;
			len = (size_t)(equals - word);
		}
		while (i < NOPTIONS &&
		       (strlen(options[i].name) != len || strncmp(options[i].name, word, len) != 0))
			i++;
		if (i == NOPTIONS) /* passed on, and so are its words, one by one */
			rk_list_add(&d->list[RK_DRAFT_TOOL_ARGS], word);
		else if ((rc = take_option(w, &options[i])) < 0)
			return rc;
	}
	if (w->at + 1 < l->n)
		return refuse(w, "has a program after its '--':", l->v[w->at + 1]);

	/* stochastic sampling counts cycles; no chip samples stochastically by time */
	if (strcmp(d->text[RK_DRAFT_PC_METHOD], "stochastic") != 0 ||
	    strcmp(d->text[RK_DRAFT_PC_UNIT], "time") != 0)
		return 0;
	note(w->m, "no GPU supports stochastic PC sampling by time: using the GPU's default "
		   "method, unit and interval");
	d->preset.pc_interval = 0;
	rc = rk_draft_set(d, RK_DRAFT_PC_METHOD, "auto", w->m->err);
	if (rc < 0)
		return rc;
	return rk_draft_set(d, RK_DRAFT_PC_UNIT, "auto", w->m->err);
}

static int take_cmd(struct context *m, const struct rk_tree *cmd)
{
	struct rk_list l = { 0 };
	struct words w = { .m = m, .cmd = cmd, .l = &l };
	const char special[2] = { shell_character(cmd->text), '\0' };
	int rc;

	if (special[0])
		return refuse(&w, "it needs a shell for", special);
	if (!rk_list_split_words(&l, cmd->text))
		rc = refuse(&w, "has an unclosed quote in", cmd->text);
	else if (l.bad)
		rc = rk_fail_nomem(m->err);
	else
		rc = take_words(&w);
	rk_list_release(&l);
	return rc;
}

/* ---- the tools ---- */

enum tool_kind {
	TOOL_PRESET, /* a built-in preset, named in `what` */
	TOOL_TRACE,  /* the traces in `what` */
	TOOL_MONITOR,
	TOOL_LIBRARY,
	TOOL_OTHER, /* another tracer, or not a profiler; `what` explains */
};

struct tool {
	const char *name;
	enum tool_kind kind;
	const char *what;
	bool stats;
	const char *counters;
};

#define INSTRUCTION_MIX \
	"SQ_INSTS_VALU,SQ_INSTS_SALU,SQ_INSTS_VMEM_RD,SQ_INSTS_VMEM_WR,SQ_WAIT_INST_ANY"

static const struct tool tools[] = {
	{ "rocprof", TOOL_TRACE, RUNTIME_TRACES, false, NULL },
	{ "rocprof_hip_only", TOOL_TRACE, "hip", false, NULL },
	{ "rocprof_sys", TOOL_TRACE, "sys", false, NULL },
	{ "rocprofv3", TOOL_TRACE, RUNTIME_TRACES, false, NULL },
	{ "rocprofv3_agent", TOOL_TRACE, RUNTIME_TRACES, true, NULL },
	{ "rocprofv3_agent_counter", TOOL_TRACE, RUNTIME_TRACES, true, INSTRUCTION_MIX },
	{ "rocprofv3_compute", TOOL_PRESET, "compute", false, NULL },
	{ "rocprofv3_memory", TOOL_PRESET, "memory", false, NULL },
	{ "rocprofv3_communication", TOOL_PRESET, "communication", false, NULL },
	{ "rocprofv3_full", TOOL_PRESET, "full", false, NULL },
	{ "rocprofv3_lightweight", TOOL_PRESET, "lightweight", false, NULL },
	{ "rocprofv3_perfetto", TOOL_PRESET, "perfetto", false, NULL },
	{ "rocprofv3_api_overhead", TOOL_PRESET, "api_overhead", false, NULL },
	{ "rocprofv3_pc_sampling", TOOL_PRESET, "pc_sampling", false, NULL },
	{ "gpu_info_power_profiler", TOOL_MONITOR, "power", false, NULL },
	{ "gpu_info_vram_profiler", TOOL_MONITOR, "vram", false, NULL },
	{ "rocblas_trace", TOOL_LIBRARY, "rocblas", false, NULL },
	{ "hipblaslt_trace", TOOL_LIBRARY, "hipblaslt", false, NULL },
	{ "miopen_trace", TOOL_LIBRARY, "miopen", false, NULL },
	{ "rccl_trace", TOOL_LIBRARY, "rccl", false, NULL },
	/* Tensile prints the kernels it runs; the kernel trace has them, with times. */
	{ "tensile_trace", TOOL_TRACE, "kernel", false, NULL },
	{ "rpd", TOOL_OTHER, "another tracer, rockit does not support it", false, NULL },
	{ "rocm_trace_lite", TOOL_OTHER, "another tracer, rockit does not support it", false,
	  NULL },
	{ "rocm_trace_lite_default", TOOL_OTHER, "another tracer, rockit does not support it",
	  false, NULL },
	{ "therock_check", TOOL_OTHER, "not a profiler; see 'rockit doctor'", false, NULL },
	{ "test_tools_A", TOOL_OTHER, "not a profiler", false, NULL },
	{ "test_tools_B", TOOL_OTHER, "not a profiler", false, NULL },
};

enum { NTOOLS = sizeof(tools) / sizeof(tools[0]) };

/* POWER_* and VRAM_* are for madengine's sampler, not for the program. */
static int monitor_env(struct context *m, const struct rk_tree *env)
{
	unsigned ms, *interval = &m->d->preset.monitor_interval_ms;
	double seconds;

	RK_TREE_EACH(v, env)
	{
		const char *word = strchr(v->key, '_'), *value = rk_tree_text(v, "");

		word = word ? word + 1 : v->key;
		if (strcmp(word, "SAMPLING_RATE") == 0) {
			if (rk_num_f64(value, strlen(value), &seconds) > RK_NUM_OK ||
			    seconds < 0.001 || seconds > 3600)
				return rk_draft_wrong(v, m->file, m->err,
						      "'%s' must be seconds between samples, from "
						      "0.001 to 3600",
						      v->key);
			/* of two monitors the shorter interval counts */
			ms = (unsigned)(seconds * 1000 + 0.5);
			if (!*interval || ms < *interval)
				*interval = ms;
		} else if (strcmp(word, "DEVICE") == 0 && strcmp(value, "all") != 0) {
			note(m, "%s '%s' is ignored: all GPUs are sampled, each in its own column",
			     v->key, value);
		} else if (strcmp(word, "DEVICE") != 0 && strcmp(word, "MODE") != 0) {
			ignore(m, "env_vars.%s", v->key);
		}
	}
	return 0;
}

/* The switch of madengine's own wrapper (ROCBLAS_TRACE=1) is not passed on; all else is. */
static int library_env(struct context *m, const struct rk_tree *env)
{
	RK_TREE_EACH(v, env)
	{
		struct rk_tree one = *env, only = *v;
		int rc;

		only.next = NULL;
		one.first = &only;
		if (strstr(v->key, "_TRACE") && strlen(strstr(v->key, "_TRACE")) == 6)
			continue;
		rc = take_env(m, &one);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* The request of a known tool, unless its cmd changes it. */
static int take_profiler(struct context *m, const struct tool *t, const struct rk_tree *cmd)
{
	static const char *const none[] = { NULL };
	const struct rk_preset counters = { .counters = t->counters,
					    .pc_method = "",
					    .traces = none,
					    .monitors = none,
					    .libraries = none,
					    .notes = none,
					    .tool_args = none,
					    .env = none,
					    .timeline = "" };
	struct rk_preset *p;
	int rc;

	if (cmd)
		return take_cmd(m, cmd);
	if (t->kind == TOOL_PRESET) {
		rc = rk_preset_builtin(t->what, &p, m->err);
		if (rc < 0)
			return rc;
		rc = rk_draft_add(m->d, p, m->err);
		rk_preset_free(p);
		return rc;
	}
	rc = rk_draft_words(m->d, RK_DRAFT_TRACES, t->what, m->err);
	if (rc < 0)
		return rc;
	m->d->preset.stats |= t->stats;
	if (!t->counters)
		return 0;
	return rk_draft_add(m->d, &counters, m->err);
}

static int apply(struct context *m, const struct tool *t, const struct rk_tree *cmd,
		 const struct rk_tree *env)
{
	int rc;

	if (cmd && (t->kind == TOOL_MONITOR || t->kind == TOOL_LIBRARY))
		note(m, "cmd of tool '%s' is not executed: rockit does this itself", t->name);
	if (t->kind == TOOL_MONITOR) {
		rc = rk_draft_words(m->d, RK_DRAFT_MONITORS, t->what, m->err);
		if (rc < 0)
			return rc;
		return monitor_env(m, env);
	}
	if (t->kind == TOOL_LIBRARY)
		rc = rk_draft_words(m->d, RK_DRAFT_LIBRARIES, t->what, m->err);
	else
		rc = take_profiler(m, t, cmd);
	if (rc < 0)
		return rc;
	return library_env(m, env);
}

static int take_tool(struct context *m, const struct rk_tree *tool, size_t i)
{
	static const char *const known[] = { "name", "cmd", "env_vars", "env", NULL };
	const struct rk_tree *name = rk_tree_get(tool, "name"), *cmd = rk_tree_get(tool, "cmd");
	const struct rk_tree *env = rk_tree_get(tool, "env_vars");
	const char *names[NTOOLS + 1] = { NULL }, *near;
	unsigned t = 0;

	if (!name || name->kind != RK_TREE_TEXT)
		return rk_draft_wrong(tool, m->file, m->err,
				      "tools[%zu] must be an object with a name: "
				      "{\"name\": \"rocprofv3_compute\"}",
				      i);
	if (!env)
		env = rk_tree_get(tool, "env");
	if (env && env->kind != RK_TREE_OBJECT)
		return rk_draft_wrong(env, m->file, m->err, "'%s' must be an object", env->key);
	if (cmd && cmd->kind != RK_TREE_TEXT)
		return rk_draft_wrong(cmd, m->file, m->err, "'cmd' must be a text");
	/* the other keys are mainly scripts, which are never executed */
	RK_TREE_EACH(v, tool)
	if (!is_one_of(v->key, known))
		ignore(m, "tools[%zu].%s", i, v->key);
	for (unsigned k = 0; k < NTOOLS; k++)
		names[k] = tools[k].name;
	while (t < NTOOLS && strcmp(names[t], name->text) != 0)
		t++;
	if (t == NTOOLS) {
		near = rk_nearest(name->text, names);
		if (near)
			rk_fail(m->err, RK_E_USAGE, "unknown tool '%.100s'; did you mean '%s'?",
				name->text, near);
		else
			rk_fail(m->err, RK_E_USAGE,
				"unknown tool '%.100s'; use rocprofv3_ and the name of a preset",
				name->text);
		rk_error_at(m->err, m->file, name->line, 0);
		return RK_E_USAGE;
	}
	if (tools[t].kind == TOOL_OTHER) {
		ignore(m, "tools[%zu] %s: %s", i, tools[t].name, tools[t].what);
		return 0;
	}
	if (cmd && !cmd->text[0])
		cmd = NULL;
	return apply(m, &tools[t], cmd, env);
}

/* ---- the context ---- */

/* Keeps scalars; other settings of a launcher or cluster are listed as ignored. */
static int take_settings(struct context *m, const struct rk_tree *object)
{
	enum rk_draft_list l = RK_DRAFT_DISTRIBUTED;

	if (strcmp(object->key, "slurm") == 0)
		l = RK_DRAFT_SLURM;
	if (object->kind != RK_TREE_OBJECT)
		return rk_draft_wrong(object, m->file, m->err, "'%s' must be an object",
				      object->key);
	RK_TREE_EACH(c, object)
	{
		struct rk_tree one = *object, only = *c;
		int rc;

		if (!rk_tree_text(c, NULL)) {
			ignore(m, "%s.%s", object->key, c->key);
			continue;
		}
		only.next = NULL;
		one.first = &only;
		rc = rk_draft_pairs(m->d, l, &one, m->file, m->err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int take_tools(struct context *m, const struct rk_tree *v)
{
	size_t i = 0;
	int rc = 0;

	if (v->kind != RK_TREE_ARRAY)
		return rk_draft_wrong(
			v, m->file, m->err,
			"'tools' must be a list: [{\"name\": \"rocprofv3_compute\"}]");
	for (const struct rk_tree *t = v->first; rc == 0 && t; t = t->next)
		rc = take_tool(m, t, i++);
	return rc;
}

static int take_vendor(struct context *m, const struct rk_tree *v)
{
	const char *vendor = rk_tree_text(v, "");

	if (!rk_text_same(vendor, "AMD"))
		note(m, "gpu_vendor '%s': the tools of a context profile AMD GPUs", vendor);
	return 0;
}

static const struct {
	const char *name;
	int (*take)(struct context *m, const struct rk_tree *v);
} keys[] = {
	{ "tools", take_tools },  { "distributed", take_settings }, { "slurm", take_settings },
	{ "env_vars", take_env }, { "gpu_vendor", take_vendor },
};

enum { NKEYS = sizeof(keys) / sizeof(keys[0]) };

/*
 * RCCL reads only NCCL_DEBUG, so RCCL_DEBUG is treated as NCCL_DEBUG. At level INFO its calls are
 * counted from files; with NCCL_DEBUG set they would be printed between the program's own lines.
 */
static void translate_debug(struct context *m)
{
	struct rk_list *env = &m->d->list[RK_DRAFT_ENV];
	const char *level = rk_list_value(env, "RCCL_DEBUG");
	char copy[64];

	if (!level || m->nccl_debug || strlen(level) >= sizeof(copy))
		return;
	if (rk_list_has(&m->d->list[RK_DRAFT_LIBRARIES], "rccl") && strcmp(level, "INFO") == 0)
		return;
	snprintf(copy, sizeof(copy), "%s", level);
	rk_list_set(env, "NCCL_DEBUG", copy);
	note(m, "RCCL reads NCCL_DEBUG, not RCCL_DEBUG: set to '%s' too", copy);
}

int rk_draft_context(struct rk_draft *d, const struct rk_tree *root, const char *file,
		     struct rk_error *err)
{
	struct context m = { .d = d, .file = file, .err = err };
	const char *names[NKEYS + 1] = { NULL }, *near;
	int rc;

	if (root->kind != RK_TREE_OBJECT)
		return rk_draft_wrong(root, file, err,
				      "a context must be an object: {\"tools\": [...]}");
	for (unsigned i = 0; i < NKEYS; i++)
		names[i] = keys[i].name;
	for (const struct rk_tree *v = root->first; v; v = v->next) {
		unsigned i = 0;

		while (i < NKEYS && strcmp(names[i], v->key) != 0)
			i++;
		if (i < NKEYS) {
			rc = keys[i].take(&m, v);
			if (rc < 0)
				return rc;
			continue;
		}
		/* listed as ignored, with the nearest key, so that typing errors are noticed */
		ignore(&m, "%s", v->key);
		near = rk_nearest(v->key, names);
		if (near)
			note(&m, "unknown key '%s'; did you mean '%s'?", v->key, near);
	}
	translate_debug(&m);
	if (d->text[RK_DRAFT_DESCRIPTION][0])
		return 0;
	return rk_draft_set(d, RK_DRAFT_DESCRIPTION, "request of a madengine context", err);
}

/* A dictionary printed by Python is not JSON: a clearer message than the parser's. */
static int check_quotes(const char *text, size_t len, const char *name, struct rk_error *err)
{
	size_t i = 0, line = 1;

	for (; i < len && (text[i] == '{' || text[i] == '[' || strchr(" \t\r\n", text[i])); i++)
		line += text[i] == '\n';
	if (i == len || text[i] != '\'')
		return 0;
	rk_fail(err, RK_E_FORMAT,
		"invalid JSON in the context: use \"...\" for names and texts, not '...'");
	rk_error_at(err, name, line, 0);
	return RK_E_FORMAT;
}

int rk_preset_from_context(const struct rk_preset *base, const char *text, size_t len,
			   const char *name, struct rk_preset **ret, struct rk_error *err)
{
	struct rk_tree *root = NULL;
	struct rk_draft *d = NULL;
	int rc;

	if (!text || !name || !ret)
		return rk_misuse(__func__, err);
	if ((rc = check_quotes(text, len, name, err)) < 0 ||
	    (rc = rk_tree_parse_json(text, len, name, &root, err)) < 0)
		return rc;
	if ((rc = rk_draft_new(base, &d, err)) < 0 ||
	    (rc = rk_draft_context(d, root, name, err)) < 0 ||
	    (rc = rk_draft_set(d, RK_DRAFT_SOURCE, name, err)) < 0)
		goto out;
	if (!d->text[RK_DRAFT_NAME][0] && (rc = rk_draft_set(d, RK_DRAFT_NAME, "context", err)) < 0)
		goto out;
	rc = rk_draft_seal(d, ret, err);
	d = NULL;
out:
	rk_draft_free(d);
	rk_tree_free(root);
	return rc;
}
