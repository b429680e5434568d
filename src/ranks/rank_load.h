/* rank_load.h - what is added up for each rank while rows go by: loads, spreads, copies. */
#ifndef RK_RANK_LOAD_H
#define RK_RANK_LOAD_H

#include "rockit/ranks.h"
#include "table/source.h"

/* ---- how the time of each rank went: computing, communicating, both at once, neither ---- */

/*
 * The times are exact unions: an instant counts once however many kernels run. Rows of a rank that
 * follow each other may be in any order; they are held, or go to a temporary file where they are
 * many. Ranks whose rows are mixed with those of others must be in order of their starts, as
 * everything is that rockit writes; one that is not has no unions, with a warning. Memory: one
 * rank's rows up to RK_ORDER_HELD, and some numbers for each rank.
 */

enum { RK_LOAD_RANKS = 1 << 17 }; /* rows of more ranks are left out, with a warning */

/* Times in ns on the clock of the rank. */
struct rk_load_line {
	int64_t rank;
	uint64_t kernels;          /* without barriers */
	int64_t kernel_ns;         /* sum of durations; stops at INT64_MAX */
	int64_t first_ns, last_ns; /* first start and last end; 0 without any times */
	/* -1: not known, see above. compute + comm - both + idle == last - first */
	int64_t compute_ns, comm_ns, both_ns, idle_ns;
};

struct rk_rank_load;

/* ctx is borrowed. `communicates` is asked once for each name; NULL: comm_name.h. */
int rk_rank_load_new(struct rk_context *ctx, bool (*communicates)(const char *name, size_t len),
		     struct rk_rank_load **ret, struct rk_error *err);
/* How many rows of a rank are held in memory; tests make it small. Before the first row. */
void rk_rank_load_limit(struct rk_rank_load *l, size_t held);
/* Columns of kernels that are looked at. */
uint64_t rk_rank_load_wants(void);
/*
 * A batch of kernels. Barriers and rows without a rank are passed over; rows without times, or
 * with times that cannot be, are counted and nothing else.
 */
int rk_rank_load_add(struct rk_rank_load *l, const struct rk_batch *b, struct rk_error *err);
/* Once. By rank. *ret is the caller's: rk_free. */
int rk_rank_load_finish(struct rk_rank_load *l, struct rk_load_line **ret, size_t *ret_n,
			struct rk_error *err);
void rk_rank_load_free(struct rk_rank_load *l); /* NULL is fine */

/* Busiest rank / mean - 1, of the time that kernels compute; NaN where there is none. */
double rk_rank_load_imbalance(const struct rk_load_line *lines, size_t n);

/* ---- kernels whose time differs between ranks ---- */

/*
 * Kernels that communicate are left out: who comes late to a collective is in it for the shortest
 * time, so their spread says the opposite of what it seems to; ranks/comm_match.h tells who waited.
 *
 * The totals of each name and rank are kept up to a limit. Past it those of earlier ranks
 * are folded into their name: nothing is lost as long as the rows of a rank follow each other. A
 * name that then comes again in a folded rank is left out, with a warning.
 */

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

/* ---- copies by node, direction and the devices at both ends (copy_matrix.c) ---- */

/*
 * An end that the direction says is the host has no number. Of copies without a number of bytes
 * some tools write many: bytes and rate are of those that have one, and not known where none has.
 */

enum { RK_COPY_CELLS = 1 << 16 }; /* copies between more places are left out, with a warning */

struct rk_copy_matrix;

/* ctx is borrowed. */
int rk_copy_matrix_new(struct rk_context *ctx, struct rk_copy_matrix **ret, struct rk_error *err);
/* Columns of memcpy that are looked at. */
uint64_t rk_copy_matrix_wants(void);
int rk_copy_matrix_add(struct rk_copy_matrix *m, const struct rk_batch *b, struct rk_error *err);
/*
 * Once. By node, source, destination, direction. *ret is the caller's: rk_free; names are the
 * run's.
 */
int rk_copy_matrix_finish(struct rk_copy_matrix *m, struct rk_ranks_copy **ret, size_t *ret_n,
			  struct rk_error *err);
void rk_copy_matrix_free(struct rk_copy_matrix *m); /* NULL is fine */

#endif
