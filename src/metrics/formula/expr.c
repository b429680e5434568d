/*
 * expr.c - parse expressions over counters by recursive descent.
 *
 * Only brackets, signs and functions recurse, all through factor(), which limits the depth; chains
 * of operators are loops.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/num.h"
#include "base/text.h"
#include "metrics/formula/expr.h"

/* ---- tokens ---- */

enum lex_kind {
	LEX_END = 256, /* smaller values: the character itself, one of + - * / ( ) [ ] , = : */
	LEX_NUMBER,
	LEX_NAME,
};

struct parser {
	const char *text;
	size_t len, pos; /* pos: after the current token */
	/* current token: */
	int kind;
	size_t at, n;
	bool whole;    /* for NUMBER: only digits */
	double number; /* for NUMBER */
	struct rk_arena *arena;
	size_t nodes;
	int depth;
	struct rk_error *err;
};

enum { SHOWN_MAX = 48 };

static bool name_start(char c)
{
	return rk_is_letter(c) || c == '_';
}

static bool name_part(char c)
{
	return name_start(c) || rk_is_digit(c) || c == '.';
}

static char at(const struct parser *p, size_t pos)
{
	return pos < p->len ? p->text[pos] : '\0';
}

static size_t skip_digits(const struct parser *p, size_t pos)
{
	while (rk_is_digit(at(p, pos)))
		pos++;
	return pos;
}

/* Skips white space and comments, which end at the end of the line. */
static size_t skip_blanks(const struct parser *p, size_t pos)
{
	for (; pos < p->len; pos++) {
		char c = p->text[pos];

		if (c == '/' && at(p, pos + 1) == '/')
			while (pos + 1 < p->len && p->text[pos + 1] != '\n')
				pos++;
		else if (c != ' ' && c != '\t' && c != '\n' && c != '\r')
			break;
	}
	return pos;
}

/* The length of a token in a message, for "%.*s". */
static int shown(const struct parser *p)
{
	return (int)rk_min(p->n, SHOWN_MAX);
}

/* Reports "column 7: expected ')', found 'x'". */
static int expected(const struct parser *p, const char *what)
{
	if (p->kind == LEX_END)
		return rk_fail(p->err, RK_E_FORMAT, "column %zu: expected %s, found the end",
			       p->at + 1, what);
	return rk_fail(p->err, RK_E_FORMAT, "column %zu: expected %s, found '%.*s'", p->at + 1,
		       what, shown(p), p->text + p->at);
}

static int number(struct parser *p)
{
	size_t pos = skip_digits(p, p->at), exponent;
	enum rk_num rc;

	p->kind = LEX_NUMBER;
	p->whole = at(p, pos) != '.';
	if (!p->whole)
		pos = skip_digits(p, pos + 1);
	/* an exponent needs digits; otherwise "2e" is a number and a name */
	if (at(p, pos) == 'e' || at(p, pos) == 'E') {
		exponent = pos + 1;
		if (at(p, exponent) == '+' || at(p, exponent) == '-')
			exponent++;
		if (rk_is_digit(at(p, exponent))) {
			pos = skip_digits(p, exponent);
			p->whole = false;
		}
	}
	p->pos = pos;
	p->n = p->pos - p->at;
	if (name_part(at(p, p->pos)))
		return rk_fail(p->err, RK_E_FORMAT, "column %zu: '%c' right after a number",
			       p->pos + 1, at(p, p->pos));
	rc = rk_num_f64(p->text + p->at, p->n, &p->number);
	if (rc != RK_NUM_OK)
		return rk_fail(p->err, RK_E_FORMAT, "column %zu: the number is %s", p->at + 1,
			       rc == RK_NUM_RANGE ? "out of range" : "too long");
	return 0;
}

/* Moves to the next token; at the end of the text it stays at LEX_END. */
static int next(struct parser *p)
{
	char c;

	p->at = skip_blanks(p, p->pos);
	p->pos = p->at;
	p->n = 0;
	p->kind = LEX_END;
	if (p->at == p->len)
		return 0;
	c = p->text[p->at];
	if (name_start(c)) {
		while (name_part(at(p, p->pos)))
			p->pos++;
		p->kind = LEX_NAME;
		p->n = p->pos - p->at;
		if (p->n > RK_EXPR_NAME_MAX)
			return rk_fail(p->err, RK_E_LIMIT,
				       "column %zu: a name of more than %d characters", p->at + 1,
				       RK_EXPR_NAME_MAX);
		return 0;
	}
	if (rk_is_digit(c) || (c == '.' && rk_is_digit(at(p, p->at + 1))))
		return number(p);
	if (c == '\0' || !strchr("+-*/()[],=:", c)) {
		unsigned char byte = (unsigned char)c;

		if (byte > ' ' && byte < 0x7f)
			return rk_fail(p->err, RK_E_FORMAT, "column %zu: unexpected '%c'",
				       p->at + 1, c);
		return rk_fail(p->err, RK_E_FORMAT, "column %zu: unexpected byte 0x%02x", p->at + 1,
			       byte);
	}
	p->kind = (unsigned char)c;
	p->pos = p->at + 1;
	p->n = 1;
	return 0;
}

/* ---- the grammar ---- */

/* A keyword and its meaning. */
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

static int expect(struct parser *p, int kind)
{
	char what[4] = { '\'', (char)kind, '\'', '\0' };

	if (p->kind != kind)
		return expected(p, what);
	return next(p);
}

/* Parses one of `words`; the error for an unknown word lists them. */
static int one_of(struct parser *p, const char *what, const struct word *words, unsigned *ret)
{
	char known[256];
	size_t len = 0;

	for (const struct word *w = words; w->name; w++) {
		if (p->kind == LEX_NAME && p->n == strlen(w->name) &&
		    memcmp(p->text + p->at, w->name, p->n) == 0) {
			*ret = w->value;
			return next(p);
		}
	}
	for (const struct word *w = words; w->name && len < sizeof(known); w++)
		len += (size_t)snprintf(known + len, sizeof(known) - len, "%s%s",
					w == words ? "" : ", ", w->name);
	if (p->kind != LEX_NAME)
		return expected(p, known);
	return rk_fail(p->err, RK_E_FORMAT, "column %zu: unknown %s '%.*s' (known: %s)", p->at + 1,
		       what, shown(p), p->text + p->at, known);
}

static int node(struct parser *p, enum rk_expr_op op, struct rk_expr **ret)
{
	struct rk_expr *e;

	if (p->nodes == RK_EXPR_NODES_MAX)
		return rk_fail(p->err, RK_E_LIMIT,
			       "column %zu: an expression of more than %d parts", p->at + 1,
			       RK_EXPR_NODES_MAX);
	e = rk_arena_alloc(p->arena, sizeof(*e));
	if (!e)
		return rk_fail_nomem(p->err);
	p->nodes++;
	e->op = op;
	e->index = -1;
	*ret = e;
	return 0;
}

static int binary(struct parser *p, enum rk_expr_op op, const struct rk_expr *a,
		  const struct rk_expr *b, const struct rk_expr **ret)
{
	struct rk_expr *e;
	int rc = node(p, op, &e);

	if (rc < 0)
		return rc;
	e->a = a;
	e->b = b;
	*ret = e;
	return 0;
}

static int number_of(struct parser *p, double v, const struct rk_expr **ret)
{
	struct rk_expr *e;
	int rc = node(p, RK_EXPR_NUMBER, &e);

	if (rc < 0)
		return rc;
	e->number = v;
	*ret = e;
	return 0;
}

/* Copies the current NAME; does not move to the next token. */
static int copy_name(struct parser *p, struct rk_expr *e)
{
	if (p->kind != LEX_NAME)
		return expected(p, "a name");
	e->name = rk_arena_text(p->arena, p->text + p->at, p->n);
	if (!e->name)
		return rk_fail_nomem(p->err);
	return 0;
}

static int integer(struct parser *p, uint32_t max, uint32_t *ret)
{
	uint64_t v;

	if (p->kind != LEX_NUMBER || !p->whole)
		return expected(p, "a whole number");
	if (rk_num_u64(p->text + p->at, p->n, &v) != RK_NUM_OK || v > max)
		return rk_fail(p->err, RK_E_FORMAT, "column %zu: the index is out of range",
			       p->at + 1);
	*ret = (uint32_t)v;
	return next(p);
}

/* The functions. Each one starts after its "(" and ends before its ")". */

static int one(struct parser *p, struct rk_expr *e)
{
	return expression(p, &e->a);
}

static int two(struct parser *p, struct rk_expr *e)
{
	int rc = expression(p, &e->a);

	if (rc < 0 || (rc = expect(p, ',')) < 0)
		return rc;
	return expression(p, &e->b);
}

static int level(struct parser *p, struct rk_expr *e)
{
	int rc = copy_name(p, e);

	if (rc < 0)
		return rc;
	return next(p);
}

static int accumulate(struct parser *p, struct rk_expr *e)
{
	unsigned how = 0;
	int rc = level(p, e);

	if (rc < 0 || (rc = expect(p, ',')) < 0)
		return rc;
	rc = one_of(p, "resolution", resolutions, &how);
	e->how = (enum rk_expr_how)how;
	return rc;
}

static int reduce(struct parser *p, struct rk_expr *e)
{
	unsigned how = 0, dim = 0;
	int rc = expression(p, &e->a);

	if (rc < 0 || (rc = expect(p, ',')) < 0 ||
	    (rc = one_of(p, "operation", operations, &how)) < 0)
		return rc;
	e->how = (enum rk_expr_how)how;
	if (p->kind != ',')
		return 0;
	if ((rc = next(p)) < 0 || (rc = expect(p, '[')) < 0)
		return rc;
	/* DIM { "," DIM } "]" */
	if ((rc = one_of(p, "dimension", dimensions, &dim)) < 0)
		return rc;
	e->dims = (uint8_t)(1u << dim);
	while (p->kind == ',') {
		if ((rc = next(p)) < 0 || (rc = one_of(p, "dimension", dimensions, &dim)) < 0)
			return rc;
		e->dims = (uint8_t)(e->dims | 1u << dim);
	}
	return expect(p, ']');
}

/* Parses an index or a:b and adds it before *picks. */
static int pick(struct parser *p, unsigned dim, const struct rk_expr_pick **picks)
{
	struct rk_expr_pick *k = rk_arena_alloc(p->arena, sizeof(*k));
	size_t at = p->at;
	int rc;

	if (!k)
		return rk_fail_nomem(p->err);
	k->dim = (uint8_t)dim;
	k->next = *picks;
	if ((rc = integer(p, UINT32_MAX, &k->first)) < 0)
		return rc;
	k->last = k->first;
	if (p->kind == ':' && ((rc = next(p)) < 0 || (rc = integer(p, UINT32_MAX, &k->last)) < 0))
		return rc;
	if (k->last < k->first)
		return rk_fail(p->err, RK_E_FORMAT, "column %zu: the range ends before it starts",
			       at + 1);
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
	while (p->kind == ',')
		if ((rc = next(p)) < 0 || (rc = pick(p, dim, picks)) < 0)
			return rc;
	return expect(p, ']');
}

static int select_of(struct parser *p, struct rk_expr *e)
{
	int rc = expression(p, &e->a);

	if (rc < 0 || (rc = expect(p, ',')) < 0 || (rc = expect(p, '[')) < 0 ||
	    (rc = picks_of_dim(p, &e->picks)) < 0)
		return rc;
	while (p->kind == ',')
		if ((rc = next(p)) < 0 || (rc = picks_of_dim(p, &e->picks)) < 0)
			return rc;
	return expect(p, ']');
}

static const struct function {
	const char *name;
	enum rk_expr_op op;
	int (*parse)(struct parser *p, struct rk_expr *e);
} functions[] = {
	{ "MAX0", RK_EXPR_MAX0, one },
	{ "min", RK_EXPR_MIN, two },
	{ "max", RK_EXPR_MAX, two },
	{ "or", RK_EXPR_OR, two },
	{ "LVL", RK_EXPR_LEVEL, level },
	{ "reduce", RK_EXPR_REDUCE, reduce },
	{ "select", RK_EXPR_SELECT, select_of },
	{ "accumulate", RK_EXPR_ACCUMULATE, accumulate },
};

static int name_or_call(struct parser *p, const struct rk_expr **ret)
{
	const struct function *f = functions, *end = f + sizeof(functions) / sizeof(*functions);
	struct rk_expr *e;
	size_t at = p->at;
	uint32_t index;
	int rc = node(p, RK_EXPR_NAME, &e);

	if (rc < 0 || (rc = copy_name(p, e)) < 0 || (rc = next(p)) < 0)
		return rc;
	*ret = e;
	if (p->kind == '[') {
		if ((rc = next(p)) < 0 || (rc = integer(p, INT32_MAX, &index)) < 0)
			return rc;
		e->index = index;
		return expect(p, ']');
	}
	if (p->kind != '(')
		return 0;
	while (f < end && strcmp(f->name, e->name) != 0)
		f++;
	if (f == end)
		return rk_fail(p->err, RK_E_FORMAT,
			       "column %zu: unknown function '%.48s' (known: MAX0, min, max, or, "
			       "LVL, reduce, select, accumulate)",
			       at + 1, e->name);
	e->name = NULL;
	e->op = f->op;
	if ((rc = next(p)) < 0 || (rc = f->parse(p, e)) < 0)
		return rc;
	return expect(p, ')');
}

static int factor(struct parser *p, const struct rk_expr **ret)
{
	const struct rk_expr *e = NULL, *minus = NULL;
	int rc;

	if (p->depth == RK_EXPR_DEPTH_MAX)
		return rk_fail(p->err, RK_E_LIMIT, "column %zu: nested more than %d deep",
			       p->at + 1, RK_EXPR_DEPTH_MAX);
	p->depth++;
	switch (p->kind) {
	case LEX_NUMBER:
		if ((rc = number_of(p, p->number, ret)) == 0)
			rc = next(p);
		break;
	case LEX_NAME:
		rc = name_or_call(p, ret);
		break;
	case '-':
		if ((rc = next(p)) < 0 || (rc = factor(p, &e)) < 0)
			break;
		if (e->op == RK_EXPR_NUMBER)
			rc = number_of(p, -e->number, ret);
		else if ((rc = number_of(p, -1, &minus)) == 0)
			rc = binary(p, RK_EXPR_MUL, minus, e, ret);
		break;
	case '(':
		if ((rc = next(p)) == 0 && (rc = expression(p, ret)) == 0)
			rc = expect(p, ')');
		break;
	default:
		rc = expected(p, "a number, a name or '('");
	}
	p->depth--;
	return rc;
}

static int term(struct parser *p, const struct rk_expr **ret)
{
	const struct rk_expr *a = NULL, *b = NULL;
	int rc = factor(p, &a);

	if (rc < 0)
		return rc;
	while (p->kind == '*' || p->kind == '/') {
		enum rk_expr_op op = p->kind == '*' ? RK_EXPR_MUL : RK_EXPR_DIV;

		if ((rc = next(p)) < 0 || (rc = factor(p, &b)) < 0 ||
		    (rc = binary(p, op, a, b, &a)) < 0)
			return rc;
	}
	*ret = a;
	return 0;
}

static int expression(struct parser *p, const struct rk_expr **ret)
{
	const struct rk_expr *a = NULL, *b = NULL;
	int rc = term(p, &a);

	if (rc < 0)
		return rc;
	while (p->kind == '+' || p->kind == '-') {
		enum rk_expr_op op = p->kind == '+' ? RK_EXPR_ADD : RK_EXPR_SUB;

		if ((rc = next(p)) < 0 || (rc = term(p, &b)) < 0 ||
		    (rc = binary(p, op, a, b, &a)) < 0)
			return rc;
	}
	*ret = a;
	return 0;
}

int rk_expr_parse(struct rk_arena *arena, const char *text, size_t len, const struct rk_expr **ret,
		  struct rk_error *err)
{
	struct parser p = { .text = text, .len = len, .arena = arena, .err = err };
	const struct rk_expr *e = NULL;
	int rc;

	if (len > RK_EXPR_BYTES_MAX)
		return rk_fail(err, RK_E_LIMIT, "the expression has %zu bytes; the limit is %d",
			       len, RK_EXPR_BYTES_MAX);
	if ((rc = next(&p)) < 0 || (rc = expression(&p, &e)) < 0)
		return rc;
	if (p.kind != LEX_END)
		return expected(&p, "an operator or the end");
	*ret = e;
	return 0;
}
