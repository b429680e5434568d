/*
 * align_bench.c - how long one clock for many ranks takes, from 8 to 1,024 of them.
 *
 *	align-bench [COLLECTIVES [RANKS]]
 *
 * For each number of ranks, one to a node: all calls recorded, and with calls missing at both ends and
 * between. Prints seconds, the largest error against the truth and the largest bound.
 */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "../unit/align_world.h"
#include "base/num.h"

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int measure(size_t ranks, size_t calls, bool damaged)
{
	struct align_job j = {
		.ranks = ranks,
		.per_node = 1,
		.steps = calls / 10,
		.per_step = 10,
		.offset_s = 5,
		.drift_ppm = 50,
		.step_ns = 2e6,
		.vary = 0.1,
		.wire_ns = 50e3,
		.jitter_ns = 2e3,
		.straggle = 0.001,
		.miss = damaged ? 0.01 : 0,
		.extra = damaged ? 0.005 : 0,
		.miss_first = damaged ? 50 : 0,
		.miss_last = damaged ? 50 : 0,
		.snapshot_error_ns = -1,
		.seed = ranks,
	};
	struct align_world w;
	struct rk_error err = { 0 };
	double from, took, worst = 0;
	size_t aligned = 0;
	int64_t bound = 0;

	align_world_open(&w, &j);
	from = seconds();
	if (align_world_solve(&w, 0, &err) < 0) {
		fprintf(stderr, "align-bench: %s\n", err.message);
		return 1;
	}
	took = seconds() - from;
	for (size_t i = 0; i < ranks; i++) {
		if (w.out[i].status != RK_ALIGNED)
			continue;
		aligned++;
		worst = fmax(worst, align_worst(&w, i, 0));
		bound = w.out[i].error_ns > bound ? w.out[i].error_ns : bound;
	}
	printf("%5zu ranks x %zu collectives, %s: %7.3f s, %zu aligned, worst %.0f ns, bound %" PRId64
	       " ns\n",
	       ranks, calls, damaged ? "damaged " : "complete", took, aligned, worst, bound);
	fflush(stdout);
	align_world_close(&w);
	return aligned == ranks && worst <= (double)bound ? 0 : 1;
}

static bool number(const char *s, uint64_t *ret)
{
	return rk_num_u64(s, strlen(s), ret) == RK_NUM_OK;
}

int main(int argc, char **argv)
{
	uint64_t calls = 10000, most = 1024;
	int bad = 0;

	if ((argc > 1 && (!number(argv[1], &calls) || calls < 10)) ||
	    (argc > 2 && !number(argv[2], &most))) {
		fprintf(stderr, "usage: align-bench [COLLECTIVES [RANKS]]\n");
		return 2;
	}
	for (size_t ranks = 8; ranks <= most; ranks *= 2)
		for (int damaged = 0; damaged < 2; damaged++)
			bad |= measure(ranks, (size_t)calls, damaged);
	return bad;
}
