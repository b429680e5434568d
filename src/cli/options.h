/* options.h - option tables: the syntax, help and storage of each option. */
#ifndef RK_OPTIONS_H
#define RK_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "command.h"
#include "rockit/nearest.h"

enum rk_opt_kind {
	RK_OPT_FLAG,   /* bool */
	RK_OPT_TEXT,   /* const char *, borrowed from argv */
	RK_OPT_NUMBER, /* uint64_t, digits only, at most RK_OPT_NUMBER_MAX */
	RK_OPT_CHOICE, /* int: index into `choices` */
	/* uint64_t, at most RK_OPT_NUMBER_MAX of the unit: 60, 60s, 5m, 2h; 1000, 16K, 512M, 2G */
	RK_OPT_SECONDS,
	RK_OPT_BYTES,
};

#define RK_OPT_NUMBER_MAX UINT64_C(1000000000)

struct rk_opt {
	const char *name; /* long name without dashes */
	char letter;      /* 0: none */
	/*
	 * The argument's name in the help; NULL for flags. Shells offer files for FILE,
	 * OUT and PATH, folders for DIR, and words with commas between them for LIST and "X,...".
	 */
	const char *arg;
	const char *help;
	enum rk_opt_kind kind;
	size_t offset;              /* in the verb's settings */
	const char *const *choices; /* ends with NULL; for RK_OPT_TEXT used only by completion */
	/* The i-th value that completion offers, NULL past the end; may be NULL itself. */
	const char *(*word)(size_t i);
	bool once; /* RK_OPT_TEXT: refused if given again with another value */
};

/* For tables: the place of an option in the `struct settings` of its verb. */
#define AT(member) offsetof(struct settings, member)

enum rk_color { RK_COLOR_AUTO, RK_COLOR_ALWAYS, RK_COLOR_NEVER };

/* The first member of every verb's settings. */
struct rk_common {
	bool help, quiet, verbose;
	int color; /* enum rk_color */
	uint64_t threads;
	const char *tmpdir;
};

/*
 * Options and operands in any order; "--" ends the options. Operands end up in argv[0] and on,
 * in order. Misuse is printed in one line and gives EXIT_MISUSE; --help prints the help.
 * Returns -1 to go on, else the status to exit with.
 */
int rk_options_parse(const struct rk_command *cmd, void *settings, int argc, char **argv,
		     int *ret_operands);

/* The i-th option of a verb, its own first; NULL past the end. */
const struct rk_opt *rk_option_at(const struct rk_command *cmd, size_t i);

/* The options of `cmd`, one per line, as the help shows them. */
void rk_options_help(const struct rk_command *cmd);

/*
 * Prints the words that may follow `before` (an option of the verb, or NULL) for shell completion:
 * one per line, with a tab and a description. Prints nothing if any word may follow.
 */
void rk_options_words(const struct rk_command *cmd, const char *before);

/* ---- completions of options that take a list; the options accept more than these ---- */

/* Each ends with NULL. tests/docs compares them with the library and data/. */
extern const char *const rk_offer_traces[];    /* run -t */
extern const char *const rk_offer_libraries[]; /* run --library-trace */
extern const char *const rk_offer_counters[];  /* run -c, counters --plan: sets and @categories */
extern const char *const rk_offer_groups[];    /* metrics --group */
extern const char *const rk_offer_triggers[];  /* run, record --snap-on */

/* rk_offer_counters as help text. */
#define RK_COUNTER_WORDS_HELP                                                                   \
	"categories:  @instructions @waves @memory @cache @compute_unit @lds @stalls @limits\n" \
	"             @flops @resources; 'rockit counters @cache' lists one\n"                  \
	"sets:        compute_bound memory_bound communication_bound full_profile\n"            \
	"             instruction_mix\n"

extern const struct rk_opt rk_switch_options[]; /* of start and stop */

/* "1/100" of --sample; NULL is 0. False: misuse; the message is printed. */
bool rk_sample_parse(const char *verb, const char *text, uint64_t *ret);

/* Options of rocprof, rocprofv2 and rocprofv3 and their equivalents in 'rockit run'. */
extern const struct rk_foreign rk_rocprof_options[];

/* The i-th quantity that the monitor samples, NULL past the end. */
const char *rk_sensor_word(size_t i);

#endif
