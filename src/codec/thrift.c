/* thrift.c - see thrift.h. */
#include "codec/thrift.h"

#include <assert.h>
#include <string.h>

bool rk_thrift_next(struct rk_thrift_reader *r, struct rk_thrift_field *f)
{
	uint8_t head = rk_cursor_u8(&r->c);
	int64_t id;

	f->type = head & 15;
	if (r->c.bad || f->type == RK_THRIFT_STOP)
		return false;
	id = head >> 4 ? f->id + (head >> 4) : rk_cursor_zigzag(&r->c);
	if (r->c.bad || id < 0 || id > INT16_MAX || f->type > RK_THRIFT_STRUCT) {
		r->c.bad = true;
		return false;
	}
	f->id = (int)id;
	return true;
}

int64_t rk_thrift_int(struct rk_thrift_reader *r, const struct rk_thrift_field *f)
{
	switch (f->type) {
	case RK_THRIFT_I8:
		return (int8_t)rk_cursor_u8(&r->c);
	case RK_THRIFT_I16:
	case RK_THRIFT_I32:
	case RK_THRIFT_I64:
		return rk_cursor_zigzag(&r->c);
	default:
		r->c.bad = true;
		return 0;
	}
}

bool rk_thrift_bool(struct rk_thrift_reader *r, const struct rk_thrift_field *f)
{
	if (f->type != RK_THRIFT_TRUE && f->type != RK_THRIFT_FALSE)
		r->c.bad = true;
	return f->type == RK_THRIFT_TRUE;
}

const char *rk_thrift_binary(struct rk_thrift_reader *r, const struct rk_thrift_field *f,
			     size_t *ret_len)
{
	uint64_t len = 0;
	const uint8_t *p;

	*ret_len = 0;
	if (f->type != RK_THRIFT_BINARY)
		r->c.bad = true;
	else
		len = rk_cursor_varint(&r->c);
	p = rk_cursor_take(&r->c, len);
	if (!p)
		return "";
	*ret_len = len;
	return (const char *)p;
}

bool rk_thrift_struct(struct rk_thrift_reader *r, const struct rk_thrift_field *f)
{
	if (f->type != RK_THRIFT_STRUCT)
		r->c.bad = true;
	return !r->c.bad;
}

size_t rk_thrift_list(struct rk_thrift_reader *r, const struct rk_thrift_field *f,
		      struct rk_thrift_field *elem)
{
	uint8_t head;
	uint64_t n;

	*elem = (struct rk_thrift_field){ 0 };
	if (f->type != RK_THRIFT_LIST && f->type != RK_THRIFT_SET) {
		r->c.bad = true;
		return 0;
	}
	head = rk_cursor_u8(&r->c);
	n = head >> 4;
	elem->type = head & 15;
	if (n == 15)
		n = rk_cursor_varint(&r->c);
	/* Every element has at least one byte, so a larger count is damage. */
	if (n > rk_cursor_left(&r->c) || (n && (!elem->type || elem->type > RK_THRIFT_STRUCT)))
		r->c.bad = true;
	return r->c.bad ? 0 : n;
}

/* Booleans in a list take a byte; as fields they are part of the type. */
static void skip_elem(struct rk_thrift_reader *r, const struct rk_thrift_field *elem)
{
	if (elem->type == RK_THRIFT_TRUE || elem->type == RK_THRIFT_FALSE)
		rk_cursor_u8(&r->c);
	else
		rk_thrift_skip(r, elem);
}

static void skip_nested(struct rk_thrift_reader *r, const struct rk_thrift_field *f)
{
	struct rk_thrift_field key = { 0 }, inner = { 0 };
	uint8_t types;
	uint64_t n;

	switch (f->type) {
	case RK_THRIFT_LIST:
	case RK_THRIFT_SET:
		for (n = rk_thrift_list(r, f, &inner); n && !r->c.bad; n--)
			skip_elem(r, &inner);
		break;
	case RK_THRIFT_MAP:
		n = rk_cursor_varint(&r->c);
		if (!n)
			break;
		types = rk_cursor_u8(&r->c);
		key.type = types >> 4;
		inner.type = types & 15;
		if (n > rk_cursor_left(&r->c) || !key.type || !inner.type)
			r->c.bad = true;
		for (; n && !r->c.bad; n--) {
			skip_elem(r, &key);
			skip_elem(r, &inner);
		}
		break;
	default:
		while (rk_thrift_next(r, &inner))
			rk_thrift_skip(r, &inner);
	}
}

void rk_thrift_skip(struct rk_thrift_reader *r, const struct rk_thrift_field *f)
{
	size_t len;

	switch (f->type) {
	case RK_THRIFT_TRUE:
	case RK_THRIFT_FALSE:
		return;
	case RK_THRIFT_I8:
	case RK_THRIFT_I16:
	case RK_THRIFT_I32:
	case RK_THRIFT_I64:
		rk_thrift_int(r, f);
		return;
	case RK_THRIFT_DOUBLE:
		rk_cursor_take(&r->c, 8);
		return;
	case RK_THRIFT_BINARY:
		rk_thrift_binary(r, f, &len);
		return;
	case RK_THRIFT_LIST:
	case RK_THRIFT_SET:
	case RK_THRIFT_MAP:
	case RK_THRIFT_STRUCT:
		if (++r->depth > RK_THRIFT_DEPTH)
			r->c.bad = true;
		else
			skip_nested(r, f);
		r->depth--;
		return;
	default:
		r->c.bad = true;
	}
}

/* ---- writing ---- */

static void put_varint(struct rk_bytes *b, uint64_t v)
{
	while (v >= 0x80) {
		rk_bytes_put_u8(b, (uint8_t)(v | 0x80));
		v >>= 7;
	}
	rk_bytes_put_u8(b, (uint8_t)v);
}

void rk_thrift_elem_int(struct rk_thrift_writer *w, int64_t v)
{
	put_varint(w->out, (uint64_t)v << 1 ^ (uint64_t)(v >> 63));
}

void rk_thrift_elem_struct(struct rk_thrift_writer *w)
{
	assert(w->depth + 1 < RK_THRIFT_DEPTH);
	w->last[++w->depth] = 0;
}

/* Ids close to the last one share a byte with the type. */
static void put_header(struct rk_thrift_writer *w, int id, unsigned type)
{
	int *last = &w->last[w->depth];
	int delta = id - *last;

	if (delta > 0 && delta <= 15) {
		rk_bytes_put_u8(w->out, (uint8_t)((unsigned)delta << 4 | type));
	} else {
		rk_bytes_put_u8(w->out, (uint8_t)type);
		rk_thrift_elem_int(w, id);
	}
	*last = id;
}

void rk_thrift_begin(struct rk_thrift_writer *w, struct rk_bytes *out)
{
	w->out = out;
	w->depth = 0;
	w->last[0] = 0;
}

void rk_thrift_end(struct rk_thrift_writer *w)
{
	rk_bytes_put_u8(w->out, RK_THRIFT_STOP);
	if (w->depth)
		w->depth--;
}

void rk_thrift_put_bool(struct rk_thrift_writer *w, int id, bool v)
{
	put_header(w, id, v ? RK_THRIFT_TRUE : RK_THRIFT_FALSE);
}

void rk_thrift_put_i16(struct rk_thrift_writer *w, int id, int16_t v)
{
	put_header(w, id, RK_THRIFT_I16);
	rk_thrift_elem_int(w, v);
}

void rk_thrift_put_i32(struct rk_thrift_writer *w, int id, int32_t v)
{
	put_header(w, id, RK_THRIFT_I32);
	rk_thrift_elem_int(w, v);
}

void rk_thrift_put_i64(struct rk_thrift_writer *w, int id, int64_t v)
{
	put_header(w, id, RK_THRIFT_I64);
	rk_thrift_elem_int(w, v);
}

void rk_thrift_put_binary(struct rk_thrift_writer *w, int id, const void *p, size_t len)
{
	put_header(w, id, RK_THRIFT_BINARY);
	rk_thrift_elem_binary(w, p, len);
}

void rk_thrift_put_text(struct rk_thrift_writer *w, int id, const char *s)
{
	rk_thrift_put_binary(w, id, s, strlen(s));
}

void rk_thrift_put_struct(struct rk_thrift_writer *w, int id)
{
	put_header(w, id, RK_THRIFT_STRUCT);
	rk_thrift_elem_struct(w);
}

void rk_thrift_put_list(struct rk_thrift_writer *w, int id, enum rk_thrift_type elem, size_t n)
{
	put_header(w, id, RK_THRIFT_LIST);
	if (n < 15) {
		rk_bytes_put_u8(w->out, (uint8_t)(n << 4 | elem));
	} else {
		rk_bytes_put_u8(w->out, (uint8_t)(0xf0 | elem));
		put_varint(w->out, n);
	}
}

void rk_thrift_elem_bool(struct rk_thrift_writer *w, bool v)
{
	rk_bytes_put_u8(w->out, v ? RK_THRIFT_TRUE : RK_THRIFT_FALSE);
}

void rk_thrift_elem_binary(struct rk_thrift_writer *w, const void *p, size_t len)
{
	put_varint(w->out, len);
	rk_bytes_put(w->out, p, len);
}
