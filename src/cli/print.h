/* print.h - prints the result of a verb: its look, and where it goes. */
#ifndef RK_PRINT_H
#define RK_PRINT_H

#include "options.h"
#include "rockit/report.h"
#include "rockit/session.h"

/* By enum rk_report_format. */
extern const char *const rk_format_words[];

/* Entries of an option table, for settings with `int format` and `const char *out`. */
#define RK_OPT_FORMAT(settings)                                                              \
	{                                                                                    \
		"format", 'f', "FORMAT", "text, json or csv (default: text)", RK_OPT_CHOICE, \
			offsetof(settings, format), rk_format_words                          \
	}
#define RK_OPT_OUTPUT(settings)                                                      \
	{                                                                            \
		"output", 'o', "FILE", "write there instead of stdout", RK_OPT_TEXT, \
			offsetof(settings, out), NULL                                \
	}

/* Colours, characters and width that fit the place `out` (NULL or "-": stdout). */
struct rk_render_options rk_print_look(const struct rk_common *common, const char *out, int format);

/* Writes and frees the text; prints a failure. Returns the exit status. */
int rk_print_text(const char *verb, const char *out, char *text, size_t len);

/* ---- the newest run directory ---- */

enum { RK_NEWEST_BYTES = 512 };

/*
 * The default operand of a verb: the newest run under rockit_output/. Prints its name on stderr
 * unless quiet. Returns -1 to go on; without a run, prints a message and returns the exit status.
 */
int rk_newest_instead(const char *verb, bool quiet, char path[RK_NEWEST_BYTES]);

/* Notes and known problems of a plan, a line each, on standard error. */
void rk_print_notes(const char *verb, const struct rk_session *session);
/* The plan itself. Returns the exit status. */
int rk_print_plan(const char *verb, const struct rk_session *session, enum rk_report_format format);

#endif
