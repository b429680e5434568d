/* keep.h - the rows of one rank, or of some: those with given numbers in one column. */
#ifndef RK_KEEP_H
#define RK_KEEP_H

#include "table/context.h"
#include "table/source.h"

/*
 * Rows whose int32 field `field` is `value`, or, with `null`, those that have none. Batches that are
 * wanted as a whole pass without being copied. Takes over `rows`, also on failure.
 */
int rk_keep_open(struct rk_source *rows, unsigned field, int64_t value, bool null,
		 struct rk_source **ret, struct rk_error *err);

/* As above, with any of `values`, ascending and borrowed; with `null`, those that have none as well. */
int rk_keep_some_open(struct rk_source *rows, unsigned field, const int64_t *values, size_t n,
		      bool null, struct rk_source **ret, struct rk_error *err);

#endif
