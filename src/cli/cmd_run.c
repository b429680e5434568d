/* cmd_run.c - rockit run. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "print.h"
#include "rockit/counters.h"
#include "rockit/metrics.h"
#include "rockit/monitor.h"
#include "rockit/rockit.h"
#include "rockit/session.h"
#include "rockit/tools.h"
#include "say.h"

enum then { THEN_NOTHING, THEN_REPORT, THEN_METRICS };

static const char *const then_words[] = { "nothing", "report", "metrics", NULL };
static const char *const formats[] = { "text", "json", NULL };

struct settings {
	struct rk_common common;
	const char *preset, *traces, *counters, *input, *tool, *tool_version, *arch, *tool_args;
	const char *context, *context_file, *dir, *monitor, *kernel_regex, *library_trace, *ranks;
	uint64_t timeout, interval;
	bool force, keep_going, baseline, html, redact, dry_run;
	int then, format;
};

#define AT(member) offsetof(struct settings, member)

static const struct rk_opt options[] = {
	{ "preset", 'p', "PRESET", "what to collect: see 'rockit presets' (default: lightweight)",
	  RK_OPT_TEXT, AT(preset), NULL, rk_preset_word },
	{ "trace", 't', "LIST", "hip,hsa,kernel,memcpy,marker,rccl,scratch,alloc or sys",
	  RK_OPT_TEXT, AT(traces), rk_offer_traces },
	{ "counters", 'c', "LIST", "hardware counters, @categories or a set, separated by commas",
	  RK_OPT_TEXT, AT(counters), rk_offer_counters },
	{ "input", 'i', "FILE", "counters from a pmc: file or a rocprofv3 job file", RK_OPT_TEXT,
	  AT(input), NULL },
	{ "tool", 0, "TOOL",
	  "auto, rocprofv3, rocprofv2, rocprof, rocprof-compute, rocprof-sys, opencl, cupti",
	  RK_OPT_TEXT, AT(tool), NULL, rk_tool_word },
	{ "tool-version", 0, "V", "ROCm release of the profiler (default: detected)", RK_OPT_TEXT,
	  AT(tool_version), NULL },
	{ "arch", 0, "GFX", "GPU target of the counters (default: the first AMD GPU)", RK_OPT_TEXT,
	  AT(arch), NULL, rk_counters_arch },
	{ "tool-args", 0, "ARGS", "extra options for the profiler, split like a shell would",
	  RK_OPT_TEXT, AT(tool_args), NULL },
	{ "additional-context", 0, "JSON", "madengine context as JSON", RK_OPT_TEXT, AT(context),
	  NULL },
	{ "additional-context-file", 0, "FILE", "madengine context from a file", RK_OPT_TEXT,
	  AT(context_file), NULL },
	{ "dir", 'd', "DIR", "run directory (default: rockit_output/<time>-<pid>)", RK_OPT_TEXT,
	  AT(dir), NULL },
	{ "force", 0, NULL, "reuse the directory of an earlier run (its results are removed)",
	  RK_OPT_FLAG, AT(force), NULL },
	{ "timeout", 0, "S", "seconds per pass, then SIGTERM, then SIGKILL", RK_OPT_NUMBER,
	  AT(timeout), NULL },
	{ "keep-going", 0, NULL, "continue with the next pass if one fails", RK_OPT_FLAG,
	  AT(keep_going), NULL },
	{ "monitor", 0, "LIST", "power,vram,busy,clock,temp,energy, all or none", RK_OPT_TEXT,
	  AT(monitor), NULL, rk_sensor_word },
	{ "monitor-interval", 0, "MS", "milliseconds between samples (default: 100)", RK_OPT_NUMBER,
	  AT(interval), NULL },
	{ "kernel-regex", 0, "RE", "collect counters only of matching kernels", RK_OPT_TEXT,
	  AT(kernel_regex), NULL },
	{ "library-trace", 0, "LIST", "rocblas,hipblaslt,miopen,rccl, or none", RK_OPT_TEXT,
	  AT(library_trace), rk_offer_libraries },
	{ "ranks", 0, "LIST", "profile only these ranks (0,8-15); run the others without profiler",
	  RK_OPT_TEXT, AT(ranks), NULL },
	{ "baseline", 0, NULL, "also run once without the profiler and report the overhead",
	  RK_OPT_FLAG, AT(baseline), NULL },
	{ "then", 0, "VERB", "report or metrics: print it on stderr at the end", RK_OPT_CHOICE,
	  AT(then), then_words },
	{ "html", 0, NULL, "write report.html to the run directory", RK_OPT_FLAG, AT(html), NULL },
	{ "redact", 0, NULL, "hide host, user and paths in run.json and report.html", RK_OPT_FLAG,
	  AT(redact), NULL },
	{ "dry-run", 0, NULL, "print the plan and exit", RK_OPT_FLAG, AT(dry_run), NULL },
	{ "format", 0, "FORMAT", "format of the plan: text or json", RK_OPT_CHOICE, AT(format),
	  formats },
	{ NULL, 0, NULL, NULL, RK_OPT_FLAG, 0, NULL },
};

static int check(const struct settings *s, int nwords)
{
	if (!nwords)
		return say_misuse("run", "no program given; usage: rockit run [options] -- CMD "
					 "ARGS");
	if (s->counters && s->input)
		return say_misuse("run", "'-c' and '-i' both name counters; use one of them");
	if (s->dir && !s->dir[0])
		return say_misuse("run", "option '--dir' needs a directory name");
	if (s->format && !s->dry_run)
		return say_misuse("run", "'--format' needs '--dry-run'");
	return -1;
}

/* Make clear that it is a file, even if a counter set has the same name. */
static const char *counter_spec(const struct settings *s, char *buf, size_t size)
{
	if (!s->input || strchr(s->input, '/'))
		return s->input ? s->input : s->counters;
	snprintf(buf, size, "./%s", s->input);
	return buf;
}

static int plan(const struct settings *s, char **argv, struct rk_session **ret)
{
	char spec[4096];
	const struct rk_session_options opt = {
		.preset = s->preset,
		.traces = s->traces,
		.counters = counter_spec(s, spec, sizeof(spec)),
		.tool = s->tool,
		.tool_version = s->tool_version,
		.arch = s->arch,
		.tool_args = s->tool_args,
		.context = s->context,
		.context_file = s->context_file,
		.dir = s->dir,
		.monitor = s->monitor,
		.library_trace = s->library_trace,
		.kernel_regex = s->kernel_regex,
		.ranks = s->ranks,
		.monitor_interval_ms = s->interval,
		.timeout_s = s->timeout,
		.force = s->force,
		.keep_going = s->keep_going,
		.baseline = s->baseline,
		.redact = s->redact,
		.verdicts = s->then == THEN_METRICS,
		.root = getenv("ROCKIT_SYSFS_ROOT"),
		.argv = argv,
	};
	struct rk_error err = { 0 };
	int status;

	if (rk_session_plan(&opt, ret, &err) == 0)
		return -1;
	status = say_error("run", &err);
	return status == EXIT_MISUSE ? EXIT_MISUSE : EXIT_OWN;
}

static int print_plan(const struct settings *s, const struct rk_session *session)
{
	struct rk_error err = { 0 };
	char *text = NULL;
	size_t len;
	int rc = rk_session_render(session, s->format ? RK_REPORT_JSON : RK_REPORT_TEXT, &text,
				   &len, &err);

	if (rc < 0) {
		say_error("run", &err);
		return EXIT_OWN;
	}
	return rk_print_text("run", NULL, text, len) == EXIT_DONE ? EXIT_DONE : EXIT_OWN;
}

static void say(void *arg, const char *line)
{
	const struct settings *s = arg;

	if (!s->common.quiet)
		say_note("run", line);
}

static void say_before(const struct settings *s, const struct rk_session *session)
{
	const char *const *lines;
	size_t n;

	lines = rk_session_notes(session, &n);
	for (size_t i = 0; !s->common.quiet && i < n; i++)
		say_note("run", lines[i]);
	lines = rk_session_hazards(session, &n);
	for (size_t i = 0; s->common.verbose && i < n; i++)
		say_note("run", lines[i]);
}

static int report(struct rk_run *run, char **text, size_t *len, struct rk_error *err)
{
	const struct rk_report_options plain = { 0 };
	const struct rk_render_options look = { .format = RK_REPORT_TEXT, .top = 10 };
	struct rk_report *r = NULL;
	int rc = rk_run_report(run, &plain, &r, err);

	if (rc == 0)
		rc = rk_report_render(r, &look, text, len, err);
	rk_report_free(r);
	return rc;
}

/* Only of the kernels whose counters were requested: the others have none. */
static int metrics(const struct settings *s, struct rk_run *run, char **text, size_t *len,
		   struct rk_error *err)
{
	const struct rk_metrics_options what = { .arch = s->arch, .kernel_regex = s->kernel_regex };
	const struct rk_metrics_look look = { .look = { .format = RK_REPORT_TEXT, .top = 5 },
					      .absent = s->common.verbose };
	struct rk_metrics *m = NULL;
	int rc = rk_run_metrics(run, &what, &m, err);

	if (rc == 0)
		rc = rk_metrics_render(m, &look, text, len, err);
	rk_metrics_free(m);
	return rc;
}

static int page(const struct settings *s, struct rk_run *run, const char *dir, struct rk_error *err)
{
	char path[4096];
	const struct rk_html_options what = {
		.path = path, .arch = s->arch, .kernel_regex = s->kernel_regex, .redact = s->redact
	};

	snprintf(path, sizeof(path), "%s/report.html", dir);
	return rk_run_html(run, &what, NULL, err);
}

/* On stderr, because stdout belongs to the program. */
static void tell(const struct settings *s, const struct rk_session *session)
{
	const char *dir = rk_session_dir(session);
	const struct rk_run_options how = { .threads = (unsigned)s->common.threads,
					    .tmpdir = s->common.tmpdir };
	struct rk_error err = { 0 };
	struct rk_run *run = NULL;
	char *text = NULL;
	size_t len = 0;
	int rc = rk_run_open(&dir, 1, &how, &run, &err);

	if (rc == 0 && s->then == THEN_METRICS)
		rc = metrics(s, run, &text, &len, &err);
	else if (rc == 0 && s->then == THEN_REPORT)
		rc = report(run, &text, &len, &err);
	if (rc == 0 && s->html)
		rc = page(s, run, dir, &err);
	if (text)
		fwrite(text, 1, len, stderr);
	if (rc < 0)
		say_error("run", &err);
	rk_text_free(text);
	rk_run_close(run);
}

static void say_summary(const struct settings *s, const struct rk_session *session,
			const struct rk_session_result *did)
{
	char line[1024];

	if (s->common.quiet || !did->profiled)
		return;
	if (did->usable)
		snprintf(line, sizeof(line), "%" PRIu64 " kernel%s; see: rockit report %s",
			 did->kernels, did->kernels == 1 ? "" : "s", rk_session_dir(session));
	else
		snprintf(line, sizeof(line), "no kernels recorded; raw files are in '%s'",
			 rk_session_dir(session));
	say_note("run", line);
}

static int run(const struct settings *s, struct rk_session *session)
{
	const struct rk_session_hooks hooks = { .say = say, .warn = say, .arg = (void *)s };
	struct rk_session_result did = { 0 };
	struct rk_error err = { 0 };
	int rc;

	say_to_nobody_too();
	say_before(s, session);
	rc = rk_session_run(session, &hooks, &did, &err);
	if (rc < 0) {
		say_error("run", &err);
		return did.status ? did.status : EXIT_OWN;
	}
	say_summary(s, session, &did);
	if ((s->then != THEN_NOTHING || s->html) && did.usable)
		tell(s, session);
	return did.status;
}

static int run_run(int argc, char **argv)
{
	struct settings s = { .preset = NULL };
	struct rk_session *session = NULL;
	int n, rc = rk_options_parse(&cmd_run, &s, argc, argv, &n);

	if (rc < 0)
		rc = check(&s, n);
	if (rc >= 0)
		return rc;
	argv[n] = NULL;
	rc = plan(&s, argv, &session);
	if (rc < 0)
		rc = s.dry_run ? print_plan(&s, session) : run(&s, session);
	rk_session_free(session);
	return rc;
}

const struct rk_command cmd_run = {
	.name = "run",
	.summary = "run a program under the installed profiler",
	.usage = "-- CMD ARGS",
	.options = options,
	.foreign = rk_rocprof_options,
	.program = true,
	.more = RK_COUNTER_WORDS_HELP,
	.examples = "  rockit run -- ./app\n"
		    "  rockit run -p memory -- python infer.py\n"
		    "  rockit run -p full --kernel-regex gemm --then metrics -- ./app\n"
		    "  rockit run -t kernel,memcpy -c @cache -- ./app --size 4096\n"
		    "  rockit run -p compute --tool rocprofv3 --tool-version 6.4 --arch gfx90a "
		    "--dry-run -- ./app\n",
	.run = run_run,
};
