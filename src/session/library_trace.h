/* library_trace.h - what rocBLAS, hipBLASLt, MIOpen and RCCL log about their calls. */
#ifndef RK_LIBRARY_TRACE_H
#define RK_LIBRARY_TRACE_H

#include <stdint.h>

#include "base/error.h"
#include "base/list.h"

/* "rocblas,miopen" to bits, a bit per library; RK_E_USAGE names the nearest right word. */
int rk_library_parse(const char *words, unsigned *ret, struct rk_error *err);
const char *rk_library_name(unsigned i); /* NULL past the end */

/*
 * NAME=VALUE entries that switch logging on, each library into files of its own below `dir` (one
 * per process where the library can), added to `env`. A variable that stands in `env` or in
 * `inherited` (ended by NULL; NULL is fine) with another value is left as it is and named in `notes`. `dir` must exist when the program
 * starts, and should be absolute: programs change their folder.
 */
int rk_library_env(unsigned libraries, const char *dir, char *const *inherited, struct rk_list *env,
		   struct rk_list *notes, struct rk_error *err);

/*
 * MIOpen can log to standard error alone. The name of the file below `dir` in which a copy of the
 * program's standard error is looked for, or NULL when no library of these needs one.
 */
const char *rk_library_stderr_copy(unsigned libraries);

/*
 * Counts the calls in the logs below `dir` and writes `csv` (library,function,config,calls,
 * total_ns; total_ns empty where the log has no times, and none has today). *ret_rows 0: no log had
 * anything, and no file is written. A log that cannot be read or has lines nobody understands costs
 * those calls alone. Memory is bounded: past RK_LIBRARY_CONFIGS_MAX distinct calls, new ones are
 * counted together as "(other)".
 */
enum { RK_LIBRARY_CONFIGS_MAX = 100000 };
int rk_library_collect(unsigned libraries, const char *dir, const char *csv, uint64_t *ret_rows,
		       struct rk_error *err);

#endif
