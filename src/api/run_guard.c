/*
 * run_guard.c - who may use a run at the moment.
 *
 * Each call of the API holds its run and its lock from beginning to end. Another thread is told that
 * the run is in use, as is a progress callback; streams, whose users do not know of each other, wait.
 * Calls that the library makes itself within a call are on the same thread and pass.
 */
#include "api/run.h"

#include "base/handle.h"

/* The run whose progress callback this thread is in. */
static _Thread_local const struct rk_run *calling_back;

static int progress(void *arg, uint64_t done, uint64_t total)
{
	struct rk_run *run = arg;
	const struct rk_run *before = calling_back;
	int stop = 0;

	(void)total;
	pthread_mutex_lock(&run->progress_lock);
	if (run->opt.progress) {
		calling_back = run;
		/* one file's progress as a part of the whole */
		stop = run->opt.progress(run->opt.progress_arg, run->progress_before + done,
					 run->progress_total);
		calling_back = before;
	}
	pthread_mutex_unlock(&run->progress_lock);
	return stop;
}

static int make_lock(pthread_mutex_t *lock)
{
	pthread_mutexattr_t attr;
	int rc;

	if (pthread_mutexattr_init(&attr))
		return -1;
	rc = pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	if (!rc)
		rc = pthread_mutex_init(lock, &attr);
	pthread_mutexattr_destroy(&attr);
	return rc ? -1 : 0;
}

int rk_run_guard(struct rk_run *run, struct rk_error *err)
{
	if (make_lock(&run->lock))
		return rk_fail_nomem(err);
	if (make_lock(&run->progress_lock)) {
		pthread_mutex_destroy(&run->lock);
		return rk_fail_nomem(err);
	}
	run->guarded = true;
	if (run->opt.progress) {
		run->ctx.progress = progress;
		run->ctx.progress_arg = run;
	}
	return 0;
}

void rk_run_unguard(struct rk_run *run)
{
	if (!run->guarded)
		return;
	pthread_mutex_destroy(&run->lock);
	pthread_mutex_destroy(&run->progress_lock);
}

static int fail_callback(struct rk_error *err)
{
	return rk_fail(err, RK_E_USAGE, "a progress callback cannot use its own run");
}

void rk_run_unhold(struct rk_run *run)
{
	if (rk_handle_drop(run))
		rk_run_destroy(run);
}

int rk_run_enter(const struct rk_run *run, struct rk_error *err)
{
	struct rk_run *r = (struct rk_run *)run;

	if (!rk_handle_hold(RK_HANDLE_RUN, run))
		return rk_fail(err, RK_E_USAGE, "no open run: it is NULL or was closed");
	if (calling_back == run || pthread_mutex_trylock(&r->lock)) {
		rk_run_unhold(r);
		return calling_back == run ?
			       fail_callback(err) :
			       rk_fail(err, RK_E_USAGE, "the run is in use by another thread");
	}
	return 0;
}

/* Those that are waiting to be ended. */
static struct rk_run_late *take_late(struct rk_run *run)
{
	struct rk_run_late *list;

	pthread_mutex_lock(&run->progress_lock);
	list = run->late;
	run->late = NULL;
	pthread_mutex_unlock(&run->progress_lock);
	return list;
}

static void end_late(struct rk_run *run)
{
	struct rk_run_late *list = take_late(run), *next;

	for (struct rk_run_late *l = list; l; l = l->next)
		l->end(l->arg);
	pthread_mutex_unlock(&run->lock);
	for (; list; list = next) {
		next = list->next;
		list->done(list->arg);
	}
}

static bool some_late(struct rk_run *run)
{
	bool some;

	pthread_mutex_lock(&run->progress_lock);
	some = run->late != NULL;
	pthread_mutex_unlock(&run->progress_lock);
	return some;
}

/* Who comes while the lock is held leaves its work to the holder, who looks again after it. */
void rk_run_unlock(struct rk_run *run)
{
	rk_handle_keep(run);
	do {
		end_late(run);
	} while (some_late(run) && !pthread_mutex_trylock(&run->lock));
	rk_run_unhold(run);
}

void rk_run_later(struct rk_run *run, struct rk_run_late *l)
{
	rk_handle_keep(run);
	pthread_mutex_lock(&run->progress_lock);
	l->next = run->late;
	run->late = l;
	pthread_mutex_unlock(&run->progress_lock);
	if (calling_back != run && !pthread_mutex_trylock(&run->lock))
		rk_run_unlock(run);
	rk_run_unhold(run);
}

void rk_run_leave(const struct rk_run *run)
{
	struct rk_run *r = (struct rk_run *)run;

	rk_run_unlock(r);
	rk_run_unhold(r);
}

void rk_run_hold(struct rk_run *run)
{
	rk_handle_hold(RK_HANDLE_RUN, run);
}

int rk_run_wait(struct rk_run *run, struct rk_error *err)
{
	if (calling_back == run)
		return fail_callback(err);
	pthread_mutex_lock(&run->lock);
	return 0;
}

void rk_run_close(struct rk_run *run)
{
	if (!rk_handle_hold(RK_HANDLE_RUN, run))
		return;
	/* its owner may free what the callback uses; a callback that runs now ends first */
	pthread_mutex_lock(&run->progress_lock);
	run->opt.progress = NULL;
	pthread_mutex_unlock(&run->progress_lock);
	rk_handle_close(RK_HANDLE_RUN, run);
	rk_run_unhold(run);
}
