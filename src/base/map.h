/*
 * map.h - hashes and hash tables: a map of integer pairs, and an index over rows that the caller
 * keeps.
 *
 * Both tables use open addressing and are at most half full. Zero them before use. They never
 * shrink and nothing is taken out. Hashes are seeded per process, so input cannot choose collisions.
 */
#ifndef RK_MAP_H
#define RK_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern uint64_t rk_hash_seed; /* drawn before main, then constant */

static inline uint64_t rk_hash_mix(uint64_t a, uint64_t b)
{
	__extension__ typedef unsigned __int128 u128;
	u128 m = (u128)a * b;

	return (uint64_t)m ^ (uint64_t)(m >> 64);
}

static inline uint64_t rk_hash_u64(uint64_t v)
{
	return rk_hash_mix(v ^ rk_hash_seed, 0x9e3779b97f4a7c15u);
}

uint64_t rk_hash_bytes(const void *p, size_t len);

/* (a, b) -> 32 bits. */
struct rk_map {
	struct rk_map_slot {
		uint64_t a, b;
		uint32_t value; /* 1 + the value, 0: empty */
	} * slots;
	size_t n, mask;
};

/* The value, or -1. */
int64_t rk_map_get(const struct rk_map *m, uint64_t a, uint64_t b);
/* Sets it, over an older value; below UINT32_MAX. False when out of memory. */
bool rk_map_put(struct rk_map *m, uint64_t a, uint64_t b, uint32_t value);
void rk_map_release(struct rk_map *m);

/*
 * Hash -> positions in an array of the caller's. The caller compares the rows:
 *
 *	for (i = rk_index_first(x, hash, &at); i != RK_INDEX_NONE; i = rk_index_next(x, hash, &at))
 *		if (is_equal(&rows[i], key))
 *			return i;
 */
struct rk_index {
	struct rk_index_slot {
		uint32_t hash;
		uint32_t position; /* 1 + the position, 0: empty */
	} * slots;
	size_t n, mask;
};

#define RK_INDEX_NONE UINT32_MAX

static inline uint32_t rk_index_next(const struct rk_index *x, uint64_t hash, size_t *at)
{
	for (;; *at = (*at + 1) & x->mask) {
		const struct rk_index_slot *s = &x->slots[*at];

		if (!s->position)
			return RK_INDEX_NONE;
		if (s->hash != (uint32_t)hash)
			continue;
		*at = (*at + 1) & x->mask;
		return s->position - 1;
	}
}

/* The first position whose hash is equal, or RK_INDEX_NONE; *at is for rk_index_next. */
static inline uint32_t rk_index_first(const struct rk_index *x, uint64_t hash, size_t *at)
{
	*at = (uint32_t)hash & x->mask;
	return x->slots ? rk_index_next(x, hash, at) : RK_INDEX_NONE;
}

/* One more; does not look for an equal one. False when out of memory. */
bool rk_index_add(struct rk_index *x, uint64_t hash, uint32_t position);
void rk_index_release(struct rk_index *x);

#endif
