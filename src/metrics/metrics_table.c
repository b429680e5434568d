/* metrics_table.c - the metrics of a kernel, group by group, and those that are absent. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "metrics/metrics_parts.h"
#include "report/report_parts.h"

enum {
	VALUE_COLUMNS = 10,
	UNIT_COLUMNS = 10,
	WIDE_COLUMNS = 96, /* narrower terminals see no bar */
	REASONS_SHOWN = 12,
	REASONS_MAX = 512, /* that are told apart; further ones are "other reasons" */
};

/* Our groups. Of the brief ones only what has a peak or is a percentage is shown unless asked. */
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
	{ "l2", "L2 cache", true },
	{ "fabric", "Leaving L2", true },
	{ "hbm", "HBM", true },
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

/* What somebody defined for themselves is shown; of ours what says most, and is not all zero. */
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

static void put_percent(struct rk_metrics_page *p, double percent)
{
	unsigned columns = p->page.look->columns;

	if (isfinite(percent)) {
		rk_bytes_printf(&p->page.cell, "%.1f", percent);
		rk_page_right(&p->page, 6);
		if (!columns || columns >= WIDE_COLUMNS)
			rk_page_bar(&p->page, percent / 100);
	}
	/* Blanks at the end of a line help nobody. */
	while (p->page.out->len && p->page.out->data[p->page.out->len - 1] == ' ')
		p->page.out->len--;
	rk_bytes_put_u8(p->page.out, '\n');
}

/* "req/D" is "req", "req/wave", ...: D stands for what counts are divided by. */
static void unit_cell(struct rk_metrics_page *p, const char *unit)
{
	static const char *const by[] = { "", "/wave", "/cycle", "/s" };
	size_t len = strlen(unit);
	bool divided = rk_text_ends(unit, len, "/D");

	rk_put_printable(&p->page.cell, unit, divided ? len - 2 : len, p->page.look->utf8);
	rk_bytes_puts(&p->page.cell, divided ? by[p->m->normal] : "");
	rk_page_left(&p->page, UNIT_COLUMNS);
}

static void put_metric(struct rk_metrics_page *p, const struct rk_metric_value *v, size_t width)
{
	rk_bytes_put_u8(p->page.out, ' ');
	rk_put_printable(&p->page.cell, v->id, strlen(v->id), p->page.look->utf8);
	rk_page_left(&p->page, width);
	value_cell(p, v->avg);
	value_cell(p, v->min);
	value_cell(p, v->max);
	rk_bytes_put_u8(p->page.out, ' ');
	unit_cell(p, v->unit);
	put_percent(p, v->percent_of_peak);
}

static void put_group_title(struct rk_metrics_page *p, const char *name)
{
	const struct group *g = group_of(name);
	const char *title = g ? g->title : name[0] ? name : "Others";

	rk_bytes_put_u8(p->page.out, ' ');
	rk_page_paint(&p->page, RK_BOLD);
	rk_put_printable(p->page.out, title, strlen(title), p->page.look->utf8);
	rk_page_paint(&p->page, RK_NORMAL);
	if (g && strcmp(g->title, name) != 0)
		rk_bytes_printf(p->page.out, " (%s)", name);
	rk_bytes_put_u8(p->page.out, '\n');
}

/* The metrics of the group of k->metrics[at], unless an earlier one was of that group. */
static void put_group(struct rk_metrics_page *p, const struct rk_metric_kernel *k, size_t at,
		      size_t width)
{
	const char *name = k->metrics[at].group;

	for (size_t i = 0; i < at; i++)
		if (wanted(p, &k->metrics[i]) && strcmp(k->metrics[i].group, name) == 0)
			return;
	put_group_title(p, name);
	for (size_t i = at; i < k->nmetrics; i++)
		if (strcmp(k->metrics[i].group, name) == 0 && wanted(p, &k->metrics[i]))
			put_metric(p, &k->metrics[i], width);
}

static void put_heading(struct rk_metrics_page *p, const struct rk_metric_kernel *k, size_t width)
{
	rk_page_title(&p->page, "Metrics of");
	rk_page_rest(&p->page, k->name[0] ? k->name : "(no name)", strlen("Metrics of") + 2);
	rk_page_paint(&p->page, RK_BOLD);
	rk_page_spaces(&p->page, width + 2);
	rk_page_word(&p->page, "Avg", VALUE_COLUMNS - 1);
	rk_page_word(&p->page, "Min", VALUE_COLUMNS - 1);
	rk_page_word(&p->page, "Max", VALUE_COLUMNS - 1);
	rk_bytes_printf(p->page.out, "  %-*s", UNIT_COLUMNS, "Unit");
	rk_page_word(&p->page, "% of peak", 9);
	rk_page_paint(&p->page, RK_NORMAL);
	rk_bytes_put_u8(p->page.out, '\n');
}

static void put_table(struct rk_metrics_page *p, const struct rk_metric_kernel *k)
{
	size_t width = 0, n = 0;

	for (size_t i = 0; i < k->nmetrics; i++) {
		if (!wanted(p, &k->metrics[i]))
			continue;
		n++;
		if (strlen(k->metrics[i].id) > width)
			width = strlen(k->metrics[i].id);
	}
	if (!n)
		return;
	put_heading(p, k, width);
	for (size_t i = 0; i < k->nmetrics; i++)
		if (wanted(p, &k->metrics[i]))
			put_group(p, k, i, width);
	if (n == k->nmetrics || p->groups->n)
		return;
	rk_page_paint(&p->page, RK_DIM);
	rk_bytes_printf(p->page.out, " and %zu more (--all, or --group)", k->nmetrics - n);
	rk_page_paint(&p->page, RK_NORMAL);
	rk_bytes_put_u8(p->page.out, '\n');
}

/* The first kernel alone, unless more was asked for: a screen is soon full. */
void rk_metrics_tables(struct rk_metrics_page *p)
{
	bool asked = p->how->all || p->groups->n;
	size_t n = asked || p->shown < 1 ? p->shown : 1;

	for (size_t i = 0; i < n; i++)
		put_table(p, &p->m->kernels[i]);
}

struct reason {
	const char *text;
	size_t len; /* of what names it in `text` */
	size_t n;   /* metrics that are absent for it */
};

struct reasons {
	struct reason all[REASONS_MAX];
	size_t n, counted; /* reasons, and metrics that they stand for */
};

/* Reasons with the most metrics come first. */
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

/* The counter that a reason is about, its length; 0: it is about something else. */
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
	rk_bytes_puts(&text, r->n > REASONS_SHOWN ? ", ..." : "");
	snprintf(lead, sizeof(lead), " %4zu  ", r->counted);
	rk_metrics_wrap(p, lead, rk_bytes_str(&text), 0);
	p->page.out->bad |= text.bad;
	rk_bytes_release(&text);
}

static void put_other_reasons(struct rk_metrics_page *p, struct reasons *r)
{
	size_t left = 0;

	*r = (struct reasons){ .n = 0 };
	for (size_t i = 0; i < p->m->nabsent; i++) {
		const char *reason = p->m->absent[i].reason;

		if (missing_counter(reason))
			continue;
		left++;
		count_reason(r, reason, strlen(reason));
	}
	for (size_t i = 0; i < r->n && i < REASONS_SHOWN; i++) {
		char lead[32];

		snprintf(lead, sizeof(lead), " %4zu  ", r->all[i].n);
		rk_metrics_wrap(p, lead, r->all[i].text, 0);
		left -= r->all[i].n;
	}
	if (left)
		rk_bytes_printf(p->page.out, " %4zu  for other reasons\n", left);
}

static void put_each(struct rk_metrics_page *p)
{
	for (size_t i = 0; i < p->m->nabsent; i++) {
		const struct rk_metric_absent *a = &p->m->absent[i];

		rk_bytes_puts(p->page.out, "  ");
		rk_put_printable(p->page.out, a->id, strlen(a->id), p->page.look->utf8);
		rk_bytes_puts(p->page.out, ": ");
		rk_put_printable(p->page.out, a->reason, strlen(a->reason), p->page.look->utf8);
		rk_bytes_put_u8(p->page.out, '\n');
	}
}

void rk_metrics_absent(struct rk_metrics_page *p)
{
	struct reasons r;

	if (!p->m->nabsent)
		return;
	rk_page_title(&p->page, "Absent");
	rk_bytes_printf(p->page.out, ": %zu metric%s", p->m->nabsent,
			p->m->nabsent == 1 ? "" : "s");
	rk_bytes_puts(p->page.out, p->how->absent ? "\n" : " (-v names each)\n");
	if (p->how->absent) {
		put_each(p);
		return;
	}
	put_missing_counters(p, &r);
	put_other_reasons(p, &r);
}
