/* json_stream.c - tokens, what is taken in stride, errors with their byte, and skipping. */
#include "codec/json/stream.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "tap.h"
#include "world.h"

/* A stream over some text. */
struct stream {
	struct world w;
	struct rk_instream *in;
	struct rk_json *j;
	struct rk_error err;
};

static void stream_open(struct stream *s, const void *text, size_t len)
{
	*s = (struct stream){ 0 };
	world_open(&s->w, 1);
	CHECK(rk_instream_open(world_file(&s->w, "x.json", text, len), &s->in, &s->err) == 0);
	CHECK(rk_json_new(s->in, &s->j, &s->err) == 0);
}

static void stream_close(struct stream *s)
{
	rk_json_free(s->j);
	rk_instream_close(s->in);
	world_close(&s->w);
}

/* Tokens as text: { } [ ] k:KEY s:STRING n:NUMBER t f 0, with blanks; "!" and a byte on errors. */
static const char *tokens(struct stream *s)
{
	static const char marks[] = ".{}[]ksntf0";
	struct rk_json_token tok = { 0 };
	int kind;

	rk_bytes_clear(&s->w.text);
	while ((kind = rk_json_next(s->j, &tok, &s->err)) > RK_JSON_END) {
		rk_bytes_printf(&s->w.text, "%c", marks[kind]);
		if (kind >= RK_JSON_KEY && kind <= RK_JSON_NUMBER)
			rk_bytes_printf(&s->w.text, ":%.*s", (int)tok.len, tok.text);
		rk_bytes_puts(&s->w.text, " ");
	}
	if (kind < 0)
		rk_bytes_printf(&s->w.text, "!%" PRIu64, s->err.offset);
	return rk_bytes_str(&s->w.text);
}

static void reads_as(const char *text, const char *want)
{
	struct stream s;

	stream_open(&s, text, strlen(text));
	CHECK_STR(tokens(&s), want);
	stream_close(&s);
}

TEST(json_values_come_as_tokens)
{
	reads_as("{\"a\":1,\"b\":[true,false,null,-2.5e+3,\"x\"],\"c\":{}}",
		 "{ k:a n:1 k:b [ t f 0 n:-2.5e+3 s:x ] k:c { } } ");
	reads_as(" \r\n\t[ ] ", "[ ] ");
	reads_as("18446744073709551615", "n:18446744073709551615 ");
	reads_as("\"\"", "s: ");
	reads_as("\xef\xbb\xbf[1]", "[ n:1 ] ");
	reads_as("{\"k\" : \"v\" , \"k\":2}", "{ k:k s:v k:k n:2 } ");
}

TEST(json_escapes_are_undone)
{
	reads_as("\"a\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "s:a\"\\/\b\f\n\r\t ");
	reads_as("\"\\u0041\\u00e9\\u20ac\\ud83d\\ude00\"",
		 "s:A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80 ");
	reads_as("{\"\\u006b\":1}", "{ k:k n:1 } ");
}

TEST(json_half_surrogates_are_repaired)
{
	reads_as("\"\\ud800\"", "s:\xef\xbf\xbd ");
	reads_as("\"\\udc00x\"", "s:\xef\xbf\xbdx ");
	reads_as("\"\\ud800\\u0041\"", "s:\xef\xbf\xbd"
				       "A ");
	reads_as("\"\\ud800\\ud83d\\ude00\"", "s:\xef\xbf\xbd\xf0\x9f\x98\x80 ");
}

TEST(json_bytes_that_are_not_utf8_pass)
{
	reads_as("\"a\xff\xfe\"", "s:a\xff\xfe ");
}

TEST(json_odd_escapes_stay_and_are_counted)
{
	static const char text[] = "[\"\\x\",\"\\u12\",\"\\u12g4\"]";
	struct stream s;

	stream_open(&s, text, strlen(text));
	CHECK_STR(tokens(&s), "[ s:\\x s:\\u12 s:\\u12g4 ] ");
	CHECK_U64(rk_json_notes(s.j)->escapes, 3);
	stream_close(&s);
}

TEST(json_numbers_that_are_none_are_null)
{
	static const char text[] = "[NaN,Infinity,-Infinity,nan,-nan,inf,1]";
	struct stream s;

	stream_open(&s, text, strlen(text));
	CHECK_STR(tokens(&s), "[ 0 0 0 0 0 0 n:1 ] ");
	CHECK_U64(rk_json_notes(s.j)->nonfinite, 6);
	CHECK_U64(rk_json_notes(s.j)->nonfinite_at, 1);
	stream_close(&s);
}

TEST(json_errors_name_their_byte)
{
	reads_as("", "!0");
	reads_as("[1 2]", "[ n:1 !3");
	reads_as("[1,]", "[ n:1 !3");
	reads_as("{\"a\" 1}", "{ k:a !5");
	reads_as("{a:1}", "{ !1");
	reads_as("{\"a\":1,}", "{ k:a n:1 !7");
	reads_as("[1}", "[ n:1 !2");
	reads_as("]", "!0");
	reads_as("[tru]", "[ !1");
	reads_as("[1x]", "[ !1");
	reads_as("[-]", "[ !1");
	reads_as("[\"a", "[ !3");
	reads_as("[\"a\\", "[ !4");
	reads_as("{\"a\":", "{ k:a !5");
	reads_as(",{}", "!0");
	reads_as("\x01", "!0");
}

TEST(json_that_ends_early_says_so)
{
	static const char *const cut[] = {
		"", "[", "[1", "[1,", "{\"a", "{\"a\"", "{\"a\":", "[tr"
	};
	struct stream s;

	for (size_t i = 0; i < sizeof(cut) / sizeof(cut[0]); i++) {
		bool word = i == 7; /* what is there is no value */

		stream_open(&s, cut[i], strlen(cut[i]));
		tokens(&s);
		CHECK(rk_json_truncated(s.j) == !word);
		stream_close(&s);
	}
	stream_open(&s, "[}", 2);
	tokens(&s);
	CHECK(!rk_json_truncated(s.j));
	stream_close(&s);
}

TEST(json_nul_bytes_are_errors)
{
	struct stream s;

	stream_open(&s, "[1,\0002]", 6);
	CHECK_STR(tokens(&s), "[ n:1 !3");
	stream_close(&s);
}

TEST(json_nesting_has_a_limit)
{
	static char text[2000];
	struct stream s;

	memset(text, '[', 1000);
	memset(text + 1000, ']', 1000);
	stream_open(&s, text + 1000 - 511, 2 * 511);
	tokens(&s);
	CHECK_I64(s.err.code, 0);
	stream_close(&s);
	stream_open(&s, text, sizeof(text));
	tokens(&s);
	CHECK(s.err.code == RK_E_LIMIT);
	CHECK_U64(s.err.offset, 511);
	stream_close(&s);
	stream_open(&s, text, sizeof(text));
	CHECK(rk_json_skip_value(s.j, &s.err) == RK_E_LIMIT);
	stream_close(&s);
}

TEST(json_long_strings_are_cut_and_counted)
{
	size_t len = RK_JSON_TEXT_MAX * 2 + 100;
	char *text = malloc(len);
	struct rk_json_token tok;
	struct stream s;

	memset(text, 'a', len);
	memcpy(text, "[\"", 2);
	memcpy(text + len - 5, "\",7]", 4);
	stream_open(&s, text, len - 1);
	CHECK(rk_json_next(s.j, &tok, &s.err) == RK_JSON_ARRAY);
	CHECK(rk_json_next(s.j, &tok, &s.err) == RK_JSON_STRING);
	CHECK_U64(tok.len, RK_JSON_TEXT_MAX);
	CHECK_U64(rk_json_notes(s.j)->cut, 1);
	CHECK(rk_json_next(s.j, &tok, &s.err) == RK_JSON_NUMBER);
	CHECK(rk_json_next(s.j, &tok, &s.err) == RK_JSON_ARRAY_END);
	stream_close(&s);
	free(text);
}

TEST(json_numbers_of_a_thousand_digits_are_cut)
{
	char text[3000];
	struct rk_json_token tok;
	struct stream s;

	memset(text, '1', sizeof(text));
	stream_open(&s, text, sizeof(text));
	CHECK(rk_json_next(s.j, &tok, &s.err) == RK_JSON_NUMBER);
	CHECK_U64(tok.len, RK_JSON_WORD_MAX);
	CHECK(rk_json_next(s.j, &tok, &s.err) == RK_JSON_END);
	stream_close(&s);
}

TEST(json_second_documents_are_seen)
{
	struct stream s;

	stream_open(&s, "{} \n{}", 6);
	CHECK_STR(tokens(&s), "{ } ");
	CHECK_I64(rk_json_more(s.j, &s.err), 1);
	CHECK_U64(rk_json_offset(s.j), 4);
	stream_close(&s);
	stream_open(&s, "{} \n ", 5);
	tokens(&s);
	CHECK_I64(rk_json_more(s.j, &s.err), 0);
	stream_close(&s);
}

/* Values of every kind; quotes and backslashes where they hurt. */
static void random_value(struct rk_bytes *b, uint64_t *seed, unsigned depth)
{
	uint64_t r = world_random(seed);
	static const char *const scalars[] = { "0",
					       "-17",
					       "123456789012345678",
					       "true",
					       "null",
					       "\"\"",
					       "\"\\\\\"",
					       "\"[{\"",
					       "\"\\\"]\\\\\\\"}\"",
					       "\"abc\"",
					       "1.5e-3",
					       "\"\\ud83d\\ude00\"",
					       "\"0123456789012345678901234567890123456789\"" };
	unsigned n = depth ? (unsigned)(r >> 8) % 5 : 0;

	if (!depth || r % 3 == 0) {
		rk_bytes_puts(b, scalars[(r >> 16) % (sizeof(scalars) / sizeof(scalars[0]))]);
		return;
	}
	rk_bytes_puts(b, r & 1 ? "{" : "[");
	for (unsigned i = 0; i < n; i++) {
		if (i)
			rk_bytes_puts(b, r & 16 ? " , " : ",");
		if (r & 1)
			rk_bytes_printf(b, "\"k%u\\\\\"%s", i, r & 32 ? " : " : ":");
		random_value(b, seed, depth - 1);
	}
	rk_bytes_puts(b, r & 1 ? "}" : "]");
}

static uint64_t hash_tokens(struct stream *s)
{
	struct rk_json_token tok;
	uint64_t h = 0;
	int kind;

	while ((kind = rk_json_next(s->j, &tok, &s->err)) > RK_JSON_END) {
		h = rk_hash_mix(h ^ (uint64_t)kind, 0x9e3779b97f4a7c15u);
		if (kind >= RK_JSON_KEY && kind <= RK_JSON_NUMBER)
			h ^= rk_hash_bytes(tok.text, tok.len);
	}
	CHECK_I64(kind, RK_JSON_END);
	return h;
}

/* Blanks in front move every token over the ends of blocks. */
TEST(json_tokens_are_the_same_wherever_blocks_end)
{
	struct rk_bytes doc, text;
	uint64_t seed = 88172645463325252u, first = 0;

	rk_bytes_init(&doc, 4 << 20);
	rk_bytes_init(&text, 4 << 20);
	rk_bytes_puts(&doc, "[0");
	while (doc.len < 300 << 10) {
		rk_bytes_puts(&doc, ",");
		random_value(&doc, &seed, 6);
	}
	rk_bytes_puts(&doc, "]");
	for (unsigned shift = 0; shift < 70; shift++) {
		struct stream s;
		uint64_t h;

		rk_bytes_clear(&text);
		for (unsigned i = 0; i < shift; i++)
			rk_bytes_puts(&text, " ");
		rk_bytes_put(&text, doc.data, doc.len);
		stream_open(&s, text.data, text.len);
		h = hash_tokens(&s);
		first = shift ? first : h;
		CHECK(h == first);
		CHECK_U64(rk_json_offset(s.j), text.len);
		stream_close(&s);
		stream_open(&s, text.data, text.len);
		CHECK(rk_json_skip_value(s.j, &s.err) == 0);
		CHECK_U64(rk_json_offset(s.j), text.len);
		stream_close(&s);
	}
	rk_bytes_release(&doc);
	rk_bytes_release(&text);
}

TEST(json_skipping_ends_where_reading_ends)
{
	uint64_t seed = 7;

	for (unsigned round = 0; round < 300; round++) {
		struct rk_bytes doc;
		struct rk_json_token tok;
		struct stream s;

		rk_bytes_init(&doc, 1 << 20);
		rk_bytes_puts(&doc, "{\"a\":");
		random_value(&doc, &seed, 5);
		rk_bytes_puts(&doc, ",\"b\":1}");
		stream_open(&s, doc.data, doc.len);
		CHECK(rk_json_next(s.j, &tok, &s.err) == RK_JSON_OBJECT);
		CHECK(rk_json_next(s.j, &tok, &s.err) == RK_JSON_KEY);
		CHECK(rk_json_skip_value(s.j, &s.err) == 0);
		CHECK(rk_json_next(s.j, &tok, &s.err) == RK_JSON_KEY);
		CHECK(tok.len == 1 && tok.text[0] == 'b');
		stream_close(&s);
		rk_bytes_release(&doc);
	}
}

TEST(json_jumps_to_a_known_end)
{
	static const char text[] = "{\"a\":[1,2,3],\"b\":4}";
	struct rk_json_token tok;
	struct stream s;

	stream_open(&s, text, strlen(text));
	CHECK(rk_json_next(s.j, &tok, &s.err) == RK_JSON_OBJECT);
	CHECK(rk_json_next(s.j, &tok, &s.err) == RK_JSON_KEY);
	CHECK(rk_json_jump(s.j, 12, &s.err) == 0);
	CHECK(rk_json_next(s.j, &tok, &s.err) == RK_JSON_KEY);
	CHECK(rk_json_jump(s.j, 500, &s.err) == RK_E_FORMAT);
	CHECK(rk_json_truncated(s.j));
	stream_close(&s);
}

TEST(json_stream_survives_every_failed_allocation)
{
	static const char text[] = "[\"a\\n\",1]";
	bool done = false;

	for (uint64_t n = 1; !done && n < 50; n++) {
		struct rk_instream *in = NULL;
		struct rk_json_token tok;
		struct rk_json *j = NULL;
		struct rk_error err = { 0 };
		struct world w;
		int kind = RK_E_NOMEM;

		world_open(&w, 1);
		CHECK(rk_instream_open(world_text(&w, "x", text), &in, &err) == 0);
		rk_alloc_fail_after(n);
		if (rk_json_new(in, &j, &err) == 0)
			while ((kind = rk_json_next(j, &tok, &err)) > RK_JSON_END)
				;
		done = !rk_alloc_failed();
		rk_alloc_fail_after(0);
		CHECK(done ? kind == RK_JSON_END : err.code == RK_E_NOMEM);
		rk_json_free(j);
		rk_instream_close(in);
		world_close(&w);
	}
	CHECK(done);
}
