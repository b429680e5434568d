/* json_string.c - strings that cannot be borrowed: with escapes, or across blocks. */
#include <string.h>

#include "codec/json/json_impl.h"

static const char *const repaired = "\xef\xbf\xbd"; /* U+FFFD */

/* As much as the limit leaves room for. */
static void keep(struct rk_json *j, const char *p, size_t len)
{
	size_t room = RK_JSON_TEXT_MAX - j->text.len;

	if (len > room) {
		j->cut = true;
		len = room;
	}
	rk_bytes_put(&j->text, p, len);
}

/* A high surrogate whose low one did not follow. */
static void flush_high(struct rk_json *j)
{
	if (j->high)
		keep(j, repaired, 3);
	j->high = 0;
}

static void keep_code(struct rk_json *j, uint32_t c)
{
	char u[4];

	if (j->high && c >= 0xdc00 && c < 0xe000) {
		c = 0x10000 + ((j->high - 0xd800) << 10) + (c - 0xdc00);
		j->high = 0;
	}
	flush_high(j);
	if (c >= 0xd800 && c < 0xdc00) {
		j->high = c;
		return;
	}
	if (c >= 0xdc00 && c < 0xe000)
		c = 0xfffd;
	if (c < 0x80) {
		u[0] = (char)c;
		keep(j, u, 1);
	} else if (c < 0x800) {
		u[0] = (char)(0xc0 | c >> 6);
		u[1] = (char)(0x80 | (c & 0x3f));
		keep(j, u, 2);
	} else if (c < 0x10000) {
		u[0] = (char)(0xe0 | c >> 12);
		u[1] = (char)(0x80 | (c >> 6 & 0x3f));
		u[2] = (char)(0x80 | (c & 0x3f));
		keep(j, u, 3);
	} else {
		u[0] = (char)(0xf0 | c >> 18);
		u[1] = (char)(0x80 | (c >> 12 & 0x3f));
		u[2] = (char)(0x80 | (c >> 6 & 0x3f));
		u[3] = (char)(0x80 | (c & 0x3f));
		keep(j, u, 4);
	}
}

/* The byte at pos, not taken; negative: an error. */
static int peek(struct rk_json *j, struct rk_error *err)
{
	if (j->pos == j->end) {
		int rc = rk_json_refill(j, err);

		if (rc <= 0)
			return rc < 0 ? rc : rk_json_fail_end(j, err);
	}
	return (uint8_t)*j->pos;
}

static int hex_digit(int c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* An escape that JSON does not have stays as it is written. */
static void keep_odd(struct rk_json *j, const char *p, size_t len)
{
	if (!j->notes.escapes++)
		j->notes.escapes_at = rk_json_offset(j);
	flush_high(j);
	keep(j, p, len);
}

static int unicode(struct rk_json *j, struct rk_error *err)
{
	char raw[6] = { '\\', 'u' };
	uint32_t code = 0;

	for (size_t i = 0; i < 4; i++) {
		int c = peek(j, err);

		if (c < 0)
			return c;
		if (hex_digit(c) < 0) {
			keep_odd(j, raw, 2 + i);
			return 0;
		}
		raw[2 + i] = (char)c;
		code = code << 4 | (uint32_t)hex_digit(c);
		j->pos++;
	}
	keep_code(j, code);
	return 0;
}

/* pos is after the backslash. */
static int escape(struct rk_json *j, struct rk_error *err)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	int c = peek(j, err);
	const char *p;

	if (c < 0)
		return c;
	j->pos++;
	if (c == 'u')
		return unicode(j, err);
	p = c ? strchr(from, c) : NULL;
	if (p) {
		keep_code(j, (uint8_t)to[p - from]);
	} else {
		char raw[2] = { '\\', (char)c };

		keep_odd(j, raw, 2);
	}
	return 0;
}

static int end_string(struct rk_json *j, uint64_t begin, struct rk_json_token *tok,
		      struct rk_error *err)
{
	flush_high(j);
	if (j->text.bad)
		return rk_fail_nomem(err);
	if (j->cut && !j->notes.cut++)
		j->notes.cut_at = begin;
	tok->text = j->text.len ? (const char *)j->text.data : "";
	tok->len = j->text.len;
	return 0;
}

int rk_json_long_string(struct rk_json *j, struct rk_json_token *tok, struct rk_error *err)
{
	uint64_t begin = rk_json_offset(j);

	rk_bytes_clear(&j->text);
	j->cut = false;
	j->high = 0;
	for (;;) {
		const char *q = rk_json_string_end(j->pos, j->end);
		int rc;

		q = q < j->end ? q : j->end;
		if (q > j->pos) {
			flush_high(j);
			keep(j, j->pos, (size_t)(q - j->pos));
			j->pos = q;
		}
		rc = peek(j, err);
		if (rc < 0)
			return rc;
		if (rc == '"') {
			j->pos++;
			return end_string(j, begin, tok, err);
		}
		if (rc == '\\') {
			j->pos++;
			rc = escape(j, err);
			if (rc < 0)
				return rc;
		}
	}
}
