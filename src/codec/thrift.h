/*
 * thrift.h - Thrift's compact protocol, as far as Parquet's metadata needs it.
 *
 * Writing appends to an rk_bytes; check its `bad` at the end. Reading uses a bounded cursor: after
 * the first damage every call returns zero, so a parser can read a whole struct and test `c.bad`
 * once.
 */
#ifndef RK_THRIFT_H
#define RK_THRIFT_H

#include "base/bytes.h"
#include "base/cursor.h"

enum rk_thrift_type {
	RK_THRIFT_STOP = 0,
	RK_THRIFT_TRUE = 1,
	RK_THRIFT_FALSE = 2,
	RK_THRIFT_I8 = 3,
	RK_THRIFT_I16 = 4,
	RK_THRIFT_I32 = 5,
	RK_THRIFT_I64 = 6,
	RK_THRIFT_DOUBLE = 7,
	RK_THRIFT_BINARY = 8,
	RK_THRIFT_LIST = 9,
	RK_THRIFT_SET = 10,
	RK_THRIFT_MAP = 11,
	RK_THRIFT_STRUCT = 12,
};

enum { RK_THRIFT_DEPTH = 16 }; /* nesting, writing and reading */

struct rk_thrift_writer {
	struct rk_bytes *out;
	unsigned depth;
	int last[RK_THRIFT_DEPTH]; /* last field id, per open struct */
};

/* Begins the outermost struct. */
void rk_thrift_begin(struct rk_thrift_writer *w, struct rk_bytes *out);
/* Ends the innermost open struct, the outermost one included. */
void rk_thrift_end(struct rk_thrift_writer *w);

void rk_thrift_put_bool(struct rk_thrift_writer *w, int id, bool v);
void rk_thrift_put_i16(struct rk_thrift_writer *w, int id, int16_t v);
void rk_thrift_put_i32(struct rk_thrift_writer *w, int id, int32_t v);
void rk_thrift_put_i64(struct rk_thrift_writer *w, int id, int64_t v);
void rk_thrift_put_binary(struct rk_thrift_writer *w, int id, const void *p, size_t len);
void rk_thrift_put_text(struct rk_thrift_writer *w, int id, const char *s);
void rk_thrift_put_struct(struct rk_thrift_writer *w, int id); /* closed by rk_thrift_end */
/* Write the n elements next, each with one of the calls below. */
void rk_thrift_put_list(struct rk_thrift_writer *w, int id, enum rk_thrift_type elem, size_t n);
void rk_thrift_elem_int(struct rk_thrift_writer *w, int64_t v);
void rk_thrift_elem_bool(struct rk_thrift_writer *w, bool v);
void rk_thrift_elem_binary(struct rk_thrift_writer *w, const void *p, size_t len);
void rk_thrift_elem_struct(struct rk_thrift_writer *w); /* closed by rk_thrift_end */

struct rk_thrift_reader {
	struct rk_cursor c;
	unsigned depth; /* of nested values being skipped */
};

/* Zero it before the first rk_thrift_next of a struct. */
struct rk_thrift_field {
	int id;
	unsigned type; /* enum rk_thrift_type */
};

/* The next field of the struct; false at its end or if damaged. The caller must read its value. */
bool rk_thrift_next(struct rk_thrift_reader *r, struct rk_thrift_field *f);
/* Values; a field of another type is damage. */
int64_t rk_thrift_int(struct rk_thrift_reader *r, const struct rk_thrift_field *f);
bool rk_thrift_bool(struct rk_thrift_reader *r, const struct rk_thrift_field *f);
/* Borrowed from the bytes read. */
const char *rk_thrift_binary(struct rk_thrift_reader *r, const struct rk_thrift_field *f,
			     size_t *ret_len);
/* True when the field is a struct; its fields are read next. */
bool rk_thrift_struct(struct rk_thrift_reader *r, const struct rk_thrift_field *f);
/* Number of elements; never more than bytes are left. *elem describes them. */
size_t rk_thrift_list(struct rk_thrift_reader *r, const struct rk_thrift_field *f,
		      struct rk_thrift_field *elem);
/* Skips a value of any type; nesting beyond RK_THRIFT_DEPTH is damage. */
void rk_thrift_skip(struct rk_thrift_reader *r, const struct rk_thrift_field *f);

#endif
