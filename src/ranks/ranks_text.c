/* ranks_text.c - a job of several ranks as text: problems, summary and tables. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/num.h"
#include "base/page.h"
#include "base/text.h"
#include "ranks/ranks_parts.h"

enum {
	BAR_COLUMNS = 110,  /* narrower terminals get no bar and fewer columns for ranks */
	WIDE_COLUMNS = 100, /* narrower terminals get fewer columns in the other tables */
	NODE_COLUMNS = 24,  /* longer node names are truncated */
	NODE_NARROW = 12,
	STATE_MAX = 40,
	OFFSET_COLUMNS = 12,
	PERCENT_COLUMNS = 7,
	SHARE_COLUMNS = 6,
	RANK_COLUMNS = 7,
	RATE_COLUMNS = 8,
	CLOCK_COLUMNS = 3 * (OFFSET_COLUMNS + 1) + RANK_COLUMNS + 1 + 2,
};

#define DRIFT_SHOWN 0.005 /* ppm */
#define NOTICED 0.01      /* smaller imbalances are hidden */

static bool wide(const struct rk_page *p)
{
	return !p->look->columns || p->look->columns >= WIDE_COLUMNS;
}

static bool narrow(const struct rk_page *p)
{
	return p->look->columns && p->look->columns < BAR_COLUMNS;
}

/* The width of a node name. */
static size_t node_columns(struct rk_page *p, const char *node)
{
	size_t n;

	rk_put_printable(&p->cell, node, strlen(node), p->look->utf8);
	n = rk_utf8_columns((const char *)p->cell.data, p->cell.len);
	p->out->bad |= p->cell.bad;
	rk_bytes_clear(&p->cell);
	return rk_min(n, narrow(p) ? NODE_NARROW : NODE_COLUMNS);
}

static void node_cell(struct rk_page *p, const char *node, size_t columns)
{
	const char *cut = p->look->utf8 ? "…" : "...";

	if (!node[0])
		node = "-";
	rk_put_printable(&p->cell, node, strlen(node), p->look->utf8);
	if (rk_utf8_columns((const char *)p->cell.data, p->cell.len) > columns) {
		p->cell.len = rk_utf8_fit((const char *)p->cell.data, p->cell.len,
					  columns - rk_utf8_columns(cut, strlen(cut)));
		rk_bytes_puts(&p->cell, cut);
	}
	rk_page_left(p, columns);
}

/* These tables come in addition to the kernels, so half as long is enough. */
static size_t half_top(const struct rk_page *p, size_t n)
{
	return p->look->top ? rk_min(n, (p->look->top + 1) / 2) : n;
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

static double known(int64_t ns)
{
	return ns < 0 ? NAN : (double)ns;
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

/* Consecutive ranks with the same clock. */
struct clocks {
	const struct rk_ranks_rank *first, *last;
	bool shown;
};

/* Sorts ranks that are not aligned first, then by error, largest first. */
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

static bool same_clock(const struct rk_ranks_rank *a, const struct rk_ranks_rank *b)
{
	/* smaller differences are not visible in the output */
	double near = 1 + (double)rk_max_i64(a->error_ns, 0) / 100;

	return a->clock == b->clock && b->rank == a->rank + 1 && strcmp(a->node, b->node) == 0 &&
	       strcmp(a->clock_note, b->clock_note) == 0 &&
	       fabs(rk_apart(a->offset_ns, b->offset_ns)) <= near &&
	       fabs((double)a->error_ns - (double)b->error_ns) <= near &&
	       fabs(a->drift_ppm - b->drift_ppm) < DRIFT_SHOWN;
}

static void put_clock(struct rk_page *p, const struct clocks *c, const struct rk_ranks *k)
{
	const struct rk_ranks_rank *r = c->first;
	bool reference = r->rank <= k->reference && k->reference <= c->last->rank;
	const char *by = r->clock_by;

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
	rk_put_duration(&p->cell, known(r->error_ns));
	rk_page_right(p, OFFSET_COLUMNS);
	rk_bytes_printf(&p->cell, "%.3f", r->drift_ppm);
	rk_page_right(p, RANK_COLUMNS);
	if (reference)
		by = "reference";
	else if (r->clock == RK_CLOCK_SAME)
		by = "same clock";
	rk_page_rest(p, by, CLOCK_COLUMNS);
}

static void put_clocks(struct rk_page *p, const struct rk_ranks *k)
{
	struct clocks *v = NULL, **order = NULL;
	size_t n = 0, limit, same = 0;

	while (same < k->nranks && k->ranks[same].clock == RK_CLOCK_SAME)
		same++;
	if (same == k->nranks)
		return;
	v = rk_calloc(k->nranks, sizeof(*v));
	order = rk_calloc(k->nranks, sizeof(struct clocks *));
	if (!v || !order) {
		p->out->bad = true;
		goto out;
	}
	for (size_t i = 0; i < k->nranks; i++) {
		const struct rk_ranks_rank *r = &k->ranks[i];

		if (n && same_clock(v[n - 1].last, r))
			v[n - 1].last = r;
		else
			v[n++] = (struct clocks){ r, r, true };
	}
	limit = rk_ranks_limit(p->look, n);
	for (size_t i = 0; i < n; i++)
		order[i] = &v[i];
	qsort(order, n, sizeof(struct clocks *), by_doubt);
	for (size_t i = limit; i < n; i++)
		order[i]->shown = false;
	rk_page_title(p, "Clocks");
	if (k->reference >= 0)
		rk_bytes_printf(p->out, ": relative to rank %" PRId64, k->reference);
	rk_bytes_put_u8(p->out, '\n');
	rk_page_paint(p, RK_BOLD);
	rk_page_word(p, "Rank", OFFSET_COLUMNS);
	rk_page_word(p, "Offset", OFFSET_COLUMNS);
	rk_page_word(p, p->look->utf8 ? "±" : "+-", OFFSET_COLUMNS);
	rk_page_word(p, "ppm", RANK_COLUMNS);
	end_heading(p, "Aligned by");
	for (size_t i = 0; i < n; i++)
		if (v[i].shown)
			put_clock(p, &v[i], k);
	put_more(p, n - limit, " with a smaller error; show all: --top 0 or --format json");
out:
	rk_free(order);
	rk_free(v);
}

/* ---- collectives ---- */

static void put_collective(struct rk_page *p, const struct rk_ranks_collective *c, size_t calls)
{
	const char *hue = "";

	if (!strcmp(c->verdict, "late"))
		hue = RK_RED;
	else if (!strcmp(c->verdict, "wire"))
		hue = RK_YELLOW;
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
	if (c->straggler < 0 || !c->calls)
		rk_bytes_puts(&p->cell, "-");
	else /* "3 (81%)" */
		rk_bytes_printf(&p->cell, "%" PRId64 " (%.0f%%)", c->straggler,
				100 * (double)c->straggler_calls / (double)c->calls);
	rk_page_right(p, OFFSET_COLUMNS);
	rk_page_rest(p, c->name, 79 + calls + (wide(p) ? 10u : 0));
}

static void put_collectives(struct rk_page *p, const struct rk_ranks *k)
{
	size_t shown = half_top(p, k->ncollectives), calls;
	uint64_t most = 0, matched = 0, unmatched = 0;

	if (!k->ncollectives)
		return;
	for (size_t i = 0; i < k->ncollectives; i++) {
		most = rk_max(most, k->collectives[i].calls);
		matched += k->collectives[i].calls;
		unmatched += k->collectives[i].unmatched;
	}
	calls = rk_page_count_columns(most, "Calls");
	rk_page_title(p, "Collectives");
	rk_bytes_puts(p->out, ": ");
	rk_put_grouped(p->out, matched);
	rk_bytes_puts(p->out, " matched across ranks");
	if (unmatched) {
		rk_bytes_puts(p->out, ", ");
		rk_put_grouped(p->out, unmatched);
		rk_bytes_puts(p->out, " calls not matched");
	}
	rk_bytes_put_u8(p->out, '\n');
	rk_page_paint(p, RK_BOLD);
	rk_page_word(p, "Cause", SHARE_COLUMNS);
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

static void put_spreads(struct rk_page *p, const struct rk_ranks *k)
{
	size_t noticed = 0, shown, left;

	if (!k->nspreads)
		return;
	for (size_t i = 0; i < k->nspreads; i++)
		noticed += k->spreads[i].imbalance >= NOTICED;
	rk_page_title(p, "Imbalance");
	if (!noticed) {
		rk_bytes_puts(p->out, ": no kernel takes 1 % longer on any rank than the mean\n");
		return;
	}
	rk_bytes_puts(p->out, ": kernels by how far the slowest rank is above the mean\n");
	rk_page_paint(p, RK_BOLD);
	rk_page_word(p, "Imb.%", SHARE_COLUMNS);
	rk_page_word(p, "Above", RK_PAGE_TIME);
	rk_page_word(p, "Mean", RK_PAGE_TIME);
	rk_page_word(p, "Max", RK_PAGE_TIME);
	rk_page_word(p, "rank", RANK_COLUMNS);
	if (wide(p)) {
		rk_page_word(p, "Min", RK_PAGE_TIME);
		rk_page_word(p, "rank", RANK_COLUMNS);
	}
	rk_page_word(p, "Ranks", RANK_COLUMNS);
	end_heading(p, "Name");

	shown = left = half_top(p, noticed);
	for (size_t i = 0; i < k->nspreads && left; i++) {
		const struct rk_ranks_spread *s = &k->spreads[i];

		if (s->imbalance < NOTICED)
			continue;
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
		left--;
	}
	put_more(p, noticed - shown, "");
}

/* ---- copies ---- */

struct copy_widths {
	size_t calls, node;
};

static void put_copy(struct rk_page *p, const struct rk_ranks_copy *c, const struct copy_widths *w)
{
	/* decimal, as for link rates: "1.234 GB" */
	static const char *const units[] = { "B", "kB", "MB", "GB", "TB", "PB" };
	static const char common[] = "MEMORY_COPY_"; /* common prefix */
	const char *direction = c->direction;
	double bytes = (double)c->bytes;
	int unit = 0, digits = 0;

	if (!strncmp(direction, common, sizeof(common) - 1))
		direction += sizeof(common) - 1;
	for (; bytes >= 999.95 && unit < 5; unit++)
		bytes /= 1000;
	if (unit)
		digits = 1 + (bytes < 99.995) + (bytes < 9.9995);
	node_cell(p, c->node, w->node);
	rank_cell(p, c->src, RANK_COLUMNS);
	rank_cell(p, c->dst, RANK_COLUMNS);
	rk_page_count(p, c->calls, w->calls);
	if (c->bytes < 0)
		rk_bytes_puts(&p->cell, "-");
	else
		rk_bytes_printf(&p->cell, "%.*f %s", digits, bytes, units[unit]);
	rk_page_right(p, RK_PAGE_TIME);
	rk_page_time(p, (double)c->time_ns);
	if (isfinite(c->gb_per_s))
		rk_bytes_printf(&p->cell, "%.3g", c->gb_per_s);
	else
		rk_bytes_puts(&p->cell, "-");
	rk_page_right(p, RATE_COLUMNS);
	rk_page_rest(p, direction, 49 + w->node + w->calls);
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
		most = rk_max(most, k->copies[i].calls);
		w.node = rk_max(w.node, node_columns(p, k->copies[i].node));
		order[i] = &k->copies[i];
	}
	if (shown < k->ncopies) /* show the longest ones; a complete table stays sorted by place */
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

/* ---- ranks ---- */

struct widths {
	size_t rank, node, kernels, last;
	bool wide;
	double most; /* longest compute */
};

static struct widths measure(struct rk_page *p, const struct rk_ranks *k, const bool *shown)
{
	struct widths w = { .node = strlen("Node"), .wide = !narrow(p) };
	uint64_t rank = 0, kernels = 0, last = 0;

	for (size_t i = 0; i < k->nranks; i++) {
		const struct rk_ranks_rank *r = &k->ranks[i];

		if (!shown[i])
			continue;
		rank = rk_max(rank, (uint64_t)r->rank);
		kernels = rk_max(kernels, r->kernels);
		last = rk_max(last, r->last);
		w.node = rk_max(w.node, node_columns(p, r->node));
		w.most = fmax(w.most, (double)r->compute_ns);
	}
	w.rank = rk_page_count_columns(rank, "Rank");
	w.kernels = rk_page_count_columns(kernels, "Kernels");
	w.last = rk_page_count_columns(last, "Last");
	return w;
}

static void percent_cell(struct rk_page *p, double part, double whole)
{
	if (part >= 0 && whole > 0)
		rk_bytes_printf(&p->cell, "%.1f", 100 * part / whole);
	else
		rk_bytes_puts(&p->cell, "-");
	rk_page_right(p, PERCENT_COLUMNS);
}

static void put_rank(struct rk_page *p, const struct rk_ranks_rank *r, const struct widths *w,
		     int64_t straggler)
{
	if (r->rank == straggler)
		rk_page_paint(p, RK_RED);
	rk_put_integer(&p->cell, r->rank);
	rk_page_right(p, w->rank);
	if (r->rank == straggler)
		rk_page_paint(p, RK_NORMAL);
	node_cell(p, r->node, w->node);
	rk_page_count(p, r->kernels, w->kernels);
	rk_page_time(p, known(r->compute_ns));
	if (w->wide)
		rk_page_bar(p, w->most > 0 ? (double)r->compute_ns / w->most : 0);
	rk_page_time(p, known(r->comm_ns));
	percent_cell(p, (double)r->both_ns, (double)r->comm_ns);
	percent_cell(p, (double)r->idle_ns, rk_apart(r->first_ns, r->last_ns));
	rk_page_time(p, r->collectives ? (double)r->wait_ns : NAN);
	rk_page_time(p, r->collectives ? (double)r->caused_ns : NAN);
	if (w->wide)
		rk_page_count(p, r->last, w->last);

	/* problems of the rank, at the end of its line */
	if (rk_ranks_troubled(r)) {
		rk_page_paint(p, RK_YELLOW);
		if (!r->kernels)
			rk_bytes_puts(p->out, "  no kernels");
		if (r->state[0] && strcmp(r->state, "done") != 0) {
			rk_bytes_puts(p->out, "  ");
			rk_put_printable(p->out, r->state, strnlen(r->state, STATE_MAX),
					 p->look->utf8);
		}
		if (r->status > 0)
			rk_bytes_printf(p->out, "  exit %" PRId64, r->status);
		rk_page_paint(p, RK_NORMAL);
	}
	rk_bytes_put_u8(p->out, '\n');
}

static void put_ranks(struct rk_page *p, const struct rk_ranks *k)
{
	size_t limit = rk_ranks_limit(p->look, k->nranks), left = k->nranks;
	bool *shown = rk_calloc(k->nranks, sizeof(*shown));
	int64_t straggler = rk_ranks_straggler(k);
	struct widths w;

	if (!shown || !rk_ranks_pick(k, limit, shown)) {
		p->out->bad = true;
		rk_free(shown);
		return;
	}
	w = measure(p, k, shown);
	rk_page_paint(p, RK_BOLD);
	rk_page_word(p, "Rank", w.rank);
	rk_bytes_puts(&p->cell, "Node");
	rk_page_left(p, w.node);
	rk_page_word(p, "Kernels", w.kernels);
	rk_page_word(p, "Compute", RK_PAGE_TIME);
	if (w.wide)
		rk_page_spaces(p, 1 + RK_PAGE_BAR);
	rk_page_word(p, "Comm", RK_PAGE_TIME);
	rk_page_word(p, "Hidden%", PERCENT_COLUMNS);
	rk_page_word(p, "Idle%", PERCENT_COLUMNS);
	rk_page_word(p, "Waits", RK_PAGE_TIME);
	rk_page_word(p, "Caused", RK_PAGE_TIME);
	if (w.wide)
		rk_page_word(p, "Last", w.last);
	rk_page_last(p, "");
	for (size_t i = 0; i < k->nranks; i++) {
		if (!shown[i])
			continue;
		put_rank(p, &k->ranks[i], &w, straggler);
		left--;
	}
	rk_free(shown);
	put_more(p, left,
		 " that are not the slowest, fastest or most waited for; "
		 "show all: --top 0 or --format json");
}

void rk_ranks_text(struct rk_page *p, const struct rk_ranks *k)
{
	size_t shown = rk_ranks_limit(p->look, k->nproblems);
	struct rk_list says = { 0 };

	rk_page_title(p, "Ranks");
	rk_bytes_puts(p->out, ": ");
	rk_put_grouped(p->out, k->nranks);
	if (k->size && k->size != k->nranks) {
		rk_bytes_puts(p->out, " of ");
		rk_put_grouped(p->out, k->size);
	}
	if (k->nodes) {
		rk_bytes_puts(p->out, " on ");
		rk_put_grouped(p->out, k->nodes);
		rk_bytes_printf(p->out, " node%s", rk_plural(k->nodes));
	}
	if (k->job[0]) {
		rk_bytes_puts(p->out, ", job ");
		rk_put_printable(p->out, k->job, strlen(k->job), p->look->utf8);
	}
	rk_bytes_put_u8(p->out, '\n');

	for (size_t i = 0; i < shown; i++) {
		const char *text = k->problems[i].text;

		rk_page_paint(p, RK_YELLOW);
		rk_bytes_printf(p->out, "  %s: ", k->problems[i].kind);
		rk_page_paint(p, RK_NORMAL);
		rk_put_printable(p->out, text, strlen(text), p->look->utf8);
		rk_bytes_put_u8(p->out, '\n');
	}
	if (shown < k->nproblems)
		rk_bytes_printf(p->out, "  and %zu more problems\n", k->nproblems - shown);
	rk_ranks_say(&says, k);
	for (size_t i = 0; i < says.n; i++)
		rk_bytes_printf(p->out, "  %s\n", says.v[i]);
	p->out->bad |= says.bad;
	rk_list_release(&says);

	if (k->nranks)
		put_ranks(p, k);
	put_clocks(p, k);
	put_collectives(p, k);
	put_spreads(p, k);
	put_copies(p, k);
}
