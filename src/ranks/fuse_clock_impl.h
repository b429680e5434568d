/* fuse_clock_impl.h - what fuse_clock.c and fuse_clock_ops.c share. */
#ifndef RK_FUSE_CLOCK_IMPL_H
#define RK_FUSE_CLOCK_IMPL_H

#include "ranks/fuse_clock.h"

/* One of each for every member; `out` of the last try, `best` and `loose` of the best. */
struct rk_clock_input {
	struct rk_align_input *in;
	struct rk_align_rank *out, *best;
	bool *loose; /* aligned by collectives that do not end together */
	size_t n;
	int64_t jitter_ns; /* of ends of one collective within a node, -1 not known */
};

/* Fills jitter_ns (fuse_clock_loose.c). */
int rk_clock_jitter(struct rk_clock_input *i, struct rk_error *err);
/* Whether the collectives that aligned a rank scatter more than those of a node. */
bool rk_clock_is_loose(const struct rk_clock_input *i, const struct rk_align_rank *r, size_t rank);

/* Whether nothing but a few of its many collectives aligned a rank. */
bool rk_clock_is_chance(const struct rk_clock_input *i, const struct rk_align_rank *r, size_t rank);

/* Ranks that `out` has not aligned to `reference`, by the calls of one operation. */
int rk_clock_by_ops(struct rk_clock_input *i, size_t reference, const struct rk_fuse_calls *calls,
		    struct rk_error *err);

#endif
