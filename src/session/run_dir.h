/* run_dir.h - where a run's files go. */
#ifndef RK_RUN_DIR_H
#define RK_RUN_DIR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/error.h"

/*
 * The absolute path for `dir` (NULL: rockit_output/<YYYYMMDD-HHMMSS>-<pid> in the working
 * directory), with /rank-NNNNN behind it when rank is not -1. Nothing is made.
 */
int rk_run_dir_name(const char *dir, int64_t rank, struct rk_bytes *ret, struct rk_error *err);

/*
 * Makes it, its parents too. One that holds something is refused, unless `force` is given and an
 * earlier run made it: then what that run left is removed, and nothing else. A claim (claim.h) is
 * nothing, and stays.
 */
int rk_run_dir_make(const char *path, bool force, struct rk_error *err);

/*
 * Takes the directory for one run by making `raw_dir`, which is directly in it: of two runs that
 * found it empty at the same time, the second one fails.
 */
int rk_run_dir_claim(const char *raw_dir, struct rk_error *err);

/* Regular files below `path` and their bytes; 0 when it is not there. */
int rk_count_files(const char *path, uint64_t *ret_files, uint64_t *ret_bytes,
		   struct rk_error *err);

#endif
