/*
 * metric_vector.h - values while an expression is compiled: one step, or one for each instance (for
 * metric_compile.c alone).
 */
#ifndef RK_METRIC_VECTOR_H
#define RK_METRIC_VECTOR_H

#include "metrics/formula/metric_program_impl.h"

struct rk_element {
	uint32_t step;
	uint32_t dims[RK_NDIMS]; /* 0 in dimensions that are reduced or selected */
};

struct rk_value {
	const struct rk_element *v;
	size_t n; /* at least 1 */
	/* The counter of which only the sum over its instances is known; NULL: none such. */
	const char *lump;
	/*
	 * What kind of value this is when adding it up over instances gives no value of the whole;
	 * NULL: the sum is right.
	 */
	const char *bent;
};

/* What the making of values needs; the elements live in the arena. */
struct rk_value_maker {
	struct rk_program *program;
	struct rk_arena *arena;
	size_t nelements;     /* made so far: the work is bounded */
	struct rk_error *err; /* never NULL, and clear at the start */
};

/* n elements to be filled; NULL: told in err. */
struct rk_element *rk_value_elements(struct rk_value_maker *m, size_t n);
int rk_value_of_step(struct rk_value_maker *m, uint32_t step, struct rk_value *ret);

int rk_value_binary(struct rk_value_maker *m, enum rk_step_op op, const struct rk_value *a,
		    const struct rk_value *b, struct rk_value *ret);
int rk_value_max0(struct rk_value_maker *m, const struct rk_value *a, struct rk_value *ret);
/* dims: a bit per dimension, 0: all. */
int rk_value_reduce(struct rk_value_maker *m, const struct rk_value *a, enum rk_expr_how how,
		    unsigned dims, struct rk_value *ret);
int rk_value_select(struct rk_value_maker *m, const struct rk_value *a,
		    const struct rk_expr_pick *picks, struct rk_value *ret);
/* The one step for the whole. */
int rk_value_whole(struct rk_value_maker *m, const struct rk_value *a, uint32_t *ret);

#endif
