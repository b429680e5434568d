/* median.h - sums and median of the durations of one group. */
#ifndef RK_MEDIAN_H
#define RK_MEDIAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	RK_MEDIAN_EXACT_MAX =
		4000000, /* max durations of all groups that are kept as single values */
	RK_MEDIAN_MAX_PAGES = 16384, /* of 1 KiB each, for the histograms of all groups */
};

/* Worst relative error of a median from a histogram. */
#define RK_MEDIAN_ERROR (1.0 / 256)

__extension__ typedef unsigned __int128 rk_u128;

struct rk_durations_chunk {
	struct rk_durations_chunk *next; /* older */
	uint32_t n, cap;
	uint32_t counted; /* the first `counted` of n are already in the sums */
	bool wide;        /* 8 bytes per value instead of 4 */
	_Alignas(8) unsigned char data[];
};

struct rk_durations_page;

/* Shared by the groups of one aggregation. */
struct rk_durations_store {
	size_t max_pages, pages;
	bool folded; /* use histograms from now on */
};

/*
 * The durations of one group. Zero it before use. Adding a duration only puts it into a chunk; sums
 * are computed from whole chunks, which is several times faster. They are valid after
 * rk_durations_settle.
 */
struct rk_durations {
	struct rk_durations_chunk *narrow, *wide; /* newest first */
	uint64_t n;
	int64_t min, max;
	rk_u128 sum, squares; /* exact */
	bool squares_lost;    /* they exceeded 128 bits */
	bool lost;            /* no memory left for histograms: this group has no median */
	struct rk_durations_page *pages;
};

bool rk_durations_add_slow(struct rk_durations_store *store, struct rk_durations *t,
			   int64_t dur_ns);

/* dur_ns >= 0. False when out of memory. */
static inline bool rk_durations_add(struct rk_durations_store *store, struct rk_durations *t,
				    int64_t dur_ns)
{
	struct rk_durations_chunk *c = t->narrow;

	if (!c || c->n == c->cap || dur_ns > UINT32_MAX)
		return rk_durations_add_slow(store, t, dur_ns);
	((uint32_t *)(void *)c->data)[c->n++] = (uint32_t)dur_ns;
	return true;
}

/* Brings the sums (and the histogram, once folded) up to date. False when out of memory. */
bool rk_durations_settle(struct rk_durations_store *store, struct rk_durations *t);

/* After store->folded was set: turns single values into a histogram. False when out of memory. */
bool rk_durations_fold(struct rk_durations_store *store, struct rk_durations *t);

/*
 * False if there is no median: no duration, or lost. For an even number it is the mean of the
 * middle two. Settle first.
 */
bool rk_durations_median(const struct rk_durations *t, double *ret_ns);
/* Standard deviation of the population; NaN: unknown. Settle first. */
double rk_durations_stddev(const struct rk_durations *t);

void rk_durations_release(struct rk_durations *t);

#endif
