/* rocpd_json.c (test) - fields of the JSON in extdata columns, whole and broken. */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "read/sql/sql.h"
#include "tap.h"

static struct sql_span span(const char *s)
{
	return (struct sql_span){ s, strlen(s) };
}

/* The text of `key`, "(none)" when there is none; valid until the next call. */
static const char *text_of(const char *json, const char *key)
{
	static char out[128];
	struct sql_span value;
	struct rk_bytes text;

	rk_bytes_init(&text, sizeof(out) - 1);
	memset(out, 0, sizeof(out));
	if (rk_sql_json_field(span(json), key, &value) && rk_sql_json_text(value, &text))
		memcpy(out, text.data ? (const void *)text.data : "", text.len);
	else
		memcpy(out, "(none)", 6);
	rk_bytes_release(&text);
	return out;
}

TEST(json_fields_are_found_at_the_top_only)
{
	CHECK_STR(text_of("{\"a\":\"1\"}", "a"), "1");
	CHECK_STR(text_of(" { \"b\" : [ {\"a\":\"no\"}, \"}\" ] , \"a\" : \"yes\" } ", "a"), "yes");
	CHECK_STR(text_of("{\"b\":{\"a\":\"no\"}}", "a"), "(none)");
	CHECK_STR(text_of("{\"aa\":\"no\",\"a\":7}", "a"), "(none)");
	CHECK_STR(text_of("[\"a\"]", "a"), "(none)");
	CHECK_STR(text_of("", "a"), "(none)");
}

TEST(json_text_loses_its_escapes)
{
	CHECK_STR(text_of("{\"a\":\"q\\\"b\\\\s\\/n\\nt\\t\"}", "a"), "q\"b\\s/n\nt\t");
	CHECK_STR(text_of("{\"a\":\"\\u0041\\u00e9\\u20ac\"}", "a"), "A\xc3\xa9\xe2\x82\xac");
	CHECK_STR(text_of("{\"a\":\"\\ud83d\\ude00\"}", "a"), "\xf0\x9f\x98\x80");
	CHECK_STR(text_of("{\"a\":\"\\ud83dx\\udc00\"}", "a"), "\xef\xbf\xbdx\xef\xbf\xbd");
	CHECK_STR(text_of("{\"a\":\"\\u12\"}", "a"), "\xef\xbf\xbd"
						     "12");
	CHECK_STR(text_of("{\"a\":\"\"}", "a"), "");
}

TEST(json_arrays_give_their_elements)
{
	struct sql_span rest = span("[ {\"n\":1}, \"x,]\" , 3]"), e;
	int64_t n = 0;

	CHECK(rk_sql_json_element(&rest, &e) && rk_sql_json_field(e, "n", &e));
	CHECK(rk_sql_json_i64(e, &n) && n == 1);
	CHECK(rk_sql_json_element(&rest, &e) && e.len == 5);
	CHECK(rk_sql_json_element(&rest, &e) && rk_sql_json_i64(e, &n) && n == 3);
	CHECK(!rk_sql_json_element(&rest, &e));
	rest = span("[]");
	CHECK(!rk_sql_json_element(&rest, &e));
	CHECK(rk_sql_json_i64(span("\"17\""), &n) && n == 17);
	CHECK(!rk_sql_json_i64(span("true"), &n));
}

TEST(json_cut_at_any_byte_does_no_harm)
{
	static const char whole[] = "{\"b\":[1,{\"c\":\"\\u00e9\\\"\"}],\"a\":\"\\ud83d\\ude00x\"}";
	struct sql_span value, e;
	struct rk_bytes text;

	for (size_t len = 0; len < sizeof(whole); len++) {
		char *exact =
			malloc(len ? len : 1); /* so that a sanitizer sees one byte too many */

		memcpy(exact, whole, len);
		rk_bytes_init(&text, 64);
		if (rk_sql_json_field((struct sql_span){ exact, len }, "a", &value))
			rk_sql_json_text(value, &text);
		if (rk_sql_json_field((struct sql_span){ exact, len }, "b", &value))
			while (rk_sql_json_element(&value, &e))
				;
		rk_sql_json_text((struct sql_span){ exact, len }, &text);
		rk_bytes_release(&text);
		free(exact);
	}
}

TEST(json_nested_too_deep_is_not_there)
{
	char deep[256] = "{\"b\":";

	memset(deep + 5, '[', 100);
	memset(deep + 105, ']', 100);
	memcpy(deep + 205, ",\"a\":\"1\"}", 10);
	CHECK_STR(text_of(deep, "a"), "(none)");
}
