/*
 * flight.c - dispatches that are in flight, and their times.
 *
 * Each dispatch of a queue has a place in the queue's list, with a signal that the GPU sets. A thread
 * of ours looks at the oldest places of all lists: where the signal is set, it records the times, and
 * the place with its signal is used again. The list is a ring of pages, which grows when the queue has
 * more in flight than ever before. One thread at a time appends (ROCr holds a lock of the queue) and one
 * takes out (`lock` below), so neither waits for the other.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "rocm.h"

#include "base/rkraw.h"

#define NS_PER_MS 1000000
#define DRAIN_NS (50 * (int64_t)NS_PER_MS)  /* how long a program's end may wait for its kernels */
#define LINGER_NS (5 * (int64_t)NS_PER_MS)  /* after the last kernel our thread sleeps for good */
#define OVERDUE_NS (2 * (int64_t)NS_PER_MS) /* how long one dispatch may hold up those after it */
#define OVERDUE_LOOK_NS (50 * NS_PER_MS)
#define STACK_BYTES (256u << 10)

enum {
	PAGE = 4096,
	PLACES = 128,        /* of a page */
	MAX_PAGES = 1 << 13, /* of all queues: one million dispatches in flight */
	MAX_OVERDUE = 4096,
	PIECE = 512,    /* places looked at before another queue's turn */
	SHORT_US = 100, /* between two looks at the lists */
	LONG_US = 1000, /* when nothing has ended for a while */
};

struct place {
	uint64_t signal; /* made when the place is first used */
	uint64_t id;
	int64_t submit_ns;
};

struct rk_rocm_page {
	struct rk_rocm_page *next;
	struct place places[PLACES];
};
_Static_assert(sizeof(struct rk_rocm_page) <= PAGE, "a page of places is a page");

/* A dispatch whose signal is not set although those of later ones are. */
struct rk_rocm_overdue {
	struct rk_rocm_overdue *next;
	struct place place;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* `flights`, and the old ends of lists */
static struct rk_rocm_flight *flights;
static _Atomic uint32_t npages, noverdue;
static atomic_bool stuck;   /* waiting was in vain: do not wait again */
static atomic_bool closing; /* the program ends: our thread makes no more calls */

/* ---- the list of what is in flight ---- */

static struct rk_rocm_page *new_page(void)
{
	void *p = MAP_FAILED;

	if (atomic_fetch_add(&npages, 1) < MAX_PAGES)
		p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED) {
		atomic_fetch_sub(&npages, 1);
		return NULL;
	}
	return p;
}

/* The next free place with its signal, or NULL. */
static struct place *next_place(struct rk_rocm_flight *f)
{
	struct place *p;

	if (f->last_at == PLACES) {
		uint64_t tail = atomic_load_explicit(&f->tail, memory_order_acquire);

		/* the page after the last one may still be in use: then put one between them */
		if (f->appended / PLACES - tail / PLACES >= f->npages) {
			struct rk_rocm_page *fresh = new_page();

			if (!fresh)
				return NULL;
			fresh->next = f->last->next;
			f->last->next = fresh;
			f->npages++;
		}
		f->last = f->last->next;
		f->last_at = 0;
	}
	p = &f->last->places[f->last_at];
	if (!p->signal && rk_rocm.amd.signal_create(1, 0, NULL, HSA_SIGNAL_GPU_ONLY, &p->signal)) {
		p->signal = 0;
		return NULL;
	}
	f->last_at++;
	f->appended++;
	return p;
}

static void free_pages(struct rk_rocm_flight *f)
{
	struct rk_rocm_page *p = f->last;

	for (uint32_t n = f->npages; n; n--) {
		struct rk_rocm_page *next = p->next;

		for (unsigned i = 0; i < PLACES; i++)
			if (p->places[i].signal)
				rk_rocm.core.signal_destroy(p->places[i].signal);
		munmap(p, PAGE);
		atomic_fetch_sub(&npages, 1);
		p = next;
	}
	f->last = f->first = NULL;
	f->npages = 0;
}

static void free_overdue(struct rk_rocm_flight *f)
{
	struct rk_rocm_overdue *o;

	while ((o = f->overdue)) {
		f->overdue = o->next;
		rk_rocm.core.signal_destroy(o->place.signal);
		free(o);
		atomic_fetch_sub(&noverdue, 1);
	}
}

/* ---- times ---- */

static void record_times(const struct rk_rocm_flight *f, const struct place *p)
{
	struct hsa_signal *s = (struct hsa_signal *)(uintptr_t)p->signal;
	uint32_t flags = RK_RAW_NO_TIMES;
	struct hsa_time t = { 0 };

	if (s->start && !rk_rocm.amd.get_dispatch_time(f->agent, p->signal, &t))
		flags = rk_rocm_time_flags(s, &t, p->submit_ns, f->flags);
	rk_rec_ran(p->id, (int64_t)t.start, (int64_t)t.end, flags);
	s->start = s->end = 0;
	rk_rocm.core.signal_store_relaxed(p->signal, 1);
}

static bool has_ended(const struct place *p)
{
	return rk_rocm.core.signal_load_scacquire(p->signal) <= 0;
}

/* Those that were taken out of the list before they ended. */
static unsigned take_out_overdue(struct rk_rocm_flight *f)
{
	unsigned n = 0;

	for (struct rk_rocm_overdue **link = &f->overdue, *o; (o = *link);) {
		if (!has_ended(&o->place)) {
			link = &o->next;
			continue;
		}
		*link = o->next;
		record_times(f, &o->place);
		rk_rocm.core.signal_destroy(o->place.signal);
		free(o);
		atomic_fetch_sub(&noverdue, 1);
		n++;
	}
	return n;
}

/*
 * The oldest one in the list has not ended. Kernels may overtake each other, and a signal may be lost:
 * if the next one ended some time ago, the oldest is put aside with its signal.
 */
static bool put_aside(struct rk_rocm_flight *f, uint64_t tail, uint64_t head)
{
	struct place *p = &f->first->places[f->first_at];
	const struct place *next = f->first_at + 1 < PLACES ? p + 1 : &f->first->next->places[0];
	struct rk_rocm_overdue *o;

	if (tail + 1 >= head || !has_ended(next)) {
		f->blocked_ns = 0;
		return false;
	}
	if (!f->blocked_ns)
		f->blocked_ns = rk_rec_now();
	if (rk_rec_now() - f->blocked_ns < OVERDUE_NS || atomic_load(&noverdue) >= MAX_OVERDUE)
		return false;
	o = calloc(1, sizeof(*o));
	if (!o)
		return false;
	f->blocked_ns = 0;
	o->place = *p;
	o->next = f->overdue;
	f->overdue = o;
	p->signal = 0;
	atomic_fetch_add(&noverdue, 1);
	return true;
}

/* Call with the lock held. Returns how many had ended; *left: whether there are more in the list. */
static unsigned take_out(struct rk_rocm_flight *f, bool *left)
{
	uint64_t head = atomic_load_explicit(&f->head, memory_order_acquire);
	uint64_t tail = atomic_load_explicit(&f->tail, memory_order_relaxed);
	unsigned n = f->overdue ? take_out_overdue(f) : 0;

	for (; tail < head && n < PIECE; n++, tail++) {
		struct place *p;

		if (f->first_at == PLACES) {
			f->first = f->first->next;
			f->first_at = 0;
		}
		p = &f->first->places[f->first_at];
		if (has_ended(p))
			record_times(f, p);
		else if (!put_aside(f, tail, head))
			break;
		f->first_at++;
	}
	atomic_store_explicit(&f->tail, tail, memory_order_release);
	*left |= tail < head;
	if (n)
		atomic_store_explicit(&stuck, false, memory_order_relaxed);
	return n;
}

/* Call with the lock held. */
static unsigned take_out_all(bool *left)
{
	unsigned n = 0;

	*left = false;
	for (struct rk_rocm_flight *f = flights; f; f = f->next)
		n += take_out(f, left);
	return n;
}

static void nap(unsigned us)
{
	const struct timespec t = { 0, us * 1000l };

	nanosleep(&t, NULL);
}

/* Takes out what has ended in `only`, or in all queues, and waits a bounded time for the rest. */
void rk_rocm_flight_drain(struct rk_rocm_flight *only)
{
	int64_t until = rk_rec_now() + DRAIN_NS;
	bool left = true;

	while (left) {
		if (pthread_mutex_trylock(&lock) == 0) {
			left = false;
			if (only)
				while (take_out(only, &left) == PIECE)
					left = false;
			else
				while (take_out_all(&left) >= PIECE)
					;
			pthread_mutex_unlock(&lock);
			left |= only ? only->overdue != NULL :
				       rk_rocm_relays() || atomic_load(&noverdue);
			if (left && atomic_load(&stuck))
				return;
		}
		if (left && rk_rec_now() > until) {
			atomic_store(&stuck, true);
			return;
		}
		if (left)
			nap(50);
	}
}

/* ---- our thread ---- */

static atomic_bool runs;
static _Atomic uint32_t asleep; /* futex; 1: it sleeps until a dispatch wakes it */

static void *look_after(void *arg)
{
	static const struct timespec look_again = { 0, OVERDUE_LOOK_NS };
	unsigned us = SHORT_US;
	int64_t idle_ns = 0;
	bool left = true;

	(void)arg;
	while (!atomic_load(&closing)) {
		unsigned n = 0;

		pthread_mutex_lock(&lock);
		if (!atomic_load(&closing))
			n = take_out_all(&left);
		pthread_mutex_unlock(&lock);
		idle_ns = left || n ? 0 : idle_ns + us * 1000l;
		us = n ? SHORT_US : us + us / 4;
		if (us > LONG_US)
			us = LONG_US;
		if (idle_ns < LINGER_NS) {
			nap(us);
			continue;
		}
		atomic_store(&asleep, 1);
		atomic_thread_fence(memory_order_seq_cst);
		pthread_mutex_lock(&lock);
		left = false;
		for (struct rk_rocm_flight *f = flights; f; f = f->next)
			left |= atomic_load(&f->head) != atomic_load(&f->tail);
		pthread_mutex_unlock(&lock);
		if (!left && !atomic_load(&closing))
			syscall(SYS_futex, &asleep, FUTEX_WAIT_PRIVATE, 1,
				atomic_load(&noverdue) ? &look_again : NULL, NULL, 0);
		atomic_store(&asleep, 0);
		idle_ns = 0;
		us = SHORT_US;
	}
	atomic_store(&runs, false);
	return NULL;
}

static void wake(void)
{
	if (atomic_exchange(&asleep, 0))
		syscall(SYS_futex, &asleep, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void start_thread(void)
{
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t all, before;

	if (atomic_load(&closing) || atomic_exchange(&runs, true) || pthread_attr_init(&attr))
		return;
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	/* Signals must go to the application's threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (pthread_create(&thread, &attr, look_after, NULL) == 0)
		pthread_setname_np(thread, "rockit");
	else
		atomic_store(&runs, false);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
}

/* ---- queues ---- */

bool rk_rocm_flight_init(struct rk_rocm_flight *f, uint64_t agent)
{
	f->agent = agent;
	f->last = f->first = new_page();
	if (!f->last)
		return false;
	f->last->next = f->last;
	f->npages = 1;
	return true;
}

void rk_rocm_flight_begin(struct rk_rocm_flight *f)
{
	pthread_mutex_lock(&lock);
	f->next = flights;
	flights = f;
	pthread_mutex_unlock(&lock);
	start_thread();
}

uint64_t rk_rocm_flight_append(struct rk_rocm_flight *f, uint64_t id, int64_t submit_ns)
{
	struct place *p = next_place(f);

	if (!p)
		return 0;
	p->id = id;
	p->submit_ns = submit_ns;
	return p->signal;
}

void rk_rocm_flight_publish(struct rk_rocm_flight *f)
{
	atomic_store_explicit(&f->head, f->appended, memory_order_release);
}

void rk_rocm_flight_wake(void)
{
	atomic_thread_fence(memory_order_seq_cst);
	if (atomic_load_explicit(&asleep, memory_order_relaxed))
		wake();
}

void rk_rocm_flight_end(struct rk_rocm_flight *f)
{
	bool left;

	pthread_mutex_lock(&lock);
	take_out(f, &left);
	for (struct rk_rocm_flight **link = &flights; *link; link = &(*link)->next) {
		if (*link == f) {
			*link = f->next;
			break;
		}
	}
	pthread_mutex_unlock(&lock);
}

void rk_rocm_flight_free(struct rk_rocm_flight *f)
{
	free_overdue(f);
	if (f->last)
		free_pages(f);
}

void rk_rocm_flight_open(void)
{
	atomic_store(&closing, false);
	atomic_store(&stuck, false);
}

void rk_rocm_flight_stop(void)
{
	rk_rocm_flight_drain(NULL);
	/* whoever holds the lock makes calls; from now on our thread does not */
	atomic_store(&closing, true);
	for (int i = 0; i < 1000; i++) {
		if (!pthread_mutex_trylock(&lock)) {
			pthread_mutex_unlock(&lock);
			break;
		}
		nap(50);
	}
	wake();
}

void rk_rocm_flight_close(void)
{
	pthread_mutex_lock(&lock);
	for (struct rk_rocm_flight *f = flights; f; f = f->next)
		/* what the GPU may still set stays */
		if (atomic_load(&f->head) == atomic_load(&f->tail))
			free_pages(f);
	flights = NULL;
	pthread_mutex_unlock(&lock);
}
