/* relay.c - see rocm.h: our signal in the place of one that the program waits for. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "rocm.h"

#include "base/rkraw.h"

enum { MAX_RELAYS = 4096 }; /* each has an event of the driver */

/* Times of the device and of the host agree to less than this. */
#define EARLY_NS 50000

struct rk_rocm_order {
	pthread_mutex_t lock;
	struct rk_rocm_relay *first, *last; /* oldest first */
	_Atomic unsigned users;             /* its queue and its relays */
	_Atomic unsigned under_way;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* spare ones */
static struct rk_rocm_relay *spare;
static unsigned nrelays;
static _Atomic unsigned under_way;

static struct hsa_signal *memory_of(uint64_t signal)
{
	return (struct hsa_signal *)(uintptr_t)signal;
}

uint32_t rk_rocm_time_flags(const struct hsa_signal *s, const struct hsa_time *t, int64_t submit_ns,
			    uint32_t flags)
{
	if (!s->start || !s->end || t->end < t->start || (int64_t)t->start < submit_ns - EARLY_NS)
		return RK_RAW_NO_TIMES;
	return flags;
}

/* ---- orders ---- */

struct rk_rocm_order *rk_rocm_order_new(void)
{
	struct rk_rocm_order *o = calloc(1, sizeof(*o));

	if (o) {
		pthread_mutex_init(&o->lock, NULL);
		o->users = 1;
	}
	return o;
}

void rk_rocm_order_put(struct rk_rocm_order *o)
{
	if (o && atomic_fetch_sub(&o->users, 1) == 1)
		free(o);
}

bool rk_rocm_order_has(struct rk_rocm_order *o)
{
	return atomic_load_explicit(&o->under_way, memory_order_acquire) != 0;
}

static void append(struct rk_rocm_order *o, struct rk_rocm_relay *r)
{
	pthread_mutex_lock(&o->lock);
	if (o->last)
		o->last->next = r;
	else
		o->first = r;
	o->last = r;
	atomic_fetch_add(&o->users, 1);
	atomic_fetch_add(&o->under_way, 1);
	pthread_mutex_unlock(&o->lock);
}

/* ---- spare ones ---- */

static void put(struct rk_rocm_relay *r)
{
	pthread_mutex_lock(&lock);
	r->next = spare;
	spare = r;
	pthread_mutex_unlock(&lock);
}

static struct rk_rocm_relay *take(void)
{
	struct rk_rocm_relay *r;
	bool room;

	pthread_mutex_lock(&lock);
	r = spare;
	if (r)
		spare = r->next;
	room = nrelays < MAX_RELAYS;
	nrelays += !r && room;
	pthread_mutex_unlock(&lock);
	if (r || !room)
		return r;
	r = calloc(1, sizeof(*r));
	if (r && rk_rocm.amd.signal_create(1, 0, NULL, 0, &r->signal)) {
		free(r);
		r = NULL;
	}
	if (!r) {
		pthread_mutex_lock(&lock);
		nrelays--;
		pthread_mutex_unlock(&lock);
	}
	return r;
}

/* ---- from the device to the program ---- */

static void record(struct rk_rocm_relay *r, const struct hsa_time *t, uint32_t flags)
{
	if (r->agent) {
		rk_rec_ran(r->id, (int64_t)t->start, (int64_t)t->end, flags);
		return;
	}
	r->copy.t.queued = r->copy.t.submit = r->submit_ns;
	r->copy.t.start = (int64_t)t->start;
	r->copy.t.end = (int64_t)t->end;
	if (flags & RK_RAW_NO_TIMES) {
		/* on the host's clock: from its submission to now */
		r->copy.t = (struct rk_rec_times){ 0, 0, r->submit_ns, rk_rec_now() };
	}
	rk_rec_copy(&r->copy);
}

/* The program may go on as soon as its signal is set: times first. */
static void deliver(struct rk_rocm_relay *r)
{
	struct hsa_signal *ours = memory_of(r->signal), *theirs = memory_of(r->original);
	uint32_t flags = RK_RAW_NO_TIMES;
	struct hsa_time t = { 0 };

	if (!r->silent && ours->start) {
		hsa_status rc = r->agent ? rk_rocm.amd.get_dispatch_time(r->agent, r->signal, &t) :
					   rk_rocm.amd.get_async_copy_time(r->signal, &t);

		if (!rc)
			flags = rk_rocm_time_flags(ours, &t, r->submit_ns, r->flags);
	}
	if (theirs) {
		theirs->start = ours->start;
		theirs->end = ours->end;
		rk_rocm.core.signal_subtract_screlease(r->original, 1);
	}
	if (!r->silent)
		record(r, &t, flags);
	r->state = RK_ROCM_DELIVERED;
}

/* Delivers all that are set up to r, and takes r out of the list. */
static void deliver_in_order(struct rk_rocm_order *o, struct rk_rocm_relay *r)
{
	struct rk_rocm_relay *before = NULL;

	pthread_mutex_lock(&o->lock);
	for (struct rk_rocm_relay *p = o->first; p != r; before = p, p = p->next)
		if (p->state == RK_ROCM_WAITS && rk_rocm.core.signal_load_scacquire(p->signal) <= 0)
			deliver(p);
	if (r->state == RK_ROCM_WAITS)
		deliver(r);
	if (before)
		before->next = r->next;
	else
		o->first = r->next;
	if (o->last == r)
		o->last = before;
	atomic_fetch_sub(&o->under_way, 1);
	pthread_mutex_unlock(&o->lock);
	rk_rocm_order_put(o);
}

/* On ROCr's thread. */
static bool is_set(int64_t value, void *arg)
{
	struct rk_rocm_relay *r = arg;
	int before = errno;

	(void)value;
	if (r->order)
		deliver_in_order(r->order, r);
	else if (r->state == RK_ROCM_WAITS)
		deliver(r);
	memory_of(r->signal)->start = memory_of(r->signal)->end = 0;
	rk_rocm.core.signal_store_relaxed(r->signal, 1);
	put(r);
	atomic_fetch_sub(&under_way, 1);
	errno = before;
	return false;
}

bool rk_rocm_relay_start(const struct rk_rocm_relay *what, struct rk_rocm_relay **ret)
{
	struct rk_rocm_relay *r = take();
	uint64_t signal;

	if (!r)
		return false;
	signal = r->signal;
	*r = *what;
	r->signal = signal;
	atomic_fetch_add(&under_way, 1);
	if (r->order)
		append(r->order, r);
	if (rk_rocm.amd.signal_async_handler(signal, HSA_CONDITION_LT, 1, is_set, r)) {
		r->state = RK_ROCM_CANCELLED;
		is_set(0, r);
		return false;
	}
	*ret = r;
	return true;
}

void rk_rocm_relay_cancel(struct rk_rocm_relay *r)
{
	r->state = RK_ROCM_CANCELLED;
	rk_rocm.core.signal_store_screlease(r->signal, 0);
}

unsigned rk_rocm_relays(void)
{
	return atomic_load(&under_way);
}

void rk_rocm_relay_close(void)
{
	struct rk_rocm_relay *r;

	pthread_mutex_lock(&lock);
	while ((r = spare)) {
		spare = r->next;
		rk_rocm.core.signal_destroy(r->signal);
		free(r);
		nrelays--;
	}
	pthread_mutex_unlock(&lock);
}

/* ---- ROCr's thread for signals ---- */

struct pass {
	uint64_t signal;
	atomic_bool done;
};

static bool passed(int64_t value, void *arg)
{
	struct pass *p = arg;

	(void)value;
	atomic_store(&p->done, true);
	return false;
}

bool rk_rocm_signals_pass(unsigned ms)
{
	struct timespec moment = { .tv_nsec = 20000 };
	struct pass *p = rk_rocm_live() ? calloc(1, sizeof(*p)) : NULL;
	int64_t until = rk_rec_now() + (int64_t)ms * 1000000;
	bool done;

	if (!p)
		return false;
	if (rk_rocm.amd.signal_create(0, 0, NULL, 0, &p->signal)) {
		free(p);
		return false;
	}
	if (rk_rocm.amd.signal_async_handler(p->signal, HSA_CONDITION_LT, 1, passed, p)) {
		rk_rocm.core.signal_destroy(p->signal);
		free(p);
		return false;
	}
	while (!(done = atomic_load(&p->done)) && rk_rec_now() < until)
		nanosleep(&moment, NULL);
	if (done) { /* otherwise it is still to come */
		rk_rocm.core.signal_destroy(p->signal);
		free(p);
	}
	return done;
}
