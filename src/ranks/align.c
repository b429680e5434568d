/* align.c - compare nodes along a tree from the reference; each rank gets the clock of its node. */
#include "ranks/align.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/num.h"
#include "ranks/align_impl.h"

enum {
	SIGS = 48, /* max distinct signatures remembered per rank; with more, every pair is tried */
	TRIES = 4, /* comparisons per pair of nodes, and failed comparisons per node */
};

#define SPAN_MAX INT64_C(8640000000000000) /* ns: 100 days, exact in a double */
#define STAMP_ERROR_MAX (INT64_C(1) << 40)

struct sigs {
	uint64_t v[SIGS];
	size_t n;
	bool more;
};

struct node {
	size_t from, to; /* range in tree.order */
	int64_t first, last;
	bool aligned, any; /* any: at least one rank is usable */
	size_t via;        /* rank that it was compared with */
	unsigned failures;
	struct rk_align_edge edge; /* to `via`, or why there is none */
	struct rk_align_rank rank; /* relative to the reference, if aligned */
	double r_first, r_last; /* range of its records on the reference's clock, to rank.base_ns */
	double slope_error;
};

struct tree {
	const struct rk_align_input *in;
	struct rk_align_options opt; /* defaults filled in */
	struct rk_align_rank *ret;
	size_t n, nnodes, nmessages;
	size_t *order; /* inputs sorted by node, then rank */
	struct node *nodes;
	size_t *node_of; /* by input */
	struct sigs *sigs;
	struct rk_align_message *messages; /* between nodes, sorted by node */
	size_t *queue;
	size_t nqueue;
};

/* -- inputs ---------------------------------------------------------------------------- */

static bool good_time(int64_t t)
{
	return t > -RK_ALIGN_TIME_MAX && t < RK_ALIGN_TIME_MAX;
}

static bool good_input(const struct rk_align_input *in)
{
	for (size_t k = 0; k < in->nsnapshots; k++)
		if (!good_time(in->snapshots[k].clock_ns) || !good_time(in->snapshots[k].real_ns) ||
		    in->snapshots[k].error_ns > RK_ALIGN_TIME_MAX)
			return false;
	if (in->ncalls >= UINT32_MAX || in->stamp_error_ns < 0 ||
	    in->stamp_error_ns > STAMP_ERROR_MAX)
		return false;
	for (size_t k = 0; k < in->ncalls; k++) {
		const struct rk_align_call *c = &in->calls[k];

		if (!good_time(c->start_ns) || !good_time(c->end_ns) || c->start_ns > c->end_ns)
			return false;
		if (k && c->end_ns < c[-1].end_ns)
			return false;
	}
	return in->ncalls == 0 ||
	       in->calls[in->ncalls - 1].end_ns - in->calls[0].start_ns <= SPAN_MAX;
}

static void note_sig(struct sigs *s, uint64_t sig)
{
	size_t from = 0, to = s->n;

	while (from < to) {
		size_t middle = (from + to) / 2;

		if (s->v[middle] == sig)
			return;
		if (s->v[middle] < sig)
			from = middle + 1;
		else
			to = middle;
	}
	if (s->n == SIGS) {
		s->more = true;
		return;
	}
	memmove(&s->v[from + 1], &s->v[from], (s->n - from) * sizeof(s->v[0]));
	s->v[from] = sig;
	s->n++;
}

static bool common_sig(const struct sigs *a, const struct sigs *b)
{
	size_t i = 0, j = 0;

	if ((a->more && b->n) || (b->more && a->n))
		return true;
	while (i < a->n && j < b->n) {
		if (a->v[i] == b->v[j])
			return true;
		if (a->v[i] < b->v[j])
			i++;
		else
			j++;
	}
	return false;
}

/* qsort passes no context, so each element includes its sort keys. */
struct place {
	uint32_t node;
	int64_t rank;
	size_t at;
};

static int by_node(const void *pa, const void *pb)
{
	const struct place *a = pa, *b = pb;

	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return (a->at > b->at) - (a->at < b->at);
}

static int tree_make(struct tree *t, struct rk_error *err)
{
	struct place *p = rk_reallocn(NULL, t->n, sizeof(*p));

	t->order = rk_calloc(t->n, sizeof(*t->order));
	t->node_of = rk_calloc(t->n, sizeof(*t->node_of));
	t->queue = rk_calloc(t->n, sizeof(*t->queue));
	t->nodes = rk_calloc(t->n, sizeof(*t->nodes));
	t->sigs = rk_calloc(t->n, sizeof(*t->sigs));
	if (!p || !t->order || !t->node_of || !t->queue || !t->nodes || !t->sigs) {
		rk_free(p);
		return rk_fail_nomem(err);
	}
	for (size_t i = 0; i < t->n; i++)
		p[i] = (struct place){ t->in[i].node, t->in[i].rank, i };
	qsort(p, t->n, sizeof(*p), by_node);
	for (size_t i = 0; i < t->n; i++) {
		if (i == 0 || p[i].node != p[i - 1].node)
			t->nodes[t->nnodes++] = (struct node){ .from = i };
		t->order[i] = p[i].at;
		t->node_of[p[i].at] = t->nnodes - 1;
		t->nodes[t->nnodes - 1].to = i + 1;
	}
	rk_free(p);
	return 0;
}

static void widen(struct node *n, int64_t first, int64_t last)
{
	if (!n->any || first < n->first)
		n->first = first;
	if (!n->any || last > n->last)
		n->last = last;
	n->any = true;
}

/*
 * Checks an input and extends the time range of its node; snapshots count only if there are no
 * calls.
 */
static void look_at(struct tree *t, size_t i)
{
	const struct rk_align_input *in = &t->in[i];
	struct rk_align_rank *r = &t->ret[i];
	struct node *n = &t->nodes[t->node_of[i]];
	uint64_t job = t->in[t->opt.reference].job;

	*r = (struct rk_align_rank){ .status = RK_ALIGN_NO_COMMON, .spread_ns = -1 };
	r->via = t->opt.reference;
	if (!good_input(in)) {
		r->status = RK_ALIGN_BAD_TIMES;
		return;
	}
	if (job && in->job && in->job != job) {
		r->status = RK_ALIGN_OTHER_JOB;
		return;
	}
	for (size_t k = 0; k < in->ncalls; k++) {
		if (k == 0 || in->calls[k].sig != in->calls[k - 1].sig)
			note_sig(&t->sigs[i], in->calls[k].sig);
		widen(n, in->calls[k].start_ns, in->calls[k].end_ns);
	}
	for (size_t k = 0; k < in->nsnapshots && in->ncalls == 0; k++)
		widen(n, in->snapshots[k].clock_ns, in->snapshots[k].clock_ns);
}

static bool usable(const struct tree *t, size_t i)
{
	return t->ret[i].status == RK_ALIGN_NO_COMMON;
}

/* -- messages --------------------------------------------------------------------------- */

struct letter {
	size_t a, b; /* nodes, a < b */
	struct rk_align_message m;
};

static int by_nodes(const void *pa, const void *pb)
{
	const struct letter *a = pa, *b = pb;

	if (a->a != b->a)
		return a->a < b->a ? -1 : 1;
	if (a->b != b->b)
		return a->b < b->b ? -1 : 1;
	return (a->m.send_ns > b->m.send_ns) - (a->m.send_ns < b->m.send_ns);
}

/* Keeps the messages between different nodes, sorted by node. */
static int set_messages(struct tree *t, struct rk_error *err)
{
	size_t n = t->opt.nmessages;
	struct letter *v = rk_reallocn(NULL, n + 1, sizeof(*v));

	t->messages = rk_reallocn(NULL, n + 1, sizeof(*t->messages));
	if (!v || !t->messages) {
		rk_free(v);
		return rk_fail_nomem(err);
	}
	for (size_t i = 0; i < n; i++) {
		const struct rk_align_message *m = &t->opt.messages[i];
		size_t a = t->node_of[m->from], b = t->node_of[m->to];

		if (!usable(t, m->from) || !usable(t, m->to) || !good_time(m->send_ns) ||
		    !good_time(m->recv_ns) || a == b)
			continue;
		v[t->nmessages++] = (struct letter){ rk_min(a, b), rk_max(a, b), *m };
		widen(&t->nodes[a], m->send_ns, m->send_ns);
		widen(&t->nodes[b], m->recv_ns, m->recv_ns);
	}
	qsort(v, t->nmessages, sizeof(*v), by_nodes);
	for (size_t i = 0; i < t->nmessages; i++)
		t->messages[i] = v[i].m;
	rk_free(v);
	return 0;
}

/*
 * The first message not sorted before the nodes (a, b), a < b; with `beyond`, the first one after
 * them.
 */
static size_t message_at(const struct tree *t, size_t a, size_t b, bool beyond)
{
	size_t from = 0, to = t->nmessages;

	while (from < to) {
		size_t middle = (from + to) / 2;
		const struct rk_align_message *m = &t->messages[middle];
		size_t x = t->node_of[m->from], y = t->node_of[m->to];
		size_t low = rk_min(x, y), high = rk_max(x, y);

		if (low < a || (low == a && (high < b || (beyond && high == b))))
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/* -- the tree --------------------------------------------------------------------------- */

static bool better(const struct rk_align_edge *a, const struct rk_align_edge *b)
{
	if (a->status != b->status)
		return a->status == RK_ALIGNED ||
		       (b->status == RK_ALIGN_NO_COMMON && a->status != RK_ALIGN_NO_COMMON);
	if (a->status != RK_ALIGNED)
		return a->matched > b->matched;
	return a->first_error + a->last_error < b->first_error + b->last_error;
}

struct attempt {
	struct rk_align_edge edge;
	size_t via;
	unsigned tried, worked;
	bool by_snapshots; /* snapshots are enough for a comparison */
};

/* Compares ranks of node a with ranks of node b, those with the same index first. */
static int try_nodes(struct tree *t, size_t a, size_t b, struct attempt *at, struct rk_error *err)
{
	const struct node *na = &t->nodes[a], *nb = &t->nodes[b];
	size_t low = rk_min(a, b), high = rk_max(a, b), mine = na->to - na->from;
	size_t first = message_at(t, low, high, false);
	struct rk_align_two two = {
		.in = t->in,
		.messages = t->messages + first,
		.nmessages = message_at(t, low, high, true) - first,
		.b_first = nb->first,
		.b_last = nb->last,
		.max_drift = t->opt.max_drift_ppm / 1e6,
		.max_error = (double)t->opt.max_error_ns,
	};

	for (size_t shift = 0; shift < mine; shift++)
		for (size_t k = nb->from; k < nb->to; k++) {
			size_t i = t->order[na->from + (k - nb->from + shift) % mine];
			size_t j = t->order[k];
			bool snapshots = t->in[i].nsnapshots && t->in[j].nsnapshots;
			struct rk_align_edge e;
			int rc;

			if (at->tried >= TRIES || at->worked >= 2)
				return 0;
			if (!usable(t, i) || !usable(t, j))
				continue;
			if (!common_sig(&t->sigs[i], &t->sigs[j]) && !two.nmessages &&
			    !(snapshots && at->by_snapshots))
				continue;
			two.a = &t->in[i];
			two.b = &t->in[j];
			rc = rk_align_compare(&two, &e, err);
			if (rc < 0)
				return rc;
			if (at->tried++ == 0 || better(&e, &at->edge)) {
				at->edge = e;
				at->via = i;
			}
			at->worked += e.status == RK_ALIGNED;
		}
	return 0;
}

/* The error bound of an aligned node at time r of the reference's clock (relative to its base). */
static double error_at(const struct node *n, double r)
{
	double span = n->r_last - n->r_first, x = 0;

	if (r < n->r_first)
		return (double)n->rank.first_error_ns + (n->r_first - r) * n->slope_error;
	if (r > n->r_last)
		return (double)n->rank.last_error_ns + (r - n->r_last) * n->slope_error;
	if (span > 0)
		x = (r - n->r_first) / span;
	return (double)n->rank.first_error_ns * (1 - x) + (double)n->rank.last_error_ns * x;
}

/* Chains two lines: from b's clock to a's, and from a's to the reference's. False: out of range. */
static bool join(const struct node *a, struct node *b, const struct rk_align_edge *e)
{
	const struct rk_align_rank *ra = &a->rank;
	struct rk_align_rank *r = &b->rank;
	int64_t a_first = e->base + llround(e->first), a_last = e->base + llround(e->last);
	double drift = ra->drift_ppm / 1e6, from, to;

	r->base_ns = rk_align_to_reference(ra, a_first);
	if (!rk_add_i64(a_first - r->base_ns, e->diff, &r->offset_ns) ||
	    llabs(r->offset_ns) > 2 * RK_ALIGN_TIME_MAX)
		return false;
	r->offset_ns += llround(e->line.a + e->line.b * e->first);
	r->drift_ppm = 1e6 * (drift + e->line.b + drift * e->line.b);
	b->r_first = 0;
	b->r_last = (double)(rk_align_to_reference(ra, a_last) - r->base_ns);
	from = error_at(a, (double)(r->base_ns - ra->base_ns));
	to = error_at(a, (double)(r->base_ns - ra->base_ns) + b->r_last);
	r->first_error_ns = (int64_t)ceil((e->first_error + from) * 1.001) + 2;
	r->last_error_ns = (int64_t)ceil((e->last_error + to) * 1.001) + 2;
	r->error_ns = rk_max_i64(r->first_error_ns, r->last_error_ns);
	b->slope_error = a->slope_error + e->slope_error;
	r->evidence = (ra->evidence | e->evidence) & ~(uint32_t)RK_ALIGN_BY_NODE;
	return true;
}

static int visit(struct tree *t, size_t a, size_t b, bool by_snapshots, struct rk_error *err)
{
	struct attempt at = { .by_snapshots = by_snapshots };
	struct node *nb = &t->nodes[b];
	int rc;

	if (nb->aligned || !nb->any || nb->failures >= TRIES)
		return 0;
	rc = try_nodes(t, a, b, &at, err);
	if (rc < 0 || at.tried == 0)
		return rc;
	if (at.edge.status == RK_ALIGNED) {
		if (!join(&t->nodes[a], nb, &at.edge))
			at.edge.status = RK_ALIGN_BAD_TIMES;
		else if (nb->rank.error_ns > t->opt.max_error_ns)
			at.edge.status = RK_ALIGN_WIDE;
	}
	if (at.edge.status == RK_ALIGNED) {
		nb->aligned = true;
		t->queue[t->nqueue++] = b;
	}
	nb->failures += at.edge.status != RK_ALIGNED && at.edge.status != RK_ALIGN_NO_COMMON;
	if (nb->failures <= 1 || nb->aligned) {
		nb->edge = at.edge;
		nb->via = at.via;
	}
	return 0;
}

static int spread_from(struct tree *t, size_t *next, struct rk_error *err)
{
	for (; *next < t->nqueue; ++*next)
		for (size_t b = 0; b < t->nnodes; b++) {
			int rc = visit(t, t->queue[*next], b, false, err);

			if (rc < 0)
				return rc;
		}
	return 0;
}

/*
 * Uses calls and messages first because they are precise, then realtime clocks, directly with the
 * reference.
 */
static int grow(struct tree *t, struct rk_error *err)
{
	size_t root = t->node_of[t->opt.reference], next = 0;
	struct node *n = &t->nodes[root];
	int rc;

	n->aligned = true;
	n->via = t->opt.reference;
	n->rank = (struct rk_align_rank){ .base_ns = n->first, .evidence = RK_ALIGN_BY_NODE };
	n->r_last = (double)(n->last - n->first);
	n->edge.spread = -1;
	t->queue[t->nqueue++] = root;
	rc = spread_from(t, &next, err);
	if (rc < 0)
		return rc;
	for (size_t b = 0; b < t->nnodes; b++) {
		if (t->nodes[b].failures)
			continue;
		rc = visit(t, root, b, true, err);
		if (rc < 0)
			return rc;
	}
	return spread_from(t, &next, err);
}

static void hand_out(struct tree *t, size_t i)
{
	const struct node *n = &t->nodes[t->node_of[i]];
	const struct rk_align_input *in = &t->in[i];
	struct rk_align_rank *r = &t->ret[i];
	/*
	 * If no data of this rank was compared, a contradiction found for its node is not its
	 * fault.
	 */
	bool compared = in->ncalls || t->nmessages;

	if (!usable(t, i))
		return;
	for (size_t k = 0; k < in->nsnapshots; k++)
		compared |= in->snapshots[k].error_ns >= 0;
	if (n->aligned) {
		*r = n->rank;
		r->status = RK_ALIGNED;
		r->error_ns += in->stamp_error_ns;
		r->first_error_ns += in->stamp_error_ns;
		r->last_error_ns += in->stamp_error_ns;
	} else if (n->any && n->failures && compared) {
		r->status = n->edge.status;
		if (r->status == RK_ALIGN_WIDE) {
			double wide = fmax(n->edge.first_error, n->edge.last_error);

			r->error_ns = INT64_MAX;
			if (wide < 9e18)
				r->error_ns = rk_max_i64(n->rank.error_ns, (int64_t)ceil(wide));
		}
	}
	r->via = n->aligned || n->failures ? n->via : t->opt.reference;
	r->spread_ns = n->edge.spread < 0 ? -1 : llround(n->edge.spread);
	r->matched = n->edge.matched;
	r->rejected = n->edge.rejected;
	r->jump_at_ns = n->edge.jump_at;
	r->jump_ns = n->edge.jump;
}

int rk_align(const struct rk_align_input *in, size_t n, const struct rk_align_options *opt,
	     struct rk_align_rank *ret, struct rk_error *err)
{
	struct tree t = { .in = in, .opt = *opt, .ret = ret, .n = n };
	int rc;

	if (n == 0 || n > RK_ALIGN_MAX_RANKS)
		return rk_fail(err, RK_E_USAGE, "cannot align %zu ranks", n);
	if (opt->reference >= n)
		return rk_fail(err, RK_E_USAGE, "the reference is not one of the %zu ranks", n);
	for (size_t i = 0; i < opt->nmessages; i++)
		if (opt->messages[i].from >= n || opt->messages[i].to >= n)
			return rk_fail(err, RK_E_USAGE, "message %zu names an unknown rank", i);
	if (!(opt->max_drift_ppm > 0))
		t.opt.max_drift_ppm = RK_ALIGN_DRIFT_PPM;
	if (opt->max_error_ns <= 0)
		t.opt.max_error_ns = RK_ALIGN_ERROR_NS;
	rc = tree_make(&t, err);
	if (rc < 0)
		goto out;
	for (size_t i = 0; i < n; i++)
		look_at(&t, i);
	rc = set_messages(&t, err);
	if (rc < 0)
		goto out;
	if (usable(&t, opt->reference)) {
		rc = grow(&t, err);
		if (rc < 0)
			goto out;
	}
	for (size_t i = 0; i < n; i++)
		hand_out(&t, i);
out:
	rk_free(t.messages);
	rk_free(t.sigs);
	rk_free(t.nodes);
	rk_free(t.queue);
	rk_free(t.node_of);
	rk_free(t.order);
	return rc;
}

/* ---- one rank: input and result ---- */

uint64_t rk_align_sig(enum rk_align_kind kind, uint64_t name, uint64_t group, int64_t bytes)
{
	uint64_t h = rk_hash_mix(name ^ UINT64_C(0x9e3779b97f4a7c15), UINT64_C(0xd6e8feb86659fd93));

	h = rk_hash_mix(h ^ group, UINT64_C(0xa0761d6478bd642f));
	h = rk_hash_mix(h ^ (uint64_t)bytes, UINT64_C(0xe7037ed1a0b428db));
	h &= ~UINT64_C(1);
	return (h ? h : 2) | (kind == RK_ALIGN_ROOTED);
}

int64_t rk_align_to_reference(const struct rk_align_rank *r, int64_t local_ns)
{
	double drift = r->drift_ppm / 1e6;
	int64_t moved, ret;

	if (!rk_sub_i64(local_ns, r->offset_ns, &moved))
		return local_ns;
	drift = rk_apart(r->base_ns, moved) * (drift / (1 + drift));
	return rk_sub_i64(moved, llround(drift), &ret) ? ret : local_ns;
}

void rk_align_reason(const struct rk_align_rank *r, const struct rk_align_input *in, size_t index,
		     char *text, size_t size)
{
	int64_t me = in[index].rank, other = in[r->via].rank;

	switch (r->status) {
	case RK_ALIGNED:
		snprintf(text, size, "%s", "");
		break;
	case RK_ALIGN_OTHER_JOB:
		snprintf(text, size,
			 "rank %" PRId64 " belongs to a different job than rank %" PRId64, me,
			 other);
		break;
	case RK_ALIGN_NO_COMMON:
		snprintf(text, size,
			 "rank %" PRId64 " has nothing in common with rank %" PRId64
			 ": no collective, clock snapshot or message",
			 me, other);
		break;
	case RK_ALIGN_AMBIGUOUS:
		snprintf(text, size,
			 "collectives of rank %" PRId64 " match those of rank %" PRId64
			 " in several ways",
			 me, other);
		break;
	case RK_ALIGN_CONTRADICT:
		snprintf(text, size,
			 "records of rank %" PRId64 " and rank %" PRId64
			 " contradict each other: no clock offset fits",
			 me, other);
		break;
	case RK_ALIGN_JUMP:
		snprintf(text, size,
			 "the clock of rank %" PRId64 " (or of rank %" PRId64 ") jumps by %" PRId64
			 " ns at %" PRId64,
			 me, other, r->jump_ns, r->jump_at_ns);
		break;
	case RK_ALIGN_WIDE:
		snprintf(text, size,
			 "the clock of rank %" PRId64 " is only known within %" PRId64 " ns", me,
			 r->error_ns);
		break;
	case RK_ALIGN_BAD_TIMES:
		snprintf(text, size, "times of rank %" PRId64 " are out of order or out of range",
			 me);
		break;
	}
}
