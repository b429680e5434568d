/* stream_buffer.c - buffers keep what is in them however they grow. */
#include "convert/stream_column.h"

#include <string.h>

#include "base/alloc.h"
#include "tap.h"

enum { SMALL = 1000, LARGE = 5 << 20 };

static bool all(const uint8_t *p, size_t from, size_t to, uint8_t value)
{
	while (from < to && p[from] == value)
		from++;
	return from >= to;
}

TEST(buffers_are_aligned_and_zeroed_where_asked)
{
	const size_t sizes[] = { 0, 1, SMALL, LARGE - 1, LARGE };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct rk_buffer *b = rk_buffer_new(sizes[i], true);

		CHECK(b && b->size == sizes[i]);
		CHECK((uintptr_t)b->data % RK_BUFFER_ALIGN == 0);
		CHECK(all(b->data, 0, sizes[i], 0));
		rk_buffer_unref(b);
	}
	CHECK(!rk_buffer_new(SIZE_MAX, false));
	rk_buffer_unref(NULL);
}

/* From small to large, and from large to larger, twice. */
TEST(growing_keeps_the_first_bytes_and_zeroes_the_others)
{
	const size_t sizes[] = { SMALL, 10 * SMALL, LARGE, 2 * LARGE + 77, 5 * LARGE };
	struct rk_buffer *b = rk_buffer_new(sizes[0], true);

	CHECK(b);
	for (size_t i = 1; b && i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		size_t keep = sizes[i - 1] - 3;

		memset(b->data, 0x5a, sizes[i - 1]);
		CHECK(rk_buffer_grow(&b, sizes[i], keep, true));
		CHECK(b->size == sizes[i] && (uintptr_t)b->data % RK_BUFFER_ALIGN == 0);
		CHECK(all(b->data, 0, keep, 0x5a));
		CHECK(all(b->data, keep, sizes[i], 0));
	}
	CHECK(!rk_buffer_grow(&b, SIZE_MAX, 1, false));
	CHECK(all(b->data, 0, SMALL, 0x5a));
	rk_buffer_unref(b);
}

TEST(a_buffer_that_others_hold_is_not_moved)
{
	struct rk_buffer *b = rk_buffer_new(LARGE, true), *mine = b;
	struct rk_buffer *theirs = rk_buffer_ref(b);

	CHECK(b);
	memset(b->data, 7, LARGE);
	CHECK(rk_buffer_grow(&mine, 3 * LARGE, LARGE, false));
	CHECK(mine != theirs && theirs->size == LARGE);
	CHECK(all(theirs->data, 0, LARGE, 7) && all(mine->data, 0, LARGE, 7));
	rk_buffer_unref(mine);
	rk_buffer_unref(theirs);
}

TEST(a_large_buffer_without_memory_is_none)
{
	rk_alloc_fail_after(1);
	CHECK(!rk_buffer_new(LARGE, false));
	CHECK(rk_alloc_failed());
	rk_alloc_fail_after(0);
}
