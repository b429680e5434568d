/* protobuf.c (test) - fields of messages, whole and cut at every byte. */
#include "codec/protobuf.h"

#include "tap.h"

static const uint8_t message[] = {
	0x08, 0x96, 0x01,                                           /* 1: 150 */
	0x12, 0x02, 'h',  'i',                                      /* 2: "hi" */
	0x19, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xe0, 0x3f,       /* 3: 0.5 */
	0x25, 0x01, 0x00, 0x00, 0x80,                               /* 4: 0x80000001 */
	0xa0, 0x1f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, /* 500: -1 */
	0xff, 0x01,
};

TEST(protobuf_fields_come_in_order)
{
	struct rk_cursor c = rk_cursor_over(message, sizeof(message));
	struct rk_pb_field f;

	CHECK(rk_pb_next(&c, &f) && f.number == 1 && f.value == 150);
	CHECK(rk_pb_next(&c, &f) && f.number == 2 && f.len == 2);
	CHECK_MEM(f.data, "hi", 2);
	CHECK(rk_pb_next(&c, &f) && f.number == 3 && rk_pb_double(&f) == 0.5);
	CHECK(rk_pb_next(&c, &f) && f.number == 4 && f.value == 0x80000001);
	CHECK(rk_pb_next(&c, &f) && f.number == 500 && (int64_t)f.value == -1);
	CHECK(!rk_pb_next(&c, &f) && !c.bad);
}

TEST(protobuf_cut_anywhere_is_bad_or_shorter)
{
	static const unsigned fields[] = { 3, 7, 16, 21, 33 };

	for (size_t len = 0; len < sizeof(message); len++) {
		struct rk_cursor c = rk_cursor_over(message, len);
		struct rk_pb_field f;
		unsigned n = 0, whole = 0;

		while (rk_pb_next(&c, &f))
			n++;
		while (whole < 5 && fields[whole] <= len)
			whole++;
		CHECK_U64(n, whole);
		CHECK(c.bad == (len > 0 && (!whole || fields[whole - 1] != len)));
	}
}

static bool refused(const char *bytes, size_t len)
{
	struct rk_cursor c = rk_cursor_over(bytes, len);
	struct rk_pb_field f;

	return !rk_pb_next(&c, &f) && c.bad;
}

TEST(protobuf_that_is_none_is_refused)
{
	CHECK(refused("\x00\x01", 2));                                       /* field 0 */
	CHECK(refused("\x0b\x0c", 2));                                       /* a group */
	CHECK(refused("\x0f\x00", 2));                                       /* wire type 7 */
	CHECK(refused("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01x", 12)); /* 2^64 - 1 bytes */
	CHECK(refused("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11));  /* a long tag */
	CHECK(refused("\xf8\xff\xff\xff\xff\x01\x00", 7)); /* a number past 2^29 */
}

TEST(protobuf_that_is_written_is_read_back)
{
	uint8_t buf[256], *p = buf, *inner;
	struct rk_pb_field f;
	struct rk_cursor c;

	p = rk_pb_put_uint(p, 1, UINT64_MAX);
	p = rk_pb_put_uint(p, (1 << 29) - 1, 127);
	p = rk_pb_put_fixed64(p, 47, UINT64_C(0x0123456789abcdef));
	p = rk_pb_put_double(p, 5, -0.5);
	inner = rk_pb_open(p, 11);
	p = rk_pb_close(inner, rk_pb_put_bytes(inner, 2, "text", 4));
	c = rk_cursor_over(buf, (size_t)(p - buf));
	CHECK(rk_pb_next(&c, &f) && f.number == 1 && f.value == UINT64_MAX);
	CHECK(rk_pb_next(&c, &f) && f.number == (1 << 29) - 1 && f.value == 127);
	CHECK(rk_pb_next(&c, &f) && f.number == 47 && f.value == UINT64_C(0x0123456789abcdef));
	CHECK(rk_pb_next(&c, &f) && f.number == 5 && rk_pb_double(&f) == -0.5);
	CHECK(rk_pb_next(&c, &f) && f.number == 11 && f.len == 6);
	c = rk_pb_message(&f);
	CHECK(rk_pb_next(&c, &f) && f.number == 2 && f.len == 4 && !memcmp(f.data, "text", 4));
}

/* Lengths of one byte, two and three; messages in messages move together. */
TEST(protobuf_messages_of_any_length_are_closed)
{
	static const size_t lengths[] = { 0, 1, 127, 128, 16383, 16384, 70000 };
	static uint8_t buf[80000], text[70000];

	memset(text, 'x', sizeof(text));
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		uint8_t *outer = rk_pb_open(buf, 1), *inner = rk_pb_open(outer, 2), *p;
		struct rk_pb_field f;
		struct rk_cursor c;

		memcpy(inner, text, lengths[i]);
		p = rk_pb_close(outer, rk_pb_close(inner, inner + lengths[i]));
		c = rk_cursor_over(buf, (size_t)(p - buf));
		CHECK(rk_pb_next(&c, &f) && f.number == 1 && !rk_cursor_left(&c));
		c = rk_pb_message(&f);
		CHECK(rk_pb_next(&c, &f) && f.number == 2 && f.len == lengths[i]);
		CHECK(!rk_cursor_left(&c) && !memcmp(f.data, text, lengths[i]));
	}
}
