/* ranks.h - which process of a parallel job this is, from the launchers' variables. */
#ifndef RK_RANKS_H
#define RK_RANKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/list.h"

/* -1 where no variable says it; text is borrowed from the environment, "" where there is none. */
struct rk_rank {
	int64_t rank, local_rank, size;
	int64_t node_id;        /* which of the job's nodes */
	const char *variable;   /* the one the rank came from */
	const char *launcher;   /* "slurm", "torchrun", "openmpi", ...; static */
	const char *node;       /* the launcher's name for this machine */
	const char *job, *step; /* together they name one start of all ranks; no step without job */
	const char *contradicts; /* a variable that says another rank of as many; static */
	int64_t other_rank;      /* what it says */
};

/* From an environment; values that are not whole numbers are passed over. */
struct rk_rank rk_rank_find(char *const *envp);

/* Of the name of a folder, "rank-00012", the rank; -1 for other names. */
int64_t rk_rank_of_folder(const char *name);

/* Whether `rank` is in "0,8-15"; *ret is true for everything when list is NULL. */
int rk_rank_chosen(const char *list, int64_t rank, bool *ret, struct rk_error *err);
/*
 * The same for ranks 0 to n - 1 at once; a list that cannot be read leaves nobody out. Time grows with n
 * and with the list, not with both.
 */
int rk_ranks_chosen(const char *list, size_t n, bool *ret, struct rk_error *err);

/*
 * What a launcher inside the command sets for its workers: "RANK" for torchrun and its like,
 * "mpi" for mpirun and srun; NULL when the command is not a launcher.
 */
const char *rk_launcher_key(const struct rk_list *command);
/* "train.py": a word that torchrun takes as a program, and nobody else. */
bool rk_is_python_script(const char *word);

#endif
