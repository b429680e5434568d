/* cmd_diff.c - rockit diff. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "print.h"
#include "rockit/diff.h"
#include "rockit/rockit.h"
#include "say.h"

enum { TOP_DEFAULT = 10 };

struct settings {
	struct rk_common common;
	const char *gate, *out;
	bool structure;
	uint64_t top;
	int format; /* enum rk_diff_format */
};

static const char *const format_words[] = { "text", "json", "markdown", NULL };

static const struct rk_opt options[] = {
	{ "gate", 'g', "PERCENT", "exit with 3 when GPU time grew by more than this", RK_OPT_TEXT,
	  AT(gate) },
	{ "structure", 's', NULL, "compare only what does not depend on speed", RK_OPT_FLAG,
	  AT(structure) },
	{ "top", 'n', "N", "kernels in text output (default: 10; 0: all)", RK_OPT_NUMBER, AT(top) },
	{ "format", 'f', "FORMAT", "text, json or markdown (default: text)", RK_OPT_CHOICE,
	  AT(format), format_words },
	RK_OPT_OUTPUT(struct settings),
	{ NULL },
};

/* "5", "2.5", "2.5%"; no sign, no exponent. */
static bool parse_percent(const char *text, double *ret)
{
	const char *p = text;
	double v = 0, scale = 1;

	for (; *p >= '0' && *p <= '9' && v < 1e9; p++)
		v = v * 10 + (*p - '0');
	if (p == text)
		return false;
	if (*p == '.') {
		const char *from = ++p;

		for (; *p >= '0' && *p <= '9' && p - from < 12; p++) {
			v = v * 10 + (*p - '0');
			scale *= 10;
		}
	}
	p += *p == '%';
	*ret = v / scale;
	return !*p;
}

/* Reads one run and closes it, so that many repeated runs do not fill the memory. */
static int profile(const struct settings *s, const char *input, struct rk_profile **ret)
{
	struct rk_progress progress;
	const struct rk_run_options how = say_run_begin("diff", &s->common, &progress);
	struct rk_error err = { 0 };
	struct rk_run *run = NULL;
	int rc;

	rc = rk_run_open(&input, 1, &how, &run, &err);
	if (rc < 0)
		goto out;
	rc = rk_run_check_output(run, s->out, &err);
	if (rc < 0)
		goto out;
	rc = rk_run_profile(run, input, s->structure, ret, &err);
out:
	say_run_end("diff", &s->common, &progress, run);
	return rc < 0 ? say_error("diff", &err) : EXIT_DONE;
}

/* Compares the first `na` profiles with the other `nb` and prints the difference. */
static int compare(const struct settings *s, double gate, struct rk_profile *const *p, size_t na,
		   size_t nb)
{
	const struct rk_diff_options what = { .gated = s->gate != NULL,
					      .gate_percent = gate,
					      .structure = s->structure };
	const struct rk_profile *const *all = (const struct rk_profile *const *)p;
	struct rk_render_options how;
	struct rk_error err = { 0 };
	struct rk_diff *d = NULL;
	char *text = NULL;
	size_t len = 0;
	int status;

	if (rk_diff_make(all, na, all + na, nb, &what, &d, &err) < 0)
		return say_error("diff", &err);
	how = rk_print_look(&s->common, s->out, 0);
	how.top = s->top;
	if (rk_diff_render(d, (enum rk_diff_format)s->format, &how, &text, &len, &err) < 0)
		status = say_error("diff", &err);
	else
		status = rk_print_text("diff", s->out, text, len);
	if (!status)
		status = (int)d->verdict;
	rk_diff_free(d);
	return status;
}

static int diff_run(int argc, char **argv)
{
	struct settings s = { .top = TOP_DEFAULT };
	int at = 1, na, nb = 0, rc;
	struct rk_profile **p;
	double gate = 0;
	char **b;

	/* Options may be on either side of "--"; a second "--" ends them there. */
	while (at < argc && strcmp(argv[at], "--") != 0)
		at++;
	b = argv + at;
	rc = rk_options_parse(&cmd_diff, &s, at, argv, &na);
	if (rc < 0 && at < argc)
		rc = rk_options_parse(&cmd_diff, &s, argc - at, b, &nb);
	if (rc >= 0)
		return rc;
	if (s.gate && !parse_percent(s.gate, &gate))
		return say_misuse("diff", "option '--gate' takes a percentage, not '%s'", s.gate);
	if (at == argc) {
		if (na != 2)
			return say_misuse("diff",
					  "needs two runs, or several on each side of '--'; got %d",
					  na);
		b = argv + 1;
		na = nb = 1;
	}
	if (!na || !nb)
		return say_misuse("diff", "no run %s '--'", na ? "after" : "before");

	p = calloc((size_t)(na + nb), sizeof(*p));
	if (!p)
		return say_failure("diff", "out of memory");
	rc = EXIT_DONE;
	for (int i = 0; rc == EXIT_DONE && i < na + nb; i++)
		rc = profile(&s, i < na ? argv[i] : b[i - na], &p[i]);
	if (rc == EXIT_DONE)
		rc = compare(&s, gate, p, (size_t)na, (size_t)nb);
	for (int i = 0; i < na + nb; i++)
		rk_profile_free(p[i]);
	free(p);
	return rc;
}

const struct rk_command cmd_diff = {
	.name = "diff",
	.summary = "show what changed between two runs, in parts that add up",
	.usage = "A B | A... -- B...",
	.options = options,
	.operands = RK_OPERANDS_FILES,
	.examples = "  rockit diff before/ after/\n"
		    "  rockit diff a1/ a2/ a3/ -- b1/ b2/ b3/   repeated runs measure the noise\n"
		    "  rockit diff main.parquet mine.parquet --gate 5 --format markdown\n"
		    "  rockit diff --structure before/ after/   launches, grids, bytes, order\n",
	.run = diff_run,
};
