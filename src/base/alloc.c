/* alloc.c - every allocation of the library, so that tests can make each one fail. */
#include "base/alloc.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"

/* 0: off. Counts down to 1, which fails; below 0 it has happened, perhaps on several threads. */
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
	p = n < need ? NULL : rk_reallocn(p, n, size);
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
