/* deflate_join.h - joins deflate streams (RFC 1951) that were compressed separately. */
#ifndef RK_DEFLATE_JOIN_H
#define RK_DEFLATE_JOIN_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { RK_DEFLATE_JOIN_BYTES = 5 }; /* max bytes that rk_deflate_open adds to a stream */

/*
 * Finds the header of the last block and the end of a complete stream, in bits from its beginning.
 * RK_E_FORMAT if the stream is incomplete; bytes after it are ignored. Distances are not checked:
 * this is for the fresh output of a compressor.
 */
struct rk_deflate_place {
	uint64_t last, end;
};
int rk_deflate_find_last(const void *p, size_t len, struct rk_deflate_place *ret,
			 struct rk_error *err);

/*
 * Changes a complete stream of *len bytes so that another can follow: clears the mark of its last
 * block and ends it on a byte boundary with an empty stored block. The buffer must have space for
 * RK_DEFLATE_JOIN_BYTES more.
 */
int rk_deflate_open(uint8_t *p, size_t *len, struct rk_error *err);

#endif
