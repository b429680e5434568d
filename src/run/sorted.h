/*
 * sorted.h - rows of a run in order of time.
 *
 * Profilers write rows nearly in order, so a window of about 100 000 rows sorts them while they are
 * read. If a row comes too late for that, we start again and sort the table on disk.
 */
#ifndef RK_SORTED_H
#define RK_SORTED_H

#include "run/run.h"

/* How to sort the tables of a run. Zero everything but the run. */
struct rk_sorted {
	struct rk_run *run;
	uint32_t spill;     /* tables to sort on disk, as bits */
	enum rk_table last; /* the table opened last */
};

/*
 * Calls `make`, which opens rows with the functions below, one table at a time. If a table needs
 * the other sort, drops the warnings since the first call and calls `make` again. So each call must
 * start from scratch, and undo its work if it fails.
 */
int rk_run_sorted(struct rk_sorted *s, int (*make)(void *arg, struct rk_error *err), void *arg,
		  struct rk_error *err);

/* Replaces *rows by the same rows in order, on one clock. Takes ownership, also on failure. */
int rk_sorted_rows(struct rk_sorted *s, struct rk_source **rows, struct rk_error *err);
/* All columns of a table in order; kernels with counters. Implausible times become warnings. */
int rk_sorted_table(struct rk_sorted *s, enum rk_table t, struct rk_source **ret,
		    struct rk_error *err);
/*
 * Reads the table once to find out which sort it needs, for callers that cannot start again.
 * `wide`: all kernel columns will be read, with counters and energy.
 */
int rk_sorted_look(struct rk_sorted *s, enum rk_table t, bool wide, struct rk_error *err);

#endif
