/* spill.h - temporary bytes on disk that vanish with the process. */
#ifndef RK_SPILL_H
#define RK_SPILL_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct rk_spill;

/* In `dir`, or $TMPDIR, or /tmp when NULL. The file has no name. */
int rk_spill_new(const char *dir, struct rk_spill **ret, struct rk_error *err);
int rk_spill_append(struct rk_spill *s, const void *p, size_t len, uint64_t *ret_offset,
		    struct rk_error *err);
/* Over bytes that are there already (rk_spill_resize made them, or an append). */
int rk_spill_write(struct rk_spill *s, uint64_t offset, const void *p, size_t len,
		   struct rk_error *err);
/* Makes it `size` bytes long; new ones read as zero and take no room until written. */
int rk_spill_resize(struct rk_spill *s, uint64_t size, struct rk_error *err);
/* Exactly len bytes, or an error. Thread-safe against other reads. */
int rk_spill_read(struct rk_spill *s, uint64_t offset, void *p, size_t len, struct rk_error *err);
uint64_t rk_spill_size(const struct rk_spill *s);
void rk_spill_free(struct rk_spill *s); /* NULL is fine */

#endif
