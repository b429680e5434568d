/* report_render.c - a report as text, JSON and CSV. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/handle.h"
#include "base/num.h"
#include "base/page.h"
#include "base/secrets.h"
#include "base/text.h"
#include "ranks/ranks_parts.h"
#include "report/report_parts.h"
#include "run/run.h"
#include "run/run_json.h"

/* ---- JSON, schema 1: one line per row ---- */

static void key(struct rk_bytes *out, const char *name)
{
	rk_bytes_printf(out, ",\"%s\":", name);
}

static void put_if(struct rk_bytes *out, const char *name, int64_t v, bool known)
{
	key(out, name);
	if (known)
		rk_put_integer(out, v);
	else
		rk_bytes_puts(out, "null");
}

static void put_double(struct rk_bytes *out, const char *name, double v)
{
	key(out, name);
	rk_put_number(out, v, "null");
}

static void put_bool(struct rk_bytes *out, const char *name, bool v)
{
	key(out, name);
	rk_bytes_puts(out, v ? "true" : "false");
}

static void json_row(struct rk_bytes *out, const struct rk_report_row *row, const char *by,
		     bool energy)
{
	rk_bytes_puts(out, "{\"name\":");
	rk_put_json_text(out, row->name);
	if (by) {
		key(out, by);
		rk_bytes_puts(out, rk_text_or(row->key, "null"));
	}
	rk_bytes_printf(out, ",\"calls\":%" PRIu64, row->calls);
	put_if(out, "total_ns", row->total_ns, row->timed);
	put_double(out, "mean_ns", row->mean_ns);
	put_if(out, "min_ns", row->min_ns, row->min_ns >= 0);
	put_if(out, "max_ns", row->max_ns, row->max_ns >= 0);
	put_double(out, "median_ns", row->median_ns);
	if (isfinite(row->median_ns))
		put_bool(out, "median_exact", row->median_exact);
	else
		rk_bytes_puts(out, ",\"median_exact\":null");
	put_double(out, "stddev_ns", row->stddev_ns);
	put_double(out, "percent", row->percent);
	put_bool(out, "barrier", row->barrier);
	if (energy) {
		put_double(out, "energy_j", row->energy_j);
		put_double(out, "energy_error_j", row->energy_error_j);
		put_if(out, "energy_ns", row->energy_ns, isfinite(row->energy_j));
	}
	rk_bytes_put_u8(out, '}');
}

/* Separates the members of an array, each on its own line. */
static void next_line(struct rk_bytes *out, size_t i)
{
	rk_bytes_puts(out, i ? ",\n  " : "\n  ");
}

void rk_report_json(struct rk_bytes *out, const void *what, const struct rk_render_options *look)
{
	const struct rk_report *r = what;

	(void)look;
	rk_bytes_printf(out, "{\"schema\":1,\n \"kernel_rows\":%" PRIu64, r->kernel_rows);
	put_if(out, "sum_duration_ns", r->sum_duration_ns, true);
	put_if(out, "min_start_ns", r->min_start_ns, r->timed);
	put_if(out, "max_end_ns", r->max_end_ns, r->timed);
	rk_bytes_puts(out, ",\n \"tables\":{");
	for (size_t i = 0; i < r->ntables; i++)
		rk_bytes_printf(out, "%s\"%s\":%" PRIu64, i ? "," : "", r->tables[i].name,
				r->tables[i].rows);
	rk_bytes_puts(out, "},\n \"stats_of\":");
	rk_put_json_text(out, r->stats_of);
	key(out, "by");
	rk_put_json_text(out, r->by);
	put_double(out, "median_error", r->median_error);

	for (unsigned s = 0; s < RK_NSECTIONS; s++) {
		const struct rk_report_section *sec = rk_report_section(r, (enum rk_section)s);
		bool energy = s == RK_SECTION_KERNELS && r->energy.ndevices;

		rk_bytes_printf(out, ",\n \"%s\":[", rk_section_key((enum rk_section)s));
		for (size_t i = 0; i < sec->nrows; i++) {
			next_line(out, i);
			json_row(out, &sec->rows[i], r->by, energy);
		}
		rk_bytes_put_u8(out, ']');
	}
	rk_bytes_puts(out, ",\n \"counters\":[");
	for (size_t i = 0; i < r->ncounters; i++) {
		const struct rk_report_counter *c = &r->counters[i];

		next_line(out, i);
		rk_bytes_puts(out, "{\"name\":");
		rk_put_json_text(out, c->name);
		rk_bytes_printf(out, ",\"rows\":%" PRIu64, c->rows);
		put_double(out, "sum", c->sum);
		put_double(out, "min", c->min);
		put_double(out, "max", c->max);
		rk_bytes_put_u8(out, '}');
	}
	rk_bytes_puts(out, "],\n \"energy\":");
	rk_energy_json(out, &r->energy, r->kept);
	rk_bytes_puts(out, ",\n \"samples\":");
	rk_samples_json(out, r->kept);
	rk_bytes_puts(out, ",\n \"hotspots\":");
	rk_hotspots_json_array(out, r->hotspots);
	if (r->ranks) {
		rk_bytes_puts(out, ",\n \"ranks\":");
		rk_ranks_json(out, r->ranks);
	}

	rk_bytes_puts(out, ",\n \"files\":[");
	for (size_t i = 0; i < r->nfiles; i++) {
		const struct rk_run_file *f = &r->files[i];

		next_line(out, i);
		rk_bytes_puts(out, "{\"path\":");
		rk_put_json_text(out, f->path);
		key(out, "format");
		rk_put_json_text(out, rk_text_or(f->format, NULL));
		put_bool(out, "used", f->used);
		key(out, "reason");
		rk_put_json_text(out, rk_text_or(f->reason, NULL));
		rk_bytes_put_u8(out, '}');
	}
	rk_bytes_put_u8(out, ']');
	rk_warnings_json(out, r->warnings, r->nwarnings);
	rk_bytes_puts(out, "\n}\n");
}

/* ---- CSV: the kernels, or the rows of a statistics file ---- */

static void csv_known(struct rk_bytes *out, int64_t v, bool known)
{
	rk_bytes_put_u8(out, ',');
	if (known)
		rk_put_integer(out, v);
}

static void csv_double(struct rk_bytes *out, double v)
{
	rk_bytes_put_u8(out, ',');
	rk_put_number(out, v, "");
}

static void report_csv(struct rk_bytes *out, const void *what, const struct rk_render_options *look)
{
	const struct rk_report *r = what;
	const struct rk_report_section *sec = &r->kernels;
	bool energy = sec->nrows && r->energy.ndevices;

	(void)look;
	if (!sec->nrows && r->stats_of)
		sec = rk_report_section(r, rk_section_of_stats(r->stats_of));
	rk_bytes_puts(out, "name");
	if (r->by)
		rk_bytes_printf(out, ",%s", r->by);
	rk_bytes_puts(out, ",calls,total_ns,mean_ns,min_ns,max_ns,median_ns,median_exact,"
			   "stddev_ns,percent,barrier");
	rk_bytes_puts(out, energy ? ",energy_j,energy_error_j\n" : "\n");
	for (size_t i = 0; i < sec->nrows; i++) {
		const struct rk_report_row *row = &sec->rows[i];

		rk_csv_cell(out, row->name, strlen(row->name));
		if (r->by)
			rk_bytes_printf(out, ",%s", row->key);
		rk_bytes_printf(out, ",%" PRIu64, row->calls);
		csv_known(out, row->total_ns, row->timed);
		csv_double(out, row->mean_ns);
		csv_known(out, row->min_ns, row->min_ns >= 0);
		csv_known(out, row->max_ns, row->max_ns >= 0);
		csv_double(out, row->median_ns);
		if (isfinite(row->median_ns))
			rk_bytes_puts(out, row->median_exact ? ",true" : ",false");
		else
			rk_bytes_put_u8(out, ',');
		csv_double(out, row->stddev_ns);
		csv_double(out, row->percent);
		rk_bytes_puts(out, row->barrier ? ",true" : ",false");
		if (energy) {
			csv_double(out, row->energy_j);
			csv_double(out, row->energy_error_j);
		}
		rk_bytes_put_u8(out, '\n');
	}
}

/* ---- text: aligned tables, hottest first ---- */

enum {
	WIDE_COLUMNS = 100, /* narrower terminals get no Min and Max */
	ERROR_COLUMNS = 6,
};

struct page {
	struct rk_page page;
	struct rk_bytes *out;
	const struct rk_report *r;
	const struct rk_render_options *opt;
	bool extremes; /* show Min and Max */
};

/* Column widths of one table. */
struct widths {
	size_t calls, key; /* key 0: no such column */
	bool energy;
	size_t before_name;
	double most; /* percent of the hottest row */
};

static struct widths measure(const struct page *p, const struct rk_report_section *s, size_t shown,
			     bool energy)
{
	struct widths w = { .energy = energy };
	uint64_t most = 0;

	if (p->r->by)
		w.key = strlen(p->r->by);
	for (size_t i = 0; i < shown; i++) {
		const struct rk_report_row *row = &s->rows[i];

		most = rk_max(most, row->calls);
		if (row->percent > w.most)
			w.most = row->percent;
		if (p->r->by)
			w.key = rk_max(w.key, strlen(row->key));
	}
	w.calls = rk_page_count_columns(most, "Calls");
	w.before_name = 6 + 1 + RK_PAGE_BAR + (RK_PAGE_TIME + 1) * 3 + w.calls + 1 + 2;
	if (p->extremes)
		w.before_name += (RK_PAGE_TIME + 1) * 2;
	if (energy)
		w.before_name += (RK_PAGE_TIME + 1) * 2 + ERROR_COLUMNS + 1;
	if (w.key)
		w.before_name += w.key + 1;
	return w;
}

static void put_heading(struct page *p, const struct widths *w)
{
	char by[16];

	rk_page_paint(&p->page, RK_BOLD);
	rk_bytes_puts(p->out, " Time%");
	rk_page_spaces(&p->page, 1 + RK_PAGE_BAR);
	rk_page_word(&p->page, "Total", RK_PAGE_TIME);
	rk_page_word(&p->page, "Calls", w->calls);
	rk_page_word(&p->page, "Mean", RK_PAGE_TIME);
	rk_page_word(&p->page, "Median", RK_PAGE_TIME);
	if (p->extremes) {
		rk_page_word(&p->page, "Min", RK_PAGE_TIME);
		rk_page_word(&p->page, "Max", RK_PAGE_TIME);
	}
	if (w->energy) {
		rk_page_word(&p->page, "Energy", RK_PAGE_TIME);
		rk_page_word(&p->page, p->opt->utf8 ? "±%" : "+-%", ERROR_COLUMNS);
		rk_page_word(&p->page, "J/call", RK_PAGE_TIME);
	}
	if (w->key) {
		size_t n = strnlen(p->r->by, sizeof(by) - 1);

		memcpy(by, p->r->by, n);
		by[n] = '\0';
		by[0] = (char)(by[0] - 'a' + 'A');
		rk_page_word(&p->page, by, w->key);
	}
	rk_page_last(&p->page, "  Name");
}

static void time_cell(struct page *p, int64_t ns, bool known)
{
	rk_page_time(&p->page, known ? (double)ns : NAN);
}

static void energy_cell(struct page *p, double joule)
{
	rk_put_energy(&p->page.cell, joule);
	rk_page_right(&p->page, RK_PAGE_TIME);
}

static void put_row(struct page *p, const struct rk_report_row *row, const struct widths *w)
{
	bool share = !row->barrier && isfinite(row->percent);
	double calls, error;
	const char *heat = "";

	if (share && row->percent >= 25)
		heat = RK_RED;
	else if (share && row->percent >= 10)
		heat = RK_YELLOW;
	rk_page_paint(&p->page, heat);
	if (share)
		rk_bytes_printf(p->out, "%6.2f", row->percent);
	else
		rk_bytes_puts(p->out, "     -");
	rk_page_bar(&p->page, share && w->most > 0 ? row->percent / w->most : 0);
	if (heat[0])
		rk_page_paint(&p->page, RK_NORMAL);
	time_cell(p, row->total_ns, row->timed);
	rk_page_count(&p->page, row->calls, w->calls);
	rk_page_time(&p->page, row->mean_ns);
	rk_page_time(&p->page, row->median_ns);
	if (p->extremes) {
		time_cell(p, row->min_ns, row->min_ns >= 0);
		time_cell(p, row->max_ns, row->max_ns >= 0);
	}
	if (w->energy) {
		energy_cell(p, row->energy_j);
		/* for kernels shorter than an interval the error is often above 100 % */
		error = 100 * row->energy_error_j / row->energy_j;
		if (!isfinite(error))
			rk_bytes_puts(&p->page.cell, "-");
		else if (error > 100)
			rk_bytes_puts(&p->page.cell, ">100");
		else
			rk_bytes_printf(&p->page.cell, "%.1f", error);
		rk_page_right(&p->page, ERROR_COLUMNS);
		calls = (double)row->energy_ns / row->mean_ns; /* measured calls */
		energy_cell(p, calls > 0 ? row->energy_j / calls : NAN);
	}
	if (w->key)
		rk_page_word(&p->page, rk_text_or(row->key, "-"), w->key);
	rk_page_rest(&p->page, rk_text_or(row->name, "(no name)"), w->before_name);
}

/* "Kernels: 1,234 calls of 12 names, 1.234 s in a span of 2.345 s", and the rows below it. */
static void put_section(struct page *p, enum rk_section which)
{
	const struct rk_report_section *s = rk_report_section(p->r, which);
	size_t shown = rk_page_shown(&p->page, s->nrows);
	bool kernels = which == RK_SECTION_KERNELS;
	struct widths w;
	double rest = 0;

	if (!s->nrows)
		return;
	rk_page_title(&p->page, rk_section_title(which));
	rk_bytes_puts(p->out, ": ");
	rk_put_grouped(p->out, s->calls);
	rk_bytes_printf(p->out, " call%s of ", rk_plural(s->calls));
	rk_put_grouped(p->out, s->nrows);
	rk_bytes_printf(p->out, " %s%s", p->r->by ? "group" : "name", rk_plural(s->nrows));
	if (s->total_ns) {
		rk_bytes_puts(p->out, kernels ? ", kernel time " : ", ");
		rk_put_duration(p->out, (double)s->total_ns);
	}
	if (kernels && p->r->timed) {
		rk_bytes_puts(p->out, " in a span of ");
		rk_put_duration(p->out, rk_report_span_ns(p->r));
	}
	rk_bytes_put_u8(p->out, '\n');

	w = measure(p, s, shown, kernels && p->r->energy.ndevices);
	put_heading(p, &w);
	for (size_t i = 0; i < shown; i++)
		put_row(p, &s->rows[i], &w);
	if (shown == s->nrows)
		return;
	for (size_t i = shown; i < s->nrows; i++)
		if (isfinite(s->rows[i].percent))
			rest += s->rows[i].percent;
	rk_page_paint(&p->page, RK_DIM);
	rk_bytes_printf(p->out, "%6.2f  and %zu more", rest, s->nrows - shown);
	rk_page_last(&p->page, "");
}

static void value_cell(struct page *p, double v)
{
	if (!isfinite(v))
		rk_bytes_puts(&p->page.cell, "-");
	else if (v == floor(v) && fabs(v) < 1e12)
		rk_bytes_printf(&p->page.cell, "%.0f", v);
	else
		rk_bytes_printf(&p->page.cell, "%.6g", v);
	rk_page_right(&p->page, 13);
}

static void put_counters(struct page *p)
{
	size_t shown = rk_page_shown(&p->page, p->r->ncounters);

	if (!shown)
		return;
	rk_page_title(&p->page, "Counters");
	rk_bytes_put_u8(p->out, '\n');
	rk_page_paint(&p->page, RK_BOLD);
	rk_page_last(&p->page,
		     "         Rows           Sum          Mean           Min           Max  Name");
	for (size_t i = 0; i < shown; i++) {
		const struct rk_report_counter *c = &p->r->counters[i];

		rk_page_count(&p->page, c->rows, 12);
		value_cell(p, c->sum);
		value_cell(p, c->sum / (double)c->rows);
		value_cell(p, c->min);
		value_cell(p, c->max);
		rk_page_rest(&p->page, c->name, 13 + 4 * 14 + 2);
	}
	if (shown < p->r->ncounters)
		rk_bytes_printf(p->out, "        and %zu more\n", p->r->ncounters - shown);
}

/* Lists tables without a section. */
static void put_other_tables(struct page *p)
{
	static const char *const in_sections[] = { "kernels", "memcpy",       "memalloc",
						   "api",     "markers",      "counters",
						   "stats",   "library_calls" };
	const struct rk_report_own *own = p->r->kept;
	bool first = true, sampled = own && own->nsamples;

	for (size_t i = 0; i < p->r->ntables; i++) {
		const struct rk_report_table *t = &p->r->tables[i];
		bool shown = t->rows == 0 || (sampled && strcmp("samples", t->name) == 0);

		for (size_t k = 0; k < sizeof(in_sections) / sizeof(in_sections[0]); k++)
			shown |= strcmp(in_sections[k], t->name) == 0;
		if (shown)
			continue;
		rk_bytes_puts(p->out, first ? "\nOther tables: " : ", ");
		rk_put_grouped(p->out, t->rows);
		rk_bytes_printf(p->out, " %s", t->name);
		first = false;
	}
	if (!first)
		rk_bytes_put_u8(p->out, '\n');
	if (p->r->hotspots)
		rk_bytes_puts(p->out, "Hottest instructions: rockit report --hotspots\n");
}

/* The file or the number of files, and the names of the readers used, without duplicates. */
static void put_source(struct page *p)
{
	const struct rk_run_file *files = p->r->files;
	size_t used = 0, one = 0, shown = 0;

	for (size_t i = 0; i < p->r->nfiles; i++) {
		if (files[i].used) {
			one = i;
			used++;
		}
	}
	if (used == 1)
		rk_put_printable(p->out, files[one].path, strlen(files[one].path), p->opt->utf8);
	else
		rk_bytes_printf(p->out, "%zu files", used);
	if (used < p->r->nfiles)
		rk_bytes_printf(p->out, ", %zu not used", p->r->nfiles - used);
	for (size_t i = 0; i < p->r->nfiles; i++) {
		bool seen = !files[i].used;

		for (size_t k = 0; k < i && !seen; k++)
			seen = files[k].used && strcmp(files[k].format, files[i].format) == 0;
		if (!seen)
			rk_bytes_printf(p->out, "%s%s", shown++ ? ", " : " (", files[i].format);
	}
	rk_bytes_puts(p->out, shown ? ")\n" : "\n");
	if (p->r->stats_of)
		rk_bytes_printf(p->out, "statistics file (%s): no individual rows, no medians\n",
				p->r->stats_of);
}

static void report_text(struct rk_bytes *out, const void *what, const struct rk_render_options *opt)
{
	const struct rk_report *r = what;
	struct page p = { .out = out, .r = r, .opt = opt };
	size_t start;

	rk_page_begin(&p.page, out, opt);
	p.extremes = !opt->columns || opt->columns >= WIDE_COLUMNS;
	put_source(&p);
	start = out->len;
	if (r->ranks)
		rk_ranks_text(&p.page, r->ranks);
	for (unsigned s = 0; s < RK_NSECTIONS; s++)
		put_section(&p, (enum rk_section)s);
	/* Beyond a number of durations, medians are computed from a histogram. */
	if (r->median_error > 0)
		rk_bytes_printf(out,
				"Medians of many rows are approximate: error at most %.2g %%\n",
				100 * r->median_error);
	rk_energy_text(&p.page, &r->energy, r->kept);
	rk_samples_text(&p.page, r->kept);
	put_counters(&p);
	put_other_tables(&p);
	if (out->len == start)
		rk_bytes_puts(out, "\nno rows\n");
	rk_page_end(&p.page);
}

int rk_report_render(const struct rk_report *r, const struct rk_render_options *opt,
		     char **ret_text, size_t *ret_len, struct rk_error *err)
{
	static rk_form *const forms[RK_NFORMS] = { report_text, rk_report_json, report_csv };

	return rk_render(forms, r, opt, ret_text, ret_len, __func__, err);
}

/* ---- without hosts, users and paths ---- */

int rk_report_machines(const struct rk_report *r, struct rk_list *ret, struct rk_error *err)
{
	const struct rk_report_own *own = r->kept;
	const struct rk_run *run = own ? own->run : NULL;

	for (size_t i = 0; run && i < run->records.n; i++)
		if (run->records.v[i].ours && run->records.v[i].text[RK_REC_NODE][0])
			rk_list_add_once(ret, run->records.v[i].text[RK_REC_NODE]);
	for (size_t i = 0; r->ranks && i < r->ranks->nranks; i++)
		if (r->ranks->ranks[i].node[0])
			rk_list_add_once(ret, r->ranks->ranks[i].node);
	for (size_t i = 0; own && i < own->nsamples; i++)
		if (own->samples[i].node[0])
			rk_list_add_once(ret, own->samples[i].node);
	for (size_t i = 0; i < r->energy.ndevices; i++)
		if (r->energy.devices[i].node[0])
			rk_list_add_once(ret, r->energy.devices[i].node);
	return ret->bad ? rk_fail_nomem(err) : 0;
}

int rk_report_redact(const struct rk_report *r, enum rk_report_format format, char **text,
		     size_t *len, struct rk_error *err)
{
	struct rk_redaction_self self;
	struct rk_list nodes = { 0 };
	struct rk_bytes out;
	char *made = NULL;
	int rc;

	if (!text || !*text || !len)
		return rk_misuse(__func__, err);
	if (rk_handle_use(RK_HANDLE_REPORT, r, __func__, err) < 0)
		return RK_E_USAGE;
	rk_bytes_init(&out, SIZE_MAX);
	rc = rk_report_machines(r, &nodes, err);
	if (rc < 0)
		goto out;
	rk_redaction_self(&self);
	self.who.nodes = nodes.v;
	self.who.nnodes = nodes.n;
	if (format == RK_REPORT_JSON)
		rk_redact_json(&out, *text, *len, true, &self.who);
	else
		rk_redact_text(&out, *text, &self.who);
	made = rk_bytes_str(&out) ? rk_strndup(rk_bytes_str(&out), out.len) : NULL;
	if (!made) {
		rc = rk_fail_nomem(err);
		goto out;
	}
	rk_free(*text);
	*text = made;
	*len = out.len;
out:
	rk_bytes_release(&out);
	rk_list_release(&nodes);
	rk_handle_drop(r);
	return rc;
}
