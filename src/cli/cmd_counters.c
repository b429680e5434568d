/* cmd_counters.c - rockit counters. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "print.h"
#include "rockit/counters.h"
#include "rockit/gpus.h"
#include "rockit/rockit.h"
#include "rockit/tools.h"
#include "say.h"

struct settings {
	struct rk_common common;
	const char *arch, *plan, *out;
	bool check, here; /* here: the target is this machine's GPU */
	int format;       /* enum rk_report_format */
};

static const struct rk_opt options[] = {
	{ "arch", 0, "GFX", "target, such as gfx942 (default: the first AMD GPU here)", RK_OPT_TEXT,
	  AT(arch), NULL, rk_counters_arch },
	{ "check", 0, NULL, "check which NAMEs exist there, and suggest replacements", RK_OPT_FLAG,
	  AT(check) },
	{ "plan", 0, "SET,...", "split a set, file or list into as few passes as possible",
	  RK_OPT_TEXT, AT(plan), rk_offer_counters },
	RK_OPT_FORMAT(struct settings),
	RK_OPT_OUTPUT(struct settings),
	{ NULL },
};

/* Why the target is unknown. */
static const char *why_none(const struct rk_gpus *gpus)
{
	for (size_t i = 0; i < gpus->n; i++)
		if (!strcmp(gpus->gpus[i].vendor, "AMD"))
			return "the gfx target of the AMD GPU is unknown (it is not in "
			       "/sys/class/kfd)";
	return "no AMD GPU found";
}

/* Prints which of the names exist. */
static int check(const struct settings *s, const char *const *names, size_t n)
{
	struct rk_counter_plan *p = NULL;
	struct rk_error err = { 0 };
	char *text = NULL;
	size_t len = 0;
	bool failed = false;
	int rc = rk_counters_check(s->arch, names, n, &p, &err);

	if (rc == 0)
		rc = rk_counter_checks_render(p, (enum rk_report_format)s->format, &text, &len,
					      &err);
	for (size_t i = 0; rc == 0 && i < p->nchecks; i++)
		failed |= p->checks[i].status != RK_COUNTER_OK;
	rk_counter_plan_free(p);
	if (rc < 0)
		return say_error("counters", &err);
	rc = rk_print_text("counters", s->out, text, len);
	return rc == EXIT_DONE && failed ? EXIT_FAILED : rc;
}

/* Plans passes; for this machine's GPU with the counters that an installed rocprofv3-avail lists. */
static int plan(const struct settings *s, struct rk_counter_plan **ret, struct rk_error *err)
{
	const struct rk_tools_options where = { .root = getenv("ROCKIT_SYSFS_ROOT") };
	struct rk_tools_found found = { 0 };
	const char *program = NULL;
	int rc;

	if (s->here && (rc = rk_tools_find(&where, &found, err)) < 0)
		return rc;
	for (size_t i = 0; i < found.n; i++)
		if (found.tools[i].first && found.tools[i].usable &&
		    !strcmp(found.tools[i].name, "rocprofv3-avail"))
			program = found.tools[i].path;
	rc = rk_counters_plan_installed(program, s->arch, s->plan, ret, err);
	if (program && (rc == RK_E_IO || rc == RK_E_UNSUPPORTED)) {
		if (!s->common.quiet)
			say_note("counters", err->message);
		*err = (struct rk_error){ 0 };
		rc = rk_counters_plan(s->arch, s->plan, ret, err);
	}
	rk_tools_release(&found);
	return rc;
}

/* Does what was requested, for a known target. */
static int answer(const struct settings *s, const char *const *words, size_t n)
{
	enum rk_report_format format = (enum rk_report_format)s->format;
	struct rk_counter_plan *p = NULL;
	struct rk_error err = { 0 };
	size_t len = 0, count = 0;
	char *text = NULL;
	int rc;

	if (!s->plan) {
		/* Without names this checks only the target. */
		rc = rk_counters_check(s->arch, NULL, 0, &p, &err);
		rk_counter_plan_free(p);
		p = NULL;
		if (rc < 0)
			return say_error("counters", &err);
	}
	if (s->check)
		return check(s, words, n);

	if (s->plan) {
		rc = plan(s, &p, &err);
		if (rc == 0)
			rc = rk_counter_plan_render(p, format, &text, &len, &err);
		rk_counter_plan_free(p);
	} else {
		rc = rk_counters_render(s->arch, words, n, format, &text, &len, &count, &err);
	}
	if (rc < 0)
		return say_error("counters", &err);
	rc = rk_print_text("counters", s->out, text, len);
	if (rc == EXIT_DONE && !s->plan && !count)
		return say_failure("counters", "no counter of %s matches '%s'", s->arch, words[0]);
	return rc;
}

/* Lists the targets, because none was given or found. */
static int list_targets(const struct settings *s, const char *why)
{
	struct rk_error err = { 0 };
	char *text = NULL;
	size_t len = 0;

	if (rk_counters_render_targets((enum rk_report_format)s->format, &text, &len, &err) < 0)
		return say_error("counters", &err);
	if (!s->common.quiet)
		fprintf(stderr, "rockit counters: %s; choose one of these targets with --arch\n",
			why);
	return rk_print_text("counters", s->out, text, len);
}

static int counters_run(int argc, char **argv)
{
	struct settings s = { .format = 0 };
	const char *const *words = (const char *const *)argv;
	struct rk_gpus gpus = { 0 };
	struct rk_error err = { 0 };
	int n, rc = rk_options_parse(&cmd_counters, &s, argc, argv, &n);

	if (rc >= 0)
		return rc;
	if (s.check && s.plan)
		return say_misuse("counters", "--check and --plan cannot be combined");
	if (s.check && !n)
		return say_misuse("counters",
				  "--check needs names: 'rockit counters --check NAME'");
	if (s.plan && n)
		return say_misuse("counters",
				  "--plan takes one SET, separated by commas; unexpected "
				  "argument '%s'",
				  argv[0]);
	if (s.arch)
		return answer(&s, words, (size_t)n);

	/* Without --arch: this machine's first AMD GPU. */
	if (rk_gpus_find(getenv("ROCKIT_SYSFS_ROOT"), &gpus, &err) < 0)
		return say_error("counters", &err);
	s.arch = rk_gpus_arch(&gpus);
	s.here = true;
	if (s.arch[0])
		rc = answer(&s, words, (size_t)n);
	else if (s.plan || s.check || n)
		rc = say_misuse("counters",
				"%s; name a target with --arch, such as '--arch gfx942'",
				why_none(&gpus));
	else
		rc = list_targets(&s, why_none(&gpus));
	rk_gpus_release(&gpus);
	return rc;
}

const struct rk_command cmd_counters = {
	.name = "counters",
	.summary = "list hardware counters, check names, and plan passes",
	.usage = "[WORD... | --check NAME... | --plan SET]",
	.options = options,
	.light = true,
	.more = RK_COUNTER_WORDS_HELP,
	.examples = "  rockit counters --arch gfx942 lds     counters about LDS\n"
		    "  rockit counters --arch gfx942 @cache  counters of a category\n"
		    "  rockit counters --arch gfx942 --check L2CacheHit SQ_WAVES\n"
		    "  rockit counters --arch gfx90a --plan memory_bound\n"
		    "  rockit counters --plan @cache,@stalls,SQ_WAVES --format json\n"
		    "  rockit counters --plan counters.txt -o packed.txt\n",
	.run = counters_run,
};
