/* energy_curve.c - samples of a device become intervals of known energy. */
#include "run/energy_curve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define COUNTER_MAX 2147483648.0  /* J: above it units do not fit */
#define POWER_MAX 1e5             /* W of one device: no sensor says more and means it */
#define WRAP_POWER_MAX 5000.0     /* W: a counter that went back was not the energy of so much */
#define INTERVAL_MAX 1e8          /* J: a kilowatt for a day */
#define TOTAL_MAX (INT64_MAX / 2) /* units: so that no sum of ours overflows */

/* Power between two readings further apart than so many usual intervals is anybody's guess. */
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
	return s->left_out ? 0 : keep(s, s->last, err);
}

static int by_time(const void *pa, const void *pb)
{
	const struct rk_meter_sample *a = pa, *b = pb;

	if (a->t != b->t)
		return a->t < b->t ? -1 : 1;
	return (a->v > b->v) - (a->v < b->v);
}

static void in_order(struct rk_meter_samples *s)
{
	bool sorted = true;

	for (size_t i = 1; i < s->n && sorted; i++)
		sorted = s->v[i - 1].t < s->v[i].t;
	if (!sorted)
		qsort(s->v, s->n, sizeof(*s->v), by_time);
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
 * Of samples of one time the last stays. A counter that did not move was read twice before its
 * sensor made a new value: the first of equal ones is when the value was new.
 */
static void without_repeats(struct rk_meter_samples *s, enum rk_meter m)
{
	size_t n = 0;

	in_order(s);
	for (size_t i = 0; i < s->n; i++) {
		if (n && s->v[n - 1].t == s->v[i].t)
			n--;
		if (m == RK_METER_COUNTER && n && s->v[n - 1].v == s->v[i].v)
			continue;
		s->v[n++] = s->v[i];
	}
	s->n = n;
}

static void without_wild(struct rk_meter_samples *s, double most, struct rk_energy_oddities *odd)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].v >= 0 && s->v[i].v < most)
			s->v[n++] = s->v[i];
	odd->wild += s->n - n;
	s->n = n;
}

static int by_number(const void *pa, const void *pb)
{
	const int64_t *a = pa, *b = pb;

	return (*a > *b) - (*a < *b);
}

/* The middle of the distances between samples; INT64_MAX when there is no memory to find it. */
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
 * A counter that went back has wrapped around, when one of the widths that are in use explains it
 * (2^32 of 2^-16 J, of uJ, of mJ); else it began anew, and what it counted till then is not known.
 */
static int64_t went_back(double from, double to, double seconds, struct rk_energy_oddities *odd)
{
	static const double widths[] = { 4294.967296, 65536, 4294967.296 };

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

static int64_t counted(const struct rk_meter_sample *s, struct rk_energy_oddities *odd)
{
	if (s[1].v < s[0].v)
		return went_back(s[0].v, s[1].v, (double)(s[1].t - s[0].t) / 1e9, odd);
	/* each reading is rounded, not their difference: so differences add up to the whole */
	return (int64_t)llround(s[1].v * RK_ENERGY_UNITS) -
	       (int64_t)llround(s[0].v * RK_ENERGY_UNITS);
}

static int64_t integrated(const struct rk_meter_sample *s, int64_t usual,
			  struct rk_energy_oddities *odd)
{
	int64_t ns = s[1].t - s[0].t;

	if (ns / GAP_INTERVALS > usual) {
		odd->gaps++;
		return -1;
	}
	return units_of((s[0].v + s[1].v) / 2 * ((double)ns / 1e9));
}

/* What is too much for a device leaves a hole. */
static int64_t believed(int64_t units, int64_t *total, struct rk_energy_oddities *odd)
{
	if (units < 0)
		return -1;
	if ((double)units > INTERVAL_MAX * RK_ENERGY_UNITS || units > TOTAL_MAX - *total) {
		odd->wild++;
		return -1;
	}
	*total += units;
	return units;
}

static int make_intervals(struct rk_energy_curve *c, struct rk_energy_oddities *odd,
			  struct rk_error *err)
{
	struct rk_meter_samples *s = &c->samples[c->meter];
	int64_t usual = c->meter == RK_METER_POWER ? usual_interval(s) : 0, total = 0, e;

	c->intervals = rk_calloc(s->n, sizeof(*c->intervals));
	if (!c->intervals || usual == INT64_MAX)
		return rk_fail_nomem(err);
	for (size_t i = 0; i + 1 < s->n; i++) {
		e = c->meter == RK_METER_COUNTER ? counted(&s->v[i], odd) :
						   integrated(&s->v[i], usual, odd);
		c->intervals[i].t = s->v[i].t;
		c->intervals[i].e = believed(e, &total, odd);
	}
	c->intervals[s->n - 1].t = s->v[s->n - 1].t;
	c->n = s->n - 1;
	c->nsamples = s->n;
	c->until = INT64_MIN;
	return 0;
}

int rk_curve_settle(struct rk_energy_curve *c, struct rk_energy_oddities *odd, struct rk_error *err)
{
	static const double most[RK_NMETERS] = { COUNTER_MAX, POWER_MAX };
	int rc = 0;

	/* the counter first: it misses nothing between two readings */
	for (unsigned m = 0; rc == 0 && !c->n && m < RK_NMETERS; m++) {
		c->meter = (enum rk_meter)m;
		if (c->samples[m].left_out)
			rc = keep(&c->samples[m], c->samples[m].last, err);
		without_wild(&c->samples[m], most[m], odd);
		without_repeats(&c->samples[m], c->meter);
		if (rc == 0 && c->samples[m].n >= 2)
			rc = make_intervals(c, odd, err);
	}
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
