/* ranks.c - see ranks.h. */
#include "session/ranks.h"

#include <string.h>

#include "base/num.h"
#include "base/text.h"

/* The first that is set wins: ours, then the most specific launcher. */
static const char *const rank_names[] = {
	"ROCKIT_RANK",          "SLURM_PROCID",        "PMIX_RANK", "PMI_RANK",
	"OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK", "RANK",      NULL,
};
static const char *const local_names[] = {
	"ROCKIT_LOCAL_RANK",
	"SLURM_LOCALID",
	"MPI_LOCALRANKID",
	"OMPI_COMM_WORLD_LOCAL_RANK",
	"MV2_COMM_WORLD_LOCAL_RANK",
	"LOCAL_RANK",
	NULL,
};
static const char *const size_names[] = {
	"ROCKIT_WORLD_SIZE",   "SLURM_NTASKS", "PMI_SIZE", "OMPI_COMM_WORLD_SIZE",
	"MV2_COMM_WORLD_SIZE", "WORLD_SIZE",   NULL,
};

static int64_t first_number(char *const *envp, const char *const *names, const char **ret_name)
{
	int64_t v;

	for (; *names; names++) {
		const char *text = rk_env_value(envp, *names);

		if (text && rk_num_i64(text, strlen(text), &v) == RK_NUM_OK && v >= 0 &&
		    v <= INT32_MAX) {
			*ret_name = *names;
			return v;
		}
	}
	return -1;
}

/* A batch script that Slurm started has SLURM_PROCID=0 too, but is no rank: it has no step. */
static bool slurm_batch(char *const *envp)
{
	return rk_env_value(envp, "SLURM_JOB_ID") && !rk_env_value(envp, "SLURM_STEP_ID");
}

struct rk_rank rk_rank_find(char *const *envp)
{
	struct rk_rank r = { .variable = "" };
	const char *dummy;
	bool batch = slurm_batch(envp);

	r.rank = first_number(envp, rank_names, &r.variable);
	if (batch && !strcmp(r.variable, "SLURM_PROCID")) {
		r.variable = "";
		r.rank = first_number(envp, rank_names + 2, &r.variable);
	}
	r.local_rank = first_number(envp, local_names, &dummy);
	r.size = first_number(envp, size_names, &dummy);
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
