/*
 * rocprofv3_kinds.c - the files rocprofv3 writes as CSV, and their columns over the releases.
 *
 * Columns are matched by name in any case, so one list serves ROCm 6.2 to 10.0 and both dialects
 * of `rocpd convert` (a Guid in front; title-cased names). What is not wanted is bound as SKIP
 * where it can hold no comma, which is faster to pass than an unknown column.
 */
#include "read/rocprofv3/csv.h"

#define BIT(f) (UINT64_C(1) << (f))
/* In any file, wanted by none. */
static const struct rk_csv_bind skipped[] = {
	{ "Guid", RK_CELL_SKIP, 0 },
	{ "Kind", RK_CELL_SKIP, 0 },
	{ "Kernel_Id", RK_CELL_SKIP, 0 },
	{ "Duration", RK_CELL_SKIP, 0 },
	{ "Graph_Exec_Id", RK_CELL_SKIP, 0 },
	{ "Graph_Node_Id", RK_CELL_SKIP, 0 },
	{ "Replay_Pass", RK_CELL_SKIP, 0 },
	{ "Pid", RK_CELL_SKIP, 0 },
	{ 0 },
};
/* Of a dispatch, in kernel traces and counter files. */
static const struct rk_csv_bind dispatch[] = {
	{ "Agent_Id", RK_CELL_AGENT, RK_K_DEVICE },
	{ "Queue_Id", RK_CELL_I64, RK_K_QUEUE },
	{ "Stream_Id", RK_CELL_I32, RK_K_STREAM },
	{ "Thread_Id", RK_CELL_I64, RK_K_TID },
	{ "Process_Id", RK_CELL_I64, RK_K_PID },
	{ "Dispatch_Id", RK_CELL_SERIAL, RK_K_DISPATCH },
	{ "Kernel_Name", RK_CELL_STR, RK_K_NAME },
	{ "Correlation_Id", RK_CELL_SERIAL, RK_K_CORRELATION },
	{ "Start_Timestamp", RK_CELL_TIME, RK_K_START },
	{ "End_Timestamp", RK_CELL_TIME, RK_K_DURATION },
	{ "LDS_Block_Size", RK_CELL_I32, RK_K_SHARED_MEM },
	{ "Scratch_Size", RK_CELL_I32, RK_K_SCRATCH },
	{ "VGPR_Count", RK_CELL_I32, RK_K_VGPR },
	{ "Accum_VGPR_Count", RK_CELL_I32, RK_K_ACCUM_VGPR },
	{ "SGPR_Count", RK_CELL_I32, RK_K_SGPR },
	{ .more = skipped },
};

static const struct rk_csv_bind kernel_trace[] = {
	{ "Private_Segment_Size", RK_CELL_I32, RK_K_SCRATCH },
	{ "Group_Segment_Size", RK_CELL_I32, RK_K_SHARED_MEM },
	{ "Workgroup_Size_X", RK_CELL_I32, RK_K_BLOCK_X },
	{ "Workgroup_Size_Y", RK_CELL_I32, RK_K_BLOCK_Y },
	{ "Workgroup_Size_Z", RK_CELL_I32, RK_K_BLOCK_Z },
	{ "Grid_Size_X", RK_CELL_U32, RK_K_ITEMS_X },
	{ "Grid_Size_Y", RK_CELL_U32, RK_K_ITEMS_Y },
	{ "Grid_Size_Z", RK_CELL_U32, RK_K_ITEMS_Z },
	{ .more = dispatch },
};
static const struct rk_csv_bind counter_dispatches[] = {
	{ "Grid_Size", RK_CELL_U32, RK_K_ITEMS_X },
	{ "Workgroup_Size", RK_CELL_I32, RK_K_BLOCK_X },
	{ "Counter_Name", RK_CELL_SKIP, 0 },
	{ "Counter_Value", RK_CELL_SKIP, 0 },
	{ .more = dispatch },
};
static const struct rk_csv_bind counter_values[] = {
	{ "Dispatch_Id", RK_CELL_SERIAL, RK_N_DISPATCH },
	{ "Kernel_Name", RK_CELL_STR, RK_N_NAME },
	{ "Counter_Name", RK_CELL_STR, RK_N_COUNTER },
	{ "Counter_Value", RK_CELL_F64, RK_N_VALUE },
	{ "Agent_Id", RK_CELL_AGENT, RK_N_DEVICE },
	{ "Process_Id", RK_CELL_I64, RK_N_PID },
	{ "Correlation_Id", RK_CELL_SKIP, 0 },
	{ "Queue_Id", RK_CELL_SKIP, 0 },
	{ "Thread_Id", RK_CELL_SKIP, 0 },
	{ "Grid_Size", RK_CELL_SKIP, 0 },
	{ "Workgroup_Size", RK_CELL_SKIP, 0 },
	{ "LDS_Block_Size", RK_CELL_SKIP, 0 },
	{ "Scratch_Size", RK_CELL_SKIP, 0 },
	{ "VGPR_Count", RK_CELL_SKIP, 0 },
	{ "Accum_VGPR_Count", RK_CELL_SKIP, 0 },
	{ "SGPR_Count", RK_CELL_SKIP, 0 },
	{ "Start_Timestamp", RK_CELL_SKIP, 0 },
	{ "End_Timestamp", RK_CELL_SKIP, 0 },
	{ .more = skipped },
};
static const struct rk_csv_bind api_calls[] = {
	{ "Domain", RK_CELL_STR, RK_A_DOMAIN },
	{ "Function", RK_CELL_STR, RK_A_FUNCTION },
	{ "Process_Id", RK_CELL_I64, RK_A_PID },
	{ "Thread_Id", RK_CELL_I64, RK_A_TID },
	{ "Correlation_Id", RK_CELL_SERIAL, RK_A_CORRELATION },
	{ "Start_Timestamp", RK_CELL_TIME, RK_A_START },
	{ "End_Timestamp", RK_CELL_TIME, RK_A_DURATION },
	{ .more = skipped },
};
static const struct rk_csv_bind api_markers[] = {
	{ "Domain", RK_CELL_STR, RK_R_KIND },
	{ "Function", RK_CELL_STR, RK_R_NAME },
	{ "Process_Id", RK_CELL_I64, RK_R_PID },
	{ "Thread_Id", RK_CELL_I64, RK_R_TID },
	{ "Correlation_Id", RK_CELL_SKIP, 0 },
	{ "Start_Timestamp", RK_CELL_TIME, RK_R_START },
	{ "End_Timestamp", RK_CELL_TIME, RK_R_DURATION },
	{ .more = skipped },
};
static const struct rk_csv_bind memory_copy[] = {
	{ "Direction", RK_CELL_STR, RK_C_DIRECTION },
	{ "Stream_Id", RK_CELL_I64, RK_C_STREAM },
	{ "Source_Agent_Id", RK_CELL_AGENT, RK_C_SRC },
	{ "Destination_Agent_Id", RK_CELL_AGENT, RK_C_DST },
	{ "Correlation_Id", RK_CELL_SERIAL, RK_C_CORRELATION },
	{ "Process_Id", RK_CELL_I64, RK_C_PID },
	{ "Thread_Id", RK_CELL_I64, RK_C_TID },
	{ "Start_Timestamp", RK_CELL_TIME, RK_C_START },
	{ "End_Timestamp", RK_CELL_TIME, RK_C_DURATION },
	{ "Size", RK_CELL_I64, RK_C_BYTES },
	{ .more = skipped },
};
/* memory_allocation_trace and scratch_memory_trace together */
static const struct rk_csv_bind memory_allocation[] = {
	{ "Operation", RK_CELL_STR, RK_M_OPERATION },
	{ "Agent_Id", RK_CELL_AGENT, RK_M_DEVICE },
	{ "Allocation_Size", RK_CELL_I64, RK_M_BYTES },
	{ "Address", RK_CELL_U64, RK_M_ADDRESS },
	{ "Starting_Address", RK_CELL_U64, RK_M_ADDRESS },
	{ "Alloc_Flags", RK_CELL_I64, RK_M_FLAGS },
	{ "Correlation_Id", RK_CELL_SERIAL, RK_M_CORRELATION },
	{ "Process_Id", RK_CELL_I64, RK_M_PID },
	{ "Thread_Id", RK_CELL_I64, RK_M_TID },
	{ "Queue_Id", RK_CELL_SKIP, 0 },
	{ "Start_Timestamp", RK_CELL_TIME, RK_M_START },
	{ "End_Timestamp", RK_CELL_TIME, RK_M_DURATION },
	{ .more = skipped },
};
static const struct rk_csv_bind pc_sampling[] = {
	{ "Sample_Timestamp", RK_CELL_TIME, RK_P_TIME },
	{ "Exec_Mask", RK_CELL_SKIP, 0 },
	{ "Dispatch_Id", RK_CELL_SERIAL, RK_P_DISPATCH },
	{ "Instruction", RK_CELL_STR, RK_P_INSTRUCTION },
	{ "Instruction_Comment", RK_CELL_STR, RK_P_SOURCE_LINE },
	{ "Correlation_Id", RK_CELL_SKIP, 0 },
	{ "Wave_Issued_Instruction", RK_CELL_STR, RK_P_NODE }, /* till rk_v3_finish_pc */
	{ "Instruction_Type", RK_CELL_SKIP, 0 },
	{ "Stall_Reason", RK_CELL_STR, RK_P_STALL },
	{ "Wave_Count", RK_CELL_I64, RK_P_WAVE_COUNT },
	{ 0 },
};
static const struct rk_csv_bind agent_info[] = {
	{ "Node_Id", RK_CELL_I64, RK_G_DEVICE },
	{ "Agent_Type", RK_CELL_STR, RK_G_TYPE },
	{ "Name", RK_CELL_STR, RK_G_NAME },
	{ "Product_Name", RK_CELL_STR, RK_G_PRODUCT },
	{ "Cu_Count", RK_CELL_I64, RK_G_CU_COUNT },
	{ "Max_Engine_Clk_Fcompute", RK_CELL_I64, RK_G_MAX_SCLK },
	{ "Num_Xcc", RK_CELL_I64, RK_G_XCC },
	{ "Wave_Front_Size", RK_CELL_I64, RK_G_WAVE_SIZE },
	{ "Local_Mem_Size", RK_CELL_I64, RK_G_MEMORY },
	{ "Simd_Per_Cu", RK_CELL_I64, RK_G_SIMD_PER_CU },
	{ "Max_Waves_Per_Cu", RK_CELL_I64, RK_G_WAVES_PER_CU },
	/* engines are arrays / arrays per engine; the latter is put where the file says nothing */
	{ "Array_Count", RK_CELL_I64, RK_G_SE_COUNT },
	{ "Simd_Arrays_Per_Engine", RK_CELL_I64, RK_G_PIPES },
	{ 0 },
};
static const struct rk_csv_bind statistics[] = {
	{ "Name", RK_CELL_STR, RK_T_NAME },
	{ "Calls", RK_CELL_I64, RK_T_CALLS },
	{ "TotalDurationNs", RK_CELL_I64, RK_T_TOTAL },
	{ "AverageNs", RK_CELL_F64, RK_T_MEAN },
	{ "Percentage", RK_CELL_F64, RK_T_PERCENT },
	{ "MinNs", RK_CELL_I64, RK_T_MIN },
	{ "MaxNs", RK_CELL_I64, RK_T_MAX },
	{ "StdDev", RK_CELL_F64, RK_T_STDDEV },
	{ 0 },
};
static const struct rk_csv_bind att_statistics[] = {
	{ "CodeObj", RK_CELL_I64, RK_I_CODE_OBJECT },
	{ "Vaddr", RK_CELL_U64, RK_I_VADDR },
	{ "Instruction", RK_CELL_STR, RK_I_INSTRUCTION },
	{ "Hitcount", RK_CELL_I64, RK_I_HITS },
	{ "Latency", RK_CELL_I64, RK_I_LATENCY },
	{ "Stall", RK_CELL_I64, RK_I_STALL },
	{ "Idle", RK_CELL_I64, RK_I_IDLE },
	{ "Source", RK_CELL_STR, RK_I_SOURCE_LINE },
	{ 0 },
};

static uint64_t kernel_needs(uint64_t want)
{
	if (want & BIT(RK_K_DURATION))
		want |= BIT(RK_K_START);
	if (want & BIT(RK_K_GRID_X))
		want |= BIT(RK_K_BLOCK_X) | BIT(RK_K_ITEMS_X);
	if (want & BIT(RK_K_GRID_Y))
		want |= BIT(RK_K_BLOCK_Y) | BIT(RK_K_ITEMS_Y);
	if (want & BIT(RK_K_GRID_Z))
		want |= BIT(RK_K_BLOCK_Z) | BIT(RK_K_ITEMS_Z);
	if (want & BIT(RK_K_REGS))
		want |= BIT(RK_K_VGPR) | BIT(RK_K_ACCUM_VGPR);
	return want;
}

/* Which rows of a counter file are one dispatch is told by these. */
static uint64_t dispatch_needs(uint64_t want)
{
	return kernel_needs(want) | BIT(RK_K_DISPATCH) | BIT(RK_K_PID);
}

static uint64_t api_needs(uint64_t want)
{
	return want | BIT(RK_A_DOMAIN) | BIT(RK_A_START);
}

static uint64_t marker_needs(uint64_t want)
{
	return want | BIT(RK_R_KIND) | BIT(RK_R_START) | BIT(RK_R_DURATION);
}

static uint64_t pc_needs(uint64_t want)
{
	return want & BIT(RK_P_STALL) ? want | BIT(RK_P_NODE) : want;
}

static uint64_t agent_needs(uint64_t want)
{
	if (want & BIT(RK_G_GFX))
		want |= BIT(RK_G_NAME);
	if (want & BIT(RK_G_SE_COUNT))
		want |= BIT(RK_G_PIPES);
	return want;
}

static uint64_t memcpy_needs(uint64_t want)
{
	return want | BIT(RK_C_START);
}

static uint64_t memalloc_needs(uint64_t want)
{
	return want | BIT(RK_M_START);
}

const struct rk_v3_kind rk_v3_kinds[] = {
	{ .name = "kernel_trace",
	  .must = { "Kind", "Kernel_Name", "Start_Timestamp", "End_Timestamp", "Agent_Id" },
	  .must_not = { "Counter_Name" },
	  .free_header = "Kernel_Name",
	  .tables = { { RK_KERNELS, kernel_trace, kernel_needs, rk_v3_finish_kernels } },
	  .ntables = 1 },
	{ .name = "counter_collection",
	  .must = { "Dispatch_Id", "Kernel_Name", "Counter_Name", "Counter_Value", "Agent_Id" },
	  .free_header = "Kernel_Name",
	  .tables = { { RK_COUNTERS, counter_values, NULL, NULL },
		      { RK_KERNELS, counter_dispatches, dispatch_needs, rk_v3_finish_dispatches } },
	  .ntables = 2 },
	{ .name = "streaming_performance_monitor",
	  .must = { "Dispatch_Id", "Counter_Name", "Counter_Value" },
	  .must_not = { "Kernel_Name" },
	  .tables = { { RK_COUNTERS, counter_values, NULL, NULL } },
	  .ntables = 1 },
	{ .name = "api_trace",
	  .must = { "Domain", "Function", "Process_Id", "Thread_Id", "Start_Timestamp",
		    "End_Timestamp" },
	  .free_header = "Function",
	  .tables = { { RK_API, api_calls, api_needs, rk_v3_finish_api },
		      { RK_MARKERS, api_markers, marker_needs, rk_v3_finish_markers } },
	  .ntables = 2 },
	{ .name = "memory_copy_trace",
	  .must = { "Kind", "Direction", "Source_Agent_Id", "Destination_Agent_Id",
		    "Start_Timestamp", "End_Timestamp" },
	  .tables = { { RK_MEMCPY, memory_copy, memcpy_needs, rk_v3_finish_memcpy } },
	  .ntables = 1 },
	{ .name = "memory_allocation_trace",
	  .must = { "Kind", "Operation", "Agent_Id", "Allocation_Size", "Start_Timestamp" },
	  .must_not = { "Alloc_Flags" },
	  .tables = { { RK_MEMALLOC, memory_allocation, memalloc_needs, rk_v3_finish_memalloc } },
	  .ntables = 1 },
	{ .name = "scratch_memory_trace",
	  .must = { "Kind", "Operation", "Agent_Id", "Alloc_Flags", "Start_Timestamp" },
	  .tables = { { RK_MEMALLOC, memory_allocation, memalloc_needs, rk_v3_finish_memalloc } },
	  .ntables = 1 },
	{ .name = "pc_sampling",
	  .must = { "Sample_Timestamp", "Exec_Mask", "Dispatch_Id", "Instruction" },
	  .free_header = "Instruction",
	  .tables = { { RK_PC_SAMPLES, pc_sampling, pc_needs, rk_v3_finish_pc } },
	  .ntables = 1 },
	{ .name = "agent_info",
	  .must = { "Node_Id", "Agent_Type", "Cu_Count", "Simd_Count", "Name" },
	  .tables = { { RK_AGENTS, agent_info, agent_needs, rk_v3_finish_agents } },
	  .ntables = 1 },
	{ .name = "stats",
	  .must = { "Name", "Calls", "TotalDurationNs", "AverageNs", "Percentage" },
	  .free_header = "Name",
	  .tables = { { RK_STATS, statistics, NULL, rk_v3_finish_stats } },
	  .ntables = 1 },
	{ .name = "thread_trace_stats",
	  .must = { "CodeObj", "Vaddr", "Instruction", "Hitcount", "Latency" },
	  .free_header = "Instruction",
	  .tables = { { RK_INSTRUCTIONS, att_statistics, NULL, NULL } },
	  .ntables = 1 },
	{ 0 },
};
