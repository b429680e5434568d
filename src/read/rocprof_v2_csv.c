/* rocprof_v2_csv.c - CSV files of rocprofv2: results with counters, traces of calls. */
#include "read/wide/wide.h"

#define BIT(f) (UINT64_C(1) << (f))

const struct rk_csv_bind rk_rocprof_v2_columns[] = {
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
	{ .more = rk_rocprof_v1_columns }, /* the first release had GRD, WGR, LDS, SCR, SIG, OBJ */
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

static const struct rk_wide_kind kinds[] = {
	/*
	 * with Kernel_ID: rocprofv3's counters, rewritten by rocprof-compute; with duration_ns: a table
	 * that rockit wrote, whose numbers are not counters
	 */
	{ .must = { "Dispatch_ID", "Kernel_Name", "Queue_ID", "PID", "TID", "Correlation_ID" },
	  .must_not = { "Kernel_ID", "Counter_Name", "Agent_Id", "duration_ns" },
	  .free_header = { "Kernel_Name" },
	  .clock = "monotonic",
	  .tables = { { RK_KERNELS, rk_rocprof_v2_columns, rk_wide_kernel_needs,
			rk_wide_finish_kernels } },
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

extern const struct rk_reader_ops rk_reader_rocprof_v2_csv;
static const struct rk_wide_format format = { &rk_reader_rocprof_v2_csv, kinds };

static int v2_probe(const void *head, size_t len, bool whole, const char *file_name)
{
	(void)whole;
	(void)file_name;
	return rk_wide_probe(&format, head, len);
}

static int v2_open(struct rk_instream *in, struct rk_context *ctx, struct rk_reader **ret,
		   struct rk_error *err)
{
	return rk_wide_open(&format, in, ctx, ret, err);
}

const struct rk_reader_ops rk_reader_rocprof_v2_csv = {
	.name = "rocprofv2-csv",
	.help = "CSV files of rocprofv2: results with counters, traces of calls and copies",
	.probe = v2_probe,
	.open = v2_open,
	.scan = rk_wide_scan,
	.close = rk_wide_close,
	.precedence_of = rk_wide_precedence,
};
