/* cmd_help.c - rockit help. */
#include <stdio.h>
#include <string.h>

#include "options.h"
#include "rockit/rockit.h"
#include "say.h"

struct settings {
	struct rk_common common;
	bool all, words;
};

static const struct rk_opt options[] = {
	{ "all", 'a', NULL, "print the help of every verb", RK_OPT_FLAG, AT(all) },
	{ "words", 0, NULL, "for shell completion: words that may follow '-- [VERB [OPTION]]'",
	  RK_OPT_FLAG, AT(words) },
	{ NULL },
};

static const char *topic_at(size_t i)
{
	size_t n = 0;

	while (rk_commands[n])
		n++;
	if (i < n)
		return rk_commands[i]->name;
	return i == n ? "formats" : NULL;
}

/* Silent about unknown verbs: shells ask while the user is still typing. */
static void list_words(char **argv, int n)
{
	int words = 0;
	const struct rk_command *cmd = rk_command_at(argv, n, &words);

	if (cmd)
		rk_options_words(cmd, n > words ? argv[n - 1] : NULL);
	for (const struct rk_command *const *c = rk_commands; !n && *c; c++)
		printf("%s\t%s\n", (*c)->name, (*c)->summary);
}

static void help_on_all(void)
{
	for (const struct rk_command *const *c = rk_commands; *c; c++) {
		if (c != rk_commands)
			putchar('\n');
		rk_command_help(*c);
		for (size_t i = 0; (*c)->verbs && (*c)->verbs[i]; i++) {
			putchar('\n');
			rk_command_help((*c)->verbs[i]);
		}
	}
}

static int help_on(char **argv, int n)
{
	int words = 0;
	const struct rk_command *cmd = rk_command_at(argv, n, &words);
	const char *topic = argv[0], *name, *help, *near;

	if (strcmp(topic, "formats") == 0) {
		puts("reads (detected by content, not by name; plain, .gz, .xz or .zst):");
		for (size_t i = 0; (name = rk_format_name(false, i, &help)) != NULL; i++)
			printf("  %-19s %s\n", name, help);
		puts("\nwrites (convert -f NAME, or by the output's suffix):");
		for (size_t i = 0; (name = rk_format_name(true, i, &help)) != NULL; i++)
			printf("  %-19s %s\n", name, help);
		return EXIT_DONE;
	}
	if (!cmd) {
		near = rk_command_guess(topic);
		if (near)
			return say_misuse("help", "unknown verb '%s'; did you mean '%s'?", topic,
					  near);
		return say_misuse("help", "unknown verb '%s'; see 'rockit help'", topic);
	}
	if (words < n && !cmd->verbs)
		return say_misuse("help", "too many arguments; see 'rockit help --help'");
	if (words < n)
		return say_misuse("help", "'%s' has no verb '%s'; see 'rockit help %s'", cmd->name,
				  argv[words], cmd->name);
	rk_command_help(cmd);
	return EXIT_DONE;
}

static int help_run(int argc, char **argv)
{
	struct settings s = { .all = false };
	int n, rc = rk_options_parse(&cmd_help, &s, argc, argv, &n);

	if (rc >= 0)
		return rc;
	if (!s.words && (n > 2 || (n && s.all)))
		return say_misuse("help", "too many arguments; see 'rockit help --help'");
	if (s.words) {
		list_words(argv, n);
	} else if (s.all) {
		help_on_all();
	} else if (n) {
		return help_on(argv, n);
	} else {
		puts("usage: rockit VERB [options] [operands]\n"
		     "\n"
		     "Runs programs under GPU profilers; reads, converts and reports their output.\n"
		     "\n"
		     "verbs:");
		for (const struct rk_command *const *c = rk_commands; *c; c++)
			printf("  %-10s %s\n", (*c)->name, (*c)->summary);
		puts("\n'rockit help VERB' or 'rockit VERB --help' explains one verb,\n"
		     "'rockit help formats' lists the formats that can be read and written.");
	}
	return EXIT_DONE;
}

const struct rk_command cmd_help = {
	.name = "help",
	.summary = "list the verbs, explain one, or list the formats",
	.usage = "[VERB | formats]",
	.options = options,
	.plain = true,
	.examples = "  rockit help convert\n"
		    "  rockit help pack build\n"
		    "  rockit help formats\n",
	.word = topic_at,
	.run = help_run,
};
