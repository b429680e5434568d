/*
 * program.h - many expressions compiled into one program over columns.
 *
 * Common subexpressions are computed once. A column is an array of doubles, NaN if the value is
 * missing. Every operation on a missing value is missing, and so are x / 0 and results that are not
 * finite.
 */
#ifndef RK_METRIC_PROGRAM_H
#define RK_METRIC_PROGRAM_H

#include <stdbool.h>

#include "metrics/formula/expr.h"

enum {
	RK_PROGRAM_ROWS = 1024,
	RK_PROGRAM_STEPS_MAX = 1 << 16,
	RK_PROGRAM_REGISTERS_MAX = 1 << 13, /* RK_PROGRAM_ROWS doubles each */
	RK_PROGRAM_INSTANCES_MAX = 4096     /* per name */
};

/* One instance of a counter that was recorded per instance. */
struct rk_name_instance {
	unsigned column;
	uint32_t dims[RK_NDIMS]; /* index in each dimension, 0 if it has none */
};

/* The meaning of a name. */
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
	 * For COLUMN: it has no instances, such as the time of a dispatch; its min, max and average
	 * are the value itself. Otherwise a column requested with RK_USE_INSTANCES is a sum of
	 * unknown parts.
	 */
	bool single;
	const struct rk_expr *term;               /* an expression that replaces the name */
	const struct rk_name_instance *instances; /* borrowed until the next lookup */
	size_t ninstances;
	char why[160]; /* for MISSING: "SQ_WAVES was not collected" */
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
	/*
	 * Returns < 0 only for failures such as out of memory; a missing name is RK_NAME_MISSING.
	 */
	int (*look_up)(void *arg, const char *name, enum rk_name_use use, int64_t index,
		       struct rk_name *ret, struct rk_error *err);
};

/*
 * Instances. Inside reduce and select a name is the vector of its instances. Vectors of equal
 * length and equal places are combined pair by pair, a single value with each instance. A vector
 * left at the end is added up, as rocprofv3 prints it, unless the sum is meaningless, as for a
 * ratio of two vectors.
 */
struct rk_program;

int rk_program_new(struct rk_program **ret, struct rk_error *err);
void rk_program_free(struct rk_program *p); /* NULL is fine */

/*
 * Adds an expression; *ret is the number of its result. RK_E_UNSUPPORTED if it cannot be computed,
 * with the reason as the message: a name is missing, instances cannot be combined, a term refers to
 * itself, a limit is exceeded. If it fails, the program is unchanged.
 */
int rk_program_add(struct rk_program *p, const struct rk_expr *e, const struct rk_names *names,
		   unsigned *ret, struct rk_error *err);
/* The value if it depends on no column, else NaN. */
double rk_program_constant(const struct rk_program *p, unsigned result);
/* The numbers of the columns that are read, `*ret_n` of them; borrowed. */
const unsigned *rk_program_columns(const struct rk_program *p, size_t *ret_n);
size_t rk_program_steps(const struct rk_program *p); /* operations per row */

/* One per thread. It is a copy: later changes of the program do not affect it. */
struct rk_program_state;
/* RK_E_LIMIT if it needs more than RK_PROGRAM_REGISTERS_MAX registers. */
int rk_program_state_new(const struct rk_program *p, struct rk_program_state **ret,
			 struct rk_error *err);
void rk_program_state_free(struct rk_program_state *s); /* NULL is fine */

/* columns[c] has n values, n <= RK_PROGRAM_ROWS; NULL: all missing. */
void rk_program_run(struct rk_program_state *s, const double *const *columns, size_t n);
/* n values, borrowed until the next run. */
const double *rk_program_result(const struct rk_program_state *s, unsigned result);

#endif
