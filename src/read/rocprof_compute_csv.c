/*
 * rocprof_compute_csv.c - CSV files in the directories of rocprof-compute and omniperf.
 *
 * Files of single passes (pmc_perf_0.csv, SQ_LEVEL_WAVES.csv, timestamps.csv) are those of rocprof
 * v1, rocprofv2 or rocprofv3 with some columns renamed, not always all; pmc_perf.csv is their join.
 */
#include "read/wide/wide.h"

static const struct rk_csv_bind columns[] = {
	{ "Kernel_ID", RK_CELL_SKIP, 0 },
	{ .more = rk_rocprof_v2_columns },
};
static const struct rk_csv_bind long_values[] = {
	{ "Dispatch_ID", RK_CELL_SERIAL, RK_N_DISPATCH },
	{ "Kernel_Name", RK_CELL_STR, RK_N_NAME },
	{ "Counter_Name", RK_CELL_STR, RK_N_COUNTER },
	{ "Counter_Value", RK_CELL_F64, RK_N_VALUE },
	{ "GPU_ID", RK_CELL_AGENT, RK_N_DEVICE },
	{ "PID", RK_CELL_I64, RK_N_PID },
	{ "Grid_Size", RK_CELL_SKIP, 0 },
	{ "Workgroup_Size", RK_CELL_SKIP, 0 },
	{ "LDS_Per_Workgroup", RK_CELL_SKIP, 0 },
	{ "Scratch_Per_Workitem", RK_CELL_SKIP, 0 },
	{ "Arch_VGPR", RK_CELL_SKIP, 0 },
	{ "Accum_VGPR", RK_CELL_SKIP, 0 },
	{ "SGPR", RK_CELL_SKIP, 0 },
	{ "Start_Timestamp", RK_CELL_SKIP, 0 },
	{ "End_Timestamp", RK_CELL_SKIP, 0 },
	{ "Kernel_ID", RK_CELL_SKIP, 0 },
	{ 0 },
};
static const struct rk_csv_bind long_kernels[] = {
	{ "Counter_Name", RK_CELL_SKIP, 0 },
	{ "Counter_Value", RK_CELL_SKIP, 0 },
	{ .more = columns },
};
static const struct rk_csv_bind top_kernels[] = {
	{ "Kernel_Name", RK_CELL_STR, RK_T_NAME }, { "KernelName", RK_CELL_STR, RK_T_NAME },
	{ "Count", RK_CELL_I64, RK_T_CALLS },      { "Sum(ns)", RK_CELL_I64, RK_T_TOTAL },
	{ "Mean(ns)", RK_CELL_F64, RK_T_MEAN },    { "Median(ns)", RK_CELL_SKIP, 0 },
	{ "Pct", RK_CELL_F64, RK_T_PERCENT },      { 0 },
};

#define PMC                                                                                  \
	.free_header = { "Kernel_Name" },                                                    \
	.tables = { { RK_KERNELS, columns, rk_wide_kernel_needs, rk_wide_finish_kernels } }, \
	.ntables = 1, .counters = true

static const struct rk_wide_kind kinds[] = {
	{ .must = { "Dispatch_ID", "Kernel_Name", "Counter_Name", "Counter_Value", "GPU_ID" },
	  .must_not = { "Agent_Id" },
	  .free_header = { "Kernel_Name" },
	  .clock = "boottime",
	  .tables = { { RK_COUNTERS, long_values, NULL, NULL },
		      { RK_KERNELS, long_kernels, rk_wide_kernel_needs, rk_wide_finish_kernels } },
	  .ntables = 2,
	  .once = true },
	{ .must = { "Count", "Sum(ns)", "Mean(ns)" },
	  .free_header = { "Kernel_Name", "KernelName" },
	  .tables = { { RK_STATS, top_kernels, NULL, rk_wide_finish_stats } },
	  .ntables = 1,
	  .stats = true,
	  .wrapped = true },
	/* pmc_dispatch_info.csv, 0.2_Dispatch_List.csv: no times, no sizes */
	{ .must = { "Dispatch_ID", "Kernel_Name", "GPU_ID" },
	  .must_not = { "Workgroup_Size", "Start_Timestamp", "Counter_Name", "Agent_Id", "Kind",
			"start_ns" },
	  .clock = "unknown",
	  .wrapped = true,
	  PMC },
	/* rocprofv3 numbers kernels, its predecessors do not */
	{ .must = { "Dispatch_ID", "Kernel_Name", "Kernel_ID" },
	  .must_not = { "Counter_Name", "Agent_Id", "Kind", "start_ns" },
	  .clock = "boottime",
	  PMC },
	/* tables written by rockit have some of the same column names */
	{ .must = { "Dispatch_ID", "Kernel_Name" },
	  .must_not = { "Counter_Name", "Agent_Id", "Kind", "start_ns", "time_ns", "counter" },
	  .clock = "monotonic",
	  PMC },
	{ .ntables = 0 },
};

extern const struct rk_reader_ops rk_reader_rocprof_compute_csv;
static const struct rk_wide_format format = { &rk_reader_rocprof_compute_csv, kinds };

/* Any table of dispatches looks like one of these: other readers go first. */
static int compute_probe(const void *head, size_t len, bool whole, const char *file_name)
{
	int score = rk_wide_probe(&format, head, len);

	(void)whole;
	(void)file_name;
	return score > 0 ? 80 : score;
}

static int compute_open(struct rk_instream *in, struct rk_context *ctx, struct rk_reader **ret,
			struct rk_error *err)
{
	return rk_wide_open(&format, in, ctx, ret, err);
}

const struct rk_reader_ops rk_reader_rocprof_compute_csv = {
	.name = "rocprof-compute-csv",
	.help = "counters and top kernels of rocprof-compute and omniperf",
	.probe = compute_probe,
	.open = compute_open,
	.scan = rk_wide_scan,
	.close = rk_wide_close,
	.precedence_of = rk_wide_precedence,
	.repeats_dispatches = true,
};
