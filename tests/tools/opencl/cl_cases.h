/*
 * cl_cases.h - cases of cl-cases: small OpenCL programs that do one hard thing each.
 *
 * What a case prints is the same with and without a layer. What it did it also says as a line of
 * JSON at the end, the truth that records are compared with.
 */
#ifndef CL_CASES_H
#define CL_CASES_H

#include "cl_world.h"

/* Counted as they are done, from any thread; printed at the end. */
void truth_kernel(const char *name, uint64_t n);
void truth_copy(const char *direction, uint64_t bytes);
void truth_sync(uint64_t n);
void truth_build(uint64_t n);
void truth_print(void);

struct cl_case {
	const char *name;
	void (*run)(void);
};
extern const struct cl_case cl_cases_commands[];
extern const struct cl_case cl_cases_events[];
extern const struct cl_case cl_cases_life[];

/* The kernels that cases use: "one" adds 1 to each item of a buffer, "two" adds 2, "local_sum" has a
 * local argument, "empty" has none, "slow" takes some milliseconds. */
extern const char cl_cases_source[];

/* A world with these kernels. */
void case_world(struct cl_world *w);
/* Kernel `name` with `mem` as its first argument; counts nothing. */
cl_kernel case_kernel(const struct cl_world *w, const char *name, cl_mem mem);
/* Launches and counts. */
void case_launch(cl_command_queue q, cl_kernel k, const char *name, cl_event *event);

#endif
