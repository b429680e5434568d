/* diag.h - collects the warnings of a run; does not print them. */
#ifndef RK_DIAG_H
#define RK_DIAG_H

#include <stddef.h>
#include <stdint.h>

#include "rockit/warning.h"

#include "base/error.h"

struct rk_diag;

int rk_diag_new(struct rk_diag **ret, struct rk_error *err);

/*
 * Counts one more warning of `kind` in `file` ("" for none). `kind` is a stable word with dashes
 * ("short-row"). For each (kind, file) the message of the first warning and the lowest line are
 * kept; the rest is only counted. When out of memory a warning may be lost. Thread-safe.
 */
void rk_diag_add(struct rk_diag *d, const char *kind, const char *file, uint64_t line,
		 uint64_t count, const char *fmt, ...) __attribute__((format(printf, 6, 7)));

/*
 * As rk_diag_add, for a file that may be read several times, once for each table in it: the entry
 * keeps the largest count, not the sum.
 */
void rk_diag_most(struct rk_diag *d, const char *kind, const char *file, uint64_t line,
		  uint64_t count, const char *message);

/*
 * Call before reading the same input again for another purpose: warnings that already have an entry
 * are not counted again. New kinds still are.
 */
void rk_diag_again(struct rk_diag *d);

/* Borrowed until the next add. */
const struct rk_warning *rk_diag_list(const struct rk_diag *d, size_t *ret_n);
/*
 * Forgets all warnings but the first `keep`; call it before reading the same input from the start.
 */
void rk_diag_reset(struct rk_diag *d, size_t keep);
void rk_diag_free(struct rk_diag *d); /* NULL is fine */

#endif
