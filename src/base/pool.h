/* pool.h - a few threads that work on lists of tasks together with the caller. */
#ifndef RK_POOL_H
#define RK_POOL_H

#include <stdatomic.h>
#include <stddef.h>

#include "base/error.h"

struct rk_pool;

/* nthreads counts the caller: 1 makes no thread at all. */
int rk_pool_new(unsigned nthreads, struct rk_pool **ret, struct rk_error *err);
unsigned rk_pool_threads(const struct rk_pool *p);

/*
 * A list of tasks: fn(arg, i, worker) once for each i in [0, n), in any order. `worker` is
 * 0..threads-1, the same for all tasks a thread takes: an index for scratch memory; 0 is the
 * thread that owns the pool. The caller keeps the job where it is until rk_pool_finish returns.
 */
struct rk_job {
	void (*fn)(void *arg, size_t i, unsigned worker);
	void *arg;
	size_t n;
	/* the pool's: */
	_Atomic size_t next;
	unsigned busy; /* threads of the pool at work on it */
	struct rk_job *behind;
};

/* Begins in the background, as far as there are threads. Only the pool's owner may call. */
void rk_pool_start(struct rk_pool *p, struct rk_job *job);
/* Helps with what is left of a started job and returns when all of it is done. */
void rk_pool_finish(struct rk_pool *p, struct rk_job *job);
/* Both. Another job may be under way. */
void rk_pool_run(struct rk_pool *p, size_t n, void (*fn)(void *arg, size_t i, unsigned worker),
		 void *arg);

void rk_pool_free(struct rk_pool *p); /* NULL is fine; no job may be under way */

#endif
