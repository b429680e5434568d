/* text.c - text utilities: case, UTF-8, escaping. */
#include "base/text.h"

#include <string.h>

#include "base/num.h"

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

bool rk_text_iprefix(const char *a, size_t alen, const char *prefix)
{
	size_t n = strlen(prefix);

	if (alen < n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (lower(a[i]) != lower(prefix[i]))
			return false;
	return true;
}

bool rk_text_ieq(const char *a, size_t alen, const char *b)
{
	size_t i = 0;

	while (i < alen && b[i] && lower(a[i]) == lower(b[i]))
		i++;
	return i == alen && !b[i];
}

const char *rk_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool rk_text_same(const char *a, const char *b)
{
	while (*a && lower(*a) == lower(*b)) {
		a++;
		b++;
	}
	return !*a && !*b;
}

bool rk_text_ends(const char *s, size_t len, const char *suffix)
{
	size_t n = strlen(suffix);

	return len >= n && !memcmp(s + len - n, suffix, n);
}

/*
 * Returns the length of the character at s (1..4) and its code point, or 0 if it is not valid
 * UTF-8. `lo` and `hi` limit the second byte, which excludes overlong forms, surrogates and code
 * points past U+10FFFF.
 */
static size_t decode(const unsigned char *s, size_t len, uint32_t *ret)
{
	unsigned char lo = 0x80, hi = 0xbf;
	size_t n;
	uint32_t v;

	if (s[0] < 0x80) {
		*ret = s[0];
		return 1;
	}
	n = 2u + (s[0] >= 0xe0) + (s[0] >= 0xf0);
	if (s[0] < 0xc2 || s[0] > 0xf4 || len < n)
		return 0;
	if (s[0] == 0xe0)
		lo = 0xa0;
	else if (s[0] == 0xed)
		hi = 0x9f;
	else if (s[0] == 0xf0)
		lo = 0x90;
	else if (s[0] == 0xf4)
		hi = 0x8f;
	if (s[1] < lo || s[1] > hi)
		return 0;
	v = (s[0] & (0x7fu >> n)) << 6 | (s[1] & 0x3fu);
	for (size_t i = 2; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		v = v << 6 | (s[i] & 0x3fu);
	}
	*ret = v;
	return n;
}

size_t rk_utf8_valid(const char *s, size_t len)
{
	const unsigned char *p = (const unsigned char *)s;
	size_t i = 0, n;
	uint32_t cp;

	while (i < len) {
		n = decode(p + i, len - i, &cp);
		if (!n)
			break;
		i += n;
	}
	return i;
}

void rk_utf8_repair(struct rk_bytes *out, const char *s, size_t len)
{
	while (len) {
		size_t good = rk_utf8_valid(s, len);

		rk_bytes_put(out, s, good);
		s += good;
		len -= good;
		if (len) {
			rk_bytes_puts(out, "\xef\xbf\xbd");
			s++;
			len--;
		}
	}
}

size_t rk_utf8_put(char *out, uint32_t code)
{
	static const uint8_t lead[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
	size_t n = 4;

	if (code < 0x80)
		n = 1;
	else if (code < 0x800)
		n = 2;
	else if (code < 0x10000)
		n = 3;
	for (size_t i = n - 1; i > 0; i--, code >>= 6)
		out[i] = (char)(0x80 | (code & 0x3f));
	out[0] = (char)(lead[n] | code);
	return n;
}

static size_t columns_of(uint32_t cp)
{
	if ((cp >= 0x300 && cp <= 0x36f) || (cp >= 0x200b && cp <= 0x200f) || cp == 0xfeff)
		return 0;
	if ((cp >= 0x1100 && cp <= 0x115f) || (cp >= 0x2e80 && cp <= 0xa4cf) ||
	    (cp >= 0xac00 && cp <= 0xd7a3) || (cp >= 0xf900 && cp <= 0xfaff) ||
	    (cp >= 0xfe30 && cp <= 0xfe6f) || (cp >= 0xff00 && cp <= 0xff60) ||
	    (cp >= 0x1f300 && cp <= 0x1faff) || (cp >= 0x20000 && cp <= 0x3fffd))
		return 2;
	return 1;
}

/* Measures until `columns` are full or the text ends; returns bytes, *used is columns. */
static size_t measure(const char *s, size_t len, size_t columns, size_t *used)
{
	size_t i = 0, n, w;
	uint32_t cp;

	for (*used = 0; i < len; i += n, *used += w) {
		n = decode((const unsigned char *)s + i, len - i, &cp);
		w = 1;
		if (n)
			w = columns_of(cp);
		else
			n = 1;
		if (*used + w > columns)
			break;
	}
	return i;
}

size_t rk_utf8_columns(const char *s, size_t len)
{
	size_t used;

	measure(s, len, SIZE_MAX, &used);
	return used;
}

size_t rk_utf8_fit(const char *s, size_t len, size_t columns)
{
	size_t used;

	return measure(s, len, columns, &used);
}

void rk_json_string(struct rk_bytes *out, const char *s, size_t len)
{
	static const char plain[] = "\"\\\b\f\n\r\t", letter[] = "\"\\bfnrt";
	const unsigned char *p = (const unsigned char *)s;
	size_t from = 0, i = 0, n;
	const char *at;
	uint32_t cp;

	rk_bytes_put_u8(out, '"');
	while (i < len) {
		n = decode(p + i, len - i, &cp);
		if (n && cp >= 0x20 && cp != '"' && cp != '\\' && cp != 0x7f) {
			i += n;
			continue;
		}
		rk_bytes_put(out, s + from, i - from);
		at = n && cp ? strchr(plain, p[i]) : NULL;
		if (at)
			rk_bytes_printf(out, "\\%c", letter[at - plain]);
		else if (n)
			rk_bytes_printf(out, "\\u%04x", p[i]);
		else
			rk_bytes_puts(out, "\\ufffd");
		from = ++i;
	}
	rk_bytes_put(out, s + from, len - from);
	rk_bytes_put_u8(out, '"');
}

void rk_csv_cell(struct rk_bytes *out, const char *s, size_t len)
{
	bool quote = false;

	for (size_t i = 0; i < len && !quote; i++)
		quote = s[i] == ',' || s[i] == '"' || s[i] == '\n' || s[i] == '\r';
	if (!quote) {
		rk_bytes_put(out, s, len);
		return;
	}
	rk_bytes_put_u8(out, '"');
	for (size_t i = 0; i < len; i++) {
		if (s[i] == '"')
			rk_bytes_put_u8(out, '"');
		rk_bytes_put_u8(out, (uint8_t)s[i]);
	}
	rk_bytes_put_u8(out, '"');
}

static bool is_control(char c)
{
	return (unsigned char)c < 0x20 || c == 0x7f;
}

void rk_shell_word(struct rk_bytes *out, enum rk_shell_use use, const char *word)
{
	static const char safe[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				   "0123456789%+,-./:=@_";
	bool escapes = false;

	for (const char *p = word; use == RK_SHELL_SHOWN && *p; p++)
		escapes = escapes || (is_control(*p) && *p != '\n' && *p != '\t');
	if (word[0] && strspn(word, safe) == strlen(word)) {
		rk_bytes_puts(out, word);
		return;
	}
	rk_bytes_puts(out, escapes ? "$'" : "'");
	for (; *word; word++) {
		if (escapes && is_control(*word))
			rk_bytes_printf(out, "\\%03o", (unsigned)(unsigned char)*word);
		else if (escapes && strchr("'\\", *word))
			rk_bytes_printf(out, "\\%c", *word);
		else if (*word == '\'')
			rk_bytes_puts(out, "'\\''");
		else if (use == RK_SHELL_SCRIPT && *word == '\r')
			rk_bytes_puts(out, "'\"$(printf '\\015')\"'");
		else
			rk_bytes_put_u8(out, (uint8_t)*word);
	}
	rk_bytes_put_u8(out, '\'');
}

/* ---- bytes as text ---- */

static const char digits64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void rk_base64_put(struct rk_bytes *out, const void *p, size_t len)
{
	const uint8_t *from = p;
	size_t groups = len / 3 + (len % 3 != 0);

	if (groups > SIZE_MAX / 4 || !rk_bytes_reserve(out, groups * 4)) {
		out->bad = true;
		return;
	}
	for (size_t i = 0; i < len; i += 3, out->len += 4) {
		uint8_t *to = out->data + out->len;
		uint32_t v = (uint32_t)from[i] << 16;

		if (len - i > 1)
			v |= (uint32_t)from[i + 1] << 8;
		if (len - i > 2)
			v |= from[i + 2];
		to[0] = (uint8_t)digits64[v >> 18];
		to[1] = (uint8_t)digits64[v >> 12 & 63];
		to[2] = len - i > 1 ? (uint8_t)digits64[v >> 6 & 63] : '=';
		to[3] = len - i > 2 ? (uint8_t)digits64[v & 63] : '=';
	}
}

static const char digits85[85 + 1] = "!#$%()*+,./0123456789:;?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_"
				     "abcdefghijklmnopqrstuvwxyz{|}~";

void rk_base85_put(struct rk_bytes *out, const void *p, size_t len)
{
	const uint8_t *from = p;
	size_t groups = len / 4 + 1;

	if (groups > SIZE_MAX / 5 || !rk_bytes_reserve(out, groups * 5)) {
		out->bad = true;
		return;
	}
	/* Missing bytes of the last group count as 0; the last digits are then dropped. */
	for (size_t i = 0; i < len; i += 4) {
		uint8_t *to = out->data + out->len;
		size_t n = rk_min(len - i, 4);
		uint32_t v = 0;

		for (size_t k = 0; k < 4; k++)
			v = v << 8 | (k < n ? from[i + k] : 0u);
		for (size_t k = 5; k-- > 0; v /= 85)
			to[k] = (uint8_t)digits85[v % 85];
		out->len += n + 1;
	}
}

void rk_csv_text(struct rk_bytes *out, const char *s, char end)
{
	rk_csv_cell(out, s, strlen(s));
	rk_bytes_put_u8(out, (uint8_t)end);
}

void rk_put_plain(struct rk_bytes *out, const char *s)
{
	for (; *s; s++) {
		if (is_control(*s))
			rk_bytes_printf(out, "\\x%02x", (unsigned)(unsigned char)*s);
		else
			rk_bytes_put_u8(out, (uint8_t)*s);
	}
}
