/* stream_buffer.c - aligned bytes with a count of who uses them. */
#include "api/stream_buffer.h"

#include <string.h>

#include "base/alloc.h"

struct rk_buffer *rk_buffer_new(size_t size, bool zero)
{
	const size_t extra = sizeof(struct rk_buffer) + RK_BUFFER_ALIGN;
	struct rk_buffer *b;
	uintptr_t at;

	if (size > SIZE_MAX - extra)
		return NULL;
	b = zero ? rk_calloc(1, size + extra) : rk_alloc(size + extra);
	if (!b)
		return NULL;
	at = ((uintptr_t)(b + 1) + RK_BUFFER_ALIGN - 1) / RK_BUFFER_ALIGN * RK_BUFFER_ALIGN;
	b->data = (uint8_t *)b + (at - (uintptr_t)b);
	b->size = size;
	atomic_init(&b->refs, 1);
	return b;
}

bool rk_buffer_grow(struct rk_buffer **b, size_t size, size_t keep, bool zero)
{
	struct rk_buffer *made = rk_buffer_new(size, zero);

	if (!made)
		return false;
	memcpy(made->data, (*b)->data, keep);
	rk_buffer_unref(*b);
	*b = made;
	return true;
}

struct rk_buffer *rk_buffer_ref(struct rk_buffer *b)
{
	if (b)
		atomic_fetch_add_explicit(&b->refs, 1, memory_order_relaxed);
	return b;
}

void rk_buffer_unref(struct rk_buffer *b)
{
	if (b && atomic_fetch_sub_explicit(&b->refs, 1, memory_order_acq_rel) == 1)
		rk_free(b);
}
