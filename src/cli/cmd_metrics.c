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

static const struct rk_opt options[] = {
	{ "arch", 0, "GFX", "GPU target or product: gfx942, MI300X (default: from the data)",
	  RK_OPT_TEXT, AT(arch), NULL, rk_counters_arch },
	{ "sysinfo", 0, "FILE", "a sysinfo.csv or agent_info.csv that describes the GPU",
	  RK_OPT_TEXT, AT(sysinfo) },
	{ "metrics", 0, "FILE", "your own definitions, JSON or YAML; override the shipped ones",
	  RK_OPT_TEXT, AT(metrics) },
	{ "per", 0, "WHAT", "kernel or dispatch; dispatch needs json or csv (default: kernel)",
	  RK_OPT_CHOICE, AT(per), per_words },
	{ "normal", 0, "HOW", "print counts per_kernel, per_wave, per_cycle or per_second",
	  RK_OPT_CHOICE, AT(normal), normal_words },
	{ "kernel-regex", 0, "RE", "only kernels whose name matches", RK_OPT_TEXT,
	  AT(kernel_regex) },
	{ "group", 'g', "LIST", "only metrics of these groups: l2,hbm,...", RK_OPT_TEXT, AT(groups),
	  rk_offer_groups },
	{ "all", 'a', NULL, "print every metric of the listed kernels", RK_OPT_FLAG, AT(all) },
	{ "top", 'n', "N", "kernels in text output (default: 5; 0: all)", RK_OPT_NUMBER, AT(top) },
	{ "no-roofline", 0, NULL, "omit the roofline plot", RK_OPT_FLAG, AT(no_roofline) },
	RK_OPT_FORMAT(struct settings),
	RK_OPT_OUTPUT(struct settings),
	{ NULL },
};

/* Warns about unknown groups, which may be typing errors, and lists the available ones. */
static void say_groups(const struct rk_metrics *m, const char *g)
{
	for (; *g; g += strspn(g, ", ")) {
		size_t len = strcspn(g, ", "), at, k = 0;
		char line[1024];

		while (k < m->nmetrics && (strlen(m->metrics[k].group) != len ||
					   strncmp(m->metrics[k].group, g, len) != 0))
			k++;
		if (len && k == m->nmetrics) {
			at = (size_t)snprintf(line, sizeof(line),
					      "no metrics in group '%.*s'; available groups:",
					      len < 64 ? (int)len : 64, g);
			for (size_t i = 0; i < m->nmetrics && at < sizeof(line); i++) {
				const char *name = m->metrics[i].group;

				k = 0;
				while (strcmp(m->metrics[k].group, name) != 0)
					k++;
				if (k == i) /* the first metric of its group */
					at += (size_t)snprintf(line + at, sizeof(line) - at, " %s",
							       name);
			}
			say_note("metrics", line);
		}
		g += len;
	}
}

static int metrics(const struct settings *s, const char *const *inputs, size_t ninputs)
{
	const struct rk_metrics_options what = { .arch = s->arch,
						 .sysinfo = s->sysinfo,
						 .metrics = s->metrics,
						 .kernel_regex = s->kernel_regex,
						 .normal = (enum rk_normal)s->normal };
	struct rk_metrics_look look = { .groups = s->groups,
					.all = s->all,
					.absent = s->common.verbose,
					.no_roofline = s->no_roofline };
	struct rk_progress progress;
	const struct rk_run_options how = say_run_begin("metrics", &s->common, &progress);
	const char *out = s->out ? s->out : "-";
	struct rk_metrics *m = NULL;
	struct rk_error err = { 0 };
	struct rk_run *run = NULL;
	char *text = NULL;
	size_t len = 0;
	int rc, status = EXIT_DONE;

	rc = rk_run_open(inputs, ninputs, &how, &run, &err);
	if (rc < 0)
		goto out;
	rc = rk_run_check_output(run, s->out, &err);
	if (rc < 0)
		goto out;
	if (s->per == PER_KERNEL)
		rc = rk_run_metrics(run, &what, &m, &err);
	if (rc < 0)
		goto out;
	look.look = rk_print_look(&s->common, s->out, s->format);
	look.look.top = s->top;
	/* Dispatches are written as they are read: there may be millions. */
	if (s->per == PER_DISPATCH)
		rc = rk_metrics_write_dispatches(run, &what, &look, out, &m, &err);
	if (rc < 0)
		goto out;
	rk_progress_end(&progress);

	if (s->per == PER_KERNEL) {
		if (rk_metrics_render(m, &look, &text, &len, &err) < 0)
			status = say_error("metrics", &err);
		else
			status = rk_print_text("metrics", s->out, text, len);
	}
	if (s->common.quiet)
		goto out;
	if (s->kernel_regex && !m->nkernels)
		say_note("metrics", "no kernel name matches '--kernel-regex'");
	if (s->groups)
		say_groups(m, s->groups);
out:
	rk_metrics_free(m);
	say_run_end("metrics", &s->common, &progress, run);
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
	if (rc >= 0)
		return rc;
	return metrics(&s, &one, 1);
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
