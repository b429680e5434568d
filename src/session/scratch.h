/* scratch.h - a node's own disk: ranks write there first, and bring it home when they are done. */
#ifndef RK_SCRATCH_H
#define RK_SCRATCH_H

#include "base/error.h"
#include "base/list.h"

/*
 * The folder to use for a rank whose run belongs in `target` (which need not exist): below
 * $SLURM_TMPDIR or $TMPDIR, whichever is on another file system than the target and can be written.
 * *ret is the caller's, NULL where there is none; one that cannot be used is told in `notes`.
 * Nothing is made.
 */
int rk_scratch_pick(char *const *envp, const char *target, struct rk_list *notes, char **ret,
		    struct rk_error *err);
/* Makes it, for us alone; one that is there already is not ours. */
int rk_scratch_make(const char *scratch, struct rk_error *err);

#endif
