/* rkraw_world.h (test) - recorder's files made by hand. */
#ifndef RK_RKRAW_WORLD_H
#define RK_RKRAW_WORLD_H

#include "read/rkraw/raw.h"

#include <string.h>

enum { BLOCK = RK_RAW_BLOCK_MIN, BLOCKS = 4 };

/* A file of a header and three blocks: definitions, data, data. */
struct image {
	uint8_t bytes[BLOCKS * BLOCK];
	size_t fill[BLOCKS];
};

static inline struct rk_raw_header *header(struct image *m)
{
	return (struct rk_raw_header *)(void *)m->bytes;
}

static inline struct rk_raw_block *block(struct image *m, unsigned i)
{
	return (struct rk_raw_block *)(void *)(m->bytes + (size_t)i * BLOCK);
}

static inline void seal_header(struct image *m)
{
	struct rk_raw_header *h = header(m);

	h->sum = rk_raw_sum(0, h, offsetof(struct rk_raw_header, sum));
}

static inline void seal(struct image *m, unsigned i)
{
	struct rk_raw_block *b = block(m, i);

	b->state = RK_RAW_SEALED;
	b->sum = rk_raw_block_sum(b, b + 1, (uint32_t)b->published);
}

static inline void begin(struct image *m, unsigned i, enum rk_raw_kind kind)
{
	struct rk_raw_block *b = block(m, i);

	b->magic = RK_RAW_BLOCK_MAGIC;
	b->state = RK_RAW_OPEN;
	b->kind = kind;
	b->tid = 40 + i;
	b->sequence = i;
}

static inline void put_bytes(struct image *m, unsigned i, uint8_t tag, const uint8_t *p, size_t len)
{
	struct rk_raw_block *b = block(m, i);
	uint8_t *to = (uint8_t *)(b + 1) + (uint32_t)b->published;

	to[0] = tag;
	to[1] = (uint8_t)len;
	memcpy(to + 2, p, len);
	b->types |= 1u << (tag & 31);
	b->published += (uint64_t)1 << 32 | (uint64_t)(len + 2);
}

static inline size_t varint(uint8_t *p, uint64_t v)
{
	size_t n = 0;

	for (; v >= 0x80; v >>= 7)
		p[n++] = (uint8_t)(v | 0x80);
	p[n++] = (uint8_t)v;
	return n;
}

/* Numbers as they are in the file: differences are already in zigzag form. */
#define PUT(m, i, tag, ...)                                       \
	put_numbers(m, i, tag, (const uint64_t[]){ __VA_ARGS__ }, \
		    sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

static inline void put_numbers(struct image *m, unsigned i, uint8_t tag, const uint64_t *v,
			       size_t n)
{
	uint8_t body[120];
	size_t len = 0;

	for (size_t k = 0; k < n; k++)
		len += varint(body + len, v[k]);
	put_bytes(m, i, tag, body, len);
}

enum { NAME = 1, DEVICE, QUEUE, FUNCTION, SHAPE };

static inline void put_definitions(struct image *m)
{
	PUT(m, 1, RK_RAW_DEVICE, DEVICE, 3, 1, NAME, 0, 0, 0, 0, 0, 0);
	PUT(m, 1, RK_RAW_QUEUE, QUEUE, DEVICE, 6, 0);
	put_bytes(m, 1, RK_RAW_STRING, (const uint8_t *)"\1gemm", 5);
	PUT(m, 1, RK_RAW_FUNCTION, FUNCTION, NAME, DEVICE, 0, 0, 0);
	PUT(m, 1, RK_RAW_SHAPE, SHAPE, FUNCTION, 0, 100, 1, 1, 10, 1, 1);
}

static inline struct image *make(void)
{
	static _Alignas(64) struct image m;
	struct rk_raw_header *h;

	memset(&m, 0, sizeof(m));
	h = header(&m);
	memcpy(h->magic, RK_RAW_MAGIC, 8);
	h->format = RK_RAW_FORMAT;
	h->order = RK_RAW_ORDER;
	h->block_bytes = BLOCK;
	h->pid = 99;
	h->rank = h->local_rank = -1;
	h->clean = 1;
	memcpy(h->collector, "opencl", 7);
	memcpy(h->host, "n1", 3);
	memcpy(h->command, "./a\0-b\0c", 9);
	h->command_len = 9;
	seal_header(&m);
	begin(&m, 1, RK_RAW_DEFINITIONS);
	put_definitions(&m);
	for (unsigned i = 2; i < BLOCKS; i++) {
		begin(&m, i, RK_RAW_DATA);
		/* shape, queue, tid, correlation, queued, submit, start, end */
		PUT(&m, i, RK_RAW_KERNEL, SHAPE, QUEUE, 0, 2, 2000, 0, 0, 20);
		PUT(&m, i, RK_RAW_KERNEL, SHAPE, QUEUE, 2, 2, 200, 0, 2, 40);
		seal(&m, i);
	}
	seal(&m, 1);
	return &m;
}

static inline uint64_t zigzag(int64_t v)
{
	return (uint64_t)v << 1 ^ (uint64_t)(v >> 63);
}

#endif
