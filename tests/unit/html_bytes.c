/* html_bytes.c - what the page is packed with: SHA-256, base64, DEFLATE. */
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "base/alloc.h"
#include "base/sha256/sha256.h"
#include "base/text.h"
#include "codec/compress.h"
#include "tap.h"

static const char *hex_of(const void *p, size_t len)
{
	static char text[2 * RK_SHA256_BYTES + 1];
	uint8_t sum[RK_SHA256_BYTES];

	rk_sha256(p, len, sum);
	for (unsigned i = 0; i < RK_SHA256_BYTES; i++)
		snprintf(text + 2 * i, 3, "%02x", sum[i]);
	return text;
}

/* FIPS 180-4's examples, and the empty message. */
TEST(sha256_gives_the_sums_of_the_standard)
{
	const char *two = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";

	CHECK_STR(hex_of("", 0),
		  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	CHECK_STR(hex_of("abc", 3),
		  "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	CHECK_STR(hex_of(two, strlen(two)),
		  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST(sha256_of_a_million_letters)
{
	char *a = rk_alloc(1000000);

	memset(a, 'a', 1000000);
	CHECK_STR(hex_of(a, 1000000),
		  "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
	rk_free(a);
}

/* Around the length that no longer fits into the last block, by another implementation. */
TEST(sha256_of_messages_around_a_block)
{
	char a[65];

	memset(a, 'a', sizeof(a));
	CHECK_STR(hex_of(a, 55),
		  "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
	CHECK_STR(hex_of(a, 56),
		  "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a");
	CHECK_STR(hex_of(a, 64),
		  "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
}

static const char *base64_of(struct rk_bytes *out, const char *s)
{
	rk_bytes_clear(out);
	rk_base64_put(out, s, strlen(s));
	return rk_bytes_str(out);
}

/* RFC 4648, section 10. */
TEST(base64_pads_as_the_standard_says)
{
	struct rk_bytes out;

	rk_bytes_init(&out, 100);
	CHECK_STR(base64_of(&out, ""), "");
	CHECK_STR(base64_of(&out, "f"), "Zg==");
	CHECK_STR(base64_of(&out, "fo"), "Zm8=");
	CHECK_STR(base64_of(&out, "foo"), "Zm9v");
	CHECK_STR(base64_of(&out, "foobar"), "Zm9vYmFy");
	CHECK_STR(base64_of(&out, "\xff\xfe\xfd"), "//79");
	rk_bytes_release(&out);
}

TEST(base64_keeps_to_the_maximum)
{
	struct rk_bytes out;

	rk_bytes_init(&out, 4);
	rk_base64_put(&out, "abcd", 4);
	CHECK(out.bad);
	rk_bytes_release(&out);
}

static const char *base85_of(struct rk_bytes *out, const char *s, size_t len)
{
	rk_bytes_clear(out);
	rk_base85_put(out, s, len);
	return rk_bytes_str(out);
}

TEST(base85_has_five_digits_for_four_bytes)
{
	struct rk_bytes out;

	rk_bytes_init(&out, 100);
	CHECK_STR(base85_of(&out, "", 0), "");
	CHECK_STR(base85_of(&out, "\0\0\0\0", 4), "!!!!!");
	CHECK_STR(base85_of(&out, "\0\0\0\x54\0\0\0\x55", 8), "!!!!~!!!#!");
	CHECK_STR(base85_of(&out, "\xff\xff\xff\xff", 4), "|?_1!");
	CHECK_U64(strlen(base85_of(&out, "abcde", 5)), 7);
	rk_bytes_release(&out);
}

static size_t unpack(const struct rk_bytes *packed, uint8_t *to, size_t room)
{
	z_stream z = { .next_in = packed->data,
		       .avail_in = (uInt)packed->len,
		       .next_out = to,
		       .avail_out = (uInt)room };
	int rc = inflateInit2(&z, -15);

	if (rc == Z_OK)
		rc = inflate(&z, Z_FINISH);
	CHECK(rc == Z_STREAM_END);
	inflateEnd(&z);
	return room - z.avail_out;
}

static void check_packed(const uint8_t *p, size_t len, const size_t *cuts, size_t ncuts)
{
	uint8_t back[70000];
	struct rk_bytes out;

	rk_bytes_init(&out, 1 << 20);
	CHECK(rk_deflate(&out, p, len, cuts, ncuts, 6, NULL) == 0);
	CHECK_U64(unpack(&out, back, sizeof(back)), len);
	CHECK_MEM(back, p, len);
	rk_bytes_release(&out);
}

TEST(deflate_can_be_undone_with_cuts_and_without)
{
	static uint8_t p[65536];
	const size_t cuts[] = { 0, 1, 1, 3000, 65536 };
	uint32_t state = 1;

	for (size_t i = 0; i < sizeof(p); i++) {
		state = state * 1664525 + 1013904223;
		p[i] = i < 3000 ? (uint8_t)(i / 100) : (uint8_t)(state >> 24);
	}
	check_packed(p, sizeof(p), NULL, 0);
	check_packed(p, sizeof(p), cuts, 5);
	check_packed(p, 0, NULL, 0);
}

TEST(deflate_says_when_memory_is_out)
{
	struct rk_error err = { 0 };
	struct rk_bytes out;
	bool failed = true;

	for (uint64_t n = 1; failed && n < 100; n++) {
		rk_bytes_init(&out, 1 << 20);
		rk_error_clear(&err);
		rk_alloc_fail_after(n);
		int rc = rk_deflate(&out, "abcabcabc", 9, NULL, 0, 6, &err);

		failed = rk_alloc_failed();
		rk_alloc_fail_after(0);
		CHECK(failed ? rc == RK_E_NOMEM : rc == 0);
		rk_bytes_release(&out);
	}
	CHECK(!failed);
}
