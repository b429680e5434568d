/* error.h (base) - fills a struct rk_error. */
#ifndef RK_BASE_ERROR_H
#define RK_BASE_ERROR_H

#include <stdbool.h>

#include "rockit/error.h"

/* Fills `err` (may be NULL) unless it is set already; returns `code`, always negative. */
int rk_fail(struct rk_error *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* As rk_fail, with the text of `errnum` appended: "cannot open 'x': Permission denied". */
int rk_fail_errno(struct rk_error *err, int errnum, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* RK_E_NOMEM with our standard message. */
int rk_fail_nomem(struct rk_error *err);

/* Adds the location to an error that has no file yet; 0 for line or offset means unknown. */
void rk_error_at(struct rk_error *err, const char *file, uint64_t line, uint64_t offset);

void rk_error_clear(struct rk_error *err);

#endif
