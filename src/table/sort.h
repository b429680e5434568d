/* sort.h - sorts rows by time, in bounded memory. */
#ifndef RK_SORT_H
#define RK_SORT_H

#include "table/source.h"

/* Internal, never returned by the API: a row came too late for the window (run/sorted.h). */
enum { RK_E_UNSORTED = -7 };

/*
 * There are two ways. The window holds back about 100 000 rows and delivers them in order. It is
 * nearly free for rows that are almost in order, as profilers write them. It fails with
 * RK_E_UNSORTED if a row comes too late: then start again with the spill, which sorts anything
 * through temporary files. Rows with equal times keep their order, rows without a time come last.
 * Rows of a schema without a time field pass through. Both take ownership of `rows`, also on
 * failure.
 */
int rk_sort_window_open(struct rk_source *rows, struct rk_context *ctx, struct rk_source **ret,
			struct rk_error *err);
int rk_sort_spill_open(struct rk_source *rows, struct rk_context *ctx, struct rk_source **ret,
		       struct rk_error *err);

/* The key and the index of a row. */
struct rk_sort_key {
	int64_t key;
	uint32_t at;
};

/* Stable; `tmp` needs room for n, too. Returns `keys` or `tmp`, whichever holds the result. */
struct rk_sort_key *rk_sort_keys(struct rk_sort_key *keys, struct rk_sort_key *tmp, size_t n);

/* The key of one row: its time, or the largest int64 if it has none. */
static inline int64_t rk_sort_key_of(const struct rk_column *time, size_t row)
{
	return rk_column_has(time, row) ? ((const int64_t *)time->data)[row] : INT64_MAX;
}

#endif
