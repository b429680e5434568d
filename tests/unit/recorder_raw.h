/* recorder_raw.h - a recorder file as it is, without the reader: its header, blocks and records. */
#ifndef RK_RECORDER_RAW_H
#define RK_RECORDER_RAW_H

#include <stdio.h>
#include <stdlib.h>

#include "base/cursor.h"
#include "base/rkraw.h"
#include "tap.h"

struct raw_view {
	uint8_t *data;
	size_t len;
	const struct rk_raw_header *h;
};

/* Call raw_drop() after it. */
static inline bool raw_load(const char *path, struct raw_view *v)
{
	FILE *f = fopen(path, "rb");
	long len = -1;

	*v = (struct raw_view){ 0 };
	if (f && !fseek(f, 0, SEEK_END) && (len = ftell(f)) > 0) {
		rewind(f);
		v->data = malloc((size_t)len);
		v->len = v->data ? fread(v->data, 1, (size_t)len, f) : 0;
		v->h = (const struct rk_raw_header *)(const void *)v->data;
	}
	if (f)
		fclose(f);
	return CHECK(len > 0 && v->len == (size_t)len && v->len > sizeof(*v->h));
}

static inline void raw_drop(struct raw_view *v)
{
	free(v->data);
}

typedef void (*raw_visit)(void *arg, const struct rk_raw_block *b, uint8_t tag, struct rk_cursor c);

/* All records of blocks of one kind, in the order of the file. */
static inline void raw_each(const struct raw_view *v, enum rk_raw_kind kind, raw_visit f, void *arg)
{
	for (size_t at = v->h->block_bytes; at + sizeof(struct rk_raw_block) <= v->len;
	     at += v->h->block_bytes) {
		const struct rk_raw_block *b = (const void *)(v->data + at);
		struct rk_cursor c = rk_cursor_over(b + 1, (uint32_t)b->published);

		if (b->magic != RK_RAW_BLOCK_MAGIC || b->kind != kind ||
		    (b->state != RK_RAW_OPEN && b->state != RK_RAW_SEALED))
			continue;
		while (rk_cursor_left(&c)) {
			uint8_t tag = rk_cursor_u8(&c);
			size_t len = (size_t)rk_cursor_varint(&c);
			const uint8_t *body = rk_cursor_take(&c, len);

			if (!CHECK(!c.bad))
				break;
			f(arg, b, tag, rk_cursor_over(body, len));
		}
	}
}

static inline uint64_t raw_signed(struct rk_cursor *c)
{
	uint64_t v = rk_cursor_varint(c);

	return v >> 1 ^ (0 - (v & 1));
}

/* ---- launches and their times ---- */

/* Base values: give the same one to raw_launch() and raw_ran() for all records. */
struct raw_bases {
	const struct rk_raw_block *block;
	uint64_t id, correlation, at, start;
	uint32_t tid;
};

struct raw_launch {
	uint64_t id, correlation, shape, queue, graph, node;
	int64_t at;
	uint32_t tid;
};

struct raw_call {
	uint64_t name, correlation; /* 0: none */
	int64_t at, duration;
};

struct raw_ran {
	uint64_t id, flags;
	int64_t start, duration;
};

/* Call for each record before the others. */
static inline void raw_follow(struct raw_bases *past, const struct rk_raw_block *b, uint8_t tag,
			      struct rk_cursor c)
{
	if (past->block != b)
		*past = (struct raw_bases){ .block = b, .tid = b->tid };
	if (tag == RK_RAW_THREAD)
		*past = (struct raw_bases){ .block = b, .tid = (uint32_t)rk_cursor_varint(&c) };
}

static inline struct raw_launch raw_launch(struct raw_bases *past, struct rk_cursor c)
{
	struct raw_launch l = { 0 };

	l.id = past->id += raw_signed(&c);
	l.correlation = past->correlation += raw_signed(&c);
	l.shape = rk_cursor_varint(&c);
	l.queue = rk_cursor_varint(&c);
	l.tid = past->tid += (uint32_t)raw_signed(&c);
	l.at = (int64_t)(past->at += raw_signed(&c));
	if (rk_cursor_left(&c)) {
		l.graph = rk_cursor_varint(&c);
		l.node = raw_signed(&c) + (l.graph << 32);
	}
	CHECK(!c.bad && !rk_cursor_left(&c));
	return l;
}

/* Without the thread and the domain. */
static inline struct raw_call raw_call(struct raw_bases *past, struct rk_cursor c)
{
	struct raw_call call = { .name = rk_cursor_varint(&c) };
	uint64_t v = rk_cursor_varint(&c);

	if (v) {
		v--;
		call.correlation = past->correlation += v >> 1 ^ (0 - (v & 1));
	}
	call.at = (int64_t)(past->at += raw_signed(&c));
	call.duration = (int64_t)raw_signed(&c);
	CHECK(!c.bad);
	return call;
}

static inline struct raw_ran raw_ran(struct raw_bases *past, struct rk_cursor c)
{
	struct raw_ran r = { 0 };
	uint64_t start;

	r.id = past->id += raw_signed(&c);
	start = past->start + raw_signed(&c);
	r.start = (int64_t)start;
	r.duration = (int64_t)raw_signed(&c);
	if (rk_cursor_left(&c))
		r.flags = rk_cursor_varint(&c);
	if (!(r.flags & RK_RAW_NO_TIMES))
		past->start = start;
	CHECK(!c.bad && !rk_cursor_left(&c));
	return r;
}

#endif
