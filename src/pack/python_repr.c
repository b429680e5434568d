/* python_repr.c - texts as Python literals. */
#include <string.h>

#include "base/text.h"
#include "pack/meta_parts.h"

/* The character of a valid sequence of `n` bytes. */
static uint32_t decoded(const unsigned char *s, size_t n)
{
	uint32_t c = n == 1 ? s[0] : s[0] & (0xffu >> (n + 1));

	for (size_t i = 1; i < n; i++)
		c = c << 6 | (s[i] & 0x3f);
	return c;
}

/* Bytes of the valid character at s, 0 when it is none. */
static size_t character(const char *s)
{
	unsigned char c = (unsigned char)*s;
	size_t n = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;

	n = strnlen(s, n) < n ? 0 : n;
	return n && rk_utf8_valid(s, n) == n ? n : 0;
}

static void put_escape(struct rk_bytes *out, uint32_t c)
{
	if (c < 0x100)
		rk_bytes_printf(out, "\\x%02x", (unsigned)c);
	else if (c < 0x10000)
		rk_bytes_printf(out, "\\u%04x", (unsigned)c);
	else
		rk_bytes_printf(out, "\\U%08x", (unsigned)c);
}

static void put_character(struct rk_bytes *out, uint32_t c, char quote)
{
	if (c == '\n')
		rk_bytes_puts(out, "\\n");
	else if (c == '\r')
		rk_bytes_puts(out, "\\r");
	else if (c == '\t')
		rk_bytes_puts(out, "\\t");
	else if (c < 0x20 || c >= 0x7f)
		put_escape(out, c);
	else {
		if (c == '\\' || c == (uint32_t)(unsigned char)quote)
			rk_bytes_put_u8(out, '\\');
		rk_bytes_put_u8(out, (uint8_t)c);
	}
}

void rk_python_repr(struct rk_bytes *out, const char *s)
{
	char quote = strchr(s, '\'') && !strchr(s, '"') ? '"' : '\'';
	size_t n;

	rk_bytes_put_u8(out, (uint8_t)quote);
	for (; *s; s += n ? n : 1) {
		n = character(s);
		/* as Python reads a path: a lone surrogate holds the byte */
		put_character(out, n ? decoded((const unsigned char *)s, n) : 0xdc00u + (uint8_t)*s,
			      quote);
	}
	rk_bytes_put_u8(out, (uint8_t)quote);
}
