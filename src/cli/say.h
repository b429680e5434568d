/* say.h - everything the command says on stderr, in one place. */
#ifndef RK_SAY_H
#define RK_SAY_H

#include <stdio.h>

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
void say_warnings(const char *verb, const struct rk_run *run);
void say_warning_list(const char *verb, const struct rk_warning *w, size_t n);
/* One line for each file: used as what, or why not. */
void say_files(const char *verb, const struct rk_run *run);

/* Prints text without letting it steer a terminal: control characters as \xNN. */
void say_safely(FILE *f, const char *text);

#endif
