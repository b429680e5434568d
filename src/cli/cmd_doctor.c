/* cmd_doctor.c - rockit doctor. */
#include <stdlib.h>

#include "options.h"
#include "print.h"
#include "rockit/doctor.h"
#include "say.h"

struct settings {
	struct rk_common common;
	int format; /* enum rk_report_format */
	const char *out;
};

static const struct rk_opt options[] = {
	RK_OPT_FORMAT(struct settings),
	RK_OPT_OUTPUT(struct settings),
	{ NULL },
};

static int doctor_run(int argc, char **argv)
{
	struct settings s = { .format = 0 };
	struct rk_doctor_options where = { .root = getenv("ROCKIT_SYSFS_ROOT") };
	struct rk_render_options how;
	struct rk_doctor *d = NULL;
	struct rk_error err = { 0 };
	char *text = NULL;
	size_t len = 0;
	int n, rc = rk_options_parse(&cmd_doctor, &s, argc, argv, &n);

	if (rc >= 0)
		return rc;
	if (n)
		return say_misuse("doctor", "unexpected argument '%s'", argv[0]);
	where.tmpdir = s.common.tmpdir;
	if (rk_doctor_new(&where, &d, &err) < 0)
		return say_error("doctor", &err);
	how = rk_print_look(&s.common, s.out, s.format);
	if (rk_doctor_render(d, &how, s.common.verbose, &text, &len, &err) < 0)
		rc = say_error("doctor", &err);
	else
		rc = rk_print_text("doctor", s.out, text, len);
	rk_doctor_free(d);
	return rc;
}

const struct rk_command cmd_doctor = {
	.name = "doctor",
	.summary = "show which profilers and GPUs are available and what blocks them",
	.usage = "",
	.options = options,
	.light = true,
	.examples = "  rockit doctor\n"
		    "  rockit doctor -v                     also list the options of each "
		    "profiler\n"
		    "  rockit doctor --format json | jq '.verdict'\n",
	.run = doctor_run,
};
