/* rank_spread.c - kernels that take longer on one rank than on another. */
#include "ranks/rank_load.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "ranks_world.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static int spread_batch(struct world *w, struct rk_builder *b, size_t cells,
			struct rk_ranks_spread **ret, size_t *ret_n)
{
	struct rk_rank_spread *l = NULL;
	int rc = rk_rank_spread_new(&w->ctx, &l, &w->err);

	if (rc == 0 && cells)
		rk_rank_spread_limit(l, cells);
	if (rc == 0)
		rc = rk_rank_spread_add(l, rk_builder_batch(b), &w->err);
	if (rc == 0)
		rc = rk_rank_spread_finish(l, ret, ret_n, &w->err);
	rk_rank_spread_free(l);
	return rc;
}

static int spread(struct world *w, const struct rank_row *rows, size_t n, size_t cells,
		  struct rk_ranks_spread **ret, size_t *ret_n)
{
	struct rk_builder b;
	int rc;

	rank_world_batch(w, &b, rows, n);
	rc = spread_batch(w, &b, cells, ret, ret_n);
	rk_builder_release(&b);
	return rc;
}

static const char *text_of(struct world *w, const struct rk_ranks_spread *v, size_t n)
{
	rk_bytes_clear(&w->text);
	for (size_t i = 0; i < n; i++)
		rk_bytes_printf(&w->text, "%s: %llu ranks, %lld (%lld) to %lld (%lld), %g, %g\n",
				v[i].name, (unsigned long long)v[i].ranks, (long long)v[i].min_ns,
				(long long)v[i].min_rank, (long long)v[i].max_ns,
				(long long)v[i].max_rank, v[i].mean_ns, v[i].imbalance);
	return rk_bytes_str(&w->text);
}

static void gives(const struct rank_row *rows, size_t n, size_t cells, const char *want,
		  const char *warnings)
{
	struct rk_ranks_spread *v = NULL;
	struct world w;
	size_t k = 0;

	world_open(&w, 1);
	CHECK_I64(spread(&w, rows, n, cells, &v, &k), 0);
	CHECK_STR(text_of(&w, v, k), want);
	CHECK_STR(world_warnings(&w), warnings);
	rk_free(v);
	world_close(&w);
}

static const struct rank_row one_after_the_other[] = {
	{ 0, 0, 10, "gemm", false },
	{ 0, 10, 10, "gemm", false },
	{ 0, 20, 5, "add", false },
	{ 0, 30, 900, "ncclAllReduce", false },
	{ 0, 30, 9, "alone", false },
	{ 1, 0, 30, "gemm", false },
	{ 1, 0, 5, "add", false },
	{ 1, 0, 100, "barrier", true },
	{ 2, 0, 100, "gemm", false },
	{ 2, 0, 7, "add", false },
	{ 2, 0, NOT_KNOWN, "x", false },
	{ 2, 0, -7, "x", false },
	{ NOT_KNOWN, 0, 7, "x", false },
	{ 3, 0, 10, "gemm", false },
	{ 3, 0, 10, "ncclAllReduce", false },
};
static const char *const spreads = "gemm: 4 ranks, 10 (3) to 100 (2), 40, 1.5\n"
				   "add: 3 ranks, 5 (0) to 7 (2), 5.66667, 0.235294\n";

TEST(the_kernel_that_costs_most_on_one_rank_comes_first)
{
	gives(one_after_the_other, COUNT(one_after_the_other), 0, spreads, "");
}

TEST(ranks_one_after_the_other_need_no_more_memory_than_one)
{
	gives(one_after_the_other, COUNT(one_after_the_other), 3, spreads, "");
}

static const struct rank_row mixed[] = {
	{ 0, 0, 10, "gemm", false }, { 1, 0, 20, "gemm", false }, { 0, 0, 10, "gemm", false },
	{ 1, 0, 20, "gemm", false }, { 0, 0, 1, "add", false },   { 1, 0, 2, "add", false },
	{ 1, 9, 2, "add", false },   { 2, 9, 8, "other", false }, { 3, 9, 4, "other", false },
};

TEST(mixed_ranks_are_added_up_while_all_is_kept)
{
	gives(mixed, COUNT(mixed), 0,
	      "gemm: 2 ranks, 20 (0) to 40 (1), 30, 0.333333\n"
	      "other: 2 ranks, 4 (3) to 8 (2), 6, 0.333333\n"
	      "add: 2 ranks, 1 (0) to 4 (1), 2.5, 0.6\n",
	      "");
}

TEST(a_name_that_mixed_ranks_break_is_left_out_and_reported)
{
	gives(mixed, COUNT(mixed), 1, "other: 2 ranks, 4 (3) to 8 (2), 6, 0.333333\n",
	      "many-rank-names:2 ");
}

TEST(totals_stop_at_the_largest_number)
{
	static const struct rank_row r[] = { { 0, 0, INT64_MAX, "gemm", false },
					     { 0, 0, INT64_MAX, "gemm", false },
					     { 1, 0, 1, "gemm", false } };

	gives(r, COUNT(r), 0, "gemm: 2 ranks, 1 (1) to 9223372036854775807 (0), 4.61169e+18, 1\n",
	      "");
}

TEST(many_ranks_and_names_are_the_same_however_much_is_kept)
{
	enum { RANKS = 40, NAMES = 60, ROWS = 30 };
	static struct rank_row rows[RANKS * ROWS];
	static char names[NAMES][8];
	uint64_t seed = 7;
	struct world w;
	char *whole = NULL;

	for (size_t i = 0; i < NAMES; i++)
		snprintf(names[i], sizeof(names[i]), "k%zu", i);
	for (size_t i = 0; i < COUNT(rows); i++)
		rows[i] = (struct rank_row){ (int64_t)(i / ROWS), 0,
					     (int64_t)(world_random(&seed) % 1000),
					     names[world_random(&seed) % NAMES], false };
	world_open(&w, 1);
	for (size_t cells = 4096; cells; cells /= 4) {
		struct rk_ranks_spread *v = NULL;
		size_t k = 0;

		CHECK_I64(spread(&w, rows, COUNT(rows), cells, &v, &k), 0);
		if (!whole)
			whole = rk_strdup(text_of(&w, v, k));
		CHECK_U64(k, NAMES);
		CHECK_STR(text_of(&w, v, k), whole);
		rk_free(v);
	}
	CHECK_STR(world_warnings(&w), "");
	rk_free(whole);
	world_close(&w);
}

TEST(spreads_without_memory_fail_cleanly)
{
	bool failed = true;

	for (uint64_t n = 1; failed && n < 500; n++) {
		struct rk_ranks_spread *v = NULL;
		struct rk_builder b;
		struct world w;
		size_t k = 0;
		int rc;

		world_open(&w, 1);
		rank_world_batch(&w, &b, mixed, COUNT(mixed));
		rk_alloc_fail_after(n);
		rc = spread_batch(&w, &b, 2, &v, &k);
		failed = rk_alloc_failed();
		rk_alloc_fail_after(0);
		CHECK(rc < 0 ? rc == RK_E_NOMEM && !v : k > 0);
		rk_free(v);
		rk_builder_release(&b);
		world_close(&w);
	}
	CHECK(!failed);
}
