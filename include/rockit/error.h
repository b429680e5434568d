/* error.h - how a call says what went wrong. */
#ifndef ROCKIT_ERROR_H
#define ROCKIT_ERROR_H

#include <stddef.h>
#include <stdint.h>

#include "rockit/decls.h"

RK_BEGIN_DECLS

enum rk_code {
	RK_OK = 0,
	RK_E_NOMEM = -1,       /* an allocation failed */
	RK_E_IO = -2,          /* the operating system refused: open, read, write, rename */
	RK_E_FORMAT = -3,      /* the bytes are not what the format asks for */
	RK_E_LIMIT = -4,       /* a stated limit was passed */
	RK_E_USAGE = -5,       /* the caller asked for something that makes no sense */
	RK_E_UNSUPPORTED = -6, /* understood, but this build or version cannot do it */
	RK_E_CANCELLED = -8,   /* the progress callback asked to stop; no call returns -7 */
};

/*
 * Owned by the caller; zero it before use. The deepest cause wins: a call that finds an
 * error already set leaves it alone. NULL is accepted everywhere an error is taken.
 */
struct rk_error {
	int code;             /* one of enum rk_code */
	uint64_t line;        /* 1-based line of the file, 0 when lines mean nothing */
	uint64_t offset;      /* byte offset in the file, 0 when unknown */
	char file[256];       /* the file at fault, "" when none; the end of a long path */
	char message[512];    /* one sentence: lower case, no full stop */
	uint64_t reserved[4]; /* 0 */
};

/*
 * The error in one line with its place, "trace.csv:12: ...", NUL-terminated and cut to `size`. "" when
 * there is none. Returns `buf`.
 */
const char *rk_error_text(const struct rk_error *err, char *buf, size_t size);
/* "format", "usage", ...: a stable word for a code of enum rk_code; "unknown" for others. */
const char *rk_code_word(int code);

RK_END_DECLS

#endif
