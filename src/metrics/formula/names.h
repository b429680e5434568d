/*
 * names.h - find the recorded counter that a name in a formula means.
 *
 * Tools spell one counter in several ways: X, X_sum, X[0] X[1] ..., with the prefix TCC_EA_ or
 * TCC_EA0_, and the integral of a level counter as L_ACCUM, or as SQ_ACCUM_PREV_HIRES in the pass
 * that has L. Preference: X_sum, the X[i] together, X; the target's own prefix, then the other one.
 */
#ifndef RK_METRIC_NAMES_H
#define RK_METRIC_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "metrics/formula/program.h"

/* Longer names are not used in formulas and are skipped. */
enum { RK_COUNTER_NAME_MAX = 255 };

/* The counters of a run by name. The caller chooses the ids. */
struct rk_formula_names;
int rk_formula_names_new(struct rk_formula_names **ret, struct rk_error *err);
/*
 * `pass` is the level counter of the pass in which it was measured, or "". The name is copied.
 * Duplicates are ignored.
 */
int rk_formula_names_add(struct rk_formula_names *n, const char *name, const char *pass,
			 uint32_t id, struct rk_error *err);
/*
 * Also makes a counter known in one numbered pass, for rk_formula_names_find_in. A counter that was
 * measured in several passes has a different id in each.
 */
int rk_formula_names_in_pass(struct rk_formula_names *n, const char *name, int pass, uint32_t id,
			     struct rk_error *err);
/* The numbered passes in ascending order; -1 past the end. */
int rk_formula_names_pass(const struct rk_formula_names *n, size_t i);
/* The numbered pass of a counter, -1: none. */
int rk_formula_names_pass_of(const struct rk_formula_names *n, uint32_t id);
void rk_formula_names_free(struct rk_formula_names *n); /* NULL is fine */
/* Writes a name from a formula as the target's profilers spell it; truncated if it is too long. */
void rk_counter_name_spell(const char *arch, const char *name, char ret[RK_COUNTER_NAME_MAX + 1]);

/* The counters to add up for one value: ids sorted by instance number. */
struct rk_counter_match {
	const uint32_t *ids;  /* borrowed until the next lookup */
	const int64_t *index; /* instance number of each, -1 if the name has none */
	size_t n;             /* 0: not found */
};

/*
 * Looks in `pass` if it is not "", then in passes without a level counter, then everywhere. X_max,
 * X_min and X_avr must match exactly; X_sum may also be found as X[i] or X. RK_USE_INSTANCES
 * prefers the X[i] to X_sum, RK_USE_ONE is NAME[index], RK_USE_LEVEL is the integral of level
 * counter `name`; use pass "" for these two.
 */
void rk_formula_names_find(struct rk_formula_names *n, const char *arch, const char *name,
			   enum rk_name_use use, int64_t index, const char *pass,
			   struct rk_counter_match *ret);
/* The same in one numbered pass only. */
void rk_formula_names_find_in(struct rk_formula_names *n, const char *arch, const char *name,
			      enum rk_name_use use, int64_t index, int pass,
			      struct rk_counter_match *ret);

#endif
