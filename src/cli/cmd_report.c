/* cmd_report.c - rockit report. */
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "newest.h"
#include "options.h"
#include "progress.h"
#include "rockit/rockit.h"
#include "say.h"

enum { TOP_DEFAULT = 20 };

struct settings {
	struct rk_common common;
	uint64_t top;
	int by, format; /* index into the words below; by -1: none */
	const char *out;
};

static const char *const by_words[] = { "device", "process", "stream", "rank", NULL };
static const char *const format_words[] = { "text", "json", "csv", NULL };

static const struct rk_opt options[] = {
	{ "top", 'n', "N", "rows per table of the text (default: 20; 0: all)", RK_OPT_NUMBER,
	  offsetof(struct settings, top), NULL },
	{ "by", 0, "KEY", "split names by device, process, stream or rank", RK_OPT_CHOICE,
	  offsetof(struct settings, by), by_words },
	{ "format", 'f', "FORMAT", "text, json or csv (default: text)", RK_OPT_CHOICE,
	  offsetof(struct settings, format), format_words },
	{ "output", 'o', "FILE", "write there instead of stdout", RK_OPT_TEXT,
	  offsetof(struct settings, out), NULL },
	{ NULL, 0, NULL, NULL, RK_OPT_FLAG, 0, NULL },
};

static bool to_stdout(const struct settings *s)
{
	return !s->out || strcmp(s->out, "-") == 0;
}

static bool want_color(const struct settings *s)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	if (s->common.color != RK_COLOR_AUTO)
		return s->common.color == RK_COLOR_ALWAYS;
	return to_stdout(s) && !(no && no[0]) && !(term && strcmp(term, "dumb") == 0) &&
	       isatty(STDOUT_FILENO);
}

/* $COLUMNS, else the terminal's width, else 0: names are not cut in a pipe or a file. */
static unsigned columns(const struct settings *s)
{
	const char *set = getenv("COLUMNS");
	struct winsize size;
	unsigned n = 0;

	for (; set && *set >= '0' && *set <= '9' && n < 10000; set++)
		n = n * 10 + (unsigned)(*set - '0');
	if (n || !to_stdout(s))
		return n;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
		return size.ws_col;
	return 0;
}

static int print(const struct settings *s, const struct rk_report *r, struct rk_error *err)
{
	const struct rk_render_options how = {
		.format = (enum rk_report_format)s->format,
		.color = want_color(s),
		.utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0,
		.columns = columns(s),
		.top = s->top,
	};
	char *text = NULL;
	size_t len = 0;
	int rc = rk_report_render(r, &how, &text, &len, err);

	if (rc < 0)
		return rc;
	if (!to_stdout(s)) {
		rc = rk_text_save(s->out, text, len, err);
	} else if (fwrite(text, 1, len, stdout) != len || fflush(stdout) != 0) {
		rc = err->code = RK_E_IO;
		snprintf(err->message, sizeof(err->message), "cannot write standard output: %s",
			 strerror(errno));
	}
	rk_text_free(text);
	return rc;
}

static int report(const struct settings *s, const char *const *inputs, size_t ninputs)
{
	struct rk_progress progress;
	const struct rk_run_options how = { .threads = (unsigned)s->common.threads,
					    .tmpdir = s->common.tmpdir,
					    .progress = rk_progress_step,
					    .progress_arg = &progress };
	const struct rk_report_options what = { .by = s->by >= 0 ? by_words[s->by] : NULL };
	struct rk_report *r = NULL;
	struct rk_error err = { 0 };
	struct rk_run *run = NULL;
	int rc;

	rk_progress_begin(&progress, "report", s->common.quiet);
	rc = rk_run_open(inputs, ninputs, &how, &run, &err);
	if (rc == 0)
		rc = rk_run_report(run, &what, &r, &err);
	rk_progress_end(&progress);
	if (rc == 0)
		rc = print(s, r, &err);
	rk_report_free(r);
	if (run && s->common.verbose)
		say_files("report", run);
	if (run && !s->common.quiet)
		say_warnings("report", run);
	rk_run_close(run);
	return rc < 0 ? say_error("report", &err) : EXIT_DONE;
}

static int report_run(int argc, char **argv)
{
	struct settings s = { .top = TOP_DEFAULT, .by = -1 };
	char newest[RK_NEWEST_BYTES];
	const char *one = newest;
	int n, rc = rk_options_parse(&cmd_report, &s, argc, argv, &n);

	if (rc >= 0)
		return rc;
	setlocale(LC_CTYPE, "");
	if (n)
		return report(&s, (const char *const *)argv, (size_t)n);
	if (!rk_newest_run("rockit_output", newest))
		return say_misuse("report",
				  "no INPUT, and no run under 'rockit_output/'; name a file "
				  "or directory: 'rockit report INPUT'");
	if (!s.common.quiet) {
		fputs("rockit report: ", stderr);
		say_safely(stderr, newest);
		fputc('\n', stderr);
	}
	return report(&s, &one, 1);
}

const struct rk_command cmd_report = {
	.name = "report",
	.summary = "say what took the time: kernels, copies, calls, markers",
	.usage = "[INPUT...]",
	.options = options,
	.examples = "  rockit report 1234_kernel_trace.csv\n"
		    "  rockit report                        the newest run under rockit_output/\n"
		    "  rockit report results.db --by device --top 5\n"
		    "  rockit report run/ --format json -o report.json\n",
	.run = report_run,
};
