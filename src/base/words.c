/* words.c - see words.h. */
#include "base/words.h"

#include <stdio.h>
#include <string.h>

#include "base/list.h"
#include "base/num.h"

static bool same(char a, char b, bool any_case)
{
	if (any_case && a >= 'A' && a <= 'Z')
		a = (char)(a - 'A' + 'a');
	if (any_case && b >= 'A' && b <= 'Z')
		b = (char)(b - 'A' + 'a');
	return a == b;
}

size_t rk_word_distance(const char *a, const char *b, bool any_case)
{
	size_t la = strlen(a), lb = strlen(b), d[3][RK_WORD_MAX + 1];

	if (la > RK_WORD_MAX || lb > RK_WORD_MAX)
		return RK_WORD_MAX;
	for (size_t i = 0; i <= la; i++) {
		size_t *row = d[i % 3], *above = d[(i + 2) % 3], *second = d[(i + 1) % 3];

		row[0] = i;
		for (size_t j = 1; j <= lb; j++) {
			if (i == 0) {
				row[j] = j;
				continue;
			}
			row[j] = rk_min(above[j - 1] + !same(a[i - 1], b[j - 1], any_case),
					rk_min(above[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && same(a[i - 1], b[j - 2], any_case) &&
			    same(a[i - 2], b[j - 1], any_case))
				row[j] = rk_min(row[j], second[j - 2] + 1);
		}
	}
	return d[la % 3][lb];
}

const char *rk_nearest(const char *word, const char *const *words)
{
	const char *best = NULL;
	/* Up to two typos, but fewer in short words, where everything is two typos away. */
	size_t limit = word ? rk_min(2, strlen(word) / 2) : 0;

	for (; word && words && *words; words++) {
		size_t d = rk_word_distance(word, *words, false);

		if (d > limit || (best && d == limit))
			continue;
		best = *words;
		limit = d;
	}
	return best;
}

enum { KNOWN_BYTES = 400, SHOWN_BYTES = 100 };

/* "x, y, z", as many as fit. */
static void put_known(char out[KNOWN_BYTES], const char *const *names)
{
	size_t len = 0;

	out[0] = '\0';
	for (size_t i = 0; names[i] && len < KNOWN_BYTES; i++)
		len += (size_t)snprintf(out + len, KNOWN_BYTES - len, "%s%s", i ? ", " : "",
					names[i]);
}

int rk_fail_unknown(struct rk_error *err, const char *what, const char *word,
		    const char *const *names)
{
	const char *near = rk_nearest(word, names);
	char known[KNOWN_BYTES];

	if (near)
		return rk_fail(err, RK_E_USAGE, "unknown %s '%.*s'; did you mean '%s'?", what,
			       SHOWN_BYTES, word, near);
	put_known(known, names);
	return rk_fail(err, RK_E_USAGE, "unknown %s '%.*s'; known: %s", what, SHOWN_BYTES, word,
		       known);
}

int rk_words_parse(const struct rk_words *w, const char *text, unsigned *ret, struct rk_error *err)
{
	struct rk_list parts = { 0 };
	char known[KNOWN_BYTES];
	unsigned bits = 0;
	int rc = 0;

	rk_list_split(&parts, text, ", ");
	if (parts.bad) {
		rc = rk_fail_nomem(err);
		goto out;
	}
	if (!parts.n) {
		put_known(known, w->names);
		rc = rk_fail(err, RK_E_USAGE, "no %s is named; known: %s", w->what, known);
		goto out;
	}
	for (size_t i = 0; i < parts.n; i++) {
		const struct rk_word_hint *h = w->hints;
		const char *word = parts.v[i];
		unsigned at = 0;

		while (w->names[at] && strcmp(word, w->names[at]) != 0)
			at++;
		if (w->names[at]) {
			if (at < w->n)
				bits |= 1u << at;
			else
				bits |= w->all ? w->all : (1u << w->n) - 1;
			continue;
		}
		while (h && h->word && strcmp(h->word, word) != 0)
			h++;
		if (h && h->word)
			rc = rk_fail(err, RK_E_USAGE, "unknown %s '%s'; %s", w->what, word,
				     h->text);
		else
			rc = rk_fail_unknown(err, w->what, word, w->names);
		goto out;
	}
	*ret = bits;
out:
	rk_list_release(&parts);
	return rc;
}

const char *rk_words_at(const struct rk_words *w, unsigned i)
{
	return i < w->n ? w->names[i] : NULL;
}
