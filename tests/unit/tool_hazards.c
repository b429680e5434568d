/* tool_hazards.c - what is known to go wrong, by tool, release, chip and request. */
#include "tool/hazards.h"

#include <string.h>

#include "base/data.h"
#include "codec/json/tree.h"
#include "tap.h"
#include "tool/tool.h"

/* How many hazards with `part` in them concern the case. */
static size_t count(const struct rk_hazard_case *c, const char *part)
{
	struct rk_hazards found = { 0 };
	struct rk_error err = { 0 };
	size_t n = 0;

	CHECK(rk_hazards_find(c, &found, &err) == 0);
	for (size_t i = 0; i < found.n; i++)
		n += strstr(found.v[i].text, part) != NULL;
	rk_hazards_release(&found);
	CHECK(!found.v && !found.n);
	return n;
}

/* Whatever is requested, as doctor asks. */
static bool warned(const char *tool, const char *version, const char *arch, const char *part)
{
	struct rk_hazard_case c = { .tool = tool, .arch = arch, .any = true };

	rk_version_parse(version, &c.version);
	return count(&c, part) > 0;
}

/* By rocprofv3 of a release that is going to do this. */
static bool meets(const char *version, const char *arch, unsigned asks, unsigned traces,
		  const char *part)
{
	struct rk_hazard_case c = {
		.tool = "rocprofv3", .arch = arch, .asks = asks, .traces = traces
	};

	rk_version_parse(version, &c.version);
	return count(&c, part) > 0;
}

TEST(a_hazard_applies_to_its_releases_only)
{
	CHECK(!warned("rocprofv3", "6.2.4", "", "numpy"));
	CHECK(warned("rocprofv3", "6.3", "", "numpy"));
	CHECK(warned("rocprofv3", "6.3.3", "", "numpy"));
	CHECK(!warned("rocprofv3", "6.4", "", "numpy"));
	CHECK(!warned("rocprofv3", "", "", "numpy"));
	CHECK(warned("rocprofv3", "7.0.2", "", "semicolon"));
	CHECK(!warned("rocprofv3", "7.13", "", "semicolon"));
	CHECK(warned("rocprof", "7.2.1", "", "HIP graphs"));
	CHECK(!warned("rocprof", "7.2.2", "", "HIP graphs"));
	CHECK(warned("rocprof-sys", "7.2.3", "", "vLLM"));
	CHECK(!warned("rocprof-sys", "7.2.4", "", "vLLM"));
}

TEST(a_hazard_applies_to_its_chips_only)
{
	CHECK(warned("rocprofv3", "7.0", "gfx1100", "read zero"));
	CHECK(!warned("rocprofv3", "7.0", "gfx942", "read zero"));
	CHECK(!warned("rocprofv3", "7.0", "", "read zero"));
	CHECK(!warned("rocprofv3", "7.0", NULL, "read zero"));
	CHECK(warned("rocprof", "6.2", "gfx1201", "does not support this chip"));
	CHECK(!warned("rocprof", "6.2", "gfx90a", "does not support this chip"));
	CHECK(warned("rocprofv3", "", "gfx942", "SIGKILL"));
	CHECK(warned("rocprof-compute", "7.14", "gfx1151", "TCP_REQ_sum"));
	CHECK(!warned("rocprof-compute", "7.14", "gfx1150", "TCP_REQ_sum"));
}

TEST(every_tool_has_hazards_and_strangers_have_none)
{
	for (const struct rk_tool_ops *const *t = rk_tools; *t; t++)
		CHECK((*t)->library || warned((*t)->name, "", "", ""));
	CHECK(!warned("nsys", "", "", ""));
}

TEST(a_run_meets_only_the_hazards_of_what_it_does)
{
	CHECK(meets("10.0", "", 0, RK_TRACE_OMPT, "OpenMP"));
	CHECK(!meets("10.0", "", 0, RK_TRACE_HIP, "OpenMP"));
	CHECK(!meets("10.1", "", 0, RK_TRACE_OMPT, "OpenMP"));
	CHECK(meets("7.2.1", "", RK_ASK_ATTACH, 0, "records nothing at all"));
	CHECK(!meets("7.2.2", "", RK_ASK_ATTACH, 0, "records nothing at all"));
	CHECK(!meets("7.2.1", "", RK_ASK_COUNTERS, 0, "records nothing at all"));
	CHECK(meets("10.1", "", RK_ASK_ATTACH | RK_CASE_TORCH, 0, "libtorch_cpu.so"));
	CHECK(!meets("10.1", "", RK_ASK_ATTACH, 0, "libtorch_cpu.so"));
	CHECK(!meets("10.1", "", RK_CASE_TORCH, 0, "libtorch_cpu.so"));
	CHECK(meets("7.0", "gfx942", RK_CASE_JOB, RK_TRACE_HIP | RK_TRACE_KERNEL, "collectives"));
	CHECK(!meets("7.0", "gfx942", 0, RK_TRACE_HIP | RK_TRACE_KERNEL, "collectives"));
	CHECK(!meets("7.0", "gfx942", RK_CASE_JOB, RK_TRACE_KERNEL, "collectives"));
	CHECK(meets("10.1", "", RK_ASK_REPLAY, 0, "not restore"));
	CHECK(meets("10.1", "", RK_CASE_WSL, 0, "WSL2"));
	/* for doctor alone */
	CHECK(!meets("7.0", "gfx942", ~0u, ~0u, "SIGKILL"));
	/* a plain trace of a program that is not Python, on a release without open faults of it */
	CHECK(!meets("10.1", "gfx942", 0, RK_TRACE_HIP | RK_TRACE_KERNEL, ""));
}

TEST(drivers_and_firmware_are_compared_by_number)
{
	struct rk_hazard_case c = { .tool = "rocprofv3",
				    .version = { 10, 1, 0 },
				    .arch = "gfx942",
				    .asks = RK_ASK_SPM | RK_ASK_COUNTERS };
	static const char *const old[] = { NULL,
					   "",
					   "6.19.9",
					   "6.19.14",
					   "6.19.14.31399999",
					   "5.99.99.99999999",
					   "6.9.14.31400000-1.el9",
					   "none" };
	static const char *const new[] = { "6.19.14.31400000", "6.19.14.31400000-99.el9", "6.20",
					   "7", "6.19.15" };

	for (size_t i = 0; i < sizeof(old) / sizeof(old[0]); i++) {
		c.driver = old[i];
		CHECK_U64(count(&c, "amdgpu driver before"), 1);
	}
	for (size_t i = 0; i < sizeof(new) / sizeof(new[0]); i++) {
		c.driver = new[i];
		CHECK_U64(count(&c, "amdgpu driver before"), 0);
	}
	CHECK_U64(count(&c, "CP firmware"), 0); /* not known */
	c.firmware = 185;
	CHECK_U64(count(&c, "CP firmware"), 1);
	c.firmware = 186;
	CHECK_U64(count(&c, "CP firmware"), 0);
	c.firmware = 100;
	c.arch = "gfx90a";
	CHECK_U64(count(&c, "CP firmware"), 0);
}

TEST(what_is_not_confirmed_is_worded_so)
{
	CHECK(meets("7.14", "", RK_CASE_PYTHON, 0,
		    "QUEUE_INTERPOSITION=false, or another release "
		    "(not confirmed)"));
	CHECK(!meets("10.0", "", RK_ASK_ATTACH, 0, "(not confirmed)"));
}

/* A row with a word or release that we do not know would never apply. */
TEST(every_row_of_the_table_is_understood)
{
	static const char *const keys[] = {
		"tool",   "from",   "until", "arch",      "when",          "symptom",
		"advice", "source", "run",   "confirmed", "driver_before", "firmware_before"
	};
	const struct rk_data_file *f = rk_data_find("tools/hazards.json");
	struct rk_tree *root = NULL;
	struct rk_error err = { 0 };
	size_t n = 0;

	if (!CHECK(f && rk_tree_parse_json(f->text, f->len, f->name, &root, &err) == 0))
		return;
	RK_TREE_EACH(row, rk_tree_get(root, "hazards"))
	{
		const char *tool = rk_tree_text(rk_tree_get(row, "tool"), "");
		const char *symptom = rk_tree_text(rk_tree_get(row, "symptom"), "");
		/* just before the end: the last release that is affected */
		const char *from = rk_tree_text(rk_tree_get(row, "from"), "");
		const char *until = rk_tree_text(rk_tree_get(row, "until"), "");
		struct rk_version a = { 0 }, b = { 0 };
		struct rk_hazard_case c = { .tool = tool,
					    .arch = rk_tree_text(rk_tree_get(row, "arch"), ""),
					    .any = true,
					    .asks = ~0u,
					    .firmware = 1 };

		n++;
		CHECK(rk_tool_find(tool) != NULL);
		CHECK(symptom[0] && rk_tree_text(rk_tree_get(row, "source"), "")[0]);
		CHECK(!from[0] || rk_version_parse(from, &a));
		CHECK(!until[0] || rk_version_parse(until, &b));
		CHECK(!from[0] || !until[0] || rk_version_compare(a, b) < 0);
		c.version = from[0] ? a : (struct rk_version){ 5, 0, 0 };
		tap_check(count(&c, symptom) > 0, __FILE__, __LINE__, symptom);
		/* the words, one by one: with none of them it does not apply */
		c.any = false;
		c.asks = 0;
		if (rk_tree_get(row, "when"))
			CHECK(count(&c, symptom) == 0);
		c.asks = ~0u;
		c.traces = ~0u;
		if (!rk_tree_get(row, "run"))
			CHECK(count(&c, symptom) > 0);
		RK_TREE_EACH(field, row)
		{
			size_t i = 0;

			while (i < sizeof(keys) / sizeof(keys[0]) && strcmp(keys[i], field->key))
				i++;
			CHECK(i < sizeof(keys) / sizeof(keys[0]));
		}
	}
	CHECK(n > 50);
	rk_tree_free(root);
}
