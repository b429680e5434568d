/* nearest.c - see nearest.h. */
#include "base/nearest.h"

#include <string.h>

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

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
			row[j] = smaller(above[j - 1] + !same(a[i - 1], b[j - 1], any_case),
					 smaller(above[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && same(a[i - 1], b[j - 2], any_case) &&
			    same(a[i - 2], b[j - 1], any_case))
				row[j] = smaller(row[j], second[j - 2] + 1);
		}
	}
	return d[la % 3][lb];
}

const char *rk_nearest(const char *word, const char *const *words)
{
	const char *best = NULL;
	/* Two slips, but not in a word so short that everything is two slips away. */
	size_t limit = word ? smaller(2, strlen(word) / 2) : 0;

	for (; word && words && *words; words++) {
		size_t d = rk_word_distance(word, *words, false);

		if (d > limit || (best && d == limit))
			continue;
		best = *words;
		limit = d;
	}
	return best;
}
