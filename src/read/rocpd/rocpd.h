/*
 * rocpd.h - the SQLite databases that rocprofv3 writes since ROCm 7.0.
 *
 * Provides kernels, memcpy, memalloc, api, markers, counters, samples, agents and processes, if the
 * file has a table for them. Tables and columns are those that the file has, whatever version it
 * claims: branches of the tool gave the same number to different schemas. Warnings: those of
 * read/sql/sql.h, "counter-without-dispatch", "pc-sample", "schema-version".
 */
#ifndef RK_ROCPD_H
#define RK_ROCPD_H

#include "read/sql/sql.h"

/* Dims (see read/sql/sql.h). */
enum {
	STRINGS,
	NODES,
	PROCESSES,
	THREADS,
	AGENTS,
	PMCS,
	SYMBOLS,
	TRACKS,
	CATEGORIES, /* schema 4; before that, strings */
	SAMPLES,
	NDIMS
};
/* Values of dims with more than one value. */
enum { PMC_NAME, PMC_NID, PMC_AGENT };
enum { CATEGORY_NAME, CATEGORY_STRING, CATEGORY_NAME_ID };
enum { SYMBOL_NAME, SYMBOL_DISPLAY, SYMBOL_VGPR, SYMBOL_ACCUM, SYMBOL_SGPR };
enum { TRACK_NID, TRACK_PID, TRACK_TID, TRACK_AGENT, TRACK_QUEUE, TRACK_STREAM, TRACK_NAME };

/* Every part lists these columns first (name NULL if its table does not have it). */
enum {
	COL_NID,
	COL_PID,
	COL_TID,
	COL_AGENT,
	COL_QUEUE,
	COL_STREAM,
	COL_TRACK, /* schema 4: replaces the six columns above, in the order of TRACK_... */
	COL_START,
	COL_END,
	COL_EVENT,
	COL_OWN /* first column of the part itself */
};

/* Columns of the event that belongs to a row. */
enum { EVENT_ID, EVENT_CATEGORY, EVENT_STACK, EVENT_EXTDATA, EVENT_NCOLUMNS };

struct rocpd_events {
	struct rk_sqlite_cursor *c; /* on the event that was found last */
	bool open, keyed, on_row, ended;
	int64_t at; /* id of that event */
};

struct rocpd_counters;

struct rocpd_scan {
	struct sql_scan sql;
	struct rocpd_events events;
	struct rk_bytes text; /* scratch */
	struct rocpd_counters *counters;
	uint64_t pc_samples; /* rows that were skipped */
};

extern const struct sql_part rk_rocpd_kernels[1], rk_rocpd_copies[1], rk_rocpd_allocs[1],
	rk_rocpd_calls[2], rk_rocpd_markers[4], rk_rocpd_agents[1], rk_rocpd_processes[1],
	rk_rocpd_samples[1];

/* The plan of the counters table. */
int rk_rocpd_counters_fill(struct sql_scan *s, struct rk_error *err);
void rk_rocpd_counters_leave(struct rocpd_scan *s);

/* Value 0 of the dim's row, or the id itself if the dim does not have it. */
int64_t rk_rocpd_resolve_or_id(struct sql_scan *s, unsigned dim, int64_t id);
/* COL_NID .. COL_STREAM of the current row, from the track if the table does not have it. */
int64_t rk_rocpd_place(struct sql_scan *s, unsigned col);
/* The name of a kernel symbol. */
int64_t rk_rocpd_symbol_name(struct sql_scan *s, int64_t id);
void rk_rocpd_put_who(struct sql_scan *s, size_t row, unsigned node, unsigned pid, unsigned tid);
/* The event of the current row; NULL if there is none. */
const struct rk_sqlite_cursor *rk_rocpd_event(struct sql_scan *s);
/* correlation_id: the event's stack_id. */
void rk_rocpd_put_correlation(struct sql_scan *s, unsigned field, size_t row);

#endif
