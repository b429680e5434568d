/* cmd_doctor.c - rockit doctor. */
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "options.h"
#include "rockit/doctor.h"
#include "say.h"

struct settings {
	struct rk_common common;
	int format; /* index into the words below, and an enum rk_report_format */
	const char *out;
};

static const char *const format_words[] = { "text", "json", "csv", NULL };

static const struct rk_opt options[] = {
	{ "format", 'f', "FORMAT", "text, json or csv (default: text)", RK_OPT_CHOICE,
	  offsetof(struct settings, format), format_words },
	{ "output", 'o', "FILE", "write there instead of stdout", RK_OPT_TEXT,
	  offsetof(struct settings, out), NULL },
	{ NULL, 0, NULL, NULL, RK_OPT_FLAG, 0, NULL },
};

static bool to_stdout(const struct settings *s)
{
	return !s->out || strcmp(s->out, "-") == 0;
}

static bool want_color(const struct settings *s)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	if (s->common.color != RK_COLOR_AUTO)
		return s->common.color == RK_COLOR_ALWAYS;
	return to_stdout(s) && !(no && no[0]) && !(term && strcmp(term, "dumb") == 0) &&
	       isatty(STDOUT_FILENO);
}

static unsigned columns(const struct settings *s)
{
	struct winsize size;

	if (to_stdout(s) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
		return size.ws_col;
	return 0;
}

static int print(const struct settings *s, const struct rk_doctor *d, struct rk_error *err)
{
	const struct rk_render_options how = {
		.format = (enum rk_report_format)s->format,
		.color = want_color(s),
		.utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0,
		.columns = columns(s),
	};
	char *text = NULL;
	size_t len = 0;
	int rc = rk_doctor_render(d, &how, s->common.verbose, &text, &len, err);

	if (rc < 0)
		return rc;
	if (!to_stdout(s)) {
		rc = rk_text_save(s->out, text, len, err);
	} else if (fwrite(text, 1, len, stdout) != len || fflush(stdout) != 0) {
		rc = err->code = RK_E_IO;
		snprintf(err->message, sizeof(err->message), "cannot write standard output: %s",
			 strerror(errno));
	}
	rk_text_free(text);
	return rc;
}

static int doctor_run(int argc, char **argv)
{
	struct settings s = { .format = 0 };
	struct rk_doctor_options where = { .root = getenv("ROCKIT_SYSFS_ROOT") };
	struct rk_doctor *d = NULL;
	struct rk_error err = { 0 };
	int n, rc = rk_options_parse(&cmd_doctor, &s, argc, argv, &n);

	if (rc >= 0)
		return rc;
	if (n)
		return say_misuse("doctor", "takes no operand, got '%s'", argv[0]);
	setlocale(LC_CTYPE, "");
	where.tmpdir = s.common.tmpdir;
	rc = rk_doctor_new(&where, &d, &err);
	if (rc == 0)
		rc = print(&s, d, &err);
	rk_doctor_free(d);
	return rc < 0 ? say_error("doctor", &err) : EXIT_DONE;
}

const struct rk_command cmd_doctor = {
	.name = "doctor",
	.summary = "say which profilers and GPUs are here, and what is in the way",
	.usage = "",
	.options = options,
	.light = true,
	.examples = "  rockit doctor\n"
		    "  rockit doctor -v                     with the options each profiler has\n"
		    "  rockit doctor --format json | jq '.verdict'\n",
	.run = doctor_run,
};
