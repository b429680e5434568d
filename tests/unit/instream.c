/* instream.c (test) - plain, packed, concatenated, cut and damaged files. */
#include "codec/instream.h"

#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/alloc.h"
#include "tap.h"

enum { BIG = 300000, PACKED_MAX = 1 << 20 };

static uint8_t content[BIG], packed[PACKED_MAX], got[BIG + 64];
static char path[64];

static void make_content(void)
{
	uint32_t x = 1;

	for (size_t i = 0; i < BIG; i++) {
		x = x * 1664525u + 1013904223u;
		content[i] = (uint8_t)(i % 64 < 40 ? 'a' + i % 7 : x >> 24);
	}
	snprintf(path, sizeof(path), "/tmp/rk-instream-%d", (int)getpid());
}

static void put_file(const void *p, size_t len)
{
	FILE *f = fopen(path, "wb");

	CHECK(f && fwrite(p, 1, len, f) == len && fclose(f) == 0);
}

static size_t pack_gzip(uint8_t *out, const uint8_t *in, size_t len)
{
	z_stream z = { 0 };

	CHECK(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
	z.next_in = (Bytef *)(uintptr_t)in;
	z.avail_in = (uInt)len;
	z.next_out = out;
	z.avail_out = PACKED_MAX / 2;
	CHECK(deflate(&z, Z_FINISH) == Z_STREAM_END);
	deflateEnd(&z);
	return (size_t)(z.next_out - out);
}

static size_t pack_xz_preset(uint8_t *out, const uint8_t *in, size_t len, uint32_t preset)
{
	size_t n = 0;

	CHECK(lzma_easy_buffer_encode(preset, LZMA_CHECK_CRC64, NULL, in, len, out, &n,
				      PACKED_MAX / 2) == LZMA_OK);
	return n;
}

static size_t pack_xz(uint8_t *out, const uint8_t *in, size_t len)
{
	return pack_xz_preset(out, in, len, 1);
}

static size_t pack_zstd(uint8_t *out, const uint8_t *in, size_t len)
{
	ZSTD_CCtx *c = ZSTD_createCCtx();
	size_t n;

	ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1);
	n = ZSTD_compress2(c, out, PACKED_MAX / 2, in, len);
	ZSTD_freeCCtx(c);
	return n;
}

static size_t (*const packers[])(uint8_t *out, const uint8_t *in,
				 size_t len) = { pack_gzip, pack_xz, pack_zstd };

/* Reads in pieces of `piece`; *ret_n counts the bytes that came before the end or the error. */
static int drain(struct rk_instream *s, size_t piece, size_t *ret_n, struct rk_error *err)
{
	size_t n = 1;
	int rc = 0;

	*ret_n = 0;
	while (!rc && n && *ret_n < sizeof(got)) {
		size_t room = sizeof(got) - *ret_n;

		rc = rk_instream_read(s, got + *ret_n, piece < room ? piece : room, &n, err);
		if (!rc)
			*ret_n += n;
	}
	return rc;
}

static int read_all(size_t *ret_n, struct rk_error *err)
{
	struct rk_instream *s = NULL;
	int rc = rk_instream_open(path, &s, err);

	*ret_n = 0;
	if (!rc)
		rc = drain(s, 4097, ret_n, err);
	rk_instream_close(s);
	return rc;
}

TEST(a_plain_file_comes_as_it_is)
{
	struct rk_instream *s = NULL;
	struct rk_error err = { 0 };
	const char *plain = NULL;
	const void *head = NULL;
	uint64_t done = 0, total = 0;
	size_t n = 0, head_len = 0;

	make_content();
	put_file(content, BIG);
	CHECK_I64(rk_instream_open(path, &s, &err), 0);
	CHECK(rk_instream_packing(s) == RK_PLAIN);
	CHECK_STR(rk_instream_path(s), path);
	CHECK_I64(rk_instream_head(s, &head, &head_len, &err), 0);
	CHECK_U64(head_len, 64 << 10);
	CHECK_MEM(head, content, head_len);
	CHECK_I64(drain(s, 100000, &n, &err), 0);
	CHECK_U64(n, BIG);
	CHECK_MEM(got, content, BIG);
	CHECK_MEM(head, content, head_len);
	rk_instream_progress(s, &done, &total);
	CHECK_U64(done, BIG);
	CHECK_U64(total, BIG);
	CHECK_I64(rk_instream_plain_path(s, NULL, &plain, &err), 0);
	CHECK_STR(plain, path);
	rk_instream_close(s);
	unlink(path);
}

TEST(packed_files_unpack_and_rewind)
{
	struct rk_error err = { 0 };

	make_content();
	for (size_t i = 0; i < 3; i++) {
		struct rk_instream *s = NULL;
		const void *head = NULL;
		size_t n = 0;

		put_file(packed, packers[i](packed, content, BIG));
		CHECK_I64(rk_instream_open(path, &s, &err), 0);
		CHECK_I64(rk_instream_packing(s), (int)i + 1);
		for (int pass = 0; pass < 3; pass++) {
			CHECK_I64(drain(s, pass == 1 ? 7777 : 1 << 20, &n, &err), 0);
			CHECK_U64(n, BIG);
			CHECK_MEM(got, content, BIG);
			CHECK_I64(rk_instream_rewind(s, &err), 0);
			CHECK_I64(rk_instream_head(s, &head, &n, &err), 0);
			CHECK_MEM(head, content, n);
		}
		rk_instream_close(s);
	}
	unlink(path);
}

TEST(packed_streams_one_after_another_are_one_content)
{
	make_content();
	for (size_t i = 0; i < 3; i++) {
		struct rk_error err = { 0 };
		size_t a = packers[i](packed, content, 100000), n = 0;
		size_t b = packers[i](packed + a, content + 100000, BIG - 100000);

		put_file(packed, a + b);
		CHECK_I64(read_all(&n, &err), 0);
		CHECK_U64(n, BIG);
		CHECK_MEM(got, content, BIG);
	}
	unlink(path);
}

TEST(gzip_padding_and_junk_after_the_last_member_are_passed_over)
{
	static const struct {
		const char *tail;
		size_t len;
	} tails[] = { { "\0\0\0\0", 4 },
		      { "junk", 4 },
		      { "\x1f", 1 },
		      { "\x1fjunk", 5 },
		      { "\0\x1f\x8b", 3 } };

	make_content();
	for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
		struct rk_error err = { 0 };
		size_t n = 0, a = pack_gzip(packed, content, 5000);

		memcpy(packed + a, tails[i].tail, tails[i].len);
		put_file(packed, a + tails[i].len);
		CHECK_I64(read_all(&n, &err), 0);
		CHECK_U64(n, 5000);
	}
	unlink(path);
}

TEST(a_second_gzip_member_that_is_cut_is_an_error)
{
	struct rk_error err = { 0 };
	size_t n = 0, a;

	make_content();
	a = pack_gzip(packed, content, 5000);
	memcpy(packed + a, "\x1f\x8b\x08", 3);
	put_file(packed, a + 3);
	CHECK_I64(read_all(&n, &err), RK_E_FORMAT);
	CHECK_U64(n, 5000);
	unlink(path);
}

TEST(zstd_skippable_frames_are_skipped)
{
	static const uint8_t skip[] = { 0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 'x', 'y', 'z' };
	struct rk_error err = { 0 };
	size_t n = 0, a;

	make_content();
	memcpy(packed, skip, sizeof(skip));
	a = sizeof(skip) + pack_zstd(packed + sizeof(skip), content, 5000);
	memcpy(packed + a, skip, sizeof(skip));
	put_file(packed, a + sizeof(skip));
	CHECK_I64(read_all(&n, &err), 0);
	CHECK_U64(n, 5000);
	CHECK_MEM(got, content, 5000);
	unlink(path);
}

TEST(a_cut_packed_file_gives_its_beginning_then_an_error)
{
	make_content();
	for (size_t i = 0; i < 3; i++) {
		struct rk_error err = { 0 };
		size_t n = 0, len = packers[i](packed, content, BIG);

		put_file(packed, len - len / 3);
		CHECK_I64(read_all(&n, &err), RK_E_FORMAT);
		CHECK(i == 2 || n > 1000); /* zstd unpacks whole blocks of 128 KiB */
		CHECK_MEM(got, content, n);
		CHECK(strstr(err.message, "in the middle of its ") != NULL);
		CHECK_STR(err.file, path);
		for (size_t cut = 6; cut < 40; cut++) {
			memset(&err, 0, sizeof(err));
			put_file(packed, cut);
			CHECK_I64(read_all(&n, &err), RK_E_FORMAT);
		}
	}
	unlink(path);
}

TEST(damage_in_the_middle_of_a_packed_file_is_an_error)
{
	make_content();
	for (size_t i = 0; i < 3; i++) {
		struct rk_error err = { 0 };
		size_t n = 0, len = packers[i](packed, content, BIG);

		memset(packed + len / 2, 0xa5, 64);
		put_file(packed, len);
		CHECK_I64(read_all(&n, &err), RK_E_FORMAT);
		CHECK(err.offset > 0 && err.offset <= len);
	}
	unlink(path);
}

TEST(the_strongest_ordinary_xz_files_open_and_larger_dictionaries_are_refused)
{
	lzma_options_lzma opt;
	lzma_filter filters[2] = { { .id = LZMA_FILTER_LZMA2, .options = &opt },
				   { .id = LZMA_VLI_UNKNOWN } };
	struct rk_error err = { 0 };
	size_t n = 0, len = 0;

	make_content();
	put_file(packed, pack_xz_preset(packed, content, 1000, 9));
	CHECK_I64(read_all(&n, &err), 0);
	CHECK_U64(n, 1000);
	lzma_lzma_preset(&opt, 0);
	opt.dict_size = 256u << 20;
	CHECK(lzma_stream_buffer_encode(filters, LZMA_CHECK_CRC32, NULL, content, 1000, packed,
					&len, PACKED_MAX) == LZMA_OK);
	put_file(packed, len);
	CHECK_I64(read_all(&n, &err), RK_E_LIMIT);
	unlink(path);
}

TEST(a_zstd_window_past_the_limit_is_refused)
{
	/* magic, no content size, window descriptor exponent 20: 2^(10+20) bytes */
	static const uint8_t frame[] = { 0x28, 0xb5, 0x2f, 0xfd, 0x00, 20 << 3, 1, 0, 0 };
	struct rk_error err = { 0 };
	size_t n = 0;

	make_content();
	put_file(frame, sizeof(frame));
	CHECK_I64(read_all(&n, &err), RK_E_LIMIT);
	unlink(path);
}

TEST(empty_and_missing_files)
{
	struct rk_error err = { 0 };
	size_t n = 1;

	make_content();
	put_file("", 0);
	CHECK_I64(read_all(&n, &err), 0);
	CHECK_U64(n, 0);
	put_file(packed, pack_gzip(packed, content, 0));
	CHECK_I64(read_all(&n, &err), 0);
	CHECK_U64(n, 0);
	unlink(path);
	CHECK_I64(read_all(&n, &err), RK_E_IO);
}

TEST(a_packed_file_has_a_plain_copy_until_close)
{
	struct rk_instream *s = NULL;
	struct rk_error err = { 0 };
	const char *plain = NULL;
	char copy[256] = "", *slash;
	size_t n = 0;
	FILE *f;

	make_content();
	put_file(packed, pack_gzip(packed, content, BIG));
	CHECK_I64(rk_instream_open(path, &s, &err), 0);
	CHECK_I64(drain(s, 1000, &n, &err), 0);
	CHECK_I64(rk_instream_plain_path(s, "/tmp", &plain, &err), 0);
	snprintf(copy, sizeof(copy), "%s", plain ? plain : "");
	f = fopen(copy, "rb");
	CHECK(f && fread(got, 1, sizeof(got), f) == BIG);
	if (f)
		fclose(f);
	CHECK_MEM(got, content, BIG);
	rk_instream_close(s);
	CHECK(access(copy, F_OK) != 0);
	slash = strrchr(copy, '/');
	if (slash)
		*slash = '\0';
	CHECK(access(copy, F_OK) != 0);
	unlink(path);
}

TEST(a_pipe_is_read_once_and_can_be_copied)
{
	struct rk_instream *s = NULL;
	struct rk_error err = { 0 };
	const char *plain = NULL;
	const void *head = NULL;
	char fd_path[32];
	size_t n = 0;
	int fds[2];

	CHECK(pipe(fds) == 0);
	CHECK(write(fds[1], "hello", 5) == 5);
	close(fds[1]);
	snprintf(fd_path, sizeof(fd_path), "/dev/fd/%d", fds[0]);
	CHECK_I64(rk_instream_open(fd_path, &s, &err), 0);
	CHECK(!rk_instream_rewindable(s));
	CHECK_I64(rk_instream_head(s, &head, &n, &err), 0);
	CHECK_I64(rk_instream_plain_path(s, NULL, &plain, &err), 0);
	CHECK(plain && access(plain, R_OK) == 0);
	CHECK_I64(rk_instream_rewind(s, &err), RK_E_IO);
	rk_instream_close(s);
	close(fds[0]);
}

TEST(every_allocation_of_a_packed_read_may_fail)
{
	make_content();
	for (size_t i = 0; i < 3; i++) {
		uint64_t fail = 1;

		put_file(packed, packers[i](packed, content, 9000));
		for (;; fail++) {
			struct rk_instream *s = NULL;
			struct rk_error err = { 0 };
			const char *plain;
			size_t n = 0;
			int rc;

			rk_alloc_fail_after(fail);
			rc = rk_instream_open(path, &s, &err);
			if (!rc)
				rc = drain(s, 1000, &n, &err);
			if (!rc)
				rc = rk_instream_plain_path(s, NULL, &plain, &err);
			rk_instream_close(s);
			if (!rk_alloc_failed())
				break;
			CHECK_I64(rc, RK_E_NOMEM);
			CHECK_I64(err.code, RK_E_NOMEM);
		}
		rk_alloc_fail_after(0);
		CHECK(fail > 5 && fail < 100);
	}
	unlink(path);
}
