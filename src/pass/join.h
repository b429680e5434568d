/* join.h - kernels with the hardware counters of each dispatch as columns. */
#ifndef RK_JOIN_H
#define RK_JOIN_H

#include "model/context.h"
#include "model/source.h"
#include "pass/matrix.h"

enum { RK_JOIN_MAX_COUNTERS = 1024 };

/* The counters of a run by name: the extra columns of its kernels table. */
struct rk_counter_set {
	uint32_t ids[RK_JOIN_MAX_COUNTERS];       /* names, in order of first appearance */
	uint16_t slots[4 * RK_JOIN_MAX_COUNTERS]; /* hash table of places in ids + 1 */
	unsigned n;
	bool more;               /* there were more than fit */
	struct rk_field *fields; /* kernels' own and then one double each */
	struct rk_schema schema;
};

/* Adds a name; one that kernels has as a column of its own is passed over. */
void rk_counter_set_add(struct rk_counter_set *set, struct rk_context *ctx, uint32_t id);
/* Adds the names in a pass over counters (RK_N_COUNTER). */
int rk_counter_set_scan(struct rk_counter_set *set, struct rk_context *ctx,
			struct rk_source *counters, struct rk_error *err);
/* The column of a counter in set->schema, or -1. */
int rk_counter_set_field(const struct rk_counter_set *set, uint32_t id);
/* After the last: makes set->schema. Names are borrowed from ctx->names. */
int rk_counter_set_schema(struct rk_counter_set *set, struct rk_context *ctx, struct rk_error *err);
void rk_counter_set_release(struct rk_counter_set *set);

/* One pass each over counters (RK_N_DISPATCH, _COUNTER, _VALUE, _PID), a layout between them. */
int rk_join_note(struct rk_matrix *m, struct rk_source *counters, struct rk_error *err);
int rk_join_fill(struct rk_matrix *m, const struct rk_counter_set *set, struct rk_source *counters,
		 struct rk_error *err);

/*
 * Kernels with set->schema: values of `m` (NULL: all missing) by dispatch id, or by the order of
 * the rows, from 1. Takes over `rows` and `m`, also on failure; `set` must outlive it.
 */
int rk_join_open(struct rk_source *rows, struct rk_matrix *m, const struct rk_counter_set *set,
		 bool by_order, struct rk_source **ret, struct rk_error *err);

#endif
