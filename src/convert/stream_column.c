/* stream_column.c - rows of a run's batches become values, validity and texts of an Arrow array. */
#include "convert/stream_column.h"

#include <string.h>

#include "base/alloc.h"
#include "convert/stream_bits.h"

/* Bytes of `rows` rows; bits are whole words, offsets one more than rows. */
static size_t value_bytes(const struct rk_stream_column *col, size_t rows)
{
	if (col->type == RK_BOOL)
		return rk_bits_words(rows) * 8;
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

/* Rows before `at` were null, all of them. */
static bool begin_values(struct rk_stream_column *col, size_t at, size_t cap)
{
	col->values = rk_buffer_new(value_bytes(col, cap), col->type == RK_BOOL);
	if (at)
		col->valid = rk_buffer_new(rk_bits_words(cap) * 8, true);
	if (col->plain)
		col->text = rk_buffer_new(at ? 0 : 4096, false);
	if (!col->values || (at && !col->valid) || (col->plain && !col->text)) {
		rk_stream_column_reset(col);
		return false;
	}
	memset(col->values->data, 0, value_bytes(col, at));
	return true;
}

static bool need_valid(struct rk_stream_column *col, size_t at, size_t cap)
{
	if (col->valid)
		return true;
	col->valid = rk_buffer_new(rk_bits_words(cap) * 8, true);
	if (!col->valid)
		return false;
	rk_bits_fill(words(col->valid), 0, at, true);
	return true;
}

/* The place of a text, from 1; 0 when out of memory. */
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

	if (need > col->text->size &&
	    !rk_buffer_grow(&col->text, need < 4096 ? 4096 : need + need / 2, end, false))
		return false;
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

/* What stands in the place of a null is 0, not what happened to be there. */
static void blank_nulls(uint8_t *to, size_t size, const struct rk_column *c, size_t from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!(c->valid[(from + i) / 64] >> (from + i) % 64 & 1))
			memset(to + i * size, 0, size);
}

static void add_numbers(struct rk_stream_column *col, const struct rk_column *c, size_t from,
			size_t at, size_t n)
{
	size_t size = rk_type_size(col->type);
	uint8_t *to = col->values->data + at * size;

	memcpy(to, (const uint8_t *)c->data + from * size, n * size);
	if (c->valid)
		blank_nulls(to, size, c, from, n);
}

static bool add_values(struct rk_stream_column *col, const struct rk_strtab *names,
		       const struct rk_column *c, size_t from, size_t at, size_t n)
{
	if (col->type == RK_BOOL)
		rk_bits_pack(words(col->values), at, (const uint8_t *)c->data + from, n);
	else if (col->type != RK_STR)
		add_numbers(col, c, from, at, n);
	else
		return col->plain ? add_plain(col, names, c, from, at, n) :
				    add_ids(col, names, c, from, at, n);
	return true;
}

/* Rows that are all null, in a column that has values. */
static void add_nulls(struct rk_stream_column *col, size_t at, size_t n)
{
	size_t size = rk_type_size(col->type);

	if (col->type == RK_BOOL)
		rk_bits_fill(words(col->values), at, n, false);
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
	bool nulls = !c->data || c->valid;

	if (!c->data && !col->values)
		return 0;
	if ((!col->values && !begin_values(col, at, cap)) || (nulls && !need_valid(col, at, cap)))
		return rk_fail_nomem(err);
	if (!c->data)
		add_nulls(col, at, n);
	else if (!add_values(col, names, c, from, at, n))
		return rk_fail_nomem(err);
	if (c->data && c->valid)
		rk_bits_copy(words(col->valid), at, c->valid, from, n);
	else if (col->valid)
		rk_bits_fill(words(col->valid), at, n, c->data != NULL);
	return 0;
}

int rk_stream_column_grow(struct rk_stream_column *col, size_t at, size_t cap, struct rk_error *err)
{
	bool zero = col->type == RK_BOOL;

	if (col->values &&
	    !rk_buffer_grow(&col->values, value_bytes(col, cap), value_bytes(col, at), zero))
		return rk_fail_nomem(err);
	if (col->valid &&
	    !rk_buffer_grow(&col->valid, rk_bits_words(cap) * 8, rk_bits_words(at) * 8, true))
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
