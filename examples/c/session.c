/*
 * session.c - plans how to profile a program, shows the commands, and with --run carries them out.
 *
 * If tool, release and chip are given, none of them has to be installed for a plan:
 *	session --tool rocprofv3 --tool-version 7.0.0 --arch gfx942 memory ./app
 */
#include <stdio.h>
#include <string.h>

#include <rockit/rockit.h>
#include <rockit/session.h>

static void put_words(const char *before, const char *const *words)
{
	for (; *words; words++)
		printf("%s%s", before, *words);
}

static void show(const struct rk_session *s)
{
	const struct rk_planned *plan = rk_session_planned(s);

	printf("%s %s on %s, %zu runs of the program\n", plan->tool, plan->tool_version, plan->arch,
	       plan->npasses);
	for (size_t i = 0; i < plan->npasses; i++) {
		const struct rk_planned_pass *pass = &plan->passes[i];

		printf("%s:", pass->what);
		put_words(" ", pass->env);
		put_words(" ", pass->argv);
		printf("\n");
	}
}

/* Maps a word to a request. */
static int plan(const char *question, const struct rk_session_options *opt, struct rk_session **ret,
		struct rk_error *err)
{
	if (!strcmp(question, "kernel"))
		return rk_session_for_kernel(opt, NULL, ret, err);
	if (!strcmp(question, "memory"))
		return rk_session_for_memory(opt, ret, err);
	if (!strcmp(question, "compute-unit"))
		return rk_session_for_compute_unit(opt, ret, err);
	if (!strcmp(question, "rocprof-compute"))
		return rk_session_for_rocprof_compute(opt, NULL, ret, err);
	return rk_session_plan(opt, ret, err);
}

static void say(void *arg, const char *line)
{
	(void)arg;
	fprintf(stderr, "%s\n", line);
}

static int run(struct rk_session *s, struct rk_error *err)
{
	const struct rk_session_hooks hooks = { .say = say, .warn = say };
	struct rk_session_result did;

	if (rk_session_run(s, &hooks, &did, err) < 0)
		return 1;
	printf("%llu kernels in %s\n", (unsigned long long)did.kernels, rk_session_dir(s));
	return did.status;
}

int main(int argc, char **argv)
{
	struct rk_session_options opt = { 0 };
	struct rk_session *s = NULL;
	struct rk_error err = { 0 };
	bool really = false;
	int i = 1, status = 0;

	for (; i < argc && argv[i][0] == '-'; i++) {
		if (!strcmp(argv[i], "--run"))
			really = true;
		else if (!strcmp(argv[i], "--tool") && i + 1 < argc)
			opt.tool = argv[++i];
		else if (!strcmp(argv[i], "--tool-version") && i + 1 < argc)
			opt.tool_version = argv[++i];
		else if (!strcmp(argv[i], "--arch") && i + 1 < argc)
			opt.arch = argv[++i];
		else if (!strcmp(argv[i], "--dir") && i + 1 < argc)
			opt.dir = argv[++i];
	}
	if (i + 1 >= argc) {
		fprintf(stderr, "usage: session [--run] [--tool T] [--tool-version V] [--arch GFX] "
				"[--dir DIR] kernel|memory|compute-unit|rocprof-compute|PRESET "
				"PROGRAM [ARG...]\n");
		return 2;
	}
	opt.argv = argv + i + 1;
	if (strcmp(argv[i], "kernel") != 0 && strcmp(argv[i], "memory") != 0 &&
	    strcmp(argv[i], "compute-unit") != 0 && strcmp(argv[i], "rocprof-compute") != 0)
		opt.preset = argv[i];
	if (plan(argv[i], &opt, &s, &err) == 0) {
		show(s);
		status = really ? run(s, &err) : 0;
	}
	rk_session_free(s);
	if (err.code)
		fprintf(stderr, "session: %s\n", err.message);
	return err.code ? 1 : status;
}
