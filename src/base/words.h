/* words.h - lists of known words, "hip,kernel": to bits, and what to say of an unknown one. */
#ifndef RK_WORDS_H
#define RK_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "rockit/nearest.h"

#include "base/error.h"

/* What to say of a word that people try: "did you mean 'marker'?". */
struct rk_word_hint {
	const char *word, *text;
};

struct rk_words {
	const char *what;                 /* "trace": what one of them is */
	const char *const *names;         /* by bit, then perhaps the word for all; ended by NULL */
	unsigned n;                       /* how many bits */
	const struct rk_word_hint *hints; /* ended by a word of NULL; may be NULL */
};

/* Words parted by commas or blanks to bits. RK_E_USAGE: an unknown word, or none at all. */
int rk_words_parse(const struct rk_words *w, const char *text, unsigned *ret, struct rk_error *err);
/* The word of bit i, NULL past the last. */
const char *rk_words_at(const struct rk_words *w, unsigned i);

/*
 * RK_E_USAGE: "unknown WHAT 'word'; did you mean 'x'?" with the nearest of `names` (ended by
 * NULL), or where none is near "...; known: x, y, z".
 */
int rk_fail_unknown(struct rk_error *err, const char *what, const char *word,
		    const char *const *names);

enum { RK_WORD_MAX = 63 };

/*
 * Letters put in, left out, changed or swapped with the next. Words longer than RK_WORD_MAX are
 * RK_WORD_MAX apart. `any_case`: "sq_waves" is "SQ_WAVES".
 */
size_t rk_word_distance(const char *a, const char *b, bool any_case);

#endif
