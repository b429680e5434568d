/* aggregate.c - rows with equal names added up. */
#include "table/aggregate.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "tap.h"

static const struct rk_agg_fields plain = { RK_K_NAME, RK_K_START, RK_K_DURATION, -1,
					    RK_K_BARRIER };
static const struct rk_agg_fields by_device = { RK_K_NAME, RK_K_START, RK_K_DURATION, RK_K_DEVICE,
						RK_K_BARRIER };

struct event {
	const char *name;
	int64_t start, dur; /* dur below -1: null */
	int64_t device;     /* -1: null */
	int barrier;
};

struct world {
	struct rk_context ctx;
	struct rk_builder rows;
	struct rk_agg *agg;
	struct rk_agg_row *got;
	size_t n;
};

static void world_open(struct world *w, const struct rk_agg_fields *f)
{
	*w = (struct world){ .agg = NULL };
	CHECK(rk_strtab_new(1 << 20, &w->ctx.names, NULL) == 0);
	CHECK(rk_diag_new(&w->ctx.diag, NULL) == 0);
	CHECK(rk_builder_init(&w->rows, rk_table_schema(RK_KERNELS), 1024, NULL) == 0);
	CHECK(rk_agg_new(f, &w->ctx, &w->agg, NULL) == 0);
}

static void world_close(struct world *w)
{
	rk_free(w->got);
	rk_agg_free(w->agg);
	rk_builder_release(&w->rows);
	rk_diag_free(w->ctx.diag);
	rk_strtab_free(w->ctx.names);
}

static void fill(struct world *w, const struct event *ev, size_t n)
{
	uint32_t *name = rk_builder_column(&w->rows, RK_K_NAME);
	int64_t *start = rk_builder_column(&w->rows, RK_K_START);
	int64_t *dur = rk_builder_column(&w->rows, RK_K_DURATION);
	int64_t *device = rk_builder_column(&w->rows, RK_K_DEVICE);
	uint8_t *barrier = rk_builder_column(&w->rows, RK_K_BARRIER);

	rk_builder_reset(&w->rows);
	for (size_t i = 0; i < n; i++) {
		rk_strtab_add(w->ctx.names, ev[i].name, strlen(ev[i].name), &name[i], NULL);
		start[i] = ev[i].start;
		dur[i] = ev[i].dur;
		if (ev[i].dur < -1)
			rk_builder_null(&w->rows, RK_K_DURATION, i);
		device[i] = ev[i].device;
		if (ev[i].device < 0)
			rk_builder_null(&w->rows, RK_K_DEVICE, i);
		barrier[i] = (uint8_t)ev[i].barrier;
	}
	w->rows.nrows = n;
}

static int add(struct world *w, const struct event *ev, size_t n, struct rk_error *err)
{
	fill(w, ev, n);
	return rk_agg_add(w->agg, rk_builder_batch(&w->rows), err);
}

static const char *name_of(const struct world *w, size_t i)
{
	return rk_strtab_borrow(w->ctx.names, w->got[i].name, NULL);
}

TEST(groups_are_sorted_by_total_then_by_name)
{
	const struct event ev[] = {
		{ "b", 10, 5, 0, 0 },
		{ "a", 20, 5, 0, 0 },
		{ "c", 30, 4, 0, 0 },
		{ "c", 40, 6, 0, 0 },
	};
	struct world w;

	world_open(&w, &plain);
	CHECK(add(&w, ev, 4, NULL) == 0);
	CHECK(rk_agg_finish(w.agg, &w.got, &w.n, NULL) == 0);
	CHECK_U64(w.n, 3);
	CHECK_STR(name_of(&w, 0), "c");
	CHECK_STR(name_of(&w, 1), "a");
	CHECK_STR(name_of(&w, 2), "b");
	CHECK_U64(w.got[0].calls, 2);
	CHECK_I64(w.got[0].total_ns, 10);
	CHECK_I64(w.got[0].min_ns, 4);
	CHECK_I64(w.got[0].max_ns, 6);
	CHECK(w.got[0].mean_ns == 5);
	CHECK(w.got[0].median_ns == 5);
	CHECK(w.got[0].median_exact);
	CHECK(w.got[0].stddev_ns == 1);
	CHECK_U64(rk_agg_rows(w.agg), 4);
	world_close(&w);
}

TEST(rows_without_times_count_as_calls_only)
{
	const struct event ev[] = {
		{ "a", 10, -2, 0, 0 },
		{ "a", 20, 7, 0, 0 },
		{ "a", 30, -1, 0, 0 },
		{ "b", 40, -2, 0, 0 },
	};
	struct rk_agg_span span;
	struct world w;

	world_open(&w, &plain);
	CHECK(add(&w, ev, 4, NULL) == 0);
	CHECK(rk_agg_finish(w.agg, &w.got, &w.n, NULL) == 0);
	CHECK_U64(w.got[0].calls, 3);
	CHECK_U64(w.got[0].timed, 1);
	CHECK_I64(w.got[0].min_ns, 7);
	CHECK_U64(w.got[1].timed, 0);
	CHECK(isnan(w.got[1].mean_ns) && isnan(w.got[1].median_ns));
	span = rk_agg_span(w.agg);
	CHECK(span.known);
	CHECK_I64(span.start_ns, 20);
	CHECK_I64(span.end_ns, 27);
	world_close(&w);
}

TEST(rows_at_0_that_take_no_time_are_part_of_the_span_only_when_alone)
{
	const struct event ev[] = { { "a", 0, 0, 0, 0 }, { "a", 20, 7, 0, 0 } };
	struct rk_agg_span span;
	struct world w;

	world_open(&w, &plain);
	CHECK(!rk_agg_span(w.agg).known);
	CHECK(add(&w, ev, 1, NULL) == 0);
	span = rk_agg_span(w.agg);
	CHECK(span.known && !span.start_ns && !span.end_ns);
	CHECK(add(&w, ev, 2, NULL) == 0);
	span = rk_agg_span(w.agg);
	CHECK(span.known);
	CHECK_I64(span.start_ns, 20);
	CHECK_I64(span.end_ns, 27);
	world_close(&w);
}

TEST(keys_split_groups_and_a_missing_key_is_its_own)
{
	const struct event ev[] = {
		{ "a", 1, 10, 0, 0 }, { "a", 1, 20, 1, 0 }, { "a", 1, 5, -1, 0 },
		{ "a", 1, 11, 0, 0 }, { "b", 1, 1, 1, 0 },
	};
	struct world w;

	world_open(&w, &by_device);
	CHECK(add(&w, ev, 5, NULL) == 0);
	CHECK(rk_agg_finish(w.agg, &w.got, &w.n, NULL) == 0);
	CHECK_U64(w.n, 4);
	CHECK_I64(w.got[0].total_ns, 21);
	CHECK(w.got[0].keyed);
	CHECK_I64(w.got[0].key, 0);
	CHECK_I64(w.got[1].key, 1);
	CHECK(!w.got[2].keyed);
	world_close(&w);
}

TEST(a_barrier_packet_marks_its_group)
{
	const struct event ev[] = { { "<barrier packet>", 1, 10, 0, 1 }, { "k", 1, 5, 0, 0 } };
	struct world w;

	world_open(&w, &plain);
	CHECK(add(&w, ev, 2, NULL) == 0);
	CHECK(rk_agg_finish(w.agg, &w.got, &w.n, NULL) == 0);
	CHECK(w.got[0].barrier);
	CHECK(!w.got[1].barrier);
	world_close(&w);
}

TEST(spread_of_large_and_close_durations_is_exact)
{
	const int64_t far = INT64_C(1) << 60;
	const struct event ev[] = { { "a", 0, far + 1, 0, 0 },
				    { "a", 0, far + 3, 0, 0 },
				    { "a", 0, far + 5, 0, 0 },
				    { "b", 0, 1, 0, 0 },
				    { "b", 0, 2, 0, 0 } };
	struct world w;

	world_open(&w, &plain);
	CHECK(add(&w, ev, 5, NULL) == 0);
	CHECK(rk_agg_finish(w.agg, &w.got, &w.n, NULL) == 0);
	CHECK(fabs(w.got[0].stddev_ns - sqrt(8.0 / 3)) < 1e-12);
	CHECK(w.got[1].stddev_ns == 0.5);
	world_close(&w);
}

TEST(totals_past_int64_stop_there_and_say_so)
{
	const struct event ev[] = { { "a", 0, INT64_MAX, 0, 0 },
				    { "a", 0, INT64_MAX, 0, 0 },
				    { "a", 0, INT64_MAX, 0, 0 },
				    { "a", 0, INT64_MAX, 0, 0 },
				    { "a", 0, INT64_MAX, 0, 0 } };
	const struct rk_warning *warn;
	struct world w;
	size_t n;

	world_open(&w, &plain);
	CHECK(add(&w, ev, 5, NULL) == 0);
	CHECK(rk_agg_finish(w.agg, &w.got, &w.n, NULL) == 0);
	CHECK_I64(w.got[0].total_ns, INT64_MAX);
	CHECK(isnan(w.got[0].stddev_ns));
	CHECK(w.got[0].mean_ns > 9e18);
	warn = rk_diag_list(w.ctx.diag, &n);
	CHECK_U64(n, 1);
	CHECK_STR(n ? warn[0].kind : "", "total-overflow");
	world_close(&w);
}

TEST(names_past_the_group_limit_share_one_group)
{
	const struct event ev[] = { { "a", 0, 100, 0, 0 },
				    { "b", 0, 50, 0, 0 },
				    { "c", 0, 1, 0, 0 },
				    { "d", 0, 2, 0, 0 },
				    { "a", 0, 1, 0, 0 } };
	const struct rk_agg_fields *both[] = { &plain, &by_device };

	for (size_t i = 0; i < 2; i++) {
		const struct rk_warning *warn;
		struct world w;
		size_t n;

		world_open(&w, both[i]);
		rk_agg_limit(w.agg, 1000, 2);
		CHECK(add(&w, ev, 5, NULL) == 0);
		CHECK(rk_agg_finish(w.agg, &w.got, &w.n, NULL) == 0);
		CHECK_U64(w.n, 3);
		CHECK_I64(w.got[0].total_ns, 101);
		CHECK_STR(name_of(&w, 2), "(names past the limit)");
		CHECK_U64(w.got[2].calls, 2);
		warn = rk_diag_list(w.ctx.diag, &n);
		CHECK_STR(n ? warn[0].kind : "", "group-limit");
		CHECK_U64(n ? warn[0].count : 0, 2);
		world_close(&w);
	}
}

TEST(medians_are_near_past_the_exact_limit)
{
	enum { N = 1000 };
	static struct event ev[N];
	struct world w;

	for (int64_t i = 0; i < N; i++)
		ev[i] = (struct event){ i % 2 ? "a" : "b", 0, 100000 + (i * 7919) % N * 50, 0, 0 };
	world_open(&w, &plain);
	rk_agg_limit(w.agg, N / 2, 100);
	CHECK(add(&w, ev, N, NULL) == 0);
	CHECK(rk_agg_finish(w.agg, &w.got, &w.n, NULL) == 0);
	for (size_t i = 0; i < w.n; i++) {
		CHECK(!w.got[i].median_exact);
		CHECK(fabs(w.got[i].median_ns - 125000) < 125000 * (RK_MEDIAN_ERROR + 0.001));
	}
	world_close(&w);
}

TEST(statistics_lines_add_up_and_lose_their_spread)
{
	struct rk_agg_line line = {
		.calls = 2, .total_ns = 10, .min_ns = 4, .max_ns = 6, .stddev_ns = 1
	};
	struct world w;

	world_open(&w, &plain);
	CHECK(rk_agg_add_line(w.agg, &line, NULL) == 0);
	CHECK(rk_agg_finish(w.agg, &w.got, &w.n, NULL) == 0);
	CHECK(w.got[0].stddev_ns == 1);
	CHECK(isnan(w.got[0].median_ns));
	CHECK(w.got[0].mean_ns == 5);
	rk_free(w.got);
	line.min_ns = -1;
	line.max_ns = -1;
	CHECK(rk_agg_add_line(w.agg, &line, NULL) == 0);
	CHECK(rk_agg_finish(w.agg, &w.got, &w.n, NULL) == 0);
	CHECK_U64(w.got[0].calls, 4);
	CHECK_I64(w.got[0].min_ns, 4);
	CHECK_I64(w.got[0].max_ns, 6);
	CHECK(isnan(w.got[0].stddev_ns));
	world_close(&w);
}

TEST(aggregation_survives_each_failed_allocation)
{
	static const struct event ev[] = {
		{ "a", 0, 1, 0, 0 },   { "b", 0, INT64_C(6000000000), 1, 0 },
		{ "c", 0, 3, 2, 0 },   { "a", 0, 4, 3, 0 },
		{ "e", 0, 300, 0, 0 }, { "f", 0, 9, 1, 0 },
	};
	const struct rk_agg_fields *both[] = { &plain, &by_device };

	for (uint64_t n = 1;; n++) {
		bool failed = false;

		for (size_t i = 0; i < 2; i++) {
			struct rk_error err = { 0 };
			struct world w;
			int rc;

			world_open(&w, both[i]);
			rk_agg_limit(w.agg, 4, 3);
			fill(&w, ev, 6);
			rk_builder_batch(&w.rows);
			rk_alloc_fail_after(n);
			rc = rk_agg_add(w.agg, &w.rows.batch, &err);
			if (rc == 0)
				rc = rk_agg_finish(w.agg, &w.got, &w.n, &err);
			CHECK(rc == (rk_alloc_failed() && rc ? RK_E_NOMEM : 0));
			CHECK_I64(err.code, rc);
			failed |= rk_alloc_failed();
			rk_alloc_fail_after(0);
			world_close(&w);
		}
		if (!failed || n > 200)
			break;
	}
}
