/* text.c - UTF-8, JSON strings, CSV cells. */
#include "base/text.h"

#include <string.h>

#include "tap.h"

TEST(only_valid_utf8_is_valid)
{
	static const char *const good[] = { "",
					    "abc",
					    "\xc3\xa4",
					    "\xe2\x82\xac",
					    "\xf0\x9f\x98\x80",
					    "\xed\x9f\xbf",
					    "\xf4\x8f\xbf\xbf",
					    "\xef\xbf\xbd" };
	static const char *const bad[] = { "\x80",
					   "\xbf",
					   "\xc0\x80",
					   "\xc1\xbf",
					   "\xe0\x80\x80",
					   "\xe0\x9f\xbf",
					   "\xed\xa0\x80",
					   "\xf0\x80\x80\x80",
					   "\xf4\x90\x80\x80",
					   "\xf5\x80\x80\x80",
					   "\xff",
					   "\xc3",
					   "\xe2\x82",
					   "\xf0\x9f\x98",
					   "\xc3(",
					   "\xe2(\xac" };

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		CHECK_U64(rk_utf8_valid(good[i], strlen(good[i])), strlen(good[i]));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK_U64(rk_utf8_valid(bad[i], strlen(bad[i])), 0);
	CHECK_U64(rk_utf8_valid("ab\xff", 3), 2);
}

static const char *repaired(struct rk_bytes *b, const char *s)
{
	rk_bytes_clear(b);
	rk_utf8_repair(b, s, strlen(s));
	return rk_bytes_str(b);
}

TEST(each_invalid_byte_becomes_one_replacement)
{
	struct rk_bytes b;

	rk_bytes_init(&b, 1000);
	CHECK_STR(repaired(&b, "a\xff\xfe"
			       "b"),
		  "a\xef\xbf\xbd\xef\xbf\xbd"
		  "b");
	CHECK_STR(repaired(&b, "\xe2\x82"), "\xef\xbf\xbd\xef\xbf\xbd");
	CHECK_STR(repaired(&b, "ok"), "ok");
	CHECK_STR(repaired(&b, ""), "");
	rk_bytes_release(&b);
}

TEST(columns_of_wide_and_combining_characters)
{
	CHECK_U64(rk_utf8_columns("abc", 3), 3);
	CHECK_U64(rk_utf8_columns("\xe6\xbc\xa2\xe5\xad\x97", 6), 4);
	CHECK_U64(rk_utf8_columns("a\xcc\x88", 3), 1);
	CHECK_U64(rk_utf8_columns("\xff\xff", 2), 2);
	CHECK_U64(rk_utf8_fit("abc", 3, 2), 2);
	CHECK_U64(rk_utf8_fit("\xe6\xbc\xa2\xe5\xad\x97", 6, 3), 3);
	CHECK_U64(rk_utf8_fit("abc", 3, 0), 0);
	CHECK_U64(rk_utf8_fit("abc", 3, 99), 3);
}

static const char *json(struct rk_bytes *b, const char *s, size_t len)
{
	rk_bytes_clear(b);
	rk_json_string(b, s, len);
	return rk_bytes_str(b);
}

TEST(json_strings_escape_what_must_be)
{
	struct rk_bytes b;

	rk_bytes_init(&b, 1000);
	CHECK_STR(json(&b, "a\"b\\c", 5), "\"a\\\"b\\\\c\"");
	CHECK_STR(json(&b, "\n\r\t\b\f", 5), "\"\\n\\r\\t\\b\\f\"");
	CHECK_STR(json(&b, "\0\x01\x1f", 3), "\"\\u0000\\u0001\\u001f\"");
	CHECK_STR(json(&b, "\xff", 1), "\"\\ufffd\"");
	CHECK_STR(json(&b, "\xc3\xa4", 2), "\"\xc3\xa4\"");
	CHECK_STR(json(&b, "", 0), "\"\"");
	rk_bytes_release(&b);
}

static const char *cell(struct rk_bytes *b, const char *s)
{
	rk_bytes_clear(b);
	rk_csv_cell(b, s, strlen(s));
	return rk_bytes_str(b);
}

TEST(csv_cells_are_quoted_when_they_must_be)
{
	struct rk_bytes b;

	rk_bytes_init(&b, 1000);
	CHECK_STR(cell(&b, "plain"), "plain");
	CHECK_STR(cell(&b, "a,b"), "\"a,b\"");
	CHECK_STR(cell(&b, "say \"hi\""), "\"say \"\"hi\"\"\"");
	CHECK_STR(cell(&b, "a\nb"), "\"a\nb\"");
	CHECK_STR(cell(&b, "a\rb"), "\"a\rb\"");
	rk_bytes_release(&b);
}

TEST(prefixes_and_suffixes_ignore_case_where_they_say_so)
{
	CHECK(rk_text_ieq("KIND", 4, "kind"));
	CHECK(!rk_text_ieq("KIND", 3, "kind"));
	CHECK(!rk_text_ieq("kinds", 5, "kind"));
	CHECK(rk_text_iprefix("MARKER_x", 8, "marker_"));
	CHECK(!rk_text_iprefix("MARK", 4, "marker_"));
	CHECK(rk_text_ends("a.kd", 4, ".kd"));
	CHECK(!rk_text_ends("kd", 2, ".kd"));
	CHECK(!rk_text_ieq("[", 1, "{")); /* not letters, though a bit apart */
}
