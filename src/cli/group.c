/* group.c - verbs that are made of verbs: `rockit pack build`. */
#include <stdio.h>
#include <string.h>

#include "options.h"
#include "rockit/nearest.h"
#include "say.h"

enum { MOST_VERBS = 15 };

static const char *last_word(const struct rk_command *cmd)
{
	const char *blank = strrchr(cmd->name, ' ');

	return blank ? blank + 1 : cmd->name;
}

static const struct rk_command *find(const struct rk_command *group, const char *word)
{
	for (size_t i = 0; group->verbs[i]; i++)
		if (!strcmp(last_word(group->verbs[i]), word))
			return group->verbs[i];
	return NULL;
}

const struct rk_command *rk_command_at(char *const *argv, int argc, int *ret_words)
{
	const struct rk_command *cmd = argc ? rk_command_find(argv[0]) : NULL, *inner = NULL;

	if (cmd && cmd->verbs && argc > 1)
		inner = find(cmd, argv[1]);
	*ret_words = inner ? 2 : cmd ? 1 : 0;
	return inner ? inner : cmd;
}

void rk_group_help(const struct rk_command *group)
{
	puts("verbs:");
	for (size_t i = 0; group->verbs[i]; i++)
		printf("  %-10s %s\n", last_word(group->verbs[i]), group->verbs[i]->summary);
	printf("\n'rockit %s VERB --help' says more about one of them.\n", group->name);
}

static int unknown(const struct rk_command *group, const char *word)
{
	const char *names[MOST_VERBS + 1], *near;
	size_t n = 0;

	for (; n < MOST_VERBS && group->verbs[n]; n++)
		names[n] = last_word(group->verbs[n]);
	names[n] = NULL;
	near = rk_nearest(word, names);
	if (near)
		return say_misuse(group->name, "unknown verb '%s'; did you mean '%s'?", word, near);
	return say_misuse(group->name, "unknown verb '%s'; see 'rockit %s --help'", word,
			  group->name);
}

int rk_group_run(const struct rk_command *group, int argc, char **argv)
{
	const struct rk_command *cmd;

	if (argc < 2)
		return say_misuse(group->name, "which? See 'rockit %s --help'", group->name);
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		rk_command_help(group);
		return EXIT_DONE;
	}
	cmd = find(group, argv[1]);
	return cmd ? cmd->run(argc - 1, argv + 1) : unknown(group, argv[1]);
}
