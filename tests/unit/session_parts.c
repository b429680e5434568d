/* session_parts.c - ranks, environments, directories: what a plan is made of. */
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "io/output.h"
#include "run/ranks.h"
#include "run/run_dir.h"
#include "session/plan.h"
#include "tap.h"
#include "world.h"

TEST(names_of_folders_and_files_say_which_rank_they_are_of)
{
	static const struct {
		const char *name;
		int64_t folder, file;
	} v[] = {
		{ "rank-0", 0, 0 },
		{ "rank=7", 7, 7 },
		{ "rank_00012", 12, 12 },
		{ "rank3", 3, 3 },
		{ "rank-3.json", -1, 3 },
		{ "rank_3.17.pt.trace.json.gz", -1, 3 },
		{ "trace_rank3.json", -1, 3 },
		{ "x-rank-3_results.db", -1, 3 },
		{ "prank3.json", -1, -1 },
		{ "rank3x.json", -1, -1 },
		{ "rank.json", -1, -1 },
		{ "rank-.json", -1, -1 },
		{ "rank", -1, -1 },
		{ "rank--3", -1, -1 },
		{ "rank-99999999999", -1, -1 },
		{ "rank-99999999999999999999999999", -1, -1 },
		{ "ranks.3", -1, -1 },
		{ "ranked_rank4.json", -1, 4 },
		{ "", -1, -1 },
	};

	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		size_t len = strlen(v[i].name);

		if (!CHECK_I64(rk_rank_of_any_folder(v[i].name, len), v[i].folder) ||
		    !CHECK_I64(rk_rank_of_file(v[i].name), v[i].file))
			CHECK_STR(v[i].name, "");
	}
}

TEST(the_rank_comes_from_the_most_specific_launcher)
{
	char *slurm[] = { "RANK=7",
			  "SLURM_PROCID=3",
			  "SLURM_STEP_ID=0",
			  "SLURM_JOB_ID=1",
			  "SLURM_LOCALID=1",
			  "SLURM_NTASKS=8",
			  NULL };
	char *ours[] = { "SLURM_PROCID=3", "ROCKIT_RANK=5", NULL };
	char *torch[] = { "RANK=7", "LOCAL_RANK=2", "WORLD_SIZE=16", NULL };
	char *none[] = { "RANK=abc", "PMI_RANK=-1", "RANKS=3", NULL };
	struct rk_rank r = rk_rank_find(slurm);

	CHECK_I64(r.rank, 3);
	CHECK_I64(r.local_rank, 1);
	CHECK_I64(r.size, 8);
	CHECK_STR(r.variable, "SLURM_PROCID");
	CHECK_I64(rk_rank_find(ours).rank, 5);
	CHECK_I64(rk_rank_find(torch).rank, 7);
	CHECK_I64(rk_rank_find(torch).local_rank, 2);
	CHECK_I64(rk_rank_find(none).rank, -1);
}

TEST(workers_on_one_slurm_task_have_ranks_of_their_own)
{
	char *torch[] = { "SLURM_PROCID=1", "SLURM_STEP_ID=0",
			  "SLURM_JOB_ID=1", "SLURM_LOCALID=0",
			  "SLURM_NTASKS=2", "RANK=13",
			  "LOCAL_RANK=5",   "WORLD_SIZE=16",
			  "PMIX_RANK=1",    NULL };
	char *mpi[] = { "SLURM_PROCID=1",
			"SLURM_STEP_ID=0",
			"SLURM_JOB_ID=1",
			"SLURM_LOCALID=0",
			"SLURM_NTASKS=2",
			"OMPI_COMM_WORLD_RANK=13",
			"OMPI_COMM_WORLD_LOCAL_RANK=5",
			"OMPI_COMM_WORLD_SIZE=16",
			NULL };
	char *pmi[] = { "SLURM_PROCID=4",
			"SLURM_STEP_ID=0",
			"SLURM_JOB_ID=1",
			"SLURM_LOCALID=2",
			"SLURM_NTASKS=8",
			"PMIX_RANK=4",
			NULL };
	char *const *all[] = { torch, mpi };

	for (size_t i = 0; i < 2; i++) {
		CHECK_I64(rk_rank_find(all[i]).rank, 13);
		CHECK_I64(rk_rank_find(all[i]).local_rank, 5);
		CHECK_I64(rk_rank_find(all[i]).size, 16);
	}
	CHECK_I64(rk_rank_find(pmi).rank, 4);
	CHECK_I64(rk_rank_find(pmi).local_rank, 2);
	CHECK_I64(rk_rank_find(pmi).size, 8);
}

TEST(job_node_and_launcher_are_reported)
{
	char *slurm[] = { "SLURM_PROCID=3", "SLURM_STEP_ID=2", "SLURM_JOB_ID=77",
			  "SLURM_NODEID=1", "SLURM_NTASKS=8",  "SLURMD_NODENAME=n2",
			  "PMIX_RANK=3",    "PMIX_NAMESPACE=", NULL };
	char *mpi[] = { "OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=2", "PMIX_NAMESPACE=991",
			"PMIX_RANK=1", NULL };
	char *torch[] = { "RANK=1",
			  "LOCAL_RANK=1",
			  "WORLD_SIZE=2",
			  "TORCHELASTIC_RUN_ID=none",
			  "TORCHELASTIC_RESTART_COUNT=0",
			  "GROUP_RANK=4",
			  NULL };
	struct rk_rank r = rk_rank_find(slurm);

	CHECK_STR(r.job, "77");
	CHECK_STR(r.step, "2");
	CHECK_STR(r.node, "n2");
	CHECK_I64(r.node_id, 1);
	CHECK_STR(r.launcher, "slurm");
	CHECK_STR(r.contradicts, "");
	r = rk_rank_find(mpi);
	CHECK_STR(r.launcher, "openmpi");
	CHECK_STR(r.job, "991");
	CHECK_STR(r.step, "");
	r = rk_rank_find(torch);
	CHECK_STR(r.launcher, "torchrun");
	CHECK_STR(r.job, "");
	CHECK_STR(r.step, "");
	CHECK_I64(r.node_id, 4);
}

TEST(two_launchers_that_disagree_about_as_many_processes_are_named)
{
	char *clash[] = { "OMPI_COMM_WORLD_RANK=2",
			  "OMPI_COMM_WORLD_SIZE=4",
			  "SLURM_PROCID=1",
			  "SLURM_STEP_ID=0",
			  "SLURM_JOB_ID=1",
			  "SLURM_NTASKS=4",
			  NULL };
	char *nested[] = { "OMPI_COMM_WORLD_RANK=2",
			   "OMPI_COMM_WORLD_SIZE=4",
			   "SLURM_PROCID=1",
			   "SLURM_STEP_ID=0",
			   "SLURM_JOB_ID=1",
			   "SLURM_NTASKS=2",
			   NULL };
	char *said[] = { "ROCKIT_RANK=9",
			 "ROCKIT_WORLD_SIZE=4",
			 "SLURM_PROCID=1",
			 "SLURM_STEP_ID=0",
			 "SLURM_JOB_ID=1",
			 "SLURM_NTASKS=4",
			 NULL };
	struct rk_rank r = rk_rank_find(clash);

	CHECK_I64(r.rank, 2);
	CHECK_STR(r.contradicts, "SLURM_PROCID");
	CHECK_I64(r.other_rank, 1);
	CHECK_STR(rk_rank_find(nested).contradicts, "");
	CHECK_STR(rk_rank_find(said).contradicts, "");
}

TEST(ranks_of_mpi_flux_pals_jsm_and_pbs_are_found)
{
	static const struct {
		char *env[6];
		const char *launcher, *job, *step;
		int64_t local, size;
	} jobs[] = {
		{ { "MPI_RANKID=5", "MPI_LOCALRANKID=1", "MPI_NRANKS=8" }, "mpi", "", "", 1, 8 },
		{ { "MPI_RANK=5", "MPI_SIZE=8" }, "mpi", "", "", -1, 8 },
		{ { "FLUX_TASK_RANK=5", "FLUX_TASK_LOCAL_ID=1", "FLUX_JOB_SIZE=8", "FLUX_JOB_ID=f7",
		    "PMI_RANK=5" },
		  "flux",
		  "f7",
		  "",
		  1,
		  8 },
		{ { "PALS_RANKID=5", "PALS_LOCAL_RANKID=1", "PALS_APID=a3", "PBS_JOBID=12",
		    "PMI_SIZE=8" },
		  "pals",
		  "12",
		  "a3",
		  1,
		  8 },
		{ { "JSM_NAMESPACE_RANK=5", "JSM_NAMESPACE_LOCAL_RANK=1", "JSM_NAMESPACE_SIZE=8",
		    "LSB_JOBID=12" },
		  "jsm",
		  "12",
		  "",
		  1,
		  8 },
		{ { "PBS_NODENUM=5", "PBS_O_TASKNUM=8", "PBS_JOBID=12" }, "pbs", "12", "", -1, 8 },
	};
	char *script[] = { "PBS_NODENUM=0", "PBS_JOBID=12", NULL };
	char *inside[] = { "PBS_NODENUM=0", "PBS_O_TASKNUM=2", "OMPI_COMM_WORLD_RANK=5",
			   "OMPI_COMM_WORLD_SIZE=8", NULL };

	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
		struct rk_rank r = rk_rank_find(jobs[i].env);

		CHECK_I64(r.rank, 5);
		CHECK_STR(r.launcher, jobs[i].launcher);
		CHECK_STR(r.job, jobs[i].job);
		CHECK_STR(r.step, jobs[i].step);
		CHECK_I64(r.local_rank, jobs[i].local);
		CHECK_I64(r.size, jobs[i].size);
		CHECK_STR(r.contradicts, "");
	}
	CHECK_I64(rk_rank_find(script).rank, -1);
	CHECK_STR(rk_rank_find(inside).launcher, "openmpi");
}

TEST(a_slurm_batch_script_is_not_a_rank)
{
	char *batch[] = { "SLURM_PROCID=0", "SLURM_JOB_ID=1", NULL };
	char *worker[] = { "SLURM_PROCID=0", "SLURM_JOB_ID=1", "RANK=4", NULL };

	CHECK_I64(rk_rank_find(batch).rank, -1);
	CHECK_I64(rk_rank_find(worker).rank, 4);
}

TEST(ranks_are_chosen_by_a_list_of_ranges)
{
	static const char *const bad[] = { "", "a", "1-", "5-3", "-1", "1,,b", "1-2-3" };
	struct rk_error err = { 0 };
	bool chosen;

	CHECK_I64(rk_rank_chosen("0,8-15", 9, &chosen, &err), 0);
	CHECK(chosen);
	CHECK_I64(rk_rank_chosen("0,8-15", 7, &chosen, &err), 0);
	CHECK(!chosen);
	CHECK_I64(rk_rank_chosen(NULL, 7, &chosen, &err), 0);
	CHECK(chosen);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		err = (struct rk_error){ 0 };
		CHECK_I64(rk_rank_chosen(bad[i], 0, &chosen, &err), RK_E_USAGE);
	}
}

TEST(all_ranks_of_a_list_are_chosen_at_once)
{
	static const char *const lists[] = { NULL,    "",      "0,8-15",         "3,3-5,4-4,9",
					     "15-20", "17-18", "1,,b",           "5-3",
					     "0-2,1", "7,",    "0-4000000000000" };
	bool chosen[16], one;

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		CHECK_I64(rk_ranks_chosen(lists[i], 16, chosen, NULL), 0);
		for (int64_t r = 0; r < 16; r++)
			CHECK(chosen[r] == (rk_rank_chosen(lists[i], r, &one, NULL) < 0 || one));
	}
	CHECK_I64(rk_ranks_chosen("1", 0, chosen, NULL), 0);
}

static const char *key_of(const char *line)
{
	struct rk_list l = { 0 };
	const char *key;

	rk_list_split(&l, line, " ");
	key = rk_launcher_key(&l);
	rk_list_release(&l);
	return key;
}

TEST(launchers_in_the_command_are_recognised)
{
	CHECK_STR(key_of("torchrun --nproc_per_node=8 t.py"), "RANK");
	CHECK_STR(key_of("/venv/bin/python3 -u -m torch.distributed.run t.py"), "RANK");
	CHECK_STR(key_of("mpirun -n 4 ./app"), "mpi");
	CHECK_STR(key_of("flux run -n 4 ./app"), "FLUX_TASK_RANK");
	CHECK_STR(key_of("jsrun -n 4 ./app"), "JSM_NAMESPACE_RANK");
	CHECK(!key_of("flux start ./script"));
	CHECK(!key_of("python t.py -m torch.distributed.run"));
	CHECK(!key_of("./torchrunner"));
}

TEST(lists_are_appended_to_and_other_variables_are_kept)
{
	char *base[] = { "LD_PRELOAD=/a.so",
			 "NCCL_DEBUG=WARN",
			 "ROCPROF_OUTPUT_PATH=/old",
			 "ROCPROFSYS_X=1",
			 "EMPTY=",
			 "HSA_TOOLS_LIB=/a.so /b.so",
			 NULL };
	struct rk_list set = { 0 }, env = { 0 }, kept = { 0 };

	rk_list_add(&set, "LD_PRELOAD=/b.so");
	rk_list_add(&set, "NCCL_DEBUG=INFO");
	rk_list_add(&set, "NEW=x=y");
	rk_list_add(&set, "HSA_TOOLS_LIB=/c.so");
	rk_env_make(base, &set, &env);
	rk_env_kept(base, &set, &kept);
	CHECK_STR(rk_list_value(&env, "LD_PRELOAD"), "/a.so:/b.so");
	/* of several HSA tools the first has the right times */
	CHECK_STR(rk_list_value(&env, "HSA_TOOLS_LIB"), "/c.so /a.so /b.so");
	CHECK_STR(rk_list_value(&env, "NCCL_DEBUG"), "WARN");
	CHECK_STR(rk_list_value(&env, "NEW"), "x=y");
	CHECK_STR(rk_list_value(&env, "ROCPROFSYS_X"), "1");
	CHECK_STR(rk_list_value(&env, "EMPTY"), "");
	CHECK(!rk_list_value(&env, "ROCPROF_OUTPUT_PATH"));
	CHECK_U64(kept.n, 1);
	CHECK_STR(kept.v[0], "NCCL_DEBUG");
	rk_list_release(&set);
	rk_list_release(&env);
	rk_list_release(&kept);
}

static const char *name_of(struct rk_bytes *b, const char *dir, int64_t rank)
{
	struct rk_error err = { 0 };

	rk_bytes_clear(b);
	CHECK_I64(rk_run_dir_name(dir, rank, b, &err), 0);
	return rk_bytes_str(b);
}

TEST(a_run_directory_is_absolute_and_has_a_folder_per_rank)
{
	struct rk_bytes b;

	rk_bytes_init(&b, 1 << 16);
	CHECK_STR(name_of(&b, "/x/y//", -1), "/x/y");
	CHECK_STR(name_of(&b, "/x", 12), "/x/rank-00012");
	CHECK(name_of(&b, "z", -1)[0] == '/');
	CHECK(strstr(name_of(&b, NULL, -1), "/rockit_output/2") != NULL);
	rk_bytes_release(&b);
}

TEST(a_directory_that_is_not_empty_is_refused_without_force)
{
	struct rk_error err = { 0 };
	struct world w;
	char dir[600], file[700];

	world_open(&w, 1);
	snprintf(dir, sizeof(dir), "%s/a/b", w.dir);
	CHECK_I64(rk_run_dir_make(dir, false, &err), 0);
	CHECK_I64(rk_run_dir_make(dir, false, &err), 0);
	snprintf(file, sizeof(file), "%s/run.json", dir);
	CHECK_I64(rk_write_file(file, "{}", 2, &err), 0);
	CHECK_I64(rk_run_dir_make(dir, false, &err), RK_E_IO);
	err = (struct rk_error){ 0 };
	CHECK_I64(rk_run_dir_make(dir, true, &err), 0);
	world_close(&w);
}

TEST(clearing_a_run_directory_leaves_what_is_not_ours)
{
	static const char *const names[] = { "run.json", "rocprof_raw/pass_1/x.csv",
					     "memcpy.parquet", "rank-00001/run.json", "notes.txt" };
	struct rk_error err = { 0 };
	struct world w;

	world_open(&w, 1);
	for (size_t i = 0; i < 5; i++)
		world_text(&w, names[i], "x");
	CHECK_I64(rk_run_dir_make(w.dir, true, &err), 0);
	for (size_t i = 0; i < 5; i++)
		CHECK(world_has(&w, names[i]) == (i == 4));
	world_close(&w);
}

TEST(a_directory_of_somebody_else_is_not_taken_by_force)
{
	static const char *const names[] = { "mine.parquet", "rank-first.csv", "memcpy.parquet" };
	struct rk_error err = { 0 };
	struct world w;

	world_open(&w, 1);
	for (size_t i = 0; i < 3; i++)
		world_text(&w, names[i], "x");
	CHECK_I64(rk_run_dir_make(w.dir, true, &err), RK_E_IO);
	for (size_t i = 0; i < 3; i++)
		CHECK(world_has(&w, names[i]));
	/* beside a run they are left as well, but for what has a name of ours */
	world_text(&w, "run.json", "{}");
	err = (struct rk_error){ 0 };
	CHECK_I64(rk_run_dir_make(w.dir, true, &err), 0);
	for (size_t i = 0; i < 3; i++)
		CHECK(world_has(&w, names[i]) == (i < 2));
	world_close(&w);
}

TEST(an_empty_directory_is_taken_by_one_run_alone)
{
	struct rk_error err = { 0 };
	struct world w;
	char raw[700];

	world_open(&w, 1);
	snprintf(raw, sizeof(raw), "%s/rocprof_raw", w.dir);
	CHECK_I64(rk_run_dir_claim(raw, &err), 0);
	CHECK_I64(rk_run_dir_claim(raw, &err), RK_E_IO);
	CHECK(strstr(err.message, "another run") && !strstr(err.message, "rocprof_raw"));
	world_close(&w);
}

TEST(a_name_that_no_path_can_have_is_reported)
{
	struct rk_error err = { 0 };
	struct rk_bytes name, b;

	rk_bytes_init(&name, 1 << 17);
	rk_bytes_init(&b, 1 << 16);
	for (int i = 0; i < 1000; i++)
		rk_bytes_puts(&name, "/abcdefghi");
	CHECK_I64(rk_run_dir_name(rk_bytes_str(&name), -1, &b, &err), RK_E_USAGE);
	rk_bytes_release(&name);
	rk_bytes_release(&b);
}
