/* command.h - the verbs of the command line. One const table per verb, in cmd_<verb>.c. */
#ifndef RK_COMMAND_H
#define RK_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rk_opt;

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_MISUSE = 2, EXIT_OWN = 125 };

/* What completion offers as operands of a verb without `word`. */
enum rk_operands { RK_OPERANDS_NONE, RK_OPERANDS_FILES, RK_OPERANDS_DIRS };

/* An option of another profiler that people may type, and our equivalent. */
struct rk_foreign {
	const char *name; /* without dashes; NULL at the end of a table */
	const char *here;
};

struct rk_command {
	const char *name;
	const char *summary;              /* one line, lower case */
	const char *usage;                /* what follows "rockit NAME", e.g. "INPUT... -o OUT" */
	const struct rk_opt *options;     /* its own, end with a NULL name; common ones are added */
	const struct rk_foreign *foreign; /* of rocprof; NULL: none */
	bool plain;                       /* has no common options except --help */
	bool light;                       /* reads no traces: has no --threads and no --tmpdir */
	bool program; /* the first operand begins the command line of another program */
	enum rk_operands operands;
	const char *more;     /* help text after the options: whole lines, or NULL */
	const char *examples; /* whole lines, or NULL */
	/* The i-th operand that completion offers, NULL past the end; may be NULL itself. */
	const char *(*word)(size_t i);
	/* argv[0] is the verb. Returns the exit status. NULL for groups. */
	int (*run)(int argc, char **argv);
	/* For groups such as "pack": its verbs, named "pack build"; NULL at the end. */
	const struct rk_command *const *verbs;
};

extern const struct rk_command cmd_completion, cmd_convert, cmd_counters, cmd_diff, cmd_doctor,
	cmd_env, cmd_help, cmd_metrics, cmd_monitor, cmd_pack, cmd_presets, cmd_record, cmd_report,
	cmd_run, cmd_slurm, cmd_snap, cmd_start, cmd_stop, cmd_version;

/* All verbs in the order of `rockit help`, NULL at the end (main.c). */
extern const struct rk_command *const rk_commands[];

/* "build" of "pack build". */
const char *rk_verb_word(const struct rk_command *cmd);
/* The verb that `argv` names, perhaps in a group, and the number of words used; NULL: none. */
const struct rk_command *rk_command_at(char *const *argv, int argc, int *ret_words);
void rk_command_help(const struct rk_command *cmd); /* to stdout */
/* The i-th preset, for completion; NULL past the last (cmd_presets.c). */
const char *rk_preset_word(size_t i);
/* All that start and stop do (cmd_start.c). */
int rk_switch_run(const struct rk_command *cmd, bool on, int argc, char **argv);
/* A word of digits is a process, the result; 0: it is not (cmd_start.c). */
int64_t rk_process_word(const char *word);
/* The verb with the most similar name, NULL when none is similar. */
const char *rk_command_guess(const char *name);

#endif
