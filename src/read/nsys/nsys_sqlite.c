/* nsys_sqlite.c - SQLite exports of Nsight Systems: the reader, and what ran on the host. */
#include "read/nsys/nsys_sqlite.h"

#include "base/text.h"

extern const struct rk_reader_ops rk_reader_nsys_sqlite;

enum { A_START, A_END, A_CLASS, A_TID, A_CORRELATION, A_NAME, A_NCOLUMNS };

#define CALL_COLUMNS(class_name)                                                    \
	[A_START] = SQL_INT("start", SQL_BIT(RK_A_START) | SQL_BIT(RK_A_DURATION)), \
	[A_END] = SQL_INT("end", SQL_BIT(RK_A_DURATION)),                           \
	[A_CLASS] = SQL_INT(class_name, SQL_BIT(RK_A_DOMAIN)),                      \
	[A_TID] = SQL_INT("globalTid", SQL_BIT(RK_A_PID) | SQL_BIT(RK_A_TID)),      \
	[A_CORRELATION] = SQL_INT("correlationId", SQL_BIT(RK_A_CORRELATION)),      \
	[A_NAME] = SQL_INT("nameId", SQL_BIT(RK_A_FUNCTION))

static const struct sql_column call_columns[A_NCOLUMNS] = { CALL_COLUMNS("eventClass") };

/* Calls of runtime and driver stand in one table; the class tells them apart. */
static int call_row(struct sql_scan *s, size_t row)
{
	int64_t tid = rk_sql_cell(s, A_TID);

	rk_sql_put_times(s, row, RK_A_START, RK_A_DURATION, A_START, A_END);
	rk_sql_put_word(s, RK_A_DOMAIN, row,
			rk_sql_cell(s, A_CLASS) == 1 ? "CUDA_DRIVER_API" : "CUDA_RUNTIME_API");
	if (rk_sql_wants(s, RK_A_FUNCTION))
		rk_sql_put(s, RK_A_FUNCTION, row,
			   rk_sql_name(s, NSYS_STRINGS, rk_sql_cell(s, A_NAME)));
	rk_sql_put(s, RK_A_CORRELATION, row, rk_sql_cell(s, A_CORRELATION));
	rk_sql_put(s, RK_A_PID, row, rk_nsys_pid(tid));
	rk_sql_put(s, RK_A_TID, row, rk_nsys_tid(tid));
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

static void put_text(struct sql_scan *s, size_t row)
{
	size_t len = 0;
	const char *text = rk_sqlite_text(s->c, R_TEXT, &len);

	if (text)
		rk_sql_put_text(s, RK_R_NAME, row, text, len);
	else
		rk_sql_put(s, RK_R_NAME, row,
			   rk_sql_name(s, NSYS_STRINGS, rk_sql_cell(s, R_TEXT_ID)));
}

/* The table also holds names of threads, categories and domains. */
static int nvtx_row(struct sql_scan *s, size_t row)
{
	int64_t type = rk_sql_cell(s, R_TYPE), tid = rk_sql_cell(s, R_TID);

	if (type != NVTX_MARK && type != NVTX_PUSH_POP && type != NVTX_START_END)
		return 0;
	if (rk_sql_wants(s, RK_R_NAME))
		put_text(s, row);
	rk_sql_put_word(s, RK_R_KIND, row, type == NVTX_MARK ? "mark" : "range");
	rk_sql_put_times(s, row, RK_R_START, RK_R_DURATION, R_START,
			 type == NVTX_MARK ? R_START : R_END);
	rk_sql_put(s, RK_R_PID, row, rk_nsys_pid(tid));
	rk_sql_put(s, RK_R_TID, row, rk_nsys_tid(tid));
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

/* Kernels name devices as CUDA does, which may order them differently than the driver. */
static int gpu_row(struct sql_scan *s, size_t row)
{
	int64_t device = rk_sql_cell(s, G_CUDA), hz = rk_sql_cell(s, G_CLOCK);

	rk_sql_put(s, RK_G_DEVICE, row, device == RK_NONE ? rk_sql_cell(s, G_ID) : device);
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

	rk_sql_put(s, RK_O_PID, row, pid == RK_NONE ? rk_nsys_pid(rk_sql_cell(s, O_GLOBAL)) : pid);
	rk_sql_put_column(s, RK_O_COMMAND, row, O_NAME);
	return 1;
}

static const struct sql_part process_parts[] = {
	{ "PROCESSES", process_columns, O_NCOLUMNS, process_row, NULL, NULL },
};

/* Its own table of properties names the host; a report is of one host. */
static int find_host(struct sql_reader *r, struct rk_error *err)
{
	static const struct rk_sqlite_column columns[] = { { "name", RK_SQLITE_TEXT },
							   { "value", RK_SQLITE_TEXT } };
	const struct rk_sqlite_table *t = rk_sql_table(r, "TARGET_INFO_SYSTEM_ENV");
	struct rk_sqlite_cursor *c = NULL;
	struct rk_error cause = { 0 };
	int rc = t ? 0 : 1;

	if (rc == 0)
		rc = rk_sqlite_cursor_open(r->db, t, columns, 2, RK_SQLITE_STORED, &c, &cause);
	while (rc == 0 && (rc = rk_sqlite_cursor_step(c, &cause)) > 0) {
		size_t len;
		const char *text = rk_sqlite_text(c, 0, &len);
		uint32_t id;

		rc = 0;
		if (!text || !rk_text_ieq(text, len, "Hostname"))
			continue;
		text = rk_sqlite_text(c, 1, &len);
		if (text && len)
			rc = rk_strtab_add(r->ctx->names, text, len, &id, &cause);
		if (text && len && rc == 0)
			r->node = id;
		break;
	}
	rk_sqlite_cursor_close(c);
	return rk_sql_damage(r, &cause, rc, err);
}

static const struct sql_plan plans[] = {
	{ RK_KERNELS, RK_K_NODE, rk_nsys_kernels, 1 },
	{ RK_MEMCPY, RK_C_NODE, rk_nsys_copies, 2 },
	{ RK_API, RK_A_NODE, call_parts, 1 },
	{ RK_MARKERS, RK_R_NODE, nvtx_parts, 1 },
	{ RK_AGENTS, RK_G_NODE, gpu_parts, 1 },
	{ RK_PROCESSES, RK_O_NODE, process_parts, 1 },
};

static const struct sql_format format = {
	.ops = &rk_reader_nsys_sqlite,
	.source = "nsys-sqlite",
	.clock = "unknown",
	.what = "Nsight Systems",
	.plans = plans,
	.nplans = sizeof(plans) / sizeof(plans[0]),
	.lookups = { [NSYS_STRINGS] = { "StringIds", "id", "value" } },
	.opened = find_host,
};

static int nsys_probe(const void *head, size_t len, bool whole, const char *file_name)
{
	static const char *const marks[] = { "CREATE TABLE CUPTI_ACTIVITY_KIND_",
					     "CREATE TABLE TARGET_INFO_",
					     "CREATE TABLE StringIds" };

	(void)whole;
	(void)file_name;
	return rk_sql_has_mark(head, len, marks, 3) ? 96 : 0;
}

static int nsys_open(struct rk_instream *in, struct rk_context *ctx, struct rk_reader **ret,
		     struct rk_error *err)
{
	return rk_sql_open(&format, in, ctx, ret, err);
}

static const struct rk_db_sign signs[] = { { "CUPTI_ACTIVITY_KIND_", 90 },
					   { "NVTX_EVENTS", 90 },
					   { 0 } };

const struct rk_reader_ops rk_reader_nsys_sqlite = {
	.name = "nsys-sqlite",
	.help = "SQLite exports of Nsight Systems",
	.probe = nsys_probe,
	.open = nsys_open,
	.scan = rk_sql_scan,
	.close = rk_sql_close,
	.serial = true,
	.db_signs = signs,
};
