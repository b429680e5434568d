/*
 * formats.c - the CSV files of rocprof v1, rocprofv2 and rocprof-compute. Each reuses columns of
 * the previous one.
 */
#include "read/wide/wide.h"

#define BIT(f) (UINT64_C(1) << (f))

/*
 * ---- results.csv of rocprof v1, ROCm 3 to 6, and of rocprofv2 if this format was requested.
 * Counters are between obj and DispatchNs. Times exist only if requested. A run with --stats or a
 * trace also has DurationNs, and its whole header is quoted. ----
 */

static const struct rk_csv_bind v1_columns[] = {
	{ "Index", RK_CELL_SERIAL, RK_K_DISPATCH },
	{ "KernelName", RK_CELL_STR, RK_K_NAME },
	{ "gpu-id", RK_CELL_I64, RK_K_DEVICE },
	{ "queue-id", RK_CELL_I64, RK_K_QUEUE },
	{ "queue-index", RK_CELL_SKIP, 0 },
	{ "pid", RK_CELL_I64, RK_K_PID },
	{ "tid", RK_CELL_I64, RK_K_TID },
	{ "grd", RK_CELL_U32, RK_K_ITEMS_X },
	{ "wgr", RK_CELL_I32, RK_K_BLOCK_X },
	{ "lds", RK_CELL_I32, RK_K_SHARED_MEM },
	{ "scr", RK_CELL_I32, RK_K_SCRATCH },
	{ "vgpr", RK_CELL_I32, RK_K_VGPR }, /* up to ROCm 5.1 */
	{ "arch_vgpr", RK_CELL_I32, RK_K_VGPR },
	{ "accum_vgpr", RK_CELL_I32, RK_K_ACCUM_VGPR },
	{ "sgpr", RK_CELL_I32, RK_K_SGPR },
	{ "fbar", RK_CELL_SKIP, 0 }, /* up to ROCm 5.1 */
	{ "wave_size", RK_CELL_I32, RK_K_WAVE_SIZE },
	{ "sig", RK_CELL_SKIP, 0 },
	{ "obj", RK_CELL_SKIP, 0 },
	{ "DispatchNs", RK_CELL_SKIP, 0 },
	{ "BeginNs", RK_CELL_TIME, RK_K_START },
	{ "EndNs", RK_CELL_TIME, RK_K_DURATION },
	{ "CompleteNs", RK_CELL_SKIP, 0 },
	{ "DurationNs", RK_CELL_SKIP, 0 },
	{ 0 },
};

static const struct rk_wide_kind v1_kinds[] = {
	{ .must = { "Index", "KernelName" },
	  .free_header = { "KernelName" },
	  .clock = "monotonic",
	  .absent = { "sig", "obj" },
	  .tables = { { RK_KERNELS, v1_columns, rk_wide_kernel_needs, rk_wide_finish_kernels } },
	  .ntables = 1,
	  .counters = true,
	  .barriers = true },
	{ .ntables = 0 },
};

const struct rk_reader_ops rk_reader_rocprof_v1_csv = {
	.name = "rocprof-v1-csv",
	.help = "results.csv of rocprof v1, with and without counters and times",
	.probe = rk_wide_probe,
	.open = rk_wide_open,
	.scan = rk_wide_scan,
	.close = rk_wide_close,
	.format = v1_kinds,
	.precedence_of = rk_wide_precedence,
	.raw_folder = "/rpl_data_",
};

/* ---- rocprofv2: results with counters, traces of calls ---- */

static const struct rk_csv_bind v2_columns[] = {
	{ "Dispatch_ID", RK_CELL_SERIAL, RK_K_DISPATCH },
	{ "GPU_ID", RK_CELL_AGENT, RK_K_DEVICE },
	{ "Queue_ID", RK_CELL_I64, RK_K_QUEUE },
	{ "Queue_Index", RK_CELL_SKIP, 0 },
	{ "Grid_Size", RK_CELL_U32, RK_K_ITEMS_X },
	{ "Workgroup_Size", RK_CELL_I32, RK_K_BLOCK_X },
	{ "LDS_Per_Workgroup", RK_CELL_I32, RK_K_SHARED_MEM },
	{ "Scratch_Per_Workitem", RK_CELL_I32, RK_K_SCRATCH },
	{ "Kernel_Name", RK_CELL_STR, RK_K_NAME },
	{ "Start_Timestamp", RK_CELL_TIME, RK_K_START },
	{ "End_Timestamp", RK_CELL_TIME, RK_K_DURATION },
	{ "Correlation_ID", RK_CELL_SERIAL, RK_K_CORRELATION },
	{ "XCC_Index", RK_CELL_SKIP, 0 },
	{ .more = v1_columns }, /* the first release had GRD, WGR, LDS, SCR, SIG, OBJ */
};
static const struct rk_csv_bind api_calls[] = {
	{ "Domain", RK_CELL_STR, RK_A_DOMAIN },
	{ "Function", RK_CELL_STR, RK_A_FUNCTION },
	{ "Kernel_Name", RK_CELL_SKIP_TEXT, 0 },
	{ "Start_Timestamp", RK_CELL_TIME, RK_A_START },
	{ "End_Timestamp", RK_CELL_TIME, RK_A_DURATION },
	{ "Correlation_ID", RK_CELL_SERIAL, RK_A_CORRELATION },
	{ 0 },
};
static const struct rk_csv_bind op_kernels[] = {
	{ "Domain", RK_CELL_SKIP, 0 },
	{ "Operation", RK_CELL_SKIP, 0 },
	{ "Kernel_Name", RK_CELL_STR, RK_K_NAME },
	{ "Start_Timestamp", RK_CELL_TIME, RK_K_START },
	{ "Stop_Timestamp", RK_CELL_TIME, RK_K_DURATION },
	{ "Correlation_ID", RK_CELL_SERIAL, RK_K_CORRELATION },
	{ 0 },
};
static const struct rk_csv_bind copies[] = {
	{ "Domain", RK_CELL_SKIP, 0 },
	{ "Operation", RK_CELL_STR, RK_C_DIRECTION },
	{ "Kernel_Name", RK_CELL_SKIP_TEXT, 0 },
	{ "Start_Timestamp", RK_CELL_TIME, RK_C_START },
	{ "Stop_Timestamp", RK_CELL_TIME, RK_C_DURATION },
	{ "Correlation_ID", RK_CELL_SERIAL, RK_C_CORRELATION },
	{ 0 },
};

static const struct rk_wide_kind v2_kinds[] = {
	/*
	 * with Kernel_ID: rocprofv3 counters, rewritten by rocprof-compute; with duration_ns: a
	 * table that rockit wrote, whose numbers are not counters
	 */
	{ .must = { "Dispatch_ID", "Kernel_Name", "Queue_ID", "PID", "TID", "Correlation_ID" },
	  .must_not = { "Kernel_ID", "Counter_Name", "Agent_Id", "duration_ns" },
	  .free_header = { "Kernel_Name" },
	  .clock = "monotonic",
	  .tables = { { RK_KERNELS, v2_columns, rk_wide_kernel_needs, rk_wide_finish_kernels } },
	  .ntables = 1,
	  .counters = true },
	{ .must = { "Domain", "Function", "Start_Timestamp", "End_Timestamp", "Correlation_ID" },
	  .must_not = { "Process_Id", "Thread_Id" },
	  .free_header = { "Kernel_Name", "Function" },
	  .tables = { { RK_API, api_calls, NULL, rk_v3_finish_api,
			BIT(RK_A_DOMAIN) | BIT(RK_A_START) } },
	  .ntables = 1 },
	{ .must = { "Domain", "Operation", "Start_Timestamp", "Stop_Timestamp" },
	  .must_not = { "Kernel_Name" },
	  .tables = { { RK_MEMCPY, copies, NULL, rk_wide_finish_copies,
			BIT(RK_C_DIRECTION) | BIT(RK_C_START) } },
	  .ntables = 1 },
	{ .must = { "Domain", "Operation", "Kernel_Name", "Start_Timestamp", "Stop_Timestamp" },
	  .free_header = { "Kernel_Name" },
	  .clock = "monotonic",
	  .tables = { { RK_KERNELS, op_kernels, NULL, rk_wide_finish_op_kernels,
			BIT(RK_K_NAME) | BIT(RK_K_START) },
		      { RK_MEMCPY, copies, NULL, rk_wide_finish_op_copies,
			BIT(RK_C_DIRECTION) | BIT(RK_C_START) } },
	  .ntables = 2 },
	{ .ntables = 0 },
};

const struct rk_reader_ops rk_reader_rocprof_v2_csv = {
	.name = "rocprofv2-csv",
	.help = "CSV files of rocprofv2: results with counters, traces of calls and copies",
	.probe = rk_wide_probe,
	.open = rk_wide_open,
	.scan = rk_wide_scan,
	.close = rk_wide_close,
	.format = v2_kinds,
	.precedence_of = rk_wide_precedence,
};

/*
 * ---- rocprof-compute and omniperf. Files of single passes (pmc_perf_0.csv, SQ_LEVEL_WAVES.csv,
 * timestamps.csv) are those of rocprof v1, rocprofv2 or rocprofv3 with some columns renamed, not
 * always all; pmc_perf.csv joins them. ----
 */

static const struct rk_csv_bind compute_columns[] = {
	{ "Kernel_ID", RK_CELL_SKIP, 0 },
	{ .more = v2_columns },
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
	{ .more = compute_columns },
};
static const struct rk_csv_bind top_kernels[] = {
	{ "Kernel_Name", RK_CELL_STR, RK_T_NAME }, { "KernelName", RK_CELL_STR, RK_T_NAME },
	{ "Count", RK_CELL_I64, RK_T_CALLS },      { "Sum(ns)", RK_CELL_I64, RK_T_TOTAL },
	{ "Mean(ns)", RK_CELL_F64, RK_T_MEAN },    { "Median(ns)", RK_CELL_SKIP, 0 },
	{ "Pct", RK_CELL_F64, RK_T_PERCENT },      { 0 },
};

#define PMC                                                              \
	.free_header = { "Kernel_Name" },                                \
	.tables = { { RK_KERNELS, compute_columns, rk_wide_kernel_needs, \
		      rk_wide_finish_kernels } },                        \
	.ntables = 1, .counters = true

static const struct rk_wide_kind compute_kinds[] = {
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
	/* rocprofv3 numbers kernels, older tools do not */
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

/* Any table of dispatches looks like one of these, so other readers take precedence. */
static int compute_probe(const struct rk_head *head)
{
	int score = rk_wide_probe(head);

	return score > 0 ? 80 : score;
}

const struct rk_reader_ops rk_reader_rocprof_compute_csv = {
	.name = "rocprof-compute-csv",
	.help = "counters and top kernels of rocprof-compute and omniperf",
	.probe = compute_probe,
	.open = rk_wide_open,
	.scan = rk_wide_scan,
	.close = rk_wide_close,
	.format = compute_kinds,
	.precedence_of = rk_wide_precedence,
	.repeats_dispatches = true,
};
