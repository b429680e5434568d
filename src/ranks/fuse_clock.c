/*
 * fuse_clock.c - see fuse_clock.h.
 *
 * How exact a profiler's times are on the clock of their node is in run.json where the recorder said it;
 * else a microsecond is taken, as GPUs' clocks are brought to the host's by interpolation.
 */
#include "ranks/fuse_clock_impl.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"

enum { STAMP_NS = 1000, TRIES = 4 };

static int64_t stamp_error(const struct rk_fuse_member *m)
{
	return m->clock_error_ns < 0 ? STAMP_NS : m->clock_error_ns;
}

static int input_make(const struct rk_fuse_members *m, const struct rk_fuse_calls *calls,
		      struct rk_clock_input *i, struct rk_error *err)
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
		const struct rk_fuse_member *v = &m->v[k];

		i->in[k] = (struct rk_align_input){ .rank = v->rank,
						    .node = v->machine,
						    .stamp_error_ns = stamp_error(v),
						    .calls = ranks[k].v,
						    .ncalls = ranks[k].n,
						    .snapshots = v->snapshots,
						    .nsnapshots = v->nsnapshots };
	}
	return rk_clock_jitter(i, err);
}

static void input_release(struct rk_clock_input *i)
{
	rk_free(i->in);
	rk_free(i->out);
	rk_free(i->best);
	rk_free(i->loose);
}

/* ---- the reference ---- */

static size_t count_aligned(const struct rk_align_rank *r, size_t n)
{
	size_t aligned = 0;

	for (size_t i = 0; i < n; i++)
		aligned += r[i].status == RK_ALIGNED;
	return aligned;
}

/* The next rank, of a node that was no reference yet, that no reference so far relates to. */
static size_t other_reference(const struct rk_clock_input *i, const size_t *tried, size_t ntried)
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
static int align_from(struct rk_clock_input *i, size_t reference, struct rk_error *err)
{
	struct rk_align_options opt = { .reference = reference };
	int rc = rk_align(i->in, i->n, &opt, i->out, err);

	for (size_t k = 0; rc == 0 && k < i->n; k++) {
		if (rk_clock_is_chance(i, &i->out[k], k)) {
			i->out[k].status = RK_ALIGN_NO_COMMON;
		} else if (rk_clock_is_loose(i, &i->out[k], k)) {
			i->out[k].status = RK_ALIGN_CONTRADICT;
			i->loose[k] = true;
		}
	}
	return rc;
}

/* More than half of the ranks is good enough: nothing else can have more. */
static int choose(struct rk_clock_input *i, const struct rk_fuse_calls *calls, size_t *ret,
		  struct rk_error *err)
{
	size_t tried[TRIES], n = 0, most = 0, at = 0;
	bool parted = false;

	while (n < TRIES && at < i->n && most * 2 <= i->n) {
		size_t aligned;
		int rc = align_from(i, at, err);

		/* many searches: once, from where there is something to compare with */
		if (rc == 0 && !parted && i->in[at].ncalls) {
			rc = rk_clock_by_ops(i, at, calls, err);
			parted = true;
		}
		if (rc < 0)
			return rc;
		aligned = count_aligned(i->out, i->n);
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

static char *note_of(const struct rk_clock_input *in, size_t i, bool assumed)
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

/* Offsets of all hold at one moment. */
static void move_base(struct rk_align_rank *r, int64_t base)
{
	r->offset_ns += (int64_t)llround(r->drift_ppm * 1e-6 * (double)(base - r->base_ns));
	r->base_ns = base;
}

static int64_t common_base(const struct rk_clock_input *in, size_t reference)
{
	const struct rk_align_input *r = &in->in[reference];

	if (r->ncalls)
		return r->calls[0].start_ns;
	return r->nsnapshots ? r->snapshots[0].clock_ns : in->best[reference].base_ns;
}

static int clock_make(struct rk_fuse_clocks *c, const struct rk_clock_input *in, size_t i,
		      bool assumed, struct rk_error *err)
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
	move_base(&v->to, c->base_ns);
	return 0;
}

int rk_fuse_clocks(const struct rk_fuse_members *m, const struct rk_fuse_calls *calls,
		   struct rk_fuse_clocks *ret, struct rk_error *err)
{
	struct rk_fuse_clocks c = { .n = m->n };
	struct rk_clock_input in = { .in = NULL };
	int rc = input_make(m, calls, &in, err);

	if (rc == 0)
		rc = choose(&in, calls, &c.reference, err);
	if (rc == 0) {
		c.base_ns = common_base(&in, c.reference);
		c.v = rk_calloc(m->n + 1, sizeof(*c.v));
		rc = c.v ? 0 : rk_fail_nomem(err);
	}
	for (size_t i = 0; rc == 0 && i < m->n; i++)
		rc = clock_make(&c, &in, i, rk_fuse_calls_assumed(calls), err);
	input_release(&in);
	if (rc < 0)
		rk_fuse_clocks_release(&c);
	else
		*ret = c;
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
void rk_fuse_clocks_tell(const struct rk_fuse_clocks *c, const struct rk_fuse_members *m,
			 struct rk_diag *diag)
{
	const struct rk_fuse_member *reference = &m->v[c->reference];
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
