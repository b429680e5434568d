/* fuse_clock.h - the clocks of a job's ranks, related to one of them. */
#ifndef RK_FUSE_CLOCK_H
#define RK_FUSE_CLOCK_H

#include "ranks/fuse.h"
#include "ranks/fuse_calls.h"

struct rk_fuse_clock {
	struct rk_align_rank to; /* base_ns is the same for all that are aligned */
	enum rk_ranks_clock clock;
	uint32_t domain; /* equal: times can be compared */
	char *by, *note; /* "" for nothing */
};

struct rk_fuse_clocks {
	struct rk_fuse_clock *v; /* one for each member */
	size_t n;
	size_t reference; /* index of a member */
	int64_t base_ns;  /* on its clock */
	size_t alone;     /* how many are not alignable */
};

/*
 * `calls` are finished, of the same ranks as the members. The reference is the first rank, unless
 * another one gives more ranks that can be compared.
 */
int rk_fuse_clocks(const struct rk_fuse_members *m, const struct rk_fuse_calls *calls,
		   struct rk_fuse_clocks *ret, struct rk_error *err);
void rk_fuse_clocks_release(struct rk_fuse_clocks *c);

/* Warns of nodes whose times cannot be compared with the reference's. */
void rk_fuse_clocks_tell(const struct rk_fuse_clocks *c, const struct rk_fuse_members *m,
			 struct rk_diag *diag);

#endif
