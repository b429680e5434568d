/* diff_doubts.h - what is missing from a run, as far as its files and its record say. */
#ifndef RK_DIFF_DOUBTS_H
#define RK_DIFF_DOUBTS_H

#include "base/list.h"
#include "ranks/gather.h"

/*
 * Once its tables were read, with `rows` kernels in them: a sentence for each reason not to trust
 * them to be whole. To `slips` goes what cost less than one row in a thousand.
 */
int rk_run_doubts(struct rk_run *run, const struct rk_fuse_members *m, uint64_t rows,
		  struct rk_list *doubts, struct rk_list *slips, struct rk_error *err);
/* Ranks of several machines have several clocks. */
bool rk_run_several_machines(const struct rk_fuse_members *m);

#endif
