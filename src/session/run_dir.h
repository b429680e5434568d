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

/* Makes it, its parents too. One that is there already is refused unless `force`. */
int rk_run_dir_make(const char *path, bool force, struct rk_error *err);

/* Takes away what an earlier run left there: rockit's own files and folders, nothing else. */
int rk_run_dir_clear(const char *path, struct rk_error *err);

/* Makes a directory and its parents; one that is there is fine. */
int rk_make_dirs(const char *path, struct rk_error *err);

/* All of `text` as the file `path`, whole or not at all. */
int rk_write_file(const char *path, const char *text, size_t len, struct rk_error *err);

/* Regular files below `path` and their bytes; 0 when it is not there. */
int rk_count_files(const char *path, uint64_t *ret_files, uint64_t *ret_bytes,
		   struct rk_error *err);

#endif
