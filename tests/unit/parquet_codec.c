/* parquet_codec.c - packed integers, runs, differences, Thrift and Snappy. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "codec/compress.h"
#include "codec/parquet/meta.h"
#include "codec/parquet/rle.h"
#include "codec/thrift.h"
#include "tap.h"

enum { N = 1003 };

static uint64_t random_word(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static uint64_t low_bits(uint64_t v, unsigned width)
{
	return width < 64 ? v & ((UINT64_C(1) << width) - 1) : v;
}

/* Bytes on their own, so that the sanitizer sees a read past their end. */
static uint8_t *copy_of(const void *p, size_t len)
{
	uint8_t *copy = malloc(len ? len : 1);

	memcpy(copy, p, len);
	return copy;
}

TEST(integers_of_every_width_are_packed_and_unpacked)
{
	static uint8_t packed[N * 8 + 64];
	static uint64_t in[N], out[N];
	static uint32_t in32[N], out32[N];
	uint64_t seed = 1;

	for (unsigned width = 0; width <= 64; width++) {
		uint8_t *bytes;
		size_t len;

		for (size_t i = 0; i < N; i++) {
			in[i] = low_bits(random_word(&seed), width);
			in32[i] = (uint32_t)in[i];
		}
		len = rk_bits_pack64(packed, in, N, width);
		CHECK_U64(len, (N + 7) / 8 * width);
		bytes = copy_of(packed, len);
		rk_bits_unpack64(bytes, len, 0, width, out, N);
		CHECK(!memcmp(in, out, sizeof(in)));
		rk_bits_unpack64(bytes, len, 5, width, out, N - 5);
		CHECK(!memcmp(in + 5, out, sizeof(in) - 40));
		if (width <= 32) {
			CHECK_U64(rk_bits_pack32(packed, in32, N, width), len);
			CHECK(!memcmp(packed, bytes, len));
			rk_bits_unpack32(bytes, len, 3, width, out32, N - 3);
			CHECK(!memcmp(in32 + 3, out32, sizeof(in32) - 12));
		}
		free(bytes);
	}
}

static void check_rle(const uint32_t *in, size_t n, unsigned width, bool runs)
{
	uint8_t *packed = malloc(rk_rle_bound(n, width)), *bytes;
	uint32_t *out = calloc(n + 8, sizeof(*out));
	size_t len = rk_rle_encode(packed, in, n, width, runs), got = 0, k;
	struct rk_rle r;

	CHECK(len <= rk_rle_bound(n, width));
	bytes = copy_of(packed, len);
	CHECK(rk_rle_init(&r, bytes, len, width));
	/* Odd steps, so that runs and packed parts are left in the middle. */
	while (got < n && (k = rk_rle_next(&r, out + got, n - got < 37 ? n - got : 37)) > 0)
		got += k;
	CHECK_U64(got, n);
	CHECK(!memcmp(in, out, n * sizeof(*in)));
	free(bytes);
	free(packed);
	free(out);
}

TEST(runs_and_packed_values_come_back)
{
	static uint32_t v[N];
	uint64_t seed = 7;

	for (unsigned width = 0; width <= 32; width++) {
		for (size_t i = 0; i < N; i++)
			v[i] = (uint32_t)low_bits(random_word(&seed), width);
		check_rle(v, N, width, false);
		check_rle(v, N, width, true);
		for (unsigned run = 7; run < 40; run += 3) {
			for (size_t i = 0; i < N; i++)
				v[i] = (uint32_t)low_bits(i / run % 3 ? i / run : i, width);
			check_rle(v, N, width, true);
		}
	}
	for (size_t n = 0; n < 40; n++)
		check_rle(v, n, 32, true);
}

TEST(bitmaps_come_back_from_runs)
{
	static uint8_t packed[4096];
	static uint32_t out[N];
	uint64_t bits[N / 64 + 1] = { 0 }, seed = 3;

	for (unsigned round = 0; round < 200; round++) {
		size_t n = 1 + random_word(&seed) % (N - 1), len;
		struct rk_rle r;
		size_t wrong = 0;

		for (size_t w = 0; w < sizeof(bits) / 8; w++) {
			uint64_t x = random_word(&seed);

			bits[w] = x % 3 == 0 ? 0 : x % 3 == 1 ? UINT64_MAX : x;
		}
		len = rk_rle_encode_bitmap(packed, bits, n);
		rk_rle_init(&r, packed, len, 1);
		CHECK(rk_rle_next(&r, out, n) == n);
		for (size_t i = 0; i < n; i++)
			wrong += out[i] != (bits[i / 64] >> i % 64 & 1);
		CHECK_U64(wrong, 0);
	}
}

TEST(damaged_runs_end_early)
{
	static const uint8_t cut[] = { 0x80 }, run[] = { 0x10, 0x05 },
			     packed[] = { 0x05, 0xff, 0xff };
	uint32_t out[64];
	struct rk_rle r;

	CHECK(!rk_rle_init(&r, run, 2, 33));
	rk_rle_init(&r, cut, 1, 4);
	CHECK_U64(rk_rle_next(&r, out, 64), 0);
	rk_rle_init(&r, run, 1, 4);
	CHECK_U64(rk_rle_next(&r, out, 64), 0);
	rk_rle_init(&r, run, 2, 4);
	CHECK_U64(rk_rle_next(&r, out, 64), 8);
	rk_rle_init(&r, packed, 3, 8);
	CHECK_U64(rk_rle_next(&r, out, 64), 2);
}

static void check_delta(const int64_t *in, size_t n, bool narrow)
{
	uint8_t *packed = malloc(rk_delta_bound(n) + 4), *bytes;
	int64_t *out = calloc(n + 1, sizeof(*out));
	int32_t *in32 = calloc(n + 1, sizeof(*in32));
	size_t len, got = 0, k, wrong = 0;
	struct rk_delta d;

	for (size_t i = 0; i < n; i++)
		in32[i] = (int32_t)in[i];
	len = narrow ? rk_delta_encode32(packed, in32, n) : rk_delta_encode64(packed, in, n);
	CHECK(len <= rk_delta_bound(n));
	bytes = copy_of(packed, len);
	CHECK(rk_delta_init(&d, bytes, len));
	CHECK(rk_delta_end(&d) == bytes + len);
	CHECK(rk_delta_init(&d, bytes, len));
	CHECK_U64(d.left, n);
	while (got < n && (k = rk_delta_next(&d, out + got, 19)) > 0)
		got += k;
	CHECK_U64(got, n);
	for (size_t i = 0; i < n; i++)
		wrong += narrow ? (int32_t)out[i] != in32[i] : out[i] != in[i];
	CHECK_U64(wrong, 0);
	free(bytes);
	free(packed);
	free(out);
	free(in32);
}

TEST(differences_of_every_width_come_back)
{
	static int64_t v[N];
	uint64_t seed = 11;

	for (unsigned width = 0; width <= 64; width++) {
		for (size_t i = 0; i < N; i++)
			v[i] = (int64_t)low_bits(random_word(&seed), width);
		check_delta(v, N, false);
		check_delta(v, N, true);
		for (size_t i = 1; i < N; i++)
			v[i] = (int64_t)((uint64_t)v[i - 1] - low_bits(random_word(&seed), width));
		check_delta(v, N, false);
	}
	for (size_t i = 0; i < N; i++)
		v[i] = i % 3 == 0 ? INT64_MIN : i % 3 == 1 ? INT64_MAX : 0;
	check_delta(v, N, false);
	for (size_t i = 0; i < N; i++)
		v[i] = i % 3 == 0 ? INT32_MIN : i % 3 == 1 ? INT32_MAX : 0;
	check_delta(v, N, true);
	for (size_t n = 0; n < 300; n += n < 140 ? 1 : 31)
		check_delta(v, n, false);
}

TEST(narrow_differences_never_need_more_than_32_bits)
{
	int32_t v[129];
	uint8_t packed[4096];
	struct rk_delta d;
	int64_t out;

	for (size_t i = 0; i < 129; i++)
		v[i] = i % 2 ? INT32_MIN : INT32_MAX;
	rk_delta_encode32(packed, v, 129);
	CHECK(rk_delta_init(&d, packed, sizeof(packed)));
	CHECK(rk_delta_next(&d, &out, 1) == 1 && rk_delta_next(&d, &out, 1) == 1);
	for (size_t i = 0; i < 4; i++)
		CHECK(d.widths[i] <= 32);
}

TEST(every_cut_of_differences_ends_early)
{
	int64_t v[257], out[257]; /* whole blocks: the last one has no padding to lose */
	uint8_t packed[8192];
	struct rk_delta d;
	uint64_t seed = 5;
	size_t len;

	for (size_t i = 0; i < 257; i++)
		v[i] = (int64_t)random_word(&seed);
	len = rk_delta_encode64(packed, v, 257);
	for (size_t cut = 0; cut < len; cut++) {
		uint8_t *bytes = copy_of(packed, cut);

		if (rk_delta_init(&d, bytes, cut))
			CHECK(rk_delta_next(&d, out, 257) < 257);
		free(bytes);
	}
}

TEST(headers_of_differences_that_make_no_sense_are_refused)
{
	static const uint8_t bad[][6] = {
		{ 0, 4, 1, 0 },          /* block of nothing */
		{ 0x80, 1, 0, 1, 0 },    /* no miniblocks */
		{ 0x80, 1, 3, 1, 0 },    /* not divisible */
		{ 0x80, 1, 0x40, 1, 0 }, /* miniblocks of two values */
	};
	struct rk_delta d;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		CHECK(!rk_delta_init(&d, bad[i], sizeof(bad[i])));
}

TEST(thrift_values_come_back)
{
	struct rk_thrift_field f = { 0 }, elem;
	struct rk_thrift_writer w;
	struct rk_thrift_reader r;
	struct rk_bytes b;
	size_t len = 0;

	rk_bytes_init(&b, 4096);
	rk_thrift_begin(&w, &b);
	rk_thrift_put_i32(&w, 1, -5);
	rk_thrift_put_i64(&w, 40, INT64_MIN);
	rk_thrift_put_bool(&w, 41, true);
	rk_thrift_put_text(&w, 42, "text");
	rk_thrift_put_list(&w, 43, RK_THRIFT_I64, 20);
	for (int i = 0; i < 20; i++)
		rk_thrift_elem_int(&w, i);
	rk_thrift_put_struct(&w, 44);
	rk_thrift_put_i16(&w, 1, 9);
	rk_thrift_end(&w);
	rk_thrift_end(&w);
	r = (struct rk_thrift_reader){ .c = rk_cursor_over(b.data, b.len) };
	CHECK(rk_thrift_next(&r, &f) && f.id == 1);
	CHECK_I64(rk_thrift_int(&r, &f), -5);
	CHECK(rk_thrift_next(&r, &f) && f.id == 40);
	CHECK_I64(rk_thrift_int(&r, &f), INT64_MIN);
	CHECK(rk_thrift_next(&r, &f) && rk_thrift_bool(&r, &f));
	CHECK(rk_thrift_next(&r, &f) && !memcmp(rk_thrift_binary(&r, &f, &len), "text", 4));
	CHECK_U64(len, 4);
	CHECK(rk_thrift_next(&r, &f));
	CHECK_U64(rk_thrift_list(&r, &f, &elem), 20);
	for (int i = 0; i < 20; i++)
		CHECK_I64(rk_thrift_int(&r, &elem), i);
	CHECK(rk_thrift_next(&r, &f) && f.id == 44);
	rk_thrift_skip(&r, &f);
	CHECK(!rk_thrift_next(&r, &f));
	CHECK(!r.c.bad && !rk_cursor_left(&r.c));
	rk_bytes_release(&b);
}

TEST(thrift_that_nests_too_deep_is_damage)
{
	uint8_t deep[200];
	struct rk_thrift_field f = { .type = RK_THRIFT_STRUCT };
	struct rk_thrift_reader r;

	memset(deep, 0x1c, sizeof(deep)); /* field 1, a struct, for ever */
	r = (struct rk_thrift_reader){ .c = rk_cursor_over(deep, sizeof(deep)) };
	rk_thrift_skip(&r, &f);
	CHECK(r.c.bad);
	memset(deep, 0x19, sizeof(deep)); /* lists of one list */
	r = (struct rk_thrift_reader){ .c = rk_cursor_over(deep, sizeof(deep)) };
	f.type = RK_THRIFT_LIST;
	rk_thrift_skip(&r, &f);
	CHECK(r.c.bad);
}

TEST(thrift_lists_longer_than_their_bytes_are_damage)
{
	static const uint8_t list[] = { 0xf5, 0xff, 0xff, 0xff, 0x7f, 1, 2, 3 };
	struct rk_thrift_reader r = { .c = rk_cursor_over(list, sizeof(list)) };
	struct rk_thrift_field f = { .type = RK_THRIFT_LIST }, elem;

	CHECK_U64(rk_thrift_list(&r, &f, &elem), 0);
	CHECK(r.c.bad);
}

/* A footer of one column, with `pairs` where its key-value pairs belong. */
static int parse_footer(const void *pairs, size_t len)
{
	struct rk_thrift_writer w;
	struct rk_pq_footer f;
	struct rk_bytes b;
	uint8_t *bytes;
	int rc;

	rk_bytes_init(&b, 4096);
	rk_thrift_begin(&w, &b);
	rk_thrift_put_list(&w, 2, RK_THRIFT_STRUCT, 2);
	rk_thrift_elem_struct(&w);
	rk_thrift_put_text(&w, 4, "schema");
	rk_thrift_put_i32(&w, 5, 1);
	rk_thrift_end(&w);
	rk_thrift_elem_struct(&w);
	rk_thrift_put_i32(&w, 1, RK_PQ_INT64);
	rk_thrift_put_text(&w, 4, "a");
	rk_thrift_end(&w);
	rk_thrift_put_i64(&w, 3, 0);
	rk_bytes_put(&b, pairs, len);
	rk_thrift_end(&w);
	bytes = rk_alloc(b.len);
	memcpy(bytes, b.data, b.len);
	rc = rk_pq_footer_parse(&f, bytes, b.len, NULL);
	if (rc == 0)
		rk_pq_footer_release(&f);
	rk_bytes_release(&b);
	return rc;
}

TEST(parquet_pairs_that_are_no_list_of_structs_are_damage)
{
	static const uint8_t empty[] = { 0x29, 0x0c }, untyped[] = { 0x29, 0 };
	static const uint8_t number[] = { 0x25, 0 }, numbers[] = { 0x29, 0x15, 0 };

	CHECK_I64(parse_footer("", 0), 0);
	CHECK_I64(parse_footer(empty, sizeof(empty)), 0);
	CHECK_I64(parse_footer(untyped, sizeof(untyped)), 0); /* an empty list needs no type */
	CHECK_I64(parse_footer(number, sizeof(number)), RK_E_FORMAT);
	CHECK_I64(parse_footer(numbers, sizeof(numbers)), RK_E_FORMAT);
}

TEST(snappy_elements_of_each_kind_are_unpacked)
{
	/* 18 bytes: literal "abcd", copy (4, 4), copy (2, 6) that overlaps, copy of 4 with offset 1 */
	static const uint8_t in[] = { 18,   0x0c, 'a', 'b',  'c', 'd', 0x01, 4,
				      0x16, 2,    0,   0x0f, 1,   0,   0,    0 };
	uint8_t out[18];

	CHECK(rk_snappy_unpack(in, sizeof(in), out, sizeof(out)));
	CHECK_MEM(out, "abcdabcdcdcdcddddd", 18);
	CHECK(!rk_snappy_unpack(in, sizeof(in), out, 17));
	for (size_t cut = 0; cut < sizeof(in); cut++) {
		uint8_t *bytes = copy_of(in, cut);

		CHECK(!rk_snappy_unpack(bytes, cut, out, sizeof(out)));
		free(bytes);
	}
}

TEST(snappy_copies_from_before_the_beginning_are_refused)
{
	static const uint8_t before[] = { 5, 0x00, 'a', 0x01, 2 },
			     zero[] = { 5, 0x00, 'a', 0x01, 0 };
	static const uint8_t long_copy[] = { 4, 0x00, 'a', 0xfe, 1, 0 };
	uint8_t out[8];

	CHECK(!rk_snappy_unpack(before, sizeof(before), out, 5));
	CHECK(!rk_snappy_unpack(zero, sizeof(zero), out, 5));
	CHECK(!rk_snappy_unpack(long_copy, sizeof(long_copy), out, 4));
}
