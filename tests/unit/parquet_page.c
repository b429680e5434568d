/* parquet_page.c - pages that lie about themselves. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "codec/parquet/page.h"
#include "codec/thrift.h"
#include "tap.h"

/* A file that is one chunk: a page with a header of our making. */
struct page_world {
	char path[64];
	struct rk_pq_shared shared;
	struct rk_pq_leaf leaf;
	struct rk_bytes bytes;
};

static void page_world_open(struct page_world *w, int physical)
{
	static char name[] = "odd";

	*w = (struct page_world){ .path = "/tmp/rockit-page-XXXXXX" };
	w->leaf = (struct rk_pq_leaf){ .name = name, .physical = physical };
	rk_bytes_init(&w->bytes, 1 << 20);
	rk_bytes_puts(&w->bytes, "PAR1");
	rk_bytes_init(&w->shared.stored, RK_PQ_MAX_PAGE);
	CHECK(rk_strtab_new(1 << 20, &w->shared.names, NULL) == 0);
	close(mkstemp(w->path));
}

static void page_world_close(struct page_world *w)
{
	unlink(w->path);
	rk_bytes_release(&w->bytes);
	rk_bytes_release(&w->shared.stored);
	rk_strtab_free(w->shared.names);
}

static void add_page(struct page_world *w, int type, int encoding, int32_t values, int32_t raw,
		     const void *body, size_t len)
{
	struct rk_thrift_writer t;

	rk_thrift_begin(&t, &w->bytes);
	rk_thrift_put_i32(&t, 1, type);
	rk_thrift_put_i32(&t, 2, raw);
	rk_thrift_put_i32(&t, 3, (int32_t)len);
	rk_thrift_put_struct(&t, type == RK_PQ_DATA_PAGE ? 5 : 7);
	rk_thrift_put_i32(&t, 1, values);
	rk_thrift_put_i32(&t, 2, encoding);
	rk_thrift_end(&t);
	rk_thrift_end(&t);
	rk_bytes_put(&w->bytes, body, len);
}

/* Reads the chunk with so many rows; the code of the first failure, or 0. */
static int read_chunk(struct page_world *w, int codec, int64_t rows, uint64_t *out,
		      struct rk_error *err)
{
	static uint32_t levels[RK_PQ_STEP];
	struct rk_pq_chunk chunk = {
		.physical = w->leaf.physical,
		.codec = codec,
		.num_values = rows,
		.start = 4,
		.bytes = (int64_t)w->bytes.len - 4,
	};
	FILE *f = fopen(w->path, "wb");
	struct rk_pq_pages p;
	size_t present;
	int rc;

	CHECK(f && fwrite(w->bytes.data, 1, w->bytes.len, f) == w->bytes.len);
	if (f)
		fclose(f);
	CHECK(rk_file_open(w->path, &w->shared.file, err) == 0);
	rk_pq_pages_init(&p, &w->shared, &w->leaf);
	rc = rk_pq_pages_begin(&p, &chunk, rows, err);
	while (rc >= 0 && rows > 0) {
		size_t n = rows < RK_PQ_STEP ? (size_t)rows : RK_PQ_STEP;

		rc = rk_pq_pages_next(&p, n, levels, out, &present, err);
		rows -= rc > 0 ? rc : 0;
	}
	rk_pq_pages_release(&p);
	CHECK_U64(w->shared.held, 0);
	rk_file_close(w->shared.file);
	return rc < 0 ? rc : 0;
}

static void check_chunk(struct page_world *w, int codec, int64_t rows, int code, const char *word)
{
	static uint64_t out[RK_PQ_STEP];
	struct rk_error err = { 0 };

	CHECK_I64(read_chunk(w, codec, rows, out, &err), code);
	if (!CHECK(strstr(err.message, word) != NULL))
		CHECK_STR(err.message, word);
	page_world_close(w);
}

TEST(a_plain_page_is_read)
{
	const int64_t v[2] = { -1, INT64_MAX };
	struct page_world w;

	page_world_open(&w, RK_PQ_INT64);
	add_page(&w, RK_PQ_DATA_PAGE, RK_PQ_PLAIN, 2, 16, v, 16);
	check_chunk(&w, RK_PQ_UNCOMPRESSED, 2, 0, "");
}

TEST(pages_that_hold_fewer_or_more_rows_are_refused)
{
	const int64_t v[2] = { 0 };
	struct page_world w;

	page_world_open(&w, RK_PQ_INT64);
	add_page(&w, RK_PQ_DATA_PAGE, RK_PQ_PLAIN, 2, 16, v, 16);
	check_chunk(&w, RK_PQ_UNCOMPRESSED, 3, RK_E_FORMAT, "fewer rows");
	page_world_open(&w, RK_PQ_INT64);
	add_page(&w, RK_PQ_DATA_PAGE, RK_PQ_PLAIN, 2, 16, v, 16);
	check_chunk(&w, RK_PQ_UNCOMPRESSED, 1, RK_E_FORMAT, "more rows");
	page_world_open(&w, RK_PQ_INT64);
	add_page(&w, RK_PQ_DATA_PAGE, RK_PQ_PLAIN, 9, 16, v, 16);
	check_chunk(&w, RK_PQ_UNCOMPRESSED, 9, RK_E_FORMAT, "'odd': page ends early");
}

TEST(pages_that_lie_about_their_size_are_refused)
{
	const int64_t v[2] = { 0 };
	struct page_world w;

	page_world_open(&w, RK_PQ_INT64);
	add_page(&w, RK_PQ_DATA_PAGE, RK_PQ_PLAIN, 2, 17, v, 16);
	check_chunk(&w, RK_PQ_UNCOMPRESSED, 2, RK_E_FORMAT, "damaged page header");
	page_world_open(&w, RK_PQ_INT64);
	add_page(&w, RK_PQ_DATA_PAGE, RK_PQ_PLAIN, 2, RK_PQ_MAX_PAGE + 1, v, 16);
	check_chunk(&w, RK_PQ_ZSTD, 2, RK_E_LIMIT, "page of");
	page_world_open(&w, RK_PQ_INT64);
	add_page(&w, RK_PQ_DATA_PAGE, RK_PQ_PLAIN, 2, -1, v, 16);
	check_chunk(&w, RK_PQ_UNCOMPRESSED, 2, RK_E_FORMAT, "damaged page header");
	page_world_open(&w, RK_PQ_INT64);
	add_page(&w, RK_PQ_DATA_PAGE, RK_PQ_PLAIN, 2, 16, v, 16);
	w.bytes.len -= 3;
	check_chunk(&w, RK_PQ_UNCOMPRESSED, 2, RK_E_FORMAT, "damaged page header");
}

TEST(packed_pages_must_unpack_to_their_size)
{
	static uint8_t zeros[100000], packed[1000];
	const size_t len = ZSTD_compress(packed, sizeof(packed), zeros, sizeof(zeros), 1);
	struct page_world w;

	page_world_open(&w, RK_PQ_INT64);
	add_page(&w, RK_PQ_DATA_PAGE, RK_PQ_PLAIN, 2, 16, packed, len);
	check_chunk(&w, RK_PQ_ZSTD, 2, RK_E_FORMAT, "zstd");
	page_world_open(&w, RK_PQ_INT64);
	add_page(&w, RK_PQ_DATA_PAGE, RK_PQ_PLAIN, 2, 16, packed, len);
	check_chunk(&w, RK_PQ_SNAPPY, 2, RK_E_FORMAT, "snappy");
	page_world_open(&w, RK_PQ_INT64);
	add_page(&w, RK_PQ_DATA_PAGE, RK_PQ_PLAIN, 2, 16, packed, len);
	check_chunk(&w, RK_PQ_GZIP, 2, RK_E_FORMAT, "gzip");
	page_world_open(&w, RK_PQ_INT64);
	add_page(&w, RK_PQ_DATA_PAGE, RK_PQ_PLAIN, 2, 16, packed, len);
	check_chunk(&w, 4, 2, RK_E_UNSUPPORTED, "codec 4");
}

TEST(dictionary_entries_that_do_not_exist_are_refused)
{
	const int64_t dict[2] = { 5, 6 };
	const uint8_t good[] = { 1, 0x04, 1 }, bad[] = { 2, 0x04, 2 }, wide[] = { 33, 0x04, 0 };
	struct page_world w;

	page_world_open(&w, RK_PQ_INT64);
	add_page(&w, RK_PQ_DICTIONARY_PAGE, RK_PQ_PLAIN, 2, 16, dict, 16);
	add_page(&w, RK_PQ_DATA_PAGE, RK_PQ_RLE_DICTIONARY, 2, 3, good, 3);
	check_chunk(&w, RK_PQ_UNCOMPRESSED, 2, 0, "");
	page_world_open(&w, RK_PQ_INT64);
	add_page(&w, RK_PQ_DICTIONARY_PAGE, RK_PQ_PLAIN, 2, 16, dict, 16);
	add_page(&w, RK_PQ_DATA_PAGE, RK_PQ_RLE_DICTIONARY, 2, 3, bad, 3);
	check_chunk(&w, RK_PQ_UNCOMPRESSED, 2, RK_E_FORMAT,
		    "'odd': entry 2 of a dictionary that has 2");
	page_world_open(&w, RK_PQ_INT64);
	add_page(&w, RK_PQ_DATA_PAGE, RK_PQ_RLE_DICTIONARY, 2, 3, good, 3);
	check_chunk(&w, RK_PQ_UNCOMPRESSED, 2, RK_E_FORMAT, "of a dictionary that has 0");
	page_world_open(&w, RK_PQ_INT64);
	add_page(&w, RK_PQ_DATA_PAGE, RK_PQ_RLE_DICTIONARY, 2, 3, wide, 3);
	check_chunk(&w, RK_PQ_UNCOMPRESSED, 2, RK_E_FORMAT, "damaged");
}

TEST(dictionaries_larger_than_their_page_are_refused)
{
	const int64_t dict[2] = { 5, 6 };
	struct page_world w;

	page_world_open(&w, RK_PQ_INT64);
	add_page(&w, RK_PQ_DICTIONARY_PAGE, RK_PQ_PLAIN, INT32_MAX, 16, dict, 16);
	check_chunk(&w, RK_PQ_UNCOMPRESSED, 2, RK_E_FORMAT, "damaged dictionary");
	page_world_open(&w, RK_PQ_INT64);
	add_page(&w, RK_PQ_DICTIONARY_PAGE, RK_PQ_PLAIN, 2, 16, dict, 16);
	add_page(&w, RK_PQ_DICTIONARY_PAGE, RK_PQ_PLAIN, 2, 16, dict, 16);
	check_chunk(&w, RK_PQ_UNCOMPRESSED, 2, RK_E_FORMAT, "damaged dictionary");
}

TEST(encodings_that_are_not_known_name_their_column)
{
	const int64_t v[2] = { 0 };
	struct page_world w;

	page_world_open(&w, RK_PQ_INT64);
	add_page(&w, RK_PQ_DATA_PAGE, 42, 2, 16, v, 16);
	check_chunk(&w, RK_PQ_UNCOMPRESSED, 2, RK_E_UNSUPPORTED, "'odd': encoding 42");
	page_world_open(&w, RK_PQ_DOUBLE);
	add_page(&w, RK_PQ_DATA_PAGE, RK_PQ_DELTA_BINARY_PACKED, 2, 16, v, 16);
	check_chunk(&w, RK_PQ_UNCOMPRESSED, 2, RK_E_UNSUPPORTED, "'odd': encoding 5");
	page_world_open(&w, RK_PQ_INT96);
	add_page(&w, RK_PQ_DATA_PAGE, RK_PQ_PLAIN, 1, 12, v, 12);
	check_chunk(&w, RK_PQ_UNCOMPRESSED, 1, RK_E_UNSUPPORTED, "'odd': encoding 0");
}

/* Suffixes of one byte, each behind the whole string before: n bytes name n * n / 2. */
TEST(strings_that_grow_without_end_are_stopped)
{
	enum { GROWING = 16384 };
	static int64_t prefix[GROWING], suffix[GROWING];
	uint8_t *body = malloc(2 * rk_delta_bound(GROWING) + GROWING);
	struct page_world w;
	size_t len;

	for (int64_t i = 0; i < GROWING; i++) {
		prefix[i] = i;
		suffix[i] = 1;
	}
	len = rk_delta_encode64(body, prefix, GROWING);
	len += rk_delta_encode64(body + len, suffix, GROWING);
	memset(body + len, 'x', GROWING);
	len += GROWING;
	page_world_open(&w, RK_PQ_BYTE_ARRAY);
	add_page(&w, RK_PQ_DATA_PAGE, RK_PQ_DELTA_BYTE_ARRAY, GROWING, (int32_t)len, body, len);
	check_chunk(&w, RK_PQ_UNCOMPRESSED, GROWING, RK_E_LIMIT, "'odd': strings of a page");
	free(body);
}
