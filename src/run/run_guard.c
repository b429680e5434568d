/*
 * run_guard.c - who may use a run at the moment.
 *
 * Each call of the API holds its run and its lock from beginning to end. Another thread is told that
 * the run is in use, as is a progress callback; streams, whose users do not know of each other, wait.
 * Calls that the library makes itself within a call are on the same thread and pass.
 */
#include "run/run.h"

#include "base/handle.h"

/* The callbacks that this thread is in, the innermost first. */
static _Thread_local const struct rk_run_callback *callbacks;

void rk_run_call_back(struct rk_run_callback *c, const struct rk_run *run)
{
	*c = (struct rk_run_callback){ run, callbacks };
	callbacks = c;
}

void rk_run_called_back(const struct rk_run_callback *c)
{
	callbacks = c->outer;
}

static bool calls_back(const struct rk_run *run)
{
	const struct rk_run_callback *c = callbacks;

	while (c && c->run != run)
		c = c->outer;
	return c != NULL;
}

static int progress(void *arg, uint64_t done, uint64_t total)
{
	struct rk_run *run = arg;
	struct rk_run_callback c;
	int stop = 0;

	(void)total;
	pthread_mutex_lock(&run->progress_lock);
	if (run->opt.progress) {
		rk_run_call_back(&c, run);
		/* one file's progress as a part of the whole */
		stop = run->opt.progress(run->opt.progress_arg, run->progress_before + done,
					 run->progress_total);
		rk_run_called_back(&c);
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
	pthread_mutex_init(&run->late_lock, NULL);
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
	pthread_mutex_destroy(&run->late_lock);
}

static int fail_callback(struct rk_error *err)
{
	return rk_fail(err, RK_E_USAGE, "a callback cannot use its own run");
}

int rk_run_enter(const struct rk_run *run, const char *fn, struct rk_error *err)
{
	struct rk_run *r = (struct rk_run *)run;
	int rc = 0;

	if (rk_handle_use(RK_HANDLE_RUN, run, fn, err) < 0)
		return RK_E_USAGE;
	if (calls_back(run))
		rc = fail_callback(err);
	else if (pthread_mutex_trylock(&r->lock))
		rc = rk_fail(err, RK_E_USAGE, "%s: the run is in use by another thread", fn);
	if (rc < 0)
		rk_handle_drop(r);
	return rc;
}

/* Those that are waiting to be ended. */
static struct rk_run_late *take_late(struct rk_run *run)
{
	struct rk_run_late *list;

	pthread_mutex_lock(&run->late_lock);
	list = run->late;
	run->late = NULL;
	pthread_mutex_unlock(&run->late_lock);
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

	pthread_mutex_lock(&run->late_lock);
	some = run->late != NULL;
	pthread_mutex_unlock(&run->late_lock);
	return some;
}

/* Who comes while the lock is held leaves its work to the holder, who looks again after it. */
void rk_run_unlock(struct rk_run *run)
{
	rk_handle_keep(run);
	do {
		end_late(run);
	} while (some_late(run) && !pthread_mutex_trylock(&run->lock));
	rk_handle_drop(run);
}

void rk_run_later(struct rk_run *run, struct rk_run_late *l)
{
	rk_handle_keep(run);
	pthread_mutex_lock(&run->late_lock);
	l->next = run->late;
	run->late = l;
	pthread_mutex_unlock(&run->late_lock);
	if (!calls_back(run) && !pthread_mutex_trylock(&run->lock))
		rk_run_unlock(run);
	rk_handle_drop(run);
}

void rk_run_leave(const struct rk_run *run)
{
	struct rk_run *r = (struct rk_run *)run;

	rk_run_unlock(r);
	rk_handle_drop(r);
}

int rk_run_wait(struct rk_run *run, struct rk_error *err)
{
	if (calls_back(run))
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
	rk_handle_drop(run);
}
