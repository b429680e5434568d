/* metrics_text.c - metrics for people: what limits each kernel comes first. */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "metrics/metrics_parts.h"
#include "report/report_parts.h"

enum {
	INDENT = 8, /* what is said about a kernel stands below its calls */
	VERDICT_COLUMNS = 13,
	DEVICE_COLUMNS = 48,
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
	/* Up to five digits a number is read as it is. */
	if (a >= 99999.5)
		for (; a >= 999.95 && s < 5; s++, v /= 1000)
			a /= 1000;
	if (s < 0 && v == floor(v))
		rk_bytes_printf(out, "%.0f", v);
	else
		rk_bytes_printf(out, "%.*f",
				a < 9.9995 ? 3 :
				a < 99.995 ? 2 :
				a < 999.95 ? 1 :
					     0,
				v);
	if (s >= 0)
		rk_bytes_put_u8(out, (uint8_t)suffix[s]);
}

static size_t word_length(const char *s)
{
	return strcspn(s, " ");
}

void rk_metrics_wrap(struct rk_metrics_page *p, const char *lead, const char *text, size_t indent)
{
	size_t width = p->page.look->columns, used = indent + strlen(lead);
	bool first = true;

	if (!text) /* out of memory: the page is bad anyway */
		return;
	rk_page_spaces(&p->page, indent);
	rk_bytes_puts(p->page.out, lead);
	while (*text) {
		size_t len = word_length(text);

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

static double ceiling_of(const struct rk_metrics *m, const char *name)
{
	for (size_t i = 0; i < m->nceilings; i++)
		if (strcmp(m->ceilings[i].name, name) == 0)
			return m->ceilings[i].theory;
	return NAN;
}

static void put_fact(struct rk_bytes *out, const char **gap, double v, const char *unit)
{
	if (!isfinite(v))
		return;
	rk_bytes_printf(out, "%s", *gap);
	rk_put_value(out, v);
	rk_bytes_printf(out, " %s", unit);
	*gap = ", ";
}

/* "MI300X_A1 (gfx942)"; what has no name of its own is "gfx942" once. */
static void put_device_name(struct rk_metrics_page *p, const struct rk_metric_device *d)
{
	bool both = d->product[0] && d->arch[0] && strcmp(d->product, d->arch) != 0;
	const char *name = d->product[0] ? d->product : d->arch[0] ? d->arch : "unknown GPU";

	rk_put_printable(p->page.out, name, strlen(name), p->page.look->utf8);
	if (both)
		rk_bytes_printf(p->page.out, " (%s)", d->arch);
}

/* "MI300X_A1 (gfx942): 304 CUs, 8 XCDs, 2100 MHz, 5325 GB/s HBM; as the run tells" */
static void put_device(struct rk_metrics_page *p, const struct rk_metric_device *d, bool main)
{
	struct rk_bytes *out = p->page.out;
	const char *gap = ": ";

	rk_page_paint(&p->page, RK_BOLD);
	put_device_name(p, d);
	rk_page_paint(&p->page, RK_NORMAL);
	put_fact(out, &gap, d->cus, d->cus == 1 ? "CU" : "CUs");
	if (d->xcds > 1)
		put_fact(out, &gap, d->xcds, "XCDs");
	put_fact(out, &gap, d->sclk, "MHz");
	if (main)
		put_fact(out, &gap, ceiling_of(p->m, "hbm"), "GB/s HBM");
	if (d->source && d->source[0])
		rk_bytes_printf(out, "; %s", d->source);
	rk_bytes_put_u8(out, '\n');
}

static void put_devices(struct rk_metrics_page *p)
{
	for (size_t i = 0; i < p->m->ndevices; i++)
		put_device(p, &p->m->devices[i], i == 0);
	if (p->m->ndevices && p->m->arch[0])
		return;
	rk_metrics_wrap(
		p, "",
		p->m->ndevices && p->m->devices[0].product[0] ?
			"rockit knows no counters of this device: the trace alone is judged" :
			"the GPU is not known, so there are no peaks: say it with --arch or "
			"--sysinfo",
		0);
}

struct widths {
	size_t calls, verdict, before_name;
};

static struct widths measure(const struct rk_metrics_page *p)
{
	struct widths w = { .verdict = VERDICT_COLUMNS };
	uint64_t most = 0;

	for (size_t i = 0; i < p->shown; i++) {
		const struct rk_metric_kernel *k = &p->m->kernels[i];

		most = k->calls > most ? k->calls : most;
		if (strlen(k->verdict.name) > w.verdict)
			w.verdict = strlen(k->verdict.name);
	}
	w.calls = rk_page_count_columns(most, "Calls");
	w.before_name = 6 + w.calls + 1 + 2 * (RK_PAGE_TIME + 1) + 2 + w.verdict + 2;
	return w;
}

static void put_share(struct rk_metrics_page *p, double percent)
{
	const char *heat = percent >= 25 ? RK_RED : percent >= 10 ? RK_YELLOW : "";

	rk_page_paint(&p->page, heat);
	if (isfinite(percent))
		rk_bytes_printf(p->page.out, "%6.2f", percent);
	else
		rk_bytes_puts(p->page.out, "     -");
	rk_page_paint(&p->page, heat[0] ? RK_NORMAL : "");
}

static void put_kernel_row(struct rk_metrics_page *p, const struct rk_metric_kernel *k,
			   const struct widths *w)
{
	put_share(p, k->percent);
	rk_page_count(&p->page, k->calls, w->calls);
	rk_page_time(&p->page, (double)k->total_ns);
	rk_page_time(&p->page, k->calls ? (double)k->total_ns / (double)k->calls : NAN);
	rk_bytes_put_u8(p->page.out, ' ');
	rk_page_paint(&p->page, RK_BOLD);
	rk_bytes_puts(&p->page.cell, k->verdict.name);
	rk_page_left(&p->page, w->verdict);
	rk_page_paint(&p->page, RK_NORMAL);
	rk_page_rest(&p->page, k->name[0] ? k->name : "(no name)", w->before_name);
}

static void put_kernel_flags(struct rk_metrics_page *p, const struct rk_metric_kernel *k)
{
	for (size_t i = 0; k->flags && i < p->m->nflags; i++) {
		if (!k->flags[i])
			continue;
		rk_page_spaces(&p->page, INDENT);
		rk_page_paint(&p->page, RK_YELLOW);
		rk_bytes_puts(p->page.out, "! ");
		rk_put_printable(p->page.out, p->m->flags[i].kind, strlen(p->m->flags[i].kind),
				 p->page.look->utf8);
		rk_page_paint(&p->page, RK_NORMAL);
		rk_bytes_puts(p->page.out, " in ");
		put_plural(p->page.out, k->flags[i], "dispatch", "es");
		rk_bytes_put_u8(p->page.out, '\n');
	}
}

/* The same advice under kernel after kernel is said once. */
static void put_kernel(struct rk_metrics_page *p, size_t i, const struct widths *w)
{
	const struct rk_metric_kernel *k = &p->m->kernels[i];
	bool said = i && strcmp(k->verdict.collect, k[-1].verdict.collect) == 0;

	put_kernel_row(p, k, w);
	if (k->verdict.reason[0])
		rk_metrics_wrap(p, "", k->verdict.reason, INDENT);
	if (k->verdict.collect[0] && !said)
		rk_metrics_wrap(p, "next: ", k->verdict.collect, INDENT);
	put_kernel_flags(p, k);
}

static void put_kernels(struct rk_metrics_page *p)
{
	struct widths w = measure(p);
	double rest = 0;

	rk_page_title(&p->page, "What limits the kernels");
	rk_bytes_puts(p->page.out, ": ");
	put_plural(p->page.out, p->m->dispatches, "dispatch", "es");
	rk_bytes_puts(p->page.out, " of ");
	put_plural(p->page.out, p->m->nkernels, "kernel", "s");
	rk_bytes_puts(p->page.out, ", ");
	rk_put_duration(p->page.out, (double)p->m->total_ns);
	rk_bytes_put_u8(p->page.out, '\n');
	rk_page_paint(&p->page, RK_BOLD);
	rk_bytes_puts(p->page.out, " Time%");
	rk_page_word(&p->page, "Calls", w.calls);
	rk_page_word(&p->page, "Total", RK_PAGE_TIME);
	rk_page_word(&p->page, "Mean", RK_PAGE_TIME);
	rk_bytes_printf(p->page.out, "  %-*s  Kernel", (int)w.verdict, "Limited by");
	rk_page_paint(&p->page, RK_NORMAL);
	rk_bytes_put_u8(p->page.out, '\n');
	for (size_t i = 0; i < p->shown; i++)
		put_kernel(p, i, &w);
	for (size_t i = p->shown; i < p->m->nkernels; i++)
		rest += isfinite(p->m->kernels[i].percent) ? p->m->kernels[i].percent : 0;
	if (p->shown == p->m->nkernels)
		return;
	rk_page_paint(&p->page, RK_DIM);
	rk_bytes_printf(p->page.out, "%6.2f  and %zu more (--top 0 shows all)", rest,
			p->m->nkernels - p->shown);
	rk_page_paint(&p->page, RK_NORMAL);
	rk_bytes_put_u8(p->page.out, '\n');
}

static void put_verdicts(struct rk_metrics_page *p)
{
	size_t width = VERDICT_COLUMNS;

	if (!p->m->nverdicts)
		return;
	for (size_t i = 0; i < p->m->nverdicts; i++)
		if (strlen(p->m->verdicts[i].name) > width)
			width = strlen(p->m->verdicts[i].name);
	rk_page_title(&p->page, "Time by verdict");
	rk_bytes_put_u8(p->page.out, '\n');
	for (size_t i = 0; i < p->m->nverdicts; i++) {
		const struct rk_verdict_share *v = &p->m->verdicts[i];

		put_share(p, v->percent);
		rk_page_bar(&p->page, v->percent / 100);
		rk_page_time(&p->page, (double)v->total_ns);
		rk_bytes_printf(p->page.out, "  %-*s  ", (int)width, v->name);
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

static void put_trace_row(struct rk_metrics_page *p, const struct rk_trace_device *d, size_t width)
{
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

/* What the trace alone says, device by device. */
static void put_trace(struct rk_metrics_page *p)
{
	const struct rk_trace_facts *t = &p->m->trace;
	size_t width = strlen("Device");

	if (!t->ndevices)
		return;
	for (size_t i = 0; i < t->ndevices; i++) {
		size_t n = strnlen(t->devices[i].name, DEVICE_COLUMNS);

		width = n > width ? n : width;
	}
	rk_page_title(&p->page, "Where the time of the devices went");
	rk_bytes_puts(p->page.out, t->serialised ? ", % of the span; gaps: the profiler's own\n" :
						   ", % of the span; gaps: between launches\n");
	rk_page_paint(&p->page, RK_BOLD);
	rk_bytes_printf(p->page.out, " %-*s %9s %6s %6s %6s %6s", (int)width, "Device", "Span",
			"Kernel", "Copy", "Both", "Idle");
	rk_page_word(&p->page, "Max idle", RK_PAGE_TIME);
	rk_page_word(&p->page, "Gaps", 8);
	rk_page_word(&p->page, "Median", RK_PAGE_TIME);
	rk_page_paint(&p->page, RK_NORMAL);
	rk_bytes_put_u8(p->page.out, '\n');
	for (size_t i = 0; i < t->ndevices; i++)
		put_trace_row(p, &t->devices[i], width);
}

static void put_flag(struct rk_metrics_page *p, const struct rk_metric_flag *f)
{
	rk_page_paint(&p->page, RK_YELLOW);
	rk_bytes_puts(p->page.out, "! ");
	rk_put_printable(p->page.out, f->kind, strlen(f->kind), p->page.look->utf8);
	rk_page_paint(&p->page, RK_NORMAL);
	rk_bytes_puts(p->page.out, " in ");
	put_plural(p->page.out, f->dispatches, "dispatch", "es");
	if (isfinite(f->worst) && f->worst >= 1.0005) {
		rk_bytes_puts(p->page.out, ", at worst by a factor of ");
		rk_put_value(p->page.out, f->worst);
	}
	rk_bytes_put_u8(p->page.out, '\n');
	rk_metrics_wrap(p, "", f->text, 2);
}

static void put_flags(struct rk_metrics_page *p)
{
	if (!p->m->nflags)
		return;
	rk_page_title(&p->page, "Doubts about the data");
	rk_bytes_put_u8(p->page.out, '\n');
	for (size_t i = 0; i < p->m->nflags; i++)
		put_flag(p, &p->m->flags[i]);
}

void rk_metrics_text(struct rk_bytes *out, const struct rk_metrics *m,
		     const struct rk_metrics_look *how, const struct rk_list *groups)
{
	struct rk_metrics_page p = { .m = m, .how = how, .groups = groups, .shown = m->nkernels };

	if (how->look.top && how->look.top < p.shown)
		p.shown = how->look.top;
	rk_page_begin(&p.page, out, &how->look);
	put_devices(&p);
	if (m->nkernels)
		put_kernels(&p);
	else
		rk_bytes_puts(out, "\nno kernels\n");
	put_verdicts(&p);
	put_trace(&p);
	if (!how->no_roofline)
		rk_metrics_plot(&p);
	rk_metrics_tables(&p);
	rk_metrics_absent(&p);
	put_flags(&p);
	rk_page_end(&p.page);
}
