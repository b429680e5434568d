/* dispatch_once.h - kernels rows with each dispatch once. */
#ifndef RK_DISPATCH_ONCE_H
#define RK_DISPATCH_ONCE_H

#include "table/context.h"
#include "table/source.h"

/*
 * Passes on the first row of each (pid, dispatch_id). Rows without a dispatch id all pass. The
 * set of ids has a limit of some four million; past it only neighbours are compared and a warning
 * "many-dispatches" says so. Takes over `rows`, also on failure.
 */
int rk_dispatch_once_open(struct rk_source *rows, struct rk_context *ctx, const char *file,
			  struct rk_source **ret, struct rk_error *err);

#endif
