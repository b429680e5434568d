/*
 * fuse_clock_ops.c - clocks by one operation at a time.
 *
 * Communicators are not recorded. Where each node has collectives of its own, calls of different nodes
 * are matched that have nothing to do with each other, and all together contradict themselves. An
 * operation that only all ranks do together does not; so those that could not be aligned by all calls
 * are tried with the calls of each operation alone. Where two operations disagree, neither is believed.
 */
#include <math.h>
#include <stdlib.h>

#include "api/fuse_clock_impl.h"
#include "base/alloc.h"

enum {
	OPS_MAX = 16, /* that are tried */
	HALF = 1000,  /* the first and the last so many calls of a rank */
};

struct ops {
	struct rk_align_input *in;   /* the same ranks, with calls of one operation */
	struct rk_align_call *calls; /* 2 * HALF for each rank */
	struct rk_align_rank *out, *found;
	bool *doubt;
};

static int ops_open(struct ops *o, const struct rk_clock_input *i, struct rk_error *err)
{
	o->in = rk_calloc(i->n + 1, sizeof(*o->in));
	o->calls = rk_calloc(i->n + 1, 2 * HALF * sizeof(*o->calls));
	o->out = rk_calloc(i->n + 1, sizeof(*o->out));
	o->found = rk_calloc(i->n + 1, sizeof(*o->found));
	o->doubt = rk_calloc(i->n + 1, sizeof(*o->doubt));
	if (!o->in || !o->calls || !o->out || !o->found || !o->doubt)
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
}

/* By end_ns, as they are. */
static size_t pick(const struct rk_align_input *in, uint64_t sig, struct rk_align_call *ret)
{
	size_t n = 0, at, last;

	for (at = 0; at < in->ncalls && n < HALF; at++)
		if (in->calls[at].sig == sig)
			ret[n++] = in->calls[at];
	last = in->ncalls;
	for (size_t k = 0; last > at && k < HALF; last--)
		k += in->calls[last - 1].sig == sig;
	for (; last < in->ncalls && n < 2 * HALF; last++)
		if (in->calls[last].sig == sig)
			ret[n++] = in->calls[last];
	return n;
}

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
static void take(struct ops *o, const struct rk_clock_input *i, size_t k)
{
	struct rk_align_rank *had = &o->found[k], *got = &o->out[k];
	int64_t t = i->in[k].calls[0].start_ns;

	if (had->status == RK_ALIGNED &&
	    llabs(rk_align_to_reference(had, t) - rk_align_to_reference(got, t)) >
		    had->error_ns + got->error_ns)
		o->doubt[k] = true;
	if (had->status != RK_ALIGNED || got->error_ns < had->error_ns)
		*had = *got;
}

static int try_op(struct ops *o, const struct rk_clock_input *i, size_t reference, uint64_t sig,
		  struct rk_error *err)
{
	struct rk_align_options opt = { .reference = reference };
	int rc;

	for (size_t k = 0; k < i->n; k++) {
		o->in[k] = i->in[k];
		o->in[k].calls = o->calls + k * 2 * HALF;
		o->in[k].ncalls = pick(&i->in[k], sig, o->calls + k * 2 * HALF);
	}
	rc = rk_align(o->in, i->n, &opt, o->out, err);
	for (size_t k = 0; rc == 0 && k < i->n; k++)
		if (i->out[k].status != RK_ALIGNED && o->in[k].ncalls &&
		    o->out[k].status == RK_ALIGNED && widen(&o->out[k], &i->in[k], &o->in[k]))
			take(o, i, k);
	return rc;
}

static bool is_needed(const struct rk_clock_input *i)
{
	for (size_t k = 0; k < i->n; k++)
		if (i->out[k].status != RK_ALIGNED && i->in[k].ncalls)
			return true;
	return false;
}

int rk_clock_by_ops(struct rk_clock_input *i, size_t reference, const struct rk_fuse_calls *calls,
		    struct rk_error *err)
{
	const struct rk_calls_op *op;
	struct ops o = { .in = NULL };
	size_t tried = 0;
	int rc;

	if (!is_needed(i) || !rk_fuse_calls_op(calls, 1))
		return 0;
	rc = ops_open(&o, i, err);
	for (size_t k = 0; rc == 0 && tried < OPS_MAX && (op = rk_fuse_calls_op(calls, k)); k++) {
		if (!op->sig || !op->all)
			continue;
		rc = try_op(&o, i, reference, op->sig, err);
		tried++;
	}
	for (size_t k = 0; rc == 0 && k < i->n; k++)
		if (o.found[k].status == RK_ALIGNED && !o.doubt[k])
			i->out[k] = o.found[k];
	ops_close(&o);
	return rc;
}
