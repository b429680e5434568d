/* page.c - see page.h. */
#include "base/page.h"

#include <math.h>
#include <string.h>

#include "base/handle.h"
#include "base/num.h"
#include "base/text.h"

enum { RENDER_MAX_BYTES = 1 << 30, CELL_MAX_BYTES = 64 << 10 };

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

void rk_put_number(struct rk_bytes *out, double v, const char *missing)
{
	char text[32];

	if (isfinite(v))
		rk_bytes_put(out, text, rk_num_put_f64(text, v));
	else
		rk_bytes_puts(out, missing);
}

void rk_put_integer(struct rk_bytes *out, int64_t v)
{
	char text[24];

	rk_bytes_put(out, text, rk_num_put_i64(text, v));
}

void rk_put_duration(struct rk_bytes *out, double ns)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = { { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };
	int decimals = 3;
	size_t u = 0;
	double v;

	if (!isfinite(ns)) {
		rk_bytes_puts(out, "-");
		return;
	}
	/* 999.95 would be printed as 1000: use the next unit. */
	while (u < 3 && fabs(ns) / units[u].ns >= 999.95)
		u++;
	v = ns / units[u].ns;
	if ((u == 0 && v == floor(v)) || v >= 999.95)
		decimals = 0;
	else if (v >= 99.995)
		decimals = 1;
	else if (v >= 9.9995)
		decimals = 2;
	rk_bytes_printf(out, "%.*f %s", decimals, v, units[u].unit);
}

void rk_put_grouped(struct rk_bytes *out, uint64_t v)
{
	char text[32];
	size_t at = sizeof(text);
	unsigned digits = 0;

	do {
		if (digits && digits % 3 == 0)
			text[--at] = ',';
		text[--at] = (char)('0' + v % 10);
		v /= 10;
		digits++;
	} while (v);
	rk_bytes_put(out, text + at, sizeof(text) - at);
}

/*
 * U+0080 to U+009F control a terminal; U+200E.., U+2028.. and U+2066.. break lines or change the
 * text direction.
 */
static bool steers(const unsigned char *p, size_t len)
{
	if (len >= 2 && p[0] == 0xc2 && p[1] < 0xa0)
		return true;
	if (len < 3 || p[0] != 0xe2)
		return false;
	return (p[1] == 0x80 && (p[2] == 0x8e || p[2] == 0x8f || (p[2] >= 0xa8 && p[2] <= 0xae))) ||
	       (p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9);
}

void rk_put_printable(struct rk_bytes *out, const char *s, size_t len, bool utf8)
{
	size_t i = 0;

	while (i < len) {
		size_t end = i + rk_utf8_valid(s + i, len - i);

		while (i < end) {
			const unsigned char *p = (const unsigned char *)s + i;
			size_t n = 1;

			while (i + n < end && (p[n] & 0xc0) == 0x80)
				n++;
			if (*p < 0x20 || *p == 0x7f)
				rk_bytes_printf(out, "\\x%02x", *p);
			else if (*p < 0x80)
				rk_bytes_put_u8(out, *p);
			else if (!utf8)
				rk_bytes_put_u8(out, '?');
			else if (steers(p, n))
				rk_bytes_puts(out, REPLACEMENT);
			else
				rk_bytes_put(out, p, n);
			i += n;
		}
		if (i < len) {
			rk_bytes_puts(out, utf8 ? REPLACEMENT : "?");
			i++;
		}
	}
}

void rk_warnings_json(struct rk_bytes *out, const struct rk_warning *warnings, size_t n)
{
	rk_bytes_puts(out, ",\n \"warnings\":[");
	for (size_t i = 0; i < n; i++) {
		const struct rk_warning *w = &warnings[i];

		rk_bytes_puts(out, i ? ",\n  {\"kind\":" : "\n  {\"kind\":");
		rk_json_string(out, w->kind, strlen(w->kind));
		rk_bytes_puts(out, ",\"file\":");
		rk_put_json_text(out, rk_text_or(w->file, NULL));
		rk_bytes_puts(out, ",\"line\":");
		if (w->line)
			rk_bytes_printf(out, "%" PRIu64, w->line);
		else
			rk_bytes_puts(out, "null");
		rk_bytes_printf(out, ",\"count\":%" PRIu64 ",\"message\":", w->count);
		rk_json_string(out, w->message, strlen(w->message));
		rk_bytes_put_u8(out, '}');
	}
	rk_bytes_put_u8(out, ']');
}

void rk_put_json_text(struct rk_bytes *out, const char *s)
{
	if (s)
		rk_json_string(out, s, strlen(s));
	else
		rk_bytes_puts(out, "null");
}

int rk_render(rk_form *const forms[RK_NFORMS], const void *what,
	      const struct rk_render_options *look, char **ret_text, size_t *ret_len,
	      const char *fn, struct rk_error *err)
{
	static const struct rk_render_options plain;
	struct rk_bytes out;

	if (!what || !ret_text)
		return rk_misuse(fn, err);
	if (!look)
		look = &plain;
	if (rk_check_enum((unsigned)look->format, RK_NFORMS - 1, fn, err) < 0)
		return RK_E_USAGE;
	rk_bytes_init(&out, RENDER_MAX_BYTES);
	forms[look->format](&out, what, look);
	return rk_bytes_give(&out, ret_text, ret_len, err);
}

/* ---- text tables ---- */

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
	return rk_max(n, strlen(title)) + 1;
}

void rk_page_bar(struct rk_page *p, double share)
{
	const char *full = p->look->utf8 ? "▇" : "#";
	int n = 0;

	if (share >= 1)
		n = RK_PAGE_BAR;
	else if (share > 0)
		n = (int)(share * RK_PAGE_BAR + 0.5);
	rk_bytes_put_u8(p->out, ' ');
	for (int i = 0; i < RK_PAGE_BAR; i++)
		rk_bytes_puts(p->out, i < n ? full : " ");
}

void rk_page_rest(struct rk_page *p, const char *name, size_t used)
{
	size_t room = RK_PAGE_NAME;

	if (p->look->columns > used + RK_PAGE_NAME)
		room = p->look->columns - used;
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

void rk_page_last(struct rk_page *p, const char *last)
{
	rk_bytes_puts(p->out, last);
	rk_page_paint(p, RK_NORMAL);
	rk_bytes_put_u8(p->out, '\n');
}

size_t rk_page_shown(const struct rk_page *p, size_t n)
{
	return p->look->top ? rk_min(p->look->top, n) : n;
}
