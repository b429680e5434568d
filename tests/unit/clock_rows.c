/* clock_rows.c - rows on one clock, and reports of ranks when memory is short. */
#include "ranks/gather.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "tap.h"
#include "world.h"

#define HEAD                                                                                   \
	"Kind,Agent_Id,Queue_Id,Stream_Id,Thread_Id,Dispatch_Id,Kernel_Id,Kernel_Name,"        \
	"Correlation_Id,Start_Timestamp,End_Timestamp,LDS_Block_Size,Scratch_Size,VGPR_Count," \
	"Accum_VGPR_Count,SGPR_Count,Workgroup_Size_X,Workgroup_Size_Y,Workgroup_Size_Z,"      \
	"Grid_Size_X,Grid_Size_Y,Grid_Size_Z\n"

static struct rk_ranks_rank lines[] = {
	{ .rank = 0, .node = "a", .clock = RK_CLOCK_SAME, .clock_by = "node", .clock_note = "" },
	{ .rank = 4,
	  .node = "b",
	  .clock = RK_CLOCK_ALIGNED,
	  .offset_ns = 1000,
	  .drift_ppm = 100,
	  .error_ns = 7,
	  .clock_by = "collectives",
	  .clock_note = "" },
	{ .rank = 6, .node = "c", .clock = RK_CLOCK_ALONE, .clock_by = "", .clock_note = "why" },
};

static const struct rk_ranks ranks = { .ranks = lines, .nranks = 3, .base_ns = 5000 };

struct feed {
	struct rk_builder b;
	bool given;
};

static const struct rk_batch *give(void *arg)
{
	struct feed *f = arg;

	if (f->given)
		return NULL;
	f->given = true;
	return rk_builder_batch(&f->b);
}

static void put_kernel(struct feed *f, int64_t rank, int64_t start, int64_t duration)
{
	size_t i = f->b.nrows++;

	((int64_t *)rk_builder_column(&f->b, RK_K_START))[i] = start;
	((int64_t *)rk_builder_column(&f->b, RK_K_DURATION))[i] = duration;
	((int32_t *)rk_builder_column(&f->b, RK_K_RANK))[i] = (int32_t)rank;
	if (rank < 0)
		rk_builder_null(&f->b, RK_K_RANK, i);
}

TEST(both_ends_of_a_row_come_to_the_clock_of_the_reference)
{
	struct rk_rank_times *t = NULL;
	struct feed f = { .given = false };
	struct rk_source *rows;
	struct rk_run run;
	struct world w;

	world_open(&w, 1);
	run = (struct rk_run){ .ctx = w.ctx };
	CHECK_I64(rk_rank_times_of(&run, &ranks, &t, &w.err), 0);
	rk_builder_init(&f.b, rk_table_schema(RK_KERNELS), 9, NULL);
	put_kernel(&f, 0, 5000, 10);
	put_kernel(&f, 4, 6000, 10);                /* base_ns exactly */
	put_kernel(&f, 4, 6000 + 1000100, 1000100); /* a million later, and as long */
	put_kernel(&f, 4, 6000, -3);
	put_kernel(&f, 6, 9000, 10);
	put_kernel(&f, 5, 9000, 10); /* no such rank */
	put_kernel(&f, -1, 9000, 10);
	put_kernel(&f, 4, INT64_MAX, 10); /* its end is none */
	put_kernel(&f, 4, INT64_MIN, 10); /* not on the other clock */
	rows = world_source(rk_table_schema(RK_KERNELS), give, &f);
	CHECK_I64(rk_rank_times_open(t, &rows, &w.err), 0);
	CHECK_STR(world_drain(&w, rows), "start_ns=5000|duration_ns=10|rank=0\n"
					 "start_ns=5000|duration_ns=10|rank=4\n"
					 "start_ns=1005000|duration_ns=1000000|rank=4\n"
					 "start_ns=5000|duration_ns=-3|rank=4\n"
					 "start_ns=9000|duration_ns=10|rank=6\n"
					 "start_ns=9000|duration_ns=10|rank=5\n"
					 "start_ns=9000|duration_ns=10\n"
					 "start_ns=9222449791875587249|duration_ns=10|rank=4\n"
					 "start_ns=-9223372036854775808|duration_ns=10|rank=4\n");
	rk_builder_release(&f.b);
	rk_rank_times_free(t);
	world_close(&w);
}

TEST(samples_go_by_their_node)
{
	static const char *const nodes[] = { "a", "b", "c", "d" };
	struct rk_rank_times *t = NULL;
	struct feed f = { .given = false };
	struct rk_source *rows;
	struct rk_run run;
	struct world w;

	world_open(&w, 1);
	run = (struct rk_run){ .ctx = w.ctx };
	CHECK_I64(rk_rank_times_of(&run, &ranks, &t, &w.err), 0);
	rk_builder_init(&f.b, rk_table_schema(RK_SAMPLES), 4, NULL);
	for (; f.b.nrows < 4; f.b.nrows++) {
		uint32_t id = 0;

		rk_strtab_add(w.ctx.names, nodes[f.b.nrows], 1, &id, NULL);
		((int64_t *)rk_builder_column(&f.b, RK_S_TIME))[f.b.nrows] = 6000;
		((uint32_t *)rk_builder_column(&f.b, RK_S_NODE))[f.b.nrows] = id;
	}
	rows = world_source(rk_table_schema(RK_SAMPLES), give, &f);
	CHECK_I64(rk_rank_times_open(t, &rows, &w.err), 0);
	CHECK_STR(world_drain(&w, rows), "time_ns=6000|node=a\ntime_ns=5000|node=b\n"
					 "time_ns=6000|node=c\ntime_ns=6000|node=d\n");
	rk_builder_release(&f.b);
	rk_rank_times_free(t);
	world_close(&w);
}

TEST(what_became_of_a_clock_can_be_asked)
{
	struct rk_rank_times *t = NULL;
	struct rk_rank_time of;
	struct rk_run run;
	struct world w;

	world_open(&w, 1);
	run = (struct rk_run){ .ctx = w.ctx };
	CHECK_I64(rk_rank_times_of(&run, NULL, &t, &w.err), 0);
	CHECK(!t);
	CHECK_I64(rk_rank_times_of(&run, &ranks, &t, &w.err), 0);
	CHECK(rk_rank_times_rank(t, 4, &of) && of.offset_ns == 1000 && of.error_ns == 7);
	CHECK(rk_rank_times_rank(t, 6, &of) && of.clock == RK_CLOCK_ALONE);
	CHECK_STR(of.note, "why");
	CHECK(!rk_rank_times_rank(t, 5, &of));
	rk_rank_times_free(t);
	world_close(&w);
}

/* ---- all of it, with two folders ---- */

static void put_rank(struct world *w, int rank)
{
	char name[64], text[4096];
	int len = snprintf(text, sizeof(text), HEAD);

	for (int k = 0; k < 12 && len < (int)sizeof(text); k++)
		len += snprintf(text + len, sizeof(text) - (size_t)len,
				"KERNEL_DISPATCH,Agent 4,1,1,8,%d,1,%s,1,%d,%d,0,0,8,0,8,64,1,1,64,"
				"1,1\n",
				k, k % 2 ? "ncclDevKernel_AllGather_RING_LL" : "gemm",
				1000000 * k + 9000 * rank + 100 * (k * 7 % 5), 1000000 * k + 90000);
	snprintf(name, sizeof(name), "rank-%05d/7_kernel_trace.csv", rank);
	world_text(w, name, text);
}

static int make(struct world *w, struct rk_report **ret, struct rk_run **run, struct rk_error *err)
{
	struct rk_run_options opt = { .threads = 1 };
	const char *paths[] = { w->dir };
	int rc = rk_run_open(paths, 1, &opt, run, err);

	return rc == 0 ? rk_run_report(*run, NULL, ret, err) : rc;
}

TEST(a_report_of_two_folders_has_both_ranks_and_their_collectives)
{
	struct rk_report *r = NULL;
	struct rk_run *run = NULL;
	struct world w;

	world_open(&w, 1);
	put_rank(&w, 0);
	put_rank(&w, 1);
	CHECK_I64(make(&w, &r, &run, &w.err), 0);
	if (CHECK(r && r->ranks)) {
		CHECK_U64(r->ranks->nranks, 2);
		CHECK_U64(r->ranks->ncollectives, 1);
		CHECK_U64(r->ranks->collectives[0].calls, 6);
		CHECK_STR(r->ranks->collectives[0].name, "AllGather RING LL");
		CHECK_I64(r->ranks->ranks[1].clock, RK_CLOCK_ALIGNED);
	}
	rk_report_free(r);
	rk_run_close(run);
	world_close(&w);
}

TEST(fused_report_every_allocation_may_fail)
{
	struct world w;
	bool failed = true;

	world_open(&w, 1);
	put_rank(&w, 0);
	put_rank(&w, 1);
	for (uint64_t n = 1; failed && n < 5000; n++) {
		struct rk_report *r = NULL;
		struct rk_run *run = NULL;
		struct rk_error err = { 0 };
		int rc;

		rk_alloc_fail_after(n);
		rc = make(&w, &r, &run, &err);
		failed = rk_alloc_failed();
		rk_alloc_fail_after(0);
		/* losing a warning is not a failure */
		if (rc < 0)
			CHECK(failed && err.code == RK_E_NOMEM);
		rk_report_free(rc == 0 ? r : NULL);
		rk_run_close(run);
	}
	CHECK(!failed);
	world_close(&w);
}
