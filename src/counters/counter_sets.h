/* counter_sets.h - counters under one name: the shipped sets, and categories by subject. */
#ifndef RK_COUNTER_SETS_H
#define RK_COUNTER_SETS_H

#include "base/data.h"
#include "base/list.h"
#include "counters/counter_table.h"

/* The i-th shipped set, NULL past the end. Its text is of `pmc:` lines. */
const struct rk_data_file *rk_counter_set_at(size_t i);
/* By full or short name: "memory_bound", "memory". NULL: there is none. */
const struct rk_data_file *rk_counter_set_find(const char *name);
/* "memory_bound" of a set. */
struct rk_piece rk_counter_set_name(const struct rk_data_file *set);

/* Adds the counters of a category (without '@') that the target has; false: no such category. */
bool rk_counter_category_add(const struct rk_counter_table *t,
			     const struct rk_counter_target *target, const char *name,
			     struct rk_list *names);
/* Adds the names of all categories, without '@'. */
void rk_counter_category_names(struct rk_list *names);

#endif
