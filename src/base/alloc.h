/* alloc.h - every allocation of the library, so that tests can make each one fail. */
#ifndef RK_ALLOC_H
#define RK_ALLOC_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

void *rk_alloc(size_t size);            /* NULL when out of memory; size 0 is allowed */
void *rk_calloc(size_t n, size_t size); /* zeroed; NULL also when n * size overflows */
void *rk_realloc(void *p, size_t size); /* on NULL the old block stays valid */
void *rk_reallocn(void *p, size_t n, size_t size);
/*
 * Grows the array `p` of *cap members to at least `need` members by doubling *cap. On NULL the old
 * block stays valid.
 */
void *rk_grow(void *p, size_t *cap, size_t need, size_t size);
void rk_free(void *p); /* NULL is fine */
char *rk_strdup(const char *s);
char *rk_strndup(const char *s, size_t len); /* copies len bytes and terminates */
/* Formats into a newly allocated string. */
char *rk_strf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Test hook: the n-th allocation from now on fails, once (n from 1; 0 switches it off). */
void rk_alloc_fail_after(uint64_t n);
/* True once the armed failure has happened. */
int rk_alloc_failed(void);

/* ---- arenas: many small things that are freed together; one thread at a time ---- */

struct rk_arena;

int rk_arena_new(struct rk_arena **ret, struct rk_error *err);
void rk_arena_free(struct rk_arena *a); /* NULL is fine */
/* Zeroed memory that is freed with the arena; NULL when out of memory. */
void *rk_arena_alloc(struct rk_arena *a, size_t size);
const char *rk_arena_text(struct rk_arena *a, const char *s, size_t len); /* a copy */
/* Formats into a string of the arena. */
const char *rk_arena_textf(struct rk_arena *a, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
const char *rk_arena_textv(struct rk_arena *a, const char *fmt, va_list args)
	__attribute__((format(printf, 2, 0)));
/*
 * Makes room for one more member in the list `v` of n members; *cap doubles, from 1. An arena never
 * frees parts: the old list stays valid, also when this returns NULL.
 */
void *rk_arena_grow(struct rk_arena *a, void *v, size_t n, size_t *cap, size_t size);

#endif
