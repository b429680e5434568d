/* ranks_tables.c - clocks, collectives, kernels and copies of a job of several ranks, for people. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/page.h"
#include "base/text.h"
#include "ranks/ranks_parts.h"

enum {
	WIDE_COLUMNS = 100,
	OFFSET_COLUMNS = 12,
	SHARE_COLUMNS = 6,
	RANK_COLUMNS = 7,
	RATE_COLUMNS = 8,
	CLOCK_COLUMNS = 3 * (OFFSET_COLUMNS + 1) + RANK_COLUMNS + 1 + 2,
};

#define DRIFT_SHOWN 0.005 /* ppm */
#define NOTICED 0.01      /* an imbalance below is not worth a line */

static size_t at_least(size_t a, size_t b)
{
	return a > b ? a : b;
}

static bool wide(const struct rk_page *p)
{
	return !p->look->columns || p->look->columns >= WIDE_COLUMNS;
}

/* These tables stand beside that of the kernels: half as long is enough. */
static size_t half_top(const struct rk_page *p, size_t n)
{
	size_t limit = (p->look->top + 1) / 2;

	return !p->look->top || n < limit ? n : limit;
}

static void put_more(struct rk_page *p, size_t n, const char *what)
{
	if (!n)
		return;
	rk_page_paint(p, RK_DIM);
	rk_bytes_puts(p->out, "  and ");
	rk_put_grouped(p->out, n);
	rk_bytes_printf(p->out, " more%s", what);
	rk_page_paint(p, RK_NORMAL);
	rk_bytes_put_u8(p->out, '\n');
}

static void share_cell(struct rk_page *p, double share)
{
	if (isfinite(share))
		rk_bytes_printf(&p->cell, "%.1f", 100 * share);
	else
		rk_bytes_puts(&p->cell, "-");
	rk_page_right(p, SHARE_COLUMNS);
}

static void rank_cell(struct rk_page *p, int64_t rank, size_t columns)
{
	if (rank < 0)
		rk_bytes_puts(&p->cell, "-");
	else
		rk_put_integer(&p->cell, rank);
	rk_page_right(p, columns);
}

static void end_heading(struct rk_page *p, const char *last)
{
	rk_bytes_printf(p->out, "  %s", last);
	rk_page_paint(p, RK_NORMAL);
	rk_bytes_put_u8(p->out, '\n');
}

/* ---- clocks ---- */

/* Ranks beside each other of which the same is to be said. */
struct clocks {
	const struct rk_ranks_rank *first, *last;
	bool shown;
};

/* Nothing that a line of ours would show. */
static bool near(double a, double b, double error)
{
	return fabs(a - b) <= 1 + error / 100;
}

static bool same_clock(const struct rk_ranks_rank *a, const struct rk_ranks_rank *b)
{
	double error = (double)(a->error_ns > 0 ? a->error_ns : 0);

	return a->clock == b->clock && b->rank == a->rank + 1 && strcmp(a->node, b->node) == 0 &&
	       strcmp(a->clock_note, b->clock_note) == 0 &&
	       near((double)a->offset_ns, (double)b->offset_ns, error) &&
	       near((double)a->error_ns, (double)b->error_ns, error) &&
	       fabs(a->drift_ppm - b->drift_ppm) < DRIFT_SHOWN;
}

static size_t group_clocks(const struct rk_ranks *k, struct clocks *v)
{
	size_t n = 0;

	for (size_t i = 0; i < k->nranks; i++) {
		const struct rk_ranks_rank *r = &k->ranks[i];

		if (n && same_clock(v[n - 1].last, r))
			v[n - 1].last = r;
		else
			v[n++] = (struct clocks){ r, r, true };
	}
	return n;
}

/* Those that could not be related first, then the least certain. */
static int by_doubt(const void *pa, const void *pb)
{
	const struct rk_ranks_rank *a = (*(struct clocks *const *)pa)->first;
	const struct rk_ranks_rank *b = (*(struct clocks *const *)pb)->first;

	if (a->clock != b->clock)
		return a->clock > b->clock ? -1 : 1;
	if (a->error_ns != b->error_ns)
		return a->error_ns > b->error_ns ? -1 : 1;
	return a->rank < b->rank ? -1 : 1;
}

static bool choose_clocks(struct clocks *v, size_t n, size_t limit)
{
	struct clocks **order = rk_calloc(n, sizeof(struct clocks *));

	if (!order)
		return false;
	for (size_t i = 0; i < n; i++)
		order[i] = &v[i];
	qsort(order, n, sizeof(struct clocks *), by_doubt);
	for (size_t i = limit; i < n; i++)
		order[i]->shown = false;
	rk_free(order);
	return true;
}

static void put_clock(struct rk_page *p, const struct clocks *c, const struct rk_ranks *k)
{
	const struct rk_ranks_rank *r = c->first;
	bool reference = r->rank <= k->reference && k->reference <= c->last->rank;

	rk_put_integer(&p->cell, r->rank);
	if (c->last != r)
		rk_bytes_printf(&p->cell, "-%" PRId64, c->last->rank);
	rk_page_right(p, OFFSET_COLUMNS);
	if (r->clock == RK_CLOCK_ALONE) {
		rk_page_paint(p, RK_YELLOW);
		rk_page_word(p, "not alignable", 2 * OFFSET_COLUMNS + RANK_COLUMNS + 2);
		rk_page_paint(p, RK_NORMAL);
		rk_page_rest(p, r->clock_note, CLOCK_COLUMNS);
		return;
	}
	rk_put_duration(&p->cell, (double)r->offset_ns);
	rk_page_right(p, OFFSET_COLUMNS);
	rk_put_duration(&p->cell, r->error_ns < 0 ? NAN : (double)r->error_ns);
	rk_page_right(p, OFFSET_COLUMNS);
	rk_bytes_printf(&p->cell, "%.3f", r->drift_ppm);
	rk_page_right(p, RANK_COLUMNS);
	rk_page_rest(p,
		     reference                 ? "reference" :
		     r->clock == RK_CLOCK_SAME ? "the same clock" :
						 r->clock_by,
		     CLOCK_COLUMNS);
}

static bool one_clock(const struct rk_ranks *k)
{
	for (size_t i = 0; i < k->nranks; i++)
		if (k->ranks[i].clock != RK_CLOCK_SAME)
			return false;
	return true;
}

void rk_ranks_clocks_text(struct rk_page *p, const struct rk_ranks *k)
{
	struct clocks *v = one_clock(k) ? NULL : rk_calloc(k->nranks, sizeof(*v));
	size_t n, limit;

	if (!v) {
		p->out->bad |= !one_clock(k);
		return;
	}
	n = group_clocks(k, v);
	limit = rk_ranks_limit(p->look, n);
	p->out->bad |= !choose_clocks(v, n, limit);
	rk_page_title(p, "Clocks");
	if (k->reference >= 0)
		rk_bytes_printf(p->out, ": against that of rank %" PRId64, k->reference);
	rk_bytes_put_u8(p->out, '\n');
	rk_page_paint(p, RK_BOLD);
	rk_page_word(p, "Rank", OFFSET_COLUMNS);
	rk_page_word(p, "Offset", OFFSET_COLUMNS);
	rk_page_word(p, p->look->utf8 ? "±" : "+-", OFFSET_COLUMNS);
	rk_page_word(p, "ppm", RANK_COLUMNS);
	end_heading(p, "By");
	for (size_t i = 0; i < n; i++)
		if (v[i].shown)
			put_clock(p, &v[i], k);
	put_more(p, n - limit, ", that are more certain; all: --top 0, or --format json");
	rk_free(v);
}

/* ---- collectives ---- */

/* "3 (81%)" */
static void straggler_cell(struct rk_page *p, const struct rk_ranks_collective *c)
{
	if (c->straggler < 0 || !c->calls)
		rk_bytes_puts(&p->cell, "-");
	else
		rk_bytes_printf(&p->cell, "%" PRId64 " (%.0f%%)", c->straggler,
				100 * (double)c->straggler_calls / (double)c->calls);
	rk_page_right(p, OFFSET_COLUMNS);
}

static void put_collective(struct rk_page *p, const struct rk_ranks_collective *c, size_t calls)
{
	const char *hue = !strcmp(c->verdict, "late") ? RK_RED :
			  !strcmp(c->verdict, "wire") ? RK_YELLOW :
							"";

	rk_page_paint(p, hue);
	rk_page_word(p, c->verdict, SHARE_COLUMNS);
	rk_page_paint(p, hue[0] ? RK_NORMAL : "");
	rk_page_count(p, c->calls, calls);
	rk_page_count(p, c->ranks, RANK_COLUMNS);
	rk_page_word(p, c->inter_node ? "nodes" : "node", SHARE_COLUMNS);
	rk_page_time(p, (double)c->total_ns);
	share_cell(p, c->total_ns ? (double)c->late_ns / (double)c->total_ns : NAN);
	rk_page_time(p, (double)c->wait_ns);
	rk_page_time(p, c->wire_median_ns);
	if (wide(p))
		rk_page_time(p, c->wire_max_ns);
	straggler_cell(p, c);
	rk_page_rest(p, c->name, 79 + calls + (wide(p) ? 10u : 0));
}

static void put_collectives(struct rk_page *p, const struct rk_ranks *k)
{
	size_t shown = half_top(p, k->ncollectives), calls;
	uint64_t most = 0, matched = 0, unmatched = 0;

	if (!k->ncollectives)
		return;
	for (size_t i = 0; i < k->ncollectives; i++) {
		most = k->collectives[i].calls > most ? k->collectives[i].calls : most;
		matched += k->collectives[i].calls;
		unmatched += k->collectives[i].unmatched;
	}
	calls = rk_page_count_columns(most, "Calls");
	rk_page_title(p, "Collectives");
	rk_bytes_puts(p->out, ": ");
	rk_put_grouped(p->out, matched);
	rk_bytes_puts(p->out, " matched over ranks");
	if (unmatched) {
		rk_bytes_puts(p->out, ", ");
		rk_put_grouped(p->out, unmatched);
		rk_bytes_puts(p->out, " calls of single ranks that could not be");
	}
	rk_bytes_put_u8(p->out, '\n');
	rk_page_paint(p, RK_BOLD);
	rk_page_word(p, "Is", SHARE_COLUMNS);
	rk_page_word(p, "Calls", calls);
	rk_page_word(p, "Ranks", RANK_COLUMNS);
	rk_page_word(p, "Over", SHARE_COLUMNS);
	rk_page_word(p, "Total", RK_PAGE_TIME);
	rk_page_word(p, "Late%", SHARE_COLUMNS);
	rk_page_word(p, "Waits", RK_PAGE_TIME);
	rk_page_word(p, "Wire med.", RK_PAGE_TIME);
	if (wide(p))
		rk_page_word(p, "Wire max", RK_PAGE_TIME);
	rk_page_word(p, "Straggler", OFFSET_COLUMNS);
	end_heading(p, "Operation");
	for (size_t i = 0; i < shown; i++)
		put_collective(p, &k->collectives[i], calls);
	put_more(p, k->ncollectives - shown, "");
}

/* ---- imbalance ---- */

static void put_spread(struct rk_page *p, const struct rk_ranks_spread *s)
{
	share_cell(p, s->imbalance);
	rk_page_time(p, (double)s->max_ns - s->mean_ns);
	rk_page_time(p, s->mean_ns);
	rk_page_time(p, (double)s->max_ns);
	rank_cell(p, s->max_rank, RANK_COLUMNS);
	if (wide(p)) {
		rk_page_time(p, (double)s->min_ns);
		rank_cell(p, s->min_rank, RANK_COLUMNS);
	}
	rk_page_count(p, s->ranks, RANK_COLUMNS);
	rk_page_rest(p, s->name, 57 + (wide(p) ? 18u : 0));
}

static void put_spreads(struct rk_page *p, const struct rk_ranks *k)
{
	size_t noticed = 0, shown;

	if (!k->nspreads)
		return;
	for (size_t i = 0; i < k->nspreads; i++)
		noticed += k->spreads[i].imbalance >= NOTICED;
	shown = half_top(p, noticed);
	rk_page_title(p, "Imbalance");
	if (!noticed) {
		rk_bytes_puts(p->out,
			      ": no kernel takes 1 % longer on one rank than on the mean\n");
		return;
	}
	rk_bytes_puts(p->out, ": kernels by what the slowest rank takes above the mean\n");
	rk_page_paint(p, RK_BOLD);
	rk_page_word(p, "Imb.%", SHARE_COLUMNS);
	rk_page_word(p, "Above", RK_PAGE_TIME);
	rk_page_word(p, "Mean", RK_PAGE_TIME);
	rk_page_word(p, "Most", RK_PAGE_TIME);
	rk_page_word(p, "rank", RANK_COLUMNS);
	if (wide(p)) {
		rk_page_word(p, "Least", RK_PAGE_TIME);
		rk_page_word(p, "rank", RANK_COLUMNS);
	}
	rk_page_word(p, "Ranks", RANK_COLUMNS);
	end_heading(p, "Name");
	for (size_t i = 0, left = shown; i < k->nspreads && left; i++) {
		if (k->spreads[i].imbalance < NOTICED)
			continue;
		put_spread(p, &k->spreads[i]);
		left--;
	}
	put_more(p, noticed - shown, "");
}

/* ---- copies ---- */

/* Decimal, as rates of links are given: "1.234 GB"; "-" when it is not known. */
static void bytes_cell(struct rk_page *p, int64_t bytes)
{
	static const char *const units[] = { "B", "kB", "MB", "GB", "TB", "PB" };
	double v = (double)bytes;
	size_t u = 0;

	for (; v >= 999.95 && u < 5; u++)
		v /= 1000;
	if (bytes < 0)
		rk_bytes_puts(&p->cell, "-");
	else
		rk_bytes_printf(&p->cell, "%.*f %s",
				u ? (v < 9.9995 ? 3 :
				     v < 99.995 ? 2 :
						  1) :
				    0,
				v, units[u]);
	rk_page_right(p, RK_PAGE_TIME);
}

/* Without what every one of them begins with. */
static const char *short_direction(const char *s)
{
	static const char common[] = "MEMORY_COPY_";

	return strncmp(s, common, sizeof(common) - 1) ? s : s + sizeof(common) - 1;
}

struct copy_widths {
	size_t calls, node;
};

static void put_copy(struct rk_page *p, const struct rk_ranks_copy *c, const struct copy_widths *w)
{
	rk_ranks_node_cell(p, c->node, w->node);
	rank_cell(p, c->src, RANK_COLUMNS);
	rank_cell(p, c->dst, RANK_COLUMNS);
	rk_page_count(p, c->calls, w->calls);
	bytes_cell(p, c->bytes);
	rk_page_time(p, (double)c->time_ns);
	if (isfinite(c->gb_per_s))
		rk_bytes_printf(&p->cell, "%.3g", c->gb_per_s);
	else
		rk_bytes_puts(&p->cell, "-");
	rk_page_right(p, RATE_COLUMNS);
	rk_page_rest(p, short_direction(c->direction), 49 + w->node + w->calls);
}

static int by_time(const void *pa, const void *pb)
{
	const struct rk_ranks_copy *a = *(const struct rk_ranks_copy *const *)pa;
	const struct rk_ranks_copy *b = *(const struct rk_ranks_copy *const *)pb;

	if (a->time_ns != b->time_ns)
		return a->time_ns > b->time_ns ? -1 : 1;
	return a < b ? -1 : a > b;
}

static void put_copies(struct rk_page *p, const struct rk_ranks *k)
{
	size_t shown = half_top(p, k->ncopies);
	const struct rk_ranks_copy **order = rk_calloc(k->ncopies, sizeof(*order));
	struct copy_widths w = { .node = strlen("Node") };
	uint64_t most = 0;

	if (!order || !k->ncopies) {
		p->out->bad |= !order;
		rk_free(order);
		return;
	}
	for (size_t i = 0; i < k->ncopies; i++) {
		most = k->copies[i].calls > most ? k->copies[i].calls : most;
		w.node = at_least(w.node, rk_ranks_node_columns(p, k->copies[i].node));
		order[i] = &k->copies[i];
	}
	if (shown < k->ncopies) /* the longest; else where they are looked for */
		qsort(order, k->ncopies, sizeof(*order), by_time);
	w.calls = rk_page_count_columns(most, "Calls");
	rk_page_title(p, "Copies by device");
	rk_bytes_put_u8(p->out, '\n');
	rk_page_paint(p, RK_BOLD);
	rk_bytes_puts(&p->cell, "Node");
	rk_page_left(p, w.node);
	rk_page_word(p, "From", RANK_COLUMNS);
	rk_page_word(p, "To", RANK_COLUMNS);
	rk_page_word(p, "Calls", w.calls);
	rk_page_word(p, "Bytes", RK_PAGE_TIME);
	rk_page_word(p, "Time", RK_PAGE_TIME);
	rk_page_word(p, "GB/s", RATE_COLUMNS);
	end_heading(p, "Direction");
	for (size_t i = 0; i < shown; i++)
		put_copy(p, order[i], &w);
	put_more(p, k->ncopies - shown, "");
	rk_free(order);
}

void rk_ranks_tables_text(struct rk_page *p, const struct rk_ranks *k)
{
	put_collectives(p, k);
	put_spreads(p, k);
	put_copies(p, k);
}
