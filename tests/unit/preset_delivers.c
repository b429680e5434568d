/* preset_delivers.c - what a preset says a tool delivers is what that tool is asked for. */
#include <stdio.h>
#include <string.h>

#include "preset_world.h"
#include "rockit/counters.h"
#include "tap.h"

/* The word of each trace in the sentences, by bit. */
static const char *const words[] = { "HIP",    "HSA",  "kernels", "copies",
				     "marker", "RCCL", "scratch", "allocations" };
enum { NWORDS = sizeof(words) / sizeof(words[0]) }; /* no preset traces more */

/* What `p` says about a tool, up to what is missing: "HIP calls; no samples" is "HIP calls". */
static void promise(const struct rk_preset *p, const char *tool, char out[512])
{
	size_t len = strlen(tool);

	out[0] = '\0';
	for (const char *const *d = p->delivers; *d; d++)
		if (strncmp(*d, tool, len) == 0 && (*d)[len] == ':')
			snprintf(out, 512, "%.*s", (int)strcspn(*d + len, ";"), *d + len);
}

/* One pass of the newest release, for a chip that has everything. */
static void ask(const struct rk_tool_ops *tool, const struct rk_preset *p, bool counters,
		struct rk_tool_command *ret)
{
	const struct rk_version newest = { 0 };
	const struct rk_pc_sampling pc = { 0 };
	struct rk_list app = { 0 }, names = { 0 };
	struct rk_error err = { 0 };
	const struct rk_want want = {
		.traces = counters ? RK_TRACE_KERNEL : traces_of(p),
		.stats = p->stats,
		.counters = counters ? &names : NULL,
		.pc = p->pc_method[0] ? &pc : NULL,
		.arch = "gfx942",
		.dir = "/run",
		.app = &app,
	};

	rk_list_add(&app, "./app");
	rk_list_add(&names, "SQ_WAVES");
	CHECK(tool->command(tool->name, newest, &want, ret, &err) == 0);
	CHECK_STR(err.message, "");
	rk_list_release(&app);
	rk_list_release(&names);
}

static void compare(const struct rk_tool_ops *tool, const struct rk_preset *p)
{
	struct rk_tool_command c = { 0 };
	char text[512], what[128];

	promise(p, tool->name, text);
	CHECK(text[0] != '\0');
	CHECK(traces_of(p) >> NWORDS == 0);
	ask(tool, p, false, &c);
	for (unsigned i = 0; i < NWORDS; i++) {
		bool said = strstr(text, words[i]) != NULL, given = c.delivers >> i & 1;

		snprintf(what, sizeof(what), "%s %s: %s", p->name, tool->name, words[i]);
		if (traces_of(p) >> i & 1)
			tap_check(said == given, __FILE__, __LINE__, what);
	}
	snprintf(what, sizeof(what), "%s %s: samples", p->name, tool->name);
	if (p->pc_method[0])
		tap_check((strstr(text, "samples") != NULL) == c.pc, __FILE__, __LINE__, what);
	rk_tool_command_release(&c);
	if (!p->counters[0])
		return;
	ask(tool, p, true, &c);
	snprintf(what, sizeof(what), "%s %s: counters", p->name, tool->name);
	tap_check((strstr(text, "counters") != NULL) == c.counters, __FILE__, __LINE__, what);
	rk_tool_command_release(&c);
}

TEST(what_a_preset_says_of_a_tool_is_what_the_tool_gives)
{
	struct rk_preset_names names = { 0 };
	struct rk_error err = { 0 };

	CHECK(rk_preset_list(&names, &err) == 0);
	for (size_t i = 0; i < names.n; i++) {
		struct rk_preset *p = NULL;

		if (!CHECK(rk_preset_load(names.names[i], &p, &err) == 0))
			continue;
		for (const struct rk_tool_ops *const *t = rk_tools; *t; t++)
			compare(*t, p);
		rk_preset_free(p);
	}
	rk_preset_names_release(&names);
}

TEST(counters_of_a_preset_cost_the_passes_that_it_says)
{
	static const char *const archs[] = { "gfx90a", "gfx942", "gfx950" };
	static const struct {
		const char *preset;
		size_t passes;
	} said[] = { { "compute", 2 }, { "memory", 3 }, { "full", 1 }, { "roofline", 5 } };

	for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++)
		for (size_t a = 0; a < sizeof(archs) / sizeof(archs[0]); a++) {
			struct rk_counter_plan *plan = NULL;
			struct rk_preset *p = NULL;
			struct rk_error err = { 0 };
			char text[32];

			if (!CHECK(rk_preset_load(said[i].preset, &p, &err) == 0))
				continue;
			CHECK(rk_counters_plan(archs[a], p->counters, &plan, &err) == 0);
			CHECK_U64(plan ? plan->npasses : 0, said[i].passes);
			snprintf(text, sizeof(text), "(%zu on gfx90a", said[i].passes);
			CHECK(strstr(p->overhead, text) != NULL);
			rk_counter_plan_free(plan);
			rk_preset_free(p);
		}
}
