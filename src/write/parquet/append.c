/*
 * append.c - adds rows of a batch to the current page, and finds the distinct values of a column.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/num.h"
#include "write/parquet/encode.h"

/* k is 1 to 64. */
static uint64_t low_bits(size_t k)
{
	return UINT64_MAX >> (64 - k);
}

/* Reads k <= 64 bits at any position; the upper bits of the result are zero. */
static uint64_t get_bits(const uint64_t *bits, size_t pos, size_t k)
{
	unsigned shift = pos % 64;
	uint64_t w = bits[pos / 64] >> shift;

	if (shift && shift + k > 64)
		w |= bits[pos / 64 + 1] << (64 - shift);
	return w & low_bits(k);
}

/* Overwrites k bits at any position; the other bits of w must be zero. */
static void put_bits(uint64_t *bits, size_t pos, uint64_t w, size_t k)
{
	unsigned shift = pos % 64;
	uint64_t mask = low_bits(k);
	uint64_t *p = bits + pos / 64;

	p[0] = (p[0] & ~(mask << shift)) | w << shift;
	if (shift + k > 64)
		p[1] = (p[1] & ~(mask >> (64 - shift))) | w >> (64 - shift);
}

static void fill_bits(uint64_t *bits, size_t pos, size_t n, bool value)
{
	for (size_t i = 0; i < n; i += 64) {
		size_t k = rk_min(n - i, 64);

		put_bits(bits, pos + i, value ? low_bits(k) : 0, k);
	}
}

/* Appends the values that are not null, without gaps. */
static void copy_sparse(struct rk_pq_column *c, const struct rk_column *from, size_t first,
			size_t n, size_t filled)
{
	const size_t size = rk_type_size(c->type);
	uint8_t *out = c->vals + c->nvals * size;

	for (size_t i = 0; i < n; i += 64) {
		const uint8_t *in = (const uint8_t *)from->data + (first + i) * size;
		size_t k = rk_min(n - i, 64);
		uint64_t w = get_bits(from->valid, first + i, k);

		put_bits(c->valid, filled + i, w, k);
		c->nvals += (size_t)__builtin_popcountll(w);
		for (; w; w &= w - 1, out += size) {
			size_t at = (size_t)__builtin_ctzll(w);

			if (size == 8)
				memcpy(out, in + at * 8, 8);
			else if (size == 4)
				memcpy(out, in + at * 4, 4);
			else
				*out = in[at];
		}
	}
}

/*
 * The bitmap is kept only while the page has both values and nulls. The first call that adds the
 * other kind also fills in the bits of the earlier rows.
 */
bool rk_pq_column_append(struct rk_pq_column *c, const struct rk_column *from, size_t first,
			 size_t n)
{
	const size_t size = rk_type_size(c->type), filled = c->nvals + c->nulls;
	size_t present = 0;

	if (from->data && !from->valid)
		present = n;
	for (size_t i = 0; from->data && from->valid && i < n; i += 64)
		present += (size_t)__builtin_popcountll(
			get_bits(from->valid, first + i, rk_min(n - i, 64)));
	if (present && !c->vals)
		c->vals = rk_alloc(RK_PQ_PAGE_ROWS * size);
	if (present && !c->valid)
		c->valid = rk_calloc(RK_PQ_PAGE_ROWS / 64 + 1, sizeof(*c->valid));
	if (present && (!c->vals || !c->valid))
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

/* ---- the distinct values of a column, found while a page is encoded ---- */

/*
 * Not rk_map or rk_index: with the key in the slot a look-up takes 7 ns; rk_index takes 19 and
 * rk_map 25.
 */

enum {
	FIRST_CAP = 256,
	SLOTS_PER_ENTRY = 2, /* at most half full */
	TRIAL = 1024,        /* values to see before "nearly all are new" can be judged */
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

/* Handles a value that is new to the page or the dictionary. Its index + 1; 0: stop with m->rc. */
static __attribute__((noinline)) uint32_t meet(struct mapping *m, uint64_t v, size_t i)
{
	struct rk_pq_dict *d = m->d;
	uint32_t at = find(d->slots, d->mask, v);

	if (at)
		return at;
	m->fresh++;
	m->rc = 1;
	if (m->fresh > m->max_new || (i >= TRIAL && m->fresh > i / 4 * 3 && m->max_new < m->n))
		return 0;
	m->rc = RK_E_NOMEM;
	if (d->n == d->cap && !grow(d))
		return 0;
	m->rc = 0;
	d->vals[d->n++] = v;
	place(d, v, d->n);
	return d->n;
}

/*
 * `size` and `direct` are constants where this is inlined. Values in a narrow span are looked up
 * directly in a table, without hashing. `slots` and `mask` are local copies, so that the stores to
 * idx do not force reloading them.
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
	bool direct = span->len && n >= span->len;

	if (!d->slots && !grow(d))
		return RK_E_NOMEM;
	if (direct)
		memset(span->table, 0, span->len * sizeof(*span->table));
	if (direct && size == 8)
		return map(&m, vals, 8, true, span, idx, ret_runs);
	if (direct)
		return map(&m, vals, 4, true, span, idx, ret_runs);
	if (size == 8)
		return map(&m, vals, 8, false, span, idx, ret_runs);
	return map(&m, vals, 4, false, span, idx, ret_runs);
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
