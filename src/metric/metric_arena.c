/* metric_arena.c - the memory of expressions: many small things that go at once. */
#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "metric/metric_expr.h"

enum { CHUNK_BYTES = 16 << 10 };

struct chunk {
	struct chunk *next;
	_Alignas(max_align_t) unsigned char bytes[];
};

struct rk_expr_arena {
	struct chunk *chunks; /* the first is the one being filled */
	size_t used, size;    /* of it */
};

int rk_expr_arena_new(struct rk_expr_arena **ret, struct rk_error *err)
{
	struct rk_expr_arena *a = rk_calloc(1, sizeof(*a));

	if (!a)
		return rk_fail_nomem(err);
	*ret = a;
	return 0;
}

void rk_expr_arena_free(struct rk_expr_arena *a)
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
static int grow(struct rk_expr_arena *a, size_t size)
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

void *rk_expr_arena_alloc(struct rk_expr_arena *a, size_t size)
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

const char *rk_expr_arena_text(struct rk_expr_arena *a, const char *s, size_t len)
{
	char *copy = rk_expr_arena_alloc(a, len + 1);

	if (copy)
		memcpy(copy, s, len);
	return copy;
}
