/* cmd_completion.c - rockit completion, and what the scripts of all shells have in common. */
#include <stdio.h>
#include <string.h>

#include "say.h"
#include "shells.h"

static bool is_list(const char *arg)
{
	size_t len = strlen(arg);

	return !strcmp(arg, "LIST") || (len > 4 && !strcmp(arg + len - 4, ",..."));
}

enum rk_arg rk_arg_of(const struct rk_opt *o)
{
	if (o->kind == RK_OPT_FLAG)
		return RK_ARG_NONE;
	if (o->word == rk_preset_word)
		return RK_ARG_ASK;
	if (o->choices || o->word)
		return is_list(o->arg) ? RK_ARG_LIST : RK_ARG_WORDS;
	if (!strcmp(o->arg, "DIR"))
		return RK_ARG_DIR;
	if (!strcmp(o->arg, "FILE") || !strcmp(o->arg, "OUT") || !strcmp(o->arg, "PATH"))
		return RK_ARG_FILE;
	return RK_ARG_ANY;
}

const char *rk_arg_word(const struct rk_opt *o, size_t i)
{
	size_t n = 0;

	for (; o->choices && o->choices[n]; n++)
		if (n == i)
			return o->choices[n];
	return o->word ? o->word(i - n) : NULL;
}

bool rk_operand_asked(const struct rk_command *cmd)
{
	return cmd->word == rk_preset_word;
}

const char *rk_verb_word(const struct rk_command *cmd)
{
	const char *blank = strrchr(cmd->name, ' ');

	return blank ? blank + 1 : cmd->name;
}

void rk_verbs_each(void (*each)(const struct rk_command *cmd))
{
	for (const struct rk_command *const *c = rk_commands; *c; c++) {
		for (size_t i = 0; (*c)->verbs && (*c)->verbs[i]; i++)
			each((*c)->verbs[i]);
		if (!(*c)->verbs)
			each(*c);
	}
}

void rk_put_escaped(const char *text, const char *special)
{
	for (; *text; text++) {
		if (strchr(special, *text))
			putchar('\\');
		putchar(*text);
	}
}

static const struct {
	const char *name;
	void (*print)(void);
} shells[] = {
	{ "bash", rk_completion_bash },
	{ "zsh", rk_completion_zsh },
	{ "fish", rk_completion_fish },
};

enum { NSHELLS = sizeof(shells) / sizeof(shells[0]) };

static const char *shell_at(size_t i)
{
	return i < NSHELLS ? shells[i].name : NULL;
}

static int completion_run(int argc, char **argv)
{
	struct rk_common common = { .help = false };
	int n, rc = rk_options_parse(&cmd_completion, &common, argc, argv, &n);

	if (rc >= 0)
		return rc;
	if (n != 1)
		return say_misuse("completion",
				  n ? "takes one SHELL" : "for which SHELL? bash, zsh or fish");
	for (size_t i = 0; i < NSHELLS; i++) {
		if (!strcmp(shells[i].name, argv[0])) {
			shells[i].print();
			return EXIT_DONE;
		}
	}
	return say_misuse("completion", "no script for '%s'; there is one for bash, zsh and fish",
			  argv[0]);
}

const struct rk_command cmd_completion = {
	.name = "completion",
	.summary = "print the script by which a shell completes rockit's words",
	.usage = "bash | zsh | fish",
	.plain = true,
	.examples = "  . <(rockit completion bash)          in bash; put it into ~/.bashrc\n"
		    "  . <(rockit completion zsh)           in zsh, after compinit\n"
		    "  rockit completion fish | source      in fish\n",
	.word = shell_at,
	.run = completion_run,
};
