/* session_trigger.c - slow steps and gaps are found in the file of a program that still records. */
#include <pthread.h>
#include <string.h>

#include "recorder_world.h"
#include "session/trigger.h"

static const int64_t ms = 1000000;

static struct rk_trigger *watch(struct world *w, const char *step, uint64_t percent, uint64_t gap)
{
	const struct rk_trigger_options opt = { .step = step,
						.slow_percent = percent,
						.gap_ms = gap };
	struct rk_trigger *t = NULL;
	char path[256];

	snprintf(path, sizeof(path), "%s/%ld.rkraw", w->dir, (long)getpid());
	MUST(rk_trigger_open(path, &opt, &t, NULL) == 0 && t);
	return t;
}

/* What a look at the file says, or "". */
static const char *look(struct rk_trigger *t, uint64_t now_ms)
{
	static char why[RK_TRIGGER_WHY];

	return rk_trigger_look(t, now_ms, why) ? why : "";
}

static void step(const char *name, int64_t duration)
{
	struct rk_rec_marker m = { RK_REC_RANGE, rk_rec_string(name, strlen(name)), 0, 0, 5,
				   duration };

	MUST(rk_rec_marker(&m));
}

static void steps(void *arg)
{
	struct rk_trigger *t = watch(arg, "step", 20, 0);

	for (int i = 0; i < 4; i++)
		step("step", 10 * ms);
	step("step", 100 * ms); /* too few to judge */
	MUST(!look(t, 0)[0]);
	for (int i = 0; i < 60; i++)
		step("step", (9 + i % 3) * ms);
	step("step", 12 * ms);
	step("warm up", 500 * ms);
	MUST(!look(t, 1000)[0]);
	step("step", 12 * ms + 1);
	MUST(!strcmp(look(t, 2000),
		     "a step took 12.000 ms, the median of the last 50 is 10.000 ms"));
	MUST(!look(t, 3000)[0]);
	rk_trigger_close(t);
}

TEST(a_step_is_slow_by_the_median_of_the_last_fifty)
{
	const char *path;
	struct world w;

	world_open(&w, 1);
	CHECK_I64(record(&w, "limit=1M,window=1", steps, &w, &path), 0);
	world_close(&w);
}

static uint32_t queue, shape;

static void define(void)
{
	struct rk_rec_device d = { .type = RK_REC_GPU };
	struct rk_rec_function f = { .name = rk_rec_string("f", 1) };
	struct rk_rec_shape s = { .items = { 1, 1, 1 }, .group = { 1, 1, 1 } };

	queue = rk_rec_queue(rk_rec_device(&d), 0, 0);
	s.function = rk_rec_function(&f);
	shape = rk_rec_shape(&s);
}

static void kernel(int64_t start, int64_t end)
{
	struct rk_rec_kernel k = { .shape = shape,
				   .queue = queue,
				   .tid = 1,
				   .correlation = 1,
				   .t = { start, start, start, end } };

	MUST(rk_rec_kernel(&k));
}

static void launched(int64_t start, int64_t end)
{
	struct rk_rec_launch l = {
		.shape = shape, .queue = queue, .tid = 1, .id = rk_rec_next_id(), .submit_ns = start
	};

	MUST(rk_rec_launch(&l));
	if (end)
		MUST(rk_rec_ran(l.id, start, end, 0));
}

static void *fill_the_gap(void *arg)
{
	(void)arg;
	kernel(900 * ms, 1090 * ms);
	return NULL;
}

static void gaps(void *arg)
{
	struct rk_trigger *t = watch(arg, NULL, 0, 100);
	pthread_t other;

	define();
	kernel(100 * ms, 200 * ms);
	kernel(150 * ms, 800 * ms);
	kernel(899 * ms, 900 * ms); /* 99 ms */
	MUST(!look(t, 0)[0]);
	MUST(!look(t, 1000)[0]);
	/* another thread's kernel is in the file before the look at which the gap is judged */
	kernel(1100 * ms, 1110 * ms);
	MUST(!look(t, 2000)[0]);
	MUST(!pthread_create(&other, NULL, fill_the_gap, NULL) && !pthread_join(other, NULL));
	MUST(!look(t, 3000)[0]);
	MUST(!look(t, 3010)[0]);
	kernel(1210 * ms, 1211 * ms);
	kernel(1311 * ms, 1312 * ms);
	MUST(!look(t, 4000)[0]);
	MUST(!strcmp(look(t, 5000), "no kernel ran for 100 ms"));
	MUST(!look(t, 6000)[0]);
	/* nothing says whether a kernel still runs: this collector does not count them */
	MUST(!look(t, 60000)[0]);
	rk_trigger_forget(t);
	kernel(9000 * ms, 9001 * ms);
	MUST(!look(t, 61000)[0] && !look(t, 62000)[0]);
	rk_trigger_close(t);
}

static void gap_that_lasts(void *arg)
{
	struct rk_trigger *t = watch(arg, NULL, 0, 100);

	define();
	launched(100 * ms, 200 * ms);
	MUST(!look(t, 0)[0]);
	MUST(!look(t, 50)[0]);
	MUST(!strcmp(look(t, 150), "no kernel ran for 150 ms"));
	MUST(!look(t, 500)[0]); /* once */
	launched(5000 * ms, 5001 * ms);
	MUST(!look(t, 600)[0]);
	MUST(!look(t, 610)[0]); /* its end was reported at its beginning */
	launched(5002 * ms, 0);
	MUST(!look(t, 5000)[0]); /* that one may run */
	rk_trigger_close(t);
}

TEST(a_gap_is_a_time_in_which_no_thread_had_a_kernel)
{
	const char *path;
	struct world w;

	world_open(&w, 1);
	CHECK_I64(record(&w, "limit=1M,window=1", gaps, &w, &path), 0);
	CHECK_I64(record(&w, "limit=1M,window=1", gap_that_lasts, &w, &path), 0);
	world_close(&w);
}

/* More than the window holds, while somebody watches. */
static void overrun(void *arg)
{
	struct rk_trigger *t = watch(arg, "step", 20, 100);

	define();
	for (int64_t i = 0; i < 200000; i++) {
		kernel(i * ms, (i + 1) * ms);
		if (i % 64 == 0)
			step("step", 10 * ms);
		if (i % 1000 == 0)
			MUST(!look(t, (uint64_t)i)[0]);
	}
	rk_trigger_close(t);
}

TEST(a_window_that_is_overwritten_all_the_time_gives_no_false_alarm)
{
	const char *path;
	struct world w;

	world_open(&w, 1);
	CHECK_I64(record(&w, "limit=1M,window=1", overrun, &w, &path), 0);
	world_close(&w);
}

/* Any byte of the file may be anything. */
TEST(a_damaged_file_is_looked_at_without_harm)
{
	const struct rk_trigger_options opt = { .step = "step", .slow_percent = 1, .gap_ms = 1 };
	struct rk_trigger *t = NULL;
	char why[RK_TRIGGER_WHY];
	const char *path;
	struct world w;
	unsigned seed = 1;
	FILE *f;

	world_open(&w, 1);
	CHECK_I64(record(&w, "limit=1M,window=1", overrun, &w, &path), 0);
	for (int round = 0; round < 200; round++) {
		f = fopen(path, "r+");
		if (!CHECK(f != NULL))
			break;
		for (int i = 0; i < 50; i++) {
			long at = (long)(rand_r(&seed) % (1 << 20));

			fseek(f, round % 2 ? at : at / 32768 * 32768 + at % 64, SEEK_SET);
			fputc(rand_r(&seed), f);
		}
		fclose(f);
		CHECK(rk_trigger_open(path, &opt, &t, NULL) == 0);
		if (t)
			rk_trigger_look(t, 0, why);
		if (t)
			rk_trigger_look(t, 100000, why);
		rk_trigger_close(t);
	}
	CHECK(rk_trigger_open("/dev/null", &opt, &t, NULL) == 0 && !t);
	CHECK(rk_trigger_open("/nonexistent", &opt, &t, NULL) == 0 && !t);
	world_close(&w);
}
