/* stages.h - stages: sources that change another source. */
#ifndef RK_STAGES_H
#define RK_STAGES_H

#include "base/bytes.h"
#include "table/source.h"

/* ---- read ahead on another thread (stages.c) ---- */

/*
 * While the user works on some batches, the pool takes the next ones from `rows` and keeps copies.
 * For sources that do not use the pool themselves once they have given their first batch (a
 * database, a merge); the first is taken on the calling thread. Without threads, or for a source
 * with many columns, returns `rows` itself. Takes over `rows`, also on failure.
 */
int rk_ahead_open(struct rk_source *rows, struct rk_context *ctx, struct rk_source **ret,
		  struct rk_error *err);

/* ---- the rows of one rank, or of some: those with given numbers in one column (stages.c) ---- */

/*
 * Rows whose int32 field `field` is `value`, or, with `null`, those that have none. Batches that are
 * wanted as a whole pass without being copied. Takes over `rows`, also on failure.
 */
int rk_keep_open(struct rk_source *rows, unsigned field, int64_t value, bool null,
		 struct rk_source **ret, struct rk_error *err);

/* As above, with any of `values`, ascending and borrowed; with `null`, those that have none as well. */
int rk_keep_some_open(struct rk_source *rows, unsigned field, const int64_t *values, size_t n,
		      bool null, struct rk_source **ret, struct rk_error *err);

/* ---- constants for columns that a file lacks, such as the rank from its path (stages.c) ---- */

enum { RK_STAMPS_MAX = 5 };

/* `field` is an I64, I32 or STR (an id) column. */
struct rk_stamp {
	unsigned field;
	int64_t value;
	bool over; /* also where rows have a value */
};

/*
 * Columns that are all null get the value in every row; others are kept, unless `over` is set.
 * Takes over `rows`.
 */
int rk_stamp_open(struct rk_source *rows, const struct rk_stamp *stamps, unsigned n,
		  struct rk_source **ret, struct rk_error *err);

/* ---- readable kernel names (names.c) ---- */

struct rk_name_style {
	bool mangled;  /* leave _Z names as they are */
	bool truncate; /* the bare function name: no arguments, templates, namespaces, return type */
};

/*
 * Appends the clean form of a recorded name: without .kd, [clone .kd] and (.kd), demangled
 * unless style says no, invalid UTF-8 replaced. False when out of memory.
 */
bool rk_name_clean(const char *name, size_t len, const struct rk_name_style *style,
		   struct rk_bytes *out);

/* Replaces the string column `field`, each distinct name worked on once. Takes over `rows`. */
int rk_names_open(struct rk_source *rows, struct rk_context *ctx, unsigned field,
		  const struct rk_name_style *style, struct rk_source **ret, struct rk_error *err);

/* ---- count implausible durations; no row is changed (times.c) ---- */

/*
 * Passes rows through and counts, for tables with a start and a duration: negative durations, and
 * for kernels also zero durations and kernels that start before the previous one on the same queue
 * ends. At the end the counts go to ctx->diag as "negative-duration", "zero-duration", "no-times"
 * (zero, and at time 0), "overlapping-kernels". Rows need not be in order: the last 16384 are put
 * in order before queues are compared; if rows come later than that, the number of overlaps is
 * reported as a minimum. Other tables pass through. Takes over `rows`, also on failure.
 */
int rk_times_open(struct rk_source *rows, struct rk_context *ctx, struct rk_source **ret,
		  struct rk_error *err);

/* The fields of `table` that must be wanted for the counts to be right. */
uint64_t rk_times_needs(enum rk_table table);

#endif
