/* cmd_monitor.c - rockit monitor. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "options.h"
#include "rockit/monitor.h"
#include "rockit/report.h"
#include "say.h"

struct settings {
	struct rk_common common;
	uint64_t interval_ms;
	const char *metrics, *dir, *duration;
	int format;
	bool force;
};

enum { FORMAT_TEXT, FORMAT_JSON };

static const char *const formats[] = { "text", "json", NULL };

static const struct rk_opt options[] = {
	{ "interval", 0, "MS", "milliseconds between samples (default: 100)", RK_OPT_NUMBER,
	  AT(interval_ms) },
	{ "metrics", 0, "LIST", "power, vram, busy, clock, temp, energy (default: all)",
	  RK_OPT_TEXT, AT(metrics), NULL, rk_sensor_word },
	{ "dir", 'd', "DIR", "output directory (default: a new one in rockit_output)", RK_OPT_TEXT,
	  AT(dir) },
	{ "duration", 0, "S", "seconds to sample (default: until CMD ends or ^C)", RK_OPT_TEXT,
	  AT(duration) },
	{ "force", 0, NULL, "overwrite the files of an earlier run in DIR", RK_OPT_FLAG,
	  AT(force) },
	{ "format", 0, "FORMAT", "format of the summary: text (on stderr) or json (on stdout)",
	  RK_OPT_CHOICE, AT(format), formats },
	{ NULL },
};

enum { MAX_INTERVAL_MS = 3600000, MAX_DURATION_S = 100000000 };

/* Seconds with a fraction of at most three digits that count: "2.5". */
static bool parse_seconds(const char *text, uint64_t *ret_ms)
{
	uint64_t ms = 0, unit = 100;
	const char *p = text;

	for (; *p >= '0' && *p <= '9' && ms <= MAX_DURATION_S; p++)
		ms = ms * 10 + (uint64_t)(*p - '0');
	if (p == text || ms > MAX_DURATION_S)
		return false;
	ms *= 1000;
	if (*p == '.' && p[1])
		for (p++; *p >= '0' && *p <= '9'; p++, unit /= 10)
			ms += unit * (uint64_t)(*p - '0');
	*ret_ms = ms;
	return !*p && ms > 0;
}

static void say_summary(const struct rk_monitor_result *r, const char *dir, bool verbose)
{
	const char *word, *comma = "";

	fprintf(stderr, "rockit monitor: %" PRIu64 " sample%s of %u GPU%s (", r->samples,
		say_plural(r->samples), r->gpus, say_plural(r->gpus));
	for (unsigned i = 0; (word = rk_monitor_word(i)) != NULL; i++) {
		if (!(r->metrics >> i & 1))
			continue;
		fprintf(stderr, "%s%s", comma, word);
		comma = ", ";
	}
	fprintf(stderr, "), %" PRIu64 " missed, %.2f %% of a core; files in '", r->missed,
		r->cpu_percent);
	say_safely(stderr, dir);
	fputs("'\n", stderr);
	if (r->note[0])
		fprintf(stderr, "rockit monitor: %s\n", r->note);
	if (verbose)
		fprintf(stderr,
			"rockit monitor: the two timestamps of a sample are at most %" PRId64
			" ns apart\n",
			r->clock_error_ns);
}

/* Samples while the program runs, or for some time if `argv` is NULL. */
static int monitor(const struct settings *s, unsigned metrics, uint64_t duration_ms, char **argv)
{
	const struct rk_monitor_options opt = { .dir = s->dir,
						.metrics = metrics,
						.interval_ms = (unsigned)s->interval_ms,
						.root = getenv("ROCKIT_SYSFS_ROOT"),
						.overwrite = s->force };
	struct rk_monitor_end end;
	struct rk_error err = { 0 };
	struct rk_monitor *m = NULL;
	char dir[4096], *text = NULL;
	int rc = rk_monitor_open(&opt, &m, dir, sizeof(dir), &err);
	bool sampled = m != NULL;

	/* Run the program even on a machine without GPUs. */
	if (rc == RK_E_UNSUPPORTED && argv) {
		say_error("monitor", &err);
		err = (struct rk_error){ 0 };
		rc = 0;
	}
	if (rc == 0)
		rc = rk_monitor_attend(m, argv, duration_ms, &end, &err);
	if (rc < 0) {
		int status = say_error("monitor", &err);

		return argv && status == EXIT_FAILED ? EXIT_OWN : status;
	}

	if (end.why[0])
		say_failure("monitor", "%s", end.why);
	if (sampled && s->format == FORMAT_JSON) {
		if (rk_monitor_json(&end, dir, argv != NULL, &text, &err) < 0)
			say_error("monitor", &err);
		else
			fputs(text, stdout);
		rk_text_free(text);
	} else if (sampled && !s->common.quiet) {
		say_summary(&end.samples, dir, s->common.verbose);
	}
	if (end.trouble.code)
		say_error("monitor", &end.trouble);
	if (argv)
		return end.status;
	return end.trouble.code ? EXIT_FAILED : EXIT_DONE;
}

static int monitor_run(int argc, char **argv)
{
	struct settings s = { .interval_ms = 100 };
	unsigned metrics = RK_MONITOR_ALL;
	uint64_t duration_ms = 0;
	struct rk_error err = { 0 };
	int n, rc = rk_options_parse(&cmd_monitor, &s, argc, argv, &n);

	if (rc >= 0)
		return rc;
	if (s.metrics && rk_monitor_parse(s.metrics, &metrics, &err) < 0)
		return say_error("monitor", &err);
	if (!s.interval_ms || s.interval_ms > MAX_INTERVAL_MS)
		return say_misuse("monitor", "option '--interval' takes 1 to %d milliseconds",
				  MAX_INTERVAL_MS);
	if (s.duration && !parse_seconds(s.duration, &duration_ms))
		return say_misuse("monitor",
				  "option '--duration' takes seconds, such as 30 or 2.5, not '%s'",
				  s.duration);
	if (s.dir && !s.dir[0])
		return say_misuse("monitor", "option '--dir' needs a directory name");
	argv[n] = NULL;
	say_to_nobody_too();
	return monitor(&s, metrics, duration_ms, n ? argv : NULL);
}

const struct rk_command cmd_monitor = {
	.name = "monitor",
	.summary = "sample power, memory, load and clocks of the GPUs",
	.usage = "[-- CMD...]",
	.options = options,
	.light = true,
	.program = true,
	.examples = "  rockit monitor -- python train.py\n"
		    "  rockit monitor --metrics power,energy --interval 20 -d out -- ./app\n"
		    "  rockit monitor --duration 60                  60 seconds, without a "
		    "program\n",
	.run = monitor_run,
};
