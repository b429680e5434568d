/* warning.h - what was odd about the input, counted. */
#ifndef ROCKIT_WARNING_H
#define ROCKIT_WARNING_H

#include <stdint.h>

#include "rockit/decls.h"

RK_BEGIN_DECLS

struct rk_warning {
	const char *kind;     /* stable word: "short-row", "negative-duration", ... */
	const char *file;     /* "" when it belongs to no single file */
	uint64_t line;        /* first occurrence, 0 when unknown */
	uint64_t count;       /* how often */
	const char *message;  /* one sentence about the first occurrence */
	uint64_t reserved[4]; /* 0 */
};

RK_END_DECLS

#endif
