/* rank_load.c - see rank_load.h. */
#include "ranks/rank_load.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/num.h"
#include "ranks/comm_name.h"
#include "table/timeline_order.h"

#define BIT(f) (UINT64_C(1) << (f))

#define NOBODY UINT32_MAX

enum kind { KIND_UNKNOWN, KIND_COMPUTE, KIND_COMM };

/* Classifies kernels as communicating or not; each name is looked up once. */
struct class
{
	struct rk_idmap seen; /* enum kind by name id */
	const struct rk_strtab *names;
};

/* KIND_UNKNOWN: out of memory. */
static enum kind kind_of(struct class *c, uint32_t name)
{
	uint32_t *at = rk_idmap_at(&c->seen, name);

	if (!at)
		return KIND_UNKNOWN;
	if (!*at) {
		size_t len;
		const char *text = rk_strtab_borrow(c->names, name, &len);

		*at = rk_comm_of(text, len).kind == RK_COMM_NOT ? KIND_COMPUTE : KIND_COMM;
	}
	return (enum kind) * at;
}

static bool is_barrier(const struct rk_batch *b, size_t i)
{
	const struct rk_column *c = &b->cols[RK_K_BARRIER];

	return rk_column_has(c, i) && ((const uint8_t *)c->data)[i];
}

/* ---- time of each rank: computing, communicating, idle ---- */

/*
 * Starts never decrease, so all rows so far cover the time from the current start to the latest
 * end. So one number for compute kernels and one for communicating kernels are enough.
 */
struct sweep {
	bool begun;
	int64_t mark;     /* latest start */
	int64_t until[2]; /* latest end of compute kernels, of communicating kernels */
	int64_t busy[2], both;
};

struct rank {
	uint64_t kernels, late;
	int64_t kernel_ns, first, last;
	bool timed;
	struct rk_era era;
	struct sweep sweep;
};

struct rk_rank_load {
	struct rk_context *ctx;
	struct class class;
	struct rk_keys keys; /* ranks */
	struct rank *ranks;  /* by number in keys */
	size_t cap;
	struct rk_order *order; /* rows of rank `current` that were not swept yet */
	uint32_t current;       /* NOBODY at first */
	size_t held;
	uint64_t turned_away, far;
};

int rk_rank_load_new(struct rk_context *ctx, struct rk_rank_load **ret, struct rk_error *err)
{
	struct rk_rank_load *l = rk_calloc(1, sizeof(*l));

	if (!l)
		return rk_fail_nomem(err);
	l->ctx = ctx;
	l->class.names = ctx->names;
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

/* The spreads need some of these columns. */
uint64_t rk_rank_load_wants(void)
{
	return BIT(RK_K_NAME) | BIT(RK_K_START) | BIT(RK_K_DURATION) | BIT(RK_K_RANK) |
	       BIT(RK_K_BARRIER);
}

/*
 * A row adds the time after `until` of its own kind. The part of that before `until` of the other
 * kind is covered by both. Overlap with a later row of the other kind is counted when that row
 * arrives.
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
	from = rk_max_i64(t->start, s->until[k]);
	if (t->end <= from)
		return;
	s->busy[k] += t->end - from;
	to = rk_min_i64(t->end, s->until[!k]);
	if (to > from)
		s->both += to - from;
	s->until[k] = t->end;
}

/* Sweeps the rows of the current rank in order of time. */
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

/* The index of a rank; starts a new block of rows if it changed. NOBODY: too many ranks. */
static int load_rank(struct rk_rank_load *l, int64_t rank, uint32_t *ret, struct rk_error *err)
{
	size_t before = l->keys.n;
	struct rank *ranks;
	int rc = rk_keys_number(&l->keys, (struct rk_key3){ rank, 0, 0 }, ret, err);

	if (rc < 0)
		return rc;
	if (l->keys.n == before) {
		if (*ret == RK_LOAD_RANKS)
			*ret = NOBODY;
		return 0;
	}
	rc = settle(l, err);
	if (rc < 0)
		return rc;
	ranks = rk_grow(l->ranks, &l->cap, (size_t)*ret + 1, sizeof(*ranks));
	if (!ranks)
		return rk_fail_nomem(err);
	l->ranks = ranks;
	l->ranks[*ret] = (struct rank){ 0 };
	l->current = *ret;
	return rk_order_new(l->ctx->tmpdir, l->held, &l->order, err);
}

static int load_row(struct rk_rank_load *l, const struct rk_batch *b, size_t i, uint32_t number,
		    struct rk_error *err)
{
	const struct rk_column *start = &b->cols[RK_K_START], *dur = &b->cols[RK_K_DURATION];
	struct rank *r = &l->ranks[number];
	struct rk_stretch s = { .device = number };
	int64_t d;
	enum kind kind;

	r->kernels++;
	if (!rk_column_has(start, i) || !rk_column_has(dur, i))
		return 0;
	d = ((const int64_t *)dur->data)[i];
	s.start = ((const int64_t *)start->data)[i];
	if (d < 0 || (!d && !s.start)) /* start and duration 0 mean that the time is unknown */
		return 0;
	if (!rk_add_i64(s.start, d, &s.end) ||
	    !rk_era_holds(&r->era, RK_ERA_MOST, s.start, s.end)) {
		l->far++;
		return 0;
	}
	r->kernel_ns = rk_add_saturated(r->kernel_ns, d);
	if (!r->timed || s.start < r->first)
		r->first = s.start;
	if (!r->timed || s.end > r->last)
		r->last = s.end;
	r->timed = true;
	kind = kind_of(&l->class, rk_batch_id(b, RK_K_NAME, i));
	if (kind == KIND_UNKNOWN)
		return rk_fail_nomem(err);
	s.queue = kind == KIND_COMM;
	if (number == l->current)
		return rk_order_add(l->order, &s, err);
	if (r->sweep.begun && s.start < r->sweep.mark)
		r->late++;
	else
		sweep_add(&r->sweep, &s);
	return 0;
}

int rk_rank_load_add(struct rk_rank_load *l, const struct rk_batch *b, struct rk_error *err)
{
	const struct rk_column *rank = &b->cols[RK_K_RANK];
	const int32_t *ranks = rank->data;
	uint32_t number = NOBODY;
	int64_t last = -1; /* the rank that `number` belongs to */
	int rc;

	for (size_t i = 0; ranks && i < b->nrows; i++) {
		if (!rk_column_has(rank, i) || ranks[i] < 0 || is_barrier(b, i))
			continue;
		if (ranks[i] != last) {
			last = ranks[i];
			rc = load_rank(l, last, &number, err);
			if (rc < 0)
				return rc;
		}
		if (number == NOBODY) {
			l->turned_away++;
			continue;
		}
		rc = load_row(l, b, i, number, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int by_rank(const void *a, const void *b)
{
	const struct rk_load_line *x = a, *y = b;

	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

int rk_rank_load_finish(struct rk_rank_load *l, struct rk_load_line **ret, size_t *ret_n,
			struct rk_error *err)
{
	struct rk_diag *d = l->ctx->diag;
	struct rk_load_line *lines;
	uint64_t late = 0;
	int rc = settle(l, err);

	if (rc < 0)
		return rc;
	lines = rk_calloc(l->keys.n, sizeof(*lines));
	if (!lines)
		return rk_fail_nomem(err);
	for (size_t i = 0; i < l->keys.n; i++) {
		const struct rank *r = &l->ranks[i];
		const struct sweep *s = &r->sweep;

		lines[i] = (struct rk_load_line){ .rank = l->keys.v[i].a,
						  .kernels = r->kernels,
						  .kernel_ns = r->kernel_ns,
						  .first_ns = r->first,
						  .last_ns = r->last,
						  .compute_ns = -1,
						  .comm_ns = -1,
						  .both_ns = -1,
						  .idle_ns = -1 };
		if (r->late) {
			late++;
			continue;
		}
		lines[i].compute_ns = s->busy[0];
		lines[i].comm_ns = s->busy[1];
		lines[i].both_ns = s->both;
		lines[i].idle_ns = r->last - r->first - (s->busy[0] + s->busy[1] - s->both);
	}
	qsort(lines, l->keys.n, sizeof(*lines), by_rank);
	if (late)
		rk_diag_add(d, "rank-order", "", 0, late,
			    "ranks whose kernels are not in time order; their compute and "
			    "communication times are unknown; convert the run to Parquet first to "
			    "sort them");
	if (l->far)
		rk_diag_add(d, "time-out-of-range", "", 0, l->far,
			    "kernels more than 146 years from the others of their rank; not "
			    "included in its times");
	if (l->turned_away)
		rk_diag_add(d, "many-ranks", "", 0, l->turned_away,
			    "kernels not included in the report of ranks: more than %d ranks",
			    RK_LOAD_RANKS);
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
		most = fmax(most, v);
		known++;
	}
	return sum > 0 ? most / (sum / (double)known) - 1 : NAN;
}

/* ---- kernels whose time differs between ranks ---- */

/* The time that one rank spent in one kernel name. */
struct total {
	uint32_t line, rank; /* number of the rank */
	int64_t total;
};

/* One kernel name: the ranks folded into it, and the cell of its last row. */
struct line {
	uint32_t name;
	uint32_t rank;  /* of last_cell */
	size_t last;    /* cell + 1; 0: none */
	uint64_t ranks; /* number of folded ranks */
	int64_t min, max;
	uint32_t min_rank, max_rank;
	double sum;
	bool broken; /* a rank had more rows after it was folded */
};

struct rk_rank_spread {
	struct rk_context *ctx;
	struct class class;
	struct rk_keys keys; /* ranks */
	bool *folded;        /* by rank index */
	size_t cap_folded;
	struct rk_idmap by_name; /* line + 1; only for compute kernels */
	struct line *lines;
	size_t nlines, cap_lines;
	struct total *cells;
	size_t ncells, cap_cells;
	size_t max_cells, limit;  /* limit: number of cells at which to fold next */
	struct rk_index by_place; /* cells by line and rank */
};

int rk_rank_spread_new(struct rk_context *ctx, struct rk_rank_spread **ret, struct rk_error *err)
{
	struct rk_rank_spread *s = rk_calloc(1, sizeof(*s));

	if (!s)
		return rk_fail_nomem(err);
	s->ctx = ctx;
	s->class.names = ctx->names;
	s->keys.max = RK_LOAD_RANKS;
	s->max_cells = s->limit = RK_SPREAD_CELLS;
	*ret = s;
	return 0;
}

void rk_rank_spread_limit(struct rk_rank_spread *s, size_t cells)
{
	s->max_cells = s->limit = cells;
}

void rk_rank_spread_free(struct rk_rank_spread *s)
{
	if (!s)
		return;
	rk_idmap_release(&s->class.seen);
	rk_idmap_release(&s->by_name);
	rk_keys_release(&s->keys);
	rk_free(s->folded);
	rk_free(s->lines);
	rk_free(s->cells);
	rk_index_release(&s->by_place);
	rk_free(s);
}

static int64_t rank_at(const struct rk_rank_spread *s, uint32_t number)
{
	return s->keys.v[number].a;
}

/* Folds all cells except those of rank `keep` into their lines. */
static void fold(struct rk_rank_spread *s, uint32_t keep)
{
	size_t left = 0;

	for (size_t i = 0; i < s->ncells; i++) {
		const struct total *c = &s->cells[i];
		struct line *n = &s->lines[c->line];
		int64_t rank = rank_at(s, c->rank);

		if (c->rank == keep) {
			s->cells[left++] = *c;
			continue;
		}
		/* for equal totals use the lowest rank, independent of the order of rows */
		if (!n->ranks || c->total < n->min ||
		    (c->total == n->min && rank < rank_at(s, n->min_rank))) {
			n->min = c->total;
			n->min_rank = c->rank;
		}
		if (!n->ranks || c->total > n->max ||
		    (c->total == n->max && rank < rank_at(s, n->max_rank))) {
			n->max = c->total;
			n->max_rank = c->rank;
		}
		n->sum += (double)c->total;
		n->ranks++;
		s->folded[c->rank] = true;
	}
	s->ncells = left;
	for (size_t i = 0; i < s->nlines; i++)
		s->lines[i].last = 0;
	/* a rank has at most one cell per name, and the number of names is limited elsewhere */
	s->limit = rk_max(2 * left, s->max_cells);
}

static uint64_t place_hash(uint32_t line, uint32_t rank)
{
	return rk_hash_u64((uint64_t)line << 32 | rank);
}

/* The cell of a name and a rank; created if needed. At the limit, folds all other ranks. */
static int find_cell(struct rk_rank_spread *s, uint32_t line, uint32_t rank, struct rk_error *err)
{
	uint64_t hash = place_hash(line, rank);
	size_t at;
	uint32_t i = rk_index_first(&s->by_place, hash, &at);

	while (i != RK_INDEX_NONE && (s->cells[i].line != line || s->cells[i].rank != rank))
		i = rk_index_next(&s->by_place, hash, &at);
	if (i == RK_INDEX_NONE) {
		struct total *cells;

		if (s->ncells >= s->limit) {
			fold(s, rank);
			rk_index_release(&s->by_place);
			for (i = 0; i < s->ncells; i++)
				if (!rk_index_add(&s->by_place,
						  place_hash(s->cells[i].line, s->cells[i].rank),
						  i))
					return rk_fail_nomem(err);
		}
		cells = rk_grow(s->cells, &s->cap_cells, s->ncells + 1, sizeof(*cells));
		if (!cells)
			return rk_fail_nomem(err);
		s->cells = cells;
		i = (uint32_t)s->ncells;
		if (!rk_index_add(&s->by_place, hash, i))
			return rk_fail_nomem(err);
		s->ncells++;
		s->cells[i] = (struct total){ line, rank, 0 };
		s->lines[line].broken |= s->folded[rank];
	}
	s->lines[line].rank = rank;
	s->lines[line].last = (size_t)i + 1;
	return 0;
}

/* The line of a name; NOBODY: the kernel communicates. */
static int find_line(struct rk_rank_spread *s, uint32_t name, uint32_t *ret, struct rk_error *err)
{
	enum kind kind = kind_of(&s->class, name);
	uint32_t *at;

	*ret = NOBODY;
	if (kind == KIND_COMM)
		return 0;
	if (kind == KIND_UNKNOWN)
		return rk_fail_nomem(err);
	at = rk_idmap_at(&s->by_name, name);
	if (!at)
		return rk_fail_nomem(err);
	if (!*at) {
		struct line *lines =
			rk_grow(s->lines, &s->cap_lines, s->nlines + 1, sizeof(*lines));

		if (!lines)
			return rk_fail_nomem(err);
		s->lines = lines;
		s->lines[s->nlines++] = (struct line){ .name = name };
		*at = (uint32_t)s->nlines;
	}
	*ret = *at - 1;
	return 0;
}

/* NOBODY: too many ranks; rk_rank_load warns about it. */
static int spread_rank(struct rk_rank_spread *s, int64_t rank, uint32_t *ret, struct rk_error *err)
{
	int rc = rk_keys_number(&s->keys, (struct rk_key3){ rank, 0, 0 }, ret, err);
	size_t had = s->cap_folded;
	bool *folded;

	if (rc < 0)
		return rc;
	if (*ret == RK_LOAD_RANKS) {
		*ret = NOBODY;
		return 0;
	}
	folded = rk_grow(s->folded, &s->cap_folded, (size_t)*ret + 1, sizeof(*folded));
	if (!folded)
		return rk_fail_nomem(err);
	memset(folded + had, 0, (s->cap_folded - had) * sizeof(*folded));
	s->folded = folded;
	return 0;
}

int rk_rank_spread_add(struct rk_rank_spread *s, const struct rk_batch *b, struct rk_error *err)
{
	const int32_t *ranks = b->cols[RK_K_RANK].data;
	const int64_t *durs = b->cols[RK_K_DURATION].data;
	uint32_t number = NOBODY;
	int64_t last = -1;
	int rc;

	for (size_t i = 0; ranks && durs && i < b->nrows; i++) {
		uint32_t at;
		int64_t *total;

		if (!rk_column_has(&b->cols[RK_K_RANK], i) || ranks[i] < 0 ||
		    !rk_column_has(&b->cols[RK_K_DURATION], i) || durs[i] < 0 || is_barrier(b, i))
			continue;
		if (ranks[i] != last) {
			last = ranks[i];
			rc = spread_rank(s, last, &number, err);
			if (rc < 0)
				return rc;
		}
		if (number == NOBODY)
			continue;
		rc = find_line(s, rk_batch_id(b, RK_K_NAME, i), &at, err);
		if (rc < 0)
			return rc;
		if (at == NOBODY)
			continue;
		if (!s->lines[at].last || s->lines[at].rank != number) {
			rc = find_cell(s, at, number, err);
			if (rc < 0)
				return rc;
		}
		total = &s->cells[s->lines[at].last - 1].total;
		*total = rk_add_saturated(*total, durs[i]);
	}
	return 0;
}

static int by_excess(const void *pa, const void *pb)
{
	const struct rk_ranks_spread *a = pa, *b = pb;
	double x = (double)a->max_ns - a->mean_ns, y = (double)b->max_ns - b->mean_ns;

	if (x != y)
		return x > y ? -1 : 1;
	return strcmp(a->name, b->name);
}

int rk_rank_spread_finish(struct rk_rank_spread *s, struct rk_ranks_spread **ret, size_t *ret_n,
			  struct rk_error *err)
{
	struct rk_ranks_spread *v = rk_calloc(s->nlines, sizeof(*v));
	uint64_t broken = 0;
	size_t n = 0;

	if (!v)
		return rk_fail_nomem(err);
	fold(s, NOBODY);
	for (size_t i = 0; i < s->nlines; i++) {
		const struct line *l = &s->lines[i];
		double mean = l->sum / (double)l->ranks;

		broken += l->broken;
		if (l->ranks <= 1 || l->broken)
			continue;
		v[n++] = (struct rk_ranks_spread){
			.name = rk_strtab_borrow(s->ctx->names, l->name, NULL),
			.ranks = l->ranks,
			.min_ns = l->min,
			.max_ns = l->max,
			.min_rank = rank_at(s, l->min_rank),
			.max_rank = rank_at(s, l->max_rank),
			.mean_ns = mean,
			.imbalance = mean > 0 ? (double)l->max / mean - 1 : 0,
		};
	}
	qsort(v, n, sizeof(*v), by_excess);
	if (broken)
		rk_diag_add(s->ctx->diag, "many-rank-names", "", 0, broken,
			    "kernel names left out of the imbalance: more than %zu pairs of name "
			    "and rank, and rows of ranks are mixed; read rank folders or a data "
			    "set instead",
			    s->max_cells);
	*ret = v;
	*ret_n = n;
	return 0;
}
