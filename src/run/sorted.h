/*
 * sorted.h - rows of a run in order of their times.
 *
 * Profilers write rows nearly in order, so a window of some 100 000 rows sorts them while they are read.
 * A row that comes too late for it means: begin again, with that table sorted on disk.
 */
#ifndef RK_SORTED_H
#define RK_SORTED_H

#include "run/run.h"

/* How the tables of a run are sorted. Zero it but for the run. */
struct rk_sorted {
	struct rk_run *run;
	uint32_t spill;     /* tables that are sorted on disk, as bits */
	enum rk_table last; /* opened */
};

/*
 * Calls `make`, which opens rows by the functions below, one table at a time. Where a table turns out to
 * need the other sort, the warnings since the first call are dropped and `make` is called again. So each
 * call begins from nothing, and one that fails has undone what it did.
 */
int rk_run_sorted(struct rk_sorted *s, int (*make)(void *arg, struct rk_error *err), void *arg,
		  struct rk_error *err);

/* Replaces *rows by the same in order, on one clock. Takes it over, also on failure. */
int rk_sorted_rows(struct rk_sorted *s, struct rk_source **rows, struct rk_error *err);
/* All columns of a table in order, those of kernels with counters. Odd times become warnings. */
int rk_sorted_table(struct rk_sorted *s, enum rk_table t, struct rk_source **ret,
		    struct rk_error *err);
/*
 * Finds out by reading the table once which sort it needs, for those who cannot begin again. `wide`: of
 * kernels all columns will be read, with counters and energy.
 */
int rk_sorted_look(struct rk_sorted *s, enum rk_table t, bool wide, struct rk_error *err);

#endif
