/* align_not.c - messages when ranks have no common clock. */
#include <stdio.h>
#include <stdlib.h>

#include "align_world.h"
#include "base/alloc.h"
#include "tap.h"

static const struct align_job two = {
	.ranks = 3,
	.per_node = 1,
	.steps = 60,
	.per_step = 5,
	.offset_s = 3,
	.drift_ppm = 50,
	.step_ns = 5e6,
	.vary = 0.1,
	.wire_ns = 30e3,
	.jitter_ns = 2e3,
	.straggle = 0.02,
	.snapshot_error_ns = -1,
	.seed = 5,
};

static struct rk_align_call *calls_of(struct align_world *w, size_t rank)
{
	return (struct rk_align_call *)(void *)(uintptr_t)w->in[rank].calls;
}

static void expect(struct align_world *w, enum rk_align_status status, const char *part)
{
	char text[200] = "";

	CHECK(align_world_solve(w, 0, NULL) == 0);
	CHECK(w->out[1].status == RK_ALIGNED);
	CHECK_I64(w->out[2].status, status);
	rk_align_reason(&w->out[2], w->in, 2, text, sizeof(text));
	if (!CHECK(strstr(text, part) != NULL))
		printf("# %s\n", text);
	rk_align_reason(&w->out[1], w->in, 1, text, sizeof(text));
	CHECK_STR(text, "");
}

TEST(align_without_common_collectives_says_so)
{
	struct align_world w;

	align_world_open(&w, &two);
	for (size_t k = 0; k < w.in[2].ncalls; k++)
		calls_of(&w, 2)[k].sig = rk_align_sig(RK_ALIGN_ALL, 77, 1, -1);
	expect(&w, RK_ALIGN_NO_COMMON, "rank 2 has nothing in common with rank 0");
	w.in[2].ncalls = 0;
	expect(&w, RK_ALIGN_NO_COMMON, "rank 2 has nothing in common with rank 0");
	align_world_close(&w);
}

TEST(align_rooted_collectives_say_nothing_of_times)
{
	struct align_world w;

	align_world_open(&w, &two);
	for (size_t k = 0; k < w.in[2].ncalls; k++)
		for (size_t i = 0; i < 3; i++)
			calls_of(&w, i)[k].sig |= 1;
	CHECK(align_world_solve(&w, 0, NULL) == 0);
	CHECK(w.out[1].status == RK_ALIGN_NO_COMMON && w.out[2].status == RK_ALIGN_NO_COMMON);
	align_world_close(&w);
}

TEST(align_one_long_collective_is_too_wide)
{
	struct align_world w;
	struct rk_align_options opt = { .max_error_ns = 1000000 };
	char text[200];

	align_world_open(&w, &two);
	for (size_t i = 0; i < 3; i++) {
		w.in[i].ncalls = 1;
		calls_of(&w, i)[0].start_ns -= 3000000;
	}
	CHECK(rk_align(w.in, 3, &opt, w.out, NULL) == 0);
	CHECK(w.out[2].status == RK_ALIGN_WIDE);
	CHECK(w.out[2].error_ns > 3000000 && w.out[2].error_ns < 30000000);
	rk_align_reason(&w.out[2], w.in, 2, text, sizeof(text));
	CHECK(strstr(text, "only known within"));
	opt.max_error_ns = 100000000;
	CHECK(rk_align(w.in, 3, &opt, w.out, NULL) == 0);
	CHECK(w.out[2].status == RK_ALIGNED);
	CHECK(align_worst(&w, 2, 0) <= (double)w.out[2].error_ns);
	align_world_close(&w);
}

TEST(align_other_jobs_by_number)
{
	struct align_world w;

	align_world_open(&w, &two);
	w.in[0].job = w.in[1].job = 4711;
	w.in[2].job = 4712;
	expect(&w, RK_ALIGN_OTHER_JOB, "rank 2 belongs to a different job than rank 0");
	align_world_close(&w);
}

/* The same program, run again: all signatures agree. */
TEST(align_other_jobs_by_their_times)
{
	size_t contradict = 0, wrong = 0;

	for (uint64_t s = 10; s < 30; s++) {
		struct align_job j = two;
		struct align_world w, other;

		align_world_open(&w, &two);
		j.seed = s;
		align_world_open(&other, &j);
		for (size_t i = 2; i < 3; i++)
			memcpy(calls_of(&w, i), other.in[i].calls,
			       other.in[i].ncalls * sizeof(struct rk_align_call));
		CHECK(align_world_solve(&w, 0, NULL) == 0);
		contradict += w.out[2].status == RK_ALIGN_CONTRADICT ||
			      w.out[2].status == RK_ALIGN_NO_COMMON;
		wrong += w.out[2].status == RK_ALIGNED;
		align_world_close(&other);
		align_world_close(&w);
	}
	CHECK_U64(wrong, 0);
	CHECK_U64(contradict, 20);
}

TEST(align_a_clock_that_jumps_is_named_with_time_and_size)
{
	static const double sizes[] = { 200e3, 3e6, 40e6, -40e6, 900e6, -300e3 };

	for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
		struct align_job j = two;
		struct align_world w;
		double at;

		j.jump_rank = 2;
		j.jump_ns = sizes[k];
		align_world_open(&w, &j);
		expect(&w, RK_ALIGN_JUMP, "the clock of rank 2 (or of rank 0) jumps by");
		CHECK(fabs((double)w.out[2].jump_ns - sizes[k]) < 100e3);
		at = (double)(w.out[2].jump_at_ns - align_clock(&w, 2, w.middle));
		CHECK(fabs(at) < 200e6);
		align_world_close(&w);
	}
}

/* Small enough for a line askew to fit: not proven, but not outside the bound either. */
TEST(align_a_small_jump_is_named_or_within_the_bound)
{
	static const double sizes[] = { 5e3, 20e3, 50e3, 80e3, 110e3, -30e3, -80e3 };
	size_t outside = 0;

	for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++)
		for (uint64_t s = 1; s <= 30; s++) {
			struct align_job j = two;
			struct align_world w;

			j.seed = s;
			j.jump_rank = 2;
			j.jump_ns = sizes[k];
			align_world_open(&w, &j);
			CHECK(align_world_solve(&w, 0, NULL) == 0);
			CHECK(w.out[2].status == RK_ALIGNED || w.out[2].status == RK_ALIGN_JUMP);
			outside += w.out[2].status == RK_ALIGNED &&
				   align_worst(&w, 2, 0) > (double)w.out[2].error_ns;
			align_world_close(&w);
		}
	CHECK(outside <= 2);
}

TEST(align_a_clock_that_was_slewed_has_a_wider_bound)
{
	for (uint64_t s = 1; s < 20; s++) {
		struct align_job j = two;
		struct align_world w;

		j.seed = s;
		j.steps = 200;
		j.bend_ppm = 100;
		align_world_open(&w, &j);
		CHECK(align_world_solve(&w, 0, NULL) == 0);
		for (size_t i = 1; i < 3; i++) {
			CHECK(w.out[i].status == RK_ALIGNED);
			CHECK(w.out[i].evidence & RK_ALIGN_UNEVEN);
			CHECK(align_worst(&w, i, 0) <= (double)w.out[i].error_ns);
		}
		align_world_close(&w);
	}
}

/* Steps like clockwork, collectives that take as long as the time between: any shift will do. */
TEST(align_says_when_matches_are_ambiguous)
{
	struct align_world w;
	struct rk_align_call *c;

	align_world_open(&w, &two);
	for (size_t i = 0; i < 3; i++) {
		c = calls_of(&w, i);
		w.in[i].ncalls = 200 - (i == 2);
		for (size_t k = 0; k < w.in[i].ncalls; k++) {
			c[k].start_ns = (int64_t)(1000000000 + k * 5000000 + i * 1000);
			c[k].end_ns = c[k].start_ns + 2000000;
			c[k].sig = rk_align_sig(RK_ALIGN_ALL, 1, 1, 1);
		}
	}
	expect(&w, RK_ALIGN_AMBIGUOUS, "in several ways");
	align_world_close(&w);
}

TEST(align_bad_times_cost_one_rank)
{
	struct align_world w;
	struct rk_align_call keep;

	align_world_open(&w, &two);
	keep = calls_of(&w, 2)[7];
	calls_of(&w, 2)[7].end_ns = keep.start_ns - 1;
	expect(&w, RK_ALIGN_BAD_TIMES, "times of rank 2");
	calls_of(&w, 2)[7].end_ns = INT64_MAX;
	expect(&w, RK_ALIGN_BAD_TIMES, "times of rank 2");
	calls_of(&w, 2)[7].start_ns = INT64_MIN;
	expect(&w, RK_ALIGN_BAD_TIMES, "times of rank 2");
	calls_of(&w, 2)[7] = keep;
	w.in[2].stamp_error_ns = -1;
	expect(&w, RK_ALIGN_BAD_TIMES, "times of rank 2");
	align_world_close(&w);
}

static int by_end(const void *pa, const void *pb)
{
	const struct rk_align_call *a = pa, *b = pb;

	return (a->end_ns > b->end_ns) - (a->end_ns < b->end_ns);
}

/* Calls at any time at all, crowded or years apart, few signatures or many. */
static void wild_calls(struct align_world *w, size_t rank)
{
	struct rk_align_call *c = calls_of(w, rank);
	double scale = pow(10, 18.3 * align_random(w));
	uint64_t kinds = 1 + (uint64_t)(100 * align_random(w) * align_random(w));

	for (size_t k = 0; k < w->in[rank].ncalls; k++) {
		c[k].end_ns = (int64_t)(scale * align_random(w));
		c[k].start_ns = (int64_t)((double)c[k].end_ns * align_random(w));
		c[k].sig = 2 + (uint64_t)((double)kinds * align_random(w));
		if (c[k].start_ns > c[k].end_ns)
			c[k].start_ns = c[k].end_ns;
	}
	qsort(c, w->in[rank].ncalls, sizeof(*c), by_end);
}

TEST(align_wild_times_give_an_answer_and_no_harm)
{
	for (uint64_t s = 1; s <= 150; s++) {
		struct align_job j = two;
		struct align_world w;

		j.seed = s;
		j.steps = 1 + s % 40;
		j.snapshot_error_ns = s % 3 ? -1 : 1000000;
		align_world_open(&w, &j);
		for (size_t i = s % 2; i < 3; i++)
			wild_calls(&w, i);
		CHECK(align_world_solve(&w, 0, NULL) == 0);
		for (size_t i = 0; i < 3; i++) {
			CHECK(w.out[i].status != RK_ALIGNED || w.out[i].error_ns >= 0);
			CHECK(w.out[i].status != RK_ALIGNED ||
			      w.out[i].error_ns <= RK_ALIGN_ERROR_NS + 1);
		}
		align_world_close(&w);
	}
}

/* Ten thousand calls at one instant: bounded work, not a cube of it. */
TEST(align_a_crowd_of_calls_takes_no_time)
{
	struct align_job j = two;
	struct align_world w;

	j.steps = 1000;
	align_world_open(&w, &j);
	w.in[2].ncalls--;
	for (size_t i = 0; i < 3; i++)
		for (size_t k = 0; k < w.in[i].ncalls; k++)
			calls_of(&w, i)[k] = (struct rk_align_call){ 5000, 5000, 2 };
	CHECK(align_world_solve(&w, 0, NULL) == 0);
	align_world_close(&w);
}

TEST(align_messages_that_contradict_each_other_are_not_evidence)
{
	struct rk_align_input in[2] = { { .rank = 0, .node = 0 }, { .rank = 1, .node = 1 } };
	/* Both there before they were sent, whatever the clocks. */
	const struct rk_align_message m[] = { { 0, 1, 5000, 4000 }, { 1, 0, 4500, 4600 } };
	struct rk_align_options opt = { .messages = m, .nmessages = 2 };
	struct rk_align_rank out[2];
	char text[200];

	CHECK(rk_align(in, 2, &opt, out, NULL) == 0);
	CHECK_I64(out[1].status, RK_ALIGN_CONTRADICT);
	rk_align_reason(&out[1], in, 1, text, sizeof(text));
	CHECK_STR(text, "records of rank 1 and rank 0 contradict each other: no clock offset fits");
}

/* A rank that recorded nothing contradicts nothing, whatever the others of its node do. */
TEST(align_a_rank_without_calls_has_nothing_in_common)
{
	size_t contradict = 0;
	char text[200];

	for (uint64_t s = 10; s < 30; s++) {
		struct align_job j = two;
		struct align_world w, other;

		align_world_open(&w, &two);
		j.seed = s;
		align_world_open(&other, &j);
		memcpy(calls_of(&w, 2), other.in[2].calls,
		       other.in[2].ncalls * sizeof(struct rk_align_call));
		w.in[1].node = w.in[2].node;
		w.in[1].ncalls = 0;
		CHECK(align_world_solve(&w, 0, NULL) == 0);
		contradict += w.out[2].status == RK_ALIGN_CONTRADICT;
		if (w.out[2].status != RK_ALIGNED)
			CHECK_I64(w.out[1].status, RK_ALIGN_NO_COMMON);
		rk_align_reason(&w.out[1], w.in, 1, text, sizeof(text));
		if (w.out[2].status != RK_ALIGNED)
			CHECK_STR(text, "rank 1 has nothing in common with rank 0: no collective, "
					"clock snapshot or message");
		align_world_close(&w);
		align_world_close(&other);
	}
	CHECK(contradict > 0);
}

TEST(align_refuses_nothing_and_a_reference_that_is_not_there)
{
	struct rk_align_input in = { 0 };
	struct rk_align_rank out;
	struct rk_align_options opt = { .reference = 1 };

	CHECK(rk_align(&in, 0, &opt, &out, NULL) == RK_E_USAGE);
	CHECK(rk_align(&in, 1, &opt, &out, NULL) == RK_E_USAGE);
	opt.reference = 0;
	CHECK(rk_align(&in, 1, &opt, &out, NULL) == 0);
	CHECK(out.status == RK_ALIGNED && out.error_ns == 0);
}

TEST(align_every_allocation_may_fail)
{
	struct align_job j = two;
	struct align_world w;
	bool failed = true;

	j.miss = 0.02;
	j.steps = 10;
	align_world_open(&w, &j);
	for (uint64_t n = 1; failed && n < 1000; n++) {
		struct rk_error err = { 0 };
		int rc;

		rk_alloc_fail_after(n);
		rc = align_world_solve(&w, 0, &err);
		failed = rk_alloc_failed();
		rk_alloc_fail_after(0);
		CHECK(failed ? rc == RK_E_NOMEM && err.code == RK_E_NOMEM : rc == 0);
	}
	CHECK(!failed);
	align_world_close(&w);
}
