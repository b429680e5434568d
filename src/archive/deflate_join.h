/* deflate_join.h - deflate streams (RFC 1951), packed each on its own, that become one. */
#ifndef RK_DEFLATE_JOIN_H
#define RK_DEFLATE_JOIN_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { RK_DEFLATE_JOIN_BYTES = 5 }; /* by which rk_deflate_open lengthens a stream at most */

/*
 * Where the header of the last block of a whole stream is, and where the stream ends, in bits from its
 * beginning. RK_E_FORMAT when the bytes do not hold a whole stream; what comes behind it is not looked
 * at. Distances are not looked at, either: this is for what a compressor has just made.
 */
struct rk_deflate_place {
	uint64_t last, end;
};
int rk_deflate_find_last(const void *p, size_t len, struct rk_deflate_place *ret,
			 struct rk_error *err);

/*
 * Makes a whole stream of *len bytes one that another may be put behind: its last block is no longer
 * said to be the last, and an empty stored block ends it at a byte. There must be room for
 * RK_DEFLATE_JOIN_BYTES more.
 */
int rk_deflate_open(uint8_t *p, size_t *len, struct rk_error *err);

#endif
