/* counter_ask.h - turn a request (files, sets, categories, words) into counter names. */
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
 * Adds the names of all passes in the file, in order. The passes themselves are not kept, because
 * they are planned again. Reads `pmc:` lines of rocprof and rocprofv3 (blanks before the colon,
 * commas and comments are fine; range, gpu, kernel, hip and hsa lines are ignored), or a job file
 * of rocprofv3 in YAML or JSON (pmc and pmc_groups of all jobs). XML of rocprof v1 gives
 * RK_E_UNSUPPORTED. If it fails, some names may have been added.
 */
int rk_counter_file_read(const char *path, struct rk_list *names, struct rk_error *err);
/* The same from memory. `name` is for errors; its ending (.yaml, .yml, .json) decides the kind. */
int rk_counter_file_parse(const char *text, size_t len, const char *name, struct rk_list *names,
			  struct rk_error *err);

/* A shipped set by full or short name ("memory_bound", "memory"), or NULL. */
const struct rk_data_file *rk_counter_set_find(const char *name);

/*
 * `spec` as in rk_counters_plan. Adds names in order, possibly twice, and the origin of each: a
 * file, or "". Names are only looked up if they mean several counters.
 */
int rk_counter_ask(const struct rk_counter_table *t, const struct rk_counter_target *target,
		   const char *spec, struct rk_list *names, struct rk_list *origins,
		   struct rk_error *err);

/* Returns RK_E_USAGE for a name that no target has; `near` is the most similar counter, or NULL. */
int rk_counter_ask_unknown(const struct rk_counter_target *target, const char *name,
			   const char *origin, const char *near, struct rk_error *err);

#endif
