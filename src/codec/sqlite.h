/*
 * sqlite.h - read an untrusted SQLite file.
 *
 * The file is never written and nothing is created next to it. Views, triggers and generated
 * columns of the file are never evaluated: tables are read row by row, one at a time, in bounded
 * memory. One thread at a time.
 */
#ifndef RK_SQLITE_H
#define RK_SQLITE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/error.h"

struct rk_sqlite;

/*
 * `label` is the user's name for the file, for messages. A -wal or -journal file left by a killed
 * program is applied: both files are copied to a private directory under `tmpdir` (NULL: $TMPDIR or
 * /tmp) and the copy is read.
 */
int rk_sqlite_open(const char *path, const char *label, const char *tmpdir, struct rk_sqlite **ret,
		   struct rk_error *err);
void rk_sqlite_close(struct rk_sqlite *db);            /* NULL is fine */
const char *rk_sqlite_hot(const struct rk_sqlite *db); /* "-wal", "-journal" or NULL */
bool rk_sqlite_cut(const struct rk_sqlite *db);        /* shorter than its header says */
uint64_t rk_sqlite_size(const struct rk_sqlite *db);   /* bytes of the file */

/* A table's name and the columns that are stored in it. */
struct rk_sqlite_table {
	char *name;
	char **columns;
	size_t ncolumns;
	int key; /* index of the INTEGER PRIMARY KEY, -1 when there is none */
};

/*
 * Ordinary tables (no views, no virtual tables) whose name begins with `prefix` (ASCII case
 * ignored).
 */
int rk_sqlite_tables(struct rk_sqlite *db, const char *prefix, struct rk_sqlite_table **ret,
		     size_t *ret_n, struct rk_error *err);
void rk_sqlite_tables_free(struct rk_sqlite_table *t, size_t n);
bool rk_sqlite_has(const struct rk_sqlite_table *t, const char *column);
bool rk_sqlite_keyed_by(const struct rk_sqlite_table *t, const char *column);

/* The greatest key, an estimate of the number of rows that costs one seek. 0: unknown. */
uint64_t rk_sqlite_rows_about(struct rk_sqlite *db, const struct rk_sqlite_table *t);

enum { RK_SQLITE_MAX_COLUMNS = 32 };

enum rk_sqlite_kind { RK_SQLITE_INT, RK_SQLITE_REAL, RK_SQLITE_TEXT };

/* A column to read. If name is NULL or not in the table, it is null in every row, at no cost. */
struct rk_sqlite_column {
	const char *name;
	enum rk_sqlite_kind kind;
};

/*
 * The order of a cursor's rows; any other value is the index of the column to sort by, ascending.
 */
enum {
	RK_SQLITE_STORED = -1,   /* as stored, ascending by key if there is one */
	RK_SQLITE_FROM_KEY = -2, /* the same, but no rows until the first seek; needs a key */
};

/*
 * A number of the current row. Values of another type: whole REALs below 2^53 and decimal text are
 * accepted, the rest is WRONG.
 */
enum rk_cell_state { RK_CELL_NULL, RK_CELL_VALUE, RK_CELL_WRONG };
struct rk_sqlite_cell {
	union {
		int64_t i;
		double d;
	} v;
	enum rk_cell_state state;
};

/* The members are for the inline functions below. */
struct rk_sqlite_cursor {
	struct rk_sqlite *db;
	sqlite3_stmt *stmt;
	const char *table;
	uint64_t rows; /* delivered so far */
	unsigned nnumbers;
	bool sorted;
	struct rk_sqlite_cell cells[RK_SQLITE_MAX_COLUMNS];
	int8_t at[RK_SQLITE_MAX_COLUMNS]; /* -1: not in the table, else index in the statement */
	uint8_t number[RK_SQLITE_MAX_COLUMNS]; /* numbers in the order of the statement */
	enum rk_sqlite_kind kinds[RK_SQLITE_MAX_COLUMNS];
};

/* `t` is borrowed until close. Sorting spills to disk past SQLite's cache; null comes first. */
int rk_sqlite_cursor_open(struct rk_sqlite *db, const struct rk_sqlite_table *t,
			  const struct rk_sqlite_column *columns, size_t n, int order,
			  struct rk_sqlite_cursor **ret, struct rk_error *err);
/* FROM_KEY only: the next step gives the first row whose key is `key` or greater. */
void rk_sqlite_cursor_seek(struct rk_sqlite_cursor *c, int64_t key);
/*
 * 1: a row; 0: the end; RK_E_FORMAT: damage from here on (more rows than the file can hold is
 * damage too); RK_E_LIMIT: the table takes too long to read; RK_E_NOMEM.
 */
int rk_sqlite_cursor_step(struct rk_sqlite_cursor *c, struct rk_error *err);
void rk_sqlite_cursor_close(struct rk_sqlite_cursor *c); /* NULL is fine */

/* Borrowed until the next step, NULL for null; text of *ret_len bytes. TEXT columns only. */
const char *rk_sqlite_text(const struct rk_sqlite_cursor *c, unsigned i, size_t *ret_len);

/* *ret is written for VALUE only. */
static inline enum rk_cell_state rk_sqlite_i64(const struct rk_sqlite_cursor *c, unsigned i,
					       int64_t *ret)
{
	if (c->cells[i].state == RK_CELL_VALUE)
		*ret = c->cells[i].v.i;
	return c->cells[i].state;
}

static inline enum rk_cell_state rk_sqlite_f64(const struct rk_sqlite_cursor *c, unsigned i,
					       double *ret)
{
	if (c->cells[i].state == RK_CELL_VALUE)
		*ret = c->cells[i].v.d;
	return c->cells[i].state;
}

static inline bool rk_sqlite_has_column(const struct rk_sqlite_cursor *c, unsigned i)
{
	return c->at[i] >= 0;
}

/*
 * Handles a failed call while reading a table: damage (RK_E_FORMAT) becomes a warning and 0, so
 * that the rows before it are kept; other errors are returned with the file's name.
 */
int rk_sqlite_tolerate(struct rk_diag *diag, const char *path, struct rk_error *cause, int rc,
		       struct rk_error *err);

#endif
