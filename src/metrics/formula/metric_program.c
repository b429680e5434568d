/* metric_program.c - the steps of a program: each one once, constants folded. */
#include "metrics/formula/metric_program.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "metrics/formula/metric_program_impl.h"

enum { FIRST_STEPS = 64, FIRST_HEADS = 128, FIRST_RESULTS = 32, FIRST_COLUMNS = 32 };

int rk_program_new(struct rk_program **ret, struct rk_error *err)
{
	struct rk_program *p = rk_calloc(1, sizeof(*p));

	if (!p)
		return rk_fail_nomem(err);
	*ret = p;
	return 0;
}

void rk_program_free(struct rk_program *p)
{
	if (!p)
		return;
	rk_free(p->steps);
	rk_free(p->heads);
	rk_free(p->results);
	rk_free(p->columns);
	rk_free(p);
}

static uint32_t chain_of(const struct rk_program *p, const struct rk_step *s)
{
	uint64_t bits, h;

	memcpy(&bits, &s->number, sizeof(bits));
	h = rk_hash_u64((uint64_t)s->a << 32 | s->b);
	h = rk_hash_u64(h ^ bits ^ (uint64_t)s->op << 56);
	return (uint32_t)h & (p->nheads - 1);
}

/* Numbers by their bits: a NaN is equal to itself, and 0 is not -0. */
static bool equal(const struct rk_step *s, const struct rk_step *t)
{
	return s->op == t->op && s->a == t->a && s->b == t->b &&
	       memcmp(&s->number, &t->number, sizeof(s->number)) == 0;
}

/* In a chain newer steps stand before older ones: the last step added is always a head. */
static void link_step(struct rk_program *p, uint32_t i)
{
	uint32_t *head = &p->heads[chain_of(p, &p->steps[i])];

	p->steps[i].next = *head;
	*head = i;
}

static int grow_heads(struct rk_program *p, struct rk_error *err)
{
	uint32_t n = p->nheads ? p->nheads * 2 : FIRST_HEADS;
	uint32_t *heads = rk_reallocn(NULL, n, sizeof(*heads));

	if (!heads)
		return rk_fail_nomem(err);
	for (uint32_t i = 0; i < n; i++)
		heads[i] = RK_STEP_NONE;
	rk_free(p->heads);
	p->heads = heads;
	p->nheads = n;
	for (uint32_t i = 0; i < p->nsteps; i++)
		link_step(p, i);
	return 0;
}

/* Room for one more step. */
static int grow_steps(struct rk_program *p, struct rk_error *err)
{
	uint32_t cap = p->steps_cap ? p->steps_cap * 2 : FIRST_STEPS;
	struct rk_step *steps;

	if (p->nsteps == RK_PROGRAM_STEPS_MAX)
		return rk_fail(err, RK_E_UNSUPPORTED, "the metrics need more than %d steps",
			       RK_PROGRAM_STEPS_MAX);
	if (p->nsteps == p->nheads && grow_heads(p, err) < 0)
		return RK_E_NOMEM;
	if (p->nsteps < p->steps_cap)
		return 0;
	steps = rk_reallocn(p->steps, cap, sizeof(*steps));
	if (!steps)
		return rk_fail_nomem(err);
	p->steps = steps;
	p->steps_cap = cap;
	return 0;
}

static int intern(struct rk_program *p, const struct rk_step *s, uint32_t *ret,
		  struct rk_error *err)
{
	uint32_t i = p->nheads ? p->heads[chain_of(p, s)] : RK_STEP_NONE;
	int rc;

	while (i != RK_STEP_NONE && !equal(&p->steps[i], s))
		i = p->steps[i].next;
	if (i == RK_STEP_NONE) {
		if ((rc = grow_steps(p, err)) < 0)
			return rc;
		i = p->nsteps++;
		p->steps[i] = *s;
		link_step(p, i);
	}
	*ret = i;
	return 0;
}

void rk_program_rewind(struct rk_program *p, uint32_t nsteps)
{
	while (p->nsteps > nsteps) {
		const struct rk_step *s = &p->steps[--p->nsteps];

		p->heads[chain_of(p, s)] = s->next;
		p->ncolumn_steps -= s->op == RK_STEP_COLUMN;
	}
}

int rk_step_number(struct rk_program *p, double v, uint32_t *ret, struct rk_error *err)
{
	struct rk_step s = { .op = RK_STEP_NUMBER, .a = RK_STEP_NONE, .b = RK_STEP_NONE };

	s.number = isfinite(v) ? v : (double)NAN;
	return intern(p, &s, ret, err);
}

/* All columns there are steps for fit into the list, so that making one live cannot fail. */
static int reserve_columns(struct rk_program *p, struct rk_error *err)
{
	size_t cap = p->columns_cap ? p->columns_cap * 2 : FIRST_COLUMNS;
	unsigned *columns;

	if (p->ncolumn_steps < p->columns_cap)
		return 0;
	columns = rk_reallocn(p->columns, cap, sizeof(*columns));
	if (!columns)
		return rk_fail_nomem(err);
	p->columns = columns;
	p->columns_cap = cap;
	return 0;
}

int rk_step_column(struct rk_program *p, unsigned column, uint32_t *ret, struct rk_error *err)
{
	struct rk_step s = { .op = RK_STEP_COLUMN, .a = column, .b = RK_STEP_NONE };
	uint32_t before = p->nsteps;
	int rc = reserve_columns(p, err);

	if (rc == 0)
		rc = intern(p, &s, ret, err);
	p->ncolumn_steps += p->nsteps - before;
	return rc;
}

static double fold(enum rk_step_op op, double a, double b)
{
	double r;

	switch (op) {
	case RK_STEP_ADD:
		r = a + b;
		break;
	case RK_STEP_SUB:
		r = a - b;
		break;
	case RK_STEP_MUL:
		r = a * b;
		break;
	case RK_STEP_DIV:
		r = b == 0 ? (double)NAN : a / b;
		break;
	case RK_STEP_MIN:
		r = isnan(a) || a < b ? a : b;
		break;
	case RK_STEP_MAX:
		r = isnan(a) || a > b ? a : b;
		break;
	case RK_STEP_MAX0:
		r = a < 0 ? 0 : a;
		break;
	default:
		r = a;
		break;
	}
	return isfinite(r) ? r : (double)NAN;
}

static bool commutes(enum rk_step_op op)
{
	return op == RK_STEP_ADD || op == RK_STEP_MUL || op == RK_STEP_MIN || op == RK_STEP_MAX;
}

/* Whether `op` with the number v on its right leaves everything as it is. */
static bool neutral(enum rk_step_op op, double v)
{
	if (op == RK_STEP_MUL || op == RK_STEP_DIV)
		return v == 1;
	return (op == RK_STEP_ADD || op == RK_STEP_SUB) && v == 0;
}

/* One operand at least is a number. True: the answer is another step or number. */
static bool simplify(struct rk_program *p, const struct rk_step *s, uint32_t *ret, double *number)
{
	const struct rk_step *a = &p->steps[s->a];
	const struct rk_step *b = s->b == RK_STEP_NONE ? a : &p->steps[s->b];
	bool na = a->op == RK_STEP_NUMBER, nb = b->op == RK_STEP_NUMBER;

	*ret = RK_STEP_NONE;
	if (na && nb) {
		*number = fold(s->op, a->number, b->number);
		return true;
	}
	if ((na && isnan(a->number)) ||
	    (nb && (isnan(b->number) || (s->op == RK_STEP_DIV && b->number == 0)))) {
		*number = (double)NAN;
		return true;
	}
	if (nb && neutral(s->op, b->number))
		*ret = s->a;
	return *ret != RK_STEP_NONE;
}

int rk_step_make(struct rk_program *p, enum rk_step_op op, uint32_t a, uint32_t b, uint32_t *ret,
		 struct rk_error *err)
{
	struct rk_step s = { .op = op, .a = a, .b = b };
	double number;

	/* a+b and b+a are one step; numbers stand on the right, as metric_run.c wants them. */
	if (commutes(op) && (rk_step_is_number(p, a) || (a > b && !rk_step_is_number(p, b)))) {
		s.a = b;
		s.b = a;
	}
	if (!simplify(p, &s, ret, &number))
		return intern(p, &s, ret, err);
	return *ret == RK_STEP_NONE ? rk_step_number(p, number, ret, err) : 0;
}

/* 1 when the step was not live yet: then it has to be visited. */
static uint32_t mark(struct rk_program *p, uint32_t i)
{
	if (i == RK_STEP_NONE || p->steps[i].live)
		return 0;
	p->steps[i].live = true;
	p->steps[i].visit = true;
	return 1;
}

/* And all that it needs, which stands before it. */
static void make_live(struct rk_program *p, uint32_t step)
{
	uint32_t waiting = mark(p, step);

	for (uint32_t i = step; waiting; i--) {
		struct rk_step *s = &p->steps[i];

		if (!s->visit)
			continue;
		s->visit = false;
		waiting--;
		if (s->op == RK_STEP_COLUMN)
			p->columns[p->ncolumns++] = s->a;
		else
			waiting += mark(p, s->a) + mark(p, s->b);
	}
}

int rk_program_keep(struct rk_program *p, uint32_t step, unsigned *ret, struct rk_error *err)
{
	unsigned cap = p->results_cap ? p->results_cap * 2 : FIRST_RESULTS;
	uint32_t *results;

	if (p->nresults == p->results_cap) {
		results = rk_reallocn(p->results, cap, sizeof(*results));
		if (!results)
			return rk_fail_nomem(err);
		p->results = results;
		p->results_cap = cap;
	}
	make_live(p, step);
	*ret = p->nresults;
	p->results[p->nresults++] = step;
	return 0;
}

double rk_program_constant(const struct rk_program *p, unsigned result)
{
	const struct rk_step *s = &p->steps[p->results[result]];

	return s->op == RK_STEP_NUMBER ? s->number : (double)NAN;
}

const unsigned *rk_program_columns(const struct rk_program *p, size_t *ret_n)
{
	*ret_n = p->ncolumns;
	return p->columns;
}

size_t rk_program_steps(const struct rk_program *p)
{
	size_t n = 0;

	for (uint32_t i = 0; i < p->nsteps; i++)
		n += p->steps[i].live && p->steps[i].op > RK_STEP_COLUMN;
	return n;
}
