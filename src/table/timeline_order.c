/* timeline_order.c - see timeline_order.h. */
#include "table/timeline_order.h"

#include <string.h>

#include "base/alloc.h"
#include "base/num.h"
#include "io/file.h"
#include "table/sort.h"

enum { FIRST_CAP = 1024, MAX_FAN_IN = 64 };

struct chunk {
	uint64_t offset, left; /* in the temporary file; stretches not yet read */
	int64_t last;          /* start of its last stretch */
	/* while merging: */
	struct rk_stretch *buf;
	size_t cap, have, at;
};

struct rk_order {
	const char *tmpdir;
	struct rk_spill *spill; /* NULL until needed */
	/* The stretches held; while merging, the read buffers of the chunks. */
	struct rk_stretch *store;
	struct rk_stretch *spare; /* same length: for sorting, and for writing merged chunks */
	struct rk_sort_key *keys; /* twice as long; NULL until something is out of order */
	size_t n, cap, max;
	bool in_order;
	struct chunk *chunks;
	size_t nchunks, cap_chunks;
	struct rk_sort_key *heap; /* chunks with stretches left (`at`), smallest start first */
	size_t nheap;
	bool reading;
	size_t at; /* position, if all are held in memory */
};

int rk_order_new(const char *tmpdir, size_t held, struct rk_order **ret, struct rk_error *err)
{
	struct rk_order *o = rk_calloc(1, sizeof(*o));

	if (!o)
		return rk_fail_nomem(err);
	o->tmpdir = tmpdir;
	o->max = rk_max(held, MAX_FAN_IN);
	o->in_order = true;
	*ret = o;
	return 0;
}

static int grow(struct rk_order *o, struct rk_error *err)
{
	size_t cap = rk_min(o->cap ? o->cap * 2 : FIRST_CAP, o->max);
	struct rk_stretch *store = rk_reallocn(o->store, cap, sizeof(*store));

	if (!store)
		return rk_fail_nomem(err);
	o->store = store;
	o->cap = cap;
	rk_free(o->spare); /* like the keys, allocated again at the new length when needed */
	rk_free(o->keys);
	o->spare = NULL;
	o->keys = NULL;
	return 0;
}

static int make_spare(struct rk_order *o, struct rk_error *err)
{
	if (!o->spare)
		o->spare = rk_alloc(o->cap * sizeof(*o->spare));
	return o->spare ? 0 : rk_fail_nomem(err);
}

static int put_in_order(struct rk_order *o, struct rk_error *err)
{
	struct rk_stretch *swap = o->store;
	struct rk_sort_key *order;

	if (o->in_order)
		return 0;
	if (!o->keys)
		o->keys = rk_alloc(2 * o->cap * sizeof(*o->keys));
	if (!o->keys || make_spare(o, err) < 0)
		return rk_fail_nomem(err);
	for (size_t i = 0; i < o->n; i++)
		o->keys[i] = (struct rk_sort_key){ o->store[i].start, (uint32_t)i };
	order = rk_sort_keys(o->keys, o->keys + o->cap, o->n);
	for (size_t i = 0; i < o->n; i++)
		o->spare[i] = o->store[order[i].at];
	o->store = o->spare;
	o->spare = swap;
	o->in_order = true;
	return 0;
}

/*
 * Writes the first n held stretches, which are sorted, to the file: to the last chunk, or to a new
 * one if they begin before its end.
 */
static int write_out(struct rk_order *o, size_t n, struct rk_error *err)
{
	struct chunk *c;
	uint64_t offset;
	int rc;

	if (!o->spill) {
		rc = rk_spill_new(o->tmpdir, &o->spill, err);
		if (rc < 0)
			return rc;
	}
	if (!o->nchunks || o->chunks[o->nchunks - 1].last > o->store[0].start) {
		c = rk_grow(o->chunks, &o->cap_chunks, o->nchunks + 1, sizeof(*c));
		if (!c)
			return rk_fail_nomem(err);
		o->chunks = c;
		c[o->nchunks++] = (struct chunk){ .offset = rk_spill_size(o->spill) };
	}
	rc = rk_spill_append(o->spill, o->store, n * sizeof(*o->store), &offset, err);
	if (rc < 0)
		return rc;
	c = &o->chunks[o->nchunks - 1];
	c->left += n;
	c->last = o->store[n - 1].start;
	o->n -= n;
	memmove(o->store, o->store + n, o->n * sizeof(*o->store));
	return 0;
}

int rk_order_add(struct rk_order *o, const struct rk_stretch *s, struct rk_error *err)
{
	int rc = 0;

	if (o->n == o->cap) {
		if (o->cap < o->max)
			rc = grow(o, err);
		else if ((rc = put_in_order(o, err)) == 0)
			rc = write_out(o, o->n / 2, err);
		if (rc < 0)
			return rc;
	}
	if (o->n && s->start < o->store[o->n - 1].start)
		o->in_order = false;
	o->store[o->n++] = *s;
	return 0;
}

static int refill(struct rk_order *o, struct chunk *c, struct rk_error *err)
{
	size_t n = rk_min((size_t)c->left, c->cap);
	int rc = rk_spill_read(o->spill, c->offset, c->buf, n * sizeof(*c->buf), err);

	c->offset += n * sizeof(*c->buf);
	c->left -= n;
	c->have = n;
	c->at = 0;
	return rc;
}

static void sift_down(struct rk_order *o, size_t i)
{
	struct rk_sort_key *h = o->heap, moved = h[i];

	for (size_t child = 2 * i + 1; child < o->nheap; child = 2 * i + 1) {
		if (child + 1 < o->nheap && h[child + 1].key < h[child].key)
			child++;
		if (h[child].key >= moved.key)
			break;
		h[i] = h[child];
		i = child;
	}
	h[i] = moved;
}

/* Splits the store into read buffers for chunks [first, first + n). */
static int begin_merge(struct rk_order *o, size_t first, size_t n, struct rk_error *err)
{
	size_t share = o->cap / n;
	int rc;

	o->nheap = 0;
	for (size_t i = 0; i < n; i++) {
		struct chunk *c = &o->chunks[first + i];

		c->buf = o->store + i * share;
		c->cap = share;
		rc = refill(o, c, err);
		if (rc < 0)
			return rc;
		o->heap[o->nheap++] =
			(struct rk_sort_key){ c->buf[0].start, (uint32_t)(first + i) };
	}
	for (size_t i = o->nheap / 2; i-- > 0;)
		sift_down(o, i);
	return 0;
}

/* Takes the stretch with the smallest start and advances the chunk at the top of the heap. */
static int take(struct rk_order *o, struct rk_stretch *ret, struct rk_error *err)
{
	struct chunk *c = &o->chunks[o->heap[0].at];
	int rc;

	*ret = c->buf[c->at++];
	if (c->at == c->have && c->left) {
		rc = refill(o, c, err);
		if (rc < 0)
			return rc;
	}
	if (c->at < c->have)
		o->heap[0].key = c->buf[c->at].start;
	else
		o->heap[0] = o->heap[--o->nheap];
	if (o->nheap)
		sift_down(o, 0);
	return 0;
}

/* Merges chunks [first, first + n) into one at the end of the file. */
static int merge_some(struct rk_order *o, size_t first, size_t n, struct chunk *ret,
		      struct rk_error *err)
{
	struct chunk merged = { .offset = rk_spill_size(o->spill) };
	int rc = begin_merge(o, first, n, err);
	uint64_t offset;
	size_t k = 0;

	if (rc < 0)
		return rc;
	while (o->nheap) {
		rc = take(o, &o->spare[k++], err);
		if (rc < 0)
			return rc;
		merged.left++;
		if (k < o->cap && o->nheap)
			continue;
		rc = rk_spill_append(o->spill, o->spare, k * sizeof(*o->spare), &offset, err);
		if (rc < 0)
			return rc;
		k = 0;
	}
	*ret = merged;
	return 0;
}

static int begin_reading(struct rk_order *o, struct rk_error *err)
{
	int rc = put_in_order(o, err);

	o->reading = true;
	if (rc < 0 || !o->nchunks)
		return rc;
	if (o->n) {
		rc = write_out(o, o->n, err);
		if (rc < 0)
			return rc;
	}
	o->heap = rk_alloc(MAX_FAN_IN * sizeof(*o->heap));
	if (!o->heap)
		return rk_fail_nomem(err);
	if (o->nchunks > MAX_FAN_IN) {
		rc = make_spare(o, err);
		if (rc < 0)
			return rc;
	}
	while (o->nchunks > MAX_FAN_IN) {
		size_t out = 0;

		for (size_t i = 0; i < o->nchunks; i += MAX_FAN_IN) {
			rc = merge_some(o, i, rk_min(o->nchunks - i, MAX_FAN_IN), &o->chunks[out++],
					err);
			if (rc < 0)
				return rc;
		}
		o->nchunks = out;
	}
	return begin_merge(o, 0, o->nchunks, err);
}

int rk_order_next(struct rk_order *o, struct rk_stretch *ret, struct rk_error *err)
{
	int rc;

	if (!o->reading) {
		rc = begin_reading(o, err);
		if (rc < 0)
			return rc;
	}
	if (o->nchunks) {
		if (!o->nheap)
			return 0;
		rc = take(o, ret, err);
		return rc < 0 ? rc : 1;
	}
	if (o->at == o->n)
		return 0;
	*ret = o->store[o->at++];
	return 1;
}

size_t rk_order_chunks(const struct rk_order *o)
{
	return o->nchunks;
}

void rk_order_free(struct rk_order *o)
{
	if (!o)
		return;
	rk_spill_free(o->spill);
	rk_free(o->store);
	rk_free(o->spare);
	rk_free(o->keys);
	rk_free(o->chunks);
	rk_free(o->heap);
	rk_free(o);
}
