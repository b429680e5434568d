/* align_impl.h - what the parts of the alignment share. */
#ifndef RK_ALIGN_IMPL_H
#define RK_ALIGN_IMPL_H

#include "ranks/align.h"

/*
 * Times below are doubles relative to a base: t on i's clock to `base`, differences to `diff`. Both are
 * exact up to 2^53 ns.
 */

/* Calls `a` of the one rank and `b` of the other are one collective. */
struct rk_align_pair {
	uint32_t a, b;
};

struct rk_align_pairs {
	struct rk_align_pair *v;
	size_t n, cap;
	bool ambiguous;
	bool lost;             /* a new difference was found behind where the old one got lost */
	int64_t lost_at, jump; /* on b's clock */
};

/* Call k of the one is call k of the other. False when the sequences differ. */
bool rk_align_match_equal(const struct rk_align_input *a, const struct rk_align_input *b,
			  struct rk_align_pairs *p, struct rk_error *err, int *ret_rc);
/* By times and signatures, whatever is missing. An empty list when nothing was found. */
int rk_align_match_search(const struct rk_align_input *a, const struct rk_align_input *b,
			  double max_drift, struct rk_align_pairs *p, struct rk_error *err);

/* D(t) is at least (or at most) d. `pair` says where it comes from; drop is set by the fit. */
struct rk_align_limit {
	double t, d;
	uint32_t from;
};

struct rk_align_limits {
	struct rk_align_limit *low, *high; /* by t after rk_align_band */
	size_t nlow, nhigh;
};

struct rk_align_line {
	double a, b; /* a + b t */
};

/* Of all lines between the limits. */
struct rk_align_band {
	struct rk_align_line best; /* the one furthest from all limits */
	double room;               /* its distance to them; below 0: no line fits */
	double slope_min, slope_max;
};

/*
 * Lines with |slope| <= max_drift. `scratch` has room for nlow + nhigh limits. Sorts the limits. Both
 * kinds must be there.
 */
struct rk_align_band rk_align_band(struct rk_align_limits *l, double max_drift,
				   struct rk_align_limit *scratch);
/* The smallest and the largest value at t; after rk_align_band with room >= 0, same scratch. */
struct rk_align_range {
	double min, max;
};
struct rk_align_range rk_align_range_at(const struct rk_align_limits *hulls,
					const struct rk_align_band *b, double t);
/* The limits that matter, in scratch, as rk_align_band left them. */
void rk_align_hulls(struct rk_align_limits *l, struct rk_align_limit *scratch,
		    struct rk_align_limits *ret);

/* Robust line through n points by t; `scratch` for n doubles. n > 0. */
struct rk_align_line rk_align_robust(const struct rk_align_limit *points, size_t n,
				     double max_drift, double *scratch);
double rk_align_median(double *v, size_t n); /* reorders; n > 0 */

/* How the clock of one node lies to that of another. */
struct rk_align_edge {
	enum rk_align_status status;
	uint32_t evidence;
	int64_t base, diff; /* D(t) = diff + line at t - base */
	struct rk_align_line line;
	double first, last; /* the time it was made for, t - base */
	double first_error, last_error, slope_error;
	double spread; /* below 0: none */
	size_t matched, rejected;
	int64_t jump_at, jump; /* on b's clock */
};

/* Two ranks of different nodes, and what is known of their clocks besides their calls. */
struct rk_align_two {
	const struct rk_align_input *a, *b;
	int64_t b_first, b_last;                 /* of all records of b's node */
	const struct rk_align_message *messages; /* between the nodes */
	const struct rk_align_input *in;         /* what messages point at */
	size_t nmessages;
	double max_drift; /* not in ppm */
	double max_error;
};

int rk_align_compare(const struct rk_align_two *two, struct rk_align_edge *ret,
		     struct rk_error *err);

/* Limits and points of one comparison. */
struct rk_align_fit {
	const struct rk_align_two *two;
	const struct rk_align_pairs *pairs;
	int64_t base, diff;
	struct rk_align_limits limits, hulls;
	struct rk_align_limit *scratch, *ends; /* ends: one per pair that says something */
	double *numbers;
	unsigned char *out; /* by pair: contradicts */
	size_t nends, room;
	double bend; /* how far the difference of the clocks leaves a line, by what ends say */
};

/* The limits of pairs [from, to) that are not out; messages with them when `all`. */
void rk_align_gather(struct rk_align_fit *f, size_t from, size_t to, bool all);
/* What ends say of that; 0 when no more than their jitter. n <= nends points are looked at. */
double rk_align_bend(struct rk_align_fit *f, const struct rk_align_line *l);
/* No line fits: a jump, or a clock that was slewed, or no clock. Fills status, jump, error, line. */
void rk_align_explain(struct rk_align_fit *f, struct rk_align_edge *e);

#endif
