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
#include "diff/diff_side.h"

struct rk_diff_work {
	struct rk_side a, b;
	struct rk_pair *pairs;
	size_t npairs;
	struct rk_list texts; /* of the result: it takes them over */
	struct rk_diff *d;
};

/* w->a, b, pairs are there; fills kernels, grids, gpu, wall, copy, api and their lines of w->d. */
int rk_diff_parts(struct rk_diff_work *w, struct rk_error *err);

/* ---- how much of a change is chance ---- */

/*
 * Student's t: what a mean is off by, in standard errors, in 1 of 100 cases to either side
 * (rk_t99) or to one (rk_t99_above). df from 1; accurate to 4 % or better.
 */
double rk_t99(double df);
double rk_t99_above(double df);

/*
 * Standard error of the difference of two means, from the spread within both together; NaN when
 * there are no two values on either side. *ret_df: degrees of freedom.
 */
double rk_pooled_error(const struct rk_sample *a, const struct rk_sample *b, double *ret_df);

/* ---- grids ---- */

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

/* ---- what two runs did, whatever their speed (diff_structure.c) ---- */

/*
 * Adds what differs to ret->findings; queues of both sides to ret->queues. Profiles must have
 * been made with their structure. Released by rk_structure_release, also after a failure.
 */
int rk_structure_compare(const struct rk_profile *a, const struct rk_profile *b,
			 struct rk_diff_structure *ret, struct rk_error *err);
void rk_structure_release(struct rk_diff_structure *s);

#endif
