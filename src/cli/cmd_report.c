/* cmd_report.c - rockit report. */
#include <stddef.h>

#include "newest.h"
#include "options.h"
#include "print.h"
#include "progress.h"
#include "rockit/hotspots.h"
#include "rockit/rockit.h"
#include "say.h"

enum { TOP_DEFAULT = 20 };

struct settings {
	struct rk_common common;
	uint64_t top;
	int by;     /* index into the words below; -1: none */
	int format; /* enum rk_report_format */
	const char *out;
	bool hotspots;
};

static const char *const by_words[] = { "device", "process", "stream", "rank", NULL };

static const struct rk_opt options[] = {
	{ "top", 'n', "N", "rows per table of the text (default: 20; 0: all)", RK_OPT_NUMBER,
	  offsetof(struct settings, top), NULL },
	{ "by", 0, "KEY", "split names by device, process, stream or rank", RK_OPT_CHOICE,
	  offsetof(struct settings, by), by_words },
	{ "hotspots", 0, NULL, "instructions, lines and stall reasons of each kernel instead",
	  RK_OPT_FLAG, offsetof(struct settings, hotspots), NULL },
	RK_OPT_FORMAT(struct settings),
	RK_OPT_OUTPUT(struct settings),
	{ NULL, 0, NULL, NULL, RK_OPT_FLAG, 0, NULL },
};

static int print(const struct settings *s, const struct rk_report *r)
{
	struct rk_render_options how = rk_print_look(&s->common, s->out, s->format);
	struct rk_error err = { 0 };
	char *text = NULL;
	size_t len = 0;

	how.top = s->top;
	if (rk_report_render(r, &how, &text, &len, &err) < 0)
		return say_error("report", &err);
	return rk_print_text("report", s->out, text, len);
}

static int print_hotspots(const struct settings *s, const struct rk_hotspots *h)
{
	struct rk_render_options how = rk_print_look(&s->common, s->out, s->format);
	struct rk_error err = { 0 };
	char *text = NULL;
	size_t len = 0;

	how.top = s->top;
	if (rk_hotspots_render(h, &how, &text, &len, &err) < 0)
		return say_error("report", &err);
	return rk_print_text("report", s->out, text, len);
}

static int report(const struct settings *s, const char *const *inputs, size_t ninputs)
{
	struct rk_progress progress;
	const struct rk_run_options how = { .threads = (unsigned)s->common.threads,
					    .tmpdir = s->common.tmpdir,
					    .progress = rk_progress_step,
					    .progress_arg = &progress };
	const struct rk_report_options what = { .by = s->by >= 0 ? by_words[s->by] : NULL };
	struct rk_hotspots *h = NULL;
	struct rk_report *r = NULL;
	struct rk_error err = { 0 };
	struct rk_run *run = NULL;
	int rc, status = EXIT_DONE;

	rk_progress_begin(&progress, "report", s->common.quiet);
	rc = rk_run_open(inputs, ninputs, &how, &run, &err);
	if (rc == 0)
		rc = s->hotspots ? rk_run_hotspots(run, &h, &err) :
				   rk_run_report(run, &what, &r, &err);
	rk_progress_end(&progress);
	if (rc == 0)
		status = s->hotspots ? print_hotspots(s, h) : print(s, r);
	rk_hotspots_free(h);
	rk_report_free(r);
	if (run && s->common.verbose)
		say_files("report", run);
	if (run && !s->common.quiet)
		say_warnings("report", run);
	rk_run_close(run);
	return rc < 0 ? say_error("report", &err) : status;
}

static int report_run(int argc, char **argv)
{
	struct settings s = { .top = TOP_DEFAULT, .by = -1 };
	char newest[RK_NEWEST_BYTES];
	const char *one = newest;
	int n, rc = rk_options_parse(&cmd_report, &s, argc, argv, &n);

	if (rc >= 0)
		return rc;
	if (n)
		return report(&s, (const char *const *)argv, (size_t)n);
	rc = rk_newest_instead("report", s.common.quiet, newest);
	return rc >= 0 ? rc : report(&s, &one, 1);
}

const struct rk_command cmd_report = {
	.name = "report",
	.summary = "say what took the time: kernels, copies, calls, markers",
	.usage = "[INPUT...]",
	.options = options,
	.examples = "  rockit report 1234_kernel_trace.csv\n"
		    "  rockit report                        the newest run under rockit_output/\n"
		    "  rockit report results.db --by device --top 5\n"
		    "  rockit report run/ --hotspots\n"
		    "  rockit report run/ --format json -o report.json\n",
	.run = report_run,
};
