/* pool.c - see pool.h. */
#include "base/pool.h"

#include <pthread.h>

#include "base/alloc.h"
#include "base/num.h"

enum { MAX_THREADS = 256 };

struct worker {
	struct rk_pool *pool;
	unsigned index;
	pthread_t thread;
};

struct rk_pool {
	unsigned nthreads, started;
	struct worker *workers; /* nthreads - 1 of them; the owner is worker 0 */
	pthread_mutex_t lock;
	pthread_cond_t work, idle;
	struct rk_job *jobs; /* jobs that may have tasks left, newest first */
	bool stop;
};

static void work_on(struct rk_job *job, unsigned worker)
{
	size_t i;

	while ((i = atomic_fetch_add_explicit(&job->next, 1, memory_order_relaxed)) < job->n)
		job->fn(job->arg, i, worker);
}

static void unlink_job(struct rk_pool *p, struct rk_job *job)
{
	for (struct rk_job **at = &p->jobs; *at; at = &(*at)->behind) {
		if (*at == job) {
			*at = job->behind;
			return;
		}
	}
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;
	struct rk_pool *p = w->pool;

	pthread_mutex_lock(&p->lock);
	while (!p->stop) {
		struct rk_job *job = p->jobs;

		if (!job) {
			pthread_cond_wait(&p->work, &p->lock);
			continue;
		}
		job->busy++;
		pthread_mutex_unlock(&p->lock);
		work_on(job, w->index);
		pthread_mutex_lock(&p->lock);
		unlink_job(p, job); /* all of its tasks are taken */
		if (!--job->busy)
			pthread_cond_broadcast(&p->idle);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

unsigned rk_pool_threads(const struct rk_pool *p)
{
	return p->started + 1;
}

void rk_pool_start(struct rk_pool *p, struct rk_job *job)
{
	atomic_store(&job->next, 0);
	job->busy = 0;
	job->behind = NULL;
	if (!p->started || !job->n)
		return;
	pthread_mutex_lock(&p->lock);
	job->behind = p->jobs;
	p->jobs = job;
	pthread_cond_broadcast(&p->work);
	pthread_mutex_unlock(&p->lock);
}

void rk_pool_finish(struct rk_pool *p, struct rk_job *job)
{
	work_on(job, 0);
	if (!p->started)
		return;
	pthread_mutex_lock(&p->lock);
	unlink_job(p, job);
	while (job->busy)
		pthread_cond_wait(&p->idle, &p->lock);
	pthread_mutex_unlock(&p->lock);
}

void rk_pool_run(struct rk_pool *p, size_t n, void (*fn)(void *arg, size_t i, unsigned worker),
		 void *arg)
{
	struct rk_job job = { .fn = fn, .arg = arg, .n = n };

	/* a single task is not worth waking a thread */
	if (n > 1)
		rk_pool_start(p, &job);
	else
		atomic_store(&job.next, 0);
	rk_pool_finish(p, &job);
}

int rk_pool_new(unsigned nthreads, struct rk_pool **ret, struct rk_error *err)
{
	struct rk_pool *p = rk_calloc(1, sizeof(*p));

	if (!p)
		return rk_fail_nomem(err);
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->work, NULL);
	pthread_cond_init(&p->idle, NULL);
	p->nthreads = (unsigned)rk_max(1, rk_min(nthreads, MAX_THREADS));
	p->workers = rk_calloc(p->nthreads, sizeof(*p->workers));
	if (!p->workers) {
		rk_pool_free(p);
		return rk_fail_nomem(err);
	}
	/* If a thread cannot be created, continue with fewer. */
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
