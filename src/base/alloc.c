/* alloc.c - every allocation of the library, so that tests can make each one fail. */
#include "base/alloc.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"

/*
 * 0: off. Counts down; the allocation that gets 1 fails. Below 0: it has failed (several threads
 * may have counted on).
 */
static _Atomic int64_t countdown;

static bool refuse(void)
{
	if (atomic_load_explicit(&countdown, memory_order_relaxed) <= 0)
		return false;
	if (atomic_fetch_sub(&countdown, 1) != 1)
		return false;
	atomic_store(&countdown, -1);
	return true;
}

void rk_alloc_fail_after(uint64_t n)
{
	atomic_store(&countdown, (int64_t)n);
}

int rk_alloc_failed(void)
{
	return atomic_load(&countdown) < 0;
}

void *rk_alloc(size_t size)
{
	return refuse() ? NULL : malloc(size ? size : 1);
}

void *rk_calloc(size_t n, size_t size)
{
	return refuse() ? NULL : calloc(n ? n : 1, size ? size : 1);
}

void *rk_realloc(void *p, size_t size)
{
	return refuse() ? NULL : realloc(p, size ? size : 1);
}

void *rk_reallocn(void *p, size_t n, size_t size)
{
	size_t bytes;

	return rk_mul(n, size, &bytes) ? rk_realloc(p, bytes) : NULL;
}

void *rk_grow(void *p, size_t *cap, size_t need, size_t size)
{
	size_t n = *cap ? *cap : 16;

	if (p && need <= *cap)
		return p;
	while (n < need && n <= SIZE_MAX / 2)
		n *= 2;
	if (n < need)
		return NULL;
	p = rk_reallocn(p, n, size);
	if (p)
		*cap = n;
	return p;
}

void rk_free(void *p)
{
	free(p);
}

char *rk_strndup(const char *s, size_t len)
{
	char *copy = rk_alloc(len + 1);

	if (copy) {
		memcpy(copy, s, len);
		copy[len] = '\0';
	}
	return copy;
}

char *rk_strdup(const char *s)
{
	return rk_strndup(s, strlen(s));
}

char *rk_strf(const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n >= 0)
		text = rk_alloc((size_t)n + 1);
	if (text) {
		va_start(ap, fmt);
		vsnprintf(text, (size_t)n + 1, fmt, ap);
		va_end(ap);
	}
	return text;
}

/* ---- arenas ---- */

enum { CHUNK_BYTES = 16 << 10 };

struct chunk {
	struct chunk *next;
	_Alignas(max_align_t) unsigned char bytes[];
};

struct rk_arena {
	struct chunk *chunks; /* the first one is being filled */
	size_t used, size;    /* of the first chunk */
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

void *rk_arena_alloc(struct rk_arena *a, size_t size)
{
	size_t rest, bytes;
	struct chunk *c;
	void *p;

	size += size == 0;
	rest = size % _Alignof(max_align_t);
	if (rest && !rk_add(size, _Alignof(max_align_t) - rest, &size))
		return NULL;
	if (size > a->size - a->used) {
		size_t room = rk_max(size, CHUNK_BYTES);

		if (!rk_add(room, sizeof(*c), &bytes) || !(c = rk_alloc(bytes)))
			return NULL;
		c->next = a->chunks;
		a->chunks = c;
		a->size = room;
		a->used = 0;
	}
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

const char *rk_arena_textv(struct rk_arena *a, const char *fmt, va_list args)
{
	va_list again;
	char *text;
	int len;

	va_copy(again, args);
	len = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (len < 0 || !(text = rk_arena_alloc(a, (size_t)len + 1)))
		return NULL;
	vsnprintf(text, (size_t)len + 1, fmt, args);
	return text;
}

const char *rk_arena_textf(struct rk_arena *a, const char *fmt, ...)
{
	const char *text;
	va_list args;

	va_start(args, fmt);
	text = rk_arena_textv(a, fmt, args);
	va_end(args);
	return text;
}

void *rk_arena_grow(struct rk_arena *a, void *v, size_t n, size_t *cap, size_t size)
{
	size_t more = *cap ? 2 * *cap : 1;
	void *p;

	if (n < *cap)
		return v;
	if (more > SIZE_MAX / size || !(p = rk_arena_alloc(a, more * size)))
		return NULL;
	if (n)
		memcpy(p, v, n * size);
	*cap = more;
	return p;
}
