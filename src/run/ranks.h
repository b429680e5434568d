/* ranks.h - find out from the launchers' variables which process of a parallel job this is. */
#ifndef RK_RANKS_H
#define RK_RANKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/list.h"

/* Numbers are -1 if no variable is set. Strings are borrowed from the environment, "" if unset. */
struct rk_rank {
	int64_t rank, local_rank, size;
	int64_t node_id;         /* index of the node in the job */
	const char *variable;    /* the variable that gave the rank */
	const char *launcher;    /* "slurm", "torchrun", "openmpi", ...; static */
	const char *node;        /* the launcher's name for this machine */
	const char *job, *step;  /* together they identify one launch; no step without job */
	const char *contradicts; /* a variable with a different rank but the same size; static */
	int64_t other_rank;      /* the rank in that variable */
};

/* Reads an environment; values that are not whole numbers are ignored. */
struct rk_rank rk_rank_find(char *const *envp);

/* The rank in the name of a folder that rockit made, such as "rank-00012"; -1 for other names. */
int64_t rk_rank_of_folder(const char *name);
/*
 * The same for folders of a data set and of other tools, whose name is rank-0, rank=0, rank_0 or
 * rank0.
 */
int64_t rk_rank_of_any_folder(const char *name, size_t len);
/*
 * The rank in the name of a file that other tools wrote: one of the words of the name, such as
 * "rank-0.json", "trace_rank0.json" or "rank_0.17.pt.trace.json".
 */
int64_t rk_rank_of_file(const char *name);

/* Is `rank` in a list such as "0,8-15"? *ret is always true if list is NULL. */
int rk_rank_chosen(const char *list, int64_t rank, bool *ret, struct rk_error *err);
/*
 * The same for ranks 0 to n - 1 at once; an invalid list selects all. Takes time linear in n plus
 * the length of the list.
 */
int rk_ranks_chosen(const char *list, size_t n, bool *ret, struct rk_error *err);

/*
 * The kind of variables that a launcher inside the command sets for its workers: "RANK" for
 * torchrun and similar, "mpi" for mpirun and srun; NULL if the command is not a launcher.
 */
const char *rk_launcher_key(const struct rk_list *command);
/* True for "train.py" and similar: a word that only torchrun treats as a program. */
bool rk_is_python_script(const char *word);

#endif
