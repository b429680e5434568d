/* align_fit.c - two ranks: from matched calls, messages and snapshots to a line and its bound. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "ranks/align_impl.h"

enum {
	SLACK_NS = 2000, /* an end this near to the line is never an outlier */
	RUN = 8,         /* outliers in a row are no outliers */
	ROUNDS = 48,     /* of dropping the worst */
};

static void low(struct rk_align_fit *f, int64_t t, int64_t d, double error, size_t from)
{
	f->limits.low[f->limits.nlow++] = (struct rk_align_limit){ (double)(t - f->base),
								   (double)(d - f->diff) - error,
								   (uint32_t)from };
}

static void high(struct rk_align_fit *f, int64_t t, int64_t d, double error, size_t from)
{
	f->limits.high[f->limits.nhigh++] = (struct rk_align_limit){ (double)(t - f->base),
								     (double)(d - f->diff) + error,
								     (uint32_t)from };
}

/* A message from a to b cannot be there before it was sent: D >= ..., and the other way round. */
static void message(struct rk_align_fit *f, const struct rk_align_message *m, size_t from)
{
	const struct rk_align_input *in = f->two->in;
	double error = (double)(in[m->from].stamp_error_ns + in[m->to].stamp_error_ns) + f->bend;

	if (in[m->from].node == f->two->a->node)
		high(f, m->send_ns, m->recv_ns - m->send_ns, error, from);
	else
		low(f, m->recv_ns, m->send_ns - m->recv_ns, error, from);
}

void rk_align_gather(struct rk_align_fit *f, size_t from, size_t to, bool all)
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
	for (size_t k = 0; all && k < f->two->nmessages; k++)
		message(f, &f->two->messages[k], UINT32_MAX);
}

static double distance(const struct rk_align_line *l, const struct rk_align_limit *p)
{
	return p->d - l->a - l->b * p->t;
}

/* Marks pairs whose ends lie far from the line, unless there are many in a row. */
static void mark_far(struct rk_align_fit *f, const struct rk_align_line *line, double far)
{
	size_t run = 0, longest = 0;

	for (size_t i = 0; i < f->nends; i++) {
		bool out = fabs(distance(line, &f->ends[i])) > far;

		f->out[f->ends[i].from] = out;
		run = out ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	for (size_t i = 0; i < f->nends && longest >= RUN; i++)
		f->out[f->ends[i].from] = 0;
}

/* Pairs of calls that need everybody become points; the others are out from the start. */
static struct rk_align_line through_ends(struct rk_align_fit *f, double *ret_spread)
{
	struct rk_align_line line = { 0 };

	f->nends = 0;
	f->bend = 0;
	*ret_spread = -1;
	for (size_t k = 0; k < f->pairs->n; k++) {
		const struct rk_align_call *ca = &f->two->a->calls[f->pairs->v[k].a];
		const struct rk_align_call *cb = &f->two->b->calls[f->pairs->v[k].b];

		f->out[k] = (ca->sig & 1) != RK_ALIGN_ALL;
		if (!f->out[k])
			f->ends[f->nends++] = (struct rk_align_limit){
				(double)(ca->end_ns - f->base),
				(double)(cb->end_ns - ca->end_ns - f->diff), (uint32_t)k
			};
	}
	if (f->nends == 0)
		return line;
	line = rk_align_robust(f->ends, f->nends, f->two->max_drift, f->numbers);
	for (size_t i = 0; i < f->nends; i++)
		f->numbers[i] = fabs(distance(&line, &f->ends[i]));
	*ret_spread = rk_align_median(f->numbers, f->nends);
	if (f->nends > 3)
		mark_far(f, &line, SLACK_NS + 6 * *ret_spread);
	return line;
}

/* Of the limits that the best line breaks, the worst: their pairs are out. */
static size_t drop_worst(struct rk_align_fit *f, const struct rk_align_band *band)
{
	double worst = -0.999 * band->room;
	size_t n = 0;

	for (size_t i = 0; i < f->limits.nlow; i++)
		if (distance(&band->best, &f->limits.low[i]) >= worst &&
		    f->limits.low[i].from < f->pairs->n && !f->out[f->limits.low[i].from])
			n += f->out[f->limits.low[i].from] = 1;
	for (size_t i = 0; i < f->limits.nhigh; i++)
		if (-distance(&band->best, &f->limits.high[i]) >= worst &&
		    f->limits.high[i].from < f->pairs->n && !f->out[f->limits.high[i].from])
			n += f->out[f->limits.high[i].from] = 1;
	return n;
}

/* Drops what contradicts as long as it is little. What was dropped is kept in mind by `out`. */
static struct rk_align_band band_of(struct rk_align_fit *f)
{
	struct rk_align_band band = { .room = -INFINITY };
	size_t dropped = 0, most = f->nends / 50 + (f->nends > 4 ? 2 : 0);

	for (int i = 0; i < ROUNDS; i++) {
		size_t n;

		rk_align_gather(f, 0, f->pairs->n, true);
		if (!f->limits.nlow || !f->limits.nhigh)
			break;
		band = rk_align_band(&f->limits, f->two->max_drift, f->scratch);
		if (band.room >= 0 || dropped >= most)
			break;
		n = drop_worst(f, &band);
		dropped += n;
		if (n == 0)
			break;
	}
	return band;
}

/* The realtime clocks of both, read at different times, and what they may be wrong by. */
static bool add_snapshots(struct rk_align_fit *f)
{
	const struct rk_align_input *a = f->two->a, *b = f->two->b;
	bool any = false;

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
			any = true;
		}
	return any;
}

static double clamp(double v, struct rk_align_range r)
{
	return fmin(fmax(v, r.min), r.max);
}

static double reach(double v, struct rk_align_range r)
{
	return fmax(r.max - v, v - r.min) + 1;
}

/*
 * The estimate is the line through the ends where the band lets it, the band is the bound. Where D is
 * a line and a rest of at most `bend`, the line fits limits that are wider by `bend`, and D is within
 * `bend` of it.
 */
static void settle(struct rk_align_fit *f, const struct rk_align_band *band,
		   const struct rk_align_line *guess, struct rk_align_edge *e)
{
	struct rk_align_range at_first, at_last;
	struct rk_align_line l = f->nends ? *guess : band->best;
	double v, w;

	rk_align_hulls(&f->limits, f->scratch, &f->hulls);
	at_first = rk_align_range_at(&f->hulls, band, e->first);
	at_last = rk_align_range_at(&f->hulls, band, e->last);
	v = clamp(l.a + l.b * e->first, at_first);
	w = clamp(l.a + l.b * e->last, at_last);
	e->line.b = e->last > e->first ? (w - v) / (e->last - e->first) : l.b;
	e->line.a = v - e->line.b * e->first;
	e->first_error = reach(v, at_first) + f->bend;
	e->last_error = reach(w, at_last) + f->bend;
	e->evidence |= f->bend > 0 ? RK_ALIGN_UNEVEN : 0u;
	e->slope_error = fmax(band->slope_max - e->line.b, e->line.b - band->slope_min);
	e->status = RK_ALIGNED;
	if (fmax(e->first_error, e->last_error) > f->two->max_error)
		e->status = RK_ALIGN_WIDE;
}

static void with_snapshots(struct rk_align_fit *f, struct rk_align_band *band,
			   struct rk_align_edge *e)
{
	size_t nlow = f->limits.nlow, nhigh = f->limits.nhigh;
	struct rk_align_band both;

	if (!add_snapshots(f))
		return;
	both = rk_align_band(&f->limits, f->two->max_drift, f->scratch);
	if (both.room >= 0) {
		*band = both;
		e->evidence |= RK_ALIGN_BY_SNAPSHOTS;
		return;
	}
	/* Sorting mixed them with the others: gather anew. */
	e->evidence |= RK_ALIGN_SNAPSHOTS_OFF;
	if (nlow && nhigh)
		rk_align_gather(f, 0, f->pairs->n, true);
}

/* Where differences are counted from, so that doubles are exact. False when nothing is known. */
static bool set_base(struct rk_align_fit *f)
{
	const struct rk_align_input *a = f->two->a, *b = f->two->b;

	if (f->pairs->n) {
		f->base = a->calls[f->pairs->v[0].a].end_ns;
		f->diff = b->calls[f->pairs->v[0].b].end_ns - f->base;
	} else if (f->two->nmessages) {
		const struct rk_align_message *m = &f->two->messages[0];
		bool there = f->two->in[m->from].node == a->node;

		f->base = there ? m->send_ns : m->recv_ns;
		f->diff = (there ? m->recv_ns : m->send_ns) - f->base;
	} else if (a->nsnapshots && b->nsnapshots) {
		f->base = a->snapshots[0].clock_ns;
		f->diff = b->snapshots[0].clock_ns + a->snapshots[0].real_ns -
			  b->snapshots[0].real_ns - f->base;
	} else {
		return false;
	}
	return true;
}

static void count(const struct rk_align_fit *f, struct rk_align_edge *e)
{
	e->matched = f->nends;
	e->rejected = 0;
	for (size_t i = 0; i < f->nends; i++)
		e->rejected += f->out[f->ends[i].from];
	e->matched -= e->rejected;
	e->evidence |= e->matched ? RK_ALIGN_BY_CALLS : 0u;
	e->evidence |= f->two->nmessages ? RK_ALIGN_BY_MESSAGES : 0u;
}

static void fit(struct rk_align_fit *f, struct rk_align_edge *e)
{
	struct rk_align_line guess;
	struct rk_align_band band;
	bool refuted;

	*e = (struct rk_align_edge){ .status = RK_ALIGN_NO_COMMON, .spread = -1 };
	if (!set_base(f))
		return;
	e->base = f->base;
	e->diff = f->diff;
	e->first = (double)(f->two->b_first - f->diff - f->base);
	e->last = (double)(f->two->b_last - f->diff - f->base);
	guess = through_ends(f, &e->spread);
	band = band_of(f);
	count(f, e);
	refuted = f->limits.nlow && f->limits.nhigh && band.room < 0;
	if (refuted)
		rk_align_explain(f, e);
	if (refuted && e->status != RK_ALIGNED && e->status != RK_ALIGN_WIDE)
		return;
	/* Only what no proof was found against is given the benefit of a bend. */
	f->bend = f->nends ? rk_align_bend(f, &guess) : 0;
	if (f->bend > 0)
		band = band_of(f);
	if (refuted && band.room < 0)
		return;
	with_snapshots(f, &band, e);
	if (f->limits.nlow && f->limits.nhigh && band.room >= 0)
		settle(f, &band, &guess, e);
}

static int make_room(struct rk_align_fit *f, struct rk_error *err)
{
	const struct rk_align_two *t = f->two;
	size_t calls = t->a->ncalls < t->b->ncalls ? t->a->ncalls : t->b->ncalls;
	size_t n = calls + t->nmessages + t->a->nsnapshots * t->b->nsnapshots + 1;

	f->limits.low = rk_reallocn(NULL, n, sizeof(*f->limits.low));
	f->limits.high = rk_reallocn(NULL, n, sizeof(*f->limits.high));
	f->scratch = rk_reallocn(NULL, 2 * n, sizeof(*f->scratch));
	f->ends = rk_reallocn(NULL, n, sizeof(*f->ends));
	f->numbers = rk_reallocn(NULL, n, sizeof(*f->numbers));
	f->out = rk_calloc(n, 1);
	f->room = n;
	if (!f->limits.low || !f->limits.high || !f->scratch || !f->ends || !f->numbers || !f->out)
		return rk_fail_nomem(err);
	return 0;
}

static void release(struct rk_align_fit *f)
{
	rk_free(f->limits.low);
	rk_free(f->limits.high);
	rk_free(f->scratch);
	rk_free(f->ends);
	rk_free(f->numbers);
	rk_free(f->out);
}

/* Good enough to look no further: a line fits all but little of it, and clocks agree. */
static bool convincing(const struct rk_align_edge *e)
{
	return e->status == RK_ALIGNED && e->matched &&
	       !(e->evidence & (RK_ALIGN_SNAPSHOTS_OFF | RK_ALIGN_UNEVEN)) &&
	       e->rejected <= (e->matched + e->rejected) / 4;
}

/* The search found matches that cannot all be true, or none. */
static void judge(const struct rk_align_pairs *p, struct rk_align_edge *e)
{
	if (p->lost) {
		e->status = RK_ALIGN_JUMP;
		e->jump_at = p->lost_at;
		e->jump = p->jump;
	} else if (p->ambiguous && e->status == RK_ALIGN_NO_COMMON) {
		e->status = RK_ALIGN_AMBIGUOUS;
	}
}

static int searched(struct rk_align_fit *f, struct rk_align_pairs *p, struct rk_align_edge *ret,
		    struct rk_error *err)
{
	struct rk_align_edge e;
	int rc = rk_align_match_search(f->two->a, f->two->b, f->two->max_drift, p, err);

	if (rc < 0)
		return rc;
	fit(f, &e);
	judge(p, &e);
	/* Of two ways to fail, that of the plain order unless the search saw more. */
	if (ret->matched == 0 || e.status == RK_ALIGNED || e.status == RK_ALIGN_JUMP)
		if (ret->status != RK_ALIGNED || e.status == RK_ALIGNED)
			*ret = e;
	return 0;
}

int rk_align_compare(const struct rk_align_two *two, struct rk_align_edge *ret,
		     struct rk_error *err)
{
	struct rk_align_pairs p = { 0 };
	struct rk_align_fit f = { .two = two, .pairs = &p };
	int rc;

	*ret = (struct rk_align_edge){ .status = RK_ALIGN_NO_COMMON, .spread = -1 };
	rc = make_room(&f, err);
	if (rc == 0 && rk_align_match_equal(two->a, two->b, &p, err, &rc))
		fit(&f, ret);
	if (rc == 0 && !convincing(ret))
		rc = searched(&f, &p, ret, err);
	rk_free(p.v);
	release(&f);
	return rc;
}
