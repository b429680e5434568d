/* parquet_encode_dict.c - the distinct values of a column, found while a page is encoded. */
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "write/parquet/parquet_encode.h"

enum {
	FIRST_CAP = 256,
	SLOTS_PER_ENTRY = 2, /* at most half full */
	TRIAL = 1024,        /* values after which "nearly all are new" means something */
};

static void place(struct rk_pq_dict *d, uint64_t key, uint32_t idx)
{
	uint32_t at = (uint32_t)rk_hash_u64(key) & d->mask;

	while (d->slots[at].idx)
		at = (at + 1) & d->mask;
	d->slots[at] = (struct rk_pq_slot){ .key = key, .idx = idx };
}

static bool grow(struct rk_pq_dict *d)
{
	uint32_t cap = d->cap ? d->cap * 2 : FIRST_CAP;
	uint32_t old_slots = d->slots ? d->mask + 1 : 0;
	struct rk_pq_slot *slots, *old = d->slots;
	uint64_t *vals = rk_reallocn(d->vals, cap, sizeof(*vals));

	if (!vals)
		return false;
	d->vals = vals;
	slots = rk_calloc((size_t)cap * SLOTS_PER_ENTRY, sizeof(*slots));
	if (!slots)
		return false;
	d->slots = slots;
	d->cap = cap;
	d->mask = cap * SLOTS_PER_ENTRY - 1;
	for (uint32_t i = 0; i < old_slots; i++) {
		if (old[i].idx)
			place(d, old[i].key, old[i].idx);
	}
	rk_free(old);
	return true;
}

static bool add(struct rk_pq_dict *d, uint64_t key)
{
	if (d->n == d->cap && !grow(d))
		return false;
	d->vals[d->n++] = key;
	place(d, key, d->n);
	return true;
}

static inline uint64_t load(const void *vals, size_t i, size_t size)
{
	if (size == 8)
		return ((const uint64_t *)vals)[i];
	return ((const uint32_t *)vals)[i];
}

/* The index + 1 of a value, 0 when it is new. */
static inline uint32_t find(const struct rk_pq_slot *slots, uint32_t mask, uint64_t v)
{
	uint32_t at = (uint32_t)rk_hash_u64(v) & mask;

	while (slots[at].idx && slots[at].key != v)
		at = (at + 1) & mask;
	return slots[at].idx;
}

/* State of one page's mapping. */
struct mapping {
	struct rk_pq_dict *d;
	size_t n, fresh, max_new;
	int rc;
};

/* A value met for the first time in this page, or ever: its index + 1, 0 to stop with m->rc. */
static __attribute__((noinline)) uint32_t meet(struct mapping *m, uint64_t v, size_t i)
{
	uint32_t at = find(m->d->slots, m->d->mask, v);

	if (at)
		return at;
	m->fresh++;
	m->rc = 1;
	if (m->fresh > m->max_new || (i >= TRIAL && m->fresh > i / 4 * 3 && m->max_new < m->n))
		return 0;
	m->rc = add(m->d, v) ? 0 : RK_E_NOMEM;
	return m->rc ? 0 : m->d->n;
}

/*
 * `size` and `direct` are constants where this is inlined. Values of a narrow span go through a
 * table of their own, without a hash. The look-up works on copies of what it needs, so that
 * writing to idx does not force it to load them again.
 */
static inline __attribute__((always_inline)) int map(struct mapping *m, const void *vals,
						     size_t size, bool direct,
						     const struct rk_pq_span *span, uint32_t *idx,
						     size_t *ret_runs)
{
	const struct rk_pq_slot *slots = m->d->slots;
	uint32_t mask = m->d->mask, last = UINT32_MAX, *table = span->table;
	const size_t n = m->n;
	const uint64_t base = span->base;
	size_t runs = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t v = load(vals, i, size);
		uint32_t at = direct ? table[v - base] : find(slots, mask, v);

		if (!at) {
			at = meet(m, v, i);
			if (!at)
				return m->rc;
			if (direct)
				table[v - base] = at;
			slots = m->d->slots;
			mask = m->d->mask;
		}
		idx[i] = at - 1;
		runs += at != last;
		last = at;
	}
	*ret_runs = runs;
	return 0;
}

int rk_pq_dict_map(struct rk_pq_dict *d, const void *vals, size_t n, size_t size, size_t max_new,
		   const struct rk_pq_span *span, uint32_t *idx, size_t *ret_runs)
{
	struct mapping m = { .d = d, .n = n, .max_new = max_new };

	if (!d->slots && !grow(d))
		return RK_E_NOMEM;
	if (n < span->len || !span->len)
		return size == 8 ? map(&m, vals, 8, false, span, idx, ret_runs) :
				   map(&m, vals, 4, false, span, idx, ret_runs);
	memset(span->table, 0, span->len * sizeof(*span->table));
	return size == 8 ? map(&m, vals, 8, true, span, idx, ret_runs) :
			   map(&m, vals, 4, true, span, idx, ret_runs);
}

void rk_pq_dict_clear(struct rk_pq_dict *d)
{
	if (d->slots && d->n)
		memset(d->slots, 0, ((size_t)d->mask + 1) * sizeof(*d->slots));
	d->n = d->used = 0;
}

void rk_pq_dict_release(struct rk_pq_dict *d)
{
	rk_free(d->vals);
	rk_free(d->slots);
	*d = (struct rk_pq_dict){ 0 };
}
