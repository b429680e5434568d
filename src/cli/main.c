/* main.c - rockit: finds the verb, runs it, and checks that its output was written. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "options.h"
#include "rockit/nearest.h"
#include "rockit/rockit.h"
#include "say.h"

const struct rk_command *const rk_commands[] = {
	&cmd_run,     &cmd_record,     &cmd_report,  &cmd_metrics,  &cmd_diff,
	&cmd_convert, &cmd_doctor,     &cmd_presets, &cmd_counters, &cmd_monitor,
	&cmd_snap,    &cmd_start,      &cmd_stop,    &cmd_env,      &cmd_slurm,
	&cmd_pack,    &cmd_completion, &cmd_help,    &cmd_version,  NULL,
};

enum { MOST_VERBS = 15, NCOMMANDS = sizeof(rk_commands) / sizeof(rk_commands[0]) };

static const struct rk_command *find_command(const char *name)
{
	for (const struct rk_command *const *c = rk_commands; *c; c++)
		if (strcmp((*c)->name, name) == 0)
			return *c;
	return NULL;
}

const char *rk_command_guess(const char *name)
{
	const char *names[NCOMMANDS];

	for (size_t i = 0; i < NCOMMANDS; i++)
		names[i] = rk_commands[i] ? rk_commands[i]->name : NULL;
	return rk_nearest(name, names);
}

const char *rk_verb_word(const struct rk_command *cmd)
{
	const char *blank = strrchr(cmd->name, ' ');

	return blank ? blank + 1 : cmd->name;
}

void rk_command_help(const struct rk_command *cmd)
{
	printf("usage: rockit %s", cmd->name);
	if (cmd->options)
		fputs(" [options]", stdout);
	if (cmd->usage[0])
		printf(" %s", cmd->usage);
	printf("\n\n%c%s.\n\n", cmd->summary[0] - 'a' + 'A', cmd->summary + 1);
	if (cmd->verbs) {
		puts("verbs:");
		for (size_t i = 0; cmd->verbs[i]; i++)
			printf("  %-10s %s\n", rk_verb_word(cmd->verbs[i]), cmd->verbs[i]->summary);
		printf("\n'rockit %s VERB --help' explains one of them.\n", cmd->name);
	} else {
		rk_options_help(cmd);
	}
	if (cmd->more)
		printf("\n%s", cmd->more);
	if (cmd->examples)
		printf("\nexamples:\n%s", cmd->examples);
}

/* ---- groups of verbs: rockit pack build ---- */

static const struct rk_command *find_in(const struct rk_command *group, const char *word)
{
	for (size_t i = 0; group->verbs[i]; i++)
		if (!strcmp(rk_verb_word(group->verbs[i]), word))
			return group->verbs[i];
	return NULL;
}

const struct rk_command *rk_command_at(char *const *argv, int argc, int *ret_words)
{
	const struct rk_command *cmd = argc ? find_command(argv[0]) : NULL, *inner = NULL;

	if (cmd && cmd->verbs && argc > 1)
		inner = find_in(cmd, argv[1]);
	*ret_words = (cmd != NULL) + (inner != NULL);
	return inner ? inner : cmd;
}

/* Runs the verb of a group that argv[1] names. */
static int run_group(const struct rk_command *group, int argc, char **argv)
{
	const char *names[MOST_VERBS + 1], *near;
	const struct rk_command *cmd;
	size_t n = 0;

	if (argc < 2)
		return say_misuse(group->name, "no verb given; see 'rockit %s --help'",
				  group->name);
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		rk_command_help(group);
		return EXIT_DONE;
	}
	cmd = find_in(group, argv[1]);
	if (cmd)
		return cmd->run(argc - 1, argv + 1);

	for (; n < MOST_VERBS && group->verbs[n]; n++)
		names[n] = rk_verb_word(group->verbs[n]);
	names[n] = NULL;
	near = rk_nearest(argv[1], names);
	if (near)
		return say_misuse(group->name, "unknown verb '%s'; did you mean '%s'?", argv[1],
				  near);
	return say_misuse(group->name, "unknown verb '%s'; see 'rockit %s --help'", argv[1],
			  group->name);
}

/* ---- the command ---- */

static int version_run(int argc, char **argv)
{
	struct rk_common common = { .help = false };
	int n, rc = rk_options_parse(&cmd_version, &common, argc, argv, &n);

	if (rc >= 0)
		return rc;
	if (n)
		return say_misuse("version", "unexpected argument '%s'", argv[0]);
	puts("rockit " ROCKIT_VERSION);
	return EXIT_DONE;
}

const struct rk_command cmd_version = {
	.name = "version",
	.summary = "print the version",
	.usage = "",
	.plain = true,
	.examples = "  rockit version\n"
		    "  rockit --version\n",
	.run = version_run,
};

static int dispatch(int argc, char **argv)
{
	const struct rk_command *cmd;
	const char *word, *near;

	if (argc < 2) {
		puts("rockit " ROCKIT_VERSION " - collects, converts and reports GPU profiles\n"
		     "  rockit run [-p PRESET] -- CMD     run CMD under the installed profiler\n"
		     "  rockit report [INPUT...]          show what took the time (no INPUT: the "
		     "newest run)\n"
		     "  rockit doctor                     check which profilers and GPUs are "
		     "available\n"
		     "  rockit help [VERB]                list the verbs, or explain one");
		return EXIT_DONE;
	}
	word = argv[1];
	if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0)
		word = "version";
	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
		word = "help";
	cmd = find_command(word);
	if (cmd && cmd->verbs)
		return run_group(cmd, argc - 1, argv + 1);
	if (cmd)
		return cmd->run(argc - 1, argv + 1);
	if (word[0] == '-')
		return say_misuse(NULL, "unknown option '%s'; see 'rockit help'", word);
	near = rk_command_guess(word);
	if (near)
		return say_misuse(NULL, "unknown verb '%s'; did you mean '%s'?", word, near);
	return say_misuse(NULL, "unknown verb '%s'; see 'rockit help'", word);
}

/* Output may still be buffered: a full disk shows up here at the latest. */
static int finish_stdout(int status)
{
	int failed = ferror(stdout);

	errno = 0;
	if (fflush(stdout) == 0 && !failed && (close(STDOUT_FILENO) == 0 || errno == EBADF))
		return status;
	if (status)
		return status;
	if (errno == EPIPE)
		return EXIT_FAILED;
	return say_failure(NULL, "cannot write standard output: %s",
			   errno ? strerror(errno) : "write error");
}

int main(int argc, char **argv)
{
	int status;

	/*
	 * If a standard stream is closed, the next file we open would get its number and receive
	 * our messages. So we open /dev/null in its place, the wrong way round so that it stays
	 * unusable, and close-on-exec so that child processes do not inherit it.
	 */
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
		    open("/dev/null", (fd ? O_RDONLY : O_WRONLY) | O_CLOEXEC) < 0)
			break;
	/* End quietly when the reader goes away, even if the parent ignored SIGPIPE. */
	signal(SIGPIPE, SIG_DFL);
	/* Report a file size limit like a full disk. Child processes get the original setting. */
	signal(SIGXFSZ, SIG_IGN);
	status = finish_stdout(dispatch(argc, argv));
	if (status && rk_progress_signal()) {
		signal(rk_progress_signal(), SIG_DFL);
		raise(rk_progress_signal());
	}
	return status;
}
