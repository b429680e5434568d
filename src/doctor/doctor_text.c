/* doctor_text.c - what the doctor found, for people: tools, GPUs, checks, verdict. */
#include <stdio.h>
#include <string.h>

#include "base/page.h"
#include "base/text.h"
#include "doctor/doctor_parts.h"

enum {
	MOST_COLUMNS = 100,
	LEAST_COLUMNS = 50,
	SUBJECT_COLUMNS = 24, /* a longer subject has its text on the next line */
	CELL_MAX_BYTES = 1 << 20,
};

struct page {
	struct rk_bytes *out;
	const struct rk_render_options *how;
	struct rk_bytes cell; /* scratch: text that is safe to print */
	size_t columns;       /* where lines end */
};

#define BOLD "\033[1m"
#define DIM "\033[2m"
#define RED "\033[31m"
#define GREEN "\033[32m"
#define YELLOW "\033[33m"
#define PLAIN "\033[0m"

static void paint(struct page *p, const char *code)
{
	if (p->how->color)
		rk_bytes_puts(p->out, code);
}

static void spaces(struct page *p, size_t n)
{
	rk_bytes_printf(p->out, "%*s", (int)n, "");
}

/* p->cell = s, safe to print; its width. */
static size_t load(struct page *p, const char *s)
{
	rk_bytes_clear(&p->cell);
	rk_put_printable(&p->cell, s, strlen(s), p->how->utf8);
	p->out->bad |= p->cell.bad;
	return rk_utf8_columns((const char *)p->cell.data, p->cell.len);
}

/* s, filled up to `width` and two blanks. Nothing where the column is empty. */
static void put_cell(struct page *p, const char *s, size_t width)
{
	size_t n = load(p, s);

	if (!width)
		return;
	rk_bytes_put(p->out, p->cell.data, p->cell.len);
	spaces(p, (n < width ? width - n : 0) + 2);
}

static void widen(struct page *p, size_t *width, const char *s)
{
	size_t n = load(p, s);

	if (n > *width)
		*width = n;
}

/* The words of s from column `at` on; further lines begin at column `indent`. */
static void put_words(struct page *p, const char *s, size_t at, size_t indent)
{
	const char *text, *end;
	bool first = true;

	load(p, s);
	text = (const char *)p->cell.data;
	end = text + p->cell.len;
	while (text < end) {
		const char *blank = memchr(text, ' ', (size_t)(end - text));
		size_t len = blank ? (size_t)(blank - text) : (size_t)(end - text);
		size_t n = rk_utf8_columns(text, len);

		if (!first && at + 1 + n > p->columns) {
			rk_bytes_put_u8(p->out, '\n');
			spaces(p, indent);
			at = indent;
		} else if (!first) {
			rk_bytes_put_u8(p->out, ' ');
			at++;
		}
		rk_bytes_put(p->out, text, len);
		at += n;
		text += len + (blank ? 1 : 0);
		first = false;
	}
	rk_bytes_put_u8(p->out, '\n');
}

static void put_title(struct page *p, const char *title)
{
	paint(p, BOLD);
	rk_bytes_puts(p->out, title);
	paint(p, PLAIN);
	rk_bytes_put_u8(p->out, '\n');
}

static const char *remark(const struct rk_tool_found *t)
{
	return !t->usable ? " (not executable)" : !t->first ? " (not used)" : "";
}

struct tool_widths {
	size_t name, version, rocm;
};

static void put_tool(struct page *p, const struct rk_tool_found *t, const struct tool_widths *w,
		     bool detail)
{
	size_t at =
		2 + w->name + 2 + (w->version ? w->version + 2 : 0) + (w->rocm ? w->rocm + 7 : 0);

	if (!t->first || !t->usable)
		paint(p, DIM);
	rk_bytes_puts(p->out, "  ");
	put_cell(p, t->name, w->name);
	put_cell(p, t->version, w->version);
	if (w->rocm)
		rk_bytes_puts(p->out, t->rocm[0] ? "ROCm " : "     ");
	put_cell(p, t->rocm, w->rocm);
	if (at + load(p, t->path) + strlen(remark(t)) > p->columns) {
		while (p->out->len && p->out->data[p->out->len - 1] == ' ')
			p->out->len--;
		rk_bytes_puts(p->out, "\n      ");
	}
	rk_bytes_put(p->out, p->cell.data, p->cell.len);
	rk_bytes_puts(p->out, remark(t));
	if (!t->first || !t->usable)
		paint(p, PLAIN);
	rk_bytes_put_u8(p->out, '\n');
	if (detail && t->options[0]) {
		spaces(p, 6);
		put_words(p, t->options, 6, 6);
	}
}

static void put_tools(struct page *p, const struct rk_tools_found *tools, bool detail)
{
	struct tool_widths w = { 0 };

	put_title(p, "Tools");
	for (size_t i = 0; i < tools->n; i++) {
		widen(p, &w.name, tools->tools[i].name);
		widen(p, &w.version, tools->tools[i].version);
		widen(p, &w.rocm, tools->tools[i].rocm);
	}
	for (size_t i = 0; i < tools->n; i++)
		put_tool(p, &tools->tools[i], &w, detail);
	if (!tools->n)
		rk_bytes_puts(p->out, "  none found\n");
}

enum { GPU_INDEX, GPU_NAME, GPU_GFX, GPU_CUS, GPU_MEMORY, GPU_PARTITION, GPU_PCI, GPU_CELLS };

/* One cell of a GPU's line; numbers are made in `number`. */
static const char *gpu_cell(const struct rk_gpu *g, unsigned column, char number[32])
{
	const double gib = 1024.0 * 1024.0 * 1024.0;

	switch (column) {
	case GPU_INDEX:
		snprintf(number, 32, "%d", g->index);
		return number;
	case GPU_NAME:
		return g->name;
	case GPU_GFX: /* as compilers name it: 9.0 is sm_90 */
		snprintf(number, 32, "sm_%.*s%s", (int)strcspn(g->compute, "."), g->compute,
			 strchr(g->compute, '.') ? strchr(g->compute, '.') + 1 : "");
		return g->compute[0] ? number : g->gfx;
	case GPU_CUS:
		snprintf(number, 32, "%u CUs", g->cu_count);
		return g->cu_count ? number : "";
	case GPU_MEMORY:
		snprintf(number, 32, "%.0f GiB", (double)g->memory_bytes / gib);
		return g->memory_bytes ? number : "";
	case GPU_PARTITION:
		return g->partition;
	default:
		return g->pci;
	}
}

static void put_gpus(struct page *p, const struct rk_gpus *gpus)
{
	size_t widths[GPU_CELLS] = { 0 };
	char number[32];

	rk_bytes_put_u8(p->out, '\n');
	put_title(p, "GPUs");
	for (size_t i = 0; i < gpus->n; i++)
		for (unsigned c = 0; c < GPU_CELLS; c++)
			widen(p, &widths[c], gpu_cell(&gpus->gpus[i], c, number));
	for (size_t i = 0; i < gpus->n; i++) {
		rk_bytes_puts(p->out, "  ");
		for (unsigned c = 0; c + 1 < GPU_CELLS; c++)
			put_cell(p, gpu_cell(&gpus->gpus[i], c, number), widths[c]);
		load(p, gpus->gpus[i].pci);
		rk_bytes_put(p->out, p->cell.data, p->cell.len);
		rk_bytes_put_u8(p->out, '\n');
	}
	if (!gpus->n)
		rk_bytes_puts(p->out, "  none found\n");
}

static void put_check(struct page *p, const struct rk_doctor_check *c, size_t width)
{
	static const char *const colors[] = { GREEN, "", YELLOW, RED };
	size_t indent = 2 + 4 + 2 + width + 2;

	rk_bytes_puts(p->out, "  ");
	paint(p, colors[c->status]);
	rk_bytes_printf(p->out, "%-4s", rk_doctor_status_word(c->status));
	paint(p, colors[c->status][0] ? PLAIN : "");
	rk_bytes_puts(p->out, "  ");
	if (load(p, c->subject) > width) {
		rk_bytes_put(p->out, p->cell.data, p->cell.len);
		rk_bytes_put_u8(p->out, '\n');
		spaces(p, indent);
	} else {
		put_cell(p, c->subject, width);
	}
	put_words(p, c->text, indent, indent);
	if (!c->advice[0])
		return;
	spaces(p, indent);
	rk_bytes_puts(p->out, "-> ");
	put_words(p, c->advice, indent + 3, indent + 3);
}

static void put_checks(struct page *p, const struct rk_doctor *d)
{
	size_t width = 0;

	rk_bytes_put_u8(p->out, '\n');
	put_title(p, "Checks");
	for (size_t i = 0; i < d->nchecks; i++) {
		size_t n = load(p, d->checks[i].subject);

		if (n > width && n <= SUBJECT_COLUMNS)
			width = n;
	}
	for (size_t i = 0; i < d->nchecks; i++)
		put_check(p, &d->checks[i], width);
}

void rk_doctor_text(struct rk_bytes *out, const struct rk_doctor *d,
		    const struct rk_render_options *how, bool detail)
{
	struct page p = { .out = out, .how = how, .columns = MOST_COLUMNS };

	if (how->columns && how->columns < MOST_COLUMNS)
		p.columns = how->columns > LEAST_COLUMNS ? how->columns : LEAST_COLUMNS;
	rk_bytes_init(&p.cell, CELL_MAX_BYTES);
	put_tools(&p, &d->tools, detail);
	put_gpus(&p, &d->gpus);
	put_checks(&p, d);
	rk_bytes_put_u8(out, '\n');
	put_title(&p, "Verdict");
	rk_bytes_puts(out, "  ");
	paint(&p, d->ready ? GREEN : YELLOW);
	put_words(&p, d->verdict, 2, 2);
	paint(&p, PLAIN);
	rk_bytes_release(&p.cell);
}
