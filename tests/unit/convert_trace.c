/* convert_trace.c - runs as traces through the library: ranks, disorder, failures on the way. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "rockit/rockit.h"
#include "tap.h"
#include "world.h"

#define HEADER                                                                                 \
	"Kind,Agent_Id,Queue_Id,Stream_Id,Thread_Id,Dispatch_Id,Kernel_Id,Kernel_Name,"        \
	"Correlation_Id,Start_Timestamp,End_Timestamp,LDS_Block_Size,Scratch_Size,VGPR_Count," \
	"Accum_VGPR_Count,SGPR_Count,Workgroup_Size_X,Workgroup_Size_Y,Workgroup_Size_Z,"      \
	"Grid_Size_X,Grid_Size_Y,Grid_Size_Z\n"
#define KERNEL(name, start, end) \
	"KERNEL_DISPATCH,Agent 4,1,1,8,1,1," name ",1," start "," end ",0,0,8,0,8,64,1,1,64,1,1\n"

/* Two ranks, whose processes have one pid. */
static void make_job(struct world *w)
{
	world_text(w, "job/rank-0/7_kernel_trace.csv", HEADER KERNEL("a", "100", "200"));
	world_text(w, "job/rank-2/7_kernel_trace.csv",
		   HEADER KERNEL("b", "300", "400") KERNEL("c", "150", "160"));
}

static int convert(struct world *w, const char *in, const char *out, struct rk_convert_result *ret,
		   struct rk_error *err)
{
	struct rk_run_options how = { .threads = 1 };
	char from[128], to[128];
	const char *paths[] = { from };
	struct rk_convert_options what = { .out = to };
	struct rk_run *run = NULL;
	int rc;

	snprintf(from, sizeof(from), "%s/%s", w->dir, in);
	snprintf(to, sizeof(to), "%s/%s", w->dir, out);
	rc = rk_run_open(paths, 1, &how, &run, err);
	if (rc == 0)
		rc = rk_run_convert(run, &what, ret, err);
	rk_run_close(run);
	return rc;
}

static const char *kernels_of(struct world *w, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", w->dir, name);
	return world_dump(w, path, RK_KERNELS,
			  7 | UINT64_C(1) << RK_K_PID | UINT64_C(1) << RK_K_RANK);
}

TEST(a_job_of_two_ranks_is_one_trace)
{
	struct rk_convert_result result = { 0 };
	struct rk_error err = { 0 };
	struct world w;

	world_open(&w, 1);
	make_job(&w);
	CHECK_I64(convert(&w, "job", "job.pftrace", &result, &err), 0);
	CHECK_U64(result.rows, 3);
	CHECK_STR(kernels_of(&w, "job.pftrace"),
		  "kernel_name=c|start_ns=150|duration_ns=10|pid=7|rank=2\n"
		  "kernel_name=a|start_ns=100|duration_ns=100|pid=7|rank=0\n"
		  "kernel_name=b|start_ns=300|duration_ns=100|pid=7|rank=2\n");
	world_close(&w);
}

TEST(a_job_of_two_ranks_is_an_archive_of_two_traces)
{
	static const char manifest[] =
		"{\"perfetto_manifest\":{\"version\":1,\"files\":[\n"
		"{\"path\":\"rank-00000.pftrace\",\"machine\":{\"name\":\"rank 0\"},"
		"\"rockit_clock\":{\"offset_ns\":0,\"drift_ppm\":0.000000,\"error_ns\":1000,"
		"\"by\":\"node\"}},\n"
		"{\"path\":\"rank-00002.pftrace\",\"machine\":{\"name\":\"rank 2\"},"
		"\"rockit_clock\":{\"not_aligned\":\"rank 2 has nothing in common with rank 0: "
		"no collective, clock snapshot or message\"}}]}}\n";
	struct rk_convert_result result = { 0 };
	struct rk_error err = { 0 };
	char path[128], data[32768];
	struct world w;
	size_t len = 0;
	FILE *f;

	world_open(&w, 1);
	make_job(&w);
	CHECK_I64(convert(&w, "job", "job.tar", &result, &err), 0);
	CHECK_U64(result.rows, 3);
	CHECK_U64(result.files, 1);
	snprintf(path, sizeof(path), "%s/job.tar", w.dir);
	f = fopen(path, "rb");
	if (CHECK(f != NULL)) {
		len = fread(data, 1, sizeof(data), f);
		fclose(f);
	}
	CHECK(len % 512 == 0 && len > 2048);
	CHECK(memmem(data, len, manifest, sizeof(manifest) - 1) != NULL);
	CHECK_STR(data, "rank-00000.pftrace");
	world_close(&w);
}

TEST(rows_in_disorder_are_sorted_on_disk_for_a_trace)
{
	enum { ROWS = 200000 };
	static char text[ROWS * 96 + 1024];
	struct rk_convert_result result = { 0 };
	struct rk_error err = { 0 };
	struct world w;
	size_t len;

	len = (size_t)snprintf(text, sizeof(text), HEADER);
	for (unsigned i = 0; i < ROWS; i++) /* the last first: no window is large enough */
		len += (size_t)snprintf(text + len, sizeof(text) - len, KERNEL("k", "%u", "%u"),
					10 * (ROWS - i), 10 * (ROWS - i) + 5);
	world_open(&w, 1);
	world_file(&w, "7_kernel_trace.csv", text, len);
	CHECK_I64(convert(&w, "7_kernel_trace.csv", "t.pftrace", &result, &err), 0);
	CHECK_U64(result.rows, ROWS);
	CHECK(!strncmp(kernels_of(&w, "t.pftrace"),
		       "kernel_name=k|start_ns=10|duration_ns=5|pid=7\n"
		       "kernel_name=k|start_ns=20|duration_ns=5|pid=7\n",
		       92));
	world_close(&w);
}

/* Each failure is an error and leaves nothing, or costs a warning only. */
TEST(an_archive_of_traces_survives_each_failed_allocation)
{
	struct world w;
	bool failed = true;

	world_open(&w, 1);
	make_job(&w);
	for (uint64_t n = 1; failed && n < 5000; n++) {
		struct rk_convert_result result = { 0 };
		struct rk_error err = { 0 };
		int rc;

		rk_alloc_fail_after(n);
		rc = convert(&w, "job", "job.tar", &result, &err);
		failed = rk_alloc_failed();
		rk_alloc_fail_after(0);
		CHECK(rc == 0 || (failed && rc == RK_E_NOMEM && err.code == RK_E_NOMEM));
	}
	CHECK(!failed);
	world_close(&w);
}

/* A rank whose kernels are Parquet; damaged: its first page cannot be read. */
static void put_parquet_rank(struct world *w, const char *name, bool damaged)
{
	struct rk_convert_result result = { 0 };
	struct rk_error err = { 0 };
	char path[128];
	FILE *f;

	CHECK_I64(convert(w, "7_kernel_trace.csv", name, &result, &err), 0);
	snprintf(path, sizeof(path), "%s/%s", w->dir, name);
	f = fopen(path, "r+b");
	if (!CHECK(f != NULL))
		return;
	if (damaged) {
		CHECK(fseek(f, 4, SEEK_SET) == 0);
		CHECK_U64(fwrite("\377\377\377\377\377\377\377\377\377\377", 1, 10, f), 10);
	}
	fclose(f);
}

TEST(a_failure_after_a_damaged_rank_is_not_another_damaged_rank)
{
	struct world w;
	bool failed = true;
	unsigned left_out = 0, no_memory = 0;

	world_open(&w, 1);
	world_text(&w, "7_kernel_trace.csv", HEADER KERNEL("a", "100", "200"));
	for (unsigned i = 0; i < 3; i++) {
		char name[64];

		snprintf(name, sizeof(name), "job/rank-%u/rocprof_kernels.parquet", i);
		world_text(&w, name, ""); /* makes the folders */
		put_parquet_rank(&w, name, i == 0);
	}
	for (uint64_t n = 1; failed && n < 5000; n++) {
		struct rk_convert_result result = { 0 };
		struct rk_error err = { 0 };
		int rc;

		rk_alloc_fail_after(n);
		rc = convert(&w, "job", "job.tar", &result, &err);
		failed = rk_alloc_failed();
		rk_alloc_fail_after(0);
		CHECK(rc == RK_E_FORMAT || (failed && rc == RK_E_NOMEM));
		CHECK_I64(err.code, rc);
		if (rc == RK_E_FORMAT)
			CHECK(!strncmp(err.message, "1 rank could not", 16));
		left_out += rc == RK_E_FORMAT;
		no_memory += rc == RK_E_NOMEM;
	}
	CHECK(!failed && left_out && no_memory);
	world_close(&w);
}
