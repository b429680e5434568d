/*
 * ocl_pending.c - see ocl.h: commands from the call that enqueued them to the record.
 *
 * A thread that enqueues takes a node from a stack of free nodes and pushes it on its queue's list
 * of new ones: two exchanges, no lock. A thread that harvests sets the queue's `busy` (if it is
 * set, another thread is already doing the work), takes the whole list of new nodes at once and
 * appends it, reversed, to the queue's list of running commands. Nodes are identified by index + 1.
 * The head of the free stack includes a number that changes with every exchange, to detect a stack
 * that only looks the same (ABA).
 */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "ocl.h"

#include "base/rkraw.h"

#define BATCH 64      /* commands recorded in one batch */
#define MOST_DONE 512 /* max events waiting for our thread to release them */
#define PIECE 16      /* batches per turn, for threads that work for others */
#define LOOK_PAST 256 /* max running commands that a harvest steps over in an out-of-order queue */
#define LEAST_NODES 1024
#define SPINS 1000
#define YIELDS 100

struct node {
	cl_event event;
	uint64_t bytes, number;
	int64_t before_ns; /* host time of the enqueue */
	_Atomic uint32_t next;
	uint32_t width_ns;     /* width of a clock sample; 0: none */
	uint32_t queue, epoch; /* id, and when it was valid */
	uint32_t queue_number, queue_flags, tid;
	uint8_t kind, direction;
	const char *name; /* of a marker */
	struct rk_ocl_device *device;
};

static struct node *nodes;
static uint32_t nnodes;
/* Each on its own cache line: threads that enqueue and threads that harvest write them. */
static _Alignas(RK_OCL_LINE) _Atomic uint64_t free_head; /* high half: changes; low: index + 1 */
static _Alignas(RK_OCL_LINE) _Atomic uint32_t nfresh;    /* first node that was never used */

/* If the program has little address space, the table is small. */
bool rk_ocl_pending_init(void)
{
	struct rlimit limit;

	nnodes = RK_OCL_PENDING;
	if (!getrlimit(RLIMIT_AS, &limit) && limit.rlim_cur != RLIM_INFINITY)
		while (nnodes > LEAST_NODES && nnodes * sizeof(*nodes) > limit.rlim_cur / 16)
			nnodes /= 2;
	for (; nnodes >= LEAST_NODES; nnodes /= 2) {
		void *at = mmap(NULL, nnodes * sizeof(*nodes), PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (at != MAP_FAILED) {
			nodes = at;
			return true;
		}
	}
	return false;
}

/* ---- nodes ---- */

static uint32_t node_take(void)
{
	uint64_t head = atomic_load_explicit(&free_head, memory_order_acquire);

	while ((uint32_t)head) {
		struct node *n = &nodes[(uint32_t)head - 1];
		uint64_t next = atomic_load_explicit(&n->next, memory_order_relaxed);

		next |= ((head >> 32) + 1) << 32;
		if (atomic_compare_exchange_weak_explicit(
			    &free_head, &head, next, memory_order_acquire, memory_order_acquire))
			return (uint32_t)head;
	}
	if (atomic_load_explicit(&nfresh, memory_order_relaxed) >= nnodes)
		return 0;
	uint32_t fresh = atomic_fetch_add_explicit(&nfresh, 1, memory_order_relaxed);
	return fresh < nnodes ? fresh + 1 : 0;
}

/* Frees a chain of nodes. */
static void nodes_give(uint32_t first, uint32_t last)
{
	uint64_t head = atomic_load_explicit(&free_head, memory_order_relaxed);
	uint64_t mine;

	do {
		atomic_store_explicit(&nodes[last - 1].next, (uint32_t)head, memory_order_relaxed);
		mine = (((head >> 32) + 1) << 32) | first;
	} while (!atomic_compare_exchange_weak_explicit(
		&free_head, &head, mine, memory_order_release, memory_order_relaxed));
}

static void push(struct rk_ocl_queue *q, uint32_t name)
{
	uint32_t head = atomic_load_explicit(&q->incoming, memory_order_relaxed);

	/* in one order with `idle` of our thread, see rk_ocl_helper_wake() */
	do
		atomic_store_explicit(&nodes[name - 1].next, head, memory_order_relaxed);
	while (!atomic_compare_exchange_weak(&q->incoming, &head, name));
}

/* ---- enqueueing ---- */

void rk_ocl_begin(struct rk_ocl_command *c, cl_command_queue handle, cl_event *asked)
{
	struct rk_ocl_queue *q;

	c->asked = c->event = asked;
	c->own = NULL;
	c->queue = NULL;
	c->missed = false;
	if (!rk_rec_awake()) {
		rk_rec_skip();
		return;
	}
	q = rk_ocl_queue_find(handle);
	if (!q || !atomic_load_explicit(&q->id, memory_order_relaxed)) {
		c->missed = handle && !q;
		return;
	}
	/*
	 * Not the application's variable: another thread could see the event in it and release it
	 * before we have it.
	 */
	c->queue = q;
	c->event = &c->own;
	c->sampled = rk_ocl_device_due(atomic_load_explicit(&q->device, memory_order_relaxed));
	c->before_ns = rk_rec_now();
}

static void fill(struct node *n, const struct rk_ocl_command *c, const struct rk_ocl_what *what,
		 uint64_t number, int64_t width_ns)
{
	n->event = c->own;
	n->bytes = what->bytes;
	n->number = number;
	n->before_ns = c->before_ns;
	n->width_ns = width_ns > UINT32_MAX ? UINT32_MAX : (uint32_t)width_ns;
	n->epoch = rk_rec_epoch();
	n->queue = rk_ocl_queue_id(c->queue);
	n->queue_number = atomic_load_explicit(&c->queue->number, memory_order_relaxed);
	n->queue_flags = atomic_load_explicit(&c->queue->flags, memory_order_relaxed);
	n->device = atomic_load_explicit(&c->queue->device, memory_order_relaxed);
	n->name = what->name;
	n->tid = rk_rec_tid();
	n->kind = (uint8_t)what->kind;
	n->direction = (uint8_t)what->direction;
}

/*
 * The runtime has taken the command. A kernel is recorded now, so that it is in the file however the
 * program ends after its call; a call that the runtime refuses leaves no record. Returns the number
 * of the command; 0: the launch could not be recorded.
 */
static uint64_t begun(const struct rk_ocl_command *c, const struct rk_ocl_what *what)
{
	uint64_t number = rk_rec_next_id(), recorded = number;

	if (what->kind != RK_OCL_KERNEL)
		rk_rec_begun();
	else if (!rk_rec_launch(&(struct rk_rec_launch){ .shape = what->shape,
							 .queue = rk_ocl_queue_id(c->queue),
							 .tid = rk_rec_tid(),
							 .id = number,
							 .correlation = number,
							 .submit_ns = c->before_ns }))
		recorded = 0;
	if (rk_ocl.api)
		rk_ocl_api_note(number);
	return recorded;
}

/* Records a command and keeps its event; false: there is no room for it, or nothing to ask it. */
static bool keep(struct rk_ocl_command *c, const struct rk_ocl_what *what)
{
	int64_t width_ns = c->sampled ? 1 + rk_rec_now() - c->before_ns : 0;
	uint64_t number = begun(c, what);
	uint32_t name;

	if (!atomic_load_explicit(&c->queue->profiled, memory_order_relaxed)) {
		if (what->kind == RK_OCL_KERNEL)
			rk_rec_ran(number, 0, 0, RK_RAW_NO_TIMES);
		return false; /* a copy stays open and so counts as lost */
	}
	name = node_take();
	if (!name)
		return false;
	fill(&nodes[name - 1], c, what, number, width_ns);
	push(c->queue, name);
	rk_ocl_helper_wake();
	return true;
}

cl_int rk_ocl_end(struct rk_ocl_command *c, cl_int rc, const struct rk_ocl_what *what)
{
	if (c->missed && rc == CL_SUCCESS)
		rk_rec_begun(); /* counts as begun and never finished */
	if (!c->queue || rc != CL_SUCCESS || !c->own)
		return rc;
	cl_event event = c->own;
	/*
	 * Take a second reference if the application also wants the event. Do it before the event
	 * is in a list, because it may be released from there at once.
	 */
	if (c->asked)
		rk_ocl.target.clRetainEvent(event);
	if (!keep(c, what))
		rk_ocl.target.clReleaseEvent(event);
	if (c->asked)
		*c->asked = event;
	return rc;
}

void rk_ocl_passed(cl_command_queue handle, uint32_t name, int64_t before_ns)
{
	struct rk_ocl_queue *q = rk_ocl_queue_find(handle);
	struct rk_rec_sync s = { .name = name, .t = { 0, 0, before_ns, 0 } };

	if (!rk_rec_awake())
		return;
	if (handle && !q)
		rk_rec_begun();
	if (!q || !atomic_load_explicit(&q->id, memory_order_relaxed))
		return;
	s.queue = rk_ocl_queue_id(q);
	s.t.end = rk_rec_now();
	s.correlation = rk_rec_next_id();
	if (rk_ocl.api)
		rk_ocl_api_note(s.correlation);
	rk_rec_begun();
	rk_rec_sync(&s);
}

/* ---- harvesting ---- */

static bool event_time(cl_event event, cl_profiling_info what, int64_t *ret)
{
	cl_ulong ns = 0;

	if (rk_ocl.target.clGetEventProfilingInfo(event, what, sizeof(ns), &ns, NULL) != CL_SUCCESS)
		return false;
	*ret = (int64_t)ns;
	return true;
}

enum state { UNDER_WAY, OVER, TIMELESS, FAILED };

static enum state execution(cl_event event)
{
	cl_int status = CL_QUEUED;

	if (rk_ocl.target.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status),
					 &status, NULL) != CL_SUCCESS ||
	    status < 0)
		return FAILED;
	return status == CL_COMPLETE ? OVER : UNDER_WAY;
}

/* Makes one query for a running command, four for one that has ended. */
static enum state times(cl_event event, struct rk_rec_times *t)
{
	enum state s;

	if (!event_time(event, CL_PROFILING_COMMAND_END, &t->end) || !t->end) {
		s = execution(event);
		if (s != OVER)
			return s;
		/* It ended between the two queries, or it never gets times. */
		if (!event_time(event, CL_PROFILING_COMMAND_END, &t->end) || !t->end)
			return TIMELESS;
	}
	if (!event_time(event, CL_PROFILING_COMMAND_START, &t->start) ||
	    !event_time(event, CL_PROFILING_COMMAND_SUBMIT, &t->submit) ||
	    !event_time(event, CL_PROFILING_COMMAND_QUEUED, &t->queued))
		return TIMELESS;
	return OVER;
}

/*
 * A command without work for the device has no times: use the time when it was enqueued. NVIDIA's
 * runtime gives such a command no queued time and leaves the other values unchanged.
 */
static enum state complete_times(const struct node *n, enum state s, struct rk_rec_times *t)
{
	if (n->kind == RK_OCL_KERNEL && s == OVER && !t->queued)
		t->queued = t->submit = t->start;
	if (n->kind == RK_OCL_KERNEL || s == UNDER_WAY || s == FAILED || (s == OVER && t->queued))
		return s;
	*t = (struct rk_rec_times){ 0, 0, n->before_ns, n->before_ns };
	return OVER;
}

static void record(const struct node *n, const struct rk_rec_times *t)
{
	uint32_t queue = n->queue;

	/* The handle may be another queue's by now: ask with what the command has kept. */
	if (n->epoch != rk_rec_epoch())
		queue = rk_rec_queue(atomic_load(&n->device->id), n->queue_number, n->queue_flags);
	if (n->kind == RK_OCL_KERNEL)
		rk_rec_ran(n->number, t->start, t->end, 0);
	else if (n->kind == RK_OCL_COPY)
		rk_rec_copy(&(struct rk_rec_copy){ .direction = n->direction,
						   .queue = queue,
						   .tid = n->tid,
						   .bytes = n->bytes,
						   .correlation = n->number,
						   .t = *t });
	else
		rk_rec_sync(&(struct rk_rec_sync){ .name = rk_rec_string(n->name, strlen(n->name)),
						   .queue = queue,
						   .tid = n->tid,
						   .correlation = n->number,
						   .t = *t });
	if (n->width_ns && t->queued)
		rk_ocl_device_sample(n->device, t->queued, n->before_ns, n->width_ns);
}

/* Takes over the nodes pushed since the last call; they are newest first. */
static void take_incoming(struct rk_ocl_queue *q)
{
	uint32_t name = atomic_exchange_explicit(&q->incoming, 0, memory_order_acquire);
	uint32_t newest = name, turned = 0;

	while (name) {
		uint32_t next = atomic_load_explicit(&nodes[name - 1].next, memory_order_relaxed);

		atomic_store_explicit(&nodes[name - 1].next, turned, memory_order_relaxed);
		turned = name;
		name = next;
	}
	if (!turned)
		return;
	if (q->last)
		atomic_store_explicit(&nodes[q->last - 1].next, turned, memory_order_relaxed);
	else
		q->first = turned;
	q->last = newest;
}

/* Removes `name`, which follows `before` (0: it is the first), from the list. */
static uint32_t unlink_node(struct rk_ocl_queue *q, uint32_t name, uint32_t before)
{
	uint32_t next = atomic_load_explicit(&nodes[name - 1].next, memory_order_relaxed);

	if (before)
		atomic_store_explicit(&nodes[before - 1].next, next, memory_order_relaxed);
	else
		q->first = next;
	if (q->last == name)
		q->last = before;
	return next;
}

/*
 * Keeps a recorded node aside: its event is released later, with others, because releasing takes
 * longer than recording.
 */
static void put_aside(struct rk_ocl_queue *q, uint32_t name)
{
	atomic_store_explicit(&nodes[name - 1].next, q->done, memory_order_relaxed);
	q->done = name;
	q->ndone++;
}

/* Records up to a batch of ended commands; returns whether there may be more. */
static bool harvest_some(struct rk_ocl_queue *q, bool all)
{
	bool ordered = !(atomic_load(&q->asked) & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
	uint32_t patience = ordered ? 0 : LOOK_PAST;
	uint32_t before = 0, found = 0;

	if (all)
		patience = RK_OCL_PENDING;

	take_incoming(q);
	for (uint32_t name = q->first; name && found < BATCH;) {
		struct node *n = &nodes[name - 1];
		struct rk_rec_times t = { 0 };
		enum state s = complete_times(n, times(n->event, &t), &t);

		if (s == UNDER_WAY) {
			if (patience-- == 0)
				break;
			before = name;
			name = atomic_load_explicit(&n->next, memory_order_relaxed);
			continue;
		}
		if (s == OVER)
			record(n, &t);
		else if (n->kind == RK_OCL_KERNEL)
			rk_rec_ran(n->number, 0, 0, RK_RAW_NO_TIMES);
		else if (s == FAILED)
			rk_rec_failed();
		uint32_t next = unlink_node(q, name, before);
		put_aside(q, name);
		found++;
		name = next;
	}
	return found == BATCH;
}

static bool try_lock(struct rk_ocl_queue *q)
{
	return !atomic_load_explicit(&q->busy, memory_order_relaxed) &&
	       !atomic_exchange_explicit(&q->busy, true, memory_order_acquire);
}

/* Returns false if another thread holds the queue for longer than one batch. */
static bool lock_queue(struct rk_ocl_queue *q)
{
	for (int i = 0; i < YIELDS; i++) {
		for (int j = 0; j < SPINS; j++) {
			if (try_lock(q))
				return true;
		}
		sched_yield();
	}
	return false;
}

static void unlock_queue(struct rk_ocl_queue *q)
{
	atomic_store_explicit(&q->waiting, q->first || q->done, memory_order_relaxed);
	atomic_store_explicit(&q->busy, false, memory_order_release);
}

static bool is_empty(struct rk_ocl_queue *q)
{
	return !atomic_load(&q->incoming) &&
	       !atomic_load_explicit(&q->waiting, memory_order_relaxed);
}

/* Releases the events of a chain. This may call back into the application, so hold nothing here. */
static void release_chain(uint32_t first)
{
	uint32_t last = first;

	if (!first)
		return;
	for (uint32_t name = first; name; last = name, name = nodes[name - 1].next)
		rk_ocl.target.clReleaseEvent(nodes[name - 1].event);
	nodes_give(first, last);
}

/* The events to release now: all of them, or none until there are many. */
static uint32_t take_done(struct rk_ocl_queue *q, bool now)
{
	uint32_t chain = q->done;

	if (!now && q->ndone < MOST_DONE)
		return 0;
	q->done = 0;
	q->ndone = 0;
	return chain;
}

/* Records up to `batches` of ended commands; returns whether there may be more. */
static bool harvest_part(struct rk_ocl_queue *q, bool all, bool release, uint32_t batches)
{
	bool more = !is_empty(q);

	while (more && batches-- && lock_queue(q)) {
		more = harvest_some(q, all);
		/* after a full batch the events are still in the cache: release them now */
		uint32_t chain = take_done(q, release || more);
		unlock_queue(q);
		release_chain(chain);
	}
	return more;
}

void rk_ocl_harvest(struct rk_ocl_queue *q, bool all)
{
	int saved = errno;

	if (!is_empty(q) && rk_rec_enter()) {
		harvest_part(q, all, all, UINT32_MAX);
		rk_rec_leave();
	}
	errno = saved;
}

static void harvest_whole(struct rk_ocl_queue *q, void *unused)
{
	(void)unused;
	rk_ocl_harvest(q, true);
}

void rk_ocl_harvest_queues(void)
{
	rk_ocl_queue_each(harvest_whole, NULL);
}

static void harvest_piece(struct rk_ocl_queue *q, void *more)
{
	*(bool *)more |= harvest_part(q, false, true, PIECE);
}

static void look(struct rk_ocl_queue *q, void *any)
{
	*(bool *)any |= !is_empty(q);
}

bool rk_ocl_under_way(void)
{
	bool any = false;

	rk_ocl_queue_each(look, &any);
	return any;
}

bool rk_ocl_harvest_piece(void)
{
	bool more = false;

	if (rk_rec_enter()) {
		rk_ocl_queue_each(harvest_piece, &more);
		rk_rec_leave();
	}
	return more;
}

static bool in_chain(uint32_t name, cl_event event)
{
	for (; name; name = nodes[name - 1].next) {
		if (nodes[name - 1].event == event)
			return true;
	}
	return false;
}

bool rk_ocl_holds(struct rk_ocl_queue *q, cl_event event)
{
	bool found;

	if (!lock_queue(q))
		return false;
	take_incoming(q);
	found = in_chain(q->first, event) || in_chain(q->done, event);
	unlock_queue(q);
	return found;
}

static void forget(struct rk_ocl_queue *q, void *unused)
{
	(void)unused;
	atomic_store(&q->incoming, 0);
	atomic_store(&q->busy, false);
	q->first = q->last = q->done = q->ndone = 0;
	atomic_store(&q->waiting, false);
}

/* Running commands belong to the parent: its threads handle them, and its file gets the records. */
void rk_ocl_pending_forked(void)
{
	rk_ocl_queue_each(forget, NULL);
	atomic_store(&free_head, 0);
	atomic_store(&nfresh, 0);
}
