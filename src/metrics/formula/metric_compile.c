/*
 * metric_compile.c - an expression becomes steps of a program.
 *
 * Chains of operators lean to the left and are long (sums over 128 channels): they are gone down
 * in a loop, with a stack of their own. Operands on the right and terms recurse, to a bound.
 */
#include <string.h>

#include "base/alloc.h"
#include "metrics/formula/metric_vector.h"

/* Each level of brackets may hold a sum, a product in it, and a sign or a function in that. */
enum { DEPTH_MAX = 4 * RK_EXPR_DEPTH_MAX };
/* Second choices in an expression: terms of terms of them would be tried exponentially often. */
enum { CHOICES_MAX = 256 };

/* A term whose expression is being compiled, and the one that it stands in. */
struct active {
	const struct rk_expr *term;
	const char *name;
	const struct active *outer;
};

/* A term that has been compiled: terms of terms would be compiled exponentially often. */
struct done {
	const struct rk_expr *term;
	bool inside;
	struct rk_value value;
	struct done *next;
};

struct compiler {
	struct rk_value_maker m;
	const struct rk_names *names;
	const struct rk_expr **chain;
	size_t nchain, chain_cap;
	const struct active *active;
	struct done *done;
	int depth, choices;
};

/* `inside`: in a reduce or a select, where names are vectors. */
static int compile(struct compiler *c, const struct rk_expr *e, bool inside, struct rk_value *ret);

static int number(struct compiler *c, double v, struct rk_value *ret)
{
	uint32_t step;
	int rc = rk_step_number(c->m.program, v, &step, c->m.err);

	return rc < 0 ? rc : rk_value_of_step(&c->m, step, ret);
}

static int column(struct compiler *c, unsigned col, struct rk_value *ret)
{
	uint32_t step;
	int rc = rk_step_column(c->m.program, col, &step, c->m.err);

	return rc < 0 ? rc : rk_value_of_step(&c->m, step, ret);
}

/* The way back to the term: "a -> b -> a". */
static int cycle(struct compiler *c, const struct active *first)
{
	char way[256] = "";
	size_t len = 0;

	for (const struct active *a = c->active; a; a = a->outer) {
		size_t n = strlen(a->name);

		if (len + n + 5 < sizeof(way)) {
			memmove(way + n + 4, way, len);
			memcpy(way, a->name, n);
			memcpy(way + n, " -> ", 4);
			len += n + 4;
		}
		if (a == first)
			break;
	}
	return rk_fail(c->m.err, RK_E_UNSUPPORTED, "a term leads back to itself: %.*s%s", (int)len,
		       way, first->name);
}

static int remember(struct compiler *c, const struct rk_expr *term, bool inside,
		    const struct rk_value *v)
{
	struct done *d = rk_arena_alloc(c->m.arena, sizeof(*d));

	if (!d)
		return rk_fail_nomem(c->m.err);
	*d = (struct done){ term, inside, *v, c->done };
	c->done = d;
	return 0;
}

static int term(struct compiler *c, const char *name, const struct rk_expr *e, bool inside,
		struct rk_value *ret)
{
	struct active here = { e, name, c->active };
	int rc;

	for (const struct active *a = c->active; a; a = a->outer)
		if (a->term == e)
			return cycle(c, a);
	for (const struct done *d = c->done; d; d = d->next)
		if (d->term == e && d->inside == inside) {
			*ret = d->value;
			return 0;
		}
	c->active = &here;
	rc = compile(c, e, inside, ret);
	c->active = here.outer;
	return rc < 0 ? rc : remember(c, e, inside, ret);
}

static int instances(struct compiler *c, const char *name, const struct rk_name *n, bool inside,
		     struct rk_value *ret)
{
	struct rk_element *v;
	uint32_t step;
	int rc = 0;

	if (n->ninstances == 0 || n->ninstances > RK_PROGRAM_INSTANCES_MAX)
		return rk_fail(c->m.err, RK_E_UNSUPPORTED, "%s has %zu instances", name,
			       n->ninstances);
	if (!(v = rk_value_elements(&c->m, n->ninstances)))
		return c->m.err->code;
	for (size_t i = 0; rc == 0 && i < n->ninstances; i++) {
		memcpy(v[i].dims, n->instances[i].dims, sizeof(v[i].dims));
		rc = rk_step_column(c->m.program, n->instances[i].column, &v[i].step, c->m.err);
	}
	if (rc < 0)
		return rc;
	*ret = (struct rk_value){ .v = v, .n = n->ninstances };
	if (inside)
		return 0;
	rc = rk_value_whole(&c->m, ret, &step);
	return rc < 0 ? rc : rk_value_of_step(&c->m, step, ret);
}

static int missing(struct compiler *c, const char *name, const struct rk_name *n)
{
	if (n->why[0])
		return rk_fail(c->m.err, RK_E_UNSUPPORTED, "%s", n->why);
	return rk_fail(c->m.err, RK_E_UNSUPPORTED, "%s is not known", name);
}

static int named(struct compiler *c, const char *name, enum rk_name_use use, int64_t index,
		 bool inside, struct rk_value *ret)
{
	struct rk_name n = { 0 };
	int rc = c->names->look_up(c->names->arg, name, use, index, &n, c->m.err);

	if (rc < 0)
		return rc;
	switch (n.kind) {
	case RK_NAME_NUMBER:
		return number(c, n.number, ret);
	case RK_NAME_COLUMN:
		rc = column(c, n.column, ret);
		if (rc == 0 && inside && !n.single && use != RK_USE_ONE)
			ret->lump = name;
		return rc;
	case RK_NAME_TERM:
		return term(c, name, n.term, inside, ret);
	case RK_NAME_INSTANCES:
		return instances(c, name, &n, inside, ret);
	case RK_NAME_MISSING:
	default:
		return missing(c, name, &n);
	}
}

static int accumulate(struct compiler *c, const struct rk_expr *e, bool inside,
		      struct rk_value *ret)
{
	enum rk_name_use plain = inside ? RK_USE_INSTANCES : RK_USE_VALUE;
	enum rk_name_use use = e->how == RK_HOW_NONE ? plain : RK_USE_LEVEL;
	struct rk_value quarter;
	int rc = named(c, e->name, use, -1, inside, ret);

	if (rc < 0 || e->how != RK_HOW_LOW)
		return rc;
	/* Recorded is the integral over every clock; this one adds up every fourth. */
	if ((rc = number(c, 0.25, &quarter)) < 0)
		return rc;
	return rk_value_binary(&c->m, RK_STEP_MUL, ret, &quarter, ret);
}

/* What the first one left in the program is dead: no result needs it. */
static int choose(struct compiler *c, const struct rk_expr *e, bool inside, struct rk_value *ret)
{
	size_t bottom = c->nchain;
	struct rk_error why;
	int rc = compile(c, e->a, inside, ret);

	if (rc != RK_E_UNSUPPORTED)
		return rc;
	why = *c->m.err;
	*c->m.err = (struct rk_error){ 0 };
	if (c->choices == CHOICES_MAX)
		return rk_fail(c->m.err, RK_E_UNSUPPORTED,
			       "the expression needs the second of more than %d or()", CHOICES_MAX);
	c->choices++;
	c->nchain = bottom;
	rc = compile(c, e->b, inside, ret);
	if (rc == RK_E_UNSUPPORTED)
		*c->m.err = why; /* what is wanted first is what to collect */
	return rc;
}

/* Everything but the operations on two values. */
static int operand(struct compiler *c, const struct rk_expr *e, bool inside, struct rk_value *ret)
{
	enum rk_name_use plain = inside ? RK_USE_INSTANCES : RK_USE_VALUE;
	struct rk_value v;
	int rc;

	switch (e->op) {
	case RK_EXPR_NUMBER:
		return number(c, e->number, ret);
	case RK_EXPR_NAME:
		return named(c, e->name, e->index < 0 ? plain : RK_USE_ONE, e->index, inside, ret);
	case RK_EXPR_LEVEL:
		return named(c, e->name, RK_USE_LEVEL, -1, inside, ret);
	case RK_EXPR_ACCUMULATE:
		return accumulate(c, e, inside, ret);
	case RK_EXPR_OR:
		return choose(c, e, inside, ret);
	case RK_EXPR_MAX0:
		rc = compile(c, e->a, inside, &v);
		return rc < 0 ? rc : rk_value_max0(&c->m, &v, ret);
	case RK_EXPR_REDUCE:
		rc = compile(c, e->a, true, &v);
		return rc < 0 ? rc : rk_value_reduce(&c->m, &v, e->how, e->dims, ret);
	case RK_EXPR_SELECT:
		rc = compile(c, e->a, true, &v);
		return rc < 0 ? rc : rk_value_select(&c->m, &v, e->picks, ret);
	default:
		return rk_fail(c->m.err, RK_E_USAGE, "an expression of an unknown kind");
	}
}

/* RK_STEP_NUMBER: no operation on two values. */
static enum rk_step_op binary_op(const struct rk_expr *e)
{
	static const enum rk_step_op ops[] = {
		[RK_EXPR_ADD] = RK_STEP_ADD, [RK_EXPR_SUB] = RK_STEP_SUB,
		[RK_EXPR_MUL] = RK_STEP_MUL, [RK_EXPR_DIV] = RK_STEP_DIV,
		[RK_EXPR_MIN] = RK_STEP_MIN, [RK_EXPR_MAX] = RK_STEP_MAX,
	};

	return e->op < RK_EXPR_ADD || e->op > RK_EXPR_MAX ? RK_STEP_NUMBER : ops[e->op];
}

static int push(struct compiler *c, const struct rk_expr *e)
{
	size_t cap = c->chain_cap ? c->chain_cap * 2 : 64;
	const struct rk_expr **chain;

	if (c->nchain == c->chain_cap) {
		chain = rk_reallocn(c->chain, cap, sizeof(*chain));
		if (!chain)
			return rk_fail_nomem(c->m.err);
		c->chain = chain;
		c->chain_cap = cap;
	}
	c->chain[c->nchain++] = e;
	return 0;
}

static int compile_chain(struct compiler *c, const struct rk_expr *e, bool inside,
			 struct rk_value *ret)
{
	size_t bottom = c->nchain;
	struct rk_value right;
	int rc = 0;

	for (; rc == 0 && binary_op(e) != RK_STEP_NUMBER; e = e->a)
		rc = push(c, e);
	if (rc == 0)
		rc = operand(c, e, inside, ret);
	while (rc == 0 && c->nchain > bottom) {
		e = c->chain[--c->nchain];
		rc = compile(c, e->b, inside, &right);
		if (rc == 0)
			rc = rk_value_binary(&c->m, binary_op(e), ret, &right, ret);
	}
	return rc;
}

static int compile(struct compiler *c, const struct rk_expr *e, bool inside, struct rk_value *ret)
{
	int rc;

	if (c->depth == DEPTH_MAX)
		return rk_fail(c->m.err, RK_E_UNSUPPORTED, "terms in terms more than %d deep",
			       DEPTH_MAX);
	c->depth++;
	rc = compile_chain(c, e, inside, ret);
	c->depth--;
	return rc;
}

/* The step of the whole expression. */
static int compile_whole(struct compiler *c, const struct rk_expr *e, uint32_t *ret)
{
	struct rk_program *p = c->m.program;
	struct rk_value v;
	int rc = compile(c, e, false, &v);

	if (rc < 0 || (rc = rk_value_whole(&c->m, &v, ret)) < 0)
		return rc;
	if (p->steps[*ret].op == RK_STEP_COLUMN)
		rc = rk_step_make(p, RK_STEP_COPY, *ret, RK_STEP_NONE, ret, c->m.err);
	return rc;
}

int rk_program_add(struct rk_program *p, const struct rk_expr *e, const struct rk_names *names,
		   unsigned *ret, struct rk_error *err)
{
	struct rk_error own = { 0 };
	struct compiler c = { .m = { .program = p, .err = &own }, .names = names };
	uint32_t before = p->nsteps, step;
	int rc = rk_arena_new(&c.m.arena, &own);

	if (rc == 0)
		rc = compile_whole(&c, e, &step);
	if (rc == 0)
		rc = rk_program_keep(p, step, ret, &own);
	if (rc < 0)
		rk_program_rewind(p, before);
	if (rc < 0 && err && !err->code)
		*err = own;
	rk_free(c.chain);
	rk_arena_free(c.m.arena);
	return rc;
}
