/*
 * program_impl.h - internals of a program (for program.c and compile.c).
 *
 * A program is a list of steps, each of which refers only to earlier ones. There are no duplicate
 * steps: a step that is requested again is found by its hash.
 */
#ifndef RK_METRIC_PROGRAM_IMPL_H
#define RK_METRIC_PROGRAM_IMPL_H

#include <stdbool.h>
#include <stdint.h>

#include "metrics/formula/program.h"

enum rk_step_op {
	RK_STEP_NUMBER,
	RK_STEP_COLUMN,
	RK_STEP_COPY, /* of a column that is a result: non-finite values become missing */
	RK_STEP_ADD,
	RK_STEP_SUB,
	RK_STEP_MUL,
	RK_STEP_DIV,
	RK_STEP_MIN,
	RK_STEP_MAX,
	RK_STEP_MAX0,
};

#define RK_STEP_NONE UINT32_MAX

struct rk_step {
	enum rk_step_op op;
	bool live;     /* some result needs it */
	bool visit;    /* used while making steps live */
	uint32_t a, b; /* operand steps, or RK_STEP_NONE; for COLUMN, a is its number */
	double number; /* for NUMBER */
	uint32_t next; /* next step in the same chain of the hash table */
};

struct rk_program {
	struct rk_step *steps;
	uint32_t nsteps;
	size_t steps_cap;
	uint32_t *heads; /* newest step of each chain */
	uint32_t nheads; /* a power of two */
	uint32_t *results;
	unsigned nresults;
	size_t results_cap;
	unsigned *columns; /* columns of live steps */
	size_t ncolumns, columns_cap;
	size_t ncolumn_steps;
};

/* These return the step for a value; constants are folded, and x+0, x-0, x*1, x/1 become x. */
int rk_step_number(struct rk_program *p, double v, uint32_t *ret, struct rk_error *err);
int rk_step_column(struct rk_program *p, unsigned column, uint32_t *ret, struct rk_error *err);
/* `b` is RK_STEP_NONE for operations on one value. */
int rk_step_make(struct rk_program *p, enum rk_step_op op, uint32_t a, uint32_t b, uint32_t *ret,
		 struct rk_error *err);

/* Makes `step` a result. */
int rk_program_keep(struct rk_program *p, uint32_t step, unsigned *ret, struct rk_error *err);
/* Removes the steps from `nsteps` on; none of them may be live. */
void rk_program_rewind(struct rk_program *p, uint32_t nsteps);

static inline bool rk_step_is_number(const struct rk_program *p, uint32_t step)
{
	return p->steps[step].op == RK_STEP_NUMBER;
}

#endif
