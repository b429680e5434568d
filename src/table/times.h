/* times.h - what is odd about durations, counted; no row is changed. */
#ifndef RK_TIMES_H
#define RK_TIMES_H

#include "table/context.h"
#include "table/source.h"

/*
 * Passes rows on and counts, for tables with a start and a duration: negative durations, and for
 * kernels also zero ones and kernels that begin before the one ahead of them on the same queue has
 * ended. At the end the counts go to ctx->diag as "negative-duration", "zero-duration",
 * "no-times" (zero, and at time 0), "overlapping-kernels". Rows need not be in order: the last 16384 are put in order before queues
 * are compared; when some come later than that, the overlaps are said to be at least so many.
 * Other tables pass through. Takes over `rows`, also on failure.
 */
int rk_times_open(struct rk_source *rows, struct rk_context *ctx, struct rk_source **ret,
		  struct rk_error *err);

/* The fields of `table` that must be wanted for the counts to be right. */
uint64_t rk_times_needs(enum rk_table table);

#endif
