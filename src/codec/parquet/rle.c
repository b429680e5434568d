/* rle.c - see rle.h. */
#include "codec/parquet/rle.h"

#include <string.h>

#include "base/num.h"

/* ---- packing and unpacking integers of 0..64 bits ---- */

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "words are stored as they are");

/*
 * Eight values of W bits always take W bytes. Value I begins at bit I * W; if it crosses the end of
 * a 64-bit word, the word is stored and the rest begins the next one. W and I are constants, so
 * only shifts, ors and W / 8 stores remain.
 */
#define PUT(I, W)                                                        \
	do {                                                             \
		const unsigned at = (I) * (W) % 64;                      \
		const uint64_t x = v[I];                                 \
                                                                         \
		acc |= x << at;                                          \
		if (at + (W) >= 64) {                                    \
			memcpy(out + (I) * (W) / 64 * 8, &acc, 8);       \
			acc = at + (W) > 64 ? x >> ((64 - at) & 63) : 0; \
		}                                                        \
	} while (0)

#define PACK(W)                                                     \
	case W:                                                     \
		for (; n; n -= 8, v += 8, out += (W)) {             \
			uint64_t acc = 0;                           \
                                                                    \
			PUT(0, W);                                  \
			PUT(1, W);                                  \
			PUT(2, W);                                  \
			PUT(3, W);                                  \
			PUT(4, W);                                  \
			PUT(5, W);                                  \
			PUT(6, W);                                  \
			PUT(7, W);                                  \
			if ((W) % 8)                                \
				memcpy(out + (W) / 8 * 8, &acc, 8); \
		}                                                   \
		break;

/* clang-format off */
#define PACK8(W)                                                \
	PACK((W) + 1) PACK((W) + 2) PACK((W) + 3) PACK((W) + 4) \
	PACK((W) + 5) PACK((W) + 6) PACK((W) + 7) PACK((W) + 8)
/* clang-format on */

/* n is a multiple of 8. */
static void pack32(uint8_t *out, const uint32_t *v, size_t n, unsigned width)
{
	switch (width) {
		PACK8(0)
		PACK8(8)
		PACK8(16)
		PACK8(24)
	default:
		break;
	}
}

static void pack64(uint8_t *out, const uint64_t *v, size_t n, unsigned width)
{
	switch (width) {
		PACK8(0)
		PACK8(8)
		PACK8(16)
		PACK8(24)
		PACK8(32)
		PACK8(40)
		PACK8(48)
		PACK8(56)
	default:
		break;
	}
}

size_t rk_bits_pack32(uint8_t *out, const uint32_t *v, size_t n, unsigned width)
{
	size_t whole = n / 8 * 8;
	uint32_t tail[8] = { 0 };

	pack32(out, v, whole, width);
	if (n > whole) {
		memcpy(tail, v + whole, (n - whole) * sizeof(*v));
		pack32(out + whole / 8 * width, tail, 8, width);
	}
	return (n + 7) / 8 * width;
}

size_t rk_bits_pack64(uint8_t *out, const uint64_t *v, size_t n, unsigned width)
{
	size_t whole = n / 8 * 8;
	uint64_t tail[8] = { 0 };

	pack64(out, v, whole, width);
	if (n > whole) {
		memcpy(tail, v + whole, (n - whole) * sizeof(*v));
		pack64(out + whole / 8 * width, tail, 8, width);
	}
	return (n + 7) / 8 * width;
}

/* The value of `width` bits (1..64) at a bit position; does not read at or past `len`. */
static uint64_t peek(const uint8_t *in, size_t len, size_t bit, unsigned width)
{
	const uint8_t *p = in + bit / 8;
	unsigned shift = bit % 8;
	size_t left = len - bit / 8;
	uint64_t lo = 0, hi = 0;

	if (left >= 9) {
		memcpy(&lo, p, 8);
		hi = p[8];
	} else {
		memcpy(&lo, p, rk_min(left, 8));
	}
	lo >>= shift;
	if (shift)
		lo |= hi << (64 - shift);
	return width < 64 ? lo & ((UINT64_C(1) << width) - 1) : lo;
}

void rk_bits_unpack64(const uint8_t *in, size_t len, size_t first, unsigned width, uint64_t *out,
		      size_t n)
{
	size_t bit = first * width;

	if (!width) {
		memset(out, 0, n * sizeof(*out));
		return;
	}
	for (size_t i = 0; i < n; i++, bit += width)
		out[i] = peek(in, len, bit, width);
}

void rk_bits_unpack32(const uint8_t *in, size_t len, size_t first, unsigned width, uint32_t *out,
		      size_t n)
{
	const uint64_t mask = (UINT64_C(1) << width) - 1;
	size_t bit = first * width, i = 0;

	if (!width) {
		memset(out, 0, n * sizeof(*out));
		return;
	}
	/* One load of eight bytes holds a value of up to 32 bits at any shift. */
	for (; i < n && bit / 8 + 8 <= len; i++, bit += width) {
		uint64_t word;

		memcpy(&word, in + bit / 8, 8);
		out[i] = (uint32_t)(word >> bit % 8 & mask);
	}
	for (; i < n; i++, bit += width)
		out[i] = (uint32_t)peek(in, len, bit, width);
}

/* ---- Parquet's RLE / bit-packing hybrid (Encodings.md, "RLE = 3") ---- */

enum {
	MIN_RUN = 16, /* shorter runs cost more than packed values */
	HEADER_MAX = 10,
};

static size_t put_varint(uint8_t *out, uint64_t v)
{
	size_t len = 0;

	for (; v >= 0x80; v >>= 7)
		out[len++] = (uint8_t)(v | 0x80);
	out[len++] = (uint8_t)v;
	return len;
}

size_t rk_rle_bound(size_t n, unsigned width)
{
	/* Upper bound: a run of at least MIN_RUN - 7 values costs a header and a value. */
	return (n + 7) / 8 * width + n / 9 * (HEADER_MAX + 4) + 2 * (HEADER_MAX + 4) +
	       RK_BITS_SLACK;
}

size_t rk_rle_encode_run(uint8_t *out, uint32_t v, size_t n, unsigned width)
{
	size_t len;

	if (!n)
		return 0;
	len = put_varint(out, (uint64_t)n << 1);
	for (unsigned bits = 0; bits < width; bits += 8)
		out[len++] = (uint8_t)(v >> bits);
	return len;
}

/* Only the last packed part of a stream may have a number of values not divisible by eight. */
static size_t put_packed(uint8_t *out, const uint32_t *v, size_t n, unsigned width)
{
	size_t len;

	if (!n)
		return 0;
	len = put_varint(out, (uint64_t)((n + 7) / 8) << 1 | 1);
	return len + rk_bits_pack32(out + len, v, n, width);
}

/*
 * Values [packed, i) wait to be packed. A run first fills them up to a multiple of eight; if it is
 * still long enough, its rest is written as a run.
 */
size_t rk_rle_encode(uint8_t *out, const uint32_t *v, size_t n, unsigned width, bool runs)
{
	uint8_t *p = out;
	size_t packed = 0, i = 0;

	if (!runs)
		return put_packed(out, v, n, width);
	while (i < n) {
		size_t run = 1, lend = (0 - (i - packed)) & 7;

		while (i + run < n && v[i + run] == v[i])
			run++;
		if (run >= MIN_RUN) {
			p += put_packed(p, v + packed, i + lend - packed, width);
			p += rk_rle_encode_run(p, v[i], run - lend, width);
			packed = i + run;
		}
		i += run;
	}
	p += put_packed(p, v + packed, n - packed, width);
	return (size_t)(p - out);
}

static size_t put_packed_words(uint8_t *out, const uint64_t *bits, size_t first, size_t n)
{
	size_t bytes = (n + 7) / 8, len;

	if (!n)
		return 0;
	len = put_varint(out, (uint64_t)bytes << 1 | 1);
	memcpy(out + len, bits + first / 64, bytes);
	return len + bytes;
}

/* Whole words of zeros or ones become runs; everything between them is copied. */
size_t rk_rle_encode_bitmap(uint8_t *out, const uint64_t *bits, size_t n)
{
	uint8_t *p = out;
	size_t packed = 0, i = 0;

	while (i + 64 <= n) {
		uint64_t word = bits[i / 64];
		size_t j = i + 64;

		if (word && ~word) {
			i = j;
			continue;
		}
		while (j + 64 <= n && bits[j / 64] == word)
			j += 64;
		p += put_packed_words(p, bits, packed, i - packed);
		p += rk_rle_encode_run(p, word & 1, j - i, 1);
		packed = i = j;
	}
	p += put_packed_words(p, bits, packed, n - packed);
	return (size_t)(p - out);
}

bool rk_rle_init(struct rk_rle *r, const void *data, size_t len, unsigned width)
{
	*r = (struct rk_rle){ .pos = data, .width = width };
	r->end = r->pos ? r->pos + len : NULL;
	return width <= 32;
}

static bool get_varint(struct rk_rle *r, uint64_t *ret)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 35 && r->pos < r->end; shift += 7) {
		uint8_t b = *r->pos++;

		v |= (uint64_t)(b & 0x7f) << shift;
		if (!(b & 0x80)) {
			*ret = v;
			return true;
		}
	}
	return false;
}

/* Reads the next header. Some writers cut the last packed part short: use the bytes that exist. */
static bool next_part(struct rk_rle *r)
{
	size_t left, bytes = (r->width + 7) / 8;
	uint64_t head;

	if (!get_varint(r, &head))
		return false;
	left = (size_t)(r->end - r->pos);
	if (head & 1) {
		size_t groups = (size_t)(head >> 1);

		r->packed = r->pos;
		r->packed_pos = 0;
		r->packed_bytes = rk_min(groups * r->width, left);
		r->packed_left = groups * 8;
		if (r->width)
			r->packed_left = r->packed_bytes * 8 / r->width;
		r->pos += r->packed_bytes;
		return r->packed_left > 0;
	}
	if (left < bytes)
		return false;
	r->value = 0;
	for (size_t i = 0; i < bytes; i++)
		r->value |= (uint32_t)r->pos[i] << 8 * i;
	r->pos += bytes;
	r->run_left = (size_t)(head >> 1);
	return r->run_left > 0;
}

bool rk_rle_take_run(struct rk_rle *r, size_t n, uint32_t *ret)
{
	if (!r->run_left && !r->packed_left && !next_part(r))
		return false;
	if (r->run_left < n)
		return false;
	r->run_left -= n;
	*ret = r->value;
	return true;
}

size_t rk_rle_next(struct rk_rle *r, uint32_t *out, size_t n)
{
	size_t done = 0;

	while (done < n) {
		size_t k = n - done;

		if (r->run_left) {
			k = rk_min(k, r->run_left);
			for (size_t i = 0; i < k; i++)
				out[done + i] = r->value;
			r->run_left -= k;
		} else if (r->packed_left) {
			k = rk_min(k, r->packed_left);
			rk_bits_unpack32(r->packed, r->packed_bytes, r->packed_pos, r->width,
					 out + done, k);
			r->packed_pos += k;
			r->packed_left -= k;
		} else if (next_part(r)) {
			continue;
		} else {
			break;
		}
		done += k;
	}
	return done;
}

/* ---- DELTA_BINARY_PACKED (Encodings.md, "DELTA_BINARY_PACKED = 5") ---- */
/*
 *   header  block size, miniblocks per block, number of values, first value
 *   block   smallest difference, a width per miniblock, the miniblocks: difference - smallest
 * Every reader supports blocks of 128 with 4 miniblocks.
 */

enum {
	BLOCK = 128,
	MINIS = 4,
	MINI = BLOCK / MINIS,
	VARINT_MAX = 10,
	MAX_BLOCK = 1 << 20, /* limit when reading */
};

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

/* d holds n differences minus their minimum, padded with zeros to BLOCK. */
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
		size_t k = rk_min(n - at, BLOCK);
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
		size_t k = rk_min(n - at, BLOCK);
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

bool rk_delta_init(struct rk_delta *d, const void *data, size_t len)
{
	uint64_t block, minis, total;

	*d = (struct rk_delta){ .c = rk_cursor_over(data, len) };
	block = rk_cursor_varint(&d->c);
	minis = rk_cursor_varint(&d->c);
	total = rk_cursor_varint(&d->c);
	d->value = (uint64_t)rk_cursor_zigzag(&d->c);
	if (d->c.bad || !block || block > MAX_BLOCK || !minis || minis > block || block % minis ||
	    block / minis % 8)
		return false;
	d->left = total;
	d->first = total > 0;
	d->minis = d->mini = minis;
	d->mini_size = block / minis;
	return true;
}

/* Enters the next miniblock. The padding of the last one may be missing. */
static bool next_mini(struct rk_delta *d)
{
	size_t want;

	if (d->mini + 1 >= d->minis) {
		d->min = (uint64_t)rk_cursor_zigzag(&d->c);
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
	d->packed_bytes = rk_min(want, rk_cursor_left(&d->c));
	d->packed = rk_cursor_take(&d->c, d->packed_bytes);
	d->mini_left = d->mini_size;
	return true;
}

/* Up to n values of the current miniblock; 0 if it is truncated. */
static size_t from_mini(struct rk_delta *d, int64_t *out, size_t n)
{
	size_t at = d->mini_size - d->mini_left;
	uint64_t value = d->value, buf[MINI];

	n = rk_min(rk_min(n, d->mini_left), MINI);
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

	n = rk_min(n, d->left);
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
		k = rk_min(left, d->mini_left);
		d->mini_left -= k;
		left -= k;
	}
	/* Most writers store no bytes for miniblocks without values, only their widths. */
	return d->c.bad ? NULL : d->c.pos;
}
