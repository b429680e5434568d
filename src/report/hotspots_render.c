/* hotspots_render.c - hotspots as text, JSON and CSV. */
#include <string.h>

#include "base/num.h"
#include "base/page.h"
#include "base/text.h"
#include "report/report_parts.h"
#include "rockit/hotspots.h"

/* ---- JSON: an object per kernel, a line per instruction ---- */

static const char *from_name(enum rk_hotspot_from from)
{
	return from == RK_FROM_PC_SAMPLES ? "pc_samples" : "thread_trace";
}

static void put_count(struct rk_bytes *out, const char *key, uint64_t v)
{
	rk_bytes_printf(out, ",\"%s\":%" PRIu64, key, v);
}

/* Keys of all hotspots: weight, percent, stalls. */
static void put_numbers(struct rk_bytes *out, const struct rk_hotspot *s, enum rk_hotspot_from from,
			double percent)
{
	put_count(out, from == RK_FROM_PC_SAMPLES ? "samples" : "cycles", s->weight);
	rk_bytes_puts(out, ",\"percent\":");
	rk_put_number(out, percent, "null");
	put_count(out, "stalled", s->stalled);
	if (from != RK_FROM_PC_SAMPLES) {
		put_count(out, "hits", s->hits);
		put_count(out, "idle", s->idle);
		return;
	}
	rk_bytes_puts(out, ",\"stalls\":{");
	for (size_t i = 0; i < s->nstalls; i++) {
		if (i)
			rk_bytes_put_u8(out, ',');
		rk_put_json_text(out, s->stalls[i].reason);
		rk_bytes_printf(out, ":%" PRIu64, s->stalls[i].samples);
	}
	rk_bytes_put_u8(out, '}');
}

static void json_spots(struct rk_bytes *out, const char *key, const struct rk_hotspot *s, size_t n,
		       enum rk_hotspot_from from)
{
	rk_bytes_printf(out, ",\n   \"%s\":[", key);
	for (size_t i = 0; i < n; i++, s++) {
		rk_bytes_puts(out, i ? ",\n    {" : "\n    {");
		if (s->instruction) {
			rk_bytes_puts(out, "\"instruction\":");
			rk_put_json_text(out, rk_text_or(s->instruction, NULL));
			rk_bytes_put_u8(out, ',');
		}
		rk_bytes_puts(out, "\"source\":");
		rk_put_json_text(out, rk_text_or(s->source, NULL));
		if (s->instruction && from == RK_FROM_THREAD_TRACE)
			put_count(out, "vaddr", (uint64_t)s->vaddr);
		put_numbers(out, s, from, s->percent);
		rk_bytes_put_u8(out, '}');
	}
	rk_bytes_put_u8(out, ']');
}

void rk_hotspots_json_array(struct rk_bytes *out, const struct rk_hotspots *h)
{
	rk_bytes_put_u8(out, '[');
	for (size_t i = 0; h && i < h->nkernels; i++) {
		const struct rk_hotspot_kernel *k = &h->kernels[i];

		rk_bytes_puts(out, i ? ",\n  {\"kernel\":" : "\n  {\"kernel\":");
		rk_put_json_text(out, rk_text_or(k->name, NULL));
		rk_bytes_printf(out, ",\"from\":\"%s\",\"calls\":", from_name(k->from));
		if (k->calls)
			rk_bytes_printf(out, "%" PRIu64 ",\"total_ns\":%" PRId64, k->calls,
					k->total_ns);
		else
			rk_bytes_puts(out, "null,\"total_ns\":null");
		put_numbers(out, &k->sum, k->from, k->percent);
		json_spots(out, "instructions", k->instructions, k->ninstructions, k->from);
		json_spots(out, "lines", k->lines, k->nlines, k->from);
		rk_bytes_put_u8(out, '}');
	}
	rk_bytes_put_u8(out, ']');
}

static void hotspots_json(struct rk_bytes *out, const void *what,
			  const struct rk_render_options *look)
{
	const struct rk_hotspots *h = what;

	(void)look;
	rk_bytes_printf(out, "{\"schema\":1,\n \"samples\":%" PRIu64 ",\"cycles\":%" PRIu64,
			h->samples, h->cycles);
	rk_bytes_puts(out, ",\n \"hotspots\":");
	rk_hotspots_json_array(out, h);
	rk_bytes_puts(out, ",\n \"unsampled\":[");
	for (size_t i = 0; i < h->nsilent; i++) {
		rk_bytes_puts(out, i ? ",\n  {\"name\":" : "\n  {\"name\":");
		rk_put_json_text(out, rk_text_or(h->silent[i].name, NULL));
		rk_bytes_printf(out, ",\"calls\":%" PRIu64 ",\"total_ns\":%" PRId64 "}",
				h->silent[i].calls, h->silent[i].total_ns);
	}
	rk_bytes_put_u8(out, ']');
	rk_warnings_json(out, h->warnings, h->nwarnings);
	rk_bytes_puts(out, "\n}\n");
}

/* ---- CSV: a row per instruction ---- */

static void csv_row(struct rk_bytes *out, const struct rk_hotspot_kernel *k,
		    const struct rk_hotspot *s)
{
	const char *const texts[] = { k->name, from_name(k->from), s->instruction, s->source };
	bool samples = k->from == RK_FROM_PC_SAMPLES;
	struct rk_bytes stalls; /* "WAITCNT=12 ALU_DEPENDENCY=3" */

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		rk_csv_cell(out, texts[i], strlen(texts[i]));
		rk_bytes_put_u8(out, ',');
	}
	if (s->vaddr != -1)
		rk_bytes_printf(out, "%" PRIu64, (uint64_t)s->vaddr);
	rk_bytes_printf(out, samples ? ",%" PRIu64 ",," : ",,%" PRIu64 ",", s->weight);
	rk_put_number(out, s->percent, "");
	rk_bytes_printf(out, ",%" PRIu64 ",", s->stalled);
	if (samples)
		rk_bytes_puts(out, ",,");
	else
		rk_bytes_printf(out, "%" PRIu64 ",%" PRIu64 ",", s->hits, s->idle);
	rk_bytes_init(&stalls, 1 << 20);
	for (size_t i = 0; i < s->nstalls; i++)
		rk_bytes_printf(&stalls, "%s%s=%" PRIu64, i ? " " : "", s->stalls[i].reason,
				s->stalls[i].samples);
	rk_csv_cell(out, (const char *)stalls.data, stalls.len);
	out->bad |= stalls.bad;
	rk_bytes_release(&stalls);
	rk_bytes_put_u8(out, '\n');
}

static void hotspots_csv(struct rk_bytes *out, const void *what,
			 const struct rk_render_options *look)
{
	const struct rk_hotspots *h = what;

	(void)look;
	rk_bytes_puts(out,
		      "kernel,from,instruction,source,vaddr,samples,cycles,percent,stalled,hits,"
		      "idle,stalls\n");
	for (size_t i = 0; i < h->nkernels; i++)
		for (size_t k = 0; k < h->kernels[i].ninstructions; k++)
			csv_row(out, &h->kernels[i], &h->kernels[i].instructions[k]);
}

/* ---- text: the hottest instructions and lines of each kernel ---- */

enum { REASON = 24, HEAD_REASONS = 5 };

struct page {
	struct rk_page page;
	struct rk_bytes *out;
	const struct rk_hotspot_kernel *k; /* the current kernel */
};

static double share(uint64_t part, uint64_t whole)
{
	return whole ? 100 * (double)part / (double)whole : 0;
}

/* "12 samples, 3.00 % of all; 2 calls, 1.2 ms; stalled 81.0 %: WAITCNT 65.0, ALU_DEPENDENCY 10.2" */
static void put_totals(struct page *p)
{
	const struct rk_hotspot_kernel *k = p->k;
	const struct rk_hotspot *s = &k->sum;
	const char *name = rk_text_or(k->name, "(unknown kernel)");

	rk_bytes_put_u8(p->out, '\n');
	rk_page_paint(&p->page, RK_BOLD);
	rk_put_printable(p->out, name, strlen(name), p->page.look->utf8);
	rk_page_last(&p->page, "");
	rk_bytes_puts(p->out, "  ");
	rk_put_grouped(p->out, s->weight);
	if (k->from == RK_FROM_THREAD_TRACE)
		rk_bytes_puts(p->out, " cycles of latency (thread trace)");
	else
		rk_bytes_printf(p->out, " sample%s", rk_plural(s->weight));
	rk_bytes_printf(p->out, ", %.2f %% of all", k->percent);
	if (k->calls) {
		rk_bytes_puts(p->out, "; ");
		rk_put_grouped(p->out, k->calls);
		rk_bytes_printf(p->out, " call%s, ", rk_plural(k->calls));
		rk_put_duration(p->out, (double)k->total_ns);
	}
	if (s->stalled)
		rk_bytes_printf(p->out, "; stalled %.1f %%", share(s->stalled, s->weight));
	for (size_t i = 0; s->stalled && i < s->nstalls && i < HEAD_REASONS; i++) {
		rk_bytes_puts(p->out, i ? ", " : ": ");
		rk_put_printable(p->out, s->stalls[i].reason, strlen(s->stalls[i].reason),
				 p->page.look->utf8);
		rk_bytes_printf(p->out, " %.1f", share(s->stalls[i].samples, s->weight));
	}
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
	rk_bytes_puts(p->out, "  ");
	rk_page_last(&p->page, what);
}

static void put_spot(struct page *p, const struct rk_hotspot *s, size_t columns, double most)
{
	size_t used = 6 + 1 + RK_PAGE_BAR + columns + 1 + 7 + 1 + 2;
	struct rk_bytes *cell = &p->page.cell, text;

	rk_bytes_printf(p->out, "%6.2f", s->percent);
	rk_page_bar(&p->page, most > 0 ? s->percent / most : 0);
	rk_page_count(&p->page, s->weight, columns);
	/* host-trap sampling does not know what a wave is waiting for */
	if (p->k->sum.stalled)
		rk_bytes_printf(p->out, " %6.1f", share(s->stalled, s->weight));
	else
		rk_bytes_puts(p->out, "      -");
	if (p->k->from == RK_FROM_PC_SAMPLES) {
		/* the most frequent reason, and its share of the samples if there are others */
		rk_bytes_put_u8(cell, ' ');
		if (s->nstalls)
			rk_put_printable(cell, s->stalls[0].reason,
					 strnlen(s->stalls[0].reason, REASON - 8),
					 p->page.look->utf8);
		if (s->nstalls > 1)
			rk_bytes_printf(cell, " %.0f%%", share(s->stalls[0].samples, s->weight));
		rk_page_left(&p->page, REASON);
		used += REASON;
	} else {
		rk_page_count(&p->page, s->hits, columns);
		used += columns;
	}
	rk_bytes_init(&text, 1 << 16);
	if (!s->instruction)
		rk_bytes_puts(&text, s->source);
	else if (*s->source) /* without its folders, to leave room for the instruction */
		rk_bytes_printf(&text, "%s  (%s)", s->instruction, rk_base_name(s->source));
	else
		rk_bytes_puts(&text, rk_text_or(s->instruction, "(unknown instruction)"));
	rk_page_rest(&p->page, text.bad ? "" : rk_bytes_str(&text), used);
	rk_bytes_release(&text);
}

static void put_spots(struct page *p, const char *what, const struct rk_hotspot *s, size_t n)
{
	size_t shown = rk_page_shown(&p->page, n), columns;
	uint64_t most = 0, rest = 0;

	if (!n)
		return;
	for (size_t i = 0; i < shown; i++) {
		most = rk_max(most, s[i].weight);
		most = rk_max(most, s[i].hits);
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
	rk_page_last(&p->page, "");
}

static void hotspots_text(struct rk_bytes *out, const void *what,
			  const struct rk_render_options *look)
{
	const struct rk_hotspots *h = what;
	struct page p = { .out = out };
	size_t shown, silent;

	rk_page_begin(&p.page, out, look);
	shown = rk_page_shown(&p.page, h->nkernels);
	if (!h->nkernels)
		rk_bytes_puts(out, "no PC samples or thread trace in this run; record samples "
				   "with 'rockit run -p pc_sampling -- PROGRAM'\n");
	else
		rk_bytes_printf(out, "Hotspots of %zu kernel%s\n", h->nkernels,
				rk_plural(h->nkernels));
	for (size_t i = 0; i < shown; i++) {
		p.k = &h->kernels[i];
		put_totals(&p);
		put_spots(&p, "Instruction", p.k->instructions, p.k->ninstructions);
		put_spots(&p, "Line", p.k->lines, p.k->nlines);
	}
	if (shown < h->nkernels)
		rk_bytes_printf(out, "\nand %zu more kernel%s\n", h->nkernels - shown,
				rk_plural(h->nkernels - shown));

	silent = rk_page_shown(&p.page, h->nsilent);
	if (silent) {
		rk_page_title(&p.page, "Without samples");
		rk_bytes_printf(out, ": %zu kernel%s of the trace\n", h->nsilent,
				rk_plural(h->nsilent));
	}
	for (size_t i = 0; i < silent; i++) {
		const struct rk_hotspot_silent *k = &h->silent[i];

		rk_page_time(&p.page, (double)k->total_ns);
		rk_page_count(&p.page, k->calls, 10);
		rk_bytes_puts(out, k->calls == 1 ? " call " : " calls");
		rk_page_rest(&p.page, k->name, RK_PAGE_TIME + 1 + 11 + 6 + 2);
	}
	if (silent && silent < h->nsilent)
		rk_bytes_printf(out, "  and %zu more\n", h->nsilent - silent);
	rk_page_end(&p.page);
}

int rk_hotspots_render(const struct rk_hotspots *h, const struct rk_render_options *look,
		       char **ret_text, size_t *ret_len, struct rk_error *err)
{
	static rk_form *const forms[RK_NFORMS] = { hotspots_text, hotspots_json, hotspots_csv };

	return rk_render(forms, h, look, ret_text, ret_len, __func__, err);
}
