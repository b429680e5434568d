/* cmd_env.c - rockit env: the variables that load a collector asleep. */
#include <stdlib.h>
#include <sys/stat.h>

#include "options.h"
#include "print.h"
#include "rockit/live.h"
#include "say.h"

struct settings {
	struct rk_common common;
	int tool, format, kernels;
	const char *dir;
};

static const char *const tools[] = { "auto", "rocm", "cupti", "opencl", NULL };
static const char *const formats[] = { "sh", "systemd", "docker", NULL };
static const char *const switches[] = { "1", "0", NULL };

static const struct rk_opt options[] = {
	{ "tool", 0, "TOOL", "rocm, cupti or opencl (default: by the GPUs of this machine)",
	  RK_OPT_CHOICE, AT(tool), tools },
	{ "dir", 'd', "DIR", "where to record; must exist (default: a new one in rockit_output)",
	  RK_OPT_TEXT, AT(dir) },
	{ "format", 'f', "FORMAT", "sh (default), systemd or docker", RK_OPT_CHOICE, AT(format),
	  formats },
	{ "kernels-from-start", 0, "0|1",
	  "rocm: 0 does not prepare queues; kernels only of queues made while awake", RK_OPT_CHOICE,
	  AT(kernels), switches },
	{ NULL },
};

static int env_run(int argc, char **argv)
{
	struct settings s = { .tool = 0 };
	struct rk_env_options opt = { .root = getenv("ROCKIT_SYSFS_ROOT") };
	struct rk_error err = { 0 };
	char *text = NULL;
	size_t len = 0;
	struct stat st;
	int n, rc = rk_options_parse(&cmd_env, &s, argc, argv, &n);

	if (rc >= 0)
		return rc;
	if (n)
		return say_misuse("env", "unexpected argument '%s'", argv[0]);
	opt.tool = tools[s.tool];
	opt.dir = s.dir;
	opt.format = (enum rk_env_format)s.format;
	opt.no_kernels = s.kernels == 1;
	if (rk_live_env(&opt, &text, &len, &err) < 0)
		return say_error("env", &err);
	if (s.dir && (stat(s.dir, &st) || !S_ISDIR(st.st_mode)) && !s.common.quiet)
		say_note("env",
			 "the directory does not exist here; it must where the program runs");
	return rk_print_text("env", NULL, text, len);
}

const struct rk_command cmd_env = {
	.name = "env",
	.summary = "print the variables that load a collector asleep into a service or container",
	.usage = "",
	.options = options,
	.light = true,
	.more = "A program that is started with these variables records nothing until 'rockit start\n"
		"PID'. sh: a script for 'eval'; systemd: lines for 'systemctl edit'; docker: a file\n"
		"for 'docker run --env-file' (mount DIR and the collector's folder too).\n",
	.examples = "  eval \"$(rockit env)\"; ./server & rockit start $!\n"
		    "  rockit env --format systemd -d /var/lib/rockit\n"
		    "  rockit env --format docker -d /prof > rockit.env\n",
	.run = env_run,
};
