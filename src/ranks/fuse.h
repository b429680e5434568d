/*
 * fuse.h - many ranks as one run: what is gathered while a report reads its rows, and finished after.
 *
 * members: which ranks there are and what their run.json say (run/members.c)
 * loads, spreads, copies: fed batch by batch (ranks/rank_load.h, ranks/rank_spread.h, ranks/copy_matrix.h)
 * calls: collectives of each rank, fed batch by batch (fuse_calls.c); then clocks (fuse_clock.c), then
 * instances over ranks (ranks/comm_match.h)
 */
#ifndef RK_FUSE_H
#define RK_FUSE_H

#include "ranks/align.h"
#include "rockit/ranks.h"
#include "run/members.h"

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
