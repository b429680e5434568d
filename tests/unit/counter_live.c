/* counter_live.c - what an installed rocprofv3-avail says of counters. */
#include "counters/counter_live.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "rockit/counters.h"
#include "tap.h"
#include "world.h"

#define KEY(key, value) key "         :\t" value "\n"
#define SHAPE "Dimensions          :\tDIMENSION_INSTANCE[0:15] DIMENSION_XCC[0:7]\n"
#define BASIC(name, block)                     \
	KEY("Counter_Name", name)              \
	KEY("Description", "it counts: " name) \
	KEY("Block", block) SHAPE "SPM                 :\tSupported\n\n"
#define DERIVED(name, expression) \
	KEY("Counter_Name", name) \
	KEY("Description", "derived") KEY("Expression", expression) SHAPE "\n"

static const char info[] = "GPU:0\nName:gfx90a\n" BASIC(
	"OTHER", "SQ") "GPU:1\nName:gfx942:sramecc+\n" BASIC("SQ_WAVES", "SQ")
	BASIC("SQ_LEVEL_WAVES", "SQ") BASIC("NEW_EVENT", "NEWBLOCK") DERIVED("SQ_WAVES_sum",
									     "reduce(SQ_WAVES,sum)")
		DERIVED("Twice", "100*accumulate(SQ_LEVEL_WAVES, HIGH_RES)/SQ_WAVES_sum+CU_NUM")
			KEY("Counter_Name", "cu_count") SHAPE
	"\nGPU:2\nName:gfx942\n" BASIC("SECOND", "SQ");

static struct rk_counter_table *table_of(const char *text, const char *arch)
{
	struct rk_counter_table *t = NULL;
	struct rk_error err = { 0 };

	if (!CHECK_I64(rk_counter_live_parse(rk_counter_table_get(NULL), text, strlen(text), arch,
					     &t, &err),
		       0))
		CHECK_STR(err.message, "");
	return t;
}

static const struct rk_counter_entry *entry(const struct rk_counter_table *t, const char *arch,
					    const char *name)
{
	return rk_counter_table_find(t, rk_counter_table_target_find(t, arch), rk_piece_of(name));
}

TEST(what_the_profiler_lists_replaces_the_table)
{
	struct rk_counter_table *t = table_of(info, "gfx942");
	const struct rk_counter_entry *e;

	if (!CHECK(t != NULL))
		return;
	CHECK_STR(entry(t, "gfx942", "NEW_EVENT")->pub.block, "NEWBLOCK");
	CHECK_STR(entry(t, "gfx942", "NEW_EVENT")->pub.description, "it counts: NEW_EVENT");
	CHECK(!entry(t, "gfx942", "TCC_HIT_sum") && !entry(t, "gfx942", "SECOND") &&
	      !entry(t, "gfx942", "OTHER"));
	/* properties of agents and other chips stay as they are */
	CHECK(entry(t, "gfx942", "cu_count") && entry(t, "gfx90a", "TCC_HIT_sum"));
	CHECK(!entry(t, "gfx90a", "OTHER"));
	e = entry(t, "gfx942", "Twice");
	CHECK_STR(e->pub.needs[0], "SQ_LEVEL_WAVES");
	CHECK_STR(e->pub.needs[1], "SQ_LEVEL_WAVES");
	CHECK_U64(e->accumulate[1], RK_ACCUMULATE_HIGH);
	CHECK_STR(e->pub.needs[2], "SQ_WAVES");
	CHECK(!e->pub.needs[3]);
	CHECK_U64(rk_counter_table_limit(t, rk_counter_table_target_find(t, "gfx942"), "SQ"), 8);
	rk_counter_table_free(t);
}

TEST(a_chip_that_we_do_not_know_has_the_limits_of_its_family)
{
	struct rk_counter_table *t =
		table_of("GPU:0\nName:gfx1170\n" BASIC("SQ_WAVES", "SQ"), "gfx1170");

	if (!CHECK(t != NULL))
		return;
	CHECK_U64(rk_counter_table_limit(t, rk_counter_table_target_find(t, "gfx1170"), "SQ"), 8);
	rk_counter_table_free(t);
	t = table_of("GPU:0\nName:gfx2000\n" BASIC("SQ_WAVES", "SQ"), "gfx2000");
	CHECK_U64(rk_counter_table_limit(t, rk_counter_table_target_find(t, "gfx2000"), "SQ"),
		  RK_BLOCK_LIMIT_UNKNOWN);
	rk_counter_table_free(t);
}

TEST(text_that_says_nothing_of_the_chip_leaves_the_table)
{
	static const char *const texts[] = {
		"",
		"\n\n:\n",
		"GPU:0\nName:gfx90a\n" BASIC("A", "SQ"),
		"GPU:0\nName:gfx942\n",
		"GPU:0\nName:gfx942\nNo PMC counters supported\n",
		"Name:gfx942\nCounter_Name:\nBlock:SQ\n",
		"Name:gfx942\nCounter_Name:A B\nBlock:SQ\n",
		"Name:gfx942\nBlock:SQ\nExpression:A\n",
		BASIC("A", "SQ"),
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		CHECK(table_of(texts[i], "gfx942") == NULL);
	CHECK(table_of(info, "gfx 942") == NULL);
}

TEST(odd_lists_are_read_without_harm)
{
	/* expressions that name each other, an invalid block, a name twice */
	struct rk_counter_table *t = table_of("GPU:0\nName:gfx942\nCounter_Name:A\nExpression:B*2\n"
					      "Counter_Name:B\nExpression:A+B\nCounter_Name:C\n"
					      "Block:S|Q\nCounter_Name:D\nBlock:SQ\n"
					      "Counter_Name:D\nBlock:TA\nCounter_Name:E # x\n",
					      "gfx942");

	if (!CHECK(t != NULL))
		return;
	CHECK(entry(t, "gfx942", "A") && !entry(t, "gfx942", "A")->pub.needs[0]);
	CHECK(!entry(t, "gfx942", "C") && entry(t, "gfx942", "D"));
	rk_counter_table_free(t);
}

TEST(expressions_that_name_each_other_many_times_are_read_once)
{
	static char text[1 << 16];
	struct rk_counter_table *t;
	size_t len = 0;

	len += (size_t)snprintf(text, sizeof(text), "Name:gfx942\nCounter_Name:Z\nBlock:SQ\n");
	for (int i = 0; i < 16; i++) {
		len += (size_t)snprintf(text + len, sizeof(text) - len,
					"Counter_Name:D%d\nExpression:", i);
		for (int k = 0; k < 100; k++)
			len += (size_t)snprintf(text + len, sizeof(text) - len, "D%d+", i + 1);
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s\n", i > 10 ? "Z" : "1");
	}
	t = table_of(text, "gfx942");
	if (!CHECK(t != NULL))
		return;
	CHECK_STR(entry(t, "gfx942", "D0")->pub.needs[0], "Z");
	rk_counter_table_free(t);
}

/* A program that prints `text`. */
static void script(struct world *w, char path[600], const char *text, int status)
{
	char body[4096];

	snprintf(body, sizeof(body),
		 "#!/bin/sh\n[ \"$*\" = 'info --pmc' ] || exit 9\ncat <<'END'\n%sEND\nexit %d\n",
		 text, status);
	world_text(w, "avail", body);
	snprintf(path, 600, "%s/avail", w->dir);
	CHECK_I64(chmod(path, 0700), 0);
}

TEST(expressions_that_name_themselves_end)
{
	static const char text[] = "GPU:0\nName:gfx942\n" BASIC("SQ_WAVES", "SQ")
		DERIVED("Loop", "SQ_WAVES+Loop+Loop+Loop+Loop+Loop+Loop+Loop+Loop");
	struct rk_counter_table *t = table_of(text, "gfx942");

	if (!CHECK(t != NULL))
		return;
	CHECK(entry(t, "gfx942", "Loop") != NULL);
	rk_counter_table_free(t);
}

TEST(a_plan_uses_what_the_installed_program_lists)
{
	struct rk_counter_plan *p = NULL;
	struct rk_error err = { 0 };
	struct world w;
	char path[600];

	world_open(&w, 1);
	script(&w, path, info, 0);
	CHECK_I64(rk_counters_plan_installed(path, "gfx942", "NEW_EVENT,SQ_WAVES,TCC_HIT_sum", &p,
					     &err),
		  0);
	if (p) {
		CHECK_STR(p->arch, "gfx942");
		CHECK_U64(p->npasses, 1);
		CHECK_U64(p->passes[0].n, 2);
		CHECK_STR(p->passes[0].counters[0], "NEW_EVENT");
		CHECK_I64(p->checks[2].status, RK_COUNTER_MISSING);
	}
	rk_counter_plan_free(p);
	p = NULL;
	/* what it does not know is planned by the table */
	CHECK_I64(rk_counters_plan_installed(path, "gfx950", "TCC_HIT_sum", &p, &err), 0);
	CHECK(p && p->npasses == 1);
	rk_counter_plan_free(p);
	p = NULL;
	script(&w, path, info, 3);
	CHECK_I64(rk_counters_plan_installed(path, "gfx942", "SQ_WAVES", &p, &err),
		  RK_E_UNSUPPORTED);
	CHECK(strstr(err.message, "failed") && !p);
	world_close(&w);
}

TEST(a_live_table_survives_every_failed_allocation)
{
	const struct rk_counter_table *base = rk_counter_table_get(NULL);
	bool failed = true;

	for (uint64_t n = 1; failed && n < 200; n++) {
		struct rk_counter_table *t = NULL;
		struct rk_error err = { 0 };
		int rc;

		rk_alloc_fail_after(n);
		rc = rk_counter_live_parse(base, info, strlen(info), "gfx942", &t, &err);
		failed = rk_alloc_failed();
		rk_alloc_fail_after(0);
		CHECK(rc == 0 ? t != NULL : err.code == rc && !t);
		rk_counter_table_free(t);
	}
	CHECK(!failed);
}
