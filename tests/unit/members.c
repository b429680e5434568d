/* members.c - which ranks a run has, what is known of them, and what is wrong with them. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "ranks/gather.h"
#include "run/run_ranks.h"
#include "tap.h"
#include "world.h"

#define TRACE                                                                                  \
	"Kind,Agent_Id,Queue_Id,Stream_Id,Thread_Id,Dispatch_Id,Kernel_Id,Kernel_Name,"        \
	"Correlation_Id,Start_Timestamp,End_Timestamp,LDS_Block_Size,Scratch_Size,VGPR_Count," \
	"Accum_VGPR_Count,SGPR_Count,Workgroup_Size_X,Workgroup_Size_Y,Workgroup_Size_Z,"      \
	"Grid_Size_X,Grid_Size_Y,Grid_Size_Z\n"                                                \
	"KERNEL_DISPATCH,Agent 4,1,1,8,1,1,add,1,100,200,0,0,8,0,8,64,1,1,64,1,1\n"

/* A rank's run.json; `more` are members of the object, each with a comma before it. */
#define RECORD(more)                                                                            \
	"{\"schema\":1,\"rockit\":\"0.1.0\",\"state\":\"done\",\"exit_status\":0,\"job\":\"7\"" \
	",\"tool\":{\"name\":\"opencl\",\"version\":\"3.0\"}" more "}"

struct job {
	struct world w;
	struct rk_run *run;
	struct rk_members m;
};

static void begin(struct job *j)
{
	*j = (struct job){ .run = NULL };
	world_open(&j->w, 1);
}

/* DIR/rank-N/ with a trace and, unless it is NULL, a run.json. */
static void put_rank(struct job *j, const char *folder, const char *record)
{
	char name[256];

	snprintf(name, sizeof(name), "%s/7_kernel_trace.csv", folder);
	world_text(&j->w, name, TRACE);
	snprintf(name, sizeof(name), "%s/run.json", folder);
	if (record)
		world_text(&j->w, name, record);
}

static int look(struct job *j, struct rk_error *err)
{
	struct rk_run_options opt = { .threads = 1 };
	const char *paths[] = { j->w.dir };
	int rc = rk_run_open(paths, 1, &opt, &j->run, err);

	return rc == 0 ? rk_members_find(j->run, &j->m, err) : rc;
}

/* Ends what look began; files stay. */
static void forget(struct job *j)
{
	rk_members_release(&j->m);
	rk_run_close(j->run);
	j->run = NULL;
}

static void end(struct job *j)
{
	forget(j);
	world_close(&j->w);
}

/* "kind rank count: text" of each, a line each, the world's folder as '@'. */
static const char *problems(struct job *j)
{
	struct rk_bytes *b = &j->w.text;
	size_t dir = strlen(j->w.dir);

	rk_bytes_clear(b);
	for (size_t i = 0; i < j->m.nproblems; i++) {
		const struct rk_ranks_problem *p = &j->m.problems[i];

		rk_bytes_printf(b, "%s%s %d %d: ", i ? "\n" : "", p->kind, (int)p->rank,
				(int)p->count);
		for (const char *t = p->text; *t; t++) {
			bool here = !strncmp(t, j->w.dir, dir);

			rk_bytes_printf(b, "%c", here ? '@' : *t);
			t += here ? dir - 1 : 0;
		}
	}
	return rk_bytes_str(b);
}

static unsigned used_files(const struct job *j)
{
	unsigned n = 0;

	for (size_t i = 0; i < j->run->nfound; i++)
		n += j->run->found[i].used != 0;
	return n;
}

TEST(a_whole_job_has_its_facts_and_no_problems)
{
	struct job j;
	const struct rk_member *v;

	begin(&j);
	put_rank(&j, "rank-00000",
		 RECORD(",\"rank\":0,\"size\":2,\"node\":\"a\",\"local_rank\":0"));
	put_rank(&j, "rank-00001",
		 RECORD(",\"rank\":1,\"size\":2,\"node\":\"b\",\"step\":\"3\",\"ledger\":{"
			"\"clock_error_ns\":40},\"clocks\":{\"start\":{\"boottime_ns\":5,"
			"\"realtime_ns\":1000,\"error_ns\":2,\"realtime_error_ns\":30},\"end\":{"
			"\"boottime_ns\":9,\"realtime_ns\":1004,\"error_ns\":2}}"));
	CHECK_I64(look(&j, &j.w.err), 0);
	CHECK_STR(problems(&j), "");
	CHECK_U64(j.m.n, 2);
	CHECK_U64(j.m.size, 2);
	CHECK_U64(j.m.nodes, 2);
	CHECK_STR(j.m.job, "7");
	v = &j.m.v[1];
	CHECK_I64(v->rank, 1);
	CHECK_STR(v->node, "b");
	CHECK_STR(v->step, "3");
	CHECK_STR(v->tool, "opencl");
	CHECK_STR(v->tool_version, "3.0");
	CHECK_STR(v->state, "done");
	CHECK_I64(v->local_rank, -1);
	CHECK_I64(v->clock_error_ns, 40);
	CHECK_U64(v->nsnapshots, 2);
	CHECK_I64(v->snapshots[0].error_ns, 32);
	CHECK_I64(v->snapshots[1].error_ns, -1);
	CHECK(v->machine != j.m.v[0].machine);
	end(&j);
}

/* Every eighth of 1,024 ranks: more text than other members of a record have. */
TEST(a_long_list_of_ranks_is_not_cut)
{
	char list[1024] = "0", record[2048];
	struct job j;

	for (int i = 8; i < 1024; i += 8)
		snprintf(list + strlen(list), sizeof(list) - strlen(list), ",%d", i);
	begin(&j);
	for (int i = 0; i < 1016; i += 8) {
		char folder[32];

		snprintf(folder, sizeof(folder), "rank-%05d", i);
		snprintf(
			record, sizeof(record),
			"{\"schema\":1,\"rockit\":\"1\",\"state\":\"done\",\"job\":\"7\",\"rank\":%d,"
			"\"size\":1024,\"node\":\"a\",\"ranks\":\"%s\"}",
			i, list);
		put_rank(&j, folder, record);
	}
	CHECK_I64(look(&j, &j.w.err), 0);
	CHECK_STR(problems(&j), "missing 1016 1: rank 1016 of 1024 is missing");
	end(&j);
}

TEST(a_rank_whose_node_is_not_known_adds_no_node)
{
	struct job j;

	begin(&j);
	put_rank(&j, "rank-00000", RECORD(",\"rank\":0,\"node\":\"a\""));
	put_rank(&j, "rank-00001", RECORD(",\"rank\":1,\"node\":\"b\""));
	put_rank(&j, "rank-00002", "{");
	CHECK_I64(look(&j, &j.w.err), 0);
	CHECK_U64(j.m.n, 3);
	CHECK_U64(j.m.nodes, 2);
	end(&j);
	begin(&j);
	put_rank(&j, "rank-00000", NULL);
	put_rank(&j, "rank-00001", NULL);
	CHECK_I64(look(&j, &j.w.err), 0);
	CHECK_U64(j.m.nodes, 0);
	end(&j);
}

TEST(ranks_that_are_not_there_are_named_in_ranges)
{
	struct job j;

	begin(&j);
	put_rank(&j, "rank-0", RECORD(",\"rank\":0,\"size\":16"));
	put_rank(&j, "rank-4", RECORD(",\"rank\":4,\"size\":16"));
	put_rank(&j, "rank-6", RECORD(",\"rank\":6,\"size\":16"));
	CHECK_I64(look(&j, &j.w.err), 0);
	CHECK_STR(problems(&j), "missing 1 13: ranks 1-3, 5, 7-15 of 16 are missing");
	end(&j);
}

TEST(only_ranks_that_were_to_be_profiled_are_missed)
{
	struct job j;

	begin(&j);
	put_rank(&j, "rank-0", RECORD(",\"rank\":0,\"size\":16,\"ranks\":\"0,8-10\""));
	put_rank(&j, "rank-8", RECORD(",\"rank\":8,\"size\":16,\"ranks\":\"0,8-10\""));
	CHECK_I64(look(&j, &j.w.err), 0);
	CHECK_STR(problems(&j), "missing 9 2: ranks 9, 10 of 16 are missing");
	end(&j);
}

TEST(without_a_run_json_gaps_are_missing)
{
	struct job j;

	begin(&j);
	put_rank(&j, "rank-0", NULL);
	put_rank(&j, "rank-2", NULL);
	CHECK_I64(look(&j, &j.w.err), 0);
	CHECK_STR(problems(&j), "missing 1 1: rank 1 is missing; the highest rank is 2");
	CHECK_U64(j.m.n, 2);
	CHECK_STR(j.m.v[1].tool, "");
	CHECK(j.m.v[0].machine != j.m.v[1].machine);
	end(&j);
}

TEST(a_size_beyond_reason_is_only_counted)
{
	struct job j;

	begin(&j);
	put_rank(&j, "rank-0", RECORD(",\"size\":2147483647"));
	put_rank(&j, "rank-1", RECORD(",\"size\":2147483647"));
	CHECK_I64(look(&j, &j.w.err), 0);
	CHECK_STR(problems(&j), "missing -1 0: only 2 of 2147483647 ranks are present");
	end(&j);
}

TEST(of_two_folders_of_a_rank_one_is_used)
{
	struct job j;

	begin(&j);
	put_rank(&j, "rank-0", RECORD(""));
	put_rank(&j, "rank-1", RECORD(",\"state\":\"running\""));
	put_rank(&j, "rank-01", RECORD(""));
	CHECK_I64(look(&j, &j.w.err), 0);
	CHECK_STR(problems(&j), "duplicate 1 1: rank 1 has two folders: '@/rank-01' is used, "
				"'@/rank-1' is not (not finished)");
	CHECK_U64(j.m.n, 2);
	CHECK_U64(used_files(&j), 2);
	end(&j);
}

TEST(two_jobs_side_by_side_are_reported_in_one_sentence)
{
	struct job j;

	begin(&j);
	put_rank(&j, "a/rank-0", RECORD(",\"size\":2"));
	put_rank(&j, "a/rank-1", RECORD(",\"size\":2"));
	put_rank(&j, "b/rank-0", RECORD(",\"size\":2,\"job\":\"8\""));
	put_rank(&j, "b/rank-1", RECORD(",\"size\":2,\"job\":\"8\""));
	CHECK_I64(look(&j, &j.w.err), 0);
	CHECK_STR(problems(&j),
		  "duplicate 0 2: ranks 0, 1 have two folders each: '@/a/rank-0' and so on is "
		  "used, '@/b/rank-0' is not (from another job)");
	CHECK_U64(used_files(&j), 2);
	CHECK_STR(j.m.job, "7");
	end(&j);
}

TEST(folders_without_run_json_are_counted_both)
{
	struct job j;

	begin(&j);
	put_rank(&j, "x/rank-0", NULL);
	put_rank(&j, "y/rank-0", NULL);
	put_rank(&j, "y/rank-1", NULL);
	CHECK_I64(look(&j, &j.w.err), 0);
	CHECK_STR(problems(&j),
		  "duplicate 0 1: rank 0 has two folders: '@/x/rank-0' and '@/y/rank-0'; it is "
		  "unclear which is current, so both are counted");
	CHECK_U64(used_files(&j), 3);
	end(&j);
}

TEST(a_rank_that_an_earlier_job_left_is_left_out)
{
	struct job j;

	begin(&j);
	put_rank(&j, "job/rank-0", RECORD(",\"size\":2"));
	put_rank(&j, "job/rank-1", RECORD(",\"size\":2"));
	put_rank(&j, "job/rank-2", RECORD(",\"size\":4,\"job\":\"6\""));
	CHECK_I64(look(&j, &j.w.err), 0);
	CHECK_STR(problems(&j), "other-job 2 1: rank 2 in '@/job/' is from job 6 of 4 ranks, "
				"others from job 7 of 2 ranks; skipped");
	CHECK_U64(j.m.n, 2);
	CHECK_U64(used_files(&j), 2);
	end(&j);
}

TEST(ranks_in_the_working_directory_are_in_dot)
{
	static const char *const paths[] = { "rank-0", "rank-1", "rank-2" };
	const struct rk_run_options opt = { .threads = 1 };
	char before[4096];
	struct job j;

	begin(&j);
	put_rank(&j, "rank-0", RECORD(""));
	put_rank(&j, "rank-1", RECORD(""));
	put_rank(&j, "rank-2", RECORD(",\"job\":\"6\""));
	CHECK(getcwd(before, sizeof(before)) && chdir(j.w.dir) == 0);
	CHECK_I64(rk_run_open(paths, 3, &opt, &j.run, &j.w.err), 0);
	CHECK_I64(rk_members_find(j.run, &j.m, &j.w.err), 0);
	CHECK_STR(problems(&j), "other-job 2 1: rank 2 in '.' is from job 6, others from job 7; "
				"skipped");
	CHECK_I64(chdir(before), 0);
	end(&j);
}

TEST(a_job_for_each_rank_leaves_nobody_out)
{
	struct job j;

	begin(&j);
	put_rank(&j, "rank-0", RECORD(""));
	put_rank(&j, "rank-1", RECORD(",\"job\":\"8\""));
	put_rank(&j, "rank-2", RECORD(",\"job\":\"9\""));
	CHECK_I64(look(&j, &j.w.err), 0);
	CHECK_STR(problems(&j),
		  "other-job 1 2: ranks 1, 2 in '@/' are from job 8, others from job 7; "
		  "all are counted");
	CHECK_U64(j.m.n, 3);
	CHECK_U64(used_files(&j), 3);
	end(&j);
}

TEST(ranks_that_did_not_end_well_are_named)
{
	struct job j;

	begin(&j);
	put_rank(&j, "rank-0", RECORD(",\"size\":6"));
	put_rank(&j, "rank-1", RECORD(",\"state\":\"running\",\"scratch\":\"/tmp/x on n1\""));
	world_text(&j.w, "rank-2/run.json", RECORD(",\"state\":\"running\""));
	put_rank(&j, "rank-3", RECORD(",\"state\":\"stopped\",\"exit_status\":143"));
	put_rank(&j, "rank-4", "{\"schema\":1,\"rockit\":\"0.1");
	put_rank(&j, "rank-5", RECORD(",\"ledger\":{\"delivered\":{\"tables\":{\"kernels\":0}}}"));
	CHECK_I64(look(&j, &j.w.err), 0);
	CHECK_STR(
		problems(&j),
		"broken 4 1: rank 4 has an unreadable run.json: the JSON is truncated at byte 25\n"
		"broken 1 1: rank 1 did not finish: killed, cancelled, node lost, or still "
		"running; raw files are in /tmp/x on n1\n"
		"broken 2 1: rank 2 did not finish: killed, cancelled, node lost, or still "
		"running\n"
		"broken 3 1: rank 3 was stopped before it was done\n"
		"empty 2 2: ranks 2, 5 have no kernels\n"
		"broken 3 1: the program of rank 3 exited with status 143 (signal 15)");
	CHECK_U64(j.m.n, 6);
	end(&j);
}

TEST(versions_that_differ_are_named_with_their_ranks)
{
	struct job j;

	begin(&j);
	put_rank(&j, "rank-0", RECORD(""));
	put_rank(&j, "rank-1", RECORD(",\"tool\":{\"name\":\"opencl\",\"version\":\"3.1\"}"));
	put_rank(&j, "rank-2", RECORD(",\"rockit\":\"0.2.0\""));
	CHECK_I64(look(&j, &j.w.err), 0);
	CHECK_STR(problems(&j),
		  "versions 0 3: recorded by different versions: opencl 3.0 on ranks 0, 2, "
		  "opencl 3.1 on rank 1\n"
		  "versions 0 3: recorded by different versions: rockit 0.1.0 on ranks 0, 1, "
		  "rockit 0.2.0 on rank 2");
	end(&j);
}

#define CLOCK(boot, real) \
	",\"clocks\":{\"start\":{\"boottime_ns\":" boot ",\"realtime_ns\":" real ",\"error_ns\":1}}"

TEST(one_name_for_two_machines_is_two_clocks)
{
	struct job j;

	begin(&j);
	put_rank(&j, "rank-0",
		 RECORD(",\"node\":\"n\"" CLOCK("1000000000", "1700000000000000000")));
	put_rank(&j, "rank-1",
		 RECORD(",\"node\":\"n\"" CLOCK("2000000000", "1700000001000000009")));
	put_rank(&j, "rank-2",
		 RECORD(",\"node\":\"n\"" CLOCK("9000000000", "1700000000000000000")));
	put_rank(&j, "rank-3",
		 RECORD(",\"node\":\"m\"" CLOCK("9000000000", "1700000000000000000")));
	CHECK_I64(look(&j, &j.w.err), 0);
	CHECK_STR(problems(&j), "nodes 0 3: several machines are named 'n', or the machine was "
				"rebooted: ranks 0, 1 and rank 2 have different clocks");
	CHECK(j.m.v[0].machine == j.m.v[1].machine);
	CHECK(j.m.v[2].machine != j.m.v[0].machine && j.m.v[2].machine != j.m.v[3].machine);
	CHECK_U64(j.m.nodes, 2);
	end(&j);
}

TEST(the_id_of_a_boot_tells_machines_better_than_names)
{
	struct job j;

	begin(&j);
	put_rank(&j, "rank-0", RECORD(",\"node\":\"c1\",\"boot_id\":\"x\""));
	put_rank(&j, "rank-1", RECORD(",\"node\":\"c2\",\"boot_id\":\"x\""));
	put_rank(&j, "rank-2", RECORD(",\"node\":\"c2\",\"boot_id\":\"y\""));
	CHECK_I64(look(&j, &j.w.err), 0);
	CHECK(j.m.v[0].machine == j.m.v[1].machine);
	CHECK(j.m.v[1].machine != j.m.v[2].machine);
	CHECK_U64(j.m.nproblems, 1);
	CHECK_STR(j.m.nproblems ? j.m.problems[0].kind : "", "nodes");
	end(&j);
}

TEST(folders_of_any_name_have_the_rank_of_their_run_json)
{
	struct job j;

	begin(&j);
	put_rank(&j, "first", RECORD(",\"rank\":0,\"node\":\"a\""));
	put_rank(&j, "second", RECORD(",\"rank\":1,\"node\":\"b\""));
	put_rank(&j, "rank-7", RECORD(",\"rank\":2"));
	CHECK_I64(look(&j, &j.w.err), 0);
	CHECK_STR(problems(&j),
		  "missing 2 5: ranks 2-6 are missing; the highest rank is 7\n"
		  "broken 7 1: rank 7 has the run.json of another rank ('@/rank-7': rank 2); the "
		  "folder names are used");
	CHECK_U64(j.m.n, 3);
	CHECK_STR(j.m.v[1].node, "b");
	end(&j);
}

TEST(a_run_of_one_process_is_not_a_job)
{
	struct job j;

	begin(&j);
	put_rank(&j, "run", RECORD(",\"node\":\"a\""));
	CHECK_I64(look(&j, &j.w.err), 0);
	CHECK_U64(j.m.n, 0);
	CHECK_STR(problems(&j), "");
	end(&j);
}

TEST(what_lies_above_ranks_speaks_of_none_of_them)
{
	struct job j;

	begin(&j);
	put_rank(&j, "rank-0", NULL);
	put_rank(&j, "rank-1", NULL);
	world_text(&j.w, "run.json", RECORD(",\"node\":\"login\",\"rank\":5,\"size\":9"));
	CHECK_I64(look(&j, &j.w.err), 0);
	CHECK_U64(j.m.n, 2);
	CHECK_STR(j.m.v[0].node, "");
	CHECK_STR(problems(&j), "");
	end(&j);
}

/* Rank, node and clock of all kernels. */
static const char *rows(struct job *j)
{
	uint64_t want = UINT64_C(1) << RK_K_RANK | UINT64_C(1) << RK_K_NODE |
			UINT64_C(1) << RK_K_CLOCK;
	struct rk_source *src = NULL;

	forget(j);
	CHECK_I64(look(j, &j->w.err), 0);
	CHECK_I64(rk_run_scan(j->run, RK_KERNELS, want, &src, &j->w.err), 0);
	j->w.ctx.names = j->run->ctx.names;
	return world_drain(&j->w, src);
}

TEST(rows_have_the_node_and_the_rank_of_their_run_json)
{
	struct rk_strtab *names;
	struct job j;

	begin(&j);
	names = j.w.ctx.names;
	put_rank(&j, "a/rank-0", RECORD(",\"rank\":0,\"node\":\"n0\""));
	put_rank(&j, "a/rank-1", RECORD(",\"rank\":1,\"node\":\"[host]\""));
	put_rank(&j, "b", RECORD(",\"rank\":3,\"node\":\"n1\""));
	put_rank(&j, "c", RECORD(",\"node\":\"n2\""));
	put_rank(&j, "d", "{\"node\":\"of somebody else\"}");
	world_text(&j.w, "a/run.json", RECORD(",\"node\":\"login\""));
	CHECK_STR(rows(&j), "node=n0|rank=0|clock=boottime\nrank=1|clock=boottime\n"
			    "node=n1|rank=3|clock=boottime\nnode=n2|clock=boottime\n"
			    "clock=boottime\n");
	j.w.ctx.names = names;
	end(&j);
}

TEST(ranks_of_a_launcher_in_the_command_are_here_when_their_times_are)
{
	struct job j;

	begin(&j);
	put_rank(&j, "rank-0/rocprof_raw", NULL);
	put_rank(&j, "rank-1/rocprof_raw", NULL);
	world_text(
		&j.w, "run.json",
		RECORD(",\"node\":\"n\",\"clocks\":{\"start\":{\"boottime_ns\":50,\"realtime_ns\":9"
		       "},\"end\":{\"boottime_ns\":5000,\"realtime_ns\":9000}}"));
	CHECK_I64(look(&j, &j.w.err), 0);
	CHECK_STR(j.m.v[1].node, "n");
	CHECK(j.m.v[0].machine == j.m.v[1].machine);
	forget(&j);
	world_text(
		&j.w, "run.json",
		RECORD(",\"node\":\"n\",\"clocks\":{\"start\":{\"boottime_ns\":9000000000,"
		       "\"realtime_ns\":9},\"end\":{\"boottime_ns\":9900000000,\"realtime_ns\":9000}}"));
	CHECK_I64(look(&j, &j.w.err), 0);
	CHECK_STR(j.m.v[1].node, "");
	CHECK(j.m.v[0].machine != j.m.v[1].machine);
	end(&j);
}

TEST(run_json_of_any_shape_is_read_without_harm)
{
	static const char *const bad[] = {
		"",
		"[]",
		"7",
		"null",
		"{}",
		"{\"rockit\":1}",
		"{\"rank\":-1}",
		"{\"rank\":99999999999999999999,\"size\":-3}",
		"{\"rank\":\"0\",\"size\":\"2\",\"node\":{},\"job\":[1,2],\"tool\":\"x\"}",
		"{\"rank\":1e3,\"node\":\"\\u0000\\u001b[2J\",\"clocks\":{\"start\":[],\"end\":7}}",
		"{\"rockit\":\"x\",\"clocks\":{\"start\":{\"boottime_ns\":-5,\"realtime_ns\":1}}}",
		"{\"ledger\":{\"clock_error_ns\":\"1\",\"delivered\":[{\"tables\":{}}]}}",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct rk_run_record r = { .dir = NULL };
		struct rk_error err = { 0 };

		CHECK_I64(rk_record_parse(bad[i], strlen(bad[i]), &r, &err), 0);
		CHECK(r.rank >= -1 && r.rank <= INT32_MAX && r.size >= -1 && r.nsnapshots <= 2);
		for (unsigned k = 0; k < RK_REC_NTEXTS; k++)
			CHECK(r.text[k] && !strpbrk(r.text[k], "\033\n"));
		CHECK((i > 3) == !r.fault);
		rk_record_clear(&r);
	}
}

TEST(members_fail_cleanly_without_memory)
{
	bool failed = true;
	struct job j;

	begin(&j);
	put_rank(&j, "a/rank-0", RECORD(",\"size\":4,\"node\":\"n\",\"boot_id\":\"x\""));
	put_rank(&j, "a/rank-1", RECORD(",\"size\":4,\"node\":\"n\",\"boot_id\":\"y\""));
	put_rank(&j, "a/rank-2", "{");
	put_rank(&j, "b/rank-0", RECORD(",\"size\":4,\"job\":\"6\",\"state\":\"running\""));
	for (uint64_t n = 1; failed && n < 20000; n++) {
		struct rk_error err = { 0 };
		int rc;

		rk_alloc_fail_after(n);
		rc = look(&j, &err);
		failed = rk_alloc_failed();
		rk_alloc_fail_after(0);
		CHECK(rc == 0 || (rc == RK_E_NOMEM && err.code == RK_E_NOMEM));
		if (rc == 0)
			CHECK_U64(j.m.nproblems, 4);
		forget(&j);
	}
	CHECK(!failed);
	end(&j);
}
