/* pool.h - a few threads that run lists of tasks together with the caller. */
#ifndef RK_POOL_H
#define RK_POOL_H

#include <stdatomic.h>
#include <stddef.h>

#include "base/error.h"

struct rk_pool;

/* nthreads includes the caller: with 1 no thread is created. */
int rk_pool_new(unsigned nthreads, struct rk_pool **ret, struct rk_error *err);
unsigned rk_pool_threads(const struct rk_pool *p);

/*
 * A list of tasks: calls fn(arg, i, worker) once for each i in [0, n), in any order. `worker` is
 * 0..threads-1 and identifies the thread, so it can index scratch memory; 0 is the thread that owns
 * the pool. The job must not move until rk_pool_finish returns.
 */
struct rk_job {
	void (*fn)(void *arg, size_t i, unsigned worker);
	void *arg;
	size_t n;
	/* Used by the pool: */
	_Atomic size_t next;
	unsigned busy; /* threads of the pool that work on it */
	struct rk_job *behind;
};

/* Starts the job in the background if there are threads. Only the pool's owner may call it. */
void rk_pool_start(struct rk_pool *p, struct rk_job *job);
/* Helps with the rest of a started job; returns when all tasks are done. */
void rk_pool_finish(struct rk_pool *p, struct rk_job *job);
/* Starts and finishes a job. Another job may be running. */
void rk_pool_run(struct rk_pool *p, size_t n, void (*fn)(void *arg, size_t i, unsigned worker),
		 void *arg);

void rk_pool_free(struct rk_pool *p); /* NULL is fine; no job may be running */

#endif
