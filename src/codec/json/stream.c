/* stream.c - the tokenizer: blocks, punctuation, words, strings. */
#include "codec/json/stream.h"

#include <string.h>

#include "base/alloc.h"
#include "base/num.h"
#include "base/text.h"
#include "codec/json/impl.h"

/* ---- strings that cannot be borrowed: with escapes, or across blocks ---- */

static const char *const repaired = "\xef\xbf\xbd"; /* U+FFFD */

/* Appends as much as the limit allows. */
static void keep(struct rk_json *j, const char *p, size_t len)
{
	size_t room = RK_JSON_TEXT_MAX - j->text.len;

	if (len > room) {
		j->cut = true;
		len = room;
	}
	rk_bytes_put(&j->text, p, len);
}

/* Replaces a high surrogate that was not followed by a low one. */
static void flush_high(struct rk_json *j)
{
	if (j->high)
		keep(j, repaired, 3);
	j->high = 0;
}

static void keep_code(struct rk_json *j, uint32_t c)
{
	char u[4];

	if (j->high && c >= 0xdc00 && c < 0xe000) {
		c = 0x10000 + ((j->high - 0xd800) << 10) + (c - 0xdc00);
		j->high = 0;
	}
	flush_high(j);
	if (c >= 0xd800 && c < 0xdc00) {
		j->high = c;
		return;
	}
	if (c >= 0xdc00 && c < 0xe000)
		c = 0xfffd;
	keep(j, u, rk_utf8_put(u, c));
}

/* The byte at pos, not consumed; negative: an error. */
static int peek(struct rk_json *j, struct rk_error *err)
{
	if (j->pos == j->end) {
		int rc = rk_json_refill(j, err);

		if (rc <= 0)
			return rc < 0 ? rc : rk_json_fail_end(j, err);
	}
	return (uint8_t)*j->pos;
}

static int hex_digit(int c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* An escape that JSON does not define is kept as written. */
static void keep_odd(struct rk_json *j, const char *p, size_t len)
{
	if (!j->notes.escapes++)
		j->notes.escapes_at = rk_json_offset(j);
	flush_high(j);
	keep(j, p, len);
}

static int unicode(struct rk_json *j, struct rk_error *err)
{
	char raw[6] = { '\\', 'u' };
	uint32_t code = 0;

	for (size_t i = 0; i < 4; i++) {
		int c = peek(j, err);

		if (c < 0)
			return c;
		if (hex_digit(c) < 0) {
			keep_odd(j, raw, 2 + i);
			return 0;
		}
		raw[2 + i] = (char)c;
		code = code << 4 | (uint32_t)hex_digit(c);
		j->pos++;
	}
	keep_code(j, code);
	return 0;
}

/*
 * In a loose document: is the quote just before pos the end of its string? Blanks are consumed, and
 * kept if it is not. What follows a comma is only looked for in this block.
 */
static int ends_string(struct rk_json *j, struct rk_error *err)
{
	char blanks[64];
	size_t n = 0;
	const char *p;
	int c;

	for (;; j->pos++) {
		if (j->pos == j->end) {
			c = rk_json_refill(j, err);
			if (c <= 0)
				return c < 0 ? c : 1;
		}
		c = (uint8_t)*j->pos;
		if (c != ' ' && c != '\t' && c != '\r' && c != '\n')
			break;
		if (n == sizeof(blanks))
			return 1;
		blanks[n++] = (char)c;
	}
	if (c == ':' || c == '}' || c == ']')
		return 1;
	if (c == ',') {
		for (p = j->pos + 1; *p == ' ' || *p == '\t' || *p == '\r' || *p == '\n'; p++)
			;
		if (!*p || strchr("\"{[-0123456789tfnNI", *p))
			return 1;
	}
	keep_odd(j, "\"", 1);
	keep(j, blanks, n);
	return 0;
}

/* Reads the string whose opening quote was just before pos into j->text. */
static int json_long_string(struct rk_json *j, struct rk_json_token *tok, struct rk_error *err)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	uint64_t begin = rk_json_offset(j);
	int c, rc;

	rk_bytes_clear(&j->text);
	j->cut = false;
	j->high = 0;
	for (;;) {
		const char *q = rk_json_string_end(j->pos, j->end), *p;

		if (q > j->end)
			q = j->end;
		if (q > j->pos) {
			flush_high(j);
			keep(j, j->pos, (size_t)(q - j->pos));
			j->pos = q;
		}
		c = peek(j, err);
		if (c < 0)
			return c;
		if (c == '"') {
			j->pos++;
			rc = j->loose ? ends_string(j, err) : 1;
			if (rc < 0)
				return rc;
			if (rc > 0)
				break;
			continue;
		}
		if (c != '\\')
			continue;
		j->pos++;
		c = peek(j, err);
		if (c < 0)
			return c;
		j->pos++;
		if (c == 'u') {
			rc = unicode(j, err);
			if (rc < 0)
				return rc;
			continue;
		}
		p = c ? strchr(from, c) : NULL;
		if (p)
			keep_code(j, (uint8_t)to[p - from]);
		else
			keep_odd(j, (const char[]){ '\\', (char)c }, 2);
	}
	flush_high(j);
	if (j->text.bad)
		return rk_fail_nomem(err);
	if (j->cut && !j->notes.cut++)
		j->notes.cut_at = begin;
	tok->text = j->text.len ? (const char *)j->text.data : "";
	tok->len = j->text.len;
	return 0;
}

/* ---- tokens ---- */

/* S: white space; N: characters of numbers; W: other characters of words (true, NaN). */
enum { SPACE = 1, DIGIT = 2, WORD = 4, S = SPACE, N = DIGIT | WORD, W = WORD };
/* clang-format off */
static const uint8_t classes[256] = {
	0, 0, 0, 0, 0, 0, 0, 0, 0, S, S, 0, 0, S, 0, 0,
	0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	S, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, N, 0, N, N, 0,
	N, N, N, N, N, N, N, N, N, N, 0, 0, 0, 0, 0, 0,
	0, W, W, W, W, N, W, W, W, W, W, W, W, W, W, W,
	W, W, W, W, W, W, W, W, W, W, W, 0, 0, 0, 0, 0,
	0, W, W, W, W, N, W, W, W, W, W, W, W, W, W, W,
	W, W, W, W, W, W, W, W, W, W, W, 0, 0, 0, 0, 0,
};
/* clang-format on */

static inline uint8_t class_of(char c)
{
	return classes[(uint8_t)c];
}

static int new_stream(struct rk_json **ret, struct rk_error *err)
{
	struct rk_json *j = rk_calloc(1, sizeof(*j));

	if (!j)
		return rk_fail_nomem(err);
	j->buf = rk_alloc(JSON_BLOCK + JSON_PAD);
	if (!j->buf) {
		rk_free(j);
		return rk_fail_nomem(err);
	}
	memset(j->buf, 0, JSON_PAD);
	j->pos = j->end = j->buf;
	rk_bytes_init(&j->text, RK_JSON_TEXT_MAX);
	*ret = j;
	return 0;
}

int rk_json_new(struct rk_instream *in, struct rk_json **ret, struct rk_error *err)
{
	int rc = new_stream(ret, err);

	if (rc < 0)
		return rc;
	(*ret)->in = in;
	(*ret)->name = rk_instream_path(in);
	return 0;
}

int rk_json_new_text(const char *text, size_t len, const char *name, struct rk_json **ret,
		     struct rk_error *err)
{
	int rc = new_stream(ret, err);

	if (rc < 0)
		return rc;
	(*ret)->given = text;
	(*ret)->given_len = len;
	(*ret)->name = name;
	return 0;
}

void rk_json_free(struct rk_json *j)
{
	if (!j)
		return;
	rk_bytes_release(&j->text);
	rk_free(j->buf);
	rk_free(j);
}

void rk_json_set_loose(struct rk_json *j)
{
	j->loose = true;
}

uint64_t rk_json_offset(const struct rk_json *j)
{
	return j->base + (uint64_t)(j->pos - j->buf);
}

unsigned rk_json_depth(const struct rk_json *j)
{
	return j->depth;
}

const struct rk_json_notes *rk_json_notes(const struct rk_json *j)
{
	return &j->notes;
}

bool rk_json_truncated(const struct rk_json *j)
{
	return j->truncated;
}

int rk_json_refill(struct rk_json *j, struct rk_error *err)
{
	size_t n = 0;
	int rc;

	if (j->last)
		return 0;
	if (j->in) {
		rc = rk_instream_read(j->in, j->buf, JSON_BLOCK, &n, err);
		if (rc < 0) {
			/* truncated compressed data: the bytes before it are good */
			j->truncated = rc == RK_E_FORMAT;
			return rc;
		}
	} else {
		n = rk_min(j->given_len, JSON_BLOCK);
		if (n)
			memcpy(j->buf, j->given, n);
		j->given += n;
		j->given_len -= n;
	}
	j->base += (uint64_t)(j->end - j->buf);
	j->last = !n;
	j->pos = j->buf;
	j->end = j->buf + n;
	memset(j->buf + n, 0, JSON_PAD);
	if (!j->begun && n >= 3 && !memcmp(j->buf, "\xef\xbb\xbf", 3))
		j->pos += 3;
	j->begun = true;
	return n > 0;
}

int rk_json_fail_end(struct rk_json *j, struct rk_error *err)
{
	uint64_t at = rk_json_offset(j);

	j->truncated = true;
	rk_fail(err, RK_E_FORMAT, "the JSON is truncated at byte %llu", (unsigned long long)at);
	rk_error_at(err, j->name, 0, at);
	return RK_E_FORMAT;
}

int rk_json_fail_at(struct rk_json *j, const char *p, int code, const char *what,
		    struct rk_error *err)
{
	uint64_t at = j->base + (uint64_t)(p - j->buf);

	rk_fail(err, code, "%s", what);
	rk_error_at(err, j->name, 0, at);
	return code;
}

static const char *const wanted[] = {
	[JSON_VALUE] = "a value",
	[JSON_FIRST_VALUE] = "a value or ']'",
	[JSON_FIRST_KEY] = "a key or '}'",
	[JSON_KEY] = "a key",
	[JSON_COLON] = "':'",
	[JSON_NEXT] = "',' or the end of an object or array",
	[JSON_OVER] = "nothing more",
};

static int fail_token(struct rk_json *j, struct rk_error *err)
{
	unsigned char c = (unsigned char)*j->pos;
	uint64_t at = rk_json_offset(j);

	if (c > 0x20 && c < 0x7f)
		rk_fail(err, RK_E_FORMAT, "found '%c', expected %s", c, wanted[j->state]);
	else
		rk_fail(err, RK_E_FORMAT, "found 0x%02x, expected %s", c, wanted[j->state]);
	rk_error_at(err, j->name, 0, at);
	return RK_E_FORMAT;
}

static inline int close_container(struct rk_json *j)
{
	bool object = rk_json_in_object(j);

	j->pos++;
	j->depth--;
	rk_json_value_done(j);
	return object ? RK_JSON_OBJECT_END : RK_JSON_ARRAY_END;
}

/* Assembles a word that crosses the end of a block in j->text. */
static int gather_word(struct rk_json *j, struct rk_json_token *tok, struct rk_error *err)
{
	int rc = 1;

	rk_bytes_clear(&j->text);
	for (;;) {
		const char *p = j->pos;
		size_t n, room = RK_JSON_WORD_MAX - j->text.len;

		while (class_of(*p) & WORD)
			p++;
		n = (size_t)(p - j->pos);
		rk_bytes_put(&j->text, j->pos, rk_min(n, room));
		j->pos = p;
		if (p < j->end)
			break;
		rc = rk_json_refill(j, err);
		if (rc <= 0)
			break;
	}
	if (rc < 0)
		return rc;
	if (j->text.bad)
		return rk_fail_nomem(err);
	tok->text = (const char *)j->text.data;
	tok->len = j->text.len;
	return 0;
}

static bool word_is(const struct rk_json_token *tok, const char *word)
{
	return tok->len == strlen(word) && !memcmp(tok->text, word, tok->len);
}

/* true, false, null, NaN and unusual numbers; `at`: where the word begins. */
static int word(struct rk_json *j, struct rk_json_token *tok, uint64_t at, struct rk_error *err)
{
	const char *p = tok->text;
	size_t len = tok->len, digits = 0;

	rk_json_value_done(j);
	if ((*p >= '0' && *p <= '9') || (*p == '-' && len > 1)) {
		while (digits < len && class_of(p[digits]) & DIGIT)
			digits++;
		if (digits == len)
			return RK_JSON_NUMBER;
	}
	if (word_is(tok, "true"))
		return RK_JSON_TRUE;
	if (word_is(tok, "false"))
		return RK_JSON_FALSE;
	if (word_is(tok, "null"))
		return RK_JSON_NULL;
	/* not finite, as Python, JavaScript and C++ write it */
	if (len && (*p == '-' || *p == '+')) {
		p++;
		len--;
	}
	if (rk_text_ieq(p, len, "nan") || rk_text_ieq(p, len, "inf") ||
	    rk_text_ieq(p, len, "infinity")) {
		if (!j->notes.nonfinite++)
			j->notes.nonfinite_at = at;
		return RK_JSON_NULL;
	}
	rk_fail(err, RK_E_FORMAT, "'%.*s' is not a JSON value", (int)rk_min(tok->len, 40),
		tok->text);
	rk_error_at(err, j->name, 0, at);
	return RK_E_FORMAT;
}

static inline int number_or_word(struct rk_json *j, struct rk_json_token *tok, struct rk_error *err)
{
	uint64_t at = rk_json_offset(j);
	const char *p = j->pos;
	int rc = 0;

	tok->text = p;
	if (*p >= '0' && *p <= '9')
		while (class_of(*p) & DIGIT)
			p++;
	if (p < j->end && p > j->pos && !(class_of(*p) & WORD)) {
		tok->len = (size_t)(p - j->pos);
		j->pos = p;
		rk_json_value_done(j);
		return RK_JSON_NUMBER;
	}
	while (class_of(*p) & WORD)
		p++;
	if (p < j->end && (size_t)(p - j->pos) <= RK_JSON_WORD_MAX) {
		tok->len = (size_t)(p - j->pos);
		j->pos = p;
	} else {
		rc = gather_word(j, tok, err);
	}
	return rc < 0 ? rc : word(j, tok, at, err);
}

/* pos is at the opening quote. */
static inline int string(struct rk_json *j, struct rk_json_token *tok, struct rk_error *err)
{
	const char *p = ++j->pos, *q = rk_json_string_end(p, j->end);

	if (j->loose || q >= j->end || *q != '"')
		return json_long_string(j, tok, err);
	tok->text = p;
	tok->len = (size_t)(q - p);
	j->pos = q + 1;
	return 0;
}

static int value(struct rk_json *j, struct rk_json_token *tok, struct rk_error *err)
{
	char c = *j->pos;
	uint64_t bit;
	int rc;

	if (c == '"') {
		rc = string(j, tok, err);
		rk_json_value_done(j);
		return rc < 0 ? rc : RK_JSON_STRING;
	}
	if (class_of(c) & WORD)
		return number_or_word(j, tok, err);
	if (c == ']' && j->state == JSON_FIRST_VALUE)
		return close_container(j);
	if (c != '{' && c != '[')
		return fail_token(j, err);
	if (j->depth + 1 >= RK_JSON_DEPTH_MAX)
		return rk_json_fail_at(j, j->pos, RK_E_LIMIT, "nesting deeper than 511 levels",
				       err);
	j->pos++;
	j->depth++;
	bit = UINT64_C(1) << (j->depth % 64);
	if (c == '{') {
		j->objects[j->depth / 64] |= bit;
		j->state = JSON_FIRST_KEY;
		return RK_JSON_OBJECT;
	}
	j->objects[j->depth / 64] &= ~bit;
	j->state = JSON_FIRST_VALUE;
	return RK_JSON_ARRAY;
}

static int key(struct rk_json *j, struct rk_json_token *tok, struct rk_error *err)
{
	int rc;

	if (*j->pos == '}' && j->state == JSON_FIRST_KEY)
		return close_container(j);
	if (*j->pos != '"')
		return fail_token(j, err);
	rc = string(j, tok, err);
	if (rc < 0)
		return rc;
	/* refilling would overwrite the token: leave the colon to the next call */
	j->state = JSON_COLON;
	if (*j->pos == ':' && j->pos < j->end) {
		j->pos++;
		j->state = JSON_VALUE;
	}
	return RK_JSON_KEY;
}

/* Skips white space; 1: a byte is at pos, 0: end of content. */
static inline int next_byte(struct rk_json *j, struct rk_error *err)
{
	for (;;) {
		const char *p = j->pos;
		int rc;

		while (class_of(*p) & SPACE)
			p++;
		j->pos = p;
		if (p < j->end)
			return 1;
		rc = rk_json_refill(j, err);
		if (rc <= 0)
			return rc;
	}
}

int rk_json_next(struct rk_json *j, struct rk_json_token *tok, struct rk_error *err)
{
	int rc;

	if (j->state == JSON_OVER)
		return RK_JSON_END;
	rc = next_byte(j, err);
	if (rc > 0 && j->state == JSON_COLON) {
		if (*j->pos != ':')
			return fail_token(j, err);
		j->pos++;
		j->state = JSON_VALUE;
		rc = next_byte(j, err);
	} else if (rc > 0 && j->state == JSON_NEXT) {
		bool object = rk_json_in_object(j);

		if (*j->pos != ',') {
			if (*j->pos == (object ? '}' : ']'))
				return close_container(j);
			return fail_token(j, err);
		}
		j->pos++;
		j->state = object ? JSON_KEY : JSON_VALUE;
		rc = next_byte(j, err);
	}
	if (rc <= 0)
		return rc < 0 ? rc : rk_json_fail_end(j, err);
	if (j->state == JSON_VALUE || j->state == JSON_FIRST_VALUE)
		return value(j, tok, err);
	return key(j, tok, err);
}

int rk_json_more(struct rk_json *j, struct rk_error *err)
{
	return next_byte(j, err);
}

int rk_json_again(struct rk_json *j, struct rk_error *err)
{
	int rc = next_byte(j, err);

	if (rc <= 0)
		return rc;
	if (*j->pos != '{' && *j->pos != '[')
		return 0;
	j->state = JSON_VALUE;
	return 1;
}
