/*
 * timeline_order.h - sorts stretches of time by start, any number in bounded memory.
 *
 * As many as fit are held in memory; when there are more, the earlier half is written to a
 * temporary file. Rows that are almost in order form one chunk there. A new chunk begins when rows
 * start over, as those of the next file do, or come too late for the half that is still held. All
 * chunks are merged at the end.
 */
#ifndef RK_TIMELINE_ORDER_H
#define RK_TIMELINE_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct rk_stretch {
	int64_t start, end;
	uint32_t device, queue; /* numbers chosen by the caller */
};

enum { RK_ORDER_HELD = 1 << 17 };

struct rk_order;

/* tmpdir is borrowed. At most `held` stretches are in memory: RK_ORDER_HELD, less in tests. */
int rk_order_new(const char *tmpdir, size_t held, struct rk_order **ret, struct rk_error *err);
int rk_order_add(struct rk_order *o, const struct rk_stretch *s, struct rk_error *err);
/* Do not add after the first call. 1: *ret is the next one; 0: end; < 0: error. */
int rk_order_next(struct rk_order *o, struct rk_stretch *ret, struct rk_error *err);
/* Number of chunks in the temporary file; for tests. */
size_t rk_order_chunks(const struct rk_order *o);
void rk_order_free(struct rk_order *o); /* NULL is fine */

#endif
