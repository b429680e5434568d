/* api_parts.c - small parts of the API: tools, categories, plans as data, kernels one by one. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "rockit/counters.h"
#include "rockit/kernels.h"
#include "rockit/rockit.h"
#include "rockit/session.h"
#include "rockit/tools.h"
#include "tap.h"
#include "world.h"

static char *program[] = { "./app", "--size", "8", NULL };

/* Nothing needs to be installed. */
static const struct rk_session_options base = { .tool = "rocprofv3",
						.tool_version = "7.0.0",
						.arch = "gfx942",
						.dir = "/tmp/out",
						.argv = program };

static bool has(const char *const *v, const char *word)
{
	for (; *v; v++)
		if (!strcmp(*v, word))
			return true;
	return false;
}

TEST(the_commands_of_a_plan_are_data)
{
	struct rk_session_options opt = base;
	const struct rk_planned *p;
	struct rk_session *s = NULL;
	struct world w;

	world_open(&w, 1);
	opt.traces = "kernel,memcpy";
	opt.counters = "SQ_WAVES,SQ_INSTS_VALU";
	CHECK_I64(rk_session_plan(&opt, &s, &w.err), 0);
	p = rk_session_planned(s);
	CHECK_STR(p->tool, "rocprofv3");
	CHECK_STR(p->tool_version, "7.0.0");
	CHECK_STR(p->arch, "gfx942");
	CHECK(p->profiled);
	if (CHECK_U64(p->npasses, 2)) {
		CHECK(has(p->passes[0].argv, "--kernel-trace"));
		CHECK(has(p->passes[0].argv, "./app") && has(p->passes[0].argv, "--size"));
		CHECK(!p->passes[0].counters[0]);
		CHECK_STR(p->passes[1].counters[0], "SQ_WAVES");
		CHECK(has(p->passes[1].argv, "--pmc"));
		CHECK(!strncmp(p->passes[1].dir, "/tmp/out/", 9));
		CHECK(p->passes[0].env && p->passes[1].env);
	}
	rk_session_free(s);
	world_close(&w);
}

TEST(the_usual_questions_have_sessions)
{
	const struct rk_planned *p;
	struct rk_session *s = NULL;
	struct world w;

	world_open(&w, 1);
	CHECK_I64(rk_session_for_kernel(&base, "gemm.*", &s, &w.err), 0);
	p = rk_session_planned(s);
	CHECK(p->npasses >= 2 && has(p->passes[1].argv, "--kernel-include-regex=gemm.*"));
	CHECK(has(p->passes[0].argv, "--kernel-trace") && has(p->passes[1].counters, "SQ_WAVES"));
	rk_session_free(s);
	CHECK_I64(rk_session_for_memory(&base, &s, &w.err), 0);
	p = rk_session_planned(s);
	CHECK(p->npasses >= 2 && has(p->passes[1].counters, "FETCH_SIZE"));
	rk_session_free(s);
	CHECK_I64(rk_session_for_compute_unit(&base, &s, &w.err), 0);
	p = rk_session_planned(s);
	CHECK(p->npasses >= 2 && has(p->passes[1].counters, "SQ_WAVES"));
	rk_session_free(s);
	world_close(&w);
}

TEST(rocprof_compute_gets_its_target)
{
	struct rk_session_options opt = base;
	const struct rk_planned *p;
	struct rk_session *s = NULL;
	struct world w;

	world_open(&w, 1);
	opt.tool = NULL;
	opt.tool_version = "3.1.0";
	CHECK_I64(rk_session_for_rocprof_compute(&opt, "gfx90a", &s, &w.err), 0);
	p = rk_session_planned(s);
	CHECK_STR(p->tool, "rocprof-compute");
	CHECK_STR(p->arch, "gfx90a");
	if (CHECK(p->npasses == 1)) {
		CHECK(has(p->passes[0].argv, "profile"));
		CHECK(has(p->passes[0].argv, "./app"));
	}
	rk_session_free(s);
	world_close(&w);
}

TEST(counters_have_categories)
{
	struct rk_counter_names names = { 0 };
	struct world w;

	world_open(&w, 1);
	CHECK_I64(rk_counters_categories(&names, &w.err), 0);
	CHECK(names.n >= 6 && has((const char *const *)names.names, "compute_unit"));
	rk_counter_names_release(&names);
	CHECK(!names.names);
	CHECK_I64(rk_counters_of_category("gfx942", "waves", &names, &w.err), 0);
	CHECK(has((const char *const *)names.names, "SQ_WAVES"));
	rk_counter_names_release(&names);
	CHECK_I64(rk_counters_of_category("gfx942", "wave", &names, &w.err), RK_E_USAGE);
	CHECK_STR(w.err.message, "no category 'wave'; did you mean 'waves'?");
	rk_error_clear(&w.err);
	CHECK_I64(rk_counters_of_category("gfx1", "waves", &names, &w.err), RK_E_USAGE);
	world_close(&w);
}

TEST(tools_are_found_and_shown)
{
	struct rk_tools_found t = { 0 };
	char path[600], bin[600];
	struct rk_tools_options where = { .root = path, .path = bin };
	char *text = NULL;
	struct world w;

	world_open(&w, 1);
	snprintf(path, sizeof(path), "%s/none", w.dir);
	snprintf(bin, sizeof(bin), "%s/bin", w.dir);
	CHECK_I64(rk_tools_find(&where, &t, &w.err), 0);
	CHECK_U64(t.n, 0);
	CHECK_I64(rk_tools_render(&t, RK_REPORT_TEXT, &text, NULL, &w.err), 0);
	CHECK_STR(text, "no profiler found\n");
	rk_text_free(text);
	chmod(world_text(&w, "bin/rocprofv3", "#!/bin/sh\n"), 0755);
	rk_tools_release(&t);
	CHECK_I64(rk_tools_find(&where, &t, &w.err), 0);
	CHECK(t.n == 1 && rk_tools_best(&t, "rocprofv3") == &t.tools[0]);
	CHECK(!rk_tools_best(&t, "rocprof-compute") && !rk_tools_best(&t, "nonsense"));
	CHECK_I64(rk_tools_render(&t, RK_REPORT_CSV, &text, NULL, &w.err), 0);
	CHECK(!strncmp(text, "name,path,version,rocm,first,usable\nrocprofv3,", 46));
	rk_text_free(text);
	CHECK_I64(rk_tools_render(&t, RK_REPORT_JSON, &text, NULL, &w.err), 0);
	CHECK(strstr(text, "\"name\": \"rocprofv3\"") || strstr(text, "\"name\":\"rocprofv3\""));
	rk_text_free(text);
	rk_tools_release(&t);
	world_close(&w);
}

#define HEAD                                                                      \
	"\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Kernel_Name\",\"Start_Timestamp\"," \
	"\"End_Timestamp\",\"Workgroup_Size_X\",\"Workgroup_Size_Y\","            \
	"\"Workgroup_Size_Z\",\"Grid_Size_X\",\"Grid_Size_Y\",\"Grid_Size_Z\"\n"

struct seen {
	unsigned n, stop_at;
	struct rk_kernel last;
	char name[32];
};

static int see(void *arg, const struct rk_kernel *k)
{
	struct seen *s = arg;

	s->n++;
	s->last = *k;
	snprintf(s->name, sizeof(s->name), "%s", k->name);
	return s->n == s->stop_at;
}

TEST(kernels_come_one_by_one)
{
	struct seen s = { 0 };
	struct rk_run *run = NULL;
	const char *path;
	struct world w;

	world_open(&w, 1);
	path = world_text(&w, "1_kernel_trace.csv",
			  HEAD "\"KERNEL_DISPATCH\",\"Agent 4\",3,\"k1\",100,150,64,1,1,640,2,1\n"
			       "\"KERNEL_DISPATCH\",\"Agent 4\",3,\"k2\",160,170,64,1,1,128,1,1\n");
	CHECK_I64(rk_run_open(&path, 1, NULL, &run, &w.err), 0);
	CHECK_I64(rk_run_each_kernel(run, see, &s, &w.err), 0);
	CHECK_U64(s.n, 2);
	CHECK_STR(s.name, "k2");
	CHECK(s.last.start_ns == 160 && s.last.duration_ns == 10);
	CHECK(s.last.grid[0] == 2 && s.last.block[0] == 64 && s.last.queue_id == 3);
	CHECK(s.last.dispatch_id == -1 && s.last.rank == -1 && !s.last.barrier);
	s = (struct seen){ .stop_at = 1 };
	CHECK_I64(rk_run_each_kernel(run, see, &s, &w.err), RK_E_CANCELLED);
	CHECK_U64(s.n, 1);
	rk_run_close(run);
	world_close(&w);
}

TEST(an_error_is_one_line_with_its_place)
{
	struct rk_error err = { .code = RK_E_FORMAT, .line = 12, .file = "a.csv", .message = "bad" };
	char buf[64];

	CHECK_STR(rk_error_text(&err, buf, sizeof(buf)), "a.csv:12: bad");
	err.line = 0;
	err.offset = 9;
	CHECK_STR(rk_error_text(&err, buf, sizeof(buf)), "a.csv: byte 9: bad");
	err.offset = 0;
	CHECK_STR(rk_error_text(&err, buf, sizeof(buf)), "a.csv: bad");
	CHECK_STR(rk_error_text(&err, buf, 4), "a.c");
	CHECK_STR(rk_error_text(NULL, buf, sizeof(buf)), "");
	CHECK_STR(rk_error_text(&err, NULL, 0), "");
	CHECK_STR(rk_code_word(RK_E_FORMAT), "format");
	CHECK_STR(rk_code_word(RK_E_CANCELLED), "cancelled");
	CHECK_STR(rk_code_word(-99), "unknown");
	CHECK_STR(rk_code_word(1), "unknown");
	CHECK_STR(rk_version(), ROCKIT_VERSION);
}
