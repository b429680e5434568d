/* keep.h - the rows of one rank: those with a given number in one column. */
#ifndef RK_KEEP_H
#define RK_KEEP_H

#include "model/context.h"
#include "model/source.h"

/*
 * Rows whose int32 field `field` is `value`, or, with `null`, those that have none. Batches that are
 * wanted as a whole pass without being copied. Takes over `rows`, also on failure.
 */
int rk_keep_open(struct rk_source *rows, unsigned field, int64_t value, bool null,
		 struct rk_source **ret, struct rk_error *err);

#endif
