/* page.c - see page.h. */
#include "base/page.h"

#include <string.h>

#include "base/text.h"

enum { CELL_MAX_BYTES = 64 << 10 };

void rk_page_begin(struct rk_page *p, struct rk_bytes *out, const struct rk_render_options *look)
{
	*p = (struct rk_page){ .out = out, .look = look };
	rk_bytes_init(&p->cell, CELL_MAX_BYTES);
}

void rk_page_end(struct rk_page *p)
{
	rk_bytes_release(&p->cell);
}

void rk_page_paint(struct rk_page *p, const char *code)
{
	if (p->look->color)
		rk_bytes_puts(p->out, code);
}

void rk_page_spaces(struct rk_page *p, size_t n)
{
	rk_bytes_printf(p->out, "%*s", (int)n, "");
}

void rk_page_title(struct rk_page *p, const char *title)
{
	rk_bytes_put_u8(p->out, '\n');
	rk_page_paint(p, RK_BOLD);
	rk_bytes_puts(p->out, title);
	rk_page_paint(p, RK_NORMAL);
}

static size_t cell_columns(const struct rk_page *p)
{
	return rk_utf8_columns((const char *)p->cell.data, p->cell.len);
}

static void flush(struct rk_page *p)
{
	rk_bytes_put(p->out, p->cell.data, p->cell.len);
	p->out->bad |= p->cell.bad;
	rk_bytes_clear(&p->cell);
}

void rk_page_right(struct rk_page *p, size_t columns)
{
	size_t have = cell_columns(p);

	if (have < columns)
		rk_page_spaces(p, columns - have);
	rk_bytes_put_u8(p->out, ' ');
	flush(p);
}

void rk_page_left(struct rk_page *p, size_t columns)
{
	size_t have = cell_columns(p);

	rk_bytes_put_u8(p->out, ' ');
	flush(p);
	if (have < columns)
		rk_page_spaces(p, columns - have);
}

void rk_page_word(struct rk_page *p, const char *word, size_t columns)
{
	rk_bytes_puts(&p->cell, word);
	rk_page_right(p, columns);
}

void rk_page_time(struct rk_page *p, double ns)
{
	rk_put_duration(&p->cell, ns);
	rk_page_right(p, RK_PAGE_TIME);
}

void rk_page_count(struct rk_page *p, uint64_t v, size_t columns)
{
	rk_put_grouped(&p->cell, v);
	rk_page_right(p, columns);
}

size_t rk_page_count_columns(uint64_t most, const char *title)
{
	size_t digits = 1, n;

	while (most >= 10) {
		most /= 10;
		digits++;
	}
	n = digits + (digits - 1) / 3;
	return (n > strlen(title) ? n : strlen(title)) + 1;
}

void rk_page_bar(struct rk_page *p, double share)
{
	int n = share >= 1 ? RK_PAGE_BAR : share > 0 ? (int)(share * RK_PAGE_BAR + 0.5) : 0;

	rk_bytes_put_u8(p->out, ' ');
	for (int i = 0; i < RK_PAGE_BAR; i++)
		rk_bytes_puts(p->out, i >= n ? " " : p->look->utf8 ? "▇" : "#");
}

void rk_page_rest(struct rk_page *p, const char *name, size_t used)
{
	size_t room = p->look->columns;

	room = room > used + RK_PAGE_NAME ? room - used : RK_PAGE_NAME;
	rk_put_printable(&p->cell, name, strlen(name), p->look->utf8);
	rk_bytes_puts(p->out, "  ");
	if (p->look->columns && cell_columns(p) > room) {
		size_t dots = p->look->utf8 ? 1 : 3;

		p->cell.len = rk_utf8_fit((const char *)p->cell.data, p->cell.len, room - dots);
		rk_bytes_puts(&p->cell, p->look->utf8 ? "…" : "...");
	}
	flush(p);
	rk_bytes_put_u8(p->out, '\n');
}
