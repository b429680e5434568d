/* slurm.h - profiles a program on every node of a Slurm job: script, submission, collection. */
#ifndef ROCKIT_SLURM_H
#define ROCKIT_SLURM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rockit/decls.h"
#include "rockit/error.h"
#include "rockit/report.h"

RK_BEGIN_DECLS

/* NULL and 0 mean "not set": then slurm{} and distributed{} of the preset and context are used. */
struct rk_slurm_options {
	const char *preset, *context, *context_file; /* as of session.h */
	uint64_t nodes;                              /* default: 1 */
	uint64_t tasks_per_node;                     /* ranks of a node; default: its GPUs, or 1 */
	uint64_t gpus_per_node;
	const char *time, *partition, *account, *qos, *constraint, *job_name;
	const char *output;        /* of the job; default: <dir>/slurm-%j.out */
	const char *launcher;      /* "srun" (the default), "torchrun", "mpirun" */
	const char *launcher_args; /* more words for it, split as a shell would */
	const char *sbatch_args;   /* more options of sbatch, the same */
	const char *run_args;      /* more options of 'rockit run', the same */
	const char *ranks;         /* as of session.h */
	const char *dir;           /* the run directory, seen by all nodes */
	const char *rockit;        /* the command on the nodes; default: this one */
	bool exclusive, force;
	char *const *argv;     /* the program and its arguments, ended by NULL */
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
 * Writes the script to <dir>/job.sh and submits it with sbatch; *ret_id is borrowed from the job. A
 * directory that contains ranks is refused unless `force` was given.
 */
int rk_slurm_submit(struct rk_slurm_job *j, const char **ret_id, struct rk_error *err);

struct rk_slurm_hooks {
	void (*say)(void *arg, const char *line); /* the job's state has changed; may be NULL */
	bool (*stop)(void *arg); /* called often; true ends the wait; may be NULL */
	void *arg;
	uint64_t reserved[8]; /* 0 */
};

/*
 * Waits until the job has ended; *ret_status is its exit status as in a shell, never 0 for a job
 * that was not completed. RK_E_CANCELLED: stop() was true, the job keeps running. RK_E_IO: Slurm
 * does not answer or no longer knows the job.
 */
int rk_slurm_wait(const char *id, const struct rk_slurm_hooks *hooks, int *ret_status,
		  struct rk_error *err);

/* The ranks of a job in `dir`. */
struct rk_slurm_parts;
int rk_slurm_collect(const char *dir, struct rk_slurm_parts **ret, struct rk_error *err);
/*
 * Aligns the clocks of the ranks in `dir` and writes the result to `dir`/run.json; if a `rockit
 * run` has written one, the member "fused" is added to it. Reads the ranks' kernels if they ran on
 * several machines. RK_E_UNSUPPORTED: nothing can be read.
 */
int rk_slurm_record(const char *dir, struct rk_error *err);
/* All ranks are complete and succeeded. */
bool rk_slurm_whole(const struct rk_slurm_parts *p);
/* Text or JSON; rk_text_free frees. */
int rk_slurm_render(const struct rk_slurm_parts *p, enum rk_report_format format, char **ret_text,
		    size_t *ret_len, struct rk_error *err);
void rk_slurm_parts_free(struct rk_slurm_parts *p); /* NULL is fine */

RK_END_DECLS

#endif
