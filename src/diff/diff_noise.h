/* diff_noise.h - how much of a change is chance. */
#ifndef RK_DIFF_NOISE_H
#define RK_DIFF_NOISE_H

#include "diff/diff_match.h"

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

/*
 * What the mean of one kernel's dispatches may differ by through chance: from the spread of its
 * dispatches of equal grid, and from that between runs where there are several; the larger. NaN:
 * not known.
 */
double rk_noise_of_mean(const struct rk_side_name *a, const struct rk_side_name *b);
/* The same of the time of all kernels. */
double rk_noise_of_total(const struct rk_side *a, const struct rk_side *b);
/* Of what is known once a run: NaN without several runs on a side. */
double rk_noise_of_runs(const struct rk_sample *a, const struct rk_sample *b);

#endif
