/* dirs.h - directories: walks, moves and removes trees; private temporary directories. */
#ifndef RK_DIRS_H
#define RK_DIRS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* ---- the files below a directory, in sorted order ---- */

enum { RK_WALK_MAX_FILES = 1000000, RK_WALK_MAX_DEPTH = 32 };

struct rk_walk {
	char **paths; /* `dir`/..., regular files and links to them, sorted bytewise */
	size_t n;
};

bool rk_is_dir(const char *path);
/* Hidden entries (leading dot) are skipped; links to directories are not followed. */
int rk_walk_dir(const char *dir, struct rk_walk *ret, struct rk_error *err);
/* The same with hidden entries. */
int rk_walk_all(const char *dir, struct rk_walk *ret, struct rk_error *err);
void rk_walk_release(struct rk_walk *w);

/* ---- trees ---- */

/*
 * Moves every entry of `from`, except the one named `skip` (may be NULL), to the directory `to`,
 * then removes `from`. An entry is renamed; if that is not possible it is copied to `to`/`aside`
 * and renamed from there when the copy is complete, so that no name ever refers to a partial file.
 * Moves files, directories and symbolic links; anything else (a socket, a FIFO) is left out. On
 * failure `from` is unchanged, except for entries already renamed, and `to` has no partial files.
 */
int rk_move_tree(const char *from, const char *to, const char *aside, const char *skip,
		 struct rk_error *err);

/* Removes `path` and everything below it; links are not followed. It need not exist. */
int rk_remove_tree(const char *path, struct rk_error *err);

/* ---- a private directory for files that a library needs by name ---- */

/* Has mode 0700 and a unique name. It is removed with its content when freed. */
struct rk_tempdir;

/* In `parent`, or $TMPDIR, or /tmp when NULL. */
int rk_tempdir_new(const char *parent, struct rk_tempdir **ret, struct rk_error *err);

/* Creates an empty file `name` for writing; the caller closes *ret_fd. The path is borrowed. */
int rk_tempdir_create(struct rk_tempdir *d, const char *name, const char **ret_path, int *ret_fd,
		      struct rk_error *err);
/* Writes all of buf to fd, or fails. */
int rk_tempdir_write(int fd, const void *buf, size_t len, struct rk_error *err);
/* Copies the file `from` to `name`. *ret_path is borrowed until the next call. */
int rk_tempdir_copy(struct rk_tempdir *d, const char *from, const char *name, const char **ret_path,
		    struct rk_error *err);

void rk_tempdir_free(struct rk_tempdir *d); /* NULL is fine */

#endif
