/*
 * scan.c - opens a SQLite file and provides the source of each of its tables: sets, parts, rows,
 * batches.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/num.h"
#include "read/sql/sql.h"

bool rk_sql_has_magic(const struct rk_head *head)
{
	static const char magic[16] = "SQLite format 3";

	return head->len >= sizeof(magic) && memcmp(head->data, magic, sizeof(magic)) == 0;
}

int rk_sql_probe(const struct rk_head *head)
{
	const struct sql_format *f = head->format;

	if (!rk_sql_has_magic(head))
		return 0;
	for (size_t i = 0; i < sizeof(f->marks) / sizeof(f->marks[0]) && f->marks[i]; i++)
		if (memmem(head->data, head->len, f->marks[i], strlen(f->marks[i])))
			return 96;
	return 0;
}

int rk_sql_damage(struct sql_reader *r, struct rk_error *cause, int rc, struct rk_error *err)
{
	return rk_sqlite_tolerate(r->ctx->diag, rk_instream_path(r->in), cause, rc, err);
}

int rk_sql_open_in_order(struct sql_reader *r, const struct rk_sqlite_table *t,
			 const struct rk_sqlite_column *columns, size_t n, unsigned by,
			 struct rk_sqlite_cursor **ret, struct rk_error *err)
{
	struct rk_sqlite_cursor *c = NULL;
	struct rk_error cause = { 0 };
	int64_t v, last = INT64_MIN;
	bool sorted = true;
	int rc;

	rc = rk_sqlite_cursor_open(r->db, t, &columns[by], 1, RK_SQLITE_STORED, &c, &cause);
	while (rc >= 0 && sorted && (rc = rk_sqlite_cursor_step(c, &cause)) > 0) {
		v = INT64_MIN;
		rk_sqlite_i64(c, 0, &v);
		sorted = v >= last;
		last = v;
	}
	if (c && rc == RK_E_FORMAT) /* a damaged row is reported later, when we read the rows */
		rc = 0;
	else
		rc = rk_sql_damage(r, &cause, rc, err);
	rk_sqlite_cursor_close(c);
	if (rc < 0)
		return rc;

	cause = (struct rk_error){ 0 };
	rc = rk_sqlite_cursor_open(r->db, t, columns, n, sorted ? RK_SQLITE_STORED : (int)by, ret,
				   &cause);
	return rk_sql_damage(r, &cause, rc, err);
}

/* ---- opening a file ---- */

static int compare_tables(const void *a, const void *b)
{
	return sqlite3_stricmp(((const struct rk_sqlite_table *)a)->name,
			       ((const struct rk_sqlite_table *)b)->name);
}

struct table_key {
	const char *name, *suffix;
};

static int compare_key(const void *key, const void *table)
{
	const struct table_key *k = key;
	const char *name = ((const struct rk_sqlite_table *)table)->name;
	size_t len = strlen(k->name);
	int order = sqlite3_strnicmp(k->name, name, (int)len);

	return order ? order : sqlite3_stricmp(k->suffix, name + len);
}

const struct rk_sqlite_table *rk_sql_table(const struct sql_reader *r, const char *name,
					   const char *suffix)
{
	struct table_key key = { name, suffix };

	if (!r->ntables)
		return NULL;
	return bsearch(&key, r->tables, r->ntables, sizeof(*r->tables), compare_key);
}

/* Does the set have rows for the plan? */
static bool applies(const struct sql_reader *r, const struct sql_plan *plan, const char *suffix)
{
	bool any = plan->nparts == 0;

	for (size_t i = 0; i < sizeof(plan->needs) / sizeof(plan->needs[0]); i++)
		if (plan->needs[i] && !rk_sql_table(r, plan->needs[i], suffix))
			return false;
	for (size_t i = 0; !any && i < plan->nparts; i++) {
		const struct sql_part *p = &plan->parts[i];
		const struct rk_sqlite_table *t = rk_sql_table(r, p->table, suffix);

		any = t && (!p->fits || p->fits(r, t)) && (!p->nth || p->nth(t, 0));
	}
	return any;
}

static const char *suffix_of(const struct sql_reader *r, size_t set)
{
	return r->suffixes ? r->suffixes[set] : "";
}

static int open_database(struct sql_reader *r, struct rk_error *err)
{
	const struct sql_format *f = r->format;
	const char *path, *label = rk_instream_path(r->in);
	int rc;

	rc = rk_instream_plain_path(r->in, r->ctx->tmpdir, &path, err);
	if (rc < 0)
		return rc;
	rc = rk_sqlite_open(path, label, r->ctx->tmpdir, &r->db, err);
	if (rc < 0)
		return rc;
	rc = rk_sqlite_tables(r->db, f->prefix, &r->tables, &r->ntables, err);
	if (rc < 0)
		return rc;
	if (r->ntables)
		qsort(r->tables, r->ntables, sizeof(*r->tables), compare_tables);
	r->nsets = 1;
	if (f->find_sets) {
		rc = f->find_sets(r, err);
		if (rc < 0)
			return rc;
	}
	for (size_t set = 0; set < r->nsets; set++)
		for (size_t i = 0; i < f->nplans; i++)
			if (applies(r, &f->plans[i], suffix_of(r, set)))
				r->base.tables |= RK_TABLE_BIT(f->plans[i].table);
	if (!r->base.tables)
		return rk_fail(err, RK_E_UNSUPPORTED, "'%s' is a database without %s tables", label,
			       f->what);
	if (f->opened)
		return f->opened(r, err);
	return 0;
}

static void free_reader(struct sql_reader *r)
{
	rk_free(r->suffixes);
	rk_sqlite_tables_free(r->tables, r->ntables);
	rk_sqlite_close(r->db);
	rk_free(r);
}

static void warn_about_file(struct sql_reader *r, const char *kind, const char *message)
{
	const char *path = rk_instream_path(r->in);

	if (r->format->each_opening)
		rk_diag_add(r->ctx->diag, kind, path, 0, 1, "%s", message);
	else
		rk_diag_most(r->ctx->diag, kind, path, 0, 1, message);
}

int rk_sql_open(const struct rk_reader_ops *ops, struct rk_instream *in, struct rk_context *ctx,
		struct rk_reader **ret, struct rk_error *err)
{
	const char *label = rk_instream_path(in), *hot;
	struct sql_reader *r = rk_calloc(1, sizeof(*r));
	char message[128];
	int rc;

	if (!r)
		return rk_fail_nomem(err);
	r->base.ops = ops;
	r->format = ops->format;
	r->in = in;
	r->ctx = ctx;
	r->node = RK_NONE;
	rc = open_database(r, err);
	if (rc < 0) {
		rk_error_at(err, label, 0, 0);
		free_reader(r);
		return rc;
	}
	hot = rk_sqlite_hot(r->db);
	if (hot) {
		snprintf(message, sizeof(message), "a '%s' file was left beside it: both are read",
			 hot);
		warn_about_file(r, "hot-wal", message);
	}
	if (rk_sqlite_cut(r->db))
		warn_about_file(
			r, "damaged-database",
			"the file is shorter than its header says; the pages that exist are read");
	*ret = &r->base;
	return 0;
}

void rk_sql_close(struct rk_reader *base)
{
	struct sql_reader *r = (struct sql_reader *)base;
	struct rk_instream *in = r->in;

	free_reader(r);
	rk_instream_close(in);
}

/* ---- values of a row ---- */

void rk_sql_put_null(struct sql_scan *s, unsigned field, size_t row)
{
	if (s->col[field] && !rk_builder_null(&s->b, field, row))
		rk_fail_nomem(&s->error);
}

static void out_of_range(struct sql_scan *s, unsigned field, size_t row)
{
	s->range++;
	s->range_field = s->b.schema->fields[field].name;
	rk_sql_put_null(s, field, row);
}

void rk_sql_put_other(struct sql_scan *s, unsigned field, size_t row, int64_t v)
{
	if (s->b.schema->fields[field].type == RK_BOOL)
		((uint8_t *)s->col[field])[row] = v != 0;
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
		rk_sql_put_null(s, field, row);
}

void rk_sql_put_text(struct sql_scan *s, unsigned field, size_t row, const char *text, size_t len)
{
	uint32_t id = 0;

	if (!text)
		rk_sql_put_null(s, field, row);
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

int64_t rk_sql_resolve(struct sql_scan *s, unsigned which, int64_t id, unsigned i)
{
	const int64_t *row = s->dims[which].last;

	if (id == RK_NONE)
		return RK_NONE;
	if (!row || row[0] != id)
		row = rk_sql_dim_get(&s->dims[which], id, &s->error);
	return row ? row[1 + i] : RK_NONE;
}

/* ---- sets, parts, rows ---- */

static void flush_warnings(struct sql_scan *s)
{
	const char *path = rk_instream_path(s->r->in), *table = s->c ? s->c->table : "";

	if (s->wrong)
		rk_diag_add(s->r->ctx->diag, "wrong-type", path, 0, s->wrong,
			    "table '%s' has a non-numeric value where a number belongs", table);
	if (s->range)
		rk_diag_add(s->r->ctx->diag, "out-of-range", path, 0, s->range,
			    "table '%s' has a number that does not fit %s", table, s->range_field);
	s->wrong = s->range = 0;
}

static void leave_set(struct sql_scan *s)
{
	if (s->r->format->leave)
		s->r->format->leave(s);
	rk_sqlite_cursor_close(s->c);
	s->c = NULL;
	for (unsigned i = 0; i < SQL_MAX_DIMS; i++)
		rk_sql_dim_close(&s->dims[i]);
	s->set_open = false;
}

/* Opens the cursor of the current part, or moves to the next part. */
static int enter_part(struct sql_scan *s, struct rk_error *err)
{
	const struct sql_part *p = &s->plan->parts[s->part];
	const struct rk_sqlite_table *t = rk_sql_table(s->r, p->table, s->suffix);
	struct rk_sqlite_column columns[RK_SQLITE_MAX_COLUMNS];
	struct rk_error cause = { 0 };
	int rc;

	if (t && p->fits && !p->fits(s->r, t))
		t = NULL;
	s->nth_name = NULL;
	if (t && p->nth) {
		s->nth_name = p->nth(t, s->nth);
		if (!s->nth_name)
			t = NULL;
	}
	if (t) {
		for (size_t i = 0; i < p->ncolumns; i++) {
			uint64_t serves = p->columns[i].serves;
			bool wanted = serves == SQL_ALWAYS || serves & s->want;

			columns[i].name = wanted ? p->columns[i].name : NULL;
			columns[i].kind = p->columns[i].kind;
		}
		if (s->nth_name)
			columns[p->ncolumns - 1].name = s->nth_name;
		s->rows_about = s->r->ctx->progress ? rk_sqlite_rows_about(s->r->db, t) : 0;
		rc = rk_sqlite_cursor_open(s->r->db, t, columns, p->ncolumns, RK_SQLITE_STORED,
					   &s->c, &cause);
		rc = rk_sql_damage(s->r, &cause, rc, err);
		if (rc < 0)
			return rc;
	}
	if (!s->c) {
		s->part++;
		s->nth = 0;
	}
	return 0;
}

/* Reads one row or reaches the end of the part; a damaged table ends at the damage. */
static int read_row(struct sql_scan *s, struct rk_error *err)
{
	const struct sql_part *p = &s->plan->parts[s->part];
	int rc = rk_sqlite_cursor_step(s->c, &s->cause);

	if (rc <= 0) {
		flush_warnings(s);
		rk_sqlite_cursor_close(s->c);
		s->c = NULL;
		if (p->nth)
			s->nth++;
		else
			s->part++;
		return rk_sql_damage(s->r, &s->cause, rc, err);
	}
	rc = p->row(s, s->b.nrows);
	if (s->error.code) {
		if (err && !err->code)
			*err = s->error;
		return s->error.code;
	}
	s->b.nrows += rc > 0;
	return 0;
}

static int fill_from_parts(struct sql_scan *s, struct rk_error *err)
{
	while (s->b.nrows < s->b.cap) {
		int rc;

		if (s->part == s->plan->nparts)
			return 0;
		rc = s->c ? read_row(s, err) : enter_part(s, err);
		if (rc < 0)
			return rc;
	}
	return 1;
}

/* Scan progress in bytes of the file: sets and parts done, plus the rows of this part. */
static uint64_t bytes_done(const struct sql_scan *s)
{
	double size = (double)rk_sqlite_size(s->r->db), sets = (double)s->set, rows = 0;

	if (s->c && s->rows_about)
		rows = (double)s->c->rows / (double)s->rows_about;
	if (s->set_open && s->plan->nparts)
		sets += ((double)s->part + (rows < 1 ? rows : 1)) / (double)s->plan->nparts;
	return (uint64_t)(size * sets / (double)s->r->nsets);
}

static int scan_next(struct rk_source *src, const struct rk_batch **batch, struct rk_error *err)
{
	struct sql_scan *s = (struct sql_scan *)src;
	const struct sql_format *f = s->r->format;
	const struct rk_context *ctx = s->r->ctx;
	int rc;

	flush_warnings(s);
	if (ctx->progress &&
	    ctx->progress(ctx->progress_arg, bytes_done(s), rk_sqlite_size(s->r->db)))
		return rk_fail(err, RK_E_CANCELLED, "cancelled");
	rk_builder_reset(&s->b);
	while (s->b.nrows < s->b.cap && s->set < s->r->nsets) {
		if (!s->set_open) {
			s->suffix = suffix_of(s->r, s->set);
			s->part = s->nth = 0;
			s->set_open = true;
			for (size_t i = 0; i < f->ndims; i++) {
				rc = rk_sql_dim_open(&s->dims[i], s->r, &f->dims[i], s->suffix,
						     err);
				if (rc < 0)
					return rc;
			}
		}
		rc = s->plan->fill ? s->plan->fill(s, err) : fill_from_parts(s, err);
		if (rc < 0)
			return rc;
		if (rc == 0) {
			leave_set(s);
			s->set++;
		}
	}
	*batch = rk_builder_batch(&s->b);
	return s->b.nrows > 0;
}

static void scan_close(struct rk_source *src)
{
	struct sql_scan *s = (struct sql_scan *)src;

	flush_warnings(s);
	leave_set(s);
	rk_builder_release(&s->b);
	rk_free(s);
}

/* ---- opening a scan ---- */

/*
 * Fills a column that is the same in every row of every batch: written only once. Uses the id, or
 * the id of `word`.
 */
static int put_constant(struct sql_scan *s, unsigned field, int64_t id, const char *word,
			struct rk_error *err)
{
	uint32_t *col, word_id;
	int rc;

	if (!(s->want & SQL_BIT(field)) || (id == RK_NONE && !word))
		return 0;
	if (id == RK_NONE) {
		rc = rk_strtab_adds(s->r->ctx->names, word, &word_id, err);
		if (rc < 0)
			return rc;
		id = word_id;
	}
	col = rk_builder_column(&s->b, field);
	if (!col)
		return rk_fail_nomem(err);
	for (size_t i = 0; i < s->b.cap; i++)
		col[i] = (uint32_t)id;
	return 0;
}

int rk_sql_scan(struct rk_reader *base, enum rk_table t, uint64_t want, struct rk_source **ret,
		struct rk_error *err)
{
	static const struct rk_source_ops ops = { .next = scan_next, .close = scan_close };
	struct sql_reader *r = (struct sql_reader *)base;
	const struct sql_plan *plan = r->format->plans, *end = plan + r->format->nplans;
	struct sql_scan *s;
	uint64_t fields;
	int rc;

	while (plan < end && plan->table != t)
		plan++;
	if (plan == end)
		return rk_fail(err, RK_E_USAGE, "this format has no table '%s'", rk_table_name(t));
	s = rk_calloc(1, r->format->scan_bytes);
	if (!s)
		return rk_fail_nomem(err);
	s->base = (struct rk_source){ &ops, rk_table_schema(t) };
	s->r = r;
	s->plan = plan;
	s->want = want;
	rc = rk_builder_init(&s->b, s->base.schema, RK_BATCH_ROWS, err);
	if (rc < 0)
		goto out;

	/* allocate columns for the fields that the plan provides; the rest are absent */
	fields = plan->gives;
	for (size_t i = 0; i < plan->nparts; i++)
		for (size_t k = 0; k < plan->parts[i].ncolumns; k++)
			if (plan->parts[i].columns[k].serves != SQL_ALWAYS)
				fields |= plan->parts[i].columns[k].serves;
	fields &= want;
	for (unsigned f = 0; f < s->b.schema->nfields; f++) {
		if (!(fields & SQL_BIT(f)))
			continue;
		s->col[f] = rk_builder_column(&s->b, f);
		if (!s->col[f]) {
			rc = rk_fail_nomem(err);
			goto out;
		}
	}
	if (plan->node_field && (rc = put_constant(s, plan->node_field, r->node, NULL, err)) < 0)
		goto out;
	if (t == RK_KERNELS &&
	    (rc = put_constant(s, RK_K_SOURCE, RK_NONE, r->format->source, err)) >= 0)
		rc = put_constant(s, RK_K_CLOCK, RK_NONE, r->format->clock, err);
out:
	if (rc < 0) {
		scan_close(&s->base);
		return rc;
	}
	*ret = &s->base;
	return 0;
}
