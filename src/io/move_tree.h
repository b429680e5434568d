/* move_tree.h - what a directory holds, into another one that may be on another file system. */
#ifndef RK_MOVE_TREE_H
#define RK_MOVE_TREE_H

#include "base/error.h"

/*
 * Every entry of `from`, but for the one named `skip` (may be NULL), goes to the directory `to`:
 * renamed, or copied to `to`/`aside` and renamed from there when all of it has arrived, so that no
 * name ever stands for half of something. Then `from` is removed. Files, directories and symbolic
 * links; anything else (a socket, a FIFO) is left out. A failure leaves `from` as it was, unless
 * some could be renamed, and nothing half in `to`.
 */
int rk_move_tree(const char *from, const char *to, const char *aside, const char *skip,
		 struct rk_error *err);

/* Removes it and all below it; links are not followed. One that is not there is fine. */
int rk_remove_tree(const char *path, struct rk_error *err);

#endif
