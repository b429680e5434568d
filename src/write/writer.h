/*
 * writer.h - what an output format must offer. One const table per format.
 *
 * Most formats hold one table per file. A `trace` holds a whole run: its batches are of all tables
 * that have times, one table after the other in the order of rk_trace_tables, each in order of its
 * times; batch->schema tells which. Agents and processes come before them.
 */
#ifndef RK_WRITER_H
#define RK_WRITER_H

#include "io/output.h"
#include "table/source.h"

struct rk_writer {
	const struct rk_writer_ops *ops;
};

/* The place of a trace among others; all of it may be 0. */
struct rk_trace_scope {
	uint32_t tables;     /* bits of the tables that will come */
	struct rk_map *pids; /* shown in other traces of an archive: pid -> member; NULL: alone */
	uint32_t member;     /* this one's number there */
};

struct rk_writer_ops {
	const char *name; /* the word of `-f` */
	const char *help;
	const char *suffix; /* ".parquet" */
	bool trace;         /* a file holds all tables */
	/*
	 * `out` is borrowed: the caller commits or aborts it after finish and close. The schema is
	 * NULL for a trace.
	 */
	int (*open)(struct rk_output *out, const struct rk_schema *schema, struct rk_context *ctx,
		    struct rk_writer **ret, struct rk_error *err);
	/* Of a trace: may be called once, before the first batch. NULL for other formats. */
	void (*scope)(struct rk_writer *w, const struct rk_trace_scope *scope);
	/* Any number of rows; the batch is borrowed for the call. */
	int (*batch)(struct rk_writer *w, const struct rk_batch *b, struct rk_error *err);
	/* After the last batch; writes what is held back. */
	int (*finish)(struct rk_writer *w, struct rk_error *err);
	void (*close)(struct rk_writer *w);
	/*
	 * Of a trace: bytes that stand near the start of each file that this writer made, and that
	 * no other program writes so.
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

/* By name ("parquet") or by the suffix of a path; NULL when none fits. */
const struct rk_writer_ops *rk_writer_by_name(const char *name);
const struct rk_writer_ops *rk_writer_by_path(const char *path);
/* Whether a file that begins so is a trace that rockit wrote. */
bool rk_writer_made(const void *head, size_t len);

#endif
