/* stages.h - stages: sources that transform another source. */
#ifndef RK_STAGES_H
#define RK_STAGES_H

#include "base/bytes.h"
#include "table/source.h"

/* ---- read ahead on another thread (stages.c) ---- */

/*
 * While the caller works on some batches, the pool reads the next ones from `rows` and copies them.
 * Only for sources that do not use the pool themselves after their first batch (a database, a
 * merge); the first batch is read on the calling thread. Without threads, or for a source with many
 * columns, returns `rows` itself. Takes ownership of `rows`, also on failure.
 */
int rk_ahead_open(struct rk_source *rows, struct rk_context *ctx, struct rk_source **ret,
		  struct rk_error *err);

/* ---- select rows by the value of one column, such as the rank (stages.c) ---- */

/*
 * Keeps rows whose int32 field `field` is `value` or, with `null`, rows where it is null. Batches
 * that are kept completely are not copied. Takes ownership of `rows`, also on failure.
 */
int rk_keep_open(struct rk_source *rows, unsigned field, int64_t value, bool null,
		 struct rk_source **ret, struct rk_error *err);

/*
 * Keeps rows with any of `values` (ascending, borrowed); with `null`, also rows where it is null.
 */
int rk_keep_some_open(struct rk_source *rows, unsigned field, const int64_t *values, size_t n,
		      bool null, struct rk_source **ret, struct rk_error *err);

/*
 * ---- constants for columns that a file does not have, such as the rank from its path (stages.c)
 * ----
 */

enum { RK_STAMPS_MAX = 5 };

/* `field` is an I64, I32 or STR (an id) column. */
struct rk_stamp {
	unsigned field;
	int64_t value;
	bool over; /* also replaces values of rows */
};

/*
 * Columns that are all null get the value in every row; others are unchanged, unless `over` is set.
 * Takes ownership of `rows`.
 */
int rk_stamp_open(struct rk_source *rows, const struct rk_stamp *stamps, unsigned n,
		  struct rk_source **ret, struct rk_error *err);

/* ---- readable kernel names (names.c) ---- */

struct rk_name_style {
	bool mangled;  /* keep _Z names as they are */
	bool truncate; /* bare function name: no arguments, templates, namespaces, return type */
};

/*
 * Appends the clean form of a recorded name: without .kd, [clone .kd] and (.kd), demangled unless
 * style->mangled, with invalid UTF-8 replaced. False when out of memory.
 */
bool rk_name_clean(const char *name, size_t len, const struct rk_name_style *style,
		   struct rk_bytes *out);

/*
 * Cleans the names in the string column `field`, each distinct name once. Takes ownership of
 * `rows`.
 */
int rk_names_open(struct rk_source *rows, struct rk_context *ctx, unsigned field,
		  const struct rk_name_style *style, struct rk_source **ret, struct rk_error *err);

/* ---- count implausible durations; no row is changed (times.c) ---- */

/*
 * Passes rows through and counts implausible times in tables with a start and a duration: negative
 * durations, and for kernels also zero durations and kernels that start before the previous one on
 * the same queue ends. At the end the counts go to ctx->diag as "negative-duration",
 * "zero-duration", "no-times" (duration and start are 0), "overlapping-kernels". Rows need not be
 * sorted: the last 16384 are sorted before queues are compared; if a row comes later than that, the
 * number of overlaps is reported as a minimum. Other tables are not counted. Takes ownership of
 * `rows`, also on failure.
 */
int rk_times_open(struct rk_source *rows, struct rk_context *ctx, struct rk_source **ret,
		  struct rk_error *err);

/* The fields of `table` that a reader must deliver for correct counts. */
uint64_t rk_times_needs(enum rk_table table);

#endif
