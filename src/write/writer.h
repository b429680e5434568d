/*
 * writer.h - the interface of an output format. One const table per format.
 *
 * Most formats hold one table per file. A `trace` holds a whole run: it gets batches of all tables
 * that have times, one table after the other in the order of rk_trace_tables, each sorted by time;
 * batch->schema says which table. Agents and processes come before them.
 */
#ifndef RK_WRITER_H
#define RK_WRITER_H

#include "io/output.h"
#include "table/source.h"

struct rk_writer {
	const struct rk_writer_ops *ops;
};

/* How a trace relates to other traces of an archive; zeros are fine. */
struct rk_trace_scope {
	uint32_t tables;     /* bit set of the tables that will be written */
	struct rk_map *pids; /* pids shown in traces of the archive -> member; NULL: no archive */
	uint32_t member;     /* number of this trace in the archive */
};

struct rk_writer_ops {
	const char *name; /* argument of `-f` */
	const char *help;
	const char *suffix; /* ".parquet" */
	bool trace;         /* one file holds all tables */
	/*
	 * `out` is borrowed: the caller commits or aborts it after finish and close. The schema is
	 * NULL for a trace.
	 */
	int (*open)(struct rk_output *out, const struct rk_schema *schema, struct rk_context *ctx,
		    struct rk_writer **ret, struct rk_error *err);
	/* Traces only, NULL for other formats. May be called once, before the first batch. */
	void (*scope)(struct rk_writer *w, const struct rk_trace_scope *scope);
	/* Any number of rows; the batch is borrowed for the call. */
	int (*batch)(struct rk_writer *w, const struct rk_batch *b, struct rk_error *err);
	/* After the last batch; writes everything that is still buffered. */
	int (*finish)(struct rk_writer *w, struct rk_error *err);
	void (*close)(struct rk_writer *w);
	/*
	 * Traces only: bytes near the start of every file of this writer that no other program
	 * writes.
	 */
	const char *mark;
	size_t mark_len;
};

/* The tables of a trace in the order they are written, RK_NTABLES at the end (writers.c). */
extern const enum rk_table rk_trace_tables[];

extern const struct rk_writer_ops rk_writer_parquet, rk_writer_csv, rk_writer_jsonl,
	rk_writer_perfetto, rk_writer_chrome;
/* All formats, NULL at the end (writers.c). */
extern const struct rk_writer_ops *const rk_writers[];

/* By name ("parquet") or by the suffix of a path; NULL if there is none. */
const struct rk_writer_ops *rk_writer_by_name(const char *name);
const struct rk_writer_ops *rk_writer_by_path(const char *path);
/* Whether a file with this beginning is a trace that rockit wrote. */
bool rk_writer_made(const void *head, size_t len);

#endif
