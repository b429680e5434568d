/*
 * map.h - hashes and hash tables: a map of integer pairs, an index over rows that the caller
 * stores, numbers for triples and for string ids.
 *
 * The tables use open addressing and are at most half full. Zero them before use. They never
 * shrink, and entries cannot be removed. Hashes are seeded per process, so input cannot choose
 * collisions.
 */
#ifndef RK_MAP_H
#define RK_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

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
/* Sets or replaces the value, which must be below UINT32_MAX. False when out of memory. */
bool rk_map_put(struct rk_map *m, uint64_t a, uint64_t b, uint32_t value);
void rk_map_release(struct rk_map *m);

/*
 * Hash -> positions in an array of the caller's, in the order they were added. The caller compares
 * the rows:
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

/* Adds a position, even if an equal one exists. False when out of memory. */
bool rk_index_add(struct rk_index *x, uint64_t hash, uint32_t position);
void rk_index_release(struct rk_index *x);

/* ---- small numbers for triples, such as the devices and queues that rows name ---- */

struct rk_key3 {
	int64_t a, b, c;
};

enum { RK_KEYS_RECENT = 16 };

/* Zero it and set `max` before use. */
struct rk_keys {
	struct rk_key3 *v; /* by number */
	size_t n, cap, max;
	struct rk_index by_key;
	uint32_t recent[RK_KEYS_RECENT];
};

/* Slow path of rk_keys_number. */
int rk_keys_number_slow(struct rk_keys *k, struct rk_key3 key, uint32_t *ret, struct rk_error *err);
void rk_keys_release(struct rk_keys *k);

static inline int rk_keys_equal(const struct rk_key3 *x, const struct rk_key3 *y)
{
	return x->c == y->c && x->b == y->b && x->a == y->a;
}

/*
 * The number of a triple; *ret = max if there are already that many others. Fails only when out of
 * memory. Neighbouring rows name few devices and queues, so the first comparison nearly always
 * matches.
 */
static inline int rk_keys_number(struct rk_keys *k, struct rk_key3 key, uint32_t *ret,
				 struct rk_error *err)
{
	uint32_t *recent = &k->recent[(uint64_t)(key.a ^ key.c) % RK_KEYS_RECENT];
	int rc;

	if (*recent < k->n && rk_keys_equal(&k->v[*recent], &key)) {
		*ret = *recent;
		return 0;
	}
	rc = rk_keys_number_slow(k, key, ret, err);
	if (rc == 0 && *ret < k->n)
		*recent = *ret;
	return rc;
}

/* ---- small numbers by string id: an array, because ids are dense ---- */

/* Zero it before use. */
struct rk_idmap {
	uint32_t *at;
	size_t n;
};

bool rk_idmap_grow(struct rk_idmap *m, uint32_t id);
void rk_idmap_release(struct rk_idmap *m);

/* Points to the number of `id`, 0 at first; NULL when out of memory. Adding ids may move it. */
static inline uint32_t *rk_idmap_at(struct rk_idmap *m, uint32_t id)
{
	if (id >= m->n && !rk_idmap_grow(m, id))
		return NULL;
	return &m->at[id];
}

#endif
