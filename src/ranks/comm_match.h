/*
 * comm_match.h - which calls of many ranks are one collective, who came last, and what waiting cost.
 *
 * Calls of one operation whose times share an instant on the common clock are one instance: nobody
 * leaves before the last arrives. Communicators are not recorded, so ranks that take part in the same
 * instances are found first: two ranks are together in an operation when nearly each call
 * of one has a call of the other at the same time, and both end together. A rank that is with nobody has
 * unmatched calls: nothing is guessed.
 *
 * Within such a set the calls of all ranks go by in order of their starts. An instance is over when a
 * rank comes that cannot be part of it. Calls that were not recorded leave a gap; calls too many (shorter
 * than the rest of the instance) are put out of it again.
 *
 * An instance takes from the first start to the last end; until the last start it is `late`, from there
 * on `wire`. Who came last counts only where that is sure: the others came earlier by more than the error
 * of the clocks that are compared (ranks of one node share a clock), or were in it for more than twice as
 * long. The last does not wait, and what is left to do after its coming takes nobody more than twice the
 * time that it takes the last: so much is assumed, and it needs no clock.
 */
#ifndef RK_COMM_MATCH_H
#define RK_COMM_MATCH_H

#include "ranks/align.h"

/* Calls start and end in [0, RK_COMM_TIME_MAX), and last at most RK_COMM_LONGEST_NS. */
#define RK_COMM_TIME_MAX (INT64_C(1) << 60)
#define RK_COMM_LONGEST_NS INT64_C(8640000000000000) /* 100 days */

/* Borrowed for the call. */
struct rk_comm_rank {
	int64_t rank;
	uint32_t node;                     /* equal: one machine */
	uint32_t domain;                   /* equal: `clock` brings both to one clock */
	const struct rk_align_rank *clock; /* NULL: its times are on the clock of the domain */
	int64_t error_ns;                  /* of the clock, >= 0 */
	const struct rk_align_call *calls; /* by start_ns, ascending; see RK_COMM_TIME_MAX */
	size_t ncalls;
};

struct rk_comm_op {
	uint64_t sig; /* of its calls; each once */
	bool all;     /* nobody leaves before everybody arrives */
};

/* Of one rank. */
struct rk_comm_line {
	uint64_t collectives, last;
	int64_t wait_ns, caused_ns;
};

/* Of one operation and as many ranks; as in rockit/ranks.h. */
struct rk_comm_sum {
	size_t op;
	uint64_t calls, unmatched, ranks;
	bool inter_node;
	int64_t total_ns, late_ns, wire_ns, wait_ns;
	int64_t late_sure_ns; /* of late_ns: so much at least, however wrong the clocks are */
	double wire_median_ns, wire_max_ns;
	int64_t straggler;
	uint64_t straggler_calls;
	int64_t error_ns;
	const char *verdict;
};

struct rk_comm_match {
	struct rk_comm_line *lines; /* one for each input */
	struct rk_comm_sum *sums;   /* by wait_ns, largest first */
	size_t nsums;
	int64_t intra_ns, inter_ns; /* ranks' time in instances of one node, and of several */
};

/*
 * Calls whose sig is in no op are passed over. Memory: some KB for each operation, 100 bytes for each
 * rank in it, 4 KB for each rank at a time. Time grows with calls, and with the logarithm of ranks.
 */
int rk_comm_match(const struct rk_comm_rank *in, size_t n, const struct rk_comm_op *ops,
		  size_t nops, struct rk_comm_match *ret, struct rk_error *err);
void rk_comm_match_release(struct rk_comm_match *m);

/*
 * "late": more than half of the time passes before the last arrives, even if the clocks are as wrong as
 * they may be (those of a node never are); "wire": less than half of it, also with the worst clocks; "even": the error of
 * the clocks is too large to tell, or neither is more.
 */
const char *rk_comm_verdict(const struct rk_comm_sum *s);

#endif
