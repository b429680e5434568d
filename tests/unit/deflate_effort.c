/* deflate_effort.c - bytes that are packed already are copied, and all others still unpack. */
#include "archive/deflate_pack.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/alloc.h"
#include "tap.h"
#include "world.h"

enum { KB = 1 << 10, MOST = 1 << 20, ROOM = MOST + MOST / 8 };

static uint8_t in[MOST], out[2 * ROOM], back[2 * MOST];

static void put_noise(size_t from, size_t to, uint64_t *random)
{
	for (size_t i = from; i < to; i++)
		in[i] = (uint8_t)(world_random(random) >> 24);
}

/* Repetitions of many lengths, for which a longer search pays. */
static void put_text(size_t from, size_t to, uint64_t *random)
{
	for (size_t i = from; i < to; i++) {
		uint64_t r = world_random(random);

		in[i] = i > from + 999 && r % 16 ? in[i - 1 - r / 16 % 999] : (uint8_t)(r >> 24);
	}
}

static bool unpacks(size_t packed, size_t len)
{
	z_stream z = { 0 };
	bool ok;

	inflateInit2(&z, -15);
	z.next_in = out, z.avail_in = (uInt)packed;
	z.next_out = back, z.avail_out = sizeof(back);
	ok = inflate(&z, Z_FINISH) == Z_STREAM_END && !z.avail_in && z.total_out == len;
	inflateEnd(&z);
	return ok && !memcmp(back, in, len);
}

/* In pieces of a quarter; the packed length. */
static size_t in_pieces(struct rk_packer *k, size_t len)
{
	size_t total = 0, n, piece = len / 4 + 1;

	for (size_t at = 0; at < len; at += piece) {
		size_t some = len - at < piece ? len - at : piece;

		CHECK(rk_packer_bound(k, some) <= sizeof(out) - total);
		CHECK_I64(rk_packer_piece(k, in + at, some, at + some == len, out + total,
					  rk_packer_bound(k, some), &n, NULL),
			  0);
		total += n;
	}
	return total;
}

TEST(noise_is_copied_whatever_the_level)
{
	uint64_t random = 1;
	struct rk_packer *k = NULL;

	put_noise(0, MOST, &random);
	for (int level = 1; level <= 12; level += level == 1 ? 5 : 6) {
		CHECK_I64(rk_packer_new(level, &k, NULL), 0);
		CHECK_U64(rk_packer_whole(k, in, MOST, out, ROOM), 0);
		/* each quarter needs five stored blocks */
		CHECK_U64(in_pieces(k, MOST), MOST + 4 * 5 * 5);
		CHECK(unpacks(MOST + 4 * 5 * 5, MOST));
		rk_packer_free(k);
	}
	rk_packer_free(NULL);
}

/* Noise that comes again within reach is not packed yet, though all bytes are as frequent. */
TEST(noise_that_repeats_is_packed)
{
	uint64_t random = 2;
	struct rk_packer *k = NULL;
	size_t n;

	put_noise(0, 1500, &random);
	for (size_t i = 1500; i < MOST; i++)
		in[i] = in[i - 1500];
	CHECK_I64(rk_packer_new(6, &k, NULL), 0);
	n = rk_packer_whole(k, in, MOST, out, ROOM);
	CHECK(n > 0 && n < MOST / 50 && unpacks(n, MOST));
	rk_packer_free(k);
}

TEST(a_little_text_in_noise_is_packed)
{
	uint64_t random = 3;
	struct rk_packer *k = NULL;
	size_t n;

	put_noise(0, MOST, &random);
	memset(in + 300 * KB, 'a', 30 * KB); /* between the places that are looked at */
	CHECK_I64(rk_packer_new(6, &k, NULL), 0);
	n = rk_packer_whole(k, in, MOST, out, ROOM);
	CHECK(n > 0 && n < MOST - 29 * KB && unpacks(n, MOST));
	rk_packer_free(k);
}

TEST(pieces_of_every_effort_are_one_stream)
{
	struct rk_packer *k = NULL;

	for (unsigned mix = 0; mix < 16; mix++) {
		uint64_t random = 100 + mix;
		size_t len = MOST - mix * 4097;

		for (size_t q = 0; q < 4; q++) {
			if (mix >> q & 1)
				put_noise(q * MOST / 4, (q + 1) * MOST / 4, &random);
			else
				put_text(q * MOST / 4, (q + 1) * MOST / 4, &random);
		}
		CHECK_I64(rk_packer_new(mix % 2 ? 6 : 2, &k, NULL), 0);
		CHECK(unpacks(in_pieces(k, len), len));
		rk_packer_free(k);
	}
}

TEST(less_effort_never_costs_much)
{
	uint64_t random = 4;
	struct rk_deflater *d = NULL;
	struct rk_packer *k = NULL;

	CHECK(rk_packer_new(6, &k, NULL) == 0 && rk_deflater_new(6, &d, NULL) == 0);
	for (unsigned kind = 0; kind < 3; kind++) {
		size_t ours, full;

		put_text(0, MOST, &random);
		for (size_t i = 0; kind == 1 && i < MOST; i++)
			in[i] = (uint8_t)(world_random(&random) % 11 *
					  7); /* letters without words */
		if (kind == 2)
			memset(in, 0, MOST);
		ours = rk_packer_whole(k, in, MOST, out, ROOM);
		full = rk_deflater_pack(d, in, MOST, out, ROOM);
		CHECK(ours > 0 && ours <= full + full / 100);
	}
	rk_deflater_free(d);
	rk_packer_free(k);
}

TEST(a_packer_survives_every_failed_allocation)
{
	bool failed = true;

	for (uint64_t n = 1; failed && n < 20; n++) {
		struct rk_packer *k = NULL;
		struct rk_error err = { 0 };
		int rc;

		rk_alloc_fail_after(n);
		rc = rk_packer_new(6, &k, &err);
		failed = rk_alloc_failed();
		rk_alloc_fail_after(0);
		CHECK_I64(rc, failed ? RK_E_NOMEM : 0);
		CHECK_I64(err.code, rc);
		rk_packer_free(k);
	}
	CHECK(!failed);
}
