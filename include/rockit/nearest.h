/* nearest.h - the word that was probably meant. */
#ifndef ROCKIT_NEAREST_H
#define ROCKIT_NEAREST_H

#include "rockit/decls.h"

RK_BEGIN_DECLS

/*
 * The nearest of `words` (NULL at the end), or NULL when none is near enough to be meant: at most
 * two letters put in, left out, changed or swapped.
 */
const char *rk_nearest(const char *word, const char *const *words);

RK_END_DECLS

#endif
