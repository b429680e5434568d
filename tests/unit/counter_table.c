/* counter_table.c - the table of counters: the shipped one, and damaged ones. */
#include "counters/counter_table.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/data.h"
#include "tap.h"
#include "world.h"

static int parse(const char *text, struct rk_counter_table **ret, struct rk_error *err)
{
	*ret = NULL;
	return rk_counter_table_parse(text, strlen(text), ret, err);
}

static const char head[] = "target gfx1 one Alpha\ntarget gfx2 two\ngroup both gfx1 gfx2\n"
			   "limit one SQ=3\n";

TEST(lines_of_a_table_mean_what_its_head_says)
{
	struct rk_counter_table *t;
	struct rk_error err = { 0 };
	char text[1024];
	const struct rk_counter_target *one, *two;
	const struct rk_counter_entry *e;

	snprintf(text, sizeof(text),
		 "%sconstant k | a constant\nA | SQ + | both | text of A # no\n"
		 "D | = A | gfx1 | here\nD | = A@LOW B | gfx2 | there\nB | XX | gfx2 | b\n",
		 head);
	CHECK_I64(parse(text, &t, &err), 0);
	if (!t)
		return;
	CHECK(rk_counter_table_at(t, 5) && !rk_counter_table_at(t, 6));
	one = rk_counter_table_target_find(t, "alpha");
	two = rk_counter_table_target_find(t, "gfx2");
	CHECK_U64(one->ncounters, 4);
	CHECK_U64(two->ncounters, 5);
	CHECK_U64(rk_counter_table_limit(t, one, "SQ"), 3);
	CHECK_U64(rk_counter_table_limit(t, two, "SQ"), RK_BLOCK_LIMIT_UNKNOWN);
	e = rk_counter_table_find(t, two, rk_piece_of("D"));
	CHECK_STR(e->pub.needs[0], "A");
	CHECK_U64(e->accumulate[0], RK_ACCUMULATE_LOW);
	CHECK_STR(e->pub.needs[1], "B");
	CHECK_STR(e->pub.description, "there");
	e = rk_counter_table_find(t, one, rk_piece_of("A_sum"));
	CHECK_STR(e->pub.description, "text of A, all instances");
	CHECK(rk_counter_table_find(t, one, rk_piece_of("B")) == NULL);
	CHECK(rk_counter_table_any(t, rk_piece_of("A_")) == NULL);
	CHECK(rk_counter_table_target_find(t, "gfx3") == NULL);
	rk_counter_table_free(t);
}

TEST(a_damaged_table_is_refused)
{
	static const struct {
		const char *text;
		uint64_t line;
	} bad[] = {
		{ "target gfx3", 5 },
		{ "target 3 one", 5 },
		{ "group x gfx9", 5 },
		{ "group", 5 },
		{ "limit one SQ", 5 },
		{ "limit one SQ=0", 5 },
		{ "limit one SQ=65", 5 },
		{ "limit", 5 },
		{ "constant k", 5 },
		{ "\nA | SQ | gfx1", 6 },
		{ "A | SQ | gfx9 | x", 5 },
		{ "A | SQ |  | x", 5 },
		{ "A | | gfx1 | x", 5 },
		{ "A | SQ | gfx1 | x\nA | SQ | both | y", 0 },
		{ "A | SQ | gfx1 | x\nD | = A | both | y", 0 },
		{ "D | = E | gfx1 | y", 0 },
		{ "A | SQ + | gfx1 | x\nD | = A_sum | gfx1 | y", 0 },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct rk_counter_table *t;
		struct rk_error err = { 0 };
		char text[512];

		snprintf(text, sizeof(text), "%s%s\n", head, bad[i].text);
		CHECK_I64(parse(text, &t, &err), RK_E_FORMAT);
		CHECK_U64(err.line, bad[i].line);
		CHECK(t == NULL);
	}
}

TEST(any_beginning_of_the_shipped_table_and_any_bent_letter_is_safe)
{
	const struct rk_data_file *f = rk_data_find("counters/table.txt");
	uint64_t seed = 42;
	char *text = rk_alloc(f->len);

	for (int round = 0; text && round < 300; round++) {
		size_t len = world_random(&seed) % f->len;
		struct rk_counter_table *t = NULL;
		struct rk_error err = { 0 };

		memcpy(text, f->text, len);
		for (int k = 0; k < round % 3 && len; k++)
			text[world_random(&seed) % len] = "\n| =+@#"[world_random(&seed) % 7];
		CHECK(rk_counter_table_parse(text, len, &t, &err) == 0 || err.message[0]);
		rk_counter_table_free(t);
	}
	rk_free(text);
}

TEST(the_table_survives_every_failed_allocation)
{
	const struct rk_data_file *f = rk_data_find("counters/table.txt");
	bool failed = true;

	for (uint64_t n = 1; failed && n < 100; n++) {
		struct rk_counter_table *t = NULL;
		struct rk_error err = { 0 };
		int rc;

		rk_alloc_fail_after(n);
		rc = rk_counter_table_parse(f->text, f->len, &t, &err);
		failed = rk_alloc_failed();
		rk_alloc_fail_after(0);
		CHECK(failed ? rc == RK_E_NOMEM : rc == 0);
		rk_counter_table_free(t);
	}
	CHECK(!failed);
}

/* As many hardware and derived counters as ROCm 7.0 defines for these targets. */
TEST(the_shipped_table_is_complete)
{
	static const struct {
		const char *arch;
		size_t hardware, derived;
	} known[] = { { "gfx906", 33, 53 },   { "gfx908", 243, 143 }, { "gfx90a", 261, 212 },
		      { "gfx942", 265, 154 }, { "gfx950", 428, 200 }, { "gfx1030", 45, 44 },
		      { "gfx1100", 40, 40 },  { "gfx1200", 36, 22 } };

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		const struct rk_counter *c;
		size_t hardware = 0, derived = 0;

		for (size_t k = 0; (c = rk_counters_at(known[i].arch, k)) != NULL; k++) {
			hardware += !c->derived;
			/* Properties of the agent are lower case. */
			derived += c->derived && !(c->name[0] >= 'a' && !c->needs[0]);
			CHECK(c->description[0] && (c->derived || c->block[0]));
			CHECK(rk_counters_find(known[i].arch, c->name) == c);
		}
		CHECK_U64(hardware, known[i].hardware);
		CHECK_U64(derived, known[i].derived);
	}
}

static void *ask(void *arg)
{
	(void)arg;
	return (void *)rk_counters_find("gfx942", "SQ_WAVES");
}

TEST(threads_see_one_table)
{
	pthread_t threads[4];
	void *first = ask(NULL), *got;

	for (size_t i = 0; i < 4; i++)
		CHECK(pthread_create(&threads[i], NULL, ask, NULL) == 0);
	for (size_t i = 0; i < 4; i++) {
		pthread_join(threads[i], &got);
		CHECK(got == first && got);
	}
}
