/*
 * metrics_plot.c - the roofline on a terminal: rate over arithmetic intensity, both logarithmic.
 *
 * Draws one level of memory, the outermost one with data; JSON has them all.
 */
#include <math.h>
#include <string.h>

#include "base/num.h"
#include "metrics/metric_roofline.h"
#include "metrics/metrics_parts.h"

enum {
	ROWS = 16,
	COLUMNS_MAX = 100,
	COLUMNS_DEFAULT = 78,
	COLUMNS_MIN = 30,
	AXIS = 8,   /* columns for the labels on the left */
	MARKS = 26, /* a to z */
	PIPES = 4,
	DECADES_MAX = 12,
};

struct plot {
	struct rk_metrics_page *p;
	enum rk_level level;
	double bandwidth; /* achievable, GB/s */
	const struct rk_ceiling *pipes[PIPES];
	size_t npipes;
	double x0, x1, y0, y1; /* exponents of ten */
	size_t columns;        /* width of the plot area */
	char field[ROWS][COLUMNS_MAX];
};

static const struct rk_ceiling *usable(const struct rk_ceiling *c)
{
	return c && c->achievable > 0 ? c : NULL;
}

static const struct rk_ceiling *ceiling(const struct rk_metrics *m, enum rk_level level)
{
	return usable(rk_roof_level(m->ceilings, m->nceilings, level));
}

static size_t marks(const struct rk_metrics_page *p)
{
	return rk_min(p->shown, MARKS);
}

/* Only values above 0 can be on a logarithmic scale. */
static bool is_placed(const struct rk_roof_point *r, enum rk_level l)
{
	return isfinite(r->rate) && r->rate > 0 && isfinite(r->intensity[l]) && r->intensity[l] > 0;
}

static void widen(double *low, double *high, double v)
{
	double e = log10(v);

	if (!isfinite(e))
		return;
	*low = fmin(*low, e);
	*high = fmax(*high, e);
}

/* INFINITY if there is no pipe: then only the slope limits. */
static double top_pipe(const struct plot *t)
{
	double top = t->npipes ? 0 : INFINITY;

	for (size_t i = 0; i < t->npipes; i++)
		top = fmax(top, t->pipes[i]->achievable);
	return top;
}

/*
 * Chooses the level, the pipes of the kernels without duplicates, and the range. False: nothing to
 * draw.
 */
static bool choose(struct plot *t)
{
	const struct rk_metrics *m = t->p->m;
	bool found = false;

	for (int l = RK_NLEVELS - 1; l >= 0 && !found; l--) {
		const struct rk_ceiling *c = ceiling(m, (enum rk_level)l);

		if (!c)
			continue;
		t->level = (enum rk_level)l;
		t->bandwidth = c->achievable;
		for (size_t i = 0; i < marks(t->p) && !found; i++)
			found = is_placed(&m->kernels[i].roof, t->level);
	}
	if (!found)
		return false;

	for (size_t i = 0; i < marks(t->p) && t->npipes < PIPES; i++) {
		const char *name = m->kernels[i].roof.pipe;
		const struct rk_ceiling *c =
			usable(rk_roof_find(m->ceilings, m->nceilings, name ? name : ""));
		size_t k = 0;

		while (k < t->npipes && t->pipes[k] != c)
			k++;
		if (c && k == t->npipes)
			t->pipes[t->npipes++] = c;
	}

	/* whole decades around the points and the ridges */
	t->x0 = t->y0 = INFINITY;
	t->x1 = t->y1 = -INFINITY;
	for (size_t i = 0; i < marks(t->p); i++) {
		const struct rk_roof_point *r = &m->kernels[i].roof;

		if (!is_placed(r, t->level))
			continue;
		widen(&t->x0, &t->x1, r->intensity[t->level]);
		widen(&t->y0, &t->y1, r->rate);
		widen(&t->y0, &t->y1, fmin(t->bandwidth * r->intensity[t->level], top_pipe(t)));
	}
	for (size_t i = 0; i < t->npipes; i++) {
		widen(&t->x0, &t->x1, t->pipes[i]->achievable / t->bandwidth);
		widen(&t->y0, &t->y1, t->pipes[i]->achievable);
	}
	t->x0 = floor(t->x0 - 0.3);
	t->x1 = ceil(t->x1 + 0.3);
	t->y0 = floor(t->y0);
	t->y1 = ceil(t->y1 + 0.05);
	if (t->x1 - t->x0 > DECADES_MAX)
		t->x0 = t->x1 - DECADES_MAX;
	if (t->y1 - t->y0 > DECADES_MAX)
		t->y0 = t->y1 - DECADES_MAX;
	return true;
}

/* The row of a rate, 0 at the top; -1 if outside of the plot. */
static int row_of(const struct plot *t, double rate)
{
	double at = (t->y1 - log10(rate)) / (t->y1 - t->y0) * (ROWS - 1);

	return at > -0.5 && at < ROWS - 0.5 ? (int)(at + 0.5) : -1;
}

static void draw(struct plot *t)
{
	double top = top_pipe(t), x_range = t->x1 - t->x0, last = (double)(t->columns - 1);

	memset(t->field, ' ', sizeof(t->field));
	for (size_t c = 0; c < t->columns; c++) {
		double slope = t->bandwidth * pow(10, t->x0 + x_range * (double)c / last);
		int row = slope <= top ? row_of(t, slope) : -1;

		if (row >= 0)
			t->field[row][c] = '/';
		for (size_t i = 0; i < t->npipes; i++) {
			row = row_of(t, t->pipes[i]->achievable);
			if (row >= 0 && slope >= t->pipes[i]->achievable)
				t->field[row][c] = '-';
		}
	}
	/* draw a point outside of the plot at its edge */
	for (size_t i = marks(t->p); i-- > 0;) {
		const struct rk_roof_point *r = &t->p->m->kernels[i].roof;
		double x, y;

		if (!is_placed(r, t->level))
			continue;
		x = (log10(r->intensity[t->level]) - t->x0) / x_range;
		y = (t->y1 - log10(r->rate)) / (t->y1 - t->y0);
		x = fmin(fmax(x, 0), 1) * last;
		y = fmin(fmax(y, 0), 1) * (ROWS - 1);
		t->field[(int)(y + 0.5)][(int)(x + 0.5)] = (char)('a' + i);
	}
}

static void put_field(struct plot *t)
{
	static const char *const digits[] = { "1", "10", "100" };
	static const char units[] = "num kMGTPEZ";
	struct rk_page *page = &t->p->page;

	for (int row = 0; row < ROWS; row++) {
		size_t end = t->columns;

		/* put a label, "10T" for 10^4 GFLOP/s, in the row of each whole decade */
		for (int e = (int)t->y0; e <= (int)t->y1; e++) {
			int power = e + 9, third = (int)floor(power / 3.0) + 3;

			if (row_of(t, pow(10, e)) != row || page->cell.len)
				continue;
			if (third < 0 || third > 10)
				rk_bytes_printf(&page->cell, "1e%d", power);
			else
				rk_bytes_puts(&page->cell, digits[power - (third - 3) * 3]);
			if (third >= 0 && third <= 10 && units[third] != ' ')
				rk_bytes_put_u8(&page->cell, (uint8_t)units[third]);
		}
		rk_page_right(page, AXIS - 2);
		rk_bytes_puts(page->out, page->look->utf8 ? " │" : " |");
		while (end && t->field[row][end - 1] == ' ')
			end--;
		for (size_t c = 0; c < end; c++) {
			char what = t->field[row][c];
			bool mark = what >= 'a' && what <= 'z';

			if (mark)
				rk_page_paint(page, RK_BOLD);
			if (page->look->utf8 && what == '/')
				rk_bytes_puts(page->out, "╱");
			else if (page->look->utf8 && what == '-')
				rk_bytes_puts(page->out, "─");
			else
				rk_bytes_put_u8(page->out, (uint8_t)what);
			if (mark)
				rk_page_paint(page, RK_NORMAL);
		}
		rk_bytes_put_u8(page->out, '\n');
	}
}

static void put_x_axis(struct plot *t)
{
	struct rk_page *page = &t->p->page;
	size_t at = 0;

	rk_page_spaces(page, AXIS);
	rk_bytes_puts(page->out, page->look->utf8 ? "└" : "+");
	for (size_t c = 0; c < t->columns; c++)
		rk_bytes_puts(page->out, page->look->utf8 ? "─" : "-");
	rk_bytes_put_u8(page->out, '\n');
	rk_page_spaces(page, AXIS + 1);
	for (int e = (int)t->x0; e <= (int)t->x1; e++) {
		size_t want = (size_t)((e - t->x0) / (t->x1 - t->x0) * (double)(t->columns - 1));

		rk_bytes_printf(&page->cell, "%g", pow(10, e));
		if ((at && want < at + 1) || want + page->cell.len > t->columns) {
			rk_bytes_clear(&page->cell);
			continue;
		}
		rk_page_spaces(page, want - at);
		rk_bytes_put(page->out, page->cell.data, page->cell.len);
		at = want + page->cell.len;
		rk_bytes_clear(&page->cell);
	}
	rk_bytes_put_u8(page->out, '\n');
}

static void put_ceiling(struct rk_bytes *out, const struct rk_ceiling *c, const char *unit)
{
	rk_bytes_printf(out, "  %s: ", c->name);
	rk_put_value(out, c->achievable);
	rk_bytes_printf(out, " %s %s, ", unit,
			isfinite(c->measured) ? "measured" : "usually reached");
	rk_put_value(out, c->theory);
	rk_bytes_puts(out, " in theory\n");
}

static void put_legend(const struct plot *t)
{
	static const char *const kinds[] = { "matrix", "vector", "vector and matrix" };
	struct rk_page *page = &t->p->page;

	rk_page_paint(page, RK_BOLD);
	rk_bytes_printf(page->out, "   %9s %9s %9s %6s  %-12s", "GFLOP/s", "FLOP/B", "roof", "%",
			"Pipe");
	rk_page_last(page, "  Kernel");
	for (size_t i = 0; i < marks(t->p); i++) {
		const struct rk_metric_kernel *k = &t->p->m->kernels[i];
		const struct rk_roof_point *r = &k->roof;

		if (!is_placed(r, t->level))
			continue;
		rk_bytes_printf(page->out, " %c", (int)('a' + i));
		rk_put_value(&page->cell, r->rate);
		rk_page_right(page, 9);
		rk_put_value(&page->cell, r->intensity[t->level]);
		rk_page_right(page, 9);
		rk_put_value(&page->cell, r->attainable[t->level]);
		rk_page_right(page, 9);
		if (isfinite(r->percent[t->level]))
			rk_bytes_printf(&page->cell, "%.1f", r->percent[t->level]);
		else
			rk_bytes_puts(&page->cell, "-");
		rk_page_right(page, 6);
		rk_bytes_printf(page->out, "%s%-12s", r->uncounted ? " *" : "  ",
				r->pipe && r->pipe[0] ? r->pipe : "-");
		rk_page_rest(page, k->name[0] ? k->name : "(no name)", 2 + 10 * 3 + 7 + 14 + 2);
	}
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		size_t n = 0;

		for (size_t at = 0; at < marks(t->p); at++) {
			const struct rk_roof_point *r = &t->p->m->kernels[at].roof;

			if (!is_placed(r, t->level) || !r->uncounted ||
			    strcmp(r->uncounted, kinds[i]) != 0)
				continue;
			rk_bytes_printf(page->out, "%s %c", n++ ? "," : " *", (int)('a' + at));
		}
		if (n)
			rk_bytes_printf(page->out,
					": not all %s operations were counted, so the true place "
					"is higher and to the right\n"
					"   collect them: rockit run -p roofline -- PROGRAM\n",
					kinds[i]);
	}
}

void rk_metrics_plot(struct rk_metrics_page *p)
{
	struct plot t = { .p = p };
	size_t width = p->page.look->columns;
	const struct rk_ceiling *level;

	if (!choose(&t))
		return;
	if (!width)
		width = COLUMNS_DEFAULT;
	t.columns = rk_min(rk_max(width, COLUMNS_MIN), COLUMNS_MAX) - AXIS - 2;
	draw(&t);
	level = ceiling(p->m, t.level);
	rk_page_title(&p->page, "Roofline");
	rk_bytes_printf(p->page.out, ": FLOP/s over FLOP per byte of %s\n", level->name);
	put_field(&t);
	put_x_axis(&t);
	put_ceiling(p->page.out, level, "GB/s");
	for (size_t i = 0; i < t.npipes; i++)
		put_ceiling(p->page.out, t.pipes[i], "GFLOP/s");
	put_legend(&t);
}
