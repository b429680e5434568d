/* cmd_record.c - rockit record. */
#include <stdio.h>
#include <stdlib.h>

#include "options.h"
#include "print.h"
#include "rockit/session.h"
#include "rockit/tools.h"
#include "say.h"

static const char *const formats[] = { "text", "json", NULL };
static const char *const collectors[] = { "auto", "rocm", "cupti", "opencl", NULL };

struct settings {
	struct rk_common common;
	const char *traces, *dir, *range, *snap_on, *every, *sample;
	uint64_t timeout, grace, delay, duration, max_size, last, keep;
	bool force, dry_run;
	int tool, format;
};

static const struct rk_opt options[] = {
	{ "max-size", 0, "BYTES", "size of the window of each process (default: 512M)",
	  RK_OPT_BYTES, AT(max_size) },
	{ "last", 0, "S", "seconds that a snapshot holds (default: all of the window)",
	  RK_OPT_SECONDS, AT(last) },
	{ "snap-on", 0, "T,...", "copy the window at: signal, crash, slow-step:20%, gap:100ms",
	  RK_OPT_TEXT, AT(snap_on), rk_offer_triggers },
	{ "keep", 0, "N", "snapshots to keep, the newest (default: 10)", RK_OPT_NUMBER, AT(keep) },
	{ "dir", 'd', "DIR", "run directory (default: rockit_output/<time>-<pid>)", RK_OPT_TEXT,
	  AT(dir) },
	{ "force", 0, NULL, "reuse the directory of an earlier run (its results are removed)",
	  RK_OPT_FLAG, AT(force) },
	{ "tool", 0, "TOOL", "auto, rocm, cupti or opencl (default: by what the machine has)",
	  RK_OPT_CHOICE, AT(tool), collectors },
	{ "trace", 't', "LIST", "what to record: hip,kernel,memcpy,marker,rccl,alloc or sys",
	  RK_OPT_TEXT, AT(traces), rk_offer_traces },
	{ "delay", 0, "S", "start recording after this time", RK_OPT_SECONDS, AT(delay) },
	{ "duration", 0, "S", "record for this time", RK_OPT_SECONDS, AT(duration) },
	{ "range", 0, "NAME", "record only in ranges of this name; for slow-step: the step",
	  RK_OPT_TEXT, AT(range) },
	{ "every", 0, "N:M", "record N seconds of every M; with --range, N of every M ranges",
	  RK_OPT_TEXT, AT(every) },
	{ "sample", 0, "1/N", "record one of N calls; kernels are all recorded", RK_OPT_TEXT,
	  AT(sample) },
	{ "timeout", 0, "S", "seconds, then SIGTERM, then SIGKILL", RK_OPT_SECONDS, AT(timeout) },
	{ "grace", 0, "S", "seconds before SIGKILL (default: 10)", RK_OPT_SECONDS, AT(grace) },
	{ "dry-run", 0, NULL, "print the plan and exit", RK_OPT_FLAG, AT(dry_run) },
	{ "format", 0, "FORMAT", "format of the plan: text or json", RK_OPT_CHOICE, AT(format),
	  formats },
	{ NULL },
};

static void say(void *arg, const char *line)
{
	const struct settings *s = arg;

	if (!s->common.quiet)
		say_note("record", line);
}

static int record(const struct settings *s, struct rk_session *session)
{
	const struct rk_session_hooks hooks = { .say = say, .warn = say, .arg = (void *)s };
	struct rk_session_result did = { 0 };
	struct rk_error err = { 0 };
	char line[1024];

	say_to_nobody_too();
	if (!s->common.quiet)
		rk_print_notes("record", session);
	if (rk_session_run(session, &hooks, &did, &err) < 0) {
		say_error("record", &err);
		return did.status ? did.status : EXIT_OWN;
	}
	if (did.raw_files)
		snprintf(line, sizeof(line), "see: rockit report %s", rk_session_dir(session));
	else
		snprintf(line, sizeof(line), "nothing was recorded; '%s/run.json' has the details",
			 rk_session_dir(session));
	say((void *)s, line);
	return did.status;
}

static int record_run(int argc, char **argv)
{
	struct settings s = { .dir = NULL };
	struct rk_session_options o;
	struct rk_session *session = NULL;
	struct rk_error err = { 0 };
	uint64_t sample = 0;
	int n, rc = rk_options_parse(&cmd_record, &s, argc, argv, &n);

	if (rc >= 0)
		return rc;
	if (!n)
		return say_misuse("record", "no program given; usage: rockit record [options] -- "
					    "CMD ARGS");
	if (s.dir && !s.dir[0])
		return say_misuse("record", "option '--dir' needs a directory name");
	if (s.format && !s.dry_run)
		return say_misuse("record", "'--format' needs '--dry-run'");
	if (!rk_sample_parse("record", s.sample, &sample))
		return EXIT_MISUSE;
	argv[n] = NULL;

	o = (struct rk_session_options){
		.record = true,
		.tool = collectors[s.tool],
		.traces = s.traces,
		.dir = s.dir,
		.force = s.force,
		.timeout_s = s.timeout,
		.grace_s = s.grace,
		.delay_s = s.delay,
		.duration_s = s.duration,
		.range = s.range,
		.max_size = s.max_size,
		.last_s = s.last,
		.keep = s.keep,
		.snap_on = s.snap_on,
		.every = s.every,
		.sample = sample,
		.root = getenv("ROCKIT_SYSFS_ROOT"),
		.argv = argv,
	};
	if (rk_session_plan(&o, &session, &err) < 0) {
		rc = say_error("record", &err);
		return rc == EXIT_MISUSE ? EXIT_MISUSE : EXIT_OWN;
	}
	if (s.dry_run)
		rc = rk_print_plan("record", session, s.format ? RK_REPORT_JSON : RK_REPORT_TEXT);
	else
		rc = record(&s, session);
	rk_session_free(session);
	return rc;
}

const struct rk_command cmd_record = {
	.name = "record",
	.summary = "record a program all the time, and keep the newest part",
	.usage = "-- CMD ARGS",
	.options = options,
	.light = true,
	.program = true,
	.examples = "  rockit record -- ./server\n"
		    "  rockit record --max-size 2G --last 60s --snap-on signal,crash -d rec -- "
		    "./server\n"
		    "  rockit record --range step --snap-on slow-step:20% -- python train.py\n",
	.run = record_run,
};
