/*
 * energy_split.c - the energy of each interval, split over the kernels in it.
 *
 * Of an interval of dt ns in which kernels ran for `busy` ns (each moment counted once) the part
 * idle power * (dt - busy) is idle, and never more than all of it. Idle power is the mean of the
 * intervals without kernels, of those that have no kernels beside them either if there are such (a
 * device takes a moment to calm down); where there are none at all, the device is taken to draw the same all through
 * the interval. The rest is the kernels', by the time that each ran in the interval.
 *
 * Nothing finer can be seen: within an interval, one kernel may have drawn all that is above idle
 * power and another nothing. So that much is the error of each group of kernels in it, once per
 * interval. Only in an interval that one group filled from end to end there is none.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "run/energy_curve.h"

__extension__ typedef __int128 wide;

/* a * b / c, c > 0, rounded down. */
static int64_t scaled(int64_t a, int64_t b, int64_t c)
{
	wide v = (wide)a * b / c;

	return v > INT64_MAX ? INT64_MAX : (int64_t)v;
}

/* Hostile durations stop at the end of the numbers. */
static void add_ns(int64_t *sum, int64_t ns)
{
	if (__builtin_add_overflow(*sum, ns, sum))
		*sum = INT64_MAX;
}

static bool step_after(const struct rk_energy_curve *c, size_t i, int64_t t)
{
	return (c->steps ? c->steps[i].t : c->intervals[i].t) > t;
}

/* The interval that holds t, which lies within; it is looked for from `hint` on. */
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

/* [s, e) begins in interval a and ends in b. */
static void cover(struct rk_energy_curve *c, bool busy, int64_t s, int64_t e, size_t a, size_t b)
{
	const struct rk_energy_interval *v = c->intervals;
	size_t lo = s == v[a].t ? a : a + 1, hi = e == v[b + 1].t ? b + 1 : b;

	if (lo < hi) {
		cover_at(c, lo, busy)->full++;
		cover_at(c, hi, busy)->full--;
	}
	if (a == b && lo > a && hi <= b) {
		add_ns(&cover_at(c, a, busy)->part, e - s);
		return;
	}
	if (lo > a)
		add_ns(&cover_at(c, a, busy)->part, v[a + 1].t - s);
	if (hi <= b)
		add_ns(&cover_at(c, b, busy)->part, e - v[b].t);
}

static void touch(struct rk_energy_curve *c, size_t a, size_t b, int64_t group)
{
	struct rk_energy_interval *from = &c->intervals[a], *to = &c->intervals[b + 1];

	from->count++;
	from->sum += group;
	from->sq += group * group;
	to->count--;
	to->sum -= group;
	to->sq -= group * group;
}

bool rk_curve_cover(struct rk_energy_curve *c, int64_t *start, int64_t *end, uint32_t group)
{
	int64_t s = *start, e = *end, t0 = c->intervals[0].t, t1 = c->intervals[c->n].t;
	size_t a, b;

	s = s > t0 ? s : t0;
	e = e < t1 ? e : t1;
	if (e <= s) {
		add_ns(&c->uncovered_ns, *end - *start);
		return false;
	}
	add_ns(&c->uncovered_ns, *end - *start - (e - s));
	*start = s;
	*end = e;
	a = c->hint = find(c, s, c->hint);
	b = find(c, e - 1, a);
	cover(c, false, s, e, a, b);
	touch(c, a, b, group);
	if (e > c->until) {
		s = s > c->until ? s : c->until;
		cover(c, true, s, e, find(c, s, a), b);
		c->until = e;
	}
	c->used = true;
	return true;
}

/* Differences become numbers. */
static void add_up(struct rk_energy_curve *c)
{
	struct rk_energy_interval *v = c->intervals;

	for (size_t i = 1; i <= c->n; i++) {
		v[i].over.full += v[i - 1].over.full;
		v[i].busy.full += v[i - 1].busy.full;
		v[i].count += v[i - 1].count;
		v[i].sum += v[i - 1].sum;
		v[i].sq += v[i - 1].sq;
	}
}

static int64_t over_of(const struct rk_energy_interval *v)
{
	wide ns = (wide)v->over.full * (v[1].t - v->t) + v->over.part;

	return ns > INT64_MAX ? INT64_MAX : (int64_t)ns;
}

static int64_t busy_of(const struct rk_energy_interval *v)
{
	return v->busy.full ? v[1].t - v->t : v->busy.part;
}

static bool is_calm(const struct rk_energy_curve *c, size_t i)
{
	const struct rk_energy_interval *v = c->intervals;

	return !v[i].count && (!i || !v[i - 1].count) && (i + 1 == c->n || !v[i + 1].count);
}

static void find_idle_power(struct rk_energy_curve *c)
{
	for (int calm = 1; calm >= 0 && !c->idle_ns; calm--)
		for (size_t i = 0; i < c->n; i++) {
			const struct rk_energy_interval *v = &c->intervals[i];

			if (v->e < 0 || v->count || (calm && !is_calm(c, i)))
				continue;
			c->idle_units += v->e;
			c->idle_ns += v[1].t - v->t;
		}
}

/* What is drawn in all, before the first kernel and after the last. */
static void find_ends(struct rk_energy_curve *c)
{
	size_t first = c->n, last = 0;

	for (size_t i = 0; i < c->n; i++) {
		const struct rk_energy_interval *v = &c->intervals[i];

		if (v->count) {
			first = first == c->n ? i : first;
			last = i;
		}
		if (v->e >= 0)
			c->total += v->e;
	}
	for (size_t i = 0; c->used && i < c->n; i++)
		if (c->intervals[i].e >= 0 && (i < first || i > last))
			*(i < first ? &c->before : &c->after) += c->intervals[i].e;
}

static int64_t idle_in(const struct rk_energy_curve *c, const struct rk_energy_interval *v)
{
	int64_t dt = v[1].t - v->t, ns = dt - busy_of(v), idle;

	if (!c->idle_ns)
		return scaled(v->e, ns, dt);
	idle = scaled(c->idle_units, ns, c->idle_ns);
	return idle < v->e ? idle : v->e;
}

/* All that one of several kernels, or an idle moment, may have drawn above idle power. */
static int64_t doubt_in(const struct rk_energy_curve *c, const struct rk_energy_interval *v,
			int64_t idle)
{
	int64_t dt = v[1].t - v->t;
	int64_t floor = c->idle_ns ? scaled(c->idle_units, dt, c->idle_ns) : 0;
	int64_t above = v->e > floor ? v->e - floor : 0;

	return above > idle ? above : idle;
}

static bool one_group(const struct rk_energy_interval *v)
{
	return (wide)v->count * v->sq == (wide)v->sum * v->sum;
}

static void make_step(struct rk_energy_curve *c, size_t i)
{
	const struct rk_energy_interval *v = &c->intervals[i];
	struct rk_energy_step *s = &c->steps[i];
	int64_t dt = v[1].t - v->t, idle, doubt;

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
	idle = idle_in(c, v);
	doubt = doubt_in(c, v, idle);
	s->share = v->e - idle;
	s->over = over_of(v);
	/* of use to kernels that fill the interval alone: then they ran for dt at least */
	if (s->over >= dt)
		s[1].whole_before += scaled(s->share, dt, s->over);
	if (!one_group(v) || busy_of(v) < dt)
		s[1].error_before += doubt;
	if (busy_of(v) < dt)
		c->error += doubt;
}

int rk_curve_split(struct rk_energy_curve *c, struct rk_error *err)
{
	if (!c->n)
		return 0;
	c->steps = rk_calloc(c->n + 1, sizeof(*c->steps));
	if (!c->steps)
		return rk_fail_nomem(err);
	add_up(c);
	find_idle_power(c);
	find_ends(c);
	c->steps[0].t = c->intervals[0].t;
	for (size_t i = 0; i < c->n; i++)
		make_step(c, i);
	rk_free(c->intervals);
	c->intervals = NULL;
	return 0;
}

/* Of the interval i, from s to e. */
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
	start = start > v[0].t ? start : v[0].t;
	end = end < v[c->n].t ? end : v[c->n].t;
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
