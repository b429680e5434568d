/* relay.c - see rocm.h: our signal in the place of one that the program waits for. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "rocm.h"

#include "base/rkraw.h"

enum { MAX_RELAYS = 4096 }; /* each has an event of the driver */

/* Times of the device and of the host agree to less than this. */
#define EARLY_NS 50000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
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

/* On ROCr's thread. The program may go on as soon as its signal is set: times first. */
static bool is_set(int64_t value, void *arg)
{
	struct rk_rocm_relay *r = arg;
	struct hsa_signal *ours = memory_of(r->signal), *theirs = memory_of(r->original);
	struct hsa_time t = { 0 };
	uint32_t flags = RK_RAW_NO_TIMES;
	int before = errno;

	(void)value;
	if (!r->cancelled && ours->start) {
		hsa_status rc = r->agent ? rk_rocm.amd.get_dispatch_time(r->agent, r->signal, &t) :
					   rk_rocm.amd.get_async_copy_time(r->signal, &t);

		if (!rc)
			flags = rk_rocm_time_flags(ours, &t, r->submit_ns, r->flags);
	}
	if (!r->cancelled && theirs) {
		theirs->start = ours->start;
		theirs->end = ours->end;
		rk_rocm.core.signal_subtract_screlease(r->original, 1);
	}
	if (!r->cancelled)
		record(r, &t, flags);
	ours->start = ours->end = 0;
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
	if (rk_rocm.amd.signal_async_handler(signal, HSA_CONDITION_LT, 1, is_set, r)) {
		atomic_fetch_sub(&under_way, 1);
		put(r);
		return false;
	}
	*ret = r;
	return true;
}

void rk_rocm_relay_cancel(struct rk_rocm_relay *r)
{
	r->cancelled = true;
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
