/*
 * rank_clocks.h - the collectives of each rank, and the clocks of a job's ranks related to one of them.
 *
 * Kernels where the rank has kernels that communicate. Else functions: those that return when the
 * operation is done (MPI, ncclCommInitRank) with their own times; those that only queue it (ncclAllReduce)
 * from their start to the end of the next hipDeviceSynchronize or its like, for it is done by then. Such
 * calls relate clocks, and say nothing about waiting.
 *
 * Kernels whose names do not say which operation they are count as different ones when their grids differ.
 *
 * Memory: 24 bytes for each call, up to RK_CALLS_MAX of all ranks together. Of a rank that has more than
 * its share the first and the last are kept, as many of each.
 */
#ifndef RK_RANK_CLOCKS_H
#define RK_RANK_CLOCKS_H

#include "ranks/align.h"
#include "ranks/comm_match.h"
#include "rockit/ranks.h"
#include "run/members.h"
#include "table/source.h"

/* ---- collectives (rank_calls.c) ---- */

enum { RK_CALLS_MAX = 12 << 20, RK_CALLS_OPS = 1024 };

struct rk_calls_op {
	uint32_t label;    /* of the run's names */
	uint64_t sig;      /* after finish; 0: its calls are not kept */
	bool all;          /* nobody leaves before everybody arrives */
	bool any;          /* its name does not say which operation it is */
	bool waits;        /* a rank in it waits for others */
	uint64_t left_out; /* calls that are not kept: sends and receives */
};

struct rk_calls_rank {
	int64_t rank;
	struct rk_align_call *v; /* after finish: by end_ns */
	size_t n, cap, ring;     /* ring: where the oldest of the last ones is */
	uint64_t seen;
	bool host;   /* they are functions */
	bool others; /* functions of other kinds than those that need everybody were called */
};

struct rk_fuse_calls;

/* ctx is borrowed; ranks ascending. */
int rk_fuse_calls_new(struct rk_context *ctx, const int64_t *ranks, size_t n,
		      struct rk_fuse_calls **ret, struct rk_error *err);
/* How many calls of a rank are kept; tests make it small. Before the first row. */
void rk_fuse_calls_limit(struct rk_fuse_calls *c, size_t calls);
uint64_t rk_fuse_calls_wants(enum rk_table t);
/* Rows of kernels, then api, then markers; those of ranks that are not known are passed over. */
int rk_fuse_calls_add(struct rk_fuse_calls *c, const struct rk_batch *b, struct rk_error *err);
/* Once, after the last row. Warns of calls that were not kept. */
void rk_fuse_calls_finish(struct rk_fuse_calls *c);
/* By start_ns, for comm_match.h; rk_align is done with them. */
void rk_fuse_calls_by_start(struct rk_fuse_calls *c);
/* Borrowed; one for each rank, in their order. */
const struct rk_calls_rank *rk_fuse_calls_ranks(const struct rk_fuse_calls *c);
/* NULL behind the last. */
const struct rk_calls_op *rk_fuse_calls_op(const struct rk_fuse_calls *c, size_t i);
/* Operations of unknown kind were treated as ones that need everybody. */
bool rk_fuse_calls_assumed(const struct rk_fuse_calls *c);
void rk_fuse_calls_free(struct rk_fuse_calls *c); /* NULL is fine */

/* ---- clocks (rank_clocks.c) ---- */

struct rk_fuse_clock {
	struct rk_align_rank to; /* base_ns is the same for all that are aligned */
	enum rk_ranks_clock clock;
	uint32_t domain; /* equal: times can be compared */
	char *by, *note; /* "" for nothing */
};

struct rk_fuse_clocks {
	struct rk_fuse_clock *v; /* one for each member */
	size_t n;
	size_t reference; /* index of a member */
	int64_t base_ns;  /* on its clock */
	size_t alone;     /* how many are not alignable */
};

/*
 * `calls` are finished, of the same ranks as the members. The reference is the first rank, unless
 * another one gives more ranks that can be compared.
 */
int rk_fuse_clocks(const struct rk_members *m, const struct rk_fuse_calls *calls,
		   struct rk_fuse_clocks *ret, struct rk_error *err);
void rk_fuse_clocks_release(struct rk_fuse_clocks *c);

/* Warns of nodes whose times cannot be compared with the reference's. */
void rk_fuse_clocks_tell(const struct rk_fuse_clocks *c, const struct rk_members *m,
			 struct rk_diag *diag);

#endif
