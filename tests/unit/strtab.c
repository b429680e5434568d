/* strtab.c - equal text, equal id, from any number of threads. */
#include "base/strtab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/pool.h"
#include "tap.h"

static uint32_t add(struct rk_strtab *t, const char *text, size_t len)
{
	uint32_t id = UINT32_MAX;

	CHECK_I64(rk_strtab_add(t, text, len, &id, NULL), 0);
	return id;
}

TEST(equal_texts_have_equal_ids_in_order_of_appearance)
{
	struct rk_strtab *t = NULL;
	size_t len;

	CHECK_I64(rk_strtab_new(1 << 20, &t, NULL), 0);
	CHECK_U64(add(t, "", 0), 0);
	CHECK_U64(add(t, NULL, 0), 0);
	CHECK_U64(add(t, "a", 1), 1);
	CHECK_U64(add(t, "b", 1), 2);
	CHECK_U64(add(t, "a", 1), 1);
	CHECK_U64(add(t, "ab", 1), 1); /* the length counts */
	CHECK_U64(add(t, "a\0b", 3), 3);
	CHECK_U64(add(t, "a\0c", 3), 4);
	CHECK_U64(add(t, "\xff\xfe", 2), 5);
	CHECK_MEM(rk_strtab_borrow(t, 3, &len), "a\0b", 4); /* terminated */
	CHECK_U64(len, 3);
	CHECK_STR(rk_strtab_borrow(t, 0, &len), "");
	CHECK_U64(rk_strtab_count(t), 6);
	CHECK(!rk_strtab_overflowed(t));
	rk_strtab_free(t);
	rk_strtab_free(NULL);
}

TEST(many_texts_keep_their_ids_while_the_table_grows)
{
	enum { N = 100000 };
	struct rk_strtab *t = NULL;
	char text[64];

	CHECK_I64(rk_strtab_new(64 << 20, &t, NULL), 0);
	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < N; i++) {
			int len =
				snprintf(text, sizeof(text), "%*skernel_%u", (int)(i % 29), "", i);

			if (!CHECK_U64(add(t, text, (size_t)len), i + 1))
				break;
		}
	}
	CHECK_STR(rk_strtab_borrow(t, 59, NULL), "kernel_58");
	rk_strtab_free(t);
}

TEST(a_full_table_gives_placeholders_and_says_so)
{
	struct rk_strtab *t = NULL;
	char text[200];
	uint32_t first, again;

	memset(text, 'x', sizeof(text));
	CHECK_I64(rk_strtab_new(20000, &t, NULL), 0);
	for (int i = 0; i < 20000; i++) {
		snprintf(text, 20, "%d", i);
		text[strlen(text)] = 'x';
		add(t, text, sizeof(text));
	}
	CHECK(rk_strtab_overflowed(t));
	CHECK(rk_strtab_count(t) < 5000);
	/* the same text has the same stand-in, and the first texts are still there */
	memcpy(text, "99999", 5);
	first = add(t, text, sizeof(text));
	again = add(t, text, sizeof(text));
	CHECK_U64(first, again);
	CHECK(!strncmp(rk_strtab_borrow(t, first, NULL), "(name table full) #", 19));
	CHECK_U64(add(t, "", 0), 0);
	rk_strtab_free(t);
	/* a text longer than the whole table */
	CHECK_I64(rk_strtab_new(100, &t, NULL), 0);
	first = add(t, text, sizeof(text));
	CHECK(!strncmp(rk_strtab_borrow(t, first, NULL), "(name table full) #", 19));
	rk_strtab_free(t);
}

enum { TASKS = 64, TEXTS = 3000 };

struct many {
	struct rk_strtab *t;
	uint32_t (*ids)[TEXTS];
};

static void add_many(void *arg, size_t i, unsigned worker)
{
	struct many *m = arg;
	char text[64];

	(void)worker;
	for (unsigned k = 0; k < TEXTS; k++) {
		unsigned n = (unsigned)(k * 7 + i * 13) % TEXTS;
		int len = snprintf(text, sizeof(text), "text number %u", n);

		if (rk_strtab_add(m->t, text, (size_t)len, &m->ids[i][n], NULL) < 0)
			m->ids[i][n] = UINT32_MAX;
	}
}

TEST(threads_that_add_the_same_texts_get_the_same_ids)
{
	struct many m = { 0 };
	struct rk_pool *pool = NULL;
	char text[64];

	m.ids = calloc(TASKS, sizeof(*m.ids));
	CHECK_I64(rk_strtab_new(8 << 20, &m.t, NULL), 0);
	CHECK_I64(rk_pool_new(4, &pool, NULL), 0);
	rk_pool_run(pool, TASKS, add_many, &m);
	CHECK_U64(rk_strtab_count(m.t), TEXTS + 1);
	for (unsigned k = 0; k < TEXTS; k++) {
		snprintf(text, sizeof(text), "text number %u", k);
		CHECK_STR(rk_strtab_borrow(m.t, m.ids[0][k], NULL), text);
		for (unsigned i = 1; i < TASKS; i++)
			if (m.ids[i][k] != m.ids[0][k] && !CHECK_U64(m.ids[i][k], m.ids[0][k]))
				break;
	}
	rk_pool_free(pool);
	rk_strtab_free(m.t);
	free(m.ids);
}

TEST(a_table_survives_every_failed_allocation)
{
	for (uint64_t n = 1; n < 200; n++) {
		struct rk_strtab *t = NULL;
		struct rk_error err = { 0 };
		uint32_t id;
		int rc;

		rk_alloc_fail_after(n);
		rc = rk_strtab_new(1 << 20, &t, &err);
		for (unsigned i = 0; rc == 0 && i < 3000; i++) {
			char text[32];

			rc = rk_strtab_add(t, text, (size_t)snprintf(text, 32, "%u", i), &id, &err);
		}
		rk_strtab_free(t);
		if (!rk_alloc_failed()) {
			CHECK_I64(rc, 0);
			break;
		}
		CHECK_I64(rc, RK_E_NOMEM);
		CHECK_I64(err.code, RK_E_NOMEM);
	}
	rk_alloc_fail_after(0);
}
