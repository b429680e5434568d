/* counter_plan.c - sets of counters on real targets: what exists, and how many runs it costs. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "counters/counter_table.h"
#include "metrics/formula/plan.h"
#include "rockit/counters.h"
#include "tap.h"
#include "world.h"

static struct rk_counter_plan *plan_of(const char *arch, const char *spec)
{
	struct rk_counter_plan *p = NULL;
	struct rk_error err = { 0 };

	if (!CHECK(rk_counters_plan(arch, spec, &p, &err) == 0))
		CHECK_STR(err.message, "");
	return p;
}

/* "A B | C" of the passes. */
static const char *passes(const struct rk_counter_plan *p)
{
	static char text[4096];
	size_t len = 0;

	text[0] = '\0';
	for (size_t i = 0; i < p->npasses; i++)
		for (size_t j = 0; j < p->passes[i].n; j++)
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s",
						j ? " " :
						i ? " | " :
						    "",
						p->passes[i].counters[j]);
	return text;
}

static const struct rk_counter_check *check_of(const struct rk_counter_plan *p, const char *name)
{
	for (size_t i = 0; i < p->nchecks; i++)
		if (strcmp(p->checks[i].asked, name) == 0)
			return &p->checks[i];
	return NULL;
}

static const char *joined(const char *const *words)
{
	static char text[512];
	size_t len = 0;

	text[0] = '\0';
	for (; *words; words++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s", len ? " " : "",
					*words);
	return text;
}

static void check_runs(const char *arch, const char *set, size_t bound, size_t runs)
{
	struct rk_counter_plan *p = plan_of(arch, set);

	if (!p)
		return;
	CHECK_U64(p->npasses, runs);
	CHECK_U64(p->lower_bound, bound);
	CHECK(p->optimal);
	rk_counter_plan_free(p);
}

TEST(the_shipped_sets_cost_two_three_one_one_and_one_runs)
{
	static const char *const archs[] = { "gfx90a", "gfx942", "gfx950" };

	for (size_t i = 0; i < 3; i++) {
		check_runs(archs[i], "compute_bound", 2, 2);
		/* reads and reads of 32 bytes are compared, and so are reads and their level */
		check_runs(archs[i], "memory_bound", 2, 3);
		check_runs(archs[i], "communication_bound", 1, 1);
		check_runs(archs[i], "full_profile", 1, 1);
		check_runs(archs[i], "instruction_mix", 1, 1);
	}
}

TEST(memory_bound_is_renamed_for_gfx942)
{
	struct rk_counter_plan *p = plan_of("gfx942", "memory");

	CHECK_STR(
		passes(p),
		"TCC_HIT_sum TCC_MISS_sum TCP_TCC_READ_REQ_sum TCP_TCC_WRITE_REQ_sum "
		"TCP_TCC_ATOMIC_WITH_RET_REQ_sum TCP_TCC_ATOMIC_WITHOUT_RET_REQ_sum SQ_INSTS_SMEM "
		"SQ_LDS_BANK_CONFLICT TCC_EA0_RDREQ_LEVEL_sum TCC_EA0_RDREQ_sum | "
		"TCC_EA0_WRREQ_64B_sum TCC_EA0_WRREQ_LEVEL_sum TCC_EA0_WRREQ_sum "
		"TCP_TOTAL_CACHE_ACCESSES_sum | TCC_EA0_RDREQ_32B_sum TCC_EA0_RDREQ_sum");
	CHECK_STR(joined(check_of(p, "L2CacheHit")->use), "TCC_HIT_sum TCC_MISS_sum");
	CHECK(check_of(p, "L2CacheHit")->status == RK_COUNTER_RENAMED);
	rk_counter_plan_free(p);
}

TEST(memory_bound_keeps_its_names_on_gfx90a)
{
	struct rk_counter_plan *p = plan_of("gfx90a", "memory_bound");

	CHECK_STR(passes(p),
		  "TCP_TCC_READ_REQ_sum TCP_TCC_WRITE_REQ_sum TCP_TCC_ATOMIC_WITH_RET_REQ_sum "
		  "TCP_TCC_ATOMIC_WITHOUT_RET_REQ_sum TCC_EA_RDREQ_32B_sum TCC_EA_WRREQ_64B_sum "
		  "SQ_INSTS_SMEM SQ_LDS_BANK_CONFLICT TCC_EA_RDREQ_sum TCC_EA_WRREQ_sum | "
		  "L2CacheHit TCC_HIT_sum TCC_MISS_sum TCC_EA_RDREQ_LEVEL_sum TCC_EA_RDREQ_sum "
		  "TCP_TOTAL_CACHE_ACCESSES_sum | TCC_EA_WRREQ_LEVEL_sum TCC_EA_WRREQ_sum");
	for (size_t i = 0; i < p->nchecks; i++)
		CHECK(p->checks[i].status == RK_COUNTER_OK);
	rk_counter_plan_free(p);
}

/* Requests with a known optimum; the fifth has one run more than its lower bound. */
TEST(known_requests_are_packed_as_well_as_can_be)
{
	static const struct {
		const char *arch, *spec;
		size_t bound, runs;
	} known[] = {
		{ "gfx90a",
		  "GRBM_COUNT,GRBM_GUI_ACTIVE,SQ_WAVES,TCC_HIT,TCC_MISS,TCC_READ,TCC_WRITE,"
		  "TCP_TOTAL_READ,TCP_TOTAL_WRITE",
		  1, 1 },
		{ "gfx90a", "TOTAL_16_OPS,TOTAL_32_OPS,TOTAL_64_OPS", 3, 3 },
		{ "gfx90a",
		  "FetchSize,WriteSize,EaRdLatency,EaWrLatency,EaRdDramStallRate,L2CacheHit", 3,
		  3 },
		{ "gfx942",
		  "VALUBusy,SALUBusy,VALUUtilization,GPU_UTIL,OccupancyPercent,MfmaUtil,"
		  "LDSBankConflict,MemUnitStalled,FetchSize,WriteSize",
		  2, 2 },
		{ "gfx942",
		  "MeanOccupancyPerCU,MeanOccupancyPerActiveCU,VmemLatency,SmemLatency,LdsLatency,"
		  "InstrFetchLatency",
		  2, 3 },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct rk_counter_plan *p = plan_of(known[i].arch, known[i].spec);

		CHECK_U64(p->lower_bound, known[i].bound);
		CHECK_U64(p->npasses, known[i].runs);
		CHECK(p->optimal);
		rk_counter_plan_free(p);
	}
}

/* Places taken of a block by one pass, worked out from the public table alone. */
static size_t places(const char *arch, const struct rk_counter_pass *pass, const char *block)
{
	const char *seen[256];
	size_t n = 0;

	for (size_t i = 0; i < pass->n; i++) {
		const struct rk_counter *c = rk_counters_find(arch, pass->counters[i]);
		const char *const own[] = { c->name, NULL };
		const char *const *needs = c->derived ? c->needs : own;

		for (; *needs; needs++) {
			size_t k = 0;

			if (strcmp(rk_counters_find(arch, *needs)->block, block) != 0)
				continue;
			while (k < n && strcmp(seen[k], *needs) != 0)
				k++;
			seen[n] = *needs;
			n += k == n;
		}
	}
	return n;
}

static void check_passes(const char *arch, const struct rk_counter_plan *p)
{
	static const struct {
		const char *block;
		size_t limit;
	} limits[] = { { "SQ", 8 },  { "TCC", 4 },  { "TCP", 4 }, { "TA", 2 },  { "TD", 2 },
		       { "SPI", 6 }, { "GRBM", 2 }, { "CPC", 2 }, { "CPF", 2 }, { "TCA", 4 } };

	for (size_t i = 0; i < p->npasses; i++)
		for (size_t j = 0; j < sizeof(limits) / sizeof(limits[0]); j++)
			CHECK(places(arch, &p->passes[i], limits[j].block) <= limits[j].limit);
	CHECK(p->npasses >= p->lower_bound);
	CHECK(!p->optimal || p->npasses < p->lower_bound + 4);
}

static size_t times_planned(const struct rk_counter_plan *p, const char *name)
{
	size_t n = 0;

	for (size_t i = 0; i < p->npasses; i++)
		for (size_t j = 0; j < p->passes[i].n; j++)
			n += strcmp(p->passes[i].counters[j], name) == 0;
	return n;
}

TEST(random_requests_keep_to_the_limits_and_lose_nothing)
{
	static const char *const archs[] = { "gfx906", "gfx908", "gfx90a", "gfx942", "gfx950" };
	uint64_t seed = 88172645463325252;

	for (int round = 0; round < 200; round++) {
		const char *arch = archs[world_random(&seed) % 5];
		size_t n = 0, count = 1 + world_random(&seed) % 40, len = 0;
		char spec[4096] = "";
		struct rk_counter_plan *p;

		while (rk_counters_at(arch, n))
			n++;
		for (size_t i = 0; i < count; i++)
			len += (size_t)snprintf(
				spec + len, sizeof(spec) - len, "%s,",
				rk_counters_at(arch, world_random(&seed) % n)->name);
		p = plan_of(arch, spec);
		if (!p)
			continue;
		check_passes(arch, p);
		for (size_t i = 0; i < p->nchecks; i++)
			CHECK(times_planned(p, p->checks[i].asked) >= 1);
		rk_counter_plan_free(p);
	}
}

/*
 * ---- formulas ----
 */

/* The plan, and the names that it has. */
struct planned {
	const char *arch;
	const struct rk_counter_plan *p;
	const char *names[1024];
	size_t n, formulas, splits;
};

static bool is_split(const struct rk_counter_plan *p, const char *metric)
{
	for (size_t i = 0; metric && i < p->nsplits; i++)
		if (strcmp(p->splits[i].metric, metric) == 0)
			return true;
	return false;
}

static bool has_all(const struct rk_counter_pass *pass, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t k = 0;

		while (k < pass->n && strcmp(pass->counters[k], names[i]) != 0)
			k++;
		if (k == pass->n)
			return false;
	}
	return true;
}

/* A rk_metric_reads_fn: its counters are in one pass, or one pass has no room for them. */
static int check_formula(void *arg, const char *metric, const uint32_t *ids, size_t n,
			 struct rk_error *err)
{
	static const char *const blocks[] = { "SQ",   "TCC", "TCP", "TA",   "TD",  "SPI",
					      "GRBM", "CPC", "CPF", "GL2C", "GL1C" };
	struct planned *q = arg;
	const char *names[64];
	const struct rk_counter_pass all = { .counters = names, .n = n };
	const struct rk_counter_table *t = rk_counter_table_get(err);
	bool together = false, room = true;

	if (!CHECK(n <= 64))
		return 0;
	for (size_t i = 0; i < n; i++)
		names[i] = q->names[ids[i]];
	for (size_t i = 0; i < q->p->npasses; i++)
		together |= has_all(&q->p->passes[i], names, n);
	for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++)
		room &= places(q->arch, &all, blocks[i]) <=
			rk_counter_table_limit(t, rk_counter_table_target_find(t, q->arch),
					       blocks[i]);
	if (n > 1 && !CHECK(together == room))
		CHECK_STR(metric, passes(q->p));
	if (n > 1 && metric)
		CHECK(together == !is_split(q->p, metric));
	q->formulas += n > 1;
	q->splits += n > 1 && !together && metric;
	return 0;
}

/* Checks every metric and check that the planned counters allow. Returns how many of them. */
static size_t check_formulas(const char *arch, const struct rk_counter_plan *p,
			     const struct rk_metric_set *set)
{
	struct planned q = { .arch = arch, .p = p };
	struct rk_formula_names *names = NULL;
	struct rk_error err = { 0 };

	CHECK_I64(rk_formula_names_new(&names, &err), 0);
	for (size_t i = 0; i < p->npasses; i++)
		for (size_t j = 0; j < p->passes[i].n; j++) {
			const char *name = p->passes[i].counters[j];
			size_t k = 0;

			while (k < q.n && strcmp(q.names[k], name) != 0)
				k++;
			if (k < q.n || !CHECK(q.n < 1024))
				continue;
			CHECK_I64(rk_formula_names_add(names, name, "", (uint32_t)q.n, &err), 0);
			q.names[q.n++] = name;
		}
	CHECK_I64(rk_metric_reads(set, arch, names, check_formula, &q, &err), 0);
	CHECK_U64(q.splits, p->nsplits);
	rk_formula_names_free(names);
	return q.formulas;
}

TEST(no_formula_is_split_that_fits_in_a_pass)
{
	static const char *const archs[] = { "gfx906", "gfx908",  "gfx90a",  "gfx942",
					     "gfx950", "gfx1030", "gfx1100", "gfx1201" };
	struct rk_metric_set *set = NULL;
	struct rk_error err = { 0 };
	uint64_t seed = 362436069;
	size_t formulas = 0;

	if (!CHECK_I64(rk_metric_set_load(NULL, NULL, &set, &err), 0))
		return;
	for (int round = 0; round < 300; round++) {
		const char *arch = archs[world_random(&seed) % 8];
		size_t n = 0, count = 2 + world_random(&seed) % 120, len = 0;
		static char spec[16384];
		struct rk_counter_plan *p;

		while (rk_counters_at(arch, n))
			n++;
		for (size_t i = 0; i < count; i++) {
			const char *name = rk_counters_at(arch, world_random(&seed) % n)->name;

			/* an accumulator means nothing without its level counter before it */
			if (strncmp(name, "SQ_ACCUM_PREV", 13) != 0)
				len += (size_t)snprintf(spec + len, sizeof(spec) - len, "%s,",
							name);
		}
		p = plan_of(arch, spec);
		if (!p)
			continue;
		formulas += check_formulas(arch, p, set);
		rk_counter_plan_free(p);
	}
	CHECK(formulas > 300);

	/* all counters of a chip, and what users ask for */
	formulas = 0;
	for (size_t a = 0; a < sizeof(archs) / sizeof(archs[0]); a++) {
		static const char *const specs[] = { NULL,
						     "@memory,@cache",
						     "full_profile,@limits",
						     "memory_bound",
						     "memory_bound,@limits",
						     "compute_bound,@limits",
						     "communication_bound,@limits",
						     "@instructions,@waves,@stalls,@lds" };

		for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
			static char spec[65536];
			struct rk_counter_plan *p;
			size_t len = 0;

			for (size_t n = 0; !specs[i] && rk_counters_at(archs[a], n); n++) {
				const char *name = rk_counters_at(archs[a], n)->name;

				if (strncmp(name, "SQ_ACCUM_PREV", 13) != 0)
					len += (size_t)snprintf(spec + len, sizeof(spec) - len,
								"%s,", name);
			}
			p = plan_of(archs[a], specs[i] ? specs[i] : spec);
			if (!p)
				continue;
			formulas += check_formulas(archs[a], p, set);
			rk_counter_plan_free(p);
		}
	}
	CHECK(formulas > 500);
	rk_metric_set_free(set);
}

TEST(hits_and_misses_are_in_one_pass)
{
	static const char *const archs[] = { "gfx90a", "gfx942", "gfx950" };
	static const char *const specs[] = { "@memory,@cache", "full_profile,@limits",
					     "memory_bound,@limits" };
	static const char *const pair[] = { "TCC_HIT_sum", "TCC_MISS_sum" };

	for (size_t a = 0; a < 3; a++)
		for (size_t s = 0; s < 3; s++) {
			struct rk_counter_plan *p = plan_of(archs[a], specs[s]);
			bool together = false;

			for (size_t i = 0; i < p->npasses; i++)
				together |= has_all(&p->passes[i], pair, 2);
			CHECK(together);
			rk_counter_plan_free(p);
		}
}

TEST(a_metric_of_too_many_counters_names_its_passes)
{
	struct rk_counter_plan *p = plan_of("gfx942", "@cache");

	if (CHECK_U64(p->nsplits, 1)) {
		CHECK_STR(p->splits[0].metric, "l1_hit_pct");
		CHECK_U64(p->splits[0].n, 2);
		CHECK_U64(p->splits[0].passes[0], 1);
		CHECK_U64(p->splits[0].passes[1], 2);
	}
	rk_counter_plan_free(p);
}

TEST(every_counter_of_a_target_can_be_asked_for_at_once)
{
	const char *arch;

	for (size_t a = 0; (arch = rk_counters_arch(a)) != NULL; a++) {
		static char spec[65536];
		struct rk_counter_plan *p;
		size_t len = 0, n = 0;

		for (; rk_counters_at(arch, n); n++)
			len += (size_t)snprintf(spec + len, sizeof(spec) - len, "%s,",
						rk_counters_at(arch, n)->name);
		p = plan_of(arch, spec);
		if (!p)
			continue;
		CHECK_U64(p->nchecks, n);
		for (size_t i = 0; i < p->nchecks; i++)
			CHECK(p->checks[i].status == RK_COUNTER_OK &&
			      times_planned(p, p->checks[i].asked) >= 1);
		CHECK(p->npasses <= p->lower_bound + 4);
		rk_counter_plan_free(p);
	}
}

TEST(every_category_has_counters_on_every_target)
{
	static const char *const names[] = { "@instructions", "@waves", "@memory", "@cache",
					     "@compute_unit", "@lds",   "@stalls", "@limits" };
	const char *arch;

	for (size_t a = 0; (arch = rk_counters_arch(a)) != NULL; a++) {
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
			struct rk_counter_plan *p = plan_of(arch, names[i]);

			CHECK(p->nchecks > 0 && p->npasses >= 1 && p->npasses <= 2);
			for (size_t j = 0; j < p->nchecks; j++)
				CHECK(p->checks[j].status == RK_COUNTER_OK);
			rk_counter_plan_free(p);
		}
	}
}

/* Everything that the metric of that name is made of. */
TEST(sets_about_caches_have_what_a_hit_rate_of_l1_needs)
{
	static const char *const archs[] = { "gfx908", "gfx90a", "gfx942", "gfx950" };
	static const char *const sets[] = { "memory_bound", "@cache" };
	static const size_t runs[] = { 3, 2 };
	static const char *const needed[] = { "TCP_TOTAL_CACHE_ACCESSES_sum",
					      "TCP_TCC_READ_REQ_sum", "TCP_TCC_WRITE_REQ_sum",
					      "TCP_TCC_ATOMIC_WITH_RET_REQ_sum",
					      "TCP_TCC_ATOMIC_WITHOUT_RET_REQ_sum" };

	for (size_t a = 0; a < sizeof(archs) / sizeof(archs[0]); a++)
		for (size_t s = 0; s < sizeof(sets) / sizeof(sets[0]); s++) {
			struct rk_counter_plan *p = plan_of(archs[a], sets[s]);

			CHECK_U64(p->npasses, runs[s]);
			for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
				CHECK(times_planned(p, needed[i]) >= 1);
			rk_counter_plan_free(p);
		}
}

TEST(what_keeps_waves_away_costs_no_run_beside_the_limits)
{
	static const char *const archs[] = { "gfx908", "gfx90a", "gfx942", "gfx950" };

	for (size_t a = 0; a < sizeof(archs) / sizeof(archs[0]); a++) {
		struct rk_counter_plan *p = plan_of(archs[a], "@limits,@resources");

		CHECK_U64(p->npasses, 2);
		CHECK(times_planned(p, "SPI_RA_VGPR_SIMD_FULL_CSN") == 1);
		CHECK(times_planned(p, "SQ_WAIT_ANY") == 1);
		rk_counter_plan_free(p);
	}
}

TEST(channels_of_a_counter_share_one_run)
{
	struct rk_counter_plan *p =
		plan_of("gfx942", "TCC_HIT[0],TCC_MISS[0],TCC_REQ[0],TCC_READ[0],TCC_WRITE[0],"
				  "TCC_HIT[1],TCC_WRITE[1]:device=1,SQ_WAVES:device=0");

	CHECK_STR(passes(p), "TCC_HIT[0] TCC_MISS[0] TCC_REQ[0] TCC_READ[0] TCC_HIT[1] "
			     "SQ_WAVES:device=0 | TCC_WRITE[0] TCC_WRITE[1]:device=1");
	rk_counter_plan_free(p);
}

TEST(an_accumulator_stays_with_its_level_counter)
{
	struct rk_counter_plan *p = plan_of("gfx90a",
					    "SQ_LEVEL_WAVES,SQ_ACCUM_PREV_HIRES,SQ_IFETCH_LEVEL,"
					    "SQ_ACCUM_PREV_HIRES,SQ_WAVES");

	CHECK_STR(passes(p), "SQ_LEVEL_WAVES SQ_ACCUM_PREV_HIRES SQ_WAVES | "
			     "SQ_IFETCH_LEVEL SQ_ACCUM_PREV_HIRES");
	CHECK(p->optimal);
	rk_counter_plan_free(p);
}

TEST(constants_cost_nothing)
{
	struct rk_counter_plan *p =
		plan_of("gfx942", "CU_NUM,simd_count,GRBM_COUNT,GRBM_GUI_ACTIVE");

	CHECK_U64(p->npasses, 1);
	CHECK_U64(p->passes[0].n, 4);
	rk_counter_plan_free(p);
	p = plan_of("gfx942", "CU_NUM");
	CHECK_U64(p->npasses, 1);
	CHECK_U64(p->lower_bound, 1);
	rk_counter_plan_free(p);
}

TEST(a_plan_of_what_is_missing_has_no_runs)
{
	struct rk_counter_plan *p = plan_of("gfx1100", "SQ_INSTS_VALU_ADD_F32,TCC_ATOMIC_sum");

	CHECK_U64(p->npasses, 0);
	CHECK_U64(p->lower_bound, 0);
	CHECK(p->optimal);
	CHECK(check_of(p, "TCC_ATOMIC_sum")->status == RK_COUNTER_MISSING);
	rk_counter_plan_free(p);
}

/* asked, target, status, what to use */
TEST(names_are_repaired_for_each_target)
{
	static const struct {
		const char *asked, *arch;
		enum rk_counter_status status;
		const char *use;
	} known[] = {
		{ "SQ_WAVES", "gfx942", RK_COUNTER_OK, "SQ_WAVES" },
		{ "L2CacheHit", "gfx90a", RK_COUNTER_OK, "L2CacheHit" },
		{ "L2CacheHit", "gfx950", RK_COUNTER_RENAMED, "TCC_HIT_sum TCC_MISS_sum" },
		{ "L2CacheHit", "gfx1201", RK_COUNTER_OK, "L2CacheHit" },
		{ "L2CacheMiss", "gfx908", RK_COUNTER_RENAMED, "TCC_HIT_sum TCC_MISS_sum" },
		{ "L2CacheMiss", "gfx1030", RK_COUNTER_RENAMED, "GL2C_HIT_sum GL2C_MISS_sum" },
		{ "L2CacheHitRate", "gfx942", RK_COUNTER_RENAMED, "TCC_HIT_sum TCC_MISS_sum" },
		{ "TCC_EA_RDREQ_32B_sum", "gfx908", RK_COUNTER_OK, "TCC_EA_RDREQ_32B_sum" },
		{ "TCC_EA_RDREQ_LEVEL_sum", "gfx908", RK_COUNTER_RENAMED,
		  "TCC_EA0_RDREQ_LEVEL_sum" },
		{ "TCC_EA_RDREQ_LEVEL_sum", "gfx90a", RK_COUNTER_OK, "TCC_EA_RDREQ_LEVEL_sum" },
		{ "TCC_EA_WRREQ_64B_sum", "gfx940", RK_COUNTER_RENAMED, "TCC_EA0_WRREQ_64B_sum" },
		{ "TCC_EA0_WRREQ_64B_sum", "gfx90a", RK_COUNTER_RENAMED, "TCC_EA_WRREQ_64B_sum" },
		{ "TCC_EA_WRREQ_64B_sum", "gfx1100", RK_COUNTER_RENAMED, "GL2C_EA_WRREQ_64B_sum" },
		{ "TCC_EA_RDREQ_sum", "gfx1030", RK_COUNTER_RENAMED, "GL2C_MC_RDREQ_sum" },
		{ "TCC_EA_RDREQ_sum", "gfx1201", RK_COUNTER_RENAMED, "GL2C_EA_RDREQ_sum" },
		{ "TCC_HIT_sum", "gfx1100", RK_COUNTER_RENAMED, "GL2C_HIT_sum" },
		{ "SQ_LDS_BANK_CONFLICT", "gfx1100", RK_COUNTER_RENAMED, "SQC_LDS_BANK_CONFLICT" },
		{ "TCP_TCC_ATOMIC_REQ_sum", "gfx950", RK_COUNTER_RENAMED,
		  "TCP_TCC_ATOMIC_WITH_RET_REQ_sum TCP_TCC_ATOMIC_WITHOUT_RET_REQ_sum" },
		{ "TCP_TCC_ATOMIC_REQ_sum", "gfx1100", RK_COUNTER_MISSING, "" },
		{ "SQ_WAIT_INST_VALU", "gfx942", RK_COUNTER_MISSING, "SQ_WAIT_INST_ANY" },
		{ "SQ_INSTS_VALU_ADD_F32", "gfx908", RK_COUNTER_MISSING, "" },
		{ "TCP_TCC_READ_REQ_sum", "gfx1201", RK_COUNTER_MISSING, "" },
		{ "PM_MARKER", "gfx942", RK_COUNTER_MISSING, "" },
		{ "TCP_TOTAL_CACHE_MISSES", "gfx90a", RK_COUNTER_RENAMED, "TCP_TCC_READ_REQ_sum" },
		{ "FetchSize", "gfx1100", RK_COUNTER_RENAMED, "FETCH_SIZE" },
		{ "VALUInsts", "gfx942", RK_COUNTER_RENAMED, "SQ_INSTS_VALU SQ_WAVES_sum" },
		{ "SQ_INSTS_VALU_sum", "gfx942", RK_COUNTER_RENAMED, "SQ_INSTS_VALU" },
		{ "TCC_EA_RDREQ[3]", "gfx942", RK_COUNTER_RENAMED, "TCC_EA0_RDREQ[3]" },
		{ "TCC_HIT_sum[3]", "gfx942", RK_COUNTER_MISSING, "" },
		{ "sq_waves", "gfx942", RK_COUNTER_MISSING, "SQ_WAVES" },
		{ "SQ_BUSY_CU_CYCLE", "gfx942", RK_COUNTER_MISSING, "SQ_BUSY_CU_CYCLES" },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct rk_counter_plan *p = NULL;
		struct rk_error err = { 0 };

		CHECK(rk_counters_check(known[i].arch, &known[i].asked, 1, &p, &err) == 0);
		CHECK_I64(p->checks[0].status, known[i].status);
		CHECK_STR(joined(p->checks[0].use), known[i].use);
		CHECK((p->checks[0].reason[0] == '\0') == (known[i].status == RK_COUNTER_OK));
		rk_counter_plan_free(p);
	}
}

static void check_refused(const char *arch, const char *spec, const char *message)
{
	struct rk_counter_plan *p = NULL;
	struct rk_error err = { 0 };

	CHECK_I64(rk_counters_plan(arch, spec, &p, &err), RK_E_USAGE);
	CHECK_STR(err.message, message);
	CHECK(p == NULL);
}

TEST(a_word_that_nobody_knows_names_the_nearest)
{
	check_refused("gfx942", "SQ_WAVS", "unknown counter 'SQ_WAVS'; did you mean 'SQ_WAVES'?");
	check_refused("gfx942", "@cahce", "unknown category '@cahce'; did you mean '@cache'?");
	check_refused("gfx942", "memory_bond",
		      "unknown counter, set or file 'memory_bond'; did you mean 'memory_bound'?");
	check_refused("gfx943", "SQ_WAVES", "unknown target 'gfx943'; did you mean 'gfx940'?");
	check_refused("gfx942", " , ", "no counter given");
}

TEST(targets_have_many_spellings)
{
	CHECK_STR(rk_counters_arch_find("GFX942"), "gfx942");
	CHECK_STR(rk_counters_arch_find("gfx942:sramecc+:xnack-"), "gfx942");
	CHECK_STR(rk_counters_arch_find("mi300x"), "gfx942");
	CHECK_STR(rk_counters_arch_find("90a"), "gfx90a");
	CHECK_STR(rk_counters_arch_find(" gfx1100 "), "gfx1100");
	CHECK(rk_counters_arch_find("gfx") == NULL);
	CHECK(rk_counters_arch_find("") == NULL);
}

TEST(a_plan_survives_every_failed_allocation)
{
	bool failed = true;

	/* the definitions of metrics are most of them, and alike */
	for (uint64_t n = 1; failed && n < 100000; n += 1 + n / 64) {
		struct rk_counter_plan *p = NULL;
		struct rk_error err = { 0 };
		int rc;

		rk_alloc_fail_after(n);
		rc = rk_counters_plan("gfx942", "memory,@stalls,SQ_LEVEL_WAVES,SQ_ACCUM_PREV_HIRES",
				      &p, &err);
		failed = rk_alloc_failed();
		rk_alloc_fail_after(0);
		CHECK(rc == 0 || (rc == RK_E_NOMEM && err.code == RK_E_NOMEM));
		rk_counter_plan_free(p);
	}
	CHECK(!failed);
}
