/*
 * diff_side.h - the runs of one side of a comparison as one: means over them, rounded to a
 * nanosecond for each kernel, direction and function; totals are the sums of what was rounded.
 */
#ifndef RK_DIFF_SIDE_H
#define RK_DIFF_SIDE_H

#include "diff/diff_profile.h"

/* Values of several runs: how many, their mean, and squared distances from it. */
struct rk_sample {
	double n, mean, squares;
};

struct rk_side_name {
	const char *text; /* the profile's */
	uint64_t calls, least, most, timed;
	int64_t total_ns;
	uint64_t timed_all; /* of all runs */
	double median_ns, median_low_ns, median_high_ns, mad_ns;
	double squares, free;   /* of all runs, as in a profile */
	struct rk_sample means; /* of the runs that have it */
	/* how most launches look, for matching; -1: not known */
	double work, block;
	/* in the first run that has it */
	const struct rk_profile *of;
	const struct rk_profile_name *name;
};

struct rk_side_line {
	const char *name;
	uint64_t calls;
	int64_t bytes, total_ns;
};

struct rk_side_lines {
	struct rk_side_line *v; /* by name */
	size_t n;
	bool known; /* in every run */
	int64_t total_ns;
};

struct rk_side {
	const struct rk_profile *const *profiles;
	size_t runs;
	struct rk_side_name *names; /* by text */
	size_t nnames;
	uint64_t calls, timed;
	int64_t total_ns;
	struct rk_sample totals, walls; /* by run */
	struct rk_profile_time time;
	struct rk_side_lines copies, api, ranks;
};

/* Borrows the profiles. Zeroed before; released also after a failure. */
int rk_side_make(const struct rk_profile *const *p, size_t n, struct rk_side *ret,
		 struct rk_error *err);
void rk_side_release(struct rk_side *s);

#endif
