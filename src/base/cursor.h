/* cursor.h - bounded reading: a failed read sets `bad`, moves nothing and returns 0. */
#ifndef RK_CURSOR_H
#define RK_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct rk_cursor {
	const uint8_t *pos, *end;
	bool bad;
};

static inline struct rk_cursor rk_cursor_over(const void *data, size_t len)
{
	const uint8_t *p = data;

	return (struct rk_cursor){ .pos = p, .end = p ? p + len : p };
}

static inline size_t rk_cursor_left(const struct rk_cursor *c)
{
	return (size_t)(c->end - c->pos);
}

/* Borrowed bytes, or NULL (and bad) when fewer are left. */
static inline const uint8_t *rk_cursor_take(struct rk_cursor *c, size_t len)
{
	const uint8_t *p = c->pos;

	if (c->bad || rk_cursor_left(c) < len) {
		c->bad = true;
		return NULL;
	}
	c->pos += len;
	return p;
}

static inline uint8_t rk_cursor_u8(struct rk_cursor *c)
{
	const uint8_t *p = rk_cursor_take(c, 1);

	return p ? *p : 0;
}

static inline uint32_t rk_cursor_u32le(struct rk_cursor *c)
{
	const uint8_t *p = rk_cursor_take(c, 4);

	return p ? (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
			       (uint32_t)p[3] << 24 :
		   0;
}

static inline uint64_t rk_cursor_u64le(struct rk_cursor *c)
{
	uint64_t lo = rk_cursor_u32le(c);

	return lo | (uint64_t)rk_cursor_u32le(c) << 32;
}

/* LEB128, at most ten bytes. */
static inline uint64_t rk_cursor_varint(struct rk_cursor *c)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint8_t b = rk_cursor_u8(c);

		if (c->bad)
			return 0;
		v |= (uint64_t)(b & 0x7f) << shift;
		if (!(b & 0x80))
			return v;
	}
	c->bad = true;
	return 0;
}

/* A signed number in zigzag form: 0, -1, 1, -2, ... are 0, 1, 2, 3, ... */
static inline int64_t rk_cursor_zigzag(struct rk_cursor *c)
{
	uint64_t v = rk_cursor_varint(c);

	return (int64_t)(v >> 1 ^ (0 - (v & 1)));
}

#endif
