/* parquet_page_values.c - decoding the values of a page (Encodings.md). */
#include <inttypes.h>
#include <string.h>

#include "codec/parquet/parquet_page.h"

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

/* Four bytes of a type become the 64 of its wide form. */
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

	if (rc == 0)
		*out = id;
	return rc;
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

static int plain_bools(struct rk_pq_values *v, uint64_t *out, size_t n, struct rk_error *err)
{
	const size_t len = rk_cursor_left(&v->c);

	if (v->pos + n > len * 8)
		return damaged(v, err);
	rk_bits_unpack64(v->c.pos, len, v->pos, 1, out, n);
	v->pos += n;
	return 0;
}

/* Byte k of all values stands together, for each k: value i is spread over the page. */
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
		size_t k = n - done < 256 ? n - done : 256;

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
		size_t k = n - done < 256 ? n - done : 256;

		if (rk_rle_next(&v->rle, bits, k) != k)
			return damaged(v, err);
		for (size_t i = 0; i < k; i++)
			out[done + i] = bits[i];
		done += k;
	}
	return 0;
}

static int delta_numbers(struct rk_pq_values *v, uint64_t *out, size_t n, struct rk_error *err)
{
	if (rk_delta_next(&v->delta, (int64_t *)out, n) != n)
		return damaged(v, err);
	for (size_t i = 0; v->leaf->physical == RK_PQ_INT32 && i < n; i++)
		out[i] = widen(v->leaf, (uint32_t)out[i]);
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

/* Each string is a prefix of the one before and a suffix of its own. */
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
		/* A few bytes can name long prefixes again and again. */
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

int rk_pq_values_next(struct rk_pq_values *v, uint64_t *out, size_t n, struct rk_error *err)
{
	switch (v->encoding) {
	case RK_PQ_PLAIN:
		if (v->leaf->physical == RK_PQ_BYTE_ARRAY)
			return plain_strings(v, out, n, err);
		if (v->leaf->physical == RK_PQ_BOOLEAN)
			return plain_bools(v, out, n, err);
		return plain_numbers(v, out, n, err);
	case RK_PQ_PLAIN_DICTIONARY:
	case RK_PQ_RLE_DICTIONARY:
		return from_dict(v, out, n, err);
	case RK_PQ_RLE:
		return rle_bools(v, out, n, err);
	case RK_PQ_DELTA_BINARY_PACKED:
		return delta_numbers(v, out, n, err);
	case RK_PQ_DELTA_LENGTH_BYTE_ARRAY:
		return delta_lengths(v, out, n, err);
	case RK_PQ_DELTA_BYTE_ARRAY:
		return delta_strings(v, out, n, err);
	default:
		return split_numbers(v, out, n, err);
	}
}

static int init_plain(struct rk_pq_values *v, struct rk_error *err)
{
	const int physical = v->leaf->physical;

	if (physical == RK_PQ_BYTE_ARRAY || physical == RK_PQ_BOOLEAN || width_of(physical))
		return 0;
	return unsupported(v, err);
}

static int init_dict(struct rk_pq_values *v, struct rk_error *err)
{
	uint8_t width;

	/* A page without a single value may be empty. */
	if (!rk_cursor_left(&v->c)) {
		rk_rle_init(&v->rle, v->c.pos, 0, 0);
		return 0;
	}
	width = rk_cursor_u8(&v->c);
	if (!rk_rle_init(&v->rle, v->c.pos, rk_cursor_left(&v->c), width))
		return damaged(v, err);
	return 0;
}

static int init_rle_bools(struct rk_pq_values *v, struct rk_error *err)
{
	uint32_t len = rk_cursor_u32le(&v->c);
	const uint8_t *p = rk_cursor_take(&v->c, len);

	if (v->leaf->physical != RK_PQ_BOOLEAN)
		return unsupported(v, err);
	rk_rle_init(&v->rle, p, p ? len : 0, 1);
	return p ? 0 : damaged(v, err);
}

/* The strings' bytes follow the last of the lengths: these are passed over once to find them. */
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

static int init_delta(struct rk_pq_values *v, struct rk_error *err)
{
	const int physical = v->leaf->physical;
	bool ok;

	if (v->encoding == RK_PQ_DELTA_BINARY_PACKED) {
		if (physical != RK_PQ_INT32 && physical != RK_PQ_INT64)
			return unsupported(v, err);
		ok = rk_delta_init(&v->delta, v->c.pos, rk_cursor_left(&v->c));
		return ok ? 0 : damaged(v, err);
	}
	if (physical != RK_PQ_BYTE_ARRAY)
		return unsupported(v, err);
	ok = init_lengths(v, &v->delta);
	if (ok && v->encoding == RK_PQ_DELTA_BYTE_ARRAY) {
		ok = init_lengths(v, &v->suffix);
		rk_bytes_clear(&v->last);
	}
	return ok ? 0 : damaged(v, err);
}

static int init_split(struct rk_pq_values *v, struct rk_error *err)
{
	const size_t width = width_of(v->leaf->physical);

	if (!width)
		return unsupported(v, err);
	v->count = rk_cursor_left(&v->c) / width;
	return 0;
}

int rk_pq_values_init(struct rk_pq_values *v, int encoding, const uint8_t *data, size_t len,
		      struct rk_error *err)
{
	v->encoding = encoding;
	v->c = rk_cursor_over(data, len);
	v->pos = 0;
	switch (encoding) {
	case RK_PQ_PLAIN:
		return init_plain(v, err);
	case RK_PQ_PLAIN_DICTIONARY:
	case RK_PQ_RLE_DICTIONARY:
		return init_dict(v, err);
	case RK_PQ_RLE:
		return init_rle_bools(v, err);
	case RK_PQ_DELTA_BINARY_PACKED:
	case RK_PQ_DELTA_LENGTH_BYTE_ARRAY:
	case RK_PQ_DELTA_BYTE_ARRAY:
		return init_delta(v, err);
	case RK_PQ_BYTE_STREAM_SPLIT:
		return init_split(v, err);
	default:
		return unsupported(v, err);
	}
}
