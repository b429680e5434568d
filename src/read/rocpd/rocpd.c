/*
 * rocpd.c - the reader of rocpd databases: their tables, how they form sets, and common row code.
 */
#include "read/rocpd/rocpd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/num.h"
#include "base/text.h"

/* ---- resolving ids ---- */

int64_t rk_rocpd_resolve_or_id(struct sql_scan *s, unsigned dim, int64_t id)
{
	int64_t v = rk_sql_resolve(s, dim, id, 0);

	return v == RK_NONE ? id : v;
}

int64_t rk_rocpd_place(struct sql_scan *s, unsigned col)
{
	if (rk_sqlite_has_column(s->c, col))
		return rk_sql_cell(s, col);
	if (!rk_sqlite_has_column(s->c, COL_TRACK))
		return RK_NONE;
	return rk_sql_resolve(s, TRACKS, rk_sql_cell(s, COL_TRACK), TRACK_NID + col - COL_NID);
}

int64_t rk_rocpd_symbol_name(struct sql_scan *s, int64_t id)
{
	/* the display name is what the profiler shows in its other formats, so a run has one name */
	bool mangled = s->r->ctx->mangled;
	int64_t name = rk_sql_resolve(s, SYMBOLS, id, mangled ? SYMBOL_NAME : SYMBOL_DISPLAY);

	if (name == RK_NONE || name == 0) /* 0 is "" */
		name = rk_sql_resolve(s, SYMBOLS, id, mangled ? SYMBOL_DISPLAY : SYMBOL_NAME);
	return name;
}

void rk_rocpd_put_who(struct sql_scan *s, size_t row, unsigned node, unsigned pid, unsigned tid)
{
	if (rk_sql_wants(s, node))
		rk_sql_put(s, node, row, rk_sql_resolve(s, NODES, rk_rocpd_place(s, COL_NID), 0));
	if (rk_sql_wants(s, pid))
		rk_sql_put(s, pid, row,
			   rk_rocpd_resolve_or_id(s, PROCESSES, rk_rocpd_place(s, COL_PID)));
	if (rk_sql_wants(s, tid))
		rk_sql_put(s, tid, row,
			   rk_rocpd_resolve_or_id(s, THREADS, rk_rocpd_place(s, COL_TID)));
}

/* ---- the event of a row ---- */

/* Stepping over more rows than this costs more than a seek. */
enum { NEAR_ROWS = 32 };

static void open_events(struct rocpd_scan *rs)
{
	struct sql_scan *s = &rs->sql;
	struct rocpd_events *e = &rs->events;
	enum rk_table table = s->plan->table;
	bool calls = table == RK_API, markers = table == RK_MARKERS;
	struct rk_sqlite_column columns[EVENT_NCOLUMNS] = { [EVENT_ID] = { .name = "id" } };
	const struct rk_sqlite_table *t = rk_sql_table(s->r, "rocpd_event", s->suffix);
	struct rk_error cause = { 0 };
	int rc;

	e->open = true;
	if (!t || !rk_sqlite_has(t, "id"))
		return;
	if (calls || markers)
		columns[EVENT_CATEGORY].name = "category_id";
	if (!markers && (!calls || rk_sql_wants(s, RK_A_CORRELATION)))
		columns[EVENT_STACK].name = "stack_id";
	if (markers && rk_sql_wants(s, RK_R_NAME))
		columns[EVENT_EXTDATA] = (struct rk_sqlite_column){ "extdata", RK_SQLITE_TEXT };
	e->keyed = rk_sqlite_keyed_by(t, "id");
	rc = rk_sqlite_cursor_open(s->r->db, t, columns, EVENT_NCOLUMNS,
				   e->keyed ? RK_SQLITE_FROM_KEY : RK_SQLITE_STORED, &e->c, &cause);
	rk_sql_damage(s->r, &cause, rc, &s->error);
}

static int step_event(struct rocpd_scan *rs)
{
	struct rocpd_events *e = &rs->events;
	int rc = rk_sqlite_cursor_step(e->c, &rs->sql.cause);

	e->on_row = rc > 0;
	e->ended = rc <= 0;
	if (rc < 0)
		return rk_sql_damage(rs->sql.r, &rs->sql.cause, rc, &rs->sql.error);
	if (rc > 0 && rk_sqlite_i64(e->c, EVENT_ID, &e->at) != RK_CELL_VALUE)
		e->at = INT64_MIN;
	return rc;
}

/* Fast if ids are requested in ascending order. */
const struct rk_sqlite_cursor *rk_rocpd_event(struct sql_scan *s)
{
	struct rocpd_scan *rs = (struct rocpd_scan *)s;
	struct rocpd_events *e = &rs->events;
	int64_t id = rk_sql_cell(s, COL_EVENT), ahead;
	int rc = 1;

	if (id == RK_NONE)
		return NULL;
	if (!e->open)
		open_events(rs);
	if (!e->c)
		return NULL;
	if (e->on_row && e->at == id)
		return e->c;
	if (e->ended && !e->keyed)
		return NULL;
	if (e->keyed && (!e->on_row || id < e->at || __builtin_sub_overflow(id, e->at, &ahead) ||
			 ahead > NEAR_ROWS)) {
		rk_sqlite_cursor_seek(e->c, id);
		rc = step_event(rs);
	}
	while (rc > 0 && (!e->on_row || e->at < id))
		rc = step_event(rs);
	return rc > 0 && e->at == id ? e->c : NULL;
}

void rk_rocpd_put_correlation(struct sql_scan *s, unsigned field, size_t row)
{
	const struct rk_sqlite_cursor *event;
	int64_t v = RK_NONE;

	if (!rk_sql_wants(s, field))
		return;
	event = rk_rocpd_event(s);
	if (event && rk_sqlite_i64(event, EVENT_STACK, &v) == RK_CELL_WRONG)
		s->wrong++;
	rk_sql_put(s, field, row, v);
}

/* ---- which tables of a file form a set ---- */

static int compare_suffixes(const void *a, const void *b)
{
	return sqlite3_stricmp(*(const char *const *)a, *(const char *const *)b);
}

/*
 * Table names in the file consist of a base name and a suffix, one suffix per process. There may be
 * no separator ("rocpd_stringcc38..."), and some of our names are prefixes of other tables
 * ("rocpd_event_operation_..."). The names used here are not a prefix of any other table, so the
 * rest is a suffix.
 */
static int find_sets(struct sql_reader *r, struct rk_error *err)
{
	static const char *const anchors[] = { "rocpd_metadata", "rocpd_string",
					       "rocpd_kernel_dispatch", "rocpd_info_process" };
	size_t n = 0;

	r->nsets = 0;
	r->suffixes = rk_calloc(r->ntables, sizeof(*r->suffixes));
	if (!r->suffixes)
		return rk_fail_nomem(err);
	for (size_t i = 0; i < r->ntables; i++) {
		const char *name = r->tables[i].name;
		size_t k = 0;

		while (k < sizeof(anchors) / sizeof(anchors[0]) &&
		       !rk_text_iprefix(name, strlen(name), anchors[k]))
			k++;
		if (k < sizeof(anchors) / sizeof(anchors[0]))
			r->suffixes[n++] = name + strlen(anchors[k]);
	}
	if (n)
		qsort(r->suffixes, n, sizeof(*r->suffixes), compare_suffixes);
	for (size_t i = 0; i < n; i++)
		if (!r->nsets || compare_suffixes(&r->suffixes[r->nsets - 1], &r->suffixes[i]) != 0)
			r->suffixes[r->nsets++] = r->suffixes[i];
	return 0;
}

static void leave_set(struct sql_scan *s)
{
	struct rocpd_scan *rs = (struct rocpd_scan *)s;

	rk_rocpd_counters_leave(rs);
	if (rs->pc_samples)
		rk_diag_add(s->r->ctx->diag, "pc-sample", rk_instream_path(s->r->in), 0,
			    rs->pc_samples, "PC samples in a database are not supported; skipped");
	rs->pc_samples = 0;
	rk_sqlite_cursor_close(rs->events.c);
	rs->events = (struct rocpd_events){ 0 };
	rk_bytes_release(&rs->text);
}

/* ---- the reader ---- */

#define ID                          \
	{                           \
		"id", RK_SQLITE_INT \
	}
#define INT(name)                   \
	{                           \
		name, RK_SQLITE_INT \
	}
#define TEXT(name)                   \
	{                            \
		name, RK_SQLITE_TEXT \
	}

static const struct sql_dim_def dims[NDIMS] = {
	[STRINGS] = { "rocpd_string", 1, { ID, TEXT("string") } },
	[NODES] = { "rocpd_info_node", 1, { ID, TEXT("hostname") } },
	[PROCESSES] = { "rocpd_info_process", 1, { ID, INT("pid") } },
	[THREADS] = { "rocpd_info_thread", 1, { ID, INT("tid") } },
	[AGENTS] = { "rocpd_info_agent", 1, { ID, INT("absolute_index") } },
	[PMCS] = { "rocpd_info_pmc", 3, { ID, TEXT("name"), INT("nid"), INT("agent_id") } },
	[SYMBOLS] = { "rocpd_info_kernel_symbol",
		      5,
		      { ID, TEXT("kernel_name"), TEXT("display_name"), INT("arch_vgpr_count"),
			INT("accum_vgpr_count"), INT("sgpr_count") } },
	[TRACKS] = { "rocpd_track",
		     7,
		     { ID, INT("nid"), INT("pid"), INT("tid"), INT("agent_id"), INT("queue_id"),
		       INT("stream_id"), INT("name_id") } },
	[CATEGORIES] = { "rocpd_info_category",
			 3,
			 { ID, TEXT("name"), TEXT("string"), INT("name_id") } },
	[SAMPLES] = { "rocpd_sample", 1, { ID, INT("timestamp") } },
};

_Static_assert((int)NDIMS <= (int)SQL_MAX_DIMS, "room for every dim");

static const struct sql_plan plans[] = {
	{ .table = RK_KERNELS, .parts = rk_rocpd_kernels, .nparts = 1 },
	{ .table = RK_MEMCPY, .parts = rk_rocpd_copies, .nparts = 1 },
	{ .table = RK_MEMALLOC, .parts = rk_rocpd_allocs, .nparts = 1 },
	{ .table = RK_API,
	  .parts = rk_rocpd_calls,
	  .nparts = 2,
	  .gives = SQL_BIT(RK_A_DOMAIN) | SQL_BIT(RK_A_CORRELATION) },
	{ .table = RK_MARKERS, .parts = rk_rocpd_markers, .nparts = 4, .needs = { "rocpd_event" } },
	{ .table = RK_COUNTERS,
	  .gives = SQL_BIT(RK_N_DISPATCH) | SQL_BIT(RK_N_NAME) | SQL_BIT(RK_N_COUNTER) |
		   SQL_BIT(RK_N_VALUE) | SQL_BIT(RK_N_DEVICE) | SQL_BIT(RK_N_PASS) |
		   SQL_BIT(RK_N_PID) | SQL_BIT(RK_N_NODE),
	  .needs = { "rocpd_pmc_event", "rocpd_kernel_dispatch" },
	  .fill = rk_rocpd_counters_fill },
	{ .table = RK_SAMPLES,
	  .parts = rk_rocpd_samples,
	  .nparts = 1,
	  .gives = SQL_BIT(RK_S_TIME),
	  .needs = { "rocpd_sample" } },
	{ .table = RK_AGENTS, .parts = rk_rocpd_agents, .nparts = 1 },
	{ .table = RK_PROCESSES, .parts = rk_rocpd_processes, .nparts = 1 },
};

/* The newest schema whose tables are known here. */
enum { NEWEST_MAJOR = 3, NEWEST_MINOR = 0, NEWEST_PATCH = 5 };

/* "3", "3.0" or "3.0.4": is it known? */
static bool is_known(const char *text, size_t len)
{
	uint64_t parts[3] = { 0 };

	for (unsigned i = 0; i < 3 && len; i++) {
		const char *dot = memchr(text, '.', len);
		size_t n = dot ? (size_t)(dot - text) : len;

		if (rk_num_u64(text, n, &parts[i]) != RK_NUM_OK)
			return false;
		text += dot ? n + 1 : n;
		len -= dot ? n + 1 : n;
	}
	return !len && parts[0] == NEWEST_MAJOR && parts[1] == NEWEST_MINOR &&
	       parts[2] <= NEWEST_PATCH;
}

/* Notes a schema that is not known; the file is read all the same, by its tables and columns. */
static int check_version(struct sql_reader *r, struct rk_error *err)
{
	static const struct rk_sqlite_column columns[] = { TEXT("tag"), TEXT("value") };

	for (size_t i = 0; i < r->nsets; i++) {
		const struct rk_sqlite_table *t = rk_sql_table(r, "rocpd_metadata", r->suffixes[i]);
		struct rk_sqlite_cursor *c = NULL;
		struct rk_error cause = { 0 };
		int rc = 0;

		if (t)
			rc = rk_sqlite_cursor_open(r->db, t, columns, 2, RK_SQLITE_STORED, &c,
						   &cause);
		while (c && rc >= 0 && (rc = rk_sqlite_cursor_step(c, &cause)) > 0) {
			char tag[32] = "", version[33] = "", message[128];
			size_t len = 0;
			const char *text = rk_sqlite_text(c, 0, &len);

			if (text && len < sizeof(tag))
				memcpy(tag, text, len); /* the next call may move it */
			if (strcmp(tag, "schema_version") != 0 ||
			    !(text = rk_sqlite_text(c, 1, &len)) || is_known(text, len))
				continue;
			for (size_t k = 0; k < len && k < sizeof(version) - 1; k++)
				version[k] = text[k] > ' ' && text[k] < 127 ? text[k] : '?';
			snprintf(message, sizeof(message),
				 "schema version '%s' is not known; known tables and columns are "
				 "read",
				 version);
			rk_diag_most(r->ctx->diag, "schema-version", rk_instream_path(r->in), 0, 1,
				     message);
		}
		rk_sqlite_cursor_close(c);
		rc = rk_sql_damage(r, &cause, rc < 0 ? rc : 0, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static const struct sql_format format = {
	.source = "rocpd",
	.clock = "boottime",
	.what = "rocpd",
	.each_opening = true,
	.prefix = "rocpd_",
	.plans = plans,
	.nplans = sizeof(plans) / sizeof(plans[0]),
	.dims = dims,
	.ndims = NDIMS,
	.scan_bytes = sizeof(struct rocpd_scan),
	.find_sets = find_sets,
	.opened = check_version,
	.leave = leave_set,
};

static int rocpd_probe(const struct rk_head *head)
{
	if (!rk_sql_has_magic(head))
		return 0;
	/* the statements that created the tables are mostly in the first pages */
	return memmem(head->data, head->len, "rocpd_", 6) ? 95 : 20;
}

static int rocpd_scan(struct rk_reader *r, enum rk_table t, uint64_t want, struct rk_source **ret,
		      struct rk_error *err)
{
	enum { MAX_TEXT_BYTES = 16 << 20 };
	int rc = rk_sql_scan(r, t, want, ret, err);

	if (rc < 0)
		return rc;
	rk_bytes_init(&((struct rocpd_scan *)*ret)->text, MAX_TEXT_BYTES);
	return 0;
}

static const struct rk_db_sign signs[] = { { "rocpd_", 100 }, { 0 } };

const struct rk_reader_ops rk_reader_rocpd = {
	.name = "rocpd",
	.help = "SQLite database of rocprofv3 (ROCm 7.0 and later)",
	.probe = rocpd_probe,
	.open = rk_sql_open,
	.scan = rocpd_scan,
	.close = rk_sql_close,
	.format = &format,
	.serial = true,
	.precedence = RK_PRECEDENCE_ROCPD,
	.db_signs = signs,
};
