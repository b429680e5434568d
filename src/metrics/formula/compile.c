/*
 * compile.c - compile an expression into steps of a program.
 *
 * Chains of operators lean to the left and are long (sums over 128 channels), so a loop with its
 * own stack walks them. Operands on the right and terms recurse, up to a limit.
 */
#include <string.h>

#include "base/alloc.h"
#include "metrics/formula/program_impl.h"

/* ---- values while an expression is compiled: one step, or one step per instance ---- */

struct element {
	uint32_t step;
	uint32_t dims[RK_NDIMS]; /* 0 in dimensions that were reduced or selected */
};

struct value {
	const struct element *v;
	size_t n; /* at least 1 */
	/* The counter if only the sum over its instances is known, else NULL. */
	const char *lump;
	/* The kind of value if its sum over instances is meaningless; NULL: the sum is right. */
	const char *bent;
};

/* State while building values. The elements are in the arena. */
struct maker {
	struct rk_program *program;
	struct rk_arena *arena;
	size_t nelements;     /* total so far, to bound the work */
	struct rk_error *err; /* never NULL; no error at the start */
};

/*
 * Limit for one expression, over all its values: far above what 300 instances and 1000 parts need.
 */
enum { ELEMENTS_MAX = 1 << 20 };

static bool many(const struct value *a)
{
	return a->n > 1 || a->lump;
}

static int not_recorded(struct maker *m, const char *counter)
{
	return rk_fail(m->err, RK_E_UNSUPPORTED, "instances of %s were not recorded", counter);
}

/* Allocates n elements to fill; NULL with err set. */
static struct element *new_elements(struct maker *m, size_t n)
{
	struct element *v;

	if (n > ELEMENTS_MAX - m->nelements) {
		rk_fail(m->err, RK_E_UNSUPPORTED, "the expression has more than %d instances",
			ELEMENTS_MAX);
		return NULL;
	}
	v = rk_arena_alloc(m->arena, n * sizeof(*v));
	if (v)
		m->nelements += n;
	else
		rk_fail_nomem(m->err);
	return v;
}

static int value_of_step(struct maker *m, uint32_t step, struct value *ret)
{
	struct element *v = new_elements(m, 1);

	if (!v)
		return m->err->code;
	v->step = step;
	*ret = (struct value){ .v = v, .n = 1 };
	return 0;
}

/* Bits of the dimensions in which instances differ. */
static unsigned spread(const struct value *a)
{
	unsigned bits = 0;

	for (size_t i = 1; i < a->n; i++)
		for (unsigned d = 0; d < RK_NDIMS; d++)
			if (a->v[i].dims[d] != a->v[0].dims[d])
				bits |= 1u << d;
	return bits;
}

/*
 * Can instances be combined pair by pair? If each side has only one dimension, its name may differ:
 * XCD 3 of one counter is instance 3 of another.
 */
static bool same_places(const struct value *a, const struct value *b)
{
	unsigned da = spread(a), db = spread(b);
	bool lines = da && db && !(da & (da - 1)) && !(db & (db - 1));

	for (size_t i = 0; i < a->n; i++) {
		const uint32_t *x = a->v[i].dims, *y = b->v[i].dims;

		if (lines && x[__builtin_ctz(da)] != y[__builtin_ctz(db)])
			return false;
		if (!lines && memcmp(x, y, sizeof(a->v[i].dims)) != 0)
			return false;
	}
	return true;
}

/* Is a sum over instances meaningful? See struct value. */
static const char *bend(enum rk_step_op op, const struct value *a, const struct value *b)
{
	if (!many(a) && !many(b))
		return NULL;
	if (op == RK_STEP_DIV && many(b))
		return "ratio";
	if (op == RK_STEP_MUL && many(a) && many(b))
		return "product";
	if (op == RK_STEP_MIN)
		return "minimum";
	if (op == RK_STEP_MAX)
		return "maximum";
	if ((op == RK_STEP_ADD || op == RK_STEP_SUB) && many(a) != many(b))
		return "offset"; /* would be added once per instance */
	return a->bent ? a->bent : b->bent;
}

static int value_binary(struct maker *m, enum rk_step_op op, const struct value *a,
			const struct value *b, struct value *ret)
{
	const struct value *longer = b->n > a->n ? b : a;
	struct element *v;
	int rc;

	if (a->lump && b->n > 1)
		return not_recorded(m, a->lump);
	if (b->lump && a->n > 1)
		return not_recorded(m, b->lump);
	if (a->n > 1 && b->n > 1 && a->n != b->n)
		return rk_fail(m->err, RK_E_UNSUPPORTED,
			       "%zu instances cannot be combined with %zu; reduce one side first",
			       a->n, b->n);
	if (a->n > 1 && b->n > 1 && !same_places(a, b))
		return rk_fail(m->err, RK_E_UNSUPPORTED,
			       "instances of different places cannot be combined");
	if (!(v = new_elements(m, longer->n)))
		return m->err->code;
	for (size_t i = 0; i < longer->n; i++) {
		v[i] = longer->v[i];
		rc = rk_step_make(m->program, op, a->v[a->n > 1 ? i : 0].step,
				  b->v[b->n > 1 ? i : 0].step, &v[i].step, m->err);
		if (rc < 0)
			return rc;
	}
	*ret = (struct value){ v, longer->n, a->lump ? a->lump : b->lump, bend(op, a, b) };
	return 0;
}

static int value_max0(struct maker *m, const struct value *a, struct value *ret)
{
	struct element *v = new_elements(m, a->n);
	int rc;

	if (!v)
		return m->err->code;
	for (size_t i = 0; i < a->n; i++) {
		v[i] = a->v[i];
		rc = rk_step_make(m->program, RK_STEP_MAX0, a->v[i].step, RK_STEP_NONE, &v[i].step,
				  m->err);
		if (rc < 0)
			return rc;
	}
	*ret = (struct value){ v, a->n, a->lump, many(a) ? "maximum" : NULL };
	return 0;
}

/* dims: one bit per dimension, 0: all. */
static int value_reduce(struct maker *m, const struct value *a, enum rk_expr_how how, unsigned dims,
			struct value *ret)
{
	static const enum rk_step_op ops[] = { [RK_HOW_SUM] = RK_STEP_ADD,
					       [RK_HOW_MIN] = RK_STEP_MIN,
					       [RK_HOW_MAX] = RK_STEP_MAX,
					       [RK_HOW_AVR] = RK_STEP_ADD };
	struct element *v, *counts; /* counts: `step` holds the size of each group */
	size_t n = 0;
	uint32_t count;
	int rc;

	if (a->lump) {
		/* if only the sum of a counter is known, it can only be reduced by sum */
		if (how != RK_HOW_SUM || a->bent)
			return not_recorded(m, a->lump);
		*ret = *a;
		if (!dims)
			ret->lump = NULL;
		return 0;
	}
	v = new_elements(m, a->n);
	counts = v ? new_elements(m, a->n) : NULL;
	if (!counts)
		return m->err->code;

	/* elements that differ only in the reduced dimensions form one group */
	for (size_t i = 0; i < a->n; i++) {
		struct element e = a->v[i];
		size_t g = 0;

		for (unsigned d = 0; d < RK_NDIMS; d++)
			if (!dims || dims >> d & 1)
				e.dims[d] = 0;
		while (g < n && memcmp(v[g].dims, e.dims, sizeof(e.dims)) != 0)
			g++;
		counts[g].step++;
		if (g == n) {
			v[n++] = e;
			continue;
		}
		rc = rk_step_make(m->program, ops[how], v[g].step, e.step, &v[g].step, m->err);
		if (rc < 0)
			return rc;
	}
	for (size_t g = 0; how == RK_HOW_AVR && g < n; g++) {
		if ((rc = rk_step_number(m->program, (double)counts[g].step, &count, m->err)) < 0 ||
		    (rc = rk_step_make(m->program, RK_STEP_DIV, v[g].step, count, &v[g].step,
				       m->err)) < 0)
			return rc;
	}
	*ret = (struct value){ .v = v, .n = n };
	return 0;
}

/* Several picks of one dimension are alternatives; every picked dimension must match. */
static int value_select(struct maker *m, const struct value *a, const struct rk_expr_pick *picks,
			struct value *ret)
{
	struct element *v;
	unsigned dims = 0;
	size_t n = 0;

	if (a->lump)
		return not_recorded(m, a->lump);
	if (!(v = new_elements(m, a->n)))
		return m->err->code;
	for (const struct rk_expr_pick *k = picks; k; k = k->next)
		dims |= 1u << k->dim;
	for (size_t i = 0; i < a->n; i++) {
		unsigned found = 0;

		for (const struct rk_expr_pick *k = picks; k; k = k->next)
			if (a->v[i].dims[k->dim] >= k->first && a->v[i].dims[k->dim] <= k->last)
				found |= 1u << k->dim;
		if (found != dims)
			continue;
		v[n] = a->v[i];
		for (unsigned d = 0; d < RK_NDIMS; d++)
			if (dims >> d & 1)
				v[n].dims[d] = 0;
		n++;
	}
	if (!n)
		return rk_fail(m->err, RK_E_UNSUPPORTED, "no selected instance was recorded");
	*ret = (struct value){ v, n, NULL, n > 1 ? a->bent : NULL };
	return 0;
}

/* The step that computes the final value. */
static int value_whole(struct maker *m, const struct value *a, uint32_t *ret)
{
	struct value sum;
	int rc;

	if (many(a) && a->bent)
		return rk_fail(m->err, RK_E_UNSUPPORTED, "per-instance %s; reduce it first",
			       a->bent);
	rc = value_reduce(m, a, RK_HOW_SUM, 0, &sum);
	if (rc < 0)
		return rc;
	*ret = sum.v[0].step;
	return 0;
}

/* ---- the compiler ---- */

/* Each level of brackets may contain a sum, a product in it, and a sign or a function in that. */
enum { DEPTH_MAX = 4 * RK_EXPR_DEPTH_MAX };
/*
 * Max alternatives tried in an expression; without a limit nested terms would be tried
 * exponentially often.
 */
enum { CHOICES_MAX = 256 };

/* A term whose expression is being compiled, and the enclosing term. */
struct active {
	const struct rk_expr *term;
	const char *name;
	const struct active *outer;
};

/* A compiled term, cached so that nested terms are not compiled exponentially often. */
struct done {
	const struct rk_expr *term;
	bool inside;
	struct value value;
	struct done *next;
};

struct compiler {
	struct maker m;
	const struct rk_names *names;
	const struct rk_expr **chain;
	size_t nchain, chain_cap;
	const struct active *active;
	struct done *done;
	int depth, choices;
};

/* `inside`: inside a reduce or a select, where names are vectors. */
static int compile(struct compiler *c, const struct rk_expr *e, bool inside, struct value *ret);

static int number(struct compiler *c, double v, struct value *ret)
{
	uint32_t step;
	int rc = rk_step_number(c->m.program, v, &step, c->m.err);

	if (rc < 0)
		return rc;
	return value_of_step(&c->m, step, ret);
}

/* Reports how the term refers back to itself: "a -> b -> a". */
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
	return rk_fail(c->m.err, RK_E_UNSUPPORTED, "a term refers to itself: %.*s%s", (int)len, way,
		       first->name);
}

static int term(struct compiler *c, const char *name, const struct rk_expr *e, bool inside,
		struct value *ret)
{
	struct active here = { e, name, c->active };
	struct done *done;
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
	if (rc < 0)
		return rc;
	done = rk_arena_alloc(c->m.arena, sizeof(*done));
	if (!done)
		return rk_fail_nomem(c->m.err);
	*done = (struct done){ e, inside, *ret, c->done };
	c->done = done;
	return 0;
}

static int instances(struct compiler *c, const char *name, const struct rk_name *n, bool inside,
		     struct value *ret)
{
	struct element *v;
	uint32_t step;
	int rc;

	if (n->ninstances == 0 || n->ninstances > RK_PROGRAM_INSTANCES_MAX)
		return rk_fail(c->m.err, RK_E_UNSUPPORTED, "%s has %zu instances", name,
			       n->ninstances);
	if (!(v = new_elements(&c->m, n->ninstances)))
		return c->m.err->code;
	for (size_t i = 0; i < n->ninstances; i++) {
		memcpy(v[i].dims, n->instances[i].dims, sizeof(v[i].dims));
		rc = rk_step_column(c->m.program, n->instances[i].column, &v[i].step, c->m.err);
		if (rc < 0)
			return rc;
	}
	*ret = (struct value){ .v = v, .n = n->ninstances };
	if (inside)
		return 0;
	rc = value_whole(&c->m, ret, &step);
	if (rc < 0)
		return rc;
	return value_of_step(&c->m, step, ret);
}

static int named(struct compiler *c, const char *name, enum rk_name_use use, int64_t index,
		 bool inside, struct value *ret)
{
	struct rk_name n = { 0 };
	uint32_t step;
	int rc = c->names->look_up(c->names->arg, name, use, index, &n, c->m.err);

	if (rc < 0)
		return rc;
	switch (n.kind) {
	case RK_NAME_NUMBER:
		return number(c, n.number, ret);
	case RK_NAME_COLUMN:
		if ((rc = rk_step_column(c->m.program, n.column, &step, c->m.err)) < 0 ||
		    (rc = value_of_step(&c->m, step, ret)) < 0)
			return rc;
		if (inside && !n.single && use != RK_USE_ONE)
			ret->lump = name;
		return 0;
	case RK_NAME_TERM:
		return term(c, name, n.term, inside, ret);
	case RK_NAME_INSTANCES:
		return instances(c, name, &n, inside, ret);
	case RK_NAME_MISSING:
	default:
		if (n.why[0])
			return rk_fail(c->m.err, RK_E_UNSUPPORTED, "%s", n.why);
		return rk_fail(c->m.err, RK_E_UNSUPPORTED, "%s is unknown", name);
	}
}

/* Steps that the first alternative left in the program are dead: no result needs them. */
static int choose(struct compiler *c, const struct rk_expr *e, bool inside, struct value *ret)
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
			       "more than %d or() need their second argument", CHOICES_MAX);
	c->choices++;
	c->nchain = bottom;
	rc = compile(c, e->b, inside, ret);
	if (rc == RK_E_UNSUPPORTED)
		*c->m.err = why; /* report the first alternative as the one to collect */
	return rc;
}

/* Compiles everything except operations on two values. */
static int operand(struct compiler *c, const struct rk_expr *e, bool inside, struct value *ret)
{
	enum rk_name_use plain = inside ? RK_USE_INSTANCES : RK_USE_VALUE;
	struct value v;
	int rc;

	switch (e->op) {
	case RK_EXPR_NUMBER:
		return number(c, e->number, ret);
	case RK_EXPR_NAME:
		return named(c, e->name, e->index < 0 ? plain : RK_USE_ONE, e->index, inside, ret);
	case RK_EXPR_LEVEL:
		return named(c, e->name, RK_USE_LEVEL, -1, inside, ret);
	case RK_EXPR_ACCUMULATE:
		rc = named(c, e->name, e->how == RK_HOW_NONE ? plain : RK_USE_LEVEL, -1, inside,
			   ret);
		if (rc < 0 || e->how != RK_HOW_LOW)
			return rc;
		/* the recorded integral counts every clock; this one counts every fourth */
		rc = number(c, 0.25, &v);
		if (rc < 0)
			return rc;
		return value_binary(&c->m, RK_STEP_MUL, ret, &v, ret);
	case RK_EXPR_OR:
		return choose(c, e, inside, ret);
	case RK_EXPR_MAX0:
		rc = compile(c, e->a, inside, &v);
		if (rc < 0)
			return rc;
		return value_max0(&c->m, &v, ret);
	case RK_EXPR_REDUCE:
		rc = compile(c, e->a, true, &v);
		if (rc < 0)
			return rc;
		return value_reduce(&c->m, &v, e->how, e->dims, ret);
	case RK_EXPR_SELECT:
		rc = compile(c, e->a, true, &v);
		if (rc < 0)
			return rc;
		return value_select(&c->m, &v, e->picks, ret);
	default:
		return rk_fail(c->m.err, RK_E_USAGE, "an expression of an unknown kind");
	}
}

/* RK_STEP_NUMBER: not an operation on two values. */
static enum rk_step_op binary_op(const struct rk_expr *e)
{
	static const enum rk_step_op ops[] = {
		[RK_EXPR_ADD] = RK_STEP_ADD, [RK_EXPR_SUB] = RK_STEP_SUB,
		[RK_EXPR_MUL] = RK_STEP_MUL, [RK_EXPR_DIV] = RK_STEP_DIV,
		[RK_EXPR_MIN] = RK_STEP_MIN, [RK_EXPR_MAX] = RK_STEP_MAX,
	};

	if (e->op < RK_EXPR_ADD || e->op > RK_EXPR_MAX)
		return RK_STEP_NUMBER;
	return ops[e->op];
}

static int compile(struct compiler *c, const struct rk_expr *e, bool inside, struct value *ret)
{
	size_t bottom = c->nchain;
	struct value right;
	int rc;

	if (c->depth == DEPTH_MAX)
		return rk_fail(c->m.err, RK_E_UNSUPPORTED, "terms are nested more than %d deep",
			       DEPTH_MAX);
	c->depth++;
	for (; binary_op(e) != RK_STEP_NUMBER; e = e->a) {
		const struct rk_expr **chain =
			rk_grow(c->chain, &c->chain_cap, c->nchain + 1, sizeof(*chain));

		if (!chain) {
			rc = rk_fail_nomem(c->m.err);
			goto out;
		}
		c->chain = chain;
		c->chain[c->nchain++] = e;
	}
	rc = operand(c, e, inside, ret);
	while (rc == 0 && c->nchain > bottom) {
		e = c->chain[--c->nchain];
		if ((rc = compile(c, e->b, inside, &right)) == 0)
			rc = value_binary(&c->m, binary_op(e), ret, &right, ret);
	}
out:
	c->depth--;
	return rc;
}

int rk_program_add(struct rk_program *p, const struct rk_expr *e, const struct rk_names *names,
		   unsigned *ret, struct rk_error *err)
{
	struct rk_error own = { 0 };
	struct compiler c = { .m = { .program = p, .err = &own }, .names = names };
	uint32_t before = p->nsteps, step = RK_STEP_NONE;
	struct value v;
	int rc;

	if ((rc = rk_arena_new(&c.m.arena, &own)) < 0 || (rc = compile(&c, e, false, &v)) < 0 ||
	    (rc = value_whole(&c.m, &v, &step)) < 0)
		goto out;
	if (p->steps[step].op == RK_STEP_COLUMN &&
	    (rc = rk_step_make(p, RK_STEP_COPY, step, RK_STEP_NONE, &step, &own)) < 0)
		goto out;
	rc = rk_program_keep(p, step, ret, &own);
out:
	if (rc < 0) {
		rk_program_rewind(p, before);
		if (err && !err->code)
			*err = own;
	}
	rk_free(c.chain);
	rk_arena_free(c.m.arena);
	return rc;
}
