/* source.h - a stream of batches of one table. Readers and passes are sources, writers take them. */
#ifndef RK_SOURCE_H
#define RK_SOURCE_H

#include "table/batch.h"

struct rk_source;

struct rk_source_ops {
	/* 1: *batch holds rows, borrowed until the next call; 0: end; < 0: error, then only close. */
	int (*next)(struct rk_source *src, const struct rk_batch **batch, struct rk_error *err);
	/* Called once; frees src and what it wraps. */
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
