/* metric_random.c - random expressions against an evaluator that knows no program. */
#include "metric_world.h"

struct random_text {
	uint64_t state;
	char text[4096];
	size_t len;
};

static unsigned next_random(struct random_text *t, unsigned below)
{
	t->state ^= t->state << 13;
	t->state ^= t->state >> 7;
	t->state ^= t->state << 17;
	return (unsigned)(t->state >> 33) % below;
}

static void put(struct random_text *t, const char *s)
{
	t->len += (size_t)snprintf(t->text + t->len, sizeof(t->text) - t->len, "%s", s);
}

static void random_leaf(struct random_text *t)
{
	static const char *const leaves[] = { "a", "b", "c",   "d", "e",   "f",   "g",    "h",
					      "0", "1", "0.5", "3", "100", "cus", "a[1]", "LVL(b)" };

	put(t, leaves[next_random(t, sizeof(leaves) / sizeof(*leaves))]);
}

static void random_expr(struct random_text *t, int depth)
{
	static const char *const open[] = {
		"(", "(", "(", "(", "min(", "max(", "MAX0(", "-(",
	};
	static const char *const middle[] = { "+", "-", "*", "/", ",", ",", NULL, NULL };
	unsigned k = next_random(t, 8);

	if (depth == 0 || next_random(t, 5) == 0) {
		random_leaf(t);
		return;
	}
	put(t, open[k]);
	random_expr(t, depth - 1);
	if (middle[k]) {
		put(t, middle[k]);
		random_expr(t, depth - 1);
	}
	put(t, ")");
}

static double naive_name(const struct rk_expr *e, const double *row)
{
	unsigned c = (unsigned)(e->name[0] - 'a');

	if (strcmp(e->name, "cus") == 0)
		return 4;
	if (e->op == RK_EXPR_LEVEL)
		return row[c + 30];
	return row[e->index < 0 ? c : c + 10 + (unsigned)e->index];
}

static double naive(const struct rk_expr *e, const double *row)
{
	double x, y, r;

	if (e->op == RK_EXPR_NUMBER)
		return e->number;
	if (e->op == RK_EXPR_NAME || e->op == RK_EXPR_LEVEL) {
		r = naive_name(e, row);
		return isfinite(r) ? r : (double)NAN;
	}
	x = naive(e->a, row);
	y = e->b ? naive(e->b, row) : 0;
	if (isnan(x) || isnan(y) || (e->op == RK_EXPR_DIV && y == 0))
		return (double)NAN;
	switch (e->op) {
	case RK_EXPR_ADD:
		r = x + y;
		break;
	case RK_EXPR_SUB:
		r = x - y;
		break;
	case RK_EXPR_MUL:
		r = x * y;
		break;
	case RK_EXPR_DIV:
		r = x / y;
		break;
	case RK_EXPR_MIN:
		r = fmin(x, y);
		break;
	default:
		r = fmax(x, y);
		break;
	}
	return isfinite(r) ? r : (double)NAN;
}

enum { NRANDOM = 400, RANDOM_ROWS = 37 };

/* Small whole numbers, zeros, negative ones, huge ones, missing ones. */
static double random_value(struct random_text *t)
{
	switch (next_random(t, 12)) {
	case 0:
		return 0;
	case 1:
		return (double)NAN;
	case 2:
		return next_random(t, 3) ? 1e300 : (double)INFINITY;
	case 3:
		return -(double)next_random(t, 50);
	default:
		return (double)next_random(t, 1000) / 8;
	}
}

static void random_round(struct fixture *f, struct random_text *t)
{
	static double data[NCOLUMNS][RANDOM_ROWS];
	static const struct rk_expr *exprs[NRANDOM];
	static unsigned results[NRANDOM];
	const double *columns[NCOLUMNS];
	struct rk_program_state *s = NULL;
	unsigned long known = 0;

	for (int i = 0; i < NRANDOM; i++) {
		t->len = 0;
		random_expr(t, 6);
		exprs[i] = parse(f, t->text);
		CHECK_I64(rk_program_add(f->program, exprs[i], &f->names, &results[i], &f->err), 0);
	}
	for (size_t c = 0; c < NCOLUMNS; c++) {
		columns[c] = data[c];
		for (size_t k = 0; k < RANDOM_ROWS; k++)
			data[c][k] = random_value(t);
	}
	CHECK_I64(rk_program_state_new(f->program, &s, &f->err), 0);
	rk_program_run(s, columns, RANDOM_ROWS);
	for (int i = 0; i < NRANDOM; i++)
		for (size_t k = 0; k < RANDOM_ROWS; k++) {
			double row[NCOLUMNS], want, got = rk_program_result(s, results[i])[k];

			for (size_t c = 0; c < NCOLUMNS; c++)
				row[c] = data[c][k];
			want = naive(exprs[i], row);
			known += isnan(want) ? 0 : 1;
			if (!CHECK(same(got, want)))
				printf("# number %d, row %zu: %.17g, not %.17g\n", i, k, got, want);
		}
	CHECK(known > NRANDOM * RANDOM_ROWS / 10);
	rk_program_state_free(s);
}

TEST(random_expressions_give_what_a_naive_evaluator_gives)
{
	struct random_text t = { .state = 0x9e3779b97f4a7c15u };

	for (int round = 0; round < 5; round++) {
		struct fixture f;

		setup(&f);
		random_round(&f, &t);
		teardown(&f);
	}
}
