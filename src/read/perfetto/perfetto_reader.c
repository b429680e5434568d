/* perfetto_reader.c - the packets of a trace, one after another, and the reader around them. */
#include "read/perfetto/perfetto_reader.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"

extern const struct rk_reader_ops rk_reader_perfetto;

enum { BLOCK = 256 << 10, PACKET = 1 }; /* Trace.packet */

struct perfetto {
	struct rk_reader base;
	struct rk_instream *in;
	struct rk_context *ctx;
};

struct perfetto_source {
	struct rk_source base;
	struct rk_instream *in;
	struct pf_state state;
	struct pf_rows rows;
	uint8_t *buf;
	size_t cap, from, to; /* what is read and not yet used */
	uint64_t offset;      /* of buf[from] in the content */
	bool eof, over;
	size_t closing; /* the track whose open slices are given out at the end */
};

/* ---- bytes ---- */

/* A file that ends early is read as far as it goes. */
static int read_more(struct perfetto_source *s, size_t len, struct rk_error *err)
{
	struct rk_error cause = { 0 };
	size_t n = 0;
	int rc = rk_instream_read(s->in, s->buf + s->to, len, &n, &cause);

	if (rc == RK_E_FORMAT) {
		rk_pf_warn(&s->state, "cut-trace", cause.message);
		n = 0;
		rc = 0;
	}
	if (rc < 0) {
		if (err && !err->code)
			*err = cause;
		return rc;
	}
	s->to += n;
	s->eof = n < len;
	return 0;
}

/* Makes `need` bytes lie together at buf + from; 1: they do, 0: the file has fewer. */
static int gather(struct perfetto_source *s, size_t need, struct rk_error *err)
{
	size_t want = need > BLOCK ? need : BLOCK;
	uint8_t *grown;
	int rc = 0;

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
	while (rc == 0 && !s->eof && s->to < need)
		rc = read_more(s, s->cap - s->to, err);
	return rc < 0 ? rc : s->to >= need;
}

static void use(struct perfetto_source *s, size_t len)
{
	s->from += len;
	s->offset += len;
}

static int skip(struct perfetto_source *s, uint64_t len, struct rk_error *err)
{
	int rc = 1;

	while (len && rc > 0) {
		size_t n = s->to - s->from;

		n = n < len ? n : (size_t)len;
		use(s, n);
		len -= n;
		if (len)
			rc = gather(s, 1, err);
	}
	return rc;
}

static void cut(struct perfetto_source *s)
{
	rk_oddities_count(&s->state.odd, "cut-trace", 0, 1,
			  "the trace ends inside a packet at byte %" PRIu64
			  "; what is before it is read",
			  s->offset);
}

static int end_damaged(struct perfetto_source *s)
{
	rk_oddities_count(&s->state.odd, "damaged-trace", 0, 1,
			  "no packet at byte %" PRIu64 "; what is before it is read", s->offset);
	return 0;
}

/* The length of the packet that follows; 1: there is one, 0: no more. */
static int next_packet(struct perfetto_source *s, uint64_t *ret_len, struct rk_error *err)
{
	struct rk_cursor c;
	uint64_t tag;
	int rc = gather(s, 20, err); /* two varints at most; fewer at the end are fine */

	if (rc < 0 || s->to == s->from)
		return rc < 0 ? rc : 0;
	c = rk_cursor_over(s->buf + s->from, s->to - s->from);
	tag = rk_cursor_varint(&c);
	*ret_len = rk_cursor_varint(&c);
	if (c.bad && s->to - s->from < 20) {
		cut(s);
		return 0;
	}
	if (c.bad || tag != (PACKET << 3 | RK_PB_BYTES))
		return end_damaged(s);
	use(s, (size_t)(c.pos - (s->buf + s->from)));
	return 1;
}

/* One packet; 1: there was one, 0: the end. */
static int read_packet(struct perfetto_source *s, struct rk_error *err)
{
	uint64_t len;
	int rc = next_packet(s, &len, err);

	if (rc <= 0)
		return rc;
	if (len > PF_MAX_PACKET) {
		rk_pf_warn(&s->state, "huge-packet", "a packet of over 16 MiB; left out");
		rc = skip(s, len, err);
		if (rc == 0)
			cut(s);
		return rc;
	}
	rc = gather(s, (size_t)len, err);
	if (rc == 0)
		cut(s);
	if (rc <= 0)
		return rc;
	rc = rk_pf_packet(&s->state, s->buf + s->from, (size_t)len, err);
	use(s, (size_t)len);
	return rc < 0 ? rc : 1;
}

/* ---- source ---- */

/* One slice that nothing closed; 1: there was one, 0: no more. */
static int close_one(struct perfetto_source *s, struct rk_error *err)
{
	int rc;

	while (s->closing < s->state.ntracks && !s->state.tracks[s->closing].open)
		s->closing++;
	if (s->closing == s->state.ntracks)
		return 0;
	if (s->state.tracks[s->closing].open->wanted)
		rk_diag_add(s->state.ctx->diag, "unclosed-slice", s->state.path, 0, 1,
			    "a slice has no end");
	rc = rk_pf_slice_end(&s->state, &s->state.tracks[s->closing], RK_NONE, err);
	return rc < 0 ? rc : 1;
}

static int report_progress(struct perfetto_source *s, struct rk_error *err)
{
	const struct rk_context *ctx = s->state.ctx;
	uint64_t done, total;

	if (!ctx->progress)
		return 0;
	rk_instream_progress(s->in, &done, &total);
	if (ctx->progress(ctx->progress_arg, done, total))
		return rk_fail(err, RK_E_CANCELLED, "cancelled");
	return 0;
}

static int perfetto_next(struct rk_source *base, const struct rk_batch **batch,
			 struct rk_error *err)
{
	struct perfetto_source *s = (struct perfetto_source *)base;
	struct rk_builder *b = &s->rows.b;
	int rc = report_progress(s, err), more = 1;

	rk_builder_reset(b);
	while (rc == 0 && more > 0 && b->nrows + PF_MAX_COUNTERS <= b->cap) {
		more = s->over ? close_one(s, err) : read_packet(s, err);
		if (more == 0 && !s->over) {
			s->over = true;
			more = 1;
		}
	}
	if (rc < 0 || more < 0)
		return rc < 0 ? rc : more;
	if (s->rows.range)
		rk_diag_add(s->state.ctx->diag, "number-out-of-range", s->state.path, 0,
			    s->rows.range, "a number does not fit its column; left empty");
	s->rows.range = 0;
	*batch = rk_builder_batch(b);
	if (!b->nrows)
		rk_oddities_tell(&s->state.odd, s->state.ctx->diag, s->state.path);
	return b->nrows > 0;
}

static void perfetto_source_close(struct rk_source *base)
{
	struct perfetto_source *s = (struct perfetto_source *)base;

	rk_pf_state_release(&s->state);
	rk_pf_rows_release(&s->rows);
	rk_free(s->buf);
	rk_free(s);
}

static int perfetto_scan(struct rk_reader *base, enum rk_table t, uint64_t want,
			 struct rk_source **ret, struct rk_error *err)
{
	static const struct rk_source_ops ops = { perfetto_next, perfetto_source_close };
	struct perfetto *r = (struct perfetto *)base;
	struct perfetto_source *s = rk_calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return rk_fail_nomem(err);
	s->base = (struct rk_source){ &ops, rk_table_schema(t) };
	s->in = r->in;
	s->state = (struct pf_state){
		.ctx = r->ctx,
		.path = rk_instream_path(r->in),
		.counters = t == RK_COUNTERS,
		.table = t,
		.emit = rk_pf_rows_add,
		.arg = &s->rows,
	};
	rc = rk_pf_rows_init(&s->rows, r->ctx, t, want, err);
	if (rc == 0)
		rc = rk_instream_rewind(r->in, err);
	if (rc < 0) {
		perfetto_source_close(&s->base);
		return rc;
	}
	*ret = &s->base;
	return 0;
}

/* ---- reader ---- */

/* Fields of TracePacket that tell it from other bytes, with the type they must have. */
static bool looks_like_packet(struct rk_cursor c)
{
	static const struct {
		uint32_t number;
		enum rk_pb_wire wire;
	} known[] = {
		{ 6, RK_PB_BYTES },   { 8, RK_PB_VARINT },  { 10, RK_PB_VARINT },
		{ 11, RK_PB_BYTES },  { 12, RK_PB_BYTES },  { 13, RK_PB_VARINT },
		{ 36, RK_PB_BYTES },  { 58, RK_PB_VARINT }, { 59, RK_PB_BYTES },
		{ 60, RK_PB_BYTES },  { 79, RK_PB_VARINT }, { 3, RK_PB_VARINT },
		{ 87, RK_PB_VARINT }, { 41, RK_PB_VARINT }, { 33, RK_PB_BYTES },
		{ 35, RK_PB_BYTES },  { 50, RK_PB_BYTES },
	};
	struct rk_pb_field f;
	unsigned seen = 0;

	while (rk_pb_next(&c, &f)) {
		for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
			if (known[i].number != f.number)
				continue;
			if (known[i].wire != f.wire)
				return false;
			seen++;
		}
	}
	return !c.bad && seen;
}

/* Most of the first packets that lie in the head as a whole. */
static int perfetto_probe(const void *head, size_t len, bool whole, const char *file_name)
{
	struct rk_cursor c = rk_cursor_over(head, len);
	struct rk_pb_field f;
	unsigned packets = 0, known = 0;

	(void)file_name;
	if (!len || *(const uint8_t *)head != (PACKET << 3 | RK_PB_BYTES))
		return 0;
	while (packets < 16 && rk_pb_next(&c, &f)) {
		if (f.number != PACKET || f.wire != RK_PB_BYTES)
			break;
		packets++;
		known += looks_like_packet(rk_pb_message(&f));
	}
	return known * 2 > packets && (packets > 1 || whole) ? 85 : 0;
}

static int perfetto_open(struct rk_instream *in, struct rk_context *ctx, struct rk_reader **ret,
			 struct rk_error *err)
{
	struct perfetto *r = rk_calloc(1, sizeof(*r));

	if (!r)
		return rk_fail_nomem(err);
	r->base.ops = &rk_reader_perfetto;
	r->base.tables = RK_TABLE_BIT(RK_KERNELS) | RK_TABLE_BIT(RK_MEMCPY) | RK_TABLE_BIT(RK_API) |
			 RK_TABLE_BIT(RK_MARKERS) | RK_TABLE_BIT(RK_COUNTERS) |
			 RK_TABLE_BIT(RK_MEMALLOC);
	r->in = in;
	r->ctx = ctx;
	*ret = &r->base;
	return 0;
}

static void perfetto_close(struct rk_reader *base)
{
	struct perfetto *r = (struct perfetto *)base;

	rk_instream_close(r->in);
	rk_free(r);
}

const struct rk_reader_ops rk_reader_perfetto = {
	.name = "perfetto",
	.help = "Perfetto traces with slices (rocprofv3 --output-format pftrace)",
	.probe = perfetto_probe,
	.open = perfetto_open,
	.scan = perfetto_scan,
	.close = perfetto_close,
	.serial = true,
	.precedence = RK_PRECEDENCE_PERFETTO,
};
