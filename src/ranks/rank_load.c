/* rank_load.c - see rank_load.h. */
#include "ranks/rank_load.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/num.h"
#include "ranks/rank_class.h"
#include "table/timeline_keys.h"
#include "table/timeline_order.h"

#define BIT(f) (UINT64_C(1) << (f))

/* So that the span between any two ends can be told in 64 bits. */
#define TIME_MAX (INT64_MAX / 2)

#define NOBODY UINT32_MAX

/*
 * Since starts never go back, all that came so far covers, from the present start on, the time up
 * to the latest end: one number for what computes and one for what communicates.
 */
struct sweep {
	bool begun;
	int64_t mark;     /* the latest start */
	int64_t until[2]; /* the latest end: of what computes, of what communicates */
	int64_t busy[2], both;
};

struct rank {
	uint64_t kernels, late;
	int64_t kernel_ns, first, last;
	bool timed;
	struct sweep sweep;
};

struct rk_rank_load {
	struct rk_context *ctx;
	struct rk_rank_class class;
	struct rk_keys keys; /* ranks */
	struct rank *ranks;  /* by number in keys */
	size_t cap;
	struct rk_order *order; /* rows of rank `current` that were not swept yet */
	uint32_t current;       /* NOBODY at first */
	size_t held;
	uint64_t turned_away, far;
};

int rk_rank_load_new(struct rk_context *ctx, bool (*communicates)(const char *name, size_t len),
		     struct rk_rank_load **ret, struct rk_error *err)
{
	struct rk_rank_load *l = rk_calloc(1, sizeof(*l));

	if (!l)
		return rk_fail_nomem(err);
	l->ctx = ctx;
	l->class.names = ctx->names;
	l->class.communicates = communicates;
	l->keys.max = RK_LOAD_RANKS;
	l->current = NOBODY;
	l->held = RK_ORDER_HELD;
	*ret = l;
	return 0;
}

void rk_rank_load_limit(struct rk_rank_load *l, size_t held)
{
	l->held = held;
}

void rk_rank_load_free(struct rk_rank_load *l)
{
	if (!l)
		return;
	rk_order_free(l->order);
	rk_idmap_release(&l->class.seen);
	rk_keys_release(&l->keys);
	rk_free(l->ranks);
	rk_free(l);
}

uint64_t rk_rank_load_wants(void)
{
	return BIT(RK_K_NAME) | BIT(RK_K_START) | BIT(RK_K_DURATION) | BIT(RK_K_RANK) |
	       BIT(RK_K_BARRIER);
}

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/*
 * New for one kind is what lies behind its `until`; of that the other kind covers what lies before
 * its own. What a later row of the other kind covers as well is found when that row comes.
 */
static void sweep_add(struct sweep *s, const struct rk_stretch *t)
{
	unsigned k = t->queue;
	int64_t from, to;

	if (!s->begun) {
		s->begun = true;
		s->until[0] = s->until[1] = t->start;
	}
	s->mark = t->start;
	from = later(t->start, s->until[k]);
	if (t->end <= from)
		return;
	s->busy[k] += t->end - from;
	to = t->end < s->until[!k] ? t->end : s->until[!k];
	if (to > from)
		s->both += to - from;
	s->until[k] = t->end;
}

/* All rows of the present rank came that follow each other: they are swept, in order. */
static int settle(struct rk_rank_load *l, struct rk_error *err)
{
	struct rk_stretch s;
	int rc = 0;

	if (!l->order)
		return 0;
	while ((rc = rk_order_next(l->order, &s, err)) > 0)
		sweep_add(&l->ranks[s.device].sweep, &s);
	rk_order_free(l->order);
	l->order = NULL;
	return rc;
}

static int begin_rank(struct rk_rank_load *l, uint32_t number, struct rk_error *err)
{
	struct rank *ranks;
	int rc = settle(l, err);

	if (rc < 0)
		return rc;
	if (number >= l->cap) {
		ranks = rk_grow(l->ranks, &l->cap, (size_t)number + 1, sizeof(*ranks));
		if (!ranks)
			return rk_fail_nomem(err);
		l->ranks = ranks;
	}
	l->ranks[number] = (struct rank){ 0 };
	l->current = number;
	return rk_order_new(l->ctx->tmpdir, l->held, &l->order, err);
}

/* NOBODY: there are too many. */
static int rank_of(struct rk_rank_load *l, int64_t rank, uint32_t *ret, struct rk_error *err)
{
	size_t before = l->keys.n;
	int rc = rk_keys_number(&l->keys, (struct rk_key3){ rank, 0, 0 }, ret, err);

	if (rc < 0)
		return rc;
	if (l->keys.n > before)
		return begin_rank(l, *ret, err);
	if (*ret == RK_LOAD_RANKS)
		*ret = NOBODY;
	return 0;
}

static bool times_of(struct rk_rank_load *l, const struct rk_batch *b, size_t i,
		     struct rk_stretch *ret)
{
	const struct rk_column *start = &b->cols[RK_K_START], *dur = &b->cols[RK_K_DURATION];
	int64_t d;

	if (!rk_column_has(start, i) || !rk_column_has(dur, i))
		return false;
	d = ((const int64_t *)dur->data)[i];
	ret->start = ((const int64_t *)start->data)[i];
	if (d < 0 || (!d && !ret->start)) /* at 0 for no time: not known */
		return false;
	if (ret->start >= -TIME_MAX && rk_add_i64(ret->start, d, &ret->end) && ret->end <= TIME_MAX)
		return true;
	l->far++;
	return false;
}

static void count(struct rank *r, const struct rk_stretch *s)
{
	if (!rk_add_i64(r->kernel_ns, s->end - s->start, &r->kernel_ns))
		r->kernel_ns = INT64_MAX;
	if (!r->timed || s->start < r->first)
		r->first = s->start;
	if (!r->timed || s->end > r->last)
		r->last = s->end;
	r->timed = true;
}

static int add_row(struct rk_rank_load *l, const struct rk_batch *b, size_t i, uint32_t number,
		   struct rk_error *err)
{
	struct rank *r = &l->ranks[number];
	struct rk_stretch s = { .device = number };
	enum rk_rank_kind kind;

	r->kernels++;
	if (!times_of(l, b, i, &s))
		return 0;
	count(r, &s);
	kind = rk_rank_class_of(&l->class, rk_batch_id(b, RK_K_NAME, i));
	if (kind == RK_KIND_NOMEM)
		return rk_fail_nomem(err);
	s.queue = kind == RK_KIND_COMM;
	if (number == l->current)
		return rk_order_add(l->order, &s, err);
	if (r->sweep.begun && s.start < r->sweep.mark)
		r->late++;
	else
		sweep_add(&r->sweep, &s);
	return 0;
}

static bool is_barrier(const struct rk_column *c, size_t i)
{
	return rk_column_has(c, i) && ((const uint8_t *)c->data)[i];
}

int rk_rank_load_add(struct rk_rank_load *l, const struct rk_batch *b, struct rk_error *err)
{
	const struct rk_column *rank = &b->cols[RK_K_RANK];
	const int32_t *ranks = rank->data;
	uint32_t number = NOBODY;
	int64_t last = -1; /* the rank that `number` is of */
	int rc = 0;

	for (size_t i = 0; ranks && rc == 0 && i < b->nrows; i++) {
		if (!rk_column_has(rank, i) || ranks[i] < 0 ||
		    is_barrier(&b->cols[RK_K_BARRIER], i))
			continue;
		if (ranks[i] != last) {
			last = ranks[i];
			rc = rank_of(l, last, &number, err);
		}
		if (number == NOBODY)
			l->turned_away++;
		else if (rc == 0)
			rc = add_row(l, b, i, number, err);
	}
	return rc;
}

static struct rk_load_line line_of(int64_t number, const struct rank *r)
{
	const struct sweep *s = &r->sweep;
	struct rk_load_line line = { .rank = number,
				     .kernels = r->kernels,
				     .kernel_ns = r->kernel_ns,
				     .first_ns = r->first,
				     .last_ns = r->last,
				     .compute_ns = -1,
				     .comm_ns = -1,
				     .both_ns = -1,
				     .idle_ns = -1 };

	if (r->late)
		return line;
	line.compute_ns = s->busy[0];
	line.comm_ns = s->busy[1];
	line.both_ns = s->both;
	line.idle_ns = r->last - r->first - (s->busy[0] + s->busy[1] - s->both);
	return line;
}

static int by_rank(const void *a, const void *b)
{
	const struct rk_load_line *x = a, *y = b;

	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static void tell(const struct rk_rank_load *l)
{
	struct rk_diag *d = l->ctx->diag;
	uint64_t late = 0;

	for (size_t i = 0; i < l->keys.n; i++)
		late += l->ranks[i].late != 0;
	if (late)
		rk_diag_add(d, "rank-order", "", 0, late,
			    "ranks whose kernels stand apart and out of order: how long they "
			    "compute and communicate is not known; convert the run to Parquet "
			    "first, which puts them in order");
	if (l->far)
		rk_diag_add(d, "time-out-of-range", "", 0, l->far,
			    "kernels more than 146 years from time 0; left out of the times of "
			    "their rank");
	if (l->turned_away)
		rk_diag_add(d, "many-ranks", "", 0, l->turned_away,
			    "kernels of more than %d ranks; left out of what is told of ranks",
			    RK_LOAD_RANKS);
}

int rk_rank_load_finish(struct rk_rank_load *l, struct rk_load_line **ret, size_t *ret_n,
			struct rk_error *err)
{
	struct rk_load_line *lines;
	int rc = settle(l, err);

	if (rc < 0)
		return rc;
	lines = rk_calloc(l->keys.n, sizeof(*lines));
	if (!lines)
		return rk_fail_nomem(err);
	for (size_t i = 0; i < l->keys.n; i++)
		lines[i] = line_of(l->keys.v[i].a, &l->ranks[i]);
	qsort(lines, l->keys.n, sizeof(*lines), by_rank);
	tell(l);
	*ret = lines;
	*ret_n = l->keys.n;
	return 0;
}

double rk_rank_load_imbalance(const struct rk_load_line *lines, size_t n)
{
	double sum = 0, most = 0;
	size_t known = 0;

	for (size_t i = 0; i < n; i++) {
		double v = (double)lines[i].compute_ns;

		if (v < 0)
			continue;
		sum += v;
		most = v > most ? v : most;
		known++;
	}
	return sum > 0 ? most / (sum / (double)known) - 1 : NAN;
}
