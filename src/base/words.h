/* words.h - parses lists of known words ("hip,kernel") to bits, with hints for unknown words. */
#ifndef RK_WORDS_H
#define RK_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "rockit/nearest.h"

#include "base/error.h"

/* A hint for a word that users often try: "did you mean 'marker'?". */
struct rk_word_hint {
	const char *word, *text;
};

struct rk_words {
	const char *what;         /* what a word is: "trace" */
	const char *const *names; /* by bit, then optionally the word for all; NULL at the end */
	unsigned n;               /* number of bits */
	const struct rk_word_hint *hints; /* an entry with word NULL ends it; may be NULL */
	unsigned all;                     /* the bits of the word for all; 0: really all */
};

/* Converts words separated by commas or blanks to bits. RK_E_USAGE: an unknown word, or no word. */
int rk_words_parse(const struct rk_words *w, const char *text, unsigned *ret, struct rk_error *err);
/* The word of bit i, NULL past the last. */
const char *rk_words_at(const struct rk_words *w, unsigned i);

/*
 * RK_E_USAGE: "unknown WHAT 'word'; did you mean 'x'?" with the nearest of `names` (NULL at the
 * end), or "...; known: x, y, z" if none is near.
 */
int rk_fail_unknown(struct rk_error *err, const char *what, const char *word,
		    const char *const *names);

enum { RK_WORD_MAX = 63 };

/*
 * Number of letters inserted, deleted, changed or swapped with the next one. RK_WORD_MAX if a word
 * is longer than that. `any_case`: ignore case.
 */
size_t rk_word_distance(const char *a, const char *b, bool any_case);

#endif
