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
static const char *const replays[] = { "application", "kernel", NULL };
static const char *const formats[] = { "text", "json", NULL };

struct settings {
	struct rk_common common;
	const char *preset, *traces, *counters, *input, *tool, *tool_version, *arch, *tool_args;
	const char *context, *context_file, *dir, *monitor, *kernel_regex, *library_trace, *ranks;
	const char *spm, *range, *snap_on, *every, *sample;
	uint64_t timeout, grace, interval, attach, delay, duration, max_size, last, keep;
	bool window, force, keep_going, baseline, html, redact, dry_run, att;
	int then, format, replay;
};

static const struct rk_opt options[] = {
	{ "preset", 'p', "PRESET", "what to collect: see 'rockit presets' (default: lightweight)",
	  RK_OPT_TEXT, AT(preset), NULL, rk_preset_word },
	{ "trace", 't', "LIST",
	  "hip,hsa,kernel,memcpy,marker,rccl,scratch,alloc or sys for these; also "
	  "kfd,ompt,graph,rocshmem,hipfile,rocdecode,rocjpeg",
	  RK_OPT_TEXT, AT(traces), rk_offer_traces },
	{ "counters", 'c', "LIST", "hardware counters, @categories or a set, separated by commas",
	  RK_OPT_TEXT, AT(counters), rk_offer_counters },
	{ "input", 'i', "FILE", "counters from a pmc: file or a rocprofv3 job file", RK_OPT_TEXT,
	  AT(input) },
	{ "tool", 0, "TOOL",
	  "auto, rocprofv3, rocprofv2, rocprof, rocprof-compute, rocprof-sys, rocm, cupti, opencl",
	  RK_OPT_TEXT, AT(tool), NULL, rk_tool_word },
	{ "tool-version", 0, "V", "ROCm release of the profiler (default: detected)", RK_OPT_TEXT,
	  AT(tool_version) },
	{ "arch", 0, "GFX", "GPU target of the counters (default: the first AMD GPU)", RK_OPT_TEXT,
	  AT(arch), NULL, rk_counters_arch },
	{ "tool-args", 0, "ARGS", "extra options for the profiler, split like a shell would",
	  RK_OPT_TEXT, AT(tool_args) },
	{ "additional-context", 0, "JSON", "madengine context as JSON", RK_OPT_TEXT, AT(context) },
	{ "additional-context-file", 0, "FILE", "madengine context from a file", RK_OPT_TEXT,
	  AT(context_file) },
	{ "dir", 'd', "DIR", "run directory (default: rockit_output/<time>-<pid>)", RK_OPT_TEXT,
	  AT(dir) },
	{ "force", 0, NULL, "reuse the directory of an earlier run (its results are removed)",
	  RK_OPT_FLAG, AT(force) },
	{ "timeout", 0, "S", "seconds per pass, then SIGTERM, then SIGKILL", RK_OPT_SECONDS,
	  AT(timeout) },
	{ "grace", 0, "S", "seconds before SIGKILL (default: while output grows, at most 900)",
	  RK_OPT_SECONDS, AT(grace) },
	{ "keep-going", 0, NULL, "continue with the next pass if one fails", RK_OPT_FLAG,
	  AT(keep_going) },
	{ "monitor", 0, "LIST", "power,vram,busy,clock,temp,energy, all or none", RK_OPT_TEXT,
	  AT(monitor), NULL, rk_sensor_word },
	{ "monitor-interval", 0, "MS", "milliseconds between samples (default: 100)", RK_OPT_NUMBER,
	  AT(interval) },
	{ "kernel-regex", 0, "RE", "collect counters only of matching kernels", RK_OPT_TEXT,
	  AT(kernel_regex) },
	{ "attach", 0, "PID", "record a running process (rocprofv3 since ROCm 7.1)", RK_OPT_NUMBER,
	  AT(attach) },
	{ "delay", 0, "S", "start recording after this time (rocprofv3 since 6.4)", RK_OPT_SECONDS,
	  AT(delay) },
	{ "duration", 0, "S", "record for this time (rocprofv3 since 6.4)", RK_OPT_SECONDS,
	  AT(duration) },
	{ "range", 0, "NAME", "record only in ranges of this name (rocprofv3 since 7.0)",
	  RK_OPT_TEXT, AT(range) },
	{ "every", 0, "N:M", "record N seconds of every M; with --range, N of every M ranges",
	  RK_OPT_TEXT, AT(every) },
	{ "sample", 0, "1/N", "record one of N calls; kernels are all recorded", RK_OPT_TEXT,
	  AT(sample) },
	{ "window", 0, NULL, "keep only the newest records (rockit's own collectors)", RK_OPT_FLAG,
	  AT(window) },
	{ "max-size", 0, "BYTES", "size of the window of each process (default: 512M)",
	  RK_OPT_BYTES, AT(max_size) },
	{ "last", 0, "S", "seconds that a snapshot holds (default: all of the window)",
	  RK_OPT_SECONDS, AT(last) },
	{ "snap-on", 0, "T,...", "copy the window at: signal, crash, slow-step:20%, gap:100ms",
	  RK_OPT_TEXT, AT(snap_on), rk_offer_triggers },
	{ "keep", 0, "N", "snapshots to keep, the newest (default: 10)", RK_OPT_NUMBER, AT(keep) },
	{ "replay", 0, "WHAT", "for counters, repeat each kernel (since 10.1) or the application",
	  RK_OPT_CHOICE, AT(replay), replays },
	{ "spm", 0, "LIST", "hardware counters to stream while kernels run (since 7.14)",
	  RK_OPT_TEXT, AT(spm) },
	{ "att", 0, NULL, "trace the instructions of waves in another pass (since 7.0)",
	  RK_OPT_FLAG, AT(att) },
	{ "library-trace", 0, "LIST", "rocblas,hipblaslt,miopen,rccl, or none", RK_OPT_TEXT,
	  AT(library_trace), rk_offer_libraries },
	{ "ranks", 0, "LIST", "profile only these ranks (0,8-15); run the others without profiler",
	  RK_OPT_TEXT, AT(ranks) },
	{ "baseline", 0, NULL, "also run once without the profiler and report the overhead",
	  RK_OPT_FLAG, AT(baseline) },
	{ "then", 0, "VERB", "report or metrics: print it on stderr at the end", RK_OPT_CHOICE,
	  AT(then), then_words },
	{ "html", 0, NULL, "write report.html to the run directory", RK_OPT_FLAG, AT(html) },
	{ "redact", 0, NULL, "hide host, user and paths in run.json and report.html", RK_OPT_FLAG,
	  AT(redact) },
	{ "dry-run", 0, NULL, "print the plan and exit", RK_OPT_FLAG, AT(dry_run) },
	{ "format", 0, "FORMAT", "format of the plan: text or json", RK_OPT_CHOICE, AT(format),
	  formats },
	{ NULL },
};

static void say(void *arg, const char *line)
{
	const struct settings *s = arg;

	if (!s->common.quiet)
		say_note("run", line);
}

static int report(struct rk_run *run, char **text, size_t *len, struct rk_error *err)
{
	const struct rk_report_options plain = { 0 };
	const struct rk_render_options look = { .format = RK_REPORT_TEXT, .top = 10 };
	struct rk_report *r = NULL;
	int rc = rk_run_report(run, &plain, &r, err);

	if (rc < 0)
		return rc;
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

	if (rc < 0)
		return rc;
	rc = rk_metrics_render(m, &look, text, len, err);
	rk_metrics_free(m);
	return rc;
}

/* Prints what --then and --html request. On stderr, because stdout belongs to the program. */
static void tell(const struct settings *s, const char *dir)
{
	char path[4096], *text = NULL;
	const struct rk_html_options page = {
		.path = path, .arch = s->arch, .kernel_regex = s->kernel_regex, .redact = s->redact
	};
	const struct rk_run_options how = { .threads = (unsigned)s->common.threads,
					    .tmpdir = s->common.tmpdir };
	struct rk_error err = { 0 };
	struct rk_run *run = NULL;
	size_t len = 0;
	int rc = rk_run_open(&dir, 1, &how, &run, &err);

	if (rc < 0)
		goto out;
	if (s->then == THEN_METRICS)
		rc = metrics(s, run, &text, &len, &err);
	else if (s->then == THEN_REPORT)
		rc = report(run, &text, &len, &err);
	if (rc < 0)
		goto out;
	if (s->html) {
		snprintf(path, sizeof(path), "%s/report.html", dir);
		rc = rk_run_html(run, &page, NULL, &err);
	}
	if (text)
		fwrite(text, 1, len, stderr);
out:
	if (rc < 0)
		say_error("run", &err);
	rk_text_free(text);
	rk_run_close(run);
}

static int run(const struct settings *s, struct rk_session *session)
{
	const struct rk_session_hooks hooks = { .say = say, .warn = say, .arg = (void *)s };
	const char *dir;
	struct rk_session_result did = { 0 };
	struct rk_error err = { 0 };
	char line[1024];

	say_to_nobody_too();
	if (!s->common.quiet)
		rk_print_notes("run", session);
	if (rk_session_run(session, &hooks, &did, &err) < 0) {
		say_error("run", &err);
		return did.status ? did.status : EXIT_OWN;
	}
	dir = rk_session_dir(session); /* only now: the results may have moved */
	if (!s->common.quiet && did.profiled) {
		if (did.usable)
			snprintf(line, sizeof(line), "%" PRIu64 " kernel%s; see: rockit report %s",
				 did.kernels, say_plural(did.kernels), dir);
		else if (did.raw_files)
			snprintf(line, sizeof(line), "no kernels recorded; raw files are in '%s'",
				 dir);
		else
			snprintf(line, sizeof(line),
				 "nothing was recorded; '%s/run.json' has the "
				 "details",
				 dir);
		say_note("run", line);
	}
	if ((s->then != THEN_NOTHING || s->html) && did.usable)
		tell(s, dir);
	return did.status;
}

static int run_run(int argc, char **argv)
{
	struct settings s = { .preset = NULL };
	struct rk_session_options o;
	struct rk_session *session = NULL;
	struct rk_error err = { 0 };
	char spec[4096];
	uint64_t sample = 0;
	int n, rc = rk_options_parse(&cmd_run, &s, argc, argv, &n);

	if (rc >= 0)
		return rc;
	if (!n && !s.attach)
		return say_misuse("run", "no program given; usage: rockit run [options] -- CMD "
					 "ARGS");
	if (s.counters && s.input)
		return say_misuse("run", "'-c' and '-i' both name counters; use one of them");
	if (s.dir && !s.dir[0])
		return say_misuse("run", "option '--dir' needs a directory name");
	if (s.format && !s.dry_run)
		return say_misuse("run", "'--format' needs '--dry-run'");
	if (!rk_sample_parse("run", s.sample, &sample))
		return EXIT_MISUSE;
	argv[n] = NULL;

	o = (struct rk_session_options){
		.preset = s.preset,
		.traces = s.traces,
		.counters = s.input ? s.input : s.counters,
		.tool = s.tool,
		.tool_version = s.tool_version,
		.arch = s.arch,
		.tool_args = s.tool_args,
		.context = s.context,
		.context_file = s.context_file,
		.dir = s.dir,
		.monitor = s.monitor,
		.library_trace = s.library_trace,
		.kernel_regex = s.kernel_regex,
		.ranks = s.ranks,
		.monitor_interval_ms = s.interval,
		.timeout_s = s.timeout,
		.grace_s = s.grace,
		.force = s.force,
		.keep_going = s.keep_going,
		.baseline = s.baseline,
		.redact = s.redact,
		.verdicts = s.then == THEN_METRICS,
		.ask_installed = !s.dry_run,
		.spm = s.spm,
		.replay = replays[s.replay],
		.range = s.range,
		.attach_pid = s.attach,
		.delay_s = s.delay,
		.duration_s = s.duration,
		.thread_trace = s.att,
		.window = s.window,
		.max_size = s.max_size,
		.last_s = s.last,
		.keep = s.keep,
		.snap_on = s.snap_on,
		.every = s.every,
		.sample = sample,
		.root = getenv("ROCKIT_SYSFS_ROOT"),
		.argv = argv,
	};
	/* Make clear that it is a file, even if a counter set has the same name. */
	if (s.input && !strchr(s.input, '/')) {
		snprintf(spec, sizeof(spec), "./%s", s.input);
		o.counters = spec;
	}
	if (rk_session_plan(&o, &session, &err) < 0) {
		rc = say_error("run", &err);
		return rc == EXIT_MISUSE ? EXIT_MISUSE : EXIT_OWN;
	}
	if (s.dry_run)
		rc = rk_print_plan("run", session, s.format ? RK_REPORT_JSON : RK_REPORT_TEXT);
	else
		rc = run(&s, session);
	rk_session_free(session);
	return rc;
}

const struct rk_command cmd_run = {
	.name = "run",
	.summary = "run a program under the installed profiler",
	.usage = "-- CMD ARGS | --attach PID",
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
