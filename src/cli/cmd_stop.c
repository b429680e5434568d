/* cmd_stop.c - rockit stop: see cmd_start.c. */
#include "options.h"

static int stop_run(int argc, char **argv)
{
	return rk_switch_run(&cmd_stop, false, argc, argv);
}

const struct rk_command cmd_stop = {
	.name = "stop",
	.summary = "switch recording off in a running program",
	.usage = "PID|DIR",
	.options = rk_switch_options,
	.light = true,
	.operands = RK_OPERANDS_DIRS,
	.more = "The program goes on; what is recorded stays and can be copied with 'rockit snap'.\n",
	.examples = "  rockit stop 4711\n",
	.run = stop_run,
};
