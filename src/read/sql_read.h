/*
 * sql_read.h - readers of SQLite files whose tables are described as plain data.
 *
 * A format is a list of plans, one per standard table; a plan is a list of parts, one per table of
 * the file; a part names the columns it reads and has a function that makes one row of one row.
 * What the file lacks gives no rows and nulls. Warnings: "hot-wal", "damaged-database",
 * "wrong-type", "out-of-range", "lookup-limit".
 */
#ifndef RK_SQL_READ_H
#define RK_SQL_READ_H

#include "codec/sqlite/sqlite_db.h"
#include "read/reader.h"

#define SQL_ALWAYS UINT64_MAX
#define SQL_BIT(f) (UINT64_C(1) << (f))

/* A column, read when the caller wants one of the fields it serves. */
struct sql_column {
	const char *name;
	uint64_t serves;
	enum rk_sqlite_kind kind;
};
#define SQL_INT(name, serves)               \
	{                                   \
		name, serves, RK_SQLITE_INT \
	}
#define SQL_REAL(name, serves)               \
	{                                    \
		name, serves, RK_SQLITE_REAL \
	}
#define SQL_TEXT(name, serves)               \
	{                                    \
		name, serves, RK_SQLITE_TEXT \
	}

struct sql_reader;
struct sql_scan;

struct sql_part {
	const char *table; /* ASCII case aside */
	const struct sql_column *columns;
	size_t ncolumns;
	/* Fills row `row` from the current one. 1: done; 0: it belongs elsewhere. */
	int (*row)(struct sql_scan *s, size_t row);
	/* Whether the part applies to this file; NULL: whenever it has the table. */
	bool (*fits)(const struct sql_reader *r, const struct rk_sqlite_table *t);
	/*
	 * NULL: the table is read once. Otherwise once for each k from 0 on, the last column being
	 * the one that is returned, until it returns NULL.
	 */
	const char *(*nth)(const struct rk_sqlite_table *t, size_t k);
};

struct sql_plan {
	enum rk_table table;
	unsigned node_field; /* 0: the table has none */
	const struct sql_part *parts;
	size_t nparts;
};

/* Ids that stand for text: value of the row of `table` whose `key` is the id. */
struct sql_lookup_def {
	const char *table, *key, *value;
};
enum { SQL_MAX_LOOKUPS = 3 };

struct sql_format {
	const struct rk_reader_ops *ops;
	const char *source, *clock; /* constants of the kernels table */
	const char *what;           /* for messages: "Nsight Systems" */
	const struct sql_plan *plans;
	size_t nplans;
	struct sql_lookup_def lookups[SQL_MAX_LOOKUPS];
	/* Called once when the file is open: finds r->node. May be NULL. */
	int (*opened)(struct sql_reader *r, struct rk_error *err);
};

struct sql_reader {
	struct rk_reader base;
	const struct sql_format *format;
	struct rk_instream *in;
	struct rk_context *ctx;
	struct rk_sqlite *db;
	struct rk_sqlite_table *tables;
	size_t ntables;
	int64_t node; /* id of the host's name, the same in all rows; RK_NONE: unknown */
};

/* Behind the reader's open, scan and close. */
int rk_sql_open(const struct sql_format *f, struct rk_instream *in, struct rk_context *ctx,
		struct rk_reader **ret, struct rk_error *err);
int rk_sql_scan(struct rk_reader *base, enum rk_table t, uint64_t want, struct rk_source **ret,
		struct rk_error *err);
void rk_sql_close(struct rk_reader *base);

/* Whether the bytes begin a SQLite file and one of the marks is among them. */
bool rk_sql_has_mark(const void *head, size_t len, const char *const *marks, size_t nmarks);
const struct rk_sqlite_table *rk_sql_table(const struct sql_reader *r, const char *name);
/* Counts damage as a warning and returns 0, or hands on what is no damage. */
int rk_sql_damage(struct sql_reader *r, struct rk_error *cause, int rc, struct rk_error *err);

/* ---- sql_lookup.c ---- */

enum { SQL_CACHE = 1024 };

struct sql_lookup {
	struct sql_reader *r;
	bool open;
	struct rk_sqlite_cursor *c; /* seeks by key; NULL: all was read at the beginning */
	struct sql_pair {
		int64_t key, value;
	} * pairs; /* a cache of SQL_CACHE places, or all rows sorted by key */
	size_t n;  /* of all rows */
};

/* The text's id, RK_NONE when there is none; failures are left in *err. */
int64_t rk_sql_lookup(struct sql_lookup *l, struct sql_reader *r, const struct sql_lookup_def *def,
		      int64_t key, struct rk_error *err);
void rk_sql_lookup_close(struct sql_lookup *l);

/* ---- for the parts' row functions ---- */

struct sql_scan {
	struct rk_source base;
	struct sql_reader *r;
	const struct sql_plan *plan;
	uint64_t want;
	struct rk_builder b;
	void *col[64]; /* values of each wanted field, NULL for the others */
	size_t part, nth;
	const char *nth_name;       /* the column of a part that is read several times */
	struct rk_sqlite_cursor *c; /* on the current row; NULL between parts */
	uint64_t rows_about;        /* of the current part, for progress; 0: unknown */
	struct sql_lookup lookups[SQL_MAX_LOOKUPS];
	struct rk_error error; /* first failure inside a put, looked at after each row */
	struct rk_error cause;
	uint64_t wrong, range; /* cells not in the warnings yet */
	const char *range_field;
};

static inline bool rk_sql_wants(const struct sql_scan *s, unsigned field)
{
	return s->col[field] != NULL;
}

/* The value of column `i`, RK_NONE for null and what is no number. */
int64_t rk_sql_cell(struct sql_scan *s, unsigned i);
/* RK_NONE is null; what an int32 column cannot hold is null and counted. */
void rk_sql_put(struct sql_scan *s, unsigned field, size_t row, int64_t v);
void rk_sql_put_f64(struct sql_scan *s, unsigned field, size_t row, unsigned col);
/* NULL is null. */
void rk_sql_put_text(struct sql_scan *s, unsigned field, size_t row, const char *text, size_t len);
void rk_sql_put_word(struct sql_scan *s, unsigned field, size_t row, const char *word);
void rk_sql_put_column(struct sql_scan *s, unsigned field, size_t row, unsigned col);
/* The text that id `key` stands for in lookup `which`, or RK_NONE. */
int64_t rk_sql_name(struct sql_scan *s, unsigned which, int64_t key);
/* Start and duration of columns that hold start and end. */
void rk_sql_put_times(struct sql_scan *s, size_t row, unsigned start, unsigned duration,
		      unsigned start_col, unsigned end_col);

#endif
