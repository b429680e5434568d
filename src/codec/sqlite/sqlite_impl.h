/* sqlite_impl.h - shared by the sqlite_*.c files of this folder only. */
#ifndef RK_SQLITE_IMPL_H
#define RK_SQLITE_IMPL_H

#include "base/bytes.h"
#include "codec/sqlite/sqlite_db.h"

struct rk_sqlite {
	sqlite3 *h;
	char *label;
	uint64_t size;
	uint64_t ops;    /* virtual machine operations since the last row */
	const char *hot; /* suffix of the file that made a copy necessary */
	bool cut;
	struct rk_tempdir *tmp;         /* holds the copy */
	struct rk_sqlite_cursor *taker; /* whose numbers rk_row() delivers */
};

/* The handle's error in the house's words; `table` may be NULL. */
int rk_sqlite_fail(struct rk_sqlite *db, const char *table, struct rk_error *err);
int rk_sqlite_prepare(struct rk_sqlite *db, const char *sql, const char *table, sqlite3_stmt **ret,
		      struct rk_error *err);
/* rk_row(a, b, ...): puts its arguments into the cells of db->taker. */
void rk_sqlite_take_row(sqlite3_context *ctx, int n, sqlite3_value **args);
/* Appends "name" with quotes doubled. */
void rk_sqlite_put_name(struct rk_bytes *sql, const char *name);

#endif
