/* json_stream.c - tokens: blocks, punctuation, words. Strings with escapes are in json_string.c. */
#include "codec/json_stream.h"

#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "codec/json_impl.h"

enum { SPACE = 1, DIGIT = 2, WORD = 4 };

/* White space; what a number may hold; what a word (true, NaN, a number) may hold. */
#define N (DIGIT | WORD)
static const uint8_t classes[256] = {
	['\t'] = SPACE, ['\n'] = SPACE, ['\r'] = SPACE, [' '] = SPACE, ['0' ... '9'] = N,
	['+'] = N,      ['-'] = N,      ['.'] = N,      ['A' ... 'D'] = WORD,
	['E'] = N,      ['F' ... 'Z'] = WORD,           ['a' ... 'd'] = WORD,
	['e'] = N,      ['f' ... 'z'] = WORD,
};
#undef N

static inline uint8_t class_of(char c)
{
	return classes[(uint8_t)c];
}

int rk_json_new(struct rk_instream *in, struct rk_json **ret, struct rk_error *err)
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
	j->in = in;
	j->pos = j->end = j->buf;
	rk_bytes_init(&j->text, RK_JSON_TEXT_MAX);
	*ret = j;
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
	rc = rk_instream_read(j->in, j->buf, JSON_BLOCK, &n, err);
	if (rc < 0) {
		/* packed data that breaks off: what came before it was good */
		j->truncated = rc == RK_E_FORMAT;
		return rc;
	}
	j->base += (uint64_t)(j->end - j->buf);
	j->last = n < JSON_BLOCK && !n;
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
	rk_fail(err, RK_E_FORMAT, "the JSON ends early, at byte %llu", (unsigned long long)at);
	rk_error_at(err, rk_instream_path(j->in), 0, at);
	return RK_E_FORMAT;
}

int rk_json_fail_at(struct rk_json *j, const char *p, int code, const char *what,
		    struct rk_error *err)
{
	uint64_t at = j->base + (uint64_t)(p - j->buf);

	rk_fail(err, code, "%s at byte %llu of the JSON", what, (unsigned long long)at);
	rk_error_at(err, rk_instream_path(j->in), 0, at);
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
	uint8_t c = (uint8_t)*j->pos;
	char what[80], *p = what;
	const char *fmt = c > 0x20 && c < 0x7f ? "'%c' where %s should be" :
						 "byte 0x%02x where %s should be";
	struct rk_bytes text;
	int rc;

	rk_bytes_init(&text, sizeof(what));
	rk_bytes_printf(&text, c > 0x20 && c < 0x7f ? "'%c'" : "byte 0x%02x", c);
	rk_bytes_printf(&text, " where %s should be", wanted[j->state]);
	(void)fmt;
	(void)p;
	rc = rk_json_fail_at(j, j->pos, RK_E_FORMAT, rk_bytes_str(&text), err);
	rk_bytes_release(&text);
	return rc;
}
