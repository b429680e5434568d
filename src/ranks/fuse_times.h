/*
 * fuse_times.h - rows of many ranks on one clock, for where they are shown side by side.
 *
 * Both ends of a row are moved, so what followed each other on a queue does so afterwards. Rows of ranks
 * whose clock could not be related to the reference's stay as they were recorded.
 */
#ifndef RK_FUSE_TIMES_H
#define RK_FUSE_TIMES_H

#include "rockit/ranks.h"
#include "run/run.h"

struct rk_fuse_times;

/* What became of a rank's clock. Texts are the times'. */
struct rk_fuse_time {
	int64_t rank;
	enum rk_ranks_clock clock;
	int64_t offset_ns, error_ns;
	double drift_ppm;
	const char *by, *note;
};

/*
 * Reads the rows of kernels, or of functions, once more than else would be needed, where ranks of
 * several machines are there; warns of those whose clocks cannot be related. NULL in *ret: there is
 * nothing to move, or the rows cannot be read twice.
 */
int rk_fuse_times_new(struct rk_run *run, struct rk_fuse_times **ret, struct rk_error *err);
/* Of a report's ranks, which may be NULL; reads nothing. */
int rk_fuse_times_of(struct rk_run *run, const struct rk_ranks *r, struct rk_fuse_times **ret,
		     struct rk_error *err);
/* False: no such rank. */
bool rk_fuse_times_rank(const struct rk_fuse_times *t, int64_t rank, struct rk_fuse_time *ret);
/* The rank whose clock it is, and the moment on it for which offsets are stated. */
void rk_fuse_times_base(const struct rk_fuse_times *t, int64_t *ret_rank, int64_t *ret_base_ns);
/* Replaces *rows by the same on one clock. Takes it over, also on failure. */
int rk_fuse_times_open(const struct rk_fuse_times *t, struct rk_source **rows,
		       struct rk_error *err);
void rk_fuse_times_free(struct rk_fuse_times *t); /* NULL is fine */

#endif
