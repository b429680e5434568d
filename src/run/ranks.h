/* ranks.h - which process of a parallel job this is, from the launchers' variables. */
#ifndef RK_RANKS_H
#define RK_RANKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/list.h"

/* -1 if no variable is set; text is borrowed from the environment, "" if unset. */
struct rk_rank {
	int64_t rank, local_rank, size;
	int64_t node_id;        /* which of the job's nodes */
	const char *variable;   /* that gave the rank */
	const char *launcher;   /* "slurm", "torchrun", "openmpi", ...; static */
	const char *node;       /* the launcher's name for this machine */
	const char *job, *step; /* together they name one start of all ranks; no step without job */
	const char *contradicts; /* a variable with another rank of the same size; static */
	int64_t other_rank;      /* the rank it gives */
};

/* Reads an environment; values that are not whole numbers are ignored. */
struct rk_rank rk_rank_find(char *const *envp);

/* The rank in a folder name such as "rank-00012"; -1 for other names. */
int64_t rk_rank_of_folder(const char *name);

/* Whether `rank` is in "0,8-15"; *ret is true for everything when list is NULL. */
int rk_rank_chosen(const char *list, int64_t rank, bool *ret, struct rk_error *err);
/*
 * The same for ranks 0 to n - 1 at once; an invalid list selects all. Time is linear in n plus the
 * length of the list.
 */
int rk_ranks_chosen(const char *list, size_t n, bool *ret, struct rk_error *err);

/*
 * What a launcher inside the command sets for its workers: "RANK" for torchrun and similar, "mpi"
 * for mpirun and srun; NULL if the command is not a launcher.
 */
const char *rk_launcher_key(const struct rk_list *command);
/* "train.py": a word that only torchrun treats as a program. */
bool rk_is_python_script(const char *word);

#endif
