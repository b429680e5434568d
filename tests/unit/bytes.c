/* bytes.c - growable bytes with a maximum. */
#include "base/bytes.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "tap.h"

TEST(bytes_grow_up_to_their_maximum_and_no_further)
{
	struct rk_bytes b;

	rk_bytes_init(&b, 100);
	for (int i = 0; i < 100; i++)
		rk_bytes_put_u8(&b, (uint8_t)i);
	CHECK(!b.bad);
	CHECK_U64(b.len, 100);
	CHECK(b.cap <= 100);
	rk_bytes_put_u8(&b, 1);
	CHECK(b.bad);
	CHECK_U64(b.len, 100);
	rk_bytes_puts(&b, "more"); /* nothing happens any more */
	CHECK_U64(b.len, 100);
	CHECK(rk_bytes_str(&b) == NULL);
	rk_bytes_clear(&b);
	rk_bytes_puts(&b, "again");
	CHECK_STR(rk_bytes_str(&b), "again");
	rk_bytes_release(&b);
	CHECK(b.data == NULL);
}

TEST(bytes_refuse_sizes_that_overflow)
{
	struct rk_bytes b;

	rk_bytes_init(&b, 1000);
	rk_bytes_puts(&b, "x");
	CHECK(!rk_bytes_reserve(&b, SIZE_MAX));
	CHECK(b.bad);
	rk_bytes_clear(&b);
	CHECK(!rk_bytes_reserve(&b, 1001));
	rk_bytes_clear(&b);
	CHECK(rk_bytes_reserve(&b, 1000));
	rk_bytes_release(&b);
	rk_bytes_init(&b, 10); /* smaller than the first step */
	rk_bytes_puts(&b, "0123456789");
	CHECK(!b.bad);
	CHECK(rk_bytes_str(&b) == NULL);
	rk_bytes_release(&b);
}

TEST(formatted_text_is_whole_or_not_there)
{
	struct rk_bytes b;

	rk_bytes_init(&b, 20);
	rk_bytes_printf(&b, "%s-%d", "abc", 42);
	CHECK_STR(rk_bytes_str(&b), "abc-42");
	rk_bytes_printf(&b, "%30s", "too long");
	CHECK(b.bad);
	CHECK_U64(b.len, 6);
	rk_bytes_release(&b);
}

TEST(bytes_that_run_out_of_memory_keep_what_they_had)
{
	struct rk_bytes b;

	rk_bytes_init(&b, 1 << 20);
	rk_bytes_puts(&b, "kept");
	rk_alloc_fail_after(1);
	CHECK(!rk_bytes_reserve(&b, 1000));
	rk_alloc_fail_after(0);
	CHECK(b.bad);
	CHECK_U64(b.len, 4);
	CHECK_MEM(b.data, "kept", 4);
	rk_bytes_release(&b);
}

TEST(a_text_is_handed_over_whole_or_not_at_all)
{
	struct rk_error err = { 0 };
	struct rk_bytes b;
	char *text = NULL;
	size_t len = 0;

	rk_bytes_init(&b, 8);
	rk_bytes_puts(&b, "words");
	CHECK_I64(rk_bytes_give(&b, &text, &len, &err), 0);
	CHECK_STR(text, "words");
	CHECK_U64(len, 5);
	CHECK(b.data == NULL);
	rk_free(text);
	rk_bytes_puts(&b, "too many words");
	CHECK_I64(rk_bytes_give(&b, &text, &len, &err), RK_E_NOMEM);
	CHECK(b.data == NULL);
}
