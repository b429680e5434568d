/* shell_zsh.c - completion for zsh: one call of _arguments for each verb. */
#include <stdio.h>
#include <string.h>

#include "rockit/rockit.h"
#include "shells.h"

static const char head[] =
	"#compdef rockit\n"
	"# zsh completion for rockit " ROCKIT_VERSION ", made by 'rockit completion zsh'.\n"
	"\n"
	"# What depends on the machine is asked of the command itself.\n"
	"_rockit_presets() {\n"
	"	local -a words=(\"${(@f)$(${rockit/#\\~/$HOME} help --words -- run --preset 2>/dev/null)}\")\n"
	"	_wanted presets expl preset compadd -a words\n"
	"}\n\n";

static const char tail[] = "_rockit() {\n"
			   "	local rockit=$words[1] curcontext=$curcontext state expl ret=1\n"
			   "	local -a line verbs\n"
			   "	typeset -A opt_args\n"
			   "\n"
			   "	if (( CURRENT == 2 )); then\n"
			   "		_rockit_verbs ''\n"
			   "		return\n"
			   "	fi\n"
			   "	shift words\n"
			   "	(( CURRENT-- ))\n"
			   "	if (( ${_rockit_groups[(Ie)$words[1]]} )); then\n"
			   "		if (( CURRENT == 2 )); then\n"
			   "			_rockit_verbs $words[1]\n"
			   "			return\n"
			   "		fi\n"
			   "		words[2]=\"$words[1] $words[2]\"\n"
			   "		shift words\n"
			   "		(( CURRENT-- ))\n"
			   "	fi\n"
			   "	_rockit_arguments $words[1]\n"
			   "}\n"
			   "\n"
			   "if [[ $funcstack[1] == _rockit ]]; then\n"
			   "	_rockit \"$@\"\n"
			   "else\n"
			   "	compdef _rockit rockit\n"
			   "fi\n";

/* Inside single quotes: `special` gets a backslash, and a quote is a quote. */
static void put_quoted(const char *text, const char *special)
{
	char one[2] = "";

	for (; *text; text++) {
		one[0] = *text;
		if (*text == '\'')
			fputs("'\\''", stdout);
		else
			rk_put_escaped(one, special);
	}
}

static void put_described(const struct rk_command *const *verbs)
{
	for (; *verbs; verbs++) {
		printf("\t\t\t'%s:", rk_verb_word(*verbs));
		put_quoted((*verbs)->summary, "\\:");
		puts("'");
	}
}

static void put_verbs(void)
{
	const struct rk_command *const *c;

	fputs("typeset -ga _rockit_groups=(", stdout);
	for (c = rk_commands; *c; c++)
		if ((*c)->verbs)
			printf(" %s", (*c)->name);
	puts(" )\n\n_rockit_verbs() {\n\tlocal -a verbs\n\tcase $1 in\n\t'')\n\t\tverbs=(");
	put_described(rk_commands);
	puts("\t\t\t'--help:list the verbs' '--version:print the version'\n\t\t)\n\t\t;;");
	for (c = rk_commands; *c; c++) {
		if (!(*c)->verbs)
			continue;
		printf("\t%s)\n\t\tverbs=(\n", (*c)->name);
		put_described((*c)->verbs);
		puts("\t\t\t'--help:this text'\n\t\t)\n\t\t;;");
	}
	puts("\tesac\n\t_describe -t verbs verb verbs\n}\n");
}

static void put_words(const struct rk_opt *o)
{
	const char *word;

	for (size_t i = 0; (word = rk_arg_word(o, i)) != NULL; i++) {
		if (i)
			putchar(' ');
		put_quoted(word, "\\:()[]@");
	}
}

/* The last part of a specification: ":what:how". */
static void put_action(const struct rk_opt *o)
{
	enum rk_arg arg = rk_arg_of(o);

	putchar(':');
	put_quoted(o->arg, "\\:");
	putchar(':');
	if (arg == RK_ARG_ASK)
		fputs("_rockit_presets", stdout);
	if (arg == RK_ARG_FILE)
		fputs("_files", stdout);
	if (arg == RK_ARG_DIR)
		fputs("_files -/", stdout);
	if (arg != RK_ARG_WORDS && arg != RK_ARG_LIST)
		return;
	fputs(arg == RK_ARG_LIST ? "_values -s , word " : "(", stdout);
	put_words(o);
	fputs(arg == RK_ARG_LIST ? "" : ")", stdout);
}

static void put_option(const struct rk_opt *o)
{
	bool flag = rk_arg_of(o) == RK_ARG_NONE;
	const char *equals = flag ? "" : "=";

	if (o->letter)
		printf("\t\t\t'(-%c --%s)'{-%c%s,--%s%s}'[", o->letter, o->name, o->letter,
		       flag ? "" : "+", o->name, equals);
	else
		printf("\t\t\t'--%s%s[", o->name, equals);
	put_quoted(o->help, "\\[]");
	putchar(']');
	if (!flag)
		put_action(o);
	puts("' \\");
}

static void put_operand_words(const struct rk_command *cmd, const char *end)
{
	const char *word;

	fputs("\t\t\t'1:word:(", stdout);
	for (size_t i = 0; (word = cmd->word(i)) != NULL; i++)
		printf("%s%s", i ? " " : "", word);
	printf(")%s\n", end);
}

static void put_operands(const struct rk_command *cmd)
{
	if (cmd->program) {
		puts("\t\t\t'(-):program:_command_names -e' \\\n\t\t\t'*::arguments:_normal'");
	} else if (cmd == &cmd_help) {
		put_operand_words(cmd, "' \\");
		puts("\t\t\t'2:verb:{ _rockit_verbs $words[2] }'");
	} else if (rk_operand_asked(cmd)) {
		puts("\t\t\t'1:preset:_rockit_presets'");
	} else if (cmd->word) {
		put_operand_words(cmd, "'");
	} else if (cmd->operands != RK_OPERANDS_NONE) {
		printf("\t\t\t'*:%s\n",
		       cmd->operands == RK_OPERANDS_FILES ? "input:_files'" : "folder:_files -/'");
	} else {
		puts("\t\t\t'*:: :_nothing'");
	}
}

static void put_verb(const struct rk_command *cmd)
{
	const struct rk_opt *o;

	printf("\t'%s')\n\t\t_arguments -s -S : \\\n", cmd->name);
	for (size_t i = 0; (o = rk_option_at(cmd, i)) != NULL; i++)
		put_option(o);
	put_operands(cmd);
	puts("\t\t;;");
}

void rk_completion_zsh(void)
{
	fputs(head, stdout);
	put_verbs();
	puts("_rockit_arguments() {\n\tcase $1 in");
	rk_verbs_each(put_verb);
	puts("\tesac\n}\n");
	fputs(tail, stdout);
}
