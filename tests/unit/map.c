/* map.c - the hash tables of base/map.h. */
#include "base/alloc.h"
#include "base/map.h"
#include "tap.h"

TEST(map_keeps_the_last_value_of_each_pair)
{
	struct rk_map m = { 0 };

	CHECK(rk_map_get(&m, 1, 2) == -1);
	for (uint32_t i = 0; i < 5000; i++)
		CHECK(rk_map_put(&m, i % 7, i, i));
	CHECK(rk_map_put(&m, 3, 10, 99));
	CHECK(m.n == 5000);
	for (uint32_t i = 0; i < 5000; i++)
		CHECK(rk_map_get(&m, i % 7, i) == (i == 10 ? 99 : (int64_t)i));
	CHECK(rk_map_get(&m, 1, 5000) == -1);
	CHECK(rk_map_get(&m, 10, 3) == -1); /* a pair has an order */
	rk_map_release(&m);
}

static uint32_t find(const struct rk_index *x, const uint64_t *rows, uint64_t key, uint64_t hash)
{
	size_t at;
	uint32_t i;

	for (i = rk_index_first(x, hash, &at); i != RK_INDEX_NONE; i = rk_index_next(x, hash, &at))
		if (rows[i] == key)
			return i;
	return RK_INDEX_NONE;
}

TEST(index_finds_rows_whose_hashes_collide)
{
	struct rk_index x = { 0 };
	uint64_t rows[3000] = { 0 };

	CHECK(find(&x, rows, 7, 0) == RK_INDEX_NONE);
	for (uint32_t i = 0; i < 3000; i++) {
		rows[i] = UINT64_C(1000003) * i;
		CHECK(rk_index_add(&x, rows[i] % 16, i));
	}
	for (uint32_t i = 0; i < 3000; i++)
		CHECK(find(&x, rows, rows[i], rows[i] % 16) == i);
	CHECK(find(&x, rows, 5, 5) == RK_INDEX_NONE);
	rk_index_release(&x);
}

TEST(map_and_index_survive_a_failed_allocation)
{
	struct rk_map m = { 0 };
	struct rk_index x = { 0 };
	uint64_t row = 42;

	CHECK(rk_map_put(&m, 1, 1, 5) && rk_index_add(&x, 42, 0));
	rk_alloc_fail_after(1);
	for (uint32_t i = 2; rk_map_put(&m, i, i, i); i++)
		;
	rk_alloc_fail_after(1);
	for (uint32_t i = 2; rk_index_add(&x, i + 100, i); i++)
		;
	rk_alloc_fail_after(0);
	CHECK(rk_map_get(&m, 1, 1) == 5);
	CHECK(find(&x, &row, 42, 42) == 0);
	rk_map_release(&m);
	rk_index_release(&x);
}
