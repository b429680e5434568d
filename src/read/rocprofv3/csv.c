/*
 * csv.c - the CSV files that rocprofv3 and `rocpd convert` write.
 *
 * Columns are matched by name, ignoring case, so one list works for ROCm 6.2 to 10.1 and both
 * dialects of `rocpd convert` (with a Guid first; title-cased names). Unwanted columns that cannot
 * contain commas are bound as SKIP, which is faster than an unknown column.
 */
#include "read/rocprofv3/csv.h"

#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/text.h"

#define BIT(f) (UINT64_C(1) << (f))

/* One kind of file, recognised by header names it must have and must not have. */
struct v3_kind {
	const char *name; /* as in the file name: "kernel_trace" */
	const char *must[6], *must_not[4];
	const char *free_header;
	struct rk_v3_table tables[2];
	unsigned ntables;
};

/* ---- the kinds of files and their columns ---- */

/* May be in any file; not used. */
static const struct rk_csv_bind skipped[] = {
	{ "Guid", RK_CELL_SKIP, 0 },
	{ "Kind", RK_CELL_SKIP, 0 },
	{ "Kernel_Id", RK_CELL_SKIP, 0 },
	{ "Duration", RK_CELL_SKIP, 0 },
	{ "Replay_Pass", RK_CELL_SKIP, 0 },
	{ "Pid", RK_CELL_SKIP, 0 },
	{ 0 },
};
/* Columns of a dispatch, in kernel traces and counter files. */
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
	{ "Graph_Exec_Id", RK_CELL_I64, RK_K_GRAPH },
	{ "Graph_Node_Id", RK_CELL_I64, RK_K_GRAPH_NODE },
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
	{ "Replay_Pass", RK_CELL_I64, RK_N_PASS },
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
static const struct rk_csv_bind streamed[] = {
	{ "Timestamp", RK_CELL_TIME, RK_S_TIME },     { "Counter_Name", RK_CELL_STR, RK_S_METRIC },
	{ "Counter_Value", RK_CELL_F64, RK_S_VALUE }, { "Agent_Id", RK_CELL_AGENT, RK_S_DEVICE },
	{ "Kernel_Name", RK_CELL_SKIP_TEXT, 0 },      { .more = skipped },
};
static const struct rk_csv_bind graph_launches[] = {
	{ "Kind", RK_CELL_STR, RK_R_KIND }, /* until rk_v3_finish_launches */
	{ "Graph_Exec_Id", RK_CELL_STR, RK_R_NAME },
	{ "Thread_Id", RK_CELL_I64, RK_R_TID },
	{ "Start_Timestamp", RK_CELL_TIME, RK_R_START },
	{ "End_Timestamp", RK_CELL_TIME, RK_R_DURATION },
	{ .more = skipped },
};
static const struct rk_csv_bind hip_events[] = {
	{ "Kind", RK_CELL_STR, RK_R_KIND }, /* until rk_v3_finish_events */
	{ "Operation", RK_CELL_STR, RK_R_NAME },
	{ "Thread_Id", RK_CELL_I64, RK_R_TID },
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
	{ "Graph_Exec_Id", RK_CELL_I64, RK_C_GRAPH },
	{ "Graph_Node_Id", RK_CELL_I64, RK_C_GRAPH_NODE },
	{ .more = skipped },
};
/* Used for memory_allocation_trace and scratch_memory_trace. */
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
	{ "Wave_Issued_Instruction", RK_CELL_STR, RK_P_NODE }, /* until rk_v3_finish_pc */
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
	/*
	 * engines = arrays / arrays per engine; the latter is kept temporarily in a column that the
	 * file does not have
	 */
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

/* Adds the columns that tell which rows of a counter file are the same dispatch. */
static uint64_t dispatch_needs(uint64_t want)
{
	return kernel_needs(want) | BIT(RK_K_DISPATCH) | BIT(RK_K_PID);
}

static uint64_t pc_needs(uint64_t want)
{
	if (want & BIT(RK_P_STALL))
		want |= BIT(RK_P_NODE);
	return want;
}

static uint64_t agent_needs(uint64_t want)
{
	if (want & BIT(RK_G_GFX))
		want |= BIT(RK_G_NAME);
	if (want & BIT(RK_G_SE_COUNT))
		want |= BIT(RK_G_PIPES);
	return want;
}

static const struct v3_kind kinds[] = {
	{ .name = "spm_counter_collection_trace",
	  .must = { "Counter_Name", "Counter_Value", "Timestamp" },
	  .must_not = { "Start_Timestamp" },
	  .free_header = "Kernel_Name",
	  .tables = { { RK_SAMPLES, streamed, NULL, rk_v3_finish_streamed } },
	  .ntables = 1 },
	{ .name = "graph_launch_trace",
	  .must = { "Kind", "Graph_Exec_Id", "Kernel_Dispatch_Count", "Start_Timestamp",
		    "End_Timestamp" },
	  .tables = { { RK_MARKERS, graph_launches, NULL, rk_v3_finish_launches, BIT(RK_R_START) } },
	  .ntables = 1 },
	{ .name = "hip_event_trace",
	  .must = { "Kind", "Operation", "Event_Handle", "Source_Queue_Id", "Start_Timestamp",
		    "End_Timestamp" },
	  .tables = { { RK_MARKERS, hip_events, NULL, rk_v3_finish_events, BIT(RK_R_START) } },
	  .ntables = 1 },
	{ .name = "kernel_trace",
	  .must = { "Kind", "Kernel_Name", "Start_Timestamp", "End_Timestamp", "Agent_Id" },
	  .must_not = { "Counter_Name" },
	  .free_header = "Kernel_Name",
	  .tables = { { RK_KERNELS, kernel_trace, kernel_needs, rk_v3_finish_kernels } },
	  .ntables = 1 },
	{ .name = "counter_collection",
	  .must = { "Dispatch_Id", "Kernel_Name", "Counter_Name", "Counter_Value", "Agent_Id" },
	  .free_header = "Kernel_Name",
	  .tables = { { RK_COUNTERS, counter_values, NULL, rk_v3_finish_counters },
		      { RK_KERNELS, counter_dispatches, dispatch_needs, rk_v3_finish_dispatches } },
	  .ntables = 2 },
	/* streamed too, without times */
	{ .name = "streaming_performance_monitor",
	  .must = { "Dispatch_Id", "Counter_Name", "Counter_Value" },
	  .must_not = { "Kernel_Name" },
	  .tables = { { RK_SAMPLES, streamed, NULL, rk_v3_finish_streamed } },
	  .ntables = 1 },
	{ .name = "api_trace",
	  .must = { "Domain", "Function", "Process_Id", "Thread_Id", "Start_Timestamp",
		    "End_Timestamp" },
	  .free_header = "Function",
	  .tables = { { RK_API, api_calls, NULL, rk_v3_finish_api,
			BIT(RK_A_DOMAIN) | BIT(RK_A_START) },
		      { RK_MARKERS, api_markers, NULL, rk_v3_finish_markers,
			BIT(RK_R_KIND) | BIT(RK_R_START) | BIT(RK_R_DURATION) } },
	  .ntables = 2 },
	{ .name = "memory_copy_trace",
	  .must = { "Kind", "Direction", "Source_Agent_Id", "Destination_Agent_Id",
		    "Start_Timestamp", "End_Timestamp" },
	  .tables = { { RK_MEMCPY, memory_copy, NULL, rk_v3_finish_memcpy, BIT(RK_C_START) } },
	  .ntables = 1 },
	{ .name = "memory_allocation_trace",
	  .must = { "Kind", "Operation", "Agent_Id", "Allocation_Size", "Start_Timestamp" },
	  .must_not = { "Alloc_Flags" },
	  .tables = { { RK_MEMALLOC, memory_allocation, NULL, rk_v3_finish_memalloc,
			BIT(RK_M_START) } },
	  .ntables = 1 },
	{ .name = "scratch_memory_trace",
	  .must = { "Kind", "Operation", "Agent_Id", "Alloc_Flags", "Start_Timestamp" },
	  .tables = { { RK_MEMALLOC, memory_allocation, NULL, rk_v3_finish_memalloc,
			BIT(RK_M_START) } },
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

/* ---- which table a statistics file describes ---- */

enum { MAX_STATS_LINES = 64 };

static const struct {
	const char *prefix, *kind;
	bool whole; /* the whole name must match */
} stats_words[] = {
	{ "HSA_API", "domain", true },
	{ "HIP_API", "domain", true },
	{ "MARKER_API", "domain", true },
	{ "KERNEL_DISPATCH", "domain", true },
	{ "MEMORY_COPY", "domain", true },
	{ "SCRATCH_MEMORY", "domain", true },
	{ "RCCL_API", "domain", true },
	{ "MEMORY_ALLOCATION", "domain", true },
	{ "ROCDECODE_API", "domain", true },
	{ "ROCJPEG_API", "domain", true },
	{ "MEMORY_COPY_", "copy", false },
	{ "Copy", "copy", false },
	{ "MEMORY_ALLOCATION_", "memory", false },
	{ "SCRATCH_MEMORY_", "memory", false },
	{ "hsa_", "api", false },
	{ "__hip", "api", false },
	{ "ncclDev", "kernel", false },
	{ "ncclKernel", "kernel", false },
	{ "nccl", "api", false },
	{ "rocDec", "api", false },
	{ "rocJpeg", "api", false },
	{ "roctx", "api", false },
};

static const char *kind_of_name(const char *s, size_t len)
{
	for (size_t i = 0; i < sizeof(stats_words) / sizeof(stats_words[0]); i++) {
		size_t n = strlen(stats_words[i].prefix);

		if (len >= n && !memcmp(s, stats_words[i].prefix, n) &&
		    (!stats_words[i].whole || len == n))
			return stats_words[i].kind;
	}
	/* hipMalloc is a call; hip_kernel or hipfft::detail::k is not */
	if (len < 4 || memcmp(s, "hip", 3) || s[3] < 'A' || s[3] > 'Z')
		return NULL;
	for (size_t i = 3; i < len; i++)
		if (s[i] != '_' && (s[i] < '0' || s[i] > '9') &&
		    ((s[i] | 0x20) < 'a' || (s[i] | 0x20) > 'z'))
			return NULL;
	return "api";
}

/* The file name only breaks ties: markers and kernels can have any name. */
static const char *kind_of_path(const char *path)
{
	static const char *const parts[][2] = {
		{ "kernel", "kernel" }, { "marker", "marker" }, { "domain", "domain" },
		{ "copy", "copy" },     { "hip_", "api" },      { "hsa_", "api" },
		{ "rccl_", "api" },     { "alloc", "memory" },  { "scratch", "memory" },
		{ "rocdecode", "api" }, { "rocjpeg", "api" },
	};
	const char *name = rk_base_name(path);

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strstr(name, parts[i][0]))
			return parts[i][1];
	return "kernel";
}

/*
 * "kernel", "api", "copy", "domain", "marker" or "memory", decided by the first rows in `text`
 * (each begins with a name), or by the file name if the names are ambiguous.
 */
static const char *stats_kind(const char *text, size_t len, const char *path)
{
	const char *kind = NULL, *end = text + len;

	for (unsigned lines = 0; text < end && lines < MAX_STATS_LINES; lines++) {
		const char *nl = memchr(text, '\n', (size_t)(end - text));
		const char *name = text + (*text == '"'), *stop = name, *found;

		while (stop < end && *stop != ',' && *stop != '"' && *stop != '\n')
			stop++;
		found = kind_of_name(name, (size_t)(stop - name));
		/* unknown kind of name: kernels or markers */
		if (!found || (kind && strcmp(kind, found)))
			return kind_of_path(path);
		kind = found;
		if (!nl)
			break;
		text = nl + 1;
	}
	return kind ? kind : kind_of_path(path);
}

/* ---- the reader ---- */

struct v3_reader {
	struct rk_reader base;
	struct rk_instream *in;
	struct rk_context *ctx;
	struct rk_csv_header header;
	const struct v3_kind *kind;
	struct rk_v3_scan scan;
	bool empty[RK_NTABLES]; /* a scan of the file's other table found no rows of this one */
};

/* Wraps a scan, to find out at its end whether the file's other table has rows at all. */
struct v3_source {
	struct rk_source base;
	struct rk_source *rows;
	struct v3_reader *r;
	enum rk_table table;
};

bool rk_v3_has_all(const struct rk_csv_header *h, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n && names[i]; i++)
		if (rk_csv_header_find(h, names[i]) < 0)
			return false;
	return true;
}

bool rk_v3_has_any(const struct rk_csv_header *h, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n && names[i]; i++)
		if (rk_csv_header_find(h, names[i]) >= 0)
			return true;
	return false;
}

static const struct v3_kind *kind_of(const struct rk_csv_header *h)
{
	for (const struct v3_kind *k = kinds; k->name; k++)
		if (rk_v3_has_all(h, k->must, 6) && !rk_v3_has_any(h, k->must_not, 4))
			return k;
	return NULL;
}

static int v3_probe(const struct rk_head *head)
{
	const struct v3_kind *kind;
	struct rk_csv_header h;
	int rc = rk_csv_header_parse(head->data, head->len, head->whole, &h, NULL);

	if (rc < 0)
		return rc == RK_E_NOMEM ? rc : 0;
	kind = kind_of(&h);
	rk_csv_header_release(&h);
	return kind ? 90 : 0;
}

static void v3_close(struct rk_reader *base)
{
	struct v3_reader *r = (struct v3_reader *)base;

	rk_csv_header_release(&r->header);
	rk_instream_close(r->in);
	rk_free(r);
}

/* Are agents written as "GPU 0" and "CPU 0" in the first row that has one? */
static bool agents_by_type(const struct rk_csv_header *h, const char *text, size_t len)
{
	enum { MAX_LINES = 256, MAX_CELLS = 16 };
	int column = rk_csv_header_find(h, "Agent_Id");

	if (column < 0)
		column = rk_csv_header_find(h, "Source_Agent_Id");
	for (unsigned line = 0; column >= 0 && len && line < MAX_LINES; line++) {
		const char *nl = memchr(text, '\n', len);
		size_t n = nl ? (size_t)(nl - text) : len;
		struct rk_csv_span cells[MAX_CELLS], c;

		if ((int)rk_csv_split(text, n, cells, MAX_CELLS) <= column || column >= MAX_CELLS)
			return false;
		c = cells[column];
		if (c.len)
			return rk_text_iprefix(c.p, c.len, "GPU ") ||
			       rk_text_iprefix(c.p, c.len, "CPU ");
		text += nl ? n + 1 : n;
		len -= nl ? n + 1 : n;
	}
	return false;
}

/* Reads the agents from the agent_info.csv that the same process wrote, if it is there. */
static int read_agents(struct v3_reader *r, const struct rk_reader_ops *ops, const char *path,
		       struct rk_error *err)
{
	static const char *const packed[] = { "", ".gz", ".xz", ".zst" };
	const char *name = rk_base_name(path), *end = strstr(name, r->kind->name);
	struct rk_source *rows = NULL;
	struct rk_reader *info = NULL;
	const struct rk_batch *b;
	char *beside = NULL;
	struct stat st;
	int rc = 0;

	for (size_t i = 0; end && !info && i < sizeof(packed) / sizeof(packed[0]); i++) {
		rk_free(beside);
		beside = rk_strf("%.*sagent_info.csv%s", (int)(end - path), path, packed[i]);
		if (!beside)
			return rk_fail_nomem(err);
		/* not a pipe, which would wait for a writer */
		if (stat(beside, &st) == 0 && S_ISREG(st.st_mode) &&
		    rk_reader_open_as(beside, ops, r->ctx, &info, NULL) < 0)
			break;
	}
	rk_free(beside);
	if (!info)
		return 0;
	if (info->tables & RK_TABLE_BIT(RK_AGENTS))
		rc = ops->scan(info, RK_AGENTS, BIT(RK_G_DEVICE) | BIT(RK_G_TYPE), &rows, err);
	while (rows && rc >= 0 && (rc = rk_source_next(rows, &b, err)) > 0)
		for (size_t i = 0; i < b->nrows; i++) {
			size_t len;
			const char *type =
				rk_strtab_borrow(r->ctx->names, rk_batch_id(b, RK_G_TYPE, i), &len);
			struct rk_v3_agents *a = &r->scan.gpus;

			if (rk_text_ieq(type, len, "CPU"))
				a = &r->scan.cpus;
			else if (!rk_text_ieq(type, len, "GPU"))
				continue;
			if (a->n < RK_V3_MAX_AGENTS)
				a->v[a->n++] = rk_batch_int(b, RK_G_DEVICE, i, 0);
		}
	rk_source_close(rows);
	rk_reader_close(info);
	return rc == RK_E_NOMEM ? rc : 0; /* a damaged file is reported when it is read itself */
}

static int v3_open(const struct rk_reader_ops *ops, struct rk_instream *in, struct rk_context *ctx,
		   struct rk_reader **ret, struct rk_error *err)
{
	struct v3_reader *r = rk_calloc(1, sizeof(*r));
	const void *head = NULL;
	size_t len = 0;
	int rc;

	if (!r)
		return rk_fail_nomem(err);
	r->base.ops = ops;
	r->ctx = ctx;
	rc = rk_instream_head(in, &head, &len, err);
	if (rc < 0)
		goto out;
	rc = rk_csv_header_parse(head, len, true, &r->header, err);
	if (rc < 0)
		goto out;
	r->kind = kind_of(&r->header);
	for (unsigned i = 0; r->kind && i < r->kind->ntables; i++)
		r->base.tables |= RK_TABLE_BIT(r->kind->tables[i].table);
	if ((rc = rk_strtab_adds(ctx->names, "rocprofv3-csv", &r->scan.source_id, err)) < 0 ||
	    (rc = rk_strtab_adds(ctx->names, "boottime", &r->scan.clock_id, err)) < 0)
		goto out;
	if (r->base.tables & RK_TABLE_BIT(RK_STATS)) {
		r->base.stats_of = stats_kind((const char *)head + r->header.bytes,
					      len - r->header.bytes, rk_instream_path(in));
		rc = rk_strtab_adds(ctx->names, r->base.stats_of, &r->scan.stats_of_id, err);
	}
	/* agent_info.csv itself would read itself again and again */
	if (rc == 0 && r->kind && r->kind->tables[0].table != RK_AGENTS &&
	    agents_by_type(&r->header, (const char *)head + r->header.bytes, len - r->header.bytes))
		rc = read_agents(r, ops, rk_instream_path(in), err);
out:
	if (rc < 0) {
		v3_close(&r->base); /* not `in`: on failure it still belongs to the caller */
		return rc;
	}
	r->in = in;
	*ret = &r->base;
	return 0;
}

static int v3_next(struct rk_source *base, const struct rk_batch **batch, struct rk_error *err)
{
	struct v3_source *s = (struct v3_source *)base;
	const struct v3_kind *k = s->r->kind;
	int rc;

	if (s->r->empty[s->table])
		return 0;
	rc = rk_source_next(s->rows, batch, err);
	if (rc == 0 && k->ntables == 2 && k->tables[0].table == RK_API && !s->r->scan.other_rows)
		s->r->empty[s->table == RK_API ? RK_MARKERS : RK_API] = true;
	return rc;
}

static void v3_source_close(struct rk_source *base)
{
	struct v3_source *s = (struct v3_source *)base;

	rk_source_close(s->rows);
	rk_free(s);
}

static const struct rk_source_ops v3_source_ops = { .next = v3_next, .close = v3_source_close };

static int v3_scan(struct rk_reader *base, enum rk_table t, uint64_t want, struct rk_source **ret,
		   struct rk_error *err)
{
	struct v3_reader *r = (struct v3_reader *)base;
	const struct rk_v3_table *table = &r->kind->tables[r->kind->tables[0].table != t];
	struct rk_csv_scan scan = {
		.in = r->in,
		.header = &r->header,
		.binds = table->binds,
		.free_header = r->kind->free_header,
		.schema = rk_table_schema(t),
		.want = want | table->also,
		.finish = table->finish,
		.arg = &r->scan,
	};
	struct v3_source *s = rk_calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return rk_fail_nomem(err);
	s->base = (struct rk_source){ &v3_source_ops, rk_table_schema(t) };
	s->r = r;
	s->table = t;
	if (table->needs)
		scan.want = table->needs(want);
	r->scan.ctx = r->ctx;
	r->scan.file = rk_instream_path(r->in);
	r->scan.has_stream = rk_csv_header_find(&r->header, "Stream_Id") >= 0;
	if (t == RK_KERNELS && !r->scan.has_stream && want >> RK_K_STREAM & 1)
		scan.want |= BIT(RK_K_QUEUE);
	r->scan.want = want;
	r->scan.other_rows = 0;
	rc = rk_csv_scan_open(&scan, r->ctx, &s->rows, err);
	/* a counter file has a row per counter; for kernels, each dispatch counts once */
	if (rc >= 0 && table->finish == rk_v3_finish_dispatches)
		rc = rk_dispatch_once_open(s->rows, r->ctx, r->scan.file, &s->rows, err);
	if (rc < 0) {
		rk_free(s);
		return rc;
	}
	*ret = &s->base;
	return 0;
}

const struct rk_reader_ops rk_reader_rocprofv3_csv = {
	.name = "rocprofv3-csv",
	.help = "CSV files of rocprofv3 and rocpd convert, ROCm 6.2 to 10.1",
	.probe = v3_probe,
	.open = v3_open,
	.scan = v3_scan,
	.close = v3_close,
};
