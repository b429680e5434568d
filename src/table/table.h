/* table.h - types, fields, schemas, and the standard tables. */
#ifndef RK_TABLE_H
#define RK_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rk_type {
	RK_I64,
	RK_I32,
	RK_F64,
	RK_STR,  /* uint32_t ids into the run's strtab */
	RK_BOOL, /* uint8_t 0 or 1 */
};

/* Bytes of one value in a column. */
static inline size_t rk_type_size(enum rk_type t)
{
	if (t == RK_I64 || t == RK_F64)
		return 8;
	return t == RK_BOOL ? 1 : 4;
}

enum rk_table {
	RK_KERNELS,
	RK_MEMCPY,
	RK_MEMALLOC,
	RK_API,
	RK_MARKERS,
	RK_COUNTERS,
	RK_SAMPLES,
	RK_PC_SAMPLES,
	RK_LIBRARY_CALLS,
	RK_AGENTS,
	RK_PROCESSES,
	RK_STATS,        /* precomputed statistics: this source has no single rows */
	RK_INSTRUCTIONS, /* thread-trace statistics, one row per instruction */
	RK_NTABLES
};

#define RK_TABLE_BIT(t) (1u << (t))

/* "No value" in an int64_t without a null bit. */
#define RK_NONE INT64_MIN

struct rk_field {
	const char *name;
	enum rk_type type;
	unsigned pass; /* of a counter: the number of its pass + 1; 0: unknown, or not a counter */
};

struct rk_schema {
	enum rk_table table;
	unsigned nfields;
	const struct rk_field *fields;
	int time_field; /* the column rows are sorted by, -1 for none */
};

/* Columns of each standard table, in order. Any of them may be all null. */
/* clang-format off */ /* one line per name would be too long */
enum rk_kernels_field {
	RK_K_NAME, RK_K_START, RK_K_DURATION, RK_K_GRID_X, RK_K_GRID_Y, RK_K_GRID_Z, RK_K_BLOCK_X,
	RK_K_BLOCK_Y, RK_K_BLOCK_Z, RK_K_REGS, RK_K_SHARED_MEM, RK_K_STREAM, RK_K_DEVICE, RK_K_QUEUE,
	RK_K_DISPATCH, RK_K_CORRELATION, RK_K_PID, RK_K_TID, RK_K_NODE, RK_K_RANK, RK_K_VGPR,
	RK_K_ACCUM_VGPR, RK_K_SGPR, RK_K_SCRATCH, RK_K_WAVE_SIZE, RK_K_ITEMS_X, RK_K_ITEMS_Y,
	RK_K_ITEMS_Z, RK_K_BARRIER, RK_K_SOURCE, RK_K_CLOCK, RK_K_CONTEXT, RK_K_GRAPH, RK_K_GRAPH_NODE,
	RK_K_COLLECTIVE, RK_K_COMM_GROUP, RK_K_COMM_SIZE, RK_K_COMM_SEQ, RK_K_SUBMIT,
	RK_K_NFIELDS
};
enum rk_memcpy_field {
	RK_C_DIRECTION, RK_C_START, RK_C_DURATION, RK_C_BYTES, RK_C_SRC, RK_C_DST, RK_C_STREAM,
	RK_C_CORRELATION, RK_C_PID, RK_C_TID, RK_C_NODE, RK_C_RANK, RK_C_GRAPH, RK_C_GRAPH_NODE,
	RK_C_NFIELDS
};
enum rk_memalloc_field {
	RK_M_OPERATION, RK_M_START, RK_M_DURATION, RK_M_BYTES, RK_M_ADDRESS, RK_M_DEVICE, RK_M_FLAGS,
	RK_M_CORRELATION, RK_M_PID, RK_M_TID, RK_M_NODE, RK_M_RANK, RK_M_NFIELDS
};
enum rk_api_field {
	RK_A_DOMAIN, RK_A_FUNCTION, RK_A_START, RK_A_DURATION, RK_A_CORRELATION, RK_A_PID, RK_A_TID,
	RK_A_NODE, RK_A_RANK, RK_A_NFIELDS
};
enum rk_markers_field {
	RK_R_NAME, RK_R_KIND, RK_R_START, RK_R_DURATION, RK_R_PID, RK_R_TID, RK_R_NODE, RK_R_RANK,
	RK_R_NFIELDS
};
enum rk_counters_field {
	RK_N_DISPATCH, RK_N_NAME, RK_N_COUNTER, RK_N_VALUE, RK_N_INSTANCE, RK_N_DEVICE, RK_N_PASS,
	RK_N_PID, RK_N_NODE, RK_N_RANK, RK_N_NFIELDS
};
enum rk_samples_field {
	RK_S_TIME, RK_S_DEVICE, RK_S_METRIC, RK_S_VALUE, RK_S_UNIT, RK_S_NODE, RK_S_NFIELDS
};
enum rk_pc_samples_field {
	RK_P_TIME, RK_P_DISPATCH, RK_P_NAME, RK_P_INSTRUCTION, RK_P_SOURCE_LINE, RK_P_STALL,
	RK_P_WAVE_COUNT, RK_P_PID, RK_P_NODE, RK_P_RANK, RK_P_NFIELDS
};
enum rk_library_calls_field {
	RK_L_LIBRARY, RK_L_FUNCTION, RK_L_CONFIG, RK_L_CALLS, RK_L_TOTAL, RK_L_PID, RK_L_NODE,
	RK_L_RANK, RK_L_NFIELDS
};
enum rk_agents_field {
	RK_G_DEVICE, RK_G_TYPE, RK_G_NAME, RK_G_GFX, RK_G_PRODUCT, RK_G_CU_COUNT, RK_G_MAX_SCLK,
	RK_G_MAX_MCLK, RK_G_XCC, RK_G_WAVE_SIZE, RK_G_MEMORY, RK_G_NODE, RK_G_SE_COUNT,
	RK_G_SIMD_PER_CU, RK_G_WAVES_PER_CU, RK_G_L2_CHANNELS, RK_G_HBM_CHANNELS, RK_G_LDS_BANKS,
	RK_G_SQC_COUNT, RK_G_PIPES, RK_G_PCI, RK_G_UNIQUE_ID, RK_G_NFIELDS
};
enum rk_processes_field {
	RK_O_PID, RK_O_PPID, RK_O_COMMAND, RK_O_RANK, RK_O_LOCAL_RANK, RK_O_NODE, RK_O_START, RK_O_END,
	RK_O_NFIELDS
};
enum rk_stats_field {
	RK_T_OF, RK_T_NAME, RK_T_CALLS, RK_T_TOTAL, RK_T_MEAN, RK_T_MIN, RK_T_MAX, RK_T_STDDEV,
	RK_T_PERCENT, RK_T_PID, RK_T_NODE, RK_T_RANK, RK_T_NFIELDS
};
enum rk_instructions_field {
	RK_I_CODE_OBJECT, RK_I_VADDR, RK_I_INSTRUCTION, RK_I_HITS, RK_I_LATENCY, RK_I_STALL, RK_I_IDLE,
	RK_I_SOURCE_LINE, RK_I_NFIELDS
};

/* clang-format on */

const struct rk_schema *rk_table_schema(enum rk_table t); /* borrowed, static */
const char *rk_table_name(enum rk_table t);               /* "kernels", ... */
int rk_table_by_name(const char *name);                   /* -1 when unknown */

/*
 * The device whose lane shows a copy of memcpy: the one that does it. The engine of the source
 * copies, unless that is the host: ROCr chooses it so for copies between two devices. A device < 0
 * is unknown; so is the result if both are.
 */
int64_t rk_copy_device(const char *direction, int64_t src, int64_t dst);
const char *rk_table_file(enum rk_table t); /* its file without suffix */

#endif
