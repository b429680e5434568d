/* sim_args.h - words as Python's argparse reads them, with the table of one release. */
#ifndef SIM_ARGS_H
#define SIM_ARGS_H

#include "sim.h"

struct option_row {
	const char *name; /* as written */
	const char *dest; /* the long name it is stored under */
	char nargs;       /* 0 1 ? + * ; ? is a BOOL */
	bool is_int;
	const char *choices; /* a|b|c or NULL */
};
/* Generated; each ends with a NULL name. */
extern const struct option_row *const option_tables[RELEASES];

/* What was given for one option. A BOOL has the one word 1 or 0. */
struct given {
	const char *dest;
	struct words words;
};
struct args {
	const char *prog;
	struct given *given;
	size_t ngiven;
	struct words *pmc_flags; /* each --pmc by itself, in order */
	size_t npmc;
};

/* Does not return on words it must refuse: usage on stderr and exit 2, or a traceback and exit 1. */
void args_parse(struct args *a, const struct option_row *table, bool abbreviations, char **words,
		size_t n);

const struct words *args_get(const struct args *a, const char *dest); /* NULL if not given */
const char *args_word(const struct args *a, const char *dest);        /* the first, or NULL */
int args_bool(const struct args *a, const char *dest);                /* 1, 0, or -1 if not given */
void args_set(struct args *a, const char *dest, const struct words *words); /* replaces */
/* y/yes/t/true/on/1 and their opposites, any case; -1 for anything else. */
int bool_word(const char *word);

_Noreturn void argparse_error(const char *prog, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
_Noreturn void python_traceback(const char *script, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
