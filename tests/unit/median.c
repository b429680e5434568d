/* median.c - the middle of many durations. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "table/median.h"
#include "tap.h"

static double middle(const int64_t *v, size_t n, bool fold)
{
	struct rk_durations_store store = { .max_pages = RK_MEDIAN_MAX_PAGES };
	struct rk_durations m = { 0 };
	double got = -1;

	for (size_t i = 0; i < n; i++)
		CHECK(rk_durations_add(&store, &m, v[i]));
	if (fold) {
		store.folded = true;
		CHECK(rk_durations_fold(&store, &m));
	}
	CHECK(rk_durations_settle(&store, &m));
	if (!rk_durations_median(&m, &got))
		got = -1;
	rk_durations_release(&m);
	return got;
}

static int ascending(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static double sorted_middle(int64_t *v, size_t n)
{
	qsort(v, n, sizeof(*v), ascending);
	return (double)v[(n - 1) / 2] + (double)(v[n / 2] - v[(n - 1) / 2]) / 2;
}

TEST(median_of_nothing_is_not_known)
{
	CHECK(middle(NULL, 0, false) == -1);
}

TEST(median_of_odd_and_even_counts)
{
	const int64_t v[] = { 9, 1, 5, 7 };

	CHECK(middle(v, 1, false) == 9);
	CHECK(middle(v, 2, false) == 5);
	CHECK(middle(v, 3, false) == 5);
	CHECK(middle(v, 4, false) == 6);
}

TEST(median_counts_equal_values_each)
{
	const int64_t v[] = { 4, 4, 4, 8, 0, 4 };

	CHECK(middle(v, 6, false) == 4);
}

TEST(median_of_wide_and_narrow_durations)
{
	const int64_t big = INT64_C(5000000000);
	const int64_t v[] = { 10, big, 30, big + 7, INT64_MAX };

	CHECK(middle(v, 2, false) == (double)(big + 10) / 2);
	CHECK(middle(v, 4, false) == (double)(big + 30) / 2);
	CHECK(middle(v, 5, false) == (double)big);
	CHECK(middle(v + 3, 2, false) == (double)(big + 7) + (double)(INT64_MAX - big - 7) / 2);
}

TEST(median_is_that_of_the_sorted_values)
{
	enum { N = 3000 };
	static int64_t v[N];
	uint64_t x = 88172645463325252u;

	for (size_t n = 1; n < N; n = n * 3 / 2 + 1) {
		double got, want;

		for (size_t i = 0; i < n; i++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			v[i] = (int64_t)(x >> (20 + x % 44));
		}
		got = middle(v, n, false);
		want = sorted_middle(v, n);
		CHECK(got == want);
		got = middle(v, n, true);
		CHECK(fabs(got - want) <= want * RK_MEDIAN_ERROR);
	}
}

TEST(median_goes_on_after_the_fold)
{
	struct rk_durations_store store = { .max_pages = RK_MEDIAN_MAX_PAGES };
	struct rk_durations m = { 0 };
	double got = 0;

	for (int64_t i = 0; i < 101; i++) {
		if (i == 4) {
			store.folded = true;
			CHECK(rk_durations_fold(&store, &m));
		}
		CHECK(rk_durations_add(&store, &m, i * 1000));
	}
	CHECK(rk_durations_settle(&store, &m));
	CHECK(rk_durations_median(&m, &got));
	CHECK(fabs(got - 50000) <= 50000 * RK_MEDIAN_ERROR);
	CHECK_U64(m.n, 101);
	CHECK_I64(m.min, 0);
	CHECK_I64(m.max, 100000);
	CHECK(m.sum == 5050000);
	rk_durations_release(&m);
}

TEST(median_is_lost_when_the_histograms_are_full)
{
	struct rk_durations_store store = { .max_pages = 1, .folded = true };
	struct rk_durations a = { 0 }, b = { 0 };
	double got;

	CHECK(rk_durations_add(&store, &a, 100));
	CHECK(rk_durations_add(&store, &b, 100));
	CHECK(rk_durations_settle(&store, &a));
	CHECK(rk_durations_settle(&store, &b));
	CHECK(rk_durations_median(&a, &got) && got == 100);
	CHECK(!rk_durations_median(&b, &got));
	rk_durations_release(&a);
	rk_durations_release(&b);
}
