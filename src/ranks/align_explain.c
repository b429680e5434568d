/*
 * align_explain.c - what to say when no line fits.
 *
 * The longest part from the beginning that a line fits, and the longest after it: when what both say of
 * the clocks where they meet has nothing in common, a clock jumped there. When it has, the clock was
 * slewed: D is continuous, but no line. Then the bound comes from limits near each instant.
 */
#include <math.h>

#include "ranks/align_impl.h"

enum {
	WINDOWS = 32,
	PARTS = 4,
	SURE_NS = 5000, /* a smaller jump is not told from a bend */
};

/* Whether a line fits pairs [from, to). */
static bool fits(struct rk_align_fit *f, size_t from, size_t to, struct rk_align_band *band)
{
	rk_align_gather(f, from, to, false);
	if (!f->limits.nlow)
		return true;
	*band = rk_align_band(&f->limits, f->two->max_drift, f->scratch);
	return band->room >= 0;
}

/* The largest `to` for which one does. A part of what fits does too, so halving finds it. */
static size_t longest(struct rk_align_fit *f, size_t from)
{
	size_t good = from, bad = f->pairs->n + 1;
	struct rk_align_band band;

	while (bad - good > 1) {
		size_t middle = good + (bad - good) / 2;

		if (fits(f, from, middle, &band))
			good = middle;
		else
			bad = middle;
	}
	return good;
}

static struct rk_align_range at(struct rk_align_fit *f, size_t from, size_t to, double t)
{
	struct rk_align_band band = { 0 };

	if (!fits(f, from, to, &band) || !f->limits.nlow)
		return (struct rk_align_range){ -INFINITY, INFINITY };
	rk_align_hulls(&f->limits, f->scratch, &f->hulls);
	return rk_align_range_at(&f->hulls, &band, t);
}

/* Whether the clocks' difference before and after pair `cut` has nothing in common. */
static bool jumps(struct rk_align_fit *f, size_t cut, struct rk_align_edge *e)
{
	const struct rk_align_call *before = &f->two->b->calls[f->pairs->v[cut - 1].b];
	const struct rk_align_call *a = &f->two->a->calls[f->pairs->v[cut].a];
	double t = (double)(a->start_ns - f->base);
	struct rk_align_range left = at(f, 0, cut, t);
	struct rk_align_range right = at(f, cut, longest(f, cut), t);
	double gap = fmax(right.min - left.max, left.min - right.max);

	if (gap < SURE_NS)
		return false;
	e->status = RK_ALIGN_JUMP;
	e->jump_at = before->end_ns;
	e->jump = (int64_t)((right.min + right.max) / 2 - (left.min + left.max) / 2);
	return true;
}

/* What limits of pairs [from, to) leave above and below the line. False when nothing. */
static bool near(struct rk_align_fit *f, size_t from, size_t to, const struct rk_align_line *l,
		 double *error)
{
	double lo = -INFINITY, hi = INFINITY;

	rk_align_gather(f, from, to, false);
	for (size_t i = 0; i < f->limits.nlow; i++) {
		const struct rk_align_limit *p = &f->limits.low[i], *q = &f->limits.high[i];

		lo = fmax(lo, p->d - l->a - l->b * p->t);
		hi = fmin(hi, q->d - l->a - l->b * q->t);
	}
	if (lo > hi)
		return false;
	if (f->limits.nlow)
		*error = fmax(*error, fmax(hi, -lo));
	return true;
}

/*
 * A line through the ends, and for each window what its own limits allow. Windows meet, and D changes
 * little in one, so twice the slack that a line for all would need covers what happens within.
 */
static void bend(struct rk_align_fit *f, struct rk_align_edge *e)
{
	struct rk_align_band all;
	double error = 0;

	fits(f, 0, f->pairs->n, &all);
	e->line = all.best;
	for (size_t w = 0; w < WINDOWS; w++)
		if (!near(f, f->pairs->n * w / WINDOWS, f->pairs->n * (w + 1) / WINDOWS, &e->line,
			  &error))
			return;
	error += 2 * fmax(-all.room, 0);
	e->first_error = e->last_error = error;
	e->slope_error = f->two->max_drift;
	e->evidence |= RK_ALIGN_UNEVEN;
	e->status = error > f->two->max_error ? RK_ALIGN_WIDE : RK_ALIGNED;
}

static double beside(const struct rk_align_fit *f, const struct rk_align_line *l, size_t i)
{
	return f->ends[i].d - l->a - l->b * f->ends[i].t;
}

/* Single ends that lie far from those around them are out; a clock that moves takes all with it. */
static void mark_lonely(struct rk_align_fit *f, size_t from, size_t to,
			const struct rk_align_line *l)
{
	double middle, spread;

	for (size_t i = from; i < to; i++)
		f->numbers[i - from] = beside(f, l, i);
	middle = rk_align_median(f->numbers, to - from);
	for (size_t i = from; i < to; i++)
		f->numbers[i - from] = fabs(beside(f, l, i) - middle);
	spread = rk_align_median(f->numbers, to - from);
	for (size_t i = from; i < to; i++)
		f->out[f->ends[i].from] = fabs(beside(f, l, i) - middle) > 2000 + 6 * spread;
}

/* The middle of part s of n of the ends, beside the line. */
static double part(struct rk_align_fit *f, const struct rk_align_line *l, size_t s, size_t n)
{
	size_t from = f->nends * s / n, to = f->nends * (s + 1) / n;

	for (size_t i = from; i < to; i++)
		f->numbers[i - from] = beside(f, l, i);
	return rk_align_median(f->numbers, to - from);
}

/*
 * Ends may shift with the work as well as with the clock, so this is no proof of anything; but a bound
 * that is wider than it had to be is still true.
 */
double rk_align_bend(struct rk_align_fit *f, const struct rk_align_line *l)
{
	double middle[WINDOWS], most = 0, step = 0, jitter;
	size_t n = f->nends / 8 < WINDOWS ? f->nends / 8 : WINDOWS;

	if (n < 4)
		return 0;
	for (size_t s = 0; s < n; s++) {
		middle[s] = part(f, l, s, n);
		most = fmax(most, fabs(middle[s]));
		step = s ? fmax(step, fabs(middle[s] - middle[s - 1])) : 0;
	}
	for (size_t s = 0, i = 0; s < n; s++)
		for (; i < f->nends * (s + 1) / n; i++)
			f->numbers[i] = fabs(beside(f, l, i) - middle[s]);
	jitter = rk_align_median(f->numbers, f->nends);
	return most > 3 * jitter + 500 ? most + step / 2 : 0;
}

/* Few parts, each with a line: a clock that jumped now and then. Many: no clock. */
static bool few_parts(struct rk_align_fit *f, size_t cut)
{
	for (int parts = 1; parts < PARTS && cut < f->pairs->n; parts++)
		cut = longest(f, cut);
	return cut >= f->pairs->n;
}

void rk_align_explain(struct rk_align_fit *f, struct rk_align_edge *e)
{
	size_t windows = f->nends / 16 + 1, cut;
	struct rk_align_line l;

	e->status = RK_ALIGN_CONTRADICT;
	if (f->nends == 0) /* messages alone */
		return;
	l = rk_align_robust(f->ends, f->nends, f->two->max_drift, f->numbers);
	for (size_t w = 0; w < windows; w++)
		if (f->nends * w / windows < f->nends * (w + 1) / windows)
			mark_lonely(f, f->nends * w / windows, f->nends * (w + 1) / windows, &l);
	cut = longest(f, 0);
	if (cut < 4 || cut >= f->pairs->n)
		return;
	if (few_parts(f, cut) && jumps(f, cut, e))
		return;
	if (f->pairs->n >= (size_t)4 * WINDOWS)
		bend(f, e);
}
