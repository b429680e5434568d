/* rank_load.c - what ranks spent their time on. */
#include "ranks/rank_load.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "ranks_world.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define DAY INT64_C(86400000000000)

static int load_batch(struct world *w, struct rk_builder *b, size_t held, struct rk_load_line **ret,
		      size_t *ret_n)
{
	struct rk_rank_load *l = NULL;
	int rc = rk_rank_load_new(&w->ctx, &l, &w->err);

	if (rc == 0 && held)
		rk_rank_load_limit(l, held);
	if (rc == 0)
		rc = rk_rank_load_add(l, rk_builder_batch(b), &w->err);
	if (rc == 0)
		rc = rk_rank_load_finish(l, ret, ret_n, &w->err);
	rk_rank_load_free(l);
	return rc;
}

static int load(struct world *w, const struct rank_row *rows, size_t n, size_t held,
		struct rk_load_line **ret, size_t *ret_n)
{
	struct rk_builder b;
	int rc;

	rank_world_batch(w, &b, rows, n);
	rc = load_batch(w, &b, held, ret, ret_n);
	rk_builder_release(&b);
	return rc;
}

static const char *text_of(struct world *w, const struct rk_load_line *v, size_t n)
{
	rk_bytes_clear(&w->text);
	for (size_t i = 0; i < n; i++)
		rk_bytes_printf(&w->text,
				"%lld: %llu of %lld, %lld..%lld, compute %lld comm %lld both %lld "
				"idle %lld\n",
				(long long)v[i].rank, (unsigned long long)v[i].kernels,
				(long long)v[i].kernel_ns, (long long)v[i].first_ns,
				(long long)v[i].last_ns, (long long)v[i].compute_ns,
				(long long)v[i].comm_ns, (long long)v[i].both_ns,
				(long long)v[i].idle_ns);
	return rk_bytes_str(&w->text);
}

static void gives(const struct rank_row *rows, size_t n, const char *want, const char *warnings)
{
	struct rk_load_line *v = NULL;
	struct world w;
	size_t k = 0;

	world_open(&w, 1);
	CHECK_I64(load(&w, rows, n, 0, &v, &k), 0);
	CHECK_STR(text_of(&w, v, k), want);
	CHECK_STR(world_warnings(&w), warnings);
	rk_free(v);
	world_close(&w);
}

TEST(a_job_without_kernels_has_no_loads)
{
	struct rk_load_line *v = NULL;
	struct world w;
	size_t k = 1;

	world_open(&w, 1);
	CHECK_I64(load(&w, NULL, 0, 0, &v, &k), 0);
	CHECK_U64(k, 0);
	CHECK(isnan(rk_rank_load_imbalance(v, k)));
	rk_free(v);
	world_close(&w);
}

TEST(communication_under_compute_is_both_and_counts_once)
{
	static const struct rank_row r[] = {
		{ 0, 100, 100, "gemm", false },
		{ 0, 150, 100, "ncclAllReduce", false },
		{ 0, 160, 10, "add", false },
		{ 0, 300, 50, "gemm", false },
		{ 1, 1000, 50, "ncclAllReduce", false },
		{ 1, 1010, 20, "gemm", false },
	};

	gives(r, COUNT(r),
	      "0: 4 of 260, 100..350, compute 150 comm 100 both 50 idle 50\n"
	      "1: 2 of 70, 1000..1050, compute 20 comm 50 both 20 idle 0\n",
	      "");
}

TEST(rows_of_a_rank_may_come_in_any_order)
{
	static const struct rank_row r[] = {
		{ 7, 300, 50, "gemm", false },  { 7, 150, 100, "ncclAllReduce", false },
		{ 7, 160, 10, "add", false },   { 7, 100, 100, "gemm", false },
		{ 2, 5, 5, "gemm", false },     { 2, 0, 5, "gemm", false },
		{ 2, 20, 0, "nothing", false },
	};

	gives(r, COUNT(r),
	      "2: 3 of 10, 0..20, compute 10 comm 0 both 0 idle 10\n"
	      "7: 4 of 260, 100..350, compute 150 comm 100 both 50 idle 50\n",
	      "");
}

TEST(kernels_at_time_0_that_take_no_time_have_no_place)
{
	static const struct rank_row r[] = {
		{ 0, 100, 10, "gemm", false },
		{ 0, 0, 0, "lost", false },
		{ 0, 150, 10, "gemm", false },
	};

	gives(r, COUNT(r), "0: 3 of 20, 100..160, compute 20 comm 0 both 0 idle 40\n", "");
}

TEST(ranks_may_be_mixed_when_each_is_in_order)
{
	static const struct rank_row r[] = {
		{ 0, 0, 10, "gemm", false },  { 1, 5, 10, "gemm", false },
		{ 0, 20, 10, "gemm", false }, { 1, 5, 30, "ncclAllReduce", false },
		{ 0, 25, 10, "gemm", false }, { 1, 40, 1, "gemm", false },
	};

	gives(r, COUNT(r),
	      "0: 3 of 30, 0..35, compute 25 comm 0 both 0 idle 10\n"
	      "1: 3 of 41, 5..41, compute 11 comm 30 both 10 idle 5\n",
	      "");
}

TEST(a_mixed_rank_that_is_out_of_order_has_no_unions)
{
	static const struct rank_row r[] = {
		{ 0, 100, 10, "gemm", false }, { 1, 5, 10, "gemm", false },
		{ 0, 20, 10, "gemm", false },  { 1, 15, 10, "gemm", false },
		{ 0, 200, 1, "gemm", false },
	};

	gives(r, COUNT(r),
	      "0: 3 of 21, 20..201, compute -1 comm -1 both -1 idle -1\n"
	      "1: 2 of 20, 5..25, compute 20 comm 0 both 0 idle 0\n",
	      "rank-order:1 ");
}

TEST(rows_that_say_nothing_are_passed_over)
{
	static const struct rank_row r[] = {
		{ NOT_KNOWN, 100, 10, "gemm", false },
		{ -5, 100, 10, "gemm", false },
		{ 3, 0, 1000, "<barrier>", true },
		{ 3, NOT_KNOWN, 10, "gemm", false },
		{ 3, 10, NOT_KNOWN, "gemm", false },
		{ 3, 10, -4, "gemm", false },
		{ 3, 40, 2, "gemm", false },
		{ 3, INT64_MAX - 5, 10, "gemm", false },
		{ 3, INT64_MIN + 5, 10, "gemm", false },
		{ 4, NOT_KNOWN, 2, "gemm", false },
		{ 3, INT64_MAX / 2, 1, "gemm", false },
	};

	gives(r, COUNT(r),
	      "3: 7 of 2, 40..42, compute 2 comm 0 both 0 idle 0\n"
	      "4: 1 of 0, 0..0, compute 0 comm 0 both 0 idle 0\n",
	      "time-out-of-range:3 ");
}

TEST(loads_do_not_depend_on_what_the_clock_counts_from)
{
	static const int64_t shifts[] = { 0, 1700000000000000000, INT64_MAX - 100, INT64_MIN };
	static const char comm[] = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";

	for (size_t i = 0; i < COUNT(shifts); i++) {
		const struct rank_row r[] = {
			{ 3, shifts[i] + 10, 20, "gemm", false },
			{ 3, shifts[i] + 20, 30, comm, false },
			{ 3, shifts[i] + 60, 5, "gemm", false },
		};
		char want[200];

		snprintf(want, sizeof(want),
			 "3: 3 of 55, %" PRId64 "..%" PRId64
			 ", compute 25 comm 30 both 10 idle 10\n",
			 shifts[i] + 10, shifts[i] + 65);
		gives(r, COUNT(r), want, "");
	}
}

TEST(the_busiest_rank_makes_the_imbalance)
{
	static const struct rk_load_line v[] = { { .rank = 0, .compute_ns = 100 },
						 { .rank = 1, .compute_ns = -1 },
						 { .rank = 2, .compute_ns = 140 },
						 { .rank = 3, .compute_ns = 60 } };

	CHECK(fabs(rk_rank_load_imbalance(v, 4) - 0.4) < 1e-12);
	CHECK(isnan(rk_rank_load_imbalance(v + 1, 1)));
}

TEST(names_of_collectives_are_known)
{
	static const struct rank_row r[] = {
		{ 0, 0, 10, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", false },
		{ 0, 20, 10, "Cijk_Ailk_Bljk_gemm", false },
	};
	struct rk_load_line *v = NULL;
	struct rk_rank_load *l = NULL;
	struct rk_builder b;
	struct world w;
	size_t k = 0;

	world_open(&w, 1);
	rank_world_batch(&w, &b, r, COUNT(r));
	CHECK_I64(rk_rank_load_new(&w.ctx, &l, NULL), 0);
	CHECK_I64(rk_rank_load_add(l, rk_builder_batch(&b), NULL), 0);
	CHECK_I64(rk_rank_load_finish(l, &v, &k, NULL), 0);
	CHECK_STR(text_of(&w, v, k), "0: 2 of 20, 0..30, compute 10 comm 10 both 0 idle 10\n");
	rk_free(v);
	rk_rank_load_free(l);
	rk_builder_release(&b);
	world_close(&w);
}

enum { RANKS = 5, ROWS = 400, SPAN = 3000 };

/* Instant by instant. */
static struct rk_load_line plainly(const struct rank_row *r, size_t n, int64_t rank)
{
	static bool busy[2][SPAN + 100];
	struct rk_load_line line = { .rank = rank, .first_ns = SPAN };

	for (size_t k = 0; k < 2; k++)
		for (size_t t = 0; t < COUNT(busy[0]); t++)
			busy[k][t] = false;
	for (size_t i = 0; i < n; i++) {
		if (r[i].rank != rank)
			continue;
		line.kernels++;
		line.kernel_ns += r[i].duration;
		line.first_ns = r[i].start < line.first_ns ? r[i].start : line.first_ns;
		if (r[i].start + r[i].duration > line.last_ns)
			line.last_ns = r[i].start + r[i].duration;
		for (int64_t t = 0; t < r[i].duration; t++)
			busy[r[i].name[0] == 'n'][r[i].start + t] = true;
	}
	for (int64_t t = line.first_ns; t < line.last_ns; t++) {
		line.compute_ns += busy[0][t];
		line.comm_ns += busy[1][t];
		line.both_ns += busy[0][t] && busy[1][t];
		line.idle_ns += !busy[0][t] && !busy[1][t];
	}
	return line;
}

TEST(unions_are_what_counting_each_instant_gives)
{
	static struct rank_row rows[RANKS * ROWS];
	uint64_t seed = 42;

	for (unsigned round = 0; round < 20; round++) {
		struct rk_load_line *v = NULL, want[RANKS];
		char *expected;
		struct world w;
		size_t k = 0;

		for (size_t i = 0; i < COUNT(rows); i++)
			rows[i] = (struct rank_row){
				(int64_t)(i / ROWS),
				(int64_t)(1 + world_random(&seed) % (SPAN - 1)),
				(int64_t)(world_random(&seed) % (round + 1)),
				world_random(&seed) % 3 ? "gemm" : "ncclAllReduce", false
			};
		world_open(&w, 1);
		/* 64 held rows: most of a rank goes to the temporary file */
		CHECK_I64(load(&w, rows, COUNT(rows), 64, &v, &k), 0);
		for (int64_t i = 0; i < RANKS; i++)
			want[i] = plainly(rows, COUNT(rows), i);
		expected = rk_strdup(text_of(&w, want, RANKS));
		CHECK_STR(text_of(&w, v, k), expected);
		rk_free(expected);
		rk_free(v);
		world_close(&w);
	}
}

TEST(loads_without_memory_fail_cleanly)
{
	static struct rank_row rows[300];
	bool failed = true;

	for (size_t i = 0; i < COUNT(rows); i++)
		rows[i] = (struct rank_row){ (int64_t)(i / 100), (int64_t)(1000 - i), 5,
					     i % 2 ? "gemm" : "ncclAllReduce", false };
	for (uint64_t n = 1; failed && n < 500; n++) {
		struct rk_load_line *v = NULL;
		struct rk_builder b;
		struct world w;
		size_t k = 0;
		int rc;

		world_open(&w, 1);
		rank_world_batch(&w, &b, rows, COUNT(rows));
		rk_alloc_fail_after(n);
		rc = load_batch(&w, &b, 64, &v, &k);
		failed = rk_alloc_failed();
		rk_alloc_fail_after(0);
		if (rc < 0)
			CHECK(rc == RK_E_NOMEM && !v);
		else
			CHECK(k == 3 && v[0].compute_ns > 0);
		rk_free(v);
		rk_builder_release(&b);
		world_close(&w);
	}
	CHECK(!failed);
}
