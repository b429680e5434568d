/*
 * align_band.c - all lines between limits from below and from above, and a robust line.
 *
 * For a slope b the lines that fit have an intercept between lo(b) = max(d - b t) of the lower limits
 * and hi(b) = min(d - b t) of the upper ones. hi - lo is concave in b, so the slopes that fit are an
 * interval, found by bisection from the slope with most room; and the largest value at T for a slope,
 * hi(b) + b T, is concave too. Only corners of the hulls of the limits count: some tens of thousands.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ranks/align_impl.h"

/* Halvings or thirdings of a slope below 1e-3 on times below 1e16 ns: to far less than 1 ns. */
enum { STEPS = 72, SEGMENTS = 32 };

static int by_t(const void *pa, const void *pb)
{
	const struct rk_align_limit *a = pa, *b = pb;

	if (a->t != b->t)
		return a->t < b->t ? -1 : 1;
	return (a->d > b->d) - (a->d < b->d);
}

static void in_order(struct rk_align_limit *v, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (v[i].t < v[i - 1].t) {
			qsort(v, n, sizeof(*v), by_t);
			return;
		}
}

/* Whether q lies on or below (side 1; above for -1) the line from p to r, and so is no corner. */
static bool inside(struct rk_align_limit p, struct rk_align_limit q, struct rk_align_limit r,
		   double side)
{
	return side * ((q.d - p.d) * (r.t - p.t) - (r.d - p.d) * (q.t - p.t)) <= 0;
}

/* Corners of the upper (side 1) or lower (-1) hull of n limits by t. */
static size_t hull(const struct rk_align_limit *v, size_t n, double side,
		   struct rk_align_limit *ret)
{
	size_t k = 0;

	for (size_t i = 0; i < n; i++) {
		if (k && ret[k - 1].t == v[i].t) {
			if (side * (v[i].d - ret[k - 1].d) <= 0)
				continue;
			k--;
		}
		while (k > 1 && inside(ret[k - 2], ret[k - 1], v[i], side))
			k--;
		ret[k++] = v[i];
	}
	return k;
}

void rk_align_hulls(struct rk_align_limits *l, struct rk_align_limit *scratch,
		    struct rk_align_limits *ret)
{
	in_order(l->low, l->nlow);
	in_order(l->high, l->nhigh);
	ret->low = scratch;
	ret->nlow = hull(l->low, l->nlow, 1, ret->low);
	ret->high = scratch + ret->nlow;
	ret->nhigh = hull(l->high, l->nhigh, -1, ret->high);
}

static double lo_of(const struct rk_align_limits *h, double b)
{
	double m = -INFINITY;

	for (size_t i = 0; i < h->nlow; i++)
		m = fmax(m, h->low[i].d - b * h->low[i].t);
	return m;
}

static double hi_of(const struct rk_align_limits *h, double b)
{
	double m = INFINITY;

	for (size_t i = 0; i < h->nhigh; i++)
		m = fmin(m, h->high[i].d - b * h->high[i].t);
	return m;
}

static double room(const struct rk_align_limits *h, double b)
{
	return hi_of(h, b) - lo_of(h, b);
}

static double widest(const struct rk_align_limits *h, double from, double to)
{
	for (int i = 0; i < STEPS; i++) {
		double p = from + (to - from) / 3, q = to - (to - from) / 3;

		if (room(h, p) < room(h, q))
			from = p;
		else
			to = q;
	}
	return (from + to) / 2;
}

/* The slope nearest to `bad`, if that has no room, that is still as good as `good`. */
static double edge(const struct rk_align_limits *h, double good, double bad)
{
	if (room(h, bad) >= 0)
		return bad;
	for (int i = 0; i < STEPS; i++) {
		double middle = (good + bad) / 2;

		if (room(h, middle) >= 0)
			good = middle;
		else
			bad = middle;
	}
	return bad;
}

struct rk_align_band rk_align_band(struct rk_align_limits *l, double max_drift,
				   struct rk_align_limit *scratch)
{
	struct rk_align_limits h;
	struct rk_align_band band = { .slope_min = -max_drift, .slope_max = max_drift };

	rk_align_hulls(l, scratch, &h);
	band.best.b = widest(&h, -max_drift, max_drift);
	band.best.a = (hi_of(&h, band.best.b) + lo_of(&h, band.best.b)) / 2;
	band.room = room(&h, band.best.b) / 2;
	if (band.room < 0)
		return band;
	band.slope_min = edge(&h, band.best.b, -max_drift);
	band.slope_max = edge(&h, band.best.b, max_drift);
	return band;
}

/* The largest (side 1) or smallest (-1) value at t. */
static double extreme(const struct rk_align_limits *h, const struct rk_align_band *b, double t,
		      double side)
{
	double from = b->slope_min, to = b->slope_max, most = -INFINITY;

	for (int i = 0; i < STEPS; i++) {
		double p = from + (to - from) / 3, q = to - (to - from) / 3;
		double vp = side * ((side > 0 ? hi_of(h, p) : lo_of(h, p)) + p * t);
		double vq = side * ((side > 0 ? hi_of(h, q) : lo_of(h, q)) + q * t);

		most = fmax(most, fmax(vp, vq));
		if (vp < vq)
			from = p;
		else
			to = q;
	}
	return side * most;
}

struct rk_align_range rk_align_range_at(const struct rk_align_limits *hulls,
					const struct rk_align_band *b, double t)
{
	return (struct rk_align_range){ extreme(hulls, b, t, -1), extreme(hulls, b, t, 1) };
}

/* Puts the k-th smallest at k, no larger before it, no smaller behind (Hoare's selection). */
static void select_kth(double *v, size_t n, size_t k)
{
	size_t from = 0, to = n - 1;

	while (from < to) {
		double pivot = v[k];
		size_t i = from, j = to;

		for (;;) {
			while (v[i] < pivot)
				i++;
			while (v[j] > pivot)
				j--;
			if (i <= j) {
				double swap = v[i];

				v[i++] = v[j];
				v[j] = swap;
				if (j == 0)
					break;
				j--;
			}
			if (i > j)
				break;
		}
		if (j < k)
			from = i;
		if (k < i)
			to = j;
	}
}

double rk_align_median(double *v, size_t n)
{
	double low;

	select_kth(v, n, n / 2);
	if (n % 2)
		return v[n / 2];
	low = v[0];
	for (size_t i = 1; i < n / 2; i++)
		low = fmax(low, v[i]);
	return low + (v[n / 2] - low) / 2;
}

/* The middle of the slopes between all two of the points. */
static double middle_slope(const struct rk_align_limit *p, size_t n)
{
	double slopes[SEGMENTS * (SEGMENTS - 1) / 2];
	size_t k = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t j = i + 1; j < n; j++)
			if (p[j].t > p[i].t)
				slopes[k++] = (p[j].d - p[i].d) / (p[j].t - p[i].t);
	return k ? rk_align_median(slopes, k) : 0;
}

/* Theil-Sen over the medians of segments: a quarter of all points may be wrong. */
struct rk_align_line rk_align_robust(const struct rk_align_limit *points, size_t n,
				     double max_drift, double *scratch)
{
	struct rk_align_limit middle[SEGMENTS];
	size_t segments = n < SEGMENTS ? n : SEGMENTS;
	struct rk_align_line line;
	double rest[SEGMENTS];

	for (size_t s = 0; s < segments; s++) {
		size_t from = n * s / segments, to = n * (s + 1) / segments;

		for (size_t i = from; i < to; i++)
			scratch[i - from] = points[i].d;
		middle[s].d = rk_align_median(scratch, to - from);
		middle[s].t = (points[from].t + points[to - 1].t) / 2;
	}
	line.b = fmin(fmax(middle_slope(middle, segments), -max_drift), max_drift);
	for (size_t s = 0; s < segments; s++)
		rest[s] = middle[s].d - line.b * middle[s].t;
	line.a = rk_align_median(rest, segments);
	return line;
}
