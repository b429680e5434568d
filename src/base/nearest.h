/* nearest.h (base) - how far two words are apart, for lists that are no array. */
#ifndef RK_BASE_NEAREST_H
#define RK_BASE_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

#include "rockit/nearest.h"

enum { RK_WORD_MAX = 63 };

/*
 * Letters put in, left out, changed or swapped with the next. Words longer than RK_WORD_MAX are
 * RK_WORD_MAX apart. `any_case`: "sq_waves" is "SQ_WAVES".
 */
size_t rk_word_distance(const char *a, const char *b, bool any_case);

#endif
