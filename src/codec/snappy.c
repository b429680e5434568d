/*
 * snappy.c - Snappy's raw format (format_description.txt): the unpacked length as a varint, then
 * elements. The low two bits of an element's first byte say what it is: literal bytes, or a copy
 * of what was unpacked `offset` bytes ago, with the offset in 1, 2 or 4 bytes.
 */
#include "codec/snappy.h"

#include <string.h>

#include "base/cursor.h"

struct output {
	uint8_t *data;
	size_t len, cap;
};

static uint32_t le(struct rk_cursor *c, size_t bytes)
{
	const uint8_t *p = rk_cursor_take(c, bytes);
	uint32_t v = 0;

	for (size_t i = 0; p && i < bytes; i++)
		v |= (uint32_t)p[i] << 8 * i;
	return v;
}

/* Lengths up to 60 stand in the tag, longer ones in 1 to 4 bytes behind it. */
static bool literal(struct rk_cursor *c, unsigned tag, struct output *o)
{
	size_t len = tag >> 2;
	const uint8_t *p;

	if (len >= 60)
		len = le(c, len - 59);
	len++;
	p = rk_cursor_take(c, len);
	if (!p || len > o->cap - o->len)
		return false;
	memcpy(o->data + o->len, p, len);
	o->len += len;
	return true;
}

/* Source and target may overlap: then the bytes repeat, and must be copied one by one. */
static bool copy(struct output *o, size_t offset, size_t len)
{
	uint8_t *to = o->data + o->len;
	const uint8_t *from;

	if (!offset || offset > o->len || len > o->cap - o->len)
		return false;
	from = to - offset;
	if (offset >= len) {
		memcpy(to, from, len);
	} else {
		for (size_t i = 0; i < len; i++)
			to[i] = from[i];
	}
	o->len += len;
	return true;
}

static bool element(struct rk_cursor *c, struct output *o)
{
	unsigned tag = rk_cursor_u8(c);
	size_t offset, len = (tag >> 2) + 1;

	switch (tag & 3) {
	case 0:
		return literal(c, tag, o);
	case 1:
		len = (tag >> 2 & 7) + 4;
		offset = (tag >> 5) << 8 | le(c, 1);
		break;
	case 2:
		offset = le(c, 2);
		break;
	default:
		offset = le(c, 4);
	}
	return !c->bad && copy(o, offset, len);
}

bool rk_snappy_unpack(const uint8_t *in, size_t len, uint8_t *out, size_t out_len)
{
	struct rk_cursor c = rk_cursor_over(in, len);
	struct output o = { .data = out, .cap = out_len };

	if (rk_cursor_varint(&c) != out_len)
		return false;
	while (!c.bad && rk_cursor_left(&c)) {
		if (!element(&c, &o))
			return false;
	}
	return !c.bad && o.len == out_len;
}
