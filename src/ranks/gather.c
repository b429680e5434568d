/* gather.c - see gather.h. */
#include "ranks/gather.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "ranks/rank_clocks.h"
#include "ranks/rank_load.h"
#include "run/members.h"

struct rk_gather {
	struct rk_run *run;
	struct rk_members members;
	struct rk_rank_load *load;
	struct rk_rank_spread *spread;
	struct rk_copy_matrix *copies;
	struct rk_rank_calls *calls;
};

/* The result and everything it owns. */
struct owner {
	struct rk_ranks pub; /* first: callers see this part */
	struct rk_members members;
	struct rk_rank_clocks clocks;
};

/* ---- collecting from rows ---- */

int rk_gather_new(struct rk_run *run, struct rk_gather **ret, struct rk_error *err)
{
	struct rk_gather *f = rk_calloc(1, sizeof(*f));
	int64_t *ranks = NULL;
	int rc;

	if (!f)
		return rk_fail_nomem(err);
	f->run = run;
	rc = rk_members_find(run, &f->members, err);
	if (rc < 0)
		goto out;
	if (f->members.n < 2) {
		*ret = NULL;
		goto out;
	}
	ranks = rk_calloc(f->members.n, sizeof(*ranks));
	if (!ranks) {
		rc = rk_fail_nomem(err);
		goto out;
	}
	for (size_t i = 0; i < f->members.n; i++)
		ranks[i] = f->members.v[i].rank;
	if ((rc = rk_rank_calls_new(&run->ctx, ranks, f->members.n, &f->calls, err)) < 0 ||
	    (rc = rk_rank_load_new(&run->ctx, &f->load, err)) < 0 ||
	    (rc = rk_rank_spread_new(&run->ctx, &f->spread, err)) < 0 ||
	    (rc = rk_copy_matrix_new(&run->ctx, &f->copies, err)) < 0)
		goto out;
	*ret = f;
	f = NULL;
out:
	rk_gather_free(f);
	rk_free(ranks);
	return rc;
}

void rk_gather_free(struct rk_gather *f)
{
	if (!f)
		return;
	rk_members_release(&f->members);
	rk_rank_load_free(f->load);
	rk_rank_spread_free(f->spread);
	rk_copy_matrix_free(f->copies);
	rk_rank_calls_free(f->calls);
	rk_free(f);
}

uint64_t rk_gather_wants(enum rk_table t)
{
	uint64_t want = rk_rank_calls_wants(t);

	if (t == RK_KERNELS)
		want |= rk_rank_load_wants();
	if (t == RK_MEMCPY)
		want |= rk_copy_matrix_wants();
	return want;
}

struct tap {
	struct rk_source base;
	struct rk_source *rows;
	struct rk_gather *into;
};

static int tap_next(struct rk_source *base, const struct rk_batch **batch, struct rk_error *err)
{
	struct tap *t = (struct tap *)base;
	struct rk_gather *f = t->into;
	enum rk_table table = base->schema->table;
	int more = rk_source_next(t->rows, batch, err), rc;

	if (more <= 0)
		return more;
	rc = rk_rank_calls_add(f->calls, *batch, err);
	if (rc < 0)
		return rc;
	if (table == RK_KERNELS) {
		rc = rk_rank_load_add(f->load, *batch, err);
		if (rc < 0)
			return rc;
		rc = rk_rank_spread_add(f->spread, *batch, err);
	} else if (table == RK_MEMCPY) {
		rc = rk_copy_matrix_add(f->copies, *batch, err);
	}
	return rc < 0 ? rc : more;
}

static void tap_close(struct rk_source *base)
{
	struct tap *t = (struct tap *)base;

	rk_source_close(t->rows);
	rk_free(t);
}

static const struct rk_source_ops tap_ops = { .next = tap_next, .close = tap_close };

int rk_gather_tap(struct rk_gather *f, struct rk_source **rows, struct rk_error *err)
{
	struct tap *t;

	if (!rk_gather_wants((*rows)->schema->table))
		return 0;
	t = rk_calloc(1, sizeof(*t));
	if (!t) {
		rk_source_close(*rows);
		*rows = NULL;
		return rk_fail_nomem(err);
	}
	t->base = (struct rk_source){ &tap_ops, (*rows)->schema };
	t->rows = *rows;
	t->into = f;
	*rows = &t->base;
	return 0;
}

/* ---- ranks ---- */

static int ranks_make(struct rk_gather *f, struct owner *o, struct rk_error *err)
{
	struct rk_ranks *r = &o->pub;
	struct rk_load_line *lines = NULL;
	size_t n = 0, at = 0;
	int rc = rk_rank_load_finish(f->load, &lines, &n, err);

	if (rc < 0)
		return rc;
	r->ranks = rk_calloc(o->members.n, sizeof(*r->ranks));
	if (!r->ranks) {
		rk_free(lines);
		return rk_fail_nomem(err);
	}
	r->nranks = o->members.n;
	for (size_t i = 0; i < r->nranks; i++) {
		const struct rk_member *m = &o->members.v[i];
		const struct rk_rank_clock *c = &o->clocks.v[i];
		struct rk_ranks_rank *k = &r->ranks[i];

		*k = (struct rk_ranks_rank){
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
		if (c->clock != RK_CLOCK_ALONE) {
			k->offset_ns = c->to.offset_ns;
			k->drift_ppm = c->to.drift_ppm;
			k->error_ns = c->to.error_ns;
		}
		while (at < n && lines[at].rank < k->rank)
			at++;
		if (at == n || lines[at].rank != k->rank)
			continue;
		k->kernels = lines[at].kernels;
		k->kernel_ns = lines[at].kernel_ns;
		k->first_ns = lines[at].first_ns;
		k->last_ns = lines[at].last_ns;
		k->compute_ns = lines[at].compute_ns;
		k->comm_ns = lines[at].comm_ns;
		k->both_ns = lines[at].both_ns;
		k->idle_ns = lines[at].idle_ns;
	}
	r->imbalance = rk_rank_load_imbalance(lines, n);
	rk_free(lines);
	return 0;
}

/* ---- collectives ---- */

static const char *label_of(struct rk_gather *f, size_t op)
{
	return rk_strtab_borrow(f->run->ctx.names, rk_rank_calls_op(f->calls, op)->label, NULL);
}

static struct rk_ranks_collective collective_of(const struct rk_comm_sum *s, const char *name)
{
	return (struct rk_ranks_collective){
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

static int collectives_make(struct rk_gather *f, struct owner *o, struct rk_error *err)
{
	struct rk_ranks *r = &o->pub;
	const struct rk_calls_rank *calls = rk_rank_calls_ranks(f->calls);
	const struct rk_calls_op *op;
	size_t n = o->members.n, nops = 0;
	struct rk_comm_rank *in = rk_calloc(n + 1, sizeof(*in));
	struct rk_comm_op *ops = rk_calloc(RK_CALLS_OPS, sizeof(*ops));
	size_t *of = rk_calloc(RK_CALLS_OPS, sizeof(*of)); /* by index in `ops`: its operation */
	struct rk_comm_match got = { .lines = NULL };
	int rc;

	if (!in || !ops || !of) {
		rc = rk_fail_nomem(err);
		goto out;
	}
	rk_rank_calls_by_start(f->calls);
	for (size_t i = 0; i < n; i++) {
		const struct rk_rank_clock *c = &o->clocks.v[i];

		in[i] = (struct rk_comm_rank){ .rank = o->members.v[i].rank,
					       .node = o->members.v[i].machine,
					       .domain = c->domain,
					       .calls = calls[i].v,
					       .ncalls = calls[i].n };
		if (c->clock != RK_CLOCK_ALONE) {
			in[i].clock = &c->to;
			in[i].error_ns = c->to.error_ns;
		}
	}
	for (size_t i = 0; (op = rk_rank_calls_op(f->calls, i)); i++) {
		if (!op->sig || !op->waits)
			continue;
		of[nops] = i;
		ops[nops++] = (struct rk_comm_op){ op->sig, op->all, op->exact, op->even };
	}
	rc = rk_comm_match(in, n, ops, nops, &got, err);
	if (rc < 0)
		goto out;
	r->collectives = rk_calloc(got.nsums + RK_CALLS_OPS + 1, sizeof(*r->collectives));
	if (!r->collectives) {
		rc = rk_fail_nomem(err);
		goto out;
	}
	for (size_t i = 0; i < got.nsums; i++) {
		r->collectives[r->ncollectives++] =
			collective_of(&got.sums[i], label_of(f, of[got.sums[i].op]));
		if (got.sums[i].differ)
			rk_diag_add(f->run->ctx.diag, "collective-sizes-differ", "", 0,
				    got.sums[i].differ,
				    "collectives '%s' whose type or number of elements differs "
				    "between ranks",
				    label_of(f, of[got.sums[i].op]));
	}
	/* Sends and receives are not part of an instance; they are listed as unmatched. */
	for (size_t i = 0; (op = rk_rank_calls_op(f->calls, i)); i++)
		if (op->left_out)
			r->collectives[r->ncollectives++] =
				(struct rk_ranks_collective){ .name = label_of(f, i),
							      .unmatched = op->left_out,
							      .ranks = 1,
							      .wire_median_ns = NAN,
							      .wire_max_ns = NAN,
							      .straggler = -1,
							      .verdict = "even" };
	for (size_t i = 0; i < n; i++) {
		r->ranks[i].collectives = got.lines[i].collectives;
		r->ranks[i].last = got.lines[i].last;
		r->ranks[i].wait_ns = got.lines[i].wait_ns;
		r->ranks[i].caused_ns = got.lines[i].caused_ns;
	}
	r->intra_ns = got.intra_ns;
	r->inter_ns = got.inter_ns;
out:
	rk_free(in);
	rk_free(ops);
	rk_free(of);
	rk_comm_match_release(&got);
	return rc;
}

/* ---- result ---- */

int rk_gather_finish(struct rk_gather *f, struct rk_ranks **ret, struct rk_error *err)
{
	struct owner *o = rk_calloc(1, sizeof(*o));
	struct rk_ranks *r;
	int rc;

	if (!o)
		return rk_fail_nomem(err);
	r = &o->pub;
	o->members = f->members;
	f->members = (struct rk_members){ .job = "" };
	rk_rank_calls_finish(f->calls);
	if ((rc = rk_rank_clocks(&o->members, f->calls, &o->clocks, err)) < 0 ||
	    (rc = ranks_make(f, o, err)) < 0 || (rc = collectives_make(f, o, err)) < 0 ||
	    (rc = rk_rank_spread_finish(f->spread, &r->spreads, &r->nspreads, err)) < 0 ||
	    (rc = rk_copy_matrix_finish(f->copies, &r->copies, &r->ncopies, err)) < 0)
		goto fail;
	r->size = o->members.size;
	r->nodes = o->members.nodes;
	r->job = o->members.job;
	r->reference = o->members.v[o->clocks.reference].rank;
	r->base_ns = o->clocks.base_ns;
	rc = rk_problems_damaged(f->run, &o->members, err);
	if (rc < 0)
		goto fail;
	r->problems = o->members.problems;
	r->nproblems = o->members.nproblems;
	rk_rank_clocks_tell(&o->clocks, &o->members, f->run->ctx.diag);
	*ret = r;
	return 0;
fail:
	rk_ranks_free(r);
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
	rk_rank_clocks_release(&o->clocks);
	rk_members_release(&o->members);
	rk_free(o);
}
