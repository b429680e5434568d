/*
 * sqlite_cursor.c - the rows of one table.
 *
 * Numbers do not come through sqlite3_column_...(), which costs more than the rest of the row:
 * they are the arguments of a function of ours, SELECT rk_row(a, b, c), text FROM t, which gets
 * them straight from SQLite's registers. A sorted query computes its columns before it sorts, so
 * there they are ordinary columns.
 */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/num.h"
#include "codec/sqlite/sqlite_impl.h"

/* A row takes at least a cell pointer, a length, a key and a header: four bytes are never enough. */
enum { SQL_BYTES = 1 << 16, LEAST_ROW_BYTES = 4, SPARE_ROWS = 1000 };

static void cell_from_double(struct rk_sqlite_cell *cell, enum rk_sqlite_kind kind, double d)
{
	const double exact = 9007199254740992.0; /* 2^53 */

	cell->state = RK_CELL_VALUE;
	if (kind == RK_SQLITE_REAL)
		cell->v.d = d;
	else if (d > -exact && d < exact && d == trunc(d))
		cell->v.i = (int64_t)d;
	else
		cell->state = RK_CELL_WRONG;
}

static void cell_from_text(struct rk_sqlite_cell *cell, enum rk_sqlite_kind kind, const char *s,
			   int len)
{
	enum rk_num num = RK_NUM_BAD;

	if (s && kind == RK_SQLITE_REAL)
		num = rk_num_f64(s, (size_t)len, &cell->v.d);
	else if (s)
		num = rk_num_i64(s, (size_t)len, &cell->v.i);
	cell->state = num == RK_NUM_OK ? RK_CELL_VALUE : RK_CELL_WRONG;
}

static void cell_from_value(struct rk_sqlite_cell *cell, enum rk_sqlite_kind kind, sqlite3_value *v)
{
	int type = sqlite3_value_type(v);

	if (type == SQLITE_INTEGER && kind == RK_SQLITE_INT) {
		cell->v.i = sqlite3_value_int64(v);
		cell->state = RK_CELL_VALUE;
	} else if (type == SQLITE_NULL) {
		cell->state = RK_CELL_NULL;
	} else if (type == SQLITE_FLOAT || type == SQLITE_INTEGER) {
		cell_from_double(cell, kind, sqlite3_value_double(v));
	} else if (type == SQLITE_TEXT) {
		const char *s = (const char *)sqlite3_value_text(v);

		cell_from_text(cell, kind, s, sqlite3_value_bytes(v));
	} else {
		cell->state = RK_CELL_WRONG;
	}
}

/* As cell_from_value, for a column of the result. */
static void cell_from_column(struct rk_sqlite_cell *cell, enum rk_sqlite_kind kind,
			     sqlite3_stmt *st, int at)
{
	int type = sqlite3_column_type(st, at);

	if (type == SQLITE_INTEGER && kind == RK_SQLITE_INT) {
		cell->v.i = sqlite3_column_int64(st, at);
		cell->state = RK_CELL_VALUE;
	} else if (type == SQLITE_NULL) {
		cell->state = RK_CELL_NULL;
	} else if (type == SQLITE_FLOAT || type == SQLITE_INTEGER) {
		cell_from_double(cell, kind, sqlite3_column_double(st, at));
	} else if (type == SQLITE_TEXT) {
		const char *s = (const char *)sqlite3_column_text(st, at);

		cell_from_text(cell, kind, s, sqlite3_column_bytes(st, at));
	} else {
		cell->state = RK_CELL_WRONG;
	}
}

void rk_sqlite_take_row(sqlite3_context *ctx, int n, sqlite3_value **args)
{
	struct rk_sqlite *db = sqlite3_user_data(ctx);
	struct rk_sqlite_cursor *c = db->taker;

	for (int k = 0; c && k < n; k++) {
		unsigned i = c->number[k];

		cell_from_value(&c->cells[i], c->kinds[i], args[k]);
	}
}

/* Which columns the table has, and which of them are numbers. */
static void choose_columns(struct rk_sqlite_cursor *c, const struct rk_sqlite_table *t,
			   const struct rk_sqlite_column *columns, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		c->at[i] = -1;
		c->kinds[i] = columns[i].kind;
		if (!columns[i].name || !rk_sqlite_has(t, columns[i].name))
			continue;
		c->at[i] = 0;
		if (columns[i].kind != RK_SQLITE_TEXT)
			c->number[c->nnumbers++] = (uint8_t)i;
	}
}

static void put_numbers(struct rk_bytes *sql, struct rk_sqlite_cursor *c,
			const struct rk_sqlite_column *columns)
{
	if (!c->nnumbers)
		rk_bytes_puts(sql, "NULL");
	else if (!c->sorted)
		rk_bytes_puts(sql, "rk_row(");
	for (unsigned k = 0; k < c->nnumbers; k++) {
		if (k)
			rk_bytes_puts(sql, ",");
		rk_sqlite_put_name(sql, columns[c->number[k]].name);
		c->at[c->number[k]] = (int8_t)k;
	}
	if (c->nnumbers && !c->sorted)
		rk_bytes_puts(sql, ")");
}

static void put_texts(struct rk_bytes *sql, struct rk_sqlite_cursor *c,
		      const struct rk_sqlite_column *columns, size_t n)
{
	int8_t at = c->sorted && c->nnumbers ? (int8_t)c->nnumbers : 1;

	for (size_t i = 0; i < n; i++) {
		if (columns[i].kind != RK_SQLITE_TEXT || c->at[i] < 0)
			continue;
		rk_bytes_puts(sql, ",");
		rk_sqlite_put_name(sql, columns[i].name);
		c->at[i] = at++;
	}
}

/* NOT INDEXED: a covering index would give the rows in its own order. */
static int put_query(struct rk_bytes *sql, struct rk_sqlite_cursor *c,
		     const struct rk_sqlite_table *t, const struct rk_sqlite_column *columns,
		     size_t n, int order, struct rk_error *err)
{
	choose_columns(c, t, columns, n);
	c->sorted = order >= 0 && c->at[order] >= 0;
	rk_bytes_puts(sql, "SELECT ");
	put_numbers(sql, c, columns);
	put_texts(sql, c, columns, n);
	rk_bytes_puts(sql, " FROM ");
	rk_sqlite_put_name(sql, t->name);
	rk_bytes_puts(sql, " NOT INDEXED");
	if (order == RK_SQLITE_FROM_KEY) {
		rk_bytes_puts(sql, " WHERE ");
		rk_sqlite_put_name(sql, t->columns[t->key]);
		rk_bytes_puts(sql, ">=?1");
	} else if (c->sorted) {
		rk_bytes_printf(sql, " ORDER BY %d", c->at[order] + 1);
	}
	return rk_bytes_str(sql) ? 0 : rk_fail_nomem(err);
}

int rk_sqlite_cursor_open(struct rk_sqlite *db, const struct rk_sqlite_table *t,
			  const struct rk_sqlite_column *columns, size_t n, int order,
			  struct rk_sqlite_cursor **ret, struct rk_error *err)
{
	struct rk_sqlite_cursor *c;
	struct rk_bytes sql;
	int rc;

	if (n > RK_SQLITE_MAX_COLUMNS || order >= (int)n ||
	    (order == RK_SQLITE_FROM_KEY && t->key < 0))
		return rk_fail(err, RK_E_USAGE, "table '%s' cannot be read like that", t->name);
	c = rk_calloc(1, sizeof(*c));
	if (!c)
		return rk_fail_nomem(err);
	c->db = db;
	c->table = t->name;
	rk_bytes_init(&sql, SQL_BYTES);
	rc = put_query(&sql, c, t, columns, n, order, err);
	if (!rc)
		rc = rk_sqlite_prepare(db, rk_bytes_str(&sql), t->name, &c->stmt, err);
	rk_bytes_release(&sql);
	if (rc < 0) {
		rk_sqlite_cursor_close(c);
		return rc;
	}
	*ret = c;
	return 0;
}

void rk_sqlite_cursor_seek(struct rk_sqlite_cursor *c, int64_t key)
{
	sqlite3_reset(c->stmt);
	sqlite3_bind_int64(c->stmt, 1, key);
	c->rows = 0;
}

int rk_sqlite_cursor_step(struct rk_sqlite_cursor *c, struct rk_error *err)
{
	int step;

	c->db->ops = 0;
	c->db->taker = c;
	step = sqlite3_step(c->stmt);
	if (step == SQLITE_DONE)
		return 0;
	if (step != SQLITE_ROW)
		return rk_sqlite_fail(c->db, c->table, err);
	/* pages that point at each other in circles give rows without end */
	if (++c->rows > c->db->size / LEAST_ROW_BYTES + SPARE_ROWS)
		return rk_fail(err, RK_E_FORMAT,
			       "table '%s' has more rows than the file has room for", c->table);
	for (unsigned k = 0; c->sorted && k < c->nnumbers; k++) {
		unsigned i = c->number[k];

		cell_from_column(&c->cells[i], c->kinds[i], c->stmt, (int)k);
	}
	return 1;
}

void rk_sqlite_cursor_close(struct rk_sqlite_cursor *c)
{
	if (!c)
		return;
	sqlite3_finalize(c->stmt);
	rk_free(c);
}

const char *rk_sqlite_text(const struct rk_sqlite_cursor *c, unsigned i, size_t *ret_len)
{
	int at = c->at[i];
	const char *s;

	*ret_len = 0;
	if (at < 0 || sqlite3_column_type(c->stmt, at) == SQLITE_NULL)
		return NULL;
	s = (const char *)sqlite3_column_text(c->stmt, at);
	if (s)
		*ret_len = (size_t)sqlite3_column_bytes(c->stmt, at);
	return s;
}
