/* matrix.h - counter values by dispatch, on disk: a row per dispatch, a column per counter. */
#ifndef RK_MATRIX_H
#define RK_MATRIX_H

#include "table/source.h"

/*
 * The counters are read twice: first to note every (process, dispatch), which gives the size; then
 * to store the values. Dispatch ids of one process are dense (they count from 1), so a row is found
 * by its number. Only a small cache is in memory, for any number of rows.
 */
struct rk_matrix;

int rk_matrix_new(struct rk_context *ctx, unsigned ncols, struct rk_matrix **ret,
		  struct rk_error *err);

/* `pid` is -1 if the file has none. RK_E_LIMIT above 1024 processes. */
int rk_matrix_note(struct rk_matrix *m, int64_t pid, int64_t dispatch, struct rk_error *err);
/* Call after the last note. RK_E_LIMIT if the ids are spread too widely to be dispatch ids. */
int rk_matrix_layout(struct rk_matrix *m, struct rk_error *err);
int rk_matrix_put(struct rk_matrix *m, int64_t pid, int64_t dispatch, unsigned col, double value,
		  struct rk_error *err);
/* One value, NaN if missing. 1: the dispatch is known, 0: no such dispatch. */
int rk_matrix_get(struct rk_matrix *m, int64_t pid, int64_t dispatch, unsigned col, double *ret,
		  struct rk_error *err);
/*
 * The values of one dispatch, NaN if missing; borrowed until the next call. 1: found, 0: no such
 * dispatch. A pid of -1 matches if there is only one process.
 */
int rk_matrix_row(struct rk_matrix *m, int64_t pid, int64_t dispatch, const double **ret,
		  struct rk_error *err);
/* One word per column for the caller's own counts; 0 at first. */
uint64_t *rk_matrix_tally(struct rk_matrix *m);
void rk_matrix_free(struct rk_matrix *m); /* NULL is fine */

#endif
