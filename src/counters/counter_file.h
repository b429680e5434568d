/* counter_file.h - the counters a user's file asks for. */
#ifndef RK_COUNTER_FILE_H
#define RK_COUNTER_FILE_H

#include "base/error.h"
#include "base/list.h"

enum {
	RK_COUNTER_FILE_BYTES_MAX = 1 << 20,
	RK_COUNTER_NAMES_MAX = 4096,
	RK_COUNTER_NAME_BYTES_MAX = 120,
};

/*
 * Adds the names of all runs that the file asks for, in order: how they are spread over runs is not
 * kept, since that is planned anew. `pmc:` lines of rocprof and rocprofv3 (blanks before the
 * colon, commas and comments are fine; range, gpu, kernel, hip and hsa lines ask for no counter),
 * or a job file of rocprofv3 in YAML or JSON (pmc and pmc_groups of all jobs). XML of rocprof v1
 * gives RK_E_UNSUPPORTED. On failure names may have been added.
 */
int rk_counter_file_read(const char *path, struct rk_list *names, struct rk_error *err);
/* The same from memory. `name`: what errors call it; .yaml, .yml and .json decide the kind. */
int rk_counter_file_parse(const char *text, size_t len, const char *name, struct rk_list *names,
			  struct rk_error *err);

#endif
