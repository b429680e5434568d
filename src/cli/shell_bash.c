/*
 * shell_bash.c - completion for bash: functions that are the same for every verb, and tables as
 * case statements. Readline itself offers files and folders, so it quotes their names.
 */
#include <stdio.h>

#include "rockit/rockit.h"
#include "shells.h"

static const char head[] =
	"# bash completion for rockit " ROCKIT_VERSION ", made by 'rockit completion bash'.\n"
	"\n"
	"# Those of the words that begin as `cur` does, quoted; `lead` is what stands before it.\n"
	"__rockit_offer()\n"
	"{\n"
	"	local word quoted\n"
	"	for word; do\n"
	"		printf -v quoted %q \"$word\"\n"
	"		if [[ $cur == [\\'\\\"]* ]]; then # readline closes the quotes\n"
	"			[[ $word == \"${cur:1}\"* ]] && COMPREPLY+=(\"$word\")\n"
	"		elif [[ $word == \"$cur\"* || $quoted == \"$cur\"* ]]; then\n"
	"			COMPREPLY+=(\"$lead$quoted\")\n"
	"		fi\n"
	"	done\n"
	"}\n"
	"\n"
	"# The same for a list with commas: words that are in it are not offered again.\n"
	"__rockit_offer_list()\n"
	"{\n"
	"	local word had=,$cur,\n"
	"	local -a left=()\n"
	"	if [[ $cur == *,* ]]; then\n"
	"		lead+=${cur%,*},\n"
	"		had=,${cur%,*},\n"
	"		cur=${cur##*,}\n"
	"	else\n"
	"		had=,\n"
	"	fi\n"
	"	for word; do\n"
	"		[[ $had == *,\"$word\",* ]] || left+=(\"$word\")\n"
	"	done\n"
	"	__rockit_offer \"${left[@]}\"\n"
	"	compopt -o nospace\n"
	"}\n"
	"\n"
	"# What depends on the machine is asked of the command itself.\n"
	"__rockit_offer_asked()\n"
	"{\n"
	"	local word\n"
	"	local -a words=()\n"
	"	while IFS=$'\\t' read -r word _; do\n"
	"		words+=(\"$word\")\n"
	"	done < <(\"${COMP_WORDS[0]/#\\~/$HOME}\" help --words -- run --preset 2>/dev/null)\n"
	"	__rockit_offer \"${words[@]}\"\n"
	"}\n"
	"\n"
	"# The program that is run has words of its own.\n"
	"__rockit_offer_program()\n"
	"{\n"
	"	local first=$1\n"
	"	if declare -F _comp_command_offset >/dev/null; then\n"
	"		_comp_command_offset \"$first\"\n"
	"	elif declare -F _command_offset >/dev/null; then\n"
	"		_command_offset \"$first\"\n"
	"	else\n"
	"		compopt -o default\n"
	"		((COMP_CWORD > first)) || mapfile -t COMPREPLY < <(compgen -c -- \"$cur\")\n"
	"	fi\n"
	"}\n\n";

static const char tail[] =
	"# Readline splits at '=' and '@' as well: `words` are those of the command line, up to the one\n"
	"# that is being typed, `places` where each begins in COMP_WORDS.\n"
	"__rockit_split()\n"
	"{\n"
	"	local rest=$COMP_LINE i\n"
	"	for ((i = 0; i <= COMP_CWORD; i++)); do\n"
	"		if [[ $i == 0 || $rest == [[:space:]]* ]]; then\n"
	"			words+=(\"${COMP_WORDS[i]}\")\n"
	"			places+=(\"$i\")\n"
	"			rest=${rest#\"${rest%%[![:space:]]*}\"}\n"
	"		else\n"
	"			words[-1]+=${COMP_WORDS[i]}\n"
	"		fi\n"
	"		rest=${rest#\"${COMP_WORDS[i]}\"}\n"
	"	done\n"
	"}\n"
	"\n"
	"# Readline knows the last part of a split word alone.\n"
	"__rockit_cut()\n"
	"{\n"
	"	local last=${COMP_WORDS[COMP_CWORD]} typed=${words[-1]} i\n"
	"	[[ $last == [=:] ]] && last=\n"
	"	[[ ${COMP_WORDS[COMP_CWORD - 1]} == @ && $typed == *\"@$last\" ]] && last=@$last\n"
	"	for i in \"${!COMPREPLY[@]}\"; do\n"
	"		COMPREPLY[i]=${COMPREPLY[i]#\"${typed%\"$last\"}\"}\n"
	"	done\n"
	"}\n"
	"\n"
	"# Where options end is where the program begins: its place in COMP_WORDS.\n"
	"__rockit_scan()\n"
	"{\n"
	"	local i\n"
	"	for ((i = first; i < n; i++)); do\n"
	"		if [[ ${words[i]} == -- ]]; then\n"
	"			ended=${places[i + 1]}\n"
	"			break\n"
	"		elif [[ \" $takes \" == *\" ${words[i]} \"* ]]; then\n"
	"			((i++))\n"
	"		elif [[ $program && ${words[i]} != -* ]]; then\n"
	"			ended=${places[i]}\n"
	"			break\n"
	"		fi\n"
	"	done\n"
	"}\n"
	"\n"
	"_rockit()\n"
	"{\n"
	"	local cur prev lead= verb first=2 n options= takes= program= ended=\n"
	"	local -a words=() places=()\n"
	"\n"
	"	COMPREPLY=()\n"
	"	__rockit_split\n"
	"	n=$((${#words[@]} - 1))\n"
	"	cur=${words[n]} prev=${words[n - 1]} verb=${words[1]}\n"
	"	if ((n == 1)); then\n"
	"		__rockit_verbs ''\n"
	"		return\n"
	"	fi\n"
	"	if [[ \" $__rockit_groups \" == *\" $verb \"* ]]; then\n"
	"		if ((n == 2)); then\n"
	"			__rockit_verbs \"$verb\"\n"
	"			return\n"
	"		fi\n"
	"		verb=\"$verb ${words[2]}\" first=3\n"
	"	fi\n"
	"	__rockit_options \"$verb\"\n"
	"	__rockit_scan\n"
	"	if [[ $program && $ended ]]; then\n"
	"		__rockit_offer_program \"$ended\"\n"
	"		return\n"
	"	fi\n"
	"	if [[ ! $ended && $cur == --*=* ]]; then\n"
	"		prev=${cur%%=*} lead=${cur%%=*}= cur=${cur#*=}\n"
	"	fi\n"
	"	if [[ ! $ended && \" $takes \" == *\" $prev \"* ]]; then\n"
	"		__rockit_values \"$verb $prev\"\n"
	"	elif [[ ! $ended && $cur == -* ]]; then\n"
	"		__rockit_offer $options\n"
	"	else\n"
	"		__rockit_operands \"$verb\"\n"
	"	fi\n"
	"	__rockit_cut\n"
	"}\n"
	"complete -F _rockit rockit\n";

static void put_verb_words(const struct rk_command *const *verbs)
{
	for (; *verbs; verbs++)
		printf(" %s", rk_verb_word(*verbs));
}

static void put_verbs(void)
{
	const struct rk_command *const *c;

	fputs("__rockit_groups='", stdout);
	for (c = rk_commands; *c; c++)
		if ((*c)->verbs)
			printf("%s ", (*c)->name);
	fputs("'\n\n__rockit_verbs()\n{\n\tcase $1 in\n\t'') __rockit_offer", stdout);
	put_verb_words(rk_commands);
	puts(" --help --version ;;");
	for (c = rk_commands; *c; c++) {
		if (!(*c)->verbs)
			continue;
		printf("\t%s) __rockit_offer", (*c)->name);
		put_verb_words((*c)->verbs);
		puts(" --help ;;");
	}
	puts("\tesac\n}\n");
}

static void put_option_names(const struct rk_command *cmd, bool with_argument)
{
	const struct rk_opt *o;
	const char *blank = "";

	for (size_t i = 0; (o = rk_option_at(cmd, i)) != NULL; i++) {
		if (with_argument && rk_arg_of(o) == RK_ARG_NONE)
			continue;
		printf("%s--%s", blank, o->name);
		if (o->letter)
			printf(" -%c", o->letter);
		blank = " ";
	}
}

static void put_options(const struct rk_command *cmd)
{
	printf("\t'%s')\n\t\toptions='", cmd->name);
	put_option_names(cmd, false);
	fputs(cmd->program ? " --'\n\t\ttakes='" : "'\n\t\ttakes='", stdout);
	put_option_names(cmd, true);
	printf("'%s\n\t\t;;\n", cmd->program ? "\n\t\tprogram=1" : "");
}

static void put_offer(const struct rk_opt *o)
{
	const char *word;

	switch (rk_arg_of(o)) {
	case RK_ARG_WORDS:
	case RK_ARG_LIST:
		printf("__rockit_offer%s", rk_arg_of(o) == RK_ARG_LIST ? "_list" : "");
		for (size_t i = 0; (word = rk_arg_word(o, i)) != NULL; i++)
			printf(" '%s'", word);
		break;
	case RK_ARG_ASK:
		fputs("__rockit_offer_asked", stdout);
		break;
	case RK_ARG_FILE:
		fputs("compopt -o default", stdout);
		break;
	case RK_ARG_DIR:
		fputs("compopt -o dirnames", stdout);
		break;
	case RK_ARG_NONE:
	case RK_ARG_ANY:
		break;
	}
}

static void put_values(const struct rk_command *cmd)
{
	const struct rk_opt *o;

	for (size_t i = 0; (o = rk_option_at(cmd, i)) != NULL; i++) {
		if (rk_arg_of(o) == RK_ARG_NONE || rk_arg_of(o) == RK_ARG_ANY)
			continue;
		printf("\t'%s --%s'", cmd->name, o->name);
		if (o->letter)
			printf(" | '%s -%c'", cmd->name, o->letter);
		fputs(") ", stdout);
		put_offer(o);
		puts(" ;;");
	}
}

/* help takes a verb, and then a verb of that. */
static void put_help_operands(void)
{
	puts("\t\tif ((n > first)); then\n"
	     "\t\t\t[[ ${words[first]} ]] && __rockit_verbs \"${words[first]}\"\n"
	     "\t\t\treturn\n"
	     "\t\tfi");
}

static void put_operands(const struct rk_command *cmd)
{
	const char *word;

	printf("\t'%s')\n", cmd->name);
	if (cmd == &cmd_help)
		put_help_operands();
	if (rk_operand_asked(cmd)) {
		puts("\t\t__rockit_offer_asked");
	} else if (cmd->word) {
		fputs("\t\t__rockit_offer", stdout);
		for (size_t i = 0; (word = cmd->word(i)) != NULL; i++)
			printf(" %s", word);
		putchar('\n');
	} else if (cmd->operands == RK_OPERANDS_FILES) {
		puts("\t\tcompopt -o default");
	} else if (cmd->operands == RK_OPERANDS_DIRS) {
		puts("\t\tcompopt -o dirnames");
	} else {
		puts("\t\t[[ $ended ]] || __rockit_offer $options");
	}
	puts("\t\t;;");
}

static void put_case(const char *name, void (*each)(const struct rk_command *cmd))
{
	printf("%s()\n{\n\tcase $1 in\n", name);
	rk_verbs_each(each);
	puts("\tesac\n}\n");
}

void rk_completion_bash(void)
{
	fputs(head, stdout);
	put_verbs();
	put_case("__rockit_options", put_options);
	put_case("__rockit_values", put_values);
	put_case("__rockit_operands", put_operands);
	fputs(tail, stdout);
}
