/* diag.h - the warnings of a run: counted, named, never printed here. */
#ifndef RK_DIAG_H
#define RK_DIAG_H

#include <stddef.h>
#include <stdint.h>

#include "rockit/warning.h"

#include "base/error.h"

struct rk_diag;

int rk_diag_new(struct rk_diag **ret, struct rk_error *err);

/*
 * One more of `kind` in `file` ("" for none). `kind` is a stable word with dashes
 * ("short-row"); the first line and message of each (kind, file) are kept, the rest counted.
 * Losing a warning to a lack of memory is counted too. Thread-safe.
 */
void rk_diag_add(struct rk_diag *d, const char *kind, const char *file, uint64_t line,
		 uint64_t count, const char *fmt, ...) __attribute__((format(printf, 6, 7)));

/*
 * As rk_diag_add, of a file that may be read several times, once for each table in it: the entry
 * holds the largest count that was given, not their sum.
 */
void rk_diag_most(struct rk_diag *d, const char *kind, const char *file, uint64_t line,
		  uint64_t count, const char *message);

/*
 * The same input is read again, for something else: what was warned of before is counted already.
 * Warnings of other kinds are new.
 */
void rk_diag_again(struct rk_diag *d);

/* Borrowed until the next add. */
const struct rk_warning *rk_diag_list(const struct rk_diag *d, size_t *ret_n);
/* Forgets all warnings: before a pass over the same input is begun again. */
void rk_diag_reset(struct rk_diag *d, size_t keep);
void rk_diag_free(struct rk_diag *d); /* NULL is fine */

#endif
