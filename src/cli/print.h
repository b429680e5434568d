/* print.h - the result of a verb: how it is to look, and where it goes. */
#ifndef RK_PRINT_H
#define RK_PRINT_H

#include "options.h"
#include "rockit/report.h"

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

/* Takes the text over and writes it. The exit status; a failure is said. */
int rk_print_text(const char *verb, const char *out, char *text, size_t len);

#endif
