/* slurm.c - batch scripts that pass on any word, and the parts of a job. */
#include "rockit/slurm.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "io/child.h"
#include "io/file.h"
#include "rockit/rockit.h"
#include "slurm/slurm_script.h"
#include "tap.h"
#include "world.h"

static char *one_program[] = { "./app", NULL };

static const char *script_of(struct world *w, struct rk_slurm_options o)
{
	w->err = (struct rk_error){ 0 };
	o.argv = o.argv ? o.argv : one_program;
	o.dir = o.dir ? o.dir : "/d";
	o.rockit = "/bin/rockit";
	rk_bytes_clear(&w->text);
	if (rk_slurm_merge(&o, NULL, &w->err) < 0 || rk_slurm_write(&o, &w->text, &w->err) < 0)
		return NULL;
	return rk_bytes_str(&w->text);
}

/* A launcher that leaves its words in $OUT, each ended by a NUL. */
static void fake_launchers(struct world *w)
{
	static const char text[] = "#!/bin/sh\nprintf '%s\\0' \"$@\" >\"$OUT\"\n";
	static const char *const names[] = { "bin/srun", "bin/mpirun" };

	for (size_t i = 0; i < 2; i++)
		CHECK(chmod(world_text(w, names[i], text), 0755) == 0);
	CHECK(chmod(world_text(w, "bin/scontrol", "#!/bin/sh\nprintf 'one\\ntwo\\n'\n"), 0755) ==
	      0);
}

/* What the script gives its launcher, NUL-separated, in `ret`. */
static size_t run_script(struct world *w, const char *script, char *ret, size_t size)
{
	char path[700], out[700], file[600], *argv[] = { "sh", file, NULL };
	char *envp[] = {
		path, out, "SLURM_JOB_NODELIST=x", "SLURM_JOB_ID=30007", "SLURM_JOB_NUM_NODES=2",
		NULL
	};
	struct rk_child_options opt = { .argv = argv, .envp = envp, .out_fd = -1, .err_fd = -1 };
	struct rk_child_result did = { 0 };
	struct rk_file *f = NULL;
	size_t len = 0;

	snprintf(file, sizeof(file), "%s", world_text(w, "job.sh", script));
	snprintf(path, sizeof(path), "PATH=%s/bin:/usr/bin:/bin", w->dir);
	snprintf(out, sizeof(out), "OUT=%s/out", w->dir);
	CHECK_I64(rk_child_run(&opt, &did, &w->err), 0);
	CHECK_I64(did.status, 0);
	CHECK_I64(rk_file_open(out + 4, &f, &w->err), 0);
	if (f)
		CHECK_I64(rk_file_read(f, ret, size, &len, &w->err), 0);
	rk_file_close(f);
	return len;
}

/* Words that shells and batch systems stumble over, in every order. */
static void odd_word(uint64_t *random, char *ret, size_t size)
{
	static const char *const pieces[] = { "'",     "\"",         "\\",   "$HOME", "`id`", "\n",
					      "\r\n",  "\r",         " ",    "\t",    "-",    "--",
					      "$(id)", "#SBATCH -x", "*",    "?",     "~",    ";",
					      "&",     "\xc3\xa9",   "\xff", "\x1b",  "\x01", "a",
					      "!",     "{a,b}",      "\\\n", "%s" };
	uint64_t n = world_random(random) % 6;
	size_t len = 0;

	for (ret[0] = '\0'; n--;) {
		const char *p = pieces[world_random(random) % (sizeof(pieces) / sizeof(*pieces))];

		if (len + strlen(p) + 1 < size)
			len += (size_t)snprintf(ret + len, size - len, "%s", p);
	}
}

static void check_words(struct world *w, uint64_t *random, const char *const *before,
			size_t nbefore)
{
	enum { WORDS = 8 };
	char words[WORDS][128], *argv[WORDS + 2] = { "./app" }, want[4096], got[4096];
	size_t len = 0, n;
	const char *script;

	for (size_t i = 0; i < WORDS; i++) {
		odd_word(random, words[i], sizeof(words[i]));
		argv[i + 1] = words[i];
	}
	for (size_t i = 0; i < nbefore; i++)
		len += (size_t)snprintf(want + len, sizeof(want) - len, "%s", before[i]) + 1;
	for (char **a = argv; *a; a++)
		len += (size_t)snprintf(want + len, sizeof(want) - len, "%s", *a) + 1;
	script = script_of(w, (struct rk_slurm_options){ .argv = argv,
							 .dir = "/d '\n"
								"e",
							 .output = "o" });
	if (!CHECK(script != NULL))
		return;
	CHECK(!strstr(script, "\r\n"));
	n = run_script(w, script, got, sizeof(got));
	if (CHECK_U64(n, len))
		CHECK_MEM(got, want, len);
}

TEST(a_script_passes_on_every_word_as_it_is)
{
	static const char *const before[] = {
		"--ntasks=1", "--ntasks-per-node=1", "/bin/rockit", "run", "--dir", "/d '\ne", "--"
	};
	uint64_t random = 88172645463325252u;
	struct world w;

	world_open(&w, 1);
	fake_launchers(&w);
	for (int i = 0; i < 60; i++)
		check_words(&w, &random, before, 7);
	world_close(&w);
}

TEST(torchrun_starts_one_task_a_node_and_meets_on_the_first)
{
	static const char want[] =
		"--ntasks-per-node=1\0torchrun\0--nnodes=2\0--nproc_per_node=4\0--rdzv_id=30007\0"
		"--rdzv_backend=c10d\0--rdzv_endpoint=one:20007\0--max-restarts=0\0--no_python\0"
		"/bin/rockit\0run\0--preset\0multinode\0--ranks\0000-3\0--dir\0/d\0--\0./app";
	struct world w;
	char got[4096];
	const char *script;

	world_open(&w, 1);
	fake_launchers(&w);
	script = script_of(&w, (struct rk_slurm_options){ .nodes = 2,
							  .gpus_per_node = 4,
							  .launcher = "torchrun",
							  .launcher_args = "--max-restarts=0",
							  .preset = "multinode",
							  .ranks = "0-3" });
	CHECK(script && strstr(script, "#SBATCH --ntasks-per-node=1\n"));
	CHECK(script && strstr(script, "#SBATCH --gpus-per-node=4\n"));
	if (script && CHECK_U64(run_script(&w, script, got, sizeof(got)), sizeof(want)))
		CHECK_MEM(got, want, sizeof(want));
	script = script_of(&w, (struct rk_slurm_options){
				       .nodes = 2, .tasks_per_node = 3, .launcher = "mpirun" });
	CHECK(script && strstr(script, "mpirun -np 6"));
	world_close(&w);
}

/* Ranks of srun and mpirun are started as requested. */
TEST(torchrun_puts_python_before_a_script)
{
	static const char want[] = "--\0python3\0-u\0it's train.py\0-x";
	char *argv[] = { "it's train.py", "-x", NULL }, got[4096];
	struct rk_slurm_options o = { .launcher = "torchrun", .argv = argv };
	struct world w;
	size_t n;

	world_open(&w, 1);
	fake_launchers(&w);
	n = run_script(&w, script_of(&w, o), got, sizeof(got));
	if (CHECK(n > sizeof(want)))
		CHECK_MEM(got + n - sizeof(want), want, sizeof(want));
	o.launcher = "srun";
	CHECK(!strstr(script_of(&w, o), "python3"));
	o = (struct rk_slurm_options){ .launcher = "torchrun" };
	CHECK(!strstr(script_of(&w, o), "python3"));
	world_close(&w);
}

TEST(what_no_sbatch_line_can_say_is_refused)
{
	const struct rk_slurm_options bad[] = {
		{ .time = "1\n#SBATCH --account=x" },
		{ .job_name = "a\rb" },
		{ .partition = "\x7f" },
		{ .dir = "/a\nb" },
		{ .sbatch_args = "'--comment=a\nb'" },
		{ .sbatch_args = "main" },
		{ .sbatch_args = "'" },
		{ .run_args = "\"" },
		{ .launcher_args = "'" },
		{ .launcher = "ssh" },
		{ .nodes = 1000000000 },
	};
	struct world w;

	world_open(&w, 1);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CHECK(!script_of(&w, bad[i]));
		CHECK_I64(w.err.code, RK_E_USAGE);
	}
	CHECK(strstr(script_of(&w,
			       (struct rk_slurm_options){ .sbatch_args = "'--comment=a b' -H" }),
		     "#SBATCH \"--comment=a b\"\n#SBATCH -H\n") != NULL);
	CHECK(strstr(script_of(&w, (struct rk_slurm_options){ .dir = "/100%" }),
		     "--output=/100%%/slurm-%j.out\n") != NULL);
	world_close(&w);
}

TEST(slurm_of_a_context_is_used_where_no_option_says_otherwise)
{
	static const char text[] =
		"{\"slurm\":{\"partition\":\"p\",\"nodes\":2,\"gpus_per_node\":4,\"time\":\"02:00:00\","
		"\"output_dir\":\"./res\",\"exclusive\":true},"
		"\"distributed\":{\"launcher\":\"torchrun\",\"nnodes\":2,\"nproc_per_node\":4}}";
	struct rk_slurm_options o = { .context = text, .time = "5", .argv = one_program };
	struct rk_slurm_job *job = NULL;
	struct rk_error err = { 0 };
	const char *script = NULL;
	size_t len;

	CHECK_I64(rk_slurm_plan(&o, &job, &err), 0);
	if (job)
		script = rk_slurm_script(job, &len);
	CHECK(script && strstr(script, "--partition=p\n") && strstr(script, "--time=5\n"));
	CHECK(script && strstr(script, "--nodes=2\n") && strstr(script, "--exclusive\n"));
	CHECK(script && strstr(script, "--nproc_per_node=4") && strstr(script, "/res/slurm-"));
	rk_slurm_job_free(job);
}

static void part(struct world *w, int rank, const char *rest)
{
	char name[64], text[512];

	snprintf(name, sizeof(name), "rank-%05d/run.json", rank);
	snprintf(text, sizeof(text), "{\"rank\":%d,\"size\":8,\"job\":\"7\",%s}", rank, rest);
	world_text(w, name, text);
}

static const char *collected(struct world *w, bool *whole)
{
	struct rk_slurm_parts *p = NULL;
	static char ret[2048];
	char *text = NULL;
	size_t len;

	ret[0] = '\0';
	CHECK_I64(rk_slurm_collect(w->dir, &p, &w->err), 0);
	if (p && CHECK_I64(rk_slurm_render(p, RK_REPORT_TEXT, &text, &len, &w->err), 0))
		snprintf(ret, sizeof(ret), "%s", text);
	*whole = p && rk_slurm_whole(p);
	rk_text_free(text);
	rk_slurm_parts_free(p);
	return ret;
}

#define DONE "\"state\":\"done\",\"ledger\":{\"delivered\":{\"tables\":{\"kernels\":5}}}"

TEST(the_parts_of_a_job_are_listed_node_by_node)
{
	struct world w;
	bool whole;

	world_open(&w, 1);
	part(&w, 0, "\"node\":\"n1\"," DONE);
	part(&w, 1, "\"node\":\"n1\",\"state\":\"running\"");
	part(&w, 3, "\"node\":\"n2\",\"exit_status\":3,\"state\":\"done\"");
	world_text(&w, "rank-00004/run.json", "{\"rank\":");
	CHECK(strncmp(collected(&w, &whole),
		      "job 7: 4 ranks of 8\n"
		      "n1: ranks 0-1: 1 done, 1 unfinished, 5 kernels\n"
		      "n2: rank 3: 1 failed, 0 kernels\n"
		      "(unknown node): rank 4: 1 unreadable, 0 kernels\n"
		      "rank 1: unfinished: still running, or killed\n"
		      "rank 3: failed: exit status 3\n"
		      "rank 4: unreadable: run.json: ",
		      120) == 0);
	CHECK(strstr(collected(&w, &whole), "\nmissing: 2,5-7\n") != NULL);
	CHECK(!whole);
	world_close(&w);
}

TEST(a_folder_without_ranks_is_not_a_job)
{
	struct rk_slurm_parts *parts = NULL;
	struct rk_error err = { 0 };
	struct world w;

	world_open(&w, 1);
	CHECK_I64(rk_slurm_collect(w.dir, &parts, &err), RK_E_UNSUPPORTED);
	CHECK(strstr(err.message, "no ranks in") != NULL);
	world_close(&w);
}

TEST(ranks_that_were_not_asked_for_are_not_missing)
{
	struct world w;
	bool whole;

	world_open(&w, 1);
	part(&w, 2, "\"node\":\"n1\",\"ranks\":\"2,5\"," DONE);
	CHECK_STR(
		collected(&w, &whole),
		"job 7: 1 rank of 8, requested: 2,5\nn1: rank 2: 1 done, 5 kernels\nmissing: 5\n");
	part(&w, 5, "\"node\":\"n1\",\"ranks\":\"2,5\"," DONE);
	collected(&w, &whole);
	CHECK(whole);
	/* one that cannot be read does not hide what the others say */
	world_text(&w, "rank-00002/run.json", "{");
	CHECK(!strstr(collected(&w, &whole), "missing"));
	part(&w, 2, "\"node\":\"n1\",\"ranks\":\"2,5\"," DONE);
	part(&w, 9, "\"job\":\"8\"," DONE);
	CHECK(strstr(collected(&w, &whole),
		     "rank 9 belongs to job 8, not to 7\nrank 9 is out of range"));
	CHECK(!whole);
	/* nothing came, and what was submitted says how much should have */
	world_text(&w, ".rockit-job.json", "{\"job\":\"12\",\"size\":2}");
	CHECK(strstr(collected(&w, &whole), "job 12: 3 ranks of 2") != NULL);
	world_close(&w);
}

/* Whoever can write to the folder may put anything there: nothing is waited for. */
TEST(a_record_that_is_not_a_file_is_not_read)
{
	struct world w;
	bool whole;
	char path[600];

	world_open(&w, 1);
	part(&w, 0,
	     "\"node\":\"n1\",\"size\":2,\"state\":\"done\",\"ledger\":{\"delivered\":{"
	     "\"tables\":{\"kernels\":-5}}}");
	part(&w, 1, "");
	snprintf(path, sizeof(path), "%s/rank-00001/run.json", w.dir);
	CHECK(unlink(path) == 0 && symlink("/dev/zero", path) == 0);
	snprintf(path, sizeof(path), "%s/.rockit-job.json", w.dir);
	CHECK(symlink("/dev/zero", path) == 0);
	CHECK_STR(strchr(collected(&w, &whole), '\n'),
		  "\nn1: rank 0: 1 done, 0 kernels\n"
		  "(unknown node): rank 1: 1 unreadable, 0 kernels\n"
		  "rank 1: unreadable: run.json: a pipe or a device, not a file\n");
	CHECK(!whole);
	world_close(&w);
}

/* Plans a job and looks at its parts; the first error. */
static int plan_and_collect(struct world *w)
{
	const struct rk_slurm_options o = { .preset = "multinode",
					    .nodes = 2,
					    .ranks = "0-3",
					    .dir = w->dir,
					    .sbatch_args = "--mem=0",
					    .argv = one_program };
	struct rk_slurm_job *job = NULL;
	struct rk_slurm_parts *p = NULL;
	char *text = NULL;
	size_t len;
	int rc = rk_slurm_plan(&o, &job, &w->err);

	if (rc == 0)
		rc = rk_slurm_collect(w->dir, &p, &w->err);
	if (rc == 0)
		rc = rk_slurm_render(p, RK_REPORT_JSON, &text, &len, &w->err);
	rk_text_free(text);
	rk_slurm_parts_free(p);
	rk_slurm_job_free(job);
	return rc;
}

TEST(every_allocation_of_a_job_may_fail)
{
	struct world w;
	bool failed = true;
	uint64_t n = 0;

	world_open(&w, 1);
	part(&w, 0, "\"node\":\"n1\"," DONE);
	part(&w, 3, "\"node\":\"n2\",\"state\":\"running\"");
	while (failed && ++n < 20000) {
		int rc;

		w.err = (struct rk_error){ 0 };
		rk_alloc_fail_after(n);
		rc = plan_and_collect(&w);
		failed = rk_alloc_failed();
		rk_alloc_fail_after(0);
		CHECK(rc == 0 || rc == RK_E_NOMEM);
	}
	CHECK(n > 20 && !failed);
	world_close(&w);
}
