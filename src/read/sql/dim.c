/* dim.c - resolve ids: rows of small tables, looked up once and cached. */
#include "base/alloc.h"
#include "read/sql/sql.h"

/*
 * Max cached rows. A keyed dim that is full forgets everything, because it can look rows up again;
 * a dim that was read as a whole stops adding rows.
 */
enum { MAX_ROWS = 1 << 16, MAX_WHOLE_ROWS = 1 << 18 };

/* The row with `key`, or NULL. */
static int64_t *find(const struct sql_dim *d, int64_t key)
{
	uint64_t hash = rk_hash_u64((uint64_t)key);
	size_t stride = d->def->width + 1, at;
	uint32_t i;

	for (i = rk_index_first(&d->index, hash, &at); i != RK_INDEX_NONE;
	     i = rk_index_next(&d->index, hash, &at))
		if (d->rows[i * stride] == key)
			return &d->rows[i * stride];
	return NULL;
}

/* Adds a row for `key` with all values RK_NONE; NULL if out of memory. */
static int64_t *add_row(struct sql_dim *d, int64_t key, struct rk_error *err)
{
	size_t stride = d->def->width + 1;
	int64_t *row, *rows;

	d->last = NULL;
	if (d->c && d->n >= MAX_ROWS) {
		rk_index_release(&d->index);
		d->n = 0;
	}
	row = find(d, key);
	if (!row) {
		rows = rk_grow(d->rows, &d->cap, d->n + 1, stride * sizeof(*rows));
		if (rows)
			d->rows = rows;
		if (!rows || !rk_index_add(&d->index, rk_hash_u64((uint64_t)key), (uint32_t)d->n)) {
			rk_fail_nomem(err);
			return NULL;
		}
		row = &d->rows[d->n++ * stride];
		row[0] = key;
	}
	for (size_t i = 1; i < stride; i++)
		row[i] = RK_NONE;
	return row;
}

static int64_t *keep_row(struct sql_dim *d, const struct rk_sqlite_cursor *c, int64_t key,
			 struct rk_error *err)
{
	int64_t *row = add_row(d, key, err);

	for (unsigned i = 1; row && i <= d->def->width; i++) {
		const char *text;
		uint32_t id;
		size_t len;

		if (d->def->columns[i].kind != RK_SQLITE_TEXT) {
			if (rk_sqlite_i64(c, i, &row[i]) == RK_CELL_WRONG)
				rk_diag_add(
					d->r->ctx->diag, "wrong-type", rk_instream_path(d->r->in),
					0, 1,
					"table '%s' has a value that is not a number in column '%s'",
					c->table, d->def->columns[i].name);
			continue;
		}
		text = rk_sqlite_text(c, i, &len);
		if (!text)
			continue;
		if (rk_strtab_add(d->r->ctx->names, text, len, &id, err) < 0)
			return NULL;
		row[i] = id;
	}
	return row;
}

/* For a table without a key (for example from CREATE TABLE AS): reads all of it once. */
static int read_whole(struct sql_dim *d, const struct rk_sqlite_table *t, struct rk_error *err)
{
	struct rk_sqlite_cursor *c = NULL;
	struct rk_error cause = { 0 };
	int64_t key;
	int rc;

	rc = rk_sqlite_cursor_open(d->r->db, t, d->def->columns, d->def->width + 1,
				   RK_SQLITE_STORED, &c, &cause);
	while (rc == 0 && (rc = rk_sqlite_cursor_step(c, &cause)) > 0) {
		rc = 0;
		if (rk_sqlite_i64(c, 0, &key) != RK_CELL_VALUE)
			continue;
		if (d->n == MAX_WHOLE_ROWS) {
			rk_diag_add(d->r->ctx->diag, "lookup-limit", rk_instream_path(d->r->in), 0,
				    1, "table '%s' has no key and more than %d rows", t->name,
				    MAX_WHOLE_ROWS);
			break;
		}
		if (!keep_row(d, c, key, &cause))
			rc = cause.code;
	}
	rk_sqlite_cursor_close(c);
	return rk_sql_damage(d->r, &cause, rc, err);
}

int rk_sql_dim_open(struct sql_dim *d, struct sql_reader *r, const struct sql_dim_def *def,
		    const char *suffix, struct rk_error *err)
{
	const struct rk_sqlite_table *t = rk_sql_table(r, def->table, suffix);
	struct rk_error cause = { 0 };
	int rc;

	*d = (struct sql_dim){ .r = r, .def = def };
	if (!t || !rk_sqlite_has(t, def->columns[0].name))
		return 0;
	if (!rk_sqlite_keyed_by(t, def->columns[0].name))
		return read_whole(d, t, err);
	rc = rk_sqlite_cursor_open(r->db, t, def->columns, def->width + 1, RK_SQLITE_FROM_KEY,
				   &d->c, &cause);
	return rk_sql_damage(r, &cause, rc, err);
}

/* A separate function because clearing `cause` costs time. */
static __attribute__((noinline)) int64_t *look_up(struct sql_dim *d, int64_t id,
						  struct rk_error *err)
{
	struct rk_error cause = { 0 };
	int64_t key = 0;
	int rc;

	rk_sqlite_cursor_seek(d->c, id);
	rc = rk_sqlite_cursor_step(d->c, &cause);
	if (rc > 0 && rk_sqlite_i64(d->c, 0, &key) == RK_CELL_VALUE && key == id)
		return keep_row(d, d->c, id, err);
	if (rk_sql_damage(d->r, &cause, rc, err) < 0)
		return NULL;
	return add_row(d, id, err); /* missing ids are cached too */
}

const int64_t *rk_sql_dim_get(struct sql_dim *d, int64_t id, struct rk_error *err)
{
	d->last = find(d, id);
	if (!d->last && d->c)
		d->last = look_up(d, id, err);
	return d->last;
}

void rk_sql_dim_close(struct sql_dim *d)
{
	rk_sqlite_cursor_close(d->c);
	rk_index_release(&d->index);
	rk_free(d->rows);
	*d = (struct sql_dim){ 0 };
}
