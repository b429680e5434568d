/*
 * v1_db.c - results.db of rocprof (v1).
 *
 * Its script copies text into tables unchanged. KERN holds the rows of results.csv, including
 * counters; older scripts call it A. With --hip-trace KERN has at most an index and a name, and the
 * kernels are in OPS. In HIP, HSA, OPS, COPY and rocTX of older scripts, pid is the number of a
 * lane in the viewer; the process is in proc-id, or in pid if the script writes __section.
 */
#include <string.h>

#include "base/text.h"
#include "read/sql/sql.h"

/* Names may still be quoted, as in the text they were copied from. */
static const char *unquoted(struct sql_scan *s, unsigned col, size_t *len)
{
	const char *text = rk_sqlite_text(s->c, col, len);

	if (text && *len >= 2 && text[0] == '"' && text[*len - 1] == '"') {
		*len -= 2;
		text++;
	}
	return text;
}

static void put_unquoted(struct sql_scan *s, unsigned field, size_t row, unsigned col)
{
	size_t len = 0;
	const char *text;

	if (!rk_sql_wants(s, field))
		return;
	text = unquoted(s, col, &len);
	rk_sql_put_text(s, field, row, text, len);
}

/* Columns of both KERN and OPS; `NULL` if a table does not have it. */
enum {
	K_START,
	K_END,
	K_NAME,
	K_DEVICE,
	K_QUEUE,
	K_STREAM,
	K_PID,
	K_PROC,
	K_SECTION,
	K_TID,
	K_DISPATCH,
	K_CORRELATION,
	K_ITEMS,
	K_BLOCK,
	K_LDS,
	K_SCRATCH,
	K_VGPR,
	K_OLD_VGPR,
	K_ACCUM,
	K_SGPR,
	K_WAVE,
	K_NCOLUMNS
};

#define TIMES (SQL_BIT(RK_K_START) | SQL_BIT(RK_K_DURATION))
#define NAMES (SQL_BIT(RK_K_NAME) | SQL_BIT(RK_K_BARRIER))
#define ONES                                                                   \
	(SQL_BIT(RK_K_GRID_Y) | SQL_BIT(RK_K_GRID_Z) | SQL_BIT(RK_K_ITEMS_Y) | \
	 SQL_BIT(RK_K_ITEMS_Z) | SQL_BIT(RK_K_BLOCK_Y) | SQL_BIT(RK_K_BLOCK_Z))

static const struct sql_column kern_columns[K_NCOLUMNS] = {
	[K_START] = SQL_INT("BeginNs", TIMES),
	[K_END] = SQL_INT("EndNs", SQL_BIT(RK_K_DURATION)),
	[K_NAME] = SQL_TEXT("KernelName", NAMES),
	[K_DEVICE] = SQL_INT("gpu-id", SQL_BIT(RK_K_DEVICE)),
	[K_QUEUE] = SQL_INT("queue-id", SQL_BIT(RK_K_QUEUE) | SQL_BIT(RK_K_STREAM)),
	[K_PID] = SQL_INT("pid", SQL_BIT(RK_K_PID)),
	[K_TID] = SQL_INT("tid", SQL_BIT(RK_K_TID)),
	[K_DISPATCH] = SQL_INT("Index", SQL_BIT(RK_K_DISPATCH)),
	[K_ITEMS] = SQL_INT("grd", SQL_BIT(RK_K_ITEMS_X) | SQL_BIT(RK_K_GRID_X) | ONES),
	[K_BLOCK] = SQL_INT("wgr", SQL_BIT(RK_K_BLOCK_X) | SQL_BIT(RK_K_GRID_X) | ONES),
	[K_LDS] = SQL_INT("lds", SQL_BIT(RK_K_SHARED_MEM)),
	[K_SCRATCH] = SQL_INT("scr", SQL_BIT(RK_K_SCRATCH)),
	[K_VGPR] = SQL_INT("arch_vgpr", SQL_BIT(RK_K_VGPR) | SQL_BIT(RK_K_REGS)),
	[K_OLD_VGPR] = SQL_INT("vgpr", SQL_BIT(RK_K_VGPR) | SQL_BIT(RK_K_REGS)),
	[K_ACCUM] = SQL_INT("accum_vgpr", SQL_BIT(RK_K_ACCUM_VGPR) | SQL_BIT(RK_K_REGS)),
	[K_SGPR] = SQL_INT("sgpr", SQL_BIT(RK_K_SGPR)),
	[K_WAVE] = SQL_INT("wave_size", SQL_BIT(RK_K_WAVE_SIZE)),
};

static const struct sql_column ops_columns[K_NCOLUMNS] = {
	[K_START] = SQL_INT("BeginNs", TIMES),
	[K_END] = SQL_INT("EndNs", SQL_BIT(RK_K_DURATION)),
	[K_NAME] = SQL_TEXT("Name", NAMES),
	[K_DEVICE] = SQL_INT("dev-id", SQL_BIT(RK_K_DEVICE)),
	[K_QUEUE] = SQL_INT("queue-id", SQL_BIT(RK_K_QUEUE) | SQL_BIT(RK_K_STREAM)),
	[K_STREAM] = SQL_INT("stream-id", SQL_BIT(RK_K_STREAM)),
	[K_PID] = SQL_INT("pid", SQL_BIT(RK_K_PID)),
	[K_PROC] = SQL_INT("proc-id", SQL_BIT(RK_K_PID)),
	[K_SECTION] = SQL_INT("__section", SQL_BIT(RK_K_PID) | SQL_BIT(RK_K_TID)),
	[K_TID] = SQL_INT("tid", SQL_BIT(RK_K_TID)),
	[K_CORRELATION] = SQL_INT("Index", SQL_BIT(RK_K_CORRELATION)),
};

static void put_kernel(struct sql_scan *s, size_t row)
{
	static const unsigned ones[] = { RK_K_GRID_Y,  RK_K_GRID_Z,  RK_K_BLOCK_Y,
					 RK_K_BLOCK_Z, RK_K_ITEMS_Y, RK_K_ITEMS_Z };
	int64_t items = rk_sql_cell(s, K_ITEMS), block = rk_sql_cell(s, K_BLOCK);
	int64_t vgpr = rk_sql_cell_or(s, K_VGPR, K_OLD_VGPR), accum = rk_sql_cell(s, K_ACCUM);

	rk_sql_put_times(s, row, RK_K_START, RK_K_DURATION, K_START, K_END);
	put_unquoted(s, RK_K_NAME, row, K_NAME);
	if (rk_sql_wants(s, RK_K_BARRIER)) {
		size_t len = 0;
		const char *name = unquoted(s, K_NAME, &len);

		rk_sql_put(s, RK_K_BARRIER, row,
			   name && rk_text_iprefix(name, len, "<barrier packet>"));
	}
	rk_sql_put(s, RK_K_DEVICE, row, rk_sql_cell(s, K_DEVICE));
	rk_sql_put(s, RK_K_QUEUE, row, rk_sql_cell(s, K_QUEUE));
	rk_sql_put(s, RK_K_STREAM, row, rk_sql_cell_or(s, K_STREAM, K_QUEUE));
	rk_sql_put(s, RK_K_DISPATCH, row, rk_sql_cell(s, K_DISPATCH));
	rk_sql_put(s, RK_K_CORRELATION, row, rk_sql_cell(s, K_CORRELATION));
	rk_sql_put(s, RK_K_SHARED_MEM, row, rk_sql_cell(s, K_LDS));
	rk_sql_put(s, RK_K_SCRATCH, row, rk_sql_cell(s, K_SCRATCH));
	rk_sql_put(s, RK_K_WAVE_SIZE, row, rk_sql_cell(s, K_WAVE));
	/* work-items and workgroup size are one number each: stored as x */
	rk_sql_put(s, RK_K_BLOCK_X, row, block);
	rk_sql_put(s, RK_K_ITEMS_X, row, items);
	rk_sql_put(s, RK_K_GRID_X, row, rk_grid_of(items, block));
	for (size_t i = 0; i < sizeof(ones) / sizeof(ones[0]); i++)
		rk_sql_put(s, ones[i], row, items == RK_NONE ? RK_NONE : 1);
	rk_sql_put(s, RK_K_REGS, row, rk_regs_of(vgpr, accum));
	rk_sql_put(s, RK_K_VGPR, row, vgpr);
	rk_sql_put(s, RK_K_ACCUM_VGPR, row, accum);
	rk_sql_put(s, RK_K_SGPR, row, rk_sql_cell(s, K_SGPR));
}

static int kern_row(struct sql_scan *s, size_t row)
{
	put_kernel(s, row);
	rk_sql_put(s, RK_K_PID, row, rk_sql_cell(s, K_PID));
	rk_sql_put(s, RK_K_TID, row, rk_sql_cell(s, K_TID));
	return 1;
}

/* The process: proc-id, or pid if lanes have separate columns. */
static int64_t process_of(struct sql_scan *s, unsigned pid, unsigned proc, unsigned section)
{
	if (rk_sqlite_has_column(s->c, proc))
		return rk_sql_cell(s, proc);
	if (rk_sqlite_has_column(s->c, section))
		return rk_sql_cell(s, pid);
	return RK_NONE;
}

static int ops_row(struct sql_scan *s, size_t row)
{
	bool threads = rk_sqlite_has_column(s->c, K_SECTION);

	put_kernel(s, row);
	rk_sql_put(s, RK_K_PID, row, process_of(s, K_PID, K_PROC, K_SECTION));
	rk_sql_put(s, RK_K_TID, row, threads ? rk_sql_cell(s, K_TID) : RK_NONE);
	return 1;
}

/* Accepts the table with times, or the only one that exists. */
static bool kern_fits(const struct sql_reader *r, const struct rk_sqlite_table *t)
{
	return rk_sqlite_has(t, "KernelName") &&
	       (rk_sqlite_has(t, "BeginNs") || !rk_sql_table(r, "OPS", ""));
}

static bool ops_fits(const struct sql_reader *r, const struct rk_sqlite_table *t)
{
	const struct rk_sqlite_table *kern = rk_sql_table(r, "KERN", ""),
				     *a = rk_sql_table(r, "A", "");

	(void)t;
	return !(kern && rk_sqlite_has(kern, "BeginNs")) && !(a && rk_sqlite_has(a, "BeginNs"));
}

static const struct sql_part kernel_parts[] = {
	{ "KERN", kern_columns, K_NCOLUMNS, kern_row, kern_fits, NULL },
	{ "A", kern_columns, K_NCOLUMNS, kern_row, kern_fits, NULL },
	{ "OPS", ops_columns, K_NCOLUMNS, ops_row, ops_fits, NULL },
};

enum { C_START, C_END, C_NAME, C_STREAM, C_QUEUE, C_PID, C_PROC, C_SECTION, C_INDEX, C_NCOLUMNS };

static const struct sql_column copy_columns[C_NCOLUMNS] = {
	[C_START] = SQL_INT("BeginNs", SQL_BIT(RK_C_START) | SQL_BIT(RK_C_DURATION)),
	[C_END] = SQL_INT("EndNs", SQL_BIT(RK_C_DURATION)),
	[C_NAME] = SQL_TEXT("Name", SQL_BIT(RK_C_DIRECTION)),
	[C_STREAM] = SQL_INT("stream-id", SQL_BIT(RK_C_STREAM)),
	[C_QUEUE] = SQL_INT("queue-id", SQL_BIT(RK_C_STREAM)),
	[C_PID] = SQL_INT("pid", SQL_BIT(RK_C_PID)),
	[C_PROC] = SQL_INT("proc-id", SQL_BIT(RK_C_PID)),
	[C_SECTION] = SQL_INT("__section", SQL_BIT(RK_C_PID)),
	[C_INDEX] = SQL_INT("Index", SQL_BIT(RK_C_CORRELATION)),
};

static int copy_row(struct sql_scan *s, size_t row)
{
	rk_sql_put_times(s, row, RK_C_START, RK_C_DURATION, C_START, C_END);
	put_unquoted(s, RK_C_DIRECTION, row, C_NAME);
	rk_sql_put(s, RK_C_STREAM, row, rk_sql_cell_or(s, C_STREAM, C_QUEUE));
	rk_sql_put(s, RK_C_CORRELATION, row, rk_sql_cell(s, C_INDEX));
	rk_sql_put(s, RK_C_PID, row, process_of(s, C_PID, C_PROC, C_SECTION));
	return 1;
}

static const struct sql_part copy_parts[] = {
	{ "COPY", copy_columns, C_NCOLUMNS, copy_row, NULL, NULL },
};

enum { A_START, A_END, A_NAME, A_PID, A_PROC, A_SECTION, A_TID, A_INDEX, A_NCOLUMNS };

static const struct sql_column call_columns[A_NCOLUMNS] = {
	[A_START] = SQL_INT("BeginNs", SQL_BIT(RK_A_START) | SQL_BIT(RK_A_DURATION)),
	[A_END] = SQL_INT("EndNs", SQL_BIT(RK_A_DURATION)),
	[A_NAME] = SQL_TEXT("Name", SQL_BIT(RK_A_FUNCTION) | SQL_BIT(RK_A_DOMAIN)),
	[A_PID] = SQL_INT("pid", SQL_BIT(RK_A_PID)),
	[A_PROC] = SQL_INT("proc-id", SQL_BIT(RK_A_PID)),
	[A_SECTION] = SQL_INT("__section", SQL_BIT(RK_A_PID)),
	[A_TID] = SQL_INT("tid", SQL_BIT(RK_A_TID)),
	[A_INDEX] = SQL_INT("Index", SQL_BIT(RK_A_CORRELATION)),
};

static int call_row(struct sql_scan *s, size_t row)
{
	rk_sql_put_times(s, row, RK_A_START, RK_A_DURATION, A_START, A_END);
	put_unquoted(s, RK_A_FUNCTION, row, A_NAME);
	rk_sql_put_word(s, RK_A_DOMAIN, row, s->part == 0 ? "HIP_API" : "HSA_API");
	rk_sql_put(s, RK_A_CORRELATION, row, rk_sql_cell(s, A_INDEX));
	rk_sql_put(s, RK_A_PID, row, process_of(s, A_PID, A_PROC, A_SECTION));
	rk_sql_put(s, RK_A_TID, row, rk_sql_cell(s, A_TID));
	return 1;
}

static const struct sql_part call_parts[] = {
	{ "HIP", call_columns, A_NCOLUMNS, call_row, NULL, NULL },
	{ "HSA", call_columns, A_NCOLUMNS, call_row, NULL, NULL },
};

enum { R_START, R_END, R_NAME, R_PID, R_PROC, R_SECTION, R_TID, R_NCOLUMNS };

static const struct sql_column roctx_columns[R_NCOLUMNS] = {
	[R_START] = SQL_INT("BeginNs",
			    SQL_BIT(RK_R_START) | SQL_BIT(RK_R_DURATION) | SQL_BIT(RK_R_KIND)),
	[R_END] = SQL_INT("EndNs", SQL_BIT(RK_R_DURATION) | SQL_BIT(RK_R_KIND)),
	[R_NAME] = SQL_TEXT("Name", SQL_BIT(RK_R_NAME)),
	[R_PID] = SQL_INT("pid", SQL_BIT(RK_R_PID)),
	[R_PROC] = SQL_INT("proc-id", SQL_BIT(RK_R_PID)),
	[R_SECTION] = SQL_INT("__section", SQL_BIT(RK_R_PID)),
	[R_TID] = SQL_INT("tid", SQL_BIT(RK_R_TID)),
};

static int roctx_row(struct sql_scan *s, size_t row)
{
	rk_sql_put_times(s, row, RK_R_START, RK_R_DURATION, R_START, R_END);
	put_unquoted(s, RK_R_NAME, row, R_NAME);
	if (rk_sql_wants(s, RK_R_KIND)) {
		int64_t from = rk_sql_cell(s, R_START), to = rk_sql_cell(s, R_END);
		/* the script writes a mark with a duration of one nanosecond */
		bool mark = from == to || (from != RK_NONE && from < INT64_MAX && to == from + 1);

		rk_sql_put_word(s, RK_R_KIND, row, mark ? "mark" : "range");
	}
	rk_sql_put(s, RK_R_PID, row, process_of(s, R_PID, R_PROC, R_SECTION));
	rk_sql_put(s, RK_R_TID, row, rk_sql_cell(s, R_TID));
	return 1;
}

static const struct sql_part roctx_parts[] = {
	{ "rocTX", roctx_columns, R_NCOLUMNS, roctx_row, NULL, NULL },
};

enum { N_DISPATCH, N_NAME, N_DEVICE, N_PID, N_VALUE, N_NCOLUMNS };

static const struct sql_column counter_columns[N_NCOLUMNS] = {
	[N_DISPATCH] = SQL_INT("Index", SQL_BIT(RK_N_DISPATCH)),
	[N_NAME] = SQL_TEXT("KernelName", SQL_BIT(RK_N_NAME)),
	[N_DEVICE] = SQL_INT("gpu-id", SQL_BIT(RK_N_DEVICE)),
	[N_PID] = SQL_INT("pid", SQL_BIT(RK_N_PID)),
	[N_VALUE] = SQL_REAL(NULL, SQL_BIT(RK_N_VALUE) | SQL_BIT(RK_N_COUNTER)),
};

/* A column of KERN that does not describe the dispatch is a counter. */
static bool is_counter(const char *column)
{
	static const char *const known[] = {
		"queue-index", "fbar", "sig", "obj", "DispatchNs", "CompleteNs", "DurationNs",
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (rk_text_ieq(column, strlen(column), known[i]))
			return false;
	for (unsigned i = 0; i < K_NCOLUMNS; i++)
		if (kern_columns[i].name &&
		    rk_text_ieq(column, strlen(column), kern_columns[i].name))
			return false;
	return true;
}

static const char *nth_counter(const struct rk_sqlite_table *t, size_t k)
{
	for (size_t i = 0; i < t->ncolumns; i++)
		if (is_counter(t->columns[i]) && !k--)
			return t->columns[i];
	return NULL;
}

/* The table is read once per counter: it has few rows but may have hundreds of columns. */
static int counter_row(struct sql_scan *s, size_t row)
{
	rk_sql_put(s, RK_N_DISPATCH, row, rk_sql_cell(s, N_DISPATCH));
	put_unquoted(s, RK_N_NAME, row, N_NAME);
	rk_sql_put_word(s, RK_N_COUNTER, row, s->nth_name);
	rk_sql_put_f64(s, RK_N_VALUE, row, N_VALUE);
	rk_sql_put(s, RK_N_DEVICE, row, rk_sql_cell(s, N_DEVICE));
	rk_sql_put(s, RK_N_PID, row, rk_sql_cell(s, N_PID));
	return 1;
}

static bool counters_fit(const struct sql_reader *r, const struct rk_sqlite_table *t)
{
	(void)r;
	return rk_sqlite_has(t, "KernelName");
}

static const struct sql_part counter_parts[] = {
	{ "KERN", counter_columns, N_NCOLUMNS, counter_row, counters_fit, nth_counter },
	{ "A", counter_columns, N_NCOLUMNS, counter_row, counters_fit, nth_counter },
};

static const struct sql_plan plans[] = {
	{ .table = RK_KERNELS, .parts = kernel_parts, .nparts = 3 },
	{ .table = RK_MEMCPY, .parts = copy_parts, .nparts = 1 },
	{ .table = RK_API, .parts = call_parts, .nparts = 2 },
	{ .table = RK_MARKERS, .parts = roctx_parts, .nparts = 1 },
	{ .table = RK_COUNTERS, .parts = counter_parts, .nparts = 2 },
};

static const struct sql_format format = {
	.marks = { "\"BeginNs\" INTEGER", "\"KernelName\" TEXT" },
	.source = "rocprof-v1-db",
	.clock = "monotonic",
	.what = "rocprof",
	.prefix = "",
	.plans = plans,
	.nplans = sizeof(plans) / sizeof(plans[0]),
	.scan_bytes = sizeof(struct sql_scan),
};

/* These names are short and common, so any other sign wins. */
static const struct rk_db_sign signs[] = {
	{ "KERN", 50 }, { "OPS", 50 }, { "HIP", 50 }, { "HSA", 50 }, { 0 }
};

const struct rk_reader_ops rk_reader_rocprof_v1_db = {
	.name = "rocprof-v1-db",
	.help = "results.db of rocprof (v1)",
	.probe = rk_sql_probe,
	.open = rk_sql_open,
	.scan = rk_sql_scan,
	.close = rk_sql_close,
	.format = &format,
	.serial = true,
	.precedence = RK_PRECEDENCE_V1_DB,
	.raw_folder = "/rpl_data_",
	.db_signs = signs,
};
