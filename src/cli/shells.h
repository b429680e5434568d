/* shells.h - completion scripts, printed from the tables of the verbs. */
#ifndef RK_SHELLS_H
#define RK_SHELLS_H

#include <stdbool.h>
#include <stddef.h>

#include "options.h"

/* What may follow an option. */
enum rk_arg {
	RK_ARG_NONE,  /* it is a flag */
	RK_ARG_ANY,   /* nothing to offer */
	RK_ARG_WORDS, /* rk_arg_word */
	RK_ARG_LIST,  /* the same, with commas between them */
	RK_ARG_ASK,   /* words that depend on who asks: `rockit help --words -- run --preset` */
	RK_ARG_FILE,
	RK_ARG_DIR,
};

enum rk_arg rk_arg_of(const struct rk_opt *o);
/* The i-th word that may follow, NULL past the end. */
const char *rk_arg_word(const struct rk_opt *o, size_t i);
/* Whether the operands of a verb depend on who asks. */
bool rk_operand_asked(const struct rk_command *cmd);
/* "build" of "pack build". */
const char *rk_verb_word(const struct rk_command *cmd);

/* Calls `each` for every verb that is no group, those of groups included. */
void rk_verbs_each(void (*each)(const struct rk_command *cmd));

/* To stdout, `text` with a backslash before each character of `special`. */
void rk_put_escaped(const char *text, const char *special);

void rk_completion_bash(void);
void rk_completion_zsh(void);
void rk_completion_fish(void);

#endif
