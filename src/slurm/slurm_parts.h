/* slurm_parts.h - which ranks of a job left something in its directory. */
#ifndef RK_SLURM_PARTS_H
#define RK_SLURM_PARTS_H

#include "base/bytes.h"
#include "base/error.h"
#include "base/list.h"
#include "rockit/slurm.h"

/* Of the job as it was submitted, in its directory. */
#define RK_SLURM_JOB_FILE ".rockit-job.json"

enum { RK_SLURM_RANKS_MAX = 1 << 16 };

enum rk_part_state {
	RK_PART_DONE,
	RK_PART_FAILED,     /* the program did, or rockit; why says it */
	RK_PART_UNFINISHED, /* it still runs, or was killed */
	RK_PART_UNREADABLE, /* begun, and no run.json that can be read */
};

struct rk_part {
	int64_t rank, size, status;
	uint64_t kernels;
	enum rk_part_state state;
	char *node, *job, *why; /* "" for nothing */
};

struct rk_slurm_parts {
	char *dir, *job;
	int64_t size; /* how many there should be; -1: nobody says */
	char *ranks;  /* that were to be profiled; NULL: all */
	struct rk_part *v;
	size_t n; /* by rank */
	int64_t *missing;
	size_t nmissing;
	struct rk_list notes;
};

const char *rk_part_state_name(enum rk_part_state s);

/* One after the other, for people and for scripts (slurm_text.c). */
void rk_slurm_parts_text(const struct rk_slurm_parts *p, struct rk_bytes *out);
void rk_slurm_parts_json(const struct rk_slurm_parts *p, struct rk_bytes *out);

#endif
