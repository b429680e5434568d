/* ahead.h - a source that works ahead of its user, on another thread. */
#ifndef RK_AHEAD_H
#define RK_AHEAD_H

#include "table/context.h"
#include "table/source.h"

/*
 * While the user works on some batches, the pool takes the next ones from `rows` and keeps copies.
 * For sources that do not use the pool themselves once they have given their first batch (a
 * database, a merge); the first is taken on the calling thread. Without threads, or for a source
 * that has many columns, `rows` comes back as it is. Takes over `rows`, also on failure.
 */
int rk_ahead_open(struct rk_source *rows, struct rk_context *ctx, struct rk_source **ret,
		  struct rk_error *err);

#endif
