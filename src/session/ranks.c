/* ranks.c - see ranks.h. */
#include "session/ranks.h"

#include <string.h>

#include "base/num.h"
#include "base/text.h"

/*
 * What a launcher calls its numbers. The first family that has a rank wins: ours, then the
 * innermost launcher. Slurm starts torchrun or mpirun's daemon once a node, and their workers
 * inherit its SLURM_PROCID: all of a node have the same. So Slurm comes after those, and RANK comes
 * first where torchrun set it, which sets all three; alone it may be a node's.
 */
static const struct family {
	const char *rank, *local, *size;
	bool whole; /* counts only with all three */
} families[] = {
	{ "ROCKIT_RANK", "ROCKIT_LOCAL_RANK", "ROCKIT_WORLD_SIZE", false },
	{ "RANK", "LOCAL_RANK", "WORLD_SIZE", true },
	{ "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE", false },
	{ "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_SIZE", false },
	{ "PMIX_RANK", "PMIX_LOCAL_RANK", "PMIX_SIZE", false },
	{ "PMI_RANK", "MPI_LOCALRANKID", "PMI_SIZE", false },
	{ "SLURM_PROCID", "SLURM_LOCALID", "SLURM_NTASKS", false },
	{ "RANK", "LOCAL_RANK", "WORLD_SIZE", false },
};
enum { NFAMILIES = sizeof(families) / sizeof(families[0]) };

/* -1 where it is not set or is no whole number. */
static int64_t number_of(char *const *envp, const char *name)
{
	const char *text = rk_env_value(envp, name);
	int64_t v;

	return text && rk_num_i64(text, strlen(text), &v) == RK_NUM_OK && v >= 0 && v <= INT32_MAX ?
		       v :
		       -1;
}

/* A batch script that Slurm started has SLURM_PROCID=0 too, but is no rank: it has no step. */
static bool slurm_batch(char *const *envp)
{
	return rk_env_value(envp, "SLURM_JOB_ID") && !rk_env_value(envp, "SLURM_STEP_ID");
}

static bool family_has_rank(char *const *envp, const struct family *f)
{
	if (!strcmp(f->rank, "SLURM_PROCID") && slurm_batch(envp))
		return false;
	if (f->whole && (number_of(envp, f->local) < 0 || number_of(envp, f->size) < 0))
		return false;
	return number_of(envp, f->rank) >= 0;
}

/* From family `at` on: PMI says less than the Slurm that offers it. */
static int64_t first_number(char *const *envp, size_t at, bool local)
{
	int64_t v = -1;

	for (; v < 0 && at < NFAMILIES; at++)
		v = number_of(envp, local ? families[at].local : families[at].size);
	return v;
}

struct rk_rank rk_rank_find(char *const *envp)
{
	struct rk_rank r = { .rank = -1, .variable = "" };
	size_t at = 0;

	while (at < NFAMILIES && !family_has_rank(envp, &families[at]))
		at++;
	if (at < NFAMILIES) {
		r.rank = number_of(envp, families[at].rank);
		r.variable = families[at].rank;
	}
	r.local_rank = first_number(envp, at < NFAMILIES ? at : 0, true);
	r.size = first_number(envp, at < NFAMILIES ? at : 0, false);
	return r;
}

int64_t rk_rank_of_folder(const char *name)
{
	int64_t v;

	if (strncmp(name, "rank-", 5) != 0 ||
	    rk_num_i64(name + 5, strlen(name + 5), &v) != RK_NUM_OK || v < 0 || v > INT32_MAX)
		return -1;
	return v;
}

static int bad_ranks(const char *list, struct rk_error *err)
{
	return rk_fail(err, RK_E_USAGE, "ranks are written like 0,8-15, not '%s'", list);
}

/* One part, "3" or "8-15". */
static bool parse_range(const char *p, size_t len, int64_t *from, int64_t *to)
{
	const char *dash = memchr(p, '-', len);
	size_t first = dash ? (size_t)(dash - p) : len;

	if (rk_num_i64(p, first, from) != RK_NUM_OK || *from < 0)
		return false;
	*to = *from;
	if (dash && rk_num_i64(dash + 1, len - first - 1, to) != RK_NUM_OK)
		return false;
	return *to >= *from;
}

int rk_rank_chosen(const char *list, int64_t rank, bool *ret, struct rk_error *err)
{
	const char *p = list;

	*ret = !list;
	if (list && !*list)
		return bad_ranks(list, err);
	while (p && *p) {
		size_t len = strcspn(p, ",");
		int64_t from, to;

		if (!parse_range(p, len, &from, &to))
			return bad_ranks(list, err);
		*ret = *ret || (rank >= from && rank <= to);
		p += len + (p[len] == ',');
	}
	return 0;
}

const char *rk_launcher_key(const struct rk_list *command)
{
	static const struct {
		const char *program, *key;
	} launchers[] = {
		{ "torchrun", "RANK" }, { "accelerate", "RANK" }, { "deepspeed", "RANK" },
		{ "mpirun", "mpi" },    { "mpiexec", "mpi" },     { "mpiexec.hydra", "mpi" },
		{ "orterun", "mpi" },   { "srun", "mpi" },
	};
	const char *name = command->n ? rk_base_name(command->v[0]) : "";

	for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++)
		if (!strcmp(name, launchers[i].program))
			return launchers[i].key;
	if (strncmp(name, "python", 6) != 0)
		return NULL;
	for (size_t i = 1; i + 1 < command->n && command->v[i][0] == '-'; i++)
		if (!strcmp(command->v[i], "-m"))
			return !strcmp(command->v[i + 1], "torch.distributed.run") ||
					       !strcmp(command->v[i + 1],
						       "torch.distributed.launch") ?
				       "RANK" :
				       NULL;
	return NULL;
}
