/* stream_bits.h - bitmaps: row i is bit i % 64 of word i / 64. */
#ifndef RK_STREAM_BITS_H
#define RK_STREAM_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Words are Arrow's bytes on a little-endian machine alone. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "bitmaps are little endian");

static inline size_t rk_bits_words(size_t n)
{
	return n / 64 + (n % 64 != 0);
}

/* n bits from `at` on become `set`. */
void rk_bits_fill(uint64_t *to, size_t at, size_t n, bool set);
/* n bits from `at` on become those of `from`, from `skip` on. */
void rk_bits_copy(uint64_t *to, size_t at, const uint64_t *from, size_t skip, size_t n);
/* n bits from `at` on become whether the bytes are not 0. */
void rk_bits_pack(uint64_t *to, size_t at, const uint8_t *bytes, size_t n);
size_t rk_bits_count(const uint64_t *bits, size_t n); /* set ones of the first n */

#endif
