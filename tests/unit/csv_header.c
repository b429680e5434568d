/* csv_header.c - the first line of a CSV file. */
#include "codec/csv/scan.h"

#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "tap.h"

static int parse(const char *text, bool whole, struct rk_csv_header *h, struct rk_error *err)
{
	*h = (struct rk_csv_header){ 0 };
	*err = (struct rk_error){ 0 };
	return rk_csv_header_parse(text, strlen(text), whole, h, err);
}

TEST(a_quoted_header_gives_its_names)
{
	struct rk_csv_header h;
	struct rk_error err;

	if (!CHECK_I64(parse("\"Kind\",\"Agent_Id\"\n1,2\n", false, &h, &err), 0))
		return;
	CHECK_U64(h.ncols, 2);
	CHECK_STR(h.names[0], "Kind");
	CHECK_STR(h.names[1], "Agent_Id");
	CHECK_U64(h.bytes, 18);
	CHECK_U64(h.lines, 1);
	CHECK_I64(rk_csv_header_find(&h, "AGENT_ID"), 1);
	CHECK_I64(rk_csv_header_find(&h, "Agent_I"), -1);
	CHECK_I64(rk_csv_header_find(&h, "Agent_Idx"), -1);
	rk_csv_header_release(&h);
}

TEST(a_header_name_may_hold_a_newline_in_quotes)
{
	struct rk_csv_header h;
	struct rk_error err;

	if (!CHECK_I64(parse("\"Kind\",\"Workgroup\n_Size_X\",\"Z\"\r\nrow", false, &h, &err), 0))
		return;
	CHECK_U64(h.ncols, 3);
	CHECK_STR(h.names[1], "Workgroup_Size_X");
	CHECK_STR(h.names[2], "Z");
	CHECK_U64(h.lines, 2);
	CHECK_U64(h.bytes, 32);
	rk_csv_header_release(&h);
}

TEST(a_byte_order_mark_and_blank_lines_come_before_the_header)
{
	struct rk_csv_header h;
	struct rk_error err;

	if (!CHECK_I64(parse("\xef\xbb\xbf\r\n\n A ,B\t\n", false, &h, &err), 0))
		return;
	CHECK_STR(h.names[0], "A");
	CHECK_STR(h.names[1], "B");
	CHECK_U64(h.lines, 3);
	CHECK_U64(h.bytes, 13);
	rk_csv_header_release(&h);
}

TEST(a_header_without_newline_counts_only_when_it_is_the_whole_file)
{
	struct rk_csv_header h;
	struct rk_error err;

	CHECK_I64(parse("A,B", false, &h, &err), RK_E_FORMAT);
	CHECK_STR(err.message, "the header line does not end");
	if (CHECK_I64(parse("A,B", true, &h, &err), 0)) {
		CHECK_U64(h.ncols, 2);
		CHECK_U64(h.bytes, 3);
		rk_csv_header_release(&h);
	}
	/* a quote that is never closed hides the end */
	CHECK_I64(parse("A,\"B\n1,2\n", true, &h, &err), RK_E_FORMAT);
}

TEST(an_empty_file_has_no_header)
{
	struct rk_csv_header h;
	struct rk_error err;

	CHECK_I64(parse("", true, &h, &err), RK_E_FORMAT);
	CHECK_STR(err.message, "the file is empty");
	CHECK_I64(parse("\xef\xbb\xbf\n\r\n", true, &h, &err), RK_E_FORMAT);
	CHECK_STR(err.message, "the file is empty");
}

TEST(a_header_has_at_most_4096_columns)
{
	struct rk_csv_header h;
	struct rk_error err;
	struct rk_bytes text;

	rk_bytes_init(&text, 1 << 20);
	for (int i = 0; i < RK_CSV_MAX_COLUMNS - 1; i++)
		rk_bytes_puts(&text, "c,");
	rk_bytes_puts(&text, "c");
	if (CHECK_I64(parse(rk_bytes_str(&text), true, &h, &err), 0)) {
		CHECK_U64(h.ncols, RK_CSV_MAX_COLUMNS);
		rk_csv_header_release(&h);
	}
	rk_bytes_puts(&text, ",c\n");
	CHECK_I64(parse(rk_bytes_str(&text), true, &h, &err), RK_E_LIMIT);
	rk_bytes_release(&text);
}

TEST(odd_bytes_in_a_header_are_dropped)
{
	static const char open[] = "K\0i\"nd\x7f,\x01\n", closed[] = "K\0i\"n\"d\x7f,\x01\n";
	struct rk_csv_header h = { 0 };

	if (!CHECK_I64(rk_csv_header_parse(open, sizeof(open) - 1, true, &h, NULL), RK_E_FORMAT))
		rk_csv_header_release(&h);
	if (!CHECK_I64(rk_csv_header_parse(closed, sizeof(closed) - 1, true, &h, NULL), 0))
		return;
	CHECK_STR(h.names[0], "Kind");
	CHECK_STR(h.names[1], "");
	rk_csv_header_release(&h);
}

TEST(a_header_survives_every_failed_allocation)
{
	for (uint64_t n = 1; n < 100; n++) {
		struct rk_csv_header h = { 0 };
		struct rk_error err = { 0 };
		int rc;

		rk_alloc_fail_after(n);
		rc = rk_csv_header_parse("a,b,c\n", 6, true, &h, &err);
		if (!rk_alloc_failed()) {
			CHECK_I64(rc, 0);
			rk_csv_header_release(&h);
			break;
		}
		CHECK_I64(rc, RK_E_NOMEM);
		CHECK_I64(err.code, RK_E_NOMEM);
	}
	rk_alloc_fail_after(0);
}
