/*
 * fuse_clock_loose.c - do collectives that were matched over nodes end together?
 *
 * Nodes that run the same steps, one somewhat behind the other, have collectives of their own that match
 * in order, and fit a clock that is wrong by as much as one is behind. What tells them from real ones is
 * how their ends scatter about the line: by the noise of the steps, not by that of one collective. How
 * much the latter is can be seen within a node, where one clock is certain. And two or three that match,
 * of many that do not, say nothing.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "ranks/fuse_clock_impl.h"

enum {
	LOOK = 1000, /* calls of a rank that are looked at */
	PAIRS = 8,   /* of ranks */
	FACTOR = 10, /* over several nodes ends scatter so much more, and not more than that */
	MORE_NS = 5000,
	FAR_NS = 1000000, /* further apart, calls are different ones */
	CHANCE = 3,       /* of many calls so few match by chance */
};

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* The end of b's call of that operation that is nearest; calls before *at end too early for all. */
static int64_t nearest(const struct rk_align_input *b, const struct rk_align_call *c, size_t *at)
{
	int64_t best = FAR_NS;

	while (*at < b->ncalls && b->calls[*at].end_ns < c->end_ns - FAR_NS)
		++*at;
	for (size_t k = *at; k < b->ncalls && b->calls[k].end_ns <= c->end_ns + FAR_NS; k++) {
		int64_t apart = llabs(b->calls[k].end_ns - c->end_ns);

		if (b->calls[k].sig == c->sig && apart < best)
			best = apart;
	}
	return best;
}

/* The median of it; -1: they have nothing in common. */
static int64_t jitter_of(const struct rk_align_input *a, const struct rk_align_input *b,
			 int64_t *room)
{
	size_t n = 0, at = 0;

	for (size_t k = 0; k < a->ncalls && n < LOOK; k++) {
		int64_t apart = nearest(b, &a->calls[k], &at);

		if (apart < FAR_NS)
			room[n++] = apart;
	}
	if (!n)
		return -1;
	qsort(room, n, sizeof(*room), by_value);
	return room[n / 2];
}

/* Of ranks that share a node: the smallest of some pairs, as others may be in different communicators. */
static int jitter_make(const struct rk_clock_input *i, int64_t *ret, struct rk_error *err)
{
	int64_t *room = rk_calloc(LOOK, sizeof(*room));
	size_t pairs = 0;

	if (!room)
		return rk_fail_nomem(err);
	*ret = -1;
	for (size_t k = 1; k < i->n && pairs < PAIRS; k++) {
		int64_t got;

		if (i->in[k].node != i->in[k - 1].node || !i->in[k].ncalls || !i->in[k - 1].ncalls)
			continue;
		got = jitter_of(&i->in[k - 1], &i->in[k], room);
		*ret = got >= 0 && (*ret < 0 || got < *ret) ? got : *ret;
		pairs++;
	}
	rk_free(room);
	return 0;
}

bool rk_clock_is_chance(const struct rk_clock_input *i, const struct rk_align_rank *r, size_t rank)
{
	const struct rk_align_input *a = &i->in[rank], *b = &i->in[r->via];
	size_t calls = a->ncalls < b->ncalls ? a->ncalls : b->ncalls;

	return r->status == RK_ALIGNED && r->evidence & RK_ALIGN_BY_CALLS &&
	       !(r->evidence & (RK_ALIGN_BY_SNAPSHOTS | RK_ALIGN_BY_MESSAGES)) &&
	       r->matched <= CHANCE && r->matched < calls;
}

bool rk_clock_is_loose(const struct rk_clock_input *i, const struct rk_align_rank *r, size_t rank)
{
	int64_t stamps = i->in[rank].stamp_error_ns + i->in[r->via].stamp_error_ns;

	if (r->status != RK_ALIGNED || !(r->evidence & RK_ALIGN_BY_CALLS) || r->spread_ns < 0 ||
	    i->jitter_ns < 0)
		return false;
	return r->spread_ns > FACTOR * i->jitter_ns + MORE_NS + stamps;
}

int rk_clock_jitter(struct rk_clock_input *i, struct rk_error *err)
{
	return jitter_make(i, &i->jitter_ns, err);
}
