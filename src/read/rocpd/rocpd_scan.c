/* rocpd_scan.c - the source behind every table: sets, parts, rows, batches. */
#include "read/rocpd/rocpd_scan.h"

#include <string.h>

#include "base/alloc.h"
#include "base/num.h"

enum { MAX_TEXT_BYTES = 16 << 20 };

void rk_rocpd_put_null(struct rocpd_scan *s, unsigned field, size_t row)
{
	if (s->col[field] && !rk_builder_null(&s->b, field, row))
		rk_fail_nomem(&s->error);
}

void rk_rocpd_out_of_range(struct rocpd_scan *s, unsigned field, size_t row)
{
	s->range++;
	s->range_field = s->b.schema->fields[field].name;
	rk_rocpd_put_null(s, field, row);
}

static const int64_t *find_row(struct rocpd_scan *s, enum rocpd_what what, int64_t id)
{
	const int64_t *row = NULL;

	if (id != RK_NONE)
		rk_rocpd_dim_get(&s->dims[what], id, &row, &s->error);
	return row;
}

int64_t rk_rocpd_resolve(struct rocpd_scan *s, enum rocpd_what what, int64_t id, unsigned i)
{
	const int64_t *row = find_row(s, what, id);

	return row ? row[i] : RK_NONE;
}

int64_t rk_rocpd_resolve_or_id(struct rocpd_scan *s, enum rocpd_what what, int64_t id)
{
	int64_t v = rk_rocpd_resolve(s, what, id, 0);

	return v == RK_NONE ? id : v;
}

int64_t rk_rocpd_place(struct rocpd_scan *s, unsigned col)
{
	static const unsigned track_value[] = {
		[COL_NID] = DIM_TRACK_NID,     [COL_PID] = DIM_TRACK_PID,
		[COL_TID] = DIM_TRACK_TID,     [COL_AGENT] = DIM_TRACK_AGENT,
		[COL_QUEUE] = DIM_TRACK_QUEUE, [COL_STREAM] = DIM_TRACK_STREAM,
	};

	if (rk_sqlite_has_column(s->c, col))
		return rk_rocpd_cell(s, col);
	if (!rk_sqlite_has_column(s->c, COL_TRACK))
		return RK_NONE;
	return rk_rocpd_resolve(s, ROCPD_TRACK, rk_rocpd_cell(s, COL_TRACK), track_value[col]);
}

void rk_rocpd_put_who(struct rocpd_scan *s, size_t row, unsigned node, unsigned pid, unsigned tid)
{
	if (rk_rocpd_wants(s, node))
		rk_rocpd_put(s, node, row,
			     rk_rocpd_resolve(s, ROCPD_NODE, rk_rocpd_place(s, COL_NID), 0));
	if (rk_rocpd_wants(s, pid))
		rk_rocpd_put(s, pid, row,
			     rk_rocpd_resolve_or_id(s, ROCPD_PROCESS, rk_rocpd_place(s, COL_PID)));
	if (rk_rocpd_wants(s, tid))
		rk_rocpd_put(s, tid, row,
			     rk_rocpd_resolve_or_id(s, ROCPD_THREAD, rk_rocpd_place(s, COL_TID)));
}

void rk_rocpd_put_times(struct rocpd_scan *s, size_t row, unsigned start, unsigned duration,
			unsigned end_col)
{
	int64_t from = rk_rocpd_cell(s, COL_START), to, dur = RK_NONE;

	rk_rocpd_put(s, start, row, from);
	if (!rk_rocpd_wants(s, duration))
		return;
	to = rk_rocpd_cell(s, end_col);
	if (from != RK_NONE && to != RK_NONE && !rk_sub_i64(to, from, &dur))
		rk_rocpd_out_of_range(s, duration, row);
	else
		rk_rocpd_put(s, duration, row, dur);
}

void rk_rocpd_put_text(struct rocpd_scan *s, unsigned field, size_t row, const char *text,
		       size_t len)
{
	uint32_t id = 0;

	if (!text)
		rk_rocpd_put_null(s, field, row);
	else if (rk_rocpd_wants(s, field) &&
		 !rk_strtab_add(s->r->ctx->names, text, len, &id, &s->error))
		rk_rocpd_put(s, field, row, id);
}

const struct rk_sqlite_cursor *rk_rocpd_event(struct rocpd_scan *s)
{
	int64_t id = rk_rocpd_cell(s, COL_EVENT);

	if (id == RK_NONE || rk_rocpd_events_find(&s->events, id, &s->error) <= 0)
		return NULL;
	return s->events.c;
}

void rk_rocpd_put_correlation(struct rocpd_scan *s, unsigned field, size_t row)
{
	const struct rk_sqlite_cursor *event;
	int64_t v = RK_NONE;

	if (!rk_rocpd_wants(s, field))
		return;
	event = rk_rocpd_event(s);
	if (event && rk_sqlite_i64(event, EVENT_STACK, &v) == RK_CELL_WRONG)
		s->wrong++;
	rk_rocpd_put(s, field, row, v);
}

static void flush_warnings(struct rocpd_scan *s)
{
	const char *path = rk_instream_path(s->r->in), *table = s->c ? s->c->table : "";

	if (s->wrong)
		rk_diag_add(s->r->ctx->diag, "wrong-type", path, 0, s->wrong,
			    "table '%s' has something that is not a number where one belongs",
			    table);
	if (s->range)
		rk_diag_add(s->r->ctx->diag, "out-of-range", path, 0, s->range,
			    "table '%s' has a number that does not fit %s", table, s->range_field);
	s->wrong = s->range = 0;
}

static void leave_part(struct rocpd_scan *s)
{
	flush_warnings(s);
	rk_sqlite_cursor_close(s->c);
	s->c = NULL;
	s->part++;
}

static void leave_set(struct rocpd_scan *s)
{
	if (s->plan->leave)
		s->plan->leave(s);
	rk_sqlite_cursor_close(s->c);
	s->c = NULL;
	for (unsigned i = 0; i < ROCPD_NWHAT; i++)
		rk_rocpd_dim_close(&s->dims[i]);
	rk_rocpd_events_close(&s->events);
	s->set_open = false;
}

static int enter_set(struct rocpd_scan *s, struct rk_error *err)
{
	const struct rocpd_set *set = &s->r->sets[s->set];
	unsigned columns = 0;
	int rc = 0;

	s->part = 0;
	s->set_open = true;
	for (int w = ROCPD_STRING; !rc && w <= ROCPD_TRACK; w++)
		rc = rk_rocpd_dim_open(&s->dims[w], s->r, set, (enum rocpd_what)w, err);
	for (unsigned i = 0; i < EVENT_NCOLUMNS; i++)
		if (s->plan->events_for[i] == ROCPD_ALWAYS || s->plan->events_for[i] & s->want)
			columns |= 1u << i;
	if (!rc && columns)
		rc = rk_rocpd_events_open(&s->events, s->r, set, columns, err);
	return rc;
}

static int enter_part(struct rocpd_scan *s, struct rk_error *err)
{
	const struct rocpd_part *p = &s->plan->parts[s->part];
	const struct rk_sqlite_table *t = s->r->sets[s->set].tables[p->what];
	struct rk_sqlite_column columns[RK_SQLITE_MAX_COLUMNS];
	struct rk_error cause = { 0 };
	int rc;

	if (!t)
		return 0;
	for (size_t i = 0; i < p->ncolumns; i++) {
		uint64_t serves = p->columns[i].serves;

		columns[i].name = serves == ROCPD_ALWAYS || serves & s->want ? p->columns[i].name :
									       NULL;
		columns[i].kind = p->columns[i].kind;
	}
	s->rows_about = s->r->ctx->progress ? rk_sqlite_rows_about(s->r->db, t) : 0;
	rc = rk_sqlite_cursor_open(s->r->db, t, columns, p->ncolumns, RK_SQLITE_STORED, &s->c,
				   &cause);
	return rk_rocpd_damage(s->r, &cause, rc, err);
}

/* One row, or the end of the part; a damaged table ends where the damage begins. */
static int read_row(struct rocpd_scan *s, struct rk_error *err)
{
	int rc = rk_sqlite_cursor_step(s->c, &s->cause);

	if (rc <= 0) {
		leave_part(s);
		return rk_rocpd_damage(s->r, &s->cause, rc, err);
	}
	rc = s->plan->parts[s->part].row(s, s->b.nrows);
	if (s->error.code) {
		if (err && !err->code)
			*err = s->error;
		return s->error.code;
	}
	if (rc > 0)
		s->b.nrows++;
	return rc < 0 ? rc : 0;
}

static int fill_from_parts(struct rocpd_scan *s, struct rk_error *err)
{
	int rc = 0;

	while (!rc && s->b.nrows < s->b.cap) {
		if (s->c) {
			rc = read_row(s, err);
			continue;
		}
		if (s->part == s->plan->nparts)
			return 0;
		rc = enter_part(s, err);
		if (!rc && !s->c)
			s->part++;
	}
	return rc < 0 ? rc : 1;
}

/* How far the scan is, as bytes of the file: sets done, and the rows of this part. */
static uint64_t bytes_done(const struct rocpd_scan *s)
{
	double size = (double)rk_sqlite_size(s->r->db), sets = (double)s->set, part = 0;

	if (s->c && s->rows_about)
		part = (double)s->c->rows / (double)s->rows_about;
	sets += part < 1 ? part : 1;
	return s->r->nsets ? (uint64_t)(size * sets / (double)s->r->nsets) : 0;
}

static int report_progress(struct rocpd_scan *s, struct rk_error *err)
{
	const struct rk_context *ctx = s->r->ctx;

	flush_warnings(s);
	if (ctx->progress &&
	    ctx->progress(ctx->progress_arg, bytes_done(s), rk_sqlite_size(s->r->db)))
		return rk_fail(err, RK_E_CANCELLED, "cancelled");
	return 0;
}

/* Rows of the current set until the batch is full or the set is done. */
static int fill_from_set(struct rocpd_scan *s, struct rk_error *err)
{
	int rc = s->set_open ? 0 : enter_set(s, err);

	if (rc < 0)
		return rc;
	rc = s->plan->fill ? s->plan->fill(s, err) : fill_from_parts(s, err);
	if (rc == 0) {
		leave_set(s);
		s->set++;
	}
	return rc < 0 ? rc : 0;
}

static int scan_next(struct rk_source *src, const struct rk_batch **batch, struct rk_error *err)
{
	struct rocpd_scan *s = (struct rocpd_scan *)src;
	int rc = report_progress(s, err);

	rk_builder_reset(&s->b);
	while (!rc && s->b.nrows < s->b.cap && s->set < s->r->nsets)
		rc = fill_from_set(s, err);
	if (rc < 0)
		return rc;
	*batch = rk_builder_batch(&s->b);
	return s->b.nrows > 0;
}

static void scan_close(struct rk_source *src)
{
	struct rocpd_scan *s = (struct rocpd_scan *)src;

	flush_warnings(s);
	leave_set(s);
	rk_builder_release(&s->b);
	rk_bytes_release(&s->text);
	rk_free(s);
}

/* A constant is the same in every row of every batch: written once. */
static int make_constant(struct rocpd_scan *s, const struct rocpd_constant *k, struct rk_error *err)
{
	uint32_t id, *col;
	int rc;

	if (!k->text || !(s->want & ROCPD_BIT(k->field)))
		return 0;
	rc = rk_strtab_add(s->r->ctx->names, k->text, strlen(k->text), &id, err);
	if (rc < 0)
		return rc;
	col = rk_builder_column(&s->b, k->field);
	if (!col)
		return rk_fail_nomem(err);
	for (size_t i = 0; i < s->b.cap; i++)
		col[i] = id;
	return 0;
}

static int make_columns(struct rocpd_scan *s, struct rk_error *err)
{
	int rc = 0;

	for (unsigned f = 0; f < s->b.schema->nfields; f++) {
		if (!(s->want & s->plan->gives & ROCPD_BIT(f)))
			continue;
		s->col[f] = rk_builder_column(&s->b, f);
		if (!s->col[f])
			return rk_fail_nomem(err);
	}
	for (size_t i = 0; !rc && i < 2; i++)
		rc = make_constant(s, &s->plan->constants[i], err);
	return rc;
}

int rk_rocpd_scan_open(struct rocpd *r, const struct rocpd_plan *plan, uint64_t want,
		       struct rk_source **ret, struct rk_error *err)
{
	static const struct rk_source_ops ops = { .next = scan_next, .close = scan_close };
	struct rocpd_scan *s = rk_calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return rk_fail_nomem(err);
	s->base.ops = &ops;
	s->base.schema = rk_table_schema(plan->table);
	s->r = r;
	s->plan = plan;
	s->want = want;
	rk_bytes_init(&s->text, MAX_TEXT_BYTES);
	rc = rk_builder_init(&s->b, s->base.schema, RK_BATCH_ROWS, err);
	if (!rc)
		rc = make_columns(s, err);
	if (rc < 0) {
		scan_close(&s->base);
		return rc;
	}
	*ret = &s->base;
	return 0;
}
