/* collect.h - what the passes left, put where it belongs and ready to be converted. */
#ifndef RK_COLLECT_H
#define RK_COLLECT_H

#include "session/plan.h"

/*
 * Files that workers of a launcher left in rocprof_raw/[pass_N/]rank-K go to
 * rank-KKKKK/rocprof_raw/[pass_N/].
 */
int rk_collect_ranks(const struct rk_plan *p, struct rk_error *err);

/* Files and folders of the run that hold something to convert, in an order that is always the same. */
int rk_collect_inputs(const struct rk_plan *p, struct rk_list *ret, struct rk_error *err);

#endif
