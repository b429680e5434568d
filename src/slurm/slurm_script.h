/* slurm_script.h - from a request for nodes to a batch script, and the file that remembers it. */
#ifndef RK_SLURM_SCRIPT_H
#define RK_SLURM_SCRIPT_H

#include "base/bytes.h"
#include "rockit/preset.h"
#include "rockit/slurm.h"

/* Fills options that are not set from slurm{} and distributed{} of `p` (may be NULL); borrowed. */
int rk_slurm_merge(struct rk_slurm_options *o, const struct rk_preset *p, struct rk_error *err);

/*
 * The script. `o` is merged, with an absolute dir and a rockit. RK_E_USAGE for a value that an
 * #SBATCH line cannot contain, and for ambiguous words.
 */
int rk_slurm_write(const struct rk_slurm_options *o, struct rk_bytes *out, struct rk_error *err);

/* The job as it was submitted, in its directory. */
#define RK_SLURM_JOB_FILE ".rockit-job.json"

/* How many ranks the job has. */
uint64_t rk_slurm_size(const struct rk_slurm_options *o);

#endif
