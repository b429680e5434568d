/* writer.h - what an output format must offer. One const table per format, one table per file. */
#ifndef RK_WRITER_H
#define RK_WRITER_H

#include "io/output.h"
#include "model/context.h"
#include "model/source.h"

struct rk_writer {
	const struct rk_writer_ops *ops;
};

struct rk_writer_ops {
	const char *name; /* the word of `-f` */
	const char *help;
	const char *suffix; /* ".parquet" */
	/* `out` is borrowed: the caller commits or aborts it after finish and close. */
	int (*open)(struct rk_output *out, const struct rk_schema *schema, struct rk_context *ctx,
		    struct rk_writer **ret, struct rk_error *err);
	/* Any number of rows; the batch is borrowed for the call. */
	int (*batch)(struct rk_writer *w, const struct rk_batch *b, struct rk_error *err);
	/* After the last batch; writes what is held back. */
	int (*finish)(struct rk_writer *w, struct rk_error *err);
	void (*close)(struct rk_writer *w);
};

/* All formats, NULL at the end (writers.c). */
extern const struct rk_writer_ops *const rk_writers[];

/* By name ("parquet") or by the suffix of a path; NULL when none fits. */
const struct rk_writer_ops *rk_writer_by_name(const char *name);
const struct rk_writer_ops *rk_writer_by_path(const char *path);

#endif
