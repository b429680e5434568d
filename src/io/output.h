/* output.h - writes files: complete or not at all. */
#ifndef RK_OUTPUT_H
#define RK_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/*
 * Writes go to a temporary file next to the target, without a name if the file system allows it
 * (O_TMPFILE), so that even a killed process leaves nothing behind. commit makes it appear under
 * its name in one step. "-" is stdout, "/dev/stdout" and other non-files are written directly.
 */
struct rk_output;

bool rk_output_is_direct(const char *path);
int rk_output_open(const char *path, struct rk_output **ret, struct rk_error *err);
/* An output into a borrowed spill: keeps the output of a writer for later. */
struct rk_spill;
int rk_output_open_spill(struct rk_spill *spill, struct rk_output **ret, struct rk_error *err);
int rk_output_write(struct rk_output *o, const void *p, size_t len, struct rk_error *err);
uint64_t rk_output_offset(const struct rk_output *o); /* bytes written so far */
/*
 * Replaces bytes already written; RK_E_UNSUPPORTED if that is impossible (stdout, a pipe).
 * rk_output_rewind drops everything from `offset` on.
 */
int rk_output_patch(struct rk_output *o, uint64_t offset, const void *p, size_t len,
		    struct rk_error *err);
int rk_output_rewind(struct rk_output *o, uint64_t offset, struct rk_error *err);
/* Flush, fsync, rename. Closes the output even on failure. */
int rk_output_commit(struct rk_output *o, struct rk_error *err);
/* Closes without commit: nothing is left behind. NULL is fine. */
void rk_output_abort(struct rk_output *o);

/* Writes `text` to the file `path`, completely or not at all. */
int rk_write_file(const char *path, const char *text, size_t len, struct rk_error *err);

/* Creates a directory and its parents; they may exist. */
int rk_make_dirs(const char *path, struct rk_error *err);

/* Test hook: the n-th write from now on fails with `errnum` (n from 1; 0 switches it off). */
void rk_output_fail_after(uint64_t n, int errnum);

#endif
