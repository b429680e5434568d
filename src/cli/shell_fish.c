/* shell_fish.c - completion for fish: a line for each option, true where its verb is typed. */
#include <stdio.h>

#include "rockit/rockit.h"
#include "shells.h"

static const char head[] =
	"# fish completion for rockit " ROCKIT_VERSION ", made by 'rockit completion fish'.\n"
	"\n"
	"# The verb whose words are being typed; 'program N' where the N-th word begins another\n"
	"# program's; 'group G' where a verb of G is due; 'none' before any verb.\n"
	"function __rockit_state\n"
	"    set -l words (commandline -opc)\n"
	"    set -l n (count $words)\n"
	"    if test $n -lt 2\n"
	"        echo none\n"
	"        return\n"
	"    end\n"
	"    set -l verb $words[2]\n"
	"    set -l at 3\n"
	"    if contains -- $verb $__rockit_groups\n"
	"        if test $n -lt 3\n"
	"            echo group $verb\n"
	"            return\n"
	"        end\n"
	"        set verb \"$verb $words[3]\"\n"
	"        set at 4\n"
	"    end\n"
	"    if test \"$verb\" = help -a $n -gt 2 # a verb of a verb, or nothing\n"
	"        contains -- $words[3] $__rockit_groups; and test $n -eq 3; and echo group $words[3]\n"
	"        or echo done\n"
	"        return\n"
	"    end\n"
	"    set -l takes (__rockit_takes $verb)\n"
	"    if test \"$takes[1]\" = program\n"
	"        while test $at -le $n\n"
	"            if test \"$words[$at]\" = --\n"
	"                echo program (math $at + 1)\n"
	"                return\n"
	"            else if contains -- \"$words[$at]\" $takes\n"
	"                set at (math $at + 1)\n"
	"            else if not string match -q -- '-*' \"$words[$at]\"\n"
	"                echo program $at\n"
	"                return\n"
	"            end\n"
	"            set at (math $at + 1)\n"
	"        end\n"
	"    end\n"
	"    echo $verb\n"
	"end\n"
	"\n"
	"function __rockit_at\n"
	"    test (__rockit_state) = \"$argv\"\n"
	"end\n"
	"\n"
	"# Words for a list with commas: those in it are not offered again.\n"
	"function __rockit_list\n"
	"    set -l typed (commandline -ct | string replace -r -- '^(--[^=]*=|-[a-z])' '')\n"
	"    set -l lead (string match -r -- '^.*,' \"$typed\")\n"
	"    set -l had (string split , -- $lead)\n"
	"    for word in $argv\n"
	"        contains -- $word $had; or echo \"$lead$word\"\n"
	"    end\n"
	"end\n"
	"\n"
	"# What depends on the machine is asked of the command itself.\n"
	"function __rockit_presets\n"
	"    set -l words (commandline -opc)\n"
	"    set -l rockit (string replace -r -- '^~' ~ $words[1])\n"
	"    $rockit help --words -- run --preset 2>/dev/null\n"
	"end\n"
	"\n"
	"# The program that is run has words of its own.\n"
	"function __rockit_program\n"
	"    set -l first (__rockit_state | string replace 'program ' '')\n"
	"    set -l words (commandline -opc)\n"
	"    set -l before\n"
	"    test $first -le (count $words); and set before (string escape -- $words[$first..-1])\n"
	"    complete -C (string join ' ' -- $before (commandline -ct))\n"
	"end\n"
	"\n";

static const char tail[] =
	"complete -c rockit -f\n"
	"complete -c rockit -n 'string match -q -- \"program *\" (__rockit_state)' "
	"-a '(__rockit_program)'\n"
	"complete -c rockit -n '__rockit_at none' -l help -d 'list the verbs'\n"
	"complete -c rockit -n '__rockit_at none' -l version -d 'print the version'\n";

static void put_quoted(const char *text)
{
	putchar('\'');
	rk_put_escaped(text, "\\'");
	putchar('\'');
}

static void put_groups(void)
{
	fputs("set -g __rockit_groups", stdout);
	for (const struct rk_command *const *c = rk_commands; *c; c++)
		if ((*c)->verbs)
			printf(" %s", (*c)->name);
	puts("\n");
}

static void put_takes(const struct rk_command *cmd)
{
	const struct rk_opt *o;

	if (!cmd->program)
		return;
	printf("        case '%s'\n            printf '%%s\\n' program", cmd->name);
	for (size_t i = 0; (o = rk_option_at(cmd, i)) != NULL; i++) {
		if (rk_arg_of(o) == RK_ARG_NONE)
			continue;
		printf(" --%s", o->name);
		if (o->letter)
			printf(" -%c", o->letter);
	}
	putchar('\n');
}

static void put_verb_line(const struct rk_command *cmd, const char *group)
{
	printf("complete -c rockit -n '__rockit_at %s%s' -a %s -d ", group ? "group " : "none",
	       group ? group : "", rk_verb_word(cmd));
	put_quoted(cmd->summary);
	putchar('\n');
}

static void put_verbs(void)
{
	for (const struct rk_command *const *c = rk_commands; *c; c++) {
		put_verb_line(*c, NULL);
		for (size_t i = 0; (*c)->verbs && (*c)->verbs[i]; i++)
			put_verb_line((*c)->verbs[i], (*c)->name);
		if ((*c)->verbs)
			printf("complete -c rockit -n '__rockit_at group %s' -s h -l help -d 'this text'\n",
			       (*c)->name);
	}
}

static void put_words(const char *how, const struct rk_opt *o, const char *end)
{
	const char *word;

	fputs(how, stdout);
	for (size_t i = 0; (word = rk_arg_word(o, i)) != NULL; i++)
		printf("%s%s", i ? " " : "", word);
	fputs(end, stdout);
}

static void put_argument(const struct rk_opt *o)
{
	switch (rk_arg_of(o)) {
	case RK_ARG_NONE:
		break;
	case RK_ARG_ANY:
		fputs(" -x", stdout);
		break;
	case RK_ARG_WORDS:
		put_words(" -xa '", o, "'");
		break;
	case RK_ARG_LIST:
		put_words(" -xa '(__rockit_list ", o, ")'");
		break;
	case RK_ARG_ASK:
		fputs(" -xa '(__rockit_presets)'", stdout);
		break;
	case RK_ARG_FILE:
		fputs(" -rF", stdout);
		break;
	case RK_ARG_DIR:
		fputs(" -xa '(__fish_complete_directories)'", stdout);
		break;
	}
}

static void put_option(const struct rk_command *cmd, const struct rk_opt *o)
{
	printf("complete -c rockit -n '__rockit_at %s'", cmd->name);
	if (o->letter)
		printf(" -s %c", o->letter);
	printf(" -l %s", o->name);
	put_argument(o);
	fputs(" -d ", stdout);
	put_quoted(o->help);
	putchar('\n');
}

static void put_operands(const struct rk_command *cmd)
{
	const char *word;

	if (cmd->program || (!cmd->word && cmd->operands == RK_OPERANDS_NONE))
		return;
	printf("complete -c rockit -n '__rockit_at %s' ", cmd->name);
	if (rk_operand_asked(cmd)) {
		puts("-a '(__rockit_presets)'");
	} else if (cmd->word) {
		fputs("-a '", stdout);
		for (size_t i = 0; (word = cmd->word(i)) != NULL; i++)
			printf("%s%s", i ? " " : "", word);
		puts("'");
	} else if (cmd->operands == RK_OPERANDS_DIRS) {
		puts("-a '(__fish_complete_directories)'");
	} else {
		puts("-F");
	}
}

static void put_verb(const struct rk_command *cmd)
{
	const struct rk_opt *o;

	for (size_t i = 0; (o = rk_option_at(cmd, i)) != NULL; i++)
		put_option(cmd, o);
	put_operands(cmd);
}

void rk_completion_fish(void)
{
	fputs(head, stdout);
	put_groups();
	puts("function __rockit_takes\n    switch \"$argv\"");
	rk_verbs_each(put_takes);
	puts("    end\nend\n");
	fputs(tail, stdout);
	put_verbs();
	rk_verbs_each(put_verb);
}
