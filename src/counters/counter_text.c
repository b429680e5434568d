/* counter_text.c - see counter_text.h. */
#include "counters/counter_text.h"

#include <string.h>

struct rk_piece rk_piece_of(const char *s)
{
	return (struct rk_piece){ .s = s, .len = strlen(s) };
}

bool rk_piece_is(struct rk_piece p, const char *word)
{
	return p.len == strlen(word) && memcmp(p.s, word, p.len) == 0;
}

/* FNV-1a. */
uint64_t rk_name_hash(const char *name)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (; *name; name++)
		h = (h ^ (uint8_t)*name) * UINT64_C(0x100000001b3);
	return h;
}

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

struct rk_piece rk_piece_trim(struct rk_piece p)
{
	while (p.len && blank(p.s[0])) {
		p.s++;
		p.len--;
	}
	while (p.len && blank(p.s[p.len - 1]))
		p.len--;
	return p;
}

bool rk_piece_split(struct rk_piece p, char c, struct rk_piece *before, struct rk_piece *after)
{
	const char *at = p.len ? memchr(p.s, c, p.len) : NULL;
	size_t len = at ? (size_t)(at - p.s) : p.len;

	*before = (struct rk_piece){ .s = p.s, .len = len };
	*after = (struct rk_piece){ .s = p.s + len + !!at, .len = p.len - len - !!at };
	return at != NULL;
}

bool rk_piece_line(struct rk_piece *text, struct rk_piece *ret)
{
	struct rk_piece comment;

	if (!text->len)
		return false;
	rk_piece_split(*text, '\n', ret, text);
	rk_piece_split(*ret, '#', ret, &comment);
	*ret = rk_piece_trim(*ret);
	return true;
}

bool rk_piece_word(struct rk_piece *p, const char *separators, struct rk_piece *ret)
{
	size_t at = 0, end;

	/* A NUL in a file is a letter, not the end that strchr would see in it. */
	while (at < p->len && p->s[at] && strchr(separators, p->s[at]))
		at++;
	for (end = at; end < p->len && !(p->s[end] && strchr(separators, p->s[end]));)
		end++;
	*ret = (struct rk_piece){ .s = p->s + at, .len = end - at };
	*p = (struct rk_piece){ .s = p->s + end, .len = p->len - end };
	return ret->len > 0;
}
