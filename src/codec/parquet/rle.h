/*
 * rle.h - bit-packed integers of 0..64 bits, Parquet's RLE/bit-packing hybrid and delta encoding.
 *
 * The encoders write to memory that the caller sized with the matching bound, so they cannot fail.
 * The decoders accept hostile bytes: they may stop early, but never read past the end.
 */
#ifndef RK_PARQUET_RLE_H
#define RK_PARQUET_RLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cursor.h"

/* Encoders store whole words: their output needs this much room after the last byte. */
enum { RK_BITS_SLACK = 16 };

/* Number of bits of v; 0 for 0. */
static inline unsigned rk_bits_width(uint64_t v)
{
	return v ? 64 - (unsigned)__builtin_clzll(v) : 0;
}

/*
 * Packs least significant bit first, rounded up to groups of eight values. Returns the number of
 * bytes, (n + 7) / 8 * width. Values must fit the width: 0..32 and 0..64.
 */
size_t rk_bits_pack32(uint8_t *out, const uint32_t *v, size_t n, unsigned width);
size_t rk_bits_pack64(uint8_t *out, const uint64_t *v, size_t n, unsigned width);

/*
 * Unpacks values [first, first + n) of `in`. The caller has checked that (first + n) * width bits
 * fit into len bytes.
 */
void rk_bits_unpack32(const uint8_t *in, size_t len, size_t first, unsigned width, uint32_t *out,
		      size_t n);
void rk_bits_unpack64(const uint8_t *in, size_t len, size_t first, unsigned width, uint64_t *out,
		      size_t n);

/* Maximum size of an encoding of n values of this width. */
size_t rk_rle_bound(size_t n, unsigned width);
/* `runs` false: the caller knows that runs are rare, so everything is packed. width is 0..32. */
size_t rk_rle_encode(uint8_t *out, const uint32_t *v, size_t n, unsigned width, bool runs);
/* Encodes n times the same value. */
size_t rk_rle_encode_run(uint8_t *out, uint32_t v, size_t n, unsigned width);
/* Encodes single bits, 64 per word; bits past n are ignored. */
size_t rk_rle_encode_bitmap(uint8_t *out, const uint64_t *bits, size_t n);

struct rk_rle {
	const uint8_t *pos, *end;
	unsigned width;
	size_t run_left; /* values left of a run of `value` ... */
	uint32_t value;
	size_t packed_left; /* ... or from packed bits */
	const uint8_t *packed;
	size_t packed_bytes, packed_pos;
};

/* False when width is above 32. */
bool rk_rle_init(struct rk_rle *r, const void *data, size_t len, unsigned width);
/* True if the next n values are one run: skips them, *ret is their value. */
bool rk_rle_take_run(struct rk_rle *r, size_t n, uint32_t *ret);
/* Up to n values; fewer only at the end of the data or if damaged. */
size_t rk_rle_next(struct rk_rle *r, uint32_t *out, size_t n);

/* ---- Parquet's DELTA_BINARY_PACKED ---- */

/*
 * Differences between neighbours, each block packed with as few bits as it needs. Differences wrap
 * around, so every sequence can be encoded.
 */

/* Maximum size of the encoding of n values. */
size_t rk_delta_bound(size_t n);
/* Returns the number of bytes. The 32-bit form uses widths up to 32 only, as readers require. */
size_t rk_delta_encode64(uint8_t *out, const int64_t *v, size_t n);
size_t rk_delta_encode32(uint8_t *out, const int32_t *v, size_t n);

/* Decoder, some values at a time. */
struct rk_delta {
	struct rk_cursor c;
	size_t left;      /* values not yet delivered */
	bool first;       /* the first value, from the header, is not yet delivered */
	uint64_t value;   /* the last value delivered */
	uint64_t min;     /* of the block */
	size_t mini_size; /* values per miniblock */
	size_t minis;     /* miniblocks per block */
	size_t mini;      /* index of the current one; == minis: a block begins */
	const uint8_t *widths;
	size_t mini_left; /* values left in the current miniblock */
	const uint8_t *packed;
	size_t packed_bytes;
	unsigned width;
};

/* False if the header is damaged. Afterwards `left` is the number of values. */
bool rk_delta_init(struct rk_delta *d, const void *data, size_t len);
/* Up to n values; fewer only at the end or if damaged. */
size_t rk_delta_next(struct rk_delta *d, int64_t *out, size_t n);
/* Skips all remaining values; returns the bytes after them, NULL if damaged. */
const uint8_t *rk_delta_end(struct rk_delta *d);

#endif
