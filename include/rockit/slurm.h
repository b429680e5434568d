/* slurm.h - profile a program on every node of a Slurm job: script, submission, collection. */
#ifndef ROCKIT_SLURM_H
#define ROCKIT_SLURM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rockit/decls.h"
#include "rockit/error.h"
#include "rockit/report.h"

RK_BEGIN_DECLS

/* NULL and 0 mean "not set": then slurm{} and distributed{} of the preset and context apply. */
struct rk_slurm_options {
	const char *preset, *context, *context_file; /* as in session.h */
	uint64_t nodes;                              /* default: 1 */
	uint64_t tasks_per_node;                     /* ranks per node; default: its GPUs, or 1 */
	uint64_t gpus_per_node;
	const char *time, *partition, *account, *qos, *constraint, *job_name;
	const char *output;        /* output file of the job; default: <dir>/slurm-%j.out */
	const char *launcher;      /* "srun" (the default), "torchrun", "mpirun" */
	const char *launcher_args; /* extra launcher arguments, split as in a shell */
	const char *sbatch_args;   /* extra sbatch options, split as in a shell */
	const char *run_args;      /* extra 'rockit run' options, split as in a shell */
	const char *ranks;         /* as in session.h */
	const char *dir;           /* the run directory, visible to all nodes */
	const char *rockit;        /* the command on the nodes; default: this one */
	bool exclusive, force;
	char *const *argv;     /* the program and its arguments; ends with NULL */
	uint64_t reserved[16]; /* 0 */
};

struct rk_slurm_job;

/* Plans the job and starts nothing. */
int rk_slurm_plan(const struct rk_slurm_options *opt, struct rk_slurm_job **ret,
		  struct rk_error *err);
void rk_slurm_job_free(struct rk_slurm_job *j); /* NULL is fine */
/* Borrowed. */
const char *rk_slurm_script(const struct rk_slurm_job *j, size_t *ret_len);
const char *rk_slurm_dir(const struct rk_slurm_job *j);

/*
 * Writes the script to <dir>/job.sh and submits it with sbatch; *ret_id is borrowed from the job.
 * Refuses a directory that contains ranks unless `force` was given.
 */
int rk_slurm_submit(struct rk_slurm_job *j, const char **ret_id, struct rk_error *err);

struct rk_slurm_hooks {
	void (*say)(void *arg, const char *line); /* the job's state has changed; may be NULL */
	bool (*stop)(void *arg); /* called often; return true to stop waiting; may be NULL */
	void *arg;
	uint64_t reserved[8]; /* 0 */
};

/*
 * Waits until the job has ended. *ret_status is its exit status as in a shell, never 0 for a job
 * that was not completed. RK_E_CANCELLED: stop() returned true, the job keeps running. RK_E_IO:
 * Slurm does not respond or no longer knows the job.
 */
int rk_slurm_wait(const char *id, const struct rk_slurm_hooks *hooks, int *ret_status,
		  struct rk_error *err);

/* The ranks of a job in `dir`. */
struct rk_slurm_parts;
int rk_slurm_collect(const char *dir, struct rk_slurm_parts **ret, struct rk_error *err);
/*
 * Aligns the clocks of the ranks in `dir` and writes the result to `dir`/run.json; if `rockit run`
 * wrote that file, the member "fused" is added to it. Reads the ranks' kernels if they ran on
 * several machines. RK_E_UNSUPPORTED: nothing can be read.
 */
int rk_slurm_record(const char *dir, struct rk_error *err);
/* True if all ranks are complete and succeeded. */
bool rk_slurm_whole(const struct rk_slurm_parts *p);
/* Renders text or JSON; free with rk_text_free. */
int rk_slurm_render(const struct rk_slurm_parts *p, enum rk_report_format format, char **ret_text,
		    size_t *ret_len, struct rk_error *err);
void rk_slurm_parts_free(struct rk_slurm_parts *p); /* NULL is fine */

RK_END_DECLS

#endif
