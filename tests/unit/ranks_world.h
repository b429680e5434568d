/* ranks_world.h - kernels of ranks, as batches for tests. */
#ifndef RK_RANKS_WORLD_H
#define RK_RANKS_WORLD_H

#include <string.h>

#include "table/table.h"
#include "tap.h"
#include "world.h"

#define NOT_KNOWN INT64_MIN

struct rank_row {
	int64_t rank; /* or NOT_KNOWN, here and below */
	int64_t start, duration;
	const char *name;
	bool barrier;
};

static inline void rank_world_i64(struct rk_builder *b, unsigned f, size_t i, int64_t v)
{
	((int64_t *)rk_builder_column(b, f))[i] = v;
	if (v == NOT_KNOWN)
		rk_builder_null(b, f, i);
}

static inline void rank_world_put(struct world *w, struct rk_builder *b, size_t i,
				  const struct rank_row *r)
{
	uint32_t name = 0;

	CHECK_I64(rk_strtab_add(w->ctx.names, r->name, strlen(r->name), &name, NULL), 0);
	((uint32_t *)rk_builder_column(b, RK_K_NAME))[i] = name;
	((int32_t *)rk_builder_column(b, RK_K_RANK))[i] = (int32_t)r->rank;
	if (r->rank == NOT_KNOWN)
		rk_builder_null(b, RK_K_RANK, i);
	rank_world_i64(b, RK_K_START, i, r->start);
	rank_world_i64(b, RK_K_DURATION, i, r->duration);
	((uint8_t *)rk_builder_column(b, RK_K_BARRIER))[i] = r->barrier;
}

/* All rows as one batch: rk_builder_release. */
static inline void rank_world_batch(struct world *w, struct rk_builder *b,
				    const struct rank_row *rows, size_t n)
{
	CHECK_I64(rk_builder_init(b, rk_table_schema(RK_KERNELS), n ? n : 1, NULL), 0);
	for (size_t i = 0; i < n; i++)
		rank_world_put(w, b, b->nrows++, &rows[i]);
}

#endif
