/* sort_keys.c - stable sorting of keys by radix, eleven bits at a time. */
#include "table/sort.h"

#include <string.h>

enum { RADIX_BITS = 11, BUCKETS = 1 << RADIX_BITS };

static void key_range(const struct rk_sort_key *keys, size_t n, int64_t *min, int64_t *max)
{
	*min = *max = keys[0].key;
	for (size_t i = 1; i < n; i++) {
		*min = keys[i].key < *min ? keys[i].key : *min;
		*max = keys[i].key > *max ? keys[i].key : *max;
	}
}

/* Distance from the smallest key: unsigned, so that any two int64 are in range. */
static inline uint64_t distance(const struct rk_sort_key *k, int64_t min)
{
	return (uint64_t)k->key - (uint64_t)min;
}

static void radix_pass(const struct rk_sort_key *from, struct rk_sort_key *to, size_t n,
		       int64_t min, unsigned shift)
{
	uint32_t count[BUCKETS] = { 0 }, at = 0;

	for (size_t i = 0; i < n; i++)
		count[distance(&from[i], min) >> shift & (BUCKETS - 1)]++;
	for (size_t i = 0; i < BUCKETS; i++) {
		uint32_t c = count[i];

		count[i] = at;
		at += c;
	}
	for (size_t i = 0; i < n; i++)
		to[count[distance(&from[i], min) >> shift & (BUCKETS - 1)]++] = from[i];
}

struct rk_sort_key *rk_sort_keys(struct rk_sort_key *keys, struct rk_sort_key *tmp, size_t n)
{
	int64_t min, max;

	if (n < 2)
		return keys;
	key_range(keys, n, &min, &max);
	for (unsigned shift = 0; shift < 64; shift += RADIX_BITS) {
		struct rk_sort_key *swap = keys;

		if (!(((uint64_t)max - (uint64_t)min) >> shift))
			break;
		radix_pass(keys, tmp, n, min, shift);
		keys = tmp;
		tmp = swap;
	}
	return keys;
}
