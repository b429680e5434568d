/* cmd_slurm.c - rockit slurm: script, submit and collect. */
#include <stdio.h>

#include "options.h"
#include "print.h"
#include "rockit/slurm.h"
#include "say.h"

static const struct rk_command cmd_slurm_script, cmd_slurm_submit, cmd_slurm_collect;

enum { LAUNCHER_UNSAID, LAUNCHER_SRUN, LAUNCHER_TORCHRUN, LAUNCHER_MPIRUN };

static const char *const launchers[] = { "auto", "srun", "torchrun", "mpirun", NULL };
static const char *const formats[] = { "text", "json", NULL };

struct settings {
	struct rk_common common;
	const char *preset, *context, *context_file, *time, *partition, *account, *qos, *constraint;
	const char *job_name, *output, *launcher_args, *sbatch, *run_args, *ranks, *dir, *rockit;
	uint64_t nodes, tasks, gpus;
	int launcher, format;
	bool exclusive, force, wait;
};

/* Options of both script and submit. */
#define TEXT(name, letter, arg, member, help)                    \
	{                                                        \
		name, letter, arg, help, RK_OPT_TEXT, AT(member) \
	}
#define JOB_OPTIONS                                                                                 \
	{ "preset",    'p',        "PRESET", "what to collect: see 'rockit presets'",               \
	  RK_OPT_TEXT, AT(preset), NULL,     rk_preset_word },                                      \
		TEXT("dir", 'd', "DIR", dir,                                                        \
		     "run directory, on a file system that all nodes see"),                         \
		{ "nodes", 'N', "N", "number of nodes (default: 1)", RK_OPT_NUMBER, AT(nodes) },    \
		{ "ntasks-per-node", 0,        "N", "ranks per node (default: one per GPU)",        \
		  RK_OPT_NUMBER,     AT(tasks) },                                                   \
		{ "gpus-per-node", 0, "N", "GPUs per node", RK_OPT_NUMBER, AT(gpus) },              \
		TEXT("time", 0, "T", time, "time limit in sbatch format: minutes, H:M:S, D-H"),     \
		TEXT("partition", 0, "P", partition, "Slurm partition"),                            \
		{ "launcher",   0,        "L", "srun (default), torchrun or mpirun", RK_OPT_CHOICE, \
		  AT(launcher), launchers },                                                        \
		TEXT("launcher-args", 0, "ARGS", launcher_args,                                     \
		     "more options for the launcher, split like a shell would"),                    \
		TEXT("account", 0, "A", account, "account to charge"),                              \
		TEXT("qos", 0, "Q", qos, "quality of service"),                                     \
		TEXT("constraint", 0, "C", constraint, "features that the nodes must have"),        \
		{ "exclusive",  0, NULL, "do not share the nodes with other jobs", RK_OPT_FLAG,     \
		  AT(exclusive) },                                                                  \
		TEXT("job-name", 0, "NAME", job_name, "name of the job (default: rockit)"),         \
		TEXT("output", 'o', "FILE", output,                                                 \
		     "file for the job's output (default: DIR/slurm-%j.out)"),                      \
		TEXT("sbatch", 0, "ARGS", sbatch,                                                   \
		     "more options for sbatch, split like a shell would"),                          \
		TEXT("run-args", 0, "ARGS", run_args,                                               \
		     "more options for 'rockit run', split the same way"),                          \
		TEXT("ranks", 0, "LIST", ranks,                                                     \
		     "profile only these ranks (0,8-15); run the others without profiler"),         \
		TEXT("additional-context", 0, "JSON", context,                                      \
		     "madengine context as JSON, may include slurm{}"),                             \
		TEXT("additional-context-file", 0, "FILE", context_file,                            \
		     "madengine context from a file"),                                              \
		TEXT("rockit", 0, "PATH", rockit,                                                   \
		     "path of rockit on the nodes (default: this one)"),                            \
	{                                                                                           \
		"force", 0, NULL,                                                                   \
			"reuse the directory of an earlier job (its results are removed)",          \
			RK_OPT_FLAG, AT(force)                                                      \
	}

static const struct rk_opt script_options[] = {
	JOB_OPTIONS,
	{ NULL },
};

static const struct rk_opt submit_options[] = {
	JOB_OPTIONS,
	{ "wait", 'W', NULL, "wait for the job, collect its ranks, exit with its status",
	  RK_OPT_FLAG, AT(wait) },
	{ "format", 'f', "FORMAT", "format of the list that --wait prints: text or json",
	  RK_OPT_CHOICE, AT(format), formats },
	{ NULL },
};

static const struct rk_opt collect_options[] = {
	{ "format", 'f', "FORMAT", "text or json (default: text)", RK_OPT_CHOICE, AT(format),
	  formats },
	{ NULL },
};

/* Parses the options and plans the job. Returns -1 to go on, else the exit status. */
static int begin(const struct rk_command *cmd, struct settings *s, int argc, char **argv,
		 struct rk_slurm_job **ret)
{
	struct rk_error err = { 0 };
	struct rk_slurm_options o;
	int n, rc = rk_options_parse(cmd, s, argc, argv, &n);

	if (rc >= 0)
		return rc;
	argv[n] = NULL;
	o = (struct rk_slurm_options){
		.preset = s->preset,
		.context = s->context,
		.context_file = s->context_file,
		.nodes = s->nodes,
		.tasks_per_node = s->tasks,
		.gpus_per_node = s->gpus,
		.time = s->time,
		.partition = s->partition,
		.account = s->account,
		.qos = s->qos,
		.constraint = s->constraint,
		.job_name = s->job_name,
		.output = s->output,
		.launcher = s->launcher == LAUNCHER_UNSAID ? NULL : launchers[s->launcher],
		.launcher_args = s->launcher_args,
		.sbatch_args = s->sbatch,
		.run_args = s->run_args,
		.ranks = s->ranks,
		.dir = s->dir,
		.rockit = s->rockit,
		.exclusive = s->exclusive,
		.force = s->force,
		.argv = argv,
	};
	if (rk_slurm_plan(&o, ret, &err) < 0)
		return say_error(cmd->name, &err);
	return -1;
}

/* ---- script ---- */

static int script_run(int argc, char **argv)
{
	struct settings s = { .preset = NULL };
	struct rk_slurm_job *job = NULL;
	const char *text;
	size_t len;
	int rc = begin(&cmd_slurm_script, &s, argc, argv, &job);

	if (rc >= 0)
		return rc;
	text = rk_slurm_script(job, &len);
	fwrite(text, 1, len, stdout);
	rk_slurm_job_free(job);
	return EXIT_DONE;
}

static const struct rk_command cmd_slurm_script = {
	.name = "slurm script",
	.summary = "print the batch script of a job that profiles a program on every node",
	.usage = "-d DIR -- CMD ARGS",
	.options = script_options,
	.light = true,
	.program = true,
	.examples = "  rockit slurm script -p multi_gpu --nodes 2 --gpus-per-node 8 --time 1:00:00 "
		    "-d prof -- ./app\n",
	.run = script_run,
};

/* ---- collect ---- */

/* Lists the ranks and writes the job's run.json. *ret_whole: all ranks are complete. */
static int collect(const char *verb, const char *dir, int format, bool *ret_whole)
{
	struct rk_slurm_parts *parts = NULL;
	struct rk_error err = { 0 };
	char line[sizeof(err.message) + 64], *text = NULL;
	size_t len = 0;
	int rc, status;

	if (rk_slurm_collect(dir, &parts, &err) < 0)
		return say_error(verb, &err);
	*ret_whole = rk_slurm_whole(parts);
	if (rk_slurm_render(parts, format ? RK_REPORT_JSON : RK_REPORT_TEXT, &text, &len, &err) <
	    0) {
		status = say_error(verb, &err);
		goto out;
	}
	status = rk_print_text(verb, NULL, text, len);
	/* Missing ranks are already reported; RK_E_UNSUPPORTED only adds that nothing can be read. */
	rc = rk_slurm_record(dir, &err);
	if (rc != 0 && rc != RK_E_UNSUPPORTED) {
		snprintf(line, sizeof(line), "the job has no run.json: %s", err.message);
		say_note(verb, line);
	}
out:
	rk_slurm_parts_free(parts);
	return status;
}

static int collect_run(int argc, char **argv)
{
	struct settings s = { .preset = NULL };
	bool whole = false;
	int n, rc = rk_options_parse(&cmd_slurm_collect, &s, argc, argv, &n);

	if (rc >= 0)
		return rc;
	if (n != 1)
		return say_misuse("slurm collect", n ? "give only one DIR" : "no DIR given");
	rc = collect("slurm collect", argv[0], s.format, &whole);
	if (rc)
		return rc;
	return whole ? EXIT_DONE : EXIT_FAILED;
}

static const struct rk_command cmd_slurm_collect = {
	.name = "slurm collect",
	.summary = "list which ranks of a job are complete, missing or failed, per node",
	.usage = "DIR",
	.options = collect_options,
	.light = true,
	.operands = RK_OPERANDS_DIRS,
	.examples = "  rockit slurm collect prof && rockit report --by rank prof\n",
	.run = collect_run,
};

/* ---- submit ---- */

static void say_state(void *arg, const char *line)
{
	if (!((const struct settings *)arg)->common.quiet)
		say_note("slurm submit", line);
}

static bool interrupted(void *arg)
{
	(void)arg;
	return rk_progress_signal() != 0;
}

static int wait_for(struct settings *s, const struct rk_slurm_job *job, const char *id)
{
	const struct rk_slurm_hooks hooks = { .say = say_state, .stop = interrupted, .arg = s };
	struct rk_progress progress;
	struct rk_error err = { 0 };
	bool whole = false;
	int status = 0, rc;

	rk_progress_begin(&progress, "slurm submit", true);
	rc = rk_slurm_wait(id, &hooks, &status, &err);
	rk_progress_end(&progress);
	if (rc == RK_E_CANCELLED) {
		/* ^C ends only us; the job belongs to Slurm and keeps running. */
		say_failure("slurm submit",
			    "job %s keeps running; 'rockit slurm collect %s' lists the finished "
			    "ranks, 'scancel %s' cancels it",
			    id, rk_slurm_dir(job), id);
		return 130;
	}
	if (rc < 0)
		return say_error("slurm submit", &err);
	rc = collect("slurm submit", rk_slurm_dir(job), s->format, &whole);
	if (status || rc)
		return status ? status : rc;
	return whole ? EXIT_DONE : EXIT_FAILED;
}

static int submit_run(int argc, char **argv)
{
	struct settings s = { .preset = NULL };
	struct rk_slurm_job *job = NULL;
	struct rk_error err = { 0 };
	const char *id = NULL;
	int rc = begin(&cmd_slurm_submit, &s, argc, argv, &job);

	if (rc >= 0)
		return rc;
	if (rk_slurm_submit(job, &id, &err) < 0) {
		rc = say_error("slurm submit", &err);
	} else if (s.wait) {
		say_state(&s, "submitted");
		rc = wait_for(&s, job, id);
	} else {
		puts(id);
		rc = EXIT_DONE;
	}
	rk_slurm_job_free(job);
	return rc;
}

static const struct rk_command cmd_slurm_submit = {
	.name = "slurm submit",
	.summary = "submit the batch script with sbatch and print the job number",
	.usage = "-d DIR -- CMD ARGS",
	.options = submit_options,
	.light = true,
	.program = true,
	.examples = "  rockit slurm submit --nodes 2 --gpus-per-node 8 --wait -d prof -- ./app\n"
		    "  rockit slurm submit -p multinode --launcher torchrun --nodes 4 "
		    "--gpus-per-node 8 -d prof -- python train.py\n",
	.run = submit_run,
};

/* ---- the group ---- */

static const struct rk_command *const verbs[] = { &cmd_slurm_script, &cmd_slurm_submit,
						  &cmd_slurm_collect, NULL };

const struct rk_command cmd_slurm = {
	.name = "slurm",
	.summary = "profile a program on every node of a Slurm job and collect the results",
	.usage = "VERB [options]",
	.plain = true,
	.examples = "  rockit slurm script --nodes 2 --gpus-per-node 8 -d prof -- ./app > job.sh\n"
		    "  rockit slurm submit --nodes 2 --gpus-per-node 8 --wait -d prof -- ./app\n"
		    "  rockit slurm collect prof\n",
	.verbs = verbs,
};
