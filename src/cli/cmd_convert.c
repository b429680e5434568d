/* cmd_convert.c - rockit convert. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "options.h"
#include "rockit/rockit.h"
#include "say.h"

enum { SHARDS_MAX = 65536 };

struct settings {
	struct rk_common common;
	const char *out, *format, *table, *shard_text;
	bool mangled, truncate, dataset;
	unsigned shard, nshards;
};

static const char *format_at(size_t i)
{
	return rk_format_name(true, i, NULL);
}

static const struct rk_opt options[] = {
	{ "output", 'o', "OUT", "file to write, a directory (ends in /), or - for stdout",
	  RK_OPT_TEXT, AT(out), .once = true },
	{ "format", 'f', "FORMAT",
	  "parquet, csv, jsonl, perfetto or chrome (default: by the suffix)", RK_OPT_TEXT,
	  AT(format), NULL, format_at, .once = true },
	{ "table", 0, "T", "table to write (default: kernels; all, for a directory or a trace)",
	  RK_OPT_TEXT, AT(table), NULL, rk_table_at },
	{ "dataset", 0, NULL, "OUT is a data set: T/node=N/rank=R/part-K.parquet", RK_OPT_FLAG,
	  AT(dataset) },
	{ "shard", 0, "I/N", "write part I of N of the data set's ranks, I from 1", RK_OPT_TEXT,
	  AT(shard_text) },
	{ "mangled", 0, NULL, "keep kernel names as they were recorded", RK_OPT_FLAG, AT(mangled) },
	{ "truncate", 0, NULL, "cut kernel names to the bare function name", RK_OPT_FLAG,
	  AT(truncate) },
	{ NULL },
};

/* The number up to `end`; 0 without digits, SHARDS_MAX + 1 if invalid or too large. */
static unsigned number(const char *p, const char *end)
{
	unsigned v = 0;

	for (; p < end; p++) {
		if (*p < '0' || *p > '9' || v > SHARDS_MAX)
			return SHARDS_MAX + 1;
		v = v * 10 + (unsigned)(*p - '0');
	}
	return v;
}

/* Reads --shard I/N. Returns -1 to go on, else the exit status. */
static int parse_shard(struct settings *s)
{
	const char *text = s->shard_text, *slash = strchr(text, '/');

	if (slash && slash > text && slash[1]) {
		s->shard = number(text, slash);
		s->nshards = number(slash + 1, slash + strlen(slash));
	}
	if (!s->nshards || s->nshards > SHARDS_MAX || s->shard > SHARDS_MAX)
		return say_misuse("convert", "invalid '--shard %s': use I/N with N from 1 to %d",
				  text, SHARDS_MAX);
	if (s->shard && s->shard <= s->nshards)
		return -1;
	return say_misuse("convert",
			  "invalid '--shard %s': I must be 1 to N ('1/%u' to '%u/%u'; with Slurm "
			  "'--array=1-%u')",
			  text, s->nshards, s->nshards, s->nshards, s->nshards);
}

/* Checks the settings. Returns -1 to go on, else the exit status. */
static int check(struct settings *s, int ninputs)
{
	char known[256] = "";
	const char *name = NULL;
	size_t len = 0;

	if (!ninputs)
		return say_misuse("convert", "no INPUT given; see 'rockit convert --help'");
	if (!s->out || !s->out[0])
		return say_misuse("convert", "no output given: add '-o FILE', '-o DIR/' or '-o -'");
	if (s->mangled && s->truncate)
		return say_misuse("convert", "'--mangled' and '--truncate' cannot be combined");
	for (size_t i = 0; s->format && (name = format_at(i)) != NULL; i++) {
		if (strcmp(name, s->format) == 0)
			break;
		if (len < sizeof(known))
			len += (size_t)snprintf(known + len, sizeof(known) - len, "%s%s",
						i ? ", " : "", name);
	}
	if (s->format && !name)
		return say_misuse("convert", "unknown format '%s'; known: %s", s->format, known);
	if (s->dataset && s->format && strcmp(s->format, "parquet") != 0)
		return say_misuse("convert",
				  "a data set consists of Parquet files, '-f %s' is not possible",
				  s->format);
	if (s->dataset && strcmp(s->out, "-") == 0)
		return say_misuse("convert", "a data set is a directory; use '-o DIR/'");
	if (s->shard_text && !s->dataset)
		return say_misuse("convert", "'--shard' needs '--dataset'");
	return s->shard_text ? parse_shard(s) : -1;
}

static int convert_run(int argc, char **argv)
{
	struct settings s = { .out = NULL };
	const char *const *inputs = (const char *const *)argv;
	struct rk_convert_result result = { 0 };
	struct rk_convert_options what;
	struct rk_run_options how;
	struct rk_progress progress;
	struct rk_error err = { 0 };
	struct rk_run *run = NULL;
	int n, rc = rk_options_parse(&cmd_convert, &s, argc, argv, &n);

	if (rc < 0)
		rc = check(&s, n);
	if (rc >= 0)
		return rc;
	what = (struct rk_convert_options){ .out = s.out,
					    .format = s.format,
					    .table = s.table,
					    .dataset = s.dataset,
					    .shard = s.shard,
					    .nshards = s.nshards,
					    .inputs = inputs,
					    .ninputs = (size_t)n };
	how = say_run_begin("convert", &s.common, &progress);
	how.mangled = s.mangled;
	how.truncate = s.truncate;
	rc = rk_run_open(inputs, (size_t)n, &how, &run, &err);
	if (rc == 0)
		rc = rk_run_convert(run, &what, &result, &err);
	say_run_end("convert", &s.common, &progress, run);
	if (rc < 0)
		return say_error("convert", &err);
	if (s.common.verbose)
		fprintf(stderr, "rockit convert: wrote %" PRIu64 " rows to %u file%s\n",
			result.rows, result.files, say_plural(result.files));
	return EXIT_DONE;
}

const struct rk_command cmd_convert = {
	.name = "convert",
	.summary = "write profiler output as Parquet, CSV, JSON lines or a trace for viewers",
	.usage = "INPUT... -o OUT",
	.options = options,
	.operands = RK_OPERANDS_FILES,
	.examples = "  rockit convert 1234_kernel_trace.csv -o kernels.parquet\n"
		    "  rockit convert results.db -o tables/          one file per table\n"
		    "  rockit convert trace.csv.zst -f csv -o - | head\n"
		    "  rockit convert run/ -o run.pftrace            for ui.perfetto.dev\n"
		    "  rockit convert job/ -o job.tar                a trace per rank\n"
		    "  rockit convert job/ -o set/ --dataset         for DuckDB, Spark and others\n"
		    "  rockit convert job/ -o parts/ --dataset --shard 3/8\n",
	.run = convert_run,
};
