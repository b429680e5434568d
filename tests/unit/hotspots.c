/* hotspots.c - instructions, lines and stall reasons: by hand, by counting, from files. */
#include "report/hotspots.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "rockit/hotspots.h"
#include "rockit/rockit.h"
#include "tap.h"
#include "world.h"

static const struct rk_name_style plain;

struct sample {
	const char *kernel, *instruction, *source, *stall;
	int64_t dispatch, pid; /* -1: not known */
};

static uint32_t word(struct world *w, const char *text)
{
	uint32_t id = 0;

	CHECK_I64(rk_strtab_add(w->ctx.names, text, strlen(text), &id, NULL), 0);
	return id;
}

static void put_str(struct world *w, struct rk_builder *b, unsigned f, const char *text)
{
	((uint32_t *)rk_builder_column(b, f))[b->nrows] = text ? word(w, text) : 0;
	if (!text)
		rk_builder_null(b, f, b->nrows);
}

static void put_i64(struct rk_builder *b, unsigned f, int64_t v)
{
	void *data = rk_builder_column(b, f);

	if (b->schema->fields[f].type == RK_I32)
		((int32_t *)data)[b->nrows] = (int32_t)v;
	else
		((int64_t *)data)[b->nrows] = v;
	if (v < 0)
		rk_builder_null(b, f, b->nrows);
}

static void put_sample(struct world *w, struct rk_builder *b, const struct sample *s)
{
	put_i64(b, RK_P_TIME, 5);
	put_i64(b, RK_P_DISPATCH, s->dispatch);
	put_i64(b, RK_P_PID, s->pid);
	put_str(w, b, RK_P_NAME, s->kernel);
	put_str(w, b, RK_P_INSTRUCTION, s->instruction);
	put_str(w, b, RK_P_SOURCE_LINE, s->source);
	put_str(w, b, RK_P_STALL, s->stall);
	b->nrows++;
}

/* "kernel|instruction|source|stall=weight;" of each cell, in the order of the cells. */
static const char *cells_text(struct world *w, const struct rk_hot_cell *c, size_t n)
{
	static char text[4000];
	size_t len = 0;

	text[0] = '\0';
	for (; n && len < sizeof(text); n--, c++)
		len += (size_t)snprintf(
			text + len, sizeof(text) - len, "%s|%s|%s|%s=%llu;",
			rk_strtab_borrow(w->ctx.names, c->kernel, NULL),
			c->rest ? "*" : rk_strtab_borrow(w->ctx.names, c->instruction, NULL),
			rk_strtab_borrow(w->ctx.names, c->source, NULL),
			rk_strtab_borrow(w->ctx.names, c->stall, NULL),
			(unsigned long long)c->weight);
	return text;
}

static void counts_as(const struct sample *s, size_t n, size_t limit, const char *want,
		      const char *warnings)
{
	const struct rk_hot_cell *cells;
	struct rk_hot *h = NULL;
	struct rk_builder b;
	struct world w;
	size_t ncells;

	world_open(&w, 1);
	CHECK_I64(rk_hot_new(&w.ctx, &plain, &h, NULL), 0);
	if (limit)
		rk_hot_limit(h, limit);
	CHECK_I64(rk_builder_init(&b, rk_table_schema(RK_PC_SAMPLES), n + 1, NULL), 0);
	for (size_t i = 0; i < n; i++)
		put_sample(&w, &b, &s[i]);
	CHECK_I64(rk_hot_add(h, rk_builder_batch(&b), NULL), 0);
	rk_hot_finish(h, &cells, &ncells);
	CHECK_STR(cells_text(&w, cells, ncells), want);
	CHECK_STR(world_warnings(&w), warnings);
	rk_builder_release(&b);
	rk_hot_free(h);
	world_close(&w);
}

TEST(hotspots_of_samples_are_counted_by_kernel_line_instruction_and_reason)
{
	static const struct sample s[] = {
		{ "k", "v_add", "a:1", "WAIT", 1, 1 }, { "k", "v_add", "a:1", "WAIT", 2, 1 },
		{ "k", "v_add", "a:1", NULL, 2, 1 },   { "k", "v_add", "a:2", NULL, 2, 1 },
		{ "j", "v_add", "a:1", "WAIT", 2, 1 },
	};

	counts_as(s, 5, 0, "k|v_add|a:1|=1;k|v_add|a:1|WAIT=2;k|v_add|a:2|=1;j|v_add|a:1|WAIT=1;",
		  "");
}

TEST(hotspots_past_the_limit_are_summed_for_each_kernel)
{
	static const struct sample s[] = {
		{ "k", "a", NULL, NULL, 1, 1 }, { "k", "b", NULL, NULL, 1, 1 },
		{ "k", "c", NULL, NULL, 1, 1 }, { "k", "d", NULL, NULL, 1, 1 },
		{ "k", "a", NULL, NULL, 1, 1 }, { "j", "a", NULL, NULL, 1, 1 },
		{ "i", "a", NULL, NULL, 1, 1 }, { "h", "a", NULL, NULL, 1, 1 },
	};

	/* two cells, a rest for two kernels, and one rest for all other kernels */
	counts_as(s, 8, 2, "|*||=2;k|a||=2;k|b||=1;k|*||=2;j|*||=1;", "hotspot-limit:5 ");
}

TEST(hotspots_without_a_kernel_are_reported)
{
	static const struct sample s[] = { { NULL, "a", NULL, NULL, 7, 1 } };

	counts_as(s, 1, 0, "|a||=1;", "hotspot-no-kernel:1 ");
}

static void put_kernel(struct world *w, struct rk_builder *b, const char *name, int64_t dispatch,
		       int64_t pid)
{
	put_str(w, b, RK_K_NAME, name);
	put_i64(b, RK_K_DISPATCH, dispatch);
	put_i64(b, RK_K_PID, pid);
	b->nrows++;
}

TEST(hotspots_of_dispatches_are_named_by_the_trace_of_their_process)
{
	static const struct sample s[] = { { NULL, "a", NULL, NULL, 1, 10 },
					   { NULL, "a", NULL, NULL, 1, 20 },
					   { NULL, "a", NULL, NULL, 2, 20 },
					   { "own", "a", NULL, NULL, 1, 10 },
					   { NULL, "a", NULL, NULL, 1, 30 } };
	const struct rk_hot_cell *cells;
	struct rk_builder b, k;
	struct rk_hot *h = NULL;
	struct world w;
	size_t n;

	world_open(&w, 1);
	CHECK_I64(rk_hot_new(&w.ctx, &plain, &h, NULL), 0);
	CHECK_I64(rk_builder_init(&b, rk_table_schema(RK_PC_SAMPLES), 9, NULL), 0);
	CHECK_I64(rk_builder_init(&k, rk_table_schema(RK_KERNELS), 9, NULL), 0);
	put_kernel(&w, &k, "ten", 1, 10);
	put_kernel(&w, &k, "twenty", 1, 20);
	for (size_t i = 0; i < 5; i++)
		put_sample(&w, &b, &s[i]);
	CHECK(rk_hot_needs_kernels(rk_builder_batch(&b)));
	CHECK_I64(rk_hot_note(h, rk_builder_batch(&k), NULL), 0);
	CHECK_I64(rk_hot_layout(h, NULL), 0);
	CHECK_I64(rk_hot_name(h, rk_builder_batch(&k), NULL), 0);
	CHECK_I64(rk_hot_add(h, rk_builder_batch(&b), NULL), 0);
	rk_hot_finish(h, &cells, &n);
	CHECK_STR(cells_text(&w, cells, n), "|a||=2;ten|a||=1;twenty|a||=1;own|a||=1;");
	CHECK_U64(world_warned(&w, "hotspot-no-kernel"), 2);
	rk_builder_release(&b);
	rk_builder_release(&k);
	rk_hot_free(h);
	world_close(&w);
}

/* Rows of rocprof-compute: no time, no dispatch, counts by reason as JSON. */
static void one_of_compute(const char *stall, int64_t samples, const char *want)
{
	const struct rk_hot_cell *cells;
	struct rk_builder b;
	struct rk_hot *h = NULL;
	struct world w;
	size_t n;

	world_open(&w, 1);
	CHECK_I64(rk_hot_new(&w.ctx, &plain, &h, NULL), 0);
	CHECK_I64(rk_builder_init(&b, rk_table_schema(RK_PC_SAMPLES), 1, NULL), 0);
	put_str(&w, &b, RK_P_NAME, "k");
	put_str(&w, &b, RK_P_INSTRUCTION, "a");
	put_str(&w, &b, RK_P_STALL, stall);
	put_i64(&b, RK_P_WAVE_COUNT, samples);
	b.nrows++;
	CHECK_I64(rk_hot_add(h, rk_builder_batch(&b), NULL), 0);
	rk_hot_finish(h, &cells, &n);
	CHECK_STR(cells_text(&w, cells, n), want);
	rk_builder_release(&b);
	rk_hot_free(h);
	world_close(&w);
}

TEST(hotspots_of_rows_that_represent_many_samples)
{
	one_of_compute("{\"WAIT\": 3, \"ALU\": 4}", 12, "k|a||=5;k|a||WAIT=3;k|a||ALU=4;");
	one_of_compute("{\"WAIT\": 30, \"ALU\": 4}", 12, "k|a||WAIT=12;");
	one_of_compute("{\"WAIT\": -1, \"ALU\": \"x\"}", 12, "k|a||=12;");
	one_of_compute("{broken", 12, "k|a||{broken=12;");
	one_of_compute(NULL, 12, "k|a||=12;");
	one_of_compute(NULL, -1, "");
}

/* ---- from files ---- */

static const char trace[] =
	"\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Kernel_Id\",\"Kernel_Name\",\"Dispatch_Id\","
	"\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\",\"Private_Segment_Size\","
	"\"Group_Segment_Size\",\"Workgroup_Size_X\",\"Workgroup_Size_Y\",\"Workgroup_Size_Z\","
	"\"Grid_Size_X\",\"Grid_Size_Y\",\"Grid_Size_Z\"\n"
	"\"KERNEL_DISPATCH\",1,1,7,\"gemm(float*)\",1,1,1000,1100,0,0,64,1,1,64,1,1\n"
	"\"KERNEL_DISPATCH\",1,1,7,\"fill(float*)\",2,2,2000,2700,0,0,64,1,1,64,1,1\n"
	"\"KERNEL_DISPATCH\",1,1,7,\"gemm(float*)\",3,3,3000,3200,0,0,64,1,1,64,1,1\n";

#define REASON "ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_"

static const char samples[] =
	"\"Sample_Timestamp\",\"Exec_Mask\",\"Dispatch_Id\",\"Instruction\","
	"\"Instruction_Comment\",\"Correlation_Id\",\"Wave_Issued_Instruction\","
	"\"Instruction_Type\",\"Stall_Reason\",\"Wave_Count\"\n"
	"1010,1,1,\"s_waitcnt vmcnt(0)\",\"/a/k.cpp:3\",1,0,\"X_NO_INST\",\"" REASON "WAITCNT\",4\n"
	"1020,1,1,\"s_waitcnt vmcnt(0)\",\"/a/k.cpp:3\",1,0,\"X_NO_INST\",\"" REASON "WAITCNT\",4\n"
	"3020,1,3,\"s_waitcnt vmcnt(0)\",\"/a/k.cpp:3\",1,0,\"X_NO_INST\",\"" REASON
	"ALU_DEPENDENCY\",4\n"
	"3030,1,3,\"v_add v1, v2\",\"/a/k.cpp:3\",1,1,\"X_VALU\",\"" REASON "OTHER_WAIT\",4\n";

static const char thread_trace[] =
	"\"CodeObj\",\"Vaddr\",\"Instruction\",\"Hitcount\",\"Latency\",\"Stall\",\"Idle\","
	"\"Source\"\n"
	"1,100,\"; _Z4gemmPf\",0,0,0,0,\"gemm(float*) [clone .kd]\"\n"
	"1,104,\"s_load_dword s0\",10,100,20,5,\"k.cpp:1\"\n"
	"1,108,\"v_add v1, v2\",10,300,250,0,\"k.cpp:2\"\n"
	"1,112,\"v_add v1, v2\",10,100,0,0,\"k.cpp:2\"\n"
	"1,200,\"; _Z4fillPf\",0,0,0,0,\"\"\n"
	"1,204,\"s_endpgm\",1,4,0,0,\"\"\n"
	"2,40,\"s_nop 0\",1,9,0,0,\"\"\n";

static int hotspots_of(struct world *w, const char *name, const char *text, struct rk_run **run,
		       struct rk_hotspots **h)
{
	const struct rk_run_options how = { .threads = 1 };
	char dir[sizeof(w->dir)];
	const char *paths[] = { dir };

	world_text(w, "7_kernel_trace.csv", trace);
	world_text(w, name, text);
	memcpy(dir, w->dir, sizeof(dir));
	CHECK_I64(rk_run_open(paths, 1, &how, run, &w->err), 0);
	return *run ? rk_run_hotspots(*run, h, &w->err) : RK_E_NOMEM;
}

TEST(hotspots_of_a_run_with_samples_name_their_kernels)
{
	struct rk_hotspots *h = NULL;
	struct rk_run *run = NULL;
	struct world w;

	world_open(&w, 1);
	if (CHECK_I64(hotspots_of(&w, "7_pc_sampling_stochastic.csv", samples, &run, &h), 0) &&
	    CHECK_U64(h->nkernels, 1)) {
		const struct rk_hotspot_kernel *k = &h->kernels[0];

		CHECK_STR(k->name, "gemm(float*)");
		CHECK_U64(k->calls, 2);
		CHECK_I64(k->total_ns, 300);
		CHECK_U64(k->sum.weight, 4);
		CHECK_U64(k->sum.stalled, 3); /* the one that was issued was not stalled */
		CHECK_U64(k->ninstructions, 2);
		CHECK_STR(k->instructions[0].instruction, "s_waitcnt vmcnt(0)");
		CHECK(k->instructions[0].percent == 75);
		CHECK_U64(k->instructions[0].nstalls, 2);
		CHECK_STR(k->instructions[0].stalls[0].reason, "WAITCNT");
		CHECK_U64(k->instructions[0].stalls[0].samples, 2);
		CHECK_U64(k->instructions[1].stalled, 0);
		CHECK_U64(k->nlines, 1);
		CHECK_STR(k->lines[0].source, "/a/k.cpp:3");
		CHECK_U64(k->lines[0].weight, 4);
		CHECK_U64(h->nsilent, 1);
		CHECK_STR(h->silent[0].name, "fill(float*)");
		CHECK_I64(h->silent[0].total_ns, 700);
	}
	rk_hotspots_free(h);
	rk_run_close(run);
	world_close(&w);
}

TEST(hotspots_of_a_thread_trace_are_by_latency_and_address)
{
	struct rk_hotspots *h = NULL;
	struct rk_run *run = NULL;
	struct world w;

	world_open(&w, 1);
	if (CHECK_I64(hotspots_of(&w, "stats_ui_output_agent_1_dispatch_1.csv", thread_trace, &run,
				  &h),
		      0) &&
	    CHECK_U64(h->nkernels, 3)) {
		const struct rk_hotspot_kernel *k = &h->kernels[0];

		CHECK_STR(k->name, "gemm(float*)");
		CHECK_U64(k->from, RK_FROM_THREAD_TRACE);
		CHECK_U64(k->sum.weight, 500);
		CHECK_U64(k->calls, 2);
		CHECK_U64(k->ninstructions, 3);
		CHECK_I64(k->instructions[0].vaddr, 108);
		CHECK(k->instructions[0].percent == 60);
		CHECK_U64(k->instructions[0].stalled, 250);
		CHECK_U64(k->lines[0].weight, 400);
		CHECK_U64(k->lines[0].hits, 20);
		CHECK_STR(h->kernels[1].name, "");
		CHECK_STR(h->kernels[2].name, "fill(float*)");
		CHECK_U64(h->cycles, 513);
		CHECK_U64(h->nsilent, 0);
	}
	rk_hotspots_free(h);
	rk_run_close(run);
	world_close(&w);
}

TEST(hotspots_without_memory_are_an_error_and_nothing_leaks)
{
	bool failed = true;

	for (uint64_t n = 1; failed && n < 20000; n++) {
		const struct rk_run_options how = { .threads = 1 };
		struct rk_hotspots *h = NULL;
		struct rk_run *run = NULL;
		char dir[sizeof(((struct world *)0)->dir)], *text = NULL;
		const char *paths[] = { dir };
		struct world w;
		size_t len;
		int rc;

		world_open(&w, 1);
		world_text(&w, "7_kernel_trace.csv", trace);
		world_text(&w, "7_pc_sampling_stochastic.csv", samples);
		world_text(&w, "stats_ui_output_agent_1_dispatch_1.csv", thread_trace);
		memcpy(dir, w.dir, sizeof(dir));
		CHECK_I64(rk_run_open(paths, 1, &how, &run, &w.err), 0);
		rk_alloc_fail_after(n);
		rc = rk_run_hotspots(run, &h, &w.err);
		if (rc == 0)
			rc = rk_hotspots_render(h, &(struct rk_render_options){ .top = 2 }, &text,
						&len, &w.err);
		failed = rk_alloc_failed();
		rk_alloc_fail_after(0);
		CHECK(rc == 0 || (failed && rc == RK_E_NOMEM && w.err.code == RK_E_NOMEM));
		rk_text_free(text);
		rk_hotspots_free(h);
		rk_run_close(run);
		world_close(&w);
	}
	CHECK(!failed);
}

/* ---- against counting ---- */

enum { NTEXTS = 4, NRANDOM = 3000 };

TEST(hotspots_of_any_samples_are_what_counting_gives)
{
	static const char *const texts[NTEXTS] = { "a", "b", "c", "d" };
	static struct sample s[NRANDOM];
	const struct rk_hot_cell *cells;
	uint64_t seed = 7, sum = 0, want = 0;
	struct rk_builder b;
	struct rk_hot *h = NULL;
	struct world w;
	size_t n;

	for (size_t i = 0; i < NRANDOM; i++)
		s[i] = (struct sample){ texts[world_random(&seed) % NTEXTS],
					texts[world_random(&seed) % NTEXTS],
					texts[world_random(&seed) % NTEXTS],
					texts[world_random(&seed) % NTEXTS],
					-1,
					-1 };
	world_open(&w, 1);
	CHECK_I64(rk_hot_new(&w.ctx, &plain, &h, NULL), 0);
	CHECK_I64(rk_builder_init(&b, rk_table_schema(RK_PC_SAMPLES), NRANDOM, NULL), 0);
	for (size_t i = 0; i < NRANDOM; i++)
		put_sample(&w, &b, &s[i]);
	CHECK_I64(rk_hot_add(h, rk_builder_batch(&b), NULL), 0);
	rk_hot_finish(h, &cells, &n);
	for (size_t c = 0; c < n; c++) {
		sum += cells[c].weight;
		want = 0;
		for (size_t i = 0; i < NRANDOM; i++)
			want += word(&w, s[i].kernel) == cells[c].kernel &&
				word(&w, s[i].instruction) == cells[c].instruction &&
				word(&w, s[i].source) == cells[c].source &&
				word(&w, s[i].stall) == cells[c].stall;
		CHECK_U64(cells[c].weight, want);
	}
	CHECK_U64(sum, NRANDOM);
	rk_builder_release(&b);
	rk_hot_free(h);
	world_close(&w);
}
