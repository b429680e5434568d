/*
 * timeline.h - facts that need only the trace: when a device was busy, idle, copying, or waiting
 * for a launch.
 *
 * Rows may come in any order. Many rows are sorted with a temporary file, so the numbers are exact
 * and memory is bounded.
 *
 * A device is a node, a rank and a number. A copy belongs to the devices at its ends, if its
 * direction says that they are devices. A device to or from which a rank only copies from or to
 * another device is that of another rank. A copy that names no device belongs to the only device with
 * kernels on its node and rank. A queue belongs to a process and a device; if queues are not
 * recorded, streams are used instead. Kernels on one queue that touch or overlap have no launch gap
 * between them. A row of duration 0 is counted and extends the span, nothing else; at time 0 it
 * does not even extend the span, because profilers write 0 for an unknown time.
 */
#ifndef RK_TIMELINE_H
#define RK_TIMELINE_H

#include "rockit/metrics.h"
#include "table/median.h"
#include "table/source.h"
#include "table/timeline_order.h"

/*
 * Beyond these limits, rows are left out (devices) or have no launch gaps (queues), with a warning.
 */
enum { RK_TIMELINE_DEVICES = 1024, RK_TIMELINE_QUEUES = 65536 };

struct rk_timeline;

/* ctx is borrowed. */
int rk_timeline_new(struct rk_context *ctx, struct rk_timeline **ret, struct rk_error *err);
/* Limits how many rows are held in memory, for tests. Call before the first row. */
int rk_timeline_limit(struct rk_timeline *t, size_t held, struct rk_error *err);
/* The columns that we read. */
uint64_t rk_timeline_wants(enum rk_table t); /* RK_KERNELS or RK_MEMCPY */
/*
 * Adds a batch of kernels or copies. Skips barriers and rows without times, with negative
 * durations, or with times more than 146 years from the others (struct rk_era).
 */
int rk_timeline_add(struct rk_timeline *t, const struct rk_batch *b, struct rk_error *err);
/* Call once. Free ret->devices with rk_free. Sorted by node, rank and device. */
int rk_timeline_finish(struct rk_timeline *t, struct rk_trace_facts *ret, struct rk_error *err);
/* Launch gaps / (gaps + time of kernels) over all queues; NaN if there are no kernels. */
double rk_timeline_gap_share(const struct rk_trace_facts *f);
void rk_timeline_free(struct rk_timeline *t); /* NULL is fine */

/*
 * Computes busy, idle and copy times from intervals sorted by start. Starts never decrease, so from
 * the current start on, all intervals so far cover exactly the time up to the latest end. So the
 * state is one number for the kernels of a device and one for its copies.
 */
#define RK_QUEUE_NONE (UINT32_MAX - 1) /* a kernel with an unknown queue */
#define RK_QUEUE_COPY UINT32_MAX       /* not a kernel */

enum { RK_LAUNCH_GAP_NS = 1000000 }; /* a longer gap is not launch overhead */

/* Zero it before use. */
struct rk_sweep_device {
	struct rk_trace_device facts;
	bool begun;
	int64_t first, last;                 /* of the span */
	int64_t kernels_until, copies_until; /* latest end; `first` at the beginning */
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
	uint64_t held; /* launch gaps kept individually, for all devices together */
};

/* s->device and s->queue are indices. Call in order of starts. False if out of memory. */
bool rk_sweep_add(struct rk_sweep *w, const struct rk_stretch *s);
/* Call after the last add; completes the facts of every device. False if out of memory. */
bool rk_sweep_finish(struct rk_sweep *w);

#endif
