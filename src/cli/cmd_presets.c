/* cmd_presets.c - rockit presets. */
#include <stdlib.h>

#include "options.h"
#include "print.h"
#include "rockit/preset.h"
#include "rockit/rockit.h"
#include "say.h"

struct settings {
	struct rk_common common;
	int format;
};

static const struct rk_opt options[] = {
	RK_OPT_FORMAT(struct settings),
	{ NULL },
};

static int print(const struct settings *s, struct rk_preset *const *presets, size_t n, bool full)
{
	struct rk_error err = { 0 };
	char *text = NULL;
	size_t len = 0;
	int rc = rk_presets_render((const struct rk_preset *const *)presets, n, full,
				   (enum rk_report_format)s->format, &text, &len, &err);

	if (rc < 0)
		return say_error("presets", &err);
	return rk_print_text("presets", NULL, text, len);
}

/* Lists the presets; those of the user that cannot be read are reported. */
static int print_list(const struct settings *s, const struct rk_preset_names *names)
{
	struct rk_preset **presets = calloc(names->n, sizeof(*presets));
	int status = EXIT_DONE, printed;
	size_t n = 0;

	if (!presets)
		return say_failure("presets", "out of memory");
	for (size_t i = 0; i < names->n; i++) {
		struct rk_error err = { 0 };

		if (rk_preset_load(names->names[i], &presets[n], &err) == 0)
			n++;
		else
			status = say_error("presets", &err);
	}
	printed = print(s, presets, n, false);
	for (size_t i = 0; i < n; i++)
		rk_preset_free(presets[i]);
	free(presets);
	return printed ? printed : status;
}

static int presets_run(int argc, char **argv)
{
	struct settings s = { .format = 0 };
	struct rk_preset_names names = { 0 };
	struct rk_preset *p = NULL;
	struct rk_error err = { 0 };
	int n, rc = rk_options_parse(&cmd_presets, &s, argc, argv, &n);

	if (rc >= 0)
		return rc;
	if (n > 1)
		return say_misuse("presets", "unexpected argument '%s'; give only one NAME",
				  argv[1]);
	if (n) {
		if (rk_preset_load(argv[0], &p, &err) < 0)
			return say_error("presets", &err);
		rc = print(&s, &p, 1, true);
		rk_preset_free(p);
		return rc;
	}
	if (rk_preset_list(&names, &err) < 0)
		return say_error("presets", &err);
	rc = print_list(&s, &names);
	rk_preset_names_release(&names);
	return rc;
}

/* The list is kept until the process ends, because callers ask for one name at a time. */
const char *rk_preset_word(size_t i)
{
	static struct rk_preset_names names;

	if (!names.names && rk_preset_list(&names, NULL) < 0)
		return NULL;
	return i < names.n ? names.names[i] : NULL;
}

const struct rk_command cmd_presets = {
	.name = "presets",
	.summary = "list the presets of 'rockit run', or show one in full",
	.usage = "[NAME]",
	.options = options,
	.light = true,
	.examples = "  rockit presets\n"
		    "  rockit presets memory\n"
		    "  rockit presets multi_gpu --format json\n",
	.word = rk_preset_word,
	.run = presets_run,
};
