/* table.c - the standard tables. */
#include "table/table.h"

#include <string.h>

static const struct rk_field kernels[RK_K_NFIELDS] = {
	{ "kernel_name", RK_STR },    { "start_ns", RK_I64 },     { "duration_ns", RK_I64 },
	{ "grid_x", RK_I32 },         { "grid_y", RK_I32 },       { "grid_z", RK_I32 },
	{ "block_x", RK_I32 },        { "block_y", RK_I32 },      { "block_z", RK_I32 },
	{ "regs", RK_I32 },           { "shared_mem", RK_I32 },   { "stream_id", RK_I32 },
	{ "device_id", RK_I64 },      { "queue_id", RK_I64 },     { "dispatch_id", RK_I64 },
	{ "correlation_id", RK_I64 }, { "pid", RK_I64 },          { "tid", RK_I64 },
	{ "node", RK_STR },           { "rank", RK_I32 },         { "vgpr", RK_I32 },
	{ "accum_vgpr", RK_I32 },     { "sgpr", RK_I32 },         { "scratch_bytes", RK_I32 },
	{ "wave_size", RK_I32 },      { "grid_items_x", RK_I32 }, { "grid_items_y", RK_I32 },
	{ "grid_items_z", RK_I32 },   { "barrier", RK_BOOL },     { "source", RK_STR },
	{ "clock", RK_STR },          { "context_id", RK_I64 },   { "graph_id", RK_I64 },
	{ "graph_node_id", RK_I64 },  { "collective", RK_STR },   { "comm_group", RK_STR },
	{ "comm_size", RK_STR },      { "comm_seq", RK_I64 },     { "submit_ns", RK_I64 },
};
static const struct rk_field memcpy_fields[RK_C_NFIELDS] = {
	{ "direction", RK_STR }, { "start_ns", RK_I64 },       { "duration_ns", RK_I64 },
	{ "bytes", RK_I64 },     { "src_device", RK_I64 },     { "dst_device", RK_I64 },
	{ "stream_id", RK_I64 }, { "correlation_id", RK_I64 }, { "pid", RK_I64 },
	{ "tid", RK_I64 },       { "node", RK_STR },           { "rank", RK_I32 },
	{ "graph_id", RK_I64 },  { "graph_node_id", RK_I64 },
};
static const struct rk_field memalloc[RK_M_NFIELDS] = {
	{ "operation", RK_STR }, { "start_ns", RK_I64 },       { "duration_ns", RK_I64 },
	{ "bytes", RK_I64 },     { "address", RK_I64 },        { "device_id", RK_I64 },
	{ "flags", RK_I64 },     { "correlation_id", RK_I64 }, { "pid", RK_I64 },
	{ "tid", RK_I64 },       { "node", RK_STR },           { "rank", RK_I32 },
};
static const struct rk_field api[RK_A_NFIELDS] = {
	{ "domain", RK_STR },      { "function", RK_STR },       { "start_ns", RK_I64 },
	{ "duration_ns", RK_I64 }, { "correlation_id", RK_I64 }, { "pid", RK_I64 },
	{ "tid", RK_I64 },         { "node", RK_STR },           { "rank", RK_I32 },
};
static const struct rk_field markers[RK_R_NFIELDS] = {
	{ "name", RK_STR }, { "kind", RK_STR }, { "start_ns", RK_I64 }, { "duration_ns", RK_I64 },
	{ "pid", RK_I64 },  { "tid", RK_I64 },  { "node", RK_STR },     { "rank", RK_I32 },
};
static const struct rk_field counters[RK_N_NFIELDS] = {
	{ "dispatch_id", RK_I64 }, { "kernel_name", RK_STR }, { "counter", RK_STR },
	{ "value", RK_F64 },       { "instance", RK_I64 },    { "device_id", RK_I64 },
	{ "pass", RK_I64 },        { "pid", RK_I64 },         { "node", RK_STR },
	{ "rank", RK_I32 },
};
static const struct rk_field samples[RK_S_NFIELDS] = {
	{ "time_ns", RK_I64 }, { "device_id", RK_I64 }, { "metric", RK_STR },
	{ "value", RK_F64 },   { "unit", RK_STR },      { "node", RK_STR },
};
static const struct rk_field pc_samples[RK_P_NFIELDS] = {
	{ "time_ns", RK_I64 },     { "dispatch_id", RK_I64 }, { "kernel_name", RK_STR },
	{ "instruction", RK_STR }, { "source_line", RK_STR }, { "stall_reason", RK_STR },
	{ "wave_count", RK_I64 },  { "pid", RK_I64 },         { "node", RK_STR },
	{ "rank", RK_I32 },
};
static const struct rk_field library_calls[RK_L_NFIELDS] = {
	{ "library", RK_STR },  { "function", RK_STR }, { "config", RK_STR }, { "calls", RK_I64 },
	{ "total_ns", RK_I64 }, { "pid", RK_I64 },      { "node", RK_STR },   { "rank", RK_I32 },
};
static const struct rk_field agents[RK_G_NFIELDS] = {
	{ "device_id", RK_I64 },    { "type", RK_STR },         { "name", RK_STR },
	{ "gfx", RK_STR },          { "product", RK_STR },      { "cu_count", RK_I64 },
	{ "max_sclk_mhz", RK_I64 }, { "max_mclk_mhz", RK_I64 }, { "xcc", RK_I64 },
	{ "wave_size", RK_I64 },    { "memory_bytes", RK_I64 }, { "node", RK_STR },
	{ "se_count", RK_I64 },     { "simd_per_cu", RK_I64 },  { "waves_per_cu", RK_I64 },
	{ "l2_channels", RK_I64 },  { "hbm_channels", RK_I64 }, { "lds_banks", RK_I64 },
	{ "sqc_count", RK_I64 },    { "pipes", RK_I64 },        { "pci", RK_STR },
	{ "unique_id", RK_STR },
};
static const struct rk_field processes[RK_O_NFIELDS] = {
	{ "pid", RK_I64 },        { "ppid", RK_I64 }, { "command", RK_STR },  { "rank", RK_I32 },
	{ "local_rank", RK_I32 }, { "node", RK_STR }, { "start_ns", RK_I64 }, { "end_ns", RK_I64 },
};
static const struct rk_field stats[RK_T_NFIELDS] = {
	{ "of", RK_STR },      { "name", RK_STR },   { "calls", RK_I64 },  { "total_ns", RK_I64 },
	{ "mean_ns", RK_F64 }, { "min_ns", RK_I64 }, { "max_ns", RK_I64 }, { "stddev_ns", RK_F64 },
	{ "percent", RK_F64 }, { "pid", RK_I64 },    { "node", RK_STR },   { "rank", RK_I32 },
};
static const struct rk_field instructions[RK_I_NFIELDS] = {
	{ "code_object", RK_I64 }, { "vaddr", RK_I64 },       { "instruction", RK_STR },
	{ "hits", RK_I64 },        { "latency", RK_I64 },     { "stall", RK_I64 },
	{ "idle", RK_I64 },        { "source_line", RK_STR },
};

static const struct {
	const char *name;
	struct rk_schema schema;
} tables[RK_NTABLES] = {
	[RK_KERNELS] = { "kernels", { RK_KERNELS, RK_K_NFIELDS, kernels, RK_K_START } },
	[RK_MEMCPY] = { "memcpy", { RK_MEMCPY, RK_C_NFIELDS, memcpy_fields, RK_C_START } },
	[RK_MEMALLOC] = { "memalloc", { RK_MEMALLOC, RK_M_NFIELDS, memalloc, RK_M_START } },
	[RK_API] = { "api", { RK_API, RK_A_NFIELDS, api, RK_A_START } },
	[RK_MARKERS] = { "markers", { RK_MARKERS, RK_R_NFIELDS, markers, RK_R_START } },
	[RK_COUNTERS] = { "counters", { RK_COUNTERS, RK_N_NFIELDS, counters, -1 } },
	[RK_SAMPLES] = { "samples", { RK_SAMPLES, RK_S_NFIELDS, samples, RK_S_TIME } },
	[RK_PC_SAMPLES] = { "pc_samples", { RK_PC_SAMPLES, RK_P_NFIELDS, pc_samples, RK_P_TIME } },
	[RK_LIBRARY_CALLS] = { "library_calls",
			       { RK_LIBRARY_CALLS, RK_L_NFIELDS, library_calls, -1 } },
	[RK_AGENTS] = { "agents", { RK_AGENTS, RK_G_NFIELDS, agents, -1 } },
	[RK_PROCESSES] = { "processes", { RK_PROCESSES, RK_O_NFIELDS, processes, -1 } },
	[RK_STATS] = { "stats", { RK_STATS, RK_T_NFIELDS, stats, -1 } },
	[RK_INSTRUCTIONS] = { "instructions", { RK_INSTRUCTIONS, RK_I_NFIELDS, instructions, -1 } },
};

const struct rk_schema *rk_table_schema(enum rk_table t)
{
	return &tables[t].schema;
}

const char *rk_table_name(enum rk_table t)
{
	return tables[t].name;
}

/* The file name that madengine's scripts look for. */
const char *rk_table_file(enum rk_table t)
{
	return t == RK_KERNELS ? "rocprof_kernels" : tables[t].name;
}

int64_t rk_copy_device(const char *direction, int64_t src, int64_t dst)
{
	if (src < 0 || (dst >= 0 && strstr(direction, "HOST_TO")))
		return dst;
	return src;
}

int rk_table_by_name(const char *name)
{
	for (int t = 0; t < RK_NTABLES; t++)
		if (!strcmp(tables[t].name, name))
			return t;
	return -1;
}
