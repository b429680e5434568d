/* aggregate.h - statistics by name: calls, total, min, max, median, standard deviation. */
#ifndef RK_AGGREGATE_H
#define RK_AGGREGATE_H

#include "table/median.h"
#include "table/source.h"

enum { RK_AGG_MAX_GROUPS = 1 << 17 }; /* further names share one last group */

enum {
	RK_AGG_NO_KEY = -1,     /* groups by name only */
	RK_AGG_ABSENT_KEY = -2, /* groups are split by a key, but this table has no such column */
};

/* The columns to use; -1: the table has no such column. */
struct rk_agg_fields {
	int name, start, duration; /* string id, int64 ns, int64 ns */
	int key;                   /* int64 or int32: also splits groups; see above */
	int barrier;               /* bool */
};

/* The result for one group. Times are known only if `timed` is not 0. */
struct rk_agg_row {
	uint32_t name;
	bool keyed; /* key is valid: it was requested and the rows have it */
	bool barrier;
	int64_t key;
	uint64_t calls, timed; /* rows; rows with a duration that is not negative */
	int64_t total_ns, min_ns, max_ns;
	double mean_ns, stddev_ns; /* of the population; NaN: unknown */
	double median_ns;          /* NaN: unknown */
	bool median_exact;
};

/*
 * Earliest start and latest end of the rows that have them. Profilers write 0 for both if they are
 * unknown: such rows count only if there are no others.
 */
struct rk_agg_span {
	bool known;
	int64_t start_ns, end_ns;
};

struct rk_agg;

/* ctx is borrowed and gets the warnings. */
int rk_agg_new(const struct rk_agg_fields *fields, struct rk_context *ctx, struct rk_agg **ret,
	       struct rk_error *err);
/* Set before the first row; tests use small limits. */
void rk_agg_limit(struct rk_agg *a, uint64_t exact_durations, size_t groups);
int rk_agg_add(struct rk_agg *a, const struct rk_batch *b, struct rk_error *err);
/* Adds all rows of `src`; the source stays open. */
int rk_agg_drain(struct rk_agg *a, struct rk_source *src, struct rk_error *err);

/*
 * One line of precomputed statistics. Lines with equal names are added up; the standard deviation
 * is then unknown. Unknown: min_ns, max_ns < 0, stddev_ns NaN.
 */
struct rk_agg_line {
	uint32_t name;
	bool keyed, barrier;
	int64_t key;
	uint64_t calls;
	int64_t total_ns, min_ns, max_ns; /* -1: unknown */
	double stddev_ns;
};
int rk_agg_add_line(struct rk_agg *a, const struct rk_agg_line *line, struct rk_error *err);

/* Sorted by total (largest first), then by name, then by key. Free with rk_free. */
int rk_agg_finish(struct rk_agg *a, struct rk_agg_row **ret, size_t *ret_n, struct rk_error *err);
uint64_t rk_agg_rows(const struct rk_agg *a); /* rows added */
struct rk_agg_span rk_agg_span(const struct rk_agg *a);
void rk_agg_free(struct rk_agg *a); /* NULL is fine */

/* Counter values by counter name, in order of first appearance. */
struct rk_agg_counter {
	uint32_t name;
	uint64_t rows;
	double sum, min, max;
};
/*
 * Reads a counters table: RK_N_COUNTER, RK_N_VALUE and RK_N_PASS. A counter that a program measured
 * in several passes counts once: the pass of its first row. `program` says which program the last
 * batch is from. *ret_rows: all rows. Free *ret with rk_free.
 */
int rk_agg_counters(struct rk_source *src, int64_t (*program)(void *arg), void *arg,
		    struct rk_agg_counter **ret, size_t *ret_n, uint64_t *ret_rows,
		    struct rk_error *err);

#endif
