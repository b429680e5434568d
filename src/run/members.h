/* members.h - the ranks of a run, the contents of their run.json, and their problems. */
#ifndef RK_MEMBERS_H
#define RK_MEMBERS_H

#include "base/bytes.h"
#include "rockit/ranks.h"
#include "run/run.h"

/*
 * A rank as described by its folder, or by its rows if it has none. The members own the strings.
 * Skipped folders (another job, second folder of a rank) are not members: their rows are not read,
 * and problems name them.
 */
struct rk_member {
	int64_t rank, local_rank, size; /* local_rank, size: -1: unknown */
	char *node, *job, *step;        /* "": unknown */
	char *folder;                   /* "" if the rank is only known from rows */
	char *tool, *tool_version, *state;
	uint32_t machine;       /* equal: same machine and boot, so one clock */
	int64_t status;         /* -1: unknown */
	int64_t clock_error_ns; /* error of its records against its node's clock, -1: unknown */
	struct rk_align_snapshot snapshots[2];
	unsigned nsnapshots;
};

struct rk_members {
	struct rk_member *v; /* sorted by rank, without duplicates */
	size_t n, cap;
	uint64_t size;                     /* size of the job, 0: unknown */
	size_t nodes;                      /* number of distinct node names; 0: none is known */
	const char *job;                   /* borrowed from a member; "": unknown */
	struct rk_ranks_problem *problems; /* strings are owned: rk_free */
	const char **warnings;             /* warning kind of each problem; static */
	size_t nproblems, cap_problems, cap_warnings;
};

/* Finds the ranks in the run's files; n is 0 or 1 if it is not a job of several ranks. */
int rk_members_find(struct rk_run *run, struct rk_members *ret, struct rk_error *err);
/* The same without reading rows: files that name no rank are ignored. */
int rk_members_by_folder(struct rk_run *run, struct rk_members *ret, struct rk_error *err);
void rk_members_release(struct rk_members *m);

/* ---- problems with the parts of a job, as sentences (problems.c) ---- */

/*
 * Finds the problems shown by places, records and members, and counts the nodes. Call after the
 * members are settled.
 */
int rk_problems_find(struct rk_run *run, struct rk_members *m, struct rk_error *err);
/* Adds damage that was found only when rows were read. */
int rk_problems_damaged(struct rk_run *run, struct rk_members *m, struct rk_error *err);

#endif
