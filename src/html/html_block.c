/* html_block.c - see html_block.h. */
#include "html/html_block.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/num.h"
#include "base/text.h"
#include "codec/compress.h"

enum {
	RAW_MAX = 1 << 20, /* rows x (8 + 8 + 4 + 1) bytes, and some */
	LEVEL = 6,
	GAP_FACTOR = 64, /* a gap this many times as long as a chunk ends it ... */
};
static const int64_t gap_min_ns = 1000000; /* ... if it is also at least this long */

int rk_html_packer_new(struct rk_html_packer **ret, struct rk_error *err)
{
	struct rk_html_packer *p = rk_calloc(1, sizeof(*p));

	if (!p)
		return rk_fail_nomem(err);
	rk_bytes_init(&p->raw, RAW_MAX);
	rk_bytes_init(&p->packed, 2 * RAW_MAX);
	*ret = p;
	return 0;
}

void rk_html_packer_free(struct rk_html_packer *p)
{
	if (!p)
		return;
	rk_bytes_release(&p->raw);
	rk_bytes_release(&p->packed);
	rk_free(p);
}

/* ---- columns ---- */

void rk_html_column(struct rk_bytes *out, const uint64_t *v, size_t n, size_t *cuts, size_t *ncuts)
{
	uint64_t all = 0;
	unsigned planes = 0;

	for (size_t i = 0; i < n; i++)
		all |= v[i];
	while (planes < 8 && all >> 8 * planes)
		planes++;
	rk_bytes_put_u8(out, (uint8_t)planes);
	if (!rk_bytes_reserve(out, planes * n))
		return;
	for (unsigned i = 0; i < planes; i++) {
		uint8_t *to = out->data + out->len;

		if (cuts)
			cuts[(*ncuts)++] = out->len;
		for (size_t k = 0; k < n; k++)
			to[k] = (uint8_t)(v[k] >> 8 * i);
		out->len += n;
	}
}

void rk_html_number(struct rk_bytes *out, uint64_t v, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		rk_bytes_put_u8(out, (uint8_t)(v >> 8 * i));
}

/* ---- rows ---- */

static int64_t gap_at(const struct rk_html_row *rows, size_t i)
{
	return i ? rows[i].start - rows[i - 1].start - rows[i - 1].duration : 0;
}

static uint64_t gcd(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static inline uint64_t fold_sign(int64_t v)
{
	return (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0);
}

static void put_column(struct rk_html_packer *p, size_t n)
{
	rk_html_column(&p->raw, p->values, n, p->cuts, &p->ncuts);
}

static void put_rows(struct rk_html_packer *p, const struct rk_html_row *rows, size_t n)
{
	uint64_t gaps = 0, durations = 0;

	/* device clocks tick in tens of nanoseconds, but not all times are multiples of that */
	for (size_t i = 0; i < n && (gaps != 1 || durations != 1); i++) {
		gaps = gcd((uint64_t)llabs(gap_at(rows, i)), gaps);
		durations = gcd((uint64_t)rows[i].duration, durations);
	}
	if (!gaps)
		gaps = 1;
	if (!durations)
		durations = 1;
	rk_bytes_clear(&p->raw);
	p->ncuts = 0;
	rk_html_number(&p->raw, n, 4);
	rk_html_number(&p->raw, gaps, 8);
	rk_html_number(&p->raw, durations, 8);
	for (size_t i = 0; i < n; i++)
		p->values[i] = fold_sign(gap_at(rows, i) / (int64_t)gaps);
	put_column(p, n);
	memset(p->guess, 0, sizeof(p->guess));
	for (size_t i = 0; i < n; i++) {
		int64_t *guess = &p->guess[rows[i].name % RK_HTML_GUESSES];
		int64_t d = rows[i].duration / (int64_t)durations, off = d - *guess;

		p->values[i] = fold_sign(off);
		/* a quarter, rounded down as Math.floor does */
		*guess = *guess ? *guess + (off >= 0 ? off / 4 : -((3 - off) / 4)) : d;
	}
	put_column(p, n);
	for (size_t i = 0; i < n; i++)
		p->values[i] = rows[i].name;
	put_column(p, n);
	for (size_t i = 0; i < n; i++)
		p->values[i] = rows[i].depth;
	put_column(p, n);
}

/* ---- chunks ---- */

/* Where the chunk that begins at `first` ends. */
static size_t chunk_end(const struct rk_html_row *rows, size_t first, size_t n)
{
	int64_t end = rows[first].start;
	size_t i = first;

	for (; i < n && i - first < RK_HTML_CHUNK_ROWS; i++) {
		int64_t gap = rows[i].start - end;

		if (i - first >= RK_HTML_CHUNK_MIN && gap > gap_min_ns &&
		    gap / GAP_FACTOR > end - rows[first].start)
			break;
		if (rows[i].start + rows[i].duration > end)
			end = rows[i].start + rows[i].duration;
	}
	return i;
}

/*
 * The total of a name in this chunk. A chunk has fewer names than there are slots. This is not an
 * rk_map because it can be cleared for every chunk at no cost, by incrementing a counter.
 */
static int64_t *tally_of(struct rk_html_packer *p, uint32_t name)
{
	uint32_t at = name * UINT32_C(2654435761) % RK_HTML_TALLY;

	while (p->tally[at].chunk == p->chunk && p->tally[at].name != name)
		at = (at + 1) % RK_HTML_TALLY;
	if (p->tally[at].chunk != p->chunk)
		p->tally[at] = (struct rk_html_tally){ name, p->chunk, 0 };
	return &p->tally[at].total;
}

static struct rk_html_chunk sum_up(struct rk_html_packer *p, const struct rk_html_row *rows,
				   size_t n)
{
	struct rk_html_chunk c = { .start = rows[0].start, .rows = (uint32_t)n };
	int64_t end = rows[0].start, busy = 0, most = -1;

	p->chunk++;
	for (size_t i = 0; i < n; i++) {
		int64_t stop = rows[i].start + rows[i].duration;
		int64_t from = rk_max_i64(rows[i].start, end);
		int64_t *total = tally_of(p, rows[i].name);

		if (stop > from)
			busy += stop - from;
		end = rk_max_i64(stop, end);
		*total += rows[i].duration;
		if (*total > most) {
			most = *total;
			c.name = rows[i].name;
		}
	}
	c.span = end - c.start;
	c.busy = c.span ? (uint8_t)((double)busy / (double)c.span * 255 + 0.5) : 255;
	return c;
}

int rk_html_block_pack(struct rk_html_packer *p, const struct rk_html_row *rows, size_t n,
		       struct rk_html_packed *ret, struct rk_error *err)
{
	int rc;

	put_rows(p, rows, n);
	rk_bytes_clear(&p->packed);
	if (p->raw.bad)
		return rk_fail_nomem(err);
	rc = rk_deflate(&p->packed, p->raw.data, p->raw.len, p->cuts, p->ncuts, LEVEL, err);
	if (rc < 0)
		return rc;
	rk_bytes_clear(&ret->text);
	rk_base85_put(&ret->text, p->packed.data, p->packed.len);
	if (ret->text.bad)
		return rk_fail_nomem(err);
	ret->nchunks = 0;
	for (size_t i = 0, end; i < n; i = end) {
		end = chunk_end(rows, i, n);
		ret->chunks[ret->nchunks++] = sum_up(p, rows + i, end - i);
	}
	ret->chunks[ret->nchunks - 1].last = true;
	return 0;
}
