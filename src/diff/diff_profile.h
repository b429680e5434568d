/*
 * diff_profile.h - one run prepared for a comparison: sums by name, by grid and over time, made
 * from batches in any order and in bounded memory.
 */
#ifndef RK_DIFF_PROFILE_H
#define RK_DIFF_PROFILE_H

#include "base/list.h"
#include "rockit/diff.h"
#include "table/source.h"

/*
 * Beyond these limits rows share one name, or are left out of the sequences, and a doubt is added.
 */
enum {
	RK_PROFILE_NAMES = 1 << 16,
	RK_PROFILE_SHAPES = 1 << 17,
	RK_PROFILE_QUEUES = 1 << 16,
	RK_PROFILE_LINES = 1 << 14,
	RK_PROFILE_SYMBOLS = 2 << 20, /* max symbols of all sequences, to find where two differ */
};

/* Totals saturate here, so that differences and sums of differences cannot overflow. */
#define RK_PROFILE_TIME_MAX (INT64_MAX / 8)

/* How a kernel was launched. */
struct rk_shape {
	int32_t n[6];  /* grid and block; -1: unknown */
	int32_t items; /* 1: the first three are work-items, because the runtime chose the block */
};

struct rk_profile_shape {
	struct rk_shape shape;
	uint32_t name; /* index in names */
	uint32_t next; /* next shape of the same name: index + 1 */
	uint64_t calls;
	/*
	 * launches with a duration: their number, and sums of differences from the first duration
	 */
	uint64_t timed;
	int64_t first_ns;
	double sum, squares;
	uint64_t hash; /* hash of name and shape, the same in every process */
};

struct rk_profile_name {
	char *text;
	uint64_t calls, timed;
	int64_t total_ns;
	double median_ns, mad_ns; /* NaN: unknown */
	/* 99 % confidence interval of the median, for any distribution of durations */
	double median_low_ns, median_high_ns;
	/* squared deviations of durations from the mean of their shape, and degrees of freedom */
	double squares, free;
	uint32_t shapes; /* first shape, index + 1 */
	uint32_t common; /* the most frequent shape, index + 1 */
};

/* Calls, bytes and time of one direction, function or kind of marker. */
struct rk_profile_line {
	char *name;
	uint64_t calls;
	int64_t bytes, total_ns;
};

struct rk_profile_lines {
	struct rk_profile_line *v; /* sorted by name */
	size_t n;
	bool known; /* the run has this table */
};

/* wall == kernels + copies - both + idle; kernels is the time in which any kernel ran. */
struct rk_profile_time {
	bool known;
	int64_t wall, kernels, copies, both, idle;
	int64_t unplaced; /* durations of kernels without a valid start */
	uint64_t gaps;
};

struct rk_profile_queue {
	uint64_t hash, length;
	size_t first, kept; /* range in symbols */
};

struct rk_profile {
	char *label;
	struct rk_profile_name *names; /* sorted by text */
	size_t nnames;
	struct rk_profile_shape *shapes;
	size_t nshapes;
	uint64_t calls, timed;
	int64_t total_ns;
	bool rows; /* individual kernels were read, not only statistics */
	struct rk_profile_time time;
	struct rk_profile_lines copies, api, markers;
	struct rk_profile_lines ranks; /* kernels per rank, if rows have it */
	bool structure;
	struct rk_profile_queue *queues; /* sorted by hash and length */
	size_t nqueues;
	uint32_t *symbols; /* shapes, queue by queue, in launch order */
	size_t nsymbols;
	struct rk_list doubts; /* reasons why an unknown amount of data is missing */
	struct rk_list slips;  /* single lost rows, too few to affect times */
};

/* ---- making one ---- */

struct rk_profiler;

/* ctx is borrowed: names, warnings, temporary files. */
int rk_profiler_new(struct rk_context *ctx, bool structure, struct rk_profiler **ret,
		    struct rk_error *err);
/*
 * For tests: limits the rows in memory while sorting, and the symbols kept. Call before the first
 * row.
 */
int rk_profiler_limit(struct rk_profiler *p, size_t held, size_t symbols, struct rk_error *err);
/* The columns of a table that we need; 0: none. */
uint64_t rk_profiler_wants(const struct rk_profiler *p, enum rk_table t);
int rk_profiler_add(struct rk_profiler *p, const struct rk_batch *b, struct rk_error *err);
/* Call once, after all batches; does not free `p`. The caller frees *ret with rk_profile_free. */
int rk_profiler_finish(struct rk_profiler *p, const char *label, struct rk_profile **ret,
		       struct rk_error *err);
void rk_profiler_free(struct rk_profiler *p); /* NULL is fine */

/* Merges two lists sorted by name. The name is the first member of an element. */
struct rk_merge {
	const void *a;
	size_t na; /* remaining elements */
	const void *b;
	size_t nb;
	size_t size;       /* of one element */
	const void *none;  /* replaces an element that a list does not have */
	const void *x, *y; /* the elements with `name` */
	const char *name;
};

#define RK_MERGE(a, na, b, nb, none)                               \
	{                                                          \
		a, na, b, nb, sizeof(*(a)), none, NULL, NULL, NULL \
	}

/* False at the end of both lists. */
bool rk_merge_next(struct rk_merge *m);

/* Order of two struct rk_profile_queue by hash and length, for qsort. */
int rk_profile_queue_order(const void *a, const void *b);
/* "grid 8x8x1 block 64x1x1", or "" if unknown. */
void rk_shape_text(const struct rk_shape *s, char *ret, size_t size);

#endif
