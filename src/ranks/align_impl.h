/* align_impl.h - shared by align.c, align_match.c and align_fit.c. */
#ifndef RK_ALIGN_IMPL_H
#define RK_ALIGN_IMPL_H

#include "ranks/align.h"

/*
 * Times below are doubles relative to a base: t on i's clock relative to `base`, differences
 * relative to `diff`. Both are exact up to 2^53 ns.
 */

/* Call `a` of one rank and call `b` of the other are the same collective. */
struct rk_align_pair {
	uint32_t a, b;
};

struct rk_align_pairs {
	struct rk_align_pair *v;
	size_t n, cap;
	bool ambiguous;
	bool lost; /* after a lost match, one at a different clock difference was found */
	int64_t lost_at, jump; /* on b's clock */
};

/*
 * Pairs call k of one rank with call k of the other and returns 1; returns 0 if the sequences
 * differ.
 */
int rk_align_match_equal(const struct rk_align_input *a, const struct rk_align_input *b,
			 struct rk_align_pairs *p, struct rk_error *err);
/*
 * Matches by times and signatures; calls may be missing. Gives an empty list if nothing was found.
 */
int rk_align_match_search(const struct rk_align_input *a, const struct rk_align_input *b,
			  double max_drift, struct rk_align_pairs *p, struct rk_error *err);

struct rk_align_line {
	double a, b; /* a + b t */
};

/* The clock of one node relative to that of another. */
struct rk_align_edge {
	enum rk_align_status status;
	uint32_t evidence;
	int64_t base, diff; /* D(t) = diff + line at t - base */
	struct rk_align_line line;
	double first, last; /* the range it is valid for, t - base */
	double first_error, last_error, slope_error;
	double spread; /* negative: none */
	size_t matched, rejected;
	int64_t jump_at, jump; /* on b's clock */
};

/* Two ranks of different nodes, with other evidence about their clocks. */
struct rk_align_two {
	const struct rk_align_input *a, *b;
	int64_t b_first, b_last;                 /* range of all records of b's node */
	const struct rk_align_message *messages; /* between the nodes */
	const struct rk_align_input *in;         /* the inputs that messages refer to */
	size_t nmessages;
	double max_drift; /* as a ratio, not in ppm */
	double max_error;
};

int rk_align_compare(const struct rk_align_two *two, struct rk_align_edge *ret,
		     struct rk_error *err);

#endif
