/* cmd_metrics.c - rockit metrics. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "options.h"
#include "print.h"
#include "rockit/counters.h"
#include "rockit/metrics.h"
#include "rockit/rockit.h"
#include "say.h"

enum { TOP_DEFAULT = 5 };

enum per { PER_KERNEL, PER_DISPATCH };

static const char *const per_words[] = { "kernel", "dispatch", NULL };
/* By enum rk_normal. */
static const char *const normal_words[] = { "per_kernel", "per_wave", "per_cycle", "per_second",
					    NULL };

struct settings {
	struct rk_common common;
	const char *arch, *sysinfo, *metrics, *groups, *kernel_regex, *out;
	uint64_t top;
	int per, normal, format;
	bool all, no_roofline;
};

#define AT(member) offsetof(struct settings, member)

static const struct rk_opt options[] = {
	{ "arch", 0, "GFX", "GPU target (default: from the data)", RK_OPT_TEXT, AT(arch), NULL,
	  rk_counters_arch },
	{ "sysinfo", 0, "FILE", "a sysinfo.csv or agent_info.csv that describes the GPU",
	  RK_OPT_TEXT, AT(sysinfo), NULL },
	{ "metrics", 0, "FILE", "your own definitions, JSON or YAML; override the shipped ones",
	  RK_OPT_TEXT, AT(metrics), NULL },
	{ "per", 0, "WHAT", "kernel or dispatch; dispatch needs json or csv (default: kernel)",
	  RK_OPT_CHOICE, AT(per), per_words },
	{ "normal", 0, "HOW", "print counts per_kernel, per_wave, per_cycle or per_second",
	  RK_OPT_CHOICE, AT(normal), normal_words },
	{ "kernel-regex", 0, "RE", "only kernels whose name matches", RK_OPT_TEXT, AT(kernel_regex),
	  NULL },
	{ "group", 'g', "LIST", "only metrics of these groups: l2,hbm,...", RK_OPT_TEXT, AT(groups),
	  rk_offer_groups },
	{ "all", 'a', NULL, "print every metric of the listed kernels", RK_OPT_FLAG, AT(all),
	  NULL },
	{ "top", 'n', "N", "kernels in text output (default: 5; 0: all)", RK_OPT_NUMBER, AT(top),
	  NULL },
	{ "no-roofline", 0, NULL, "omit the roofline plot", RK_OPT_FLAG, AT(no_roofline), NULL },
	RK_OPT_FORMAT(struct settings),
	RK_OPT_OUTPUT(struct settings),
	{ NULL, 0, NULL, NULL, RK_OPT_FLAG, 0, NULL },
};

static struct rk_metrics_look look_of(const struct settings *s)
{
	struct rk_metrics_look how = {
		.look = rk_print_look(&s->common, s->out, s->format),
		.groups = s->groups,
		.all = s->all,
		.absent = s->common.verbose,
		.no_roofline = s->no_roofline,
	};

	how.look.top = s->top;
	return how;
}

static bool has_group(const struct rk_metrics *m, const char *name, size_t len)
{
	for (size_t i = 0; i < m->nmetrics; i++)
		if (strlen(m->metrics[i].group) == len &&
		    strncmp(m->metrics[i].group, name, len) == 0)
			return true;
	return false;
}

/* The available groups, each once. */
static void list_groups(const struct rk_metrics *m, char *line, size_t size)
{
	size_t at = strlen(line);

	for (size_t i = 0; i < m->nmetrics && at < size; i++) {
		const char *name = m->metrics[i].group;
		size_t k = 0;

		while (k < i && strcmp(m->metrics[k].group, name) != 0)
			k++;
		if (k == i)
			at += (size_t)snprintf(line + at, size - at, " %s", name);
	}
}

/* Warns about unknown groups: they may be typing errors. */
static void say_groups(const struct settings *s, const struct rk_metrics *m)
{
	const char *g = s->groups ? s->groups : "";

	while (*g) {
		size_t len = strcspn(g, ", ");
		char line[1024];

		if (len && !has_group(m, g, len)) {
			snprintf(line, sizeof(line),
				 "no metrics in group '%.*s'; available "
				 "groups:",
				 len < 64 ? (int)len : 64, g);
			list_groups(m, line, sizeof(line));
			say_note("metrics", line);
		}
		g += len;
		g += strspn(g, ", ");
	}
}

static int print(const struct settings *s, const struct rk_metrics *m)
{
	struct rk_metrics_look how = look_of(s);
	struct rk_error err = { 0 };
	char *text = NULL;
	size_t len = 0;

	if (rk_metrics_render(m, &how, &text, &len, &err) < 0)
		return say_error("metrics", &err);
	return rk_print_text("metrics", s->out, text, len);
}

/* Dispatches are written as they are read: there may be millions. */
static int compute(const struct settings *s, struct rk_run *run, struct rk_metrics **ret,
		   struct rk_error *err)
{
	const struct rk_metrics_options what = { .arch = s->arch,
						 .sysinfo = s->sysinfo,
						 .metrics = s->metrics,
						 .kernel_regex = s->kernel_regex,
						 .normal = (enum rk_normal)s->normal };
	struct rk_metrics_look how;

	if (s->per == PER_KERNEL)
		return rk_run_metrics(run, &what, ret, err);
	how = look_of(s);
	return rk_metrics_write_dispatches(run, &what, &how, s->out ? s->out : "-", ret, err);
}

static int metrics(const struct settings *s, const char *const *inputs, size_t ninputs)
{
	struct rk_progress progress;
	const struct rk_run_options how = { .threads = (unsigned)s->common.threads,
					    .tmpdir = s->common.tmpdir,
					    .progress = rk_progress_step,
					    .progress_arg = &progress };
	struct rk_metrics *m = NULL;
	struct rk_error err = { 0 };
	struct rk_run *run = NULL;
	int rc, status = EXIT_DONE;

	rk_progress_begin(&progress, "metrics", s->common.quiet);
	rc = rk_run_open(inputs, ninputs, &how, &run, &err);
	if (rc == 0)
		rc = rk_run_check_output(run, s->out, &err);
	if (rc == 0)
		rc = compute(s, run, &m, &err);
	rk_progress_end(&progress);
	if (rc == 0 && s->per == PER_KERNEL)
		status = print(s, m);
	if (rc == 0 && !s->common.quiet) {
		if (s->kernel_regex && !m->nkernels)
			say_note("metrics", "no kernel name matches '--kernel-regex'");
		say_groups(s, m);
	}
	rk_metrics_free(m);
	say_run_end("metrics", &s->common, run);
	return rc < 0 ? say_error("metrics", &err) : status;
}

static int metrics_run(int argc, char **argv)
{
	struct settings s = { .top = TOP_DEFAULT };
	char newest[RK_NEWEST_BYTES];
	const char *one = newest;
	int n, rc = rk_options_parse(&cmd_metrics, &s, argc, argv, &n);

	if (rc >= 0)
		return rc;
	if (s.per == PER_DISPATCH && s.format == RK_REPORT_TEXT)
		return say_misuse("metrics",
				  "'--per dispatch' needs '--format json' or '--format csv'");
	if (n)
		return metrics(&s, (const char *const *)argv, (size_t)n);
	rc = rk_newest_instead("metrics", s.common.quiet, newest);
	return rc >= 0 ? rc : metrics(&s, &one, 1);
}

const struct rk_command cmd_metrics = {
	.name = "metrics",
	.summary = "show what limits each kernel: metrics, roofline, verdict",
	.usage = "[INPUT...]",
	.options = options,
	.operands = RK_OPERANDS_FILES,
	.examples = "  rockit metrics                       the newest run under rockit_output/\n"
		    "  rockit metrics workloads/app/MI300X --top 3\n"
		    "  rockit metrics run/ --kernel-regex gemm --group l2,fabric\n"
		    "  rockit metrics run/ --metrics mine.json --format json -o metrics.json\n"
		    "  rockit metrics run/ --per dispatch --format csv -o dispatches.csv\n",
	.run = metrics_run,
};
