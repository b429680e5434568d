/* map.c - see map.h. */
#include "base/map.h"

#include <string.h>
#include <sys/random.h>

#include "base/alloc.h"

/* ---- 64-bit hash of bytes: two lanes of 16 bytes; about 1 ns per 32 bytes ---- */

uint64_t rk_hash_seed = 0x2545f4914f6cdd1du;

/* Must run before anything is hashed: lookups need the seed that filled the table. */
__attribute__((constructor)) static void draw_seed(void)
{
	uint64_t seed;

	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) == (ssize_t)sizeof(seed))
		rk_hash_seed = seed;
}

static inline uint64_t load64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, 8);
	return v;
}

/* The last 0..15 bytes; each byte is used once or twice. */
static uint64_t tail(const uint8_t *p, size_t len)
{
	uint32_t lo, hi;

	if (len >= 8)
		return rk_hash_mix(load64(p) ^ 0xa0761d6478bd642fu, load64(p + len - 8) ^ len);
	if (len >= 4) {
		memcpy(&lo, p, 4);
		memcpy(&hi, p + len - 4, 4);
		return (uint64_t)lo << 32 | hi;
	}
	return len ? (uint64_t)p[0] << 16 | (uint64_t)p[len / 2] << 8 | p[len - 1] : 0;
}

uint64_t rk_hash_bytes(const void *data, size_t len)
{
	const uint8_t *p = data;
	uint64_t h = rk_hash_seed ^ len, g = h ^ 0xe7037ed1a0b428dbu;
	size_t left = len;

	for (; left >= 32; left -= 32, p += 32) {
		h = rk_hash_mix(h ^ load64(p), 0xa0761d6478bd642fu ^ load64(p + 8));
		g = rk_hash_mix(g ^ load64(p + 16), 0x8ebc6af09c88c6e3u ^ load64(p + 24));
	}
	if (left >= 16) {
		h = rk_hash_mix(h ^ load64(p), 0x589965cc75374cc3u ^ load64(p + 8));
		left -= 16;
		p += 16;
	}
	return rk_hash_mix(h ^ tail(p, left) ^ 0x1d8e4e27c47d124fu, g ^ 0x9e3779b97f4a7c15u);
}

/* ---- tables ---- */

enum { FIRST_MASK = 63, INDEX_MASK_MAX = 0x7fffffff };

static size_t slot_of(const struct rk_map *m, uint64_t a, uint64_t b)
{
	size_t i = rk_hash_u64(a * 31 + rk_hash_u64(b)) & m->mask;

	while (m->slots[i].value && (m->slots[i].a != a || m->slots[i].b != b))
		i = (i + 1) & m->mask;
	return i;
}

int64_t rk_map_get(const struct rk_map *m, uint64_t a, uint64_t b)
{
	return m->n ? (int64_t)m->slots[slot_of(m, a, b)].value - 1 : -1;
}

bool rk_map_put(struct rk_map *m, uint64_t a, uint64_t b, uint32_t value)
{
	struct rk_map_slot *s;

	if (!m->slots || m->n * 2 > m->mask) {
		struct rk_map big = { .mask = m->slots ? m->mask * 2 + 1 : FIRST_MASK, .n = m->n };

		big.slots = rk_calloc(big.mask + 1, sizeof(*big.slots));
		if (!big.slots)
			return false;
		for (size_t i = 0; m->slots && i <= m->mask; i++)
			if (m->slots[i].value)
				big.slots[slot_of(&big, m->slots[i].a, m->slots[i].b)] =
					m->slots[i];
		rk_free(m->slots);
		*m = big;
	}
	s = &m->slots[slot_of(m, a, b)];
	m->n += !s->value;
	*s = (struct rk_map_slot){ a, b, value + 1 };
	return true;
}

void rk_map_release(struct rk_map *m)
{
	rk_free(m->slots);
	*m = (struct rk_map){ 0 };
}

static void insert(struct rk_index *x, struct rk_index_slot entry)
{
	size_t at = entry.hash & x->mask;

	while (x->slots[at].position)
		at = (at + 1) & x->mask;
	x->slots[at] = entry;
}

bool rk_index_add(struct rk_index *x, uint64_t hash, uint32_t position)
{
	if (!x->slots || x->n * 2 > x->mask) {
		struct rk_index big = { .mask = x->slots ? x->mask * 2 + 1 : FIRST_MASK,
					.n = x->n };
		size_t start = 0;

		if (big.mask > INDEX_MASK_MAX)
			return false;
		big.slots = rk_calloc(big.mask + 1, sizeof(*big.slots));
		if (!big.slots)
			return false;
		/* start after an empty slot, so that equal hashes keep their order */
		while (x->slots && x->slots[start].position)
			start++;
		for (size_t i = 0; x->slots && i <= x->mask; i++) {
			struct rk_index_slot entry = x->slots[(start + i) & x->mask];

			if (entry.position)
				insert(&big, entry);
		}
		rk_free(x->slots);
		*x = big;
	}
	insert(x, (struct rk_index_slot){ (uint32_t)hash, position + 1 });
	x->n++;
	return true;
}

void rk_index_release(struct rk_index *x)
{
	rk_free(x->slots);
	*x = (struct rk_index){ 0 };
}

int rk_keys_number_slow(struct rk_keys *k, struct rk_key3 key, uint32_t *ret, struct rk_error *err)
{
	uint64_t hash = rk_hash_u64((uint64_t)key.a) * 31 + (uint64_t)key.b;
	struct rk_key3 *v;
	uint32_t i;
	size_t at;

	hash = rk_hash_u64(rk_hash_u64(hash) ^ (uint64_t)key.c);
	for (i = rk_index_first(&k->by_key, hash, &at); i != RK_INDEX_NONE;
	     i = rk_index_next(&k->by_key, hash, &at)) {
		if (rk_keys_equal(&k->v[i], &key)) {
			*ret = i;
			return 0;
		}
	}
	if (k->n == k->max) {
		*ret = (uint32_t)k->max;
		return 0;
	}
	v = rk_grow(k->v, &k->cap, k->n + 1, sizeof(*v));
	if (!v)
		return rk_fail_nomem(err);
	k->v = v;
	if (!rk_index_add(&k->by_key, hash, (uint32_t)k->n))
		return rk_fail_nomem(err);
	*ret = (uint32_t)k->n;
	k->v[k->n++] = key;
	return 0;
}

void rk_keys_release(struct rk_keys *k)
{
	rk_free(k->v);
	rk_index_release(&k->by_key);
}

bool rk_idmap_grow(struct rk_idmap *m, uint32_t id)
{
	size_t n = m->n ? m->n * 2 : 1024;
	uint32_t *at;

	while (n <= id)
		n *= 2;
	at = rk_reallocn(m->at, n, sizeof(*at));
	if (!at)
		return false;
	memset(at + m->n, 0, (n - m->n) * sizeof(*at));
	m->at = at;
	m->n = n;
	return true;
}

void rk_idmap_release(struct rk_idmap *m)
{
	rk_free(m->at);
}
