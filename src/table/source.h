/*
 * source.h - a stream of batches of one table, and the context of readers, stages and writers.
 * Readers and stages are sources; writers consume them.
 */
#ifndef RK_SOURCE_H
#define RK_SOURCE_H

#include "base/diag.h"
#include "base/pool.h"
#include "base/strtab.h"
#include "table/batch.h"

/* Memory limits that together keep a conversion below 64 MB for any input size. */
enum {
	RK_NAMES_MAX_BYTES = 8 << 20,    /* the table of distinct names */
	RK_SORT_WINDOW_BYTES = 16 << 20, /* rows held back while sorting */
	RK_ROW_GROUP_BYTES = 10 << 20,   /* rows of a Parquet row group before encoding */
	RK_TEXT_BLOCK_BYTES = 2 << 20,   /* text read at a time */
};

struct rk_context {
	struct rk_strtab *names;
	struct rk_diag *diag;
	struct rk_pool *pool;
	const char *tmpdir; /* for spill files; NULL: $TMPDIR or /tmp */
	bool mangled;       /* of two recorded names of a kernel, the mangled one is wanted */
	/* Called now and then with the bytes read and the total (0: unknown); nonzero cancels. */
	int (*progress)(void *arg, uint64_t done, uint64_t total);
	void *progress_arg;
};

struct rk_source;

struct rk_source_ops {
	/*
	 * 1: *batch has rows, borrowed until the next call; 0: end; < 0: error, then only close may
	 * be called.
	 */
	int (*next)(struct rk_source *src, const struct rk_batch **batch, struct rk_error *err);
	/* Called once; frees src and the source it wraps. */
	void (*close)(struct rk_source *src);
};

struct rk_source {
	const struct rk_source_ops *ops;
	const struct rk_schema *schema; /* the same for every batch, known before the first */
};

static inline int rk_source_next(struct rk_source *s, const struct rk_batch **b,
				 struct rk_error *err)
{
	return s->ops->next(s, b, err);
}

static inline void rk_source_close(struct rk_source *s)
{
	if (s)
		s->ops->close(s);
}

#endif
