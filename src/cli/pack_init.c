/* pack_init.c - rockit pack rocm-init. */
#include "pack_verbs.h"

#include "options.h"
#include "print.h"
#include "rockit/pack.h"
#include "say.h"

struct init {
	struct rk_common common;
	const char *preload, *version, *out;
	bool minor, fail;
};

static const struct rk_opt init_options[] = {
	{ "preload", 0, "NAME,...", "libraries to load first (default: what PyTorch needs)",
	  RK_OPT_TEXT, offsetof(struct init, preload), NULL },
	{ "check-version", 0, "V", "the ROCm version to ask for; may hold *", RK_OPT_TEXT,
	  offsetof(struct init, version), NULL },
	{ "minor", 0, NULL, "ask for V's major.minor only: for releases", RK_OPT_FLAG,
	  offsetof(struct init, minor), NULL },
	{ "fail", 0, NULL, "another version is an error, not a warning", RK_OPT_FLAG,
	  offsetof(struct init, fail), NULL },
	RK_OPT_OUTPUT(struct init),
	{ NULL, 0, NULL, NULL, RK_OPT_FLAG, 0, NULL },
};

static int init_run(int argc, char **argv)
{
	struct rk_rocm_init_options o = { 0 };
	struct init s = { .out = NULL };
	struct rk_error err = { 0 };
	char *text = NULL;
	size_t len = 0;
	int n, rc = rk_options_parse(&cmd_pack_rocm_init, &s, argc, argv, &n);

	if (rc >= 0)
		return rc;
	if (n)
		return say_misuse("pack rocm-init", "takes no operand, got '%s'", argv[0]);
	if ((s.minor || s.fail) && !s.version)
		return say_misuse("pack rocm-init", "'--%s' needs '--check-version V'",
				  s.minor ? "minor" : "fail");
	o = (struct rk_rocm_init_options){ s.preload, s.version, s.minor, s.fail };
	if (rk_rocm_init(&o, &text, &len, &err) < 0)
		return say_error("pack rocm-init", &err);
	return rk_print_text("pack rocm-init", s.out, text, len);
}

const struct rk_command cmd_pack_rocm_init = {
	.name = "pack rocm-init",
	.summary = "the _rocm_init.py by which a framework finds its ROCm packages",
	.usage = "[-o torch/_rocm_init.py]",
	.options = init_options,
	.light = true,
	.examples =
		"  rockit pack rocm-init --check-version 7.0.0 -o torch/_rocm_init.py\n"
		"  rockit pack rocm-init --preload amdhip64,rccl --check-version 7.0.0 --minor\n",
	.run = init_run,
};
