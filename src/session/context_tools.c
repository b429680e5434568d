/* context_tools.c - the tools of madengine by name, and what each stands for here. */
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "rockit/nearest.h"
#include "session/context_impl.h"

enum tool_kind {
	TOOL_PRESET, /* a preset of ours, named in `what` */
	TOOL_TRACE,  /* the traces in `what` */
	TOOL_MONITOR,
	TOOL_LIBRARY,
	TOOL_OTHER, /* another program's tracer, or no profiler at all: `what` says */
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
	{ "rocprof", TOOL_TRACE, RK_RUNTIME_TRACES, false, NULL },
	{ "rocprof_hip_only", TOOL_TRACE, "hip", false, NULL },
	{ "rocprof_sys", TOOL_TRACE, "sys", false, NULL },
	{ "rocprofv3", TOOL_TRACE, RK_RUNTIME_TRACES, false, NULL },
	{ "rocprofv3_agent", TOOL_TRACE, RK_RUNTIME_TRACES, true, NULL },
	{ "rocprofv3_agent_counter", TOOL_TRACE, RK_RUNTIME_TRACES, true, INSTRUCTION_MIX },
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
	{ "rpd", TOOL_OTHER, "another tracer, not driven from here", false, NULL },
	{ "rocm_trace_lite", TOOL_OTHER, "another tracer, not driven from here", false, NULL },
	{ "rocm_trace_lite_default", TOOL_OTHER, "another tracer, not driven from here", false,
	  NULL },
	{ "therock_check", TOOL_OTHER, "no profiler; see 'rockit doctor'", false, NULL },
	{ "test_tools_A", TOOL_OTHER, "no profiler", false, NULL },
	{ "test_tools_B", TOOL_OTHER, "no profiler", false, NULL },
};

enum { NTOOLS = sizeof(tools) / sizeof(tools[0]) };

static const struct tool *find(const char *name)
{
	for (unsigned i = 0; i < NTOOLS; i++)
		if (strcmp(tools[i].name, name) == 0)
			return &tools[i];
	return NULL;
}

/* Seconds between samples; of two monitors the shorter counts. */
static int sampling_rate(struct rk_madengine *m, const struct rk_tree *v)
{
	const char *s = rk_tree_text(v, "");
	double seconds = 0;
	unsigned ms;

	if (rk_num_f64(s, strlen(s), &seconds) > RK_NUM_OK || seconds < 0.001 || seconds > 3600)
		return rk_draft_wrong(v, m->file, m->err,
				      "'%s' must be seconds between samples, from 0.001 to 3600",
				      v->key);
	ms = (unsigned)(seconds * 1000 + 0.5);
	if (!m->d->preset.monitor_interval_ms || ms < m->d->preset.monitor_interval_ms)
		m->d->preset.monitor_interval_ms = ms;
	return 0;
}

/* POWER_* and VRAM_* speak to madengine's sampler, not to the program. */
static int monitor_env(struct rk_madengine *m, const struct rk_tree *env)
{
	RK_TREE_EACH(v, env)
	{
		const char *word = strchr(v->key, '_'), *value = rk_tree_text(v, "");

		word = word ? word + 1 : v->key;
		if (strcmp(word, "SAMPLING_RATE") == 0) {
			int rc = sampling_rate(m, v);

			if (rc < 0)
				return rc;
		} else if (strcmp(word, "DEVICE") == 0 && strcmp(value, "all") != 0) {
			rk_madengine_note(m,
					  "%s '%s': all GPUs are sampled, each in a column of "
					  "its own",
					  v->key, value);
		} else if (strcmp(word, "DEVICE") != 0 && strcmp(word, "MODE") != 0) {
			rk_madengine_ignore(m, "env_vars.%s", v->key);
		}
	}
	return 0;
}

/* The switch of madengine's own wrapper (ROCBLAS_TRACE=1) is not handed on; all else is. */
static int library_env(struct rk_madengine *m, const struct rk_tree *env)
{
	RK_TREE_EACH(v, env)
	{
		struct rk_tree one = *env, only = *v;
		int rc;

		only.next = NULL;
		one.first = &only;
		if (strstr(v->key, "_TRACE") && strlen(strstr(v->key, "_TRACE")) == 6)
			continue;
		rc = rk_madengine_env(m, &one);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int add_preset(struct rk_madengine *m, const char *name)
{
	struct rk_preset *p = NULL;
	int rc = rk_preset_builtin(name, &p, m->err);

	if (rc == 0)
		rc = rk_draft_add(m->d, p, m->err);
	rk_preset_free(p);
	return rc;
}

static int add_counters(struct rk_madengine *m, const char *counters)
{
	static const char *const none[] = { NULL };
	const struct rk_preset p = { .counters = counters,
				     .pc_method = "",
				     .traces = none,
				     .monitors = none,
				     .libraries = none,
				     .notes = none,
				     .tool_args = none,
				     .env = none };

	return rk_draft_add(m->d, &p, m->err);
}

/* What a tool of ours asks for, unless its cmd says otherwise. */
static int collect(struct rk_madengine *m, const struct tool *t, const struct rk_tree *cmd)
{
	int rc;

	if (cmd)
		return rk_madengine_cmd(m, cmd);
	if (t->kind == TOOL_PRESET)
		return add_preset(m, t->what);
	rc = rk_draft_traces(m->d, t->what, m->err);
	if (rc == 0 && t->counters)
		rc = add_counters(m, t->counters);
	m->d->preset.stats |= t->stats;
	return rc;
}

static int apply(struct rk_madengine *m, const struct tool *t, const struct rk_tree *cmd,
		 const struct rk_tree *env)
{
	int rc;

	if (cmd && (t->kind == TOOL_MONITOR || t->kind == TOOL_LIBRARY))
		rk_madengine_note(m, "cmd of tool '%s' is not run: that is done here without it",
				  t->name);
	if (t->kind == TOOL_MONITOR) {
		rc = rk_draft_monitors(m->d, t->what, m->err);
		return rc < 0 ? rc : monitor_env(m, env);
	}
	if (t->kind == TOOL_LIBRARY) {
		rc = rk_draft_libraries(m->d, t->what, m->err);
		return rc < 0 ? rc : library_env(m, env);
	}
	rc = collect(m, t, cmd);
	return rc < 0 || !env ? rc : library_env(m, env);
}

static int unknown_tool(struct rk_madengine *m, const struct rk_tree *name)
{
	const char *names[NTOOLS + 1] = { NULL }, *near;

	for (unsigned i = 0; i < NTOOLS; i++)
		names[i] = tools[i].name;
	near = rk_nearest(name->text, names);
	if (near)
		rk_fail(m->err, RK_E_USAGE, "there is no tool '%.100s'; did you mean '%s'?",
			name->text, near);
	else
		rk_fail(m->err, RK_E_USAGE,
			"there is no tool '%.100s'; rocprofv3_ and the name of a preset is one",
			name->text);
	rk_error_at(m->err, m->file, name->line, 0);
	return RK_E_USAGE;
}

/* Keys of an entry that are not looked at: scripts above all, which are never run. */
static void ignore_rest(struct rk_madengine *m, const struct rk_tree *tool, size_t i)
{
	static const char *const known[] = { "name", "cmd", "env_vars", "env", NULL };

	RK_TREE_EACH(v, tool)
	{
		const char *const *k = known;

		while (*k && strcmp(*k, v->key) != 0)
			k++;
		if (!*k)
			rk_madengine_ignore(m, "tools[%zu].%s", i, v->key);
	}
}

int rk_madengine_tool(struct rk_madengine *m, const struct rk_tree *tool, size_t i)
{
	const struct rk_tree *name = rk_tree_get(tool, "name"), *cmd = rk_tree_get(tool, "cmd");
	const struct rk_tree *env = rk_tree_get(tool, "env_vars");
	const struct tool *t;

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
	ignore_rest(m, tool, i);
	t = find(name->text);
	if (!t)
		return unknown_tool(m, name);
	if (t->kind == TOOL_OTHER) {
		rk_madengine_ignore(m, "tools[%zu] %s: %s", i, t->name, t->what);
		return 0;
	}
	return apply(m, t, cmd && cmd->text[0] ? cmd : NULL, env);
}
