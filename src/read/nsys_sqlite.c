/*
 * nsys_sqlite.c - SQLite exports of Nsight Systems.
 *
 * Export schemas 2.9 to 3.24 (columns are found by name, so other versions mostly work): kernels,
 * copies and memsets, CUDA calls, NVTX ranges and marks, GPUs, processes. Kernel names are
 * demangledName, else shortName. Times count from the start of the capture: clock "unknown".
 */
#include "base/num.h"
#include "base/text.h"
#include "read/sql/sql.h"

enum { STRINGS }; /* dim */

/* Ids of processes and threads are packed: 8 bits hardware, 8 VM, 24 process, 24 thread. */
static int64_t pid_of(int64_t global)
{
	return global == RK_NONE ? RK_NONE : global >> 24 & 0xffffff;
}

static int64_t tid_of(int64_t global)
{
	return global == RK_NONE ? RK_NONE : global & 0xffffff;
}

/* The string whose StringIds id is in column `col`. */
static int64_t string_of(struct sql_scan *s, unsigned col)
{
	return rk_sql_resolve(s, STRINGS, rk_sql_cell(s, col), 0);
}

/* ---- GPU activity ---- */

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
	K_GRID, /* three columns */
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

static int kernel_row(struct sql_scan *s, size_t row)
{
	int64_t fixed = rk_sql_cell(s, K_STATIC), dynamic = rk_sql_cell(s, K_DYNAMIC);

	rk_sql_put_times(s, row, RK_K_START, RK_K_DURATION, K_START, K_END);
	if (rk_sql_wants(s, RK_K_NAME)) {
		int64_t name = string_of(s, K_DEMANGLED);

		rk_sql_put(s, RK_K_NAME, row, name == RK_NONE ? string_of(s, K_SHORT) : name);
	}
	/* grids are in blocks already; work-items are the product, null if it does not fit int32 */
	for (unsigned i = 0; i < 3; i++) {
		int64_t grid = rk_sql_cell(s, K_GRID + i), block = rk_sql_cell(s, K_BLOCK + i);
		int64_t items = RK_NONE;

		rk_sql_put(s, RK_K_GRID_X + i, row, grid);
		rk_sql_put(s, RK_K_BLOCK_X + i, row, block);
		if (grid >= 0 && block >= 0 && __builtin_mul_overflow(grid, block, &items))
			items = INT64_MAX;
		rk_sql_put(s, RK_K_ITEMS_X + i, row, items);
	}
	if (fixed != RK_NONE && dynamic != RK_NONE)
		fixed = rk_add_saturated(fixed, dynamic);
	else if (fixed == RK_NONE)
		fixed = dynamic;
	rk_sql_put(s, RK_K_SHARED_MEM, row, fixed);
	rk_sql_put(s, RK_K_REGS, row, rk_sql_cell(s, K_REGS));
	rk_sql_put(s, RK_K_DEVICE, row, rk_sql_cell(s, K_DEVICE));
	rk_sql_put(s, RK_K_STREAM, row, rk_sql_cell(s, K_STREAM));
	rk_sql_put(s, RK_K_CORRELATION, row, rk_sql_cell(s, K_CORRELATION));
	rk_sql_put(s, RK_K_DISPATCH, row, rk_sql_cell(s, K_ID));
	rk_sql_put(s, RK_K_PID, row, pid_of(rk_sql_cell(s, K_PID)));
	return 1;
}

static const struct sql_part kernel_parts[] = {
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

/*
 * ENUM_CUDA_MEMCPY_OPER. Arrays count as device memory, and so does the other side of unified
 * memory.
 */
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
	rk_sql_put(s, RK_C_PID, row, pid_of(rk_sql_cell(s, C_PID)));
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

static const struct sql_part copy_parts[] = {
	{ "CUPTI_ACTIVITY_KIND_MEMCPY", copy_columns, C_NCOLUMNS, copy_row, NULL, NULL },
	{ "CUPTI_ACTIVITY_KIND_MEMSET", memset_columns, C_NCOLUMNS, memset_row, NULL, NULL },
};

/* ---- host activity ---- */

enum { A_START, A_END, A_CLASS, A_TID, A_CORRELATION, A_NAME, A_NCOLUMNS };

static const struct sql_column call_columns[A_NCOLUMNS] = {
	[A_START] = SQL_INT("start", SQL_BIT(RK_A_START) | SQL_BIT(RK_A_DURATION)),
	[A_END] = SQL_INT("end", SQL_BIT(RK_A_DURATION)),
	[A_CLASS] = SQL_INT("eventClass", SQL_BIT(RK_A_DOMAIN)),
	[A_TID] = SQL_INT("globalTid", SQL_BIT(RK_A_PID) | SQL_BIT(RK_A_TID)),
	[A_CORRELATION] = SQL_INT("correlationId", SQL_BIT(RK_A_CORRELATION)),
	[A_NAME] = SQL_INT("nameId", SQL_BIT(RK_A_FUNCTION)),
};

/* Runtime and driver calls are in one table; the event class tells them apart. */
static int call_row(struct sql_scan *s, size_t row)
{
	int64_t tid = rk_sql_cell(s, A_TID);

	rk_sql_put_times(s, row, RK_A_START, RK_A_DURATION, A_START, A_END);
	rk_sql_put_word(s, RK_A_DOMAIN, row,
			rk_sql_cell(s, A_CLASS) == 1 ? "CUDA_DRIVER_API" : "CUDA_RUNTIME_API");
	if (rk_sql_wants(s, RK_A_FUNCTION))
		rk_sql_put(s, RK_A_FUNCTION, row, string_of(s, A_NAME));
	rk_sql_put(s, RK_A_CORRELATION, row, rk_sql_cell(s, A_CORRELATION));
	rk_sql_put(s, RK_A_PID, row, pid_of(tid));
	rk_sql_put(s, RK_A_TID, row, tid_of(tid));
	return 1;
}

static const struct sql_part call_parts[] = {
	{ "CUPTI_ACTIVITY_KIND_RUNTIME", call_columns, A_NCOLUMNS, call_row, NULL, NULL },
};

enum { R_START, R_END, R_TYPE, R_TEXT, R_TEXT_ID, R_TID, R_NCOLUMNS };
enum { NVTX_MARK = 34, NVTX_PUSH_POP = 59, NVTX_START_END = 60 }; /* ENUM_NSYS_EVENT_TYPE */

static const struct sql_column nvtx_columns[R_NCOLUMNS] = {
	[R_START] = SQL_INT("start", SQL_BIT(RK_R_START) | SQL_BIT(RK_R_DURATION)),
	[R_END] = SQL_INT("end", SQL_BIT(RK_R_DURATION)),
	[R_TYPE] = SQL_INT("eventType", SQL_ALWAYS),
	[R_TEXT] = SQL_TEXT("text", SQL_BIT(RK_R_NAME) | SQL_BIT(RK_R_KIND)),
	[R_TEXT_ID] = SQL_INT("textId", SQL_BIT(RK_R_NAME)),
	[R_TID] = SQL_INT("globalTid", SQL_BIT(RK_R_PID) | SQL_BIT(RK_R_TID)),
};

/* The table also has names of threads, categories and domains. */
static int nvtx_row(struct sql_scan *s, size_t row)
{
	int64_t type = rk_sql_cell(s, R_TYPE), tid = rk_sql_cell(s, R_TID);

	if (type != NVTX_MARK && type != NVTX_PUSH_POP && type != NVTX_START_END)
		return 0;
	if (rk_sql_wants(s, RK_R_NAME)) {
		size_t len = 0;
		const char *text = rk_sqlite_text(s->c, R_TEXT, &len);

		if (text)
			rk_sql_put_text(s, RK_R_NAME, row, text, len);
		else
			rk_sql_put(s, RK_R_NAME, row, string_of(s, R_TEXT_ID));
	}
	rk_sql_put_word(s, RK_R_KIND, row, type == NVTX_MARK ? "mark" : "range");
	rk_sql_put_times(s, row, RK_R_START, RK_R_DURATION, R_START,
			 type == NVTX_MARK ? R_START : R_END);
	rk_sql_put(s, RK_R_PID, row, pid_of(tid));
	rk_sql_put(s, RK_R_TID, row, tid_of(tid));
	return 1;
}

static const struct sql_part nvtx_parts[] = {
	{ "NVTX_EVENTS", nvtx_columns, R_NCOLUMNS, nvtx_row, NULL, NULL },
};

enum { G_ID, G_CUDA, G_NAME, G_SMS, G_CLOCK, G_WARP, G_MEMORY, G_NCOLUMNS };

static const struct sql_column gpu_columns[G_NCOLUMNS] = {
	[G_ID] = SQL_INT("id", SQL_BIT(RK_G_DEVICE)),
	[G_CUDA] = SQL_INT("cuDevice", SQL_BIT(RK_G_DEVICE)),
	[G_NAME] =
		SQL_TEXT("name", SQL_BIT(RK_G_NAME) | SQL_BIT(RK_G_PRODUCT) | SQL_BIT(RK_G_TYPE)),
	[G_SMS] = SQL_INT("smCount", SQL_BIT(RK_G_CU_COUNT)),
	[G_CLOCK] = SQL_INT("clockRate", SQL_BIT(RK_G_MAX_SCLK)),
	[G_WARP] = SQL_INT("threadsPerWarp", SQL_BIT(RK_G_WAVE_SIZE)),
	[G_MEMORY] = SQL_INT("totalMemory", SQL_BIT(RK_G_MEMORY)),
};

/* Kernels use CUDA device numbers; the driver may order devices differently. */
static int gpu_row(struct sql_scan *s, size_t row)
{
	int64_t hz = rk_sql_cell(s, G_CLOCK);

	rk_sql_put(s, RK_G_DEVICE, row, rk_sql_cell_or(s, G_CUDA, G_ID));
	rk_sql_put_word(s, RK_G_TYPE, row, "GPU");
	rk_sql_put_column(s, RK_G_NAME, row, G_NAME);
	rk_sql_put_column(s, RK_G_PRODUCT, row, G_NAME);
	rk_sql_put(s, RK_G_CU_COUNT, row, rk_sql_cell(s, G_SMS));
	rk_sql_put(s, RK_G_MAX_SCLK, row, hz == RK_NONE ? RK_NONE : hz / 1000000);
	rk_sql_put(s, RK_G_WAVE_SIZE, row, rk_sql_cell(s, G_WARP));
	rk_sql_put(s, RK_G_MEMORY, row, rk_sql_cell(s, G_MEMORY));
	return 1;
}

static const struct sql_part gpu_parts[] = {
	{ "TARGET_INFO_GPU", gpu_columns, G_NCOLUMNS, gpu_row, NULL, NULL },
};

enum { O_PID, O_GLOBAL, O_NAME, O_NCOLUMNS };

static const struct sql_column process_columns[O_NCOLUMNS] = {
	[O_PID] = SQL_INT("pid", SQL_BIT(RK_O_PID)),
	[O_GLOBAL] = SQL_INT("globalPid", SQL_BIT(RK_O_PID)),
	[O_NAME] = SQL_TEXT("name", SQL_BIT(RK_O_COMMAND)),
};

static int process_row(struct sql_scan *s, size_t row)
{
	int64_t pid = rk_sql_cell(s, O_PID);

	rk_sql_put(s, RK_O_PID, row, pid == RK_NONE ? pid_of(rk_sql_cell(s, O_GLOBAL)) : pid);
	rk_sql_put_column(s, RK_O_COMMAND, row, O_NAME);
	return 1;
}

static const struct sql_part process_parts[] = {
	{ "PROCESSES", process_columns, O_NCOLUMNS, process_row, NULL, NULL },
};

/* The properties table has the host name; a report has only one host. */
static int find_host(struct sql_reader *r, struct rk_error *err)
{
	static const struct rk_sqlite_column columns[] = { { "name", RK_SQLITE_TEXT },
							   { "value", RK_SQLITE_TEXT } };
	const struct rk_sqlite_table *t = rk_sql_table(r, "TARGET_INFO_SYSTEM_ENV", "");
	struct rk_sqlite_cursor *c = NULL;
	struct rk_error cause = { 0 };
	int rc;

	if (!t)
		return 0;
	rc = rk_sqlite_cursor_open(r->db, t, columns, 2, RK_SQLITE_STORED, &c, &cause);
	while (rc == 0 && (rc = rk_sqlite_cursor_step(c, &cause)) > 0) {
		size_t len;
		const char *text = rk_sqlite_text(c, 0, &len);
		uint32_t id;

		rc = 0;
		if (!text || !rk_text_ieq(text, len, "Hostname"))
			continue;
		text = rk_sqlite_text(c, 1, &len);
		if (text && len && (rc = rk_strtab_add(r->ctx->names, text, len, &id, &cause)) >= 0)
			r->node = id;
		break;
	}
	rk_sqlite_cursor_close(c);
	return rk_sql_damage(r, &cause, rc, err);
}

static const struct sql_plan plans[] = {
	{ .table = RK_KERNELS, .node_field = RK_K_NODE, .parts = kernel_parts, .nparts = 1 },
	{ .table = RK_MEMCPY, .node_field = RK_C_NODE, .parts = copy_parts, .nparts = 2 },
	{ .table = RK_API, .node_field = RK_A_NODE, .parts = call_parts, .nparts = 1 },
	{ .table = RK_MARKERS, .node_field = RK_R_NODE, .parts = nvtx_parts, .nparts = 1 },
	{ .table = RK_AGENTS, .node_field = RK_G_NODE, .parts = gpu_parts, .nparts = 1 },
	{ .table = RK_PROCESSES, .node_field = RK_O_NODE, .parts = process_parts, .nparts = 1 },
};

static const struct sql_dim_def dims[] = {
	[STRINGS] = { "StringIds", 1, { { "id", RK_SQLITE_INT }, { "value", RK_SQLITE_TEXT } } },
};

static const struct sql_format format = {
	.marks = { "CREATE TABLE CUPTI_ACTIVITY_KIND_", "CREATE TABLE TARGET_INFO_",
		   "CREATE TABLE StringIds" },
	.source = "nsys-sqlite",
	.clock = "unknown",
	.what = "Nsight Systems",
	.prefix = "",
	.plans = plans,
	.nplans = sizeof(plans) / sizeof(plans[0]),
	.dims = dims,
	.ndims = 1,
	.scan_bytes = sizeof(struct sql_scan),
	.opened = find_host,
};

static const struct rk_db_sign signs[] = { { "CUPTI_ACTIVITY_KIND_", 90 },
					   { "NVTX_EVENTS", 90 },
					   { 0 } };

const struct rk_reader_ops rk_reader_nsys_sqlite = {
	.name = "nsys-sqlite",
	.help = "SQLite exports of Nsight Systems",
	.probe = rk_sql_probe,
	.open = rk_sql_open,
	.scan = rk_sql_scan,
	.close = rk_sql_close,
	.format = &format,
	.serial = true,
	.db_signs = signs,
};
