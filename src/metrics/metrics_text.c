/* metrics_text.c - metrics for people: the limits of each kernel come first. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "base/text.h"
#include "metrics/metric_roofline.h"
#include "metrics/metric_verdict.h"
#include "metrics/metrics_parts.h"

enum {
	INDENT = 8, /* text about a kernel is indented below its calls */
	VERDICT_COLUMNS = 13,
	DEVICE_COLUMNS = 48,
	VALUE_COLUMNS = 10,
	UNIT_COLUMNS = 10,
	WIDE_COLUMNS = 96, /* narrower terminals get no bar */
	REASONS_SHOWN = 12,
	REASONS_MAX = 512, /* max reasons counted separately; the rest is "other reasons" */
};

void rk_put_value(struct rk_bytes *out, double v)
{
	static const char suffix[] = "kMGTPE";
	double a = fabs(v);
	int s = -1;

	if (!isfinite(v)) {
		rk_bytes_puts(out, "-");
		return;
	}
	if (a != 0 && (a < 1e-3 || a >= 9.9995e20)) {
		rk_bytes_printf(out, "%.3g", v);
		return;
	}
	/* print numbers of up to five digits unchanged */
	if (a >= 99999.5)
		for (; a >= 999.95 && s < 5; s++, v /= 1000)
			a /= 1000;
	if (s < 0 && v == floor(v))
		rk_bytes_printf(out, "%.0f", v);
	else /* four digits */
		rk_bytes_printf(out, "%.*f", (a < 9.9995) + (a < 99.995) + (a < 999.95), v);
	if (s >= 0)
		rk_bytes_put_u8(out, (uint8_t)suffix[s]);
}

/*
 * Wraps text to the page's width, indented by `indent` blanks and the width of `lead`, which is
 * printed on the first line. A NULL text prints nothing.
 */
static void wrap(struct rk_metrics_page *p, const char *lead, const char *text, size_t indent)
{
	size_t width = p->page.look->columns, used = indent + strlen(lead);
	bool first = true;

	if (!text) /* out of memory: the page is marked bad anyway */
		return;
	rk_page_spaces(&p->page, indent);
	rk_bytes_puts(p->page.out, lead);
	while (*text) {
		size_t len = strcspn(text, " ");

		if (!first && width && used + 1 + len > width) {
			rk_bytes_put_u8(p->page.out, '\n');
			used = indent + strlen(lead);
			rk_page_spaces(&p->page, used);
			first = true;
		}
		if (!first)
			rk_bytes_put_u8(p->page.out, ' ');
		rk_put_printable(p->page.out, text, len, p->page.look->utf8);
		used += len + !first;
		first = false;
		text += len;
		text += strspn(text, " ");
	}
	rk_bytes_put_u8(p->page.out, '\n');
}

static void put_plural(struct rk_bytes *out, uint64_t n, const char *what, const char *many)
{
	rk_put_grouped(out, n);
	rk_bytes_printf(out, " %s%s", what, n == 1 ? "" : many);
}

/* ---- the metrics of a kernel, group by group ---- */

/* Our groups. For the brief ones, only percentages and metrics with a peak are shown by default. */
static const struct group {
	const char *name, *title;
	bool brief;
} known[] = {
	{ "time", "Time", true },
	{ "occupancy", "Occupancy", true },
	{ "pipes", "Pipes", true },
	{ "stall", "Stalls", true },
	{ "flops", "Arithmetic", true },
	{ "lds", "LDS", true },
	{ "l1", "Vector L1 cache", true },
	{ "gl1", "Cache between L0 and L2", true },
	{ "l2", "L2 cache", true },
	{ "fabric", "Leaving L2", true },
	{ "hbm", "HBM", true },
	{ "dram", "Memory", true },
	{ "comm", "Links to the host and other GPUs", true },
	{ "launch", "Launch", false },
	{ "waves", "Waves", false },
	{ "mix", "Instruction mix", false },
	{ "latency", "Latencies", false },
	{ "atomic", "Atomics", false },
	{ "scratch", "Scratch and spills", false },
	{ "scheduler", "Scheduler", false },
	{ "sl1d", "Scalar L1 cache", false },
	{ "l1i", "Instruction cache", false },
	{ "roofline", "Arithmetic intensity", false },
};

static const struct group *group_of(const char *name)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(known[i].name, name) == 0)
			return &known[i];
	return NULL;
}

/*
 * The user's own metrics are always shown; of ours, only the most useful ones that are not all 0.
 */
static bool wanted(const struct rk_metrics_page *p, const struct rk_metric_value *v)
{
	const struct group *g = group_of(v->group);

	if (!rk_metric_shown(p->groups, v->group))
		return false;
	if (p->how->all || p->groups->n || !g)
		return true;
	return g->brief && (isfinite(v->percent_of_peak) || strcmp(v->unit, "%") == 0) &&
	       !(v->min == 0 && v->max == 0);
}

static void value_cell(struct rk_metrics_page *p, double v)
{
	rk_put_value(&p->page.cell, v);
	rk_page_right(&p->page, VALUE_COLUMNS - 1);
}

static void put_metric(struct rk_metrics_page *p, const struct rk_metric_value *v, size_t width)
{
	static const char *const divisors[] = { "", "/wave", "/cycle", "/s" };
	struct rk_bytes *out = p->page.out;
	size_t len = strlen(v->unit);

	rk_bytes_put_u8(out, ' ');
	rk_put_printable(&p->page.cell, v->id, strlen(v->id), p->page.look->utf8);
	rk_page_left(&p->page, width);
	value_cell(p, v->avg);
	value_cell(p, v->min);
	value_cell(p, v->max);
	rk_bytes_put_u8(out, ' ');

	/* "req/D" becomes "req", "req/wave", ...: D is what counts are divided by */
	if (rk_text_ends(v->unit, len, "/D")) {
		rk_put_printable(&p->page.cell, v->unit, len - 2, p->page.look->utf8);
		rk_bytes_puts(&p->page.cell, divisors[p->m->normal]);
	} else {
		rk_put_printable(&p->page.cell, v->unit, len, p->page.look->utf8);
	}
	rk_page_left(&p->page, UNIT_COLUMNS);

	if (isfinite(v->percent_of_peak)) {
		unsigned columns = p->page.look->columns;

		rk_bytes_printf(&p->page.cell, "%.1f", v->percent_of_peak);
		rk_page_right(&p->page, 6);
		if (!columns || columns >= WIDE_COLUMNS)
			rk_page_bar(&p->page, v->percent_of_peak / 100);
	}
	/* no trailing blanks */
	while (out->len && out->data[out->len - 1] == ' ')
		out->len--;
	if (v->split)
		rk_bytes_puts(out, "  (split: counters of several passes)");
	rk_bytes_put_u8(out, '\n');
}

/* Prints the group of k->metrics[at], unless an earlier metric already printed it. */
static void put_group(struct rk_metrics_page *p, const struct rk_metric_kernel *k, size_t at,
		      size_t width)
{
	const char *name = k->metrics[at].group, *title = name;
	const struct group *g = group_of(name);

	for (size_t i = 0; i < at; i++)
		if (wanted(p, &k->metrics[i]) && strcmp(k->metrics[i].group, name) == 0)
			return;
	if (g)
		title = g->title;
	else if (!name[0])
		title = "Others";
	rk_bytes_put_u8(p->page.out, ' ');
	rk_page_paint(&p->page, RK_BOLD);
	rk_put_printable(p->page.out, title, strlen(title), p->page.look->utf8);
	rk_page_paint(&p->page, RK_NORMAL);
	if (g && strcmp(g->title, name) != 0)
		rk_bytes_printf(p->page.out, " (%s)", name);
	rk_bytes_put_u8(p->page.out, '\n');
	for (size_t i = at; i < k->nmetrics; i++)
		if (strcmp(k->metrics[i].group, name) == 0 && wanted(p, &k->metrics[i]))
			put_metric(p, &k->metrics[i], width);
}

static void put_table(struct rk_metrics_page *p, const struct rk_metric_kernel *k)
{
	size_t width = 0, n = 0;

	for (size_t i = 0; i < k->nmetrics; i++) {
		if (!wanted(p, &k->metrics[i]))
			continue;
		n++;
		width = rk_max(width, strlen(k->metrics[i].id));
	}
	if (!n)
		return;
	rk_page_title(&p->page, "Metrics of");
	rk_page_rest(&p->page, k->name[0] ? k->name : "(no name)", strlen("Metrics of") + 2);
	rk_page_paint(&p->page, RK_BOLD);
	rk_page_spaces(&p->page, width + 2);
	rk_page_word(&p->page, "Avg", VALUE_COLUMNS - 1);
	rk_page_word(&p->page, "Min", VALUE_COLUMNS - 1);
	rk_page_word(&p->page, "Max", VALUE_COLUMNS - 1);
	rk_bytes_printf(p->page.out, "  %-*s", UNIT_COLUMNS, "Unit");
	rk_page_word(&p->page, "% of peak", 9);
	rk_page_last(&p->page, "");
	for (size_t i = 0; i < k->nmetrics; i++)
		if (wanted(p, &k->metrics[i]))
			put_group(p, k, i, width);
	if (n == k->nmetrics || p->groups->n)
		return;
	rk_page_paint(&p->page, RK_DIM);
	rk_bytes_printf(p->page.out, " and %zu more (--all, or --group)", k->nmetrics - n);
	rk_page_last(&p->page, "");
}

/* ---- absent metrics ---- */

struct reason {
	const char *text;
	size_t len; /* length of the counter's name in `text` */
	size_t n;   /* metrics that are absent for this reason */
};

struct reasons {
	struct reason all[REASONS_MAX];
	size_t n, counted; /* reasons, and metrics with a reason */
};

/* Counts a reason. Reasons with the most metrics are kept first. */
static void count_reason(struct reasons *r, const char *text, size_t len)
{
	size_t at = 0;

	while (at < r->n && (r->all[at].len != len || memcmp(r->all[at].text, text, len) != 0))
		at++;
	if (at == REASONS_MAX)
		return;
	if (at == r->n)
		r->all[r->n++] = (struct reason){ text, len, 0 };
	r->counted++;
	r->all[at].n++;
	for (; at && r->all[at].n > r->all[at - 1].n; at--) {
		struct reason swap = r->all[at];

		r->all[at] = r->all[at - 1];
		r->all[at - 1] = swap;
	}
}

/* The length of the counter's name in a reason; 0: the reason is not about a counter. */
static size_t missing_counter(const char *reason)
{
	static const char not_there[] = " was not collected";
	size_t len = strlen(reason), tail = sizeof(not_there) - 1;

	return rk_text_ends(reason, len, not_there) ? len - tail : 0;
}

/* "   38  need counters that were not collected: SQ_WAVES (12), ..." */
static void put_missing_counters(struct rk_metrics_page *p, struct reasons *r)
{
	struct rk_bytes text;
	char lead[32];

	*r = (struct reasons){ .n = 0 };
	for (size_t i = 0; i < p->m->nabsent; i++) {
		size_t len = missing_counter(p->m->absent[i].reason);

		if (len)
			count_reason(r, p->m->absent[i].reason, len);
	}
	if (!r->n)
		return;
	rk_bytes_init(&text, 64 << 10);
	rk_bytes_printf(&text,
			"need%s counters that were not collected:", r->counted == 1 ? "s" : "");
	for (size_t i = 0; i < r->n && i < REASONS_SHOWN; i++)
		rk_bytes_printf(&text, "%s %.*s (%zu)", i ? "," : "", (int)r->all[i].len,
				r->all[i].text, r->all[i].n);
	if (r->n > REASONS_SHOWN)
		rk_bytes_puts(&text, ", ...");
	snprintf(lead, sizeof(lead), " %4zu  ", r->counted);
	wrap(p, lead, rk_bytes_str(&text), 0);
	p->page.out->bad |= text.bad;
	rk_bytes_release(&text);
}

static void put_absent(struct rk_metrics_page *p)
{
	const struct rk_metric_absent *absent = p->m->absent;
	size_t n = p->m->nabsent, left = 0;
	struct rk_bytes *out = p->page.out;
	struct reasons r;

	if (!n)
		return;
	rk_page_title(&p->page, "Absent");
	rk_bytes_printf(out, ": %zu metric%s", n, rk_plural(n));
	if (p->how->absent) {
		rk_bytes_put_u8(out, '\n');
		for (size_t i = 0; i < n; i++) {
			rk_bytes_puts(out, "  ");
			rk_put_printable(out, absent[i].id, strlen(absent[i].id),
					 p->page.look->utf8);
			rk_bytes_puts(out, ": ");
			rk_put_printable(out, absent[i].reason, strlen(absent[i].reason),
					 p->page.look->utf8);
			rk_bytes_put_u8(out, '\n');
		}
		return;
	}
	rk_bytes_puts(out, " (-v lists each)\n");
	put_missing_counters(p, &r);

	r = (struct reasons){ .n = 0 };
	for (size_t i = 0; i < n; i++) {
		if (missing_counter(absent[i].reason))
			continue;
		left++;
		count_reason(&r, absent[i].reason, strlen(absent[i].reason));
	}
	for (size_t i = 0; i < r.n && i < REASONS_SHOWN; i++) {
		char lead[32];

		snprintf(lead, sizeof(lead), " %4zu  ", r.all[i].n);
		wrap(p, lead, r.all[i].text, 0);
		left -= r.all[i].n;
	}
	if (left)
		rk_bytes_printf(out, " %4zu  for other reasons\n", left);
}

/* ---- the page ---- */

static void put_fact(struct rk_bytes *out, const char **gap, double v, const char *unit)
{
	if (!isfinite(v))
		return;
	rk_bytes_printf(out, "%s", *gap);
	rk_put_value(out, v);
	rk_bytes_printf(out, " %s", unit);
	*gap = ", ";
}

/* "MI300X_A1 (gfx942): 304 CUs, 8 XCDs, 2100 MHz, 5325 GB/s HBM; from the run" */
static void put_devices(struct rk_metrics_page *p)
{
	struct rk_bytes *out = p->page.out;
	const struct rk_ceiling *memory =
		rk_roof_level(p->m->ceilings, p->m->nceilings, RK_LEVEL_HBM);

	for (size_t i = 0; i < p->m->ndevices; i++) {
		const struct rk_metric_device *d = &p->m->devices[i];
		const char *gap = ": ", *name = "unknown GPU";

		if (d->product[0])
			name = d->product;
		else if (d->arch[0])
			name = d->arch;
		rk_page_paint(&p->page, RK_BOLD);
		rk_put_printable(out, name, strlen(name), p->page.look->utf8);
		/* without a product name print "gfx942" only once */
		if (d->product[0] && d->arch[0] && strcmp(d->product, d->arch) != 0)
			rk_bytes_printf(out, " (%s)", d->arch);
		rk_page_paint(&p->page, RK_NORMAL);
		put_fact(out, &gap, d->cus, d->cus == 1 ? "CU" : "CUs");
		if (d->xcds > 1)
			put_fact(out, &gap, d->xcds, "XCDs");
		put_fact(out, &gap, d->sclk, "MHz");
		if (i == 0 && memory) {
			char unit[24];

			snprintf(unit, sizeof(unit), "GB/s %s", d->memory ? d->memory : "HBM");
			put_fact(out, &gap, memory->theory, unit);
		}
		if (d->source && d->source[0])
			rk_bytes_printf(out, "; %s", d->source);
		rk_bytes_put_u8(out, '\n');
	}
	if (!p->m->ndevices || (!p->m->arch[0] && !p->m->devices[0].product[0]))
		wrap(p, "", "unknown GPU, so there are no peaks; name it with --arch or --sysinfo",
		     0);
	else if (!p->m->arch[0])
		wrap(p, "", "rockit knows no counters of this device; verdicts use the trace only",
		     0);
}

struct widths {
	size_t calls, verdict, before_name;
};

/* The verdict of a kernel for people; JSON and CSV have its name. */
static const char *verdict_text(const struct rk_verdict *v)
{
	if (strcmp(v->name, "unusable") != 0)
		return v->name;
	return strcmp(v->reason, RK_NO_COUNTERS) == 0 ? "unknown (no counters)" : "unknown";
}

static void put_share(struct rk_metrics_page *p, double percent)
{
	const char *heat = "";

	if (percent >= 25)
		heat = RK_RED;
	else if (percent >= 10)
		heat = RK_YELLOW;
	rk_page_paint(&p->page, heat);
	if (isfinite(percent))
		rk_bytes_printf(p->page.out, "%6.2f", percent);
	else
		rk_bytes_puts(p->page.out, "     -");
	if (heat[0])
		rk_page_paint(&p->page, RK_NORMAL);
}

/* Prints "! window-ratio in 12 dispatches" without ending the line. */
static void put_flag(struct rk_metrics_page *p, const char *kind, uint64_t dispatches)
{
	rk_page_paint(&p->page, RK_YELLOW);
	rk_bytes_puts(p->page.out, "! ");
	rk_put_printable(p->page.out, kind, strlen(kind), p->page.look->utf8);
	rk_page_paint(&p->page, RK_NORMAL);
	rk_bytes_puts(p->page.out, " in ");
	put_plural(p->page.out, dispatches, "dispatch", "es");
}

/* Prints advice only once if it repeats for the next kernel. */
static void put_kernel(struct rk_metrics_page *p, size_t i, const struct widths *w)
{
	const struct rk_metric_kernel *k = &p->m->kernels[i];
	bool said = i && strcmp(k->verdict.collect, k[-1].verdict.collect) == 0;

	put_share(p, k->percent);
	rk_page_count(&p->page, k->calls, w->calls);
	rk_page_time(&p->page, (double)k->total_ns);
	rk_page_time(&p->page, k->calls ? (double)k->total_ns / (double)k->calls : NAN);
	rk_bytes_put_u8(p->page.out, ' ');
	rk_page_paint(&p->page, RK_BOLD);
	rk_bytes_puts(&p->page.cell, verdict_text(&k->verdict));
	rk_page_left(&p->page, w->verdict);
	rk_page_paint(&p->page, RK_NORMAL);
	rk_page_rest(&p->page, k->name[0] ? k->name : "(no name)", w->before_name);

	if (k->verdict.reason[0])
		wrap(p, "", k->verdict.reason, INDENT);
	if (k->verdict.collect[0] && !said)
		wrap(p, "next: ", k->verdict.collect, INDENT);
	for (size_t f = 0; k->flags && f < p->m->nflags; f++) {
		if (!k->flags[f])
			continue;
		rk_page_spaces(&p->page, INDENT);
		put_flag(p, p->m->flags[f].kind, k->flags[f]);
		rk_bytes_put_u8(p->page.out, '\n');
	}
}

static void put_kernels(struct rk_metrics_page *p)
{
	const struct rk_metric_kernel *kernels = p->m->kernels;
	struct rk_bytes *out = p->page.out;
	struct widths w = { .verdict = VERDICT_COLUMNS };
	uint64_t most = 0;
	double rest = 0;

	for (size_t i = 0; i < p->shown; i++) {
		most = rk_max(most, kernels[i].calls);
		w.verdict = rk_max(w.verdict, strlen(verdict_text(&kernels[i].verdict)));
	}
	w.calls = rk_page_count_columns(most, "Calls");
	w.before_name = 6 + w.calls + 1 + 2 * (RK_PAGE_TIME + 1) + 2 + w.verdict + 2;

	rk_page_title(&p->page, "What limits the kernels");
	rk_bytes_puts(out, ": ");
	put_plural(out, p->m->dispatches, "dispatch", "es");
	rk_bytes_puts(out, " of ");
	put_plural(out, p->m->nkernels, "kernel", "s");
	rk_bytes_puts(out, ", ");
	rk_put_duration(out, (double)p->m->total_ns);
	rk_bytes_put_u8(out, '\n');
	rk_page_paint(&p->page, RK_BOLD);
	rk_bytes_puts(out, " Time%");
	rk_page_word(&p->page, "Calls", w.calls);
	rk_page_word(&p->page, "Total", RK_PAGE_TIME);
	rk_page_word(&p->page, "Mean", RK_PAGE_TIME);
	rk_bytes_printf(out, "  %-*s", (int)w.verdict, "Limited by");
	rk_page_last(&p->page, "  Kernel");

	for (size_t i = 0; i < p->shown; i++)
		put_kernel(p, i, &w);
	if (p->shown == p->m->nkernels)
		return;
	for (size_t i = p->shown; i < p->m->nkernels; i++)
		if (isfinite(kernels[i].percent))
			rest += kernels[i].percent;
	rk_page_paint(&p->page, RK_DIM);
	rk_bytes_printf(out, "%6.2f  and %zu more (--top 0 shows all)", rest,
			p->m->nkernels - p->shown);
	rk_page_last(&p->page, "");
}

static void put_verdicts(struct rk_metrics_page *p)
{
	size_t width = VERDICT_COLUMNS;

	if (!p->m->nverdicts)
		return;
	for (size_t i = 0; i < p->m->nverdicts; i++)
		width = rk_max(width, strlen(p->m->verdicts[i].name));
	rk_page_title(&p->page, "Time by verdict");
	rk_bytes_put_u8(p->page.out, '\n');
	for (size_t i = 0; i < p->m->nverdicts; i++) {
		const struct rk_verdict_share *v = &p->m->verdicts[i];

		put_share(p, v->percent);
		rk_page_bar(&p->page, v->percent / 100);
		rk_page_time(&p->page, (double)v->total_ns);
		rk_bytes_printf(p->page.out, "  %-*s  ", (int)width,
				strcmp(v->name, "unusable") == 0 ? "unknown" : v->name);
		put_plural(p->page.out, v->kernels, "kernel", "s");
		rk_bytes_puts(p->page.out, ", ");
		put_plural(p->page.out, v->calls, "call", "s");
		rk_bytes_put_u8(p->page.out, '\n');
	}
}

static void put_part(struct rk_metrics_page *p, int64_t part, int64_t whole)
{
	if (whole > 0)
		rk_bytes_printf(&p->page.cell, "%.1f", 100 * (double)part / (double)whole);
	else
		rk_bytes_puts(&p->page.cell, "-");
	rk_page_right(&p->page, 6);
}

/* Facts that need only the trace, by device. */
static void put_trace(struct rk_metrics_page *p)
{
	const struct rk_trace_facts *t = &p->m->trace;
	size_t width = strlen("Device");

	if (!t->ndevices)
		return;
	for (size_t i = 0; i < t->ndevices; i++)
		width = rk_max(width, strnlen(t->devices[i].name, DEVICE_COLUMNS));
	rk_page_title(&p->page, "Device time");
	rk_bytes_printf(p->page.out, ", %% of span (gaps are %s)\n",
			t->serialised ? "profiler overhead" : "between launches");
	rk_page_paint(&p->page, RK_BOLD);
	rk_bytes_printf(p->page.out, " %-*s %9s %6s %6s %6s %6s", (int)width, "Device", "Span",
			"Kernel", "Copy", "Both", "Idle");
	rk_page_word(&p->page, "Max idle", RK_PAGE_TIME);
	rk_page_word(&p->page, "Gaps", 8);
	rk_page_word(&p->page, "Median", RK_PAGE_TIME);
	rk_page_last(&p->page, "");
	for (size_t i = 0; i < t->ndevices; i++) {
		const struct rk_trace_device *d = &t->devices[i];

		rk_put_printable(&p->page.cell, d->name, strlen(d->name), p->page.look->utf8);
		rk_page_left(&p->page, width);
		rk_page_time(&p->page, (double)d->span_ns);
		put_part(p, d->busy_ns, d->span_ns);
		put_part(p, d->copy_ns, d->span_ns);
		put_part(p, d->overlap_ns, d->span_ns);
		put_part(p, d->idle_ns, d->span_ns);
		rk_page_time(&p->page, d->gaps ? (double)d->longest_gap_ns : NAN);
		rk_page_count(&p->page, d->launch_gaps, 8);
		rk_page_time(&p->page, d->median_launch_gap_ns);
		rk_bytes_put_u8(p->page.out, '\n');
	}
}

static void put_flags(struct rk_metrics_page *p)
{
	if (!p->m->nflags)
		return;
	rk_page_title(&p->page, "Suspicious data");
	rk_bytes_put_u8(p->page.out, '\n');
	for (size_t i = 0; i < p->m->nflags; i++) {
		const struct rk_metric_flag *f = &p->m->flags[i];

		put_flag(p, f->kind, f->dispatches);
		if (isfinite(f->worst) && f->worst >= 1.0005) {
			rk_bytes_puts(p->page.out, ", at worst by a factor of ");
			rk_put_value(p->page.out, f->worst);
		}
		rk_bytes_put_u8(p->page.out, '\n');
		wrap(p, "", f->text, 2);
	}
}

void rk_metrics_text(struct rk_bytes *out, const struct rk_metrics *m,
		     const struct rk_metrics_look *how, const struct rk_list *groups)
{
	struct rk_metrics_page p = { .m = m, .how = how, .groups = groups };

	rk_page_begin(&p.page, out, &how->look);
	p.shown = rk_page_shown(&p.page, m->nkernels);
	put_devices(&p);
	if (m->nkernels)
		put_kernels(&p);
	else
		rk_bytes_puts(out, "\nno kernels\n");
	put_verdicts(&p);
	put_trace(&p);
	if (!how->no_roofline)
		rk_metrics_plot(&p);
	/* show the table of the first kernel only, to fit on a screen */
	for (size_t i = 0; i < p.shown; i++)
		if (i == 0 || how->all || groups->n)
			put_table(&p, &m->kernels[i]);
	put_absent(&p);
	put_flags(&p);
	rk_page_end(&p.page);
}
