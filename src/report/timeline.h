/*
 * timeline.h - facts from the trace alone: when a device was busy, idle, copying, waiting for a
 * launch.
 *
 * Rows may come in any order, kernels and copies one after the other: they are put in order by way
 * of a temporary file where they are many, so the numbers are exact and memory is bounded.
 *
 * A device is a node, a rank and a number. A copy belongs to the devices at its ends, as far as its
 * direction says that they are devices; one that names none belongs to the device of its node and
 * rank when there is only one with kernels. A queue is one of a process on a device; where queues
 * are not recorded, streams are used instead. Kernels on one queue that touch or overlap have no
 * launch gap between them. What takes no time is counted and is part of the span, nothing else;
 * at time 0 it is no part of the span either: profilers write 0 for what they do not know.
 */
#ifndef RK_TIMELINE_H
#define RK_TIMELINE_H

#include "rockit/metrics.h"
#include "table/median.h"
#include "table/source.h"
#include "table/timeline_order.h"

/* Past these, rows are left out (devices) or have no launch gaps (queues), with a warning. */
enum { RK_TIMELINE_DEVICES = 1024, RK_TIMELINE_QUEUES = 65536 };

struct rk_timeline;

/* ctx is borrowed. */
int rk_timeline_new(struct rk_context *ctx, struct rk_timeline **ret, struct rk_error *err);
/* How many rows are held in memory; tests make it small. Before the first row. */
int rk_timeline_limit(struct rk_timeline *t, size_t held, struct rk_error *err);
/* Columns that are looked at. */
uint64_t rk_timeline_wants(enum rk_table t); /* RK_KERNELS or RK_MEMCPY */
/*
 * A batch of kernels or copies. Rows without times are passed over; barriers too, negative
 * durations, and times more than 146 years from 0.
 */
int rk_timeline_add(struct rk_timeline *t, const struct rk_batch *b, struct rk_error *err);
/* Once. ret->devices is the caller's: rk_free. By node, rank and device. */
int rk_timeline_finish(struct rk_timeline *t, struct rk_trace_facts *ret, struct rk_error *err);
/* Launch gaps / (gaps + time of kernels) over all queues; NaN when there are no kernels. */
double rk_timeline_gap_share(const struct rk_trace_facts *f);
void rk_timeline_free(struct rk_timeline *t); /* NULL is fine */

/*
 * Busy, idle, copying: from stretches in order of their starts. Since starts never go back, all
 * that came so far covers, from the present start on, just the time up to the latest end: one
 * number for the kernels of a device and one for its copies are the whole state, however many of
 * them there are.
 */
#define RK_QUEUE_NONE (UINT32_MAX - 1) /* a kernel whose queue is not known */
#define RK_QUEUE_COPY UINT32_MAX       /* not a kernel */

enum { RK_LAUNCH_GAP_NS = 1000000 }; /* a longer wait is not the launch's doing */

/* Zero it before use. */
struct rk_sweep_device {
	struct rk_trace_device facts;
	bool begun;
	int64_t first, last;                 /* of the span */
	int64_t kernels_until, copies_until; /* latest end, `first` before there is one */
	struct rk_durations gaps;
};

struct rk_sweep_queue {
	int64_t until; /* latest end of its kernels */
	bool begun;
};

struct rk_sweep {
	struct rk_sweep_device *devices;
	struct rk_sweep_queue *queues;
	size_t ndevices;
	struct rk_durations_store store;
	uint64_t held; /* launch gaps that are kept singly, all devices together */
};

/* s->device and s->queue are indices. Starts in order. False when out of memory. */
bool rk_sweep_add(struct rk_sweep *w, const struct rk_stretch *s);
/* When all was added: facts of every device are whole then. False when out of memory. */
bool rk_sweep_finish(struct rk_sweep *w);

#endif
