/* sim_rocpd.h - the parts of the rocpd writer. */
#ifndef SIM_ROCPD_H
#define SIM_ROCPD_H

#include <sqlite3.h>

#include "sim_v3.h"

struct db {
	sqlite3 *sql;
	const char *guid, *uuid;        /* _0000_... : the suffix of every table */
	struct words strings, counters; /* ids from 1 */
	int64_t events;
};

/* printf of SQLite: %Q and %q quote. A failure ends the program. */
void sql_run(struct db *db, const char *fmt, ...);
void db_insert(struct db *db, const char *table, const char *columns, const char *fmt, ...);
int64_t db_string(struct db *db, const char *text);

/* sim_rocpd_schema.c: tables, the plain views of them, the data views, the metadata. */
void rocpd_schema(struct db *db);
void rocpd_write(const char *path, const struct tool *t, const struct work *w);

#endif
