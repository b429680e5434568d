/*
 * program.h - many expressions compiled into one program over columns.
 *
 * Equal parts of expressions are computed once. A column is an array of doubles, NaN where the
 * value is missing; every operation on a missing value is missing, and so are x / 0 and results
 * that are not finite.
 */
#ifndef RK_METRIC_PROGRAM_H
#define RK_METRIC_PROGRAM_H

#include <stdbool.h>

#include "metrics/formula/expr.h"

enum {
	RK_PROGRAM_ROWS = 1024,
	RK_PROGRAM_STEPS_MAX = 1 << 16,
	RK_PROGRAM_REGISTERS_MAX = 1 << 13, /* of RK_PROGRAM_ROWS doubles each */
	RK_PROGRAM_INSTANCES_MAX = 4096     /* of one name */
};

/* One instance of a counter that is recorded per instance. */
struct rk_name_instance {
	unsigned column;
	uint32_t dims[RK_NDIMS]; /* index in each dimension, 0 where it has none */
};

/* What a name means. */
struct rk_name {
	enum {
		RK_NAME_MISSING,
		RK_NAME_NUMBER,
		RK_NAME_COLUMN,
		RK_NAME_TERM,
		RK_NAME_INSTANCES
	} kind;
	double number;
	unsigned column;
	/*
	 * Of COLUMN: it has no instances, as the time of a dispatch; min, max and average of it are
	 * it. Otherwise a column asked for by RK_USE_INSTANCES is a sum whose parts are not known.
	 */
	bool single;
	const struct rk_expr *term;               /* an expression to put in its place */
	const struct rk_name_instance *instances; /* borrowed until the next look-up */
	size_t ninstances;
	char why[160]; /* of MISSING: "SQ_WAVES was not collected" */
};

/* How a name is used. */
enum rk_name_use {
	RK_USE_VALUE,     /* one number per dispatch: instances are added up */
	RK_USE_INSTANCES, /* inside reduce and select: single instances where they are known, else
			     the value that there is */
	RK_USE_ONE,       /* NAME[index] */
	RK_USE_LEVEL,     /* LVL(NAME), accumulate(NAME, ...): the integral over every clock */
};

struct rk_names {
	void *arg;
	/* < 0 only for failures such as lack of memory; what is not there is RK_NAME_MISSING. */
	int (*look_up)(void *arg, const char *name, enum rk_name_use use, int64_t index,
		       struct rk_name *ret, struct rk_error *err);
};

/*
 * Instances. Inside reduce and select a name is the vector of its instances. Vectors of equal
 * length and equal places are combined pair by pair, a single value with each instance. A vector
 * left at the end is added up, as rocprofv3 prints it, unless the sum has no meaning, as for a
 * ratio of two vectors.
 */
struct rk_program;

int rk_program_new(struct rk_program **ret, struct rk_error *err);
void rk_program_free(struct rk_program *p); /* NULL is fine */

/*
 * Adds an expression; *ret is the number of its result. RK_E_UNSUPPORTED if it cannot be computed,
 * with the reason as message: a name is missing, instances cannot be combined, a term refers to
 * itself, a limit is exceeded. After any failure the program is as before.
 */
int rk_program_add(struct rk_program *p, const struct rk_expr *e, const struct rk_names *names,
		   unsigned *ret, struct rk_error *err);
/* The value when it depends on no column, else NaN. */
double rk_program_constant(const struct rk_program *p, unsigned result);
/* The columns that are read, by number, `*ret_n` of them; borrowed. */
const unsigned *rk_program_columns(const struct rk_program *p, size_t *ret_n);
size_t rk_program_steps(const struct rk_program *p); /* operations per row */

/* One per thread. A copy: later changes of the program do not affect it. */
struct rk_program_state;
/* RK_E_LIMIT when more than RK_PROGRAM_REGISTERS_MAX are needed. */
int rk_program_state_new(const struct rk_program *p, struct rk_program_state **ret,
			 struct rk_error *err);
void rk_program_state_free(struct rk_program_state *s); /* NULL is fine */

/* columns[c] has n values, n <= RK_PROGRAM_ROWS; NULL: all missing. */
void rk_program_run(struct rk_program_state *s, const double *const *columns, size_t n);
/* n values, borrowed until the next run. */
const double *rk_program_result(const struct rk_program_state *s, unsigned result);

#endif
