/* timeline_order.c - see timeline_order.h. */
#include "table/timeline_order.h"

#include <string.h>

#include "base/alloc.h"
#include "io/file.h"
#include "table/sort.h"

enum { FIRST_CAP = 1024, MAX_FAN_IN = 64 };

struct run {
	uint64_t offset, left; /* in the temporary file; stretches not yet read */
	int64_t last;          /* start of its last one */
	/* while merging: */
	struct rk_stretch *buf;
	size_t cap, have, at;
};

struct rk_order {
	const char *tmpdir;
	struct rk_spill *spill; /* NULL until it is needed */
	/* those held; while merging, the read buffers of the runs */
	struct rk_stretch *store;
	struct rk_stretch *spare; /* as long: for putting in order, and for writing merged runs */
	struct rk_sort_key *keys; /* twice as long; NULL until something is out of order */
	size_t n, cap, max;
	bool in_order;
	struct run *runs;
	size_t nruns, cap_runs;
	struct rk_sort_key *heap; /* runs that are not used up (`at`), smallest start first */
	size_t nheap;
	bool reading;
	size_t at; /* when all are held */
};

int rk_order_new(const char *tmpdir, size_t held, struct rk_order **ret, struct rk_error *err)
{
	struct rk_order *o = rk_calloc(1, sizeof(*o));

	if (!o)
		return rk_fail_nomem(err);
	o->tmpdir = tmpdir;
	o->max = held < MAX_FAN_IN ? MAX_FAN_IN : held;
	o->in_order = true;
	*ret = o;
	return 0;
}

static int grow(struct rk_order *o, struct rk_error *err)
{
	size_t cap = o->cap ? o->cap * 2 : FIRST_CAP;
	struct rk_stretch *store;

	if (cap > o->max)
		cap = o->max;
	store = rk_reallocn(o->store, cap, sizeof(*store));
	if (!store)
		return rk_fail_nomem(err);
	o->store = store;
	o->cap = cap;
	rk_free(o->spare); /* allocated again at the new length when it is needed, like the keys */
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

/* The run that stretches from `start` on can be added to. */
static struct run *run_for(struct rk_order *o, int64_t start, struct rk_error *err)
{
	struct run *runs = o->runs;

	if (o->nruns && runs[o->nruns - 1].last <= start)
		return &runs[o->nruns - 1];
	runs = rk_grow(runs, &o->cap_runs, o->nruns + 1, sizeof(*runs));
	if (!runs) {
		rk_fail_nomem(err);
		return NULL;
	}
	o->runs = runs;
	runs[o->nruns] = (struct run){ .offset = rk_spill_size(o->spill) };
	return &runs[o->nruns++];
}

/* The first n of those held, which are in order, go to the file. */
static int write_out(struct rk_order *o, size_t n, struct rk_error *err)
{
	struct run *r;
	uint64_t offset;
	int rc = o->spill ? 0 : rk_spill_new(o->tmpdir, &o->spill, err);

	if (rc < 0)
		return rc;
	r = run_for(o, o->store[0].start, err);
	if (!r)
		return RK_E_NOMEM;
	rc = rk_spill_append(o->spill, o->store, n * sizeof(*o->store), &offset, err);
	if (rc < 0)
		return rc;
	r->left += n;
	r->last = o->store[n - 1].start;
	o->n -= n;
	memmove(o->store, o->store + n, o->n * sizeof(*o->store));
	return 0;
}

static int make_room(struct rk_order *o, struct rk_error *err)
{
	int rc;

	if (o->cap < o->max)
		return grow(o, err);
	rc = put_in_order(o, err);
	return rc < 0 ? rc : write_out(o, o->n / 2, err);
}

int rk_order_add(struct rk_order *o, const struct rk_stretch *s, struct rk_error *err)
{
	int rc = o->n == o->cap ? make_room(o, err) : 0;

	if (rc < 0)
		return rc;
	if (o->n && s->start < o->store[o->n - 1].start)
		o->in_order = false;
	o->store[o->n++] = *s;
	return 0;
}

static int refill(struct rk_order *o, struct run *r, struct rk_error *err)
{
	size_t n = r->left < r->cap ? (size_t)r->left : r->cap;
	int rc = rk_spill_read(o->spill, r->offset, r->buf, n * sizeof(*r->buf), err);

	r->offset += n * sizeof(*r->buf);
	r->left -= n;
	r->have = n;
	r->at = 0;
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

/* The store is cut into read buffers for runs [first, first + n). */
static int begin_merge(struct rk_order *o, size_t first, size_t n, struct rk_error *err)
{
	size_t share = o->cap / n;
	int rc = 0;

	o->nheap = 0;
	for (size_t i = 0; rc == 0 && i < n; i++) {
		struct run *r = &o->runs[first + i];

		r->buf = o->store + i * share;
		r->cap = share;
		rc = refill(o, r, err);
		if (rc == 0)
			o->heap[o->nheap++] =
				(struct rk_sort_key){ r->buf[0].start, (uint32_t)(first + i) };
	}
	for (size_t i = o->nheap / 2; rc == 0 && i-- > 0;)
		sift_down(o, i);
	return rc;
}

/* The smallest of all runs, out of the heap's first, which moves on. */
static int take(struct rk_order *o, struct rk_stretch *ret, struct rk_error *err)
{
	struct run *r = &o->runs[o->heap[0].at];
	int rc = 0;

	*ret = r->buf[r->at++];
	if (r->at == r->have && r->left)
		rc = refill(o, r, err);
	if (rc < 0)
		return rc;
	if (r->at < r->have)
		o->heap[0].key = r->buf[r->at].start;
	else
		o->heap[0] = o->heap[--o->nheap];
	if (o->nheap)
		sift_down(o, 0);
	return 0;
}

/* Runs [first, first + n) become one at the end of the file. */
static int merge_some(struct rk_order *o, size_t first, size_t n, struct run *ret,
		      struct rk_error *err)
{
	struct run merged = { .offset = rk_spill_size(o->spill) };
	int rc = begin_merge(o, first, n, err);
	uint64_t offset;
	size_t k = 0;

	while (rc == 0 && o->nheap) {
		rc = take(o, &o->spare[k++], err);
		merged.left++;
		if (rc == 0 && (k == o->cap || !o->nheap)) {
			rc = rk_spill_append(o->spill, o->spare, k * sizeof(*o->spare), &offset,
					     err);
			k = 0;
		}
	}
	*ret = merged;
	return rc;
}

static int reduce_runs(struct rk_order *o, struct rk_error *err)
{
	int rc = o->nruns > MAX_FAN_IN ? make_spare(o, err) : 0;

	while (rc == 0 && o->nruns > MAX_FAN_IN) {
		size_t out = 0;

		for (size_t i = 0; rc == 0 && i < o->nruns; i += MAX_FAN_IN) {
			size_t n = o->nruns - i < MAX_FAN_IN ? o->nruns - i : MAX_FAN_IN;
			struct run merged;

			rc = merge_some(o, i, n, &merged, err);
			o->runs[out++] = merged;
		}
		o->nruns = out;
	}
	return rc;
}

static int begin_reading(struct rk_order *o, struct rk_error *err)
{
	int rc = put_in_order(o, err);

	o->reading = true;
	if (rc < 0 || !o->nruns)
		return rc;
	if (o->n)
		rc = write_out(o, o->n, err);
	o->heap = rk_alloc(MAX_FAN_IN * sizeof(*o->heap));
	if (rc == 0 && !o->heap)
		rc = rk_fail_nomem(err);
	if (rc == 0)
		rc = reduce_runs(o, err);
	return rc < 0 ? rc : begin_merge(o, 0, o->nruns, err);
}

int rk_order_next(struct rk_order *o, struct rk_stretch *ret, struct rk_error *err)
{
	int rc = o->reading ? 0 : begin_reading(o, err);

	if (rc < 0)
		return rc;
	if (o->nruns) {
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

size_t rk_order_runs(const struct rk_order *o)
{
	return o->nruns;
}

void rk_order_free(struct rk_order *o)
{
	if (!o)
		return;
	rk_spill_free(o->spill);
	rk_free(o->store);
	rk_free(o->spare);
	rk_free(o->keys);
	rk_free(o->runs);
	rk_free(o->heap);
	rk_free(o);
}
