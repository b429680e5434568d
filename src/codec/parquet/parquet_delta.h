/*
 * parquet_delta.h - Parquet's DELTA_BINARY_PACKED: differences between neighbours, packed to
 * the bits they need. Differences wrap around, so that every sequence can be told.
 */
#ifndef RK_PARQUET_DELTA_H
#define RK_PARQUET_DELTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cursor.h"

/* Room for the encoding of n values. */
size_t rk_delta_bound(size_t n);
/* Returns the bytes. The 32-bit form keeps every width within 32 bits, as readers demand. */
size_t rk_delta_encode64(uint8_t *out, const int64_t *v, size_t n);
size_t rk_delta_encode32(uint8_t *out, const int32_t *v, size_t n);

/* Decoding, some values at a time. */
struct rk_delta {
	struct rk_cursor c;
	size_t left;      /* values not yet given */
	bool first;       /* the first value, from the header, is not given yet */
	uint64_t value;   /* the last value given */
	uint64_t min;     /* of the block */
	size_t mini_size; /* values of a miniblock */
	size_t minis;     /* miniblocks of a block */
	size_t mini;      /* number of the current one; == minis: a block begins */
	const uint8_t *widths;
	size_t mini_left; /* values left in the current miniblock */
	const uint8_t *packed;
	size_t packed_bytes;
	unsigned width;
};

/* False when the header is damaged. `left` then says how many values there are. */
bool rk_delta_init(struct rk_delta *d, const void *data, size_t len);
/* Up to n values; fewer only at the end or where the data are damaged. */
size_t rk_delta_next(struct rk_delta *d, int64_t *out, size_t n);
/* Passes over all values that are left; where the bytes behind them begin, NULL when damaged. */
const uint8_t *rk_delta_end(struct rk_delta *d);

#endif
