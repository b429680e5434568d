/* hotspots_text.c - hotspots for people: per kernel the hottest instructions and lines. */
#include <math.h>
#include <string.h>

#include "base/page.h"
#include "report/hotspots_parts.h"
#include "report/report_parts.h"

enum { REASON = 24, HEAD_REASONS = 5 };

struct page {
	struct rk_page page;
	struct rk_bytes *out;
	const struct rk_hotspot_kernel *k; /* the one at hand */
};

static size_t shown_of(const struct page *p, size_t n)
{
	return p->page.look->top && p->page.look->top < n ? p->page.look->top : n;
}

static double share(uint64_t part, uint64_t whole)
{
	return whole ? 100 * (double)part / (double)whole : 0;
}

static void put_name(struct page *p, const char *name)
{
	if (!*name)
		name = "(kernel not known)";
	rk_put_printable(p->out, name, strlen(name), p->page.look->utf8);
}

/* "stalled 81.0 %: WAITCNT 65.0, ALU_DEPENDENCY 10.2" */
static void put_reasons(struct page *p)
{
	const struct rk_hotspot *s = &p->k->sum;

	if (!s->stalled)
		return;
	rk_bytes_printf(p->out, "; stalled %.1f %%", share(s->stalled, s->weight));
	for (size_t i = 0; i < s->nstalls && i < HEAD_REASONS; i++) {
		rk_bytes_puts(p->out, i ? ", " : ": ");
		rk_put_printable(p->out, s->stalls[i].reason, strlen(s->stalls[i].reason),
				 p->page.look->utf8);
		rk_bytes_printf(p->out, " %.1f", share(s->stalls[i].samples, s->weight));
	}
}

static void put_totals(struct page *p)
{
	const struct rk_hotspot_kernel *k = p->k;

	rk_bytes_put_u8(p->out, '\n');
	rk_page_paint(&p->page, RK_BOLD);
	put_name(p, k->name);
	rk_page_paint(&p->page, RK_NORMAL);
	rk_bytes_puts(p->out, "\n  ");
	rk_put_grouped(p->out, k->sum.weight);
	rk_bytes_printf(p->out, " %s, %.2f %% of all",
			k->from == RK_FROM_THREAD_TRACE ? "cycles of latency in the thread trace" :
			k->sum.weight == 1              ? "sample" :
							  "samples",
			k->percent);
	if (k->calls) {
		rk_bytes_puts(p->out, "; ");
		rk_put_grouped(p->out, k->calls);
		rk_bytes_printf(p->out, " call%s, ", k->calls == 1 ? "" : "s");
		rk_put_duration(p->out, (double)k->total_ns);
	}
	put_reasons(p);
	rk_bytes_put_u8(p->out, '\n');
}

static void put_heading(struct page *p, size_t columns, const char *what)
{
	bool samples = p->k->from == RK_FROM_PC_SAMPLES;

	rk_page_paint(&p->page, RK_BOLD);
	rk_bytes_puts(p->out, "     %");
	rk_page_spaces(&p->page, 1 + RK_PAGE_BAR);
	rk_page_word(&p->page, samples ? "Samples" : "Cycles", columns);
	rk_page_word(&p->page, "Stall%", 6);
	if (samples) {
		rk_bytes_puts(&p->page.cell, " Reason");
		rk_page_left(&p->page, REASON);
	} else {
		rk_page_word(&p->page, "Hits", columns);
	}
	rk_bytes_printf(p->out, "  %s", what);
	rk_page_paint(&p->page, RK_NORMAL);
	rk_bytes_put_u8(p->out, '\n');
}

/* The reason that holds it most, and how much of its samples when it is not alone. */
static void reason_cell(struct page *p, const struct rk_hotspot *s)
{
	struct rk_bytes *cell = &p->page.cell;

	rk_bytes_put_u8(cell, ' ');
	if (s->nstalls)
		rk_put_printable(cell, s->stalls[0].reason,
				 strnlen(s->stalls[0].reason, REASON - 8), p->page.look->utf8);
	if (s->nstalls > 1)
		rk_bytes_printf(cell, " %.0f%%", share(s->stalls[0].samples, s->weight));
	rk_page_left(&p->page, REASON);
}

/* The file without its folders: what is left of a line is for the instruction. */
static const char *short_source(const char *source)
{
	const char *slash = strrchr(source, '/');

	return slash ? slash + 1 : source;
}

static void put_text(struct page *p, const struct rk_hotspot *s, size_t used)
{
	struct rk_bytes text;

	rk_bytes_init(&text, 1 << 16);
	if (!s->instruction)
		rk_bytes_puts(&text, s->source);
	else if (*s->source)
		rk_bytes_printf(&text, "%s  (%s)", s->instruction, short_source(s->source));
	else
		rk_bytes_puts(&text, *s->instruction ? s->instruction : "(instruction not known)");
	rk_page_rest(&p->page, text.bad ? "" : rk_bytes_str(&text), used);
	rk_bytes_release(&text);
}

static void put_spot(struct page *p, const struct rk_hotspot *s, size_t columns, double most)
{
	bool samples = p->k->from == RK_FROM_PC_SAMPLES;

	rk_bytes_printf(p->out, "%6.2f", s->percent);
	rk_page_bar(&p->page, most > 0 ? s->percent / most : 0);
	rk_page_count(&p->page, s->weight, columns);
	/* a sampler that traps the host does not know what a wave waits for */
	if (p->k->sum.stalled)
		rk_bytes_printf(p->out, " %6.1f", share(s->stalled, s->weight));
	else
		rk_bytes_puts(p->out, "      -");
	if (samples)
		reason_cell(p, s);
	else
		rk_page_count(&p->page, s->hits, columns);
	put_text(p, s,
		 6 + 1 + RK_PAGE_BAR + columns + 1 + 7 + 1 + (samples ? REASON : columns) + 2);
}

static void put_spots(struct page *p, const char *what, const struct rk_hotspot *s, size_t n)
{
	size_t shown = shown_of(p, n), columns;
	uint64_t most = 0, rest = 0;

	if (!n)
		return;
	for (size_t i = 0; i < shown; i++) {
		most = s[i].weight > most ? s[i].weight : most;
		most = s[i].hits > most ? s[i].hits : most;
	}
	columns = rk_page_count_columns(most, "Samples");
	put_heading(p, columns, what);
	for (size_t i = 0; i < shown; i++)
		put_spot(p, &s[i], columns, s[0].percent);
	for (size_t i = shown; i < n; i++)
		rest += s[i].weight;
	if (shown == n)
		return;
	rk_page_paint(&p->page, RK_DIM);
	rk_bytes_printf(p->out, "%6.2f  and %zu more", share(rest, p->k->sum.weight), n - shown);
	rk_page_paint(&p->page, RK_NORMAL);
	rk_bytes_put_u8(p->out, '\n');
}

static void put_silent(struct page *p, const struct rk_hotspots *h)
{
	size_t shown = shown_of(p, h->nsilent);

	if (!shown)
		return;
	rk_page_title(&p->page, "Without samples");
	rk_bytes_printf(p->out, ": %zu kernel%s of the trace\n", h->nsilent,
			h->nsilent == 1 ? "" : "s");
	for (size_t i = 0; i < shown; i++) {
		rk_page_time(&p->page, (double)h->silent[i].total_ns);
		rk_page_count(&p->page, h->silent[i].calls, 10);
		rk_bytes_puts(p->out, h->silent[i].calls == 1 ? " call " : " calls");
		rk_page_rest(&p->page, h->silent[i].name, RK_PAGE_TIME + 1 + 11 + 6 + 2);
	}
	if (shown < h->nsilent)
		rk_bytes_printf(p->out, "  and %zu more\n", h->nsilent - shown);
}

void rk_hotspots_text(struct rk_bytes *out, const struct rk_hotspots *h,
		      const struct rk_render_options *look)
{
	struct page p = { .out = out };
	size_t shown;

	rk_page_begin(&p.page, out, look);
	shown = shown_of(&p, h->nkernels);
	if (!h->nkernels)
		rk_bytes_puts(out, "no PC samples and no thread trace in this run; "
				   "'rockit run -p pc_sampling -- PROGRAM' takes samples\n");
	else
		rk_bytes_printf(out, "Hotspots of %zu kernel%s\n", h->nkernels,
				h->nkernels == 1 ? "" : "s");
	for (size_t i = 0; i < shown; i++) {
		p.k = &h->kernels[i];
		put_totals(&p);
		put_spots(&p, "Instruction", p.k->instructions, p.k->ninstructions);
		put_spots(&p, "Line", p.k->lines, p.k->nlines);
	}
	if (shown < h->nkernels)
		rk_bytes_printf(out, "\nand %zu more kernel%s\n", h->nkernels - shown,
				h->nkernels - shown == 1 ? "" : "s");
	put_silent(&p, h);
	rk_page_end(&p.page);
}
