/* handle.c - which handles are open. */
#include "base/handle.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

static unsigned destroyed;

static void destroy(void *h)
{
	(void)h;
	destroyed++;
}

TEST(a_handle_is_destroyed_when_it_is_closed_and_nobody_holds_it)
{
	struct rk_error err = { 0 };
	int thing = 0;

	destroyed = 0;
	CHECK_I64(rk_handle_open(RK_HANDLE_RUN, &thing, destroy, &err), 0);
	CHECK(!rk_handle_hold(RK_HANDLE_DIFF, &thing) && !rk_handle_hold(RK_HANDLE_RUN, NULL));
	CHECK(rk_handle_hold(RK_HANDLE_RUN, &thing));
	rk_handle_close(RK_HANDLE_DIFF, &thing);
	rk_handle_close(RK_HANDLE_RUN, &thing);
	CHECK(!rk_handle_hold(RK_HANDLE_RUN, &thing) && destroyed == 0);
	rk_handle_keep(&thing);
	rk_handle_drop(&thing);
	CHECK_U64(destroyed, 0);
	rk_handle_drop(&thing);
	CHECK_U64(destroyed, 1);
	rk_handle_close(RK_HANDLE_RUN, &thing);
	CHECK_U64(destroyed, 1);
}

TEST(an_address_may_become_another_handle)
{
	struct rk_error err = { 0 };
	int thing = 0;

	destroyed = 0;
	for (unsigned i = 0; i < 3; i++) {
		enum rk_handle_kind kind = i % 2 ? RK_HANDLE_DIFF : RK_HANDLE_REPORT;

		CHECK_I64(rk_handle_open(kind, &thing, destroy, &err), 0);
		CHECK_I64(rk_handle_use(kind, &thing, "fn", &err), 0);
		rk_handle_drop(&thing);
		rk_handle_close(kind, &thing);
	}
	CHECK_U64(destroyed, 3);
	CHECK_I64(rk_handle_use(RK_HANDLE_DIFF, &thing, "fn", &err), RK_E_USAGE);
	CHECK_STR(err.message, "fn: the diff is NULL or was closed");
}

static void *hold_for_a_while(void *h)
{
	usleep(20000);
	rk_handle_drop(h);
	return NULL;
}

TEST(taking_a_handle_waits_for_its_holders)
{
	struct rk_error err = { 0 };
	pthread_t thread;
	int thing = 0;

	destroyed = 0;
	CHECK_I64(rk_handle_open(RK_HANDLE_MONITOR, &thing, NULL, &err), 0);
	CHECK(rk_handle_hold(RK_HANDLE_MONITOR, &thing));
	CHECK(!pthread_create(&thread, NULL, hold_for_a_while, &thing));
	CHECK(rk_handle_take(RK_HANDLE_MONITOR, &thing));
	CHECK(!rk_handle_take(RK_HANDLE_MONITOR, &thing));
	CHECK(!pthread_join(thread, NULL));
	CHECK_U64(destroyed, 0);
}

TEST(many_handles_are_distinct)
{
	struct rk_error err = { 0 };
	static char things[3000];

	destroyed = 0;
	for (unsigned i = 0; i < 3000; i++)
		CHECK_I64(rk_handle_open(RK_HANDLE_RUN, &things[i], destroy, &err), 0);
	for (unsigned i = 0; i < 3000; i += 2)
		rk_handle_close(RK_HANDLE_RUN, &things[i]);
	CHECK_U64(destroyed, 1500);
	for (unsigned i = 0; i < 3000; i++) {
		bool open = rk_handle_hold(RK_HANDLE_RUN, &things[i]);

		CHECK(open == (i % 2 == 1));
		if (open)
			rk_handle_drop(&things[i]);
		rk_handle_close(RK_HANDLE_RUN, &things[i]);
	}
	CHECK_U64(destroyed, 3000);
}

static atomic_bool enough;

static void *hold_and_drop(void *h)
{
	while (!enough) {
		if (rk_handle_hold(RK_HANDLE_RUN, h))
			rk_handle_drop(h);
	}
	return NULL;
}

TEST(a_process_that_was_forked_beside_busy_threads_has_handles_too)
{
	struct rk_error err = { 0 };
	pthread_t thread;
	int thing = 0;

	enough = false;
	CHECK_I64(rk_handle_open(RK_HANDLE_RUN, &thing, destroy, &err), 0);
	CHECK_I64(pthread_create(&thread, NULL, hold_and_drop, &thing), 0);
	for (int i = 0; i < 100; i++) {
		pid_t child = fork();
		int status = 0;

		if (child == 0) {
			alarm(10); /* a lock that nobody opens */
			_exit(rk_handle_hold(RK_HANDLE_RUN, &thing) ? 0 : 1);
		}
		CHECK(child > 0 && waitpid(child, &status, 0) == child);
		CHECK_I64(status, 0);
		if (status)
			break;
	}
	enough = true;
	CHECK_I64(pthread_join(thread, NULL), 0);
	rk_handle_close(RK_HANDLE_RUN, &thing);
}
