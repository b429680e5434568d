/*
 * protobuf.c - read the fields of a protobuf message. Groups (deprecated in the format) are
 * refused.
 */
#include "codec/protobuf.h"

enum { MAX_NUMBER = (1 << 29) - 1 };

/* Most tags, lengths and values have one byte. */
static inline uint64_t varint(struct rk_cursor *c)
{
	if (!c->bad && c->pos < c->end && *c->pos < 0x80)
		return *c->pos++;
	return rk_cursor_varint(c);
}

bool rk_pb_next(struct rk_cursor *c, struct rk_pb_field *ret)
{
	uint64_t tag, len;

	if (c->bad || !rk_cursor_left(c))
		return false;
	tag = varint(c);
	ret->number = (uint32_t)(tag >> 3);
	ret->wire = (enum rk_pb_wire)(tag & 7);
	ret->value = 0;
	ret->data = NULL;
	ret->len = 0;
	if (c->bad || tag >> 3 == 0 || tag >> 3 > MAX_NUMBER) {
		c->bad = true;
		return false;
	}
	switch (ret->wire) {
	case RK_PB_VARINT:
		ret->value = varint(c);
		break;
	case RK_PB_FIXED64:
		ret->value = rk_cursor_u64le(c);
		break;
	case RK_PB_FIXED32:
		ret->value = rk_cursor_u32le(c);
		break;
	case RK_PB_BYTES:
		len = varint(c);
		if (len > rk_cursor_left(c))
			c->bad = true;
		ret->data = rk_cursor_take(c, (size_t)len);
		ret->len = ret->data ? (size_t)len : 0;
		break;
	default:
		c->bad = true;
	}
	return !c->bad;
}

uint8_t *rk_pb_close_long(uint8_t *content, uint8_t *end)
{
	size_t len = (size_t)(end - content), more = 0;

	for (uint64_t v = len >> 7; v; v >>= 7)
		more++;
	memmove(content + more, content, len);
	rk_pb_put_varint(content - 1, len);
	return end + more;
}
