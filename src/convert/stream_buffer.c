/*
 * stream_buffer.c - aligned bytes with a count of who uses them.
 *
 * Large ones are mappings of their own: they grow without being copied, and come in large pages. A
 * column of a whole table is filled once from end to end, and would spend a third of that time on
 * being given small ones.
 */
#include "convert/stream_buffer.h"

#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"

enum { MAP_FROM = 2 << 20, PAGE = 4096 };

static struct rk_buffer *started(struct rk_buffer *b, uint8_t *data, size_t size, size_t mapped)
{
	b->data = data;
	b->size = size;
	b->mapped = mapped;
	atomic_init(&b->refs, 1);
	return b;
}

/* Pages come zeroed. */
static struct rk_buffer *new_mapped(size_t size)
{
	size_t bytes = (size + PAGE - 1) / PAGE * PAGE;
	struct rk_buffer *b = rk_alloc(sizeof(*b));
	void *data;

	if (!b)
		return NULL;
	data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (data == MAP_FAILED) {
		rk_free(b);
		return NULL;
	}
	madvise(data, bytes, MADV_HUGEPAGE); /* a hint: systems without it do as well */
	return started(b, data, size, bytes);
}

struct rk_buffer *rk_buffer_new(size_t size, bool zero)
{
	const size_t extra = sizeof(struct rk_buffer) + RK_BUFFER_ALIGN;
	struct rk_buffer *b;
	uintptr_t at;

	if (size > SIZE_MAX / 2)
		return NULL;
	if (size >= MAP_FROM)
		return new_mapped(size);
	b = zero ? rk_calloc(1, size + extra) : rk_alloc(size + extra);
	if (!b)
		return NULL;
	at = ((uintptr_t)(b + 1) + RK_BUFFER_ALIGN - 1) / RK_BUFFER_ALIGN * RK_BUFFER_ALIGN;
	return started(b, (uint8_t *)b + (at - (uintptr_t)b), size, 0);
}

static bool grow_mapped(struct rk_buffer *b, size_t size, size_t keep, bool zero)
{
	size_t bytes = (size + PAGE - 1) / PAGE * PAGE;
	void *data;

	if (size > SIZE_MAX / 2)
		return false;
	data = mremap(b->data, b->mapped, bytes, MREMAP_MAYMOVE);
	if (data == MAP_FAILED)
		return false;
	b->data = data;
	if (zero && keep < b->mapped)
		memset(b->data + keep, 0, b->mapped - keep);
	b->size = size;
	b->mapped = bytes;
	return true;
}

bool rk_buffer_grow(struct rk_buffer **b, size_t size, size_t keep, bool zero)
{
	struct rk_buffer *made;

	/* nobody else has it: what is lent is never grown */
	if ((*b)->mapped && size >= (*b)->size &&
	    atomic_load_explicit(&(*b)->refs, memory_order_relaxed) == 1)
		return grow_mapped(*b, size, keep, zero);
	made = rk_buffer_new(size, zero);
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
	if (!b || atomic_fetch_sub_explicit(&b->refs, 1, memory_order_acq_rel) != 1)
		return;
	if (b->mapped)
		munmap(b->data, b->mapped);
	rk_free(b);
}
