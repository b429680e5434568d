/*
 * timeline.h - what the trace alone tells: when a device was busy, idle, copying, waiting for a
 * launch.
 *
 * Rows may come in any order; memory is bounded: intervals of a device are merged as they come, and
 * when too many disjoint ones are held the smallest gaps are closed, counted and told.
 */
#ifndef RK_TIMELINE_H
#define RK_TIMELINE_H

#include "model/context.h"
#include "model/source.h"
#include "rockit/metrics.h"

struct rk_timeline;

int rk_timeline_new(struct rk_context *ctx, struct rk_timeline **ret, struct rk_error *err);
/* Columns that are looked at. */
uint64_t rk_timeline_wants(enum rk_table t); /* RK_KERNELS or RK_MEMCPY */
/* A batch of kernels or copies. Rows without times are passed over; barriers too. */
int rk_timeline_add(struct rk_timeline *t, const struct rk_batch *b, struct rk_error *err);
/* ret->devices is the caller's: rk_free. By node, rank and device. */
int rk_timeline_finish(struct rk_timeline *t, struct rk_trace_facts *ret, struct rk_error *err);
/* Launch gaps / (gaps + busy) over all queues; NaN when there are none. */
double rk_timeline_gap_share(const struct rk_trace_facts *f);
void rk_timeline_free(struct rk_timeline *t); /* NULL is fine */

#endif
