/* protobuf.h - the fields of a protobuf message, one after another, never past its end. */
#ifndef RK_PROTOBUF_H
#define RK_PROTOBUF_H

#include "base/cursor.h"

enum rk_pb_wire { RK_PB_VARINT = 0, RK_PB_FIXED64 = 1, RK_PB_BYTES = 2, RK_PB_FIXED32 = 5 };

struct rk_pb_field {
	uint32_t number;
	enum rk_pb_wire wire;
	uint64_t value;      /* of VARINT, FIXED64 and FIXED32 */
	const uint8_t *data; /* of BYTES: text or a message, borrowed */
	size_t len;
};

/* The next field; false at the end, and when the rest is no message (c->bad then). */
bool rk_pb_next(struct rk_cursor *c, struct rk_pb_field *ret);

/* A message in a BYTES field; of any other field, an empty one. */
static inline struct rk_cursor rk_pb_message(const struct rk_pb_field *f)
{
	return rk_cursor_over(f->data, f->wire == RK_PB_BYTES ? f->len : 0);
}

/* The bits of a double field. */
static inline double rk_pb_double(const struct rk_pb_field *f)
{
	double d;

	memcpy(&d, &f->value, sizeof(d));
	return d;
}

#endif
