/* rank_clocks.c - see rank_clocks.h. */
#include "ranks/rank_clocks.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/num.h"

/*
 * Arrays with one element per member; `out` is from the last try, `best` and `loose` from the best
 * one.
 */
struct input {
	struct rk_align_input *in;
	struct rk_align_rank *out, *best;
	bool *loose; /* aligned by collectives that do not end together */
	struct rk_align_snapshot (*snapshots)[2];
	size_t n;
	int64_t origin;    /* subtracted from all times */
	int64_t jitter_ns; /* jitter of ends of one collective within a node, -1: unknown */
};

/* ---- do collectives that were matched across nodes end together? ---- */

/*
 * Two nodes may run the same steps, one slightly later, each with its own collectives. These match
 * in order, and fit a clock that is wrong by the delay. What distinguishes them from real matches
 * is how far their ends scatter around the line: that is the noise of the steps, not of one
 * collective. We measure the noise of one collective within a node, where all ranks share a clock.
 * Two or three matches among many calls prove nothing.
 */
enum {
	LOOK = 1000, /* calls of a rank to check */
	PAIRS = 8,   /* pairs of ranks to check */
	FACTOR = 10, /* across nodes the ends may scatter this many times more */
	MORE_NS = 5000,
	FAR_NS = 1000000, /* calls further apart are different collectives */
	CHANCE = 3,       /* this few matches among many calls are chance */
};

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/*
 * The median distance between ends of the same operation on one node. Uses the smallest of several
 * pairs of ranks, because other pairs may be in different communicators. -1: no common calls.
 */
static int set_jitter(struct input *i, struct rk_error *err)
{
	int64_t *room = rk_calloc(LOOK, sizeof(*room));
	size_t pairs = 0;

	if (!room)
		return rk_fail_nomem(err);
	i->jitter_ns = -1;
	for (size_t k = 1; k < i->n && pairs < PAIRS; k++) {
		const struct rk_align_input *a = &i->in[k - 1], *b = &i->in[k];
		size_t n = 0, at = 0; /* b's calls before `at` end too early */

		if (a->node != b->node || !a->ncalls || !b->ncalls)
			continue;
		pairs++;
		for (size_t c = 0; c < a->ncalls && n < LOOK; c++) {
			int64_t end = a->calls[c].end_ns, best = FAR_NS;

			while (at < b->ncalls && b->calls[at].end_ns < end - FAR_NS)
				at++;
			for (size_t o = at; o < b->ncalls && b->calls[o].end_ns <= end + FAR_NS;
			     o++)
				if (b->calls[o].sig == a->calls[c].sig &&
				    b->calls[o].seq == a->calls[c].seq)
					best = rk_min_i64(best, llabs(b->calls[o].end_ns - end));
			if (best < FAR_NS)
				room[n++] = best;
		}
		if (!n)
			continue;
		qsort(room, n, sizeof(*room), by_value);
		if (i->jitter_ns < 0 || room[n / 2] < i->jitter_ns)
			i->jitter_ns = room[n / 2];
	}
	rk_free(room);
	return 0;
}

/* Was the rank aligned by only a few of its many collectives? */
static bool is_chance(const struct input *i, const struct rk_align_rank *r, size_t rank)
{
	const struct rk_align_input *a = &i->in[rank], *b = &i->in[r->via];

	return r->status == RK_ALIGNED && r->evidence & RK_ALIGN_BY_CALLS &&
	       !(r->evidence & (RK_ALIGN_BY_SNAPSHOTS | RK_ALIGN_BY_MESSAGES)) &&
	       r->matched <= CHANCE && r->matched < rk_min(a->ncalls, b->ncalls);
}

/* Do the collectives that aligned a rank scatter more than those within a node? */
static bool is_loose(const struct input *i, const struct rk_align_rank *r, size_t rank)
{
	int64_t stamps = i->in[rank].stamp_error_ns + i->in[r->via].stamp_error_ns;

	if (r->status != RK_ALIGNED || !(r->evidence & RK_ALIGN_BY_CALLS) || r->spread_ns < 0 ||
	    i->jitter_ns < 0)
		return false;
	return r->spread_ns > FACTOR * i->jitter_ns + MORE_NS + stamps;
}

/* ---- align by some of the calls if all calls together contradict each other ---- */

/*
 * Communicators are not recorded. If each node has its own collectives, unrelated calls of
 * different nodes get matched. An operation that is only used by all ranks together does not have
 * this problem. So ranks that could not be aligned by all calls are tried with the calls of each
 * operation separately. If an operation is used both by all ranks and by a part of a node, we try
 * the calls that all ranks of a node leave together, and the other calls, separately. If two tries
 * disagree, we use neither.
 */

enum {
	OPS_MAX = 12,  /* operations to try */
	APART_MAX = 4, /* operations to try with calls separated */
	HALF = 1000,   /* the first and the last HALF calls of a rank are used */
	SURE = 16,     /* matches required if calls are separated */
};

#define TOGETHER_NS INT64_C(10000) /* max distance of ends of one collective on one node */

/*
 * Selects calls of one operation: those that the ranks of the node leave together, the others, or
 * all.
 */
struct filter {
	uint64_t sig;
	enum { ANY, TOGETHER, APART } how;
};

struct ops {
	const struct input *i;
	struct rk_align_input *in;   /* the same ranks, with some of their calls */
	struct rk_align_call *calls; /* 2 * HALF per rank */
	struct rk_align_rank *out, *found;
	bool *doubt;
	size_t *order; /* ranks by node */
	size_t *at;    /* by rank: position where its calls are compared with another's */
};

/* ---- selecting calls ---- */

/*
 * [from, to) of the order are the ranks of one node. They leave a call together if each has a call
 * of the operation that ends at about the same time. Call it with ascending ends.
 */
static bool is_wanted(struct ops *o, const struct rk_align_call *c, const struct filter *f,
		      size_t from, size_t to)
{
	bool together = true;

	if (c->sig != f->sig || f->how == ANY)
		return c->sig == f->sig;
	for (size_t k = from; together && k < to; k++) {
		const struct rk_align_input *in = &o->i->in[o->order[k]];
		size_t *at = &o->at[o->order[k]];

		while (*at < in->ncalls && in->calls[*at].end_ns < c->end_ns - TOGETHER_NS)
			++*at;
		together = false;
		for (size_t i = *at;
		     !together && i < in->ncalls && in->calls[i].end_ns <= c->end_ns + TOGETHER_NS;
		     i++)
			together = in->calls[i].sig == f->sig;
	}
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

/* Calls are in order of end_ns. The second half is a ring buffer, rotated into order at the end. */
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

/* ---- results of a try ---- */

/* The error is known for calls of the operation, but must cover all calls of the rank. */
static bool widen(struct rk_align_rank *r, const struct rk_align_input *all,
		  const struct rk_align_input *of)
{
	int64_t from = of->calls[0].start_ns, to = of->calls[of->ncalls - 1].end_ns;
	int64_t before = from - all->calls[0].start_ns;
	int64_t after = all->calls[all->ncalls - 1].end_ns - to;
	double most = (double)rk_max_i64(before, after);
	double slope = 2e-6 * RK_ALIGN_DRIFT_PPM;

	if (to > from)
		slope = fmin(slope,
			     (double)(r->first_error_ns + r->last_error_ns) / (double)(to - from));
	if (most > 0)
		r->error_ns += (int64_t)ceil(most * slope);
	return r->error_ns <= RK_ALIGN_ERROR_NS;
}

static int try_calls(struct ops *o, size_t reference, const struct filter *f, struct rk_error *err)
{
	struct rk_align_options opt = { .reference = reference };
	const struct rk_align_input *in = o->i->in;
	size_t n = o->i->n;
	int rc;

	for (size_t from = 0, to; from < n; from = to) {
		for (to = from + 1; to < n && in[o->order[to]].node == in[o->order[from]].node;)
			to++;
		for (size_t k = from; k < to; k++)
			pick(o, o->order[k], f, from, to);
	}
	rc = rk_align(o->in, n, &opt, o->out, err);
	if (rc < 0)
		return rc;
	for (size_t k = 0; k < n; k++) {
		struct rk_align_rank *had = &o->found[k], *got = &o->out[k];
		int64_t t, apart;

		if (o->i->out[k].status == RK_ALIGNED || !o->in[k].ncalls ||
		    got->status != RK_ALIGNED || is_loose(o->i, got, k) || is_chance(o->i, got, k))
			continue;
		/* which calls were left together is a guess, so nearly all of them must agree */
		if (f->how != ANY && (got->matched < SURE || got->rejected * 20 > got->matched))
			continue;
		if (!widen(got, &in[k], &o->in[k]))
			continue;
		if (had->status != RK_ALIGNED) {
			*had = *got;
			continue;
		}
		/*
		 * both give the reference's clock at the first call: they must agree within their
		 * errors
		 */
		t = in[k].calls[0].start_ns;
		apart = llabs(rk_align_to_reference(had, t) - rk_align_to_reference(got, t));
		if (apart > had->error_ns + got->error_ns)
			o->doubt[k] = true;
		/* the match whose ends scatter least is the most likely one */
		if (got->spread_ns < had->spread_ns)
			*had = *got;
	}
	return 0;
}

/* Is there a rank that has calls and is neither aligned nor found? */
static bool is_needed(const struct input *i, const struct rk_align_rank *found)
{
	for (size_t k = 0; k < i->n; k++)
		if (i->out[k].status != RK_ALIGNED && i->in[k].ncalls &&
		    (!found || found[k].status != RK_ALIGNED))
			return true;
	return false;
}

static int try_ops(struct ops *o, size_t reference, const struct rk_rank_calls *calls, bool apart,
		   struct rk_error *err)
{
	const struct rk_calls_op *op;
	size_t tried = 0, most = apart ? APART_MAX : OPS_MAX;
	int rc;

	for (size_t k = 0; (op = rk_rank_calls_op(calls, k)); k++) {
		struct filter f = { op->sig, apart ? TOGETHER : ANY };

		if (!op->sig || !op->all || tried++ >= most)
			continue;
		rc = try_calls(o, reference, &f, err);
		if (rc < 0)
			return rc;
		if (!apart)
			continue;
		f.how = APART;
		rc = try_calls(o, reference, &f, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* Aligns ranks that `out` has not aligned to `reference` by the calls of one operation. */
static int align_by_ops(struct input *i, size_t reference, const struct rk_rank_calls *calls,
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
		/* inputs are sorted by rank and so nearly by node: an insertion sort is fast */
		for (; at && i->in[o.order[at - 1]].node > i->in[k].node; at--)
			o.order[at] = o.order[at - 1];
		o.order[at] = k;
	}
	if (rk_rank_calls_op(calls, 1)) {
		rc = try_ops(&o, reference, calls, false, err);
		if (rc < 0)
			goto out;
	}
	if (is_needed(i, o.found)) {
		rc = try_ops(&o, reference, calls, true, err);
		if (rc < 0)
			goto out;
	}
	for (size_t k = 0; k < i->n; k++)
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

/* ---- align by all calls ---- */

/*
 * run.json has the error of a profiler's times against its node's clock if the recorder measured
 * it. The default is a microsecond, because GPU times are interpolated to the host's clock.
 */

enum { STAMP_NS = 1000, TRIES = 4 };

static int input_make(const struct rk_members *m, const struct rk_rank_calls *calls,
		      struct input *i, struct rk_error *err)
{
	const struct rk_calls_rank *ranks = rk_rank_calls_ranks(calls);
	struct rk_align_snapshot first = { 0 };
	bool begun = false;

	i->n = m->n;
	i->in = rk_calloc(m->n + 1, sizeof(*i->in));
	i->out = rk_calloc(m->n + 1, sizeof(*i->out));
	i->best = rk_calloc(m->n + 1, sizeof(*i->best));
	i->loose = rk_calloc(m->n + 1, sizeof(*i->loose));
	i->snapshots = rk_calloc(m->n + 1, sizeof(*i->snapshots));
	if (!i->in || !i->out || !i->best || !i->loose || !i->snapshots)
		return rk_fail_nomem(err);
	for (size_t k = 0; k < m->n && !begun; k++) {
		begun = m->v[k].nsnapshots > 0;
		if (begun)
			first = m->v[k].snapshots[0];
	}
	if (!rk_rank_calls_origin(calls, &i->origin) && begun)
		i->origin = first.clock_ns;
	for (size_t k = 0; k < m->n; k++) {
		const struct rk_member *v = &m->v[k];
		size_t n = 0;

		for (size_t s = 0; s < v->nsnapshots; s++) {
			struct rk_align_snapshot *to = &i->snapshots[k][n];

			*to = v->snapshots[s];
			/* a wall clock that is 63 years off relates no clocks */
			n += rk_sub_i64(to->clock_ns, i->origin, &to->clock_ns) &&
			     rk_sub_i64(to->real_ns, first.real_ns, &to->real_ns) &&
			     to->clock_ns > -RK_ALIGN_TIME_MAX &&
			     to->clock_ns < RK_ALIGN_TIME_MAX && to->real_ns > -RK_ALIGN_TIME_MAX &&
			     to->real_ns < RK_ALIGN_TIME_MAX;
		}

		i->in[k] = (struct rk_align_input){ .rank = v->rank,
						    .node = v->machine,
						    .stamp_error_ns = v->clock_error_ns,
						    .calls = ranks[k].v,
						    .ncalls = ranks[k].n,
						    .snapshots = i->snapshots[k],
						    .nsnapshots = n };
		if (v->clock_error_ns < 0)
			i->in[k].stamp_error_ns = STAMP_NS;
	}
	return set_jitter(i, err);
}

/* ---- choosing the reference ---- */

/*
 * The next rank that was not aligned with any reference so far, on a node that was not yet a
 * reference.
 */
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

/* Stops when more than half of the ranks are aligned: another reference cannot have more. */
static int choose(struct input *i, const struct rk_rank_calls *calls, size_t *ret,
		  struct rk_error *err)
{
	size_t tried[TRIES], n = 0, most = 0, at = 0;
	bool parted = false;

	while (n < TRIES && at < i->n && most * 2 <= i->n) {
		struct rk_align_options opt = { .reference = at };
		size_t aligned = 0;
		int rc = rk_align(i->in, i->n, &opt, i->out, err);

		if (rc < 0)
			return rc;
		/* reject alignments by calls that are not the same collective */
		for (size_t k = 0; k < i->n; k++) {
			if (is_chance(i, &i->out[k], k)) {
				i->out[k].status = RK_ALIGN_NO_COMMON;
			} else if (is_loose(i, &i->out[k], k)) {
				i->out[k].status = RK_ALIGN_CONTRADICT;
				i->loose[k] = true;
			}
		}
		/* expensive, so only once, from a reference that has calls */
		if (!parted && i->in[at].ncalls) {
			rc = align_by_ops(i, at, calls, err);
			if (rc < 0)
				return rc;
			parted = true;
		}
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

/* ---- messages ---- */

static const struct {
	uint32_t bit;
	const char *word;
} evidence[] = {
	{ RK_ALIGN_BY_NODE, "node" },
	{ RK_ALIGN_BY_CALLS, "collectives" },
	{ RK_ALIGN_BY_SNAPSHOTS, "snapshots" },
	{ RK_ALIGN_BY_MESSAGES, "messages" },
};

static char *note_of(const struct input *in, size_t i, bool assumed)
{
	const struct rk_align_rank *r = &in->best[i];
	char text[256];

	rk_align_reason(r, in->in, i, text, sizeof(text));
	if (r->status == RK_ALIGN_CONTRADICT && in->loose[i])
		return rk_strf("collectives of rank %" PRId64 " and rank %" PRId64
			       " do not end together; they may belong to different communicators",
			       in->in[i].rank, in->in[r->via].rank);
	if (r->status != RK_ALIGNED)
		return rk_strdup(text);
	if (r->evidence & RK_ALIGN_SNAPSHOTS_OFF)
		return rk_strdup("the wall clocks contradict the collectives and were not used");
	if (r->evidence & RK_ALIGN_UNEVEN)
		return rk_strdup("the clock does not run evenly; the error includes this");
	if (assumed && r->evidence & RK_ALIGN_BY_CALLS)
		return rk_strdup("assumed that collectives of unknown kind need every rank");
	return rk_strdup("");
}

/* ---- result ---- */

/* base: the time that offsets refer to, less the origin. */
static int clock_make(struct rk_rank_clocks *c, const struct input *in, size_t i, int64_t base,
		      bool assumed, struct rk_error *err)
{
	struct rk_rank_clock *v = &c->v[i];
	char words[64] = "";
	size_t len = 0;

	v->to = in->best[i];
	for (size_t k = 0; k < sizeof(evidence) / sizeof(evidence[0]); k++)
		if (v->to.status == RK_ALIGNED && v->to.evidence & evidence[k].bit)
			len += (size_t)snprintf(words + len, sizeof(words) - len, "%s%s",
						len ? ", " : "", evidence[k].word);
	v->by = rk_strdup(words);
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
	/* refer all offsets to the same time */
	v->to.offset_ns +=
		(int64_t)llround(v->to.drift_ppm * 1e-6 * (double)(base - v->to.base_ns));
	v->to.base_ns = base;
	return 0;
}

int rk_rank_clocks(const struct rk_members *m, const struct rk_rank_calls *calls,
		   struct rk_rank_clocks *ret, struct rk_error *err)
{
	struct rk_rank_clocks c = { .n = m->n };
	struct input in = { .in = NULL };
	const struct rk_align_input *reference;
	int64_t base;
	int rc = input_make(m, calls, &in, err);

	if (rc < 0)
		goto out;
	rc = choose(&in, calls, &c.reference, err);
	if (rc < 0)
		goto out;
	reference = &in.in[c.reference];
	base = in.best[c.reference].base_ns;
	if (reference->ncalls)
		base = reference->calls[0].start_ns;
	else if (reference->nsnapshots)
		base = reference->snapshots[0].clock_ns;
	c.base_ns = in.origin + base;
	for (size_t i = 0; i < m->n; i++)
		if (in.best[i].status == RK_ALIGN_JUMP)
			in.best[i].jump_at_ns += in.origin;
	c.v = rk_calloc(m->n + 1, sizeof(*c.v));
	if (!c.v) {
		rc = rk_fail_nomem(err);
		goto out;
	}
	for (size_t i = 0; i < m->n; i++) {
		rc = clock_make(&c, &in, i, base, rk_rank_calls_assumed(calls), err);
		if (rc < 0)
			goto out;
	}
	*ret = c;
	c.v = NULL;
out:
	rk_rank_clocks_release(&c);
	rk_free(in.in);
	rk_free(in.out);
	rk_free(in.best);
	rk_free(in.loose);
	rk_free(in.snapshots);
	return rc;
}

void rk_rank_clocks_release(struct rk_rank_clocks *c)
{
	for (size_t i = 0; c->v && i < c->n; i++) {
		rk_free(c->v[i].by);
		rk_free(c->v[i].note);
	}
	rk_free(c->v);
	*c = (struct rk_rank_clocks){ .v = NULL };
}

/*
 * Does not warn about ranks of unknown nodes: they may be on one node, and clock_note has the
 * reason.
 */
void rk_rank_clocks_tell(const struct rk_rank_clocks *c, const struct rk_members *m,
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
