/* rocpd_fixture.h - small rocpd databases made with SQLite, and rows as text to compare. */
#ifndef RK_ROCPD_FIXTURE_H
#define RK_ROCPD_FIXTURE_H

#include <sqlite3.h>
#include <stdbool.h>

#include "base/bytes.h"
#include "read/rocpd/rocpd.h"

struct fixture {
	char dir[64];   /* private, removed by fixture_end */
	char path[128]; /* dir/trace_results.db */
	sqlite3 *db;    /* open for writing until fixture_close */
};

void fixture_begin(struct fixture *f);
/* One or more statements, with sqlite3_mprintf formats; a failure fails the test. */
void fixture_sql(struct fixture *f, const char *fmt, ...);
/* The tables of schema 3.0.0, each name followed by `suffix`. */
void fixture_schema(struct fixture *f, const char *suffix);
/* One node, process `pid`, two agents, a symbol, and two dispatches with their calls. */
void fixture_rows(struct fixture *f, const char *suffix, int pid);
void fixture_close(struct fixture *f);
void fixture_end(struct fixture *f);
/* Changes `len` bytes of the closed file at `offset` to `byte`. */
void fixture_damage(struct fixture *f, long offset, int byte, size_t len);
/* Names, sizes and a sum of the content of everything in the directory. */
void fixture_listing(const struct fixture *f, struct rk_bytes *out);

struct rig {
	struct rk_context ctx;
	struct rk_reader *reader;
	struct rk_error err;
	struct rk_bytes text;
};

/* 0 or the error of opening; rig_close in both cases. */
int rig_open(struct rig *r, const char *path);
int rig_open_in(struct rig *r, const char *path, const char *tmpdir);
/* Rows of a table, one per line, "name=value" of what is not null; NULL after an error. */
const char *rig_dump(struct rig *r, enum rk_table t, uint64_t want);
/* Rows that a table gives, or the error. */
int64_t rig_count(struct rig *r, enum rk_table t);
uint64_t rig_warnings(const struct rig *r, const char *kind); /* their counts together */
void rig_close(struct rig *r);

#endif
