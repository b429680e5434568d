/* rocpd_impl.h - shared by the rocpd*.c files only. */
#ifndef RK_ROCPD_IMPL_H
#define RK_ROCPD_IMPL_H

#include "base/bytes.h"
#include "codec/sqlite/sqlite_db.h"
#include "read/rocpd/rocpd.h"

/*
 * Base tables. In the file each is named "rocpd_<what><suffix>"; the tables of one suffix are one
 * process, and ids mean something only inside one suffix.
 */
enum rocpd_what {
	ROCPD_METADATA,
	ROCPD_STRING,
	ROCPD_NODE,
	ROCPD_PROCESS,
	ROCPD_THREAD,
	ROCPD_AGENT,
	ROCPD_PMC,
	ROCPD_SYMBOL,
	ROCPD_TRACK,
	ROCPD_EVENT,
	ROCPD_PMC_EVENT,
	ROCPD_REGION,
	ROCPD_SAMPLE,
	ROCPD_DISPATCH,
	ROCPD_COPY,
	ROCPD_ALLOC,
	ROCPD_NWHAT
};

struct rocpd_set {
	const char *suffix;                                /* part of a table's name */
	const struct rk_sqlite_table *tables[ROCPD_NWHAT]; /* NULL: the file has none */
};

struct rocpd {
	struct rk_reader base;
	struct rk_instream *in;
	struct rk_context *ctx;
	struct rk_sqlite *db;
	struct rk_sqlite_table *tables;
	size_t ntables;
	struct rocpd_set *sets;
	size_t nsets;
};

/* rocpd_sets.c: sorted by suffix; they point into `tables`. No set at all is not an error. */
int rk_rocpd_find_sets(const struct rk_sqlite_table *tables, size_t ntables,
		       struct rocpd_set **ret_sets, size_t *ret_n, struct rk_error *err);

/* Counts the damage of one table, clears `cause` and returns 0, or hands on what is no damage. */
int rk_rocpd_damage(struct rocpd *r, struct rk_error *cause, int rc, struct rk_error *err);

/* ---- rocpd_dim.c: what an id means, looked up once and remembered ---- */

enum { ROCPD_DIM_WIDTH = 7 };

/* Columns of the dims, in their order. Texts are ids in the run's table of names. */
enum { DIM_NODE_HOSTNAME };
enum { DIM_PROCESS_PID };
enum { DIM_THREAD_TID };
enum { DIM_AGENT_INDEX };
enum { DIM_PMC_NAME };
enum { DIM_STRING_TEXT };
enum { DIM_SYMBOL_NAME, DIM_SYMBOL_DISPLAY, DIM_SYMBOL_VGPR, DIM_SYMBOL_ACCUM, DIM_SYMBOL_SGPR };
enum {
	DIM_TRACK_NID,
	DIM_TRACK_PID,
	DIM_TRACK_TID,
	DIM_TRACK_AGENT,
	DIM_TRACK_QUEUE,
	DIM_TRACK_STREAM,
	DIM_TRACK_NAME,
};

struct rocpd_dim {
	struct rocpd *r;
	const struct rocpd_dim_def *def;
	struct rk_sqlite_cursor *c; /* seeks by key; NULL: all was read at the beginning */
	int64_t *keys;              /* open addressing beside slots */
	uint32_t *slots;            /* 0: empty, else 1 + index of the row */
	size_t mask, n, cap;
	int64_t *rows; /* n of them, each of def's width */
	int64_t last_key;
	uint32_t last; /* 1 + index of the row found last, 0: none */
};

/* `what` is one of STRING .. TRACK. A table that is missing gives a dim that finds nothing. */
int rk_rocpd_dim_open(struct rocpd_dim *d, struct rocpd *r, const struct rocpd_set *set,
		      enum rocpd_what what, struct rk_error *err);
/* *ret: the row's values, NULL when there is none; borrowed until the next get. */
int rk_rocpd_dim_get(struct rocpd_dim *d, int64_t id, const int64_t **ret, struct rk_error *err);
void rk_rocpd_dim_close(struct rocpd_dim *d);

/* ---- rocpd_event.c: the event that belongs to a row ---- */

enum { EVENT_ID, EVENT_CATEGORY, EVENT_STACK, EVENT_EXTDATA, EVENT_NCOLUMNS };

struct rocpd_events {
	struct rocpd *r;
	struct rk_sqlite_cursor *c; /* on the event found last */
	bool keyed, on_row, ended;
	int64_t at;            /* id of that event */
	struct rk_error cause; /* scratch */
};

/* `columns` has bit EVENT_... set for each column that will be read. */
int rk_rocpd_events_open(struct rocpd_events *e, struct rocpd *r, const struct rocpd_set *set,
			 unsigned columns, struct rk_error *err);
/* 1: e->c stands on the event; 0: there is none. Fast when the ids asked for ascend. */
int rk_rocpd_events_find(struct rocpd_events *e, int64_t id, struct rk_error *err);
void rk_rocpd_events_close(struct rocpd_events *e);

/* ---- rocpd_json.c: as much JSON as the extdata columns need ---- */

struct rocpd_span {
	const char *s;
	size_t len;
};

/* The value of `key` in the object `json`, not deeper; false when it is not there. */
bool rk_rocpd_json_field(struct rocpd_span json, const char *key, struct rocpd_span *ret);
/* Takes the next element off the array at *rest; begin with *rest = the array itself. */
bool rk_rocpd_json_element(struct rocpd_span *rest, struct rocpd_span *ret);
/* A number, bare or in quotes. */
bool rk_rocpd_json_i64(struct rocpd_span value, int64_t *ret);
/* A string without its quotes and escapes, appended; false when it is none. */
bool rk_rocpd_json_text(struct rocpd_span value, struct rk_bytes *out);

#endif
