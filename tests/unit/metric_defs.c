/* metric_defs.c - definitions: the shipped ones, a user's, rocprofiler-sdk's, damaged ones. */
#include "metrics/formula/defs.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "counters/counter_table.h"
#include "tap.h"
#include "world.h"

static struct rk_metric_set *parse(const char *text, const char *name, struct rk_error *err)
{
	struct rk_metric_set *s = NULL;

	*err = (struct rk_error){ 0 };
	return rk_metric_set_parse(text, strlen(text), name, &s, err) == 0 ? s : NULL;
}

static struct rk_metric_set *shipped(void)
{
	struct rk_metric_set *s = NULL;
	struct rk_error err = { 0 };

	CHECK_I64(rk_metric_set_load(NULL, NULL, &s, &err), 0);
	CHECK_STR(err.message, "");
	return s;
}

static double number_for(const struct rk_metric_case *c, const char *arch)
{
	const struct rk_expr *e = rk_metric_case_for(c, arch);

	return e ? e->number : -1;
}

TEST(every_shipped_metric_is_complete)
{
	struct rk_metric_set *s = shipped();

	CHECK(s && s->ndefs >= 206 && s->nterms > 20 && s->nchecks > 15);
	for (size_t i = 0; s && i < s->ndefs; i++) {
		const struct rk_metric_def *m = &s->defs[i];

		CHECK(m->id[0] && m->group[0] && m->unit[0] && strlen(m->help) > 10);
		CHECK(m->help[strlen(m->help) - 1] == '.');
		CHECK(rk_metric_def_find(s, m->id) == m);
		CHECK(strcmp(m->group, "user") != 0);
	}
	for (size_t i = 0; s && i < s->nchecks; i++)
		CHECK(strlen(s->checks[i].text) > 20);
	CHECK(s && rk_metric_def_find(s, "no_such_metric") == NULL);
	rk_metric_set_free(s);
}

/* Names that are not counters: times, launch facts, properties of the chip, the normaliser. */
static bool is_given(const char *name)
{
	static const char *const given[] = { "T",
					     "D",
					     "Grid_Size",
					     "Workgroup_Size",
					     "Arch_VGPR",
					     "Accum_VGPR",
					     "SGPR",
					     "wave",
					     "LDS_Per_Workgroup",
					     "Scratch_Per_Workitem",
					     "cus",
					     "simds",
					     "ses",
					     "sqcs",
					     "banks",
					     "wslots",
					     "sclk",
					     "mclk",
					     "l2ch",
					     "hbmch",
					     "xcds",
					     "pipes",
					     NULL };
	const char *const *g = given;

	while (*g && strcmp(*g, name) != 0)
		g++;
	return *g != NULL;
}

/* One target of each family. */
static const char *const some[] = { "gfx906",  "gfx908",  "gfx90a",  "gfx942",  "gfx950",
				    "gfx1030", "gfx1100", "gfx1151", "gfx1201", "gfx1250" };
enum { NSOME = sizeof(some) / sizeof(some[0]), RDNA = 5 /* the first of it */ };

static bool in_table(const char *arch, const char *name)
{
	const struct rk_counter_table *t = rk_counter_table_get(NULL);
	const struct rk_counter_target *target = rk_counter_table_target_find(t, arch);
	struct rk_piece p = { name, strlen(name) };

	if (rk_counter_table_find(t, target, p))
		return true;
	p.len -= p.len > 4 ? 4 : 0; /* not all that can be added up have a _sum of their own */
	return strcmp(name + p.len, "_sum") == 0 && rk_counter_table_find(t, target, p);
}

static bool is_counter(const char *arch, const char *name)
{
	char full[128];

	if (strncmp(name, "EA.", 3) != 0)
		return in_table(arch, name);
	snprintf(full, sizeof(full), "TCC_EA_%s", name + 3);
	if (in_table(arch, full))
		return true;
	snprintf(full, sizeof(full), "TCC_EA0_%s", name + 3);
	return in_table(arch, full);
}

/* The first name of an expression that `arch` has not, or NULL. */
static const char *unknown_name(const struct rk_metric_set *s, const struct rk_expr *e,
				const char *arch)
{
	const char *why;
	const struct rk_expr *term;

	if (!e)
		return NULL;
	if (e->op == RK_EXPR_NAME || e->op == RK_EXPR_LEVEL || e->op == RK_EXPR_ACCUMULATE) {
		term = rk_metric_term_for(s, e->name, arch);
		if (term)
			return unknown_name(s, term, arch);
		return is_given(e->name) || is_counter(arch, e->name) ? NULL : e->name;
	}
	why = unknown_name(s, e->a, arch);
	if (e->op == RK_EXPR_OR)
		return why && unknown_name(s, e->b, arch) ? why : NULL;
	return why ? why : unknown_name(s, e->b, arch);
}

TEST(every_shipped_formula_has_its_counters_on_some_target)
{
	struct rk_metric_set *s = shipped();

	for (size_t i = 0; s && i < s->ndefs; i++) {
		const struct rk_metric_def *m = &s->defs[i];
		const char *missing = "a target";

		/* NVIDIA's are CUPTI's to know. */
		if (rk_metric_case_for(m->expr, "sm_90") && !rk_metric_case_for(m->expr, "gfx9"))
			missing = NULL;
		for (size_t k = 0; k < NSOME && missing; k++) {
			const struct rk_expr *e = rk_metric_case_for(m->expr, some[k]);

			if (e && rk_metric_archs_has(m->archs, some[k]))
				missing = unknown_name(s, e, some[k]);
		}
		if (missing) {
			printf("# %s: %s\n", m->id, missing);
			CHECK_STR(missing, NULL);
		}
	}
	rk_metric_set_free(s);
}

/* Names in second choices, which no formula misses when they are misspelt. */
TEST(second_choices_are_counters_of_some_target)
{
	struct rk_metric_set *s = shipped();
	size_t n = 0;

	for (size_t i = 0; s && i < s->ndefs + s->nterms; i++) {
		const struct rk_metric_case *c = i < s->ndefs ? s->defs[i].expr :
								s->terms[i - s->ndefs].expr;

		for (; c; c = c->next) {
			const struct rk_expr *e = c->expr;

			for (; e; e = e->op == RK_EXPR_OR ? e->b : e->a) {
				const char *missing = "";

				if (e->op != RK_EXPR_OR)
					continue;
				n++;
				for (size_t k = 0; k < NSOME && missing; k++)
					missing = unknown_name(s, e->b, some[k]);
				CHECK_STR(missing, NULL);
			}
		}
	}
	CHECK(n > 20);
	rk_metric_set_free(s);
}

TEST(what_is_defined_for_rdna_has_its_counters_there)
{
	enum { N = NSOME - RDNA };
	struct rk_metric_set *s = shipped();
	size_t n = 0;

	for (size_t i = 0; s && i < s->ndefs * N; i++) {
		const struct rk_metric_def *m = &s->defs[i / N];
		const char *arch = some[RDNA + i % N], *missing;
		const struct rk_expr *e = rk_metric_case_for(m->expr, arch);

		if (!e || !rk_metric_archs_has(m->archs, arch))
			continue;
		n++;
		missing = unknown_name(s, e, arch);
		if (missing)
			printf("# %s on %s: %s\n", m->id, arch, missing);
		CHECK_STR(missing, NULL);
	}
	CHECK(n > 300);
	rk_metric_set_free(s);
}

TEST(what_is_not_defined_for_rdna_has_a_reason)
{
	static const char *const archs[] = { "gfx1010", "gfx1030", "gfx1100", "gfx1102",
					     "gfx1103", "gfx1150", "gfx1151", "gfx1152",
					     "gfx1153", "gfx1200", "gfx1201", "gfx1250" };
	struct rk_metric_set *s = shipped();

	for (size_t i = 0; s && i < s->ndefs * 12; i++) {
		const struct rk_metric_def *m = &s->defs[i / 12];
		const char *arch = archs[i % 12];

		if (rk_metric_case_for(m->expr, arch) && rk_metric_archs_has(m->archs, arch))
			continue;
		if (!CHECK(rk_metric_reason_for(s, m, arch) != NULL))
			printf("# %s on %s\n", m->id, arch);
	}
	rk_metric_set_free(s);
}

TEST(the_first_reason_for_an_id_or_its_group_is_given)
{
	struct rk_error err;
	struct rk_metric_set *s =
		parse("{\"metrics\":[{\"id\":\"a\",\"group\":\"g\",\"expr\":{\"gfx9*\":\"1\"}},"
		      "{\"id\":\"b\",\"group\":\"g\",\"expr\":{\"gfx9*\":\"1\"}}],\"absent\":["
		      "{\"of\":[\"x\",\"a\"],\"archs\":[\"gfx11*\"],\"text\":\"one\"},"
		      "{\"of\":[\"g\"],\"archs\":[\"gfx1*\"],\"text\":\"two\"}]}",
		      "a.json", &err);

	if (!CHECK(s != NULL))
		return;
	CHECK_STR(rk_metric_reason_for(s, &s->defs[0], "gfx1100"), "one");
	CHECK_STR(rk_metric_reason_for(s, &s->defs[0], "gfx1201"), "two");
	CHECK_STR(rk_metric_reason_for(s, &s->defs[1], "gfx1100"), "two");
	CHECK_STR(rk_metric_reason_for(s, &s->defs[1], "gfx906"), NULL);
	rk_metric_set_free(s);
}

TEST(counters_of_one_family_are_not_asked_for_on_the_other)
{
	static const char *const cdna[] = { "salu_busy_pct", "l1_coalescing_pct", "hbm_rd_pct",
					    "mfma_busy_pct", "no_vgpr_pct",       "flops_total" };
	static const char *const both[] = { "wavefronts",   "l2_hit_pct", "lds_conflict_share_pct",
					    "gpu_busy_pct", "inst_valu",  "inst_salu" };
	struct rk_metric_set *s = shipped();

	for (size_t i = 0; s && i < 6; i++) {
		const struct rk_metric_def *m = rk_metric_def_find(s, cdna[i]);

		CHECK(!rk_metric_case_for(m->expr, "gfx1100") ||
		      !rk_metric_archs_has(m->archs, "gfx1100"));
		CHECK(rk_metric_case_for(m->expr, "gfx942") &&
		      rk_metric_archs_has(m->archs, "gfx942"));
		m = rk_metric_def_find(s, both[i]);
		CHECK(rk_metric_case_for(m->expr, "gfx1100") != NULL);
		CHECK(rk_metric_case_for(m->expr, "gfx942") != NULL);
	}
	rk_metric_set_free(s);
}

TEST(the_closest_case_wins_whatever_the_order)
{
	struct rk_error err;
	struct rk_metric_set *s = parse(
		"{\"terms\":{\"t\":{\"*\":\"1\",\"gfx9*\":\"2\",\"gfx942\":\"3\",\"gfx94*\":4,"
		"\"gfx11* gfx12*\":\"5\"}},"
		"\"metrics\":[{\"id\":\"m\",\"expr\":\"7\",\"archs\":[\"gfx90a\",\"gfx94*\"]}]}",
		"a.json", &err);

	CHECK(s != NULL);
	if (!s)
		return;
	CHECK(number_for(s->terms[0].expr, "gfx942") == 3);
	CHECK(number_for(s->terms[0].expr, "gfx941") == 4);
	CHECK(number_for(s->terms[0].expr, "gfx90a") == 2);
	CHECK(number_for(s->terms[0].expr, "gfx1100") == 5);
	CHECK(number_for(s->terms[0].expr, "gfx1201") == 5);
	CHECK(number_for(s->terms[0].expr, "gfx1030") == 1);
	CHECK(number_for(s->terms[0].expr, "") == 1);
	CHECK(rk_metric_term_for(s, "t", "gfx942")->number == 3);
	CHECK(rk_metric_term_for(s, "u", "gfx942") == NULL);
	CHECK(rk_metric_archs_has(s->defs[0].archs, "gfx942"));
	CHECK(!rk_metric_archs_has(s->defs[0].archs, "gfx908"));
	CHECK(rk_metric_archs_has(NULL, "gfx908"));
	CHECK_STR(s->defs[0].group, "user");
	CHECK_STR(s->defs[0].unit, "");
	rk_metric_set_free(s);
}

TEST(a_users_definition_replaces_the_shipped_one_in_its_place)
{
	struct world w;
	struct rk_metric_set *s = NULL, *old = shipped();
	const struct rk_metric_def *m;
	const char *path;

	world_open(&w, 1);
	path = world_text(
		&w, "mine.json",
		"{\"schema\":1,\"metrics\":[{\"id\":\"l2_hit_pct\",\"expr\":\"50\"},"
		"{\"id\":\"mine\",\"unit\":\"kg\",\"expr\":\"1/3\",\"agg\":\"median\"}],"
		"\"terms\":{\"G\":\"GRBM_GUI_ACTIVE\"},\"checks\":[{\"kind\":\"no-waves\","
		"\"over\":\"2\",\"under\":\"SQ_WAVES\",\"slack\":0.5,\"text\":\"short\"}]}");
	CHECK_I64(rk_metric_set_load(path, NULL, &s, &w.err), 0);
	if (s && old) {
		CHECK_U64(s->ndefs, old->ndefs + 1);
		CHECK_U64(s->nterms, old->nterms);
		CHECK_U64(s->nchecks, old->nchecks);
		m = rk_metric_def_find(s, "l2_hit_pct");
		CHECK_I64(m - s->defs, rk_metric_def_find(old, "l2_hit_pct") - old->defs);
		CHECK(number_for(m->expr, "gfx942") == 50);
		CHECK_STR(m->file, path);
		CHECK(s->defs[s->ndefs - 1].median);
		CHECK_STR(s->defs[s->ndefs - 1].unit, "kg");
		CHECK(rk_metric_term_for(s, "G", "gfx942")->op == RK_EXPR_NAME);
	}
	rk_metric_set_free(s);
	rk_metric_set_free(old);
	world_close(&w);
}

TEST(a_damaged_file_is_refused_with_its_line_and_what_is_wrong)
{
	static const struct {
		const char *text, *says;
		uint64_t line;
	} bad[] = {
		{ "{}", "no definitions", 0 },
		{ "[]", "no definitions", 0 },
		{ "{\"metrics\":[],\n\"metricks\":[]}", "unknown key 'metricks'", 2 },
		{ "{\"schema\":2,\"metrics\":[]}", "reads schema 1", 1 },
		{ "{\"metrics\":{}}", "must be a list", 1 },
		{ "{\"terms\":[]}", "must be an object", 1 },
		{ "{\"metrics\":[\n7]}", "a metric must be an object", 2 },
		{ "{\"metrics\":[{\"expr\":\"1\"}]}", "needs an id", 1 },
		{ "{\"metrics\":[{\"id\":\"a b\",\"expr\":\"1\"}]}", "needs an id", 1 },
		{ "{\"metrics\":[{\"id\":\"a\"}]}", "has no expr", 1 },
		{ "{\"metrics\":[{\"id\":\"a\",\n\"expr\":\"1+\"}]}", "'a': expr: column 3", 2 },
		{ "{\"metrics\":[{\"id\":\"a\",\"expr\":[]}]}", "must be a formula", 1 },
		{ "{\"metrics\":[{\"id\":\"a\",\"expr\":{}}]}", "is empty", 1 },
		{ "{\"metrics\":[{\"id\":\"a\",\"expr\":{\"mi300\":\"1\"}}]}", "invalid target",
		  1 },
		{ "{\"metrics\":[{\"id\":\"a\",\"expr\":{\"\":\"1\"}}]}", "without target", 1 },
		{ "{\"metrics\":[{\"id\":\"a\",\"expr\":{\"gfx9*a\":\"1\"}}]}", "invalid target",
		  1 },
		{ "{\"metrics\":[{\"id\":\"a\",\"expr\":{\"gfx90a gfx90a\":\"1\"}}]}", "two cases",
		  1 },
		{ "{\"metrics\":[{\"id\":\"a\",\"expr\":\"1\",\"exp\":\"2\"}]}", "unknown key", 1 },
		{ "{\"metrics\":[{\"id\":\"a\",\"expr\":\"1\",\"expr\":\"2\"}]}", "duplicate key",
		  1 },
		{ "{\"metrics\":[{\"id\":\"a\",\"expr\":\"1\",\"peak\":\"(\"}]}", "peak: column",
		  1 },
		{ "{\"metrics\":[{\"id\":\"a\",\"expr\":\"1\",\"archs\":[]}]}",
		  "archs must be a list", 1 },
		{ "{\"metrics\":[{\"id\":\"a\",\"expr\":\"1\",\"archs\":[7]}]}",
		  "archs must contain texts", 1 },
		{ "{\"metrics\":[{\"id\":\"a\",\"expr\":\"1\",\"archs\":[\"mi300\"]}]}",
		  "invalid target", 1 },
		{ "{\"absent\":{}}", "must be a list", 1 },
		{ "{\"absent\":[7]}", "a reason must be an object", 1 },
		{ "{\"absent\":[{\"archs\":[\"gfx9*\"],\"text\":\"t\"}]}", "of must be a list", 0 },
		{ "{\"absent\":[{\"of\":[\"a\",[]],\"archs\":[\"gfx9*\"],\"text\":\"t\"}]}",
		  "'a': of must contain texts", 1 },
		{ "{\"absent\":[{\"of\":[\"a\"],\"text\":\"t\"}]}", "archs must be a list", 0 },
		{ "{\"absent\":[{\"of\":[\"a\"],\"archs\":[\"gfx9*\"]}]}", "has no text", 1 },
		{ "{\"absent\":[{\"of\":[\"a\"],\"archs\":[\"gfx9*\"],\"text\":\"t\",\"x\":1}]}",
		  "unknown key 'x'", 1 },
		{ "{\"metrics\":[{\"id\":\"a\",\"expr\":\"1\",\"agg\":\"max\"}]}", "agg must be",
		  1 },
		{ "{\"metrics\":[{\"id\":\"a\",\"expr\":\"1\",\"unit\":[]}]}",
		  "unit must be a text", 1 },
		{ "{\"metrics\":[{\"id\":\"a\",\"expr\":\"1\",\"help\":\"a\\nb\"}]}", "control",
		  1 },
		{ "{\"metrics\":[{\"id\":\"a\",\"expr\":\"1\"},\n{\"id\":\"a\",\"expr\":\"1\"}]}",
		  "defined twice", 2 },
		{ "{\"terms\":{\"a\":\"1\",\n\"a\":\"2\"}}", "defined twice", 2 },
		{ "{\"terms\":{\"a.b\":\"1\"}}", "a term needs a name", 1 },
		{ "{\"terms\":{\"a\":null}}", "must be a formula", 1 },
		{ "{\"checks\":[{\"kind\":\"a\",\"over\":\"1\",\"under\":\"2\"}]}", "has no text",
		  1 },
		{ "{\"checks\":[{\"kind\":\"a\",\"over\":\"1\",\"text\":\"t\"}]}", "under must be",
		  0 },
		{ "{\"checks\":[{\"kind\":\"-\",\"over\":\"1\",\"text\":\"t\"}]}", "needs a kind",
		  1 },
		{ "{\"checks\":[{\"kind\":\"a\",\"over\":\"1\",\"under\":\"1\",\"text\":\"t\","
		  "\"slack\":-1}]}",
		  "slack", 1 },
		{ "{\"checks\":[{\"kind\":\"a\",\"over\":\"1\",\"under\":\"1\",\"text\":\"t\","
		  "\"slack\":\"much\"}]}",
		  "slack", 1 },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct rk_error err;
		struct rk_metric_set *s = parse(bad[i].text, "x.json", &err);

		CHECK(s == NULL && err.code == RK_E_FORMAT);
		CHECK_STR(err.file, "x.json");
		if (!strstr(err.message, bad[i].says))
			CHECK_STR(err.message, bad[i].says);
		if (bad[i].line)
			CHECK_U64(err.line, bad[i].line);
		rk_metric_set_free(s);
	}
}

TEST(sizes_have_limits)
{
	struct rk_bytes b;
	struct rk_error err;
	struct rk_metric_set *s;

	rk_bytes_init(&b, 1 << 20);
	rk_bytes_puts(&b, "{\"terms\":{\"t0\":1");
	for (int i = 1; i <= RK_METRICS_MAX; i++)
		rk_bytes_printf(&b, ",\"t%d\":1", i);
	rk_bytes_puts(&b, "}}");
	s = parse(rk_bytes_str(&b), "x.json", &err);
	CHECK(s == NULL && strstr(err.message, "more than 4096"));
	rk_metric_set_free(s);
	rk_bytes_clear(&b);
	rk_bytes_puts(&b, "{\"terms\":{\"t\":{\"gfx1\":1");
	for (int i = 0; i < RK_METRIC_CASES_MAX; i++)
		rk_bytes_printf(&b, ",\"gfx9%d\":1", i);
	rk_bytes_puts(&b, "}}}");
	s = parse(rk_bytes_str(&b), "x.json", &err);
	CHECK(s == NULL && strstr(err.message, "more than 64 cases"));
	rk_metric_set_free(s);
	rk_bytes_release(&b);
}

static const char sdk_yaml[] =
	"rocprofiler-sdk:\n"
	"  counters-schema-version: 1\n"
	"  counters:\n"
	"    - name: EVENT\n"
	"      description: an event of the hardware\n"
	"      properties: []\n"
	"      definitions:\n"
	"        - architectures: [gfx90a, gfx942]\n"
	"          block: SQ\n"
	"          event: 4\n"
	"    - name: EVENT_sum\n"
	"      description: |\n"
	"        all of them,\n"
	"        together\n"
	"      definitions:\n"
	"        - architectures: [gfx90a]\n"
	"          expression: reduce(EVENT,sum)\n"
	"        - architectures: [gfx942]\n"
	"          expression: reduce(EVENT, sum, [DIMENSION_XCC]) // by die\n"
	"        - architectures: [gfx942]\n"
	"          expression: \"0\"\n"
	"    - name: EVENT[55]\n"
	"      definitions:\n"
	"        - architectures: [gfx942]\n"
	"          expression: select(EVENT,[DIMENSION_XCC=[3], DIMENSION_INSTANCE=[7]])\n"
	"    - name: Rate\n"
	"      definitions:\n"
	"        - architectures: [gfx9]\n"
	"          expression: 100*EVENT_sum/accumulate(SQ_LEVEL_WAVES,HIGH_RES)/0.5\n";

TEST(derived_counters_of_the_sdk_become_metrics_and_terms)
{
	struct rk_error err;
	struct rk_metric_set *s = parse(sdk_yaml, "counter_defs.yaml", &err);

	if (!s && err.code == RK_E_UNSUPPORTED)
		SKIP("built without libyaml");
	CHECK_STR(err.message, "");
	if (!s)
		return;
	CHECK_U64(s->ndefs, 3);
	CHECK_U64(s->nterms, 2);
	CHECK_STR(s->defs[0].id, "EVENT_sum");
	CHECK_STR(s->defs[0].group, "sdk");
	CHECK_STR(s->defs[0].help, "all of them, together");
	CHECK(rk_metric_case_for(s->defs[0].expr, "gfx90a")->op == RK_EXPR_REDUCE);
	CHECK(rk_metric_case_for(s->defs[0].expr, "gfx942")->dims == 1 << RK_DIM_XCC);
	CHECK(rk_metric_case_for(s->defs[0].expr, "gfx950") == NULL);
	CHECK_STR(s->defs[1].id, "EVENT[55]");
	CHECK(rk_metric_term_for(s, "EVENT_sum", "gfx90a") != NULL);
	CHECK(rk_metric_term_for(s, "Rate", "gfx90a") == NULL);
	rk_metric_set_free(s);
}

TEST(a_damaged_file_of_the_sdk_is_refused)
{
	static const struct {
		const char *counters, *says;
	} bad[] = {
		{ "7", "no list of counters" },
		{ "[7]", "invalid counter name" },
		{ "[{\"name\":\"a b\",\"definitions\":[]}]", "invalid counter name" },
		{ "[{\"name\":\"A[\",\"definitions\":[]}]", "invalid counter name" },
		{ "[{\"name\":\"A[1]2\",\"definitions\":[]}]", "invalid counter name" },
		{ "[{\"name\":\"A\"}]", "no list of definitions" },
		{ "[{\"name\":\"A\",\"definitions\":[{\"expression\":\"1\"}]}]", "without arch" },
		{ "[{\"name\":\"A\",\"definitions\":[{\"expression\":\"1)\","
		  "\"architectures\":[\"gfx90a\"]}]}]",
		  "counter 'A': expression: column 2" },
		{ "[{\"name\":\"A\",\"definitions\":[{\"expression\":\"1\","
		  "\"architectures\":[\"xe_90\"]}]}]",
		  "invalid target" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char text[256];
		struct rk_error err;
		struct rk_metric_set *s;

		snprintf(text, sizeof(text), "{\"rocprofiler-sdk\":{\"counters\":%s}}",
			 bad[i].counters);
		s = parse(text, "x.json", &err);
		CHECK(s == NULL && err.code == RK_E_FORMAT);
		if (!strstr(err.message, bad[i].says))
			CHECK_STR(err.message, bad[i].says);
		rk_metric_set_free(s);
	}
}

TEST(definitions_end_well_when_memory_runs_out)
{
	static const char text[] =
		"{\"terms\":{\"t\":{\"gfx9*\":\"A/B\",\"*\":\"1\"}},\"metrics\":[{\"id\":\"a\","
		"\"unit\":\"u\",\"help\":\"h\",\"expr\":\"t\",\"peak\":\"2\",\"archs\":[\"gfx90a\"]}],"
		"\"checks\":[{\"kind\":\"k\",\"over\":\"A\",\"under\":\"B\",\"text\":\"x\"}]}";
	int rc = RK_E_NOMEM;

	for (uint64_t k = 1; rc == RK_E_NOMEM && k < 5000; k++) {
		struct rk_metric_set *s = NULL;
		struct rk_error err = { 0 };

		rk_alloc_fail_after(k);
		rc = rk_metric_set_parse(text, strlen(text), "x.json", &s, &err);
		rk_alloc_fail_after(0);
		CHECK_I64(err.code, rc);
		rk_metric_set_free(s);
	}
	CHECK_I64(rc, 0);
}
