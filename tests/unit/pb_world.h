/* pb_world.h - protobuf messages for tests, field by field. */
#ifndef RK_PB_WORLD_H
#define RK_PB_WORLD_H

#include <string.h>

#include "base/bytes.h"

static inline void put_varint(struct rk_bytes *b, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		rk_bytes_put_u8(b, (uint8_t)(v | 0x80));
	rk_bytes_put_u8(b, (uint8_t)v);
}

static inline void put_int(struct rk_bytes *b, uint32_t field, uint64_t v)
{
	put_varint(b, (uint64_t)field << 3);
	put_varint(b, v);
}

static inline void put_data(struct rk_bytes *b, uint32_t field, const void *p, size_t len)
{
	put_varint(b, (uint64_t)field << 3 | 2);
	put_varint(b, len);
	rk_bytes_put(b, p, len);
}

static inline void put_str(struct rk_bytes *b, uint32_t field, const char *s)
{
	put_data(b, field, s, strlen(s));
}

static inline void put_double(struct rk_bytes *b, uint32_t field, double d)
{
	put_varint(b, (uint64_t)field << 3 | 1);
	rk_bytes_put(b, &d, sizeof(d));
}

/* Ends a message: its bytes become a field of `to`. */
static inline void put_message(struct rk_bytes *to, uint32_t field, struct rk_bytes *m)
{
	put_data(to, field, m->data, m->len);
	rk_bytes_release(m);
}

static inline struct rk_bytes message(void)
{
	struct rk_bytes b;

	rk_bytes_init(&b, 64 << 20);
	return b;
}

#endif
