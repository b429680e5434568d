/* html_hide.c - a JSON document without what is not for everybody. */
#include <string.h>

#include "html/html_page.h"

/* Whose texts may name a host, a user or a path. */
static const char *const keys[] = { "path",   "file", "message",   "reason",
				    "source", "node", "clock_note" };

static bool is_listed(const char *key, size_t len)
{
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (strlen(keys[i]) == len && memcmp(keys[i], key, len) == 0)
			return true;
	return false;
}

/* The quote that ends the string whose text begins at `at`. */
static size_t string_end(const char *json, size_t at, size_t len)
{
	while (at < len && json[at] != '"')
		at += json[at] == '\\' ? 2 : 1;
	return at < len ? at : len;
}

/* What is between the quotes. Escapes stay whole: what is hidden ends at blanks and slashes. */
static void put_hidden(struct rk_bytes *out, const char *text, size_t len, struct rk_html_hide hide)
{
	struct rk_bytes plain;

	rk_bytes_init(&plain, out->max);
	rk_bytes_put(&plain, text, len);
	if (rk_bytes_str(&plain))
		hide.put(out, rk_bytes_str(&plain), hide.arg);
	out->bad = out->bad || plain.bad;
	rk_bytes_release(&plain);
}

void rk_html_hide_json(struct rk_bytes *out, const char *json, size_t len, bool all,
		       struct rk_html_hide hide)
{
	bool listed = false;

	for (size_t i = 0; i < len; i++) {
		size_t end;

		rk_bytes_put_u8(out, (uint8_t)json[i]);
		if (json[i] != '"')
			continue;
		end = string_end(json, i + 1, len);
		if (end + 1 < len && json[end + 1] == ':') {
			listed = is_listed(json + i + 1, end - i - 1);
			rk_bytes_put(out, json + i + 1, end - i - 1);
		} else if (all || listed) {
			put_hidden(out, json + i + 1, end - i - 1, hide);
		} else {
			rk_bytes_put(out, json + i + 1, end - i - 1);
		}
		rk_bytes_put_u8(out, '"');
		i = end;
	}
}
