/*
 * align_match.c - find calls of two ranks that are the same collective.
 *
 * If both ranks have the same sequence of signatures, call k of one is call k of the other; times
 * show later whether that is true. Otherwise we need times: programs repeat themselves, so
 * signatures alone cannot distinguish a rank that misses the first step from one that misses the
 * last. But the time between collectives varies from step to step by more than the ends of one
 * collective differ, so several calls in a row are a fingerprint. Each call of the other rank is
 * tried as the partner of the first of them. The clock difference with which most of the others
 * find a partner wins, unless another one does nearly as well. From there the match continues in
 * both directions, following the drift.
 */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/num.h"
#include "ranks/align_impl.h"

enum {
	CHUNK = 48,          /* calls per fingerprint */
	FEW = 8,             /* the first ones, which decide whether to continue */
	PLACES = 5,          /* number of fingerprints to try */
	NEAR_NS = 100000,    /* ends of one collective mostly differ by less than this, */
	WINDOW_NS = 1000000, /* and hardly ever by more than this */
	STRIDE = 16,         /* calls to step over one by one */
	CROWD = 32,          /* max calls to check within the window in each direction */
	LOST = 12,           /* calls without a partner after which the search restarts */
};

static int add(struct rk_align_pairs *p, size_t a, size_t b, struct rk_error *err)
{
	void *grown = rk_grow(p->v, &p->cap, p->n + 1, sizeof(*p->v));

	if (!grown)
		return rk_fail_nomem(err);
	p->v = grown;
	p->v[p->n++] = (struct rk_align_pair){ (uint32_t)a, (uint32_t)b };
	return 0;
}

/* May they be the same collective? */
static bool may_match(const struct rk_align_call *a, const struct rk_align_call *b)
{
	return a->sig == b->sig && a->seq == b->seq;
}

int rk_align_match_equal(const struct rk_align_input *a, const struct rk_align_input *b,
			 struct rk_align_pairs *p, struct rk_error *err)
{
	p->n = 0;
	if (a->ncalls != b->ncalls || a->ncalls == 0)
		return 0;
	for (size_t k = 0; k < a->ncalls; k++)
		if (!may_match(&a->calls[k], &b->calls[k]))
			return 0;
	for (size_t k = 0; k < a->ncalls; k++) {
		int rc = add(p, k, k, err);

		if (rc < 0)
			return rc;
	}
	return 1;
}

/* The first call that ends at t or later; usually near `hint`, otherwise found by bisection. */
static size_t first_from(const struct rk_align_input *in, size_t hint, int64_t t)
{
	size_t from = 0, to = in->ncalls;

	for (int i = 0; i < STRIDE && hint > 0 && in->calls[hint - 1].end_ns >= t; i++)
		hint--;
	for (int i = 0; i < STRIDE && hint < to && in->calls[hint].end_ns < t; i++)
		hint++;
	if (hint > 0 && in->calls[hint - 1].end_ns >= t)
		to = hint - 1;
	else
		from = hint;
	if (from == to || in->calls[from].end_ns >= t)
		return from;
	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (in->calls[middle].end_ns < t)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

struct candidate {
	size_t at;
	int64_t distance, second; /* of the nearest, and the next with the same signature */
};

static void consider(struct candidate *c, size_t at, int64_t distance)
{
	if (distance < c->distance) {
		c->second = c->distance;
		c->distance = distance;
		c->at = at;
	} else if (distance < c->second) {
		c->second = distance;
	}
}

/*
 * The call like `call` that ends nearest to t, within `window` and a bounded number of calls. at ==
 * ncalls: none.
 */
static struct candidate nearest(const struct rk_align_input *in, const struct rk_align_call *call,
				int64_t t, int64_t window, size_t *hint)
{
	const struct rk_align_call *v = in->calls;
	struct candidate c = { in->ncalls, INT64_MAX, INT64_MAX };
	size_t at = first_from(in, *hint, t);

	*hint = at;
	for (size_t i = at; i < in->ncalls && i - at < CROWD && v[i].end_ns <= t + window; i++)
		if (may_match(&v[i], call))
			consider(&c, i, v[i].end_ns - t);
	for (size_t i = at; i > 0 && at - i < CROWD && v[i - 1].end_ns >= t - window; i--)
		if (may_match(&v[i - 1], call))
			consider(&c, i - 1, t - v[i - 1].end_ns);
	return c;
}

struct found {
	double best, second; /* scores */
	int64_t diff;
	size_t a, b;
};

/* The best partner for b's call `from` among a's calls from `a_from` on. */
static struct found fingerprint(const struct rk_align_input *a, const struct rk_align_input *b,
				size_t from, size_t to, size_t a_from, double max_drift)
{
	struct found f = { 0 };
	int64_t span = b->calls[to - 1].end_ns - b->calls[from].end_ns;
	int64_t near = NEAR_NS + (int64_t)(max_drift * (double)span);

	for (size_t i = a_from; i < a->ncalls; i++) {
		int64_t diff = b->calls[from].end_ns - a->calls[i].end_ns;
		double score = 0;
		size_t hint = i;

		if (!may_match(&a->calls[i], &b->calls[from]))
			continue;
		/*
		 * how well calls [from, to) of b coincide with calls of a if the clocks differ by
		 * `diff`
		 */
		for (size_t k = from; k < to; k++) {
			const struct rk_align_call *c = &b->calls[k];
			struct candidate one = nearest(a, c, c->end_ns - diff, near, &hint);

			if (one.at < a->ncalls)
				score += 1 - (double)one.distance / (double)near;
			if (k - from + 1 == FEW && score < FEW / 4)
				break;
		}
		if (score > f.best) {
			if (llabs(diff - f.diff) > near)
				f.second = f.best;
			f = (struct found){ score, f.second, diff, i, from };
		} else if (score > f.second && llabs(diff - f.diff) > near) {
			f.second = score;
		}
	}
	return f;
}

static bool decided(const struct found *f, size_t calls)
{
	return f->best >= 0.5 * (double)calls && f->second < 0.75 * f->best;
}

/* State of the walk from a matched pair. */
struct walk {
	const struct rk_align_input *a, *b;
	double max_drift;
	double diff; /* the clock difference so far, relative to `base` */
	int64_t base, last_end;
	size_t a_last;
	bool any;
};

/* True if call k of b has a partner beyond the last one in direction `step`. */
static bool one_step(struct walk *w, size_t k, int step, size_t *hint, size_t *ret_a)
{
	const struct rk_align_call *c = &w->b->calls[k];
	int64_t want = c->end_ns - w->base - (int64_t)w->diff;
	struct candidate one = nearest(w->a, c, want, WINDOW_NS, hint);
	double room;

	if (one.at == w->a->ncalls || one.second / 3 < one.distance)
		return false;
	if (w->any && (step > 0 ? one.at <= w->a_last : one.at >= w->a_last))
		return false;
	/* Follow the difference slowly, and not faster than clocks can drift. */
	room = w->max_drift * (double)llabs(c->end_ns - w->last_end) + 100;
	w->diff += fmin(fmax((double)(want - w->a->calls[one.at].end_ns) / 4, -room), room);
	w->last_end = c->end_ns;
	w->a_last = *ret_a = one.at;
	w->any = true;
	return true;
}

static int backwards(struct walk w, const struct found *f, struct rk_align_pairs *p,
		     struct rk_error *err)
{
	size_t hint = f->a, at;

	w.any = true;
	w.a_last = f->a;
	for (size_t k = f->b; k-- > 0;)
		if (one_step(&w, k, -1, &hint, &at)) {
			int rc = add(p, at, k, err);

			if (rc < 0)
				return rc;
		}
	for (size_t i = 0; i < p->n / 2; i++) {
		struct rk_align_pair swap = p->v[i];

		p->v[i] = p->v[p->n - 1 - i];
		p->v[p->n - 1 - i] = swap;
	}
	return 0;
}

static int forwards(struct walk w, const struct found *f, struct rk_align_pairs *p,
		    struct rk_error *err)
{
	size_t hint = f->a, at, without = 0;

	w.any = f->a > 0;
	w.a_last = f->a - w.any;
	for (size_t k = f->b; k < w.b->ncalls; k++) {
		size_t to = rk_min(k + CHUNK, w.b->ncalls);
		struct found again;
		int64_t jump;

		if (one_step(&w, k, 1, &hint, &at)) {
			int rc = add(p, at, k, err);

			if (rc < 0)
				return rc;
			without = 0;
			continue;
		}
		if (++without != LOST || !w.any || to - k < FEW)
			continue;
		/* the match was lost: a match at another difference is a jump */
		again = fingerprint(w.a, w.b, k, to, w.a_last + 1, w.max_drift);
		jump = again.diff - w.base - (int64_t)w.diff;
		if (decided(&again, to - k) && llabs(jump) >= WINDOW_NS / 2) {
			p->lost = true;
			p->lost_at = w.last_end;
			p->jump = jump;
			break;
		}
	}
	return 0;
}

/*
 * Tries fingerprints at several places. One is enough if nearly all of its calls have partners. If
 * not, its first call may be missing on the other rank, and the result may be accidental. So we use
 * the best one, and a nearly equal score at another difference counts against it. Then it walks in
 * both directions.
 */
static int search(const struct rk_align_input *a, const struct rk_align_input *b, double max_drift,
		  struct rk_align_pairs *p, struct rk_error *err)
{
	size_t n = rk_min(b->ncalls, CHUNK);
	struct walk w = { .a = a, .b = b, .max_drift = max_drift };
	struct found best = { 0 };
	int rc;

	if (a->ncalls == 0 || n == 0)
		return 0;
	for (size_t i = 0; i < PLACES && best.best < 0.85 * (double)n; i++) {
		size_t from = (b->ncalls - n) * i / (PLACES - 1);
		struct found f = fingerprint(a, b, from, from + n, 0, max_drift);
		int64_t apart = llabs(b->calls[from].end_ns - b->calls[best.b].end_ns);
		int64_t same = 2 * NEAR_NS + (int64_t)(max_drift * (double)apart);
		bool other = best.best > 0 && llabs(f.diff - best.diff) > same;

		if (f.best > best.best) {
			if (other)
				f.second = fmax(f.second, best.best);
			best = f;
		} else if (other) {
			best.second = fmax(best.second, f.best);
		}
	}
	if (!decided(&best, n)) {
		p->ambiguous = best.best >= 0.5 * (double)n;
		return 0;
	}
	w.base = best.diff;
	w.last_end = b->calls[best.b].end_ns;
	rc = backwards(w, &best, p, err);
	if (rc < 0)
		return rc;
	return forwards(w, &best, p, err);
}

/* A rank's calls whose signatures the other rank also has, and their indices among all calls. */
struct shared {
	struct rk_align_input in;
	struct rk_align_call *calls;
	uint32_t *at;
};

static int set_shared(struct shared *s, const struct rk_align_input *in,
		      const struct rk_align_input *other, struct rk_error *err)
{
	struct rk_map sigs = { 0 };
	int rc = 0;

	s->calls = rk_reallocn(NULL, in->ncalls + 1, sizeof(*s->calls));
	s->at = rk_reallocn(NULL, in->ncalls + 1, sizeof(*s->at));
	s->in = *in;
	s->in.calls = s->calls;
	s->in.ncalls = 0;
	if (!s->calls || !s->at)
		return rk_fail_nomem(err);
	for (size_t k = 0; k < other->ncalls; k++)
		if (!rk_map_put(&sigs, other->calls[k].sig, other->calls[k].seq, 0)) {
			rc = rk_fail_nomem(err);
			goto out;
		}
	for (size_t k = 0; k < in->ncalls; k++)
		if (rk_map_get(&sigs, in->calls[k].sig, in->calls[k].seq) == 0) {
			s->at[s->in.ncalls] = (uint32_t)k;
			s->calls[s->in.ncalls++] = in->calls[k];
		}
out:
	rk_map_release(&sigs);
	return rc;
}

int rk_align_match_search(const struct rk_align_input *a, const struct rk_align_input *b,
			  double max_drift, struct rk_align_pairs *p, struct rk_error *err)
{
	struct shared sa = { 0 }, sb = { 0 };
	int rc;

	p->n = 0;
	p->ambiguous = p->lost = false;
	rc = set_shared(&sa, a, b, err);
	if (rc < 0)
		goto out;
	rc = set_shared(&sb, b, a, err);
	if (rc < 0)
		goto out;
	rc = search(&sa.in, &sb.in, max_drift, p, err);
	if (rc < 0)
		goto out;
	for (size_t i = 0; i < p->n; i++)
		p->v[i] = (struct rk_align_pair){ sa.at[p->v[i].a], sb.at[p->v[i].b] };
out:
	rk_free(sa.calls);
	rk_free(sa.at);
	rk_free(sb.calls);
	rk_free(sb.at);
	return rc;
}
