/*
 * diff_parts.h - a difference taken apart.
 *
 *   GPU time = sum of the durations of kernels (without barrier packets)
 *            = appeared + vanished + speed + calls
 *   wall     = first start to last end of kernels and copies, all devices on one line
 *            = GPU time - overlap - unplaced + copies + idle
 *
 * overlap: time saved by kernels that run concurrently. unplaced: kernels with a duration and no start.
 * copies: time in which a copy ran and no kernel. idle: time in which neither ran.
 *
 * For a kernel on both sides, with f calls on the side that has fewer and m on the other: `speed` is the
 * time of the m calls scaled to f calls (rounded once) compared with the f calls; `calls` is the rest of
 * the m calls. So speed + calls is exactly the difference, and swapping the sides only changes the sign.
 */
#ifndef RK_DIFF_PARTS_H
#define RK_DIFF_PARTS_H

#include "base/list.h"
#include "diff/diff_side.h"

struct rk_diff_work {
	struct rk_side a, b;
	struct rk_pair *pairs;
	size_t npairs;
	struct rk_list texts; /* ownership moves to the result at the end */
	struct rk_diff *d;
};

/*
 * Needs w->a, w->b and the pairs. Fills kernels, grids, gpu, wall, copy, api and their lines of
 * w->d.
 */
int rk_diff_parts(struct rk_diff_work *w, struct rk_error *err);

/* ---- how much of a change is due to chance ---- */

/*
 * Student's t: the deviation of a mean, in standard errors, that is exceeded in 1 of 100 cases: in
 * either direction (rk_t99) or upwards (rk_t99_above). df >= 1; accurate to 4 % or better.
 */
double rk_t99(double df);
double rk_t99_above(double df);

/*
 * Standard error of the difference of two means, from the pooled spread; NaN if neither side has two
 * values. *ret_df: degrees of freedom.
 */
double rk_pooled_error(const struct rk_sample *a, const struct rk_sample *b, double *ret_df);

/* ---- grids ---- */

/* Launches of one kernel with one shape on both sides. */
struct rk_shape_count {
	struct rk_shape shape;
	uint64_t a, b;
};
/*
 * The shapes of a name in profile pa and of one in pb (either may be NULL), without duplicates. The
 * caller frees *ret with rk_free.
 */
int rk_shape_counts(const struct rk_profile *pa, const struct rk_profile_name *a,
		    const struct rk_profile *pb, const struct rk_profile_name *b,
		    struct rk_shape_count **ret, size_t *ret_n, struct rk_error *err);

/* ---- what two runs did, independent of speed (diff_structure.c) ---- */

/*
 * Adds differences to ret->findings, and the queues of both sides to ret->queues. The profiles must
 * include their structure. Free with rk_structure_release, also after a failure.
 */
int rk_structure_compare(const struct rk_profile *a, const struct rk_profile *b,
			 struct rk_diff_structure *ret, struct rk_error *err);
void rk_structure_release(struct rk_diff_structure *s);

#endif
