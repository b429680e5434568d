/* comm_match.c - instances of collectives over ranks, against jobs whose truth is known. */
#include "ranks/comm_match.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "tap.h"

enum { OPS = 3 };

/* Operation k is of sets of ranks: those with the same rank / block[k] % of[k]. */
struct job {
	size_t ranks, calls;
	size_t block[OPS], of[OPS];
	int64_t step_ns, vary_ns, wire_ns, jitter_ns;
	double miss, extra;
	int64_t slow; /* a rank that is late, by slow_ns */
	int64_t slow_ns;
	bool apart; /* clocks that differ, by a node for each half of the ranks */
	uint64_t seed;
};

struct world {
	struct job j;
	uint64_t x;
	struct rk_comm_rank *in;
	struct rk_align_rank *clocks;
	struct rk_comm_line *truth;
	uint64_t instances[OPS];
	int64_t *ready, *came;
	struct rk_comm_op ops[OPS];
};

static double chance(struct world *w)
{
	w->x ^= w->x << 13;
	w->x ^= w->x >> 7;
	w->x ^= w->x << 17;
	return (double)(w->x >> 11) / 9007199254740992.0;
}

static int64_t tail(struct world *w, int64_t usual)
{
	return (int64_t)(-(double)usual * log(1 - 0.9999 * chance(w)));
}

static int64_t local(const struct world *w, size_t i, int64_t t)
{
	const struct rk_align_rank *c = &w->clocks[i];

	return w->in[i].clock ? t + c->offset_ns + (int64_t)(c->drift_ppm * 1e-6 * (double)t) : t;
}

static void record(struct world *w, size_t i, int64_t start, int64_t end, uint64_t sig)
{
	struct rk_align_call *c = (struct rk_align_call *)(uintptr_t)w->in[i].calls;

	c[w->in[i].ncalls++] = (struct rk_align_call){ local(w, i, start), local(w, i, end), sig };
}

static size_t set_of(const struct world *w, size_t i, size_t op)
{
	return i / w->j.block[op] % w->j.of[op];
}

static void play_set(struct world *w, size_t op, size_t set)
{
	const struct job *j = &w->j;
	int64_t last = INT64_MIN, waited = 0;
	size_t latest = 0;

	for (size_t i = 0; i < j->ranks; i++) {
		if (set_of(w, i, op) == set && w->came[i] > last) {
			last = w->came[i];
			latest = i;
		}
	}
	for (size_t i = 0; i < j->ranks; i++) {
		int64_t end;

		if (set_of(w, i, op) != set)
			continue;
		end = last + j->wire_ns + tail(w, j->jitter_ns);
		if (chance(w) >= j->miss)
			record(w, i, w->came[i], end, w->ops[op].sig);
		if (chance(w) < j->extra) {
			record(w, i, end + 1000, end + 6000, w->ops[op].sig);
			end += 7000;
		}
		w->ready[i] = end;
		w->truth[i].collectives++;
		w->truth[i].wait_ns += last - w->came[i];
		waited += last - w->came[i];
	}
	w->truth[latest].last++;
	w->truth[latest].caused_ns += waited;
	w->instances[op]++;
}

static void play(struct world *w)
{
	const struct job *j = &w->j;

	for (size_t k = 0; k < j->calls; k++) {
		size_t op = k % OPS;

		for (size_t i = 0; i < j->ranks; i++)
			w->came[i] = w->ready[i] + j->step_ns + tail(w, j->vary_ns) +
				     ((int64_t)i == j->slow ? j->slow_ns : 0);
		for (size_t set = 0; set < j->of[op]; set++)
			play_set(w, op, set);
	}
}

static void open_world(struct world *w, const struct job *j)
{
	*w = (struct world){ .j = *j, .x = j->seed * 2654435761u + 88172645463325252u };
	w->in = calloc(j->ranks, sizeof(*w->in));
	w->clocks = calloc(j->ranks, sizeof(*w->clocks));
	w->truth = calloc(j->ranks, sizeof(*w->truth));
	w->ready = calloc(j->ranks, sizeof(*w->ready));
	w->came = calloc(j->ranks, sizeof(*w->came));
	for (size_t i = 0; i < j->ranks; i++) {
		w->in[i].rank = (int64_t)i;
		w->in[i].calls = calloc(2 * j->calls + 1, sizeof(struct rk_align_call));
		if (!j->apart || i * 2 < j->ranks)
			continue;
		w->in[i].node = 1;
		w->in[i].error_ns = 500;
		w->in[i].clock = &w->clocks[i];
		w->clocks[i] = (struct rk_align_rank){ .status = RK_ALIGNED,
						       .offset_ns = 3000000000,
						       .drift_ppm = 40 };
	}
	for (size_t k = 0; k < OPS; k++)
		w->ops[k] = (struct rk_comm_op){ rk_align_sig(RK_ALIGN_ALL, k + 1, 0, -1), true };
	play(w);
}

static void close_world(struct world *w)
{
	for (size_t i = 0; i < w->j.ranks; i++)
		free((void *)(uintptr_t)w->in[i].calls);
	free(w->in);
	free(w->clocks);
	free(w->truth);
	free(w->ready);
	free(w->came);
}

static void solve(struct world *w, struct rk_comm_match *m)
{
	struct rk_error err = { 0 };

	CHECK_I64(rk_comm_match(w->in, w->j.ranks, w->ops, OPS, m, &err), 0);
}

static const struct job plain = {
	.ranks = 8,
	.calls = 300,
	.block = { 8, 8, 8 },
	.of = { 1, 1, 1 },
	.step_ns = 1000000,
	.vary_ns = 50000,
	.wire_ns = 40000,
	.jitter_ns = 1000,
	.slow = -1,
};

static void exact(const struct job *j)
{
	struct world w;
	struct rk_comm_match m = { .lines = NULL };

	open_world(&w, j);
	solve(&w, &m);
	for (size_t i = 0; m.lines && i < j->ranks; i++) {
		CHECK_U64(m.lines[i].collectives, w.truth[i].collectives);
		CHECK_U64(m.lines[i].last, w.truth[i].last);
		CHECK_I64(m.lines[i].wait_ns, w.truth[i].wait_ns);
		CHECK_I64(m.lines[i].caused_ns, w.truth[i].caused_ns);
	}
	CHECK_U64(m.nsums, OPS);
	for (size_t i = 0; i < m.nsums; i++) {
		const struct rk_comm_sum *s = &m.sums[i];

		CHECK_U64(s->calls, w.instances[s->op]);
		CHECK_U64(s->ranks, j->ranks / j->of[s->op]);
		CHECK_U64(s->unmatched, 0);
		CHECK_I64(s->total_ns, s->late_ns + s->wire_ns);
		CHECK(s->wire_median_ns >= (double)j->wire_ns &&
		      s->wire_median_ns <= s->wire_max_ns);
	}
	rk_comm_match_release(&m);
	close_world(&w);
}

TEST(everybody_together_waits_exactly_as_long_as_it_was)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct job j = plain;

		j.seed = seed;
		exact(&j);
	}
}

TEST(several_communicators_of_one_operation_are_distinguished)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct job j = plain;

		j.seed = seed;
		j.ranks = 16;
		j.block[0] = 4, j.of[0] = 4;  /* ranks beside each other */
		j.block[1] = 1, j.of[1] = 8;  /* every eighth */
		j.block[2] = 16, j.of[2] = 1; /* all */
		j.vary_ns = 300000;
		exact(&j);
	}
}

/* Two communicators alternate in one operation: nobody is with anybody in nearly all calls. */
TEST(ranks_that_are_now_here_and_now_there_are_not_matched)
{
	struct job j = plain;
	struct rk_comm_match m = { .lines = NULL };
	struct world w;

	j.ranks = 16;
	j.block[0] = 4, j.of[0] = 4;
	j.block[1] = 1, j.of[1] = 4;
	j.block[2] = 2, j.of[2] = 2;
	j.vary_ns = 2000000;
	open_world(&w, &j);
	for (size_t i = 0; i < j.ranks; i++)
		for (size_t k = 0; k < w.in[i].ncalls; k++)
			((struct rk_align_call *)(uintptr_t)w.in[i].calls)[k].sig = w.ops[0].sig;
	solve(&w, &m);
	CHECK_U64(m.nsums, 1);
	for (size_t i = 0; i < m.nsums; i++)
		CHECK(m.sums[i].unmatched > m.sums[i].calls * m.sums[i].ranks);
	rk_comm_match_release(&m);
	close_world(&w);
}

/* Sums within `percent` of the truth. */
static void close_to(const struct job *j, double percent)
{
	struct rk_comm_match m = { .lines = NULL };
	struct world w;
	double got = 0, want = 0;

	open_world(&w, j);
	solve(&w, &m);
	for (size_t i = 0; m.lines && i < j->ranks; i++) {
		got += (double)m.lines[i].wait_ns;
		want += (double)w.truth[i].wait_ns;
	}
	if (!CHECK(fabs(got - want) <= want * percent / 100))
		CHECK_I64((int64_t)got, (int64_t)want);
	rk_comm_match_release(&m);
	close_world(&w);
}

TEST(calls_that_are_missing_or_too_many_cost_little)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct job j = plain;

		j.seed = seed;
		j.miss = 0.01;
		j.extra = 0.005;
		close_to(&j, 4);
	}
}

TEST(a_late_rank_is_the_straggler_and_the_verdict_is_late)
{
	struct job j = plain;
	struct rk_comm_match m = { .lines = NULL };
	struct world w;

	j.slow = 3;
	j.slow_ns = 400000;
	j.apart = true;
	open_world(&w, &j);
	solve(&w, &m);
	CHECK_U64(m.nsums, OPS);
	for (size_t i = 0; i < m.nsums; i++) {
		CHECK_I64(m.sums[i].straggler, 3);
		CHECK(m.sums[i].straggler_calls * 10 > m.sums[i].calls * 9);
		CHECK_STR(m.sums[i].verdict, "late");
		CHECK(m.sums[i].inter_node);
		CHECK_I64(m.sums[i].error_ns, 500);
	}
	CHECK(m.inter_ns > 0 && m.intra_ns == 0);
	/* times go through a clock, by whole nanoseconds */
	CHECK(llabs(m.lines[3].caused_ns - w.truth[3].caused_ns) < w.truth[3].caused_ns / 100);
	rk_comm_match_release(&m);
	close_world(&w);
}

TEST(a_slow_network_is_distinguished_from_late_ranks)
{
	struct job j = plain;
	struct rk_comm_match m = { .lines = NULL };
	struct world w;

	j.wire_ns = 3000000;
	open_world(&w, &j);
	solve(&w, &m);
	for (size_t i = 0; i < m.nsums; i++)
		CHECK_STR(m.sums[i].verdict, "wire");
	CHECK(m.intra_ns > 0 && m.inter_ns == 0);
	rk_comm_match_release(&m);
	close_world(&w);
}

TEST(a_difference_within_the_error_of_the_clocks_is_nobodys_fault)
{
	struct job j = plain;
	struct rk_comm_match m = { .lines = NULL };
	struct world w;

	j.apart = true;
	j.vary_ns = 5000;
	open_world(&w, &j);
	for (size_t i = 4; i < 8; i++)
		w.in[i].error_ns = 10000000;
	solve(&w, &m);
	for (size_t i = 0; i < m.nsums; i++) {
		CHECK_STR(m.sums[i].verdict, "even");
		CHECK_I64(m.sums[i].straggler, -1);
	}
	for (size_t i = 0; i < 8; i++)
		CHECK_I64(m.lines[i].caused_ns, 0);
	rk_comm_match_release(&m);
	close_world(&w);
}

TEST(who_is_in_it_for_the_shortest_was_the_last_whatever_the_clocks)
{
	struct job j = plain;
	struct rk_comm_match m = { .lines = NULL };
	struct world w;

	j.slow = 3;
	j.slow_ns = 400000;
	j.apart = true;
	open_world(&w, &j);
	for (size_t i = 4; i < 8; i++) {
		w.in[i].error_ns = 1000000;
		w.clocks[i].offset_ns -= 20000; /* they seem to come later than they did */
	}
	solve(&w, &m);
	for (size_t i = 0; i < m.nsums; i++) {
		CHECK_I64(m.sums[i].straggler, 3);
		CHECK(m.sums[i].straggler_calls * 10 > m.sums[i].calls * 9);
		CHECK_STR(m.sums[i].verdict, "late");
	}
	for (size_t i = 0; i < 8; i++)
		CHECK(m.lines[i].last <= w.truth[i].last);
	rk_comm_match_release(&m);
	close_world(&w);
}

TEST(ranks_on_other_clocks_are_never_in_one_instance)
{
	struct job j = plain;
	struct rk_comm_match m = { .lines = NULL };
	struct world w;

	open_world(&w, &j);
	for (size_t i = 0; i < 8; i++) {
		struct rk_align_call *c = (struct rk_align_call *)(uintptr_t)w.in[i].calls;

		w.in[i].domain = i < 4 ? 0 : 1;
		for (size_t k = 0; i < 4 && k < w.in[i].ncalls; k++) {
			c[k].start_ns += INT64_C(1) << 50;
			c[k].end_ns += INT64_C(1) << 50;
		}
	}
	solve(&w, &m);
	CHECK_U64(m.nsums, OPS);
	for (size_t i = 0; i < m.nsums; i++) {
		CHECK_U64(m.sums[i].ranks, 4);
		CHECK_U64(m.sums[i].calls, 200);
	}
	for (size_t i = 0; i < 8; i++)
		w.in[i].domain = (uint32_t)i;
	rk_comm_match_release(&m);
	solve(&w, &m);
	CHECK_U64(m.nsums, OPS);
	for (size_t i = 0; i < m.nsums; i++) {
		CHECK_U64(m.sums[i].calls, 0);
		CHECK_U64(m.sums[i].unmatched, 800);
	}
	rk_comm_match_release(&m);
	close_world(&w);
}

/* The calls of each operation and rank get numbers, as Kineto has them. */
static void number_calls(struct world *w)
{
	for (size_t i = 0; i < w->j.ranks; i++) {
		struct rk_align_call *c = (struct rk_align_call *)(uintptr_t)w->in[i].calls;
		uint32_t n[OPS] = { 0 };

		for (size_t k = 0; k < w->in[i].ncalls; k++)
			for (size_t op = 0; op < OPS; op++)
				if (c[k].sig == w->ops[op].sig)
					c[k].seq = ++n[op];
	}
	for (size_t op = 0; op < OPS; op++)
		w->ops[op].exact = true;
}

TEST(calls_with_numbers_match_whatever_the_clocks_say)
{
	struct rk_comm_match m = { .lines = NULL };
	struct world w;
	uint64_t lost = 0;

	open_world(&w, &plain);
	for (size_t k = 0; k < w.in[3].ncalls; k++) {
		struct rk_align_call *c = (struct rk_align_call *)(uintptr_t)w.in[3].calls;

		c[k].start_ns += 30000000;
		c[k].end_ns += 30000000;
	}
	solve(&w, &m);
	for (size_t i = 0; i < m.nsums; i++)
		lost += m.sums[i].unmatched;
	CHECK(lost >= 200); /* by their times, those of rank 3 match no others */
	rk_comm_match_release(&m);
	number_calls(&w);
	solve(&w, &m);
	CHECK_U64(m.nsums, OPS);
	for (size_t i = 0; i < m.nsums; i++) {
		CHECK_U64(m.sums[i].calls, w.instances[m.sums[i].op]);
		CHECK_U64(m.sums[i].ranks, 8);
		CHECK_U64(m.sums[i].unmatched, 0);
	}
	rk_comm_match_release(&m);
	close_world(&w);
}

TEST(numbers_say_the_same_as_times_where_those_are_right)
{
	struct rk_comm_match by_time = { .lines = NULL }, by_number = { .lines = NULL };
	struct job j = plain;
	struct world w;

	for (j.seed = 1; j.seed <= 5; j.seed++) {
		j.slow = (int)j.seed;
		j.slow_ns = 80000;
		open_world(&w, &j);
		solve(&w, &by_time);
		number_calls(&w);
		solve(&w, &by_number);
		CHECK(memcmp(by_time.lines, by_number.lines, 8 * sizeof(*by_time.lines)) == 0);
		CHECK_U64(by_time.nsums, by_number.nsums);
		for (size_t i = 0; i < by_time.nsums; i++)
			CHECK_I64(by_time.sums[i].straggler, by_number.sums[i].straggler);
		rk_comm_match_release(&by_time);
		rk_comm_match_release(&by_number);
		close_world(&w);
	}
}

TEST(calls_whose_size_differs_between_ranks_are_counted)
{
	struct rk_comm_match m = { .lines = NULL };
	struct world w;

	for (int numbers = 0; numbers < 2; numbers++) {
		open_world(&w, &plain);
		if (numbers)
			number_calls(&w);
		for (size_t i = 0; i < 8; i++) {
			struct rk_align_call *c = (struct rk_align_call *)(uintptr_t)w.in[i].calls;

			for (size_t k = 0; k < w.in[i].ncalls; k++)
				c[k].size = i == 5 && k < 30 ? 9 : 8;
		}
		w.ops[0].even = w.ops[1].even = true; /* sizes of the third may differ */
		solve(&w, &m);
		for (size_t i = 0; i < m.nsums; i++)
			CHECK_U64(m.sums[i].differ, m.sums[i].op < 2 ? 10 : 0);
		rk_comm_match_release(&m);
		close_world(&w);
	}
}

TEST(sums_of_the_longest_calls_stop_at_the_most)
{
	enum { CALLS = 1200 };
	struct rk_align_call *calls = calloc(CALLS, sizeof(*calls));
	struct rk_comm_rank in[2] = { { .rank = 0, .calls = calls, .ncalls = CALLS },
				      { .rank = 1, .calls = calls, .ncalls = CALLS } };
	struct rk_comm_op op = { 1, true };
	struct rk_comm_match m = { .lines = NULL };
	struct rk_error err = { 0 };

	/* one after another there is no room for so many; all at once a rank is in many */
	for (int64_t i = 0; i < CALLS; i++)
		calls[i] = (struct rk_align_call){ i / 12 * RK_COMM_LONGEST_NS,
						   (i / 12 + 1) * RK_COMM_LONGEST_NS, 1 };
	CHECK_I64(rk_comm_match(in, 2, &op, 1, &m, &err), 0);
	CHECK_U64(m.nsums, 1);
	for (size_t i = 0; i < m.nsums; i++)
		CHECK(m.sums[i].total_ns >= 0 && m.sums[i].wire_ns >= 0 && m.intra_ns >= 0);
	rk_comm_match_release(&m);
	free(calls);
}

TEST(nothing_to_match_is_fine)
{
	struct rk_comm_match m = { .lines = NULL };
	struct rk_comm_rank in[2] = { { .rank = 0 }, { .rank = 1 } };
	struct rk_comm_op op = { 1, true };
	struct rk_error err = { 0 };

	CHECK_I64(rk_comm_match(in, 0, &op, 0, &m, &err), 0);
	rk_comm_match_release(&m);
	CHECK_I64(rk_comm_match(in, 2, &op, 1, &m, &err), 0);
	CHECK_U64(m.nsums, 0);
	rk_comm_match_release(&m);
}

TEST(comm_match_every_allocation_may_fail)
{
	struct job j = plain;
	struct world w;
	bool failed = true;

	j.calls = 30;
	open_world(&w, &j);
	for (uint64_t n = 1; failed && n < 1000; n++) {
		struct rk_comm_match m = { .lines = NULL };
		struct rk_error err = { 0 };
		int rc;

		rk_alloc_fail_after(n);
		rc = rk_comm_match(w.in, j.ranks, w.ops, OPS, &m, &err);
		failed = rk_alloc_failed();
		rk_alloc_fail_after(0);
		CHECK_I64(rc, failed ? RK_E_NOMEM : 0);
		rk_comm_match_release(&m);
	}
	CHECK(!failed);
	close_world(&w);
}
