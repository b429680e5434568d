/* clock_rows.c - see gather.h. */
#include "ranks/gather.h"

#include <string.h>

#include "base/alloc.h"
#include "base/num.h"
#include "ranks/rank_clocks.h"

struct line {
	struct rk_rank_time pub;
	struct rk_align_rank to;
	uint32_t node; /* node name id */
};

struct rk_rank_times {
	struct line *v; /* sorted by rank */
	size_t n;
	int64_t reference;            /* a rank */
	struct rk_rank_clocks clocks; /* owns the strings, if any */
};

/* ---- which clocks ---- */

static int add_line(struct rk_rank_times *t, struct rk_run *run, const struct rk_rank_time *pub,
		    int64_t base, const char *node, struct rk_error *err)
{
	struct line *l = &t->v[t->n];

	*l = (struct line){ .pub = *pub };
	l->to = (struct rk_align_rank){ .base_ns = base,
					.offset_ns = pub->offset_ns,
					.drift_ppm = pub->drift_ppm };
	t->n++;
	return rk_strtab_add(run->ctx.names, node, strlen(node), &l->node, err);
}

static int times_alloc(size_t n, struct rk_rank_times **ret, struct rk_error *err)
{
	struct rk_rank_times *t = rk_calloc(1, sizeof(*t));

	if (t)
		t->v = rk_calloc(n + 1, sizeof(*t->v));
	if (!t || !t->v) {
		rk_free(t);
		return rk_fail_nomem(err);
	}
	*ret = t;
	return 0;
}

int rk_rank_times_of(struct rk_run *run, const struct rk_ranks *r, struct rk_rank_times **ret,
		     struct rk_error *err)
{
	struct rk_rank_times *t = NULL;
	bool moved = false;
	int rc;

	for (size_t i = 0; r && i < r->nranks; i++)
		moved |= r->ranks[i].clock == RK_CLOCK_ALIGNED;
	if (!moved) {
		*ret = NULL;
		return 0;
	}
	rc = times_alloc(r->nranks, &t, err);
	if (rc < 0)
		return rc;
	t->reference = r->reference;
	for (size_t i = 0; i < r->nranks; i++) {
		const struct rk_ranks_rank *k = &r->ranks[i];
		const struct rk_rank_time pub = { k->rank,      k->clock,     k->offset_ns,
						  k->error_ns,  k->drift_ppm, k->clock_by,
						  k->clock_note };

		rc = add_line(t, run, &pub, r->base_ns, k->node, err);
		if (rc < 0) {
			rk_rank_times_free(t);
			return rc;
		}
	}
	*ret = t;
	return 0;
}

/* ---- reading collectives ---- */

static const enum rk_table tables[] = { RK_KERNELS, RK_API, RK_MARKERS };

static int read_calls(struct rk_run *run, const struct rk_members *m, struct rk_rank_calls **ret,
		      struct rk_error *err)
{
	int64_t *ranks = rk_calloc(m->n + 1, sizeof(*ranks));
	bool tolerant = run->tolerant, complete = false; /* complete: all ranks have calls */
	size_t warnings;
	int rc;

	if (!ranks)
		return rk_fail_nomem(err);
	for (size_t i = 0; i < m->n; i++)
		ranks[i] = m->v[i].rank;
	rc = rk_rank_calls_new(&run->ctx, ranks, m->n, ret, err);
	rk_free(ranks);
	if (rc < 0)
		return rc;
	/* drop warnings about the files: the scan that writes the rows reports them */
	rk_diag_list(run->ctx.diag, &warnings);
	rk_run_tolerate(run);
	for (size_t i = 0; rc >= 0 && i < sizeof(tables) / sizeof(tables[0]); i++) {
		struct rk_source *rows = NULL;
		const struct rk_batch *b;

		if (!(rk_run_tables(run) >> tables[i] & 1) || complete)
			continue;
		rc = rk_run_scan(run, tables[i], rk_rank_calls_wants(tables[i]), &rows, err);
		while (rc >= 0 && (rc = rk_source_next(rows, &b, err)) > 0)
			rc = rk_rank_calls_add(*ret, b, err);
		rk_source_close(rows);
		complete = true;
		for (size_t k = 0; k < m->n; k++)
			complete = complete && rk_rank_calls_ranks(*ret)[k].n;
	}
	run->tolerant = tolerant;
	rk_diag_reset(run->ctx.diag, warnings);
	if (rc < 0)
		return rc;
	rk_rank_calls_finish(*ret);
	return 0;
}

static int times_make(struct rk_run *run, const struct rk_members *m, struct rk_rank_times **ret,
		      struct rk_error *err)
{
	struct rk_rank_calls *calls = NULL;
	struct rk_rank_times *t = NULL;
	int rc = read_calls(run, m, &calls, err);

	if (rc < 0)
		goto out;
	rc = times_alloc(m->n, &t, err);
	if (rc < 0)
		goto out;
	rc = rk_rank_clocks(m, calls, &t->clocks, err);
	if (rc < 0)
		goto out;
	rk_rank_clocks_tell(&t->clocks, m, run->ctx.diag);
	t->reference = m->v[t->clocks.reference].rank;
	for (size_t i = 0; i < m->n; i++) {
		const struct rk_rank_clock *c = &t->clocks.v[i];
		struct rk_rank_time pub = {
			.rank = m->v[i].rank, .clock = c->clock, .by = c->by, .note = c->note
		};

		if (c->clock != RK_CLOCK_ALONE) {
			pub.offset_ns = c->to.offset_ns;
			pub.error_ns = c->to.error_ns;
			pub.drift_ppm = c->to.drift_ppm;
		}
		rc = add_line(t, run, &pub, t->clocks.base_ns, m->v[i].node, err);
		if (rc < 0)
			goto out;
	}
	*ret = t;
	t = NULL;
out:
	rk_rank_calls_free(calls);
	rk_rank_times_free(t);
	return rc;
}

int rk_rank_times_new(struct rk_run *run, struct rk_rank_times **ret, struct rk_error *err)
{
	struct rk_members m = { .job = "" };
	bool needed = false;
	int rc = rk_members_find(run, &m, err);

	*ret = NULL;
	if (rc < 0)
		goto out;
	for (size_t i = 1; i < m.n; i++)
		needed |= m.v[i].machine != m.v[0].machine;
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		needed &= rk_run_rescannable(run, tables[i]);
	if (needed)
		rc = times_make(run, &m, ret, err);
out:
	rk_members_release(&m);
	return rc;
}

void rk_rank_times_free(struct rk_rank_times *t)
{
	if (!t)
		return;
	rk_rank_clocks_release(&t->clocks);
	rk_free(t->v);
	rk_free(t);
}

/* ---- rows ---- */

static const struct fields {
	int start, duration, rank, node; /* rank < 0: use the node */
} fields[RK_NTABLES] = {
	[RK_KERNELS] = { RK_K_START, RK_K_DURATION, RK_K_RANK, RK_K_NODE },
	[RK_MEMCPY] = { RK_C_START, RK_C_DURATION, RK_C_RANK, RK_C_NODE },
	[RK_MEMALLOC] = { RK_M_START, RK_M_DURATION, RK_M_RANK, RK_M_NODE },
	[RK_API] = { RK_A_START, RK_A_DURATION, RK_A_RANK, RK_A_NODE },
	[RK_MARKERS] = { RK_R_START, RK_R_DURATION, RK_R_RANK, RK_R_NODE },
	[RK_SAMPLES] = { RK_S_TIME, -1, -1, RK_S_NODE },
};

static const struct line *line_of(const struct rk_rank_times *t, int64_t rank)
{
	size_t from = 0, to = t->n;

	while (from < to) {
		size_t mid = from + (to - from) / 2;

		if (t->v[mid].pub.rank < rank)
			from = mid + 1;
		else
			to = mid;
	}
	return from < t->n && t->v[from].pub.rank == rank ? &t->v[from] : NULL;
}

/* Ranks of a node share a clock. NULL if two machines have the same node name. */
static const struct line *line_of_node(const struct rk_rank_times *t, uint32_t node)
{
	const struct line *found = NULL;

	for (size_t i = 0; node && i < t->n; i++) {
		const struct line *l = &t->v[i];

		if (l->node != node)
			continue;
		if (found && found->pub.offset_ns != l->pub.offset_ns)
			return NULL;
		found = l;
	}
	return found;
}

bool rk_rank_times_rank(const struct rk_rank_times *t, int64_t rank, struct rk_rank_time *ret)
{
	const struct line *l = line_of(t, rank);

	if (l)
		*ret = l->pub;
	return l != NULL;
}

void rk_rank_times_base(const struct rk_rank_times *t, int64_t *ret_rank, int64_t *ret_base_ns)
{
	*ret_rank = t->reference;
	*ret_base_ns = t->n ? t->v[0].to.base_ns : 0;
}

struct moved {
	struct rk_source base;
	struct rk_source *rows;
	const struct rk_rank_times *times;
	struct rk_column *cols;
	int64_t *start, *duration;
	size_t cap_start, cap_duration;
	struct rk_batch batch;
	int64_t rank; /* rank and node of the previous row, with its clock */
	uint32_t node;
	const struct line *line;
};

static void move_row(struct moved *m, const struct fields *f, const struct rk_batch *b, size_t i)
{
	int64_t start = rk_batch_int(b, (unsigned)f->start, i, 0), end, duration = 0, rank = -1;
	uint32_t node = 0;
	const struct line *l;

	if (f->rank >= 0)
		rank = rk_batch_int(b, (unsigned)f->rank, i, -1);
	if (rank < 0)
		node = rk_batch_id(b, (unsigned)f->node, i);
	if (rank != m->rank || node != m->node) {
		m->line = rank < 0 ? line_of_node(m->times, node) : line_of(m->times, rank);
		m->rank = rank;
		m->node = node;
	}
	if (f->duration >= 0)
		duration = rk_batch_int(b, (unsigned)f->duration, i, 0);
	l = m->line;
	if (l && l->pub.clock != RK_CLOCK_ALIGNED)
		l = NULL;
	m->start[i] = l ? rk_align_to_reference(&l->to, start) : start;
	if (f->duration < 0)
		return;
	/* leave a negative duration unchanged, and one whose end does not fit */
	m->duration[i] = duration;
	if (l && duration > 0 && rk_add_i64(start, duration, &end) &&
	    (!rk_sub_i64(rk_align_to_reference(&l->to, end), m->start[i], &m->duration[i]) ||
	     m->duration[i] < 0))
		m->duration[i] = duration;
}

static int moved_next(struct rk_source *base, const struct rk_batch **batch, struct rk_error *err)
{
	struct moved *m = (struct moved *)base;
	const struct fields *f = &fields[base->schema->table];
	const struct rk_batch *b;
	int64_t *start, *duration;
	int rc = rk_source_next(m->rows, &b, err);

	if (rc <= 0)
		return rc;
	if (!b->cols[f->start].data) {
		*batch = b;
		return rc;
	}
	start = rk_grow(m->start, &m->cap_start, b->nrows, sizeof(*start));
	if (!start)
		return rk_fail_nomem(err);
	m->start = start;
	duration = rk_grow(m->duration, &m->cap_duration, b->nrows, sizeof(*duration));
	if (!duration)
		return rk_fail_nomem(err);
	m->duration = duration;
	for (size_t i = 0; i < b->nrows; i++)
		move_row(m, f, b, i);
	memcpy(m->cols, b->cols, base->schema->nfields * sizeof(*m->cols));
	m->cols[f->start].data = m->start;
	if (f->duration >= 0 && b->cols[f->duration].data)
		m->cols[f->duration].data = m->duration;
	m->batch = (struct rk_batch){ base->schema, b->nrows, m->cols };
	*batch = &m->batch;
	return rc;
}

static void moved_close(struct rk_source *base)
{
	struct moved *m = (struct moved *)base;

	rk_source_close(m->rows);
	rk_free(m->cols);
	rk_free(m->start);
	rk_free(m->duration);
	rk_free(m);
}

static const struct rk_source_ops moved_ops = { .next = moved_next, .close = moved_close };

int rk_rank_times_open(const struct rk_rank_times *t, struct rk_source **rows, struct rk_error *err)
{
	const struct rk_schema *schema = (*rows)->schema;
	struct moved *m;

	if (!t || !fields[schema->table].node)
		return 0;
	m = rk_calloc(1, sizeof(*m));
	if (m)
		m->cols = rk_calloc(schema->nfields, sizeof(*m->cols));
	if (!m || !m->cols) {
		rk_free(m);
		rk_source_close(*rows);
		*rows = NULL;
		return rk_fail_nomem(err);
	}
	m->base = (struct rk_source){ &moved_ops, schema };
	m->rows = *rows;
	m->times = t;
	m->rank = -2;
	*rows = &m->base;
	return 0;
}

void rk_rank_times_use(struct rk_run *run, const struct rk_rank_times *t)
{
	run->times = t;
	run->retime = rk_rank_times_open;
}
