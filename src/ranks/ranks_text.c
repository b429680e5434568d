/* ranks_text.c - a job of several ranks for people: what is wrong, who works and who waits. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/page.h"
#include "base/text.h"
#include "ranks/ranks_parts.h"

enum {
	WIDE_COLUMNS = 110, /* narrower terminals see no bar and fewer columns */
	NODE_COLUMNS = 24,  /* a longer node is cut */
	NODE_NARROW = 12,
	SHARE_COLUMNS = 7,
	STATE_MAX = 40,
};

static bool narrow(const struct rk_page *p)
{
	return p->look->columns && p->look->columns < WIDE_COLUMNS;
}

struct widths {
	size_t rank, node, kernels, last;
	bool wide;
	double most; /* longest compute */
};

size_t rk_ranks_node_columns(struct rk_page *p, const char *node)
{
	size_t most = narrow(p) ? NODE_NARROW : NODE_COLUMNS, n;

	rk_put_printable(&p->cell, node, strlen(node), p->look->utf8);
	n = rk_utf8_columns((const char *)p->cell.data, p->cell.len);
	p->out->bad |= p->cell.bad;
	rk_bytes_clear(&p->cell);
	return n < most ? n : most;
}

void rk_ranks_node_cell(struct rk_page *p, const char *node, size_t columns)
{
	rk_put_printable(&p->cell, node[0] ? node : "-", strlen(node[0] ? node : "-"),
			 p->look->utf8);
	if (rk_utf8_columns((const char *)p->cell.data, p->cell.len) > columns) {
		p->cell.len = rk_utf8_fit((const char *)p->cell.data, p->cell.len,
					  columns - (p->look->utf8 ? 1 : 3));
		rk_bytes_puts(&p->cell, p->look->utf8 ? "…" : "...");
	}
	rk_page_left(p, columns);
}

static size_t at_least(size_t a, size_t b)
{
	return a > b ? a : b;
}

static struct widths measure(struct rk_page *p, const struct rk_ranks *k, const bool *shown)
{
	struct widths w = { .node = strlen("Node"), .wide = !narrow(p) };
	uint64_t rank = 0, kernels = 0, last = 0;

	for (size_t i = 0; i < k->nranks; i++) {
		const struct rk_ranks_rank *r = &k->ranks[i];

		if (!shown[i])
			continue;
		rank = at_least(rank, (uint64_t)r->rank);
		kernels = at_least(kernels, r->kernels);
		last = at_least(last, r->last);
		w.node = at_least(w.node, rk_ranks_node_columns(p, r->node));
		if ((double)r->compute_ns > w.most)
			w.most = (double)r->compute_ns;
	}
	w.rank = rk_page_count_columns(rank, "Rank");
	w.kernels = rk_page_count_columns(kernels, "Kernels");
	w.last = rk_page_count_columns(last, "Last");
	return w;
}

static void put_heading(struct rk_page *p, const struct widths *w)
{
	rk_page_paint(p, RK_BOLD);
	rk_page_word(p, "Rank", w->rank);
	rk_bytes_puts(&p->cell, "Node");
	rk_page_left(p, w->node);
	rk_page_word(p, "Kernels", w->kernels);
	rk_page_word(p, "Compute", RK_PAGE_TIME);
	if (w->wide)
		rk_page_spaces(p, 1 + RK_PAGE_BAR);
	rk_page_word(p, "Comm", RK_PAGE_TIME);
	rk_page_word(p, "Hidden%", SHARE_COLUMNS);
	rk_page_word(p, "Idle%", SHARE_COLUMNS);
	rk_page_word(p, "Waits", RK_PAGE_TIME);
	rk_page_word(p, "Caused", RK_PAGE_TIME);
	if (w->wide)
		rk_page_word(p, "Last", w->last);
	rk_page_paint(p, RK_NORMAL);
	rk_bytes_put_u8(p->out, '\n');
}

static void share_cell(struct rk_page *p, double part, double whole)
{
	if (part >= 0 && whole > 0)
		rk_bytes_printf(&p->cell, "%.1f", 100 * part / whole);
	else
		rk_bytes_puts(&p->cell, "-");
	rk_page_right(p, SHARE_COLUMNS);
}

static double known(int64_t ns)
{
	return ns < 0 ? NAN : (double)ns;
}

/* What is wrong with it, behind all else. */
static void put_note(struct rk_page *p, const struct rk_ranks_rank *r)
{
	if (!rk_ranks_troubled(r))
		return;
	rk_page_paint(p, RK_YELLOW);
	if (!r->kernels)
		rk_bytes_puts(p->out, "  no kernels");
	if (r->state[0] && strcmp(r->state, "done") != 0) {
		rk_bytes_puts(p->out, "  ");
		rk_put_printable(p->out, r->state, strnlen(r->state, STATE_MAX), p->look->utf8);
	}
	if (r->status > 0)
		rk_bytes_printf(p->out, "  exit %" PRId64, r->status);
	rk_page_paint(p, RK_NORMAL);
}

static void put_rank(struct rk_page *p, const struct rk_ranks_rank *r, const struct widths *w,
		     int64_t straggler)
{
	rk_page_paint(p, r->rank == straggler ? RK_RED : "");
	rk_put_integer(&p->cell, r->rank);
	rk_page_right(p, w->rank);
	rk_page_paint(p, r->rank == straggler ? RK_NORMAL : "");
	rk_ranks_node_cell(p, r->node, w->node);
	rk_page_count(p, r->kernels, w->kernels);
	rk_page_time(p, known(r->compute_ns));
	if (w->wide)
		rk_page_bar(p, w->most > 0 ? (double)r->compute_ns / w->most : 0);
	rk_page_time(p, known(r->comm_ns));
	share_cell(p, (double)r->both_ns, (double)r->comm_ns);
	share_cell(p, (double)r->idle_ns, (double)r->last_ns - (double)r->first_ns);
	rk_page_time(p, r->collectives ? (double)r->wait_ns : NAN);
	rk_page_time(p, r->collectives ? (double)r->caused_ns : NAN);
	if (w->wide)
		rk_page_count(p, r->last, w->last);
	put_note(p, r);
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
	put_heading(p, &w);
	for (size_t i = 0; i < k->nranks; i++) {
		if (!shown[i])
			continue;
		put_rank(p, &k->ranks[i], &w, straggler);
		left--;
	}
	rk_free(shown);
	if (!left)
		return;
	rk_page_paint(p, RK_DIM);
	rk_bytes_puts(p->out, "  and ");
	rk_put_grouped(p->out, left);
	rk_bytes_puts(p->out, " more, neither slowest nor fastest nor waited for most; "
			      "all: --top 0, or --format json");
	rk_page_paint(p, RK_NORMAL);
	rk_bytes_put_u8(p->out, '\n');
}

static void put_summary(struct rk_page *p, const struct rk_ranks *k)
{
	struct rk_list says = { 0 };

	rk_ranks_say(&says, k);
	for (size_t i = 0; i < says.n; i++)
		rk_bytes_printf(p->out, "  %s\n", says.v[i]);
	p->out->bad |= says.bad;
	rk_list_release(&says);
}

static void put_problems(struct rk_page *p, const struct rk_ranks *k)
{
	size_t shown = rk_ranks_limit(p->look, k->nproblems);

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
}

void rk_ranks_text(struct rk_page *p, const struct rk_ranks *k)
{
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
		rk_bytes_puts(p->out, k->nodes == 1 ? " node" : " nodes");
	}
	if (k->job[0]) {
		rk_bytes_puts(p->out, ", job ");
		rk_put_printable(p->out, k->job, strlen(k->job), p->look->utf8);
	}
	rk_bytes_put_u8(p->out, '\n');
	put_problems(p, k);
	put_summary(p, k);
	if (k->nranks)
		put_ranks(p, k);
	rk_ranks_clocks_text(p, k);
	rk_ranks_tables_text(p, k);
}
