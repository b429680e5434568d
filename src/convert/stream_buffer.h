/* stream_buffer.h - memory that several arrays may share, aligned as Arrow likes it. */
#ifndef RK_STREAM_BUFFER_H
#define RK_STREAM_BUFFER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RK_BUFFER_ALIGN = 64 };

/* Arrays are released on any thread: the count is atomic, the bytes are not written any more. */
struct rk_buffer {
	_Atomic size_t refs;
	size_t size;
	size_t mapped; /* bytes of a mapping of its own; 0: it is part of this block */
	uint8_t *data;
};

/* One reference; NULL when out of memory. With `zero` all bytes are 0. */
struct rk_buffer *rk_buffer_new(size_t size, bool zero);
/* *b with `size` bytes, of which the first `keep` are as before; with `zero` the others are 0. */
bool rk_buffer_grow(struct rk_buffer **b, size_t size, size_t keep, bool zero);
struct rk_buffer *rk_buffer_ref(struct rk_buffer *b); /* b; NULL is fine */
void rk_buffer_unref(struct rk_buffer *b);            /* NULL is fine */

#endif
