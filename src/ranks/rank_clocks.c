/*
 * rank_clocks.c - see rank_clocks.h.
 *
 * How exact a profiler's times are on the clock of their node is in run.json where the recorder said it;
 * else a microsecond is taken, as GPUs' clocks are brought to the host's by interpolation.
 */
#include "ranks/rank_clocks.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"

/* One of each for every member; `out` of the last try, `best` and `loose` of the best. */
struct input {
	struct rk_align_input *in;
	struct rk_align_rank *out, *best;
	bool *loose; /* aligned by collectives that do not end together */
	size_t n;
	int64_t jitter_ns; /* of ends of one collective within a node, -1 not known */
};

/* ---- do collectives that were matched over nodes end together? ---- */

/*
 * Nodes that run the same steps, one somewhat behind the other, have collectives of their own that match
 * in order, and fit a clock that is wrong by as much as one is behind. What tells them from real ones is
 * how their ends scatter about the line: by the noise of the steps, not by that of one collective. How
 * much the latter is can be seen within a node, where one clock is certain. And two or three that match,
 * of many that do not, say nothing.
 */
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

/* Whether only a few of its many collectives aligned a rank. */
static bool is_chance(const struct input *i, const struct rk_align_rank *r, size_t rank)
{
	const struct rk_align_input *a = &i->in[rank], *b = &i->in[r->via];
	size_t calls = a->ncalls < b->ncalls ? a->ncalls : b->ncalls;

	return r->status == RK_ALIGNED && r->evidence & RK_ALIGN_BY_CALLS &&
	       !(r->evidence & (RK_ALIGN_BY_SNAPSHOTS | RK_ALIGN_BY_MESSAGES)) &&
	       r->matched <= CHANCE && r->matched < calls;
}

/* Whether the collectives that aligned a rank scatter more than those of a node. */
static bool is_loose(const struct input *i, const struct rk_align_rank *r, size_t rank)
{
	int64_t stamps = i->in[rank].stamp_error_ns + i->in[r->via].stamp_error_ns;

	if (r->status != RK_ALIGNED || !(r->evidence & RK_ALIGN_BY_CALLS) || r->spread_ns < 0 ||
	    i->jitter_ns < 0)
		return false;
	return r->spread_ns > FACTOR * i->jitter_ns + MORE_NS + stamps;
}

/* Of ranks that share a node: the smallest of some pairs, as others may be in different communicators. */
static int set_jitter(struct input *i, struct rk_error *err)
{
	int64_t *room = rk_calloc(LOOK, sizeof(*room));
	size_t pairs = 0;

	if (!room)
		return rk_fail_nomem(err);
	i->jitter_ns = -1;
	for (size_t k = 1; k < i->n && pairs < PAIRS; k++) {
		int64_t got;

		if (i->in[k].node != i->in[k - 1].node || !i->in[k].ncalls || !i->in[k - 1].ncalls)
			continue;
		got = jitter_of(&i->in[k - 1], &i->in[k], room);
		if (got >= 0 && (i->jitter_ns < 0 || got < i->jitter_ns))
			i->jitter_ns = got;
		pairs++;
	}
	rk_free(room);
	return 0;
}

/* ---- by some of the calls, where all together contradict themselves ---- */

/*
 * Communicators are not recorded. Where each node has collectives of its own, calls of different nodes
 * are matched that have nothing to do with each other. An operation that only all ranks do together is
 * free of that; so ranks that could not be aligned by all calls are tried with the calls of each operation
 * alone. Where communicators of a part of the node and those of all have one operation, the calls that all
 * ranks of a node leave together and those that they do not are tried apart. Where two tries disagree,
 * neither is believed.
 */

enum {
	OPS_MAX = 12,  /* that are tried */
	APART_MAX = 4, /* of them: with calls apart */
	HALF = 1000,   /* the first and the last so many calls of a rank */
	SURE = 16,     /* matches that calls apart must have */
};

#define TOGETHER_NS INT64_C(10000) /* ends of one collective on one node */

/* Which calls: of an operation; those that the node leaves together, those that it does not, or both. */
struct filter {
	uint64_t sig;
	enum { ANY, TOGETHER, APART } how;
};

struct ops {
	const struct input *i;
	struct rk_align_input *in;   /* the same ranks, with some of their calls */
	struct rk_align_call *calls; /* 2 * HALF for each rank */
	struct rk_align_rank *out, *found;
	bool *doubt;
	size_t *order; /* ranks by node */
	size_t *at;    /* by rank: where its calls are compared with another's */
};

/* ---- which calls ---- */

/* Whether rank p has a call of the operation that ends about then. Asked with ends that ascend. */
static bool ends_at(struct ops *o, size_t p, uint64_t sig, int64_t end)
{
	const struct rk_align_input *in = &o->i->in[p];
	size_t *at = &o->at[p];

	while (*at < in->ncalls && in->calls[*at].end_ns < end - TOGETHER_NS)
		++*at;
	for (size_t k = *at; k < in->ncalls && in->calls[k].end_ns <= end + TOGETHER_NS; k++)
		if (in->calls[k].sig == sig)
			return true;
	return false;
}

/* [from, to) of the order: the ranks of one node. */
static bool is_wanted(struct ops *o, const struct rk_align_call *c, const struct filter *f,
		      size_t from, size_t to)
{
	bool together = true;

	if (c->sig != f->sig || f->how == ANY)
		return c->sig == f->sig;
	for (size_t k = from; together && k < to; k++)
		together = ends_at(o, o->order[k], f->sig, c->end_ns);
	return together == (f->how == TOGETHER);
}

static void turn(struct rk_align_call *v, size_t n)
{
	for (size_t i = 0; i < n / 2; i++) {
		struct rk_align_call swap = v[i];

		v[i] = v[n - 1 - i];
		v[n - 1 - i] = swap;
	}
}

/* By end_ns, as they are: the second half goes round, and is put in order at the end. */
static void pick(struct ops *o, size_t rank, const struct filter *f, size_t from, size_t to)
{
	const struct rk_align_input *in = &o->i->in[rank];
	struct rk_align_call *ret = o->calls + rank * 2 * HALF;
	size_t n = 0;

	for (size_t k = from; k < to; k++)
		o->at[o->order[k]] = 0;
	for (size_t k = 0; k < in->ncalls; k++) {
		if (!is_wanted(o, &in->calls[k], f, from, to))
			continue;
		ret[n < 2 * HALF ? n : HALF + n % HALF] = in->calls[k];
		n++;
	}
	if (n > 2 * HALF) {
		turn(ret + HALF, n % HALF);
		turn(ret + HALF + n % HALF, HALF - n % HALF);
		turn(ret + HALF, HALF);
	}
	o->in[rank] = *in;
	o->in[rank].calls = ret;
	o->in[rank].ncalls = n < 2 * HALF ? n : 2 * HALF;
}

static void pick_all(struct ops *o, const struct filter *f)
{
	const struct rk_align_input *in = o->i->in;

	for (size_t from = 0, to; from < o->i->n; from = to) {
		for (to = from + 1;
		     to < o->i->n && in[o->order[to]].node == in[o->order[from]].node;)
			to++;
		for (size_t k = from; k < to; k++)
			pick(o, o->order[k], f, from, to);
	}
}

/* ---- what they say ---- */

/* The error must hold for all calls of the rank, and was stated for those of the operation. */
static bool widen(struct rk_align_rank *r, const struct rk_align_input *all,
		  const struct rk_align_input *of)
{
	int64_t from = of->calls[0].start_ns, to = of->calls[of->ncalls - 1].end_ns;
	int64_t before = from - all->calls[0].start_ns;
	int64_t after = all->calls[all->ncalls - 1].end_ns - to;
	double most = (double)(before > after ? before : after);
	double slope = 2e-6 * RK_ALIGN_DRIFT_PPM;

	if (to > from)
		slope = fmin(slope,
			     (double)(r->first_error_ns + r->last_error_ns) / (double)(to - from));
	if (most > 0)
		r->error_ns += (int64_t)ceil(most * slope);
	return r->error_ns <= RK_ALIGN_ERROR_NS;
}

/* Both say what the reference's clock was at the rank's first call; they must not exclude each other. */
static void take(struct ops *o, size_t k)
{
	struct rk_align_rank *had = &o->found[k], *got = &o->out[k];
	int64_t t = o->i->in[k].calls[0].start_ns;

	if (had->status == RK_ALIGNED &&
	    llabs(rk_align_to_reference(had, t) - rk_align_to_reference(got, t)) >
		    had->error_ns + got->error_ns)
		o->doubt[k] = true;
	/* the one whose ends are the most together is the most likely to be one */
	if (had->status != RK_ALIGNED || got->spread_ns < had->spread_ns)
		*had = *got;
}

/* Which calls were left together is a guess: it must be borne out by nearly all of them. */
static bool is_sound(const struct ops *o, size_t k, const struct filter *f)
{
	const struct rk_align_rank *r = &o->out[k];

	return r->status == RK_ALIGNED && !is_loose(o->i, r, k) && !is_chance(o->i, r, k) &&
	       (f->how == ANY || (r->matched >= SURE && r->rejected * 20 <= r->matched));
}

static int try_calls(struct ops *o, size_t reference, const struct filter *f, struct rk_error *err)
{
	struct rk_align_options opt = { .reference = reference };
	int rc;

	pick_all(o, f);
	rc = rk_align(o->in, o->i->n, &opt, o->out, err);
	for (size_t k = 0; rc == 0 && k < o->i->n; k++)
		if (o->i->out[k].status != RK_ALIGNED && o->in[k].ncalls && is_sound(o, k, f) &&
		    widen(&o->out[k], &o->i->in[k], &o->in[k]))
			take(o, k);
	return rc;
}

/* Ranks that have calls and are neither aligned nor found. */
static bool is_needed(const struct input *i, const struct rk_align_rank *found)
{
	for (size_t k = 0; k < i->n; k++)
		if (i->out[k].status != RK_ALIGNED && i->in[k].ncalls &&
		    (!found || found[k].status != RK_ALIGNED))
			return true;
	return false;
}

static int try_ops(struct ops *o, size_t reference, const struct rk_fuse_calls *calls, bool apart,
		   struct rk_error *err)
{
	const struct rk_calls_op *op;
	size_t tried = 0;
	int rc = 0;

	for (size_t k = 0; rc == 0 && (op = rk_fuse_calls_op(calls, k)); k++) {
		struct filter f = { op->sig, apart ? TOGETHER : ANY };

		if (!op->sig || !op->all || tried++ >= (apart ? APART_MAX : OPS_MAX))
			continue;
		rc = try_calls(o, reference, &f, err);
		f.how = APART;
		if (rc == 0 && apart)
			rc = try_calls(o, reference, &f, err);
	}
	return rc;
}

/* Ranks that `out` has not aligned to `reference`, by the calls of one operation. */
static int align_by_ops(struct input *i, size_t reference, const struct rk_fuse_calls *calls,
			struct rk_error *err)
{
	struct ops o = { .i = i };
	int rc = 0;

	if (!is_needed(i, NULL))
		return 0;
	o.in = rk_calloc(i->n + 1, sizeof(*o.in));
	o.calls = rk_calloc(i->n + 1, 2 * HALF * sizeof(*o.calls));
	o.out = rk_calloc(i->n + 1, sizeof(*o.out));
	o.found = rk_calloc(i->n + 1, sizeof(*o.found));
	o.doubt = rk_calloc(i->n + 1, sizeof(*o.doubt));
	o.order = rk_calloc(i->n + 1, sizeof(*o.order));
	o.at = rk_calloc(i->n + 1, sizeof(*o.at));
	if (!o.in || !o.calls || !o.out || !o.found || !o.doubt || !o.order || !o.at) {
		rc = rk_fail_nomem(err);
		goto out;
	}
	for (size_t k = 0; k < i->n; k++) {
		size_t at = k;

		o.found[k].status = RK_ALIGN_NO_COMMON;
		/* inputs are by rank, and mostly by node too: those of one node are a few steps away */
		for (; at && i->in[o.order[at - 1]].node > i->in[k].node; at--)
			o.order[at] = o.order[at - 1];
		o.order[at] = k;
	}
	if (rk_fuse_calls_op(calls, 1))
		rc = try_ops(&o, reference, calls, false, err);
	if (rc == 0 && is_needed(i, o.found))
		rc = try_ops(&o, reference, calls, true, err);
	for (size_t k = 0; rc == 0 && k < i->n; k++)
		if (o.found[k].status == RK_ALIGNED && !o.doubt[k])
			i->out[k] = o.found[k];
out:
	rk_free(o.in);
	rk_free(o.calls);
	rk_free(o.out);
	rk_free(o.found);
	rk_free(o.doubt);
	rk_free(o.order);
	rk_free(o.at);
	return rc;
}

/* ---- by all calls ---- */

/*
 * How exact a profiler's times are on the clock of their node is in run.json where the recorder said it;
 * else a microsecond is taken, as GPUs' clocks are brought to the host's by interpolation.
 */

enum { STAMP_NS = 1000, TRIES = 4 };

static int input_make(const struct rk_members *m, const struct rk_fuse_calls *calls,
		      struct input *i, struct rk_error *err)
{
	const struct rk_calls_rank *ranks = rk_fuse_calls_ranks(calls);

	i->n = m->n;
	i->in = rk_calloc(m->n + 1, sizeof(*i->in));
	i->out = rk_calloc(m->n + 1, sizeof(*i->out));
	i->best = rk_calloc(m->n + 1, sizeof(*i->best));
	i->loose = rk_calloc(m->n + 1, sizeof(*i->loose));
	if (!i->in || !i->out || !i->best || !i->loose)
		return rk_fail_nomem(err);
	for (size_t k = 0; k < m->n; k++) {
		const struct rk_member *v = &m->v[k];

		i->in[k] = (struct rk_align_input){ .rank = v->rank,
						    .node = v->machine,
						    .stamp_error_ns = v->clock_error_ns < 0 ?
									      STAMP_NS :
									      v->clock_error_ns,
						    .calls = ranks[k].v,
						    .ncalls = ranks[k].n,
						    .snapshots = v->snapshots,
						    .nsnapshots = v->nsnapshots };
	}
	return set_jitter(i, err);
}

/* ---- the reference ---- */

/* The next rank, of a node that was no reference yet, that no reference so far relates to. */
static size_t other_reference(const struct input *i, const size_t *tried, size_t ntried)
{
	for (size_t k = 0; k < i->n; k++) {
		bool known = i->best[k].status == RK_ALIGNED;

		for (size_t t = 0; t < ntried && !known; t++)
			known = i->in[tried[t]].node == i->in[k].node;
		if (!known)
			return k;
	}
	return i->n;
}

/* What is aligned by collectives that are not one is not aligned. */
static int align_from(struct input *i, size_t reference, struct rk_error *err)
{
	struct rk_align_options opt = { .reference = reference };
	int rc = rk_align(i->in, i->n, &opt, i->out, err);

	for (size_t k = 0; rc == 0 && k < i->n; k++) {
		if (is_chance(i, &i->out[k], k)) {
			i->out[k].status = RK_ALIGN_NO_COMMON;
		} else if (is_loose(i, &i->out[k], k)) {
			i->out[k].status = RK_ALIGN_CONTRADICT;
			i->loose[k] = true;
		}
	}
	return rc;
}

/* More than half of the ranks is good enough: nothing else can have more. */
static int choose(struct input *i, const struct rk_fuse_calls *calls, size_t *ret,
		  struct rk_error *err)
{
	size_t tried[TRIES], n = 0, most = 0, at = 0;
	bool parted = false;

	while (n < TRIES && at < i->n && most * 2 <= i->n) {
		size_t aligned = 0;
		int rc = align_from(i, at, err);

		/* many searches: once, from where there is something to compare with */
		if (rc == 0 && !parted && i->in[at].ncalls) {
			rc = align_by_ops(i, at, calls, err);
			parted = true;
		}
		if (rc < 0)
			return rc;
		for (size_t k = 0; k < i->n; k++)
			aligned += i->out[k].status == RK_ALIGNED;
		tried[n++] = at;
		if (aligned > most) {
			memcpy(i->best, i->out, i->n * sizeof(*i->best));
			most = aligned;
			*ret = at;
		}
		at = other_reference(i, tried, n);
	}
	return 0;
}

/* ---- words ---- */

static const struct {
	uint32_t bit;
	const char *word;
} evidence[] = {
	{ RK_ALIGN_BY_NODE, "node" },
	{ RK_ALIGN_BY_CALLS, "collectives" },
	{ RK_ALIGN_BY_SNAPSHOTS, "snapshots" },
	{ RK_ALIGN_BY_MESSAGES, "messages" },
};

static char *words_of(const struct rk_align_rank *r)
{
	char text[64] = "";
	size_t len = 0;

	for (size_t i = 0; i < sizeof(evidence) / sizeof(evidence[0]); i++)
		if (r->status == RK_ALIGNED && r->evidence & evidence[i].bit)
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s",
						len ? ", " : "", evidence[i].word);
	return rk_strdup(text);
}

static char *note_of(const struct input *in, size_t i, bool assumed)
{
	const struct rk_align_rank *r = &in->best[i];
	char text[256];

	rk_align_reason(r, in->in, i, text, sizeof(text));
	if (r->status == RK_ALIGN_CONTRADICT && in->loose[i])
		return rk_strf("collectives of rank %" PRId64 " and rank %" PRId64
			       " do not end together: they may be of different communicators",
			       in->in[i].rank, in->in[r->via].rank);
	if (r->status != RK_ALIGNED)
		return rk_strdup(text);
	if (r->evidence & RK_ALIGN_SNAPSHOTS_OFF)
		return rk_strdup("the wall clocks contradict the collectives and were not used");
	if (r->evidence & RK_ALIGN_UNEVEN)
		return rk_strdup("the clock does not run evenly; the error holds that");
	if (assumed && r->evidence & RK_ALIGN_BY_CALLS)
		return rk_strdup("kernels that do not say which collective they are were taken for "
				 "some that need every rank");
	return rk_strdup("");
}

/* ---- result ---- */

static int clock_make(struct rk_fuse_clocks *c, const struct input *in, size_t i, bool assumed,
		      struct rk_error *err)
{
	struct rk_fuse_clock *v = &c->v[i];

	v->to = in->best[i];
	v->by = words_of(&v->to);
	v->note = note_of(in, i, assumed);
	if (!v->by || !v->note)
		return rk_fail_nomem(err);
	if (v->to.status != RK_ALIGNED) {
		v->clock = RK_CLOCK_ALONE;
		v->domain = in->in[i].node + 1;
		c->alone++;
		return 0;
	}
	v->clock = in->in[i].node == in->in[c->reference].node ? RK_CLOCK_SAME : RK_CLOCK_ALIGNED;
	/* offsets of all hold at one moment */
	v->to.offset_ns +=
		(int64_t)llround(v->to.drift_ppm * 1e-6 * (double)(c->base_ns - v->to.base_ns));
	v->to.base_ns = c->base_ns;
	return 0;
}

int rk_fuse_clocks(const struct rk_members *m, const struct rk_fuse_calls *calls,
		   struct rk_fuse_clocks *ret, struct rk_error *err)
{
	struct rk_fuse_clocks c = { .n = m->n };
	struct input in = { .in = NULL };
	const struct rk_align_input *reference;
	int rc = input_make(m, calls, &in, err);

	if (rc < 0)
		goto out;
	rc = choose(&in, calls, &c.reference, err);
	if (rc < 0)
		goto out;
	reference = &in.in[c.reference];
	if (reference->ncalls)
		c.base_ns = reference->calls[0].start_ns;
	else if (reference->nsnapshots)
		c.base_ns = reference->snapshots[0].clock_ns;
	else
		c.base_ns = in.best[c.reference].base_ns;
	c.v = rk_calloc(m->n + 1, sizeof(*c.v));
	if (!c.v) {
		rc = rk_fail_nomem(err);
		goto out;
	}
	for (size_t i = 0; rc == 0 && i < m->n; i++)
		rc = clock_make(&c, &in, i, rk_fuse_calls_assumed(calls), err);
	if (rc < 0)
		rk_fuse_clocks_release(&c);
	else
		*ret = c;
out:
	rk_free(in.in);
	rk_free(in.out);
	rk_free(in.best);
	rk_free(in.loose);
	return rc;
}

void rk_fuse_clocks_release(struct rk_fuse_clocks *c)
{
	for (size_t i = 0; c->v && i < c->n; i++) {
		rk_free(c->v[i].by);
		rk_free(c->v[i].note);
	}
	rk_free(c->v);
	*c = (struct rk_fuse_clocks){ .v = NULL };
}

/* Of ranks whose nodes nobody knows it is not said: they may be on one, and clock_note has it. */
void rk_fuse_clocks_tell(const struct rk_fuse_clocks *c, const struct rk_members *m,
			 struct rk_diag *diag)
{
	const struct rk_member *reference = &m->v[c->reference];
	size_t first = c->n, n = 0;

	for (size_t i = c->n; i-- && reference->node[0];) {
		if (c->v[i].clock == RK_CLOCK_ALONE && m->v[i].node[0]) {
			first = i;
			n++;
		}
	}
	if (n)
		rk_diag_add(diag, "several-clocks", "", 0, n,
			    "times of rank %" PRId64
			    " (%s)%s cannot be compared with those of rank "
			    "%" PRId64 ": %s",
			    m->v[first].rank, m->v[first].node, n > 1 ? " and others" : "",
			    reference->rank, c->v[first].note);
}
