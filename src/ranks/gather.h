/*
 * gather.h - many ranks as one run: what is gathered while a report reads its rows, and finished after.
 *
 * members: which ranks there are and what their run.json say (run/members.c)
 * loads, spreads, copies: fed batch by batch (rank_load.h)
 * calls: collectives of each rank, fed batch by batch (rank_calls.c); then clocks (rank_clocks.c), then
 * instances over ranks (comm_match.h)
 */
#ifndef RK_GATHER_H
#define RK_GATHER_H

#include "ranks/align.h"
#include "rockit/ranks.h"
#include "run/members.h"
#include "run/run.h"

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

/* ---- rows of many ranks on one clock, to show them side by side (clock_rows.c) ---- */

/*
 * Both ends of a row are moved, so rows that followed each other on a queue still do. Rows of ranks
 * whose clock could not be related to the reference's stay as they were recorded.
 */
struct rk_fuse_times;

/* What became of a rank's clock. Texts are the times'. */
struct rk_fuse_time {
	int64_t rank;
	enum rk_ranks_clock clock;
	int64_t offset_ns, error_ns;
	double drift_ppm;
	const char *by, *note;
};

/*
 * Reads the rows of kernels, or of functions, once more than else would be needed, where ranks of
 * several machines are there; warns of those whose clocks cannot be related. NULL in *ret: there is
 * nothing to move, or the rows cannot be read twice.
 */
int rk_fuse_times_new(struct rk_run *run, struct rk_fuse_times **ret, struct rk_error *err);
/* Of a report's ranks, which may be NULL; reads nothing. */
int rk_fuse_times_of(struct rk_run *run, const struct rk_ranks *r, struct rk_fuse_times **ret,
		     struct rk_error *err);
/* False: no such rank. */
bool rk_fuse_times_rank(const struct rk_fuse_times *t, int64_t rank, struct rk_fuse_time *ret);
/* The rank whose clock it is, and the moment on it for which offsets are stated. */
void rk_fuse_times_base(const struct rk_fuse_times *t, int64_t *ret_rank, int64_t *ret_base_ns);
/* Replaces *rows by the same on one clock. Takes it over, also on failure. */
int rk_fuse_times_open(const struct rk_fuse_times *t, struct rk_source **rows,
		       struct rk_error *err);
/* Sorted rows of the run are on that clock from now on (run/sorted.h); NULL: as recorded. */
void rk_fuse_times_use(struct rk_run *run, const struct rk_fuse_times *t);
void rk_fuse_times_free(struct rk_fuse_times *t); /* NULL is fine */

#endif
