/* deflate_join.c - separate streams become one, and other bytes are refused. */
#include "archive/deflate_join.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "archive/deflate_pack.h"
#include "base/alloc.h"
#include "tap.h"
#include "world.h"

enum { MOST = 300000, ROOM = MOST + MOST / 8 + 1000 };

/* Bytes as they are in libraries (many repetitions), text, one byte, and noise. */
static void make(uint8_t *to, size_t len, unsigned kind, uint64_t *random)
{
	for (size_t i = 0; i < len; i++) {
		uint64_t r = world_random(random);

		if (kind == 0)
			to[i] = (uint8_t)(r >> 20);
		else if (kind == 1)
			to[i] = (uint8_t)("etaoin shrdlu\n"[(r >> 20) % 14]);
		else if (kind == 2)
			to[i] = i > 64 && r % 8 ? to[i - 1 - r / 8 % 64] : (uint8_t)(r >> 20);
		else
			to[i] = 'x';
	}
}

/* Whether the stream unpacks to these bytes and ends with its last byte. */
static bool unpacks_to(const uint8_t *p, size_t len, const uint8_t *want, size_t want_len)
{
	static uint8_t back[3 * MOST + 1];
	z_stream z = { 0 };
	bool ok;

	inflateInit2(&z, -15);
	z.next_in = (z_const Bytef *)p, z.avail_in = (uInt)len;
	z.next_out = back, z.avail_out = sizeof(back);
	ok = inflate(&z, Z_FINISH) == Z_STREAM_END && !z.avail_in && z.total_out == want_len;
	inflateEnd(&z);
	return ok && !memcmp(back, want, want_len);
}

static size_t zlib_pack(const uint8_t *p, size_t len, int level, int strategy, uint8_t *to)
{
	z_stream z = { 0 };

	deflateInit2(&z, level, Z_DEFLATED, -15, 1 + level, strategy);
	z.next_in = (z_const Bytef *)p, z.avail_in = (uInt)len;
	z.next_out = to, z.avail_out = ROOM;
	CHECK_I64(deflate(&z, Z_FINISH), Z_STREAM_END);
	deflateEnd(&z);
	return z.total_out;
}

TEST(streams_of_zlib_are_joined)
{
	static const int strategies[] = { Z_DEFAULT_STRATEGY, Z_FIXED, Z_HUFFMAN_ONLY, Z_RLE };
	static uint8_t in[2 * MOST], out[2 * ROOM];
	uint64_t random = 4711;

	for (unsigned n = 0; n < 96; n++) {
		size_t a = world_random(&random) % (MOST / 4), b = world_random(&random) % 3000;
		size_t len, second;
		int level = (int)(n % 4) * 2;

		make(in, a, n / 4 % 4, &random);
		make(in + a, b, n / 8 % 4, &random);
		len = zlib_pack(in, a, level, strategies[n / 16 % 4], out);
		CHECK_I64(rk_deflate_open(out, &len, NULL), 0);
		second = zlib_pack(in + a, b, level, strategies[n % 4], out + len);
		CHECK(unpacks_to(out, len + second, in, a + b));
	}
}

/* A buffer packed in pieces at random cuts. */
static void check_pieces(int level, unsigned kind, uint64_t *random)
{
	static uint8_t in[MOST], out[2 * ROOM];
	size_t len = world_random(random) % MOST, total = 0, n, made = 0;
	struct rk_deflater *d = NULL;

	make(in, len, kind, random);
	CHECK_I64(rk_deflater_new(level, &d, NULL), 0);
	for (size_t at = 0; at <= len; at += n ? n : 1) {
		n = len - at;
		if (n && total < MOST)
			n = world_random(random) % n + 1;
		CHECK(rk_deflater_bound(d, n) <= sizeof(out) - total);
		CHECK_I64(rk_deflater_piece(d, in + at, n, at + n == len, out + total,
					    sizeof(out) - total, &made, NULL),
			  0);
		total += made;
		if (at + n == len)
			break;
	}
	CHECK(unpacks_to(out, total, in, len));
	rk_deflater_free(d);
}

TEST(pieces_packed_apart_are_one_stream)
{
	uint64_t random = 12345;
	const char *full = getenv("ROCKIT_TEST_FULL");

	for (int round = 0; round < (full ? 40 : 2); round++)
		for (int level = 1; level <= 12; level += level < 9 ? 1 : 3)
			for (unsigned kind = 0; kind < 4; kind++)
				check_pieces(level, kind, &random);
}

TEST(pieces_packed_apart_by_zlib_are_one_stream)
{
	uint64_t random = 54321;

	rk_deflater_force_zlib(true);
	for (int level = 1; level <= 12; level += 5)
		for (unsigned kind = 0; kind < 4; kind++)
			check_pieces(level, kind, &random);
	rk_deflater_force_zlib(false);
}

TEST(a_buffer_that_does_not_fit_is_not_packed)
{
	uint8_t in[500], out[600];
	uint64_t random = 5;
	struct rk_deflater *d = NULL;
	struct rk_error err = { 0 };
	size_t n;

	make(in, sizeof(in), 0, &random);
	for (int zlib = 0; zlib < 2; zlib++) {
		rk_deflater_force_zlib(zlib);
		CHECK_I64(rk_deflater_new(6, &d, NULL), 0);
		CHECK_U64(rk_deflater_pack(d, in, sizeof(in), out, sizeof(in) - 1), 0);
		CHECK_U64(rk_deflater_pack(d, in, sizeof(in), out, 0), 0);
		n = rk_deflater_pack(d, in, sizeof(in), out, sizeof(out));
		CHECK(n > sizeof(in) && unpacks_to(out, n, in, sizeof(in)));
		rk_error_clear(&err);
		CHECK_I64(rk_deflater_piece(d, in, sizeof(in), false, out, 100, &n, &err),
			  RK_E_LIMIT);
		rk_deflater_free(d);
	}
	rk_deflater_force_zlib(false);
}

TEST(sums_of_pieces_are_joined)
{
	static uint8_t in[5000];
	uint64_t random = 99;

	make(in, sizeof(in), 0, &random);
	CHECK_U64(rk_crc32("123456789", 9), 0xcbf43926); /* the check value of this CRC */
	CHECK_U64(rk_crc32("", 0), 0);
	for (size_t cut = 0; cut <= sizeof(in); cut += 125)
		CHECK_U64(rk_crc32_join(rk_crc32(in, cut), rk_crc32(in + cut, sizeof(in) - cut),
					sizeof(in) - cut),
			  rk_crc32(in, sizeof(in)));
	rk_deflater_force_zlib(true);
	CHECK_U64(rk_crc32("123456789", 9), 0xcbf43926);
	CHECK_U64(rk_crc32(NULL, 0), 0);
	rk_deflater_force_zlib(false);
}

TEST(the_last_block_of_small_streams_is_found)
{
	struct rk_deflate_place at = { 9, 9 };
	/* an empty fixed block; an empty stored one; a stored one of two bytes behind an empty one */
	CHECK_I64(rk_deflate_find_last("\x03\x00", 2, &at, NULL), 0);
	CHECK(at.last == 0 && at.end == 10);
	CHECK_I64(rk_deflate_find_last("\x01\x00\x00\xff\xff", 5, &at, NULL), 0);
	CHECK(at.last == 0 && at.end == 40);
	CHECK_I64(rk_deflate_find_last("\x00\x00\x00\xff\xff\x01\x02\x00\xfd\xffhi", 12, &at, NULL),
		  0);
	CHECK(at.last == 40 && at.end == 96);
}

/* Copies to memory of just this size, so that a read past its end is seen. */
static int find_in_copy(const void *p, size_t len, struct rk_deflate_place *at,
			struct rk_error *err)
{
	uint8_t *copy = rk_alloc(len);
	int rc;

	if (len)
		memcpy(copy, p, len);
	rc = rk_deflate_find_last(copy, len, at, err);
	rk_free(copy);
	return rc;
}

TEST(bytes_that_are_not_a_stream_are_refused)
{
	static const struct {
		const char *bytes;
		size_t len;
	} bad[] = {
		{ "", 0 },
		{ "\x07", 1 },                         /* no such kind of block */
		{ "\x03", 1 },                         /* ends in its first symbol */
		{ "\x01\x02\x00\xfd", 4 },             /* a length cut off */
		{ "\x01\x02\x00\xfd\xffh", 6 },        /* a stored byte is missing */
		{ "\x01\x02\x00\xfc\xffhi", 7 },       /* the lengths do not fit together */
		{ "\xfd\x1f\x00\x00\x00\x00", 6 },     /* 288 literals */
		{ "\x05\x00\x00\x00\x00\x00", 6 },     /* a precode without words */
		{ "\x05\xc0\x24\x49\x92\x24\x49", 7 }, /* a precode with too many */
	};
	struct rk_deflate_place at;
	struct rk_error err = { 0 };

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		CHECK_I64(find_in_copy(bad[i].bytes, bad[i].len, &at, NULL), RK_E_FORMAT);
	CHECK_I64(find_in_copy("\x07", 1, &at, &err), RK_E_FORMAT);
	CHECK_STR(err.message, "broken deflate stream of 1 bytes");
}

TEST(a_stream_cut_anywhere_is_refused)
{
	static uint8_t in[20000], out[ROOM];
	uint64_t random = 77;

	for (unsigned kind = 0; kind < 4; kind++) {
		struct rk_deflate_place at;
		size_t len;

		make(in, sizeof(in), kind, &random);
		len = zlib_pack(in, sizeof(in), 6, Z_DEFAULT_STRATEGY, out);
		for (size_t cut = 0; cut < len; cut += cut < 100 || cut > len - 100 ? 1 : 37)
			CHECK_I64(find_in_copy(out, cut, &at, NULL), RK_E_FORMAT);
		CHECK_I64(find_in_copy(out, len, &at, NULL), 0);
	}
}

TEST(a_damaged_stream_is_walked_within_its_bytes)
{
	static uint8_t in[3000], out[ROOM];
	uint64_t random = 31337;
	unsigned refused = 0;

	make(in, sizeof(in), 2, &random);
	for (int i = 0; i < 4000; i++) {
		size_t len = zlib_pack(in, sizeof(in), 6, Z_DEFAULT_STRATEGY, out);
		struct rk_deflate_place at;

		for (uint64_t n = world_random(&random) % 3 + 1; n; n--)
			out[world_random(&random) % (i % 2 ? 60 : len)] ^=
				(uint8_t)(1 << world_random(&random) % 8);
		if (find_in_copy(out, len, &at, NULL) < 0)
			refused++;
		else
			CHECK(at.last < at.end && at.end <= 8 * len);
	}
	CHECK(refused > 1000 && refused < 4000);
}
