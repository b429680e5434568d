/* members.h - the ranks of a run: which there are, what their run.json say, what is wrong with them. */
#ifndef RK_MEMBERS_H
#define RK_MEMBERS_H

#include "base/bytes.h"
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

/* ---- what is wrong with the parts of a job, as sentences (problems.c) ---- */

/* All that places, records and members tell. Members are settled before. */
int rk_fuse_problems(struct rk_run *run, struct rk_fuse_members *m, struct rk_error *err);
/* Damage that was found only when rows were read. */
int rk_fuse_damaged(struct rk_run *run, struct rk_fuse_members *m, struct rk_error *err);

#endif
