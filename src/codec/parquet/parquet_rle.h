/*
 * parquet_rle.h - integers of 0..64 bits side by side, and Parquet's mix of runs and such bits.
 *
 * The encoders write to memory that the caller has measured with the matching bound and cannot
 * fail. The decoder takes hostile bytes: it stops early, never past their end.
 */
#ifndef RK_PARQUET_RLE_H
#define RK_PARQUET_RLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Encoders store whole words: their output needs this much room behind the last byte. */
enum { RK_BITS_SLACK = 16 };

/* Bits that v needs; 0 for 0. */
static inline unsigned rk_bits_width(uint64_t v)
{
	return v ? 64 - (unsigned)__builtin_clzll(v) : 0;
}

/*
 * Least significant bit first, rounded up to groups of eight values: returns the bytes,
 * (n + 7) / 8 * width. Values must fit their width: 0..32 and 0..64.
 */
size_t rk_bits_pack32(uint8_t *out, const uint32_t *v, size_t n, unsigned width);
size_t rk_bits_pack64(uint8_t *out, const uint64_t *v, size_t n, unsigned width);

/*
 * Values [first, first + n) of `in`. The caller has checked that (first + n) * width bits lie
 * within len bytes.
 */
void rk_bits_unpack32(const uint8_t *in, size_t len, size_t first, unsigned width, uint32_t *out,
		      size_t n);
void rk_bits_unpack64(const uint8_t *in, size_t len, size_t first, unsigned width, uint64_t *out,
		      size_t n);

/* Room for any encoding of n values of this width. */
size_t rk_rle_bound(size_t n, unsigned width);
/* `runs` false: the caller knows that runs are rare, and everything is packed. width 0..32 */
size_t rk_rle_encode(uint8_t *out, const uint32_t *v, size_t n, unsigned width, bool runs);
/* n times the same value. */
size_t rk_rle_encode_run(uint8_t *out, uint32_t v, size_t n, unsigned width);
/* Single bits, 64 to a word; bits past n are ignored. */
size_t rk_rle_encode_bitmap(uint8_t *out, const uint64_t *bits, size_t n);

struct rk_rle {
	const uint8_t *pos, *end;
	unsigned width;
	size_t run_left; /* values still to come from a run of `value` ... */
	uint32_t value;
	size_t packed_left; /* ... or from packed bits */
	const uint8_t *packed;
	size_t packed_bytes, packed_pos;
};

/* False when width is above 32. */
bool rk_rle_init(struct rk_rle *r, const void *data, size_t len, unsigned width);
/* True when the next n values are one run: they are passed over, *ret is their value. */
bool rk_rle_take_run(struct rk_rle *r, size_t n, uint32_t *ret);
/* Up to n values; fewer only at the end of the data or where they are damaged. */
size_t rk_rle_next(struct rk_rle *r, uint32_t *out, size_t n);

#endif
