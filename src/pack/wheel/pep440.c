/*
 * pep440.c - normal form of Python package versions and names.
 *
 * A version is [v][EPOCH!]N(.N)*[aN|bN|rcN][.postN][.devN][+local], and each part has several
 * spellings. File names are compared byte by byte, so each version needs one normal form. Numbers
 * are kept as text: they may be dates, or longer than any integer.
 */
#include <stdbool.h>
#include <string.h>

#include "pack/wheel/meta.h"

enum { VERSION_MAX = 128 };

struct reader {
	const char *at;
	struct rk_bytes out;
};

/* A word and its normal form. */
struct spelling {
	const char *word, *normal;
};

/* A word must come before its prefixes. */
static const struct spelling pre_words[] = {
	{ "alpha", "a" }, { "a", "a" },  { "beta", "b" }, { "b", "b" },   { "preview", "rc" },
	{ "pre", "rc" },  { "c", "rc" }, { "rc", "rc" },  { NULL, NULL },
};
static const struct spelling post_words[] = {
	{ "post", ".post" },
	{ "rev", ".post" },
	{ "r", ".post" },
	{ NULL, NULL },
};
static const struct spelling dev_words[] = { { "dev", ".dev" }, { NULL, NULL } };

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_separator(char c)
{
	return c == '-' || c == '_' || c == '.';
}

static bool is_alnum(char c)
{
	return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'z');
}

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Digits without leading zeros; no digits means 0. */
static void number(struct reader *r)
{
	const char *from;

	while (*r->at == '0' && is_digit(r->at[1]))
		r->at++;
	from = r->at;
	while (is_digit(*r->at))
		r->at++;
	if (r->at == from)
		rk_bytes_put_u8(&r->out, '0');
	else
		rk_bytes_put(&r->out, from, (size_t)(r->at - from));
}

/* [-_.]WORD[-_.]N; only the word is mandatory. */
static void marked(struct reader *r, const struct spelling *words)
{
	const char *at = r->at + is_separator(*r->at);

	for (const struct spelling *w = words; w->word; w++) {
		size_t n = 0;

		while (w->word[n] && lower(at[n]) == w->word[n])
			n++;
		if (w->word[n])
			continue;
		r->at = at + n;
		r->at += is_separator(*r->at);
		rk_bytes_puts(&r->out, w->normal);
		number(r);
		return;
	}
}

/* The epoch, omitted if 0, and the dotted numbers. */
static bool release_part(struct reader *r)
{
	size_t begin = r->out.len;

	if (!is_digit(*r->at))
		return false;
	number(r);
	if (*r->at == '!' && is_digit(r->at[1])) {
		if (r->out.len - begin == 1 && r->out.data && r->out.data[begin] == '0')
			r->out.len = begin;
		else
			rk_bytes_put_u8(&r->out, '!');
		r->at++;
		number(r);
	}
	while (*r->at == '.' && is_digit(r->at[1])) {
		rk_bytes_put_u8(&r->out, (uint8_t)*r->at++);
		number(r);
	}
	return true;
}

/* Dot-separated parts, each a number or letters and digits. */
static bool local_part(struct reader *r)
{
	rk_bytes_put_u8(&r->out, '+');
	do {
		const char *end = ++r->at;
		bool digits = true;

		for (; is_alnum(*end); end++)
			digits &= is_digit(*end);
		if (end == r->at)
			return false;
		if (digits)
			number(r);
		while (r->at < end)
			rk_bytes_put_u8(&r->out, (uint8_t)lower(*r->at++));
		if (is_separator(*r->at))
			rk_bytes_put_u8(&r->out, '.');
	} while (is_separator(*r->at));
	return true;
}

static int read_version(struct reader *r, const char *given, struct rk_error *err)
{
	char version[VERSION_MAX + 1] = { 0 };

	/* it may come from a file: keep the error message printable and on one line */
	for (size_t i = 0; given[i]; i++)
		version[i] = given[i] >= ' ' && given[i] <= '~' ? given[i] : '?';
	while (is_blank(*r->at))
		r->at++;
	r->at += lower(*r->at) == 'v';
	if (!release_part(r))
		return rk_fail(err, RK_E_USAGE,
			       "'%s' is not a version (PEP 440): it must begin with a number, as "
			       "in 7.0.0rc1",
			       version);
	marked(r, pre_words);
	if (*r->at == '-' && is_digit(r->at[1])) { /* "1.0-1" is "1.0.post1" */
		r->at++;
		rk_bytes_puts(&r->out, ".post");
		number(r);
	} else {
		marked(r, post_words);
	}
	marked(r, dev_words);
	if (*r->at == '+' && !local_part(r))
		return rk_fail(err, RK_E_USAGE,
			       "'%s' is not a version (PEP 440): after '+' only letters and digits "
			       "are allowed, separated by dots",
			       version);
	while (is_blank(*r->at))
		r->at++;
	if (*r->at)
		return rk_fail(err, RK_E_USAGE,
			       "'%s' is not a version (PEP 440): unexpected '%s'; allowed "
			       "after the numbers are aN, bN or rcN, .postN, .devN, +local",
			       version, version + (r->at - given));
	return 0;
}

static int too_long(struct rk_error *err, size_t len)
{
	return rk_fail(err, RK_E_USAGE,
		       "a version of %zu bytes is too long for file names (max %d)", len,
		       VERSION_MAX);
}

int rk_pep440_normal(struct rk_arena *a, const char *version, const char **ret,
		     struct rk_error *err)
{
	struct reader r = { version, { 0 } };
	const char *text = NULL;
	int rc;

	if (strlen(version) > VERSION_MAX)
		return too_long(err, strlen(version));
	rk_bytes_init(&r.out, 4 * VERSION_MAX);
	rc = read_version(&r, version, err);
	if (rc < 0)
		goto out;
	if (r.out.len > VERSION_MAX) { /* it may have grown: "r" becomes ".post0" */
		rc = too_long(err, r.out.len);
		goto out;
	}
	if (!r.out.bad)
		text = rk_arena_text(a, (const char *)r.out.data, r.out.len);
	if (text)
		*ret = text;
	else
		rc = rk_fail_nomem(err);
out:
	rk_bytes_release(&r.out);
	return rc;
}

const char *rk_pep503_name(struct rk_arena *a, const char *name, char with)
{
	char *text = rk_arena_alloc(a, strlen(name) + 1), *to = text;

	for (; text && *name; name++) {
		if (!is_separator(*name))
			*to++ = lower(*name);
		else if (!is_separator(name[1]))
			*to++ = with;
	}
	return text;
}
