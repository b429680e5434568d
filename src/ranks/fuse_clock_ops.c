/*
 * fuse_clock_ops.c - clocks by some of the calls, where all together contradict themselves.
 *
 * Communicators are not recorded. Where each node has collectives of its own, calls of different nodes
 * are matched that have nothing to do with each other. An operation that only all ranks do together is
 * free of that; so ranks that could not be aligned by all calls are tried with the calls of each operation
 * alone. Where communicators of a part of the node and those of all have one operation, the calls that all
 * ranks of a node leave together and those that they do not are tried apart. Where two tries disagree,
 * neither is believed.
 */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "ranks/fuse_clock_impl.h"

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
	const struct rk_clock_input *i;
	struct rk_align_input *in;   /* the same ranks, with some of their calls */
	struct rk_align_call *calls; /* 2 * HALF for each rank */
	struct rk_align_rank *out, *found;
	bool *doubt;
	size_t *order; /* ranks by node */
	size_t *at;    /* by rank: where its calls are compared with another's */
};

static int ops_open(struct ops *o, const struct rk_clock_input *i, struct rk_error *err)
{
	o->i = i;
	o->in = rk_calloc(i->n + 1, sizeof(*o->in));
	o->calls = rk_calloc(i->n + 1, 2 * HALF * sizeof(*o->calls));
	o->out = rk_calloc(i->n + 1, sizeof(*o->out));
	o->found = rk_calloc(i->n + 1, sizeof(*o->found));
	o->doubt = rk_calloc(i->n + 1, sizeof(*o->doubt));
	o->order = rk_calloc(i->n + 1, sizeof(*o->order));
	o->at = rk_calloc(i->n + 1, sizeof(*o->at));
	if (!o->in || !o->calls || !o->out || !o->found || !o->doubt || !o->order || !o->at)
		return rk_fail_nomem(err);
	for (size_t k = 0; k < i->n; k++)
		o->found[k].status = RK_ALIGN_NO_COMMON;
	return 0;
}

static void ops_close(struct ops *o)
{
	rk_free(o->in);
	rk_free(o->calls);
	rk_free(o->out);
	rk_free(o->found);
	rk_free(o->doubt);
	rk_free(o->order);
	rk_free(o->at);
}

/* ---- which calls ---- */

/* Inputs are by rank, and mostly by node too: those of one node are a few steps away at most. */
static void order_make(struct ops *o)
{
	const struct rk_align_input *in = o->i->in;

	for (size_t k = 0; k < o->i->n; k++) {
		size_t at = k;

		for (; at && in[o->order[at - 1]].node > in[k].node; at--)
			o->order[at] = o->order[at - 1];
		o->order[at] = k;
	}
}

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

	return r->status == RK_ALIGNED && !rk_clock_is_loose(o->i, r, k) &&
	       !rk_clock_is_chance(o->i, r, k) &&
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
static bool is_needed(const struct rk_clock_input *i, const struct rk_align_rank *found)
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

int rk_clock_by_ops(struct rk_clock_input *i, size_t reference, const struct rk_fuse_calls *calls,
		    struct rk_error *err)
{
	struct ops o = { .in = NULL };
	int rc;

	if (!is_needed(i, NULL))
		return 0;
	rc = ops_open(&o, i, err);
	if (rc == 0)
		order_make(&o);
	if (rc == 0 && rk_fuse_calls_op(calls, 1))
		rc = try_ops(&o, reference, calls, false, err);
	if (rc == 0 && is_needed(i, o.found))
		rc = try_ops(&o, reference, calls, true, err);
	for (size_t k = 0; rc == 0 && k < i->n; k++)
		if (o.found[k].status == RK_ALIGNED && !o.doubt[k])
			i->out[k] = o.found[k];
	ops_close(&o);
	return rc;
}
