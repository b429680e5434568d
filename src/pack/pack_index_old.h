/* pack_index_old.h - pages of an index that an earlier run has written. */
#ifndef RK_PACK_INDEX_OLD_H
#define RK_PACK_INDEX_OLD_H

#include <stdbool.h>

#include "base/alloc.h"
#include "base/error.h"

/* Every page has this line, by which it is known. */
#define RK_INDEX_GENERATOR "<meta name=\"generator\" content=\"rockit pack index\">\n"

/* True when the folder holds one file, a page of ours. */
bool rk_index_is_ours(const char *dir, const char *page);

/*
 * RK_E_USAGE when dir/simple is the tree of a family's folder, which has the common packages of the folder above
 * it, too: from here they are not seen, and the pages would lose them.
 */
int rk_index_check_whole(struct rk_arena *a, const char *dir, struct rk_error *err);

#endif
