/* parquet_rle_bits.c - packing and unpacking integers of 0..64 bits. */
#include "codec/parquet/parquet_rle.h"

#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "words are stored as they are");

static inline void store64(uint8_t *p, uint64_t v)
{
	memcpy(p, &v, 8);
}

/*
 * Eight values of W bits are W bytes, whatever W is. Value I begins at bit I * W; where it
 * reaches over the end of a 64-bit word, the word is stored and the rest begins the next one.
 * W and I are constants, so that all that is left are shifts, ors and W / 8 stores.
 */
#define PUT(I, W)                                                        \
	do {                                                             \
		const unsigned at = (I) * (W) % 64;                      \
		const uint64_t x = v[I];                                 \
                                                                         \
		acc |= x << at;                                          \
		if (at + (W) >= 64) {                                    \
			store64(out + (I) * (W) / 64 * 8, acc);          \
			acc = at + (W) > 64 ? x >> ((64 - at) & 63) : 0; \
		}                                                        \
	} while (0)

#define PACK(W)                                                  \
	case W:                                                  \
		for (; n; n -= 8, v += 8, out += (W)) {          \
			uint64_t acc = 0;                        \
                                                                 \
			PUT(0, W);                               \
			PUT(1, W);                               \
			PUT(2, W);                               \
			PUT(3, W);                               \
			PUT(4, W);                               \
			PUT(5, W);                               \
			PUT(6, W);                               \
			PUT(7, W);                               \
			if ((W) % 8)                             \
				store64(out + (W) / 8 * 8, acc); \
		}                                                \
		break;

/* clang-format off */
#define PACK8(W)                                                \
	PACK((W) + 1) PACK((W) + 2) PACK((W) + 3) PACK((W) + 4) \
	PACK((W) + 5) PACK((W) + 6) PACK((W) + 7) PACK((W) + 8)
/* clang-format on */

/* n is a multiple of 8. */
static void pack32(uint8_t *out, const uint32_t *v, size_t n, unsigned width)
{
	switch (width) {
		PACK8(0)
		PACK8(8)
		PACK8(16)
		PACK8(24)
	default:
		break;
	}
}

static void pack64(uint8_t *out, const uint64_t *v, size_t n, unsigned width)
{
	switch (width) {
		PACK8(0)
		PACK8(8)
		PACK8(16)
		PACK8(24)
		PACK8(32)
		PACK8(40)
		PACK8(48)
		PACK8(56)
	default:
		break;
	}
}

size_t rk_bits_pack32(uint8_t *out, const uint32_t *v, size_t n, unsigned width)
{
	size_t whole = n / 8 * 8;
	uint32_t tail[8] = { 0 };

	pack32(out, v, whole, width);
	if (n > whole) {
		memcpy(tail, v + whole, (n - whole) * sizeof(*v));
		pack32(out + whole / 8 * width, tail, 8, width);
	}
	return (n + 7) / 8 * width;
}

size_t rk_bits_pack64(uint8_t *out, const uint64_t *v, size_t n, unsigned width)
{
	size_t whole = n / 8 * 8;
	uint64_t tail[8] = { 0 };

	pack64(out, v, whole, width);
	if (n > whole) {
		memcpy(tail, v + whole, (n - whole) * sizeof(*v));
		pack64(out + whole / 8 * width, tail, 8, width);
	}
	return (n + 7) / 8 * width;
}

/* The value of `width` bits (1..64) at a bit position; reads no byte at or past `len`. */
static uint64_t peek(const uint8_t *in, size_t len, size_t bit, unsigned width)
{
	const uint8_t *p = in + bit / 8;
	unsigned shift = bit % 8;
	size_t left = len - bit / 8;
	uint64_t lo = 0, hi = 0;

	if (left >= 9) {
		memcpy(&lo, p, 8);
		hi = p[8];
	} else {
		memcpy(&lo, p, left < 8 ? left : 8);
	}
	lo >>= shift;
	if (shift)
		lo |= hi << (64 - shift);
	return width < 64 ? lo & ((UINT64_C(1) << width) - 1) : lo;
}

void rk_bits_unpack64(const uint8_t *in, size_t len, size_t first, unsigned width, uint64_t *out,
		      size_t n)
{
	size_t bit = first * width;

	if (!width) {
		memset(out, 0, n * sizeof(*out));
		return;
	}
	for (size_t i = 0; i < n; i++, bit += width)
		out[i] = peek(in, len, bit, width);
}

void rk_bits_unpack32(const uint8_t *in, size_t len, size_t first, unsigned width, uint32_t *out,
		      size_t n)
{
	const uint64_t mask = (UINT64_C(1) << width) - 1;
	size_t bit = first * width, i = 0;

	if (!width) {
		memset(out, 0, n * sizeof(*out));
		return;
	}
	/* One load holds a value of up to 32 bits at any shift while eight bytes are left. */
	for (; i < n && bit / 8 + 8 <= len; i++, bit += width) {
		uint64_t word;

		memcpy(&word, in + bit / 8, 8);
		out[i] = (uint32_t)(word >> bit % 8 & mask);
	}
	for (; i < n; i++, bit += width)
		out[i] = (uint32_t)peek(in, len, bit, width);
}
