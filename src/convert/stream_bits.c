/* stream_bits.c - parts of bitmaps filled, copied, counted. */
#include "convert/stream_bits.h"

/* The k lowest bits of `word` to bits [at, at + k), which are within one word. */
static void put(uint64_t *to, size_t at, uint64_t word, size_t k)
{
	uint64_t mask = k < 64 ? (UINT64_C(1) << k) - 1 : UINT64_MAX;
	uint64_t *w = &to[at / 64];

	*w = (*w & ~(mask << at % 64)) | (word & mask) << at % 64;
}

static size_t within_word(size_t at, size_t n)
{
	return 64 - at % 64 < n ? 64 - at % 64 : n;
}

void rk_bits_fill(uint64_t *to, size_t at, size_t n, bool set)
{
	for (size_t k; n; at += k, n -= k) {
		k = within_word(at, n);
		put(to, at, set ? UINT64_MAX : 0, k);
	}
}

/* Up to 64 bits; looks at no word behind that of the last one. */
static uint64_t take(const uint64_t *from, size_t skip, size_t k)
{
	size_t i = skip / 64, shift = skip % 64;
	uint64_t word = from[i] >> shift;

	if (shift + k > 64)
		word |= from[i + 1] << (64 - shift);
	return word;
}

void rk_bits_copy(uint64_t *to, size_t at, const uint64_t *from, size_t skip, size_t n)
{
	for (size_t k; n; at += k, skip += k, n -= k) {
		k = within_word(at, n);
		put(to, at, take(from, skip, k), k);
	}
}

void rk_bits_pack(uint64_t *to, size_t at, const uint8_t *bytes, size_t n)
{
	for (size_t k; n; at += k, bytes += k, n -= k) {
		uint64_t word = 0;

		k = within_word(at, n);
		for (size_t i = 0; i < k; i++)
			word |= (uint64_t)(bytes[i] != 0) << i;
		put(to, at, word, k);
	}
}

size_t rk_bits_count(const uint64_t *bits, size_t n)
{
	size_t count = 0;

	for (size_t i = 0; i < n / 64; i++)
		count += (size_t)__builtin_popcountll(bits[i]);
	if (n % 64)
		count += (size_t)__builtin_popcountll(bits[n / 64] & ((UINT64_C(1) << n % 64) - 1));
	return count;
}
