/* arena.c - memory of many small things that go at once. */
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/checked.h"

enum { CHUNK_BYTES = 16 << 10 };

struct chunk {
	struct chunk *next;
	_Alignas(max_align_t) unsigned char bytes[];
};

struct rk_arena {
	struct chunk *chunks; /* the first is the one being filled */
	size_t used, size;    /* of it */
};

int rk_arena_new(struct rk_arena **ret, struct rk_error *err)
{
	struct rk_arena *a = rk_calloc(1, sizeof(*a));

	if (!a)
		return rk_fail_nomem(err);
	*ret = a;
	return 0;
}

void rk_arena_free(struct rk_arena *a)
{
	struct chunk *next;

	if (!a)
		return;
	for (struct chunk *c = a->chunks; c; c = next) {
		next = c->next;
		rk_free(c);
	}
	rk_free(a);
}

/* A new chunk for `size` bytes and more. */
static int grow(struct rk_arena *a, size_t size)
{
	struct chunk *c;
	size_t bytes;

	size = size > CHUNK_BYTES ? size : CHUNK_BYTES;
	if (!rk_add(size, sizeof(*c), &bytes) || !(c = rk_alloc(bytes)))
		return -1;
	c->next = a->chunks;
	a->chunks = c;
	a->size = size;
	a->used = 0;
	return 0;
}

void *rk_arena_alloc(struct rk_arena *a, size_t size)
{
	size_t rest;
	void *p;

	size += size == 0;
	rest = size % _Alignof(max_align_t);
	if (rest && !rk_add(size, _Alignof(max_align_t) - rest, &size))
		return NULL;
	if (size > a->size - a->used && grow(a, size) < 0)
		return NULL;
	p = a->chunks->bytes + a->used;
	a->used += size;
	return memset(p, 0, size);
}

const char *rk_arena_text(struct rk_arena *a, const char *s, size_t len)
{
	char *copy = rk_arena_alloc(a, len + 1);

	if (copy)
		memcpy(copy, s, len);
	return copy;
}

const char *rk_arena_textf(struct rk_arena *a, const char *fmt, ...)
{
	va_list args;
	char *text;
	int len;

	va_start(args, fmt);
	len = vsnprintf(NULL, 0, fmt, args);
	va_end(args);
	if (len < 0 || !(text = rk_arena_alloc(a, (size_t)len + 1)))
		return NULL;
	va_start(args, fmt);
	vsnprintf(text, (size_t)len + 1, fmt, args);
	va_end(args);
	return text;
}
