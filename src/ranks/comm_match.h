/*
 * comm_match.h - find calls of many ranks that are one collective, which rank was last, and how
 * long the others waited.
 *
 * Calls with the same number in their communicator are one instance, where both are recorded.
 * Otherwise calls of one operation that overlap on the common clock are one instance: no rank leaves
 * before the last one arrives. Then we first find ranks that take part in the same instances: two ranks are together in an operation if nearly every call of one coincides
 * with a call of the other, and both end together. The calls of a rank that matches no other stay
 * unmatched; we do not guess.
 *
 * Within such a set we process the calls of all ranks in order of their starts. An instance is over
 * when a call starts that cannot be part of it. Calls that were not recorded leave a gap. Extra
 * calls (shorter than the rest of the instance) are removed again.
 *
 * An instance lasts from the first start to the last end: `late` until the last start, `wire` after
 * it. A rank counts as last only if that is certain: the others arrived earlier by more than the
 * error of the two clocks (ranks of one node share a clock), or were in the call for more than
 * twice as long. The second rule needs no clock. It assumes that the last rank does not wait, and
 * that after its arrival no rank needs more than twice as long as the last one.
 */
#ifndef RK_COMM_MATCH_H
#define RK_COMM_MATCH_H

#include "ranks/align.h"

/* Calls start and end within RK_ALIGN_TIME_MAX of 0, and last at most RK_COMM_LONGEST_NS. */
#define RK_COMM_LONGEST_NS INT64_C(8640000000000000) /* 100 days */

/* Borrowed for the call. */
struct rk_comm_rank {
	int64_t rank;
	uint32_t node;                     /* equal: one machine */
	uint32_t domain;                   /* equal: `clock` converts both to the same clock */
	const struct rk_align_rank *clock; /* NULL: its times are already on the domain's clock */
	int64_t error_ns;                  /* error of the clock, >= 0 */
	const struct rk_align_call *calls; /* sorted by start_ns, ascending */
	size_t ncalls;
};

struct rk_comm_op {
	uint64_t sig; /* of its calls; unique */
	bool all;     /* no rank leaves before all arrive */
	bool exact;   /* all its calls have a `seq` */
	bool even;    /* its calls have the same size on all ranks */
};

/* Sums of one rank. */
struct rk_comm_line {
	uint64_t collectives, last;
	int64_t wait_ns, caused_ns;
};

/* Sums of one operation for one number of ranks; as in rockit/ranks.h. */
struct rk_comm_sum {
	size_t op;
	uint64_t calls, unmatched, ranks;
	uint64_t differ; /* of the calls: their size differs between ranks, but must not */
	bool inter_node;
	int64_t total_ns, late_ns, wire_ns, wait_ns;
	int64_t late_sure_ns; /* the part of late_ns that is certain despite clock errors */
	double wire_median_ns, wire_max_ns;
	int64_t straggler;
	uint64_t straggler_calls;
	int64_t error_ns;
	const char *verdict;
};

struct rk_comm_match {
	struct rk_comm_line *lines; /* one per input */
	struct rk_comm_sum *sums;   /* sorted by wait_ns, largest first */
	size_t nsums;
	int64_t intra_ns,
		inter_ns; /* of all ranks, in instances within one node and across nodes */
};

/*
 * Skips calls whose sig is not in `ops`. Memory: some KB per operation, 100 bytes per rank in it, 4
 * KB for each rank at a time. Time grows with the number of calls, and with the logarithm of the
 * number of ranks.
 */
int rk_comm_match(const struct rk_comm_rank *in, size_t n, const struct rk_comm_op *ops,
		  size_t nops, struct rk_comm_match *ret, struct rk_error *err);
void rk_comm_match_release(struct rk_comm_match *m);

/*
 * "late": more than half of the time is before the last rank arrives, even with the worst clock
 * error (none within a node); "wire": less than half of it, even with the worst clock error;
 * "even": neither, or the clock error is too large to decide.
 */
const char *rk_comm_verdict(const struct rk_comm_sum *s);

#endif
