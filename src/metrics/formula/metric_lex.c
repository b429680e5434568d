/* metric_lex.c - the words of an expression. */
#include "metrics/formula/metric_lex.h"

#include <string.h>

#include "base/num.h"
#include "metrics/formula/metric_expr.h"

enum { SHOWN_MAX = 48 };

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool name_start(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool name_part(char c)
{
	return name_start(c) || digit(c) || c == '.';
}

static char at(const struct rk_lex *l, size_t pos)
{
	return pos < l->len ? l->text[pos] : '\0';
}

static size_t skip_digits(const struct rk_lex *l, size_t pos)
{
	while (digit(at(l, pos)))
		pos++;
	return pos;
}

/* White space, and remarks up to the end of their line. */
static size_t skip_blanks(const struct rk_lex *l, size_t pos)
{
	for (; pos < l->len; pos++) {
		char c = l->text[pos];

		if (c == '/' && at(l, pos + 1) == '/')
			while (pos + 1 < l->len && l->text[pos + 1] != '\n')
				pos++;
		else if (c != ' ' && c != '\t' && c != '\n' && c != '\r')
			break;
	}
	return pos;
}

int rk_lex_shown(const struct rk_lex *l)
{
	return l->n < SHOWN_MAX ? (int)l->n : SHOWN_MAX;
}

bool rk_lex_is(const struct rk_lex *l, const char *name)
{
	return l->kind == RK_LEX_NAME && l->n == strlen(name) &&
	       memcmp(l->text + l->at, name, l->n) == 0;
}

int rk_lex_expected(const struct rk_lex *l, const char *what, struct rk_error *err)
{
	if (l->kind == RK_LEX_END)
		return rk_fail(err, RK_E_FORMAT, "column %zu: expected %s, found the end",
			       l->at + 1, what);
	return rk_fail(err, RK_E_FORMAT, "column %zu: expected %s, found '%.*s'", l->at + 1, what,
		       rk_lex_shown(l), l->text + l->at);
}

/* An exponent is one only with digits behind it: otherwise "2e" is a number and a name. */
static size_t skip_exponent(const struct rk_lex *l, size_t pos)
{
	size_t p = pos + 1;

	if (at(l, pos) != 'e' && at(l, pos) != 'E')
		return pos;
	if (at(l, p) == '+' || at(l, p) == '-')
		p++;
	return digit(at(l, p)) ? skip_digits(l, p) : pos;
}

static int number(struct rk_lex *l, struct rk_error *err)
{
	size_t pos = skip_digits(l, l->at);
	enum rk_num rc;

	l->kind = RK_LEX_NUMBER;
	l->whole = at(l, pos) != '.';
	if (!l->whole)
		pos = skip_digits(l, pos + 1);
	l->pos = skip_exponent(l, pos);
	l->whole = l->whole && l->pos == pos;
	l->n = l->pos - l->at;
	if (name_part(at(l, l->pos)))
		return rk_fail(err, RK_E_FORMAT, "column %zu: '%c' right behind a number",
			       l->pos + 1, at(l, l->pos));
	rc = rk_num_f64(l->text + l->at, l->n, &l->number);
	if (rc != RK_NUM_OK)
		return rk_fail(err, RK_E_FORMAT, "column %zu: the number is %s", l->at + 1,
			       rc == RK_NUM_RANGE ? "out of range" : "too long");
	return 0;
}

static int name(struct rk_lex *l, struct rk_error *err)
{
	while (name_part(at(l, l->pos)))
		l->pos++;
	l->kind = RK_LEX_NAME;
	l->n = l->pos - l->at;
	if (l->n > RK_EXPR_NAME_MAX)
		return rk_fail(err, RK_E_LIMIT, "column %zu: a name of more than %d characters",
			       l->at + 1, RK_EXPR_NAME_MAX);
	return 0;
}

static int strange(const struct rk_lex *l, struct rk_error *err)
{
	unsigned char c = (unsigned char)l->text[l->at];

	if (c > ' ' && c < 0x7f)
		return rk_fail(err, RK_E_FORMAT, "column %zu: unexpected '%c'", l->at + 1, c);
	return rk_fail(err, RK_E_FORMAT, "column %zu: unexpected byte 0x%02x", l->at + 1, c);
}

int rk_lex_next(struct rk_lex *l, struct rk_error *err)
{
	char c;

	l->at = skip_blanks(l, l->pos);
	l->pos = l->at;
	l->n = 0;
	l->kind = RK_LEX_END;
	if (l->at == l->len)
		return 0;
	c = l->text[l->at];
	if (name_start(c))
		return name(l, err);
	if (digit(c) || (c == '.' && digit(at(l, l->at + 1))))
		return number(l, err);
	if (c == '\0' || !strchr("+-*/()[],=:", c))
		return strange(l, err);
	l->kind = (unsigned char)c;
	l->pos = l->at + 1;
	l->n = 1;
	return 0;
}
