/* warning.h - counted warnings about the input. */
#ifndef ROCKIT_WARNING_H
#define ROCKIT_WARNING_H

#include <stdint.h>

#include "rockit/decls.h"

RK_BEGIN_DECLS

struct rk_warning {
	const char *kind;     /* stable word: "short-row", "negative-duration", ... */
	const char *file;     /* "": not about a single file */
	uint64_t line;        /* of the first occurrence; 0: unknown */
	uint64_t count;       /* number of occurrences */
	const char *message;  /* one sentence about the first occurrence */
	uint64_t reserved[4]; /* 0 */
};

RK_END_DECLS

#endif
