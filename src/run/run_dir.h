/* run_dir.h - where a run's files go: its directory, the claim on it, the scratch directory. */
#ifndef RK_RUN_DIR_H
#define RK_RUN_DIR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/list.h"
#include "run/ranks.h"

/*
 * The absolute path for `dir` (NULL: rockit_output/<YYYYMMDD-HHMMSS>-<pid> in the working
 * directory), followed by /rank-NNNNN unless rank is -1. Nothing is created.
 */
int rk_run_dir_name(const char *dir, int64_t rank, struct rk_bytes *ret, struct rk_error *err);

/* Folders of a run directory with copies of its window: snap-001. */
#define RK_SNAP_NAME "snap-%03u"
bool rk_is_snap(const char *folder, size_t len);

/*
 * Creates it and its parents. A directory that is not empty is refused, unless `force` is given and
 * an earlier run created it: then the files of that run are removed, and nothing else. A claim is
 * ignored, and stays.
 */
int rk_run_dir_make(const char *path, bool force, struct rk_error *err);

/*
 * Takes the directory for one run by creating `raw_dir`, which is directly in it: of two runs that
 * found it empty at the same time, the second one fails.
 */
int rk_run_dir_claim(const char *raw_dir, struct rk_error *err);

/*
 * Regular files below `path` and their bytes, with or without hidden ones; 0 when it is not there.
 */
int rk_count_files(const char *path, bool hidden, uint64_t *ret_files, uint64_t *ret_bytes,
		   struct rk_error *err);

/* ---- claims: no two ranks use one file, one monitor per node ---- */

/* Begins the names of files that only organise a run directory; readers ignore these. */
#define RK_OWN_PREFIX ".rockit-"
#define RK_CLAIM_NAME RK_OWN_PREFIX "claim"

/*
 * Creates `dir` (with its parents) and the claim in it, for this process. An existing claim is refused
 * with the names of both machines: one of the same start of a job, because then two processes have
 * one rank; any other unless `force` is given and its process does not seem to be alive.
 * The claim stays, so that a later process of the same start is refused too.
 */
int rk_claim_rank(const char *dir, const struct rk_rank *who, bool force, struct rk_error *err);
/* Removes the claim of this process: the run did not start. */
void rk_claim_drop(const char *dir);

/*
 * Whether this process is to sample the sensors of its node for all ranks below `top`: the first
 * to ask. *ret_path is then for rk_claim_node_end, else it is NULL.
 */
bool rk_claim_node(const char *top, const struct rk_rank *who, char **ret_path);
void rk_claim_node_end(char *path); /* NULL is fine */

/* ---- scratch: a node's own disk, where ranks write before they move their run ---- */

/*
 * The folder to use for a rank whose run belongs in `target` (which need not exist): below
 * $SLURM_TMPDIR or $TMPDIR, whichever is on another file system than the target and can be written.
 * *ret is owned by the caller, NULL if there is none; `notes` names one that cannot be used.
 * Nothing is created.
 */
int rk_scratch_pick(char *const *envp, const char *target, struct rk_list *notes, char **ret,
		    struct rk_error *err);
/* Creates it, for us alone; fails if it exists. */
int rk_scratch_make(const char *scratch, struct rk_error *err);

#endif
