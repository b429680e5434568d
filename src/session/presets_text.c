/* presets_text.c - presets for people. */
#include <stdio.h>
#include <string.h>

#include "report/report_parts.h"
#include "session/presets_parts.h"

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

static void put_pc(struct rk_bytes *out, const struct rk_preset *p)
{
	char text[128];

	if (!p->pc_method[0])
		return;
	if (p->pc_interval)
		snprintf(text, sizeof(text), "method %.20s, unit %.20s, interval %" PRIu64,
			 p->pc_method, p->pc_unit, p->pc_interval);
	else
		snprintf(text, sizeof(text), "method %.20s, unit %.20s, interval auto",
			 p->pc_method, p->pc_unit);
	put_line(out, "PC sampling", text);
}

static void put_interval(struct rk_bytes *out, const struct rk_preset *p)
{
	char text[32];

	if (!p->monitor_interval_ms)
		return;
	snprintf(text, sizeof(text), "%u ms", p->monitor_interval_ms);
	put_line(out, "every", text);
}

void rk_preset_text(struct rk_bytes *out, const struct rk_preset *p)
{
	rk_put_printable(out, p->name, strlen(p->name), true);
	rk_bytes_puts(out, ": ");
	put_wrapped(out, p->description, 2);
	put_line(out, "for", p->use_case);
	put_line(out, "overhead", p->overhead);
	put_line(out, "extends", p->extends);
	put_list(out, "traces", p->traces, ", ");
	put_line(out, "statistics", p->stats ? "yes" : "");
	put_line(out, "counters", p->counters);
	put_pc(out, p);
	put_list(out, "monitors", p->monitors, ", ");
	put_interval(out, p);
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

/* The overhead's first word: what stands before the colon. */
static size_t level_length(const char *overhead)
{
	size_t len = strcspn(overhead, ":");

	return overhead[len] && len <= 12 ? len : strcspn(overhead, " :,");
}

void rk_presets_text(struct rk_bytes *out, const struct rk_preset *const *presets, size_t n)
{
	size_t widest = 4;

	for (size_t i = 0; i < n; i++)
		if (strlen(presets[i]->name) > widest && strlen(presets[i]->name) <= 24)
			widest = strlen(presets[i]->name);
	rk_bytes_printf(out, "%-*s  %-8s  %s\n", (int)widest, "name", "overhead",
			"what it collects");
	for (size_t i = 0; i < n; i++) {
		const struct rk_preset *p = presets[i];
		size_t len = strlen(p->name), level = level_length(p->overhead);

		rk_put_printable(out, p->name, len, true);
		put_blanks(out, len < widest ? widest - len + 2 : 2);
		rk_put_printable(out, p->overhead, level, true);
		put_blanks(out, level < 8 ? 8 - level + 2 : 2);
		rk_put_printable(out, p->description, strlen(p->description), true);
		rk_bytes_put_u8(out, '\n');
	}
}
