/*
 * sql.h - readers of SQLite files whose tables are described by data.
 *
 * A format is a list of plans, one per standard table. A plan is a list of parts, one per table of
 * the file. A part names the columns it reads and has a function that turns one of its rows into
 * one of ours. There may be several sets of tables, one per process, whose names end in different
 * suffixes; ids are only valid inside one set. Dims resolve ids. A missing table gives no rows, a
 * missing column gives nulls. Warnings: "hot-wal", "damaged-database", "wrong-type",
 * "out-of-range", "lookup-limit".
 */
#ifndef RK_SQL_H
#define RK_SQL_H

#include "base/bytes.h"
#include "base/map.h"
#include "codec/sqlite.h"
#include "read/reader.h"

#define SQL_ALWAYS UINT64_MAX
#define SQL_BIT(f) (UINT64_C(1) << (f))

/* A column. It is read if the caller wants one of the fields that depend on it. */
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
	const char *table; /* without the suffix, ASCII case-insensitive */
	const struct sql_column *columns;
	size_t ncolumns;
	/*
	 * Fills row `row` from the current row of the table. Returns 1, or 0 if it does not belong
	 * to this table.
	 */
	int (*row)(struct sql_scan *s, size_t row);
	/* Does the part apply to this file? NULL: yes, if the file has the table. */
	bool (*fits)(const struct sql_reader *r, const struct rk_sqlite_table *t);
	/*
	 * NULL: read the table once. Otherwise read it once for each k from 0 on, with the returned
	 * column as the last column, until this returns NULL.
	 */
	const char *(*nth)(const struct rk_sqlite_table *t, size_t k);
};

struct sql_plan {
	enum rk_table table;
	unsigned node_field; /* gets r->node; 0: the rows have it, or nothing does */
	const struct sql_part *parts;
	size_t nparts;
	uint64_t gives;       /* fields of the rows that do not come from a column of the parts */
	const char *needs[2]; /* tables that a set must have besides the part's */
	/*
	 * NULL: read the parts one after another. Otherwise called to add rows of the current set
	 * until the batch is full. Returns 1 if it is full, 0 if the set has no more rows.
	 */
	int (*fill)(struct sql_scan *s, struct rk_error *err);
};

enum { SQL_DIM_WIDTH = 9, SQL_MAX_DIMS = 10 };

/* A table of ids: the key, and the values of its row. Texts become name ids. */
struct sql_dim_def {
	const char *table;
	unsigned width; /* number of columns besides the key */
	struct rk_sqlite_column columns[1 + SQL_DIM_WIDTH];
};

struct sql_format {
	const char *marks[3]; /* texts by which rk_sql_probe recognises the file; ends with NULL */
	const char *source, *clock; /* constants in the kernels table */
	const char *what;           /* for messages: "Nsight Systems" */
	bool each_opening;          /* count warnings about the file each time it is opened */
	const char *prefix;         /* prefix of all table names */
	const struct sql_plan *plans;
	size_t nplans;
	const struct sql_dim_def *dims;
	size_t ndims;
	size_t scan_bytes; /* of the format's own scan, which begins with struct sql_scan */
	/* Fills r->suffixes; NULL: one set, no suffix. */
	int (*find_sets)(struct sql_reader *r, struct rk_error *err);
	/* Called once after opening the file: finds r->node. May be NULL. */
	int (*opened)(struct sql_reader *r, struct rk_error *err);
	/* Called at the end of each set: frees the memory of the format's own scan. May be NULL. */
	void (*leave)(struct sql_scan *s);
};

struct sql_reader {
	struct rk_reader base;
	const struct sql_format *format;
	struct rk_instream *in;
	struct rk_context *ctx;
	struct rk_sqlite *db;
	struct rk_sqlite_table *tables; /* sorted by name */
	size_t ntables;
	const char **suffixes; /* one per set; NULL: one set, no suffix */
	size_t nsets;
	int64_t node; /* id of the host name, the same in all rows; RK_NONE: unknown */
};

/* Implement the reader's probe, open, scan and close; ops->format is a struct sql_format. */
int rk_sql_probe(const struct rk_head *head);
int rk_sql_open(const struct rk_reader_ops *ops, struct rk_instream *in, struct rk_context *ctx,
		struct rk_reader **ret, struct rk_error *err);
int rk_sql_scan(struct rk_reader *base, enum rk_table t, uint64_t want, struct rk_source **ret,
		struct rk_error *err);
void rk_sql_close(struct rk_reader *base);

/* Do the bytes begin like a SQLite file? */
bool rk_sql_has_magic(const struct rk_head *head);
/* The table `name` followed by `suffix`, ASCII case-insensitive; NULL if there is none. */
const struct rk_sqlite_table *rk_sql_table(const struct sql_reader *r, const char *name,
					   const char *suffix);
/* Counts damage as a warning and returns 0; other errors are returned in *err. */
int rk_sql_damage(struct sql_reader *r, struct rk_error *cause, int rc, struct rk_error *err);

/*
 * Opens rows of `t` ordered by column `by` of `columns`: in stored order if it never decreases, else
 * SQLite sorts. Null counts as the lowest. *ret stays NULL if the table is damaged.
 */
int rk_sql_open_in_order(struct sql_reader *r, const struct rk_sqlite_table *t,
			 const struct rk_sqlite_column *columns, size_t n, unsigned by,
			 struct rk_sqlite_cursor **ret, struct rk_error *err);

/* ---- dim.c ---- */

struct sql_dim {
	struct sql_reader *r;
	const struct sql_dim_def *def;
	struct rk_sqlite_cursor *c; /* seeks by key; NULL: everything was read at the start */
	struct rk_index index;
	int64_t *rows; /* n rows: the key, then def->width values */
	size_t n, cap;
	const int64_t *last; /* the row found last, or NULL */
};

/* If the table is missing, the dim finds nothing. */
int rk_sql_dim_open(struct sql_dim *d, struct sql_reader *r, const struct sql_dim_def *def,
		    const char *suffix, struct rk_error *err);
/*
 * The key and the values of the row, or NULL; valid until the next get. Errors are stored in *err.
 */
const int64_t *rk_sql_dim_get(struct sql_dim *d, int64_t id, struct rk_error *err);
void rk_sql_dim_close(struct sql_dim *d);

/* ---- for the parts' row functions ---- */

struct sql_scan {
	struct rk_source base;
	struct sql_reader *r;
	const struct sql_plan *plan;
	uint64_t want;
	struct rk_builder b;
	void *col[64]; /* values of each wanted field, NULL for the others */
	size_t set, part, nth;
	const char *suffix;         /* suffix of the current set, if set_open */
	const char *nth_name;       /* the current column of a part that is read several times */
	struct rk_sqlite_cursor *c; /* on the current row; NULL between parts */
	uint64_t rows_about;        /* rows of the current part, for progress; 0: unknown */
	struct sql_dim dims[SQL_MAX_DIMS];
	bool set_open;
	struct rk_error error; /* first error inside a put, checked after each row */
	struct rk_error cause; /* of a step; kept here because clearing it per row costs time */
	uint64_t wrong, range; /* bad cells not yet in the warnings */
	const char *range_field;
};

static inline bool rk_sql_wants(const struct sql_scan *s, unsigned field)
{
	return s->col[field] != NULL;
}

/* The value of column `i`; RK_NONE if it is null or not a number. */
static inline int64_t rk_sql_cell(struct sql_scan *s, unsigned i)
{
	int64_t v = RK_NONE;

	if (rk_sqlite_i64(s->c, i, &v) == RK_CELL_WRONG)
		s->wrong++;
	return v;
}

/* The same, but the value of `other` if `i` has none. */
static inline int64_t rk_sql_cell_or(struct sql_scan *s, unsigned i, unsigned other)
{
	int64_t v = rk_sql_cell(s, i);

	return v == RK_NONE ? rk_sql_cell(s, other) : v;
}

void rk_sql_put_null(struct sql_scan *s, unsigned field, size_t row);
/* Slow path: a bool, or a value that does not fit int32, which becomes null and is counted. */
void rk_sql_put_other(struct sql_scan *s, unsigned field, size_t row, int64_t v);

/* RK_NONE becomes null; a value that does not fit int32 becomes null and is counted. */
static inline void rk_sql_put(struct sql_scan *s, unsigned field, size_t row, int64_t v)
{
	void *col = s->col[field];
	enum rk_type type;

	if (!col)
		return;
	type = s->b.schema->fields[field].type;
	if (v == RK_NONE)
		rk_sql_put_null(s, field, row);
	else if (type == RK_I64)
		((int64_t *)col)[row] = v;
	else if (type == RK_STR)
		((uint32_t *)col)[row] = (uint32_t)v;
	else if (type == RK_I32 && v == (int32_t)v)
		((int32_t *)col)[row] = (int32_t)v;
	else
		rk_sql_put_other(s, field, row, v);
}

void rk_sql_put_f64(struct sql_scan *s, unsigned field, size_t row, unsigned col);
/* A NULL text becomes null. */
void rk_sql_put_text(struct sql_scan *s, unsigned field, size_t row, const char *text, size_t len);
void rk_sql_put_word(struct sql_scan *s, unsigned field, size_t row, const char *word);
void rk_sql_put_column(struct sql_scan *s, unsigned field, size_t row, unsigned col);
/* Sets start and duration from columns with start and end. */
void rk_sql_put_times(struct sql_scan *s, size_t row, unsigned start, unsigned duration,
		      unsigned start_col, unsigned end_col);
/* Value `i` of the row with this id in dim `which`; RK_NONE if there is none. */
int64_t rk_sql_resolve(struct sql_scan *s, unsigned which, int64_t id, unsigned i);

/* ---- extdata.c: a minimal JSON parser for columns that contain JSON ---- */

struct sql_span {
	const char *s;
	size_t len;
};

/* The text of column `i`; empty if null. */
struct sql_span rk_sql_json(const struct rk_sqlite_cursor *c, unsigned i);
/* The value of `key` in the object `json`, not in nested objects; false if missing. */
bool rk_sql_json_field(struct sql_span json, const char *key, struct sql_span *ret);
/* Removes the next element from the array at *rest; start with *rest = the array itself. */
bool rk_sql_json_element(struct sql_span *rest, struct sql_span *ret);
/* A number, bare or in quotes. */
bool rk_sql_json_i64(struct sql_span value, int64_t *ret);
/* The number of `key` in the object `json`; RK_NONE if there is none. */
int64_t rk_sql_json_number(struct sql_span json, const char *key);
/* Appends a string without its quotes and escapes; false if it is not a string. */
bool rk_sql_json_text(struct sql_span value, struct rk_bytes *out);

#endif
