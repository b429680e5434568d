/*
 * cup_inject.c - see cup.h: the entry point for the driver, our thread, and the line printed for
 * the user.
 */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cup.h"

#define NS_PER_S 1e9

struct rk_cup rk_cup;
static int64_t start_ns;
static atomic_bool said;

void rk_cup_say(const char *fmt, ...)
{
	char line[512] = "rockit: ";
	size_t head = strlen(line), len;
	va_list args;

	if (atomic_exchange(&said, true))
		return;
	va_start(args, fmt);
	vsnprintf(line + head, sizeof(line) - head - 1, fmt, args);
	va_end(args);
	len = strlen(line);
	rk_rec_note(line + head, len - head);
	line[len] = '\n';
	/* one write, so that lines of different processes do not mix; ignore failures */
	if (write(STDERR_FILENO, line, len + 1) < 0)
		return;
}

const char *rk_cup_error(cupti_result rc, char buf[32])
{
	const char *text = NULL;

	if (rk_cup.f.cuptiGetResultString && !rk_cup.f.cuptiGetResultString(rc, &text) && text)
		return text;
	snprintf(buf, 32, "error %d", rc);
	return buf;
}

/*
 * The thread that reads buffers and does the work at exit. If that hangs in CUPTI, the program can
 * still exit.
 */

#define NS_PER_MS 1000000L
#define END_MS 3000            /* how long exit waits for our thread */
#define STACK_BYTES (2u << 20) /* CUPTI also runs code on this thread */

enum { NOT_STARTED, STARTED, ENDING, ENDED };

static _Atomic uint32_t state;
static _Atomic uint32_t wakes; /* futex that the thread sleeps on */

static void futex_wake(_Atomic uint32_t *word)
{
	int before = errno;

	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	errno = before;
}

/* ms < 0: until it is woken. */
static void nap(_Atomic uint32_t *word, uint32_t value, long ms)
{
	struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * NS_PER_MS };

	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, ms < 0 ? NULL : &t, NULL, 0);
}

/* ---- on and off ---- */

#define SWITCH_MS 5000 /* how long CUPTI may take to enable or disable records */
#define SETTLE_MS 5000 /* how long after that we look for kernels that were still running */

/* As switched from outside, and what our thread has made of it. */
static _Atomic uint32_t wanted, applied;
static pthread_mutex_t kinds_lock = PTHREAD_MUTEX_INITIALIZER;

static bool enable_kinds(void);
static void disable_kinds(void);

/* False: CUPTI refuses. A profiler in the program may take CUPTI away at the same time. */
static bool set_kinds(bool on)
{
	bool good = true;

	pthread_mutex_lock(&kinds_lock);
	if (!on)
		disable_kinds();
	else if (rk_cup_yielded())
		rk_cup_say("a profiler in the program has used CUPTI: kernels are not recorded");
	else
		good = enable_kinds();
	pthread_mutex_unlock(&kinds_lock);
	return good;
}

/* Called by the recorder's thread. When it returns, the state is what was asked for. */
static void switched(bool on)
{
	int64_t until = rk_rec_now() + (int64_t)SWITCH_MS * NS_PER_MS;

	atomic_store(&wanted, on);
	rk_cup_gate_look();
	rk_cup_thread_wake();
	while (rk_cup_thread_runs() && atomic_load(&applied) != on && rk_rec_now() < until)
		nap(&applied, !on, 100);
}

/* Our thread's part. When recording ends, CUPTI gives back what it holds of it. */
static void follow_switch(void)
{
	uint32_t on = atomic_load(&wanted);

	if (on == atomic_load(&applied))
		return;
	set_kinds(on);
	if (!on && !rk_cup_yielded()) {
		rk_cup.f.cuptiActivityFlushAll(0);
		rk_cup_buffer_read(false);
	}
	atomic_store(&applied, on);
	futex_wake(&applied);
}

/*
 * A process has one pair of callbacks, and the last library to register owns it. To find out, we
 * make CUPTI write records of another kind, which need a buffer, and check whether our callback is
 * called.
 */
static bool is_ours(void)
{
	struct rk_cup_traffic before, after;

	rk_cup_buffer_traffic(&before);
	rk_cup.f.cuptiActivityFlushAll(CUPTI_FLUSH_FORCED);
	rk_cup_buffer_traffic(&after);
	if (after.calls != before.calls || rk_cup.subscriber)
		return true;
	if (!rk_cup.f.cuptiActivityEnableAndDump ||
	    rk_cup.f.cuptiActivityEnableAndDump(CUPTI_KIND_DEVICE) != CUPTI_OK)
		return after.out == 0;
	rk_cup.f.cuptiActivityFlushAll(CUPTI_FLUSH_FORCED);
	rk_cup_buffer_traffic(&after);
	return after.calls != before.calls;
}

/* The thread's work at exit. */
static void do_last(void)
{
	struct rk_cup_traffic t;

	rk_cup_buffer_traffic(&t);
	if (!atomic_load(&applied)) {
		if (t.out && !rk_cup_yielded())
			rk_cup.f.cuptiActivityFlushAll(CUPTI_FLUSH_FORCED);
	} else if (!rk_cup_yielded() && !is_ours())
		rk_cup_say("CUPTI delivers no more records (did another profiler take it over?): "
			   "kernels later than %.1f s after CUDA started are not recorded",
			   t.last_ns ? (double)(t.last_ns - start_ns) / NS_PER_S : 0.0);
	rk_cup_buffer_read(true);
}

/* Switched off, and nothing more will come. */
static bool is_quiet(int64_t off_ns)
{
	struct rk_cup_traffic t;

	rk_cup_buffer_traffic(&t);
	return !atomic_load(&applied) &&
	       (!t.out || rk_rec_now() - off_ns > (int64_t)SETTLE_MS * NS_PER_MS);
}

static void *helper(void *unused)
{
	long ms = rk_cup.flush_ms ? (long)rk_cup.flush_ms : 1000;
	int64_t last_ns = 0, on_ns = 0;

	(void)unused;
	while (atomic_load(&state) == STARTED) {
		uint32_t seen = atomic_load(&wakes);
		int64_t now_ns = rk_rec_now();

		follow_switch();
		if (atomic_load(&applied))
			on_ns = now_ns;
		/*
		 * Fetch buffers whose records are all complete, full or not. CUPTI's own flush
		 * period would return only full buffers, which we get anyway.
		 */
		if (rk_cup.flush_ms && !rk_cup_yielded() && now_ns - last_ns >= ms * NS_PER_MS) {
			last_ns = now_ns;
			rk_cup.f.cuptiActivityFlushAll(0);
		}
		rk_cup_buffer_read(false);
		if (!rk_cup_buffer_waiting() && atomic_load(&state) == STARTED)
			nap(&wakes, seen, is_quiet(on_ns) ? -1 : ms);
	}
	do_last();
	atomic_store(&state, ENDED);
	futex_wake(&state);
	return NULL;
}

static bool cup_thread_start(void)
{
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t all, before;
	bool ok;

	if (pthread_attr_init(&attr))
		return false;
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	/* Signals must go to the application's threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	atomic_store(&state, STARTED);
	ok = pthread_create(&thread, &attr, helper, NULL) == 0;
	if (ok)
		pthread_setname_np(thread, "rockit");
	else
		atomic_store(&state, NOT_STARTED);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return ok;
}

bool rk_cup_thread_runs(void)
{
	uint32_t s = atomic_load(&state);

	return s == STARTED || s == ENDING;
}

void rk_cup_thread_wake(void)
{
	atomic_fetch_add(&wakes, 1);
	futex_wake(&wakes);
}

/* ---- entry point for the driver, start and end ---- */
/*
 * cuInit() calls InitializeInjection() in the profiled process. Whatever goes wrong here, CUDA
 * starts as usual, and we print one line about what is not recorded.
 */

#define FLUSH_MS 100

static atomic_bool begun, child, started;

RK_CUP_SHOWN int InitializeInjection(void);

bool rk_cup_is_child(void)
{
	return atomic_load_explicit(&child, memory_order_relaxed);
}

/*
 * CUDA that was initialised before a fork does not work in the child, so there is nothing to record
 * there. A child that is the first to use CUDA is like any other process.
 */
static void forked(void)
{
	if (!atomic_load(&started))
		return;
	atomic_store(&child, true);
	atomic_store(&state, NOT_STARTED);
}

bool rk_cup_begin(void)
{
	bool on = rk_rec_start("cupti");

	if (on && !atomic_exchange(&begun, true)) {
		on = pthread_atfork(NULL, NULL, forked) == 0;
		rk_cup_gate_start();
	}
	return on;
}

/* ---- the end ---- */

/* Lets the thread finish its work and waits for it with a limit; false: it hangs. */
static bool cup_thread_end(void)
{
	int64_t until = rk_rec_now() + (int64_t)END_MS * NS_PER_MS;
	uint32_t expected = STARTED;

	if (!atomic_compare_exchange_strong(&state, &expected, ENDING)) {
		do_last(); /* the thread was not created */
		return true;
	}
	rk_cup_thread_wake();
	while (atomic_load(&state) == ENDING && rk_rec_now() < until)
		nap(&state, ENDING, 100);
	return atomic_load(&state) == ENDED;
}

static void at_end(void)
{
	int before = errno;

	if (!rk_cup_is_child() && !cup_thread_end())
		rk_cup_say("CUPTI did not return its last records in time: the last kernels "
			   "are not recorded");
	rk_rec_end();
	errno = before;
}

/* ---- the beginning ---- */

static void no_callback(void *user, int domain, uint32_t cbid, const void *data)
{
	(void)user;
	(void)domain;
	(void)cbid;
	(void)data;
}

static bool held_by(const char *who)
{
	rk_cup_say("CUPTI is in use by %s: kernels are not recorded",
		   who[0] ? who : "another profiler");
	return false;
}

/*
 * Subscribes as one of several subscribers if possible. Otherwise we only check whether there is a
 * subscriber already and do not stay subscribed: we get records without a subscription, and a
 * profiler in the program may need it later.
 */
static bool subscribe(void)
{
	char who[128] = "";
	struct cupti_subscriber_params p = { .bytes = sizeof(p),
					     .name = "rockit",
					     .old_name = who,
					     .old_name_bytes = sizeof(who) - 1,
					     .allow_multiple = 1 };
	const struct cupti *f = &rk_cup.f;
	cupti_subscriber s = NULL;
	cupti_result rc;

	if (rk_rec_flag("share", true) && f->cuptiSubscribe_v2 &&
	    f->cuptiActivityRegisterCallbacks_v2 && f->cuptiActivityEnable_v2 &&
	    f->cuptiActivityGetNextRecord_v2 &&
	    f->cuptiSubscribe_v2(&s, no_callback, NULL, &p) == CUPTI_OK) {
		rk_cup.subscriber = s;
		return true;
	}
	if (!f->cuptiSubscribe || !f->cuptiUnsubscribe)
		return true;
	s = NULL;
	rc = f->cuptiSubscribe(&s, no_callback, NULL);
	if (rc == CUPTI_OK)
		f->cuptiUnsubscribe(s);
	return rc != CUPTI_MULTIPLE_SUBSCRIBERS || held_by(who);
}

static struct kind {
	int kind;
	const char *setting; /* NULL: always enabled */
	bool usual;          /* default without that setting */
	const char *what;
	bool on;
} kinds[] = {
	{ CUPTI_KIND_CONCURRENT_KERNEL, NULL, true, "kernels", false },
	{ CUPTI_KIND_MEMCPY, NULL, true, "copies", false },
	{ CUPTI_KIND_MEMCPY2, NULL, true, "copies between devices", false },
	{ CUPTI_KIND_MEMSET, NULL, true, "fills", false },
	{ CUPTI_KIND_SYNCHRONIZATION, "sync", true, "synchronisations", false },
	{ CUPTI_KIND_RUNTIME, "api", false, "calls of the runtime", false },
	{ CUPTI_KIND_DRIVER, "api", false, "calls of the driver", false },
	{ CUPTI_KIND_MEMORY2, "alloc", false, "allocations", false },
};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static bool enable_kinds(void)
{
	char buf[32], api[16] = "";
	bool launches = rk_rec_setting("api", api, sizeof(api)) && !strcmp(api, "launches");

	if (launches && !rk_cup_launch_calls()) {
		rk_cup_say("this CUPTI cannot record single functions: calls are not recorded");
		launches = false;
	}
	rk_cup.all_calls = rk_rec_flag("api", false);
	rk_cup.calls = launches || rk_cup.all_calls;
	for (struct kind *k = kinds; k < kinds + KINDS; k++) {
		cupti_result rc;

		if ((k->setting && !rk_rec_flag(k->setting, k->usual)) ||
		    (k->kind == CUPTI_KIND_SYNCHRONIZATION && rk_cup_sync_by_calls()))
			continue;
		if (rk_cup.subscriber)
			rc = rk_cup.f.cuptiActivityEnable_v2(rk_cup.subscriber, k->kind, NULL);
		else
			rc = rk_cup.f.cuptiActivityEnable(k->kind);
		k->on = rc == CUPTI_OK;
		if (k->on)
			continue;
		if (rc == CUPTI_MULTIPLE_SUBSCRIBERS && k == kinds)
			return held_by("");
		rk_cup_say("CUPTI refuses (%s): %s are not recorded", rk_cup_error(rc, buf),
			   k->what);
		if (k == kinds)
			return false;
	}
	return true;
}

static void disable_kinds(void)
{
	const struct cupti *f = &rk_cup.f;

	rk_cup_single_calls_off();
	for (struct kind *k = kinds; k < kinds + KINDS; k++) {
		if (k->on && rk_cup.subscriber && f->cuptiActivityDisable_v2)
			f->cuptiActivityDisable_v2(rk_cup.subscriber, k->kind, NULL);
		else if (k->on && f->cuptiActivityDisable)
			f->cuptiActivityDisable(k->kind);
		k->on = false;
	}
}

void rk_cup_switch_off(void)
{
	set_kinds(false);
}

double rk_cup_elapsed(void)
{
	return (double)(rk_rec_now() - start_ns) / NS_PER_S;
}

static void start(void)
{
	char text[16];
	uint32_t ms = 0, on;

	start_ns = rk_rec_now();
	if (!rk_cup_begin() || !rk_cup_library_open())
		return;
	if (rk_cup_counters_wanted()) {
		rk_cup_counters_start();
		return;
	}
	if (!subscribe())
		return;
	if (rk_cup.f.cuptiSetThreadIdType)
		rk_cup.f.cuptiSetThreadIdType(CUPTI_THREAD_ID_SYSTEM);
	rk_cup_clock_start();
	rk_cup_gate_times();
	if (!rk_cup_buffer_register())
		return;
	atomic_store(&wanted, !rk_rec_flag("asleep", false));
	rk_rec_on_switch(switched);
	if (rk_rec_awake())
		atomic_store(&wanted, 1); /* it was switched on before it could call us */
	on = atomic_load(&wanted);
	if (on && !set_kinds(true))
		return;
	atomic_store(&applied, on);
	rk_cup.flush_ms = FLUSH_MS;
	if (rk_rec_setting("flush", text, sizeof(text))) {
		for (const char *p = text; *p >= '0' && *p <= '9' && ms < 1000000; p++)
			ms = ms * 10 + (uint32_t)(*p - '0');
		rk_cup.flush_ms = ms;
	}
	cup_thread_start(); /* may fail: then the program's threads do the work */
	if (!rk_cup.subscriber)
		rk_cup_yield_watch();
	atexit(at_end);
}

RK_CUP_SHOWN int InitializeInjection(void)
{
	int before = errno;

	if (!atomic_exchange(&started, true))
		start();
	errno = before;
	return 1;
}
