/* tar_write.c - archives: headers byte by byte, sizes past octal digits, what cannot be written. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/tar_write.h"
#include "tap.h"
#include "world.h"

enum { BLOCK = 512 };

/* What was written to a spill, the caller's to free. */
static unsigned char *content(struct rk_spill *s)
{
	size_t len = (size_t)rk_spill_size(s);
	unsigned char *data = calloc(1, len + 1);

	CHECK(rk_spill_read(s, 0, data, len, NULL) == 0);
	return data;
}

TEST(a_tar_archive_has_headers_content_and_an_end)
{
	struct rk_spill *s = NULL, *from = NULL;
	struct rk_output *out = NULL;
	unsigned char *data;
	uint64_t at;

	CHECK(rk_spill_new(NULL, &s, NULL) == 0 && rk_spill_new(NULL, &from, NULL) == 0);
	CHECK(rk_spill_append(from, "spilled", 7, &at, NULL) == 0);
	CHECK(rk_output_open_spill(s, &out, NULL) == 0);
	CHECK(rk_tar_file(out, "a.json", "{}", 2, NULL) == 0);
	CHECK(rk_tar_spill(out, "b.pftrace", from, NULL) == 0);
	CHECK(rk_tar_file(out, "empty", NULL, 0, NULL) == 0);
	CHECK(rk_tar_end(out, NULL) == 0);
	CHECK(rk_output_commit(out, NULL) == 0);
	CHECK_U64(rk_spill_size(s), 7 * BLOCK);
	data = content(s);
	CHECK_MEM(data, "a.json\0", 7);
	CHECK_MEM(data + 100, "0000644", 8);
	CHECK_MEM(data + 124, "00000000002", 12);
	CHECK_MEM(data + 257, "ustar\00000", 8);
	CHECK_MEM(data + BLOCK, "{}\0\0", 4);
	CHECK_MEM(data + 2 * BLOCK, "b.pftrace\0", 10);
	CHECK_MEM(data + 3 * BLOCK, "spilled\0", 8);
	CHECK_MEM(data + 4 * BLOCK, "empty\0", 6);
	free(data);
	rk_spill_free(s);
	rk_spill_free(from);
}

static unsigned sum_of(const unsigned char *h)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < BLOCK; i++)
		sum += i >= 148 && i < 156 ? ' ' : h[i];
	return sum;
}

TEST(tar_headers_of_huge_files_have_binary_sizes_and_a_right_sum)
{
	static const uint64_t sizes[] = { 0, 511, (UINT64_C(1) << 33) - 1, UINT64_C(1) << 33,
					  UINT64_C(0x123456789abc) };
	struct rk_spill *s = NULL;
	struct rk_output *out = NULL;
	unsigned char *data;

	CHECK(rk_spill_new(NULL, &s, NULL) == 0 && rk_output_open_spill(s, &out, NULL) == 0);
	for (size_t i = 0; i < 5; i++)
		CHECK(rk_tar_header(out, "x", sizes[i], 0755, NULL) == 0);
	rk_output_abort(out);
	data = content(s);
	for (size_t i = 0; i < 5; i++) {
		unsigned sum = 0;

		CHECK(sscanf((char *)data + i * BLOCK + 148, "%o", &sum) == 1);
		CHECK_U64(sum, sum_of(data + i * BLOCK));
	}
	CHECK_MEM(data + 2 * BLOCK + 124, "77777777777", 12);
	CHECK_MEM(data + 3 * BLOCK + 124, "\x80\0\0\0\0\0\0\x02\0\0\0\0", 12);
	CHECK_MEM(data + 4 * BLOCK + 124, "\x80\0\0\0\0\0\x12\x34\x56\x78\x9a\xbc", 12);
	free(data);
	rk_spill_free(s);
}

TEST(tar_names_that_are_too_long_are_refused)
{
	struct rk_error err = { 0 };
	struct rk_output *out = NULL;
	struct rk_spill *s = NULL;
	char name[102];

	memset(name, 'n', 101);
	name[101] = '\0';
	CHECK(rk_spill_new(NULL, &s, NULL) == 0 && rk_output_open_spill(s, &out, NULL) == 0);
	CHECK(rk_tar_header(out, name, 1, 0644, &err) == RK_E_LIMIT);
	CHECK(rk_tar_header(out, name + 1, 1, 0644, NULL) == 0);
	rk_output_fail_after(1, ENOSPC);
	CHECK(rk_tar_file(out, "x", "y", 1, NULL) == RK_E_IO);
	rk_output_fail_after(0, 0);
	rk_output_abort(out);
	rk_spill_free(s);
}
