/* timeline_keys.c - see timeline_keys.h. */
#include "table/timeline_keys.h"

#include "base/alloc.h"
#include "base/map.h"

enum { FIRST_CAP = 64 };

static size_t slot_of(const struct rk_keys *k, const struct rk_key3 *key)
{
	uint64_t h = rk_hash_u64((uint64_t)key->a) * 31 + (uint64_t)key->b;
	size_t mask = 2 * k->cap - 1, i;

	h = rk_hash_u64(rk_hash_u64(h) ^ (uint64_t)key->c);
	for (i = (size_t)h & mask; k->slots[i]; i = (i + 1) & mask)
		if (rk_keys_equal(&k->v[k->slots[i] - 1], key))
			break;
	return i;
}

static int grow(struct rk_keys *k, struct rk_error *err)
{
	size_t cap = k->cap ? k->cap * 2 : k->max < FIRST_CAP ? k->max : FIRST_CAP;
	uint32_t *slots = rk_calloc(2 * cap, sizeof(*slots));
	struct rk_key3 *v = slots ? rk_reallocn(k->v, cap, sizeof(*v)) : NULL;

	if (!v) {
		rk_free(slots);
		return rk_fail_nomem(err);
	}
	rk_free(k->slots);
	k->v = v;
	k->slots = slots;
	k->cap = cap;
	for (size_t i = 0; i < k->n; i++)
		slots[slot_of(k, &v[i])] = (uint32_t)(i + 1);
	return 0;
}

int rk_keys_number_slow(struct rk_keys *k, struct rk_key3 key, uint32_t *ret, struct rk_error *err)
{
	size_t slot = k->cap ? slot_of(k, &key) : 0;

	if (k->cap && k->slots[slot]) {
		*ret = k->slots[slot] - 1;
		return 0;
	}
	if (k->n == k->max) {
		*ret = (uint32_t)k->max;
		return 0;
	}
	if (k->n == k->cap) {
		if (grow(k, err) < 0)
			return RK_E_NOMEM;
		slot = slot_of(k, &key);
	}
	k->v[k->n++] = key;
	k->slots[slot] = (uint32_t)k->n;
	*ret = (uint32_t)(k->n - 1);
	return 0;
}

void rk_keys_release(struct rk_keys *k)
{
	rk_free(k->v);
	rk_free(k->slots);
}
