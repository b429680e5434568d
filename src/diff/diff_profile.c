/* diff_profile.c - kernels of a run added up for a comparison; see diff_profile.h. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/num.h"
#include "diff/diff_profile_impl.h"
#include "report/timeline.h"

#define BIT(f) (UINT64_C(1) << (f))

/* As in timeline.c: the span between any two ends can be told in 64 bits. */
#define START_MAX (INT64_MAX / 2)

static int launches_init(struct rk_profiler *p, size_t held, size_t symbols, struct rk_error *err)
{
	struct rk_launches *l = &p->launches;

	l->places.max = l->queues.max = RK_PROFILE_QUEUES;
	l->symbols_max = symbols;
	return rk_order_new(p->ctx->tmpdir, held, &l->order, err);
}

int rk_profiler_new(struct rk_context *ctx, bool structure, struct rk_profiler **ret,
		    struct rk_error *err)
{
	struct rk_profiler *p = rk_calloc(1, sizeof(*p));
	int rc = p ? rk_order_new(ctx->tmpdir, RK_ORDER_HELD, &p->order, err) : rk_fail_nomem(err);

	if (rc == 0) {
		p->ctx = ctx;
		p->structure = structure;
		p->store.max_pages = RK_MEDIAN_MAX_PAGES;
		rc = launches_init(p, RK_ORDER_HELD, RK_PROFILE_SYMBOLS, err);
	}
	if (rc < 0) {
		rk_profiler_free(p);
		return rc;
	}
	*ret = p;
	return 0;
}

int rk_profiler_limit(struct rk_profiler *p, size_t held, size_t symbols, struct rk_error *err)
{
	int rc;

	rk_order_free(p->order);
	rk_order_free(p->launches.order);
	p->order = p->launches.order = NULL;
	rc = rk_order_new(p->ctx->tmpdir, held, &p->order, err);
	return rc < 0 ? rc : launches_init(p, held, symbols, err);
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
	rk_free(p->slots);
	rk_order_free(p->order);
	for (unsigned i = 0; i < RK_NLINES; i++) {
		rk_idmap_release(&p->lines[i].by_id);
		rk_free(p->lines[i].v);
	}
	rk_launches_release(&p->launches);
	rk_free(p);
}

uint64_t rk_profiler_wants(const struct rk_profiler *p, enum rk_table t)
{
	if (t == RK_KERNELS)
		return BIT(RK_K_NAME) | BIT(RK_K_START) | BIT(RK_K_DURATION) | BIT(RK_K_GRID_X) |
		       BIT(RK_K_GRID_Y) | BIT(RK_K_GRID_Z) | BIT(RK_K_BLOCK_X) | BIT(RK_K_BLOCK_Y) |
		       BIT(RK_K_BLOCK_Z) | BIT(RK_K_ITEMS_X) | BIT(RK_K_ITEMS_Y) |
		       BIT(RK_K_ITEMS_Z) | BIT(RK_K_BARRIER) | BIT(RK_K_RANK) |
		       (p->structure ? rk_launches_wants() : 0);
	if (t == RK_STATS)
		return BIT(RK_T_OF) | BIT(RK_T_NAME) | BIT(RK_T_CALLS) | BIT(RK_T_TOTAL) |
		       BIT(RK_T_STDDEV);
	return rk_lines_wants(t);
}

/* ---- names ---- */

static int name_append(struct rk_profiler *p, uint32_t id, struct rk_error *err)
{
	struct rk_profiler_name *grown =
		rk_grow(p->names, &p->cap_names, p->nnames + 1, sizeof(*grown));

	if (!grown)
		return rk_fail_nomem(err);
	p->names = grown;
	memset(&p->names[p->nnames], 0, sizeof(*grown));
	p->names[p->nnames++].id = id;
	return 0;
}

static int rest_of_names(struct rk_profiler *p, uint32_t *ret, struct rk_error *err)
{
	static const char text[] = "(names past the limit)";
	uint32_t id;
	int rc = 0;

	p->lost_names++;
	if (!p->rest) {
		rc = rk_strtab_add(p->ctx->names, text, sizeof(text) - 1, &id, err);
		if (rc == 0)
			rc = name_append(p, id, err);
		if (rc < 0)
			return rc;
		p->rest = (uint32_t)p->nnames;
	}
	*ret = p->rest - 1;
	return 0;
}

/* Where a name stands, made on first sight. */
static int name_of(struct rk_profiler *p, uint32_t id, uint32_t *ret, struct rk_error *err)
{
	uint32_t *at = rk_idmap_at(&p->by_id, id);
	int rc;

	if (!at)
		return rk_fail_nomem(err);
	if (!*at && p->nnames >= RK_PROFILE_NAMES)
		return rest_of_names(p, ret, err);
	if (!*at) {
		rc = name_append(p, id, err);
		if (rc < 0)
			return rc;
		*at = (uint32_t)p->nnames;
	}
	*ret = *at - 1;
	return 0;
}

/* ---- rows ---- */

/* `more` durations come: past what is kept singly, all go into histograms. */
static int make_room(struct rk_profiler *p, uint64_t more, struct rk_error *err)
{
	p->held += more;
	if (p->store.folded || p->held <= RK_MEDIAN_EXACT_MAX)
		return 0;
	p->store.folded = true;
	for (size_t i = 0; i < p->nnames; i++)
		if (!rk_durations_fold(&p->store, &p->names[i].times))
			return rk_fail_nomem(err);
	return 0;
}

static inline void shape_count(struct rk_profile_shape *s, int64_t duration)
{
	double d;

	s->calls++;
	if (duration < 0)
		return;
	if (!s->timed++)
		s->first_ns = duration;
	d = (double)(duration - s->first_ns);
	s->sum += d;
	s->squares += d * d;
}

static int shape_add(struct rk_profiler *p, uint32_t name, const struct rk_shape *shape,
		     int64_t duration, uint32_t *ret, struct rk_error *err)
{
	uint32_t recent = p->names[name].recent;
	int rc;

	if (recent && memcmp(&p->shapes[recent - 1].shape, shape, sizeof(*shape)) == 0) {
		*ret = recent - 1;
	} else {
		rc = rk_profiler_shape(p, name, shape, ret, err);
		if (rc < 0 || *ret == RK_SHAPE_NONE)
			return rc;
		p->names[name].recent = *ret + 1;
	}
	shape_count(&p->shapes[*ret], duration);
	return 0;
}

/*
 * Only when some kernel ran is asked of the line of time, so kernels that touch or overlap the one
 * before go there as one stretch: of a busy GPU there are few.
 */
static int place_kernel(struct rk_profiler *p, const struct rk_stretch *s, struct rk_error *err)
{
	struct rk_stretch *busy = &p->busy;
	int rc = 0;

	if (p->busy_begun && s->start >= busy->start && s->start <= busy->end) {
		busy->end = s->end > busy->end ? s->end : busy->end;
		return 0;
	}
	if (p->busy_begun)
		rc = rk_order_add(p->order, busy, err);
	*busy = *s;
	p->busy_begun = true;
	return rc;
}

/* Puts a row on the line of time; one that has no place there counts as such. */
static int place(struct rk_profiler *p, const struct rk_column *start, size_t row, int64_t duration,
		 uint32_t queue, struct rk_error *err)
{
	struct rk_stretch s = { .queue = queue };

	if (duration < 0)
		return 0;
	if (rk_column_has(start, row)) {
		s.start = ((const int64_t *)start->data)[row];
		if (s.start >= -START_MAX && rk_add_i64(s.start, duration, &s.end) &&
		    s.end <= START_MAX)
			return queue == RK_QUEUE_NONE ? place_kernel(p, &s, err) :
							rk_order_add(p->order, &s, err);
	}
	if (queue == RK_QUEUE_NONE)
		p->unplaced_ns = rk_profile_sum(p->unplaced_ns, rk_profile_clamp(duration));
	return 0;
}

static bool is_barrier(const struct rk_batch *b, size_t row)
{
	const struct rk_column *c = &b->cols[RK_K_BARRIER];

	return rk_column_has(c, row) && ((const uint8_t *)c->data)[row];
}

static int add_kernel(struct rk_profiler *p, const struct rk_batch *b,
		      const struct rk_shape_columns *shapes, size_t row, struct rk_error *err)
{
	struct rk_shape shape = rk_shape_at(shapes, row);
	int64_t duration = rk_batch_int(b, RK_K_DURATION, row, -1);
	uint32_t name, at;
	int rc = name_of(p, rk_batch_id(b, RK_K_NAME, row), &name, err);

	if (rc < 0)
		return rc;
	p->names[name].calls++;
	if (duration >= 0 && !rk_durations_add(&p->store, &p->names[name].times, duration))
		return rk_fail_nomem(err);
	rc = shape_add(p, name, &shape, duration, &at, err);
	if (rc == 0)
		rc = place(p, &b->cols[RK_K_START], row, duration, RK_QUEUE_NONE, err);
	if (rc == 0 && rk_column_has(&b->cols[RK_K_RANK], row))
		rc = rk_lines_add_rank(p, rk_batch_int(b, RK_K_RANK, row, -1), duration, err);
	if (rc == 0 && p->structure)
		rc = rk_launches_add(&p->launches, b, row, at, err);
	return rc;
}

static int add_kernels(struct rk_profiler *p, const struct rk_batch *b, struct rk_error *err)
{
	struct rk_shape_columns shapes = rk_shape_columns(b);
	int rc = make_room(p, b->nrows, err);

	for (size_t i = 0; rc == 0 && i < b->nrows; i++) {
		if (is_barrier(b, i))
			continue;
		rc = add_kernel(p, b, &shapes, i, err);
		p->rows++;
	}
	return rc;
}

static int add_copies(struct rk_profiler *p, const struct rk_batch *b, struct rk_error *err)
{
	int rc = rk_lines_add(p, b, err);

	for (size_t i = 0; rc == 0 && i < b->nrows; i++)
		rc = place(p, &b->cols[RK_C_START], i, rk_batch_int(b, RK_C_DURATION, i, -1),
			   RK_QUEUE_COPY, err);
	return rc;
}

/* ---- ready-made statistics ---- */

static int add_kernel_stats(struct rk_profiler *p, const struct rk_batch *b, size_t row,
			    struct rk_error *err)
{
	const struct rk_column *spread = &b->cols[RK_T_STDDEV];
	double stddev = rk_column_has(spread, row) ? ((const double *)spread->data)[row] : NAN;
	int64_t calls = rk_batch_int(b, RK_T_CALLS, row, 0);
	int64_t total = rk_batch_int(b, RK_T_TOTAL, row, 0);
	uint32_t id = rk_batch_id(b, RK_T_NAME, row), at;
	struct rk_profiler_name *n;
	int rc;

	if (calls <= 0 ||
	    strcmp(rk_strtab_borrow(p->ctx->names, id, NULL), "<barrier packet>") == 0)
		return 0;
	rc = name_of(p, id, &at, err);
	if (rc < 0)
		return rc;
	n = &p->names[at];
	n->calls += (uint64_t)calls;
	n->stats_timed += (uint64_t)calls;
	n->stats_total = rk_profile_sum(n->stats_total, rk_profile_clamp(total > 0 ? total : 0));
	/* rocprofv3 keeps the square of the total in 64 bits: beyond that it is not usable */
	if (calls > 1 && isfinite(stddev) && stddev >= 0 && total <= UINT32_MAX) {
		n->stats_squares += stddev * stddev * (double)calls;
		n->stats_free += (double)(calls - 1);
	}
	return 0;
}

static int add_stats(struct rk_profiler *p, const struct rk_batch *b, struct rk_error *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < b->nrows; i++) {
		const char *of = rk_strtab_borrow(p->ctx->names, rk_batch_id(b, RK_T_OF, i), NULL);
		int64_t calls = rk_batch_int(b, RK_T_CALLS, i, 0);
		int64_t total = rk_batch_int(b, RK_T_TOTAL, i, 0);
		enum rk_line_kind kind = strcmp(of, "copy") == 0 ? RK_LINES_COPIES : RK_LINES_API;

		if (strcmp(of, "kernel") == 0)
			rc = add_kernel_stats(p, b, i, err);
		else if (kind == RK_LINES_COPIES || strcmp(of, "api") == 0)
			rc = rk_lines_add_stats(p, kind, rk_batch_id(b, RK_T_NAME, i),
						calls > 0 ? (uint64_t)calls : 0,
						total > 0 ? total : 0, err);
	}
	return rc;
}

int rk_profiler_add(struct rk_profiler *p, const struct rk_batch *b, struct rk_error *err)
{
	switch (b->schema->table) {
	case RK_KERNELS:
		return add_kernels(p, b, err);
	case RK_MEMCPY:
		return add_copies(p, b, err);
	case RK_STATS:
		return add_stats(p, b, err);
	case RK_API:
	case RK_MARKERS:
		return rk_lines_add(p, b, err);
	default:
		return 0;
	}
}
