/* tempdir.h - a private directory for files that a library wants by name. */
#ifndef RK_TEMPDIR_H
#define RK_TEMPDIR_H

#include <stddef.h>

#include "base/error.h"

/* Mode 0700, a fresh name. Everything in it goes when it is freed. */
struct rk_tempdir;

/* In `parent`, or $TMPDIR, or /tmp when NULL. */
int rk_tempdir_new(const char *parent, struct rk_tempdir **ret, struct rk_error *err);

/* A new empty file `name` open for writing; *ret_fd is the caller's to close. Path borrowed. */
int rk_tempdir_create(struct rk_tempdir *d, const char *name, const char **ret_path, int *ret_fd,
		      struct rk_error *err);
/* All of buf to fd, or an error. */
int rk_tempdir_write(int fd, const void *buf, size_t len, struct rk_error *err);
/* A copy of the file `from` as `name`. The last path made is borrowed until the next call. */
int rk_tempdir_copy(struct rk_tempdir *d, const char *from, const char *name, const char **ret_path,
		    struct rk_error *err);

void rk_tempdir_free(struct rk_tempdir *d); /* NULL is fine */

#endif
