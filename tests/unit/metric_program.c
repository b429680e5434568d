/* metric_program.c - expressions compiled into one program, and what it computes. */
#include "base/alloc.h"
#include "metric_world.h"

TEST(programs_compute_what_expressions_say)
{
	gives("a", 1);
	gives("a+b*c", 7);
	gives("(a+b)*c", 9);
	gives("h-b-c", 3);
	gives("h/b/b", 2);
	gives("h-a*b/d+cus", 11.5);
	gives("-a", -1);
	gives("100*a/(b*cus)", 12.5);
	gives("min(a,b)+max(c,d)", 5);
	gives("min(h,2)*max(h,20)", 40);
	gives("MAX0(a-b)", 0);
	gives("MAX0(b-a)", 1);
	gives("2-a", 1);
	gives("12/d", 3);
	gives("0.5*a+.25", 0.75);
	gives("h*h", 64);
	gives("a[2]", 13);
	gives("LVL(a)", 31);
	gives("accumulate(a,NONE)", 1);
	gives("accumulate(a,HIGH_RES)", 31);
	gives("accumulate(d,LOW_RES)", 8.5);
}

TEST(programs_know_every_row)
{
	struct fixture f;
	unsigned r = 0;

	setup(&f);
	CHECK_I64(add(&f, "b+3*c", &r), 0);
	CHECK(one_value(&f, r, 0) == 11);
	CHECK(one_value(&f, r, 1) == 110);
	CHECK(one_value(&f, r, 2) == 1100);
	teardown(&f);
}

/* In every position, with a column, a register and a number on the other side. */
static const char *const spread_over[] = {
	"a",           "a+b",      "b-a",        "a*b",        "a/b",      "b/a",      "-a",
	"a+1",         "1-a",      "a-1",        "a*2",        "a/2",      "2/a",      "a*0",
	"min(a,b)",    "min(b,a)", "max(a,b)",   "max(b,a)",   "min(a,5)", "max(5,a)", "MAX0(a)",
	"(a+1)/(a+2)", "(b+1)/a",  "min(a+1,b)", "max(1,b*a)", "MAX0(b-a)"
};

static void all_missing(double a)
{
	const double column_a[3] = { a, a, a }, column_b[3] = { 2, 2, 2 };
	const double *columns[NCOLUMNS] = { column_a, column_b };
	size_t n = sizeof(spread_over) / sizeof(*spread_over);

	for (size_t i = 0; i < n; i++) {
		struct rk_program_state *s = NULL;
		struct fixture f;
		unsigned r = 0;

		setup(&f);
		CHECK_I64(add(&f, spread_over[i], &r), 0);
		CHECK_I64(rk_program_state_new(f.program, &s, &f.err), 0);
		rk_program_run(s, columns, 3);
		if (!CHECK(isnan(rk_program_result(s, r)[0]) && isnan(rk_program_result(s, r)[2])))
			printf("# %s of %g\n", spread_over[i], a);
		rk_program_state_free(s);
		teardown(&f);
	}
}

TEST(a_missing_value_makes_everything_of_it_missing)
{
	all_missing((double)NAN);
	all_missing((double)INFINITY);
	all_missing(-(double)INFINITY);
}

TEST(division_by_zero_is_missing_and_zero_is_a_value)
{
	gives("a/(b-2*a)", (double)NAN);
	gives("(b-2*a)/(b-2*a)", (double)NAN);
	gives("1/(b-2*a)", (double)NAN);
	gives("a/0", (double)NAN);
	gives("0/a", 0);
	gives("a*0", 0);
	gives("0/0", (double)NAN);
	gives("1/0", (double)NAN);
	gives("1/(1/0)", (double)NAN);
	gives("min(1,1/0)", (double)NAN);
	gives("max(1/0,1)", (double)NAN);
	gives("MAX0(0/0)", (double)NAN);
	gives("unknown*a+b", (double)NAN);
	gives("1e308*1e308", (double)NAN);
	gives("1/(1e308*10*a)", (double)NAN);
	gives("1/(h*1e308)", (double)NAN);
}

TEST(a_column_that_is_not_there_is_missing)
{
	struct rk_program_state *s = NULL;
	const double two[2] = { 2, 3 };
	const double *columns[NCOLUMNS] = { NULL, two };
	struct fixture f;
	unsigned sum = 0, plain = 0;

	setup(&f);
	CHECK_I64(add(&f, "a+b", &sum), 0);
	CHECK_I64(add(&f, "b", &plain), 0);
	CHECK_I64(rk_program_state_new(f.program, &s, &f.err), 0);
	rk_program_run(s, columns, 2);
	CHECK(isnan(rk_program_result(s, sum)[1]));
	CHECK(rk_program_result(s, plain)[1] == 3);
	columns[0] = two;
	rk_program_run(s, columns, 2);
	CHECK(rk_program_result(s, sum)[1] == 6);
	rk_program_run(s, columns, 0);
	rk_program_state_free(s);
	rk_program_state_free(NULL);
	teardown(&f);
}

TEST(equal_parts_are_computed_once)
{
	struct fixture f;
	unsigned r[7];

	setup(&f);
	CHECK_I64(add(&f, "(a+b)/(c*cus)", &r[0]), 0);
	CHECK_U64(rk_program_steps(f.program), 3);
	CHECK_I64(add(&f, "(b+a)/(cus*c)", &r[1]), 0);
	CHECK_U64(rk_program_steps(f.program), 3);
	CHECK_I64(add(&f, "1+(a+b)*1", &r[2]), 0);
	CHECK_U64(rk_program_steps(f.program), 4);
	CHECK_I64(add(&f, "(a+b+0)/1-0", &r[3]), 0);
	CHECK_U64(rk_program_steps(f.program), 4);
	CHECK_I64(add(&f, "a-b", &r[4]), 0);
	CHECK_I64(add(&f, "b-a", &r[5]), 0);
	CHECK_U64(rk_program_steps(f.program), 6);
	CHECK_I64(add(&f, "max(a,b)-max(b,a)", &r[6]), 0);
	CHECK_U64(rk_program_steps(f.program), 8);
	CHECK(one_value(&f, r[0], 0) == 0.25 && one_value(&f, r[1], 0) == 0.25);
	CHECK(one_value(&f, r[2], 0) == 4 && one_value(&f, r[3], 0) == 3);
	CHECK(one_value(&f, r[4], 0) == -1 && one_value(&f, r[5], 0) == 1);
	teardown(&f);
}

TEST(what_depends_on_no_column_is_a_constant)
{
	struct fixture f;
	unsigned r = 0, n = 0, c = 0;

	setup(&f);
	CHECK_I64(add(&f, "2*cus+3*(1-0.5)", &r), 0);
	CHECK_I64(add(&f, "cus/0", &n), 0);
	CHECK_I64(add(&f, "cus*a", &c), 0);
	CHECK(rk_program_constant(f.program, r) == 9.5);
	CHECK(isnan(rk_program_constant(f.program, n)));
	CHECK(isnan(rk_program_constant(f.program, c)));
	CHECK_U64(rk_program_steps(f.program), 1);
	CHECK(one_value(&f, r, 2) == 9.5);
	CHECK(isnan(one_value(&f, n, 2)));
	teardown(&f);
}

TEST(only_columns_that_matter_are_listed)
{
	const unsigned *columns;
	struct fixture f;
	unsigned r;
	size_t n;

	setup(&f);
	CHECK_I64(add(&f, "c+c*c", &r), 0);
	CHECK_I64(add(&f, "a+nothing", &r), RK_E_UNSUPPORTED);
	CHECK_I64(add(&f, "select(X+Y,[DIMENSION_XCC=[1],DIMENSION_INSTANCE=[2]])", &r), 0);
	columns = rk_program_columns(f.program, &n);
	CHECK_U64(n, 3);
	CHECK(n == 3 && columns[0] == 2 && columns[1] + columns[2] == 15 + 25);
	CHECK_U64(rk_program_steps(f.program), 3);
	/* What was dropped there is wanted now. */
	CHECK_I64(add(&f, "reduce(X+Y,max)", &r), 0);
	rk_program_columns(f.program, &n);
	CHECK_U64(n, 13);
	CHECK_U64(rk_program_steps(f.program), 3 + 5 + 5);
	CHECK(one_value(&f, r, 0) == 42);
	teardown(&f);
}

TEST(a_failed_addition_leaves_the_program_as_it_was)
{
	struct fixture f;
	unsigned r = 5, s = 0;
	size_t n;

	setup(&f);
	CHECK_I64(add(&f, "a+b", &s), 0);
	for (int i = 0; i < 3; i++) {
		CHECK_I64(add(&f, "(a+b)*(c+d)/(e-f) + SQ_WAVES", &r), RK_E_UNSUPPORTED);
		CHECK_STR(f.err.message, "SQ_WAVES was not collected");
	}
	CHECK_U64(r, 5);
	CHECK_U64(rk_program_steps(f.program), 1);
	rk_program_columns(f.program, &n);
	CHECK_U64(n, 2);
	teardown(&f);
}

TEST(missing_names_give_their_reason)
{
	struct fixture f;
	unsigned r;

	refused("SQ_WAVES/a", "SQ_WAVES was not collected");
	refused("LVL(SQ_LEVEL_WAVES)", "SQ_LEVEL_WAVES was not collected");
	refused("a + W", "W has 4097 instances");
	refused("a + E", "E has 0 instances");
	setup(&f);
	CHECK_I64(add(&f, "a*broken", &r), RK_E_IO);
	CHECK_STR(f.err.message, "cannot look");
	teardown(&f);
}

TEST(terms_expand_to_their_expressions)
{
	struct fixture f;
	unsigned r = 0, s = 0, m = 0;

	setup(&f);
	add_term(&f, "G", "a/cus");
	add_term(&f, "busy", "100*b/G");
	add_term(&f, "X_sum", "reduce(X,sum)");
	add_term(&f, "per", "X/2");
	CHECK_I64(add(&f, "busy+G", &r), 0);
	CHECK(one_value(&f, r, 0) == 800.25);
	CHECK_I64(add(&f, "100*X_sum/G", &s), 0);
	CHECK(one_value(&f, s, 0) == 32400);
	/* Inside of reduce a term is one of instances, outside not. */
	CHECK_I64(add(&f, "reduce(per,max)+per", &m), 0);
	CHECK(one_value(&f, m, 0) == 8 + 40.5);
	teardown(&f);
}

TEST(a_second_choice_counts_where_the_first_was_not_recorded)
{
	gives("or(a,b)", 1);
	gives("or(SQ_X,b)", 2);
	gives("or(a*(b+SQ_X),c)+d", 7); /* what was begun in vain leaves nothing behind */
	gives("h-or(SQ_X,or(SQ_Y,b))-a", 5);
	gives("reduce(or(SQ_X,X),max)", 16);
	gives("or(a-a,b)", 0);
	gives("or(a/(b-b),c)", (double)NAN); /* values do not decide */
	refused("or(SQ_X,SQ_Y)", "SQ_X was not collected");
	refused("or(SQ_X,a)+SQ_Z", "SQ_Z was not collected");
}

TEST(an_expression_of_too_many_choices_says_so)
{
	char text[8192] = "0";
	size_t len = 1;

	for (unsigned i = 0; i < 300; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "+or(SQ_X,a)");
	refused(text, "more than 256 or() need their second argument");
}

/* 2^70 ways, if each were gone. */
TEST(choices_of_choices_are_not_tried_for_ever)
{
	static char names[NTERMS][8];
	struct fixture f;
	unsigned r = 0;

	setup(&f);
	for (size_t i = 0; i < 70; i++) {
		char text[40];

		snprintf(names[i], sizeof(names[i]), "t%zu", i);
		snprintf(text, sizeof(text), i ? "or(t%zu,t%zu)" : "SQ_X", i - 1, i - 1);
		add_term(&f, names[i], text);
	}
	CHECK_I64(add(&f, "t69", &r), RK_E_UNSUPPORTED);
	CHECK(f.look_ups < 2000);
	teardown(&f);
}

TEST(terms_that_lead_back_to_themselves_are_refused)
{
	struct fixture f;
	unsigned r;

	setup(&f);
	add_term(&f, "self", "a+self");
	add_term(&f, "one", "a*two");
	add_term(&f, "two", "b+reduce(three,sum)");
	add_term(&f, "three", "one");
	CHECK_I64(add(&f, "self", &r), RK_E_UNSUPPORTED);
	CHECK_STR(f.err.message, "a term refers to itself: self -> self");
	CHECK_I64(add(&f, "1+two", &r), RK_E_UNSUPPORTED);
	CHECK_STR(f.err.message, "a term refers to itself: two -> three -> one -> two");
	CHECK_U64(rk_program_steps(f.program), 0);
	teardown(&f);
}

TEST(terms_of_terms_are_compiled_once)
{
	char names[NTERMS][8];
	struct fixture f;
	unsigned r = 0;

	setup(&f);
	for (int i = 0; i < NTERMS; i++) {
		char text[32];

		snprintf(names[i], sizeof(names[i]), "t%d", i);
		snprintf(text, sizeof(text), i ? "t%d-t%d/2" : "a", i - 1, i - 1);
		add_term(&f, names[i], text);
	}
	CHECK_I64(add(&f, "t79", &r), 0);
	CHECK_U64(f.look_ups, 2 * 79 + 2);
	CHECK(one_value(&f, r, 0) == pow(0.5, 79));
	teardown(&f);
}

/* Chains are as long as they like, and nesting of any shape ends in an answer or a reason. */
TEST(long_chains_and_deep_trees_compile)
{
	struct fixture f;
	static char text[1 << 16];
	unsigned r = 0;
	size_t len = 0;

	setup(&f);
	for (int i = 0; i < 8000; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%c+", "ab"[i % 2]);
	snprintf(text + len, sizeof(text) - len, "c");
	CHECK_I64(add(&f, text, &r), 0);
	CHECK(one_value(&f, r, 0) == 4000 + 8000 + 3);
	len = 0;
	for (int i = 0; i < 127; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "a+b/b*(");
	len += (size_t)snprintf(text + len, sizeof(text) - len, "c");
	for (int i = 0; i < 127; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, ")");
	CHECK_I64(add(&f, text, &r), 0);
	CHECK(one_value(&f, r, 0) == 127 + 3);
	teardown(&f);
}

TEST(a_program_has_a_limit_of_steps)
{
	struct fixture f;
	unsigned r = 0;
	int rc = 0;

	setup(&f);
	for (int i = 0; i < 100 && rc == 0; i++) {
		char text[64];

		snprintf(text, sizeof(text), "reduce(B*%d.5,sum)", i);
		rc = add(&f, text, &r);
	}
	CHECK_I64(rc, RK_E_UNSUPPORTED);
	CHECK_STR(f.err.message, "the metrics need more than 65536 steps");
	CHECK_I64(add(&f, "a", &r), 0);
	teardown(&f);
}

TEST(results_beyond_the_registers_are_refused)
{
	struct rk_program_state *s = NULL;
	struct fixture f;
	unsigned r = 0;
	int rc = 0;

	setup(&f);
	for (int i = 0; i < RK_PROGRAM_REGISTERS_MAX && rc == 0; i++) {
		char text[64];

		snprintf(text, sizeof(text), "a+%d.5", i);
		rc = add(&f, text, &r);
	}
	CHECK_I64(rc, 0);
	CHECK_I64(rk_program_state_new(f.program, &s, &f.err), RK_E_LIMIT);
	CHECK(s == NULL);
	teardown(&f);
}

/* Registers are used again, results are not touched, any number of rows. */
TEST(results_of_all_rows_stay_until_the_next_run)
{
	static double data[8][RK_PROGRAM_ROWS];
	const double *columns[NCOLUMNS] = { 0 };
	struct rk_program_state *s = NULL;
	struct fixture f;
	unsigned r[50], wrong = 0;

	setup(&f);
	for (unsigned c = 0; c < 8; c++) {
		columns[c] = data[c];
		for (size_t i = 0; i < RK_PROGRAM_ROWS; i++)
			data[c][i] = (double)(c + 1) + (double)i * 0.5;
	}
	for (int i = 0; i < 50; i++) {
		char text[100];

		snprintf(text, sizeof(text), "((a+%d)*(b-%d))/((c+%d)*(d+e))-%d*f", i, i, i, i);
		CHECK_I64(add(&f, text, &r[i]), 0);
	}
	CHECK_I64(rk_program_state_new(f.program, &s, &f.err), 0);
	for (size_t n = 0; n <= RK_PROGRAM_ROWS; n = n * 2 + 3) {
		rk_program_run(s, columns, n);
		for (int i = 0; i < 50; i++)
			for (size_t k = 0; k < n; k++) {
				double a = data[0][k], b = data[1][k], c = data[2][k];
				double d = data[3][k], e = data[4][k], g = data[5][k];
				double want = ((a + i) * (b - i)) / ((c + i) * (d + e)) - i * g;

				wrong += rk_program_result(s, r[i])[k] == want ? 0 : 1;
			}
	}
	CHECK_U64(wrong, 0);
	CHECK_U64((uintptr_t)rk_program_result(s, r[7]) % 64, 0);
	rk_program_state_free(s);
	teardown(&f);
}

/* Everything from names to results; the code, or the value. */
static int whole_way(double *ret)
{
	static const char *const texts[] = { "reduce(X/Y,max)+LVL(L)", "100*a/(b*cus)",
					     "select(X,[DIMENSION_XCC=[1]])", "twice-b" };
	double data[NCOLUMNS][2];
	const double *columns[NCOLUMNS];
	struct rk_program_state *s = NULL;
	struct fixture f = { 0 };
	unsigned r = 0;
	int rc;

	f.names = (struct rk_names){ &f, look_up };
	for (unsigned c = 0; c < NCOLUMNS; c++) {
		data[c][0] = data[c][1] = cell(c, 0);
		columns[c] = data[c];
	}
	rc = rk_arena_new(&f.arena, &f.err);
	if (rc == 0)
		rc = rk_program_new(&f.program, &f.err);
	for (int i = 0; rc == 0 && i < 5; i++) {
		const char *text = i ? texts[i - 1] : "2*(a+a)";
		const struct rk_expr *e = NULL;

		rc = rk_expr_parse(f.arena, text, strlen(text), &e, &f.err);
		if (i == 0) {
			f.terms[0].name = "twice";
			f.terms[0].expr = e;
			f.nterms = 1;
		} else if (rc == 0) {
			rc = rk_program_add(f.program, e, &f.names, &r, &f.err);
		}
	}
	if (rc == 0)
		rc = rk_program_state_new(f.program, &s, &f.err);
	if (rc == 0) {
		rk_program_run(s, columns, 2);
		*ret = rk_program_result(s, r)[1];
	}
	CHECK_I64(f.err.code, rc);
	rk_program_state_free(s);
	teardown(&f);
	return rc;
}

TEST(every_allocation_of_a_program_may_fail)
{
	bool failed = true;
	uint64_t n;

	for (n = 1; failed && n < 1000; n++) {
		double value = 0;
		int rc;

		rk_alloc_fail_after(n);
		rc = whole_way(&value);
		failed = rk_alloc_failed();
		rk_alloc_fail_after(0);
		CHECK_I64(rc, failed ? RK_E_NOMEM : 0);
		CHECK(failed || value == 2);
	}
	CHECK(!failed && n > 20);
}
