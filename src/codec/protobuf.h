/*
 * protobuf.h - reads the fields of a protobuf message in order, never past its end, and writes
 * fields into memory that the caller has reserved. Also constants shared by the reader and the
 * writer of Perfetto traces.
 */
#ifndef RK_PROTOBUF_H
#define RK_PROTOBUF_H

#include "base/cursor.h"
#include "codec/instream.h"

enum rk_pb_wire { RK_PB_VARINT = 0, RK_PB_FIXED64 = 1, RK_PB_BYTES = 2, RK_PB_FIXED32 = 5 };

struct rk_pb_field {
	uint32_t number;
	enum rk_pb_wire wire;
	uint64_t value;      /* of VARINT, FIXED64 and FIXED32 */
	const uint8_t *data; /* of BYTES: text or a message, borrowed */
	size_t len;
};

/* The next field; false at the end, and if the rest is invalid (then c->bad). */
bool rk_pb_next(struct rk_cursor *c, struct rk_pb_field *ret);

/* The message in a BYTES field; an empty one for any other field. */
static inline struct rk_cursor rk_pb_message(const struct rk_pb_field *f)
{
	return rk_cursor_over(f->data, f->wire == RK_PB_BYTES ? f->len : 0);
}

/* The bits of a double field. */
static inline double rk_pb_double(const struct rk_pb_field *f)
{
	double d;

	memcpy(&d, &f->value, sizeof(d));
	return d;
}

/*
 * ---- reading a file that is one long message ----
 *
 * Set `in` and nothing else. Memory: the largest number of bytes that was gathered.
 */

struct rk_pb_stream {
	struct rk_instream *in; /* borrowed */
	uint8_t *buf;
	size_t cap, from, to; /* buf[from] to buf[to]: read but not used yet */
	uint64_t offset;      /* of buf[from] in the content */
	bool eof;
	struct rk_error damage; /* why the content ends early; code 0: it does not */
};

/*
 * Makes `need` contiguous bytes available at buf + from. Returns 1, or 0 if the content has fewer. A
 * truncated file is read as far as it goes.
 */
int rk_pb_stream_gather(struct rk_pb_stream *s, size_t need, struct rk_error *err);
/* Uses up bytes, gathered or not. Returns 1, or 0 if the content has fewer. */
int rk_pb_stream_skip(struct rk_pb_stream *s, uint64_t n, struct rk_error *err);
void rk_pb_stream_release(struct rk_pb_stream *s); /* all zero is fine */

/*
 * ---- writing ----
 *
 * Each function gets the position to write to and returns the position after it. A varint has at
 * most 10 bytes, a tag at most 5; closing a message may move it by 9 bytes.
 */

enum { RK_PB_FIELD_MAX = 15 }; /* bytes of a field that is a number */

static inline uint8_t *rk_pb_put_varint(uint8_t *p, uint64_t v)
{
	while (v > 0x7f) {
		*p++ = (uint8_t)(v | 0x80);
		v >>= 7;
	}
	*p++ = (uint8_t)v;
	return p;
}

static inline uint8_t *rk_pb_put_tag(uint8_t *p, uint32_t number, enum rk_pb_wire wire)
{
	return rk_pb_put_varint(p, number << 3 | wire);
}

static inline uint8_t *rk_pb_put_uint(uint8_t *p, uint32_t number, uint64_t v)
{
	return rk_pb_put_varint(rk_pb_put_tag(p, number, RK_PB_VARINT), v);
}

static inline uint8_t *rk_pb_put_fixed64(uint8_t *p, uint32_t number, uint64_t v)
{
	p = rk_pb_put_tag(p, number, RK_PB_FIXED64);
	for (unsigned i = 0; i < 8; i++)
		p[i] = (uint8_t)(v >> (8 * i));
	return p + 8;
}

static inline uint8_t *rk_pb_put_double(uint8_t *p, uint32_t number, double d)
{
	uint64_t bits;

	memcpy(&bits, &d, sizeof(bits));
	return rk_pb_put_fixed64(p, number, bits);
}

static inline uint8_t *rk_pb_put_bytes(uint8_t *p, uint32_t number, const void *data, size_t len)
{
	p = rk_pb_put_varint(rk_pb_put_tag(p, number, RK_PB_BYTES), len);
	if (len)
		memcpy(p, data, len);
	return p + len;
}

/* A message: write its content from the position that open returns; close returns its end. */
static inline uint8_t *rk_pb_open(uint8_t *p, uint32_t number)
{
	return rk_pb_put_tag(p, number, RK_PB_BYTES) + 1;
}

uint8_t *rk_pb_close_long(uint8_t *content, uint8_t *end);

/* open reserves one byte for the length; a longer message is moved. */
static inline uint8_t *rk_pb_close(uint8_t *content, uint8_t *end)
{
	if (end - content > 0x7f)
		return rk_pb_close_long(content, end);
	content[-1] = (uint8_t)(end - content);
	return end;
}

/* ---- constants of Perfetto traces ---- */

enum {
	RK_PF_BOOTTIME = 6,         /* builtin_clock.proto */
	RK_PF_FIRST_OWN_CLOCK = 64, /* clocks from here on are local to their sequence */
	RK_PF_STATE_CLEARED = 1,    /* TracePacket.sequence_flags */
	RK_PF_NEEDS_STATE = 2,
};

/* TrackEvent.type */
enum rk_pf_type { RK_PF_BEGIN = 1, RK_PF_END, RK_PF_INSTANT, RK_PF_COUNTER };

/* Categories of tables. "*_api" is a domain of calls, everything else a marker. */
#define RK_PF_KERNELS "kernel_dispatch"
#define RK_PF_COPIES "memory_copy"
#define RK_PF_MEMORY "memory_allocation"
#define RK_PF_MARKERS "marker_api"

#endif
