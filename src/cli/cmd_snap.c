/* cmd_snap.c - rockit snap: what a running or killed program has recorded, as a run directory. */
#include <inttypes.h>
#include <stdio.h>

#include "options.h"
#include "print.h"
#include "rockit/live.h"
#include "say.h"

struct settings {
	struct rk_common common;
	uint64_t last_s;
	const char *out;
};

static const struct rk_opt options[] = {
	{ "last", 0, "S", "only the last seconds: 60, 60s, 5m (default: all that is there)",
	  RK_OPT_SECONDS, AT(last_s) },
	{ "output", 'o', "OUT", "the new run directory (default: a new one in rockit_output)",
	  RK_OPT_TEXT, AT(out) },
	{ NULL },
};

static bool interrupted(void *arg)
{
	(void)arg;
	return rk_progress_signal() != 0;
}

static void say_result(const struct settings *s, const struct rk_snap_result *r)
{
	fprintf(stderr, "rockit snap: %" PRIu64 " record%s of %u file%s in '", r->records,
		say_plural(r->records), r->files, say_plural(r->files));
	say_safely(stderr, r->dir);
	fputs("'\n", stderr);
	if (r->enough_bytes)
		fprintf(stderr,
			"rockit snap: the window holds %.3g of %" PRIu64 " s; a size of %" PRIu64
			"M would do (--max-size)\n",
			(double)r->held_ns / 1e9, s->last_s, r->enough_bytes >> 20);
	if (r->copied_over)
		fprintf(stderr, "rockit snap: %" PRIu64 " block%s overwritten while copying\n",
			r->copied_over, say_plural(r->copied_over));
	if (r->damaged)
		fprintf(stderr, "rockit snap: %" PRIu64 " damaged block%s left out\n", r->damaged,
			say_plural(r->damaged));
	if (r->note[0])
		say_note("snap", r->note);
}

static int snap_run(int argc, char **argv)
{
	struct settings s = { .last_s = 0 };
	struct rk_snap_options opt = { .stop = interrupted };
	struct rk_snap_result result = { .files = 0 };
	struct rk_progress progress;
	struct rk_error err = { 0 };
	char newest[RK_NEWEST_BYTES];
	int n, rc = rk_options_parse(&cmd_snap, &s, argc, argv, &n);

	if (rc >= 0)
		return rc;
	if (n > 1)
		return say_misuse("snap", "give only one PID or DIR");
	if (n) {
		opt.pid = rk_process_word(argv[0]);
		opt.dir = opt.pid ? NULL : argv[0];
	} else {
		rc = rk_newest_instead("snap", s.common.quiet, newest);
		if (rc >= 0)
			return rc;
		opt.dir = newest;
	}
	opt.out = s.out;
	opt.last_ns = (int64_t)s.last_s * 1000000000;
	rk_progress_begin(&progress, "snap", true);
	rc = rk_live_snap(&opt, &result, &err);
	rk_progress_end(&progress);
	if (rc < 0)
		return say_error("snap", &err);
	if (!s.common.quiet)
		say_result(&s, &result);
	return EXIT_DONE;
}

const struct rk_command cmd_snap = {
	.name = "snap",
	.summary = "copy what a running or killed program has recorded so far to a run directory",
	.usage = "[PID|DIR]",
	.options = options,
	.light = true,
	.operands = RK_OPERANDS_DIRS,
	.more = "PID is a process that runs with a collector of rockit, DIR its run directory\n"
		"(default: the newest in rockit_output). The program goes on undisturbed.\n",
	.examples = "  rockit snap 4711 --last 60s -o slow && rockit report slow\n"
		    "  rockit snap prof                     what a killed program left\n",
	.run = snap_run,
};
