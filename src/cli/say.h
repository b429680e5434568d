/* say.h - prints everything that goes to stderr: messages and progress. */
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

/* "rockit VERB: line", with control characters escaped. */
void say_note(const char *verb, const char *line);

/*
 * From here on we ignore SIGPIPE: a measurement is worth more than the messages about it. Child
 * processes get the original setting.
 */
void say_to_nobody_too(void);

/* One line for each kind of warning, with its count. */
void say_warning_list(const char *verb, const struct rk_warning *w, size_t n);

struct rk_progress;

/* At the start of a verb that reads a run: begins the progress, returns how to open the run. */
struct rk_run_options say_run_begin(const char *verb, const struct rk_common *common,
				    struct rk_progress *p);
/*
 * At its end: ends the progress and closes the run (may be NULL). With -v prints each file and how
 * it was used, or why not; without -q prints the warnings.
 */
void say_run_end(const char *verb, const struct rk_common *common, struct rk_progress *p,
		 struct rk_run *run);

/* Prints text with control characters as \xNN, so that it cannot control the terminal. */
void say_safely(FILE *f, const char *text);
/* The ending of a noun after a number: "" or "s". */
const char *say_plural(uint64_t n);

/* ---- progress: one line on a terminal during long work; also notices ^C ---- */

struct rk_progress {
	const char *verb;
	bool wanted; /* stderr is a terminal and -q was not given */
	bool shown;  /* a line is on the screen */
	int64_t start_ns, last_ns;
};

/* From here on SIGINT and SIGTERM end the work cleanly at the next call of rk_progress_step. */
void rk_progress_begin(struct rk_progress *p, const char *verb, bool quiet);
/* For rk_run_options.progress; nonzero to end the work. */
int rk_progress_step(void *arg, uint64_t done, uint64_t total);
/* Erases the line; may be called again. */
void rk_progress_end(struct rk_progress *p);
/* The signal received, or 0. */
int rk_progress_signal(void);

#endif
