/* rank_load.h - sums per rank, from batches of rows: loads, spreads, copies. */
#ifndef RK_RANK_LOAD_H
#define RK_RANK_LOAD_H

#include "rockit/ranks.h"
#include "table/source.h"

/* ---- time of each rank: computing, communicating, both at once, neither ---- */

/*
 * The times are exact unions: an instant counts once, however many kernels run. Consecutive rows of
 * a rank may be in any order; they are kept in memory, or in a temporary file if there are many. If
 * rows of different ranks are mixed, each rank's rows must be sorted by start, as in all files that
 * rockit writes; otherwise the rank has no unions, and there is a warning. Memory: one rank's rows
 * up to RK_ORDER_HELD, and some numbers per rank.
 */

enum { RK_LOAD_RANKS = 1 << 17 }; /* rows of more ranks are ignored, with a warning */

/* Times in ns on the clock of the rank. */
struct rk_load_line {
	int64_t rank;
	uint64_t kernels;          /* without barriers */
	int64_t kernel_ns;         /* sum of durations; saturates at INT64_MAX */
	int64_t first_ns, last_ns; /* first start and last end; 0 if there are no times */
	/* -1: unknown, see above. compute + comm - both + idle == last - first */
	int64_t compute_ns, comm_ns, both_ns, idle_ns;
};

struct rk_rank_load;

/* ctx is borrowed. */
int rk_rank_load_new(struct rk_context *ctx, struct rk_rank_load **ret, struct rk_error *err);
/* Limits how many rows of a rank are kept in memory, for tests. Call before the first row. */
void rk_rank_load_limit(struct rk_rank_load *l, size_t held);
/* The columns of kernels that loads and spreads need. */
uint64_t rk_rank_load_wants(void);
/*
 * Adds a batch of kernels. Skips barriers and rows without a rank. Rows without times, or with
 * impossible times, are only counted.
 */
int rk_rank_load_add(struct rk_rank_load *l, const struct rk_batch *b, struct rk_error *err);
/* Call once. Sorted by rank. The caller frees *ret with rk_free. */
int rk_rank_load_finish(struct rk_rank_load *l, struct rk_load_line **ret, size_t *ret_n,
			struct rk_error *err);
void rk_rank_load_free(struct rk_rank_load *l); /* NULL is fine */

/* Compute time of the busiest rank / mean - 1; NaN if there is no compute time. */
double rk_rank_load_imbalance(const struct rk_load_line *lines, size_t n);

/* ---- kernels whose time differs between ranks ---- */

/*
 * Communicating kernels are left out: the rank that is late for a collective spends the least time
 * in it, so their spread would mean the opposite; see ranks/comm_match.h for who waited.
 *
 * The totals of each name and rank are kept up to a limit. Beyond it, totals of earlier ranks are
 * folded into their name. Nothing is lost if the rows of a rank are consecutive. A name that
 * appears again in a folded rank is left out, with a warning.
 */

enum { RK_SPREAD_CELLS = 1 << 20 }; /* max totals of a name and a rank: 16 bytes each, and a hash */

struct rk_rank_spread;

/* ctx is borrowed. */
int rk_rank_spread_new(struct rk_context *ctx, struct rk_rank_spread **ret, struct rk_error *err);
/* Limits how many totals are kept (a power of two), for tests. Call before the first row. */
void rk_rank_spread_limit(struct rk_rank_spread *s, size_t cells);
/* Adds a batch of kernels. Skips barriers and rows without rank or duration. */
int rk_rank_spread_add(struct rk_rank_spread *s, const struct rk_batch *b, struct rk_error *err);
/*
 * Call once. Names that two or more ranks ran, sorted by max - mean, largest first. The caller
 * frees *ret with rk_free; the run owns the names.
 */
int rk_rank_spread_finish(struct rk_rank_spread *s, struct rk_ranks_spread **ret, size_t *ret_n,
			  struct rk_error *err);
void rk_rank_spread_free(struct rk_rank_spread *s); /* NULL is fine */

/* ---- copies by node, direction and the devices at both ends (copy_matrix.c) ---- */

/*
 * An end that is the host (by direction) has no number. Some tools write many copies without a
 * size: bytes and rate cover those with a size, and are unknown if none has one.
 */

enum { RK_COPY_CELLS = 1 << 16 }; /* more combinations are left out, with a warning */

struct rk_copy_matrix;

/* ctx is borrowed. */
int rk_copy_matrix_new(struct rk_context *ctx, struct rk_copy_matrix **ret, struct rk_error *err);
/* The columns of memcpy that we need. */
uint64_t rk_copy_matrix_wants(void);
int rk_copy_matrix_add(struct rk_copy_matrix *m, const struct rk_batch *b, struct rk_error *err);
/*
 * Call once. Sorted by node, source, destination, direction. The caller frees *ret with rk_free;
 * the run owns the names.
 */
int rk_copy_matrix_finish(struct rk_copy_matrix *m, struct rk_ranks_copy **ret, size_t *ret_n,
			  struct rk_error *err);
void rk_copy_matrix_free(struct rk_copy_matrix *m); /* NULL is fine */

#endif
