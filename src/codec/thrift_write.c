/* thrift_write.c - Thrift's compact protocol, writing. */
#include "codec/thrift.h"

#include <assert.h>
#include <string.h>

static void put_varint(struct rk_bytes *b, uint64_t v)
{
	while (v >= 0x80) {
		rk_bytes_put_u8(b, (uint8_t)(v | 0x80));
		v >>= 7;
	}
	rk_bytes_put_u8(b, (uint8_t)v);
}

static void put_zigzag(struct rk_bytes *b, int64_t v)
{
	put_varint(b, (uint64_t)v << 1 ^ (uint64_t)(v >> 63));
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
		put_zigzag(w->out, id);
	}
	*last = id;
}

static void push(struct rk_thrift_writer *w)
{
	assert(w->depth + 1 < RK_THRIFT_DEPTH);
	w->last[++w->depth] = 0;
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
	put_zigzag(w->out, v);
}

void rk_thrift_put_i32(struct rk_thrift_writer *w, int id, int32_t v)
{
	put_header(w, id, RK_THRIFT_I32);
	put_zigzag(w->out, v);
}

void rk_thrift_put_i64(struct rk_thrift_writer *w, int id, int64_t v)
{
	put_header(w, id, RK_THRIFT_I64);
	put_zigzag(w->out, v);
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
	push(w);
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

void rk_thrift_elem_int(struct rk_thrift_writer *w, int64_t v)
{
	put_zigzag(w->out, v);
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

void rk_thrift_elem_struct(struct rk_thrift_writer *w)
{
	push(w);
}
