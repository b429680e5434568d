/* diag.c - warnings: counted by kind and file, from any thread, never too many. */
#include "base/diag.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/pool.h"
#include "tap.h"

TEST(warnings_of_one_kind_and_file_are_one_entry)
{
	const struct rk_warning *list;
	struct rk_diag *d = NULL;
	size_t n;

	CHECK_I64(rk_diag_new(&d, NULL), 0);
	rk_diag_add(d, "short-row", "a.csv", 7, 2, "first %d", 1);
	rk_diag_add(d, "short-row", "b.csv", 9, 1, "other file");
	rk_diag_add(d, "short-row", "a.csv", 3, 5, "second");
	rk_diag_add(d, "long-row", "a.csv", 0, 1, "no line");
	rk_diag_add(d, "long-row", "a.csv", 4, 1, "a line");
	list = rk_diag_list(d, &n);
	if (CHECK_U64(n, 3)) {
		CHECK_STR(list[0].kind, "short-row");
		CHECK_STR(list[0].file, "a.csv");
		CHECK_U64(list[0].count, 7);
		CHECK_U64(list[0].line, 3);
		CHECK_STR(list[0].message, "first 1");
		CHECK_U64(list[2].line, 4);
	}
	rk_diag_reset(d, 1);
	rk_diag_list(d, &n);
	CHECK_U64(n, 1);
	rk_diag_free(d);
	rk_diag_free(NULL);
}

TEST(endless_warnings_take_a_bounded_place)
{
	const struct rk_warning *list;
	struct rk_diag *d = NULL;
	uint64_t count = 0;
	char file[32];
	size_t n;

	CHECK_I64(rk_diag_new(&d, NULL), 0);
	for (int i = 0; i < 5000; i++) {
		snprintf(file, sizeof(file), "%d.csv", i);
		rk_diag_add(d, "short-row", file, 1, 1, "m");
	}
	list = rk_diag_list(d, &n);
	CHECK(n <= 1000);
	for (size_t i = 0; i < n; i++)
		count += list[i].count;
	CHECK_U64(count, 5000);
	rk_diag_free(d);
}

TEST(a_long_message_is_cut_not_overrun)
{
	struct rk_diag *d = NULL;
	char text[2000];
	size_t n;

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	CHECK_I64(rk_diag_new(&d, NULL), 0);
	rk_diag_add(d, "k", "f", 1, 1, "%s", text);
	CHECK_U64(strlen(rk_diag_list(d, &n)->message), 511);
	rk_diag_free(d);
}

static void add_some(void *arg, size_t i, unsigned worker)
{
	(void)worker;
	for (int k = 0; k < 100; k++)
		rk_diag_add(arg, i % 2 ? "odd" : "even", "f", 1 + i, 1, "m");
}

TEST(warnings_are_counted_from_any_thread)
{
	struct rk_pool *pool = NULL;
	struct rk_diag *d = NULL;
	size_t n;

	CHECK_I64(rk_pool_new(3, &pool, NULL), 0);
	CHECK_I64(rk_diag_new(&d, NULL), 0);
	rk_pool_run(pool, 50, add_some, d);
	CHECK_U64(rk_diag_list(d, &n)[0].count, 2500);
	CHECK_U64(n, 2);
	CHECK_U64(rk_diag_list(d, &n)[1].count, 2500);
	rk_diag_free(d);
	rk_pool_free(pool);
}

TEST(a_warning_lost_to_memory_does_no_harm)
{
	struct rk_diag *d = NULL;
	size_t n;

	CHECK_I64(rk_diag_new(&d, NULL), 0);
	for (uint64_t k = 1; k < 6; k++) {
		rk_alloc_fail_after(k);
		rk_diag_add(d, "kind", "file", 1, 1, "m");
	}
	rk_alloc_fail_after(0);
	rk_diag_add(d, "kind", "file", 1, 1, "m");
	rk_diag_list(d, &n);
	CHECK_U64(n, 1);
	rk_diag_free(d);
}

TEST(what_was_warned_of_is_not_counted_again)
{
	const struct rk_warning *list;
	struct rk_diag *d = NULL;
	size_t n;

	CHECK(rk_diag_new(&d, NULL) == 0);
	rk_diag_add(d, "short-row", "a", 3, 2, "x");
	rk_diag_again(d);
	rk_diag_add(d, "short-row", "a", 3, 2, "x");
	rk_diag_add(d, "short-row", "b", 1, 5, "y");
	rk_diag_add(d, "short-row", "b", 1, 5, "y");
	list = rk_diag_list(d, &n);
	CHECK_U64(n, 2);
	CHECK_U64(list[0].count, 2);
	CHECK_U64(list[1].count, 10);
	rk_diag_free(d);
}
