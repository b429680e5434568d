/*
 * copy_matrix.h - copies from where to where: by node, direction and the devices at both ends.
 *
 * An end that the direction says is the host has no number. Of copies without a number of bytes
 * some tools write many: bytes and rate are of those that have one, and not known where none has.
 */
#ifndef RK_COPY_MATRIX_H
#define RK_COPY_MATRIX_H

#include "rockit/ranks.h"
#include "table/context.h"
#include "table/source.h"

enum { RK_COPY_CELLS = 1 << 16 }; /* copies between more places are left out, and that is told */

struct rk_copy_matrix;

/* ctx is borrowed. */
int rk_copy_matrix_new(struct rk_context *ctx, struct rk_copy_matrix **ret, struct rk_error *err);
/* Columns of memcpy that are looked at. */
uint64_t rk_copy_matrix_wants(void);
int rk_copy_matrix_add(struct rk_copy_matrix *m, const struct rk_batch *b, struct rk_error *err);
/*
 * Once. By node, source, destination, direction. *ret is the caller's: rk_free; names are the
 * run's.
 */
int rk_copy_matrix_finish(struct rk_copy_matrix *m, struct rk_ranks_copy **ret, size_t *ret_n,
			  struct rk_error *err);
void rk_copy_matrix_free(struct rk_copy_matrix *m); /* NULL is fine */

#endif
