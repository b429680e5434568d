/*
 * program.c - the steps of a program, without duplicates and with constants folded; and running a
 * program.
 *
 * A register is a block of RK_PROGRAM_ROWS values. A step gets a register when it is computed, and
 * the register is freed after its last use; results keep theirs. Columns are read in place.
 *
 * The loops have no branches, so that compilers can vectorise them. To turn values that are not
 * finite into NaN they use that r - r is 0 for a finite r and NaN otherwise: r + (r - r) is r or
 * NaN.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/num.h"
#include "metrics/formula/program.h"
#include "metrics/formula/program_impl.h"

enum { FIRST_HEADS = 128 };

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

/* In a chain newer steps come before older ones, so the last step added is always a head. */
static void link_step(struct rk_program *p, uint32_t i)
{
	uint32_t *head = &p->heads[chain_of(p, &p->steps[i])];

	p->steps[i].next = *head;
	*head = i;
}

/*
 * Does not use rk_index of map.h, because the newest steps are removed again if an expression
 * fails.
 */
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

static int intern(struct rk_program *p, const struct rk_step *s, uint32_t *ret,
		  struct rk_error *err)
{
	uint32_t i = p->nheads ? p->heads[chain_of(p, s)] : RK_STEP_NONE;
	struct rk_step *steps;

	for (; i != RK_STEP_NONE; i = p->steps[i].next) {
		const struct rk_step *t = &p->steps[i];

		/* compare numbers bitwise: a NaN equals itself, and 0 is not -0 */
		if (s->op == t->op && s->a == t->a && s->b == t->b &&
		    memcmp(&s->number, &t->number, sizeof(s->number)) == 0) {
			*ret = i;
			return 0;
		}
	}
	if (p->nsteps == RK_PROGRAM_STEPS_MAX)
		return rk_fail(err, RK_E_UNSUPPORTED, "the metrics need more than %d steps",
			       RK_PROGRAM_STEPS_MAX);
	if (p->nsteps == p->nheads && grow_heads(p, err) < 0)
		return RK_E_NOMEM;
	steps = rk_grow(p->steps, &p->steps_cap, p->nsteps + 1u, sizeof(*steps));
	if (!steps)
		return rk_fail_nomem(err);
	p->steps = steps;
	p->steps[p->nsteps] = *s;
	link_step(p, p->nsteps);
	*ret = p->nsteps++;
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

int rk_step_column(struct rk_program *p, unsigned column, uint32_t *ret, struct rk_error *err)
{
	struct rk_step s = { .op = RK_STEP_COLUMN, .a = column, .b = RK_STEP_NONE };
	uint32_t before = p->nsteps;
	/*
	 * The list has room for all columns that have steps, so that making one live cannot fail.
	 */
	unsigned *columns =
		rk_grow(p->columns, &p->columns_cap, p->ncolumn_steps + 1, sizeof(*columns));
	int rc;

	if (!columns)
		return rk_fail_nomem(err);
	p->columns = columns;
	rc = intern(p, &s, ret, err);
	p->ncolumn_steps += p->nsteps - before;
	return rc;
}

static double fold(enum rk_step_op op, double a, double b)
{
	switch (op) {
	case RK_STEP_ADD:
		return a + b;
	case RK_STEP_SUB:
		return a - b;
	case RK_STEP_MUL:
		return a * b;
	case RK_STEP_DIV:
		return b == 0 ? (double)NAN : a / b;
	case RK_STEP_MIN:
		return isnan(a) || a < b ? a : b;
	case RK_STEP_MAX:
		return isnan(a) || a > b ? a : b;
	case RK_STEP_MAX0:
		return a < 0 ? 0 : a;
	default:
		return a;
	}
}

int rk_step_make(struct rk_program *p, enum rk_step_op op, uint32_t a, uint32_t b, uint32_t *ret,
		 struct rk_error *err)
{
	bool commutes = op == RK_STEP_ADD || op == RK_STEP_MUL || op == RK_STEP_MIN ||
			op == RK_STEP_MAX;
	struct rk_step s = { .op = op, .a = a, .b = b };
	const struct rk_step *x, *y;
	bool nx, ny;

	/* a+b and b+a are one step; numbers go to the right, as emit_all() expects */
	if (commutes && (rk_step_is_number(p, a) || (a > b && !rk_step_is_number(p, b)))) {
		s.a = b;
		s.b = a;
	}
	x = &p->steps[s.a];
	y = s.b == RK_STEP_NONE ? x : &p->steps[s.b];
	nx = x->op == RK_STEP_NUMBER;
	ny = y->op == RK_STEP_NUMBER;
	if (nx && ny)
		return rk_step_number(p, fold(op, x->number, y->number), ret, err);
	if ((nx && isnan(x->number)) || (ny && isnan(y->number)) ||
	    (ny && op == RK_STEP_DIV && y->number == 0))
		return rk_step_number(p, (double)NAN, ret, err);
	/* x + 0, x - 0, x * 1, x / 1 are x */
	if (ny && (((op == RK_STEP_ADD || op == RK_STEP_SUB) && y->number == 0) ||
		   ((op == RK_STEP_MUL || op == RK_STEP_DIV) && y->number == 1))) {
		*ret = s.a;
		return 0;
	}
	return intern(p, &s, ret, err);
}

/* Returns 1 if the step was not live yet and must be visited. */
static uint32_t mark(struct rk_program *p, uint32_t i)
{
	if (i == RK_STEP_NONE || p->steps[i].live)
		return 0;
	p->steps[i].live = true;
	p->steps[i].visit = true;
	return 1;
}

int rk_program_keep(struct rk_program *p, uint32_t step, unsigned *ret, struct rk_error *err)
{
	uint32_t *results =
		rk_grow(p->results, &p->results_cap, p->nresults + 1u, sizeof(*results));
	uint32_t waiting;

	if (!results)
		return rk_fail_nomem(err);
	p->results = results;
	/* also make all steps live that it needs; they come before it */
	waiting = mark(p, step);
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

/* ---- running a program ---- */

enum {
	LANES = 8,    /* fixed loop length: vectorised even when optimising for size */
	STRIPE = 128, /* rows that all steps process before the next rows: fits the cache */
	ALIGN = 64,   /* alignment of registers, in bytes */
	/* Distance between registers: not a power of two, or all would use the same cache lines. */
	STRIDE = RK_PROGRAM_ROWS + 40
};

typedef void kernel(double *restrict out, const double *restrict a, const double *restrict b,
		    double k, size_t n);

struct instruction {
	kernel *run;
	uint32_t out, a, b; /* indices in rk_program_state.places */
	double k;           /* the operand if it is a number */
};

struct rk_program_state {
	struct instruction *code;
	size_t ncode;
	double **places;   /* values: registers, then columns, which change with each run */
	size_t nregisters; /* the last one is all NaN, for missing columns */
	unsigned *columns;
	size_t ncolumns;
	uint32_t *results; /* index in places of each result */
	void *memory;
};

/* r, or NaN if it is not finite. */
static inline double settle(double r)
{
	return r + (r - r);
}

/* Unrolled explicitly: at -O2 compilers do not, and the loop counter costs a third of the time. */
#define KERNEL(NAME, RESULT)                                                                       \
	static void NAME(double *restrict out, const double *restrict a, const double *restrict b, \
			 double k, size_t n)                                                       \
	{                                                                                          \
		size_t i = 0;                                                                      \
                                                                                                   \
		(void)b;                                                                           \
		(void)k;                                                                           \
		for (; i + LANES <= n; i += LANES)                                                 \
			_Pragma("GCC unroll 8") for (size_t l = 0, j = i; l < LANES; l++, j++)     \
				out[j] = (RESULT);                                                 \
		for (size_t j = i; j < n; j++)                                                     \
			out[j] = (RESULT);                                                         \
	}

static inline double least(double x, double y)
{
	double r = x < y ? x : y;

	return r + ((x - x) + (y - y));
}

static inline double most(double x, double y)
{
	double r = x > y ? x : y;

	return r + ((x - x) + (y - y));
}

/* x / 0 is not finite, and x / inf would be 0: both become NaN. */
static inline double quotient(double x, double y)
{
	double r = x / y;

	return r + ((r - r) + (y - y));
}

static inline double not_below_0(double x)
{
	double r = x > 0 ? x : 0;

	return r + (x - x);
}

KERNEL(copy, settle(a[j]))
KERNEL(max0, not_below_0(a[j]))
KERNEL(add, settle(a[j] + b[j]))
KERNEL(sub, settle(a[j] - b[j]))
KERNEL(mul, settle(a[j] * b[j]))
KERNEL(div, quotient(a[j], b[j]))
KERNEL(min, least(a[j], b[j]))
KERNEL(max, most(a[j], b[j]))
/* With a number on the right, */
KERNEL(add_k, settle(a[j] + k))
KERNEL(sub_k, settle(a[j] - k))
KERNEL(mul_k, settle(a[j] * k))
KERNEL(div_k, settle(a[j] / k))
KERNEL(min_k, least(a[j], k))
KERNEL(max_k, most(a[j], k))
/* and on the left, if the operation does not commute. */
KERNEL(k_sub, settle(k - a[j]))
KERNEL(k_div, quotient(k, a[j]))

static const struct {
	kernel *both, *right, *left;
} kernels[] = {
	[RK_STEP_COPY] = { copy, 0, 0 },       [RK_STEP_ADD] = { add, add_k, add_k },
	[RK_STEP_SUB] = { sub, sub_k, k_sub }, [RK_STEP_MUL] = { mul, mul_k, mul_k },
	[RK_STEP_DIV] = { div, div_k, k_div }, [RK_STEP_MIN] = { min, min_k, min_k },
	[RK_STEP_MAX] = { max, max_k, max_k }, [RK_STEP_MAX0] = { max0, 0, 0 },
};

/* Scratch data of rk_program_state_new, per step. */
struct planner {
	const struct rk_program *p;
	uint32_t *place;
	uint32_t *last; /* last step that uses it; RK_STEP_NONE: a result */
	uint32_t *free; /* stack of free registers */
	uint32_t nfree, nregisters;
};

static bool is_operation(const struct rk_step *s)
{
	return s->op > RK_STEP_COLUMN;
}

/* Frees the register of an operand that is not needed after step `at`. */
static void give_back(struct planner *w, uint32_t step, uint32_t at)
{
	if (step == RK_STEP_NONE || !is_operation(&w->p->steps[step]) || w->last[step] != at)
		return;
	w->last[step] = RK_STEP_NONE; /* only once, also for x * x */
	w->free[w->nfree++] = w->place[step];
}

static void place_registers(struct planner *w)
{
	const struct rk_program *p = w->p;

	for (uint32_t i = 0; i < p->nsteps; i++) {
		const struct rk_step *s = &p->steps[i];

		w->last[i] = i;
		if (!s->live || !is_operation(s))
			continue;
		w->last[s->a] = i;
		if (s->b != RK_STEP_NONE)
			w->last[s->b] = i;
	}
	for (unsigned r = 0; r < p->nresults; r++)
		w->last[p->results[r]] = RK_STEP_NONE;

	for (uint32_t i = 0; i < p->nsteps; i++) {
		const struct rk_step *s = &p->steps[i];

		if (!s->live)
			continue;
		/* A number that is a result is written once; its register is never reused. */
		if (s->op == RK_STEP_NUMBER && w->last[i] == RK_STEP_NONE)
			w->place[i] = w->nregisters++;
		if (!is_operation(s))
			continue;
		/* Assign before operands are freed, so that a loop never writes to its input. */
		w->place[i] = w->nfree ? w->free[--w->nfree] : w->nregisters++;
		give_back(w, s->a, i);
		give_back(w, s->b, i);
	}
	w->nregisters++;
}

/* Columns come after the registers in `places`; then the code can be generated. */
static void emit_all(struct planner *w, struct rk_program_state *st)
{
	const struct rk_program *p = w->p;

	for (uint32_t i = 0; i < p->nsteps; i++) {
		const struct rk_step *s = &p->steps[i];

		if (!s->live || s->op != RK_STEP_COLUMN)
			continue;
		w->place[i] = w->nregisters + (uint32_t)st->ncolumns;
		st->columns[st->ncolumns++] = s->a;
	}
	for (uint32_t i = 0; i < p->nsteps; i++) {
		const struct rk_step *s = &p->steps[i];
		uint32_t a = s->a, b = s->b == RK_STEP_NONE ? s->a : s->b;
		struct instruction *in;

		if (!s->live || !is_operation(s))
			continue;
		in = &st->code[st->ncode++];
		in->out = w->place[i];
		in->run = kernels[s->op].both;
		if (rk_step_is_number(p, b)) {
			in->run = kernels[s->op].right;
			in->k = p->steps[b].number;
			b = a;
		} else if (rk_step_is_number(p, a)) {
			in->run = kernels[s->op].left;
			in->k = p->steps[a].number;
			a = b;
		}
		in->a = w->place[a];
		in->b = w->place[b];
	}
	for (unsigned r = 0; r < p->nresults; r++)
		st->results[r] = w->place[p->results[r]];
}

static void fill(double *out, double v)
{
	for (size_t i = 0; i < RK_PROGRAM_ROWS; i++)
		out[i] = v;
}

/* Allocates the registers and sets their initial contents. */
static int make_registers(const struct planner *w, struct rk_program_state *st,
			  struct rk_error *err)
{
	const struct rk_program *p = w->p;
	double *first;

	if (w->nregisters > RK_PROGRAM_REGISTERS_MAX)
		return rk_fail(err, RK_E_LIMIT, "the metrics need more than %d values at a time",
			       RK_PROGRAM_REGISTERS_MAX);
	st->nregisters = w->nregisters;
	st->memory = rk_alloc(st->nregisters * STRIDE * sizeof(double) + ALIGN);
	if (!st->memory)
		return rk_fail_nomem(err);
	first = (double *)(((uintptr_t)st->memory + ALIGN - 1) / ALIGN * ALIGN);
	for (size_t r = 0; r < st->nregisters; r++)
		st->places[r] = first + r * STRIDE;
	for (unsigned r = 0; r < p->nresults; r++)
		if (rk_step_is_number(p, p->results[r]))
			fill(st->places[st->results[r]], p->steps[p->results[r]].number);
	fill(st->places[st->nregisters - 1], (double)NAN);
	return 0;
}

int rk_program_state_new(const struct rk_program *p, struct rk_program_state **ret,
			 struct rk_error *err)
{
	struct rk_program_state *st = rk_calloc(1, sizeof(*st));
	struct planner w = { .p = p };
	size_t n = p->nsteps;
	int rc;

	if (!st)
		return rk_fail_nomem(err);
	w.place = rk_calloc(n, sizeof(*w.place));
	w.last = rk_calloc(n, sizeof(*w.last));
	w.free = rk_calloc(n, sizeof(*w.free));
	st->code = rk_calloc(n, sizeof(*st->code));
	st->columns = rk_calloc(p->ncolumns, sizeof(*st->columns));
	st->results = rk_calloc(p->nresults, sizeof(*st->results));
	/* at most one register per step, plus the one that is all NaN */
	st->places = rk_calloc(n + p->ncolumns + 1, sizeof(*st->places));
	if (!w.place || !w.last || !w.free || !st->code || !st->columns || !st->results ||
	    !st->places) {
		rc = rk_fail_nomem(err);
		goto out;
	}
	place_registers(&w);
	emit_all(&w, st);
	rc = make_registers(&w, st, err);
out:
	rk_free(w.place);
	rk_free(w.last);
	rk_free(w.free);
	if (rc == 0)
		*ret = st;
	else
		rk_program_state_free(st);
	return rc;
}

void rk_program_state_free(struct rk_program_state *s)
{
	if (!s)
		return;
	rk_free(s->code);
	rk_free(s->places);
	rk_free(s->columns);
	rk_free(s->results);
	rk_free(s->memory);
	rk_free(s);
}

void rk_program_run(struct rk_program_state *s, const double *const *columns, size_t n)
{
	double *none = s->places[s->nregisters - 1];

	assert(n <= RK_PROGRAM_ROWS);
	for (size_t c = 0; c < s->ncolumns; c++) {
		const double *column = columns[s->columns[c]];

		/* columns are only read; registers and columns share one table */
		s->places[s->nregisters + c] = column ? (double *)(uintptr_t)column : none;
	}
	for (size_t row = 0; row < n; row += STRIPE) {
		size_t rows = rk_min(n - row, STRIPE);

		for (size_t i = 0; i < s->ncode; i++) {
			const struct instruction *in = &s->code[i];

			in->run(s->places[in->out] + row, s->places[in->a] + row,
				s->places[in->b] + row, in->k, rows);
		}
	}
}

const double *rk_program_result(const struct rk_program_state *s, unsigned result)
{
	return s->places[s->results[result]];
}
