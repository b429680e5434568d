/* pool.c - a few threads that share one list of tasks with the caller. */
#include "base/pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/alloc.h"

enum { MAX_THREADS = 256 };

struct job {
	void (*fn)(void *arg, size_t i, unsigned worker);
	void *arg;
	size_t n;
	_Atomic size_t next;
};

struct worker {
	struct rk_pool *pool;
	unsigned index;
	pthread_t thread;
};

struct rk_pool {
	unsigned nthreads, started;
	struct worker *workers; /* nthreads - 1: the caller is worker 0 */
	pthread_mutex_t lock;
	pthread_cond_t work, idle;
	uint64_t round;   /* grows by one for each job */
	unsigned running; /* workers that have not finished the current round */
	bool stop;
	struct job job;
};

static void work_on(struct job *job, unsigned worker)
{
	size_t i;

	while ((i = atomic_fetch_add_explicit(&job->next, 1, memory_order_relaxed)) < job->n)
		job->fn(job->arg, i, worker);
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;
	struct rk_pool *p = w->pool;
	uint64_t seen = 0;

	pthread_mutex_lock(&p->lock);
	for (;;) {
		while (!p->stop && p->round == seen)
			pthread_cond_wait(&p->work, &p->lock);
		if (p->stop)
			break;
		seen = p->round;
		pthread_mutex_unlock(&p->lock);
		work_on(&p->job, w->index);
		pthread_mutex_lock(&p->lock);
		if (!--p->running)
			pthread_cond_signal(&p->idle);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

unsigned rk_pool_threads(const struct rk_pool *p)
{
	return p->started + 1;
}

void rk_pool_run(struct rk_pool *p, size_t n, void (*fn)(void *arg, size_t i, unsigned worker),
		 void *arg)
{
	p->job.fn = fn;
	p->job.arg = arg;
	p->job.n = n;
	atomic_store(&p->job.next, 0);
	if (!p->started || n < 2) {
		work_on(&p->job, 0);
		return;
	}
	pthread_mutex_lock(&p->lock);
	p->running = p->started;
	p->round++;
	pthread_cond_broadcast(&p->work);
	pthread_mutex_unlock(&p->lock);
	work_on(&p->job, 0);
	pthread_mutex_lock(&p->lock);
	while (p->running)
		pthread_cond_wait(&p->idle, &p->lock);
	pthread_mutex_unlock(&p->lock);
}

int rk_pool_new(unsigned nthreads, struct rk_pool **ret, struct rk_error *err)
{
	struct rk_pool *p = rk_calloc(1, sizeof(*p));

	if (!p)
		return rk_fail_nomem(err);
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->work, NULL);
	pthread_cond_init(&p->idle, NULL);
	p->nthreads = nthreads < 1 ? 1 : nthreads > MAX_THREADS ? MAX_THREADS : nthreads;
	p->workers = rk_calloc(p->nthreads, sizeof(*p->workers));
	if (!p->workers) {
		rk_pool_free(p);
		return rk_fail_nomem(err);
	}
	/* A machine that refuses a thread gets fewer: slower is better than not at all. */
	while (p->started + 1 < p->nthreads) {
		struct worker *w = &p->workers[p->started];

		*w = (struct worker){ .pool = p, .index = p->started + 1 };
		if (pthread_create(&w->thread, NULL, worker_main, w))
			break;
		p->started++;
	}
	*ret = p;
	return 0;
}

void rk_pool_free(struct rk_pool *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->stop = true;
	pthread_cond_broadcast(&p->work);
	pthread_mutex_unlock(&p->lock);
	for (unsigned i = 0; i < p->started; i++)
		pthread_join(p->workers[i].thread, NULL);
	pthread_cond_destroy(&p->idle);
	pthread_cond_destroy(&p->work);
	pthread_mutex_destroy(&p->lock);
	rk_free(p->workers);
	rk_free(p);
}
