/* say.h - everything the command says on stderr: messages and progress. */
#ifndef RK_SAY_H
#define RK_SAY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "options.h"
#include "rockit/rockit.h"

/* "rockit VERB: message" with one line end; `verb` may be NULL. Returns EXIT_MISUSE. */
int say_misuse(const char *verb, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same; returns EXIT_FAILED. */
int say_failure(const char *verb, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* "rockit VERB: FILE:LINE: message". Returns the exit status that fits. */
int say_error(const char *verb, const struct rk_error *err);

/* "rockit VERB: line", made safe for a terminal. */
void say_note(const char *verb, const char *line);

/*
 * From here on a reader of ours that goes away does not end us: what is being measured is worth
 * more than what is said about it. Programs that are started have the signal as we found it.
 */
void say_to_nobody_too(void);

/* One line for each kind of warning, with its count. */
void say_warning_list(const char *verb, const struct rk_warning *w, size_t n);
/*
 * When a verb is done with a run (NULL is fine): with -v the files, used as what or why not; without
 * -q the warnings. Closes it.
 */
void say_run_end(const char *verb, const struct rk_common *common, struct rk_run *run);

/* Prints text without letting it steer a terminal: control characters as \xNN. */
void say_safely(FILE *f, const char *text);

/* ---- progress: one line on a terminal while the work takes long; also where ^C is noticed ---- */

struct rk_progress {
	const char *verb;
	bool wanted; /* stderr is a terminal and -q was not given */
	bool shown;  /* a line is on the screen */
	int64_t start_ns, last_ns;
};

/* From here on SIGINT and SIGTERM end the work at the next call of rk_progress_step, cleanly. */
void rk_progress_begin(struct rk_progress *p, const char *verb, bool quiet);
/* For rk_run_options.progress; nonzero when the work shall end. */
int rk_progress_step(void *arg, uint64_t done, uint64_t total);
/* Erases the line. */
void rk_progress_end(struct rk_progress *p);
/* The signal that came, or 0. */
int rk_progress_signal(void);

#endif
