/* metric_expr.c - expressions, and messages about invalid ones. */
#include "metrics/formula/expr.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/num.h"
#include "tap.h"

static const char *const op_names[] = { "num",    "name",   "+",          "-",    "*",
					"/",      "min",    "max",        "MAX0", "LVL",
					"reduce", "select", "accumulate", "or" };
static const char *const how_names[] = { "sum", "min", "max", "avr", "NONE", "LOW", "HIGH" };

/* (op a b), so that a test sees the tree; the recursion is that of the tests' own texts. */
static void print_tree(struct rk_bytes *out, const struct rk_expr *e)
{
	char number[32];

	switch (e->op) {
	case RK_EXPR_NUMBER:
		rk_bytes_put(out, number, rk_num_put_f64(number, e->number));
		return;
	case RK_EXPR_NAME:
		rk_bytes_puts(out, e->name);
		if (e->index >= 0)
			rk_bytes_printf(out, "[%d]", (int)e->index);
		return;
	default:
		break;
	}
	rk_bytes_printf(out, "(%s", op_names[e->op]);
	if (e->op == RK_EXPR_REDUCE || e->op == RK_EXPR_ACCUMULATE)
		rk_bytes_printf(out, " %s", how_names[e->how]);
	if (e->dims)
		rk_bytes_printf(out, " %#x", e->dims);
	for (const struct rk_expr_pick *k = e->picks; k; k = k->next)
		rk_bytes_printf(out, " %d=%u:%u", k->dim, k->first, k->last);
	if (e->name)
		rk_bytes_printf(out, " %s", e->name);
	for (int i = 0; i < 2; i++) {
		const struct rk_expr *x = i ? e->b : e->a;

		if (x) {
			rk_bytes_puts(out, " ");
			print_tree(out, x);
		}
	}
	rk_bytes_puts(out, ")");
}

static void tree_is(const char *text, const char *want)
{
	struct rk_arena *arena = NULL;
	const struct rk_expr *e = NULL;
	struct rk_error err = { 0 };
	struct rk_bytes out;

	rk_bytes_init(&out, 1 << 16);
	CHECK_I64(rk_arena_new(&arena, &err), 0);
	CHECK_I64(rk_expr_parse(arena, text, strlen(text), &e, &err), 0);
	CHECK_STR(err.message, "");
	if (e)
		print_tree(&out, e);
	rk_bytes_put_u8(&out, 0);
	CHECK_STR((const char *)out.data, want);
	rk_bytes_release(&out);
	rk_arena_free(arena);
}

static void fails_n(const char *text, size_t len, int code, const char *message)
{
	struct rk_arena *arena = NULL;
	const struct rk_expr *e = NULL;
	struct rk_error err = { 0 };

	CHECK_I64(rk_arena_new(&arena, &err), 0);
	CHECK_I64(rk_expr_parse(arena, text, len, &e, &err), code);
	CHECK_STR(err.message, message);
	CHECK_I64(rk_expr_parse(arena, text, len, &e, NULL), code);
	CHECK(e == NULL);
	rk_arena_free(arena);
}

static void fails(const char *text, const char *message)
{
	fails_n(text, strlen(text), RK_E_FORMAT, message);
}

TEST(operators_bind_and_lean_as_in_school)
{
	tree_is("a+b*c", "(+ a (* b c))");
	tree_is("a*b+c", "(+ (* a b) c)");
	tree_is("(a+b)*c", "(* (+ a b) c)");
	tree_is("a-b-c", "(- (- a b) c)");
	tree_is("a/b/c", "(/ (/ a b) c)");
	tree_is("a/b*c", "(* (/ a b) c)");
	tree_is("a-b+c*d/e-f", "(- (+ (- a b) (/ (* c d) e)) f)");
	tree_is("a-(b-c)", "(- a (- b c))");
	tree_is("100*SQ_ACTIVE_INST_VALU/(G*cus)", "(/ (* 100 SQ_ACTIVE_INST_VALU) (* G cus))");
}

TEST(a_sign_binds_to_its_factor)
{
	tree_is("-3", "-3");
	tree_is("--3", "3");
	tree_is("-a*b", "(* (* -1 a) b)");
	tree_is("a--b", "(- a (* -1 b))");
	tree_is("a*-2", "(* a -2)");
	tree_is("-(a+b)", "(* -1 (+ a b))");
}

TEST(decimals_are_decimals)
{
	tree_is("0.5", "0.5");
	tree_is("64.9", "64.9");
	tree_is(".25", "0.25");
	tree_is("3.", "3");
	tree_is("1e3", "1000");
	tree_is("1.5E-3", "0.0015");
	tree_is("2e+2", "200");
	tree_is("4294967297", "4294967297");
	tree_is("1024/3.5e0", "(/ 1024 3.5)");
}

TEST(a_locale_with_commas_changes_no_number)
{
	char *old = setlocale(LC_NUMERIC, NULL), *kept = old ? rk_strdup(old) : NULL;

	/* Where the locale is not installed this checks no less than the test above. */
	setlocale(LC_NUMERIC, "de_DE.UTF-8");
	tree_is("min(0.5,1.5)", "(min 0.5 1.5)");
	setlocale(LC_NUMERIC, kept ? kept : "C");
	rk_free(kept);
}

TEST(names_have_dots_and_instances)
{
	tree_is("EA.RDREQ_sum", "EA.RDREQ_sum");
	tree_is("TCC_HIT[55]+TCC_HIT [ 0 ]", "(+ TCC_HIT[55] TCC_HIT[0])");
	tree_is("_x1", "_x1");
	tree_is("min+max*reduce", "(+ min (* max reduce))");
}

TEST(blanks_and_remarks_are_skipped)
{
	tree_is(" a\t+\r\n b // the rest * of the line\n *c", "(+ a (* b c))");
	tree_is("a // at the end", "a");
	tree_is("// before\na", "a");
	tree_is("a/b//c", "(/ a b)");
}

TEST(functions_take_what_they_take)
{
	tree_is("MAX0(a-b)", "(MAX0 (- a b))");
	tree_is("min(a,max(b,c+1))", "(min a (max b (+ c 1)))");
	tree_is("LVL(SQ_LEVEL_WAVES)/G", "(/ (LVL SQ_LEVEL_WAVES) G)");
	tree_is("1+or(a*b, or(c, d))", "(+ 1 (or (* a b) (or c d)))");
	tree_is("accumulate(SQ_IFETCH_LEVEL,HIGH_RES)", "(accumulate HIGH SQ_IFETCH_LEVEL)");
	tree_is("accumulate(X, LOW_RES) + accumulate(X,NONE)",
		"(+ (accumulate LOW X) (accumulate NONE X))");
	tree_is("reduce(GRBM_COUNT,max)", "(reduce max GRBM_COUNT)");
	tree_is("100*reduce(a/b, avr)", "(* 100 (reduce avr (/ a b)))");
	tree_is("reduce(a,sum,[DIMENSION_XCC])", "(reduce sum 0x1 a)");
	tree_is("reduce(a,min,[DIMENSION_INSTANCE, DIMENSION_WGP])", "(reduce min 0x60 a)");
	tree_is("reduce(accumulate(L,HIGH_RES),sum)", "(reduce sum (accumulate HIGH L))");
	tree_is("select(a,[DIMENSION_XCC=[3], DIMENSION_INSTANCE=[7]])", "(select 6=7:7 0=3:3 a)");
	tree_is("select(a,[DIMENSION_SHADER_ENGINE=[0,2:3]])", "(select 2=2:3 2=0:0 a)");
	tree_is("reduce(select(a,[DIMENSION_AID=[1]]),sum,[DIMENSION_AGENT,DIMENSION_SHADER_ARRAY])",
		"(reduce sum 0x18 (select 1=1:1 a))");
}

TEST(expression_errors_say_the_column_and_what_was_expected)
{
	fails("", "column 1: expected a number, a name or '(', found the end");
	fails("a+", "column 3: expected a number, a name or '(', found the end");
	fails("a + * b", "column 5: expected a number, a name or '(', found '*'");
	fails("(a+b", "column 5: expected ')', found the end");
	fails("a b", "column 3: expected an operator or the end, found 'b'");
	fails("a)", "column 2: expected an operator or the end, found ')'");
	fails("min(a)", "column 6: expected ',', found ')'");
	fails("min(a,b,c)", "column 8: expected ')', found ','");
	fails("LVL(3)", "column 5: expected a name, found '3'");
	fails("accumulate(a+b,NONE)", "column 13: expected ',', found '+'");
	fails("a[b]", "column 3: expected a whole number, found 'b'");
	fails("a[1.0]", "column 3: expected a whole number, found '1.0'");
	fails("a[1e1]", "column 3: expected a whole number, found '1e1'");
	fails("a[-1]", "column 3: expected a whole number, found '-'");
	fails("a[2147483648]", "column 3: the index is out of range");
	fails("a[1", "column 4: expected ']', found the end");
	fails("a[1][2]", "column 5: expected an operator or the end, found '['");
	fails("a % b", "column 3: unexpected '%'");
	fails("$denom", "column 1: unexpected '$'");
	fails("a*\xc3\xa4", "column 3: unexpected byte 0xc3");
	fails_n("a\0b", 3, RK_E_FORMAT, "column 2: unexpected byte 0x00");
	fails("a // b\n )", "column 9: expected an operator or the end, found ')'");
}

TEST(numbers_that_are_none_are_refused)
{
	fails("64B", "column 3: 'B' right after a number");
	fails("2e", "column 2: 'e' right after a number");
	fails("1.2.3", "column 4: '.' right after a number");
	fails("0x10", "column 2: 'x' right after a number");
	fails("1e999", "column 1: the number is out of range");
	fails(".", "column 1: unexpected '.'");
}

TEST(unknown_words_are_reported_with_the_known_ones)
{
	fails("reduce(a,avg)", "column 10: unknown operation 'avg' (known: sum, min, max, avr)");
	fails("reduce(a,SUM)", "column 10: unknown operation 'SUM' (known: sum, min, max, avr)");
	fails("reduce(a,1)", "column 10: expected sum, min, max, avr, found '1'");
	fails("accumulate(a,MID_RES)",
	      "column 14: unknown resolution 'MID_RES' (known: NONE, LOW_RES, HIGH_RES)");
	fails("reduce(a,sum,[XCC])",
	      "column 15: unknown dimension 'XCC' (known: DIMENSION_XCC, DIMENSION_AID, "
	      "DIMENSION_SHADER_ENGINE, DIMENSION_AGENT, DIMENSION_SHADER_ARRAY, DIMENSION_WGP, "
	      "DIMENSION_INSTANCE)");
	fails("or(a)", "column 5: expected ',', found ')'");
	fails("avg(a,b)", "column 1: unknown function 'avg' (known: MAX0, min, max, or, LVL, "
			  "reduce, select, accumulate)");
}

TEST(selections_are_read_to_the_bracket)
{
	fails("select(a,[])",
	      "column 11: expected DIMENSION_XCC, DIMENSION_AID, DIMENSION_SHADER_ENGINE, "
	      "DIMENSION_AGENT, DIMENSION_SHADER_ARRAY, DIMENSION_WGP, DIMENSION_INSTANCE, "
	      "found ']'");
	fails("select(a)", "column 9: expected ',', found ')'");
	fails("select(a,[DIMENSION_XCC=3])", "column 25: expected '[', found '3'");
	fails("select(a,[DIMENSION_XCC=[]])", "column 26: expected a whole number, found ']'");
	fails("select(a,[DIMENSION_XCC=[5:2]])", "column 26: the range ends before it starts");
	fails("select(a,[DIMENSION_XCC=[4294967296]])", "column 26: the index is out of range");
	fails("reduce(a,sum,DIMENSION_XCC)", "column 14: expected '[', found 'DIMENSION_XCC'");
}

/* `n` times `part`, then `middle`, then n times `end`. */
static char *repeated(const char *part, size_t n, const char *middle, const char *end)
{
	struct rk_bytes out;

	rk_bytes_init(&out, 1 << 20);
	for (size_t i = 0; i < n; i++)
		rk_bytes_puts(&out, part);
	rk_bytes_puts(&out, middle);
	for (size_t i = 0; i < n; i++)
		rk_bytes_puts(&out, end);
	rk_bytes_put_u8(&out, 0);
	return (char *)out.data; /* rk_free */
}

static int parse_code(const char *text, char *message, size_t size)
{
	struct rk_arena *arena = NULL;
	const struct rk_expr *e = NULL;
	struct rk_error err = { 0 };
	int rc = rk_arena_new(&arena, &err);

	if (rc == 0)
		rc = rk_expr_parse(arena, text, strlen(text), &e, &err);
	CHECK((rc == 0) == (e != NULL));
	snprintf(message, size, "%s", err.message);
	rk_arena_free(arena);
	return rc;
}

static void limited(char *text, int code, const char *want)
{
	char message[512];

	CHECK_I64(parse_code(text, message, sizeof(message)), code);
	CHECK_STR(message, want);
	rk_free(text);
}

TEST(nesting_size_and_names_have_bounds)
{
	const char *deep = "column 129: nested more than 128 deep";

	limited(repeated("(", 127, "a", ")"), 0, "");
	limited(repeated("(", 128, "a", ")"), RK_E_LIMIT, deep);
	limited(repeated("-", 127, "a", ""), 0, "");
	limited(repeated("-", 60000, "a", ""), RK_E_LIMIT, deep);
	limited(repeated("MAX0(", 60, "a", ")"), 0, "");
	limited(repeated("MAX0(", 129, "a", ")"), RK_E_LIMIT,
		"column 641: nested more than 128 deep");
	limited(repeated("a+", 8191, "a", ""), 0, "");
	limited(repeated("a+", 8192, "a", ""), RK_E_LIMIT,
		"column 16386: an expression of more than 16384 parts");
	limited(repeated(" ", 1 << 16, "a", ""), RK_E_LIMIT,
		"the expression has 65537 bytes; the limit is 65536");
	limited(repeated("n", 255, "", ""), 0, "");
	limited(repeated("n", 256, "", ""), RK_E_LIMIT,
		"column 1: a name of more than 255 characters");
	limited(repeated("1", 200, "", ""), RK_E_FORMAT, "column 1: the number is too long");
}

TEST(an_arena_owns_what_belongs_to_its_expressions)
{
	struct rk_arena *a = NULL;
	struct rk_error err = { 0 };
	const char *text;
	char *big;

	CHECK_I64(rk_arena_new(&a, &err), 0);
	CHECK(rk_arena_alloc(a, 0) != NULL);
	text = rk_arena_text(a, "gfx942 and more", 6);
	big = rk_arena_alloc(a, 100000);
	CHECK(big && big[0] == 0 && big[99999] == 0);
	memset(big, 1, 100000);
	for (int i = 0; i < 1000; i++) {
		double *d = rk_arena_alloc(a, 24);

		CHECK(d && (uintptr_t)d % _Alignof(max_align_t) == 0 && d[2] == 0);
	}
	CHECK_STR(text, "gfx942");
	CHECK(rk_arena_alloc(a, SIZE_MAX) == NULL);
	rk_arena_free(a);
	rk_arena_free(NULL);
}

TEST(every_allocation_of_the_parser_may_fail)
{
	char *text =
		repeated("select(a[3]*b,[DIMENSION_XCC=[1,2:3]])+LVL(c)-min(1,-d)+", 200, "1", "");
	bool failed = true;

	for (uint64_t n = 1; failed && n < 1000; n++) {
		char message[512];
		int rc;

		rk_alloc_fail_after(n);
		rc = parse_code(text, message, sizeof(message));
		failed = rk_alloc_failed();
		rk_alloc_fail_after(0);
		CHECK_I64(rc, failed ? RK_E_NOMEM : 0);
	}
	CHECK(!failed);
	rk_free(text);
}
