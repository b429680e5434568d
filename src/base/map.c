/* map.c - see map.h. */
#include "base/map.h"

#include "base/alloc.h"

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

static bool grow_map(struct rk_map *m)
{
	struct rk_map big = { .mask = m->slots ? m->mask * 2 + 1 : FIRST_MASK, .n = m->n };

	big.slots = rk_calloc(big.mask + 1, sizeof(*big.slots));
	if (!big.slots)
		return false;
	for (size_t i = 0; m->slots && i <= m->mask; i++)
		if (m->slots[i].value)
			big.slots[slot_of(&big, m->slots[i].a, m->slots[i].b)] = m->slots[i];
	rk_free(m->slots);
	*m = big;
	return true;
}

bool rk_map_put(struct rk_map *m, uint64_t a, uint64_t b, uint32_t value)
{
	struct rk_map_slot *s;

	if ((!m->slots || m->n * 2 > m->mask) && !grow_map(m))
		return false;
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

static bool grow_index(struct rk_index *x)
{
	struct rk_index big = { .mask = x->slots ? x->mask * 2 + 1 : FIRST_MASK, .n = x->n };

	if (big.mask > INDEX_MASK_MAX)
		return false;
	big.slots = rk_calloc(big.mask + 1, sizeof(*big.slots));
	if (!big.slots)
		return false;
	for (size_t i = 0; x->slots && i <= x->mask; i++)
		if (x->slots[i].position)
			insert(&big, x->slots[i]);
	rk_free(x->slots);
	*x = big;
	return true;
}

bool rk_index_add(struct rk_index *x, uint64_t hash, uint32_t position)
{
	if ((!x->slots || x->n * 2 > x->mask) && !grow_index(x))
		return false;
	insert(x, (struct rk_index_slot){ (uint32_t)hash, position + 1 });
	x->n++;
	return true;
}

void rk_index_release(struct rk_index *x)
{
	rk_free(x->slots);
	*x = (struct rk_index){ 0 };
}
