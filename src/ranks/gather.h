/*
 * gather.h - many ranks as one run: collects data while a report reads its rows, then evaluates it.
 *
 * members: the ranks and what their run.json say (run/members.c)
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

struct rk_gather;

/* *ret is NULL if the run has less than two ranks. */
int rk_gather_new(struct rk_run *run, struct rk_gather **ret, struct rk_error *err);
/* The columns that we need of a table. */
uint64_t rk_gather_wants(enum rk_table t);
/* Replaces *rows by a source that also feeds `f`. Takes ownership of *rows, also on failure. */
int rk_gather_tap(struct rk_gather *f, struct rk_source **rows, struct rk_error *err);
/* Call once, after the last row. The caller frees *ret with rk_ranks_free. */
int rk_gather_finish(struct rk_gather *f, struct rk_ranks **ret, struct rk_error *err);
void rk_gather_free(struct rk_gather *f); /* NULL is fine */
void rk_ranks_free(struct rk_ranks *r); /* NULL is fine; the run owns names, `r` owns other texts */

/* ---- rows of many ranks on one clock, to show them side by side (clock_rows.c) ---- */

/*
 * Converts start and end of a row, so that the order of rows on a queue stays the same. Rows of
 * ranks whose clock could not be aligned with the reference are unchanged.
 */
struct rk_rank_times;

/* The clock of a rank. The rk_rank_times owns the strings. */
struct rk_rank_time {
	int64_t rank;
	enum rk_ranks_clock clock;
	int64_t offset_ns, error_ns;
	double drift_ppm;
	const char *by, *note;
};

/*
 * If there are ranks of several machines, this reads the rows of kernels or functions once more.
 * Warns about ranks whose clocks cannot be aligned. *ret is NULL if there is nothing to convert or
 * the rows cannot be read twice.
 */
int rk_rank_times_new(struct rk_run *run, struct rk_rank_times **ret, struct rk_error *err);
/* The same from the ranks of a report (may be NULL); reads no rows. */
int rk_rank_times_of(struct rk_run *run, const struct rk_ranks *r, struct rk_rank_times **ret,
		     struct rk_error *err);
/* False: there is no such rank. */
bool rk_rank_times_rank(const struct rk_rank_times *t, int64_t rank, struct rk_rank_time *ret);
/* The reference rank, and the time on its clock to which offsets refer. */
void rk_rank_times_base(const struct rk_rank_times *t, int64_t *ret_rank, int64_t *ret_base_ns);
/* Replaces *rows by the same rows on one clock. Takes ownership of *rows, also on failure. */
int rk_rank_times_open(const struct rk_rank_times *t, struct rk_source **rows,
		       struct rk_error *err);
/* From now on sorted rows of the run are on the common clock (run/sorted.h); NULL: as recorded. */
void rk_rank_times_use(struct rk_run *run, const struct rk_rank_times *t);
void rk_rank_times_free(struct rk_rank_times *t); /* NULL is fine */

#endif
