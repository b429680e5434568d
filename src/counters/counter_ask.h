/* counter_ask.h - what a user asked for, as names of counters. */
#ifndef RK_COUNTER_ASK_H
#define RK_COUNTER_ASK_H

#include "base/list.h"
#include "counters/counter_table.h"

/*
 * `spec` as in rk_counters_plan. Adds names in order, perhaps twice, and beside each where it
 * comes from: a file, or "". A name is not looked at here unless it stands for several.
 */
int rk_counter_ask(const struct rk_counter_table *t, const struct rk_counter_target *target,
		   const char *spec, struct rk_list *names, struct rk_list *origins,
		   struct rk_error *err);

/* RK_E_USAGE: no target knows the name; `near` is the counter that comes nearest, or NULL. */
int rk_counter_ask_unknown(const struct rk_counter_target *target, const char *name,
			   const char *origin, const char *near, struct rk_error *err);

#endif
