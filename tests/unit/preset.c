/* preset.c - presets by name, by file, and what is wrong with one. */
#include "rockit/preset.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "preset_world.h"
#include "tap.h"

static const char *const shipped[] = {
	"compute",      "memory",       "communication", "full",      "lightweight",
	"perfetto",     "api_overhead", "pc_sampling",   "roofline",  "compute_bound",
	"memory_bound", "multi_gpu",    "comprehensive", "multinode", NULL,
};

/* A folder of presets of the user's own. */
struct folder {
	char dir[64];
	char path[128];
};

static void folder_make(struct folder *f)
{
	snprintf(f->dir, sizeof(f->dir), "/tmp/rockit-preset-XXXXXX");
	CHECK(mkdtemp(f->dir) != NULL);
	setenv("ROCKIT_PRESET_DIR", f->dir, 1);
}

static void folder_write(struct folder *f, const char *name, const char *text)
{
	FILE *out;

	snprintf(f->path, sizeof(f->path), "%s/%s", f->dir, name);
	out = fopen(f->path, "w");
	CHECK(out != NULL);
	if (!out)
		return;
	CHECK(fputs(text, out) >= 0);
	fclose(out);
}

static void folder_drop(struct folder *f, const char *const *names)
{
	for (; *names; names++) {
		snprintf(f->path, sizeof(f->path), "%s/%s", f->dir, *names);
		unlink(f->path);
	}
	CHECK(rmdir(f->dir) == 0);
	setenv("ROCKIT_PRESET_DIR", "/nonexistent", 1);
}

static struct rk_preset *load(const char *name)
{
	struct rk_preset *p = NULL;
	struct rk_error err = { 0 };

	CHECK(rk_preset_load(name, &p, &err) == 0);
	CHECK_STR(err.message, "");
	return p;
}

TEST(every_name_of_the_documentation_is_a_preset_that_says_what_it_is)
{
	setenv("ROCKIT_PRESET_DIR", "/nonexistent", 1);
	for (const char *const *name = shipped; *name; name++) {
		struct rk_preset *p = load(*name);

		if (!p)
			continue;
		CHECK_STR(p->name, *name);
		CHECK_STR(p->source, "built in");
		CHECK(p->description[0] && p->use_case[0] && p->overhead[0]);
		CHECK(traces_of(p) & RK_TRACE_KERNEL);
		CHECK(has(p->traces, "kernel"));
		CHECK_U64(count(p->delivers), 8);
		CHECK(!p->ignored[0] && !p->tool_args[0] && !p->slurm[0] && !p->launcher[0]);
		rk_preset_free(p);
	}
}

TEST(presets_are_listed_in_the_order_of_the_documentation)
{
	struct rk_preset_names names = { 0 };
	struct rk_error err = { 0 };

	setenv("ROCKIT_PRESET_DIR", "/nonexistent", 1);
	CHECK(rk_preset_list(&names, &err) == 0);
	CHECK_U64(names.n, 14);
	for (size_t i = 0; i < names.n; i++)
		CHECK_STR(names.names[i], shipped[i]);
	CHECK(!names.names[names.n]);
	rk_preset_names_release(&names);
}

TEST(presets_collect_what_their_names_promise)
{
	struct rk_preset *p = load("memory");

	CHECK_U64(traces_of(p), RK_TRACE_HIP | RK_TRACE_KERNEL | RK_TRACE_MEMCPY | RK_TRACE_ALLOC);
	CHECK_STR(p->counters, "memory_bound");
	CHECK(!p->stats && !p->pc_method[0] && !p->monitors[0]);
	rk_preset_free(p);
	p = load("communication");
	CHECK_U64(traces_of(p), RK_TRACE_HIP | RK_TRACE_HSA | RK_TRACE_KERNEL | RK_TRACE_MEMCPY |
					RK_TRACE_RCCL | RK_TRACE_SCRATCH);
	CHECK(!p->env[0] && has(p->libraries, "rccl"));
	CHECK_STR(p->counters, "");
	rk_preset_free(p);
	p = load("full");
	CHECK_U64(traces_of(p), RK_TRACE_SYS);
	CHECK(p->stats);
	CHECK_STR(p->counters, "full_profile");
	rk_preset_free(p);
	p = load("pc_sampling");
	CHECK_STR(p->pc_method, "auto");
	CHECK_STR(p->pc_unit, "auto");
	CHECK_U64(p->pc_interval, 0);
	rk_preset_free(p);
}

TEST(a_preset_that_extends_another_adds_its_monitors)
{
	struct rk_preset *p = load("compute_bound");

	CHECK_STR(p->extends, "compute");
	CHECK_STR(p->counters, "compute_bound");
	CHECK_U64(traces_of(p), RK_TRACE_HIP | RK_TRACE_KERNEL);
	CHECK(has(p->monitors, "power") && count(p->monitors) == 1);
	rk_preset_free(p);
	p = load("comprehensive");
	CHECK(p->stats && has(p->monitors, "power") && has(p->monitors, "vram"));
	CHECK(has(p->libraries, "rocblas") && has(p->libraries, "miopen"));
	rk_preset_free(p);
	p = load("multinode");
	CHECK_STR(p->extends, "multi_gpu");
	CHECK(traces_of(p) & RK_TRACE_RCCL && has(p->monitors, "vram"));
	rk_preset_free(p);
}

TEST(aliases_of_madengine_name_the_same_presets)
{
	static const char *const aliases[][2] = {
		{ "rocprofv3_compute", "compute" },
		{ "rocprofv3_memory_bound.json", "memory_bound" },
		{ "multi_gpu.json", "multi_gpu" },
		{ "multi_node", "multinode" },
		{ "rocprofv3_multi_node.json", "multinode" },
		{ "rocprofv3_multinode", "multinode" },
	};

	for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++) {
		struct rk_preset *p = load(aliases[i][0]);

		CHECK_STR(p ? p->name : NULL, aliases[i][1]);
		rk_preset_free(p);
	}
}

TEST(a_preset_nobody_knows_names_the_nearest)
{
	static const char *const cases[][2] = {
		{ "memry", "unknown preset 'memry'; did you mean 'memory'?" },
		{ "rocprofv3_comput",
		  "unknown preset 'rocprofv3_comput'; did you mean 'compute'?" },
		{ "nonsense", "unknown preset 'nonsense'; 'rockit presets' lists them" },
		{ "", "unknown preset ''; 'rockit presets' lists them" },
		{ "rocprofv3_", "unknown preset 'rocprofv3_'; 'rockit presets' lists them" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rk_preset *p = NULL;
		struct rk_error err = { 0 };

		CHECK(rk_preset_load(cases[i][0], &p, &err) == RK_E_USAGE);
		CHECK_STR(err.message, cases[i][1]);
		CHECK(!p);
	}
}

TEST(the_users_presets_win_and_may_extend_what_they_hide)
{
	static const char *const files[] = { "memory.json", "mine.json", NULL };
	struct rk_preset_names names = { 0 };
	struct rk_error err = { 0 };
	struct rk_preset *p;
	struct folder f;

	folder_make(&f);
	folder_write(&f, "mine.json", "{\"extends\": \"memory\", \"traces\": [\"hip\"]}");
	folder_write(&f, "memory.json",
		     "{\"extends\": \"memory\", \"monitors\": [\"power\"], \"env\": {\"A\": 1}}");
	p = load("memory");
	CHECK_STR(p->source, f.path);
	CHECK_STR(p->counters, "memory_bound");
	CHECK(has(p->monitors, "power") && has(p->env, "A=1"));
	rk_preset_free(p);
	p = load("mine");
	CHECK_STR(p->name, "mine");
	CHECK_U64(traces_of(p), RK_TRACE_HIP);
	CHECK(has(p->monitors, "power"));
	rk_preset_free(p);
	CHECK(rk_preset_list(&names, &err) == 0);
	CHECK_U64(names.n, 15);
	CHECK_STR(names.names[14], "mine");
	rk_preset_names_release(&names);
	folder_drop(&f, files);
}

TEST(presets_that_extend_each_other_are_refused)
{
	static const char *const files[] = { "a.json", "b.json", "c.json", NULL };
	struct rk_preset *p = NULL;
	struct rk_error err = { 0 };
	struct folder f;

	folder_make(&f);
	folder_write(&f, "a.json", "{\"extends\": \"b\"}");
	folder_write(&f, "b.json", "{\"extends\": \"a\"}");
	CHECK(rk_preset_load("a", &p, &err) == RK_E_FORMAT);
	CHECK_STR(err.message, "presets extend each other in a loop");
	CHECK_U64(err.line, 1);
	err = (struct rk_error){ 0 };
	folder_write(&f, "c.json", "{\n\"extends\": \"memmory\"}");
	CHECK(rk_preset_load("c", &p, &err) == RK_E_USAGE);
	CHECK_STR(err.message, "unknown preset 'memmory'; did you mean 'memory'?");
	CHECK_U64(err.line, 2);
	folder_drop(&f, files);
}

TEST(a_file_with_a_folder_in_its_name_is_a_preset)
{
	static const char *const files[] = { "own-name.json", NULL };
	struct rk_preset *p = NULL;
	struct rk_error err = { 0 };
	struct folder f;

	folder_make(&f);
	folder_write(&f, "own-name.json", "{\"name\": \"other\", \"traces\": [\"sys\"]}");
	p = load(f.path);
	CHECK_STR(p->name, "other");
	CHECK_U64(traces_of(p), RK_TRACE_SYS);
	rk_preset_free(p);
	CHECK(rk_preset_load("own-name", &p, &err) == RK_E_FORMAT);
	CHECK_STR(
		err.message,
		"the preset's name is 'other'; rename its file to 'other.json', or remove the name");
	err = (struct rk_error){ 0 };
	CHECK(rk_preset_load("/nonexistent/x.json", &p, &err) == RK_E_IO);
	folder_drop(&f, files);
}

/* What is wrong, where, and what to do. */
static const struct bad {
	const char *text, *message;
	uint64_t line;
} bad[] = {
	{ "[]", "a preset must be an object: {\"traces\": [...]}", 1 },
	{ "{\n\"trace\": []}", "unknown key 'trace'; did you mean 'traces'?", 2 },
	{ "{\"zebra\": 1}",
	  "unknown key 'zebra'; 'rockit presets memory --format json' shows the keys of a preset",
	  1 },
	{ "{\"schema\": 2}", "unknown schema 2; this rockit supports schema 1", 1 },
	{ "{\"schema\": \"1\"}", "unknown schema 1; this rockit supports schema 1", 1 },
	{ "{\"description\": 1}", "'description' must be a text", 1 },
	{ "{\"traces\": \"hip\"}", "'traces' must be a list of texts", 1 },
	{ "{\"traces\": [\n\"hip\",\n7]}", "'traces' must be a list of texts", 3 },
	{ "{\"traces\": [\"hip\",\n\"kernal\"]}", "unknown trace 'kernal'; did you mean 'kernel'?",
	  2 },
	{ "{\"libraries\": [\"rocblass\"]}", "unknown library 'rocblass'; did you mean 'rocblas'?",
	  1 },
	{ "{\"stats\": \"yes\"}", "'stats' must be true or false", 1 },
	{ "{\"env\": [\"A=1\"]}", "'env' must be an object", 1 },
	{ "{\"env\": {\"A B\": \"1\"}}", "invalid name 'A B' of a variable", 1 },
	{ "{\"env\": {\"A\": {}}}", "'A' must be a text or a number", 1 },
	{ "{\"pc_sampling\": {\"method\": \"stochastc\"}}",
	  "'method' cannot be 'stochastc'; did you mean 'stochastic'?", 1 },
	{ "{\"pc_sampling\": {\"rate\": 1}}",
	  "unknown key 'rate' in 'pc_sampling'; it has method, unit and interval", 1 },
	{ "{\"pc_sampling\": {\"interval\": 0}}",
	  "'interval' must be \"auto\" or a number of at least 1", 1 },
	{ "{\"monitor_interval_ms\": 0}",
	  "'monitor_interval_ms' must be a number of milliseconds from 1 to 3600000", 1 },
	{ "{\"distributed\": {\"nnodes\": \"two\"}}", "'nnodes' must be a number of at least 1",
	  1 },
	{ "{\"slurm\": {\"\": \"x\"}}", "invalid name '' of a setting", 1 },
	{ "{\"delivers\": {\"rocprofv3\": 1}}", "'rocprofv3' must be a text", 1 },
	{ "{\"extends\": 1}", "'extends' must be a text", 1 },
};

TEST(a_slip_in_a_preset_is_named_with_file_and_line)
{
	static const char *const files[] = { "bad.json", NULL };
	struct folder f;

	folder_make(&f);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct rk_preset *p = NULL;
		struct rk_error err = { 0 };

		folder_write(&f, "bad.json", bad[i].text);
		CHECK(rk_preset_load("bad", &p, &err) == RK_E_FORMAT);
		CHECK_STR(err.message, bad[i].message);
		CHECK_U64(err.line, bad[i].line);
		CHECK_STR(err.file, f.path);
		CHECK(!p);
	}
	folder_drop(&f, files);
}

TEST(text_that_is_not_json_is_refused_with_its_line)
{
	static const char *const files[] = { "bad.json", NULL };
	struct rk_preset *p = NULL;
	struct rk_error err = { 0 };
	struct folder f;

	folder_make(&f);
	folder_write(&f, "bad.json", "{\"traces\": [\n");
	CHECK(rk_preset_load("bad", &p, &err) == RK_E_FORMAT);
	CHECK(err.line > 0);
	CHECK_STR(err.file, f.path);
	folder_drop(&f, files);
}

TEST(a_preset_survives_every_failed_allocation)
{
	bool failed = true;

	setenv("ROCKIT_PRESET_DIR", "/nonexistent", 1);
	for (uint64_t n = 1; failed && n < 20000; n++) {
		struct rk_preset *p = NULL;
		struct rk_error err = { 0 };
		int rc;

		rk_alloc_fail_after(n);
		rc = rk_preset_load("comprehensive", &p, &err);
		failed = rk_alloc_failed();
		rk_alloc_fail_after(0);
		CHECK(rc == 0 ? p != NULL : rc == RK_E_NOMEM && !p);
		rk_preset_free(p);
	}
	CHECK(!failed);
}

TEST(a_preset_as_json_has_all_its_keys)
{
	struct rk_preset *p = load("comprehensive");
	const struct rk_preset *const one[] = { p };
	struct rk_error err = { 0 };
	char *text = NULL;
	size_t len = 0;

	CHECK(rk_presets_render(one, 1, true, RK_REPORT_JSON, &text, &len, &err) == 0);
	CHECK(text && strlen(text) == len);
	CHECK(text && strstr(text, "\"schema\": 1"));
	CHECK(text && strstr(text, "\"libraries\": [\"miopen\", \"rocblas\", \"rccl\"]"));
	CHECK(text && strstr(text, "\"env\": {}"));
	rk_text_free(text);
	rk_preset_free(p);
}
