/* cmd_convert.c - rockit convert. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "options.h"
#include "progress.h"
#include "rockit/rockit.h"
#include "say.h"

struct settings {
	struct rk_common common;
	const char *out, *format, *table;
	bool mangled, truncate;
};

static const char *format_at(size_t i)
{
	return rk_format_name(true, i, NULL);
}

static const struct rk_opt options[] = {
	{ "output", 'o', "OUT", "file to write, a directory (ends in /), or - for stdout",
	  RK_OPT_TEXT, offsetof(struct settings, out), NULL },
	{ "format", 'f', "FORMAT",
	  "parquet, csv, jsonl, perfetto or chrome (default: by the suffix)", RK_OPT_TEXT,
	  offsetof(struct settings, format), NULL, format_at },
	{ "table", 0, "T", "table to write (default: kernels; all, for a directory or a trace)",
	  RK_OPT_TEXT, offsetof(struct settings, table), NULL, rk_table_at },
	{ "mangled", 0, NULL, "keep kernel names as they were recorded", RK_OPT_FLAG,
	  offsetof(struct settings, mangled), NULL },
	{ "truncate", 0, NULL, "cut kernel names to the bare function name", RK_OPT_FLAG,
	  offsetof(struct settings, truncate), NULL },
	{ NULL, 0, NULL, NULL, RK_OPT_FLAG, 0, NULL },
};

static int check_format(const char *format)
{
	char known[256] = "";
	const char *name;
	size_t len = 0;

	for (size_t i = 0; (name = rk_format_name(true, i, NULL)) != NULL; i++) {
		if (strcmp(name, format) == 0)
			return -1;
		if (len < sizeof(known))
			len += (size_t)snprintf(known + len, sizeof(known) - len, "%s%s",
						i ? ", " : "", name);
	}
	return say_misuse("convert", "unknown format '%s'; known: %s", format, known);
}

static int check(const struct settings *s, int ninputs)
{
	if (!ninputs)
		return say_misuse("convert", "no INPUT; see 'rockit convert --help'");
	if (!s->out || !s->out[0])
		return say_misuse("convert", "no output: add '-o FILE', '-o DIR/' or '-o -'");
	if (s->mangled && s->truncate)
		return say_misuse("convert", "'--mangled' and '--truncate' exclude each other");
	return s->format ? check_format(s->format) : -1;
}

static int convert(const struct settings *s, char **inputs, size_t ninputs)
{
	struct rk_progress progress;
	const struct rk_run_options how = { .threads = (unsigned)s->common.threads,
					    .tmpdir = s->common.tmpdir,
					    .mangled = s->mangled,
					    .truncate = s->truncate,
					    .progress = rk_progress_step,
					    .progress_arg = &progress };
	const struct rk_convert_options what = { .out = s->out,
						 .format = s->format,
						 .table = s->table };
	struct rk_convert_result result = { 0 };
	struct rk_error err = { 0 };
	struct rk_run *run = NULL;
	int rc;

	rk_progress_begin(&progress, "convert", s->common.quiet);
	rc = rk_run_open((const char *const *)inputs, ninputs, &how, &run, &err);
	if (rc == 0)
		rc = rk_run_convert(run, &what, &result, &err);
	rk_progress_end(&progress);
	if (run && s->common.verbose)
		say_files("convert", run);
	if (run && !s->common.quiet)
		say_warnings("convert", run);
	rk_run_close(run);
	if (rc < 0)
		return say_error("convert", &err);
	if (s->common.verbose)
		fprintf(stderr, "rockit convert: wrote %" PRIu64 " rows to %u file%s\n",
			result.rows, result.files, result.files == 1 ? "" : "s");
	return EXIT_DONE;
}

static int convert_run(int argc, char **argv)
{
	struct settings s = { .out = NULL };
	int n, rc = rk_options_parse(&cmd_convert, &s, argc, argv, &n);

	if (rc < 0)
		rc = check(&s, n);
	return rc < 0 ? convert(&s, argv, (size_t)n) : rc;
}

const struct rk_command cmd_convert = {
	.name = "convert",
	.summary = "write profiler output as Parquet, CSV, JSON lines or a trace for viewers",
	.usage = "INPUT... -o OUT",
	.options = options,
	.examples = "  rockit convert 1234_kernel_trace.csv -o kernels.parquet\n"
		    "  rockit convert results.db -o tables/          one file per table\n"
		    "  rockit convert trace.csv.zst -f csv -o - | head\n"
		    "  rockit convert run/ -o run.pftrace            for ui.perfetto.dev\n"
		    "  rockit convert job/ -o job.tar                a trace per rank\n",
	.run = convert_run,
};
