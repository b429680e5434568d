/* diff_markdown.c - a comparison for a pull request. */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "diff/diff_pages.h"
#include "report/report_parts.h"

enum { ROWS_SHOWN = 20, NAME_SHOWN = 120 };

/* Names are hostile text: nothing in them may become markup, a link, or a column. */
static void put_text(struct rk_bytes *out, const char *s)
{
	struct rk_bytes safe;
	size_t len;

	rk_bytes_init(&safe, 8 * strlen(s) + 64);
	rk_put_printable(&safe, s, strlen(s), true);
	len = rk_utf8_fit((const char *)safe.data, safe.len, NAME_SHOWN);
	for (size_t i = 0; i < len; i++) {
		char c = (char)safe.data[i];

		if (c == '<' || c == '>' || c == '&')
			rk_bytes_puts(out, c == '<' ? "&lt;" : c == '>' ? "&gt;" : "&amp;");
		else if (c && strchr("\\`*_{}[]()#+-.!|~@:$", c))
			rk_bytes_printf(out, "\\%c", c);
		else
			rk_bytes_put_u8(out, (uint8_t)c);
	}
	if (len < safe.len)
		rk_bytes_puts(out, "…");
	out->bad |= safe.bad;
	rk_bytes_release(&safe);
}

static void put_pair(struct rk_bytes *out, uint64_t a, uint64_t b)
{
	rk_put_grouped(out, a);
	if (a != b) {
		rk_bytes_puts(out, " → ");
		rk_put_grouped(out, b);
	}
}

static void put_parts(struct rk_bytes *out, const struct rk_diff *d)
{
	const struct rk_diff_whole *w = d->wall.known ? &d->wall : &d->gpu;

	rk_bytes_printf(out, "\n| Part of the %s time | Change | A | B |\n|---|--:|--:|--:|\n",
			d->wall.known ? "wall" : "GPU");
	for (size_t i = 0; i < w->nparts; i++) {
		const struct rk_diff_part *p = &w->parts[i];

		if (!p->delta_ns)
			continue;
		rk_bytes_printf(out, "| %s: %s | ", p->name, rk_diff_part_words(p->name));
		rk_put_change(out, p->delta_ns);
		rk_bytes_puts(out, p->a_ns < 0 ? " | -" : " | ");
		rk_put_duration(out, fabs((double)p->a_ns));
		rk_bytes_puts(out, p->b_ns < 0 ? " | -" : " | ");
		rk_put_duration(out, fabs((double)p->b_ns));
		rk_bytes_puts(out, " |\n");
	}
	rk_bytes_puts(out, "| **all** | **");
	rk_put_change(out, w->delta_ns);
	rk_bytes_puts(out, "** | ");
	rk_put_duration(out, (double)w->a_ns);
	rk_bytes_puts(out, " | ");
	rk_put_duration(out, (double)w->b_ns);
	rk_bytes_puts(out, " |\n");
}

static void put_kernel(struct rk_bytes *out, const struct rk_diff_kernel *k)
{
	char mark = rk_diff_mark(k);

	rk_bytes_puts(out, mark == '*' ? "| **" : "| ");
	rk_put_change(out, k->delta_ns);
	rk_bytes_puts(out, mark == '*' ? "**" : mark == '?' ? " ?" : "");
	rk_bytes_puts(out, " | ");
	put_pair(out, k->a.calls, k->b.calls);
	rk_bytes_puts(out, " | ");
	rk_put_duration(out, k->a.mean_ns);
	rk_bytes_puts(out, " → ");
	rk_put_duration(out, k->b.mean_ns);
	rk_bytes_puts(out, " | ");
	put_text(out, rk_diff_kernel_name(k));
	if (k->match == RK_DIFF_RENAMED) {
		rk_bytes_puts(out, " (was ");
		put_text(out, k->a.name);
		rk_bytes_puts(out, ")");
	} else if (k->match != RK_DIFF_SAME) {
		rk_bytes_printf(out, " (%s)", rk_diff_match_word(k->match));
	}
	rk_bytes_puts(out, k->grids ? " (other grids) |\n" : " |\n");
}

static void put_kernels(struct rk_bytes *out, const struct rk_diff *d, size_t top)
{
	size_t changed = rk_diff_changed(d), shown = top && top < changed ? top : changed;
	int64_t rest = 0;

	if (!changed)
		return;
	rk_bytes_puts(out, "\n| Change | Calls | Mean | Kernel |\n|--:|--:|--:|---|\n");
	for (size_t i = 0; i < shown; i++)
		put_kernel(out, &d->kernels[i]);
	for (size_t i = shown; i < changed; i++)
		rest += d->kernels[i].delta_ns;
	if (shown < changed) {
		rk_bytes_puts(out, "| ");
		rk_put_change(out, rest);
		rk_bytes_printf(out, " | | | %zu more |\n", changed - shown);
	}
	rk_bytes_puts(out,
		      "\nBold: beyond the noise and at least 1 %. `?`: the noise is not known.\n");
}

static void put_copies(struct rk_bytes *out, const struct rk_diff *d)
{
	if (!d->copies.n)
		return;
	rk_bytes_puts(out, "\n| Copies | Change | Count | Bytes |\n|---|--:|--:|--:|\n");
	for (size_t i = 0; i < d->copies.n && i < ROWS_SHOWN; i++) {
		const struct rk_diff_line *l = &d->copies.v[i];

		rk_bytes_puts(out, "| ");
		put_text(out, l->name);
		rk_bytes_puts(out, " | ");
		rk_put_change(out, l->delta_ns);
		rk_bytes_puts(out, " | ");
		put_pair(out, l->calls_a, l->calls_b);
		rk_bytes_puts(out, " | ");
		put_pair(out, (uint64_t)l->bytes_a, (uint64_t)l->bytes_b);
		rk_bytes_puts(out, " |\n");
	}
}

static void put_structure(struct rk_bytes *out, const struct rk_diff_structure *s)
{
	if (!s->nfindings)
		return;
	rk_bytes_puts(out, "\n| Structure | What | A and B |\n|---|---|---|\n");
	for (size_t i = 0; i < s->nfindings && i < ROWS_SHOWN; i++) {
		rk_bytes_printf(out, "| %s | ", s->findings[i].kind);
		put_text(out, s->findings[i].subject);
		rk_bytes_puts(out, " | ");
		put_text(out, s->findings[i].text);
		rk_bytes_puts(out, " |\n");
	}
	if (s->nfindings + s->left_out > ROWS_SHOWN)
		rk_bytes_printf(out, "\n%zu more differences.\n",
				s->nfindings + s->left_out - ROWS_SHOWN);
}

static void put_end(struct rk_bytes *out, const struct rk_diff *d)
{
	if (d->ndoubts)
		rk_bytes_puts(out, "\nIncomplete:\n\n");
	for (size_t i = 0; i < d->ndoubts && i < ROWS_SHOWN; i++) {
		rk_bytes_puts(out, "- ");
		put_text(out, d->doubts[i]);
		rk_bytes_put_u8(out, '\n');
	}
	if (!d->reason[0])
		return;
	rk_bytes_printf(out, "\n**%s**: ",
			d->verdict == RK_DIFF_WITHIN ? "passed" :
			d->verdict == RK_DIFF_BEYOND ? "failed" :
						       "cannot say");
	put_text(out, d->reason);
	rk_bytes_put_u8(out, '\n');
}

void rk_diff_markdown(struct rk_bytes *out, const struct rk_diff *d,
		      const struct rk_render_options *look)
{
	if (d->structure.asked && !d->gated) {
		rk_bytes_puts(out, "### Structure\n");
	} else {
		rk_bytes_puts(out, "### ");
		rk_put_diff_verdict(out, d);
		rk_bytes_puts(out, "\n\n");
		rk_put_diff_wall(out, d);
		rk_bytes_put_u8(out, '\n');
		put_parts(out, d);
		put_kernels(out, d, look->top);
		put_copies(out, d);
	}
	put_structure(out, &d->structure);
	put_end(out, d);
}
