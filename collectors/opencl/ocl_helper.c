/*
 * ocl_helper.c - see ocl.h: a thread that records for programs that never wait, so that what is
 * over is in the file soon after, whatever ends the program.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "ocl.h"

#define NS_PER_MS 1000000L
#define PERIOD_MS 10 /* while commands are under way, */
#define IDLE_MS 100  /* and otherwise */
#define STACK_BYTES (512u << 10)

enum { NOT_STARTED, STARTED, STOPPING };

static _Atomic uint32_t state;
static _Atomic bool at_work;

/* Sleeps, but not on when the state changes. */
static void nap(long ms)
{
	struct timespec t = { .tv_nsec = ms * NS_PER_MS };

	syscall(SYS_futex, &state, FUTEX_WAIT_PRIVATE, STARTED, &t, NULL, 0);
}

static bool work(void)
{
	bool more = false;

	atomic_store(&at_work, true);
	/* Looked at again: the end of the program does not begin while we work. */
	if (atomic_load(&state) == STARTED) {
		more = rk_ocl_harvest_piece();
		rk_ocl_device_calibrate_all(false);
	}
	atomic_store(&at_work, false);
	return more;
}

static void *helper(void *unused)
{
	(void)unused;
	while (atomic_load(&state) == STARTED) {
		nap(rk_ocl_under_way() ? PERIOD_MS : IDLE_MS);
		while (work())
			;
	}
	return NULL;
}

static void start_thread(void)
{
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t all, before;

	if (pthread_attr_init(&attr))
		return;
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	/* The application's signals are for the application's threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (pthread_create(&thread, &attr, helper, NULL) == 0)
		pthread_setname_np(thread, "rockit");
	else
		atomic_store(&state, NOT_STARTED);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
}

void rk_ocl_helper_start(void)
{
	uint32_t expected = NOT_STARTED;

	if (!rk_ocl.count_only && !rk_ocl.alone &&
	    atomic_compare_exchange_strong(&state, &expected, STARTED))
		start_thread();
}

void rk_ocl_helper_stop(void)
{
	struct timespec t = { .tv_nsec = NS_PER_MS };

	atomic_store(&state, STOPPING);
	syscall(SYS_futex, &state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	/* Its work is short; but if it hangs in the runtime, the program ends without it. */
	for (int i = 0; i < 1000 && atomic_load(&at_work); i++)
		nanosleep(&t, NULL);
}

void rk_ocl_helper_forked(void)
{
	atomic_store(&at_work, false);
	atomic_store(&state, NOT_STARTED);
}
