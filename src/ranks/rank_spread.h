/*
 * rank_spread.h - kernels whose time differs between ranks.
 *
 * Kernels that communicate are left out: who comes late to a collective is in it for the shortest
 * time, so their spread says the opposite of what it seems to; ranks/comm_match.h tells who waited.
 *
 * The totals of each name and rank are kept up to a limit. Past it those of ranks that lie behind
 * are folded into their name: nothing is lost as long as the rows of a rank follow each other. A
 * name that then comes again in a folded rank is left out, and that is told.
 */
#ifndef RK_RANK_SPREAD_H
#define RK_RANK_SPREAD_H

#include "rockit/ranks.h"
#include "table/context.h"
#include "table/source.h"

enum { RK_SPREAD_CELLS = 1 << 20 }; /* totals of a name and a rank: 16 bytes each, and a hash */

struct rk_rank_spread;

/* ctx is borrowed. `communicates` is asked once for each name; NULL: comm_name.h. */
int rk_rank_spread_new(struct rk_context *ctx, bool (*communicates)(const char *name, size_t len),
		       struct rk_rank_spread **ret, struct rk_error *err);
/* How many totals are kept; a power of two. Tests make it small. Before the first row. */
void rk_rank_spread_limit(struct rk_rank_spread *s, size_t cells);
/* Columns of kernels that are looked at. */
uint64_t rk_rank_spread_wants(void);
/* A batch of kernels. Barriers and rows without rank or duration are passed over. */
int rk_rank_spread_add(struct rk_rank_spread *s, const struct rk_batch *b, struct rk_error *err);
/*
 * Once. Names that two ranks or more ran, by max - mean, largest first. *ret is the caller's:
 * rk_free; names are the run's.
 */
int rk_rank_spread_finish(struct rk_rank_spread *s, struct rk_ranks_spread **ret, size_t *ret_n,
			  struct rk_error *err);
void rk_rank_spread_free(struct rk_rank_spread *s); /* NULL is fine */

#endif
