/* encode.c - encodes the pages of a column: ranges, encodings, compression. */
#include "write/parquet/encode.h"

#include <math.h>
#include <string.h>
#include <zstd.h>

#include "base/alloc.h"
#include "base/num.h"
#include "base/text.h"
#include "codec/parquet/rle.h"
#include "codec/thrift.h"

/* The range of the page's numbers. NaN has no order: a chunk with a NaN gets no statistics. */
static void number_range(struct rk_pq_column *c, struct rk_pq_range *r)
{
	const void *vals = c->vals;
	const size_t n = c->nvals;

	r->set = true;
	if (c->type == RK_I64) {
		const int64_t *v = vals;
		int64_t min = v[0], max = v[0];

		for (size_t i = 1; i < n; i++) {
			min = v[i] < min ? v[i] : min;
			max = v[i] > max ? v[i] : max;
		}
		r->min = (uint64_t)min;
		r->max = (uint64_t)max;
	} else if (c->type == RK_I32) {
		const int32_t *v = vals;
		int32_t min = v[0], max = v[0];

		for (size_t i = 1; i < n; i++) {
			min = v[i] < min ? v[i] : min;
			max = v[i] > max ? v[i] : max;
		}
		r->min = (uint64_t)(int64_t)min;
		r->max = (uint64_t)(int64_t)max;
	} else if (c->type == RK_BOOL) {
		uint8_t all = 1, any = 0;

		for (size_t i = 0; i < n; i++) {
			all &= c->vals[i];
			any |= c->vals[i];
		}
		r->min = all & 1;
		r->max = any & 1;
	} else {
		const double *v = vals;
		double min = v[0], max = v[0];
		bool nan = false;

		for (size_t i = 0; i < n; i++) {
			nan |= v[i] != v[i];
			min = v[i] < min ? v[i] : min;
			max = v[i] > max ? v[i] : max;
		}
		/* -0.0 and 0.0 are equal here but may differ for a reader: cover both. */
		if (min == 0)
			min = -0.0;
		if (max == 0)
			max = 0.0;
		memcpy(&r->min, &min, 8);
		memcpy(&r->max, &max, 8);
		r->set = !nan;
		c->no_range |= nan;
	}
}

int rk_pq_compare(enum rk_type type, const struct rk_strtab *names, uint64_t a, uint64_t b)
{
	if (a == b)
		return 0;
	if (type == RK_STR) {
		size_t alen, blen;
		const char *x = rk_strtab_borrow(names, (uint32_t)a, &alen);
		const char *y = rk_strtab_borrow(names, (uint32_t)b, &blen);
		int order = memcmp(x, y, rk_min(alen, blen));

		return order ? order : (alen > blen) - (alen < blen);
	}
	if (type == RK_F64) {
		double x, y;

		memcpy(&x, &a, 8);
		memcpy(&y, &b, 8);
		return (x > y) - (x < y);
	}
	return ((int64_t)a > (int64_t)b) - ((int64_t)a < (int64_t)b);
}

static void pq_range_join(struct rk_pq_range *r, const struct rk_pq_range *other, enum rk_type type,
			  const struct rk_strtab *names)
{
	if (!other->set)
		return;
	if (!r->set) {
		*r = *other;
		return;
	}
	if (rk_pq_compare(type, names, other->min, r->min) < 0)
		r->min = other->min;
	if (rk_pq_compare(type, names, other->max, r->max) > 0)
		r->max = other->max;
}

/* ---- encoding and compressing a page ---- */
/*
 * Integers: a dictionary if values repeat, else deltas, or plain if neither helps. Doubles: a
 * dictionary or plain. Strings: a dictionary unless nearly every row has a different text.
 * Booleans: RLE/bit-packed. Each page chooses again, but once the dictionary does not pay off it
 * stays off for the rest of the chunk.
 */

enum {
	ZSTD_LEVEL = 1,
	ZSTD_MIN_BYTES = 64, /* a zstd frame does not pay off below this */
	ZSTD_REST = 7,       /* pages to skip after one that did not shrink */
	DICT_REST = 7,       /* chunks to skip after one without a dictionary */
	NARROW_BITS = 8,     /* indices this narrow are not compared with deltas */
	LEVELS_MAX = RK_PQ_PAGE_ROWS / 8 + RK_PQ_PAGE_ROWS / 64 * 8 + 64,
	TEXT_MAX_BYTES = 512 << 20,
};

/* A page's values after encoding. */
struct encoded {
	enum rk_pq_encoding encoding;
	const uint8_t *data;
	size_t len;
};

int rk_pq_scratch_init(struct rk_pq_scratch *s, struct rk_error *err)
{
	*s = (struct rk_pq_scratch){ 0 };
	rk_bytes_init(&s->body, TEXT_MAX_BYTES);
	rk_bytes_init(&s->head, 4096);
	rk_bytes_init(&s->zout, ZSTD_COMPRESSBOUND(TEXT_MAX_BYTES));
	rk_bytes_init(&s->seen, UINT32_MAX);
	s->packed_cap = rk_delta_bound(RK_PQ_PAGE_ROWS);
	if (s->packed_cap < rk_rle_bound(RK_PQ_PAGE_ROWS, 32) + 8)
		s->packed_cap = rk_rle_bound(RK_PQ_PAGE_ROWS, 32) + 8;
	s->idx = rk_alloc(RK_PQ_PAGE_ROWS * sizeof(*s->idx));
	s->table = rk_alloc(RK_PQ_PAGE_ROWS * sizeof(*s->table));
	s->packed = rk_alloc(s->packed_cap);
	s->alt = rk_alloc(s->packed_cap);
	s->zstd = ZSTD_createCCtx();
	if (s->idx && s->table && s->packed && s->alt && s->zstd)
		return 0;
	rk_pq_scratch_release(s);
	return rk_fail_nomem(err);
}

void rk_pq_scratch_release(struct rk_pq_scratch *s)
{
	rk_free(s->idx);
	rk_free(s->table);
	rk_free(s->packed);
	rk_free(s->alt);
	rk_bytes_release(&s->body);
	rk_bytes_release(&s->head);
	rk_bytes_release(&s->zout);
	rk_bytes_release(&s->seen);
	ZSTD_freeCCtx(s->zstd);
	*s = (struct rk_pq_scratch){ 0 };
}

void rk_pq_column_init(struct rk_pq_column *c, enum rk_type type, struct rk_strtab *names)
{
	*c = (struct rk_pq_column){ .type = type, .names = names };
	rk_bytes_init(&c->data, INT32_MAX);
	rk_bytes_init(&c->dict_page, INT32_MAX);
}

void rk_pq_column_release(struct rk_pq_column *c)
{
	rk_free(c->vals);
	rk_free(c->valid);
	rk_free(c->pages);
	rk_bytes_release(&c->data);
	rk_bytes_release(&c->dict_page);
	rk_pq_dict_release(&c->dict);
}

void rk_pq_column_reset(struct rk_pq_column *c)
{
	if (c->dict_off && !c->dict.used)
		c->dict_rest = c->dict_rest ? c->dict_rest - 1 : DICT_REST;
	c->dict_off = c->type != RK_STR && c->dict_rest > 0;
	rk_pq_dict_clear(&c->dict);
	rk_bytes_clear(&c->data);
	rk_bytes_clear(&c->dict_page);
	memset(c->count, 0, sizeof(c->count));
	c->npages = 0;
	c->rows = c->null_rows = c->raw_bytes = 0;
	c->range.set = c->compressed = c->no_range = false;
}

/* Compresses the page if that saves an eighth, or if `always`; otherwise returns it unchanged. */
static struct encoded squeeze(struct rk_pq_scratch *s, struct encoded e, bool always)
{
	size_t bound = ZSTD_compressBound(e.len), got;

	rk_bytes_clear(&s->zout);
	if (!rk_bytes_reserve(&s->zout, bound))
		return e;
	got = ZSTD_compressCCtx(s->zstd, s->zout.data, bound, e.data, e.len, ZSTD_LEVEL);
	if (ZSTD_isError(got) || (!always && got > e.len - e.len / 8))
		return e;
	return (struct encoded){ .encoding = e.encoding, .data = s->zout.data, .len = got };
}

struct page_sizes {
	size_t rows, nulls;
	size_t levels; /* bytes */
};

/* Appends a data page (version 2) to the chunk: header, levels and values. */
static int put_page(struct rk_pq_column *c, struct rk_pq_scratch *s, struct encoded raw,
		    struct encoded stored, const uint8_t *levels, struct page_sizes size,
		    const struct rk_pq_range *range)
{
	struct rk_pq_page *pages, page = {
		.offset = c->data.len,
		.first_row = c->rows,
		.nulls = size.nulls,
		.all_null = size.nulls == size.rows,
		.range = *range,
	};
	struct rk_thrift_writer w;

	rk_bytes_clear(&s->head);
	rk_thrift_begin(&w, &s->head);
	rk_thrift_put_i32(&w, 1, RK_PQ_DATA_PAGE_V2);
	rk_thrift_put_i32(&w, 2, (int32_t)(size.levels + raw.len));
	rk_thrift_put_i32(&w, 3, (int32_t)(size.levels + stored.len));
	rk_thrift_put_struct(&w, 8);
	rk_thrift_put_i32(&w, 1, (int32_t)size.rows);
	rk_thrift_put_i32(&w, 2, (int32_t)size.nulls);
	rk_thrift_put_i32(&w, 3, (int32_t)size.rows);
	rk_thrift_put_i32(&w, 4, (int32_t)raw.encoding);
	rk_thrift_put_i32(&w, 5, (int32_t)size.levels);
	rk_thrift_put_i32(&w, 6, 0);
	rk_thrift_put_bool(&w, 7, stored.len != raw.len);
	rk_thrift_end(&w);
	rk_thrift_end(&w);

	rk_bytes_put(&c->data, s->head.data, s->head.len);
	rk_bytes_put(&c->data, levels, size.levels);
	rk_bytes_put(&c->data, stored.data, stored.len);
	page.bytes = (uint32_t)(c->data.len - page.offset);
	pages = rk_grow(c->pages, &c->cap_pages, c->npages + 1, sizeof(*pages));
	if (pages)
		c->pages = pages;
	if (s->head.bad || c->data.bad || !pages)
		return RK_E_NOMEM;
	c->pages[c->npages++] = page;

	c->rows += size.rows;
	c->null_rows += size.nulls;
	c->raw_bytes += s->head.len + size.levels + raw.len;
	c->count[raw.encoding]++;
	c->compressed |= stored.len != raw.len;
	pq_range_join(&c->range, range, c->type, c->names);
	return 0;
}

/* A page of nulls only; it takes about a dozen bytes for any number of rows. */
static int put_null_page(struct rk_pq_column *c, struct rk_pq_scratch *s)
{
	uint8_t levels[16];
	struct page_sizes size = { .rows = c->pending, .nulls = c->pending };
	struct encoded nothing = { .encoding = RK_PQ_PLAIN, .data = levels };
	struct rk_pq_range none = { 0 };

	size.levels = rk_rle_encode_run(levels, 0, c->pending, 1);
	c->pending = 0;
	return put_page(c, s, nothing, nothing, levels, size, &none);
}

static unsigned index_width(const struct rk_pq_dict *d)
{
	/* Readers disagree on a width of 0; all accept 1. */
	return d->n > 2 ? rk_bits_width(d->n - 1) : 1;
}

/* Index pages start with one byte: the bit width of the indices. */
static struct encoded indices(struct rk_pq_column *c, struct rk_pq_scratch *s, size_t runs)
{
	unsigned width = index_width(&c->dict);
	size_t len = 1;

	s->packed[0] = (uint8_t)width;
	if (runs == 1)
		len += rk_rle_encode_run(s->packed + 1, s->idx[0], c->nvals, width);
	else
		len += rk_rle_encode(s->packed + 1, s->idx, c->nvals, width, runs < c->nvals / 4);
	c->dict.used = c->dict.n;
	return (struct encoded){ .encoding = RK_PQ_RLE_DICTIONARY, .data = s->packed, .len = len };
}

/*
 * The span of the page's integers if it is narrow enough for a table instead of hashing; else len
 * 0.
 */
static struct rk_pq_span narrow_span(const struct rk_pq_column *c, const struct rk_pq_scratch *s,
				     const struct rk_pq_range *range)
{
	struct rk_pq_span span = { .table = s->table };

	if (c->type == RK_F64 || range->max - range->min >= RK_PQ_PAGE_ROWS)
		return span;
	/*
	 * A span of 32-bit numbers must not cross zero, because their unsigned values wrap there.
	 */
	if (c->type == RK_I32 && (int64_t)range->min < 0)
		return span;
	span.base = range->min;
	span.len = (size_t)(range->max - range->min) + 1;
	return span;
}

static int encode_numbers(struct rk_pq_column *c, struct rk_pq_scratch *s,
			  const struct rk_pq_range *range, struct encoded *ret)
{
	const size_t size = rk_type_size(c->type);
	const uint32_t before = c->dict.n;
	const struct rk_pq_span span = narrow_span(c, s, range);
	struct encoded other = { RK_PQ_PLAIN, c->vals, c->nvals * size };
	size_t runs = 1, distinct = c->nvals, cost;
	int rc = 1;

	if (!memcmp(c->vals, c->vals + size, (c->nvals - 1) * size))
		distinct = 1;
	if (!c->dict_off)
		rc = rk_pq_dict_map(&c->dict, c->vals, distinct, size, c->nvals / 2 + 1, &span,
				    s->idx, &runs);
	if (rc < 0)
		return rc;
	if (rc == 0 && (runs == 1 || index_width(&c->dict) <= NARROW_BITS)) {
		*ret = indices(c, s, runs);
		return 0;
	}

	if (c->type != RK_F64) {
		const void *v = c->vals;
		size_t len = c->type == RK_I64 ? rk_delta_encode64(s->alt, v, c->nvals) :
						 rk_delta_encode32(s->alt, v, c->nvals);

		if (len < other.len)
			other = (struct encoded){ RK_PQ_DELTA_BINARY_PACKED, s->alt, len };
	}
	/* A dictionary costs its indices plus half the size of its new entries. */
	cost = rk_min(c->nvals * index_width(&c->dict) / 8, runs * 4);
	cost += (c->dict.n - before) * size / 2;
	if (rc == 0 && cost <= other.len) {
		*ret = indices(c, s, runs);
		return 0;
	}
	c->dict_off = true;
	if (!c->dict.used)
		rk_pq_dict_release(&c->dict);
	*ret = other;
	return 0;
}

/* Names may contain any bytes, but STRING must be valid UTF-8: repair new entries that are not. */
static int repair_entries(struct rk_pq_column *c, struct rk_pq_scratch *s, uint32_t first)
{
	for (uint32_t i = first; i < c->dict.n; i++) {
		size_t len;
		const char *text = rk_strtab_borrow(c->names, (uint32_t)c->dict.vals[i], &len);
		uint32_t id;

		if (rk_utf8_valid(text, len) == len)
			continue;
		rk_bytes_clear(&s->body);
		rk_utf8_repair(&s->body, text, len);
		if (s->body.bad ||
		    rk_strtab_add(c->names, (const char *)s->body.data, s->body.len, &id, NULL) < 0)
			return RK_E_NOMEM;
		c->dict.vals[i] = id;
	}
	return 0;
}

static int string_range(struct rk_pq_column *c, struct rk_pq_scratch *s, size_t distinct,
			struct rk_pq_range *range)
{
	rk_bytes_clear(&s->seen);
	if (!rk_bytes_reserve(&s->seen, c->dict.n))
		return RK_E_NOMEM;
	memset(s->seen.data, 0, c->dict.n);
	for (size_t i = 0; i < distinct; i++)
		s->seen.data[s->idx[i]] = 1;
	range->set = false;
	for (size_t i = 0; i < c->dict.n; i++) {
		uint64_t id = c->dict.vals[i];
		struct rk_pq_range one = { .set = true, .min = id, .max = id };

		if (s->seen.data[i])
			pq_range_join(range, &one, RK_STR, c->names);
	}
	return 0;
}

static void put_text(struct rk_bytes *out, const struct rk_strtab *names, uint64_t id)
{
	size_t len;
	const char *text = rk_strtab_borrow(names, (uint32_t)id, &len);
	const uint32_t head = (uint32_t)len;

	rk_bytes_put(out, &head, 4);
	rk_bytes_put(out, text, len);
}

static size_t text_bytes(const struct rk_pq_column *c, const uint64_t *ids, const uint32_t *idx,
			 size_t n)
{
	size_t sum = 0, len;

	for (size_t i = 0; i < n; i++) {
		rk_strtab_borrow(c->names, (uint32_t)ids[idx ? idx[i] : i], &len);
		sum += len + 4;
	}
	return sum;
}

/* Whether plain strings take less space than their new dictionary entries and indices. */
static bool unlike(const struct rk_pq_column *c, const struct rk_pq_scratch *s, uint32_t before,
		   size_t n)
{
	size_t fresh = c->dict.n - before, as_text, as_dict;

	if (fresh < 64 || fresh < n / 4 * 3)
		return false;
	as_text = text_bytes(c, c->dict.vals, s->idx, n);
	as_dict = text_bytes(c, c->dict.vals + before, NULL, fresh) + n * index_width(&c->dict) / 8;
	return as_text < as_dict;
}

static int encode_strings(struct rk_pq_column *c, struct rk_pq_scratch *s, struct encoded *ret,
			  struct rk_pq_range *range)
{
	const uint32_t before = c->dict.n, names = rk_strtab_count(c->names);
	const struct rk_pq_span span = {
		.table = s->table,
		.len = names <= RK_PQ_PAGE_ROWS ? names : 0,
	};
	size_t runs, n = c->nvals;
	int rc;

	if (!memcmp(c->vals, c->vals + 4, (n - 1) * 4))
		n = 1;
	rc = rk_pq_dict_map(&c->dict, c->vals, n, 4, n, &span, s->idx, &runs);
	if (rc < 0 || (rc = repair_entries(c, s, before)) < 0 ||
	    (rc = string_range(c, s, n, range)) < 0)
		return rc;
	if (!c->dict_off && !unlike(c, s, before, n)) {
		*ret = indices(c, s, runs);
		return 0;
	}
	c->dict_off = true;
	rk_bytes_clear(&s->body);
	for (size_t i = 0; i < c->nvals; i++)
		put_text(&s->body, c->names, c->dict.vals[s->idx[n == 1 ? 0 : i]]);
	*ret = (struct encoded){ .data = s->body.data, .len = s->body.len };
	return s->body.bad ? RK_E_NOMEM : 0;
}

/* Booleans as an RLE/bit-packed hybrid, after its length in four bytes. */
static struct encoded encode_bools(struct rk_pq_column *c, struct rk_pq_scratch *s)
{
	uint64_t *bits = (uint64_t *)(void *)s->alt;
	uint32_t len;

	memset(bits, 0, RK_PQ_PAGE_ROWS / 8);
	for (size_t i = 0; i < c->nvals; i++)
		bits[i / 64] |= (uint64_t)(c->vals[i] & 1) << i % 64;
	len = (uint32_t)rk_rle_encode_bitmap(s->packed + 4, bits, c->nvals);
	memcpy(s->packed, &len, 4);
	return (struct encoded){ .encoding = RK_PQ_RLE, .data = s->packed, .len = len + 4 };
}

int rk_pq_column_flush(struct rk_pq_column *c, struct rk_pq_scratch *s)
{
	uint8_t levels[LEVELS_MAX];
	struct page_sizes size = { .rows = c->nvals + c->nulls, .nulls = c->nulls };
	struct rk_pq_range range = { 0 };
	struct encoded raw = { 0 }, stored;
	int rc = 0;

	if (!c->nvals) {
		c->pending += c->nulls;
		goto out;
	}
	if (c->pending) {
		rc = put_null_page(c, s);
		if (rc < 0)
			goto out;
	}

	if (c->type == RK_STR) {
		rc = encode_strings(c, s, &raw, &range);
	} else {
		number_range(c, &range);
		if (c->type == RK_BOOL)
			raw = encode_bools(c, s);
		else
			rc = encode_numbers(c, s, &range, &raw);
	}
	if (rc < 0)
		goto out;
	if (c->nulls)
		size.levels = rk_rle_encode_bitmap(levels, c->valid, size.rows);
	else
		size.levels = rk_rle_encode_run(levels, 1, size.rows, 1);

	/*
	 * After a page that did not shrink, skip compression for a few pages: most pages resemble
	 * their neighbours, and the attempt costs more than the encoding did.
	 */
	stored = raw;
	if (raw.len >= ZSTD_MIN_BYTES && c->zstd_rest) {
		c->zstd_rest--;
	} else if (raw.len >= ZSTD_MIN_BYTES) {
		stored = squeeze(s, raw, false);
		if (stored.len == raw.len)
			c->zstd_rest = ZSTD_REST;
	}
	rc = put_page(c, s, raw, stored, levels, size, &range);
out:
	c->nvals = c->nulls = 0;
	return rc;
}

int rk_pq_column_finish(struct rk_pq_column *c, struct rk_pq_scratch *s)
{
	const size_t size = rk_type_size(c->type);
	struct rk_thrift_writer w;
	struct encoded raw, stored;
	int rc;

	if (c->pending) {
		rc = put_null_page(c, s);
		if (rc < 0)
			return rc;
	}
	rk_bytes_clear(&s->body);
	for (uint32_t i = 0; i < c->dict.used; i++) {
		if (c->type == RK_STR)
			put_text(&s->body, c->names, c->dict.vals[i]);
		else
			rk_bytes_put(&s->body, &c->dict.vals[i], size);
	}
	if (s->body.bad)
		return RK_E_NOMEM;
	if (!c->dict.used)
		goto out;

	raw = stored = (struct encoded){ .data = s->body.data, .len = s->body.len };
	if (c->compressed || raw.len >= ZSTD_MIN_BYTES) {
		stored = squeeze(s, raw, c->compressed);
		if (c->compressed && stored.data == raw.data)
			return RK_E_NOMEM;
	}
	c->compressed |= stored.data != raw.data;
	rk_thrift_begin(&w, &c->dict_page);
	rk_thrift_put_i32(&w, 1, RK_PQ_DICTIONARY_PAGE);
	rk_thrift_put_i32(&w, 2, (int32_t)raw.len);
	rk_thrift_put_i32(&w, 3, (int32_t)stored.len);
	rk_thrift_put_struct(&w, 7);
	rk_thrift_put_i32(&w, 1, (int32_t)c->dict.used);
	rk_thrift_put_i32(&w, 2, RK_PQ_PLAIN);
	rk_thrift_end(&w);
	rk_thrift_end(&w);
	c->raw_bytes += c->dict_page.len + raw.len;
	rk_bytes_put(&c->dict_page, stored.data, stored.len);
	if (c->dict_page.bad)
		return RK_E_NOMEM;
out:
	c->codec = c->compressed ? RK_PQ_ZSTD : RK_PQ_UNCOMPRESSED;
	return 0;
}
