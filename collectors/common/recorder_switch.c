/*
 * recorder_switch.c - when to record: the switch from outside, ranges, and the sampling of calls.
 *
 * The state is one word that any thread may change: whether recording is switched on, how many
 * ranges are open, and how many there have been. The gate follows it; it is in a page that is
 * cleared in a child, so that the child's first question makes it open a file of its own, where it
 * can be switched even if it records nothing.
 *
 * Another process writes `wanted` in the file and wakes our thread. The thread believes 0 and 1 and
 * waits again at anything else.
 */
#include <linux/futex.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "recorder_impl.h"

/* the state: ranges that are open, ranges so far, the switch */
#define OPEN_MASK UINT64_C(0xffffffff)
#define RANGE_ONE (UINT64_C(1) << 32)
#define RANGE_MASK (UINT64_C(0x7fffffff) << 32)
#define AWAKE (UINT64_C(1) << 63)

static struct {
	_Atomic uint64_t state;
	void (*_Atomic f)(bool awake);
	bool by_range, by_switch, any_name;
	char name[1024];
	size_t name_len;
	uint32_t take, of; /* every=take:of */
	uint32_t sample;   /* 0: all calls */
	uint32_t watched;  /* the generation whose file the thread watches; under the lock */
} sw = { .state = AWAKE };

/* ---- settings ---- */

static bool number(const char **p, uint32_t *ret)
{
	uint64_t v = 0;
	const char *q = *p;

	for (; *q >= '0' && *q <= '9' && v <= INT32_MAX; q++)
		v = v * 10 + (uint64_t)(*q - '0');
	if (q == *p || !v || v > INT32_MAX)
		return false;
	*p = q;
	*ret = (uint32_t)v;
	return true;
}

void rk_rec_switch_init(void)
{
	char word[32];
	const char *p = word;

	sw.by_switch = rk_rec_flag("switch", false);
	if (rk_rec_flag("asleep", false))
		atomic_store(&sw.state, 0);
	if (rk_rec_setting("sample", word, sizeof(word)) && (!number(&p, &sw.sample) || *p))
		sw.sample = 0;
	p = word;
	sw.take = sw.of = 1;
	if (rk_rec_setting("every", word, sizeof(word))) {
		if (number(&p, &sw.take) && *p++ == ':' && number(&p, &sw.of) && !*p)
			sw.by_range = sw.any_name = true;
		else
			sw.take = sw.of = 1;
	}
	if (rk_rec_setting("range", sw.name, sizeof(sw.name)) && *sw.name) {
		sw.name_len = strlen(sw.name);
		sw.by_range = true;
		sw.any_name = false;
	}
}

/* ---- the gate ---- */

static bool chosen(uint64_t s)
{
	return ((s & RANGE_MASK) / RANGE_ONE - 1) % sw.of < sw.take;
}

static bool is_open(uint64_t s)
{
	return s & AWAKE && (!sw.by_range || (s & OPEN_MASK && chosen(s)));
}

/* Threads that change the state at the same time may do this in any order: the last is right. */
static void set_gate(void)
{
	uint64_t s;

	do {
		s = atomic_load(&sw.state);
		atomic_store(rk_rec.gate, is_open(s) ? REC_GATE_OPEN : REC_GATE_SHUT);
	} while (atomic_load(&sw.state) != s);
}

/* Before the start, in a child that has not recorded yet, and when recording is off for good. */
static bool awake_slow(void)
{
	struct rec_thread *t = rk_rec_me();
	struct rec_slow slow;
	bool ok;

	if (!rk_rec_on() || t->busy)
		return false;
	t->busy = 1;
	slow = rk_rec_slow_begin();
	ok = rk_rec_open_late();
	rk_rec_slow_end(slow);
	t->busy = 0;
	/* another thread may have opened the file and not set the gate yet */
	if (ok && atomic_load(rk_rec.gate) == REC_GATE_UNKNOWN)
		set_gate();
	return ok && atomic_load(rk_rec.gate) == REC_GATE_OPEN;
}

bool rk_rec_awake(void)
{
	uint32_t gate = atomic_load_explicit(rk_rec.gate, memory_order_relaxed);

	if (__builtin_expect(gate == REC_GATE_UNKNOWN, 0))
		return awake_slow();
	return gate == REC_GATE_OPEN;
}

static void count(enum rk_raw_skip why)
{
	struct rk_raw_stripe *s = rk_rec_stripe(rk_rec_me());

	if (s)
		__atomic_fetch_add(&s->skipped[why], 1, __ATOMIC_RELAXED);
}

void rk_rec_skip(void)
{
	uint64_t s = atomic_load_explicit(&sw.state, memory_order_relaxed);

	if (!(s & AWAKE))
		count(RK_RAW_ASLEEP);
	else
		count(s & OPEN_MASK ? RK_RAW_EVERY : RK_RAW_RANGE);
}

/*
 * The distance to the next call is drawn from 1 to 2N-1. With a fixed distance, a loop of N calls
 * would always show the same one.
 */
bool rk_rec_sampled(void)
{
	struct rec_thread *t;

	if (!sw.sample)
		return true;
	t = rk_rec_me();
	if (!t->random) {
		t->random = (uint64_t)rk_rec_tid() * 0x9fb21c651e98df25u | 1;
		t->sample_in = 1;
	}
	if (--t->sample_in) {
		count(RK_RAW_SAMPLE);
		return false;
	}
	t->random ^= t->random << 13;
	t->random ^= t->random >> 7;
	t->random ^= t->random << 17;
	t->sample_in = (uint32_t)(1 + (t->random >> 16) % (2 * (uint64_t)sw.sample - 1));
	return true;
}

/* ---- ranges ---- */

void rk_rec_range(const char *name, size_t len, bool enter)
{
	uint64_t s = atomic_load(&sw.state), next;

	if (!sw.by_range ||
	    (!sw.any_name && (len != sw.name_len || memcmp(name, sw.name, len) != 0)))
		return;
	do {
		next = s;
		if (enter && !(s & OPEN_MASK))
			next = (s & ~RANGE_MASK) | ((s + RANGE_ONE) & RANGE_MASK);
		else if (!enter && !(s & OPEN_MASK))
			return; /* the range was open when recording began */
		next += enter ? 1 : (uint64_t)-1;
	} while (!atomic_compare_exchange_weak(&sw.state, &s, next));
	if (atomic_load(rk_rec.gate) != REC_GATE_UNKNOWN)
		set_gate();
}

/* ---- the switch ---- */

void rk_rec_on_switch(void (*f)(bool awake))
{
	atomic_store(&sw.f, f);
}

void rk_rec_switch_header(struct rk_raw_header *h)
{
	h->wanted = h->awake = atomic_load(&sw.state) & AWAKE ? 1 : 0;
}

static long futex(uint32_t *word, int what, uint32_t value)
{
	return syscall(SYS_futex, word, what, value, NULL, NULL, 0);
}

static void turn(struct rk_raw_header *h, bool on)
{
	void (*f)(bool) = atomic_load(&sw.f);

	if (on)
		atomic_fetch_or(&sw.state, AWAKE);
	else
		atomic_fetch_and(&sw.state, ~AWAKE);
	set_gate();
	if (f)
		f(on);
	__atomic_store_n(&h->awake, on, __ATOMIC_RELEASE);
	futex(&h->awake, FUTEX_WAKE, INT32_MAX);
}

static void *watch(void *arg)
{
	struct rk_raw_header *h = arg;
	bool on = atomic_load(&sw.state) & AWAKE;
	uint32_t wanted;

	prctl(PR_SET_NAME, "rockit-switch");
	do {
		wanted = __atomic_load_n(&h->wanted, __ATOMIC_ACQUIRE);
		if (wanted <= 1 && wanted != on) {
			on = wanted;
			turn(h, on);
		}
	} while (!futex(&h->wanted, FUTEX_WAIT, wanted) || errno == EAGAIN || errno == EINTR);
	return NULL;
}

/* Its signals are blocked: the program's handlers run on the program's threads. */
static void start_watch(void)
{
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t all, before;

	if (pthread_attr_init(&attr))
		return;
	sigfillset(&all);
	if (!pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED) &&
	    !pthread_sigmask(SIG_SETMASK, &all, &before)) {
		/* without it the process cannot be switched; `awake` tells who tries */
		pthread_create(&thread, &attr, watch, atomic_load(&rk_rec.header));
		pthread_sigmask(SIG_SETMASK, &before, NULL);
	}
	pthread_attr_destroy(&attr);
}

void rk_rec_switch_open(void)
{
	bool first;

	if (!sw.by_switch) {
		set_gate();
		return;
	}
	rk_rec_lock();
	first = sw.watched != rk_rec.generation;
	sw.watched = rk_rec.generation;
	rk_rec_unlock();
	if (first) {
		set_gate();
		start_watch();
	}
}
