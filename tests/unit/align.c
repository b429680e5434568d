/* align.c - one clock for many ranks: is the truth within the bound that is stated? */
#include <stdio.h>
#include <stdlib.h>

#include "align_world.h"
#include "base/alloc.h"
#include "tap.h"

static const struct align_job plain = {
	.ranks = 4,
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
	.seed = 1,
};

/* Everything that may differ from job to job, from the number of the case. */
static struct align_job any_job(uint64_t seed)
{
	static const size_t ranks[] = { 2, 3, 4, 8, 16, 64 };
	struct align_job j = plain;
	struct align_world dice = { .x = seed * 7919 + 1234567 };

	for (int i = 0; i < 8; i++)
		align_random(&dice);
	j.seed = seed + 1;
	j.ranks = ranks[(size_t)(6 * align_random(&dice))];
	j.per_node = align_random(&dice) < 0.3 ? 2 : 1;
	j.per_step = 1 + (size_t)(7 * align_random(&dice));
	j.steps = (j.ranks > 8 ? 120 : 400) / j.per_step + (size_t)(20 * align_random(&dice));
	j.offset_s = pow(10, 2 * align_random(&dice) - 1);
	j.step_ns = pow(10, 5.5 + 1.7 * align_random(&dice));
	j.vary = 0.02 + 0.3 * align_random(&dice);
	j.wire_ns = pow(10, 4 + align_random(&dice));
	j.jitter_ns = pow(10, 2.5 + 1.3 * align_random(&dice));
	j.lag_ns = align_random(&dice) < 0.5 ? 0 : pow(10, 3 + 2 * align_random(&dice));
	j.straggle = 0.05 * align_random(&dice);
	j.miss = align_random(&dice) < 0.5 ? 0 : 0.05 * align_random(&dice);
	j.extra = align_random(&dice) < 0.5 ? 0 : 0.03 * align_random(&dice);
	j.miss_first = align_random(&dice) < 0.5 ? 0 : 20;
	j.miss_last = align_random(&dice) < 0.5 ? 0 : 20;
	j.snapshot_error_ns = align_random(&dice) < 0.5 ? -1 : 3000000;
	j.stamp_error_ns = align_random(&dice) < 0.5 ? 0 : 1000;
	return j;
}

struct tally {
	size_t cases, good; /* good: every rank aligned, and within its bound */
	size_t ranks, aligned, within;
	double wrong, naive, bound;
};

static void tally_world(struct align_world *w, struct tally *t)
{
	size_t missed = t->ranks - t->within;

	t->cases++;
	for (size_t i = 1; i < w->n; i++) {
		double worst;

		if (w->in[i].node == w->in[0].node)
			continue;
		t->ranks++;
		if (w->out[i].status != RK_ALIGNED)
			continue;
		worst = align_worst(w, i, 0);
		t->aligned++;
		t->within += worst <= (double)w->out[i].error_ns;
		t->wrong += worst;
		t->bound += (double)w->out[i].error_ns;
		t->naive += fabs(align_ahead(w, i, 0) - align_ahead(w, 0, 0));
	}
	t->good += t->ranks - t->within == missed;
}

TEST(align_truth_is_within_the_stated_bound)
{
	struct tally t = { 0 };
	uint64_t cases = getenv("ROCKIT_TEST_FULL") ? 1000 : 200;

	for (uint64_t s = 0; s < cases; s++) {
		struct align_job j = any_job(s);
		struct align_world w;
		struct rk_error err = { 0 };

		align_world_open(&w, &j);
		CHECK(align_world_solve(&w, 0, &err) == 0);
		tally_world(&w, &t);
		align_world_close(&w);
	}
	printf("# %zu of %zu cases good, %zu ranks, aligned %zu, within %zu, mean error %.0f ns, mean bound %.0f ns, "
	       "unaligned %.0f ns\n",
	       t.good, t.cases, t.ranks, t.aligned, t.within, t.wrong / (double)t.aligned,
	       t.bound / (double)t.aligned, t.naive / (double)t.aligned);
	CHECK((double)t.good >= 0.99 * (double)t.cases);
	CHECK((double)t.within >= 0.99 * (double)t.aligned);
	CHECK((double)t.aligned >= 0.99 * (double)t.ranks);
	CHECK(t.naive >= 100 * t.wrong);
}

static void solve(struct align_world *w, const struct align_job *j)
{
	struct rk_error err = { 0 };

	align_world_open(w, j);
	CHECK(align_world_solve(w, 0, &err) == 0);
}

static void all_within(const struct align_world *w)
{
	for (size_t i = 0; i < w->n; i++) {
		CHECK(w->out[i].status == RK_ALIGNED);
		CHECK(align_worst(w, i, 0) <= (double)w->out[i].error_ns + 1);
	}
}

TEST(align_says_what_it_used_and_how_well_it_went)
{
	struct align_world w;

	solve(&w, &plain);
	all_within(&w);
	CHECK_U64(w.out[0].evidence, RK_ALIGN_BY_NODE);
	CHECK_I64(w.out[0].error_ns, 0);
	CHECK_I64(w.out[0].offset_ns, 0);
	CHECK_U64(w.out[3].evidence, RK_ALIGN_BY_CALLS);
	CHECK(w.out[3].matched > 250 && w.out[3].matched + w.out[3].rejected == 300);
	CHECK_U64(w.out[3].via, 0);
	CHECK(w.out[3].error_ns > 1000 && w.out[3].error_ns < 150000);
	CHECK(w.out[3].spread_ns > 100 && w.out[3].spread_ns < 20000);
	CHECK(fabs(w.out[3].drift_ppm -
		   1e6 * (w.clocks[3].drift - w.clocks[0].drift) / (1 + w.clocks[0].drift)) < 2);
	align_world_close(&w);
}

TEST(align_ranks_of_a_node_share_their_clock)
{
	struct align_job j = plain;
	struct align_world w;

	j.ranks = 8;
	j.per_node = 4;
	j.stamp_error_ns = 500;
	solve(&w, &j);
	all_within(&w);
	CHECK_I64(w.out[3].offset_ns, 0);
	CHECK_I64(w.out[3].error_ns, 500);
	CHECK_U64(w.out[3].evidence, RK_ALIGN_BY_NODE);
	for (size_t i = 5; i < 8; i++)
		CHECK_I64(w.out[i].offset_ns, w.out[4].offset_ns);
	align_world_close(&w);
}

/* Ends say that a rank is 80 us behind; the bound must not believe them. */
TEST(align_a_rank_that_always_ends_late_is_within_the_bound)
{
	struct align_job j = plain;
	struct align_world w;

	size_t fooled = 0;

	j.lag_ns = 80000;
	for (uint64_t s = 1; s <= 20; s++) {
		j.seed = s;
		solve(&w, &j);
		all_within(&w);
		for (size_t i = 1; i < w.n; i++)
			fooled += align_worst(&w, i, 0) > 4 * (double)w.out[i].spread_ns;
		align_world_close(&w);
	}
	CHECK(fooled > 20); /* the case is what it says */
}

/* Times of a day of 1970 and of a machine that runs for a month. */
TEST(align_clocks_that_are_decades_apart)
{
	struct align_world w;
	struct rk_align_call *c;
	int64_t before;

	solve(&w, &plain);
	before = w.out[2].offset_ns;
	c = (struct rk_align_call *)(void *)(uintptr_t)w.in[2].calls;
	for (size_t k = 0; k < w.in[2].ncalls; k++) {
		c[k].start_ns -= INT64_C(1690000000000000000);
		c[k].end_ns -= INT64_C(1690000000000000000);
	}
	CHECK(align_world_solve(&w, 0, NULL) == 0);
	CHECK(w.out[2].status == RK_ALIGNED);
	CHECK_I64(w.out[2].offset_ns, before - INT64_C(1690000000000000000));
	align_world_close(&w);
}

TEST(align_ranks_that_miss_the_first_and_last_steps)
{
	struct align_job j = plain;
	struct align_world w;

	j.miss_first = 40;
	j.miss_last = 50;
	j.miss = 0.03;
	j.extra = 0.03;
	j.ranks = 6;
	solve(&w, &j);
	all_within(&w);
	for (size_t i = 1; i < w.n; i++)
		CHECK(w.out[i].matched > 150);
	align_world_close(&w);
}

TEST(align_the_order_of_inputs_does_not_matter)
{
	struct align_job j = plain;
	struct align_world w;
	struct rk_align_input in[12];
	struct rk_align_rank out[12];
	struct rk_align_options opt = { .reference = 11 };

	j.ranks = 12;
	j.per_node = 2;
	j.miss = 0.02;
	solve(&w, &j);
	for (size_t i = 0; i < 12; i++)
		in[11 - i] = w.in[i];
	CHECK(rk_align(in, 12, &opt, out, NULL) == 0);
	for (size_t i = 0; i < 12; i++) {
		CHECK(out[11 - i].status == w.out[i].status);
		CHECK_I64(out[11 - i].offset_ns, w.out[i].offset_ns);
		CHECK_I64(out[11 - i].error_ns, w.out[i].error_ns);
		CHECK_U64(out[11 - i].matched, w.out[i].matched);
		CHECK_U64(out[11 - i].via, 11 - w.out[i].via);
	}
	align_world_close(&w);
}

TEST(align_more_evidence_keeps_the_bound_true)
{
	for (uint64_t s = 1; s <= 20; s++) {
		struct align_job j = plain;
		struct align_world w;
		size_t all;

		j.seed = s;
		j.ranks = 2;
		align_world_open(&w, &j);
		all = w.in[1].ncalls;
		for (size_t n = 20; n <= all; n += 40) {
			w.in[0].ncalls = w.in[1].ncalls = n;
			CHECK(align_world_solve(&w, 0, NULL) == 0);
			CHECK(w.out[1].status == RK_ALIGNED);
			CHECK(align_worst(&w, 1, 0) <= (double)w.out[1].error_ns);
		}
		align_world_close(&w);
	}
}

TEST(align_snapshots_help_where_they_agree_and_are_dropped_where_not)
{
	struct align_job j = plain;
	struct align_world w;
	struct rk_align_snapshot *s;

	j.snapshot_error_ns = 2000000;
	solve(&w, &j);
	all_within(&w);
	CHECK_U64(w.out[1].evidence, RK_ALIGN_BY_CALLS | RK_ALIGN_BY_SNAPSHOTS);
	s = (struct rk_align_snapshot *)(void *)(uintptr_t)w.in[1].snapshots;
	s[0].real_ns += 50000000;
	s[1].real_ns += 50000000;
	CHECK(align_world_solve(&w, 0, NULL) == 0);
	all_within(&w);
	CHECK_U64(w.out[1].evidence, RK_ALIGN_BY_CALLS | RK_ALIGN_SNAPSHOTS_OFF);
	align_world_close(&w);
}

TEST(align_snapshots_alone_are_enough)
{
	struct align_job j = plain;
	struct align_world w;

	j.snapshot_error_ns = 500000;
	align_world_open(&w, &j);
	for (size_t k = 0; k < w.in[2].ncalls; k++)
		((struct rk_align_call *)(void *)(uintptr_t)w.in[2].calls)[k].sig += 2 * (k + 1);
	CHECK(align_world_solve(&w, 0, NULL) == 0);
	all_within(&w);
	CHECK_U64(w.out[2].evidence, RK_ALIGN_BY_SNAPSHOTS);
	CHECK_U64(w.out[2].matched, 0);
	align_world_close(&w);
}

/* Ranks 0 and 1 share a communicator, 1 and 2 another. */
TEST(align_goes_by_way_of_a_rank_that_shares_with_both)
{
	struct align_job j = plain;
	struct align_world w;
	struct rk_align_call *c[3];

	j.ranks = 3;
	align_world_open(&w, &j);
	for (size_t i = 0; i < 3; i++)
		c[i] = (struct rk_align_call *)(void *)(uintptr_t)w.in[i].calls;
	for (size_t k = 0; k < w.in[0].ncalls; k++) {
		c[0][k].sig = k % 2 ? c[0][k].sig : rk_align_sig(RK_ALIGN_ALL, 1, 100, -1);
		c[1][k].sig = rk_align_sig(RK_ALIGN_ALL, 1, k % 2 ? 101 : 100, -1);
		c[2][k].sig = k % 2 ? c[1][k].sig : rk_align_sig(RK_ALIGN_ALL, 1, 102, -1);
	}
	CHECK(align_world_solve(&w, 0, NULL) == 0);
	all_within(&w);
	CHECK_U64(w.out[2].via, 1);
	CHECK(w.out[2].error_ns > w.out[1].error_ns);
	align_world_close(&w);
}

TEST(align_messages_bound_a_clock_from_both_sides)
{
	struct rk_align_input in[2] = { { .rank = 0, .node = 0 }, { .rank = 1, .node = 1 } };
	struct rk_align_message m[20];
	struct rk_align_options opt = { .messages = m, .nmessages = 20 };
	struct rk_align_rank out[2];

	/* Rank 1 is 7 ms ahead; a message takes 10 us. */
	for (uint32_t i = 0; i < 20; i++) {
		int64_t t = 1000000000 + (int64_t)i * 10000000;

		m[i] = (struct rk_align_message){ i % 2, 1 - i % 2, t, t + 10000 };
		*(i % 2 ? &m[i].send_ns : &m[i].recv_ns) += 7000000;
	}
	CHECK(rk_align(in, 2, &opt, out, NULL) == 0);
	CHECK(out[1].status == RK_ALIGNED);
	CHECK(llabs(out[1].offset_ns - 7000000) <= out[1].error_ns);
	CHECK(out[1].error_ns < 25000);
	CHECK_U64(out[1].evidence, RK_ALIGN_BY_MESSAGES);
	opt.nmessages = 1; /* one way only: nothing from the other side */
	CHECK(rk_align(in, 2, &opt, out, NULL) == 0);
	CHECK(out[1].status == RK_ALIGN_NO_COMMON);
	m[0].from = 2;
	CHECK(rk_align(in, 2, &opt, out, NULL) == RK_E_USAGE);
}
