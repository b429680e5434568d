/* print.c - see print.h. */
#include "print.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "say.h"

const char *const rk_format_words[] = { "text", "json", "csv", NULL };

static bool to_stdout(const char *out)
{
	return !out || strcmp(out, "-") == 0;
}

static bool want_color(const struct rk_common *common, const char *out)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	if (common->color != RK_COLOR_AUTO)
		return common->color == RK_COLOR_ALWAYS;
	return to_stdout(out) && !(no && no[0]) && !(term && strcmp(term, "dumb") == 0) &&
	       isatty(STDOUT_FILENO);
}

/* $COLUMNS, else the terminal's width, else 0: names are not cut in a pipe or a file. */
static unsigned columns(const char *out)
{
	const char *set = getenv("COLUMNS");
	struct winsize size;
	unsigned n = 0;

	for (; set && *set >= '0' && *set <= '9' && n < 10000; set++)
		n = n * 10 + (unsigned)(*set - '0');
	if (n || !to_stdout(out))
		return n;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
		return size.ws_col;
	return 0;
}

struct rk_render_options rk_print_look(const struct rk_common *common, const char *out, int format)
{
	setlocale(LC_CTYPE, "");
	return (struct rk_render_options){
		.format = (enum rk_report_format)format,
		.color = want_color(common, out),
		.utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0,
		.columns = columns(out),
	};
}

int rk_print_text(const char *verb, const char *out, char *text, size_t len)
{
	struct rk_error err = { 0 };
	int status = EXIT_DONE;

	if (!to_stdout(out)) {
		if (rk_text_save(out, text, len, &err) < 0)
			status = say_error(verb, &err);
	} else if (fwrite(text, 1, len, stdout) != len || fflush(stdout) != 0) {
		status = say_failure(verb, "cannot write standard output: %s", strerror(errno));
	}
	rk_text_free(text);
	return status;
}
