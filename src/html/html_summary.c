/* html_summary.c - text of the page that is there without a script, and how text is escaped. */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "html/html_page.h"
#include "report/report_parts.h"

enum { SHOWN = 20, NAME_MAX_BYTES = 400 };

void rk_html_text(struct rk_bytes *out, const char *s)
{
	static const char *const entities[128] = {
		['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;", ['\''] = "&#39;",
	};
	struct rk_bytes plain;

	/* what steers a terminal steers a page, too */
	rk_bytes_init(&plain, out->max);
	rk_put_printable(&plain, s, strlen(s), true);
	out->bad = out->bad || plain.bad;
	for (size_t i = 0; i < plain.len; i++) {
		uint8_t c = plain.data[i];

		if (c < 128 && entities[c])
			rk_bytes_puts(out, entities[c]);
		else
			rk_bytes_put_u8(out, c);
	}
	rk_bytes_release(&plain);
}

void rk_html_json(struct rk_bytes *out, const char *json, size_t len)
{
	/* in JSON, '<' can stand in strings alone */
	for (size_t i = 0; i < len; i++) {
		if (json[i] == '<')
			rk_bytes_puts(out, "\\u003c");
		else
			rk_bytes_put_u8(out, (uint8_t)json[i]);
	}
}

static void put_name(struct rk_bytes *out, const char *name)
{
	char cut[NAME_MAX_BYTES + 1];
	size_t len = strlen(name);

	if (len <= NAME_MAX_BYTES) {
		rk_html_text(out, name);
		return;
	}
	len = rk_utf8_valid(name, NAME_MAX_BYTES);
	memcpy(cut, name, len);
	cut[len] = '\0';
	rk_html_text(out, cut);
	rk_bytes_puts(out, "\xe2\x80\xa6");
}

static void put_row(struct rk_bytes *out, const struct rk_report_row *row)
{
	rk_bytes_puts(out, "<tr><td>");
	if (row->timed && !row->barrier)
		rk_bytes_printf(out, "%.2f", row->percent);
	rk_bytes_puts(out, "</td><td>");
	if (row->timed)
		rk_put_duration(out, (double)row->total_ns);
	rk_bytes_puts(out, "</td><td>");
	rk_put_grouped(out, row->calls);
	rk_bytes_puts(out, "</td><td>");
	put_name(out, row->name);
	rk_bytes_puts(out, "</td></tr>\n");
}

void rk_html_summary(struct rk_bytes *out, const struct rk_report *r)
{
	size_t n = r->kernels.nrows < SHOWN ? r->kernels.nrows : SHOWN;

	rk_bytes_puts(out, "<noscript>\n<p>This page draws with a script, which is switched off "
			   "here. The kernels that took most of the time:</p>\n<table>\n"
			   "<tr><th>Time%</th><th>Total</th><th>Calls</th><th>Kernel</th></tr>\n");
	for (size_t i = 0; i < n; i++)
		put_row(out, &r->kernels.rows[i]);
	rk_bytes_printf(out, "</table>\n<p>%zu of %zu names.</p>\n</noscript>\n", n,
			r->kernels.nrows);
}
