/* alloc.h - every allocation of the library, so that tests can make each one fail. */
#ifndef RK_ALLOC_H
#define RK_ALLOC_H

#include <stddef.h>
#include <stdint.h>

void *rk_alloc(size_t size);            /* NULL when out of memory; size 0 gives a block */
void *rk_calloc(size_t n, size_t size); /* zeroed; NULL also when n * size overflows */
void *rk_realloc(void *p, size_t size); /* on NULL the old block is still there */
void *rk_reallocn(void *p, size_t n, size_t size);
/*
 * `p` of *cap members with room for at least `need` of them: *cap doubles as far as it must. On NULL
 * the old block is still there.
 */
void *rk_grow(void *p, size_t *cap, size_t need, size_t size);
void rk_free(void *p); /* NULL is fine */
char *rk_strdup(const char *s);
char *rk_strndup(const char *s, size_t len); /* copies len bytes and terminates */
/* A text of its own, as by printf. */
char *rk_strf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Test hook: the n-th allocation from now on fails, once (n from 1; 0 switches it off). */
void rk_alloc_fail_after(uint64_t n);
/* True once the armed failure has happened. */
int rk_alloc_failed(void);

#endif
