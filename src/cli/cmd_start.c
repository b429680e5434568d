/* cmd_start.c - rockit start, and what stop has in common with it. */
#include <stdio.h>
#include <string.h>

#include "options.h"
#include "rockit/live.h"
#include "say.h"

struct settings {
	struct rk_common common;
	bool children;
};

const struct rk_opt rk_switch_options[] = {
	{ "children", 0, NULL, "also the processes that it has started", RK_OPT_FLAG,
	  AT(children) },
	{ NULL },
};

int64_t rk_process_word(const char *word)
{
	int64_t pid = 0;

	for (const char *p = word; *p; p++) {
		if (*p < '0' || *p > '9' || pid > 100000000)
			return 0;
		pid = pid * 10 + (*p - '0');
	}
	return pid;
}

int rk_switch_run(const struct rk_command *cmd, bool on, int argc, char **argv)
{
	struct settings s = { .children = false };
	struct rk_switch_options opt = { .on = on };
	struct rk_switch_result r = { .switched = 0 };
	struct rk_error err = { 0 };
	int n, rc = rk_options_parse(cmd, &s, argc, argv, &n);

	if (rc >= 0)
		return rc;
	if (n != 1)
		return say_misuse(cmd->name,
				  n ? "give only one PID or DIR" : "no PID or DIR given");
	opt.pid = rk_process_word(argv[0]);
	opt.dir = opt.pid ? NULL : argv[0];
	opt.children = s.children;
	if (rk_live_switch(&opt, &r, &err) < 0)
		return say_error(cmd->name, &err);
	if (!s.common.quiet)
		fprintf(stderr, "rockit %s: recording is %s in %u process%s%s\n", cmd->name,
			on ? "on" : "off", r.switched, r.switched == 1 ? "" : "es",
			r.fixed ? "; others cannot be switched" : "");
	return EXIT_DONE;
}

static int start_run(int argc, char **argv)
{
	return rk_switch_run(&cmd_start, true, argc, argv);
}

const struct rk_command cmd_start = {
	.name = "start",
	.summary = "switch recording on in a running program",
	.usage = "PID|DIR",
	.options = rk_switch_options,
	.light = true,
	.operands = RK_OPERANDS_DIRS,
	.more = "The program must have been started with the variables of 'rockit env', or by\n"
		"'rockit record'. DIR is its run directory.\n",
	.examples = "  rockit start 4711\n"
		    "  rockit start --children 4711         a launcher and its workers\n",
	.run = start_run,
};
