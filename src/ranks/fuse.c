/* fuse.c - see fuse.h. */
#include "ranks/fuse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "ranks/copy_matrix.h"
#include "ranks/fuse_clock.h"
#include "ranks/rank_load.h"
#include "ranks/rank_spread.h"
#include "run/members.h"

struct rk_fuse {
	struct rk_run *run;
	struct rk_fuse_members members;
	struct rk_rank_load *load;
	struct rk_rank_spread *spread;
	struct rk_copy_matrix *copies;
	struct rk_fuse_calls *calls;
};

/* What is given out, with all it points at. */
struct owner {
	struct rk_ranks pub; /* first: it is what others see */
	struct rk_fuse_members members;
	struct rk_fuse_clocks clocks;
};

/* ---- rows as they go by ---- */

static int fuse_open(struct rk_fuse *f, struct rk_error *err)
{
	struct rk_context *ctx = &f->run->ctx;
	int64_t *ranks = rk_calloc(f->members.n + 1, sizeof(*ranks));
	int rc = ranks ? 0 : rk_fail_nomem(err);

	for (size_t i = 0; rc == 0 && i < f->members.n; i++)
		ranks[i] = f->members.v[i].rank;
	if (rc == 0)
		rc = rk_fuse_calls_new(ctx, ranks, f->members.n, &f->calls, err);
	if (rc == 0)
		rc = rk_rank_load_new(ctx, NULL, &f->load, err);
	if (rc == 0)
		rc = rk_rank_spread_new(ctx, NULL, &f->spread, err);
	if (rc == 0)
		rc = rk_copy_matrix_new(ctx, &f->copies, err);
	rk_free(ranks);
	return rc;
}

int rk_fuse_new(struct rk_run *run, struct rk_fuse **ret, struct rk_error *err)
{
	struct rk_fuse *f = rk_calloc(1, sizeof(*f));
	int rc = f ? 0 : rk_fail_nomem(err);

	if (rc < 0)
		return rc;
	f->run = run;
	rc = rk_fuse_members(run, &f->members, err);
	if (rc == 0 && f->members.n >= 2)
		rc = fuse_open(f, err);
	if (rc < 0 || f->members.n < 2) {
		rk_fuse_free(f);
		f = NULL;
	}
	if (rc == 0)
		*ret = f;
	return rc;
}

void rk_fuse_free(struct rk_fuse *f)
{
	if (!f)
		return;
	rk_fuse_members_release(&f->members);
	rk_rank_load_free(f->load);
	rk_rank_spread_free(f->spread);
	rk_copy_matrix_free(f->copies);
	rk_fuse_calls_free(f->calls);
	rk_free(f);
}

uint64_t rk_fuse_wants(enum rk_table t)
{
	uint64_t want = rk_fuse_calls_wants(t);

	if (t == RK_KERNELS)
		want |= rk_rank_load_wants() | rk_rank_spread_wants();
	return t == RK_MEMCPY ? want | rk_copy_matrix_wants() : want;
}

static int look_at(struct rk_fuse *f, const struct rk_batch *b, struct rk_error *err)
{
	enum rk_table t = b->schema->table;
	int rc = rk_fuse_calls_add(f->calls, b, err);

	if (rc == 0 && t == RK_KERNELS)
		rc = rk_rank_load_add(f->load, b, err);
	if (rc == 0 && t == RK_KERNELS)
		rc = rk_rank_spread_add(f->spread, b, err);
	if (rc == 0 && t == RK_MEMCPY)
		rc = rk_copy_matrix_add(f->copies, b, err);
	return rc;
}

struct tap {
	struct rk_source base;
	struct rk_source *rows;
	struct rk_fuse *fuse;
};

static int tap_next(struct rk_source *base, const struct rk_batch **batch, struct rk_error *err)
{
	struct tap *t = (struct tap *)base;
	int rc = rk_source_next(t->rows, batch, err), seen;

	if (rc <= 0)
		return rc;
	seen = look_at(t->fuse, *batch, err);
	return seen < 0 ? seen : rc;
}

static void tap_close(struct rk_source *base)
{
	struct tap *t = (struct tap *)base;

	rk_source_close(t->rows);
	rk_free(t);
}

static const struct rk_source_ops tap_ops = { .next = tap_next, .close = tap_close };

int rk_fuse_tap(struct rk_fuse *f, struct rk_source **rows, struct rk_error *err)
{
	struct tap *t;

	if (!rk_fuse_wants((*rows)->schema->table))
		return 0;
	t = rk_calloc(1, sizeof(*t));
	if (!t) {
		rk_source_close(*rows);
		*rows = NULL;
		return rk_fail_nomem(err);
	}
	t->base = (struct rk_source){ &tap_ops, (*rows)->schema };
	t->rows = *rows;
	t->fuse = f;
	*rows = &t->base;
	return 0;
}

/* ---- ranks ---- */

static void set_member(struct rk_ranks_rank *r, const struct rk_fuse_member *m,
		       const struct rk_fuse_clock *c)
{
	*r = (struct rk_ranks_rank){
		.rank = m->rank,
		.local_rank = m->local_rank,
		.node = m->node,
		.tool = m->tool,
		.tool_version = m->tool_version,
		.state = m->state,
		.status = m->status,
		.first_ns = -1,
		.last_ns = -1,
		.clock = c->clock,
		.clock_by = c->by,
		.clock_note = c->note,
	};
	if (c->clock == RK_CLOCK_ALONE)
		return;
	r->offset_ns = c->to.offset_ns;
	r->drift_ppm = c->to.drift_ppm;
	r->error_ns = c->to.error_ns;
}

static void set_load(struct rk_ranks_rank *r, const struct rk_load_line *l)
{
	r->kernels = l->kernels;
	r->kernel_ns = l->kernel_ns;
	r->first_ns = l->first_ns;
	r->last_ns = l->last_ns;
	r->compute_ns = l->compute_ns;
	r->comm_ns = l->comm_ns;
	r->both_ns = l->both_ns;
	r->idle_ns = l->idle_ns;
}

static int ranks_make(struct rk_fuse *f, struct owner *o, struct rk_error *err)
{
	struct rk_ranks *r = &o->pub;
	struct rk_load_line *lines = NULL;
	size_t n = 0, at = 0;
	int rc = rk_rank_load_finish(f->load, &lines, &n, err);

	r->ranks = rc == 0 ? rk_calloc(o->members.n, sizeof(*r->ranks)) : NULL;
	if (rc == 0 && !r->ranks)
		rc = rk_fail_nomem(err);
	for (size_t i = 0; rc == 0 && i < o->members.n; i++) {
		set_member(&r->ranks[i], &o->members.v[i], &o->clocks.v[i]);
		while (at < n && lines[at].rank < r->ranks[i].rank)
			at++;
		if (at < n && lines[at].rank == r->ranks[i].rank)
			set_load(&r->ranks[i], &lines[at]);
	}
	r->nranks = rc == 0 ? o->members.n : 0;
	r->imbalance = rk_rank_load_imbalance(lines, n);
	rk_free(lines);
	return rc;
}

/* ---- collectives ---- */

struct meeting {
	struct rk_comm_rank *in;
	struct rk_comm_op *ops;
	size_t *of; /* the operation that each of `ops` is */
	size_t n, nops;
	struct rk_comm_match got;
};

static int meeting_make(struct meeting *m, struct rk_fuse *f, struct owner *o, struct rk_error *err)
{
	const struct rk_calls_rank *calls = rk_fuse_calls_ranks(f->calls);
	const struct rk_calls_op *op;

	m->n = o->members.n;
	m->in = rk_calloc(m->n + 1, sizeof(*m->in));
	m->ops = rk_calloc(RK_CALLS_OPS, sizeof(*m->ops));
	m->of = rk_calloc(RK_CALLS_OPS, sizeof(*m->of));
	if (!m->in || !m->ops || !m->of)
		return rk_fail_nomem(err);
	rk_fuse_calls_by_start(f->calls);
	for (size_t i = 0; i < m->n; i++) {
		const struct rk_fuse_clock *c = &o->clocks.v[i];
		bool alone = c->clock == RK_CLOCK_ALONE;

		m->in[i] = (struct rk_comm_rank){ .rank = o->members.v[i].rank,
						  .node = o->members.v[i].machine,
						  .domain = c->domain,
						  .clock = alone ? NULL : &c->to,
						  .error_ns = alone ? 0 : c->to.error_ns,
						  .calls = calls[i].v,
						  .ncalls = calls[i].n };
	}
	for (size_t i = 0; (op = rk_fuse_calls_op(f->calls, i)); i++) {
		if (!op->sig || !op->waits)
			continue;
		m->of[m->nops] = i;
		m->ops[m->nops++] = (struct rk_comm_op){ op->sig, op->all };
	}
	return 0;
}

static void meeting_release(struct meeting *m)
{
	rk_free(m->in);
	rk_free(m->ops);
	rk_free(m->of);
	rk_comm_match_release(&m->got);
}

static const char *label_of(struct rk_fuse *f, size_t op)
{
	return rk_strtab_borrow(f->run->ctx.names, rk_fuse_calls_op(f->calls, op)->label, NULL);
}

static void set_collective(struct rk_ranks_collective *c, const struct rk_comm_sum *s,
			   const char *name)
{
	*c = (struct rk_ranks_collective){
		.name = name,
		.calls = s->calls,
		.unmatched = s->unmatched,
		.ranks = s->ranks,
		.inter_node = s->inter_node,
		.total_ns = s->total_ns,
		.late_ns = s->late_ns,
		.wire_ns = s->wire_ns,
		.wait_ns = s->wait_ns,
		.wire_median_ns = s->wire_median_ns,
		.wire_max_ns = s->wire_max_ns,
		.straggler = s->straggler,
		.straggler_calls = s->straggler_calls,
		.error_ns = s->error_ns,
		.verdict = s->verdict,
	};
}

/* Sends and receives are in no instance; that there are some is said. */
static void add_left_out(struct rk_fuse *f, struct rk_ranks *r)
{
	const struct rk_calls_op *op;

	for (size_t i = 0; (op = rk_fuse_calls_op(f->calls, i)); i++)
		if (op->left_out)
			r->collectives[r->ncollectives++] =
				(struct rk_ranks_collective){ .name = label_of(f, i),
							      .unmatched = op->left_out,
							      .ranks = 1,
							      .wire_median_ns = NAN,
							      .wire_max_ns = NAN,
							      .straggler = -1,
							      .verdict = "even" };
}

static int collectives_make(struct rk_fuse *f, struct owner *o, struct rk_error *err)
{
	struct rk_ranks *r = &o->pub;
	struct meeting m = { .in = NULL };
	int rc = meeting_make(&m, f, o, err);

	if (rc == 0)
		rc = rk_comm_match(m.in, m.n, m.ops, m.nops, &m.got, err);
	if (rc == 0) {
		r->collectives = rk_calloc(m.got.nsums + RK_CALLS_OPS + 1, sizeof(*r->collectives));
		rc = r->collectives ? 0 : rk_fail_nomem(err);
	}
	for (size_t i = 0; rc == 0 && i < m.got.nsums; i++)
		set_collective(&r->collectives[r->ncollectives++], &m.got.sums[i],
			       label_of(f, m.of[m.got.sums[i].op]));
	for (size_t i = 0; rc == 0 && i < m.n; i++) {
		r->ranks[i].collectives = m.got.lines[i].collectives;
		r->ranks[i].last = m.got.lines[i].last;
		r->ranks[i].wait_ns = m.got.lines[i].wait_ns;
		r->ranks[i].caused_ns = m.got.lines[i].caused_ns;
	}
	r->intra_ns = m.got.intra_ns;
	r->inter_ns = m.got.inter_ns;
	if (rc == 0)
		add_left_out(f, r);
	meeting_release(&m);
	return rc;
}

/* ---- all of it ---- */

static int owner_make(struct rk_fuse *f, struct owner *o, struct rk_error *err)
{
	struct rk_ranks *r = &o->pub;
	int rc;

	rk_fuse_calls_finish(f->calls);
	rc = rk_fuse_clocks(&o->members, f->calls, &o->clocks, err);
	if (rc == 0)
		rc = ranks_make(f, o, err);
	if (rc == 0)
		rc = collectives_make(f, o, err);
	if (rc == 0)
		rc = rk_rank_spread_finish(f->spread, &r->spreads, &r->nspreads, err);
	if (rc == 0)
		rc = rk_copy_matrix_finish(f->copies, &r->copies, &r->ncopies, err);
	if (rc < 0)
		return rc;
	r->size = o->members.size;
	r->nodes = o->members.nodes;
	r->job = o->members.job;
	r->reference = o->members.v[o->clocks.reference].rank;
	r->base_ns = o->clocks.base_ns;
	rc = rk_fuse_damaged(f->run, &o->members, err);
	if (rc < 0)
		return rc;
	r->problems = o->members.problems;
	r->nproblems = o->members.nproblems;
	rk_fuse_clocks_tell(&o->clocks, &o->members, f->run->ctx.diag);
	return 0;
}

int rk_fuse_finish(struct rk_fuse *f, struct rk_ranks **ret, struct rk_error *err)
{
	struct owner *o = rk_calloc(1, sizeof(*o));
	int rc;

	if (!o)
		return rk_fail_nomem(err);
	o->members = f->members;
	f->members = (struct rk_fuse_members){ .job = "" };
	rc = owner_make(f, o, err);
	if (rc < 0)
		rk_ranks_free(&o->pub);
	else
		*ret = &o->pub;
	return rc;
}

void rk_ranks_free(struct rk_ranks *r)
{
	struct owner *o = (struct owner *)r;

	if (!r)
		return;
	rk_free(r->ranks);
	rk_free(r->collectives);
	rk_free(r->spreads);
	rk_free(r->copies);
	rk_fuse_clocks_release(&o->clocks);
	rk_fuse_members_release(&o->members);
	rk_free(o);
}
