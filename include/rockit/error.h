/* error.h - error codes and messages. */
#ifndef ROCKIT_ERROR_H
#define ROCKIT_ERROR_H

#include <stddef.h>
#include <stdint.h>

#include "rockit/decls.h"

RK_BEGIN_DECLS

enum rk_code {
	RK_OK = 0,
	RK_E_NOMEM = -1,       /* an allocation failed */
	RK_E_IO = -2,          /* a system call failed: open, read, write, rename */
	RK_E_FORMAT = -3,      /* the data violates its format */
	RK_E_LIMIT = -4,       /* a documented limit was exceeded */
	RK_E_USAGE = -5,       /* wrong arguments */
	RK_E_UNSUPPORTED = -6, /* valid, but not supported by this build or version */
	RK_E_CANCELLED = -8,   /* cancelled by a callback; -7 is unused */
};

/*
 * Owned by the caller; zero it before use. It keeps the first cause: a call that finds an error
 * already set does not change it. Every function that takes an rk_error accepts NULL.
 */
struct rk_error {
	int code;             /* one of enum rk_code */
	uint64_t line;        /* 1-based line of the file; 0: not a text file, or unknown */
	uint64_t offset;      /* byte offset in the file; 0: unknown */
	char file[256];       /* the file with the error; "": none. Only the end of a long path */
	char message[512];    /* one sentence: lower case, no full stop */
	uint64_t reserved[4]; /* 0 */
};

/*
 * Writes the error as one line with file and line, "trace.csv:12: ...", NUL-terminated and
 * truncated to `size`; "" if there is no error. Returns `buf`.
 */
const char *rk_error_text(const struct rk_error *err, char *buf, size_t size);
/* A stable word for a code of enum rk_code: "format", "usage", ...; "unknown" for others. */
const char *rk_code_word(int code);

RK_END_DECLS

#endif
