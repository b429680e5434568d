/* lines.c - lines of a file, cells of a line. */
#include "codec/instream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "codec/csv/scan.h"
#include "tap.h"
#include "world.h"

/* All lines with a bar behind each, a plus where there was no line end. */
static const char *lines_of(struct world *w, const void *text, size_t len, struct rk_lines *ret)
{
	struct rk_instream *in = NULL;
	struct rk_lines l = { 0 };
	const char *p;
	size_t n;
	int rc = rk_instream_open(world_file(w, "t", text, len), &in, &w->err);

	rk_bytes_clear(&w->text);
	if (rc == 0)
		rc = rk_lines_begin(&l, in, &w->err);
	while (rc >= 0 && (rc = rk_lines_next(&l, &p, &n, &w->err)) > 0) {
		rk_bytes_put(&w->text, p, n);
		rk_bytes_puts(&w->text, l.ended ? "|" : "+");
	}
	if (ret) {
		*ret = l;
		ret->buf = NULL;
	}
	rk_lines_release(&l);
	rk_instream_close(in);
	return rc < 0 ? NULL : rk_bytes_str(&w->text);
}

static const char *plain(struct world *w, const char *text)
{
	return lines_of(w, text, strlen(text), NULL);
}

TEST(lines_lose_their_ends_and_the_byte_order_mark)
{
	struct world w;

	world_open(&w, 1);
	CHECK_STR(plain(&w, ""), "");
	CHECK_STR(plain(&w, "a\nb\n"), "a|b|");
	CHECK_STR(plain(&w, "a\r\n\r\n\nb"), "a|||b+");
	CHECK_STR(plain(&w, "\xef\xbb\xbf"
			    "a\n\xef\xbb\xbf"
			    "b\n"),
		  "a|\xef\xbb\xbf"
		  "b|");
	world_close(&w);
}

TEST(lines_longer_than_a_mebibyte_are_passed_over_and_counted)
{
	size_t big = 3 << 20;
	char *text = malloc(big + 32);
	struct rk_lines l;
	struct world w;

	world_open(&w, 1);
	if (!CHECK(text != NULL))
		return;
	memset(text, 'x', big + 32);
	memcpy(text, "one\n", 4);
	memcpy(text + big, "\nthree\n", 7);
	CHECK_STR(lines_of(&w, text, big + 7, &l), "one|three|");
	CHECK_U64(l.huge, 1);
	CHECK_U64(l.huge_line, 2);
	CHECK_U64(l.number, 3);
	CHECK_STR(lines_of(&w, text, big, &l), "one|");
	CHECK_U64(l.huge, 1);
	free(text);
	world_close(&w);
}

TEST(lines_across_blocks_are_whole)
{
	struct world w;
	size_t len = 0;
	char *text = malloc(1 << 20), *want;

	world_open(&w, 1);
	if (!CHECK(text != NULL))
		return;
	for (unsigned i = 0; i < 20000; i++)
		len += (size_t)snprintf(text + len, 32, "%0*u\n", 1 + (int)(i % 29), i);
	want = strndup(text, len);
	for (size_t i = 0; want && i < len; i++)
		if (want[i] == '\n')
			want[i] = '|';
	CHECK_STR(lines_of(&w, text, len, NULL), want);
	free(want);
	free(text);
	world_close(&w);
}

static void cells_are(const char *row, unsigned n, const char *want)
{
	struct rk_csv_span cells[5];
	struct rk_bytes text;
	unsigned got = rk_csv_split(row, strlen(row), cells, 4);

	rk_bytes_init(&text, 4096);
	for (unsigned i = 0; i < got && i < 4; i++) {
		rk_bytes_put(&text, cells[i].p, cells[i].len);
		rk_bytes_puts(&text, "|");
	}
	CHECK_U64(got, n);
	CHECK_STR(rk_bytes_str(&text), want);
	rk_bytes_release(&text);
}

TEST(cells_of_a_row_with_and_without_quotes)
{
	cells_are("a,b,c", 3, "a|b|c|");
	cells_are(" a ,\t\"b, c\" ,d", 3, "a|b, c|d|");
	cells_are("", 1, "|");
	cells_are("1,", 2, "1||");
	cells_are("\"a\"\"b,c\",d", 2, "a\"\"b,c|d|");
	cells_are("\"open, never closed", 2, "\"open|never closed|");
	cells_are("a,b,c,d,e", 5, "a|b|c|d|");
}

/* A gzip header and a stored block of five bytes, of which four are there. */
TEST(lines_of_a_packed_file_that_is_cut_end_in_an_error)
{
	static const char cut[] = "\x1f\x8b\x08\0\0\0\0\0\0\x03\x00\x05\x00\xfa\xff"
				  "a\nbc";
	struct world w;

	world_open(&w, 1);
	CHECK(lines_of(&w, cut, sizeof(cut) - 1, NULL) == NULL);
	CHECK_I64(w.err.code, RK_E_FORMAT);
	world_close(&w);
}
