/* preset_page.c - presets as text, JSON and CSV. */
#include <stdio.h>
#include <string.h>

#include "base/handle.h"
#include "base/json_out.h"
#include "base/page.h"
#include "base/text.h"
#include "rockit/preset.h"
#include "session/preset_draft.h"

/* ---- text ---- */

enum { LABEL_COLUMNS = 14, WIDTH = 96 };

static void put_blanks(struct rk_bytes *out, size_t n)
{
	while (n--)
		rk_bytes_put_u8(out, ' ');
}

/* The words of `s` in lines of WIDTH, all but the first indented; `column` is where it begins. */
static void put_wrapped(struct rk_bytes *out, const char *s, size_t column)
{
	size_t at = column;

	while (*(s += strspn(s, " \n"))) {
		size_t len = strcspn(s, " \n");

		if (at > column && at + 1 + len > WIDTH) {
			rk_bytes_put_u8(out, '\n');
			put_blanks(out, column);
			at = column;
		} else if (at > column) {
			rk_bytes_put_u8(out, ' ');
			at++;
		}
		rk_put_printable(out, s, len, true);
		at += len;
		s += len;
	}
	rk_bytes_put_u8(out, '\n');
}

static void put_line(struct rk_bytes *out, const char *label, const char *value)
{
	size_t len = strlen(label);

	if (!value[0])
		return;
	put_blanks(out, 2);
	rk_bytes_puts(out, label);
	put_blanks(out, len < LABEL_COLUMNS ? LABEL_COLUMNS - len : 1);
	put_wrapped(out, value, 2 + LABEL_COLUMNS);
}

/* A list on one line of the page. */
static void put_list(struct rk_bytes *out, const char *label, const char *const *list,
		     const char *between)
{
	struct rk_bytes text;

	rk_bytes_init(&text, 1 << 20);
	for (; *list; list++) {
		rk_bytes_puts(&text, *list);
		if (list[1])
			rk_bytes_puts(&text, between);
	}
	if (text.len)
		put_line(out, label, rk_bytes_str(&text) ? rk_bytes_str(&text) : "");
	out->bad |= text.bad;
	rk_bytes_release(&text);
}

/* A list with a line for each of its members. */
static void put_lines(struct rk_bytes *out, const char *label, const char *const *list)
{
	for (; *list; list++, label = "") {
		put_blanks(out, 2);
		rk_bytes_printf(out, "%-*s", LABEL_COLUMNS, label);
		put_wrapped(out, *list, 2 + LABEL_COLUMNS);
	}
}

/* One preset in full. */
static void put_preset(struct rk_bytes *out, const struct rk_preset *p)
{
	char text[128];

	rk_put_printable(out, p->name, strlen(p->name), true);
	rk_bytes_puts(out, ": ");
	put_wrapped(out, p->description, 2);
	put_line(out, "for", p->use_case);
	put_line(out, "overhead", p->overhead);
	put_line(out, "extends", p->extends);
	put_list(out, "traces", p->traces, ", ");
	if (p->stats)
		put_line(out, "statistics", "yes");
	if (p->timeline[0])
		put_line(out, "timeline", rk_timeline_file(p->timeline));
	put_line(out, "counters", p->counters);
	if (p->pc_method[0]) {
		char interval[32] = "auto";

		if (p->pc_interval)
			snprintf(interval, sizeof(interval), "%" PRIu64, p->pc_interval);
		snprintf(text, sizeof(text), "method %.20s, unit %.20s, interval %s", p->pc_method,
			 p->pc_unit, interval);
		put_line(out, "PC sampling", text);
	}
	put_list(out, "monitors", p->monitors, ", ");
	if (p->monitor_interval_ms) {
		snprintf(text, sizeof(text), "%u ms", p->monitor_interval_ms);
		put_line(out, "every", text);
	}
	put_list(out, "libraries", p->libraries, ", ");
	put_lines(out, "environment", p->env);
	put_list(out, "tool options", p->tool_args, " ");
	put_list(out, "launcher", p->distributed, ", ");
	put_list(out, "SLURM", p->slurm, ", ");
	put_lines(out, "delivers", p->delivers);
	put_lines(out, "notes", p->notes);
	put_list(out, "ignored", p->ignored, ", ");
	put_line(out, "source", p->source);
}

/* What is rendered. */
struct shown {
	const struct rk_preset *const *presets;
	size_t n;
	bool full; /* one preset with all its details */
};

static void put_text(struct rk_bytes *out, const void *what, const struct rk_render_options *look)
{
	const struct shown *s = what;
	const struct rk_preset *const *presets = s->presets;
	size_t n = s->n, widest = 4;

	(void)look;
	if (s->full) {
		put_preset(out, presets[0]);
		return;
	}
	for (size_t i = 0; i < n; i++)
		if (strlen(presets[i]->name) > widest && strlen(presets[i]->name) <= 24)
			widest = strlen(presets[i]->name);
	rk_bytes_printf(out, "%-*s  %-8s  %s\n", (int)widest, "name", "overhead", "collects");
	for (size_t i = 0; i < n; i++) {
		const struct rk_preset *p = presets[i];
		size_t len = strlen(p->name), level = strcspn(p->overhead, ":");

		/* the overhead's first word: the text before the colon */
		if (!p->overhead[level] || level > 12)
			level = strcspn(p->overhead, " :,");

		rk_put_printable(out, p->name, len, true);
		put_blanks(out, len < widest ? widest - len + 2 : 2);
		rk_put_printable(out, p->overhead, level, true);
		put_blanks(out, level < 8 ? 8 - level + 2 : 2);
		rk_put_printable(out, p->description, strlen(p->description), true);
		rk_bytes_put_u8(out, '\n');
	}
}

/* ---- JSON and CSV ---- */

/* Borrows `list` as a struct rk_list. */
static struct rk_list view(const char *const *list)
{
	struct rk_list l = { .v = (char **)list };

	while (list[l.n])
		l.n++;
	return l;
}

static void list_json(struct rk_json_out *j, const char *key, const char *const *list)
{
	struct rk_list l = view(list);

	rk_json_list(j, key, &l);
}

static void pairs_json(struct rk_json_out *j, const char *key, const char *const *list)
{
	struct rk_list l = view(list);

	rk_json_pairs(j, key, &l);
}

static void preset_json(struct rk_json_out *j, const char *key, const struct rk_preset *p)
{
	rk_json_object(j, key);
	rk_json_text(j, "name", p->name);
	rk_json_text(j, "extends", p->extends[0] ? p->extends : NULL);
	rk_json_text(j, "description", p->description);
	rk_json_text(j, "use_case", p->use_case);
	rk_json_text(j, "overhead", p->overhead);
	list_json(j, "traces", p->traces);
	rk_json_bool(j, "stats", p->stats);
	rk_json_text(j, "timeline", p->timeline[0] ? p->timeline : NULL);
	rk_json_text(j, "counters", p->counters[0] ? p->counters : NULL);
	if (p->pc_method[0]) {
		rk_json_object_flat(j, "pc_sampling");
		rk_json_text(j, "method", p->pc_method);
		rk_json_text(j, "unit", p->pc_unit);
		if (p->pc_interval)
			rk_json_uint(j, "interval", p->pc_interval);
		else
			rk_json_text(j, "interval", "auto");
		rk_json_close(j);
	} else {
		rk_json_null(j, "pc_sampling");
	}
	list_json(j, "monitors", p->monitors);
	if (p->monitor_interval_ms)
		rk_json_uint(j, "monitor_interval_ms", p->monitor_interval_ms);
	else
		rk_json_null(j, "monitor_interval_ms");
	list_json(j, "libraries", p->libraries);
	pairs_json(j, "env", p->env);
	list_json(j, "tool_args", p->tool_args);
	pairs_json(j, "distributed", p->distributed);
	pairs_json(j, "slurm", p->slurm);
	rk_json_object(j, "delivers");
	for (const char *const *d = p->delivers; *d; d++) {
		/* "rocprofv3: ..." as a member of its own */
		size_t len = strcspn(*d, ":");
		char tool[64] = "";

		if (!(*d)[len] || !len || len >= sizeof(tool))
			continue;
		memcpy(tool, *d, len);
		rk_json_text(j, tool, *d + len + 1 + strspn(*d + len + 1, " "));
	}
	rk_json_close(j);
	rk_json_array(j, "notes");
	for (const char *const *n = p->notes; *n; n++)
		rk_json_text(j, NULL, *n);
	rk_json_close(j);
	list_json(j, "ignored", p->ignored);
	rk_json_text(j, "source", p->source);
	rk_json_close(j);
}

static void put_json(struct rk_bytes *out, const void *what, const struct rk_render_options *look)
{
	const struct shown *s = what;
	struct rk_json_out j;

	(void)look;
	rk_json_begin(&j, out);
	rk_json_int(&j, "schema", 1);
	if (s->full) {
		preset_json(&j, "preset", s->presets[0]);
	} else {
		rk_json_array(&j, "presets");
		for (size_t i = 0; i < s->n; i++)
			preset_json(&j, NULL, s->presets[i]);
		rk_json_close(&j);
	}
	rk_json_end(&j);
}

/* A list as one cell, separated by blanks: no word contains one. */
static void put_cells(struct rk_bytes *out, const char *const *list)
{
	for (; *list; list++) {
		rk_csv_cell(out, *list, strlen(*list));
		if (list[1])
			rk_bytes_put_u8(out, ' ');
	}
	rk_bytes_put_u8(out, ',');
}

static void put_csv(struct rk_bytes *out, const void *what, const struct rk_render_options *look)
{
	const struct shown *s = what;

	(void)look;
	rk_bytes_puts(out, "name,overhead,description,use_case,traces,stats,counters,monitors,"
			   "libraries,source\n");
	for (size_t i = 0; i < s->n; i++) {
		const struct rk_preset *p = s->presets[i];

		rk_csv_text(out, p->name, ',');
		rk_csv_text(out, p->overhead, ',');
		rk_csv_text(out, p->description, ',');
		rk_csv_text(out, p->use_case, ',');
		put_cells(out, p->traces);
		rk_csv_text(out, p->stats ? "true" : "false", ',');
		rk_csv_text(out, p->counters, ',');
		put_cells(out, p->monitors);
		put_cells(out, p->libraries);
		rk_csv_text(out, p->source, '\n');
	}
}

int rk_presets_render(const struct rk_preset *const *presets, size_t n, bool full,
		      enum rk_report_format format, char **ret_text, size_t *ret_len,
		      struct rk_error *err)
{
	static rk_form *const forms[RK_NFORMS] = { put_text, put_json, put_csv };
	const struct rk_render_options look = { .format = format };
	const struct shown s = { .presets = presets, .n = n, .full = full };

	if ((n && !presets) || (full && !n))
		return rk_misuse(__func__, err);
	for (size_t i = 0; i < n; i++)
		if (!presets[i])
			return rk_misuse(__func__, err);
	return rk_render(forms, &s, &look, ret_text, ret_len, __func__, err);
}
