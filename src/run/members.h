/* members.h - the ranks of a run, what their run.json say, and their problems. */
#ifndef RK_MEMBERS_H
#define RK_MEMBERS_H

#include "base/bytes.h"
#include "rockit/ranks.h"
#include "run/run.h"

/*
 * A rank as described by its folder, or by its rows if it has none. Text is owned by the members.
 * Skipped folders (another job, second folder of a rank) are not members: their rows are not read,
 * and problems name them.
 */
struct rk_member {
	int64_t rank, local_rank, size; /* local_rank, size: -1 unknown */
	char *node, *job, *step;        /* "" unknown */
	char *folder;                   /* "" when the rank is known from rows alone */
	char *tool, *tool_version, *state;
	uint32_t machine;       /* equal: same machine, same boot, one clock */
	int64_t status;         /* -1 unknown */
	int64_t clock_error_ns; /* error of its records against the clock of its node, -1 unknown */
	struct rk_align_snapshot snapshots[2];
	unsigned nsnapshots;
};

struct rk_members {
	struct rk_member *v; /* by rank, each once */
	size_t n, cap;
	uint64_t size;                     /* of the job, 0 unknown */
	size_t nodes;                      /* distinct node names; 0: none is known */
	const char *job;                   /* of a member; "" unknown */
	struct rk_ranks_problem *problems; /* text owned: rk_free */
	const char **warnings;             /* warning kind of each problem; static */
	size_t nproblems, cap_problems, cap_warnings;
};

/* The ranks of the run's files; n is 0 or 1 if it is not a job of several ranks. */
int rk_members_find(struct rk_run *run, struct rk_members *ret, struct rk_error *err);
/* The same without reading rows: files that name no rank are ignored. */
int rk_members_by_folder(struct rk_run *run, struct rk_members *ret, struct rk_error *err);
void rk_members_release(struct rk_members *m);

/* ---- what is wrong with the parts of a job, as sentences (problems.c) ---- */

/*
 * Finds the problems that places, records and members show, and counts the nodes. Call after the
 * members are settled.
 */
int rk_problems_find(struct rk_run *run, struct rk_members *m, struct rk_error *err);
/* Damage that was found only when rows were read. */
int rk_problems_damaged(struct rk_run *run, struct rk_members *m, struct rk_error *err);

#endif
