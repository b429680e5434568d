/* nearest.h - suggestions for misspelled words. */
#ifndef ROCKIT_NEAREST_H
#define ROCKIT_NEAREST_H

#include "rockit/decls.h"

RK_BEGIN_DECLS

/*
 * The most similar of `words` (ends with NULL), or NULL if none is close: at most two letters
 * inserted, deleted, changed or swapped.
 */
const char *rk_nearest(const char *word, const char *const *words);

RK_END_DECLS

#endif
