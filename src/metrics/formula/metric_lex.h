/* metric_lex.h - the words of an expression (for metric_expr.c alone). */
#ifndef RK_METRIC_LEX_H
#define RK_METRIC_LEX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum rk_lex_kind {
	RK_LEX_END = 256, /* below: the character itself, one of + - * / ( ) [ ] , = : */
	RK_LEX_NUMBER,
	RK_LEX_NAME,
};

struct rk_lex {
	const char *text;
	size_t len, pos; /* pos: behind the current word */
	/* the current word: */
	int kind;
	size_t at, n;
	bool whole;    /* of a NUMBER: digits alone */
	double number; /* its value */
};

/* Moves on to the next word; at the end of the text, to RK_LEX_END and stays there. */
int rk_lex_next(struct rk_lex *l, struct rk_error *err);
bool rk_lex_is(const struct rk_lex *l, const char *name); /* this very NAME */
/* "column 7: expected ')', found 'x'" */
int rk_lex_expected(const struct rk_lex *l, const char *what, struct rk_error *err);
/* How long a word may be in a message, for "%.*s". */
int rk_lex_shown(const struct rk_lex *l);

#endif
