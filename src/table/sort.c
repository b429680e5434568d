/*
 * sort.c - sorts rows that are almost in order, and sorts keys.
 *
 * The window is a set of columns with room for `cap` rows. If the next batch does not fit, the
 * window is sorted and three quarters of it are delivered; no later row may sort before the last
 * one delivered. At the end of the input everything left is delivered.
 */
#include "table/sort.h"

#include <string.h>

#include "base/alloc.h"
#include "base/num.h"

enum { MIN_ROWS = 2048 };

struct window {
	struct rk_source base;
	struct rk_source *rows;
	size_t cap, count;
	size_t out, out_end; /* rows [out, out_end) are sorted and ready for delivery */
	size_t kept;         /* rows before this index have been delivered */
	struct rk_builder b;
	struct rk_sort_key *keys, *tmp;
	void *spare; /* room for one column, for gathering */
	bool sorted, ended, marked;
	int64_t mark;
	struct rk_column *cols;
	struct rk_batch batch;
	const struct rk_batch *pending; /* rows from pending_at on are not yet in the window */
	size_t pending_at;
};

static int64_t key_at(const struct window *w, size_t row)
{
	unsigned f = (unsigned)w->base.schema->time_field;

	if (!w->b.data[f] || rk_builder_is_null(&w->b, f, row))
		return INT64_MAX;
	return ((const int64_t *)w->b.data[f])[row];
}

/* Adds rows of a batch; checks whether they are in order and whether one is too late. */
static int append(struct window *w, const struct rk_batch *b, size_t from, size_t n,
		  struct rk_error *err)
{
	const struct rk_column *time = &b->cols[w->base.schema->time_field];
	int64_t last = w->count ? key_at(w, w->count - 1) : INT64_MIN;

	for (size_t i = from; i < from + n; i++) {
		int64_t key = rk_sort_key_of(time, i);

		if (key < last)
			w->sorted = false;
		if (w->marked && key < w->mark)
			return rk_fail(err, RK_E_UNSORTED, "rows are out of order");
		last = key;
	}
	for (unsigned f = 0; f < w->base.schema->nfields; f++)
		if (!rk_builder_append(&w->b, f, w->count, &b->cols[f], from, n))
			return rk_fail_nomem(err);
	w->count += n;
	return 0;
}

static void gather(void *to, const void *from, const struct rk_sort_key *order, size_t n,
		   size_t size)
{
	if (size == 8)
		for (size_t i = 0; i < n; i++)
			((uint64_t *)to)[i] = ((const uint64_t *)from)[order[i].at];
	else if (size == 4)
		for (size_t i = 0; i < n; i++)
			((uint32_t *)to)[i] = ((const uint32_t *)from)[order[i].at];
	else
		for (size_t i = 0; i < n; i++)
			((uint8_t *)to)[i] = ((const uint8_t *)from)[order[i].at];
}

static void sort_window(struct window *w)
{
	size_t n = w->count, words = (n + 63) / 64;
	struct rk_sort_key *order;

	if (w->sorted)
		return;
	for (size_t i = 0; i < n; i++)
		w->keys[i] = (struct rk_sort_key){ key_at(w, i), (uint32_t)i };
	order = rk_sort_keys(w->keys, w->tmp, n);
	for (unsigned f = 0; f < w->base.schema->nfields; f++) {
		size_t size = rk_type_size(w->base.schema->fields[f].type);
		uint64_t *bits = w->b.valid[f], *moved = w->spare;

		if (!w->b.data[f])
			continue;
		gather(w->spare, w->b.data[f], order, n, size);
		memcpy(w->b.data[f], w->spare, n * size);
		if (!w->b.nulls[f])
			continue;
		memset(moved, 0, words * 8);
		for (size_t i = 0; i < n; i++)
			moved[i / 64] |= (bits[order[i].at / 64] >> (order[i].at % 64) & 1)
					 << (i % 64);
		memcpy(bits, moved, words * 8);
	}
	w->sorted = true;
}

/* Drops delivered rows and moves the rest to the front. kept is a multiple of 64 or all. */
static void drop_front(struct window *w)
{
	size_t n = w->count - w->kept, words = (w->cap + 63) / 64, gone = w->kept / 64;

	for (unsigned f = 0; w->kept && f < w->base.schema->nfields; f++) {
		size_t size = rk_type_size(w->base.schema->fields[f].type);
		uint64_t *valid = w->b.valid[f];

		if (!w->b.data[f])
			continue;
		memmove(w->b.data[f], (char *)w->b.data[f] + w->kept * size, n * size);
		if (!w->b.nulls[f])
			continue;
		memmove(valid, valid + gone, (words - gone) * 8);
		memset(valid + words - gone, 0xff, gone * 8);
	}
	w->count = n;
	w->kept = 0;
}

/* Rows [out, out + n) as a batch; out is a multiple of 64, so bitmaps need no shifting. */
static const struct rk_batch *view(struct window *w)
{
	size_t n = rk_min(w->out_end - w->out, RK_BATCH_ROWS);

	for (unsigned f = 0; f < w->base.schema->nfields; f++) {
		size_t size = rk_type_size(w->base.schema->fields[f].type);

		w->cols[f] = (struct rk_column){ 0 };
		if (w->b.data[f])
			w->cols[f].data = (char *)w->b.data[f] + w->out * size;
		if (w->b.nulls[f])
			w->cols[f].valid = w->b.valid[f] + w->out / 64;
	}
	w->batch = (struct rk_batch){ w->base.schema, n, w->cols };
	w->out += n;
	if (w->out == w->out_end)
		w->kept = w->out_end;
	return &w->batch;
}

/* Reads rows until the window is full or the input ends. */
static int fill(struct window *w, struct rk_error *err)
{
	int rc;

	while (!w->ended && w->count < w->cap) {
		size_t n;

		if (!w->pending) {
			rc = rk_source_next(w->rows, &w->pending, err);
			if (rc < 0)
				return rc;
			w->ended = rc == 0;
			w->pending_at = 0;
			continue;
		}
		n = rk_min(w->pending->nrows - w->pending_at, w->cap - w->count);
		rc = append(w, w->pending, w->pending_at, n, err);
		if (rc < 0)
			return rc;
		w->pending_at += n;
		if (w->pending_at == w->pending->nrows)
			w->pending = NULL;
	}
	return 0;
}

static int window_next(struct rk_source *base, const struct rk_batch **batch, struct rk_error *err)
{
	struct window *w = (struct window *)base;
	int rc;

	if (w->out == w->out_end) {
		drop_front(w);
		rc = fill(w, err);
		if (rc < 0)
			return rc;
		if (!w->count)
			return 0;
		/* the first three quarters, or all at the end, are ready for delivery */
		sort_window(w);
		w->out = 0;
		w->out_end = w->ended ? w->count : w->count * 3 / 4 / 64 * 64;
		if (w->out_end) {
			w->marked = true;
			w->mark = key_at(w, w->out_end - 1);
		}
	}
	*batch = view(w);
	return 1;
}

static void window_close(struct rk_source *base)
{
	struct window *w = (struct window *)base;

	rk_source_close(w->rows);
	rk_builder_release(&w->b);
	rk_free(w->keys);
	rk_free(w->tmp);
	rk_free(w->spare);
	rk_free(w->cols);
	rk_free(w);
}

static const struct rk_source_ops window_ops = { .next = window_next, .close = window_close };

int rk_sort_window_open(struct rk_source *rows, struct rk_context *ctx, struct rk_source **ret,
			struct rk_error *err)
{
	const struct rk_schema *schema = rows->schema;
	size_t row_bytes = 0;
	struct window *w;
	int rc;

	(void)ctx;
	if (schema->time_field < 0) {
		*ret = rows;
		return 0;
	}
	w = rk_calloc(1, sizeof(*w));
	if (!w) {
		rk_source_close(rows);
		return rk_fail_nomem(err);
	}
	w->base = (struct rk_source){ &window_ops, schema };
	w->rows = rows;
	w->sorted = true;
	for (unsigned f = 0; f < schema->nfields; f++)
		row_bytes += rk_type_size(schema->fields[f].type);
	/* some rows must fit even if they are wide: a row with a thousand counters takes 8 KiB */
	w->cap = rk_max(RK_SORT_WINDOW_BYTES / row_bytes / 64 * 64, MIN_ROWS);
	w->keys = rk_alloc(w->cap * sizeof(*w->keys));
	w->tmp = rk_alloc(w->cap * sizeof(*w->tmp));
	w->spare = rk_alloc(w->cap * 8);
	w->cols = rk_calloc(schema->nfields, sizeof(*w->cols));
	if (!w->keys || !w->tmp || !w->spare || !w->cols)
		rc = rk_fail_nomem(err);
	else
		rc = rk_builder_init(&w->b, schema, w->cap, err);
	if (rc < 0) {
		window_close(&w->base);
		return rc;
	}
	*ret = &w->base;
	return 0;
}

/* ---- stable sorting of keys by radix, eleven bits at a time ---- */

enum { RADIX_BITS = 11, BUCKETS = 1 << RADIX_BITS };

/* Difference from the smallest key: unsigned, so that any two int64 are in range. */
static inline uint64_t distance(const struct rk_sort_key *k, int64_t min)
{
	return (uint64_t)k->key - (uint64_t)min;
}

static void radix_pass(const struct rk_sort_key *from, struct rk_sort_key *to, size_t n,
		       int64_t min, unsigned shift)
{
	uint32_t count[BUCKETS] = { 0 }, at = 0;

	for (size_t i = 0; i < n; i++)
		count[distance(&from[i], min) >> shift & (BUCKETS - 1)]++;
	for (size_t i = 0; i < BUCKETS; i++) {
		uint32_t c = count[i];

		count[i] = at;
		at += c;
	}
	for (size_t i = 0; i < n; i++)
		to[count[distance(&from[i], min) >> shift & (BUCKETS - 1)]++] = from[i];
}

struct rk_sort_key *rk_sort_keys(struct rk_sort_key *keys, struct rk_sort_key *tmp, size_t n)
{
	int64_t min, max;

	if (n < 2)
		return keys;
	min = max = keys[0].key;
	for (size_t i = 1; i < n; i++) {
		min = rk_min_i64(keys[i].key, min);
		max = rk_max_i64(keys[i].key, max);
	}
	for (unsigned shift = 0; shift < 64; shift += RADIX_BITS) {
		struct rk_sort_key *swap = keys;

		if (!(((uint64_t)max - (uint64_t)min) >> shift))
			break;
		radix_pass(keys, tmp, n, min, shift);
		keys = tmp;
		tmp = swap;
	}
	return keys;
}
