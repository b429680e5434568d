/* counter_ask.h - what a user asked for, as names of counters: files, sets, categories, words. */
#ifndef RK_COUNTER_ASK_H
#define RK_COUNTER_ASK_H

#include "base/data.h"
#include "base/error.h"
#include "base/list.h"
#include "counters/counter_table.h"

enum {
	RK_COUNTER_FILE_BYTES_MAX = 1 << 20,
	RK_COUNTER_NAMES_MAX = 4096,
	RK_COUNTER_NAME_BYTES_MAX = 120,
};

/*
 * Adds the names of all runs that the file asks for, in order. How they are spread over runs is not
 * kept, since that is planned again. `pmc:` lines of rocprof and rocprofv3 (blanks before the
 * colon, commas and comments are fine; range, gpu, kernel, hip and hsa lines ask for no counter),
 * or a job file of rocprofv3 in YAML or JSON (pmc and pmc_groups of all jobs). XML of rocprof v1
 * gives RK_E_UNSUPPORTED. On failure names may have been added.
 */
int rk_counter_file_read(const char *path, struct rk_list *names, struct rk_error *err);
/* The same from memory. `name`: what errors call it; .yaml, .yml and .json decide the kind. */
int rk_counter_file_parse(const char *text, size_t len, const char *name, struct rk_list *names,
			  struct rk_error *err);

/* A shipped set by full or short name: "memory_bound", "memory". NULL: there is none. */
const struct rk_data_file *rk_counter_set_find(const char *name);

/*
 * `spec` as in rk_counters_plan. Adds names in order, perhaps twice, and beside each where it
 * comes from: a file, or "". A name is not looked up here unless it means several counters.
 */
int rk_counter_ask(const struct rk_counter_table *t, const struct rk_counter_target *target,
		   const char *spec, struct rk_list *names, struct rk_list *origins,
		   struct rk_error *err);

/* RK_E_USAGE: no target knows the name; `near` is the counter that comes nearest, or NULL. */
int rk_counter_ask_unknown(const struct rk_counter_target *target, const char *name,
			   const char *origin, const char *near, struct rk_error *err);

#endif
