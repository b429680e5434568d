/* cmd_report.c - rockit report. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "options.h"
#include "print.h"
#include "rockit/counters.h"
#include "rockit/hotspots.h"
#include "rockit/ranks.h"
#include "rockit/rockit.h"
#include "say.h"

enum { TOP_DEFAULT = 20 };

struct settings {
	struct rk_common common;
	uint64_t top;
	int by;     /* index into the words below; -1: none */
	int format; /* enum rk_report_format; -1: not given */
	const char *out, *html, *arch, *title;
	bool hotspots, ranks, redact;
};

static const char *const by_words[] = { "device", "process", "stream", "rank", NULL };

static const struct rk_opt options[] = {
	{ "top", 'n', "N", "rows per table in text output (default: 20; 0: all)", RK_OPT_NUMBER,
	  AT(top) },
	{ "by", 0, "KEY", "split names by device, process, stream or rank", RK_OPT_CHOICE, AT(by),
	  by_words },
	{ "hotspots", 0, NULL, "show instructions, lines and stall reasons of each kernel instead",
	  RK_OPT_FLAG, AT(hotspots) },
	{ "ranks", 0, NULL, "compare the ranks of a job instead: load, clocks, collectives, copies",
	  RK_OPT_FLAG, AT(ranks) },
	{ "html", 0, "FILE", "write a page with tables, timeline, curves and metrics", RK_OPT_TEXT,
	  AT(html) },
	{ "redact", 0, NULL, "hide host, user and paths in the report and the page", RK_OPT_FLAG,
	  AT(redact) },
	{ "arch", 0, "GFX", "GPU target for the page's peaks (default: from the data)", RK_OPT_TEXT,
	  AT(arch), NULL, rk_counters_arch },
	RK_OPT_FORMAT(struct settings),
	RK_OPT_OUTPUT(struct settings),
	{ NULL },
};

/* With only a page requested, nothing is printed. */
static bool is_printed(const struct settings *s)
{
	return !s->html || s->format >= 0 || s->out || s->hotspots || s->ranks;
}

static int report(const struct settings *s, const char *const *inputs, size_t ninputs)
{
	const char *by = s->by >= 0 ? by_words[s->by] : NULL;
	const struct rk_report_options what = { .by = by };
	struct rk_html_options page = {
		.path = s->html, .title = s->title, .by = by, .arch = s->arch, .redact = s->redact
	};
	struct rk_progress progress;
	const struct rk_run_options how = say_run_begin("report", &s->common, &progress);
	struct rk_render_options look;
	struct rk_hotspots *hotspots = NULL;
	struct rk_report *r = NULL;
	struct rk_error err = { 0 };
	struct rk_run *run = NULL;
	char *text = NULL;
	size_t len = 0;
	int rc, status = EXIT_DONE;

	rc = rk_run_open(inputs, ninputs, &how, &run, &err);
	if (rc < 0)
		goto out;
	rc = rk_run_check_output(run, s->out, &err);
	if (rc < 0)
		goto out;
	rc = rk_run_check_output(run, s->html, &err);
	if (rc < 0)
		goto out;
	if (s->hotspots)
		rc = rk_run_hotspots(run, &hotspots, &err);
	/* the report knows the names of the machines to hide */
	if (rc == 0 && is_printed(s) && (!s->hotspots || s->redact))
		rc = rk_run_report(run, &what, &r, &err);
	if (rc < 0)
		goto out;
	page.report = r;
	if (s->html)
		rc = rk_run_html(run, &page, NULL, &err);
	if (rc < 0 || !is_printed(s))
		goto out;
	rk_progress_end(&progress);

	look = rk_print_look(&s->common, s->out, s->format < 0 ? RK_REPORT_TEXT : s->format);
	look.top = s->top;
	if (s->redact)
		look.columns = 0; /* a path that was cut could not be recognised */
	if (s->ranks && !r->ranks) {
		status = say_failure("report", "fewer than two ranks, nothing to compare");
		goto out;
	}
	if (s->ranks)
		rc = rk_ranks_render(r->ranks, &look, &text, &len, &err);
	else if (hotspots)
		rc = rk_hotspots_render(hotspots, &look, &text, &len, &err);
	else
		rc = rk_report_render(r, &look, &text, &len, &err);
	if (rc == 0 && s->redact)
		rc = rk_report_redact(r, look.format, &text, &len, &err);
	if (rc < 0) {
		rk_text_free(text);
		status = say_error("report", &err);
		rc = 0;
	} else {
		status = rk_print_text("report", s->out, text, len);
	}
out:
	rk_hotspots_free(hotspots);
	rk_report_free(r);
	say_run_end("report", &s->common, &progress, run);
	return rc < 0 ? say_error("report", &err) : status;
}

/* The title of the page: the last part of the first input's path, and the number of others. */
static void put_title(char *buf, size_t size, const char *input, int n)
{
	size_t len = strlen(input), at;

	while (len > 1 && input[len - 1] == '/')
		len--;
	for (at = len; at > 0 && input[at - 1] != '/'; at--)
		;
	snprintf(buf, size, "%.*s", (int)(len - at), input + at);
	if (n > 1)
		snprintf(buf + strlen(buf), size - strlen(buf), " and %d more", n - 1);
}

static int report_run(int argc, char **argv)
{
	struct settings s = { .top = TOP_DEFAULT, .by = -1, .format = -1 };
	char newest[RK_NEWEST_BYTES], title[1024];
	const char *one = newest;
	int n, rc = rk_options_parse(&cmd_report, &s, argc, argv, &n);

	if (rc >= 0)
		return rc;
	if (s.html && !s.html[0])
		return say_misuse("report", "option '--html' needs a file name");
	if (s.hotspots && s.ranks)
		return say_misuse("report", "'--hotspots' and '--ranks' cannot be combined");
	/* Two documents in one stream would be useless. */
	if (s.html && !strcmp(s.html, "-") && is_printed(&s) && (!s.out || !strcmp(s.out, "-")))
		return say_misuse("report", "the page and the text cannot both go to stdout; "
					    "give one of them a file");
	if (!n) {
		rc = rk_newest_instead("report", s.common.quiet, newest);
		return rc >= 0 ? rc : report(&s, &one, 1);
	}
	put_title(title, sizeof(title), argv[0], n);
	s.title = title;
	return report(&s, (const char *const *)argv, (size_t)n);
}

const struct rk_command cmd_report = {
	.name = "report",
	.summary = "show what took the time: kernels, copies, API calls, markers",
	.usage = "[INPUT...]",
	.options = options,
	.operands = RK_OPERANDS_FILES,
	.examples = "  rockit report 1234_kernel_trace.csv\n"
		    "  rockit report                        the newest run under rockit_output/\n"
		    "  rockit report results.db --by device --top 5\n"
		    "  rockit report run/ --hotspots\n"
		    "  rockit report job/ --ranks           find slow ranks and who waits for "
		    "them\n"
		    "  rockit report run/ --format json -o report.json\n"
		    "  rockit report run/ --html report.html\n",
	.run = report_run,
};
