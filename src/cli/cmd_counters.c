/* cmd_counters.c - rockit counters. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "print.h"
#include "rockit/counters.h"
#include "rockit/gpus.h"
#include "rockit/rockit.h"
#include "say.h"

struct settings {
	struct rk_common common;
	const char *arch, *plan, *out;
	bool check;
	int format; /* enum rk_report_format */
};

static const struct rk_opt options[] = {
	{ "arch", 0, "GFX", "target, such as gfx942 (default: the first AMD GPU here)", RK_OPT_TEXT,
	  offsetof(struct settings, arch), NULL, rk_counters_arch },
	{ "check", 0, NULL, "check which NAMEs exist there, and suggest replacements", RK_OPT_FLAG,
	  offsetof(struct settings, check), NULL },
	{ "plan", 0, "SET,...", "split a set, file or list into as few passes as possible",
	  RK_OPT_TEXT, offsetof(struct settings, plan), rk_offer_counters },
	RK_OPT_FORMAT(struct settings),
	RK_OPT_OUTPUT(struct settings),
	{ NULL, 0, NULL, NULL, RK_OPT_FLAG, 0, NULL },
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

static int list_targets(const struct settings *s, const struct rk_gpus *gpus)
{
	struct rk_error err = { 0 };
	char *text = NULL;
	size_t len = 0;
	int rc = rk_counters_render_targets((enum rk_report_format)s->format, &text, &len, &err);

	if (rc < 0)
		return say_error("counters", &err);
	if (!s->common.quiet)
		fprintf(stderr, "rockit counters: %s; choose one of these targets with --arch\n",
			why_none(gpus));
	return rk_print_text("counters", s->out, text, len);
}

static int list_counters(const struct settings *s, const char *const *words, size_t n)
{
	struct rk_error err = { 0 };
	size_t len = 0, count = 0;
	char *text = NULL;
	int rc = rk_counters_render(s->arch, words, n, (enum rk_report_format)s->format, &text,
				    &len, &count, &err);

	if (rc < 0)
		return say_error("counters", &err);
	rc = rk_print_text("counters", s->out, text, len);
	if (rc == EXIT_DONE && !count)
		return say_failure("counters", "no counter of %s matches '%s'", s->arch, words[0]);
	return rc;
}

static int check(const struct settings *s, const char *const *names, size_t n)
{
	struct rk_counter_plan *p = NULL;
	struct rk_error err = { 0 };
	char *text = NULL;
	size_t len = 0;
	int rc = rk_counters_check(s->arch, names, n, &p, &err), status = EXIT_DONE;

	if (rc == 0)
		rc = rk_counter_checks_render(p, (enum rk_report_format)s->format, &text, &len,
					      &err);
	for (size_t i = 0; rc == 0 && i < p->nchecks; i++)
		if (p->checks[i].status != RK_COUNTER_OK)
			status = EXIT_FAILED;
	rk_counter_plan_free(p);
	if (rc < 0)
		return say_error("counters", &err);
	rc = rk_print_text("counters", s->out, text, len);
	return rc == EXIT_DONE ? status : rc;
}

static int plan(const struct settings *s)
{
	struct rk_counter_plan *p = NULL;
	struct rk_error err = { 0 };
	char *text = NULL;
	size_t len = 0;
	int rc = rk_counters_plan(s->arch, s->plan, &p, &err);

	if (rc == 0)
		rc = rk_counter_plan_render(p, (enum rk_report_format)s->format, &text, &len, &err);
	rk_counter_plan_free(p);
	return rc < 0 ? say_error("counters", &err) : rk_print_text("counters", s->out, text, len);
}

/* Does what was requested, for a known target. */
static int answer(const struct settings *s, const char *const *words, size_t n)
{
	struct rk_counter_plan *p = NULL;
	struct rk_error err = { 0 };
	/* Without names this checks only the target. */
	int rc = rk_counters_check(s->arch, NULL, 0, &p, &err);

	rk_counter_plan_free(p);
	if (rc < 0)
		return say_error("counters", &err);
	if (s->plan)
		return plan(s);
	return s->check ? check(s, words, n) : list_counters(s, words, n);
}

/* Without --arch: this machine's first AMD GPU. */
static int answer_here(struct settings *s, const char *const *words, size_t n)
{
	struct rk_error err = { 0 };
	struct rk_gpus gpus = { 0 };
	int rc = rk_gpus_find(getenv("ROCKIT_SYSFS_ROOT"), &gpus, &err);

	if (rc < 0)
		return say_error("counters", &err);
	s->arch = rk_gpus_arch(&gpus);
	if (s->arch[0])
		rc = answer(s, words, n);
	else if (s->plan || s->check || n)
		rc = say_misuse("counters",
				"%s; name a target with --arch, such as '--arch gfx942'",
				why_none(&gpus));
	else
		rc = list_targets(s, &gpus);
	rk_gpus_release(&gpus);
	return rc;
}

static int counters_run(int argc, char **argv)
{
	struct settings s = { .format = 0 };
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
	if (!s.arch)
		return answer_here(&s, (const char *const *)argv, (size_t)n);
	return answer(&s, (const char *const *)argv, (size_t)n);
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
