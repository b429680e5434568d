/*
 * metric_run.c - a program at work: registers, and loops over rows.
 *
 * A register is a block of RK_PROGRAM_ROWS values. A step gets one when it is computed and gives it
 * back behind its last use; results keep theirs. Columns are read where they lie.
 *
 * The loops have no branches, so that compilers make vector instructions of them. For what is not
 * finite they use that r - r is 0 for a finite r and NaN for all else: r + (r - r) is r or NaN.
 */
#include <assert.h>
#include <math.h>

#include "base/alloc.h"
#include "metrics/formula/metric_program_impl.h"

enum {
	LANES = 8,    /* a loop of known length: vectorised even where code size counts */
	STRIPE = 128, /* rows done by all steps before the next ones: they stay in the cache */
	ALIGN = 64,   /* of registers, in bytes */
	/* From one register to the next: not a power of two, or all want the same cache lines. */
	STRIDE = RK_PROGRAM_ROWS + 40
};

typedef void kernel(double *restrict out, const double *restrict a, const double *restrict b,
		    double k, size_t n);

struct instruction {
	kernel *run;
	uint32_t out, a, b; /* places, see struct rk_program_state */
	double k;           /* the operand that is a number */
};

struct rk_program_state {
	struct instruction *code;
	size_t ncode;
	double **places; /* where values lie: registers, then columns, which change with each run */
	size_t nregisters; /* the last one is all NaN, for columns that are not there */
	unsigned *columns;
	size_t ncolumns;
	uint32_t *results; /* place of each */
	void *memory;
};

/* r, or NaN when it is not finite. */
static inline double settle(double r)
{
	return r + (r - r);
}

/* Unrolled by request: at -O2 compilers do not, and counting costs a third of the time. */
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

/* x / 0 is not finite, and x / inf would be 0. */
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
/* With a number on the right, ... */
KERNEL(add_k, settle(a[j] + k))
KERNEL(sub_k, settle(a[j] - k))
KERNEL(mul_k, settle(a[j] * k))
KERNEL(div_k, settle(a[j] / k))
KERNEL(min_k, least(a[j], k))
KERNEL(max_k, most(a[j], k))
/* ... and on the left, where that is not the same. */
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

/* Scratch of rk_program_state_new: per step. */
struct planner {
	const struct rk_program *p;
	uint32_t *place;
	uint32_t *last; /* the step of its last use; RK_STEP_NONE: a result */
	uint32_t *free; /* registers nobody needs, a stack */
	uint32_t nfree, nregisters;
};

static bool is_operation(const struct rk_step *s)
{
	return s->op > RK_STEP_COLUMN;
}

static void used_at(struct planner *w, uint32_t step, uint32_t at)
{
	if (step != RK_STEP_NONE)
		w->last[step] = at;
}

static void find_last_uses(struct planner *w)
{
	const struct rk_program *p = w->p;

	for (uint32_t i = 0; i < p->nsteps; i++) {
		const struct rk_step *s = &p->steps[i];

		w->last[i] = i;
		if (!s->live || !is_operation(s))
			continue;
		used_at(w, s->a, i);
		used_at(w, s->b, i);
	}
	for (unsigned r = 0; r < p->nresults; r++)
		w->last[p->results[r]] = RK_STEP_NONE;
}

/* Gives back the register of an operand that is not needed behind step `at`. */
static void give_back(struct planner *w, uint32_t step, uint32_t at)
{
	if (step == RK_STEP_NONE || !is_operation(&w->p->steps[step]) || w->last[step] != at)
		return;
	w->last[step] = RK_STEP_NONE; /* once, also for x * x */
	w->free[w->nfree++] = w->place[step];
}

static void place_registers(struct planner *w)
{
	const struct rk_program *p = w->p;

	for (uint32_t i = 0; i < p->nsteps; i++) {
		const struct rk_step *s = &p->steps[i];

		if (!s->live)
			continue;
		/* A number that is a result is written once: nobody else may write there. */
		if (s->op == RK_STEP_NUMBER && w->last[i] == RK_STEP_NONE)
			w->place[i] = w->nregisters++;
		if (!is_operation(s))
			continue;
		/* Before operands are given back: a loop never writes where it reads. */
		w->place[i] = w->nfree ? w->free[--w->nfree] : w->nregisters++;
		give_back(w, s->a, i);
		give_back(w, s->b, i);
	}
	w->nregisters++;
}

static void place_columns(struct planner *w, struct rk_program_state *st)
{
	const struct rk_program *p = w->p;

	for (uint32_t i = 0; i < p->nsteps; i++) {
		const struct rk_step *s = &p->steps[i];

		if (!s->live || s->op != RK_STEP_COLUMN)
			continue;
		w->place[i] = w->nregisters + (uint32_t)st->ncolumns;
		st->columns[st->ncolumns++] = s->a;
	}
}

static void emit(struct planner *w, struct rk_program_state *st, uint32_t i)
{
	const struct rk_step *s = &w->p->steps[i];
	uint32_t a = s->a, b = s->b == RK_STEP_NONE ? s->a : s->b;
	struct instruction *in = &st->code[st->ncode++];

	in->out = w->place[i];
	in->run = kernels[s->op].both;
	if (rk_step_is_number(w->p, b)) {
		in->run = kernels[s->op].right;
		in->k = w->p->steps[b].number;
		b = a;
	} else if (rk_step_is_number(w->p, a)) {
		in->run = kernels[s->op].left;
		in->k = w->p->steps[a].number;
		a = b;
	}
	in->a = w->place[a];
	in->b = w->place[b];
}

static void emit_all(struct planner *w, struct rk_program_state *st)
{
	const struct rk_program *p = w->p;

	for (uint32_t i = 0; i < p->nsteps; i++)
		if (p->steps[i].live && is_operation(&p->steps[i]))
			emit(w, st, i);
	for (unsigned r = 0; r < p->nresults; r++)
		st->results[r] = w->place[p->results[r]];
}

static void fill(double *out, double v)
{
	for (size_t i = 0; i < RK_PROGRAM_ROWS; i++)
		out[i] = v;
}

/* The memory of the registers, and what is in them before anything runs. */
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

static int plan(struct planner *w, struct rk_program_state *st, struct rk_error *err)
{
	const struct rk_program *p = w->p;
	size_t n = p->nsteps;

	w->place = rk_calloc(n, sizeof(*w->place));
	w->last = rk_calloc(n, sizeof(*w->last));
	w->free = rk_calloc(n, sizeof(*w->free));
	st->code = rk_calloc(n, sizeof(*st->code));
	st->columns = rk_calloc(p->ncolumns, sizeof(*st->columns));
	st->results = rk_calloc(p->nresults, sizeof(*st->results));
	/* No more registers than steps, and the one that is all NaN. */
	st->places = rk_calloc(n + p->ncolumns + 1, sizeof(*st->places));
	if (!w->place || !w->last || !w->free || !st->code || !st->columns || !st->results ||
	    !st->places)
		return rk_fail_nomem(err);
	find_last_uses(w);
	place_registers(w);
	place_columns(w, st);
	emit_all(w, st);
	return make_registers(w, st, err);
}

int rk_program_state_new(const struct rk_program *p, struct rk_program_state **ret,
			 struct rk_error *err)
{
	struct rk_program_state *st = rk_calloc(1, sizeof(*st));
	struct planner w = { .p = p };
	int rc;

	if (!st)
		return rk_fail_nomem(err);
	rc = plan(&w, st, err);
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

static void run_stripe(const struct rk_program_state *s, size_t row, size_t n)
{
	for (size_t i = 0; i < s->ncode; i++) {
		const struct instruction *in = &s->code[i];

		in->run(s->places[in->out] + row, s->places[in->a] + row, s->places[in->b] + row,
			in->k, n);
	}
}

void rk_program_run(struct rk_program_state *s, const double *const *columns, size_t n)
{
	double *none = s->places[s->nregisters - 1];

	assert(n <= RK_PROGRAM_ROWS);
	for (size_t c = 0; c < s->ncolumns; c++) {
		const double *column = columns[s->columns[c]];

		/* Columns are read only; one table serves registers and columns. */
		s->places[s->nregisters + c] = column ? (double *)(uintptr_t)column : none;
	}
	for (size_t row = 0; row < n; row += STRIPE)
		run_stripe(s, row, n - row < STRIPE ? n - row : STRIPE);
}

const double *rk_program_result(const struct rk_program_state *s, unsigned result)
{
	return s->places[s->results[result]];
}
