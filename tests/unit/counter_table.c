/* counter_table.c - the table of counters: the shipped one, and damaged ones. */
#include "counters/counter_table.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/data.h"
#include "base/list.h"
#include "codec/json/tree.h"
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

/* As many hardware and derived counters as ROCm 7.0 defines for these targets, 10.1 from gfx11 on. */
TEST(the_shipped_table_is_complete)
{
	static const struct {
		const char *arch;
		size_t hardware, derived;
	} known[] = { { "gfx906", 33, 53 },   { "gfx908", 243, 143 },  { "gfx90a", 261, 212 },
		      { "gfx942", 265, 155 }, { "gfx950", 428, 202 },  { "gfx1030", 45, 44 },
		      { "gfx1100", 41, 43 },  { "gfx1151", 256, 155 }, { "gfx1153", 85, 45 },
		      { "gfx1200", 45, 42 },  { "gfx1201", 45, 42 },   { "gfx1250", 224, 9 } };

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

static bool has(const char *arch, const char *name, const char *block)
{
	const struct rk_counter *c = rk_counters_find(arch, name);

	return c && (!block || strcmp(c->block, block) == 0);
}

/* Are the counters below `node` of the facts there, or not, on each of the targets? */
static void compare(const struct rk_tree *facts, const char *node, const char *part,
		    const char *archs, bool there)
{
	const struct rk_tree *list = rk_tree_get(rk_tree_get(facts, node), part);
	struct rk_list words = { 0 };

	rk_list_split(&words, archs, " ");
	if (!CHECK(list != NULL && list->n > 0))
		return;
	RK_TREE_EACH(c, list)
	{
		const struct rk_tree *block = rk_tree_get(c, "block");
		const char *name = c->key[0] ? c->key : c->text;

		for (size_t i = 0; i < words.n && !strchr(name, ' '); i++)
			if (!CHECK(has(words.v[i], name, there && block ? block->text : NULL) ==
				   there))
				CHECK_STR(name, words.v[i]);
	}
	rk_list_release(&words);
}

/* ROCKIT_COUNTER_FACTS: what the definitions of ROCm 10.1 say, as JSON. */
TEST(newer_chips_have_the_counters_that_upstream_defines)
{
	static const char all[] = "gfx1150 gfx1151 gfx1152 gfx1153",
			  strix[] = "gfx1150 gfx1151 gfx1152";
	const char *path = getenv("ROCKIT_COUNTER_FACTS");
	const struct rk_counter_table *t = rk_counter_table_get(NULL);
	const struct rk_counter_target *target;
	struct rk_tree *facts = NULL;
	struct rk_error err = { 0 };

	/* without the facts, the test above counts them */
	if (!path || !CHECK_I64(rk_tree_load(path, &facts, &err), 0))
		return;
	compare(facts, "gfx1250", "basic", "gfx1250", true);
	compare(facts, "gfx1250", "derived", "gfx1250", true);
	compare(facts, "gfx1250", "absent", "gfx1250", false);
	compare(facts, "gfx1150_1151_1152_1153", "basic", all, true);
	compare(facts, "gfx1150_1151_1152_1153", "derived", all, true);
	compare(facts, "gfx1150_1151_1152", "basic", strix, true);
	compare(facts, "gfx1150_1151_1152", "derived", strix, true);
	compare(facts, "gfx1150_1151_1152", "also_defined_from_gfx11_set", strix, true);
	compare(facts, "gfx1150_1151_1152", "basic", "gfx1153", false);
	compare(facts, "gfx1150_1151_1152", "derived", "gfx1153", false);
	compare(facts, "gfx115x_not_defined", "gfx1150..1153", all, false);
	compare(facts, "gfx115x_not_defined", "gfx1153_also", "gfx1153", false);
	compare(facts, "gfx1200_1201", "basic", "gfx1200 gfx1201", true);
	compare(facts, "gfx1200_1201", "derived", "gfx1200 gfx1201", true);
	compare(facts, "gfx1100_1101_1102", "basic", "gfx1100 gfx1101 gfx1102", true);
	compare(facts, "gfx1100_1101_1102", "derived", "gfx1100 gfx1101 gfx1102", true);
	target = rk_counter_table_target_find(t, "gfx1250");
	RK_TREE_EACH(limit, rk_tree_get(rk_tree_get(facts, "gfx1250"), "limits_per_pass"))
	{
		int64_t n = 0;

		CHECK(rk_tree_int(limit, &n));
		CHECK_U64(rk_counter_table_limit(t, target, limit->key), (uint64_t)n);
	}
	rk_tree_free(facts);
}

TEST(gfx12_counts_at_most_eight_things_of_sq_and_reads_of_256_bytes)
{
	const struct rk_counter_table *t = rk_counter_table_get(NULL);
	static const char *const archs[] = { "gfx1200", "gfx1201", "gfx1250" };

	for (size_t i = 0; i < 3; i++) {
		const struct rk_counter *c = rk_counters_find(archs[i], "FETCH_SIZE");
		bool large = false;

		CHECK_U64(rk_counter_table_limit(t, rk_counter_table_target_find(t, archs[i]),
						 "SQ"),
			  8);
		for (const char *const *n = c->needs; *n; n++)
			large |= strcmp(*n, "GL2C_EA_RDREQ_256B") == 0;
		CHECK(large);
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
