/*
 * diff_parts.h - a difference taken apart.
 *
 *   GPU time = sum of the durations of kernels (barrier packets are none)
 *            = appeared + vanished + speed + calls
 *   wall     = first start to last end of kernels and copies, all devices on one line
 *            = GPU time - overlap - unplaced + copies + idle
 *
 * overlap: what kernels that run at the same time save. unplaced: kernels with a duration and no
 * start. copies: the time in which a copy ran and no kernel. idle: in which neither ran.
 *
 * Of a kernel that both sides have, with f calls on the side that has fewer and m on the other:
 * the m calls scaled to f of them (rounded once) against the f calls is speed, the rest of the m
 * calls is calls. So speed + calls is the difference, to the nanosecond, and changing sides
 * changes nothing but the sign.
 */
#ifndef RK_DIFF_PARTS_H
#define RK_DIFF_PARTS_H

#include "base/list.h"
#include "diff/diff_match.h"

struct rk_diff_work {
	struct rk_side a, b;
	struct rk_pair *pairs;
	size_t npairs;
	struct rk_list texts; /* of the result: it takes them over */
	struct rk_diff *d;
};

/* w->a, b, pairs are there; fills kernels, grids, gpu, wall, copy, api and their lines of w->d. */
int rk_diff_parts(struct rk_diff_work *w, struct rk_error *err);

/* The result's own copy of a text; "" when out of memory, which w->texts.bad tells. */
const char *rk_diff_own(struct rk_diff_work *w, const char *text);

/* ---- grids (diff_grids.c) ---- */

/* Launches of one kernel with one shape on both sides. */
struct rk_shape_count {
	struct rk_shape shape;
	uint64_t a, b;
};
/*
 * Shapes of a name of profile pa and one of pb (either NULL: none), each once. *ret is owned by
 * the caller: rk_free.
 */
int rk_shape_counts(const struct rk_profile *pa, const struct rk_profile_name *a,
		    const struct rk_profile *pb, const struct rk_profile_name *b,
		    struct rk_shape_count **ret, size_t *ret_n, struct rk_error *err);

#endif
