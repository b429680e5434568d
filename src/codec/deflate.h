/* deflate.h - bytes packed by DEFLATE (RFC 1951), without header and sum: browsers unpack it. */
#ifndef RK_DEFLATE_H
#define RK_DEFLATE_H

#include "base/bytes.h"
#include "base/error.h"

/*
 * Appends. level: 1 to 9. `cuts` are places, in order, where bytes of another kind begin: there a
 * new table of codes does, too.
 */
int rk_deflate(struct rk_bytes *out, const void *p, size_t len, const size_t *cuts, size_t ncuts,
	       int level, struct rk_error *err);

#endif
