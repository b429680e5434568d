/*
 * energy_curve.c - turns the samples of a device into intervals of known energy, and splits that
 * energy over the kernels in each interval.
 *
 * If kernels ran for `busy` ns of an interval of dt ns (overlaps counted once), idle power * (dt -
 * busy) of its energy is idle, but never more than all of it. Idle power is the mean over the
 * intervals without kernels; if some of them have no kernels in the neighbouring intervals either,
 * over those only (a device needs a moment to calm down). If every interval has kernels, power is
 * assumed constant within an interval. The rest goes to the kernels, in proportion to the time each
 * ran in the interval.
 *
 * Samples show nothing finer: within an interval, one kernel may have used all energy above idle
 * and another none. So that energy is the error of each group of kernels in it, once per interval.
 * There is no error only if one group filled the interval from end to end.
 */
#include "run/energy_curve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/num.h"

#define COUNTER_MAX 2147483648.0  /* J: larger values do not fit in our units */
#define POWER_MAX 1e5             /* W of one device: larger readings are implausible */
#define WRAP_POWER_MAX 5000.0     /* W: a wrap that implies more power than this is a reset */
#define INTERVAL_MAX 1e8          /* J: about a kilowatt for a day */
#define TOTAL_MAX (INT64_MAX / 2) /* units: keeps our sums from overflowing */

/* Power is unknown between readings that are further apart than this many usual intervals. */
enum { GAP_INTERVALS = 10 };

static int keep(struct rk_meter_samples *s, struct rk_meter_sample one, struct rk_error *err)
{
	void *grown = rk_grow(s->v, &s->cap, s->n + 1, sizeof(*s->v));

	if (!grown)
		return rk_fail_nomem(err);
	s->v = grown;
	s->v[s->n++] = one;
	return 0;
}

int rk_curve_add(struct rk_energy_curve *c, enum rk_meter m, int64_t t, double v,
		 struct rk_error *err)
{
	struct rk_meter_samples *s = &c->samples[m];

	s->last = (struct rk_meter_sample){ t, v };
	s->left_out = s->stride && s->seen % s->stride;
	s->seen++;
	if (s->left_out)
		return 0;
	return keep(s, s->last, err);
}

static int by_time(const void *pa, const void *pb)
{
	const struct rk_meter_sample *a = pa, *b = pb;

	if (a->t != b->t)
		return a->t < b->t ? -1 : 1;
	return (a->v > b->v) - (a->v < b->v);
}

void rk_curve_thin(struct rk_energy_curve *c)
{
	for (unsigned m = 0; m < RK_NMETERS; m++) {
		struct rk_meter_samples *s = &c->samples[m];
		size_t n = 0;

		if (!s->left_out && s->n > 1 && s->n % 2 == 0)
			s->left_out = true;
		for (size_t i = 0; i < s->n; i += 2)
			s->v[n++] = s->v[i];
		s->n = n;
		s->stride = s->stride ? s->stride * 2 : 2;
	}
}

/*
 * Sorts the samples and removes implausible ones and repeats. Of samples with the same time the
 * last is kept. Equal counter values mean that the counter was read again before the sensor updated
 * it; the first of them is kept.
 */
static void clean(struct rk_meter_samples *s, enum rk_meter m, struct rk_energy_oddities *odd)
{
	static const double most[RK_NMETERS] = { COUNTER_MAX, POWER_MAX };
	bool sorted = true;
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].v >= 0 && s->v[i].v < most[m])
			s->v[n++] = s->v[i];
	odd->wild += s->n - n;
	s->n = n;

	for (size_t i = 1; i < s->n && sorted; i++)
		sorted = s->v[i - 1].t < s->v[i].t;
	if (!sorted)
		qsort(s->v, s->n, sizeof(*s->v), by_time);

	n = 0;
	for (size_t i = 0; i < s->n; i++) {
		if (n && s->v[n - 1].t == s->v[i].t)
			n--;
		if (m == RK_METER_COUNTER && n && s->v[n - 1].v == s->v[i].v)
			continue;
		s->v[n++] = s->v[i];
	}
	s->n = n;
}

static int by_number(const void *pa, const void *pb)
{
	const int64_t *a = pa, *b = pb;

	return (*a > *b) - (*a < *b);
}

/* The median distance between samples; INT64_MAX if out of memory. */
static int64_t usual_interval(const struct rk_meter_samples *s)
{
	int64_t *d = rk_alloc(s->n * sizeof(*d)), middle;

	if (!d)
		return INT64_MAX;
	for (size_t i = 0; i + 1 < s->n; i++)
		d[i] = s->v[i + 1].t - s->v[i].t;
	qsort(d, s->n - 1, sizeof(*d), by_number);
	middle = d[(s->n - 1) / 2];
	rk_free(d);
	return middle;
}

static int64_t units_of(double joule)
{
	return (int64_t)llround(fmin(joule, COUNTER_MAX / 2) * RK_ENERGY_UNITS);
}

/*
 * The energy between a sample and the next; -1: unknown. A counter that decreased has wrapped
 * around if one of the common widths explains it (2^32 units of 2^-16 J, uJ or mJ); otherwise it
 * was reset.
 */
static int64_t energy_between(const struct rk_meter_sample *s, enum rk_meter m, int64_t usual,
			      struct rk_energy_oddities *odd)
{
	static const double widths[] = { 4294.967296, 65536, 4294967.296 };
	double from = s[0].v, to = s[1].v, seconds = (double)(s[1].t - s[0].t) / 1e9;

	if (m == RK_METER_POWER) {
		if ((s[1].t - s[0].t) / GAP_INTERVALS > usual) {
			odd->gaps++;
			return -1;
		}
		return units_of((from + to) / 2 * seconds);
	}
	/* round each reading, not the difference, so that differences add up to the total */
	if (to >= from)
		return (int64_t)llround(to * RK_ENERGY_UNITS) -
		       (int64_t)llround(from * RK_ENERGY_UNITS);
	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
		double joule = to + widths[i] - from;

		if (from < widths[i] && joule <= WRAP_POWER_MAX * seconds) {
			odd->wraps++;
			return units_of(joule);
		}
	}
	odd->resets++;
	return -1;
}

static int make_intervals(struct rk_energy_curve *c, struct rk_energy_oddities *odd,
			  struct rk_error *err)
{
	struct rk_meter_samples *s = &c->samples[c->meter];
	int64_t usual = 0, total = 0;

	if (c->meter == RK_METER_POWER)
		usual = usual_interval(s);
	c->intervals = rk_calloc(s->n, sizeof(*c->intervals));
	if (!c->intervals || usual == INT64_MAX)
		return rk_fail_nomem(err);
	for (size_t i = 0; i + 1 < s->n; i++) {
		int64_t e = energy_between(&s->v[i], c->meter, usual, odd);

		/* treat implausibly large energy as unknown */
		if (e >= 0 &&
		    ((double)e > INTERVAL_MAX * RK_ENERGY_UNITS || e > TOTAL_MAX - total)) {
			odd->wild++;
			e = -1;
		}
		if (e >= 0)
			total += e;
		c->intervals[i].t = s->v[i].t;
		c->intervals[i].e = e;
	}
	c->intervals[s->n - 1].t = s->v[s->n - 1].t;
	c->n = s->n - 1;
	c->nsamples = s->n;
	c->until = INT64_MIN;
	return 0;
}

int rk_curve_settle(struct rk_energy_curve *c, struct rk_energy_oddities *odd, struct rk_error *err)
{
	int rc = 0;

	/* prefer the counter: it misses nothing between readings */
	for (unsigned m = 0; !c->n && m < RK_NMETERS; m++) {
		struct rk_meter_samples *s = &c->samples[m];

		c->meter = (enum rk_meter)m;
		if (s->left_out) {
			rc = keep(s, s->last, err);
			if (rc < 0)
				goto out;
		}
		clean(s, c->meter, odd);
		if (s->n < 2)
			continue;
		rc = make_intervals(c, odd, err);
		if (rc < 0)
			goto out;
	}
out:
	for (unsigned m = 0; m < RK_NMETERS; m++) {
		rk_free(c->samples[m].v);
		c->samples[m] = (struct rk_meter_samples){ 0 };
	}
	return rc;
}

void rk_curve_release(struct rk_energy_curve *c)
{
	for (unsigned m = 0; m < RK_NMETERS; m++)
		rk_free(c->samples[m].v);
	rk_free(c->intervals);
	rk_free(c->steps);
}

/* ---- the split ---- */

__extension__ typedef __int128 wide;

/* a * b / c, c > 0, rounded down. */
static int64_t scaled(int64_t a, int64_t b, int64_t c)
{
	wide v = (wide)a * b / c;

	return v > INT64_MAX ? INT64_MAX : (int64_t)v;
}

static bool step_after(const struct rk_energy_curve *c, size_t i, int64_t t)
{
	return (c->steps ? c->steps[i].t : c->intervals[i].t) > t;
}

/* The interval that contains t, which must be within the samples. The search starts at `hint`. */
static size_t find(const struct rk_energy_curve *c, int64_t t, size_t hint)
{
	size_t lo = hint < c->n && !step_after(c, hint, t) ? hint : 0, step = 1, hi;

	while (lo + step < c->n && !step_after(c, lo + step, t))
		step *= 2;
	hi = lo + step < c->n ? lo + step : c->n;
	lo += step / 2;
	while (hi - lo > 1) {
		size_t middle = lo + (hi - lo) / 2;

		if (step_after(c, middle, t))
			hi = middle;
		else
			lo = middle;
	}
	return lo;
}

static struct rk_cover *cover_at(struct rk_energy_curve *c, size_t i, bool busy)
{
	return busy ? &c->intervals[i].busy : &c->intervals[i].over;
}

/* Adds [s, e), which starts in interval a and ends in b. */
static void cover(struct rk_energy_curve *c, bool busy, int64_t s, int64_t e, size_t a, size_t b)
{
	const struct rk_energy_interval *v = c->intervals;
	size_t lo = s == v[a].t ? a : a + 1, hi = e == v[b + 1].t ? b + 1 : b;
	struct rk_cover *first = cover_at(c, a, busy), *last = cover_at(c, b, busy);

	if (lo < hi) {
		cover_at(c, lo, busy)->full++;
		cover_at(c, hi, busy)->full--;
	}
	/* saturates: the input may have absurd durations */
	if (a == b && lo > a && hi <= b) {
		first->part = rk_add_saturated(first->part, e - s);
		return;
	}
	if (lo > a)
		first->part = rk_add_saturated(first->part, v[a + 1].t - s);
	if (hi <= b)
		last->part = rk_add_saturated(last->part, e - v[b].t);
}

bool rk_curve_cover(struct rk_energy_curve *c, int64_t *start, int64_t *end, uint32_t group)
{
	int64_t s = *start, e = *end, t0 = c->intervals[0].t, t1 = c->intervals[c->n].t, id = group;
	struct rk_energy_interval *from, *to;
	size_t a, b;

	if (s < t0)
		s = t0;
	if (e > t1)
		e = t1;
	if (e <= s) {
		c->uncovered_ns = rk_add_saturated(c->uncovered_ns, *end - *start);
		return false;
	}
	c->uncovered_ns = rk_add_saturated(c->uncovered_ns, *end - *start - (e - s));
	*start = s;
	*end = e;
	a = c->hint = find(c, s, c->hint);
	b = find(c, e - 1, a);
	cover(c, false, s, e, a, b);
	from = &c->intervals[a];
	to = &c->intervals[b + 1];
	from->count++;
	from->sum += id;
	from->sq += id * id;
	to->count--;
	to->sum -= id;
	to->sq -= id * id;
	if (e > c->until) {
		if (s < c->until)
			s = c->until;
		cover(c, true, s, e, find(c, s, a), b);
		c->until = e;
	}
	c->used = true;
	return true;
}

/*
 * Splits an interval between idle time and kernels. `doubt` is the maximum that one of several
 * kernels, or an idle moment, may have used above idle power.
 */
static void make_step(struct rk_energy_curve *c, size_t i)
{
	const struct rk_energy_interval *v = &c->intervals[i];
	struct rk_energy_step *s = &c->steps[i];
	int64_t dt = v[1].t - v->t, busy = v->busy.full ? dt : v->busy.part;
	int64_t idle, floor = 0, doubt = 0;
	wide over = (wide)v->over.full * dt + v->over.part;
	bool one_group = (wide)v->count * v->sq == (wide)v->sum * v->sum;

	s[1] = *s;
	s[1].t = v[1].t;
	s->share = -1;
	if (v->e < 0) {
		s[1].void_before += dt;
		return;
	}
	s->share = 0;
	if (!v->count)
		return;

	if (c->idle_ns) {
		idle = scaled(c->idle_units, dt - busy, c->idle_ns);
		if (idle > v->e)
			idle = v->e;
		floor = scaled(c->idle_units, dt, c->idle_ns);
	} else {
		idle = scaled(v->e, dt - busy, dt);
	}
	if (v->e > floor)
		doubt = v->e - floor;
	if (idle > doubt)
		doubt = idle;

	s->share = v->e - idle;
	s->over = over > INT64_MAX ? INT64_MAX : (int64_t)over;
	/* only kernels that fill the interval use this; they ran for at least dt */
	if (s->over >= dt)
		s[1].whole_before += scaled(s->share, dt, s->over);
	if (!one_group || busy < dt)
		s[1].error_before += doubt;
	if (busy < dt)
		c->error += doubt;
}

int rk_curve_split(struct rk_energy_curve *c, struct rk_error *err)
{
	struct rk_energy_interval *v = c->intervals;
	size_t first = c->n, last = 0;

	if (!c->n)
		return 0;
	c->steps = rk_calloc(c->n + 1, sizeof(*c->steps));
	if (!c->steps)
		return rk_fail_nomem(err);
	/* counts are stored as differences to the previous interval */
	for (size_t i = 1; i <= c->n; i++) {
		v[i].over.full += v[i - 1].over.full;
		v[i].busy.full += v[i - 1].busy.full;
		v[i].count += v[i - 1].count;
		v[i].sum += v[i - 1].sum;
		v[i].sq += v[i - 1].sq;
	}

	/* idle power: prefer intervals without kernels on either side */
	for (int calm = 1; calm >= 0 && !c->idle_ns; calm--)
		for (size_t i = 0; i < c->n; i++) {
			bool beside = (i && v[i - 1].count) || (i + 1 < c->n && v[i + 1].count);

			if (v[i].e < 0 || v[i].count || (calm && beside))
				continue;
			c->idle_units += v[i].e;
			c->idle_ns += v[i + 1].t - v[i].t;
		}

	/* the total, and the parts before the first kernel and after the last */
	for (size_t i = 0; i < c->n; i++) {
		if (v[i].count) {
			if (first == c->n)
				first = i;
			last = i;
		}
		if (v[i].e >= 0)
			c->total += v[i].e;
	}
	for (size_t i = 0; c->used && i < c->n; i++) {
		if (v[i].e >= 0 && i < first)
			c->before += v[i].e;
		else if (v[i].e >= 0 && i > last)
			c->after += v[i].e;
	}

	c->steps[0].t = v[0].t;
	for (size_t i = 0; i < c->n; i++)
		make_step(c, i);
	rk_free(c->intervals);
	c->intervals = NULL;
	return 0;
}

/* Adds the part of an interval between s and e. */
static void take(const struct rk_energy_step *v, int64_t s, int64_t e, struct rk_energy_part *ret)
{
	if (v->share < 0)
		return;
	ret->covered_ns += e - s;
	if (v->over)
		ret->units += scaled(v->share, e - s, v->over);
}

bool rk_curve_part(const struct rk_energy_curve *c, int64_t start, int64_t end, size_t hint,
		   struct rk_energy_part *ret)
{
	const struct rk_energy_step *v = c->steps;
	size_t a, b;

	*ret = (struct rk_energy_part){ 0 };
	if (!c->n)
		return false;
	if (start < v[0].t)
		start = v[0].t;
	if (end > v[c->n].t)
		end = v[c->n].t;
	if (end <= start)
		return false;
	ret->first = a = find(c, start, hint);
	ret->last = b = find(c, end - 1, a);
	if (a == b) {
		take(&v[a], start, end, ret);
		return true;
	}
	take(&v[a], start, v[a + 1].t, ret);
	take(&v[b], v[b].t, end, ret);
	ret->units += v[b].whole_before - v[a + 1].whole_before;
	ret->covered_ns += v[b].t - v[a + 1].t - (v[b].void_before - v[a + 1].void_before);
	return true;
}
