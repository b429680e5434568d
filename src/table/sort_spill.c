/*
 * sort_spill.c - sorts any number of rows with a temporary file.
 *
 * Rows are packed into records of fixed length: the key, a bitmap of the fields that have a value,
 * and the values of all columns that are present (the layout). When the store is full of records,
 * it is sorted and written as a chunk; at the end the chunks are merged. If a new column appears,
 * the layout no longer fits and a new chunk begins: each chunk has its own layout. More than
 * MAX_FAN_IN chunks are first merged into longer ones.
 */
#include "table/sort.h"

#include <string.h>

#include "base/alloc.h"
#include "base/num.h"
#include "io/file.h"

enum {
	STORE_BYTES = RK_SORT_WINDOW_BYTES,
	MAX_FAN_IN = 128,
	MAX_FIELDS = 1152,
	TAKEN = 512,
};

struct layout {
	size_t record_bytes;
	uint64_t mask; /* columns present, for the first 64; further ones always are */
	uint16_t offset[MAX_FIELDS]; /* of each present field in a record */
};

struct chunk {
	uint64_t offset, records; /* in the spill file */
	struct layout layout;
	/* while merging: */
	uint8_t *buf;
	size_t buf_records, have, at;
};

struct spill_sort {
	struct rk_source base;
	struct rk_source *rows;
	struct rk_spill *spill;
	uint8_t *store;  /* STORE_BYTES: incoming records, later the read buffers of the chunks */
	uint8_t *sorted; /* a block of records to be written */
	size_t nrecords;
	struct layout layout;
	struct rk_sort_key *keys, *tmp;
	struct chunk *chunks;
	size_t nchunks, cap_chunks;
	struct rk_sort_key *heap; /* chunks that have records (`at`), smallest key first */
	size_t nheap;
	bool merging;
	struct rk_builder out;
	/*
	 * Records to be unpacked into `out`: all of one layout, in buffers that are not yet
	 * refilled.
	 */
	const uint8_t *taken[TAKEN];
	const struct layout *taken_layout;
	size_t ntaken;
};

enum { BLOCK_BYTES = 256 << 10, BITMAP_AT = 8 /* after the key */ };

static bool in_layout(const struct layout *l, unsigned f)
{
	return f >= 64 || l->mask >> f & 1;
}

static void make_layout(struct layout *l, const struct rk_schema *s, uint64_t mask)
{
	size_t at = BITMAP_AT + (s->nfields + 63) / 64 * 8;

	l->mask = mask;
	for (unsigned f = 0; f < s->nfields; f++) {
		if (!in_layout(l, f))
			continue;
		l->offset[f] = (uint16_t)at;
		at += rk_type_size(s->fields[f].type);
	}
	l->record_bytes = (at + 7) / 8 * 8;
}

static inline void copy_value(uint8_t *to, const uint8_t *from, size_t size)
{
	if (size == 8)
		memcpy(to, from, 8);
	else if (size == 4)
		memcpy(to, from, 4);
	else
		*to = *from;
}

/* Copies one column of a batch into the records; column by column, so that reads are sequential. */
static void pack_column(struct spill_sort *s, const struct rk_batch *b, unsigned f, size_t from,
			size_t n)
{
	const struct rk_column *c = &b->cols[f];
	size_t size = rk_type_size(b->schema->fields[f].type), bytes = s->layout.record_bytes;
	uint8_t *rec = s->store + s->nrecords * bytes;
	size_t value = s->layout.offset[f], word = BITMAP_AT + f / 64 * 8;
	const uint8_t *data = (const uint8_t *)c->data + from * size;

	/* without nulls the bits are already set */
	for (size_t i = 0; !c->valid && i < n; i++)
		copy_value(rec + i * bytes + value, data + i * size, size);
	for (size_t i = 0; c->valid && i < n; i++, rec += bytes, data += size) {
		uint64_t bits;

		if (!rk_column_has(c, from + i))
			continue;
		memcpy(&bits, rec + word, 8);
		bits |= UINT64_C(1) << (f % 64);
		memcpy(rec + word, &bits, 8);
		copy_value(rec + value, data, size);
	}
}

static void pack(struct spill_sort *s, const struct rk_batch *b, size_t from, size_t n)
{
	const struct rk_column *time = &b->cols[b->schema->time_field];
	uint8_t *rec = s->store + s->nrecords * s->layout.record_bytes;
	size_t words = (b->schema->nfields + 63) / 64;
	uint64_t full[MAX_FIELDS / 64] = { 0 };

	/* key and bitmap of each record, with the bits of columns without nulls set */
	for (unsigned f = 0; f < b->schema->nfields; f++)
		if (b->cols[f].data && !b->cols[f].valid)
			full[f / 64] |= UINT64_C(1) << (f % 64);
	for (size_t i = 0; i < n; i++, rec += s->layout.record_bytes) {
		int64_t key = rk_sort_key_of(time, from + i);

		memcpy(rec, &key, 8);
		memcpy(rec + BITMAP_AT, full, words * 8);
	}
	for (unsigned f = 0; f < b->schema->nfields; f++)
		if (in_layout(&s->layout, f) && b->cols[f].data)
			pack_column(s, b, f, from, n);
	s->nrecords += n;
}

/* Sorts the records in the store and writes them, a block at a time, as a new chunk. */
static int flush_chunk(struct spill_sort *s, struct rk_error *err)
{
	size_t bytes = s->layout.record_bytes, per_block = BLOCK_BYTES / bytes, n = s->nrecords;
	struct rk_sort_key *order;
	struct chunk *c;
	uint64_t offset;
	int rc;

	if (!n)
		return 0;
	c = rk_grow(s->chunks, &s->cap_chunks, s->nchunks + 1, sizeof(*c));
	if (!c)
		return rk_fail_nomem(err);
	s->chunks = c;
	c[s->nchunks] = (struct chunk){ .offset = rk_spill_size(s->spill),
					.records = n,
					.layout = s->layout };
	for (size_t i = 0; i < n; i++) {
		memcpy(&s->keys[i].key, s->store + i * bytes, 8);
		s->keys[i].at = (uint32_t)i;
	}
	order = rk_sort_keys(s->keys, s->tmp, n);
	s->nrecords = 0;
	for (size_t i = 0; i < n;) {
		size_t k = 0;

		for (; k < per_block && i < n; k++, i++) {
			if (i + 8 < n)
				__builtin_prefetch(s->store + order[i + 8].at * bytes);
			memcpy(s->sorted + k * bytes, s->store + order[i].at * bytes, bytes);
		}
		rc = rk_spill_append(s->spill, s->sorted, k * bytes, &offset, err);
		if (rc < 0)
			return rc;
	}
	s->nchunks++;
	return 0;
}

static int take_batch(struct spill_sort *s, const struct rk_batch *b, struct rk_error *err)
{
	uint64_t mask = 0;
	int rc;

	for (unsigned f = 0; f < b->schema->nfields && f < 64; f++)
		mask |= (uint64_t)(b->cols[f].data != NULL) << f;
	if (mask & ~s->layout.mask) {
		rc = flush_chunk(s, err);
		if (rc < 0)
			return rc;
		make_layout(&s->layout, b->schema, s->layout.mask | mask);
	}
	for (size_t from = 0, n; from < b->nrows; from += n) {
		size_t room = STORE_BYTES / s->layout.record_bytes - s->nrecords;

		n = rk_min(b->nrows - from, room);
		pack(s, b, from, n);
		if (n == room && (rc = flush_chunk(s, err)) < 0)
			return rc;
	}
	return 0;
}

static int refill(struct spill_sort *s, struct chunk *c, struct rk_error *err)
{
	size_t n = rk_min((size_t)c->records, c->buf_records);
	int rc = rk_spill_read(s->spill, c->offset, c->buf, n * c->layout.record_bytes, err);

	c->offset += n * c->layout.record_bytes;
	c->records -= n;
	c->have = n;
	c->at = 0;
	return rc;
}

static const uint8_t *record(const struct chunk *c)
{
	return c->buf + c->at * c->layout.record_bytes;
}

static int64_t key_of(const struct chunk *c)
{
	int64_t key;

	memcpy(&key, record(c), 8);
	return key;
}

/* Chunks are numbered in input order, so the lower number wins a tie: the sort is stable. */
static inline bool before(struct rk_sort_key a, struct rk_sort_key b)
{
	return a.key < b.key || (a.key == b.key && a.at < b.at);
}

static void sift_down(struct spill_sort *s, size_t i)
{
	struct rk_sort_key *h = s->heap, moved = h[i];

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= s->nheap)
			break;
		if (child + 1 < s->nheap && before(h[child + 1], h[child]))
			child++;
		if (!before(h[child], moved))
			break;
		h[i] = h[child];
		i = child;
	}
	h[i] = moved;
}

/* Moves past the record at the top of the heap. */
static int advance(struct spill_sort *s, struct rk_error *err)
{
	struct chunk *c = &s->chunks[s->heap[0].at];
	int rc = 0;

	if (++c->at == c->have) {
		if (c->records)
			rc = refill(s, c, err);
		else
			s->heap[0] = s->heap[--s->nheap];
	}
	if (rc < 0 || !s->nheap)
		return rc;
	if (c->at < c->have)
		s->heap[0].key = key_of(c);
	sift_down(s, 0);
	return 0;
}

/* Splits the store into equal read buffers for chunks [first, first + n). */
static int begin_merge(struct spill_sort *s, size_t first, size_t n, struct rk_error *err)
{
	size_t share = STORE_BYTES / n / 8 * 8;
	int rc;

	s->nheap = 0;
	for (size_t i = 0; i < n; i++) {
		struct chunk *c = &s->chunks[first + i];

		c->buf = s->store + i * share;
		c->buf_records = share / c->layout.record_bytes;
		rc = refill(s, c, err);
		if (rc < 0)
			return rc;
		s->heap[s->nheap++] = (struct rk_sort_key){ key_of(c), (uint32_t)(first + i) };
	}
	for (size_t i = s->nheap / 2; i-- > 0;)
		sift_down(s, i);
	return 0;
}

/*
 * Merges chunks [first, first + n) into one at the end of the spill file, with the widest layout.
 */
static int merge_some(struct spill_sort *s, size_t first, size_t n, struct chunk *ret,
		      struct rk_error *err)
{
	const struct rk_schema *schema = s->base.schema;
	size_t bytes = s->layout.record_bytes, k = 0;
	struct chunk merged = { .offset = rk_spill_size(s->spill), .layout = s->layout };
	uint64_t offset;
	int rc = begin_merge(s, first, n, err);

	if (rc < 0)
		return rc;
	while (s->nheap) {
		const struct chunk *c = &s->chunks[s->heap[0].at];
		const uint8_t *from = record(c);
		uint8_t *to = s->sorted + k++ * bytes;

		memcpy(to, from, BITMAP_AT + (schema->nfields + 63) / 64 * 8);
		for (unsigned f = 0; f < schema->nfields; f++)
			if (in_layout(&c->layout, f))
				copy_value(to + s->layout.offset[f], from + c->layout.offset[f],
					   rk_type_size(schema->fields[f].type));
		merged.records++;
		rc = advance(s, err);
		if (rc < 0)
			return rc;
		if (s->nheap && k < BLOCK_BYTES / bytes)
			continue;
		rc = rk_spill_append(s->spill, s->sorted, k * bytes, &offset, err);
		if (rc < 0)
			return rc;
		k = 0;
	}
	*ret = merged;
	return 0;
}

/*
 * Writes all rows as chunks, merges them until at most MAX_FAN_IN are left, and begins the last
 * merge.
 */
static int take_all(struct spill_sort *s, struct rk_error *err)
{
	const struct rk_batch *b;
	int rc;

	s->merging = true;
	while ((rc = rk_source_next(s->rows, &b, err)) > 0) {
		rc = take_batch(s, b, err);
		if (rc < 0)
			return rc;
	}
	if (rc < 0 || (rc = flush_chunk(s, err)) < 0)
		return rc;
	rk_source_close(s->rows); /* its buffers are not needed at the same time as ours */
	s->rows = NULL;
	while (s->nchunks > MAX_FAN_IN) {
		size_t out = 0;

		for (size_t i = 0; i < s->nchunks; i += MAX_FAN_IN) {
			rc = merge_some(s, i, rk_min(s->nchunks - i, MAX_FAN_IN), &s->chunks[out++],
					err);
			if (rc < 0)
				return rc;
		}
		s->nchunks = out;
	}
	return s->nchunks ? begin_merge(s, 0, s->nchunks, err) : 0;
}

/* Unpacks one field that every taken record has. */
static void unpack_full(const struct spill_sort *s, unsigned f, size_t size)
{
	uint8_t *to = (uint8_t *)s->out.data[f] + s->out.nrows * size;
	size_t at = s->taken_layout->offset[f];

	if (size == 8)
		for (size_t i = 0; i < s->ntaken; i++)
			memcpy(to + i * 8, s->taken[i] + at, 8);
	else if (size == 4)
		for (size_t i = 0; i < s->ntaken; i++)
			memcpy(to + i * 4, s->taken[i] + at, 4);
	else
		for (size_t i = 0; i < s->ntaken; i++)
			to[i] = s->taken[i][at];
}

/* Unpacks the taken records into `out`, a field at a time. */
static int unpack(struct spill_sort *s, struct rk_error *err)
{
	const struct rk_schema *schema = s->base.schema;
	size_t n = s->ntaken, first = s->out.nrows, words = (schema->nfields + 63) / 64;
	uint64_t common[MAX_FIELDS / 64], bits; /* fields that every taken record has */

	memset(common, 0xff, words * 8);
	for (size_t i = 0; i < n; i++) {
		for (size_t w = 0; w < words; w++) {
			memcpy(&bits, s->taken[i] + BITMAP_AT + w * 8, 8);
			common[w] &= bits;
		}
	}
	for (unsigned f = 0; n && f < schema->nfields; f++) {
		size_t size = rk_type_size(schema->fields[f].type);

		if (!s->out.data[f])
			continue;
		if (common[f / 64] >> (f % 64) & 1) {
			unpack_full(s, f, size);
			continue;
		}
		for (size_t i = 0; i < n; i++) {
			memcpy(&bits, s->taken[i] + BITMAP_AT + f / 64 * 8, 8);
			if (bits >> (f % 64) & 1)
				copy_value((uint8_t *)s->out.data[f] + (first + i) * size,
					   s->taken[i] + s->taken_layout->offset[f], size);
			else if (!rk_builder_null(&s->out, f, first + i))
				return rk_fail_nomem(err);
		}
	}
	s->out.nrows += n;
	s->ntaken = 0;
	return 0;
}

/*
 * Takes the record at the top of the heap; unpacks earlier ones first if that is not possible
 * later.
 */
static int take_record(struct spill_sort *s, struct rk_error *err)
{
	const struct chunk *c = &s->chunks[s->heap[0].at];
	int rc;

	if (s->ntaken == TAKEN || (s->ntaken && s->taken_layout->mask != c->layout.mask)) {
		rc = unpack(s, err);
		if (rc < 0)
			return rc;
	}
	s->taken_layout = &c->layout;
	s->taken[s->ntaken++] = record(c);
	if (c->at + 1 == c->have) {
		rc = unpack(s, err); /* the buffer is about to be refilled */
		if (rc < 0)
			return rc;
	}
	return advance(s, err);
}

static int spill_next(struct rk_source *base, const struct rk_batch **batch, struct rk_error *err)
{
	struct spill_sort *s = (struct spill_sort *)base;
	int rc;

	if (!s->merging) {
		rc = take_all(s, err);
		if (rc < 0)
			return rc;
		for (unsigned f = 0; f < base->schema->nfields; f++)
			if (in_layout(&s->layout, f) && !rk_builder_column(&s->out, f))
				return rk_fail_nomem(err);
	}
	rk_builder_reset(&s->out);
	while (s->nheap && s->out.nrows + s->ntaken < s->out.cap) {
		rc = take_record(s, err);
		if (rc < 0)
			return rc;
	}
	rc = unpack(s, err);
	if (rc < 0)
		return rc;
	*batch = rk_builder_batch(&s->out);
	return s->out.nrows > 0;
}

static void spill_close(struct rk_source *base)
{
	struct spill_sort *s = (struct spill_sort *)base;

	rk_source_close(s->rows);
	rk_spill_free(s->spill);
	rk_builder_release(&s->out);
	rk_free(s->store);
	rk_free(s->sorted);
	rk_free(s->keys);
	rk_free(s->tmp);
	rk_free(s->chunks);
	rk_free(s->heap);
	rk_free(s);
}

static const struct rk_source_ops spill_ops = { .next = spill_next, .close = spill_close };

int rk_sort_spill_open(struct rk_source *rows, struct rk_context *ctx, struct rk_source **ret,
		       struct rk_error *err)
{
	const struct rk_schema *schema = rows->schema;
	struct spill_sort *s;
	size_t most;
	int rc;

	if (schema->time_field < 0) {
		*ret = rows;
		return 0;
	}
	s = rk_calloc(1, sizeof(*s));
	if (!s) {
		rk_source_close(rows);
		return rk_fail_nomem(err);
	}
	s->base = (struct rk_source){ &spill_ops, schema };
	s->rows = rows;
	rc = rk_spill_new(ctx->tmpdir, &s->spill, err);
	if (rc < 0)
		goto fail;
	if (schema->nfields > MAX_FIELDS) {
		rc = rk_fail(err, RK_E_LIMIT, "a row of %u columns is too wide to sort",
			     schema->nfields);
		goto fail;
	}
	make_layout(&s->layout, schema, 0);
	most = STORE_BYTES / s->layout.record_bytes + 1; /* no record is shorter */
	s->store = rk_alloc(STORE_BYTES);
	s->sorted = rk_alloc(BLOCK_BYTES);
	s->keys = rk_alloc(most * sizeof(*s->keys));
	s->tmp = rk_alloc(most * sizeof(*s->tmp));
	s->heap = rk_alloc(MAX_FAN_IN * sizeof(*s->heap));
	if (!s->store || !s->sorted || !s->keys || !s->tmp || !s->heap) {
		rc = rk_fail_nomem(err);
		goto fail;
	}
	rc = rk_builder_init(&s->out, schema, RK_BATCH_ROWS, err);
	if (rc < 0)
		goto fail;
	*ret = &s->base;
	return 0;
fail:
	spill_close(&s->base);
	return rc;
}
