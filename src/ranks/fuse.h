/*
 * fuse.h - many ranks as one run: what is gathered while a report reads its rows, and finished after.
 *
 * members: which ranks there are and what their run.json say (fuse_members.c)
 * loads, spreads, copies: fed batch by batch (ranks/rank_load.h, ranks/rank_spread.h, ranks/copy_matrix.h)
 * calls: collectives of each rank, fed batch by batch (fuse_calls.c); then clocks (fuse_clock.c), then
 * instances over ranks (ranks/comm_match.h)
 */
#ifndef RK_FUSE_H
#define RK_FUSE_H

#include "ranks/align.h"
#include "rockit/ranks.h"
#include "run/run.h"

/*
 * A rank as its folder describes it, or its rows where no folder does. Text is owned by the members.
 * Folders that are left out (of another job, a second one of a rank) are no members: their rows are not
 * read, and problems name them.
 */
struct rk_fuse_member {
	int64_t rank, local_rank, size; /* local_rank, size: -1 unknown */
	char *node, *job, *step;        /* "" unknown */
	char *folder;                   /* "" when the rank is known from rows alone */
	char *tool, *tool_version, *state;
	uint32_t machine;       /* equal: one machine that was not started again, one clock */
	int64_t status;         /* -1 unknown */
	int64_t clock_error_ns; /* of its records against its node's clock, -1 unknown */
	struct rk_align_snapshot snapshots[2];
	unsigned nsnapshots;
};

struct rk_fuse_members {
	struct rk_fuse_member *v; /* by rank, each once */
	size_t n, cap;
	uint64_t size;                     /* of the job, 0 unknown */
	size_t nodes;                      /* names of nodes; 0: none is known */
	const char *job;                   /* of a member; "" unknown */
	struct rk_ranks_problem *problems; /* text owned: rk_free */
	const char **warnings;             /* what each is called as a warning of its own; static */
	size_t nproblems, cap_problems, cap_warnings;
};

/* The ranks of the run's files; n is 0 or 1 where it is not a job of several. */
int rk_fuse_members(struct rk_run *run, struct rk_fuse_members *ret, struct rk_error *err);
/* The same without a look at rows: of files that name no rank nothing is known. */
int rk_fuse_members_by_folder(struct rk_run *run, struct rk_fuse_members *ret,
			      struct rk_error *err);
void rk_fuse_members_release(struct rk_fuse_members *m);

struct rk_fuse;

/* NULL in *ret where the run has less than two ranks. */
int rk_fuse_new(struct rk_run *run, struct rk_fuse **ret, struct rk_error *err);
/* Columns of a table that are looked at. */
uint64_t rk_fuse_wants(enum rk_table t);
/* Replaces *rows by the same, each batch looked at on its way. Takes it over, also on failure. */
int rk_fuse_tap(struct rk_fuse *f, struct rk_source **rows, struct rk_error *err);
/* Once, when all rows went by. *ret is the caller's: rk_ranks_free. */
int rk_fuse_finish(struct rk_fuse *f, struct rk_ranks **ret, struct rk_error *err);
void rk_fuse_free(struct rk_fuse *f);   /* NULL is fine */
void rk_ranks_free(struct rk_ranks *r); /* NULL is fine; names are the run's, texts are its own */

#endif
