/* pool.c - every task once, workers apart, on any number of threads. */
#include "base/pool.h"

#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "tap.h"

enum { N = 1000 };

struct seen {
	_Atomic unsigned done[N];
	_Atomic unsigned busy[256]; /* by worker */
	_Atomic unsigned clashes;
	unsigned threads;
};

static void task(void *arg, size_t i, unsigned worker)
{
	struct seen *s = arg;

	if (worker >= s->threads || atomic_fetch_add(&s->busy[worker], 1))
		atomic_fetch_add(&s->clashes, 1);
	atomic_fetch_add(&s->done[i], 1);
	atomic_fetch_sub(&s->busy[worker], 1);
}

static void run_all(unsigned threads, unsigned rounds, size_t n)
{
	static struct seen s;
	struct rk_pool *pool = NULL;

	memset(&s, 0, sizeof(s));
	CHECK_I64(rk_pool_new(threads, &pool, NULL), 0);
	s.threads = rk_pool_threads(pool);
	CHECK(s.threads >= 1 && s.threads <= 256);
	for (unsigned r = 0; r < rounds; r++)
		rk_pool_run(pool, n, task, &s);
	for (size_t i = 0; i < N; i++)
		CHECK_U64(s.done[i], i < n ? rounds : 0);
	CHECK_U64(s.clashes, 0);
	rk_pool_free(pool);
}

TEST(every_task_runs_once_on_any_number_of_threads)
{
	run_all(1, 3, N);
	run_all(2, 200, N);
	run_all(3, 200, 7);
	run_all(8, 50, N);
	run_all(0, 1, N);
	run_all(2, 10, 0);
	run_all(2, 1000, 1);
	run_all(2, 1000, 2);
}

TEST(a_pool_is_bounded_and_can_be_idle)
{
	struct rk_pool *pool = NULL;

	CHECK_I64(rk_pool_new(1, &pool, NULL), 0);
	CHECK_U64(rk_pool_threads(pool), 1);
	rk_pool_free(pool);
	CHECK_I64(rk_pool_new(4, &pool, NULL), 0);
	rk_pool_free(pool); /* without ever working */
	rk_pool_free(NULL);
}

TEST(a_pool_survives_failed_allocations)
{
	for (uint64_t n = 1; n < 20; n++) {
		struct rk_pool *pool = NULL;
		struct rk_error err = { 0 };
		int rc;

		rk_alloc_fail_after(n);
		rc = rk_pool_new(3, &pool, &err);
		if (!rk_alloc_failed()) {
			CHECK_I64(rc, 0);
			rk_pool_free(pool);
			break;
		}
		CHECK_I64(rc, RK_E_NOMEM);
	}
	rk_alloc_fail_after(0);
}
