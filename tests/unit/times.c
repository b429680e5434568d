/* times.c - durations that cannot be, and kernels on top of each other. */
#include "table/stages.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "tap.h"
#include "world.h"

struct kernel {
	int64_t start, duration, device, queue, pid;
	int64_t submit; /* 0: none */
};

#define NONE INT64_MIN

struct list {
	const struct kernel *k;
	size_t n, at, batch;
	struct rk_builder b;
	bool with_pid;
};

static void put(struct list *l, unsigned f, size_t i, int64_t v)
{
	((int64_t *)rk_builder_column(&l->b, f))[i] = v;
	if (v == NONE)
		rk_builder_null(&l->b, f, i);
}

static const struct rk_batch *next_batch(void *arg)
{
	struct list *l = arg;
	size_t n = l->n - l->at < l->batch ? l->n - l->at : l->batch;

	if (!n)
		return NULL;
	rk_builder_release(&l->b);
	CHECK_I64(rk_builder_init(&l->b, rk_table_schema(RK_KERNELS), n, NULL), 0);
	for (size_t i = 0; i < n; i++, l->at++) {
		put(l, RK_K_START, i, l->k[l->at].start);
		put(l, RK_K_DURATION, i, l->k[l->at].duration);
		put(l, RK_K_DEVICE, i, l->k[l->at].device);
		put(l, RK_K_QUEUE, i, l->k[l->at].queue);
		put(l, RK_K_SUBMIT, i, l->k[l->at].submit ? l->k[l->at].submit : NONE);
		if (l->with_pid)
			put(l, RK_K_PID, i, l->k[l->at].pid);
	}
	l->b.nrows = n;
	return rk_builder_batch(&l->b);
}

/* Passes the kernels through and gives what was warned about. */
static const char *warned(struct world *w, const struct kernel *k, size_t n, bool with_pid)
{
	struct list l = { .k = k, .n = n, .batch = 1000, .with_pid = with_pid };
	struct rk_source *s = NULL;
	const struct rk_batch *b;
	size_t rows = 0;

	rk_diag_reset(w->ctx.diag, 0);
	CHECK_I64(rk_times_open(world_source(rk_table_schema(RK_KERNELS), next_batch, &l), &w->ctx,
				&s, NULL),
		  0);
	while (rk_source_next(s, &b, NULL) > 0)
		rows += b->nrows;
	CHECK_U64(rows, n);
	rk_source_close(s);
	rk_builder_release(&l.b);
	return world_warnings(w);
}

TEST(negative_and_zero_durations_are_counted)
{
	static const struct kernel k[] = { { 100, -1, 1, 1, 0 },    { 200, 0, 1, 1, 0 },
					   { 300, 10, 1, 1, 0 },    { 400, -400, 1, 1, 0 },
					   { NONE, NONE, 1, 1, 0 }, { 500, NONE, 1, 1, 0 },
					   { NONE, -5, 1, 1, 0 },   { 600, 5, NONE, NONE, 0 },
					   { 601, 5, 1, NONE, 0 } };
	struct world w;

	world_open(&w, 1);
	CHECK_STR(warned(&w, k, 9, false), "negative-duration:2 zero-duration:1 ");
	CHECK_STR(warned(&w, k, 4, false), "negative-duration:2 zero-duration:1 ");
	CHECK_STR(warned(&w, k, 0, false), "");
	world_close(&w);
}

TEST(launches_without_times_are_counted)
{
	static const struct kernel k[] = { { 300, 10, 1, 1, 0, 0 },
					   { NONE, NONE, 1, 1, 0, 290 },
					   { NONE, NONE, NONE, NONE, 0, 295 },
					   { NONE, NONE, 1, 1, 0, 0 } };
	struct world w;

	world_open(&w, 1);
	CHECK_STR(warned(&w, k, 1, false), "");
	CHECK_STR(warned(&w, k, 4, false), "launches-without-times:2 ");
	CHECK_STR(warned(&w, k + 1, 2, false), "launches-without-times:2 ");
	CHECK_STR(warned(&w, k + 3, 1, false), "");
	world_close(&w);
}

TEST(kernels_at_time_0_without_duration_are_reported)
{
	static const struct kernel k[] = { { 0, 0, 1, 1, 0 },
					   { 0, 5, 1, 1, 0 },
					   { 0, 0, NONE, NONE, 0 } };
	struct world w;

	world_open(&w, 1);
	CHECK_STR(warned(&w, k, 1, false), "no-times:1 ");
	CHECK_STR(warned(&w, k, 3, false), "no-times:2 ");
	world_close(&w);
}

TEST(kernels_overlap_only_on_their_own_queue)
{
	static const struct kernel apart[] = { { 100, 50, 1, 1, 0 },
					       { 120, 50, 1, 2, 0 },
					       { 120, 50, 2, 1, 0 },
					       { 150, 50, 1, 1, 0 },
					       { 120, 50, NONE, 1, 0 } };
	static const struct kernel over[] = { { 100, 100, 1, 1, 0 },
					      { 120, 10, 1, 1, 0 },
					      { 140, 10, 1, 1, 0 },
					      { 200, 10, 1, 1, 0 } };
	struct world w;

	world_open(&w, 1);
	CHECK_STR(warned(&w, apart, 5, false), "");
	CHECK_STR(warned(&w, over, 4, false), "overlapping-kernels:2 ");
	world_close(&w);
}

TEST(queues_of_two_processes_are_two_queues)
{
	static const struct kernel k[] = { { 100, 100, 1, 1, 10 },
					   { 120, 100, 1, 1, 11 },
					   { 200, 100, 1, 1, 10 },
					   { 220, 100, 1, 1, 11 } };
	struct world w;

	world_open(&w, 1);
	CHECK_STR(warned(&w, k, 4, true), "");
	CHECK_STR(warned(&w, k, 4, false), "overlapping-kernels:3 ");
	world_close(&w);
}

TEST(overlaps_are_found_when_rows_are_out_of_order)
{
	enum { N = 20000 };
	struct kernel *k = calloc(N, sizeof(*k));
	uint64_t seed = 9;
	struct world w;

	/* one after the other, every hundredth over its neighbour, then stirred within 1000 rows */
	for (int i = 0; i < N; i++)
		k[i] = (struct kernel){ i * 100, i % 100 == 50 ? 150 : 100, 1, 1, 0 };
	for (int i = 0; i < N; i++) {
		int j = i / 1000 * 1000 + (int)(world_random(&seed) % 1000);
		struct kernel swap = k[i];

		k[i] = k[j];
		k[j] = swap;
	}
	world_open(&w, 1);
	CHECK_STR(warned(&w, k, N, false), "overlapping-kernels:200 ");
	world_close(&w);
	free(k);
}

TEST(rows_far_out_of_order_make_the_count_a_least_one)
{
	enum { N = 200000 };
	struct kernel *k = calloc(N, sizeof(*k));
	const struct rk_warning *list;
	struct world w;
	size_t n;

	for (int i = 0; i < N; i++)
		k[i] = (struct kernel){ (N - i) * 100, 150, 1, 1, 0 };
	world_open(&w, 1);
	warned(&w, k, N, false);
	CHECK(world_warned(&w, "overlapping-kernels") > 0);
	CHECK(world_warned(&w, "overlapping-kernels") < N);
	list = rk_diag_list(w.ctx.diag, &n);
	if (CHECK_U64(n, 1))
		CHECK(strstr(list[0].message, "a minimum") != NULL);
	world_close(&w);
	free(k);
}

TEST(times_at_the_ends_of_the_range_do_no_harm)
{
	static const struct kernel k[] = { { INT64_MAX, INT64_MAX, 1, 1, 0 },
					   { INT64_MIN + 1, INT64_MAX, 1, 1, 0 },
					   { INT64_MAX - 1, 1, 1, 1, 0 },
					   { -5, 10, INT64_MAX, INT64_MIN + 1, 0 } };
	struct world w;

	world_open(&w, 1);
	CHECK_STR(warned(&w, k, 4, false), "");
	world_close(&w);
}

TEST(more_queues_than_can_be_followed_do_no_harm)
{
	enum { N = 10000 };
	struct kernel *k = calloc(N, sizeof(*k));
	struct world w;

	for (int i = 0; i < N; i++)
		k[i] = (struct kernel){ i, 1, i % 5, i / 5, 0 };
	world_open(&w, 1);
	CHECK_STR(warned(&w, k, N, false), "");
	world_close(&w);
	free(k);
}

TEST(tables_without_durations_pass_through)
{
	struct rk_source *in, *out = NULL;
	struct list l = { .batch = 1 };
	struct world w;

	world_open(&w, 1);
	in = world_source(rk_table_schema(RK_COUNTERS), next_batch, &l);
	CHECK_I64(rk_times_open(in, &w.ctx, &out, NULL), 0);
	CHECK(in == out);
	CHECK_U64(rk_times_needs(RK_COUNTERS), 0);
	rk_source_close(in);
	world_close(&w);
}

TEST(times_survive_every_failed_allocation)
{
	for (uint64_t n = 1; n < 100; n++) {
		struct list l = { .batch = 1 };
		struct rk_source *s = NULL,
				 *in = world_source(rk_table_schema(RK_KERNELS), next_batch, &l);
		struct rk_error err = { 0 };
		struct world w;
		int rc;

		world_open(&w, 1);
		rk_alloc_fail_after(n);
		rc = rk_times_open(in, &w.ctx, &s, &err);
		if (rc == 0)
			rk_source_close(s);
		world_close(&w);
		if (!rk_alloc_failed()) {
			CHECK_I64(rc, 0);
			break;
		}
		CHECK_I64(rc, RK_E_NOMEM);
		CHECK_I64(err.code, RK_E_NOMEM);
	}
	rk_alloc_fail_after(0);
}
