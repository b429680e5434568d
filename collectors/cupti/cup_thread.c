/*
 * cup_thread.c - see cup.h: the thread that reads buffers, and that does what has to be done at the
 * end: if that hangs in CUPTI, the program still ends.
 */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cup.h"

#define NS_PER_MS 1000000L
#define END_MS 3000            /* how long the end of the program waits for us */
#define STACK_BYTES (2u << 20) /* CUPTI works on it too */

enum { NOT_STARTED, STARTED, ENDING, ENDED };

static _Atomic uint32_t state;
static _Atomic uint32_t wakes; /* what it sleeps on */

static void futex_wake(_Atomic uint32_t *word)
{
	int before = errno;

	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	errno = before;
}

static void nap(_Atomic uint32_t *word, uint32_t value, long ms)
{
	struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * NS_PER_MS };

	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, &t, NULL, 0);
}

/*
 * Buffers whose records are all complete come back, full or not. CUPTI's own period would give full
 * ones alone, which come anyway.
 */
static void flush(void)
{
	static int64_t last;
	int64_t now = rk_rec_now();

	if (!rk_cup.flush_ms || rk_cup_yielded() ||
	    now - last < (int64_t)rk_cup.flush_ms * NS_PER_MS)
		return;
	last = now;
	rk_cup.f.cuptiActivityFlushAll(0);
}

static void *helper(void *unused)
{
	long ms = rk_cup.flush_ms ? (long)rk_cup.flush_ms : 1000;

	(void)unused;
	while (atomic_load(&state) == STARTED) {
		uint32_t seen = atomic_load(&wakes);

		flush();
		rk_cup_buffer_read(false);
		if (!rk_cup_buffer_waiting() && atomic_load(&state) == STARTED)
			nap(&wakes, seen, ms);
	}
	rk_cup_last();
	atomic_store(&state, ENDED);
	futex_wake(&state);
	return NULL;
}

bool rk_cup_thread_start(void)
{
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t all, before;
	bool ok;

	if (pthread_attr_init(&attr))
		return false;
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	/* The application's signals are for the application's threads. */
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

bool rk_cup_thread_end(void)
{
	int64_t until = rk_rec_now() + (int64_t)END_MS * NS_PER_MS;
	uint32_t expected = STARTED;

	if (!atomic_compare_exchange_strong(&state, &expected, ENDING)) {
		rk_cup_last(); /* there never was a thread */
		return true;
	}
	rk_cup_thread_wake();
	while (atomic_load(&state) == ENDING && rk_rec_now() < until)
		nap(&state, ENDING, 100);
	return atomic_load(&state) == ENDED;
}

void rk_cup_thread_forked(void)
{
	atomic_store(&state, NOT_STARTED);
}
