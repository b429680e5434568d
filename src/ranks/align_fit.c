/*
 * align_fit.c - two ranks: compute a line and its bound from matched calls, messages and snapshots.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/num.h"
#include "ranks/align_impl.h"

/* A limit for D(t): it is at least (or at most) d. */
struct limit {
	double t, d;
	uint32_t from; /* index of the pair it comes from; UINT32_MAX: none */
};

struct limits {
	struct limit *low, *high; /* sorted by t after band_of */
	size_t nlow, nhigh;
};

/* All lines between the limits. */
struct band {
	struct rk_align_line best; /* the line furthest from all limits */
	double room;               /* its distance to them; negative: no line fits */
	double slope_min, slope_max;
};

/* The smallest and the largest value at a time. */
struct range {
	double min, max;
};

static double distance(const struct rk_align_line *l, const struct limit *p)
{
	return p->d - l->a - l->b * p->t;
}

/* ---- all lines between limits ---- */

/*
 * For a slope b, the lines that fit have an intercept between lo(b) = max(d - b t) of the lower
 * limits and hi(b) = min(d - b t) of the upper ones. hi - lo is concave in b, so the slopes that
 * fit are an interval, found by bisection from the slope with the most room. The largest value at T
 * for a slope, hi(b) + b T, is concave too. Only corners of the hulls of the limits matter: some
 * tens of thousands.
 */

/*
 * Enough bisection or ternary steps for a slope below 1e-3 on times below 1e16 ns to be exact to
 * far less than 1 ns.
 */
enum { STEPS = 72, SEGMENTS = 32 };

static int by_t(const void *pa, const void *pb)
{
	const struct limit *a = pa, *b = pb;

	if (a->t != b->t)
		return a->t < b->t ? -1 : 1;
	return (a->d > b->d) - (a->d < b->d);
}

static void in_order(struct limit *v, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (v[i].t < v[i - 1].t) {
			qsort(v, n, sizeof(*v), by_t);
			return;
		}
}

/* Corners of the upper (side 1) or lower (-1) hull of n limits sorted by t. */
static size_t hull(const struct limit *v, size_t n, double side, struct limit *ret)
{
	size_t k = 0;

	for (size_t i = 0; i < n; i++) {
		const struct limit *r = &v[i];

		if (k && ret[k - 1].t == r->t) {
			if (side * (r->d - ret[k - 1].d) <= 0)
				continue;
			k--;
		}
		/* q is not a corner if it is on or below (for -1: above) the line from p to r */
		for (; k > 1; k--) {
			const struct limit *p = &ret[k - 2], *q = &ret[k - 1];
			double turn = (q->d - p->d) * (r->t - p->t) - (r->d - p->d) * (q->t - p->t);

			if (!(side * turn <= 0))
				break;
		}
		ret[k++] = *r;
	}
	return k;
}

/* The limits that matter; *ret points into scratch. */
static void hulls_of(struct limits *l, struct limit *scratch, struct limits *ret)
{
	in_order(l->low, l->nlow);
	in_order(l->high, l->nhigh);
	ret->low = scratch;
	ret->nlow = hull(l->low, l->nlow, 1, ret->low);
	ret->high = scratch + ret->nlow;
	ret->nhigh = hull(l->high, l->nhigh, -1, ret->high);
}

static double lo_of(const struct limits *h, double b)
{
	double m = -INFINITY;

	for (size_t i = 0; i < h->nlow; i++)
		m = fmax(m, h->low[i].d - b * h->low[i].t);
	return m;
}

static double hi_of(const struct limits *h, double b)
{
	double m = INFINITY;

	for (size_t i = 0; i < h->nhigh; i++)
		m = fmin(m, h->high[i].d - b * h->high[i].t);
	return m;
}

static double room_at(const struct limits *h, double b)
{
	return hi_of(h, b) - lo_of(h, b);
}

/* The slope between `good` and `bad` at which the room ends; `bad` itself if that has room. */
static double last_good(const struct limits *h, double good, double bad)
{
	if (room_at(h, bad) >= 0)
		return bad;
	for (int i = 0; i < STEPS; i++) {
		double middle = (good + bad) / 2;

		if (room_at(h, middle) >= 0)
			good = middle;
		else
			bad = middle;
	}
	return bad;
}

/*
 * The lines with |slope| <= max_drift. `scratch` has room for nlow + nhigh limits. Sorts the
 * limits; there must be some of both kinds.
 */
static struct band band_of(struct limits *l, double max_drift, struct limit *scratch)
{
	struct limits h;
	struct band band = { .slope_min = -max_drift, .slope_max = max_drift };
	double from = -max_drift, to = max_drift;

	hulls_of(l, scratch, &h);
	for (int i = 0; i < STEPS; i++) {
		double p = from + (to - from) / 3, q = to - (to - from) / 3;

		if (room_at(&h, p) < room_at(&h, q))
			from = p;
		else
			to = q;
	}
	band.best.b = (from + to) / 2;
	band.best.a = (hi_of(&h, band.best.b) + lo_of(&h, band.best.b)) / 2;
	band.room = room_at(&h, band.best.b) / 2;
	if (band.room < 0)
		return band;
	band.slope_min = last_good(&h, band.best.b, -max_drift);
	band.slope_max = last_good(&h, band.best.b, max_drift);
	return band;
}

/* The largest (side 1) or smallest (-1) value at t. */
static double extreme(const struct limits *h, const struct band *b, double t, double side)
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

/* Call after band_of, if room >= 0. */
static struct range range_at(const struct limits *hulls, const struct band *b, double t)
{
	return (struct range){ extreme(hulls, b, t, -1), extreme(hulls, b, t, 1) };
}

/*
 * Puts the k-th smallest value at k, smaller ones before it and larger ones after it (Hoare's
 * selection).
 */
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

/* Reorders v; n > 0. */
static double median(double *v, size_t n)
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

/*
 * Theil-Sen (the median of the slopes between all pairs) over the medians of segments: a quarter of
 * all points may be wrong. n > 0 points sorted by t; `scratch` for n doubles.
 */
static struct rk_align_line robust_line(const struct limit *points, size_t n, double max_drift,
					double *scratch)
{
	struct limit middle[SEGMENTS];
	size_t segments = rk_min(n, SEGMENTS), nslopes = 0;
	struct rk_align_line line = { 0 };
	double slopes[SEGMENTS * (SEGMENTS - 1) / 2], rest[SEGMENTS];

	for (size_t s = 0; s < segments; s++) {
		size_t from = n * s / segments, to = n * (s + 1) / segments;

		for (size_t i = from; i < to; i++)
			scratch[i - from] = points[i].d;
		middle[s].d = median(scratch, to - from);
		middle[s].t = (points[from].t + points[to - 1].t) / 2;
	}
	for (size_t i = 0; i < segments; i++)
		for (size_t j = i + 1; j < segments; j++)
			if (middle[j].t > middle[i].t)
				slopes[nslopes++] =
					(middle[j].d - middle[i].d) / (middle[j].t - middle[i].t);
	if (nslopes)
		line.b = fmin(fmax(median(slopes, nslopes), -max_drift), max_drift);
	for (size_t s = 0; s < segments; s++)
		rest[s] = middle[s].d - line.b * middle[s].t;
	line.a = median(rest, segments);
	return line;
}

/* ---- limits of one comparison ---- */

/* Limits and points of one comparison. */
struct fit {
	const struct rk_align_two *two;
	const struct rk_align_pairs *pairs;
	int64_t base, diff;
	struct limits limits, hulls;
	struct limit *scratch, *ends; /* ends: one per usable pair */
	double *numbers;
	unsigned char *out; /* by pair: it contradicts the others */
	size_t nends;
	double bend; /* how far the clock difference departs from a line, estimated from the ends */
};

static void low(struct fit *f, int64_t t, int64_t d, double error, size_t from)
{
	f->limits.low[f->limits.nlow++] = (struct limit){ (double)(t - f->base),
							  rk_apart(f->diff, d) - error,
							  (uint32_t)from };
}

static void high(struct fit *f, int64_t t, int64_t d, double error, size_t from)
{
	f->limits.high[f->limits.nhigh++] = (struct limit){ (double)(t - f->base),
							    rk_apart(f->diff, d) + error,
							    (uint32_t)from };
}

/* Collects the limits of pairs [from, to) that are not out; with `all`, also those of messages. */
static void gather(struct fit *f, size_t from, size_t to, bool all)
{
	const struct rk_align_input *a = f->two->a, *b = f->two->b;
	double error = (double)(a->stamp_error_ns + b->stamp_error_ns) + f->bend;

	f->limits.nlow = f->limits.nhigh = 0;
	for (size_t k = from; k < to; k++) {
		const struct rk_align_call *ca = &a->calls[f->pairs->v[k].a];
		const struct rk_align_call *cb = &b->calls[f->pairs->v[k].b];

		if (f->out[k])
			continue;
		low(f, ca->end_ns, cb->start_ns - ca->end_ns, error, k);
		high(f, ca->start_ns, cb->end_ns - ca->start_ns, error, k);
	}
	for (size_t k = 0; all && k < f->two->nmessages; k++) {
		const struct rk_align_message *m = &f->two->messages[k];
		const struct rk_align_input *in = f->two->in;

		/* a message cannot arrive before it was sent: D >= ..., and the other way round */
		error = (double)(in[m->from].stamp_error_ns + in[m->to].stamp_error_ns) + f->bend;
		if (in[m->from].node == a->node)
			high(f, m->send_ns, m->recv_ns - m->send_ns, error, UINT32_MAX);
		else
			low(f, m->recv_ns, m->send_ns - m->recv_ns, error, UINT32_MAX);
	}
}

/* ---- when no line fits ---- */

/*
 * Finds the longest part from the beginning that a line fits, and the longest part after it. If
 * their clock differences do not overlap where they meet, a clock jumped there. If they overlap,
 * the clock was slewed: D is continuous, but not a line. Then the bound comes from limits near each
 * instant.
 */

enum {
	WINDOWS = 32,
	PARTS = 4,
	SURE_NS = 5000, /* a smaller jump cannot be distinguished from a bend */
};

/* Does a line fit pairs [from, to)? */
static bool fits(struct fit *f, size_t from, size_t to, struct band *band)
{
	gather(f, from, to, false);
	if (!f->limits.nlow)
		return true;
	*band = band_of(&f->limits, f->two->max_drift, f->scratch);
	return band->room >= 0;
}

/*
 * The largest `to` that a line fits. Any part of a range that fits also fits, so bisection works.
 */
static size_t longest(struct fit *f, size_t from)
{
	size_t good = from, bad = f->pairs->n + 1;
	struct band band;

	while (bad - good > 1) {
		size_t middle = good + (bad - good) / 2;

		if (fits(f, from, middle, &band))
			good = middle;
		else
			bad = middle;
	}
	return good;
}

static struct range range_around(struct fit *f, size_t from, size_t to, double t)
{
	struct band band = { 0 };

	if (!fits(f, from, to, &band) || !f->limits.nlow)
		return (struct range){ -INFINITY, INFINITY };
	hulls_of(&f->limits, f->scratch, &f->hulls);
	return range_at(&f->hulls, &band, t);
}

/* Is there no overlap between the clock differences before and after pair `cut`? */
static bool jumps(struct fit *f, size_t cut, struct rk_align_edge *e)
{
	const struct rk_align_call *before = &f->two->b->calls[f->pairs->v[cut - 1].b];
	const struct rk_align_call *a = &f->two->a->calls[f->pairs->v[cut].a];
	double t = (double)(a->start_ns - f->base);
	struct range left = range_around(f, 0, cut, t);
	struct range right = range_around(f, cut, longest(f, cut), t);
	double gap = fmax(right.min - left.max, left.min - right.max);

	if (gap < SURE_NS)
		return false;
	e->status = RK_ALIGN_JUMP;
	e->jump_at = before->end_ns;
	e->jump = (int64_t)((right.min + right.max) / 2 - (left.min + left.max) / 2);
	return true;
}

/*
 * Fits a line through the ends, and finds the room that each window's own limits leave. Windows are
 * adjacent and D changes little within one, so twice the slack that one line for all would need
 * covers the change.
 */
static void fit_bent(struct fit *f, struct rk_align_edge *e)
{
	struct band all;
	double error = 0;
	size_t n = f->pairs->n;

	fits(f, 0, n, &all);
	e->line = all.best;
	for (size_t w = 0; w < WINDOWS; w++) {
		double lo = -INFINITY, hi = INFINITY;

		gather(f, n * w / WINDOWS, n * (w + 1) / WINDOWS, false);
		for (size_t i = 0; i < f->limits.nlow; i++) {
			lo = fmax(lo, distance(&e->line, &f->limits.low[i]));
			hi = fmin(hi, distance(&e->line, &f->limits.high[i]));
		}
		if (lo > hi)
			return;
		if (f->limits.nlow)
			error = fmax(error, fmax(hi, -lo));
	}
	error += 2 * fmax(-all.room, 0);
	e->first_error = e->last_error = error;
	e->slope_error = f->two->max_drift;
	e->evidence |= RK_ALIGN_UNEVEN;
	e->status = error > f->two->max_error ? RK_ALIGN_WIDE : RK_ALIGNED;
}

/*
 * How far the clock difference departs from the line, estimated from ends; 0 if within their
 * jitter. Ends may shift with the work as well as with the clock, so this is not proof, but a bound
 * that is wider than necessary is still correct.
 */
static double bend_of(struct fit *f, const struct rk_align_line *l)
{
	double middle[WINDOWS], most = 0, step = 0, jitter;
	size_t n = rk_min(f->nends / 8, WINDOWS);

	if (n < 4)
		return 0;
	for (size_t s = 0; s < n; s++) {
		size_t from = f->nends * s / n, to = f->nends * (s + 1) / n;

		for (size_t i = from; i < to; i++)
			f->numbers[i - from] = distance(l, &f->ends[i]);
		middle[s] = median(f->numbers, to - from);
		most = fmax(most, fabs(middle[s]));
		if (s)
			step = fmax(step, fabs(middle[s] - middle[s - 1]));
	}
	for (size_t s = 0, i = 0; s < n; s++)
		for (; i < f->nends * (s + 1) / n; i++)
			f->numbers[i] = fabs(distance(l, &f->ends[i]) - middle[s]);
	jitter = median(f->numbers, f->nends);
	return most > 3 * jitter + 500 ? most + step / 2 : 0;
}

/* No line fits: a jump, a slewed clock, or nonsense. Sets status, jump, errors, line. */
static void explain(struct fit *f, struct rk_align_edge *e)
{
	size_t windows = f->nends / 16 + 1, cut, to;
	struct rk_align_line l;

	e->status = RK_ALIGN_CONTRADICT;
	if (f->nends == 0) /* only messages */
		return;
	/* Drop single ends far from their neighbours; if the clock moves, all ends move. */
	l = robust_line(f->ends, f->nends, f->two->max_drift, f->numbers);
	for (size_t w = 0; w < windows; w++) {
		struct limit *ends = f->ends + f->nends * w / windows;
		size_t n = f->nends * (w + 1) / windows - f->nends * w / windows;
		double middle, spread;

		if (n == 0)
			continue;
		for (size_t i = 0; i < n; i++)
			f->numbers[i] = distance(&l, &ends[i]);
		middle = median(f->numbers, n);
		for (size_t i = 0; i < n; i++)
			f->numbers[i] = fabs(distance(&l, &ends[i]) - middle);
		spread = median(f->numbers, n);
		for (size_t i = 0; i < n; i++)
			f->out[ends[i].from] = fabs(distance(&l, &ends[i]) - middle) >
					       2000 + 6 * spread;
	}
	cut = longest(f, 0);
	if (cut < 4 || cut >= f->pairs->n)
		return;
	/*
	 * A few parts that each fit a line: a clock that jumped now and then. Many parts: not a
	 * clock.
	 */
	to = cut;
	for (int parts = 1; parts < PARTS && to < f->pairs->n; parts++)
		to = longest(f, to);
	if (to >= f->pairs->n && jumps(f, cut, e))
		return;
	if (f->pairs->n >= (size_t)4 * WINDOWS)
		fit_bent(f, e);
}

/* ---- the fit ---- */

/* Records of a node this far from its collectives: a year. Exact in a double. */
#define FAR_NS 31536000e9

enum {
	SLACK_NS = 2000, /* an end this close to the line is never an outlier */
	RUN = 8,         /* this many outliers in a row are not outliers */
	ROUNDS = 48,     /* max rounds of dropping the worst */
};

/*
 * Turns pairs of calls that need all ranks into points; the others are excluded from the start, and
 * so are pairs whose ends are far from the line, unless there are many in a row.
 */
static struct rk_align_line through_ends(struct fit *f, double *ret_spread)
{
	struct rk_align_line line = { 0 };
	size_t run = 0, longest_run = 0;

	f->nends = 0;
	f->bend = 0;
	*ret_spread = -1;
	for (size_t k = 0; k < f->pairs->n; k++) {
		const struct rk_align_call *ca = &f->two->a->calls[f->pairs->v[k].a];
		const struct rk_align_call *cb = &f->two->b->calls[f->pairs->v[k].b];

		f->out[k] = (ca->sig & 1) != RK_ALIGN_ALL;
		if (!f->out[k])
			f->ends[f->nends++] =
				(struct limit){ (double)(ca->end_ns - f->base),
						rk_apart(f->diff, cb->end_ns - ca->end_ns),
						(uint32_t)k };
	}
	if (f->nends == 0)
		return line;
	line = robust_line(f->ends, f->nends, f->two->max_drift, f->numbers);
	for (size_t i = 0; i < f->nends; i++)
		f->numbers[i] = fabs(distance(&line, &f->ends[i]));
	*ret_spread = median(f->numbers, f->nends);
	if (f->nends <= 3)
		return line;

	for (size_t i = 0; i < f->nends; i++) {
		bool out = fabs(distance(&line, &f->ends[i])) > SLACK_NS + 6 * *ret_spread;

		f->out[f->ends[i].from] = out;
		run = out ? run + 1 : 0;
		longest_run = rk_max(longest_run, run);
	}
	for (size_t i = 0; i < f->nends && longest_run >= RUN; i++)
		f->out[f->ends[i].from] = 0;
	return line;
}

/*
 * Excludes the pairs among n limits that the best line violates most; side: 1 for low limits, -1
 * for high ones.
 */
static size_t drop_worst(struct fit *f, const struct band *band, const struct limit *v, size_t n,
			 double side)
{
	size_t dropped = 0;

	for (size_t i = 0; i < n; i++)
		if (side * distance(&band->best, &v[i]) >= -0.999 * band->room &&
		    v[i].from < f->pairs->n && !f->out[v[i].from])
			dropped += f->out[v[i].from] = 1;
	return dropped;
}

/* Drops pairs that contradict the rest as long as they are few, and marks them in `out`. */
static struct band consistent_band(struct fit *f)
{
	struct band band = { .room = -INFINITY };
	size_t dropped = 0, most = f->nends / 50 + (f->nends > 4 ? 2 : 0);

	for (int i = 0; i < ROUNDS; i++) {
		size_t n;

		gather(f, 0, f->pairs->n, true);
		if (!f->limits.nlow || !f->limits.nhigh)
			break;
		band = band_of(&f->limits, f->two->max_drift, f->scratch);
		if (band.room >= 0 || dropped >= most)
			break;
		n = drop_worst(f, &band, f->limits.low, f->limits.nlow, 1);
		n += drop_worst(f, &band, f->limits.high, f->limits.nhigh, -1);
		dropped += n;
		if (n == 0)
			break;
	}
	return band;
}

static double clamp(double v, struct range r)
{
	return fmin(fmax(v, r.min), r.max);
}

/*
 * The estimate is the line through the ends, clipped to the band; the band is the bound. If D
 * departs from a line by at most `bend`, the line fits limits that are wider by `bend`, and D is
 * within `bend` of it.
 */
static void settle(struct fit *f, const struct band *band, const struct rk_align_line *guess,
		   struct rk_align_edge *e)
{
	struct range at_first, at_last;
	struct rk_align_line l = f->nends ? *guess : band->best;
	double v, w;

	hulls_of(&f->limits, f->scratch, &f->hulls);
	at_first = range_at(&f->hulls, band, e->first);
	at_last = range_at(&f->hulls, band, e->last);
	v = clamp(l.a + l.b * e->first, at_first);
	w = clamp(l.a + l.b * e->last, at_last);
	e->line.b = e->last > e->first ? (w - v) / (e->last - e->first) : l.b;
	e->line.a = v - e->line.b * e->first;
	e->first_error = fmax(at_first.max - v, v - at_first.min) + 1 + f->bend;
	e->last_error = fmax(at_last.max - w, w - at_last.min) + 1 + f->bend;
	if (f->bend > 0)
		e->evidence |= RK_ALIGN_UNEVEN;
	e->slope_error = fmax(band->slope_max - e->line.b, e->line.b - band->slope_min);
	e->status = RK_ALIGNED;
	if (fmax(e->first_error, e->last_error) > f->two->max_error)
		e->status = RK_ALIGN_WIDE;
}

/*
 * Adds the realtime clocks of both ranks, read at different times, unless they contradict the rest.
 */
static void with_snapshots(struct fit *f, struct band *band, struct rk_align_edge *e)
{
	const struct rk_align_input *a = f->two->a, *b = f->two->b;
	size_t nlow = f->limits.nlow, nhigh = f->limits.nhigh;
	struct band both;

	for (size_t i = 0; i < a->nsnapshots; i++)
		for (size_t j = 0; j < b->nsnapshots; j++) {
			const struct rk_align_snapshot *x = &a->snapshots[i], *y = &b->snapshots[j];
			int64_t apart = x->real_ns - y->real_ns;
			int64_t d = y->clock_ns + apart - x->clock_ns;
			double error = (double)x->error_ns + (double)y->error_ns;

			if (x->error_ns < 0 || y->error_ns < 0)
				continue;
			error += f->two->max_drift * fabs((double)apart) + f->bend;
			low(f, x->clock_ns, d, error, UINT32_MAX);
			high(f, x->clock_ns, d, error, UINT32_MAX);
		}
	if (f->limits.nlow == nlow)
		return;
	both = band_of(&f->limits, f->two->max_drift, f->scratch);
	if (both.room >= 0) {
		*band = both;
		e->evidence |= RK_ALIGN_BY_SNAPSHOTS;
		return;
	}
	/* Sorting mixed them with the others, so gather again. */
	e->evidence |= RK_ALIGN_SNAPSHOTS_OFF;
	if (nlow && nhigh)
		gather(f, 0, f->pairs->n, true);
}

/* Chooses the origin of differences so that doubles are exact. False if there is no data. */
static bool set_base(struct fit *f)
{
	const struct rk_align_input *a = f->two->a, *b = f->two->b;
	int64_t mine, other; /* about the same moment on both clocks */

	if (f->pairs->n) {
		mine = a->calls[f->pairs->v[0].a].end_ns;
		other = b->calls[f->pairs->v[0].b].end_ns;
	} else if (f->two->nmessages) {
		const struct rk_align_message *m = &f->two->messages[0];
		bool there = f->two->in[m->from].node == a->node;

		mine = there ? m->send_ns : m->recv_ns;
		other = there ? m->recv_ns : m->send_ns;
	} else if (a->nsnapshots && b->nsnapshots) {
		mine = a->snapshots[0].clock_ns;
		other = b->snapshots[0].clock_ns + a->snapshots[0].real_ns -
			b->snapshots[0].real_ns;
	} else {
		return false;
	}
	f->base = mine;
	f->diff = other - mine;
	return true;
}

static void fit(struct fit *f, struct rk_align_edge *e)
{
	struct rk_align_line guess;
	struct band band;
	bool refuted;

	*e = (struct rk_align_edge){ .status = RK_ALIGN_NO_COMMON, .spread = -1 };
	if (!set_base(f))
		return;
	e->base = f->base;
	e->diff = f->diff;
	e->first = rk_apart(f->diff, f->two->b_first - f->base);
	e->last = rk_apart(f->diff, f->two->b_last - f->base);
	if (fabs(e->first) > FAR_NS || fabs(e->last) > FAR_NS) {
		e->status = RK_ALIGN_BAD_TIMES;
		return;
	}
	guess = through_ends(f, &e->spread);
	band = consistent_band(f);
	for (size_t i = 0; i < f->nends; i++)
		e->rejected += f->out[f->ends[i].from];
	e->matched = f->nends - e->rejected;
	if (e->matched)
		e->evidence |= RK_ALIGN_BY_CALLS;
	if (f->two->nmessages)
		e->evidence |= RK_ALIGN_BY_MESSAGES;
	refuted = f->limits.nlow && f->limits.nhigh && band.room < 0;
	if (refuted) {
		explain(f, e);
		if (e->status != RK_ALIGNED && e->status != RK_ALIGN_WIDE)
			return;
	}
	/* Allow a bend only if nothing disproves the match. */
	f->bend = bend_of(f, &guess);
	if (f->bend > 0)
		band = consistent_band(f);
	if (refuted && band.room < 0)
		return;
	with_snapshots(f, &band, e);
	if (f->limits.nlow && f->limits.nhigh && band.room >= 0)
		settle(f, &band, &guess, e);
}

int rk_align_compare(const struct rk_align_two *two, struct rk_align_edge *ret,
		     struct rk_error *err)
{
	struct rk_align_pairs p = { 0 };
	struct fit f = { .two = two, .pairs = &p };
	const struct rk_align_input *a = two->a, *b = two->b;
	size_t n =
		rk_min(a->ncalls, b->ncalls) + two->nmessages + a->nsnapshots * b->nsnapshots + 1;
	struct rk_align_edge e;
	int rc;

	*ret = (struct rk_align_edge){ .status = RK_ALIGN_NO_COMMON, .spread = -1 };
	f.limits.low = rk_reallocn(NULL, n, sizeof(*f.limits.low));
	f.limits.high = rk_reallocn(NULL, n, sizeof(*f.limits.high));
	f.scratch = rk_reallocn(NULL, 2 * n, sizeof(*f.scratch));
	f.ends = rk_reallocn(NULL, n, sizeof(*f.ends));
	f.numbers = rk_reallocn(NULL, n, sizeof(*f.numbers));
	f.out = rk_calloc(n, 1);
	if (!f.limits.low || !f.limits.high || !f.scratch || !f.ends || !f.numbers || !f.out) {
		rc = rk_fail_nomem(err);
		goto out;
	}
	rc = rk_align_match_equal(a, b, &p, err);
	if (rc < 0)
		goto out;
	if (rc > 0)
		fit(&f, ret);
	rc = 0;
	/* Good enough to stop: a line fits nearly all pairs, and the clocks agree. */
	if (ret->status == RK_ALIGNED && ret->matched &&
	    !(ret->evidence & (RK_ALIGN_SNAPSHOTS_OFF | RK_ALIGN_UNEVEN)) &&
	    ret->rejected <= (ret->matched + ret->rejected) / 4)
		goto out;

	rc = rk_align_match_search(a, b, two->max_drift, &p, err);
	if (rc < 0)
		goto out;
	fit(&f, &e);
	/* The search found matches that cannot all be true, or none. */
	if (p.lost) {
		e.status = RK_ALIGN_JUMP;
		e.jump_at = p.lost_at;
		e.jump = p.jump;
	} else if (p.ambiguous && e.status == RK_ALIGN_NO_COMMON) {
		e.status = RK_ALIGN_AMBIGUOUS;
	}
	/* If both fail, report the failure of the plain order unless the search matched more. */
	if (ret->matched == 0 || e.status == RK_ALIGNED || e.status == RK_ALIGN_JUMP)
		if (ret->status != RK_ALIGNED || e.status == RK_ALIGNED)
			*ret = e;
out:
	rk_free(p.v);
	rk_free(f.limits.low);
	rk_free(f.limits.high);
	rk_free(f.scratch);
	rk_free(f.ends);
	rk_free(f.numbers);
	rk_free(f.out);
	return rc;
}
