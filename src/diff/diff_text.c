/* diff_text.c - a comparison on one screen: the verdict, its parts, and the kernels behind them. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/page.h"
#include "base/text.h"
#include "diff/diff_pages.h"
#include "report/report_parts.h"

enum {
	CHANGE = 10, /* "+999.9 us" */
	FINDINGS_SHOWN = 20,
	LINES_SHOWN = 5, /* max lines of copies, calls, grids */
};

struct page {
	struct rk_page page;
	struct rk_bytes *out;
	const struct rk_diff *d;
	const struct rk_render_options *look;
	const char *arrow;
};

static void put_name(struct page *p, const char *name)
{
	rk_put_printable(p->out, name, strlen(name), p->look->utf8);
}

static void put_side(struct page *p, const char *letter, const struct rk_diff_side *s)
{
	rk_bytes_printf(p->out, "%s: ", letter);
	put_name(p, s->labels[0]);
	if (s->runs > 1)
		rk_bytes_printf(p->out, " and %zu more run%s", s->runs - 1, rk_plural(s->runs - 1));
	rk_bytes_puts(p->out, " (");
	rk_put_grouped(p->out, s->calls);
	rk_bytes_printf(p->out, " kernel%s of ", rk_plural(s->calls));
	rk_put_grouped(p->out, s->kernels);
	rk_bytes_printf(p->out, " name%s", rk_plural(s->kernels));
	if (s->copies) {
		rk_bytes_puts(p->out, ", ");
		rk_put_grouped(p->out, s->copies);
		rk_bytes_puts(p->out, s->copies == 1 ? " copy" : " copies");
	}
	rk_bytes_puts(p->out, ")\n");
}

/* ---- parts ---- */

static void change_cell(struct page *p, int64_t ns)
{
	rk_put_change(&p->page.cell, ns);
	rk_page_right(&p->page, CHANGE);
}

static double share_of(int64_t ns, double most)
{
	return most > 0 ? fabs((double)ns) / most : 0;
}

/* Overlap is negative: it saves time. */
static void time_cell(struct page *p, int64_t ns)
{
	if (ns < 0)
		rk_bytes_put_u8(&p->page.cell, '-');
	rk_put_duration(&p->page.cell, fabs((double)ns));
}

static int by_size(const void *pa, const void *pb)
{
	const struct rk_diff_part *a = pa, *b = pb;
	double x = fabs((double)a->delta_ns), y = fabs((double)b->delta_ns);

	if (x != y)
		return x > y ? -1 : 1;
	return strcmp(a->name, b->name);
}

static void put_parts(struct page *p)
{
	const struct rk_diff_whole *w = p->d->wall.known ? &p->d->wall : &p->d->gpu;
	struct rk_diff_part parts[RK_DIFF_PARTS];
	double most;

	memcpy(parts, w->parts, sizeof(parts));
	qsort(parts, w->nparts, sizeof(parts[0]), by_size);
	most = fabs((double)parts[0].delta_ns);
	if (most <= 0)
		return;
	rk_page_title(&p->page, p->d->wall.known ? "Change in wall time" : "Change in GPU time");
	rk_bytes_put_u8(p->out, '\n');
	for (size_t i = 0; i < w->nparts && parts[i].delta_ns; i++) {
		change_cell(p, parts[i].delta_ns);
		rk_page_bar(&p->page, share_of(parts[i].delta_ns, most));
		time_cell(p, parts[i].a_ns);
		rk_page_right(&p->page, CHANGE);
		rk_bytes_printf(p->out, " %s", p->arrow);
		time_cell(p, parts[i].b_ns);
		rk_page_left(&p->page, CHANGE);
		rk_bytes_printf(p->out, " %-9s %s\n", parts[i].name,
				rk_diff_part_words(parts[i].name));
	}
}

/* ---- kernels ---- */

static void put_kernels(struct page *p)
{
	const struct rk_diff *d = p->d;
	size_t changed = rk_diff_changed(d), shown = rk_page_shown(&p->page, changed);
	size_t calls = strlen("Calls"); /* width of "1,234 > 2,345" */
	int64_t rest = 0;

	if (!changed)
		return;
	for (size_t i = 0; i < shown; i++) {
		uint64_t a = d->kernels[i].a.calls, b = d->kernels[i].b.calls;
		size_t n = rk_page_count_columns(a, "") - 1;

		if (a != b)
			n += 3 + rk_page_count_columns(b, "") - 1;
		calls = rk_max(calls, n);
	}
	rk_page_title(&p->page, "Kernels");
	rk_bytes_puts(p->out, ": * beyond the noise, ~ within the noise or below 1 %, ? noise "
			      "unknown\n");
	rk_page_paint(&p->page, RK_BOLD);
	rk_page_word(&p->page, "Change", CHANGE);
	rk_page_spaces(&p->page, 2 + 1 + RK_PAGE_BAR);
	rk_page_word(&p->page, "Calls", calls);
	rk_page_word(&p->page, "Mean A", RK_PAGE_TIME);
	rk_bytes_printf(p->out, " %s", p->arrow);
	rk_bytes_puts(&p->page.cell, "B");
	rk_page_left(&p->page, RK_PAGE_TIME);
	rk_bytes_puts(p->out, "  Kernel\n");
	rk_page_paint(&p->page, RK_NORMAL);
	for (size_t i = 0; i < shown; i++) {
		const struct rk_diff_kernel *k = &d->kernels[i];

		if (k->significant)
			rk_page_paint(&p->page, k->delta_ns > 0 ? RK_RED : RK_GREEN);
		change_cell(p, k->delta_ns);
		rk_bytes_printf(p->out, " %c", rk_diff_mark(k));
		rk_page_bar(&p->page, share_of(k->delta_ns, fabs((double)d->kernels[0].delta_ns)));
		if (k->significant)
			rk_page_paint(&p->page, RK_NORMAL);
		rk_put_pair(&p->page.cell, k->a.calls, k->b.calls, p->arrow);
		rk_page_right(&p->page, calls);
		rk_page_time(&p->page, k->a.mean_ns);
		rk_bytes_printf(p->out, " %s", p->arrow);
		rk_put_duration(&p->page.cell, k->b.mean_ns);
		rk_page_left(&p->page, RK_PAGE_TIME);
		rk_page_rest(&p->page, rk_diff_kernel_name(k),
			     CHANGE + 3 + 1 + RK_PAGE_BAR + calls + 1 + 2 * (RK_PAGE_TIME + 1) + 4);
	}
	for (size_t i = shown; i < changed; i++)
		rest += d->kernels[i].delta_ns;
	if (shown < changed) {
		change_cell(p, rest);
		rk_bytes_printf(p->out, "   and %zu more\n", changed - shown);
	}
}

/* ---- other changes ---- */

static void put_more(struct page *p, size_t shown, size_t all)
{
	if (shown < all)
		rk_bytes_printf(p->out, "  and %zu more\n", all - shown);
}

static void put_renamed(struct page *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->d->nkernels; i++) {
		const struct rk_diff_kernel *k = &p->d->kernels[i];

		if (k->match != RK_DIFF_RENAMED)
			continue;
		if (!n)
			rk_page_title(&p->page, "Renamed\n");
		if (n++ < LINES_SHOWN) {
			rk_page_rest(&p->page, k->a.name, 2);
			rk_bytes_printf(p->out, "  %s", p->arrow);
			rk_page_rest(&p->page, k->b.name, 5);
		}
	}
	put_more(p, rk_min(n, LINES_SHOWN), n);
}

static void put_grids(struct page *p)
{
	size_t n = p->d->ngrids, shown = rk_min(n, LINES_SHOWN);

	if (!n)
		return;
	rk_page_title(&p->page, "Changed grids\n");
	for (size_t i = 0; i < shown; i++) {
		const struct rk_diff_grid *g = &p->d->grids[i];

		rk_bytes_puts(p->out, "  ");
		rk_put_grouped(p->out, g->a);
		rk_bytes_printf(p->out, " %s ", p->arrow);
		rk_put_grouped(p->out, g->b);
		rk_bytes_printf(p->out, " with %s", g->shape);
		rk_page_rest(&p->page, rk_diff_kernel_name(&p->d->kernels[g->kernel]), 60);
	}
	put_more(p, shown, n);
}

static void put_lines(struct page *p, const char *title, const struct rk_diff_lines *l,
		      const struct rk_diff_whole *w)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++) {
		const struct rk_diff_line *x = &l->v[i];

		if (!x->delta_ns && x->calls_a == x->calls_b && x->bytes_a == x->bytes_b)
			continue;
		if (!n) {
			rk_page_title(&p->page, title);
			if (w->known) {
				rk_bytes_puts(p->out, ": ");
				rk_put_change(p->out, w->delta_ns);
				rk_bytes_puts(p->out, " of ");
				rk_put_duration(p->out, (double)w->a_ns);
			}
			rk_bytes_put_u8(p->out, '\n');
		}
		if (n++ >= LINES_SHOWN)
			continue;
		change_cell(p, x->delta_ns);
		rk_bytes_puts(p->out, "  ");
		rk_put_pair(p->out, x->calls_a, x->calls_b, p->arrow);
		rk_bytes_puts(p->out, " calls");
		if (x->bytes_a || x->bytes_b) {
			rk_bytes_puts(p->out, ", ");
			rk_put_pair(p->out, (uint64_t)x->bytes_a, (uint64_t)x->bytes_b, p->arrow);
			rk_bytes_puts(p->out, " bytes");
		}
		rk_page_rest(&p->page, rk_diff_shown_name(x->name), 60);
	}
	put_more(p, rk_min(n, LINES_SHOWN), n);
}

static void put_structure(struct page *p)
{
	const struct rk_diff_structure *s = &p->d->structure;
	size_t shown = rk_min(s->nfindings, FINDINGS_SHOWN);

	for (size_t i = 0; i < shown; i++) {
		const struct rk_diff_finding *f = &s->findings[i];

		rk_bytes_printf(p->out, "  %-8s  ", f->kind);
		put_name(p, f->text);
		rk_page_rest(&p->page, rk_diff_shown_name(f->subject), 14 + strlen(f->text));
		if (!f->around_a[0] && !f->around_b[0])
			continue;
		rk_bytes_puts(p->out, "            A: ");
		put_name(p, f->around_a);
		rk_bytes_puts(p->out, "\n            B: ");
		put_name(p, f->around_b);
		rk_bytes_put_u8(p->out, '\n');
	}
	put_more(p, shown, s->nfindings + s->left_out);
}

void rk_diff_text(struct rk_bytes *out, const struct rk_diff *d,
		  const struct rk_render_options *look)
{
	struct page p = { .out = out, .d = d, .look = look, .arrow = look->utf8 ? "→" : ">" };
	const struct rk_diff_whole *gpu = &d->gpu;
	size_t doubts = rk_min(d->ndoubts, LINES_SHOWN);

	rk_page_begin(&p.page, out, look);
	put_side(&p, "A", &d->a);
	put_side(&p, "B", &d->b);
	if (!d->structure.asked || d->gated) {
		rk_bytes_put_u8(out, '\n');
		rk_page_paint(&p.page, RK_BOLD);
		if (gpu->delta_ns && (gpu->significant || isnan(gpu->noise_ns)))
			rk_page_paint(&p.page, gpu->delta_ns > 0 ? RK_RED : RK_GREEN);
		rk_put_diff_verdict(out, d);
		rk_page_last(&p.page, "");
		rk_put_diff_wall(out, d);
		rk_bytes_put_u8(out, '\n');
		put_parts(&p);
		put_kernels(&p);
		put_renamed(&p);
		put_grids(&p);
		put_lines(&p, "Ranks (GPU time)", &d->ranks, &d->rank);
		put_lines(&p, "Copies", &d->copies, &d->copy);
		put_lines(&p, "API calls (host time)", &d->calls, &d->api);
	}
	put_structure(&p);

	if (doubts)
		rk_page_title(&p.page, "Incomplete\n");
	for (size_t i = 0; i < doubts; i++)
		rk_page_rest(&p.page, d->doubts[i], 2);
	put_more(&p, doubts, d->ndoubts);
	if (d->reason[0]) {
		rk_bytes_put_u8(out, '\n');
		rk_page_paint(&p.page, d->verdict == RK_DIFF_WITHIN ? RK_GREEN : RK_RED);
		if (d->verdict == RK_DIFF_UNKNOWN)
			rk_bytes_puts(out, "inconclusive: ");
		put_name(&p, d->reason);
		rk_page_last(&p.page, "");
	}
	rk_page_end(&p.page);
}
