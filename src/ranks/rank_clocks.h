/*
 * rank_clocks.h - the collectives of each rank, and the alignment of the ranks' clocks.
 *
 * The collectives of a rank are its kernels that communicate. If it has none, they are functions:
 * functions that return when the operation is done (MPI, ncclCommInitRank) with their own times;
 * functions that only queue it (ncclAllReduce) from their start to the end of the next
 * hipDeviceSynchronize or similar, when it must be done. Queued calls help to align clocks, but do
 * not show waiting.
 *
 * If the traces name the collective of a kernel and its process group (Kineto does), each of these is
 * an operation. Otherwise kernels whose names do not identify the operation count as different
 * operations if their grids differ.
 *
 * Memory: 32 bytes per call, up to RK_CALLS_MAX for all ranks together. If a rank has more than its
 * share, we keep the same number of its first and last calls.
 */
#ifndef RK_RANK_CLOCKS_H
#define RK_RANK_CLOCKS_H

#include "ranks/align.h"
#include "ranks/comm_match.h"
#include "rockit/ranks.h"
#include "run/members.h"
#include "table/source.h"

/* ---- collectives (rank_calls.c) ---- */

enum { RK_CALLS_MAX = 9 << 20, RK_CALLS_OPS = 1024 };

struct rk_calls_op {
	uint32_t label;    /* name id in the run */
	uint64_t sig;      /* valid after finish; 0: its calls are not kept */
	bool all;          /* no rank leaves before all arrive */
	bool any;          /* its name does not say which operation it is */
	bool waits;        /* a rank waits for others in it */
	bool exact;        /* all its calls have a number */
	bool even;         /* its calls have the same size on all ranks */
	uint64_t left_out; /* calls that are not kept: sends and receives */
};

struct rk_calls_rank {
	int64_t rank;
	struct rk_align_call *v; /* after finish: sorted by end_ns */
	size_t n, cap, ring;     /* ring: position of the oldest call in the second half */
	uint64_t seen;
	bool host;   /* the calls are functions */
	bool others; /* it also called functions that do not need all ranks */
};

struct rk_rank_calls;

/* ctx is borrowed; ranks must ascend. */
int rk_rank_calls_new(struct rk_context *ctx, const int64_t *ranks, size_t n,
		      struct rk_rank_calls **ret, struct rk_error *err);
/* Limits how many calls of a rank are kept, for tests. Call before the first row. */
void rk_rank_calls_limit(struct rk_rank_calls *c, size_t calls);
uint64_t rk_rank_calls_wants(enum rk_table t);
/* Add rows of kernels, then api, then markers. Skips rows of unknown ranks. */
int rk_rank_calls_add(struct rk_rank_calls *c, const struct rk_batch *b, struct rk_error *err);
/* Call once, after the last row. Warns about calls that were not kept. */
void rk_rank_calls_finish(struct rk_rank_calls *c);
/* Sorts by start_ns, for comm_match.h. Call it after rk_align. */
void rk_rank_calls_by_start(struct rk_rank_calls *c);
/* Borrowed; one per rank, in order. */
const struct rk_calls_rank *rk_rank_calls_ranks(const struct rk_rank_calls *c);
/*
 * The time that was subtracted from all times of calls, so that they are near 0 whatever the clocks
 * count from. False: there are no calls.
 */
bool rk_rank_calls_origin(const struct rk_rank_calls *c, int64_t *ret);
/* NULL after the last. */
const struct rk_calls_op *rk_rank_calls_op(const struct rk_rank_calls *c, size_t i);
/* Were operations of unknown kind treated as ones that need all ranks? */
bool rk_rank_calls_assumed(const struct rk_rank_calls *c);
void rk_rank_calls_free(struct rk_rank_calls *c); /* NULL is fine */

/* ---- clocks (rank_clocks.c) ---- */

struct rk_rank_clock {
	struct rk_align_rank to; /* for times of calls; base_ns is the same for all aligned ranks */
	enum rk_ranks_clock clock;
	uint32_t domain; /* equal: times can be compared */
	char *by, *note; /* "" if none */
};

struct rk_rank_clocks {
	struct rk_rank_clock *v; /* one per member */
	size_t n;
	size_t reference; /* index of a member */
	int64_t base_ns;  /* on the reference's clock, as recorded */
	size_t alone;     /* number of ranks that are not alignable */
};

/*
 * `calls` must be finished and have the same ranks as the members. The reference is the first rank,
 * unless more ranks can be aligned with another one.
 */
int rk_rank_clocks(const struct rk_members *m, const struct rk_rank_calls *calls,
		   struct rk_rank_clocks *ret, struct rk_error *err);
void rk_rank_clocks_release(struct rk_rank_clocks *c);

/* Warns about nodes whose times cannot be compared with the reference's. */
void rk_rank_clocks_tell(const struct rk_rank_clocks *c, const struct rk_members *m,
			 struct rk_diag *diag);

#endif
