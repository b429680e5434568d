/* tar_write.c - archives: headers byte by byte, sizes past octal digits, what cannot be written. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "archive/tar_write.h"
#include "base/alloc.h"
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

/* ---- members of any kind ---- */

/* The blocks of one member; the caller's to release. */
static struct rk_bytes member(const char *name, enum rk_tar_type type, const char *link,
			      unsigned mode, uint64_t size, int64_t mtime)
{
	struct rk_bytes b;
	unsigned sum = 0;

	rk_bytes_init(&b, 1 << 20);
	rk_tar_put(&b, &(struct rk_tar_member){ name, type, link, mode, size, mtime });
	CHECK(!b.bad && b.len >= BLOCK && b.len % BLOCK == 0);
	CHECK(sscanf((char *)b.data + b.len - BLOCK + 148, "%o", &sum) == 1);
	CHECK_U64(sum, sum_of(b.data + b.len - BLOCK));
	return b;
}

TEST(tar_members_are_files_folders_and_links)
{
	struct rk_bytes b = member("d/x", RK_TAR_FILE, NULL, 0755, 9, 315532800);

	CHECK_U64(b.len, BLOCK);
	CHECK_MEM(b.data, "d/x\0", 4);
	CHECK_MEM(b.data + 100, "0000755\0000000000\0000000000\000", 24);
	CHECK_MEM(b.data + 124, "00000000011\00002263523000", 24);
	CHECK_MEM(b.data + 156, "0\0", 2);
	rk_bytes_release(&b);
	b = member("d", RK_TAR_DIR, NULL, 0755, 0, -5);
	CHECK_MEM(b.data, "d/\0", 3);
	CHECK_MEM(b.data + 136, "00000000000", 12);
	CHECK_MEM(b.data + 156, "5\0", 2);
	rk_bytes_release(&b);
	b = member("d/l", RK_TAR_LINK, "../x", 0120777, 0, 0);
	CHECK_MEM(b.data + 100, "0000777", 8);
	CHECK_MEM(b.data + 156, "2../x\0", 6);
	rk_bytes_release(&b);
}

/* a name of n bytes: `dir` of them, a slash, the rest */
static const char *long_name(size_t dir, size_t n)
{
	static char name[1000];

	memset(name, 'n', sizeof(name));
	if (dir)
		name[dir] = '/';
	name[n] = '\0';
	return name;
}

TEST(tar_names_of_up_to_255_bytes_are_parted_at_a_slash)
{
	static const struct {
		size_t dir, len, cut;
	} fits[] = { { 5, 100, 0 },     { 5, 101, 5 },     { 5, 106, 5 },
		     { 155, 157, 155 }, { 155, 256, 155 }, { 1, 102, 1 } };

	for (size_t i = 0; i < sizeof(fits) / sizeof(fits[0]); i++) {
		const char *name = long_name(fits[i].dir, fits[i].len);
		struct rk_bytes b = member(name, RK_TAR_FILE, NULL, 0644, 0, 0);
		size_t cut = fits[i].cut;

		CHECK_U64(b.len, BLOCK);
		CHECK_MEM(b.data + 345, name, cut);
		CHECK_U64(b.data[345 + cut], 0);
		CHECK_MEM(b.data, name + cut + (cut > 0), fits[i].len - cut - (cut > 0));
		rk_bytes_release(&b);
	}
}

TEST(tar_names_that_have_no_room_get_a_pax_header)
{
	static const struct {
		size_t dir, len;
	} none[] = { { 0, 101 }, { 4, 106 }, { 156, 158 }, { 155, 257 }, { 90, 900 } };

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		const char *name = long_name(none[i].dir, none[i].len);
		struct rk_bytes b = member(name, RK_TAR_FILE, NULL, 0644, 0, 7);
		char record[1100];
		int len = snprintf(record, sizeof(record), "%zu path=%s\n", none[i].len + 10, name);

		CHECK_U64((size_t)len, none[i].len + 10);
		CHECK_U64(b.len, BLOCK * (2 + ((size_t)len + BLOCK - 1) / BLOCK));
		CHECK_MEM(b.data, "PaxHeaders/member\0", 18);
		CHECK_MEM(b.data + 156, "x", 1);
		CHECK_MEM(b.data + BLOCK, record, (size_t)len);
		CHECK_MEM(b.data + b.len - BLOCK, name, 100);
		CHECK_MEM(b.data + b.len - BLOCK + 156, "0", 1);
		rk_bytes_release(&b);
	}
}

TEST(the_length_of_a_pax_record_counts_its_own_digits)
{
	/* "99 linkpath=" is 12 bytes, with the newline 13; 86 more are 99, and 87 are 101, not 100 */
	static const size_t lens[] = { 101, 985, 986, 987, 988 };

	for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		const char *text = long_name(3, lens[i]);
		struct rk_bytes b = member("l", RK_TAR_LINK, text, 0777, 0, 0);
		unsigned said = 0;

		CHECK(sscanf((char *)b.data + BLOCK, "%u linkpath=n", &said) == 1);
		CHECK(said > lens[i] && b.data[BLOCK + said - 1] == '\n' && !b.data[BLOCK + said]);
		CHECK_MEM(b.data + BLOCK + said - 1 - lens[i], text, lens[i]);
		CHECK_MEM(b.data + b.len - BLOCK + 156, "2", 1);
		CHECK_MEM(b.data + b.len - BLOCK + 157, text, 100);
		rk_bytes_release(&b);
	}
}

TEST(a_tar_member_with_name_and_link_too_long_has_one_pax_header)
{
	char link[150];
	struct rk_bytes b;

	memset(link, 'l', 149);
	link[149] = '\0';
	b = member(long_name(0, 150), RK_TAR_LINK, link, 0777, 0, 0);
	CHECK_U64(b.len, 3 * BLOCK);
	CHECK_MEM(b.data + BLOCK, "160 path=nnn", 12);
	CHECK_MEM(b.data + BLOCK + 160, "163 linkpath=lll", 16);
	rk_bytes_release(&b);
}

TEST(a_folder_of_100_bytes_needs_room_for_its_slash)
{
	struct rk_bytes b = member(long_name(0, 100), RK_TAR_DIR, NULL, 0755, 0, 0);

	CHECK_U64(b.len, 3 * BLOCK);
	rk_bytes_release(&b);
	b = member(long_name(0, 99), RK_TAR_DIR, NULL, 0755, 0, 0);
	CHECK_U64(b.len, BLOCK);
	CHECK_MEM(b.data + 98, "n/", 2);
	rk_bytes_release(&b);
}

TEST(tar_padding_fills_a_block)
{
	CHECK_U64(rk_tar_padding(0), 0);
	CHECK_U64(rk_tar_padding(1), 511);
	CHECK_U64(rk_tar_padding(512), 0);
	CHECK_U64(rk_tar_padding((UINT64_C(1) << 40) + 513), 511);
}

TEST(tar_blocks_without_memory_are_bad)
{
	bool failed = true;

	for (uint64_t n = 1; failed && n < 100; n++) {
		struct rk_bytes b;

		rk_bytes_init(&b, 1 << 20);
		rk_alloc_fail_after(n);
		rk_tar_put(&b, &(struct rk_tar_member){ long_name(0, 700), RK_TAR_LINK,
							long_name(0, 700), 0777, 0, 0 });
		failed = rk_alloc_failed();
		rk_alloc_fail_after(0);
		CHECK(b.bad == failed);
		rk_bytes_release(&b);
	}
	CHECK(!failed);
}
