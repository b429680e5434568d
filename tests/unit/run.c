/* run.c - a directory is one run, and nothing counts twice. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "io/output.h"
#include "rockit/rockit.h"
#include "tap.h"
#include "unit/rocpd_fixture.h"
#include "world.h"

#define KERNELS                                                                           \
	"\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Stream_Id\",\"Thread_Id\",\"Dispatch_Id\"," \
	"\"Kernel_Id\",\"Kernel_Name\",\"Correlation_Id\",\"Start_Timestamp\","           \
	"\"End_Timestamp\",\"LDS_Block_Size\",\"Scratch_Size\",\"VGPR_Count\","           \
	"\"Accum_VGPR_Count\",\"SGPR_Count\",\"Workgroup_Size_X\",\"Workgroup_Size_Y\","  \
	"\"Workgroup_Size_Z\",\"Grid_Size_X\",\"Grid_Size_Y\",\"Grid_Size_Z\"\n"
#define KERNEL(id, start, end)                                                            \
	"\"KERNEL_DISPATCH\",\"Agent 4\",1,0,9," #id ",7,\"k" #id "\",5," #start "," #end \
	",0,0,8,0,16,64,1,1,64,1,1\n"
#define COUNTERS                                                                        \
	"\"Correlation_Id\",\"Dispatch_Id\",\"Agent_Id\",\"Queue_Id\",\"Process_Id\","  \
	"\"Thread_Id\",\"Grid_Size\",\"Kernel_Id\",\"Kernel_Name\",\"Workgroup_Size\"," \
	"\"LDS_Block_Size\",\"Scratch_Size\",\"VGPR_Count\",\"Accum_VGPR_Count\","      \
	"\"SGPR_Count\",\"Counter_Name\",\"Counter_Value\",\"Start_Timestamp\","        \
	"\"End_Timestamp\"\n"
#define COUNTER_AT(id, name, value, start, end)                                              \
	"5," #id ",\"Agent 4\",1,100,9,64,7,\"k" #id "\",64,0,0,8,0,16,\"" name "\"," #value \
	"," #start "," #end "\n"
#define COUNTER(id, name, value) COUNTER_AT(id, name, value, id##00, id##99)
#define API                                                                        \
	"\"Domain\",\"Function\",\"Process_Id\",\"Thread_Id\",\"Correlation_Id\"," \
	"\"Start_Timestamp\",\"End_Timestamp\"\n"
#define STATS                                                                            \
	"\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\",\"MinNs\"," \
	"\"MaxNs\",\"StdDev\"\n"
#define AGENTS "\"Node_Id\",\"Agent_Type\",\"Cu_Count\",\"Simd_Count\",\"Name\"\n"

static int open_run(struct world *w, const char *sub, struct rk_run **run)
{
	const struct rk_run_options opt = { .threads = 2 };
	char path[600];
	const char *paths[] = { path };

	snprintf(path, sizeof(path), "%s/%s", w->dir, sub);
	rk_error_clear(&w->err);
	return rk_run_open(paths, 1, &opt, run, &w->err);
}

/* "name" of each file that is used, "name: reason" of the others, paths from the directory on. */
static const char *files(struct world *w, const struct rk_run *run)
{
	const struct rk_run_file *f;
	size_t n, skip = strlen(w->dir) + 1;

	f = rk_run_files(run, &n);
	rk_bytes_clear(&w->text);
	for (size_t i = 0; i < n; i++) {
		const char *reason = f[i].reason, *at = strstr(reason, w->dir);

		rk_bytes_printf(&w->text, "%s", f[i].path + skip);
		if (!f[i].used && at)
			rk_bytes_printf(&w->text, ": %.*s%s", (int)(at - reason), reason,
					at + skip);
		else if (!f[i].used)
			rk_bytes_printf(&w->text, ": %s", reason);
		rk_bytes_puts(&w->text, "\n");
	}
	return rk_bytes_str(&w->text);
}

static uint64_t rows(const struct rk_report *r, const char *table)
{
	for (size_t i = 0; i < r->ntables; i++)
		if (!strcmp(r->tables[i].name, table))
			return r->tables[i].rows;
	return UINT64_MAX;
}

static void run_is(struct world *w, const char *want_files, uint64_t kernels, int64_t sum_ns,
		   uint64_t counters, uint64_t calls)
{
	const struct rk_report_options how = { 0 };
	struct rk_report *r = NULL;
	struct rk_run *run = NULL;

	if (!CHECK_I64(open_run(w, "", &run), 0)) {
		CHECK_STR(w->err.message, "");
		return;
	}
	CHECK_STR(files(w, run), want_files);
	if (CHECK_I64(rk_run_report(run, &how, &r, &w->err), 0)) {
		CHECK_U64(r->kernel_rows, kernels);
		CHECK_I64(r->sum_duration_ns, sum_ns);
		CHECK_U64(rows(r, "counters"), counters);
		CHECK_U64(rows(r, "api"), calls);
		CHECK_U64(r->nwarnings, 0);
	}
	rk_report_free(r);
	rk_run_close(run);
}

TEST(a_trace_wins_over_its_statistics)
{
	struct world w;

	world_open(&w, 1);
	world_text(&w, "host/100_kernel_trace.csv",
		   KERNELS KERNEL(1, 1000, 1100) KERNEL(2, 1200, 1250));
	world_text(&w, "host/100_kernel_stats.csv", STATS "\"k1\",1,100,100.0,66.6,100,100,0.0\n");
	world_text(&w, "host/100_hip_api_trace.csv",
		   API "\"HIP_RUNTIME_API\",\"hipMalloc\",100,9,5,900,910\n");
	world_text(&w, "host/100_hip_api_stats.csv",
		   STATS "\"hipMalloc\",1,10,10.0,100,10,10,0.0\n");
	world_text(&w, "host/100_domain_stats.csv", STATS "\"HIP_API\",1,10,10.0,100,10,10,0.0\n");
	world_text(&w, "host/100_agent_info.csv", AGENTS "4,\"GPU\",304,1216,\"gfx942\"\n");
	world_text(&w, "host/notes.txt", "not ours\n");
	run_is(&w,
	       "host/100_agent_info.csv\n"
	       "host/100_domain_stats.csv: the same rows are in host/100_agent_info.csv\n"
	       "host/100_hip_api_stats.csv: the same rows are in host/100_hip_api_trace.csv\n"
	       "host/100_hip_api_trace.csv\n"
	       "host/100_kernel_stats.csv: the same rows are in host/100_kernel_trace.csv\n"
	       "host/100_kernel_trace.csv\n"
	       "host/notes.txt: not a format rockit knows\n",
	       2, 150, 0, 1);
	world_close(&w);
}

TEST(statistics_alone_are_used)
{
	const struct rk_report_options how = { 0 };
	struct rk_report *r = NULL;
	struct rk_run *run = NULL;
	struct world w;

	world_open(&w, 1);
	world_text(&w, "100_kernel_stats.csv",
		   STATS "\"k1\",3,100,33.3,80,10,80,0.0\n\"k2\",1,25,25.0,20,25,25,0.0\n");
	world_text(&w, "100_agent_info.csv", AGENTS "4,\"GPU\",304,1216,\"gfx942\"\n");
	if (CHECK_I64(open_run(&w, "100_kernel_stats.csv", &run), 0)) {
		CHECK_I64(rk_run_report(run, &how, &r, NULL), 0);
		CHECK_STR(r->stats_of, "kernel");
		CHECK_U64(r->kernel_rows, 4);
		rk_report_free(r);
		rk_run_close(run);
	}
	if (CHECK_I64(open_run(&w, "", &run), 0)) {
		CHECK_STR(files(&w, run), "100_agent_info.csv\n100_kernel_stats.csv\n");
		CHECK_I64(rk_run_report(run, &how, &r, NULL), 0);
		CHECK_U64(r->kernels.nrows, 2);
		rk_report_free(r);
		rk_run_close(run);
	}
	world_close(&w);
}

TEST(two_processes_are_both_counted_and_keep_their_numbers)
{
	const struct rk_report_options by = { .by = "process" };
	struct rk_report *r = NULL;
	struct rk_run *run = NULL;
	struct world w;

	world_open(&w, 1);
	world_text(&w, "100_kernel_trace.csv", KERNELS KERNEL(1, 1000, 1100));
	world_text(&w, "101_kernel_trace.csv", KERNELS KERNEL(1, 1010, 1110) KERNEL(2, 1200, 1300));
	run_is(&w, "100_kernel_trace.csv\n101_kernel_trace.csv\n", 3, 300, 0, 0);
	if (CHECK_I64(open_run(&w, "", &run), 0)) {
		CHECK_I64(rk_run_report(run, &by, &r, NULL), 0);
		if (CHECK_U64(r->kernels.nrows, 3)) {
			CHECK_STR(r->kernels.rows[0].key, "100");
			CHECK_STR(r->kernels.rows[1].key, "101");
		}
		rk_report_free(r);
		rk_run_close(run);
	}
	world_close(&w);
}

TEST(of_several_counter_passes_one_gives_the_kernels)
{
	struct world w;

	world_open(&w, 1);
	world_text(&w, "pmc_1/h/100_counter_collection.csv",
		   COUNTERS COUNTER(1, "A", 5) COUNTER(2, "A", 6));
	world_text(&w, "pmc_2/h/200_counter_collection.csv",
		   COUNTERS COUNTER(1, "B", 7) COUNTER(2, "B", 8));
	run_is(&w, "pmc_1/h/100_counter_collection.csv\npmc_2/h/200_counter_collection.csv\n", 2,
	       198, 4, 0);
	/* a pass without counters is the one that was not slowed down */
	world_text(&w, "h/50_kernel_trace.csv", KERNELS KERNEL(1, 1000, 1030));
	run_is(&w,
	       "h/50_kernel_trace.csv\npmc_1/h/100_counter_collection.csv\n"
	       "pmc_2/h/200_counter_collection.csv\n",
	       1, 30, 4, 0);
	world_close(&w);
}

TEST(agents_are_those_of_one_pass)
{
	const char *agents = AGENTS "0,\"CPU\",64,0,\"cpu\"\n4,\"GPU\",304,1216,\"gfx942\"\n";
	const struct rk_report_options how = { 0 };
	struct rk_report *r = NULL;
	struct rk_run *run = NULL;
	struct world w;

	world_open(&w, 1);
	world_text(&w, "pmc_1/h/100_counter_collection.csv", COUNTERS COUNTER(1, "A", 5));
	world_text(&w, "pmc_2/h/200_counter_collection.csv", COUNTERS COUNTER(1, "B", 7));
	world_text(&w, "pmc_1/h/100_agent_info.csv", agents);
	world_text(&w, "pmc_2/h/200_agent_info.csv", agents);
	if (CHECK_I64(open_run(&w, "", &run), 0) &&
	    CHECK_I64(rk_run_report(run, &how, &r, &w.err), 0))
		CHECK_U64(rows(r, "agents"), 2);
	rk_report_free(r);
	rk_run_close(run);
	world_close(&w);
}

#define PERF                                                                        \
	"Dispatch_ID,GPU_ID,Queue_ID,PID,TID,Grid_Size,Workgroup_Size,Kernel_Name," \
	"Start_Timestamp,End_Timestamp,Correlation_ID,SQ_WAVES\n"                   \
	"1,2,1,9,9,64,64,k,100,150,0,4\n2,2,1,9,9,64,64,k,200,260,0,4\n"

/* rocprof-compute analyze --save-dfs writes tables of the same dispatches. */
TEST(a_saved_analysis_beside_its_data_counts_nothing)
{
	static const char *const places[] = { "w/", "w/analyze/", "analyze/" };

	for (size_t i = 0; i < 3; i++) {
		char list[64], top[64], want[400];
		struct world w;

		world_open(&w, 1);
		snprintf(list, sizeof(list), "%s0.2_Dispatch_List.csv", places[i]);
		snprintf(top, sizeof(top), "%s0.1_Top_Kernels.csv", places[i]);
		world_text(&w, list, "Dispatch_ID,Kernel_Name,GPU_ID\n1,k,2\n2,k,2\n");
		world_text(&w, top,
			   "Kernel_Name,Count,Sum(ns),Mean(ns),Median(ns),Pct\n"
			   "k,2,110,55,55,100\n");
		/* alone it is used */
		snprintf(want, sizeof(want), "%s\n%s\n", top, list);
		run_is(&w, want, 2, 110, 0, 0);
		world_text(&w, "w/pmc_perf.csv", PERF);
		snprintf(want, sizeof(want),
			 "%s: the same rows are in w/pmc_perf.csv\n"
			 "%s: the same rows are in w/pmc_perf.csv\nw/pmc_perf.csv\n",
			 top, list);
		run_is(&w, want, 2, 110, 2, 0);
		world_close(&w);
	}
}

TEST(an_analysis_of_something_else_is_read)
{
	struct world w;

	world_open(&w, 1);
	world_text(&w, "one/pmc_perf.csv", PERF);
	world_text(&w, "two/0.1_Top_Kernels.csv",
		   "Kernel_Name,Count,Sum(ns),Mean(ns),Median(ns),Pct\nother,1,30,30,30,100\n");
	run_is(&w, "one/pmc_perf.csv\ntwo/0.1_Top_Kernels.csv\n", 2, 140, 2, 0);
	world_close(&w);
}

/* rocprof v1 with counters writes no times, but --stats does. */
TEST(kernels_without_times_do_not_hide_the_times_of_their_statistics)
{
	const char *results = "Index,KernelName,gpu-id,queue-id,queue-index,pid,tid,grd,wgr,lds,"
			      "scr,arch_vgpr,accum_vgpr,sgpr,wave_size,sig,obj,SQ_WAVES\n"
			      "0,\"k.kd\",0,0,0,9,9,64,64,0,0,8,0,16,64,0x0,0x7f,4\n"
			      "1,\"k.kd\",0,0,2,9,9,64,64,0,0,8,0,16,64,0x0,0x7f,4\n";
	struct world w;

	world_open(&w, 1);
	world_text(&w, "results.csv", results);
	world_text(&w, "results.stats.csv",
		   "\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\"\n"
		   "\"k.kd\",2,500,250,100.0\n");
	run_is(&w, "results.csv\nresults.stats.csv\n", 2, 500, 2, 0);
	world_close(&w);
}

TEST(a_trace_wins_over_the_counters_of_its_process)
{
	struct world w;

	world_open(&w, 1);
	world_text(&w, "100_kernel_trace.csv", KERNELS KERNEL(1, 1000, 1100) KERNEL(2, 1200, 1250));
	world_text(&w, "100_counter_collection.csv",
		   COUNTERS COUNTER(1, "A", 5) COUNTER(2, "A", 6));
	run_is(&w, "100_counter_collection.csv\n100_kernel_trace.csv\n", 2, 150, 2, 0);
	world_close(&w);
}

TEST(ranks_are_parts_of_one_run)
{
	const struct rk_report_options by = { .by = "rank" };
	struct rk_report *r = NULL;
	struct rk_run *run = NULL;
	struct world w;

	world_open(&w, 1);
	world_text(&w, "rank-0/100_kernel_trace.csv", KERNELS KERNEL(1, 1000, 1100));
	world_text(&w, "rank-1/100_kernel_trace.csv", KERNELS KERNEL(1, 1000, 1100));
	world_text(&w, "rank=7/x.csv", KERNELS KERNEL(1, 1000, 1100));
	run_is(&w, "rank-0/100_kernel_trace.csv\nrank-1/100_kernel_trace.csv\nrank=7/x.csv\n", 3,
	       300, 0, 0);
	if (CHECK_I64(open_run(&w, "", &run), 0)) {
		CHECK_I64(rk_run_report(run, &by, &r, NULL), 0);
		if (CHECK_U64(r->kernels.nrows, 3)) {
			CHECK_STR(r->kernels.rows[0].key, "0");
			CHECK_STR(r->kernels.rows[1].key, "1");
			CHECK_STR(r->kernels.rows[2].key, "7");
		}
		rk_report_free(r);
		rk_run_close(run);
	}
	world_close(&w);
}

TEST(a_database_wins_over_the_traces_of_its_process)
{
	struct fixture f;
	struct world w;
	char target[600];

	world_open(&w, 1);
	fixture_begin(&f);
	fixture_schema(&f, "_1");
	fixture_rows(&f, "_1", 100);
	fixture_close(&f);
	snprintf(target, sizeof(target), "%s/100_results.db", w.dir);
	CHECK(!rename(f.path, target));
	fixture_end(&f);
	world_text(&w, "100_kernel_trace.csv", KERNELS KERNEL(1, 1000, 1100));
	world_text(&w, "200_kernel_trace.csv", KERNELS KERNEL(9, 5000, 5007));
	{
		const struct rk_report_options how = { 0 };
		struct rk_report *r = NULL;
		struct rk_run *run = NULL;

		if (CHECK_I64(open_run(&w, "", &run), 0)) {
			CHECK_STR(files(&w, run), "100_kernel_trace.csv: the same rows are in "
						  "100_results.db\n100_results.db\n"
						  "200_kernel_trace.csv\n");
			CHECK_I64(rk_run_report(run, &how, &r, NULL), 0);
			CHECK_U64(r->kernel_rows, 3); /* two in the database */
			rk_report_free(r);
			rk_run_close(run);
		}
	}
	world_close(&w);
}

TEST(a_packed_copy_beside_the_file_does_not_count_twice)
{
	char command[1300], path[600];
	struct world w;

	world_open(&w, 1);
	world_text(&w, "100_kernel_trace.csv", KERNELS KERNEL(1, 1000, 1100));
	snprintf(path, sizeof(path), "%s/100_kernel_trace.csv", w.dir);
	snprintf(command, sizeof(command), "gzip -k %s 2>/dev/null", path);
	if (system(command)) {
		world_close(&w);
		SKIP("no gzip");
	}
	run_is(&w,
	       "100_kernel_trace.csv\n"
	       "100_kernel_trace.csv.gz: the same rows are in 100_kernel_trace.csv\n",
	       1, 100, 0, 0);
	world_close(&w);
}

TEST(a_file_named_twice_counts_once)
{
	const struct rk_report_options how = { 0 };
	struct rk_report *r = NULL;
	struct rk_run *run = NULL;
	const char *paths[2];
	char path[600];
	struct world w;

	world_open(&w, 1);
	world_text(&w, "100_kernel_trace.csv", KERNELS KERNEL(1, 1000, 1100));
	snprintf(path, sizeof(path), "%s/100_kernel_trace.csv", w.dir);
	paths[0] = w.dir;
	paths[1] = path;
	if (CHECK_I64(rk_run_open(paths, 2, NULL, &run, NULL), 0)) {
		CHECK_I64(rk_run_report(run, &how, &r, NULL), 0);
		CHECK_U64(r->kernel_rows, 1);
		rk_report_free(r);
		rk_run_close(run);
	}
	world_close(&w);
}

TEST(a_directory_with_nothing_known_is_an_error)
{
	struct rk_run *run = NULL;
	struct world w;

	world_open(&w, 1);
	CHECK_I64(open_run(&w, "", &run), RK_E_UNSUPPORTED);
	CHECK(strstr(w.err.message, "no profiler output in '") != NULL);
	world_text(&w, "a.txt", "nothing\n");
	world_text(&w, ".100_kernel_trace.csv", KERNELS KERNEL(1, 1000, 1100));
	CHECK_I64(open_run(&w, "", &run), RK_E_UNSUPPORTED);
	CHECK_I64(open_run(&w, "a.txt", &run), RK_E_UNSUPPORTED);
	CHECK_I64(open_run(&w, "missing", &run), RK_E_IO);
	CHECK_I64(rk_run_open(NULL, 0, NULL, &run, NULL), RK_E_USAGE);
	world_close(&w);
}

TEST(a_file_that_cannot_be_read_in_a_directory_is_a_warning)
{
	const struct rk_warning *list;
	struct rk_run *run = NULL;
	struct world w;
	size_t n;

	if (!geteuid())
		SKIP("root reads everything");
	world_open(&w, 1);
	world_text(&w, "100_kernel_trace.csv", KERNELS KERNEL(1, 1000, 1100));
	chmod(world_text(&w, "101_kernel_trace.csv", KERNELS KERNEL(1, 1000, 1100)), 0);
	if (CHECK_I64(open_run(&w, "", &run), 0)) {
		list = rk_run_warnings(run, &n);
		if (CHECK_U64(n, 1)) {
			CHECK_STR(list[0].kind, "unreadable-file");
			CHECK(strstr(list[0].message, "Permission denied") != NULL);
		}
		rk_run_close(run);
	}
	world_close(&w);
}

static uint64_t warned(const struct rk_run *run, const char *kind)
{
	const struct rk_warning *list;
	uint64_t count = 0;
	size_t n;

	list = rk_run_warnings(run, &n);
	for (size_t i = 0; i < n; i++)
		count += strcmp(list[i].kind, kind) ? 0 : list[i].count;
	return count;
}

TEST(a_bad_row_is_warned_about_once_however_often_the_file_is_read)
{
	const struct rk_report_options how = { 0 };
	struct rk_convert_options out = { .format = "csv" };
	struct rk_convert_result result = { 0 };
	struct rk_report *r = NULL;
	struct rk_run *run = NULL;
	char path[600];
	struct world w;

	world_open(&w, 1);
	/* calls and markers in one file: two tables, two passes over the same short row */
	world_text(&w, "in/100_marker_api_trace.csv",
		   API "\"HIP_RUNTIME_API\",\"hipMalloc\",100,9,5,900,910\n"
		       "\"HIP_RUNTIME_API\",\"short\"\n"
		       "\"MARKER_CORE_API\",\"step\",100,9,5,900,910\n");
	/* values and dispatches in one file */
	world_text(&w, "in/100_counter_collection.csv",
		   COUNTERS COUNTER(1, "A", 5) "short,row\n" COUNTER(2, "A", 6));
	if (CHECK_I64(open_run(&w, "in", &run), 0)) {
		CHECK_I64(rk_run_report(run, &how, &r, NULL), 0);
		CHECK_U64(warned(run, "short-row"), 2);
		rk_report_free(r);
		rk_run_close(run);
	}
	snprintf(path, sizeof(path), "%s/out/", w.dir);
	out.out = path;
	if (CHECK_I64(open_run(&w, "in", &run), 0)) {
		CHECK_I64(rk_run_convert(run, &out, &result, NULL), 0);
		CHECK_U64(warned(run, "short-row"), 2);
		CHECK_U64(result.files, 4);
		rk_run_close(run);
	}
	world_close(&w);
}

TEST(converting_what_is_out_of_order_warns_once)
{
	struct rk_convert_options out = { 0 };
	struct rk_convert_result result = { 0 };
	struct rk_bytes text;
	struct rk_run *run = NULL;
	char path[600];
	struct world w;

	rk_bytes_init(&text, 64 << 20);
	rk_bytes_puts(&text, KERNELS "short\n");
	for (unsigned i = 0; i < 200000; i++)
		rk_bytes_printf(
			&text,
			"\"K\",\"Agent 4\",%u,0,9,%u,7,\"k\",5,%u,%u,0,0,8,0,16,64,1,1,64,1,1\n", i,
			i, 900000 - i, 900000 - i + (i % 2));
	world_open(&w, 1);
	world_file(&w, "in.csv", text.data, text.len);
	snprintf(path, sizeof(path), "%s/out.csv", w.dir);
	out.out = path;
	if (CHECK_I64(open_run(&w, "in.csv", &run), 0)) {
		CHECK_I64(rk_run_convert(run, &out, &result, NULL), 0);
		CHECK_U64(result.rows, 200000);
		CHECK_U64(warned(run, "short-row"), 1);
		CHECK_U64(warned(run, "zero-duration"), 100000);
		rk_run_close(run);
	}
	CHECK_U64(world_entries(&w, "."), 2);
	world_close(&w);
	rk_bytes_release(&text);
}

/* Everything from opening to the written file, as a program would do it. */
static int all_of_it(const char *in, const char *out, struct rk_error *err)
{
	const struct rk_run_options opt = { .threads = 1 };
	const struct rk_convert_options convert = { .out = out };
	const struct rk_report_options report = { 0 };
	struct rk_convert_result result;
	struct rk_report *r = NULL;
	struct rk_run *run = NULL;
	int rc = rk_run_open(&in, 1, &opt, &run, err);

	if (rc == 0)
		rc = rk_run_report(run, &report, &r, err);
	rk_report_free(r);
	if (rc == 0)
		rc = rk_run_convert(run, &convert, &result, err);
	rk_run_close(run);
	return rc;
}

static void small_run(struct world *w)
{
	world_text(w, "in/100_kernel_trace.csv",
		   KERNELS KERNEL(1, 1000, 1100) KERNEL(2, 900, 950) "short\n" KERNEL(3, 950, 950));
	world_text(w, "in/100_counter_collection.csv",
		   COUNTERS COUNTER(1, "A", 5) COUNTER(2, "B", 6));
	world_text(w, "in/100_marker_api_trace.csv",
		   API "\"HIP_RUNTIME_API\",\"hipMalloc\",100,9,5,900,910\n"
		       "\"MARKER_CORE_API\",\"step\",100,9,5,900,910\n");
	world_text(w, "in/100_kernel_stats.csv", STATS "\"k1\",1,100,100.0,66.6,100,100,0.0\n");
}

static void fail_each_allocation(const char *out_name)
{
	char in[600], out[600];
	struct world w;
	uint64_t n = 1, tried = 0;

	world_open(&w, 1);
	small_run(&w);
	snprintf(in, sizeof(in), "%s/in", w.dir);
	snprintf(out, sizeof(out), "%s/%s", w.dir, out_name);
	for (;; n += n < 200 ? 1 : n / 60, tried++) {
		struct rk_error err = { 0 };
		int rc;

		unlink(out);
		rk_alloc_fail_after(n);
		rc = all_of_it(in, out, &err);
		if (!rk_alloc_failed()) {
			CHECK_I64(rc, 0);
			break;
		}
		/* losing a warning or a name's readable form is not a failure */
		if (rc < 0 && (!CHECK_I64(rc, RK_E_NOMEM) || !CHECK_I64(err.code, RK_E_NOMEM))) {
			printf("# allocation %llu: %s\n", (unsigned long long)n, err.message);
			break;
		}
		if (rc < 0 && !CHECK_U64(world_entries(&w, "."), 1))
			break;
	}
	rk_alloc_fail_after(0);
	CHECK(tried > 100);
	CHECK(world_has(&w, out_name));
	world_close(&w);
}

TEST(a_run_survives_every_failed_allocation_to_parquet)
{
	fail_each_allocation("out.parquet");
}

TEST(a_run_survives_every_failed_allocation_to_csv)
{
	fail_each_allocation("out.csv");
}

TEST(a_run_survives_every_failed_allocation_to_jsonl)
{
	fail_each_allocation("out.jsonl");
}

static void fail_each_write(const char *out_name, bool dir)
{
	char in[600], out[600];
	struct world w;
	uint64_t n = 1;

	world_open(&w, 1);
	small_run(&w);
	snprintf(in, sizeof(in), "%s/in", w.dir);
	snprintf(out, sizeof(out), "%s/%s", w.dir, out_name);
	for (; n < 1000; n++) {
		struct rk_error err = { 0 };
		size_t before = dir ? world_entries(&w, out_name) : 0;
		int rc;

		rk_output_fail_after(n, n % 2 ? ENOSPC : EIO);
		rc = all_of_it(in, out, &err);
		rk_output_fail_after(0, 0);
		if (rc == 0)
			break;
		CHECK_I64(rc, RK_E_IO);
		CHECK(strstr(err.message, n % 2 ? "No space left" : "Input/output error") != NULL);
		CHECK(strstr(err.message, dir ? out_name : "out.") != NULL);
		if (dir) /* tables that were whole before may be there, parts of one may not */
			CHECK(world_entries(&w, out_name) <= before + 4);
		else
			CHECK_U64(world_entries(&w, "."), 1);
	}
	CHECK(n > 1 && n < 1000);
	world_close(&w);
}

TEST(no_failing_write_leaves_a_file)
{
	fail_each_write("out.parquet", false);
	fail_each_write("out.csv", false);
	fail_each_write("out.jsonl", false);
	fail_each_write("tables/", true);
}

TEST(formats_have_names_and_help)
{
	const char *help = NULL;
	size_t n = 0;

	while (rk_format_name(false, n, &help))
		CHECK(help && *help && n++ < 100);
	CHECK(n >= 3);
	CHECK_STR(rk_format_name(true, 0, NULL), "parquet");
	CHECK(rk_format_name(true, 99, NULL) == NULL);
}
