/*
 * aggregate.h - rows with equal names added up: calls, total, min, max, median, standard deviation.
 */
#ifndef RK_AGGREGATE_H
#define RK_AGGREGATE_H

#include "table/median.h"
#include "table/source.h"

enum { RK_AGG_MAX_GROUPS = 1 << 17 }; /* of one aggregation; further rows go to one last group */

enum {
	RK_AGG_NO_KEY = -1,     /* groups by name only */
	RK_AGG_ABSENT_KEY = -2, /* a key splits them, but this table has no such column */
};

/* Which columns of a table matter; -1: the table has no such column. */
struct rk_agg_fields {
	int name, start, duration; /* string id, int64 ns, int64 ns */
	int key;                   /* int64 or int32: groups are split by it too; see above */
	int barrier;               /* bool */
};

/* One group, when all is added. Times are known only when `timed` is not 0. */
struct rk_agg_row {
	uint32_t name;
	bool keyed; /* key is valid: it was requested and the rows have it */
	bool barrier;
	int64_t key;
	uint64_t calls, timed; /* rows; rows with a duration (negative ones do not count) */
	int64_t total_ns, min_ns, max_ns;
	double mean_ns, stddev_ns; /* of the population; NaN when not known */
	double median_ns;          /* NaN when not known */
	bool median_exact;
};

/*
 * Earliest start and latest end of the rows that have them. Profilers write 0 for both if they do
 * not know them: such rows count only if there are no others.
 */
struct rk_agg_span {
	bool known;
	int64_t start_ns, end_ns;
};

struct rk_agg;

/* ctx is borrowed and takes the warnings. */
int rk_agg_new(const struct rk_agg_fields *fields, struct rk_context *ctx, struct rk_agg **ret,
	       struct rk_error *err);
/* Set before the first row; tests make it small. */
void rk_agg_limit(struct rk_agg *a, uint64_t exact_durations, size_t groups);
int rk_agg_add(struct rk_agg *a, const struct rk_batch *b, struct rk_error *err);
/* Adds all rows of `src`; the source stays open. */
int rk_agg_drain(struct rk_agg *a, struct rk_source *src, struct rk_error *err);

/*
 * One line of ready-made statistics. Lines of equal name are added up; their standard deviation is
 * then unknown. min_ns, max_ns < 0 and stddev_ns NaN: not known.
 */
struct rk_agg_line {
	uint32_t name;
	bool keyed, barrier;
	int64_t key;
	uint64_t calls;
	int64_t total_ns, min_ns, max_ns;
	double stddev_ns;
};
int rk_agg_add_line(struct rk_agg *a, const struct rk_agg_line *line, struct rk_error *err);

/* By total, largest first, then by name, then by key. Owned by the caller: rk_free. */
int rk_agg_finish(struct rk_agg *a, struct rk_agg_row **ret, size_t *ret_n, struct rk_error *err);
uint64_t rk_agg_rows(const struct rk_agg *a); /* rows added */
struct rk_agg_span rk_agg_span(const struct rk_agg *a);
void rk_agg_free(struct rk_agg *a); /* NULL is fine */

/* Counter values by counter name, in the order of first appearance. */
struct rk_agg_counter {
	uint32_t name;
	uint64_t rows;
	double sum, min, max;
};
/* *ret is owned by the caller: rk_free. */
int rk_agg_counters(struct rk_source *src, unsigned name_field, unsigned value_field,
		    struct rk_agg_counter **ret, size_t *ret_n, uint64_t *ret_rows,
		    struct rk_error *err);

#endif
