/* diff_profile.c - sums over the kernels of a run, from batches of rows; see diff_profile.h. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/num.h"
#include "diff/diff_profile_impl.h"
#include "report/timeline.h"

#define BIT(f) (UINT64_C(1) << (f))

/* ---- grids and blocks of launches, by kernel ---- */

/* The six columns of a batch, and those with work-items. */
struct shape_columns {
	struct rk_column grid[3], block[3], items[3];
	bool whole; /* every row has grid and block */
};

static int32_t cell(const struct rk_column *c, size_t row)
{
	return rk_column_has(c, row) ? ((const int32_t *)c->data)[row] : -1;
}

static struct rk_shape shape_at(const struct shape_columns *c, size_t row)
{
	struct rk_shape s = { .items = 0 };

	if (c->whole) {
		for (unsigned i = 0; i < 3; i++) {
			s.n[i] = ((const int32_t *)c->grid[i].data)[row];
			s.n[3 + i] = ((const int32_t *)c->block[i].data)[row];
		}
		return s;
	}
	for (unsigned i = 0; i < 3; i++) {
		s.n[i] = cell(&c->grid[i], row);
		s.n[3 + i] = cell(&c->block[i], row);
	}
	if (s.n[3] >= 0 || !rk_column_has(&c->items[0], row))
		return s;
	/*
	 * The runtime chose the block and may choose another one next time: compare only the
	 * work-items.
	 */
	s.items = 1;
	for (unsigned i = 0; i < 3; i++)
		s.n[i] = cell(&c->items[i], row);
	return s;
}

/* *ret is the index of the shape for this name; RK_SHAPE_NONE beyond the limit. */
static int find_shape(struct rk_profiler *p, uint32_t name, const struct rk_shape *s, uint32_t *ret,
		      struct rk_error *err)
{
	uint64_t hash = rk_hash_u64(rk_hash_bytes(s, sizeof(*s)) ^ name);
	struct rk_profile_shape *grown;
	size_t at;

	for (*ret = rk_index_first(&p->by_shape, hash, &at); *ret != RK_INDEX_NONE;
	     *ret = rk_index_next(&p->by_shape, hash, &at)) {
		const struct rk_profile_shape *o = &p->shapes[*ret];

		if (o->name == name && memcmp(&o->shape, s, sizeof(*s)) == 0)
			return 0;
	}
	if (p->nshapes >= RK_PROFILE_SHAPES) {
		p->lost_shapes++;
		*ret = RK_SHAPE_NONE;
		return 0;
	}
	grown = rk_grow(p->shapes, &p->cap_shapes, p->nshapes + 1, sizeof(*grown));
	if (!grown)
		return rk_fail_nomem(err);
	p->shapes = grown;
	if (!rk_index_add(&p->by_shape, hash, (uint32_t)p->nshapes))
		return rk_fail_nomem(err);
	*ret = (uint32_t)p->nshapes;
	p->shapes[p->nshapes++] = (struct rk_profile_shape){ .shape = *s,
							     .name = name,
							     .next = p->names[name].shapes };
	p->names[name].shapes = (uint32_t)p->nshapes;
	return 0;
}

bool rk_merge_next(struct rk_merge *m)
{
	const char *a = NULL, *b = NULL;
	int order;

	if (m->na)
		memcpy(&a, m->a, sizeof(a));
	if (m->nb)
		memcpy(&b, m->b, sizeof(b));
	if (!a && !b)
		return false;
	order = a && b ? strcmp(a, b) : !a - !b;
	m->x = m->y = m->none;
	if (order >= 0) {
		m->name = b;
		m->y = m->b;
		m->b = (const char *)m->b + m->size;
		m->nb--;
	}
	if (order <= 0) {
		m->name = a;
		m->x = m->a;
		m->a = (const char *)m->a + m->size;
		m->na--;
	}
	return true;
}

void rk_shape_text(const struct rk_shape *s, char *ret, size_t size)
{
	const int32_t *n = s->n;

	if (n[0] < 0 && n[3] < 0)
		snprintf(ret, size, "%s", "");
	else if (s->items)
		snprintf(ret, size, "items %dx%dx%d", n[0], n[1], n[2]);
	else
		snprintf(ret, size, "grid %dx%dx%d block %dx%dx%d", n[0], n[1], n[2], n[3], n[4],
			 n[5]);
}

/* ---- copies by direction, API calls by function, markers by kind, kernels by rank ---- */

static const struct table {
	enum rk_table table;
	enum rk_line_kind kind;
	unsigned name, duration;
	int bytes;
} tables[] = {
	{ RK_MEMCPY, RK_LINES_COPIES, RK_C_DIRECTION, RK_C_DURATION, RK_C_BYTES },
	{ RK_API, RK_LINES_API, RK_A_FUNCTION, RK_A_DURATION, -1 },
	{ RK_MARKERS, RK_LINES_MARKERS, RK_R_NAME, RK_R_DURATION, -1 },
};

static const struct table *table_of(enum rk_table t)
{
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		if (tables[i].table == t)
			return &tables[i];
	return NULL;
}

static int line_of(struct rk_line_sums *s, uint32_t id, size_t *ret, struct rk_error *err)
{
	uint32_t *at = rk_idmap_at(&s->by_id, id);
	void *grown;

	if (!at)
		return rk_fail_nomem(err);
	if (!*at && s->n >= RK_PROFILE_LINES) {
		s->lost++;
		*ret = s->n;
		return 0;
	}
	if (!*at) {
		grown = rk_grow(s->v, &s->cap, s->n + 1, sizeof(*s->v));
		if (!grown)
			return rk_fail_nomem(err);
		s->v = grown;
		memset(&s->v[s->n], 0, sizeof(*s->v));
		s->v[s->n++].id = id;
		*at = (uint32_t)s->n;
	}
	*ret = *at - 1;
	return 0;
}

/* Adds calls to the line of a text. */
static int line_add(struct rk_line_sums *s, uint32_t id, uint64_t calls, int64_t bytes,
		    int64_t total_ns, struct rk_error *err)
{
	size_t at;
	int rc = line_of(s, id, &at, err);

	if (rc < 0)
		return rc;
	s->known = true;
	if (at == s->n)
		return 0;
	s->v[at].calls += calls;
	rk_profile_add(&s->v[at].bytes, bytes);
	rk_profile_add(&s->v[at].total_ns, total_ns);
	return 0;
}

static int lines_add(struct rk_profiler *p, const struct rk_batch *b, struct rk_error *err)
{
	const struct table *t = table_of(b->schema->table);
	struct rk_line_sums *s = &p->lines[t->kind];

	s->known = true;
	for (size_t i = 0; i < b->nrows; i++) {
		uint32_t id = rk_batch_id(b, t->name, i);
		int64_t bytes = 0;
		int rc;

		/*
		 * Synchronisation on a queue has its own name. Texts of program markers ("loss
		 * 0.31") differ in every run, so those are counted by kind.
		 */
		if (t->kind == RK_LINES_MARKERS) {
			uint32_t kind = rk_batch_id(b, RK_R_KIND, i);

			if (strcmp(rk_strtab_borrow(p->ctx->names, kind, NULL), "queue") != 0)
				id = kind;
		}
		if (t->bytes >= 0)
			bytes = rk_batch_int(b, (unsigned)t->bytes, i, 0);
		rc = line_add(s, id, 1, bytes, rk_batch_int(b, t->duration, i, 0), err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* Counts a kernel for a rank. Rows of a rank are usually consecutive. */
static int lines_add_rank(struct rk_profiler *p, int64_t rank, int64_t duration,
			  struct rk_error *err)
{
	struct rk_line_sums *s = &p->lines[RK_LINES_RANKS];

	if (!s->known || rank != p->rank) {
		char name[32];
		uint32_t id;
		int len = snprintf(name, sizeof(name), "rank %" PRId64, rank);
		int rc = rk_strtab_add(p->ctx->names, name, (size_t)len, &id, err);

		if (rc < 0)
			return rc;
		rc = line_of(s, id, &p->rank_at, err);
		if (rc < 0)
			return rc;
		p->rank = rank;
		s->known = true;
	}
	if (p->rank_at >= s->n)
		return 0;
	s->v[p->rank_at].calls++;
	rk_profile_add(&s->v[p->rank_at].total_ns, duration);
	return 0;
}

/* ---- launches by queue ---- */

/*
 * Here a queue is a stream of a device in a process (or a queue, if streams are not recorded). Its
 * launches are sorted by dispatch id, which is the order of submission and does not depend on
 * speed; if there are no ids, by start. Two runs are compared by the contents of their queues,
 * because queue numbers, and how kernels of different queues interleave, vary by chance.
 */

static int launches_add(struct rk_launches *l, const struct rk_batch *b, size_t row, uint32_t shape,
			struct rk_error *err)
{
	struct rk_key3 key = { rk_batch_id(b, RK_K_NODE, row), rk_batch_int(b, RK_K_RANK, row, -1),
			       rk_batch_int(b, RK_K_PID, row, -1) };
	struct rk_stretch s = { .queue = shape, .device = RK_PROFILE_QUEUES };
	uint32_t place;
	int rc = rk_keys_number(&l->places, key, &place, err);

	if (rc < 0)
		return rc;
	if (place != RK_PROFILE_QUEUES) {
		int64_t queue = rk_batch_int(b, RK_K_QUEUE, row, -1);

		key = (struct rk_key3){ place, rk_batch_int(b, RK_K_DEVICE, row, -1),
					rk_batch_int(b, RK_K_STREAM, row, queue) };
		rc = rk_keys_number(&l->queues, key, &s.device, err);
		if (rc < 0)
			return rc;
	}
	if (s.device == RK_PROFILE_QUEUES || shape == RK_SHAPE_NONE) {
		l->lost++;
		return 0;
	}
	s.start = rk_batch_int(b, RK_K_DISPATCH, row, rk_batch_int(b, RK_K_START, row, INT64_MAX));
	return rk_order_add(l->order, &s, err);
}

/* ---- the profiler ---- */

int rk_profiler_limit(struct rk_profiler *p, size_t held, size_t symbols, struct rk_error *err)
{
	int rc;

	rk_order_free(p->order);
	rk_order_free(p->launches.order);
	p->order = p->launches.order = NULL;
	p->launches.symbols_max = symbols;
	rc = rk_order_new(p->ctx->tmpdir, held, &p->order, err);
	if (rc < 0)
		return rc;
	return rk_order_new(p->ctx->tmpdir, held, &p->launches.order, err);
}

int rk_profiler_new(struct rk_context *ctx, bool structure, struct rk_profiler **ret,
		    struct rk_error *err)
{
	struct rk_profiler *p = rk_calloc(1, sizeof(*p));
	int rc;

	if (!p)
		return rk_fail_nomem(err);
	p->ctx = ctx;
	p->structure = structure;
	p->store.max_pages = RK_MEDIAN_MAX_PAGES;
	p->launches.places.max = p->launches.queues.max = RK_PROFILE_QUEUES;
	rc = rk_profiler_limit(p, RK_ORDER_HELD, RK_PROFILE_SYMBOLS, err);
	if (rc < 0) {
		rk_profiler_free(p);
		return rc;
	}
	*ret = p;
	return 0;
}

void rk_profiler_free(struct rk_profiler *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->nnames; i++)
		rk_durations_release(&p->names[i].times);
	rk_free(p->names);
	rk_idmap_release(&p->by_id);
	rk_free(p->shapes);
	rk_index_release(&p->by_shape);
	rk_order_free(p->order);
	for (unsigned i = 0; i < RK_NLINES; i++) {
		rk_idmap_release(&p->lines[i].by_id);
		rk_free(p->lines[i].v);
	}
	rk_keys_release(&p->launches.places);
	rk_keys_release(&p->launches.queues);
	rk_order_free(p->launches.order);
	rk_free(p);
}

uint64_t rk_profiler_wants(const struct rk_profiler *p, enum rk_table t)
{
	const struct table *k = table_of(t);
	uint64_t want = 0;

	if (t == RK_KERNELS) {
		want = BIT(RK_K_NAME) | BIT(RK_K_START) | BIT(RK_K_DURATION) | BIT(RK_K_GRID_X) |
		       BIT(RK_K_GRID_Y) | BIT(RK_K_GRID_Z) | BIT(RK_K_BLOCK_X) | BIT(RK_K_BLOCK_Y) |
		       BIT(RK_K_BLOCK_Z) | BIT(RK_K_ITEMS_X) | BIT(RK_K_ITEMS_Y) |
		       BIT(RK_K_ITEMS_Z) | BIT(RK_K_BARRIER) | BIT(RK_K_RANK);
		if (p->structure)
			want |= BIT(RK_K_STREAM) | BIT(RK_K_QUEUE) | BIT(RK_K_DEVICE) |
				BIT(RK_K_DISPATCH) | BIT(RK_K_PID) | BIT(RK_K_NODE);
	}
	if (t == RK_STATS)
		want = BIT(RK_T_OF) | BIT(RK_T_NAME) | BIT(RK_T_CALLS) | BIT(RK_T_TOTAL) |
		       BIT(RK_T_STDDEV);
	if (k) {
		want = BIT(k->name) | BIT(k->duration);
		if (k->bytes >= 0)
			want |= BIT(k->bytes);
	}
	if (t == RK_MARKERS)
		want |= BIT(RK_R_KIND);
	if (t == RK_MEMCPY)
		want |= BIT(RK_C_START);
	return want;
}

/* ---- names ---- */

/* The index of a name, which is added if it is new; beyond the limit all names share one. */
static int name_of(struct rk_profiler *p, uint32_t id, uint32_t *ret, struct rk_error *err)
{
	static const char rest[] = "(names past the limit)";
	uint32_t *at = rk_idmap_at(&p->by_id, id);
	struct rk_profiler_name *grown;
	int rc;

	if (!at)
		return rk_fail_nomem(err);
	if (!*at && p->nnames >= RK_PROFILE_NAMES) {
		p->lost_names++;
		at = &p->rest;
		if (!*at) {
			rc = rk_strtab_add(p->ctx->names, rest, sizeof(rest) - 1, &id, err);
			if (rc < 0)
				return rc;
		}
	}
	if (!*at) {
		grown = rk_grow(p->names, &p->cap_names, p->nnames + 1, sizeof(*grown));
		if (!grown)
			return rk_fail_nomem(err);
		p->names = grown;
		memset(&p->names[p->nnames], 0, sizeof(*grown));
		p->names[p->nnames++].id = id;
		*at = (uint32_t)p->nnames;
	}
	*ret = *at - 1;
	return 0;
}

/* ---- rows ---- */

static int shape_add(struct rk_profiler *p, uint32_t name, const struct rk_shape *shape,
		     int64_t duration, uint32_t *ret, struct rk_error *err)
{
	uint32_t recent = p->names[name].recent;
	struct rk_profile_shape *s;
	double d;
	int rc;

	if (recent && memcmp(&p->shapes[recent - 1].shape, shape, sizeof(*shape)) == 0) {
		*ret = recent - 1;
	} else {
		rc = find_shape(p, name, shape, ret, err);
		if (rc < 0 || *ret == RK_SHAPE_NONE)
			return rc;
		p->names[name].recent = *ret + 1;
	}
	s = &p->shapes[*ret];
	s->calls++;
	if (duration < 0)
		return 0;
	if (!s->timed++)
		s->first_ns = duration;
	d = (double)(duration - s->first_ns);
	s->sum += d;
	s->squares += d * d;
	return 0;
}

/*
 * Adds a row to the timeline; counts a kernel as unplaced if it has no valid start. The timeline
 * only needs to know when any kernel ran, so kernels that touch or overlap the previous one are
 * merged into one stretch; a busy GPU has few of them.
 */
static int place(struct rk_profiler *p, const struct rk_column *start, size_t row, int64_t duration,
		 uint32_t queue, struct rk_error *err)
{
	struct rk_stretch s = { .queue = queue }, *busy = &p->busy;
	bool placed = false;
	int rc = 0;

	if (duration < 0)
		return 0;
	if (rk_column_has(start, row)) {
		s.start = ((const int64_t *)start->data)[row];
		placed = rk_add_i64(s.start, duration, &s.end) &&
			 rk_era_holds(&p->era, RK_ERA_MOST, s.start, s.end);
	}
	if (queue != RK_QUEUE_NONE)
		return placed ? rk_order_add(p->order, &s, err) : 0;
	if (!placed) {
		rk_profile_add(&p->unplaced_ns, duration);
		return 0;
	}
	if (p->busy_begun && s.start >= busy->start && s.start <= busy->end) {
		busy->end = rk_max_i64(busy->end, s.end);
		return 0;
	}
	if (p->busy_begun)
		rc = rk_order_add(p->order, busy, err);
	*busy = s;
	p->busy_begun = true;
	return rc;
}

static int add_kernel(struct rk_profiler *p, const struct rk_batch *b,
		      const struct shape_columns *shapes, size_t row, struct rk_error *err)
{
	struct rk_shape shape = shape_at(shapes, row);
	int64_t duration = rk_batch_int(b, RK_K_DURATION, row, -1);
	uint32_t name, at;
	int rc = name_of(p, rk_batch_id(b, RK_K_NAME, row), &name, err);

	if (rc < 0)
		return rc;
	p->names[name].calls++;
	if (duration >= 0 && !rk_durations_add(&p->store, &p->names[name].times, duration))
		return rk_fail_nomem(err);
	rc = shape_add(p, name, &shape, duration, &at, err);
	if (rc < 0)
		return rc;
	rc = place(p, &b->cols[RK_K_START], row, duration, RK_QUEUE_NONE, err);
	if (rc < 0)
		return rc;
	if (rk_column_has(&b->cols[RK_K_RANK], row)) {
		rc = lines_add_rank(p, rk_batch_int(b, RK_K_RANK, row, -1), duration, err);
		if (rc < 0)
			return rc;
	}
	if (p->structure)
		return launches_add(&p->launches, b, row, at, err);
	return 0;
}

static int add_kernels(struct rk_profiler *p, const struct rk_batch *b, struct rk_error *err)
{
	struct shape_columns c = { .whole = true };
	const struct rk_column *barrier = &b->cols[RK_K_BARRIER];

	for (unsigned i = 0; i < 3; i++) {
		c.grid[i] = b->cols[RK_K_GRID_X + i];
		c.block[i] = b->cols[RK_K_BLOCK_X + i];
		c.items[i] = b->cols[RK_K_ITEMS_X + i];
		c.whole &= c.grid[i].data && !c.grid[i].valid && c.block[i].data &&
			   !c.block[i].valid;
	}
	/* beyond the limit of individual durations, use histograms */
	p->held += b->nrows;
	if (!p->store.folded && p->held > RK_MEDIAN_EXACT_MAX) {
		p->store.folded = true;
		for (size_t i = 0; i < p->nnames; i++)
			if (!rk_durations_fold(&p->store, &p->names[i].times))
				return rk_fail_nomem(err);
	}
	for (size_t i = 0; i < b->nrows; i++) {
		int rc;

		if (rk_column_has(barrier, i) && ((const uint8_t *)barrier->data)[i])
			continue;
		rc = add_kernel(p, b, &c, i, err);
		if (rc < 0)
			return rc;
		p->rows++;
	}
	return 0;
}

/* ---- statistics computed by the profiler ---- */

static int add_stats(struct rk_profiler *p, const struct rk_batch *b, struct rk_error *err)
{
	const struct rk_column *spread = &b->cols[RK_T_STDDEV];

	for (size_t i = 0; i < b->nrows; i++) {
		const char *of = rk_strtab_borrow(p->ctx->names, rk_batch_id(b, RK_T_OF, i), NULL);
		uint32_t id = rk_batch_id(b, RK_T_NAME, i), at;
		int64_t calls = rk_max_i64(rk_batch_int(b, RK_T_CALLS, i, 0), 0);
		int64_t total = rk_batch_int(b, RK_T_TOTAL, i, 0);
		bool copy = strcmp(of, "copy") == 0;
		struct rk_profiler_name *n;
		double stddev = NAN;
		int rc;

		if (copy || strcmp(of, "api") == 0) {
			rc = line_add(&p->lines[copy ? RK_LINES_COPIES : RK_LINES_API], id,
				      (uint64_t)calls, 0, total, err);
			if (rc < 0)
				return rc;
		}
		if (strcmp(of, "kernel") != 0 || !calls ||
		    strcmp(rk_strtab_borrow(p->ctx->names, id, NULL), "<barrier packet>") == 0)
			continue;
		rc = name_of(p, id, &at, err);
		if (rc < 0)
			return rc;
		n = &p->names[at];
		n->calls += (uint64_t)calls;
		n->stats_timed += (uint64_t)calls;
		rk_profile_add(&n->stats_total, total);
		if (rk_column_has(spread, i))
			stddev = ((const double *)spread->data)[i];
		/*
		 * rocprofv3 keeps the square of the total in 64 bits: a larger total makes stddev
		 * wrong
		 */
		if (calls > 1 && isfinite(stddev) && stddev >= 0 && total <= UINT32_MAX) {
			n->stats_squares += stddev * stddev * (double)calls;
			n->stats_free += (double)(calls - 1);
		}
	}
	return 0;
}

int rk_profiler_add(struct rk_profiler *p, const struct rk_batch *b, struct rk_error *err)
{
	int rc;

	switch (b->schema->table) {
	case RK_KERNELS:
		return add_kernels(p, b, err);
	case RK_STATS:
		return add_stats(p, b, err);
	case RK_MEMCPY:
		rc = lines_add(p, b, err);
		for (size_t i = 0; rc >= 0 && i < b->nrows; i++)
			rc = place(p, &b->cols[RK_C_START], i,
				   rk_batch_int(b, RK_C_DURATION, i, -1), RK_QUEUE_COPY, err);
		return rc;
	case RK_API:
	case RK_MARKERS:
		return lines_add(p, b, err);
	default:
		return 0;
	}
}
