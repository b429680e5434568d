/* fuse_clock_impl.h - what fuse_clock.c and fuse_clock_ops.c share. */
#ifndef RK_FUSE_CLOCK_IMPL_H
#define RK_FUSE_CLOCK_IMPL_H

#include "api/fuse_clock.h"

/* One of each for every member. */
struct rk_clock_input {
	struct rk_align_input *in;
	struct rk_align_rank *out, *best;
	size_t n;
};

/* Ranks that `out` has not aligned to `reference`, by the calls of one operation. */
int rk_clock_by_ops(struct rk_clock_input *i, size_t reference, const struct rk_fuse_calls *calls,
		    struct rk_error *err);

#endif
