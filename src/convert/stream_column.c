/*
 * stream_column.c - convert rows of a run's batches to values, validity bitmaps and strings of
 * Arrow arrays.
 *
 * Buffers of 2 MiB and more are separate mappings: they grow without a copy and use large pages.
 * Otherwise a column of a whole table, which is filled once from start to end, would spend a third
 * of that time on page faults for small pages.
 */
#include "convert/stream_column.h"

#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/num.h"

/* ---- bitmaps: row i is bit i % 64 of word i / 64 ---- */

/* 64-bit words have Arrow's byte order only on little-endian machines. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "bitmaps are little endian");

static size_t bits_words(size_t n)
{
	return n / 64 + (n % 64 != 0);
}

/* Writes the k lowest bits of `word` to bits [at, at + k), which are in one word. */
static void put_bits(uint64_t *to, size_t at, uint64_t word, size_t k)
{
	uint64_t mask = UINT64_MAX >> (64 - k);
	uint64_t *w = &to[at / 64];

	*w = (*w & ~(mask << at % 64)) | (word & mask) << at % 64;
}

static size_t within_word(size_t at, size_t n)
{
	return rk_min(64 - at % 64, n);
}

/* Sets n bits from `at` on to `set`. */
static void bits_fill(uint64_t *to, size_t at, size_t n, bool set)
{
	for (size_t k; n; at += k, n -= k) {
		k = within_word(at, n);
		put_bits(to, at, set ? UINT64_MAX : 0, k);
	}
}

void rk_bits_copy(uint64_t *to, size_t at, const uint64_t *from, size_t skip, size_t n)
{
	for (size_t k; n; at += k, skip += k, n -= k) {
		size_t i = skip / 64, shift = skip % 64;
		uint64_t word = from[i] >> shift;

		k = within_word(at, n);
		/* never read beyond the word of the last bit */
		if (shift + k > 64)
			word |= from[i + 1] << (64 - shift);
		put_bits(to, at, word, k);
	}
}

/* Sets n bits from `at` on: bit i is 1 if byte i is not 0. */
static void bits_pack(uint64_t *to, size_t at, const uint8_t *bytes, size_t n)
{
	for (size_t k; n; at += k, bytes += k, n -= k) {
		uint64_t word = 0;

		k = within_word(at, n);
		for (size_t i = 0; i < k; i++)
			word |= (uint64_t)(bytes[i] != 0) << i;
		put_bits(to, at, word, k);
	}
}

size_t rk_bits_count(const uint64_t *bits, size_t n)
{
	size_t count = 0;

	for (size_t i = 0; i < n / 64; i++)
		count += (size_t)__builtin_popcountll(bits[i]);
	if (n % 64)
		count += (size_t)__builtin_popcountll(bits[n / 64] & ((UINT64_C(1) << n % 64) - 1));
	return count;
}

/* ---- buffers ---- */

enum { MAP_FROM = 2 << 20, PAGE = 4096 };

struct rk_buffer *rk_buffer_new(size_t size, bool zero)
{
	const size_t extra = sizeof(struct rk_buffer) + RK_BUFFER_ALIGN;
	struct rk_buffer *b;
	size_t bytes = 0;
	void *data;

	if (size > SIZE_MAX / 2)
		return NULL;
	if (size < MAP_FROM) {
		uintptr_t at;

		b = zero ? rk_calloc(1, size + extra) : rk_alloc(size + extra);
		if (!b)
			return NULL;
		at = ((uintptr_t)(b + 1) + RK_BUFFER_ALIGN - 1) / RK_BUFFER_ALIGN * RK_BUFFER_ALIGN;
		data = (uint8_t *)b + (at - (uintptr_t)b);
	} else {
		b = rk_alloc(sizeof(*b));
		if (!b)
			return NULL;
		bytes = (size + PAGE - 1) / PAGE * PAGE; /* new pages are zeroed */
		data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			    0);
		if (data == MAP_FAILED) {
			rk_free(b);
			return NULL;
		}
		madvise(data, bytes, MADV_HUGEPAGE); /* only a hint, may fail */
	}
	b->data = data;
	b->size = size;
	b->mapped = bytes;
	atomic_init(&b->refs, 1);
	return b;
}

bool rk_buffer_grow(struct rk_buffer **b, size_t size, size_t keep, bool zero)
{
	struct rk_buffer *old = *b, *made;
	size_t bytes;
	void *data;

	/* shared buffers are never grown in place */
	if (!old->mapped || size < old->size ||
	    atomic_load_explicit(&old->refs, memory_order_relaxed) != 1) {
		made = rk_buffer_new(size, zero);
		if (!made)
			return false;
		memcpy(made->data, old->data, keep);
		rk_buffer_unref(old);
		*b = made;
		return true;
	}
	if (size > SIZE_MAX / 2)
		return false;
	bytes = (size + PAGE - 1) / PAGE * PAGE;
	data = mremap(old->data, old->mapped, bytes, MREMAP_MAYMOVE);
	if (data == MAP_FAILED)
		return false;
	old->data = data;
	if (zero && keep < old->mapped)
		memset(old->data + keep, 0, old->mapped - keep);
	old->size = size;
	old->mapped = bytes;
	return true;
}

struct rk_buffer *rk_buffer_ref(struct rk_buffer *b)
{
	if (b)
		atomic_fetch_add_explicit(&b->refs, 1, memory_order_relaxed);
	return b;
}

void rk_buffer_unref(struct rk_buffer *b)
{
	if (!b || atomic_fetch_sub_explicit(&b->refs, 1, memory_order_acq_rel) != 1)
		return;
	if (b->mapped)
		munmap(b->data, b->mapped);
	rk_free(b);
}

/* ---- columns ---- */

/* Bytes for `rows` rows; bitmaps are whole words, and there is one more offset than rows. */
static size_t value_bytes(const struct rk_stream_column *col, size_t rows)
{
	if (col->type == RK_BOOL)
		return bits_words(rows) * 8;
	if (col->type == RK_STR && col->plain)
		return (rows + 1) * sizeof(int32_t);
	return rows * rk_type_size(col->type);
}

static uint64_t *words(const struct rk_buffer *b)
{
	return (uint64_t *)(void *)b->data;
}

static int32_t *offsets(const struct rk_stream_column *col)
{
	return (int32_t *)(void *)col->values->data;
}

/* Allocates the values of a column; all rows before `at` are null. */
static bool begin_values(struct rk_stream_column *col, size_t at, size_t cap)
{
	col->values = rk_buffer_new(value_bytes(col, cap), col->type == RK_BOOL);
	if (at)
		col->valid = rk_buffer_new(bits_words(cap) * 8, true);
	if (col->plain)
		col->text = rk_buffer_new(at ? 0 : 4096, false);
	if (!col->values || (at && !col->valid) || (col->plain && !col->text)) {
		rk_stream_column_reset(col);
		return false;
	}
	memset(col->values->data, 0, value_bytes(col, at));
	return true;
}

/* The index of a string, from 1; 0 if out of memory. */
static uint32_t add_text(struct rk_stream_dict *d, const struct rk_strtab *names, uint32_t id)
{
	if (id >= d->nplace) {
		size_t n = rk_strtab_count(names), old = d->nplace;
		uint32_t *place = rk_reallocn(d->place, n, sizeof(*place));

		if (!place)
			return 0;
		memset(place + old, 0, (n - old) * sizeof(*place));
		d->place = place;
		d->nplace = n;
	}
	if (!d->place[id]) {
		uint32_t *ids = rk_grow(d->ids, &d->cap, d->n + 1, sizeof(*ids));

		if (!ids)
			return 0;
		d->ids = ids;
		ids[d->n++] = id;
		d->place[id] = (uint32_t)d->n;
	}
	return d->place[id];
}

static bool add_ids(struct rk_stream_column *col, const struct rk_strtab *names,
		    const struct rk_column *c, size_t from, size_t at, size_t n)
{
	const uint32_t *ids = c->data;
	int32_t *to = (int32_t *)(void *)col->values->data + at;
	struct rk_stream_dict *d = &col->dict;

	for (size_t i = 0; i < n; i++) {
		uint32_t id = ids[from + i], place;

		to[i] = 0;
		if (c->valid && !rk_column_has(c, from + i))
			continue;
		place = id < d->nplace && d->place[id] ? d->place[id] : add_text(d, names, id);
		if (!place)
			return false;
		to[i] = (int32_t)place - 1;
	}
	return true;
}

static size_t text_bytes(const struct rk_strtab *names, const struct rk_column *c, size_t from,
			 size_t n)
{
	size_t sum = 0, len;

	for (size_t i = 0; c->data && i < n; i++)
		if (rk_column_has(c, from + i)) {
			rk_strtab_borrow(names, ((const uint32_t *)c->data)[from + i], &len);
			sum += len;
		}
	return sum;
}

bool rk_stream_column_fits(const struct rk_stream_column *col, const struct rk_strtab *names,
			   const struct rk_column *c, size_t from, size_t at, size_t n,
			   size_t max_bytes)
{
	size_t have;

	if (!col->plain)
		return true;
	have = col->values ? (size_t)offsets(col)[at] : 0;
	return text_bytes(names, c, from, n) <= max_bytes - have;
}

static bool add_plain(struct rk_stream_column *col, const struct rk_strtab *names,
		      const struct rk_column *c, size_t from, size_t at, size_t n)
{
	size_t end = (size_t)offsets(col)[at], need = end + text_bytes(names, c, from, n);

	if (need > col->text->size) {
		size_t size = need < 4096 ? 4096 : need + need / 2;

		if (!rk_buffer_grow(&col->text, size, end, false))
			return false;
	}
	for (size_t i = 0; i < n; i++) {
		if (rk_column_has(c, from + i)) {
			uint32_t id = ((const uint32_t *)c->data)[from + i];
			size_t len;
			const char *text = rk_strtab_borrow(names, id, &len);

			memcpy(col->text->data + end, text, len);
			end += len;
		}
		offsets(col)[at + i + 1] = (int32_t)end;
	}
	return true;
}

/* Adds rows that are all null to a column that has values. */
static void add_nulls(struct rk_stream_column *col, size_t at, size_t n)
{
	size_t size = rk_type_size(col->type);

	if (col->type == RK_BOOL)
		bits_fill(words(col->values), at, n, false);
	else if (col->type == RK_STR && col->plain)
		for (size_t i = 0; i < n; i++)
			offsets(col)[at + i + 1] = offsets(col)[at];
	else
		memset(col->values->data + at * size, 0, n * size);
}

int rk_stream_column_add(struct rk_stream_column *col, const struct rk_strtab *names,
			 const struct rk_column *c, size_t from, size_t at, size_t n, size_t cap,
			 struct rk_error *err)
{
	bool nulls = !c->data || c->valid, ok = true;
	size_t size = rk_type_size(col->type);

	if (!c->data && !col->values)
		return 0;
	if (!col->values && !begin_values(col, at, cap))
		return rk_fail_nomem(err);
	if (nulls && !col->valid) {
		col->valid = rk_buffer_new(bits_words(cap) * 8, true);
		if (!col->valid)
			return rk_fail_nomem(err);
		bits_fill(words(col->valid), 0, at, true);
	}
	if (!c->data) {
		add_nulls(col, at, n);
	} else if (col->type == RK_BOOL) {
		bits_pack(words(col->values), at, (const uint8_t *)c->data + from, n);
	} else if (col->type == RK_STR && col->plain) {
		ok = add_plain(col, names, c, from, at, n);
	} else if (col->type == RK_STR) {
		ok = add_ids(col, names, c, from, at, n);
	} else {
		uint8_t *to = col->values->data + at * size;

		memcpy(to, (const uint8_t *)c->data + from * size, n * size);
		for (size_t i = 0; c->valid && i < n; i++) /* the value of a null is 0 */
			if (!(c->valid[(from + i) / 64] >> (from + i) % 64 & 1))
				memset(to + i * size, 0, size);
	}
	if (!ok)
		return rk_fail_nomem(err);
	if (c->data && c->valid)
		rk_bits_copy(words(col->valid), at, c->valid, from, n);
	else if (col->valid)
		bits_fill(words(col->valid), at, n, c->data != NULL);
	return 0;
}

int rk_stream_column_grow(struct rk_stream_column *col, size_t at, size_t cap, struct rk_error *err)
{
	bool zero = col->type == RK_BOOL;

	if (col->values &&
	    !rk_buffer_grow(&col->values, value_bytes(col, cap), value_bytes(col, at), zero))
		return rk_fail_nomem(err);
	if (col->valid &&
	    !rk_buffer_grow(&col->valid, bits_words(cap) * 8, bits_words(at) * 8, true))
		return rk_fail_nomem(err);
	return 0;
}

int rk_stream_column_freeze(struct rk_stream_column *col, const struct rk_strtab *names,
			    struct rk_error *err)
{
	struct rk_stream_dict *d = &col->dict;
	struct rk_buffer *at, *text;
	size_t bytes = 0, len;

	if (d->offsets && d->frozen == d->n)
		return 0;
	for (size_t i = 0; i < d->n; i++) {
		rk_strtab_borrow(names, d->ids[i], &len);
		bytes += len;
	}
	at = rk_buffer_new((d->n + 1) * sizeof(int32_t), true);
	text = rk_buffer_new(bytes, false);
	if (!at || !text) {
		rk_buffer_unref(at);
		rk_buffer_unref(text);
		return rk_fail_nomem(err);
	}
	bytes = 0;
	for (size_t i = 0; i < d->n; i++) {
		const char *from = rk_strtab_borrow(names, d->ids[i], &len);

		memcpy(text->data + bytes, from, len);
		bytes += len;
		((int32_t *)(void *)at->data)[i + 1] = (int32_t)bytes;
	}
	rk_buffer_unref(d->offsets);
	rk_buffer_unref(d->text);
	d->offsets = at;
	d->text = text;
	d->frozen = d->n;
	return 0;
}

void rk_stream_column_reset(struct rk_stream_column *col)
{
	rk_buffer_unref(col->values);
	rk_buffer_unref(col->valid);
	rk_buffer_unref(col->text);
	col->values = col->valid = col->text = NULL;
}

void rk_stream_column_release(struct rk_stream_column *col)
{
	rk_stream_column_reset(col);
	rk_buffer_unref(col->dict.offsets);
	rk_buffer_unref(col->dict.text);
	rk_free(col->dict.place);
	rk_free(col->dict.ids);
}

/* ---- arrays that own their buffers ---- */

enum { MAX_BUFFERS = 3 }; /* validity, offsets, text */

/* Memory that an array owns. */
struct owned {
	struct rk_buffer *held[MAX_BUFFERS];
	const void *buffers[MAX_BUFFERS];
	struct ArrowArray *children, **pointers; /* one allocation each */
	struct ArrowArray *dictionary;
};

static void release_array(struct ArrowArray *a)
{
	struct owned *o = a->private_data;

	for (int64_t i = 0; i < a->n_children; i++)
		if (o->children[i].release)
			o->children[i].release(&o->children[i]);
	if (o->dictionary && o->dictionary->release)
		o->dictionary->release(o->dictionary);
	for (unsigned i = 0; i < MAX_BUFFERS; i++)
		rk_buffer_unref(o->held[i]);
	rk_free(o->children);
	rk_free(o->pointers);
	rk_free(o->dictionary);
	rk_free(o);
	a->release = NULL;
}

/* An array without children and buffers; its release function is set. */
static struct owned *make_array(struct ArrowArray *a, size_t n, int64_t nbuffers)
{
	struct owned *o = rk_calloc(1, sizeof(*o));

	if (o)
		*a = (struct ArrowArray){ .length = (int64_t)n,
					  .n_buffers = nbuffers,
					  .buffers = o->buffers,
					  .release = release_array,
					  .private_data = o };
	return o;
}

static void share(struct owned *o, unsigned i, struct rk_buffer *b)
{
	o->held[i] = rk_buffer_ref(b);
	o->buffers[i] = b ? b->data : NULL;
}

/* `zeros` is the data for a column without values: no bit set, all offsets 0. */
static bool make_column(struct ArrowArray *a, const struct rk_stream_column *col, size_t n,
			struct rk_buffer *zeros)
{
	bool plain = col->type == RK_STR && col->plain;
	struct owned *o = make_array(a, n, plain ? 3 : 2), *texts;
	size_t valid = n;

	if (!o)
		return false;
	if (!col->values)
		valid = 0;
	else if (col->valid)
		valid = rk_bits_count((const uint64_t *)(const void *)col->valid->data, n);
	a->null_count = (int64_t)(n - valid);
	if (valid < n)
		share(o, 0, col->values ? col->valid : zeros);
	share(o, 1, col->values ? col->values : zeros);
	if (plain)
		share(o, 2, col->values ? col->text : zeros);
	if (col->type != RK_STR || plain)
		return true;
	o->dictionary = rk_calloc(1, sizeof(*o->dictionary));
	texts = o->dictionary ? make_array(o->dictionary, col->dict.frozen, 3) : NULL;
	if (!texts)
		return false;
	a->dictionary = o->dictionary;
	share(texts, 1, col->dict.offsets);
	share(texts, 2, col->dict.text);
	return true;
}

int rk_stream_array(const struct rk_stream_column *cols, size_t ncols, size_t n,
		    struct ArrowArray *ret, struct rk_error *err)
{
	/* untouched pages of a large zeroed block cost nothing */
	struct rk_buffer *zeros = rk_buffer_new((n + 1) * sizeof(uint64_t), true);
	struct owned *o = NULL;
	struct ArrowArray a;
	bool ok = false;

	if (zeros)
		o = make_array(&a, n, 1);
	if (!o)
		goto out;
	o->children = rk_calloc(ncols, sizeof(*o->children));
	o->pointers = rk_calloc(ncols, sizeof(struct ArrowArray *));
	if (!o->children || !o->pointers)
		goto out;
	a.children = o->pointers;
	a.n_children = (int64_t)ncols;
	for (size_t i = 0; i < ncols; i++) {
		o->pointers[i] = &o->children[i];
		if (!make_column(&o->children[i], &cols[i], n, zeros))
			goto out;
	}
	ok = true;
	*ret = a;
out:
	if (o && !ok)
		a.release(&a);
	rk_buffer_unref(zeros);
	return ok ? 0 : rk_fail_nomem(err);
}
