/* ranks.c - see ranks.h. */
#include "run/ranks.h"

#include <string.h>

#include "base/alloc.h"
#include "base/num.h"
#include "base/text.h"

/*
 * The variables of each launcher. The first family with a rank wins: ours, then the innermost
 * launcher. Slurm starts torchrun or the daemon of mpirun once per node, and their workers inherit
 * its SLURM_PROCID, so it is the same for all workers of a node. So Slurm comes after those. RANK
 * comes first if torchrun set it (then all three are set); alone it may be the rank of a node. Flux,
 * PALS and JSM set the variables of PMI, too, but know more. A job script of PBS has PBS_NODENUM=0
 * and is not a rank. NULL: the launcher has no such variable.
 */
static const struct family {
	const char *rank, *local, *size, *launcher;
	const char *step; /* differs between launches within a job */
	bool whole;       /* valid only if its other variables are set, too */
} families[] = {
	{ "ROCKIT_RANK", "ROCKIT_LOCAL_RANK", "ROCKIT_WORLD_SIZE", "", "SLURM_STEP_ID", false },
	{ "RANK", "LOCAL_RANK", "WORLD_SIZE", "torchrun", "TORCHELASTIC_RESTART_COUNT", true },
	{ "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE", "openmpi",
	  "PMIX_NAMESPACE", false },
	{ "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_SIZE", "mvapich",
	  "SLURM_STEP_ID", false },
	{ "MPI_RANKID", "MPI_LOCALRANKID", "MPI_NRANKS", "mpi", "SLURM_STEP_ID", false },
	{ "MPI_RANK", "MPI_LOCALRANKID", "MPI_SIZE", "mpi", "SLURM_STEP_ID", false },
	{ "FLUX_TASK_RANK", "FLUX_TASK_LOCAL_ID", "FLUX_JOB_SIZE", "flux", "FLUX_JOB_ID", false },
	{ "PALS_RANKID", "PALS_LOCAL_RANKID", "PALS_SIZE", "pals", "PALS_APID", false },
	{ "JSM_NAMESPACE_RANK", "JSM_NAMESPACE_LOCAL_RANK", "JSM_NAMESPACE_SIZE", "jsm",
	  "PMIX_NAMESPACE", false },
	{ "PMIX_RANK", "PMIX_LOCAL_RANK", "PMIX_SIZE", "pmix", "PMIX_NAMESPACE", false },
	{ "PMI_RANK", "MPI_LOCALRANKID", "PMI_SIZE", "pmi", "SLURM_STEP_ID", false },
	{ "SLURM_PROCID", "SLURM_LOCALID", "SLURM_NTASKS", "slurm", "SLURM_STEP_ID", false },
	{ "PBS_NODENUM", NULL, "PBS_O_TASKNUM", "pbs", NULL, true },
	{ "RANK", "LOCAL_RANK", "WORLD_SIZE", "", "SLURM_STEP_ID", false },
};
enum { NFAMILIES = sizeof(families) / sizeof(families[0]) };

static bool is_slurm(const struct family *f)
{
	return !strcmp(f->launcher, "slurm");
}

/* -1 if it is unset or not a whole number; `name` may be NULL. */
static int64_t number_of(char *const *envp, const char *name)
{
	const char *text = name ? rk_env_value(envp, name) : NULL;
	int64_t v;

	if (!text || rk_num_i64(text, strlen(text), &v) != RK_NUM_OK || v < 0 || v > INT32_MAX)
		return -1;
	return v;
}

static bool family_has_rank(char *const *envp, const struct family *f)
{
	/* a Slurm batch script also has SLURM_PROCID=0, but it is not a rank: it has no step */
	if (is_slurm(f) && rk_env_value(envp, "SLURM_JOB_ID") &&
	    !rk_env_value(envp, "SLURM_STEP_ID"))
		return false;
	if (f->whole &&
	    ((f->local && number_of(envp, f->local) < 0) || number_of(envp, f->size) < 0))
		return false;
	return number_of(envp, f->rank) >= 0;
}

/* Starts at family `at`, because PMI has less information than the Slurm that provides it. */
static int64_t first_number(char *const *envp, size_t at, bool local)
{
	int64_t v = -1;

	for (; v < 0 && at < NFAMILIES; at++)
		v = number_of(envp, local ? families[at].local : families[at].size);
	return v;
}

/* The first of these variables that is set and not empty, else "". */
static const char *first_text(char *const *envp, const char *const *names)
{
	for (; *names; names++) {
		const char *text = rk_env_value(envp, *names);

		if (text && text[0])
			return text;
	}
	return "";
}

/* Sets job and step of this process's launch. Slurm's PMI counts as Slurm. */
static void name_start(char *const *envp, size_t at, struct rk_rank *r)
{
	static const char *const jobs[] = { "SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID",
					    NULL };
	static const char *const runs[] = { "TORCHELASTIC_RUN_ID", "PMIX_NAMESPACE", NULL };
	const char *const steps[] = { families[at].step ? families[at].step : "SLURM_STEP_ID",
				      "SLURM_STEP_ID", NULL };

	r->launcher = families[at].launcher;
	for (size_t i = at; !strncmp(r->launcher, "pmi", 3) && i < NFAMILIES; i++)
		if (is_slurm(&families[i]) && family_has_rank(envp, &families[i]))
			r->launcher = "slurm";
	r->job = first_text(envp, jobs);
	if (!r->job[0]) /* torchrun sets "none" for a run without a name */
		r->job = first_text(envp, runs + !strcmp(first_text(envp, runs), "none"));
	if (r->job[0])
		r->step = first_text(envp, steps);
	if (!strcmp(r->step, r->job))
		r->step = "";
}

struct rk_rank rk_rank_find(char *const *envp)
{
	static const char *const nodes[] = { "SLURMD_NODENAME", NULL };
	struct rk_rank r = { .rank = -1,
			     .variable = "",
			     .launcher = "",
			     .job = "",
			     .step = "",
			     .contradicts = "",
			     .other_rank = -1 };
	size_t at = 0;
	int64_t size;

	while (at < NFAMILIES && !family_has_rank(envp, &families[at]))
		at++;
	if (at < NFAMILIES) {
		r.rank = number_of(envp, families[at].rank);
		r.variable = families[at].rank;
		name_start(envp, at, &r);
	} else {
		at = 0;
	}
	/*
	 * Nested launchers count separately and differ in size. If two have the same number of
	 * processes but disagree about this one, report it. ROCKIT_RANK is always trusted.
	 */
	size = number_of(envp, families[at].size);
	for (size_t i = at + 1; at && size > 1 && !r.contradicts[0] && i < NFAMILIES; i++) {
		int64_t rank = number_of(envp, families[i].rank);

		if (!family_has_rank(envp, &families[i]) || rank == r.rank ||
		    number_of(envp, families[i].size) != size)
			continue;
		r.contradicts = families[i].rank;
		r.other_rank = rank;
	}
	r.local_rank = first_number(envp, at, true);
	r.size = first_number(envp, at, false);
	r.node_id = number_of(envp, "SLURM_NODEID");
	if (r.node_id < 0)
		r.node_id = number_of(envp, "GROUP_RANK"); /* torchrun sets this */
	r.node = first_text(envp, nodes);
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

/* The number after "rank"; *len: the length of both. -1: there is none. */
static int64_t number_after_rank(const char *p, size_t *len)
{
	size_t n = 4, digits = 0;
	int64_t v;

	if (*len < 5 || strncmp(p, "rank", 4) != 0)
		return -1;
	n += p[n] == '-' || p[n] == '_' || p[n] == '=';
	while (n + digits < *len && p[n + digits] >= '0' && p[n + digits] <= '9')
		digits++;
	if (!digits || rk_num_i64(p + n, digits, &v) != RK_NUM_OK || v > INT32_MAX)
		return -1;
	*len = n + digits;
	return v;
}

int64_t rk_rank_of_any_folder(const char *name, size_t len)
{
	size_t n = len;
	int64_t v = number_after_rank(name, &n);

	return n == len ? v : -1;
}

static bool ends_word(char c)
{
	return !c || c == '.' || c == '_' || c == '-';
}

int64_t rk_rank_of_file(const char *name)
{
	for (const char *p = name; (p = strstr(p, "rank")); p++) {
		size_t len = strlen(p);
		int64_t v = number_after_rank(p, &len);

		if (v >= 0 && (p == name || ends_word(p[-1])) && ends_word(p[len]))
			return v;
	}
	return -1;
}

static int bad_ranks(const char *list, struct rk_error *err)
{
	return rk_fail(err, RK_E_USAGE, "invalid ranks '%s'; write them like 0,8-15", list);
}

/* Parses one part, "3" or "8-15". */
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

int rk_ranks_chosen(const char *list, size_t n, bool *ret, struct rk_error *err)
{
	/* number of ranges that begin minus those that end, at each rank; then the running sum */
	int64_t *edges = rk_calloc(n + 1, sizeof(*edges)), inside = 0;
	bool all = !list || !*list;

	if (!edges)
		return rk_fail_nomem(err);
	for (const char *p = list; !all && *p;) {
		size_t len = strcspn(p, ",");
		int64_t from, to;

		all = !parse_range(p, len, &from, &to);
		if (!all && (uint64_t)from < n) {
			edges[from]++;
			edges[(uint64_t)to < n ? (size_t)to + 1 : n]--;
		}
		p += len + (p[len] == ',');
	}
	for (size_t i = 0; i < n; i++) {
		inside += edges[i];
		ret[i] = all || inside > 0;
	}
	rk_free(edges);
	return 0;
}

const char *rk_launcher_key(const struct rk_list *command)
{
	static const struct {
		const char *program, *key;
	} launchers[] = {
		{ "torchrun", "RANK" },
		{ "accelerate", "RANK" },
		{ "deepspeed", "RANK" },
		{ "mpirun", "mpi" },
		{ "mpiexec", "mpi" },
		{ "mpiexec.hydra", "mpi" },
		{ "orterun", "mpi" },
		{ "srun", "mpi" },
		/* rocprofv3's %rank% does not know these */
		{ "jsrun", "JSM_NAMESPACE_RANK" },
	};
	const char *name = command->n ? rk_base_name(command->v[0]) : "";

	for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++)
		if (!strcmp(name, launchers[i].program))
			return launchers[i].key;
	if (!strcmp(name, "flux") && command->n > 1 && !strcmp(command->v[1], "run"))
		return "FLUX_TASK_RANK";
	if (strncmp(name, "python", 6) != 0)
		return NULL;
	for (size_t i = 1; i + 1 < command->n && command->v[i][0] == '-'; i++) {
		const char *module = command->v[i + 1];

		if (strcmp(command->v[i], "-m") != 0)
			continue;
		if (!strcmp(module, "torch.distributed.run") ||
		    !strcmp(module, "torch.distributed.launch"))
			return "RANK";
		return NULL;
	}
	return NULL;
}

bool rk_is_python_script(const char *word)
{
	return rk_text_ends(word, strlen(word), ".py");
}
