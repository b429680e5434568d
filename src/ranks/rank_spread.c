/* rank_spread.c - see rank_spread.h. */
#include "ranks/rank_spread.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/num.h"
#include "ranks/rank_class.h"
#include "ranks/rank_load.h"
#include "table/timeline_keys.h"

#define BIT(f) (UINT64_C(1) << (f))

enum { FIRST_CELLS = 1024 };

#define NOBODY UINT32_MAX

/* What one rank spent in one name. */
struct cell {
	uint32_t line, rank; /* number of the rank */
	int64_t total;
};

/* One name: the ranks that were folded into it, and the cell that its last row went to. */
struct line {
	uint32_t name;
	uint32_t rank;  /* of last_cell */
	size_t last;    /* cell + 1; 0: none */
	uint64_t ranks; /* folded */
	int64_t min, max;
	uint32_t min_rank, max_rank;
	double sum;
	bool broken; /* some rank came again after it was folded */
};

struct rk_rank_spread {
	struct rk_context *ctx;
	struct rk_rank_class class;
	struct rk_keys keys; /* ranks */
	bool *folded;        /* by number */
	size_t cap_folded;
	struct rk_idmap by_name; /* line + 1; only kernels that compute have one */
	struct line *lines;
	size_t nlines, cap_lines;
	struct cell *cells;
	size_t ncells, cap_cells;
	size_t max_cells, limit; /* when to fold next */
	uint32_t *slots;         /* cell + 1, twice cap_cells of them */
};

int rk_rank_spread_new(struct rk_context *ctx, bool (*communicates)(const char *name, size_t len),
		       struct rk_rank_spread **ret, struct rk_error *err)
{
	struct rk_rank_spread *s = rk_calloc(1, sizeof(*s));

	if (!s)
		return rk_fail_nomem(err);
	s->ctx = ctx;
	s->class.names = ctx->names;
	s->class.communicates = communicates;
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
	rk_free(s->slots);
	rk_free(s);
}

uint64_t rk_rank_spread_wants(void)
{
	return BIT(RK_K_NAME) | BIT(RK_K_DURATION) | BIT(RK_K_RANK) | BIT(RK_K_BARRIER);
}

static int64_t rank_at(const struct rk_rank_spread *s, uint32_t number)
{
	return s->keys.v[number].a;
}

static void fold_cell(struct rk_rank_spread *s, const struct cell *c)
{
	struct line *n = &s->lines[c->line];
	int64_t rank = rank_at(s, c->rank);

	/* of equal totals the lowest rank, in whatever order they come */
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

static uint32_t *slot_of(const struct rk_rank_spread *s, uint32_t line, uint32_t rank)
{
	size_t mask = 2 * s->cap_cells - 1;
	size_t i = (size_t)rk_hash_u64((uint64_t)line << 32 | rank) & mask;

	for (; s->slots[i]; i = (i + 1) & mask) {
		const struct cell *c = &s->cells[s->slots[i] - 1];

		if (c->line == line && c->rank == rank)
			break;
	}
	return &s->slots[i];
}

static void index_cells(struct rk_rank_spread *s)
{
	memset(s->slots, 0, 2 * s->cap_cells * sizeof(*s->slots));
	for (size_t i = 0; i < s->ncells; i++)
		*slot_of(s, s->cells[i].line, s->cells[i].rank) = (uint32_t)i + 1;
}

/* All cells but those of rank `keep` go into their names. */
static void fold(struct rk_rank_spread *s, uint32_t keep)
{
	size_t left = 0;

	for (size_t i = 0; i < s->ncells; i++) {
		if (s->cells[i].rank == keep)
			s->cells[left++] = s->cells[i];
		else
			fold_cell(s, &s->cells[i]);
	}
	s->ncells = left;
	for (size_t i = 0; i < s->nlines; i++)
		s->lines[i].last = 0;
	/* one rank has as many cells as there are names, which are bounded elsewhere */
	s->limit = 2 * left > s->max_cells ? 2 * left : s->max_cells;
}

static int grow_cells(struct rk_rank_spread *s, struct rk_error *err)
{
	size_t cap = s->cap_cells ? s->cap_cells * 2 : FIRST_CELLS;
	uint32_t *slots = rk_calloc(2 * cap, sizeof(*slots));
	struct cell *cells = slots ? rk_reallocn(s->cells, cap, sizeof(*cells)) : NULL;

	if (!cells) {
		rk_free(slots);
		return rk_fail_nomem(err);
	}
	rk_free(s->slots);
	s->slots = slots;
	s->cells = cells;
	s->cap_cells = cap;
	index_cells(s);
	return 0;
}

/* The cell of a name and a rank, made when there is none. */
static int find_cell(struct rk_rank_spread *s, uint32_t line, uint32_t rank, struct rk_error *err)
{
	uint32_t *slot = s->cap_cells ? slot_of(s, line, rank) : NULL;
	int rc = 0;

	if (!slot || !*slot) {
		if (s->ncells >= s->limit) {
			fold(s, rank);
			index_cells(s);
		}
		if (s->ncells == s->cap_cells)
			rc = grow_cells(s, err);
		if (rc < 0)
			return rc;
		s->lines[line].broken |= s->folded[rank];
		slot = slot_of(s, line, rank);
		s->cells[s->ncells++] = (struct cell){ line, rank, 0 };
		*slot = (uint32_t)s->ncells;
	}
	s->lines[line].rank = rank;
	s->lines[line].last = *slot;
	return 0;
}

/* The line of a name; NOBODY: it communicates. */
static int find_line(struct rk_rank_spread *s, uint32_t name, uint32_t *ret, struct rk_error *err)
{
	enum rk_rank_kind kind = rk_rank_class_of(&s->class, name);
	uint32_t *at = kind == RK_KIND_COMPUTE ? rk_idmap_at(&s->by_name, name) : NULL;
	struct line *lines;

	*ret = NOBODY;
	if (kind == RK_KIND_COMM)
		return 0;
	if (!at)
		return rk_fail_nomem(err);
	if (!*at) {
		if (s->nlines == s->cap_lines) {
			lines = rk_grow(s->lines, &s->cap_lines, s->nlines + 1, sizeof(*lines));
			if (!lines)
				return rk_fail_nomem(err);
			s->lines = lines;
		}
		s->lines[s->nlines++] = (struct line){ .name = name };
		*at = (uint32_t)s->nlines;
	}
	*ret = *at - 1;
	return 0;
}

static int add_row(struct rk_rank_spread *s, uint32_t name, uint32_t rank, int64_t dur,
		   struct rk_error *err)
{
	uint32_t at;
	struct line *n;
	int64_t *total;
	int rc = find_line(s, name, &at, err);

	if (rc < 0 || at == NOBODY)
		return rc;
	n = &s->lines[at];
	if (!n->last || n->rank != rank)
		rc = find_cell(s, at, rank, err);
	if (rc < 0)
		return rc;
	total = &s->cells[n->last - 1].total;
	if (!rk_add_i64(*total, dur, total))
		*total = INT64_MAX;
	return 0;
}

/* NOBODY: there are too many, which rank_load tells. */
static int rank_of(struct rk_rank_spread *s, int64_t rank, uint32_t *ret, struct rk_error *err)
{
	int rc = rk_keys_number(&s->keys, (struct rk_key3){ rank, 0, 0 }, ret, err);
	size_t cap = s->keys.cap;
	bool *folded;

	if (rc < 0)
		return rc;
	if (*ret == RK_LOAD_RANKS)
		*ret = NOBODY;
	if (s->cap_folded >= cap)
		return 0;
	folded = rk_reallocn(s->folded, cap, sizeof(*folded));
	if (!folded)
		return rk_fail_nomem(err);
	memset(folded + s->cap_folded, 0, (cap - s->cap_folded) * sizeof(*folded));
	s->folded = folded;
	s->cap_folded = cap;
	return 0;
}

static bool passed_over(const struct rk_batch *b, size_t i)
{
	const struct rk_column *barrier = &b->cols[RK_K_BARRIER], *rank = &b->cols[RK_K_RANK];

	return !rk_column_has(rank, i) || ((const int32_t *)rank->data)[i] < 0 ||
	       !rk_column_has(&b->cols[RK_K_DURATION], i) ||
	       (rk_column_has(barrier, i) && ((const uint8_t *)barrier->data)[i]);
}

int rk_rank_spread_add(struct rk_rank_spread *s, const struct rk_batch *b, struct rk_error *err)
{
	const int32_t *ranks = b->cols[RK_K_RANK].data;
	const int64_t *durs = b->cols[RK_K_DURATION].data;
	uint32_t number = NOBODY;
	int64_t last = -1;
	int rc = 0;

	for (size_t i = 0; ranks && durs && rc == 0 && i < b->nrows; i++) {
		if (passed_over(b, i) || durs[i] < 0)
			continue;
		if (ranks[i] != last) {
			last = ranks[i];
			rc = rank_of(s, last, &number, err);
		}
		if (rc == 0 && number != NOBODY)
			rc = add_row(s, rk_batch_id(b, RK_K_NAME, i), number, durs[i], err);
	}
	return rc;
}

static struct rk_ranks_spread spread_of(const struct rk_rank_spread *s, const struct line *n)
{
	double mean = n->sum / (double)n->ranks;

	return (struct rk_ranks_spread){
		.name = rk_strtab_borrow(s->ctx->names, n->name, NULL),
		.ranks = n->ranks,
		.min_ns = n->min,
		.max_ns = n->max,
		.min_rank = rank_at(s, n->min_rank),
		.max_rank = rank_at(s, n->max_rank),
		.mean_ns = mean,
		.imbalance = mean > 0 ? (double)n->max / mean - 1 : 0,
	};
}

static int by_excess(const void *pa, const void *pb)
{
	const struct rk_ranks_spread *a = pa, *b = pb;
	double x = (double)a->max_ns - a->mean_ns, y = (double)b->max_ns - b->mean_ns;

	if (x != y)
		return x > y ? -1 : 1;
	return strcmp(a->name, b->name);
}

static void tell(const struct rk_rank_spread *s)
{
	uint64_t broken = 0;

	for (size_t i = 0; i < s->nlines; i++)
		broken += s->lines[i].broken;
	if (broken)
		rk_diag_add(s->ctx->diag, "many-rank-names", "", 0, broken,
			    "names left out of the imbalance: more than %zu names and ranks, and "
			    "the rows of ranks are mixed; rank folders, or a data set, are read "
			    "one after the other",
			    s->max_cells);
}

int rk_rank_spread_finish(struct rk_rank_spread *s, struct rk_ranks_spread **ret, size_t *ret_n,
			  struct rk_error *err)
{
	struct rk_ranks_spread *v = rk_calloc(s->nlines, sizeof(*v));
	size_t n = 0;

	if (!v)
		return rk_fail_nomem(err);
	fold(s, NOBODY);
	for (size_t i = 0; i < s->nlines; i++)
		if (s->lines[i].ranks > 1 && !s->lines[i].broken)
			v[n++] = spread_of(s, &s->lines[i]);
	qsort(v, n, sizeof(*v), by_excess);
	tell(s);
	*ret = v;
	*ret_n = n;
	return 0;
}
