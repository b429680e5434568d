/* page.c - see page.h. */
#include "codec/parquet/page.h"

#include <inttypes.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "base/alloc.h"
#include "base/num.h"
#include "codec/compress.h"

/* ---- unpacking pages with zstd, Snappy and gzip, to exactly the declared size ---- */

/* Unpacks one page into exactly raw_len bytes. */
static int pq_unpack(int codec, const uint8_t *in, size_t len, uint8_t *raw, size_t raw_len,
		     struct rk_error *err)
{
	z_stream z = { .next_in = (Bytef *)(uintptr_t)in, .avail_in = (uInt)len };
	int rc;

	switch (codec) {
	case RK_PQ_ZSTD:
		if (ZSTD_decompress(raw, raw_len, in, len) != raw_len)
			return rk_fail(err, RK_E_FORMAT, "damaged zstd page");
		return 0;
	case RK_PQ_SNAPPY:
		if (!rk_snappy_unpack(in, len, raw, raw_len))
			return rk_fail(err, RK_E_FORMAT, "damaged snappy page");
		return 0;
	case RK_PQ_GZIP:
		z.next_out = raw;
		z.avail_out = (uInt)raw_len;
		/* 32: zlib detects gzip or zlib headers. */
		if (inflateInit2(&z, 15 + 32) != Z_OK)
			return rk_fail_nomem(err);
		rc = inflate(&z, Z_FINISH);
		inflateEnd(&z);
		if (rc != Z_STREAM_END || z.avail_out)
			return rk_fail(err, RK_E_FORMAT, "damaged gzip page");
		return 0;
	default:
		return rk_fail(err, RK_E_UNSUPPORTED, "compression codec %d is not supported",
			       codec);
	}
}

/* ---- decoding the values of a page (Encodings.md) ---- */

static int damaged(const struct rk_pq_values *v, struct rk_error *err)
{
	return rk_fail(err, RK_E_FORMAT, "column '%s': page ends early or is damaged",
		       v->leaf->name);
}

static int unsupported(const struct rk_pq_values *v, struct rk_error *err)
{
	return rk_fail(err, RK_E_UNSUPPORTED, "column '%s': encoding %d is not supported",
		       v->leaf->name, v->encoding);
}

static size_t width_of(int physical)
{
	switch (physical) {
	case RK_PQ_INT32:
	case RK_PQ_FLOAT:
		return 4;
	case RK_PQ_INT64:
	case RK_PQ_DOUBLE:
		return 8;
	default:
		return 0;
	}
}

/* Widens a value of four bytes to 64 bits according to its type. */
static uint64_t widen(const struct rk_pq_leaf *leaf, uint32_t word)
{
	float single;
	double wide;
	uint64_t bits;

	if (leaf->physical == RK_PQ_INT32)
		return leaf->is_unsigned ? word : (uint64_t)(int64_t)(int32_t)word;
	memcpy(&single, &word, 4);
	wide = (double)single;
	memcpy(&bits, &wide, 8);
	return bits;
}

static int plain_numbers(struct rk_pq_values *v, uint64_t *out, size_t n, struct rk_error *err)
{
	const size_t width = width_of(v->leaf->physical);
	const uint8_t *p = rk_cursor_take(&v->c, n * width);

	if (!p)
		return damaged(v, err);
	if (width == 8) {
		memcpy(out, p, n * 8);
		return 0;
	}
	for (size_t i = 0; i < n; i++) {
		uint32_t word;

		memcpy(&word, p + i * 4, 4);
		out[i] = widen(v->leaf, word);
	}
	return 0;
}

static int intern(struct rk_pq_values *v, const void *text, size_t len, uint64_t *out,
		  struct rk_error *err)
{
	uint32_t id;
	int rc = rk_strtab_add(v->names, text, len, &id, err);

	if (rc < 0)
		return rc;
	*out = id;
	return 0;
}

static int plain_strings(struct rk_pq_values *v, uint64_t *out, size_t n, struct rk_error *err)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t len = rk_cursor_u32le(&v->c);
		const uint8_t *p = rk_cursor_take(&v->c, len);
		int rc = p ? intern(v, p, len, &out[i], err) : damaged(v, err);

		if (rc < 0)
			return rc;
	}
	return 0;
}

/* BYTE_STREAM_SPLIT: the page has byte 0 of all values, then byte 1 of all values, and so on. */
static int split_numbers(struct rk_pq_values *v, uint64_t *out, size_t n, struct rk_error *err)
{
	const size_t width = width_of(v->leaf->physical);

	if (n > v->count - v->pos)
		return damaged(v, err);
	for (size_t i = 0; i < n; i++) {
		uint64_t word = 0;

		for (size_t k = 0; k < width; k++)
			word |= (uint64_t)v->c.pos[k * v->count + v->pos + i] << 8 * k;
		out[i] = width == 8 ? word : widen(v->leaf, (uint32_t)word);
	}
	v->pos += n;
	return 0;
}

static int from_dict(struct rk_pq_values *v, uint64_t *out, size_t n, struct rk_error *err)
{
	uint32_t idx[256];

	for (size_t done = 0; done < n;) {
		size_t k = rk_min(n - done, 256);

		if (rk_rle_next(&v->rle, idx, k) != k)
			return damaged(v, err);
		for (size_t i = 0; i < k; i++) {
			if (idx[i] >= v->ndict)
				return rk_fail(err, RK_E_FORMAT,
					       "column '%s': entry %" PRIu32
					       " of a dictionary that has %zu",
					       v->leaf->name, idx[i], v->ndict);
			out[done + i] = v->dict[idx[i]];
		}
		done += k;
	}
	return 0;
}

static int rle_bools(struct rk_pq_values *v, uint64_t *out, size_t n, struct rk_error *err)
{
	uint32_t bits[256];

	for (size_t done = 0; done < n;) {
		size_t k = rk_min(n - done, 256);

		if (rk_rle_next(&v->rle, bits, k) != k)
			return damaged(v, err);
		for (size_t i = 0; i < k; i++)
			out[done + i] = bits[i];
		done += k;
	}
	return 0;
}

static int delta_lengths(struct rk_pq_values *v, uint64_t *out, size_t n, struct rk_error *err)
{
	for (size_t i = 0; i < n; i++) {
		const uint8_t *p = NULL;
		int64_t len;
		int rc;

		if (rk_delta_next(&v->delta, &len, 1) == 1 && len >= 0)
			p = rk_cursor_take(&v->c, (size_t)len);
		rc = p ? intern(v, p, (size_t)len, &out[i], err) : damaged(v, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* Each string is a prefix of the previous one plus its own suffix. */
static int delta_strings(struct rk_pq_values *v, uint64_t *out, size_t n, struct rk_error *err)
{
	for (size_t i = 0; i < n; i++) {
		const uint8_t *p = NULL;
		int64_t prefix, len;
		int rc;

		if (rk_delta_next(&v->delta, &prefix, 1) == 1 &&
		    rk_delta_next(&v->suffix, &len, 1) == 1 && prefix >= 0 &&
		    (uint64_t)prefix <= v->last.len && len >= 0)
			p = rk_cursor_take(&v->c, (size_t)len);
		if (!p)
			return damaged(v, err);
		v->last.len = (size_t)prefix;
		rk_bytes_put(&v->last, p, (size_t)len);
		if (v->last.bad)
			return rk_fail_nomem(err);
		/* A few bytes can repeat long prefixes again and again. */
		v->pos += v->last.len;
		if (v->pos > RK_PQ_MAX_PAGE)
			return rk_fail(err, RK_E_LIMIT,
				       "column '%s': strings of a page exceed %d MiB",
				       v->leaf->name, RK_PQ_MAX_PAGE >> 20);
		rc = intern(v, v->last.len ? (const char *)v->last.data : "", v->last.len, &out[i],
			    err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* Reads exactly n values, at most RK_PQ_STEP. */
static int pq_values_next(struct rk_pq_values *v, uint64_t *out, size_t n, struct rk_error *err)
{
	size_t len;

	switch (v->encoding) {
	case RK_PQ_PLAIN:
		if (v->leaf->physical == RK_PQ_BYTE_ARRAY)
			return plain_strings(v, out, n, err);
		if (v->leaf->physical != RK_PQ_BOOLEAN)
			return plain_numbers(v, out, n, err);
		len = rk_cursor_left(&v->c);
		if (v->pos + n > len * 8)
			return damaged(v, err);
		rk_bits_unpack64(v->c.pos, len, v->pos, 1, out, n);
		v->pos += n;
		return 0;
	case RK_PQ_PLAIN_DICTIONARY:
	case RK_PQ_RLE_DICTIONARY:
		return from_dict(v, out, n, err);
	case RK_PQ_RLE:
		return rle_bools(v, out, n, err);
	case RK_PQ_DELTA_BINARY_PACKED:
		if (rk_delta_next(&v->delta, (int64_t *)out, n) != n)
			return damaged(v, err);
		for (size_t i = 0; v->leaf->physical == RK_PQ_INT32 && i < n; i++)
			out[i] = widen(v->leaf, (uint32_t)out[i]);
		return 0;
	case RK_PQ_DELTA_LENGTH_BYTE_ARRAY:
		return delta_lengths(v, out, n, err);
	case RK_PQ_DELTA_BYTE_ARRAY:
		return delta_strings(v, out, n, err);
	default:
		return split_numbers(v, out, n, err);
	}
}

/* The bytes of the strings follow all lengths: skip the lengths once to find them. */
static bool init_lengths(struct rk_pq_values *v, struct rk_delta *lengths)
{
	const uint8_t *begin = v->c.pos;
	const size_t len = rk_cursor_left(&v->c);
	struct rk_delta probe;
	const uint8_t *end = NULL;

	if (rk_delta_init(&probe, begin, len))
		end = rk_delta_end(&probe);
	if (!end)
		return false;
	v->c.pos = end;
	return rk_delta_init(lengths, begin, (size_t)(end - begin));
}

/* `data` is borrowed until the next init. */
static int pq_values_init(struct rk_pq_values *v, int encoding, const uint8_t *data, size_t len,
			  struct rk_error *err)
{
	const int physical = v->leaf->physical;
	const size_t number_bytes = width_of(physical);
	const uint8_t *p;
	unsigned width = 0;

	v->encoding = encoding;
	v->c = rk_cursor_over(data, len);
	v->pos = 0;
	switch (encoding) {
	case RK_PQ_PLAIN:
		if (physical != RK_PQ_BYTE_ARRAY && physical != RK_PQ_BOOLEAN && !number_bytes)
			return unsupported(v, err);
		return 0;
	case RK_PQ_PLAIN_DICTIONARY:
	case RK_PQ_RLE_DICTIONARY:
		/* a page without values may be empty */
		if (len)
			width = rk_cursor_u8(&v->c);
		if (!rk_rle_init(&v->rle, v->c.pos, rk_cursor_left(&v->c), width))
			return damaged(v, err);
		return 0;
	case RK_PQ_RLE:
		len = rk_cursor_u32le(&v->c);
		p = rk_cursor_take(&v->c, len);
		if (physical != RK_PQ_BOOLEAN)
			return unsupported(v, err);
		if (!p)
			return damaged(v, err);
		rk_rle_init(&v->rle, p, len, 1);
		return 0;
	case RK_PQ_DELTA_BINARY_PACKED:
		if (physical != RK_PQ_INT32 && physical != RK_PQ_INT64)
			return unsupported(v, err);
		if (!rk_delta_init(&v->delta, data, len))
			return damaged(v, err);
		return 0;
	case RK_PQ_DELTA_LENGTH_BYTE_ARRAY:
	case RK_PQ_DELTA_BYTE_ARRAY:
		if (physical != RK_PQ_BYTE_ARRAY)
			return unsupported(v, err);
		rk_bytes_clear(&v->last);
		if (!init_lengths(v, &v->delta) ||
		    (encoding == RK_PQ_DELTA_BYTE_ARRAY && !init_lengths(v, &v->suffix)))
			return damaged(v, err);
		return 0;
	case RK_PQ_BYTE_STREAM_SPLIT:
		if (!number_bytes)
			return unsupported(v, err);
		v->count = len / number_bytes;
		return 0;
	default:
		return unsupported(v, err);
	}
}

/* ---- the pages of one column chunk, one after the other ---- */

enum {
	HEADER_BYTES = 512,         /* holds nearly every page header ... */
	HEADER_MAX_BYTES = 1 << 20, /* ... but statistics of long strings can make it longer */
};

void rk_pq_pages_init(struct rk_pq_pages *p, struct rk_pq_shared *shared,
		      const struct rk_pq_leaf *leaf)
{
	*p = (struct rk_pq_pages){ .shared = shared, .leaf = leaf };
	p->values.leaf = leaf;
	p->values.names = shared->names;
	rk_bytes_init(&p->values.last, RK_PQ_MAX_PAGE);
}

static void drop_raw(struct rk_pq_pages *p)
{
	p->shared->held -= p->raw_cap;
	rk_free(p->raw);
	p->raw = NULL;
	p->raw_cap = 0;
}

void rk_pq_pages_release(struct rk_pq_pages *p)
{
	if (!p->shared)
		return;
	drop_raw(p);
	rk_free(p->dict);
	rk_bytes_release(&p->values.last);
}

int rk_pq_pages_begin(struct rk_pq_pages *p, const struct rk_pq_chunk *chunk, int64_t num_rows,
		      struct rk_error *err)
{
	const char *name = p->leaf->name;

	if (chunk->start < 4 || chunk->bytes < 0 ||
	    (uint64_t)chunk->start > p->shared->file->size ||
	    (uint64_t)chunk->bytes > p->shared->file->size - (uint64_t)chunk->start)
		return rk_fail(err, RK_E_FORMAT, "column '%s': pages are outside the file", name);
	if (chunk->num_values != num_rows || chunk->physical != p->leaf->physical)
		return rk_fail(err, RK_E_FORMAT, "column '%s': row group and schema disagree",
			       name);
	p->pos = (uint64_t)chunk->start;
	p->end = p->pos + (uint64_t)chunk->bytes;
	p->codec = chunk->codec;
	p->values_left = (uint64_t)num_rows;
	p->page_left = 0;
	p->ndict = 0;
	rk_free(p->dict);
	p->dict = NULL;
	return 0;
}

static int read_at(struct rk_pq_pages *p, void *buf, size_t len, uint64_t offset,
		   struct rk_error *err)
{
	size_t got;
	int rc = rk_file_pread(p->shared->file, buf, len, offset, &got, err);

	if (rc < 0)
		return rc;
	if (got != len)
		return rk_fail(err, RK_E_FORMAT, "column '%s': the file ends inside a page",
			       p->leaf->name);
	return 0;
}

/* A header has no length field; the second try reads the maximum size. */
static int read_header(struct rk_pq_pages *p, struct rk_pq_page_header *ret, struct rk_error *err)
{
	struct rk_bytes *buf = &p->shared->stored;
	size_t want = HEADER_BYTES, len = 0;
	int rc;

	for (;; want = HEADER_MAX_BYTES) {
		want = rk_min(want, (size_t)(p->end - p->pos));
		rk_bytes_clear(buf);
		if (!rk_bytes_reserve(buf, want))
			return rk_fail_nomem(err);
		rc = read_at(p, buf->data, want, p->pos, err);
		if (rc < 0)
			return rc;
		rc = rk_pq_page_header_parse(buf->data, want, ret, &len);
		if (rc || want != HEADER_BYTES)
			break;
	}
	if (rc <= 0 || (uint64_t)ret->bytes > p->end - p->pos - len)
		return rk_fail(err, RK_E_FORMAT, "column '%s': damaged page header at %" PRIu64,
			       p->leaf->name, p->pos);
	if (ret->raw_bytes > RK_PQ_MAX_PAGE || ret->bytes > RK_PQ_MAX_PAGE)
		return rk_fail(err, RK_E_LIMIT, "column '%s': a page of %" PRId64 " bytes",
			       p->leaf->name, ret->raw_bytes);
	p->pos += len;
	return 0;
}

static int make_raw(struct rk_pq_pages *p, size_t len, struct rk_error *err)
{
	if (p->raw && len <= p->raw_cap)
		return 0;
	drop_raw(p);
	if (len > RK_PQ_MAX_HELD - p->shared->held)
		return rk_fail(err, RK_E_LIMIT, "pages of more than %d MiB at the same time",
			       RK_PQ_MAX_HELD >> 20);
	p->raw = rk_alloc(len);
	if (!p->raw)
		return rk_fail_nomem(err);
	p->raw_cap = len;
	p->shared->held += len;
	return 0;
}

/* Reads the page and unpacks it to p->raw. */
static int load_page(struct rk_pq_pages *p, const struct rk_pq_page_header *h, struct rk_error *err)
{
	struct rk_bytes *buf = &p->shared->stored;
	size_t bytes = (size_t)h->bytes, raw_bytes = (size_t)h->raw_bytes, open = 0;
	int rc;

	/* version 2 stores the levels before the values and never compresses them */
	if (h->type == RK_PQ_DATA_PAGE_V2)
		open = (size_t)h->def_bytes;
	if (h->rep_bytes || open > bytes || open > raw_bytes)
		return rk_fail(err, RK_E_FORMAT, "column '%s': damaged page header", p->leaf->name);
	rc = make_raw(p, raw_bytes, err);
	if (rc < 0)
		return rc;
	if (p->codec == RK_PQ_UNCOMPRESSED || !h->compressed) {
		if (bytes != raw_bytes)
			return rk_fail(err, RK_E_FORMAT, "column '%s': damaged page header",
				       p->leaf->name);
		rc = read_at(p, p->raw, bytes, p->pos, err);
		if (rc < 0)
			return rc;
	} else {
		rk_bytes_clear(buf);
		if (!rk_bytes_reserve(buf, bytes))
			return rk_fail_nomem(err);
		rc = read_at(p, buf->data, bytes, p->pos, err);
		if (rc < 0)
			return rc;
		memcpy(p->raw, buf->data, open);
		/* some writers omit the frame of empty data */
		if (bytes != open || raw_bytes != open) {
			rc = pq_unpack(p->codec, buf->data + open, bytes - open, p->raw + open,
				       raw_bytes - open, err);
			if (rc < 0)
				return rc;
		}
	}
	p->pos += bytes;
	p->shared->done += bytes;
	return 0;
}

static int load_dict(struct rk_pq_pages *p, const struct rk_pq_page_header *h, struct rk_error *err)
{
	const size_t n = (size_t)h->num_values;
	size_t least = rk_max(width_of(p->leaf->physical), 4); /* strings: length */
	int rc;

	if (p->dict || p->leaf->physical == RK_PQ_BOOLEAN || n > (size_t)h->raw_bytes / least)
		return rk_fail(err, RK_E_FORMAT, "column '%s': damaged dictionary", p->leaf->name);
	p->dict = rk_alloc(n * sizeof(*p->dict));
	if (!p->dict)
		return rk_fail_nomem(err);
	p->ndict = n;
	rc = pq_values_init(&p->values, RK_PQ_PLAIN, p->raw, (size_t)h->raw_bytes, err);
	if (rc < 0)
		return rc;
	for (size_t done = 0, k; done < n; done += k) {
		k = rk_min(n - done, RK_PQ_STEP);
		rc = pq_values_next(&p->values, p->dict + done, k, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int damaged_levels(const struct rk_pq_pages *p, struct rk_error *err)
{
	return rk_fail(err, RK_E_FORMAT, "column '%s': damaged definition levels", p->leaf->name);
}

static int begin_data(struct rk_pq_pages *p, const struct rk_pq_page_header *h,
		      struct rk_error *err)
{
	struct rk_cursor c = rk_cursor_over(p->raw, (size_t)h->raw_bytes);
	size_t len = (size_t)h->def_bytes;
	const uint8_t *levels;

	if ((uint64_t)h->num_values > p->values_left)
		return rk_fail(err, RK_E_FORMAT, "column '%s': pages have more rows than the group",
			       p->leaf->name);
	/* version 1 has a length before the levels; required columns have no levels */
	if (h->type != RK_PQ_DATA_PAGE || p->leaf->optional) {
		if (h->type == RK_PQ_DATA_PAGE) {
			if (h->def_encoding != RK_PQ_RLE)
				return rk_fail(
					err, RK_E_UNSUPPORTED,
					"column '%s': levels in encoding %d are not supported",
					p->leaf->name, h->def_encoding);
			len = rk_cursor_u32le(&c);
		}
		levels = rk_cursor_take(&c, len);
		if (!levels)
			return damaged_levels(p, err);
		rk_rle_init(&p->levels, levels, len, 1);
	}
	p->values.dict = p->dict;
	p->values.ndict = p->ndict;
	p->page_left = (size_t)h->num_values;
	p->values_left -= (uint64_t)h->num_values;
	return pq_values_init(&p->values, h->encoding, c.pos, rk_cursor_left(&c), err);
}

/* Reads pages until one with rows is open. */
static int next_page(struct rk_pq_pages *p, struct rk_error *err)
{
	struct rk_pq_page_header h;
	int rc;

	while (!p->page_left) {
		if (p->pos >= p->end)
			return rk_fail(err, RK_E_FORMAT,
				       "column '%s': pages have fewer rows than the group",
				       p->leaf->name);
		rc = read_header(p, &h, err);
		if (rc < 0)
			return rc;
		if (h.type != RK_PQ_DATA_PAGE && h.type != RK_PQ_DATA_PAGE_V2 &&
		    h.type != RK_PQ_DICTIONARY_PAGE) {
			p->pos += (uint64_t)h.bytes;
			continue;
		}
		rc = load_page(p, &h, err);
		if (rc < 0)
			return rc;
		if (h.type == RK_PQ_DICTIONARY_PAGE)
			rc = load_dict(p, &h, err);
		else
			rc = begin_data(p, &h, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

int rk_pq_pages_next(struct rk_pq_pages *p, size_t n, uint32_t *levels, uint64_t *out,
		     size_t *ret_present, struct rk_error *err)
{
	uint32_t all = 1;
	size_t present = 0;
	int rc = next_page(p, err);

	if (rc < 0)
		return rc;
	n = rk_min(n, p->page_left);
	/* count the next n rows that have a value */
	if (!p->leaf->optional || rk_rle_take_run(&p->levels, n, &all)) {
		present = all & 1 ? n : 0;
	} else {
		if (rk_rle_next(&p->levels, levels, n) != n)
			return damaged_levels(p, err);
		for (size_t i = 0; i < n; i++) {
			levels[i] &= 1;
			present += levels[i];
		}
	}
	*ret_present = present;
	rc = pq_values_next(&p->values, out, present, err);
	if (rc < 0)
		return rc;
	p->page_left -= n;
	return (int)n;
}
