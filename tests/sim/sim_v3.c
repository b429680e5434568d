/* sim_v3.c - rocprofv3's front end: the command line, then one run of the application per pass. */
#include "sim_v3.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void print_version(void)
{
	static const char *const sdk[RELEASES] = { "0.4.0", "0.5.0", "0.6.0",
						   "1.0.0", "1.3.0", "1.4.1" };
	const char *const lines[][2] = {
		{ "version", sdk[sim.release] },
		{ "git_revision", "0000000000000000000000000000000000000000" },
		{ "library_arch", "x86_64-linux-gnu" },
		{ "system_name", "Linux" },
		{ "system_processor", "x86_64" },
		{ "system_version", "6.8.0" },
		{ "compiler_id", "Clang" },
		{ "compiler_version", "20.0.0" },
		{ "rocm_version", sim.version },
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		printf("%20s: %s\n", lines[i][0], lines[i][1]);
}

static void print_help(void)
{
	puts("usage: rocprofv3 [-h] [options] -- <application> [application options]\n\noptions:");
	for (const struct option_row *row = option_tables[sim.release]; row->name; row++)
		printf("  %s%s%s\n", row->name, row->choices ? " " : "",
		       row->choices ? row->choices : "");
}

static int list_counters(void)
{
	char *info[] = { copy_text("rocprofv3-avail"), copy_text("info"), copy_text("--pmc"),
			 copy_text("--pc-sampling"), NULL };

	return v3_avail_main(sim.release < REL_64 ? 3 : 4, info);
}

void v3_not_started(char *const *app, int why)
{
	python_traceback("rocprofv3", "%s: [Errno %d] %s: '%s'",
			 why == 13 ? "PermissionError" : "FileNotFoundError", why, strerror(why),
			 app[0]);
}

/* Several runs: each in a process of its own, so that nothing of one stays for the next. */
static void run_pass(const struct pass *pass, char *const *app)
{
	int status = 0;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		v3_environment(pass);
		tool_run(app);
	}
	while (waitpid(pid, &status, 0) < 0)
		;
	if (WIFSIGNALED(status))
		v3_fatal("Command '%s' died with signal %d", app[0], WTERMSIG(status));
	if (WEXITSTATUS(status))
		v3_fatal("Command '%s' returned non-zero exit status %d", app[0],
			 WEXITSTATUS(status));
}

/* The words up to the first `--` are the script's, the rest the application. */
static size_t own_words(int argc, char **argv, char *const **ret_app)
{
	size_t n = 1;

	while (n < (size_t)argc && strcmp(argv[n], "--") != 0)
		n++;
	*ret_app = n + 1 < (size_t)argc ? argv + n + 1 : NULL;
	return n - 1;
}

/* What ends the script without the application. */
static bool answered(const struct args *a, size_t nwords, char *const *app)
{
	if (args_get(a, "--help") || (sim.release >= REL_713 && !nwords && !app)) {
		print_help();
		return true;
	}
	if (args_get(a, "--version")) {
		print_version();
		return true;
	}
	if (args_get(a, "--pid"))
		v3_fatal(sim.release < REL_713 ? "Attachment to a process is not supported" :
						 "rocprof-attach is not installed");
	if (args_bool(a, "--list-avail") == 1 || args_bool(a, "--list-metrics") == 1) {
		list_counters();
		return app == NULL;
	}
	return false;
}

/* `0-3,8`; a rank that is not among them runs the plain program. */
static bool rank_wanted(const struct args *a)
{
	const char *list = args_word(a, "--profile-mpi-ranks");
	const char *variable = args_word(a, "--mpi-world-rank-variable");
	const char *own = variable ? getenv(variable) : NULL;
	unsigned long long rank = (unsigned long long)rank_of_process();
	struct words parts = { 0 };

	if (own)
		read_number(own, &rank);
	words_split(&parts, list ? list : "", ", ");
	for (size_t i = 0; i < parts.n; i++) {
		unsigned from, to;
		int n = sscanf(parts.at[i], "%u-%u", &from, &to);

		if ((n == 1 && rank == from) || (n == 2 && rank >= from && rank <= to))
			return true;
	}
	return !list;
}

static void check_rank_variables(const struct args *a)
{
	if (!args_get(a, "--mpi-world-rank-variable") != !args_get(a, "--mpi-world-size-variable"))
		v3_fatal("--mpi-world-rank-variable and --mpi-world-size-variable go together");
}

int v3_main(int argc, char **argv)
{
	struct args a = { .prog = "rocprofv3" };
	char *const *app;
	size_t n = own_words(argc, argv, &app);
	struct passes passes;

	fault_start("rocprofv3");
	args_parse(&a, option_tables[sim.release], sim.release < REL_70, argv + 1, n);
	if (answered(&a, n, app))
		return 0;
	if (!app)
		v3_fatal("No application provided");
	check_rank_variables(&a);
	if (!rank_wanted(&a)) {
		execvp(app[0], app);
		v3_not_started(app, errno);
	}
	passes = v3_passes(&a);
	if (args_bool(&a, "--echo") == 1) {
		struct words words = { 0 };

		for (size_t i = 0; app[i]; i++)
			words_add(&words, app[i]);
		puts(words_join(&words, " "));
		return 0;
	}
	if (passes.n == 1) {
		v3_environment(&passes.at[0]);
		tool_run(app);
	}
	for (size_t i = 0; i < passes.n; i++)
		run_pass(&passes.at[i], app);
	return 0;
}
