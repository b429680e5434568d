/* sql_scan.c - the source behind every table of a SQLite file: parts, rows, batches. */
#include <string.h>

#include "base/alloc.h"
#include "base/num.h"
#include "read/sql_read.h"

int64_t rk_sql_cell(struct sql_scan *s, unsigned i)
{
	int64_t v = RK_NONE;

	if (rk_sqlite_i64(s->c, i, &v) == RK_CELL_WRONG)
		s->wrong++;
	return v;
}

static void put_null(struct sql_scan *s, unsigned field, size_t row)
{
	if (s->col[field] && !rk_builder_null(&s->b, field, row))
		rk_fail_nomem(&s->error);
}

static void out_of_range(struct sql_scan *s, unsigned field, size_t row)
{
	s->range++;
	s->range_field = s->b.schema->fields[field].name;
	put_null(s, field, row);
}

void rk_sql_put(struct sql_scan *s, unsigned field, size_t row, int64_t v)
{
	void *col = s->col[field];

	if (!col)
		return;
	if (v == RK_NONE)
		put_null(s, field, row);
	else if (s->b.schema->fields[field].type == RK_I64)
		((int64_t *)col)[row] = v;
	else if (s->b.schema->fields[field].type == RK_STR)
		((uint32_t *)col)[row] = (uint32_t)v;
	else if (s->b.schema->fields[field].type == RK_BOOL)
		((uint8_t *)col)[row] = v != 0;
	else if (v >= INT32_MIN && v <= INT32_MAX)
		((int32_t *)col)[row] = (int32_t)v;
	else
		out_of_range(s, field, row);
}

void rk_sql_put_f64(struct sql_scan *s, unsigned field, size_t row, unsigned col)
{
	enum rk_cell_state state;

	if (!s->col[field])
		return;
	state = rk_sqlite_f64(s->c, col, &((double *)s->col[field])[row]);
	s->wrong += state == RK_CELL_WRONG;
	if (state != RK_CELL_VALUE)
		put_null(s, field, row);
}

void rk_sql_put_text(struct sql_scan *s, unsigned field, size_t row, const char *text, size_t len)
{
	uint32_t id = 0;

	if (!text)
		put_null(s, field, row);
	else if (s->col[field] && !rk_strtab_add(s->r->ctx->names, text, len, &id, &s->error))
		rk_sql_put(s, field, row, id);
}

void rk_sql_put_word(struct sql_scan *s, unsigned field, size_t row, const char *word)
{
	rk_sql_put_text(s, field, row, word, word ? strlen(word) : 0);
}

void rk_sql_put_column(struct sql_scan *s, unsigned field, size_t row, unsigned col)
{
	const char *text;
	size_t len = 0;

	if (!s->col[field])
		return;
	text = rk_sqlite_text(s->c, col, &len);
	rk_sql_put_text(s, field, row, text, len);
}

int64_t rk_sql_name(struct sql_scan *s, unsigned which, int64_t key)
{
	return rk_sql_lookup(&s->lookups[which], s->r, &s->r->format->lookups[which], key,
			     &s->error);
}

void rk_sql_put_times(struct sql_scan *s, size_t row, unsigned start, unsigned duration,
		      unsigned start_col, unsigned end_col)
{
	int64_t from = rk_sql_cell(s, start_col), to, dur = RK_NONE;

	rk_sql_put(s, start, row, from);
	if (!rk_sql_wants(s, duration))
		return;
	to = rk_sql_cell(s, end_col);
	if (from != RK_NONE && to != RK_NONE && !rk_sub_i64(to, from, &dur))
		out_of_range(s, duration, row);
	else
		rk_sql_put(s, duration, row, dur);
}

static void flush_warnings(struct sql_scan *s)
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

static void leave_part(struct sql_scan *s)
{
	bool again = s->plan->parts[s->part].nth != NULL;

	flush_warnings(s);
	rk_sqlite_cursor_close(s->c);
	s->c = NULL;
	if (again)
		s->nth++;
	else
		s->part++;
}

static int open_cursor(struct sql_scan *s, const struct rk_sqlite_table *t, struct rk_error *err)
{
	const struct sql_part *p = &s->plan->parts[s->part];
	struct rk_sqlite_column columns[RK_SQLITE_MAX_COLUMNS];
	struct rk_error cause = { 0 };
	int rc;

	for (size_t i = 0; i < p->ncolumns; i++) {
		uint64_t serves = p->columns[i].serves;
		bool wanted = serves == SQL_ALWAYS || serves & s->want;

		columns[i].name = wanted ? p->columns[i].name : NULL;
		columns[i].kind = p->columns[i].kind;
	}
	if (s->nth_name)
		columns[p->ncolumns - 1].name = s->nth_name;
	s->rows_about = s->r->ctx->progress ? rk_sqlite_rows_about(s->r->db, t) : 0;
	rc = rk_sqlite_cursor_open(s->r->db, t, columns, p->ncolumns, RK_SQLITE_STORED, &s->c,
				   &cause);
	return rk_sql_damage(s->r, &cause, rc, err);
}

/* The cursor of the current part, or the next part. */
static int enter_part(struct sql_scan *s, struct rk_error *err)
{
	const struct sql_part *p = &s->plan->parts[s->part];
	const struct rk_sqlite_table *t = rk_sql_table(s->r, p->table);
	bool has = t && (!p->fits || p->fits(s->r, t));
	int rc = 0;

	s->nth_name = has && p->nth ? p->nth(t, s->nth) : NULL;
	if (has && (!p->nth || s->nth_name))
		rc = open_cursor(s, t, err);
	if (!rc && !s->c) {
		s->part++;
		s->nth = 0;
	}
	return rc;
}

/* One row, or the end of the part; a damaged table ends where the damage begins. */
static int read_row(struct sql_scan *s, struct rk_error *err)
{
	int rc = rk_sqlite_cursor_step(s->c, &s->cause);

	if (rc <= 0) {
		leave_part(s);
		return rk_sql_damage(s->r, &s->cause, rc, err);
	}
	rc = s->plan->parts[s->part].row(s, s->b.nrows);
	if (s->error.code) {
		if (err && !err->code)
			*err = s->error;
		return s->error.code;
	}
	s->b.nrows += rc > 0;
	return 0;
}

/* How far the scan is, as bytes of the file: parts done, and the rows of this one. */
static uint64_t bytes_done(const struct sql_scan *s)
{
	double size = (double)rk_sqlite_size(s->r->db), parts = (double)s->part, rows = 0;

	if (s->c && s->rows_about)
		rows = (double)s->c->rows / (double)s->rows_about;
	parts += rows < 1 ? rows : 1;
	parts /= (double)s->plan->nparts;
	return (uint64_t)(size * (parts < 1 ? parts : 1));
}

static int scan_next(struct rk_source *src, const struct rk_batch **batch, struct rk_error *err)
{
	struct sql_scan *s = (struct sql_scan *)src;
	const struct rk_context *ctx = s->r->ctx;
	int rc = 0;

	flush_warnings(s);
	if (ctx->progress &&
	    ctx->progress(ctx->progress_arg, bytes_done(s), rk_sqlite_size(s->r->db)))
		return rk_fail(err, RK_E_CANCELLED, "cancelled");
	rk_builder_reset(&s->b);
	while (!rc && s->b.nrows < s->b.cap && s->part < s->plan->nparts)
		rc = s->c ? read_row(s, err) : enter_part(s, err);
	if (rc < 0)
		return rc;
	*batch = rk_builder_batch(&s->b);
	return s->b.nrows > 0;
}

static void scan_close(struct rk_source *src)
{
	struct sql_scan *s = (struct sql_scan *)src;

	flush_warnings(s);
	rk_sqlite_cursor_close(s->c);
	for (unsigned i = 0; i < SQL_MAX_LOOKUPS; i++)
		rk_sql_lookup_close(&s->lookups[i]);
	rk_builder_release(&s->b);
	rk_free(s);
}

/* A constant is the same in every row of every batch: written once. */
static int put_constant(struct sql_scan *s, unsigned field, int64_t id, struct rk_error *err)
{
	uint32_t *col;

	if (!(s->want & SQL_BIT(field)) || id == RK_NONE)
		return 0;
	col = rk_builder_column(&s->b, field);
	if (!col)
		return rk_fail_nomem(err);
	for (size_t i = 0; i < s->b.cap; i++)
		col[i] = (uint32_t)id;
	return 0;
}

static int put_constant_word(struct sql_scan *s, unsigned field, const char *word,
			     struct rk_error *err)
{
	uint32_t id;
	int rc = rk_strtab_add(s->r->ctx->names, word, strlen(word), &id, err);

	return rc < 0 ? rc : put_constant(s, field, id, err);
}

/* Fields that some part of the plan has a column for, and those the rows say themselves. */
static uint64_t given(const struct sql_plan *plan)
{
	uint64_t fields = 0;

	for (size_t i = 0; i < plan->nparts; i++)
		for (size_t k = 0; k < plan->parts[i].ncolumns; k++)
			if (plan->parts[i].columns[k].serves != SQL_ALWAYS)
				fields |= plan->parts[i].columns[k].serves;
	return fields;
}

static int make_columns(struct sql_scan *s, struct rk_error *err)
{
	uint64_t fields = given(s->plan) & s->want;
	int rc = 0;

	for (unsigned f = 0; f < s->b.schema->nfields; f++) {
		s->col[f] = fields & SQL_BIT(f) ? rk_builder_column(&s->b, f) : NULL;
		if (fields & SQL_BIT(f) && !s->col[f])
			return rk_fail_nomem(err);
	}
	if (s->plan->node_field)
		rc = put_constant(s, s->plan->node_field, s->r->node, err);
	if (!rc && s->plan->table == RK_KERNELS)
		rc = put_constant_word(s, RK_K_SOURCE, s->r->format->source, err);
	if (!rc && s->plan->table == RK_KERNELS)
		rc = put_constant_word(s, RK_K_CLOCK, s->r->format->clock, err);
	return rc;
}

static const struct sql_plan *plan_of(const struct sql_format *f, enum rk_table t)
{
	for (size_t i = 0; i < f->nplans; i++)
		if (f->plans[i].table == t)
			return &f->plans[i];
	return NULL;
}

int rk_sql_scan(struct rk_reader *base, enum rk_table t, uint64_t want, struct rk_source **ret,
		struct rk_error *err)
{
	static const struct rk_source_ops ops = { .next = scan_next, .close = scan_close };
	struct sql_reader *r = (struct sql_reader *)base;
	const struct sql_plan *plan = plan_of(r->format, t);
	struct sql_scan *s;
	int rc;

	if (!plan)
		return rk_fail(err, RK_E_USAGE, "such a file has no table '%s'", rk_table_name(t));
	s = rk_calloc(1, sizeof(*s));
	if (!s)
		return rk_fail_nomem(err);
	s->base = (struct rk_source){ &ops, rk_table_schema(t) };
	s->r = r;
	s->plan = plan;
	s->want = want;
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
