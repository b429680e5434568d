/* stream_column.c - columns read of their buffers what is theirs. */
#include "convert/stream_column.h"

#include <sys/mman.h>

#include "tap.h"

enum { PAGE = 4096 };

/* Bits of a bool column are not offsets: after many rows those would be far past its end. */
TEST(only_columns_of_plain_text_have_offsets_to_look_at)
{
	uint8_t *none = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct rk_buffer values = { .size = PAGE, .data = none };
	static const enum rk_type types[] = { RK_BOOL, RK_I32, RK_I64, RK_F64, RK_STR };
	const struct rk_column from = { 0 };

	CHECK(none != MAP_FAILED);
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		const struct rk_stream_column col = { .type = types[i], .values = &values };

		CHECK(rk_stream_column_fits(&col, NULL, &from, 0, 8, 8, 100));
	}
	CHECK_I64(munmap(none, PAGE), 0);
}
