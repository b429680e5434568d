/*
 * parquet_delta.c - DELTA_BINARY_PACKED (Encodings.md, "DELTA_BINARY_PACKED = 5").
 *
 *	header	block size, miniblocks per block, number of values, first value
 *	block	smallest difference, a width per miniblock, the miniblocks: difference - smallest
 *
 * Blocks of 128 with 4 miniblocks are what every reader has seen.
 */
#include "codec/parquet/parquet_delta.h"

#include <string.h>

#include "codec/parquet/parquet_rle.h"

enum {
	BLOCK = 128,
	MINIS = 4,
	MINI = BLOCK / MINIS,
	VARINT_MAX = 10,
	MAX_BLOCK = 1 << 20, /* of a file that is read */
};

static size_t put_varint(uint8_t *out, uint64_t v)
{
	size_t len = 0;

	for (; v >= 0x80; v >>= 7)
		out[len++] = (uint8_t)(v | 0x80);
	out[len++] = (uint8_t)v;
	return len;
}

static uint64_t zigzag(int64_t v)
{
	return (uint64_t)v << 1 ^ (uint64_t)(v >> 63);
}

size_t rk_delta_bound(size_t n)
{
	size_t blocks = (n + BLOCK - 1) / BLOCK;

	return 4 * VARINT_MAX + blocks * (VARINT_MAX + MINIS + BLOCK * 8) + RK_BITS_SLACK;
}

static size_t put_header(uint8_t *out, size_t n, int64_t first)
{
	size_t len = put_varint(out, BLOCK);

	len += put_varint(out + len, MINIS);
	len += put_varint(out + len, n);
	return len + put_varint(out + len, zigzag(first));
}

/* d holds n differences less their minimum, and zeros up to BLOCK. */
static size_t put_block(uint8_t *out, const uint64_t *d, size_t n, int64_t min)
{
	size_t len = put_varint(out, zigzag(min));
	uint8_t *widths = out + len;

	len += MINIS;
	for (size_t m = 0; m < MINIS; m++) {
		const uint64_t *p = d + m * MINI;
		uint64_t any = 0;

		for (size_t i = 0; i < MINI; i++)
			any |= p[i];
		widths[m] = (uint8_t)(m * MINI < n ? rk_bits_width(any) : 0);
		len += rk_bits_pack64(out + len, p, MINI, widths[m]);
	}
	return len;
}

size_t rk_delta_encode64(uint8_t *out, const int64_t *v, size_t n)
{
	size_t len = put_header(out, n, n ? v[0] : 0);
	uint64_t d[BLOCK];

	for (size_t at = 1; at < n; at += BLOCK) {
		size_t k = n - at < BLOCK ? n - at : BLOCK;
		int64_t min = INT64_MAX;

		for (size_t i = 0; i < k; i++) {
			int64_t diff = (int64_t)((uint64_t)v[at + i] - (uint64_t)v[at + i - 1]);

			min = diff < min ? diff : min;
			d[i] = (uint64_t)diff;
		}
		for (size_t i = 0; i < k; i++)
			d[i] -= (uint64_t)min;
		memset(d + k, 0, (BLOCK - k) * sizeof(*d));
		len += put_block(out + len, d, k, min);
	}
	return len;
}

size_t rk_delta_encode32(uint8_t *out, const int32_t *v, size_t n)
{
	size_t len = put_header(out, n, n ? v[0] : 0);
	uint64_t d[BLOCK];

	for (size_t at = 1; at < n; at += BLOCK) {
		size_t k = n - at < BLOCK ? n - at : BLOCK;
		int32_t min = INT32_MAX;

		for (size_t i = 0; i < k; i++) {
			int32_t diff = (int32_t)((uint32_t)v[at + i] - (uint32_t)v[at + i - 1]);

			min = diff < min ? diff : min;
		}
		for (size_t i = 0; i < k; i++)
			d[i] = (uint32_t)v[at + i] - (uint32_t)v[at + i - 1] - (uint32_t)min;
		memset(d + k, 0, (BLOCK - k) * sizeof(*d));
		len += put_block(out + len, d, k, min);
	}
	return len;
}

static int64_t get_zigzag(struct rk_cursor *c)
{
	uint64_t v = rk_cursor_varint(c);

	return (int64_t)(v >> 1 ^ (0 - (v & 1)));
}

bool rk_delta_init(struct rk_delta *d, const void *data, size_t len)
{
	uint64_t block, minis, total;

	*d = (struct rk_delta){ .c = rk_cursor_over(data, len) };
	block = rk_cursor_varint(&d->c);
	minis = rk_cursor_varint(&d->c);
	total = rk_cursor_varint(&d->c);
	d->value = (uint64_t)get_zigzag(&d->c);
	if (d->c.bad || !block || block > MAX_BLOCK || !minis || minis > block || block % minis ||
	    block / minis % 8)
		return false;
	d->left = total;
	d->first = total > 0;
	d->minis = d->mini = minis;
	d->mini_size = block / minis;
	return true;
}

/* Enters the next miniblock. The last one may be cut short of its padding. */
static bool next_mini(struct rk_delta *d)
{
	size_t want, left;

	if (d->mini + 1 >= d->minis) {
		d->min = (uint64_t)get_zigzag(&d->c);
		d->widths = rk_cursor_take(&d->c, d->minis);
		if (!d->widths)
			return false;
		d->mini = 0;
	} else {
		d->mini++;
	}
	d->width = d->widths[d->mini];
	if (d->width > 64)
		return false;
	want = d->mini_size / 8 * d->width;
	left = rk_cursor_left(&d->c);
	d->packed_bytes = want < left ? want : left;
	d->packed = rk_cursor_take(&d->c, d->packed_bytes);
	d->mini_left = d->mini_size;
	return true;
}

/* Up to n values of the current miniblock; 0 when it holds fewer than it should. */
static size_t from_mini(struct rk_delta *d, int64_t *out, size_t n)
{
	size_t at = d->mini_size - d->mini_left;
	uint64_t value = d->value, buf[MINI];

	n = n < d->mini_left ? n : d->mini_left;
	n = n < MINI ? n : MINI;
	if ((at + n) * d->width > d->packed_bytes * 8)
		return 0;
	rk_bits_unpack64(d->packed, d->packed_bytes, at, d->width, buf, n);
	for (size_t i = 0; i < n; i++) {
		value += d->min + buf[i];
		out[i] = (int64_t)value;
	}
	d->value = value;
	d->mini_left -= n;
	return n;
}

size_t rk_delta_next(struct rk_delta *d, int64_t *out, size_t n)
{
	size_t done = 0;

	n = n < d->left ? n : d->left;
	if (n && d->first) {
		out[done++] = (int64_t)d->value;
		d->first = false;
	}
	while (done < n) {
		size_t k;

		if (!d->mini_left && !next_mini(d))
			break;
		k = from_mini(d, out + done, n - done);
		if (!k)
			break;
		done += k;
	}
	d->left -= done;
	return done;
}

const uint8_t *rk_delta_end(struct rk_delta *d)
{
	size_t left = d->left - (d->left && d->first);

	while (left) {
		size_t k;

		if (!d->mini_left && !next_mini(d))
			return NULL;
		k = left < d->mini_left ? left : d->mini_left;
		d->mini_left -= k;
		left -= k;
	}
	/* Miniblocks without values have a width but, by most writers, no bytes. */
	return d->c.bad ? NULL : d->c.pos;
}
