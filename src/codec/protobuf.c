/* protobuf.c - the fields of a protobuf message. Groups, long gone from the format, are refused. */
#include "codec/protobuf.h"

enum { MAX_NUMBER = (1 << 29) - 1 };

bool rk_pb_next(struct rk_cursor *c, struct rk_pb_field *ret)
{
	uint64_t tag, len;

	if (c->bad || !rk_cursor_left(c))
		return false;
	tag = rk_cursor_varint(c);
	*ret = (struct rk_pb_field){ .number = (uint32_t)(tag >> 3),
				     .wire = (enum rk_pb_wire)(tag & 7) };
	if (c->bad || tag >> 3 == 0 || tag >> 3 > MAX_NUMBER) {
		c->bad = true;
		return false;
	}
	switch (ret->wire) {
	case RK_PB_VARINT:
		ret->value = rk_cursor_varint(c);
		break;
	case RK_PB_FIXED64:
		ret->value = rk_cursor_u64le(c);
		break;
	case RK_PB_FIXED32:
		ret->value = rk_cursor_u32le(c);
		break;
	case RK_PB_BYTES:
		len = rk_cursor_varint(c);
		if (len > rk_cursor_left(c))
			c->bad = true;
		ret->len = (size_t)len;
		ret->data = rk_cursor_take(c, ret->len);
		break;
	default:
		c->bad = true;
	}
	return !c->bad;
}
