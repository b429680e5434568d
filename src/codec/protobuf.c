/*
 * protobuf.c - read the fields of a protobuf message. Groups (deprecated in the format) are
 * refused.
 */
#include "codec/protobuf.h"

#include "base/alloc.h"
#include "base/num.h"

enum { MAX_NUMBER = (1 << 29) - 1, STREAM_BLOCK = 256 << 10 };

/* Most tags, lengths and values have one byte. */
static inline uint64_t varint(struct rk_cursor *c)
{
	if (!c->bad && c->pos < c->end && *c->pos < 0x80)
		return *c->pos++;
	return rk_cursor_varint(c);
}

bool rk_pb_next(struct rk_cursor *c, struct rk_pb_field *ret)
{
	uint64_t tag, len;

	if (c->bad || !rk_cursor_left(c))
		return false;
	tag = varint(c);
	ret->number = (uint32_t)(tag >> 3);
	ret->wire = (enum rk_pb_wire)(tag & 7);
	ret->value = 0;
	ret->data = NULL;
	ret->len = 0;
	if (c->bad || tag >> 3 == 0 || tag >> 3 > MAX_NUMBER) {
		c->bad = true;
		return false;
	}
	switch (ret->wire) {
	case RK_PB_VARINT:
		ret->value = varint(c);
		break;
	case RK_PB_FIXED64:
		ret->value = rk_cursor_u64le(c);
		break;
	case RK_PB_FIXED32:
		ret->value = rk_cursor_u32le(c);
		break;
	case RK_PB_BYTES:
		len = varint(c);
		if (len > rk_cursor_left(c))
			c->bad = true;
		ret->data = rk_cursor_take(c, (size_t)len);
		ret->len = ret->data ? (size_t)len : 0;
		break;
	default:
		c->bad = true;
	}
	return !c->bad;
}

int rk_pb_stream_gather(struct rk_pb_stream *s, size_t need, struct rk_error *err)
{
	size_t want = rk_max(need, STREAM_BLOCK);
	uint8_t *grown;

	if (s->to - s->from >= need)
		return 1;
	if (s->eof)
		return 0;
	if (s->from)
		memmove(s->buf, s->buf + s->from, s->to - s->from);
	s->to -= s->from;
	s->from = 0;
	if (s->cap < want) {
		grown = rk_realloc(s->buf, want);
		if (!grown)
			return rk_fail_nomem(err);
		s->buf = grown;
		s->cap = want;
	}
	while (!s->eof && s->to < need) {
		struct rk_error cause = { 0 };
		size_t n = 0, len = s->cap - s->to;
		int rc = rk_instream_read(s->in, s->buf + s->to, len, &n, &cause);

		if (rc == RK_E_FORMAT) {
			s->damage = cause;
			n = 0;
		} else if (rc < 0) {
			if (err && !err->code)
				*err = cause;
			return rc;
		}
		s->to += n;
		s->eof = n < len;
	}
	return s->to >= need;
}

int rk_pb_stream_skip(struct rk_pb_stream *s, uint64_t n, struct rk_error *err)
{
	for (;;) {
		size_t now = (size_t)rk_min(n, s->to - s->from);
		int rc;

		s->from += now;
		s->offset += now;
		n -= now;
		if (!n)
			return 1;
		rc = rk_pb_stream_gather(s, 1, err);
		if (rc <= 0)
			return rc;
	}
}

void rk_pb_stream_release(struct rk_pb_stream *s)
{
	rk_free(s->buf);
	*s = (struct rk_pb_stream){ 0 };
}

uint8_t *rk_pb_close_long(uint8_t *content, uint8_t *end)
{
	size_t len = (size_t)(end - content), more = 0;

	for (uint64_t v = len >> 7; v; v >>= 7)
		more++;
	memmove(content + more, content, len);
	rk_pb_put_varint(content - 1, len);
	return end + more;
}
