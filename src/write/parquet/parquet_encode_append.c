/* parquet_encode_append.c - rows of a batch into the page that is being filled. */
#include <string.h>

#include "base/alloc.h"
#include "write/parquet/parquet_encode.h"

/* Up to 64 bits from any position; those past k are zero. */
static uint64_t get_bits(const uint64_t *bits, size_t pos, size_t k)
{
	unsigned shift = pos % 64;
	uint64_t w = bits[pos / 64] >> shift;

	if (shift && shift + k > 64)
		w |= bits[pos / 64 + 1] << (64 - shift);
	return k < 64 ? w & ((UINT64_C(1) << k) - 1) : w;
}

/* Overwrites k bits at any position; w has no others. */
static void put_bits(uint64_t *bits, size_t pos, uint64_t w, size_t k)
{
	unsigned shift = pos % 64;
	uint64_t mask = k < 64 ? (UINT64_C(1) << k) - 1 : UINT64_MAX;
	uint64_t *p = bits + pos / 64;

	p[0] = (p[0] & ~(mask << shift)) | w << shift;
	if (shift + k > 64)
		p[1] = (p[1] & ~(mask >> (64 - shift))) | w >> (64 - shift);
}

static void fill_bits(uint64_t *bits, size_t pos, size_t n, bool value)
{
	for (size_t i = 0; i < n; i += 64) {
		size_t k = n - i < 64 ? n - i : 64;
		uint64_t ones = k < 64 ? (UINT64_C(1) << k) - 1 : UINT64_MAX;

		put_bits(bits, pos + i, value ? ones : 0, k);
	}
}

static bool make_room(struct rk_pq_column *c)
{
	if (!c->vals)
		c->vals = rk_alloc(RK_PQ_PAGE_ROWS * rk_type_size(c->type));
	if (!c->valid)
		c->valid = rk_calloc(RK_PQ_PAGE_ROWS / 64 + 1, sizeof(*c->valid));
	return c->vals && c->valid;
}

static void copy_word(uint8_t *out, const uint8_t *in, uint64_t w, size_t size)
{
	for (; w; w &= w - 1, out += size) {
		size_t i = (size_t)__builtin_ctzll(w);

		if (size == 8)
			memcpy(out, in + i * 8, 8);
		else if (size == 4)
			memcpy(out, in + i * 4, 4);
		else
			*out = in[i];
	}
}

/* Values that are there, moved together. */
static void copy_sparse(struct rk_pq_column *c, const struct rk_column *from, size_t first,
			size_t n, size_t filled)
{
	const size_t size = rk_type_size(c->type);
	const uint8_t *in = from->data;

	for (size_t i = 0; i < n; i += 64) {
		size_t k = n - i < 64 ? n - i : 64;
		uint64_t w = get_bits(from->valid, first + i, k);

		put_bits(c->valid, filled + i, w, k);
		copy_word(c->vals + c->nvals * size, in + (first + i) * size, w, size);
		c->nvals += (size_t)__builtin_popcountll(w);
	}
}

static size_t count_bits(const uint64_t *bits, size_t first, size_t n)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i += 64) {
		size_t k = n - i < 64 ? n - i : 64;

		count += (size_t)__builtin_popcountll(get_bits(bits, first + i, k));
	}
	return count;
}

/*
 * The bitmap is kept only while the page holds values and nulls both; whoever brings the other
 * kind first describes the rows that were there before.
 */
bool rk_pq_column_append(struct rk_pq_column *c, const struct rk_column *from, size_t first,
			 size_t n)
{
	const size_t size = rk_type_size(c->type), filled = c->nvals + c->nulls;
	size_t present = 0;

	if (from->data)
		present = from->valid ? count_bits(from->valid, first, n) : n;
	if (present && !make_room(c))
		return false;
	if (c->vals && filled && !(c->nvals && c->nulls))
		fill_bits(c->valid, 0, filled, c->nvals > 0);
	if (present == n) {
		memcpy(c->vals + c->nvals * size, (const uint8_t *)from->data + first * size,
		       n * size);
		if (c->nulls)
			fill_bits(c->valid, filled, n, true);
		c->nvals += n;
	} else if (present) {
		copy_sparse(c, from, first, n, filled);
	} else if (c->vals) {
		fill_bits(c->valid, filled, n, false);
	}
	c->nulls += n - present;
	return true;
}
