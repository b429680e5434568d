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
	uint8_t *data;
};

/* One reference; NULL when out of memory. With `zero` all bytes are 0. */
struct rk_buffer *rk_buffer_new(size_t size, bool zero);
/* A new one of `size` bytes with the first `keep` of *b, whose place and reference it takes. */
bool rk_buffer_grow(struct rk_buffer **b, size_t size, size_t keep, bool zero);
struct rk_buffer *rk_buffer_ref(struct rk_buffer *b); /* b; NULL is fine */
void rk_buffer_unref(struct rk_buffer *b);            /* NULL is fine */

#endif
