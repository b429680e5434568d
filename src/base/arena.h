/* arena.h - memory of many small things that go at once. */
#ifndef RK_ARENA_H
#define RK_ARENA_H

#include <stddef.h>

#include "base/error.h"

/* For one thread at a time. */
struct rk_arena;

int rk_arena_new(struct rk_arena **ret, struct rk_error *err);
void rk_arena_free(struct rk_arena *a); /* NULL is fine */
/* Memory that goes with the arena. Zeroed; NULL: none left. */
void *rk_arena_alloc(struct rk_arena *a, size_t size);
const char *rk_arena_text(struct rk_arena *a, const char *s, size_t len); /* a copy */
/* A text as by printf. */
const char *rk_arena_textf(struct rk_arena *a, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
