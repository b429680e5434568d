/* parquet_page.c - the pages of one column chunk, one after the other. */
#include "codec/parquet/parquet_page.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"

enum {
	HEADER_BYTES = 512,         /* holds nearly every page header ... */
	HEADER_MAX_BYTES = 1 << 20, /* ... but statistics of long strings can stand in it */
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
		return rk_fail(err, RK_E_FORMAT, "column '%s': pages lie outside the file", name);
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

	if (rc == 0 && got != len)
		rc = rk_fail(err, RK_E_FORMAT, "column '%s': the file ends within a page",
			     p->leaf->name);
	return rc;
}

/* Headers say their length only by ending; a second try reads as much as one may take. */
static int read_header(struct rk_pq_pages *p, struct rk_pq_page_header *ret, struct rk_error *err)
{
	struct rk_bytes *buf = &p->shared->stored;
	size_t want = HEADER_BYTES, len = 0;
	int rc;

	for (;; want = HEADER_MAX_BYTES) {
		if (want > p->end - p->pos)
			want = (size_t)(p->end - p->pos);
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
		return rk_fail(err, RK_E_LIMIT, "pages of more than %d MiB at one time",
			       RK_PQ_MAX_HELD >> 20);
	p->raw = rk_alloc(len);
	if (!p->raw)
		return rk_fail_nomem(err);
	p->raw_cap = len;
	p->shared->held += len;
	return 0;
}

/* Bytes in front of the values that are never compressed: version 2 keeps the levels there. */
static int64_t open_bytes(const struct rk_pq_page_header *h)
{
	return h->type == RK_PQ_DATA_PAGE_V2 ? h->def_bytes : 0;
}

static int load_packed(struct rk_pq_pages *p, const struct rk_pq_page_header *h, size_t open,
		       struct rk_error *err)
{
	struct rk_bytes *buf = &p->shared->stored;
	int rc;

	rk_bytes_clear(buf);
	if (!rk_bytes_reserve(buf, (size_t)h->bytes))
		return rk_fail_nomem(err);
	rc = read_at(p, buf->data, (size_t)h->bytes, p->pos, err);
	if (rc < 0)
		return rc;
	memcpy(p->raw, buf->data, open);
	/* Writers leave out the frame of nothing. */
	if ((size_t)h->bytes == open && (size_t)h->raw_bytes == open)
		return 0;
	return rk_pq_unpack(p->codec, buf->data + open, (size_t)h->bytes - open, p->raw + open,
			    (size_t)h->raw_bytes - open, err);
}

/* The page's bytes, unpacked, at p->raw. */
static int load_page(struct rk_pq_pages *p, const struct rk_pq_page_header *h, struct rk_error *err)
{
	const int64_t open = open_bytes(h);
	int rc;

	if (h->rep_bytes || open > h->bytes || open > h->raw_bytes)
		return rk_fail(err, RK_E_FORMAT, "column '%s': damaged page header", p->leaf->name);
	rc = make_raw(p, (size_t)h->raw_bytes, err);
	if (rc < 0)
		return rc;
	if (p->codec != RK_PQ_UNCOMPRESSED && h->compressed)
		rc = load_packed(p, h, (size_t)open, err);
	else if (h->bytes != h->raw_bytes)
		rc = rk_fail(err, RK_E_FORMAT, "column '%s': damaged page header", p->leaf->name);
	else
		rc = read_at(p, p->raw, (size_t)h->bytes, p->pos, err);
	p->pos += (uint64_t)h->bytes;
	p->shared->done += (uint64_t)h->bytes;
	return rc;
}

/* Smallest plain size of a value, so that a count can be compared with the bytes there are. */
static size_t least_bytes(int physical)
{
	return physical == RK_PQ_INT64 || physical == RK_PQ_DOUBLE ? 8 : 4;
}

static int load_dict(struct rk_pq_pages *p, const struct rk_pq_page_header *h, struct rk_error *err)
{
	const size_t n = (size_t)h->num_values;
	int rc;

	if (p->dict || p->leaf->physical == RK_PQ_BOOLEAN ||
	    n > (size_t)h->raw_bytes / least_bytes(p->leaf->physical))
		return rk_fail(err, RK_E_FORMAT, "column '%s': damaged dictionary", p->leaf->name);
	p->dict = rk_alloc(n * sizeof(*p->dict));
	if (!p->dict)
		return rk_fail_nomem(err);
	rc = rk_pq_values_init(&p->values, RK_PQ_PLAIN, p->raw, (size_t)h->raw_bytes, err);
	for (size_t done = 0; rc == 0 && done < n;) {
		size_t k = n - done < RK_PQ_STEP ? n - done : RK_PQ_STEP;

		rc = rk_pq_values_next(&p->values, p->dict + done, k, err);
		done += k;
	}
	p->ndict = n;
	return rc;
}

static int damaged_levels(const struct rk_pq_pages *p, struct rk_error *err)
{
	return rk_fail(err, RK_E_FORMAT, "column '%s': damaged definition levels", p->leaf->name);
}

/* Version 1 puts a length before the levels; required columns have none. */
static int begin_levels(struct rk_pq_pages *p, const struct rk_pq_page_header *h,
			struct rk_cursor *c, struct rk_error *err)
{
	size_t len = (size_t)h->def_bytes;
	const uint8_t *levels;

	if (h->type == RK_PQ_DATA_PAGE) {
		if (!p->leaf->optional)
			return 0;
		if (h->def_encoding != RK_PQ_RLE)
			return rk_fail(err, RK_E_UNSUPPORTED,
				       "column '%s': levels in encoding %d are not supported",
				       p->leaf->name, h->def_encoding);
		len = rk_cursor_u32le(c);
	}
	levels = rk_cursor_take(c, len);
	if (!levels)
		return damaged_levels(p, err);
	rk_rle_init(&p->levels, levels, len, 1);
	return 0;
}

static int begin_data(struct rk_pq_pages *p, const struct rk_pq_page_header *h,
		      struct rk_error *err)
{
	struct rk_cursor c = rk_cursor_over(p->raw, (size_t)h->raw_bytes);
	int rc;

	if ((uint64_t)h->num_values > p->values_left)
		return rk_fail(err, RK_E_FORMAT, "column '%s': pages hold more rows than the group",
			       p->leaf->name);
	rc = begin_levels(p, h, &c, err);
	if (rc < 0)
		return rc;
	p->values.dict = p->dict;
	p->values.ndict = p->ndict;
	p->page_left = (size_t)h->num_values;
	p->values_left -= (uint64_t)h->num_values;
	return rk_pq_values_init(&p->values, h->encoding, c.pos, rk_cursor_left(&c), err);
}

/* Reads pages until one with rows is open. */
static int next_page(struct rk_pq_pages *p, struct rk_error *err)
{
	struct rk_pq_page_header h;
	int rc = 0;

	while (rc == 0 && !p->page_left) {
		if (p->pos >= p->end)
			return rk_fail(err, RK_E_FORMAT,
				       "column '%s': pages hold fewer rows than the group",
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
		if (rc == 0)
			rc = h.type == RK_PQ_DICTIONARY_PAGE ? load_dict(p, &h, err) :
							       begin_data(p, &h, err);
	}
	return rc;
}

/* How many of the next n rows have a value. */
static int take_levels(struct rk_pq_pages *p, size_t n, uint32_t *levels, size_t *ret_present,
		       struct rk_error *err)
{
	uint32_t all = 1;
	size_t present = 0;

	if (!p->leaf->optional || rk_rle_take_run(&p->levels, n, &all)) {
		*ret_present = all & 1 ? n : 0;
		return 0;
	}
	if (rk_rle_next(&p->levels, levels, n) != n)
		return damaged_levels(p, err);
	for (size_t i = 0; i < n; i++) {
		levels[i] &= 1;
		present += levels[i];
	}
	*ret_present = present;
	return 0;
}

int rk_pq_pages_next(struct rk_pq_pages *p, size_t n, uint32_t *levels, uint64_t *out,
		     size_t *ret_present, struct rk_error *err)
{
	int rc = next_page(p, err);

	if (rc < 0)
		return rc;
	n = n < p->page_left ? n : p->page_left;
	rc = take_levels(p, n, levels, ret_present, err);
	if (rc == 0)
		rc = rk_pq_values_next(&p->values, out, *ret_present, err);
	if (rc < 0)
		return rc;
	p->page_left -= n;
	return (int)n;
}
