/* sqlite_cursor.c - the rows of one table. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/num.h"
#include "codec/sqlite_impl.h"

/* A row takes at least a cell pointer, a length, a key and a header: four bytes are never enough. */
enum { SQL_BYTES = 1 << 16, LEAST_ROW_BYTES = 4, SPARE_ROWS = 1000 };

static void put_columns(struct rk_bytes *sql, struct rk_sqlite_cursor *c,
			const struct rk_sqlite_table *t, const char *const *columns, size_t n)
{
	int8_t used = 0;

	rk_bytes_puts(sql, "SELECT ");
	for (size_t i = 0; i < n; i++) {
		c->at[i] = -1;
		if (!columns[i] || !rk_sqlite_has(t, columns[i]))
			continue;
		if (used)
			rk_bytes_puts(sql, ",");
		rk_sqlite_put_name(sql, columns[i]);
		c->at[i] = used++;
	}
	if (!used)
		rk_bytes_puts(sql, "NULL");
}

/* NOT INDEXED: a covering index would give the rows in its own order. */
static int put_query(struct rk_bytes *sql, struct rk_sqlite_cursor *c,
		     const struct rk_sqlite_table *t, const char *const *columns, size_t n,
		     int order, struct rk_error *err)
{
	put_columns(sql, c, t, columns, n);
	rk_bytes_puts(sql, " FROM ");
	rk_sqlite_put_name(sql, t->name);
	rk_bytes_puts(sql, " NOT INDEXED");
	if (order == RK_SQLITE_FROM_KEY) {
		rk_bytes_puts(sql, " WHERE ");
		rk_sqlite_put_name(sql, t->columns[t->key]);
		rk_bytes_puts(sql, ">=?1");
	} else if (order >= 0 && c->at[order] >= 0) {
		rk_bytes_printf(sql, " ORDER BY %d", c->at[order] + 1);
	}
	return rk_bytes_str(sql) ? 0 : rk_fail_nomem(err);
}

int rk_sqlite_cursor_open(struct rk_sqlite *db, const struct rk_sqlite_table *t,
			  const char *const *columns, size_t n, int order,
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
	step = sqlite3_step(c->stmt);
	if (step == SQLITE_ROW) {
		/* pages that point at each other in circles give rows without end */
		if (++c->rows <= c->db->size / LEAST_ROW_BYTES + SPARE_ROWS)
			return 1;
		return rk_fail(err, RK_E_FORMAT,
			       "table '%s' has more rows than the file has room for", c->table);
	}
	return step == SQLITE_DONE ? 0 : rk_sqlite_fail(c->db, c->table, err);
}

void rk_sqlite_cursor_close(struct rk_sqlite_cursor *c)
{
	if (!c)
		return;
	sqlite3_finalize(c->stmt);
	rk_free(c);
}

enum rk_sqlite_cell rk_sqlite_i64_other(const struct rk_sqlite_cursor *c, int at, int64_t *ret)
{
	const double exact = 9007199254740992.0; /* 2^53 */
	const char *s;
	double d;

	switch (sqlite3_column_type(c->stmt, at)) {
	case SQLITE_NULL:
		return RK_CELL_NULL;
	case SQLITE_FLOAT:
		d = sqlite3_column_double(c->stmt, at);
		if (!(d > -exact && d < exact) || d != trunc(d))
			return RK_CELL_WRONG;
		*ret = (int64_t)d;
		return RK_CELL_VALUE;
	case SQLITE_TEXT:
		s = (const char *)sqlite3_column_text(c->stmt, at);
		if (s && rk_num_i64(s, (size_t)sqlite3_column_bytes(c->stmt, at), ret) == RK_NUM_OK)
			return RK_CELL_VALUE;
		return RK_CELL_WRONG;
	default:
		return RK_CELL_WRONG;
	}
}

enum rk_sqlite_cell rk_sqlite_f64(const struct rk_sqlite_cursor *c, unsigned i, double *ret)
{
	int at = c->at[i], type = at < 0 ? SQLITE_NULL : sqlite3_column_type(c->stmt, at);
	const char *s;

	if (type == SQLITE_NULL)
		return RK_CELL_NULL;
	if (type == SQLITE_FLOAT || type == SQLITE_INTEGER) {
		*ret = sqlite3_column_double(c->stmt, at);
		return RK_CELL_VALUE;
	}
	s = type == SQLITE_TEXT ? (const char *)sqlite3_column_text(c->stmt, at) : NULL;
	if (s && rk_num_f64(s, (size_t)sqlite3_column_bytes(c->stmt, at), ret) == RK_NUM_OK)
		return RK_CELL_VALUE;
	return RK_CELL_WRONG;
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
