/* parquet_rle.c - Parquet's RLE / bit-packing hybrid (Encodings.md, "RLE = 3"). */
#include "codec/parquet/parquet_rle.h"

#include <string.h>

enum {
	MIN_RUN = 16, /* shorter ones cost more as a run of their own than packed */
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
	/* A run of MIN_RUN - 7 values or more costs a header and a value, and then some. */
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

/* Only the last packed part of a stream may hold a number of values that eight does not divide. */
static size_t put_packed(uint8_t *out, const uint32_t *v, size_t n, unsigned width)
{
	size_t len;

	if (!n)
		return 0;
	len = put_varint(out, (uint64_t)((n + 7) / 8) << 1 | 1);
	return len + rk_bits_pack32(out + len, v, n, width);
}

static size_t run_length(const uint32_t *v, size_t n)
{
	size_t i = 1;

	while (i < n && v[i] == v[0])
		i++;
	return i;
}

/*
 * Values [packed, i) wait to be packed. A run that is met lends them as many of its own as make
 * their number divisible by eight; when enough are left, it is written as a run.
 */
size_t rk_rle_encode(uint8_t *out, const uint32_t *v, size_t n, unsigned width, bool runs)
{
	uint8_t *p = out;
	size_t packed = 0, i = 0;

	if (!runs)
		return put_packed(out, v, n, width);
	while (i < n) {
		size_t run = run_length(v + i, n - i);
		size_t lend = (0 - (i - packed)) & 7;

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

/* Whole words of zeros or ones make runs, everything between them is copied. */
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

/* Reads the next header. Some writers cut the last packed part short: what is there counts. */
static bool next_part(struct rk_rle *r)
{
	size_t left, bytes = (r->width + 7) / 8;
	uint64_t head;

	if (!get_varint(r, &head))
		return false;
	left = (size_t)(r->end - r->pos);
	if (head & 1) {
		size_t want = (size_t)(head >> 1) * r->width;

		r->packed = r->pos;
		r->packed_pos = 0;
		r->packed_bytes = want < left ? want : left;
		r->packed_left = r->width ? r->packed_bytes * 8 / r->width :
					    (size_t)(head >> 1) * 8;
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
			k = k < r->run_left ? k : r->run_left;
			for (size_t i = 0; i < k; i++)
				out[done + i] = r->value;
			r->run_left -= k;
		} else if (r->packed_left) {
			k = k < r->packed_left ? k : r->packed_left;
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
