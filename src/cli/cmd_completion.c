/*
 * cmd_completion.c - rockit completion: scripts by which shells complete the words of the verbs,
 * printed from the tables of the verbs.
 */
#include <stdio.h>
#include <string.h>

#include "options.h"
#include "rockit/rockit.h"
#include "say.h"

/* ---- what all shells share ---- */

/* What may follow an option. */
enum arg {
	ARG_NONE,  /* it is a flag */
	ARG_ANY,   /* nothing to offer */
	ARG_WORDS, /* arg_word */
	ARG_LIST,  /* the same, with commas between them */
	ARG_ASK,   /* words that depend on who asks: `rockit help --words -- run --preset` */
	ARG_FILE,
	ARG_DIR,
};

static enum arg arg_of(const struct rk_opt *o)
{
	size_t len;

	if (o->kind == RK_OPT_FLAG)
		return ARG_NONE;
	if (o->word == rk_preset_word)
		return ARG_ASK;
	len = strlen(o->arg);
	if (o->choices || o->word)
		return !strcmp(o->arg, "LIST") || (len > 4 && !strcmp(o->arg + len - 4, ",...")) ?
			       ARG_LIST :
			       ARG_WORDS;
	if (!strcmp(o->arg, "DIR"))
		return ARG_DIR;
	if (!strcmp(o->arg, "FILE") || !strcmp(o->arg, "OUT") || !strcmp(o->arg, "PATH"))
		return ARG_FILE;
	return ARG_ANY;
}

/* The i-th word that may follow, NULL past the end. */
static const char *arg_word(const struct rk_opt *o, size_t i)
{
	size_t n = 0;

	for (; o->choices && o->choices[n]; n++)
		if (n == i)
			return o->choices[n];
	return o->word ? o->word(i - n) : NULL;
}

/* Whether the operands of a verb depend on who asks. */
static bool operand_asked(const struct rk_command *cmd)
{
	return cmd->word == rk_preset_word;
}

/* For every verb that is no group, those of groups included. */
static void each_verb(void (*each)(const struct rk_command *cmd))
{
	for (const struct rk_command *const *c = rk_commands; *c; c++) {
		for (size_t i = 0; (*c)->verbs && (*c)->verbs[i]; i++)
			each((*c)->verbs[i]);
		if (!(*c)->verbs)
			each(*c);
	}
}

/* `text` with a backslash before each character of `special`. */
static void put_escaped(const char *text, const char *special)
{
	for (; *text; text++) {
		if (strchr(special, *text))
			putchar('\\');
		putchar(*text);
	}
}

/*
 * ---- bash ----
 *
 * Functions that are the same for every verb, and tables as case statements. Readline itself offers
 * files and folders, so it quotes their names.
 */

static const char bash_head[] =
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

static const char bash_tail[] =
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

static void bash_put_verb_words(const struct rk_command *const *verbs)
{
	for (; *verbs; verbs++)
		printf(" %s", rk_verb_word(*verbs));
}

static void bash_put_verbs(void)
{
	const struct rk_command *const *c;

	fputs("__rockit_groups='", stdout);
	for (c = rk_commands; *c; c++)
		if ((*c)->verbs)
			printf("%s ", (*c)->name);
	fputs("'\n\n__rockit_verbs()\n{\n\tcase $1 in\n\t'') __rockit_offer", stdout);
	bash_put_verb_words(rk_commands);
	puts(" --help --version ;;");
	for (c = rk_commands; *c; c++) {
		if (!(*c)->verbs)
			continue;
		printf("\t%s) __rockit_offer", (*c)->name);
		bash_put_verb_words((*c)->verbs);
		puts(" --help ;;");
	}
	puts("\tesac\n}\n");
}

static void bash_put_option_names(const struct rk_command *cmd, bool with_argument)
{
	const struct rk_opt *o;
	const char *blank = "";

	for (size_t i = 0; (o = rk_option_at(cmd, i)) != NULL; i++) {
		if (with_argument && arg_of(o) == ARG_NONE)
			continue;
		printf("%s--%s", blank, o->name);
		if (o->letter)
			printf(" -%c", o->letter);
		blank = " ";
	}
}

static void bash_put_options(const struct rk_command *cmd)
{
	printf("\t'%s')\n\t\toptions='", cmd->name);
	bash_put_option_names(cmd, false);
	fputs(cmd->program ? " --'\n\t\ttakes='" : "'\n\t\ttakes='", stdout);
	bash_put_option_names(cmd, true);
	printf("'%s\n\t\t;;\n", cmd->program ? "\n\t\tprogram=1" : "");
}

static void bash_put_offer(const struct rk_opt *o)
{
	const char *word;

	switch (arg_of(o)) {
	case ARG_WORDS:
	case ARG_LIST:
		printf("__rockit_offer%s", arg_of(o) == ARG_LIST ? "_list" : "");
		for (size_t i = 0; (word = arg_word(o, i)) != NULL; i++)
			printf(" '%s'", word);
		break;
	case ARG_ASK:
		fputs("__rockit_offer_asked", stdout);
		break;
	case ARG_FILE:
		fputs("compopt -o default", stdout);
		break;
	case ARG_DIR:
		fputs("compopt -o dirnames", stdout);
		break;
	case ARG_NONE:
	case ARG_ANY:
		break;
	}
}

static void bash_put_values(const struct rk_command *cmd)
{
	const struct rk_opt *o;

	for (size_t i = 0; (o = rk_option_at(cmd, i)) != NULL; i++) {
		if (arg_of(o) == ARG_NONE || arg_of(o) == ARG_ANY)
			continue;
		printf("\t'%s --%s'", cmd->name, o->name);
		if (o->letter)
			printf(" | '%s -%c'", cmd->name, o->letter);
		fputs(") ", stdout);
		bash_put_offer(o);
		puts(" ;;");
	}
}

static void bash_put_operands(const struct rk_command *cmd)
{
	const char *word;

	printf("\t'%s')\n", cmd->name);
	if (cmd == &cmd_help) /* takes a verb, and then a verb of that */
		puts("\t\tif ((n > first)); then\n"
		     "\t\t\t[[ ${words[first]} ]] && __rockit_verbs \"${words[first]}\"\n"
		     "\t\t\treturn\n"
		     "\t\tfi");
	if (operand_asked(cmd)) {
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

static void bash_put_case(const char *name, void (*each)(const struct rk_command *cmd))
{
	printf("%s()\n{\n\tcase $1 in\n", name);
	each_verb(each);
	puts("\tesac\n}\n");
}

static void print_bash(void)
{
	fputs(bash_head, stdout);
	bash_put_verbs();
	bash_put_case("__rockit_options", bash_put_options);
	bash_put_case("__rockit_values", bash_put_values);
	bash_put_case("__rockit_operands", bash_put_operands);
	fputs(bash_tail, stdout);
}

/* ---- zsh: one call of _arguments for each verb ---- */

static const char zsh_head[] =
	"#compdef rockit\n"
	"# zsh completion for rockit " ROCKIT_VERSION ", made by 'rockit completion zsh'.\n"
	"\n"
	"# What depends on the machine is asked of the command itself.\n"
	"_rockit_presets() {\n"
	"	local -a words=(\"${(@f)$(${rockit/#\\~/$HOME} help --words -- run --preset 2>/dev/null)}\")\n"
	"	_wanted presets expl preset compadd -a words\n"
	"}\n\n";

static const char zsh_tail[] =
	"_rockit() {\n"
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
static void zsh_put_quoted(const char *text, const char *special)
{
	char one[2] = "";

	for (; *text; text++) {
		one[0] = *text;
		if (*text == '\'')
			fputs("'\\''", stdout);
		else
			put_escaped(one, special);
	}
}

static void zsh_put_described(const struct rk_command *const *verbs)
{
	for (; *verbs; verbs++) {
		printf("\t\t\t'%s:", rk_verb_word(*verbs));
		zsh_put_quoted((*verbs)->summary, "\\:");
		puts("'");
	}
}

static void zsh_put_verbs(void)
{
	const struct rk_command *const *c;

	fputs("typeset -ga _rockit_groups=(", stdout);
	for (c = rk_commands; *c; c++)
		if ((*c)->verbs)
			printf(" %s", (*c)->name);
	puts(" )\n\n_rockit_verbs() {\n\tlocal -a verbs\n\tcase $1 in\n\t'')\n\t\tverbs=(");
	zsh_put_described(rk_commands);
	puts("\t\t\t'--help:list the verbs' '--version:print the version'\n\t\t)\n\t\t;;");
	for (c = rk_commands; *c; c++) {
		if (!(*c)->verbs)
			continue;
		printf("\t%s)\n\t\tverbs=(\n", (*c)->name);
		zsh_put_described((*c)->verbs);
		puts("\t\t\t'--help:this text'\n\t\t)\n\t\t;;");
	}
	puts("\tesac\n\t_describe -t verbs verb verbs\n}\n");
}

static void zsh_put_words(const struct rk_opt *o)
{
	const char *word;

	for (size_t i = 0; (word = arg_word(o, i)) != NULL; i++) {
		if (i)
			putchar(' ');
		zsh_put_quoted(word, "\\:()[]@");
	}
}

/* The last part of a specification: ":what:how". */
static void zsh_put_action(const struct rk_opt *o)
{
	enum arg arg = arg_of(o);

	putchar(':');
	zsh_put_quoted(o->arg, "\\:");
	putchar(':');
	if (arg == ARG_ASK)
		fputs("_rockit_presets", stdout);
	if (arg == ARG_FILE)
		fputs("_files", stdout);
	if (arg == ARG_DIR)
		fputs("_files -/", stdout);
	if (arg != ARG_WORDS && arg != ARG_LIST)
		return;
	fputs(arg == ARG_LIST ? "_values -s , word " : "(", stdout);
	zsh_put_words(o);
	fputs(arg == ARG_LIST ? "" : ")", stdout);
}

static void zsh_put_option(const struct rk_opt *o)
{
	bool flag = arg_of(o) == ARG_NONE;
	const char *equals = flag ? "" : "=";

	if (o->letter)
		printf("\t\t\t'(-%c --%s)'{-%c%s,--%s%s}'[", o->letter, o->name, o->letter,
		       flag ? "" : "+", o->name, equals);
	else
		printf("\t\t\t'--%s%s[", o->name, equals);
	zsh_put_quoted(o->help, "\\[]");
	putchar(']');
	if (!flag)
		zsh_put_action(o);
	puts("' \\");
}

static void zsh_put_operand_words(const struct rk_command *cmd, const char *end)
{
	const char *word;

	fputs("\t\t\t'1:word:(", stdout);
	for (size_t i = 0; (word = cmd->word(i)) != NULL; i++)
		printf("%s%s", i ? " " : "", word);
	printf(")%s\n", end);
}

static void zsh_put_operands(const struct rk_command *cmd)
{
	if (cmd->program) {
		puts("\t\t\t'(-):program:_command_names -e' \\\n\t\t\t'*::arguments:_normal'");
	} else if (cmd == &cmd_help) {
		zsh_put_operand_words(cmd, "' \\");
		puts("\t\t\t'2:verb:{ _rockit_verbs $words[2] }'");
	} else if (operand_asked(cmd)) {
		puts("\t\t\t'1:preset:_rockit_presets'");
	} else if (cmd->word) {
		zsh_put_operand_words(cmd, "'");
	} else if (cmd->operands != RK_OPERANDS_NONE) {
		printf("\t\t\t'*:%s\n",
		       cmd->operands == RK_OPERANDS_FILES ? "input:_files'" : "folder:_files -/'");
	} else {
		puts("\t\t\t'*:: :_nothing'");
	}
}

static void zsh_put_verb(const struct rk_command *cmd)
{
	const struct rk_opt *o;

	printf("\t'%s')\n\t\t_arguments -s -S : \\\n", cmd->name);
	for (size_t i = 0; (o = rk_option_at(cmd, i)) != NULL; i++)
		zsh_put_option(o);
	zsh_put_operands(cmd);
	puts("\t\t;;");
}

static void print_zsh(void)
{
	fputs(zsh_head, stdout);
	zsh_put_verbs();
	puts("_rockit_arguments() {\n\tcase $1 in");
	each_verb(zsh_put_verb);
	puts("\tesac\n}\n");
	fputs(zsh_tail, stdout);
}

/* ---- fish: a line for each option, true where its verb is typed ---- */

static const char fish_head[] =
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

static const char fish_tail[] =
	"complete -c rockit -f\n"
	"complete -c rockit -n 'string match -q -- \"program *\" (__rockit_state)' "
	"-a '(__rockit_program)'\n"
	"complete -c rockit -n '__rockit_at none' -l help -d 'list the verbs'\n"
	"complete -c rockit -n '__rockit_at none' -l version -d 'print the version'\n";

static void fish_put_quoted(const char *text)
{
	putchar('\'');
	put_escaped(text, "\\'");
	putchar('\'');
}

static void fish_put_groups(void)
{
	fputs("set -g __rockit_groups", stdout);
	for (const struct rk_command *const *c = rk_commands; *c; c++)
		if ((*c)->verbs)
			printf(" %s", (*c)->name);
	puts("\n");
}

static void fish_put_takes(const struct rk_command *cmd)
{
	const struct rk_opt *o;

	if (!cmd->program)
		return;
	printf("        case '%s'\n            printf '%%s\\n' program", cmd->name);
	for (size_t i = 0; (o = rk_option_at(cmd, i)) != NULL; i++) {
		if (arg_of(o) == ARG_NONE)
			continue;
		printf(" --%s", o->name);
		if (o->letter)
			printf(" -%c", o->letter);
	}
	putchar('\n');
}

static void fish_put_verb_line(const struct rk_command *cmd, const char *group)
{
	printf("complete -c rockit -n '__rockit_at %s%s' -a %s -d ", group ? "group " : "none",
	       group ? group : "", rk_verb_word(cmd));
	fish_put_quoted(cmd->summary);
	putchar('\n');
}

static void fish_put_verbs(void)
{
	for (const struct rk_command *const *c = rk_commands; *c; c++) {
		fish_put_verb_line(*c, NULL);
		for (size_t i = 0; (*c)->verbs && (*c)->verbs[i]; i++)
			fish_put_verb_line((*c)->verbs[i], (*c)->name);
		if ((*c)->verbs)
			printf("complete -c rockit -n '__rockit_at group %s' -s h -l help -d 'this text'\n",
			       (*c)->name);
	}
}

static void fish_put_words(const char *how, const struct rk_opt *o, const char *end)
{
	const char *word;

	fputs(how, stdout);
	for (size_t i = 0; (word = arg_word(o, i)) != NULL; i++)
		printf("%s%s", i ? " " : "", word);
	fputs(end, stdout);
}

static void fish_put_argument(const struct rk_opt *o)
{
	switch (arg_of(o)) {
	case ARG_NONE:
		break;
	case ARG_ANY:
		fputs(" -x", stdout);
		break;
	case ARG_WORDS:
		fish_put_words(" -xa '", o, "'");
		break;
	case ARG_LIST:
		fish_put_words(" -xa '(__rockit_list ", o, ")'");
		break;
	case ARG_ASK:
		fputs(" -xa '(__rockit_presets)'", stdout);
		break;
	case ARG_FILE:
		fputs(" -rF", stdout);
		break;
	case ARG_DIR:
		fputs(" -xa '(__fish_complete_directories)'", stdout);
		break;
	}
}

static void fish_put_option(const struct rk_command *cmd, const struct rk_opt *o)
{
	printf("complete -c rockit -n '__rockit_at %s'", cmd->name);
	if (o->letter)
		printf(" -s %c", o->letter);
	printf(" -l %s", o->name);
	fish_put_argument(o);
	fputs(" -d ", stdout);
	fish_put_quoted(o->help);
	putchar('\n');
}

static void fish_put_operands(const struct rk_command *cmd)
{
	const char *word;

	if (cmd->program || (!cmd->word && cmd->operands == RK_OPERANDS_NONE))
		return;
	printf("complete -c rockit -n '__rockit_at %s' ", cmd->name);
	if (operand_asked(cmd)) {
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

static void fish_put_verb(const struct rk_command *cmd)
{
	const struct rk_opt *o;

	for (size_t i = 0; (o = rk_option_at(cmd, i)) != NULL; i++)
		fish_put_option(cmd, o);
	fish_put_operands(cmd);
}

static void print_fish(void)
{
	fputs(fish_head, stdout);
	fish_put_groups();
	puts("function __rockit_takes\n    switch \"$argv\"");
	each_verb(fish_put_takes);
	puts("    end\nend\n");
	fputs(fish_tail, stdout);
	fish_put_verbs();
	each_verb(fish_put_verb);
}

/* ---- the verb ---- */

static const struct {
	const char *name;
	void (*print)(void);
} shells[] = {
	{ "bash", print_bash },
	{ "zsh", print_zsh },
	{ "fish", print_fish },
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
