/*
 * timeline_sweep.h - busy, idle, copying: from stretches in order of their starts.
 *
 * Since starts never go back, all that came so far covers, from the present start on, just the time
 * up to the latest end: one number for the kernels of a device and one for its copies are the whole
 * state, however many of them there are.
 */
#ifndef RK_TIMELINE_SWEEP_H
#define RK_TIMELINE_SWEEP_H

#include "rockit/metrics.h"
#include "table/median.h"
#include "table/timeline_order.h"

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
