/*
 * diff_side.h - merges the runs of one side of a comparison: means over the runs, rounded to a
 * nanosecond for each kernel, direction and function; totals are sums of the rounded means.
 */
#ifndef RK_DIFF_SIDE_H
#define RK_DIFF_SIDE_H

#include "base/bytes.h"
#include "diff/diff_profile.h"

/* Values of several runs: their number, mean, and squared deviations from it. */
struct rk_sample {
	double n, mean, squares;
};

struct rk_side_name {
	const char *text; /* owned by the profile */
	uint64_t calls, least, most, timed;
	int64_t total_ns;
	uint64_t timed_all; /* over all runs */
	double median_ns, median_low_ns, median_high_ns, mad_ns;
	double squares, free;   /* over all runs, as in a profile */
	struct rk_sample means; /* over the runs that have it */
	/* the most common launch shape, for matching; -1: unknown */
	double work, block;
	/* in the first run that has the kernel */
	const struct rk_profile *of;
	const struct rk_profile_name *name;
};

struct rk_side_line {
	const char *name;
	uint64_t calls;
	int64_t bytes, total_ns;
};

struct rk_side_lines {
	struct rk_side_line *v; /* sorted by name */
	size_t n;
	bool known; /* every run has it */
	int64_t total_ns;
};

struct rk_side {
	const struct rk_profile *const *profiles;
	size_t runs;
	struct rk_side_name *names; /* sorted by text */
	size_t nnames;
	uint64_t calls, timed;
	int64_t total_ns;
	struct rk_sample totals, walls; /* one value per run */
	struct rk_profile_time time;
	struct rk_side_lines copies, api, ranks;
};

/* Borrows the profiles. *ret must be zeroed; release it also after a failure. */
int rk_side_make(const struct rk_profile *const *p, size_t n, struct rk_side *ret,
		 struct rk_error *err);
void rk_side_release(struct rk_side *s);

/* ---- matching kernels of the two sides ---- */

/*
 * First by name. Two of the remaining kernels are treated as one that was renamed if their
 * functions have the same name without template arguments and generated suffixes, half of the whole
 * name is the same, their launches are similar in number (factor 2) and size (factor 16), and
 * neither has a better match. The result does not depend on which side is A.
 */
/* Max unmatched kernels per base name and side that are tried, the longest first. */
enum { RK_MATCH_TRIED = 64 };

struct rk_pair {
	const struct rk_side_name *a, *b; /* NULL: appeared, vanished */
	bool renamed;
};

/* Sorted by name (A's name if A has the kernel). The caller frees *ret with rk_free. */
int rk_match(const struct rk_side *a, const struct rk_side *b, struct rk_pair **ret, size_t *ret_n,
	     struct rk_error *err);

/*
 * Appends the part of a kernel's name that stays the same when code is regenerated. False: no
 * memory.
 */
bool rk_match_base(const char *name, struct rk_bytes *out);

#endif
