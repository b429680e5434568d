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
 * per process where the library can). A variable that stands in `inherited` already is left as it
 * is and named in `notes`.
 */
int rk_library_env(unsigned libraries, const char *dir, char *const *inherited, struct rk_list *env,
		   struct rk_list *notes, struct rk_error *err);

/*
 * Counts the calls in the logs below `dir` and writes `csv` (library,function,config,calls,
 * total_ns; total_ns empty where the log has no times). *ret_rows 0: no log had anything, and no
 * file is written.
 */
int rk_library_collect(unsigned libraries, const char *dir, const char *csv, uint64_t *ret_rows,
		       struct rk_error *err);

#endif
