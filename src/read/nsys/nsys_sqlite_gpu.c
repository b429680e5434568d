/* nsys_sqlite_gpu.c - what ran on the GPU: kernels, copies, memsets. */
#include "base/num.h"
#include "read/nsys/nsys_sqlite.h"

enum {
	K_START,
	K_END,
	K_DEVICE,
	K_STREAM,
	K_CORRELATION,
	K_PID,
	K_DEMANGLED,
	K_SHORT,
	K_REGS,
	K_STATIC,
	K_DYNAMIC,
	K_ID,
	K_GRID, /* three */
	K_BLOCK = K_GRID + 3,
	K_NCOLUMNS = K_BLOCK + 3
};

#define GRID(i) (SQL_BIT(RK_K_GRID_X + (i)) | SQL_BIT(RK_K_ITEMS_X + (i)))
#define BLOCK(i) (SQL_BIT(RK_K_BLOCK_X + (i)) | SQL_BIT(RK_K_ITEMS_X + (i)))

static const struct sql_column kernel_columns[K_NCOLUMNS] = {
	[K_START] = SQL_INT("start", SQL_BIT(RK_K_START) | SQL_BIT(RK_K_DURATION)),
	[K_END] = SQL_INT("end", SQL_BIT(RK_K_DURATION)),
	[K_DEVICE] = SQL_INT("deviceId", SQL_BIT(RK_K_DEVICE)),
	[K_STREAM] = SQL_INT("streamId", SQL_BIT(RK_K_STREAM)),
	[K_CORRELATION] = SQL_INT("correlationId", SQL_BIT(RK_K_CORRELATION)),
	[K_PID] = SQL_INT("globalPid", SQL_BIT(RK_K_PID)),
	[K_DEMANGLED] = SQL_INT("demangledName", SQL_BIT(RK_K_NAME)),
	[K_SHORT] = SQL_INT("shortName", SQL_BIT(RK_K_NAME)),
	[K_REGS] = SQL_INT("registersPerThread", SQL_BIT(RK_K_REGS)),
	[K_STATIC] = SQL_INT("staticSharedMemory", SQL_BIT(RK_K_SHARED_MEM)),
	[K_DYNAMIC] = SQL_INT("dynamicSharedMemory", SQL_BIT(RK_K_SHARED_MEM)),
	[K_ID] = SQL_INT("gridId", SQL_BIT(RK_K_DISPATCH)),
	[K_GRID] = SQL_INT("gridX", GRID(0)),
	[K_GRID + 1] = SQL_INT("gridY", GRID(1)),
	[K_GRID + 2] = SQL_INT("gridZ", GRID(2)),
	[K_BLOCK] = SQL_INT("blockX", BLOCK(0)),
	[K_BLOCK + 1] = SQL_INT("blockY", BLOCK(1)),
	[K_BLOCK + 2] = SQL_INT("blockZ", BLOCK(2)),
};

/* Grids are blocks already; work-items are their product, null where int32 cannot hold it. */
static void put_geometry(struct sql_scan *s, size_t row)
{
	for (unsigned i = 0; i < 3; i++) {
		int64_t grid = rk_sql_cell(s, K_GRID + i), block = rk_sql_cell(s, K_BLOCK + i);
		int64_t items = RK_NONE;

		rk_sql_put(s, RK_K_GRID_X + i, row, grid);
		rk_sql_put(s, RK_K_BLOCK_X + i, row, block);
		if (grid >= 0 && block >= 0 && __builtin_mul_overflow(grid, block, &items))
			items = INT64_MAX;
		rk_sql_put(s, RK_K_ITEMS_X + i, row, items);
	}
}

static void put_shared_memory(struct sql_scan *s, size_t row)
{
	int64_t fixed = rk_sql_cell(s, K_STATIC), dynamic = rk_sql_cell(s, K_DYNAMIC), sum = fixed;

	if (fixed == RK_NONE)
		sum = dynamic;
	else if (dynamic != RK_NONE && !rk_add_i64(fixed, dynamic, &sum))
		sum = INT64_MAX;
	rk_sql_put(s, RK_K_SHARED_MEM, row, sum);
}

static int kernel_row(struct sql_scan *s, size_t row)
{
	int64_t name = RK_NONE;

	rk_sql_put_times(s, row, RK_K_START, RK_K_DURATION, K_START, K_END);
	if (rk_sql_wants(s, RK_K_NAME))
		name = rk_sql_name(s, NSYS_STRINGS, rk_sql_cell(s, K_DEMANGLED));
	if (rk_sql_wants(s, RK_K_NAME) && name == RK_NONE)
		name = rk_sql_name(s, NSYS_STRINGS, rk_sql_cell(s, K_SHORT));
	rk_sql_put(s, RK_K_NAME, row, name);
	put_geometry(s, row);
	put_shared_memory(s, row);
	rk_sql_put(s, RK_K_REGS, row, rk_sql_cell(s, K_REGS));
	rk_sql_put(s, RK_K_DEVICE, row, rk_sql_cell(s, K_DEVICE));
	rk_sql_put(s, RK_K_STREAM, row, rk_sql_cell(s, K_STREAM));
	rk_sql_put(s, RK_K_CORRELATION, row, rk_sql_cell(s, K_CORRELATION));
	rk_sql_put(s, RK_K_DISPATCH, row, rk_sql_cell(s, K_ID));
	rk_sql_put(s, RK_K_PID, row, rk_nsys_pid(rk_sql_cell(s, K_PID)));
	return 1;
}

const struct sql_part rk_nsys_kernels[1] = {
	{ "CUPTI_ACTIVITY_KIND_KERNEL", kernel_columns, K_NCOLUMNS, kernel_row, NULL, NULL },
};

enum {
	C_START,
	C_END,
	C_DEVICE,
	C_STREAM,
	C_CORRELATION,
	C_PID,
	C_BYTES,
	C_KIND,
	C_SRC,
	C_DST,
	C_NCOLUMNS
};

#define COPY_COLUMNS                                                                \
	[C_START] = SQL_INT("start", SQL_BIT(RK_C_START) | SQL_BIT(RK_C_DURATION)), \
	[C_END] = SQL_INT("end", SQL_BIT(RK_C_DURATION)),                           \
	[C_DEVICE] = SQL_INT("deviceId", SQL_BIT(RK_C_SRC) | SQL_BIT(RK_C_DST)),    \
	[C_STREAM] = SQL_INT("streamId", SQL_BIT(RK_C_STREAM)),                     \
	[C_CORRELATION] = SQL_INT("correlationId", SQL_BIT(RK_C_CORRELATION)),      \
	[C_PID] = SQL_INT("globalPid", SQL_BIT(RK_C_PID)),                          \
	[C_BYTES] = SQL_INT("bytes", SQL_BIT(RK_C_BYTES))

static const struct sql_column copy_columns[C_NCOLUMNS] = {
	COPY_COLUMNS,
	[C_KIND] = SQL_INT("copyKind",
			   SQL_BIT(RK_C_DIRECTION) | SQL_BIT(RK_C_SRC) | SQL_BIT(RK_C_DST)),
	[C_SRC] = SQL_INT("srcDeviceId", SQL_BIT(RK_C_SRC)),
	[C_DST] = SQL_INT("dstDeviceId", SQL_BIT(RK_C_DST)),
};

static const struct sql_column memset_columns[C_NCOLUMNS] = { COPY_COLUMNS };

/* ENUM_CUDA_MEMCPY_OPER; arrays are memory of a device, and so is unified memory's far side. */
static const struct {
	const char *word;
	bool from_device, to_device;
} kinds[] = {
	{ "MEMORY_COPY_UNKNOWN", false, false },
	{ "MEMORY_COPY_HOST_TO_DEVICE", false, true },
	{ "MEMORY_COPY_DEVICE_TO_HOST", true, false },
	{ "MEMORY_COPY_HOST_TO_DEVICE", false, true },
	{ "MEMORY_COPY_DEVICE_TO_HOST", true, false },
	{ "MEMORY_COPY_DEVICE_TO_DEVICE", true, true },
	{ "MEMORY_COPY_DEVICE_TO_DEVICE", true, true },
	{ "MEMORY_COPY_DEVICE_TO_DEVICE", true, true },
	{ "MEMORY_COPY_DEVICE_TO_DEVICE", true, true },
	{ "MEMORY_COPY_HOST_TO_HOST", false, false },
	{ "MEMORY_COPY_PEER_TO_PEER", true, true },
	{ "MEMORY_COPY_HOST_TO_DEVICE", false, true },
	{ "MEMORY_COPY_DEVICE_TO_HOST", true, false },
	{ "MEMORY_COPY_DEVICE_TO_DEVICE", true, true },
};

static void put_common(struct sql_scan *s, size_t row)
{
	rk_sql_put_times(s, row, RK_C_START, RK_C_DURATION, C_START, C_END);
	rk_sql_put(s, RK_C_BYTES, row, rk_sql_cell(s, C_BYTES));
	rk_sql_put(s, RK_C_STREAM, row, rk_sql_cell(s, C_STREAM));
	rk_sql_put(s, RK_C_CORRELATION, row, rk_sql_cell(s, C_CORRELATION));
	rk_sql_put(s, RK_C_PID, row, rk_nsys_pid(rk_sql_cell(s, C_PID)));
}

static int copy_row(struct sql_scan *s, size_t row)
{
	int64_t kind = rk_sql_cell(s, C_KIND), device = rk_sql_cell(s, C_DEVICE);
	int64_t src = rk_sql_cell(s, C_SRC), dst = rk_sql_cell(s, C_DST);

	if (kind < 0 || kind >= (int64_t)(sizeof(kinds) / sizeof(kinds[0])))
		kind = 0;
	put_common(s, row);
	rk_sql_put_word(s, RK_C_DIRECTION, row, kinds[kind].word);
	rk_sql_put(s, RK_C_SRC, row, src == RK_NONE && kinds[kind].from_device ? device : src);
	rk_sql_put(s, RK_C_DST, row, dst == RK_NONE && kinds[kind].to_device ? device : dst);
	return 1;
}

static int memset_row(struct sql_scan *s, size_t row)
{
	put_common(s, row);
	rk_sql_put_word(s, RK_C_DIRECTION, row, "MEMORY_SET");
	rk_sql_put(s, RK_C_SRC, row, RK_NONE);
	rk_sql_put(s, RK_C_DST, row, rk_sql_cell(s, C_DEVICE));
	return 1;
}

const struct sql_part rk_nsys_copies[2] = {
	{ "CUPTI_ACTIVITY_KIND_MEMCPY", copy_columns, C_NCOLUMNS, copy_row, NULL, NULL },
	{ "CUPTI_ACTIVITY_KIND_MEMSET", memset_columns, C_NCOLUMNS, memset_row, NULL, NULL },
};
