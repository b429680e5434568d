/* diff_world.h - small runs for tests of comparisons. */
#ifndef RK_DIFF_WORLD_H
#define RK_DIFF_WORLD_H

#include "diff/diff_profile.h"
#include "tap.h"
#include "world.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* A kernel; a copy when `bytes` is not 0. 0 means not known in dispatch, grid and block. */
struct launch {
	const char *name;
	int64_t start, duration; /* -1: none */
	int32_t grid, block, stream;
	int64_t dispatch, bytes;
};

/* Rows held and symbols kept; 0: as usual. */
struct diff_limits {
	size_t held, symbols;
};

/* The profile of these rows, in this order. NULL and *ret_rc on failure. */
struct rk_profile *diff_profile(struct world *w, const struct launch *v, size_t n, bool structure,
				struct diff_limits limits, int *ret_rc);
/* The same when nothing can fail. */
struct rk_profile *diff_profile_of(const struct launch *v, size_t n);
/* Two profiles compared and freed. */
struct rk_diff *diff_of(struct rk_profile *a, struct rk_profile *b,
			const struct rk_diff_options *opt);
/* The part of that name, NULL when there is none. */
const struct rk_diff_part *diff_part(const struct rk_diff_whole *w, const char *name);
/* The kernel that B (or, if only A has it, A) calls so. */
const struct rk_diff_kernel *diff_kernel(const struct rk_diff *d, const char *name);
/* Every sum holds: checked. */
void diff_check_sums(const struct rk_diff *d);

#endif
