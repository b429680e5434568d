/* walk.h - the files below a directory, in sorted order. */
#ifndef RK_WALK_H
#define RK_WALK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum { RK_WALK_MAX_FILES = 1000000, RK_WALK_MAX_DEPTH = 32 };

struct rk_walk {
	char **paths; /* `dir`/..., regular files and links to such, bytewise sorted */
	size_t n;
};

bool rk_is_dir(const char *path);
/* Hidden entries (a leading dot) are passed over; links to directories are not followed. */
int rk_walk_dir(const char *dir, struct rk_walk *ret, struct rk_error *err);
void rk_walk_release(struct rk_walk *w);

#endif
