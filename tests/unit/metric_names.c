/* metric_names.c - which recorded counter a name in a formula means. */
#include "metrics/formula/names.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "run/run.h"
#include "tap.h"

static struct rk_formula_names *names_new(void)
{
	struct rk_formula_names *n = NULL;
	struct rk_error err = { 0 };

	CHECK_I64(rk_formula_names_new(&n, &err), 0);
	return n;
}

static void add(struct rk_formula_names *n, const char *name, const char *pass, uint32_t id)
{
	struct rk_error err = { 0 };

	CHECK_I64(rk_formula_names_add(n, name, pass, id, &err), 0);
}

/* The ids of a match as "1 2 3", borrowed until the next call. */
static const char *ids(const struct rk_counter_match *m)
{
	static char text[128];
	size_t len = 0;

	text[0] = '\0';
	for (size_t i = 0; i < m->n && len < sizeof(text) - 16; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%u", i ? " " : "",
					m->ids[i]);
	return text;
}

static const char *found(struct rk_formula_names *n, const char *arch, const char *name,
			 const char *pass)
{
	struct rk_counter_match m;

	rk_formula_names_find(n, arch, name, RK_USE_VALUE, 0, pass, &m);
	return ids(&m);
}

TEST(a_sum_is_preferred_to_instances_and_instances_to_the_plain_name)
{
	struct rk_formula_names *n = names_new();

	add(n, "A", "", 1);
	CHECK_STR(found(n, "gfx942", "A", ""), "1");
	CHECK_STR(found(n, "gfx942", "A_sum", ""), "1");
	add(n, "A[1]", "", 3);
	add(n, "A[0]", "", 2);
	CHECK_STR(found(n, "gfx942", "A", ""), "2 3");
	CHECK_STR(found(n, "gfx942", "A_sum", ""), "2 3");
	add(n, "A_sum", "", 4);
	CHECK_STR(found(n, "gfx942", "A", ""), "4");
	CHECK_STR(found(n, "gfx942", "A_sum", ""), "4");
	CHECK_STR(found(n, "gfx942", "B", ""), "");
	CHECK_STR(found(n, "gfx942", "A_max", ""), "");
	add(n, "A_max", "", 5);
	CHECK_STR(found(n, "gfx942", "A_max", ""), "5");
	rk_formula_names_free(n);
}

TEST(instances_come_in_the_order_of_their_numbers)
{
	struct rk_formula_names *n = names_new();
	struct rk_counter_match m;
	char name[32];

	for (uint32_t i = 0; i < 5000; i++) {
		uint32_t k = i * 1237 % 5000;

		snprintf(name, sizeof(name), "TCC_HIT[%u]", k);
		add(n, name, "", k + 7);
	}
	rk_formula_names_find(n, "gfx942", "TCC_HIT", RK_USE_INSTANCES, 0, "", &m);
	CHECK_U64(m.n, 5000);
	for (uint32_t i = 0; i < m.n; i++)
		if (m.ids[i] != i + 7 || m.index[i] != i)
			CHECK_U64(m.ids[i], i + 7);
	rk_formula_names_find(n, "gfx942", "TCC_HIT", RK_USE_ONE, 4321, "", &m);
	CHECK_STR(ids(&m), "4328");
	CHECK_I64(m.index[0], 4321);
	rk_formula_names_find(n, "gfx942", "TCC_HIT", RK_USE_ONE, 5000, "", &m);
	CHECK_U64(m.n, 0);
	add(n, "TCC_HIT_sum", "", 1);
	rk_formula_names_find(n, "gfx942", "TCC_HIT", RK_USE_INSTANCES, 0, "", &m);
	CHECK_U64(m.n, 5000);
	CHECK_STR(found(n, "gfx942", "TCC_HIT", ""), "1");
	rk_formula_names_find(n, "gfx942", "TCC_HIT_sum", RK_USE_INSTANCES, 0, "", &m);
	CHECK_U64(m.n, 5000);
	rk_formula_names_free(n);
}

TEST(what_only_looks_like_an_instance_is_a_plain_name)
{
	static const char *const odd[] = { "A[]", "A[x]", "[3]",    "A[-1]",
					   "A[3", "A3]",  "A[1.0]", "A[99999999999]" };
	struct rk_formula_names *n = names_new();
	struct rk_counter_match m;

	for (uint32_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
		add(n, odd[i], "", i + 1);
	CHECK_STR(found(n, "", "A[x]", ""), "2");
	rk_formula_names_find(n, "", "A", RK_USE_INSTANCES, 0, "", &m);
	CHECK_U64(m.n, 0);
	rk_formula_names_free(n);
}

TEST(the_prefix_of_the_target_is_tried_before_the_other)
{
	struct rk_formula_names *n = names_new();

	add(n, "TCC_EA_RDREQ_sum", "", 1);
	CHECK_STR(found(n, "gfx942", "EA.RDREQ_sum", ""), "1");
	CHECK_STR(found(n, "gfx942", "TCC_EA0_RDREQ_sum", ""), "1");
	add(n, "TCC_EA0_RDREQ[0]", "", 2);
	add(n, "TCC_EA0_RDREQ[1]", "", 3);
	CHECK_STR(found(n, "gfx942", "EA.RDREQ_sum", ""), "2 3");
	CHECK_STR(found(n, "gfx950", "EA.RDREQ", ""), "2 3");
	CHECK_STR(found(n, "gfx908", "EA.RDREQ_sum", ""), "2 3");
	CHECK_STR(found(n, "gfx90a", "EA.RDREQ_sum", ""), "1");
	CHECK_STR(found(n, "gfx906", "EA.RDREQ_sum", ""), "1");
	CHECK_STR(found(n, "gfx90a", "TCC_EA0_RDREQ_sum", ""), "2 3");
	CHECK_STR(found(n, "gfx906", "TCC_EA1_RDREQ_sum", ""), "");
	rk_formula_names_free(n);
}

TEST(the_pass_that_is_asked_for_comes_first_then_those_of_no_level_counter)
{
	struct rk_formula_names *n = names_new();

	add(n, "SQ_INSTS_LDS", "SQ_LEVEL_WAVES", 1);
	add(n, "SQ_INSTS_LDS", "SQ_INST_LEVEL_LDS", 2);
	CHECK_STR(found(n, "gfx90a", "SQ_INSTS_LDS", "SQ_INST_LEVEL_LDS"), "2");
	CHECK_STR(found(n, "gfx90a", "SQ_INSTS_LDS", ""), "1");
	add(n, "SQ_INSTS_LDS", "", 3);
	add(n, "SQ_INSTS_LDS", "", 4); /* passed over */
	CHECK_STR(found(n, "gfx90a", "SQ_INSTS_LDS", ""), "3");
	CHECK_STR(found(n, "gfx90a", "SQ_INSTS_LDS", "SQ_INST_LEVEL_LDS"), "2");
	CHECK_STR(found(n, "gfx90a", "SQ_INSTS_LDS", "SQ_INST_LEVEL_SMEM"), "3");
	rk_formula_names_free(n);
}

TEST(the_integral_of_a_level_is_its_accum_or_the_accumulator_of_its_pass)
{
	struct rk_formula_names *n = names_new();
	struct rk_counter_match m;

	add(n, "SQ_ACCUM_PREV_HIRES", "SQ_LEVEL_WAVES", 1);
	add(n, "SQ_ACCUM_PREV_HIRES", "SQ_IFETCH_LEVEL", 2);
	add(n, "SQ_LEVEL_WAVES", "SQ_LEVEL_WAVES", 3);
	rk_formula_names_find(n, "gfx90a", "SQ_LEVEL_WAVES", RK_USE_LEVEL, 0, "", &m);
	CHECK_STR(ids(&m), "1");
	rk_formula_names_find(n, "gfx90a", "SQ_INST_LEVEL_LDS", RK_USE_LEVEL, 0, "", &m);
	CHECK_U64(m.n, 0);
	add(n, "SQ_IFETCH_LEVEL_ACCUM", "", 4);
	rk_formula_names_find(n, "gfx90a", "SQ_IFETCH_LEVEL", RK_USE_LEVEL, 0, "", &m);
	CHECK_STR(ids(&m), "4");
	rk_formula_names_find(n, "gfx90a", "", RK_USE_LEVEL, 0, "", &m);
	CHECK_U64(m.n, 0);
	rk_formula_names_free(n);
}

TEST(a_pass_with_the_accumulator_is_that_of_the_level_before_it)
{
	static const char *const waves[] = { "GRBM_COUNT", "SQ_LEVEL_WAVES",
					     "SQ_ACCUM_PREV_HIRES" };
	static const char *const apart[] = { "SQ_ACCUM_PREV_HIRES", "SQ_INSTS_LDS",
					     "SQ_INST_LEVEL_LDS" };
	static const char *const two[] = { "SQ_LEVEL_WAVES", "SQ_IFETCH_LEVEL",
					   "SQ_ACCUM_PREV_HIRES" };
	static const char *const unclear[] = { "SQ_LEVEL_WAVES", "SQ_IFETCH_LEVEL", "SQ_WAVES",
					       "SQ_ACCUM_PREV_HIRES" };
	static const char *const other[] = { "TCC_EA_RDREQ_LEVEL_sum", "SQ_ACCUM_PREV_HIRES" };

	CHECK_STR(rk_level_of_pass(waves, 3), "SQ_LEVEL_WAVES");
	CHECK_STR(rk_level_of_pass(apart, 3), "SQ_INST_LEVEL_LDS");
	CHECK_STR(rk_level_of_pass(two, 3), "SQ_IFETCH_LEVEL");
	CHECK_STR(rk_level_of_pass(unclear, 4), NULL);
	CHECK_STR(rk_level_of_pass(other, 2), NULL);
	CHECK_STR(rk_level_of_pass(waves, 2), NULL);
	CHECK_STR(rk_level_of_pass(NULL, 0), NULL);
}

TEST(names_too_long_for_a_formula_are_passed_over)
{
	struct rk_formula_names *n = names_new();
	char name[RK_COUNTER_NAME_MAX + 64];

	memset(name, 'A', sizeof(name));
	name[RK_COUNTER_NAME_MAX + 1] = '\0';
	add(n, name, "", 1);
	CHECK_STR(found(n, "", name, ""), "");
	CHECK_STR(found(n, "", "A", name), "");
	name[RK_COUNTER_NAME_MAX - 8] = '\0';
	add(n, name, "", 2);
	CHECK_STR(found(n, "", name, ""), "2");
	rk_formula_names_free(n);
}

static int some_names(void)
{
	struct rk_formula_names *n = NULL;
	struct rk_error err = { 0 };
	int rc = rk_formula_names_new(&n, &err);
	char name[16];

	for (uint32_t i = 0; rc == 0 && i < 80; i++) {
		snprintf(name, sizeof(name), "%c[%u]", 'A' + (char)(i % 3), i);
		rc = rk_formula_names_add(n, name, i % 2 ? "P" : "", i, &err);
	}
	rk_formula_names_free(n);
	return rc == 0 || err.code == rc ? rc : 1;
}

TEST(names_end_well_when_memory_runs_out)
{
	int rc = RK_E_NOMEM;

	for (uint64_t k = 1; rc == RK_E_NOMEM && k < 5000; k++) {
		rk_alloc_fail_after(k);
		rc = some_names();
		rk_alloc_fail_after(0);
		CHECK(rc == RK_E_NOMEM || rc == 0);
	}
	CHECK_I64(rc, 0);
}
