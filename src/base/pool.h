/* pool.h - a few threads that share one list of tasks with the caller. */
#ifndef RK_POOL_H
#define RK_POOL_H

#include <stddef.h>

#include "base/error.h"

struct rk_pool;

/* nthreads counts the caller: 1 makes no thread at all. */
int rk_pool_new(unsigned nthreads, struct rk_pool **ret, struct rk_error *err);
unsigned rk_pool_threads(const struct rk_pool *p);

/*
 * Calls fn(arg, i, worker) once for each i in [0, n), in any order, on the pool's threads and
 * the calling one, and returns when all are done. `worker` is 0..threads-1, unique among the
 * calls that run at one time: an index for scratch memory. Not re-entrant.
 */
void rk_pool_run(struct rk_pool *p, size_t n, void (*fn)(void *arg, size_t i, unsigned worker),
		 void *arg);

void rk_pool_free(struct rk_pool *p); /* NULL is fine */

#endif
