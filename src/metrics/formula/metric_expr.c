/*
 * metric_expr.c - expressions over counters, parsed by recursive descent.
 *
 * Only brackets, signs and functions recurse, and each goes through factor(), which counts; chains
 * of operators are loops.
 */
#include "metrics/formula/metric_expr.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "metrics/formula/metric_lex.h"

struct parser {
	struct rk_lex lex;
	struct rk_arena *arena;
	size_t nodes;
	int depth;
	struct rk_error *err;
};

/* A word and what it stands for. */
struct word {
	const char *name;
	unsigned value;
};

static const struct word operations[] = {
	{ "sum", RK_HOW_SUM },
	{ "min", RK_HOW_MIN },
	{ "max", RK_HOW_MAX },
	{ "avr", RK_HOW_AVR },
	{ 0 },
};

static const struct word resolutions[] = {
	{ "NONE", RK_HOW_NONE },
	{ "LOW_RES", RK_HOW_LOW },
	{ "HIGH_RES", RK_HOW_HIGH },
	{ 0 },
};

static const struct word dimensions[] = {
	{ "DIMENSION_XCC", RK_DIM_XCC },
	{ "DIMENSION_AID", RK_DIM_AID },
	{ "DIMENSION_SHADER_ENGINE", RK_DIM_SHADER_ENGINE },
	{ "DIMENSION_AGENT", RK_DIM_AGENT },
	{ "DIMENSION_SHADER_ARRAY", RK_DIM_SHADER_ARRAY },
	{ "DIMENSION_WGP", RK_DIM_WGP },
	{ "DIMENSION_INSTANCE", RK_DIM_INSTANCE },
	{ 0 },
};

static int expression(struct parser *p, const struct rk_expr **ret);

static int next(struct parser *p)
{
	return rk_lex_next(&p->lex, p->err);
}

static int expect(struct parser *p, int kind)
{
	char what[4] = { '\'', (char)kind, '\'', '\0' };

	return p->lex.kind == kind ? next(p) : rk_lex_expected(&p->lex, what, p->err);
}

static void list_words(const struct word *words, char *out, size_t size)
{
	size_t len = 0;

	for (const struct word *w = words; w->name && len < size; w++)
		len += (size_t)snprintf(out + len, size - len, "%s%s", w == words ? "" : ", ",
					w->name);
}

/* One of `words`; an unknown one is told together with those there are. */
static int one_of(struct parser *p, const char *what, const struct word *words, unsigned *ret)
{
	const struct rk_lex *l = &p->lex;
	char known[256];

	for (const struct word *w = words; w->name; w++)
		if (rk_lex_is(l, w->name)) {
			*ret = w->value;
			return next(p);
		}
	list_words(words, known, sizeof(known));
	if (l->kind != RK_LEX_NAME)
		return rk_lex_expected(l, known, p->err);
	return rk_fail(p->err, RK_E_FORMAT, "column %zu: unknown %s '%.*s' (known: %s)", l->at + 1,
		       what, rk_lex_shown(l), l->text + l->at, known);
}

static struct rk_expr *node(struct parser *p, enum rk_expr_op op)
{
	struct rk_expr *e;

	if (p->nodes == RK_EXPR_NODES_MAX) {
		rk_fail(p->err, RK_E_LIMIT, "column %zu: an expression of more than %d parts",
			p->lex.at + 1, RK_EXPR_NODES_MAX);
		return NULL;
	}
	e = rk_arena_alloc(p->arena, sizeof(*e));
	if (!e) {
		rk_fail_nomem(p->err);
		return NULL;
	}
	p->nodes++;
	e->op = op;
	e->index = -1;
	return e;
}

/* The code of a failure that node() has told, also where nobody wants to hear the error. */
static int node_failed(const struct parser *p)
{
	return p->nodes == RK_EXPR_NODES_MAX ? RK_E_LIMIT : RK_E_NOMEM;
}

static int binary(struct parser *p, enum rk_expr_op op, const struct rk_expr *a,
		  const struct rk_expr *b, const struct rk_expr **ret)
{
	struct rk_expr *e = node(p, op);

	if (!e)
		return node_failed(p);
	e->a = a;
	e->b = b;
	*ret = e;
	return 0;
}

static int number_of(struct parser *p, double v, const struct rk_expr **ret)
{
	struct rk_expr *e = node(p, RK_EXPR_NUMBER);

	if (!e)
		return node_failed(p);
	e->number = v;
	*ret = e;
	return 0;
}

/* The current NAME, copied; the word stays. */
static int copy_name(struct parser *p, struct rk_expr *e)
{
	if (p->lex.kind != RK_LEX_NAME)
		return rk_lex_expected(&p->lex, "a name", p->err);
	e->name = rk_arena_text(p->arena, p->lex.text + p->lex.at, p->lex.n);
	return e->name ? 0 : rk_fail_nomem(p->err);
}

static int integer(struct parser *p, uint32_t max, uint32_t *ret)
{
	const struct rk_lex *l = &p->lex;
	uint64_t v;

	if (l->kind != RK_LEX_NUMBER || !l->whole)
		return rk_lex_expected(l, "a whole number", p->err);
	if (rk_num_u64(l->text + l->at, l->n, &v) != RK_NUM_OK || v > max)
		return rk_fail(p->err, RK_E_FORMAT, "column %zu: the index is out of range",
			       l->at + 1);
	*ret = (uint32_t)v;
	return next(p);
}

/* NAME or NAME[i]; the name has been read into e. */
static int indexed(struct parser *p, struct rk_expr *e)
{
	uint32_t index;
	int rc;

	if (p->lex.kind != '[')
		return 0;
	if ((rc = next(p)) < 0 || (rc = integer(p, INT32_MAX, &index)) < 0)
		return rc;
	e->index = index;
	return expect(p, ']');
}

/* The functions. Each starts behind its "(" and ends before its ")". */

static int max0(struct parser *p, struct rk_expr *e)
{
	e->op = RK_EXPR_MAX0;
	return expression(p, &e->a);
}

static int two(struct parser *p, struct rk_expr *e)
{
	int rc = expression(p, &e->a);

	if (rc < 0 || (rc = expect(p, ',')) < 0)
		return rc;
	return expression(p, &e->b);
}

static int min_of(struct parser *p, struct rk_expr *e)
{
	e->op = RK_EXPR_MIN;
	return two(p, e);
}

static int max_of(struct parser *p, struct rk_expr *e)
{
	e->op = RK_EXPR_MAX;
	return two(p, e);
}

static int or_of(struct parser *p, struct rk_expr *e)
{
	e->op = RK_EXPR_OR;
	return two(p, e);
}

static int level(struct parser *p, struct rk_expr *e)
{
	int rc = copy_name(p, e);

	e->op = RK_EXPR_LEVEL;
	return rc < 0 ? rc : next(p);
}

static int accumulate(struct parser *p, struct rk_expr *e)
{
	unsigned how = 0;
	int rc = level(p, e);

	e->op = RK_EXPR_ACCUMULATE;
	if (rc < 0 || (rc = expect(p, ',')) < 0)
		return rc;
	rc = one_of(p, "resolution", resolutions, &how);
	e->how = (enum rk_expr_how)how;
	return rc;
}

/* DIM { "," DIM } "]" */
static int dim_list(struct parser *p, uint8_t *dims)
{
	unsigned dim = 0;
	int rc = one_of(p, "dimension", dimensions, &dim);

	if (rc < 0)
		return rc;
	*dims = (uint8_t)(1u << dim);
	while (p->lex.kind == ',') {
		if ((rc = next(p)) < 0 || (rc = one_of(p, "dimension", dimensions, &dim)) < 0)
			return rc;
		*dims = (uint8_t)(*dims | 1u << dim);
	}
	return expect(p, ']');
}

static int reduce(struct parser *p, struct rk_expr *e)
{
	unsigned how = 0;
	int rc = expression(p, &e->a);

	e->op = RK_EXPR_REDUCE;
	if (rc < 0 || (rc = expect(p, ',')) < 0)
		return rc;
	if ((rc = one_of(p, "operation", operations, &how)) < 0)
		return rc;
	e->how = (enum rk_expr_how)how;
	if (p->lex.kind != ',')
		return 0;
	if ((rc = next(p)) < 0 || (rc = expect(p, '[')) < 0)
		return rc;
	return dim_list(p, &e->dims);
}

/* An index or a:b, added before *picks. */
static int pick(struct parser *p, unsigned dim, const struct rk_expr_pick **picks)
{
	struct rk_expr_pick *k = rk_arena_alloc(p->arena, sizeof(*k));
	size_t at = p->lex.at;
	int rc;

	if (!k)
		return rk_fail_nomem(p->err);
	k->dim = (uint8_t)dim;
	k->next = *picks;
	if ((rc = integer(p, UINT32_MAX, &k->first)) < 0)
		return rc;
	k->last = k->first;
	if (p->lex.kind == ':' &&
	    ((rc = next(p)) < 0 || (rc = integer(p, UINT32_MAX, &k->last)) < 0))
		return rc;
	if (k->last < k->first)
		return rk_fail(p->err, RK_E_FORMAT,
			       "column %zu: a range that ends before it begins", at + 1);
	*picks = k;
	return 0;
}

/* DIM "=" "[" SEL { "," SEL } "]" */
static int picks_of_dim(struct parser *p, const struct rk_expr_pick **picks)
{
	unsigned dim = 0;
	int rc = one_of(p, "dimension", dimensions, &dim);

	if (rc < 0 || (rc = expect(p, '=')) < 0 || (rc = expect(p, '[')) < 0 ||
	    (rc = pick(p, dim, picks)) < 0)
		return rc;
	while (p->lex.kind == ',')
		if ((rc = next(p)) < 0 || (rc = pick(p, dim, picks)) < 0)
			return rc;
	return expect(p, ']');
}

static int select_of(struct parser *p, struct rk_expr *e)
{
	int rc = expression(p, &e->a);

	e->op = RK_EXPR_SELECT;
	if (rc < 0 || (rc = expect(p, ',')) < 0 || (rc = expect(p, '[')) < 0 ||
	    (rc = picks_of_dim(p, &e->picks)) < 0)
		return rc;
	while (p->lex.kind == ',')
		if ((rc = next(p)) < 0 || (rc = picks_of_dim(p, &e->picks)) < 0)
			return rc;
	return expect(p, ']');
}

static const struct function {
	const char *name;
	int (*parse)(struct parser *p, struct rk_expr *e);
} functions[] = {
	{ "MAX0", max0 },        { "min", min_of },
	{ "max", max_of },       { "or", or_of },
	{ "LVL", level },        { "reduce", reduce },
	{ "select", select_of }, { "accumulate", accumulate },
};

/* `name` has been read, and "(" is the current word; `at` is where the name stood. */
static int call(struct parser *p, struct rk_expr *e, size_t at)
{
	size_t n = sizeof(functions) / sizeof(*functions);
	int rc;

	for (size_t i = 0; i < n; i++) {
		if (strcmp(functions[i].name, e->name) != 0)
			continue;
		e->name = NULL;
		if ((rc = next(p)) < 0 || (rc = functions[i].parse(p, e)) < 0)
			return rc;
		return expect(p, ')');
	}
	return rk_fail(p->err, RK_E_FORMAT,
		       "column %zu: unknown function '%.48s' (known: MAX0, min, max, or, LVL, "
		       "reduce, select, accumulate)",
		       at + 1, e->name);
}

static int name_or_call(struct parser *p, const struct rk_expr **ret)
{
	struct rk_expr *e = node(p, RK_EXPR_NAME);
	size_t at = p->lex.at;
	int rc;

	if (!e)
		return node_failed(p);
	if ((rc = copy_name(p, e)) < 0 || (rc = next(p)) < 0)
		return rc;
	*ret = e;
	return p->lex.kind == '(' ? call(p, e, at) : indexed(p, e);
}

static int factor(struct parser *p, const struct rk_expr **ret);

static int negative(struct parser *p, const struct rk_expr **ret)
{
	const struct rk_expr *e = NULL, *minus = NULL;
	int rc;

	if ((rc = next(p)) < 0 || (rc = factor(p, &e)) < 0)
		return rc;
	if (e->op == RK_EXPR_NUMBER)
		return number_of(p, -e->number, ret);
	rc = number_of(p, -1, &minus);
	return rc < 0 ? rc : binary(p, RK_EXPR_MUL, minus, e, ret);
}

static int plain_factor(struct parser *p, const struct rk_expr **ret)
{
	int rc;

	switch (p->lex.kind) {
	case RK_LEX_NUMBER:
		rc = number_of(p, p->lex.number, ret);
		return rc < 0 ? rc : next(p);
	case RK_LEX_NAME:
		return name_or_call(p, ret);
	case '-':
		return negative(p, ret);
	case '(':
		if ((rc = next(p)) < 0 || (rc = expression(p, ret)) < 0)
			return rc;
		return expect(p, ')');
	default:
		return rk_lex_expected(&p->lex, "a number, a name or '('", p->err);
	}
}

static int factor(struct parser *p, const struct rk_expr **ret)
{
	int rc;

	if (p->depth == RK_EXPR_DEPTH_MAX)
		return rk_fail(p->err, RK_E_LIMIT, "column %zu: nested more than %d deep",
			       p->lex.at + 1, RK_EXPR_DEPTH_MAX);
	p->depth++;
	rc = plain_factor(p, ret);
	p->depth--;
	return rc;
}

static int term(struct parser *p, const struct rk_expr **ret)
{
	const struct rk_expr *a = NULL, *b = NULL;
	int rc = factor(p, &a);

	while (rc == 0 && (p->lex.kind == '*' || p->lex.kind == '/')) {
		enum rk_expr_op op = p->lex.kind == '*' ? RK_EXPR_MUL : RK_EXPR_DIV;

		if ((rc = next(p)) < 0 || (rc = factor(p, &b)) < 0)
			return rc;
		rc = binary(p, op, a, b, &a);
	}
	*ret = a;
	return rc;
}

static int expression(struct parser *p, const struct rk_expr **ret)
{
	const struct rk_expr *a = NULL, *b = NULL;
	int rc = term(p, &a);

	while (rc == 0 && (p->lex.kind == '+' || p->lex.kind == '-')) {
		enum rk_expr_op op = p->lex.kind == '+' ? RK_EXPR_ADD : RK_EXPR_SUB;

		if ((rc = next(p)) < 0 || (rc = term(p, &b)) < 0)
			return rc;
		rc = binary(p, op, a, b, &a);
	}
	*ret = a;
	return rc;
}

int rk_expr_parse(struct rk_arena *arena, const char *text, size_t len, const struct rk_expr **ret,
		  struct rk_error *err)
{
	struct parser p = { .lex = { .text = text, .len = len }, .arena = arena, .err = err };
	const struct rk_expr *e = NULL;
	int rc;

	if (len > RK_EXPR_BYTES_MAX)
		return rk_fail(err, RK_E_LIMIT, "an expression of %zu bytes; at most %d are read",
			       len, RK_EXPR_BYTES_MAX);
	if ((rc = next(&p)) < 0 || (rc = expression(&p, &e)) < 0)
		return rc;
	if (p.lex.kind != RK_LEX_END)
		return rk_lex_expected(&p.lex, "an operator or the end", err);
	*ret = e;
	return 0;
}
