/* metric_index.c - see metric_index.h. */
#include "metrics/formula/metric_index.h"

#include <string.h>

#include "base/alloc.h"
#include "base/map.h"

enum { FIRST_CAP = 64 }; /* a power of two */

/*
 * FNV-1a from a start of its own. Not rk_hash_bytes: its seed may be set after a table was filled.
 */
static size_t hash(const struct rk_metric_index *x, const char *key, size_t len)
{
	uint64_t h = x->salt;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)key[i]) * 0x100000001b3u;
	return (size_t)(h ^ h >> 32);
}

/* The slot of the key, or the free one where it would go. */
static struct rk_metric_slot *slot_of(const struct rk_metric_index *x, const char *key, size_t len)
{
	size_t mask = x->cap - 1, i = hash(x, key, len) & mask;

	while (x->slots[i].key &&
	       (x->slots[i].len != len || memcmp(x->slots[i].key, key, len) != 0))
		i = (i + 1) & mask;
	return &x->slots[i];
}

bool rk_metric_index_find(const struct rk_metric_index *x, const char *key, size_t len, size_t *ret)
{
	const struct rk_metric_slot *s = x->cap ? slot_of(x, key, len) : NULL;

	if (!s || !s->key)
		return false;
	*ret = s->value;
	return true;
}

static bool grow(struct rk_metric_index *x)
{
	struct rk_metric_index wider = { .cap = x->cap ? x->cap * 2 : FIRST_CAP, .n = x->n };

	wider.slots = rk_calloc(wider.cap, sizeof(*wider.slots));
	if (!wider.slots)
		return false;
	wider.salt = rk_hash_u64((uint64_t)(uintptr_t)wider.slots); /* nobody outside knows it */
	for (size_t i = 0; i < x->cap; i++)
		if (x->slots[i].key)
			*slot_of(&wider, x->slots[i].key, x->slots[i].len) = x->slots[i];
	rk_free(x->slots);
	*x = wider;
	return true;
}

bool rk_metric_index_add(struct rk_metric_index *x, const char *key, size_t len, size_t value)
{
	if (x->n * 2 >= x->cap && !grow(x))
		return false;
	*slot_of(x, key, len) = (struct rk_metric_slot){ key, len, value };
	x->n++;
	return true;
}

void rk_metric_index_release(struct rk_metric_index *x)
{
	rk_free(x->slots);
	*x = (struct rk_metric_index){ 0 };
}
