/* rocpd_scan.h - the rows of one standard table, from every set of the file. rocpd*.c only. */
#ifndef RK_ROCPD_SCAN_H
#define RK_ROCPD_SCAN_H

#include "read/rocpd/rocpd_impl.h"

/* A column of a base table, read when the caller wants one of the fields it serves. */
struct rocpd_column {
	const char *name;
	uint64_t serves;
	enum rk_sqlite_kind kind;
};
#define ROCPD_ALWAYS UINT64_MAX
#define ROCPD_INT(name, serves)             \
	{                                   \
		name, serves, RK_SQLITE_INT \
	}
#define ROCPD_TEXT(name, serves)             \
	{                                    \
		name, serves, RK_SQLITE_TEXT \
	}

/* Every part lists these columns first (name NULL where its table has no such column). */
enum {
	COL_NID,
	COL_PID,
	COL_TID,
	COL_AGENT,
	COL_QUEUE,
	COL_STREAM,
	COL_TRACK, /* schema 4: stands for the six above */
	COL_START,
	COL_END,
	COL_EVENT,
	COL_OWN /* the first that is the part's own */
};

struct rocpd_scan;

/* One base table that feeds the standard table. */
struct rocpd_part {
	enum rocpd_what what;
	const struct rocpd_column *columns;
	size_t ncolumns;
	/*
	 * Fills row `row` from s->c. 1: done; 0: the row belongs elsewhere, nothing was written.
	 * Failures are left in s->error.
	 */
	int (*row)(struct rocpd_scan *s, size_t row);
};

struct rocpd_constant {
	unsigned field;
	const char *text;
};

struct rocpd_plan {
	enum rk_table table;
	uint64_t gives; /* fields that the rows may have */
	const struct rocpd_part *parts;
	size_t nparts;
	uint64_t events_for[EVENT_NCOLUMNS]; /* fields that need this column of the event */
	struct rocpd_constant constants[2];  /* text NULL: none */
	/*
	 * NULL: the parts are read one after another. Otherwise called to add rows of s->set until
	 * the batch is full; 1: full, 0: no more rows in this set. `leave` frees what it holds.
	 */
	int (*fill)(struct rocpd_scan *s, struct rk_error *err);
	void (*leave)(struct rocpd_scan *s);
};

struct rocpd_scan {
	struct rk_source base;
	struct rocpd *r;
	const struct rocpd_plan *plan;
	uint64_t want;
	struct rk_builder b;
	void *col[64]; /* values of each wanted field, NULL for the others */
	size_t set, part;
	uint64_t rows_about;        /* of the current part, for progress; 0: unknown */
	struct rk_sqlite_cursor *c; /* on the row being read; NULL between parts */
	struct rocpd_dim dims[ROCPD_NWHAT];
	struct rocpd_events events;
	struct rk_bytes text; /* scratch */
	bool set_open;
	struct rk_error error; /* first failure inside a put, looked at after each row */
	struct rk_error cause; /* of a step: here because clearing one for each row costs */
	uint64_t wrong, range; /* cells not in the warnings yet */
	const char *range_field;
	void *own; /* the plan's */
};

extern const struct rocpd_plan rk_rocpd_kernels, rk_rocpd_memcpy, rk_rocpd_memalloc, rk_rocpd_api,
	rk_rocpd_markers, rk_rocpd_counters, rk_rocpd_agents, rk_rocpd_processes;

int rk_rocpd_scan_open(struct rocpd *r, const struct rocpd_plan *plan, uint64_t want,
		       struct rk_source **ret, struct rk_error *err);

void rk_rocpd_put_null(struct rocpd_scan *s, unsigned field, size_t row);
void rk_rocpd_out_of_range(struct rocpd_scan *s, unsigned field, size_t row);

static inline bool rk_rocpd_wants(const struct rocpd_scan *s, unsigned field)
{
	return s->col[field] != NULL;
}

/* The value of column `i` in the current row, RK_NONE for null and what is no number. */
static inline int64_t rk_rocpd_cell(struct rocpd_scan *s, unsigned i)
{
	int64_t v = RK_NONE;

	if (rk_sqlite_i64(s->c, i, &v) == RK_CELL_WRONG)
		s->wrong++;
	return v;
}

/* RK_NONE is null; what an int32 column cannot hold is null and counted. */
static inline void rk_rocpd_put(struct rocpd_scan *s, unsigned field, size_t row, int64_t v)
{
	void *col = s->col[field];

	if (!col)
		return;
	if (v == RK_NONE)
		rk_rocpd_put_null(s, field, row);
	else if (s->b.schema->fields[field].type == RK_I64)
		((int64_t *)col)[row] = v;
	else if (s->b.schema->fields[field].type == RK_STR)
		((uint32_t *)col)[row] = (uint32_t)v;
	else if (v >= INT32_MIN && v <= INT32_MAX)
		((int32_t *)col)[row] = (int32_t)v;
	else
		rk_rocpd_out_of_range(s, field, row);
}

/* Value `i` of the row of table `what` that has this id; RK_NONE when there is none. */
int64_t rk_rocpd_resolve(struct rocpd_scan *s, enum rocpd_what what, int64_t id, unsigned i);
/* As resolve, but an id that is not in the table stands for itself. */
int64_t rk_rocpd_resolve_or_id(struct rocpd_scan *s, enum rocpd_what what, int64_t id);
/* COL_NID .. COL_STREAM of the current row, through the track where the table lacks it. */
int64_t rk_rocpd_place(struct rocpd_scan *s, unsigned col);

/* The usual fields of a row. */
void rk_rocpd_put_who(struct rocpd_scan *s, size_t row, unsigned node, unsigned pid, unsigned tid);
void rk_rocpd_put_times(struct rocpd_scan *s, size_t row, unsigned start, unsigned duration,
			unsigned end_col);
void rk_rocpd_put_text(struct rocpd_scan *s, unsigned field, size_t row, const char *text,
		       size_t len);
/* The event of the current row; NULL when there is none. */
const struct rk_sqlite_cursor *rk_rocpd_event(struct rocpd_scan *s);
/* correlation_id: the event's stack_id. */
void rk_rocpd_put_correlation(struct rocpd_scan *s, unsigned field, size_t row);

#define ROCPD_BIT(f) (UINT64_C(1) << (f))

#endif
