/*
 * reader.c - the reader of Perfetto traces: splits the file into packets and turns slices into
 * rows.
 */
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/num.h"
#include "base/text.h"
#include "read/perfetto/perfetto.h"
#include "read/rocprofv3/csv.h"

/* ---- slices as rows ---- */

struct pf_rows {
	struct rk_context *ctx;
	struct rk_builder b;
	enum rk_table table;
	uint64_t want;
	uint32_t source_id, clock_id, range_id, mark_id;
	int64_t kernels; /* number of kernels so far */
	bool ordinals;   /* it replaces missing dispatch ids */
	uint64_t range;  /* numbers that did not fit */
	struct rk_error error;
};

static void put(struct pf_rows *r, unsigned field, int64_t v)
{
	int rc = 0;

	if (r->want >> field & 1)
		rc = rk_builder_put(&r->b, field, v);
	if (rc < 0)
		rk_fail_nomem(&r->error);
	r->range += rc > 0;
}

static int64_t either(int64_t a, int64_t b)
{
	return a == RK_NONE ? b : a;
}

/* rocprofv3's traces have none. */
static int64_t dispatch_of(const struct pf_rows *r, const struct pf_slice *s)
{
	return either(s->values[PF_DISPATCH], r->ordinals ? r->kernels : RK_NONE);
}

/* Uses the times in the annotations if both exist: the slice's own times may have been moved. */
static void put_times(struct pf_rows *r, const struct pf_slice *s, int64_t end, unsigned start,
		      unsigned duration)
{
	int64_t from = s->start, to = end, dur = RK_NONE;

	if (s->values[PF_BEGIN] != RK_NONE && s->values[PF_END] != RK_NONE) {
		from = s->values[PF_BEGIN];
		to = s->values[PF_END];
	}
	put(r, start, from);
	if (from != RK_NONE && to != RK_NONE && !rk_sub_i64(to, from, &dur)) {
		r->range++;
		dur = RK_NONE;
	}
	put(r, duration, dur);
}

/*
 * Work-items and workgroup size are three numbers. rockit's own traces have workgroups; work-items
 * are workgroups times their size. rocprofv3 writes only the products; the three numbers are lost.
 */
static void put_kernel(struct pf_rows *r, const struct pf_slice *s, const struct pf_track *t)
{
	const int64_t *v = s->values;
	bool grids = v[PF_GRID] != RK_NONE;
	int64_t queue = either(s->values[PF_QUEUE], t->queue);
	int64_t stream = either(s->values[PF_STREAM], t->stream);
	int64_t vgpr = s->values[PF_VGPR], accum = s->values[PF_ACCUM];

	for (unsigned i = 0; i < 3; i++) {
		int64_t block = v[PF_BLOCK + i], items = v[PF_ITEMS + i], grid;

		if (grids) {
			grid = v[PF_GRID + i];
			if (items == RK_NONE && grid != RK_NONE && block != RK_NONE &&
			    __builtin_mul_overflow(grid, block, &items))
				items = RK_NONE;
		} else {
			if (v[PF_BLOCK + 1] == RK_NONE)
				block = RK_NONE;
			if (v[PF_ITEMS + 1] == RK_NONE)
				items = RK_NONE;
			grid = rk_grid_of(items, block);
		}
		put(r, RK_K_BLOCK_X + i, block);
		put(r, RK_K_ITEMS_X + i, items);
		put(r, RK_K_GRID_X + i, grid);
	}
	put(r, RK_K_REGS, either(s->values[PF_REGS], rk_regs_of(vgpr, accum)));
	put(r, RK_K_VGPR, vgpr);
	put(r, RK_K_ACCUM_VGPR, accum);
	put(r, RK_K_SGPR, s->values[PF_SGPR]);
	put(r, RK_K_SHARED_MEM, s->values[PF_LDS]);
	put(r, RK_K_SCRATCH, s->values[PF_SCRATCH]);
	put(r, RK_K_WAVE_SIZE, s->values[PF_WAVE_SIZE]);
	put(r, RK_K_STREAM, either(stream, queue));
	put(r, RK_K_QUEUE, queue);
	put(r, RK_K_DEVICE, either(s->values[PF_AGENT], t->agent));
	put(r, RK_K_DISPATCH, dispatch_of(r, s));
	put(r, RK_K_CORRELATION, s->values[PF_CORRELATION]);
	put(r, RK_K_SOURCE, r->source_id);
	put(r, RK_K_CLOCK, r->clock_id);
}

static void counters(struct pf_rows *r, const struct pf_slice *s, const struct pf_track *t)
{
	for (unsigned i = 0; i < s->ncounters && !r->error.code; i++) {
		put(r, RK_N_DISPATCH, dispatch_of(r, s));
		put(r, RK_N_NAME, s->name);
		put(r, RK_N_COUNTER, s->counters[i].name);
		if (r->want >> RK_N_VALUE & 1) {
			double *values = rk_builder_column(&r->b, RK_N_VALUE);

			if (values)
				values[r->b.nrows] = s->counters[i].value;
			else
				rk_fail_nomem(&r->error);
		}
		put(r, RK_N_DEVICE, either(s->values[PF_AGENT], t->agent));
		put(r, RK_N_PID, s->values[PF_PID]);
		put(r, RK_N_RANK, s->values[PF_RANK]);
		put(r, RK_N_NODE, s->values[PF_NODE]);
		r->b.nrows++;
	}
}

/* Adds "MEMORY_COPY_" to directions without it, as in the CSV files. */
static int64_t direction(struct pf_rows *r, int64_t name)
{
	static const struct {
		const char *name, *direction;
	} hip[] = { { "H2D", "MEMORY_COPY_HOST_TO_DEVICE" },
		    { "D2H", "MEMORY_COPY_DEVICE_TO_HOST" },
		    { "D2D", "MEMORY_COPY_DEVICE_TO_DEVICE" } };
	uint32_t id = (uint32_t)name;
	const char *text;
	size_t len;

	if (name == RK_NONE)
		return RK_NONE;
	text = rk_strtab_borrow(r->ctx->names, id, &len);
	for (size_t i = 0; i < sizeof(hip) / sizeof(hip[0]); i++)
		if (len >= 3 && !memcmp(text, hip[i].name, 3) && (len == 3 || text[3] == '_'))
			rk_strtab_adds(r->ctx->names, hip[i].direction, &id, &r->error);
	if (rk_text_ends(text, len, "_TO_HOST") || rk_text_ends(text, len, "_TO_DEVICE"))
		rk_v3_full_direction(r->ctx, &id, &r->error);
	return id;
}

/* The category in capitals (HIP_API), as other readers name domains. */
static int64_t domain(struct pf_rows *r, uint32_t category)
{
	char name[64];
	size_t len;
	const char *text = rk_strtab_borrow(r->ctx->names, category, &len);
	uint32_t id = 0;

	if (len > sizeof(name))
		return category;
	if (rk_text_ieq(text, len, "hip")) { /* of HIP's own profiler */
		rk_strtab_adds(r->ctx->names, "HIP_API", &id, &r->error);
		return id;
	}
	for (size_t i = 0; i < len; i++) {
		name[i] = text[i];
		if (name[i] >= 'a' && name[i] <= 'z')
			name[i] = (char)(name[i] - 32);
	}
	rk_strtab_add(r->ctx->names, name, len, &id, &r->error);
	return id;
}

/* Fields that the tables have in common. */
static const struct {
	uint8_t name, start, duration, pid, tid, rank, node;
} common[] = {
	[RK_KERNELS] = { RK_K_NAME, RK_K_START, RK_K_DURATION, RK_K_PID, RK_K_TID, RK_K_RANK,
			 RK_K_NODE },
	[RK_MEMCPY] = { RK_C_DIRECTION, RK_C_START, RK_C_DURATION, RK_C_PID, RK_C_TID, RK_C_RANK,
			RK_C_NODE },
	[RK_MEMALLOC] = { RK_M_OPERATION, RK_M_START, RK_M_DURATION, RK_M_PID, RK_M_TID, RK_M_RANK,
			  RK_M_NODE },
	[RK_API] = { RK_A_FUNCTION, RK_A_START, RK_A_DURATION, RK_A_PID, RK_A_TID, RK_A_RANK,
		     RK_A_NODE },
	[RK_MARKERS] = { RK_R_NAME, RK_R_START, RK_R_DURATION, RK_R_PID, RK_R_TID, RK_R_RANK,
			 RK_R_NODE },
};

/* Adds the rows of one slice: at most PF_MAX_COUNTERS. */
static int add_rows(void *arg, const struct pf_slice *s, const struct pf_track *t, int64_t end,
		    struct rk_error *err)
{
	struct pf_rows *r = arg;
	const int64_t *v = s->values;
	int64_t name = s->name, tid = v[PF_TID];
	bool mark;

	r->kernels++; /* only used for the two tables of kernels */
	switch (r->table) {
	case RK_COUNTERS:
		counters(r, s, t);
		goto out;
	case RK_KERNELS:
		put_kernel(r, s, t);
		break;
	case RK_MEMCPY:
		name = direction(r, name);
		put(r, RK_C_BYTES, v[PF_BYTES]);
		put(r, RK_C_SRC, v[PF_SRC]);
		put(r, RK_C_DST, v[PF_DST]);
		put(r, RK_C_STREAM, either(v[PF_STREAM], t->stream));
		put(r, RK_C_CORRELATION, v[PF_CORRELATION]);
		break;
	case RK_MEMALLOC:
		if (s->hip) /* the slice lasts as long as the memory, not as the call */
			end = RK_NONE;
		put(r, RK_M_BYTES, v[PF_BYTES]);
		put(r, RK_M_ADDRESS, v[PF_ADDRESS]);
		put(r, RK_M_DEVICE, v[PF_AGENT]);
		put(r, RK_M_FLAGS, v[PF_FLAGS]);
		put(r, RK_M_CORRELATION, v[PF_CORRELATION]);
		break;
	case RK_API:
		tid = either(tid, t->tid);
		if (v[PF_DOMAIN] != RK_NONE)
			put(r, RK_A_DOMAIN, v[PF_DOMAIN]);
		else if (r->want >> RK_A_DOMAIN & 1)
			put(r, RK_A_DOMAIN, domain(r, s->category));
		put(r, RK_A_CORRELATION, v[PF_CORRELATION]);
		break;
	default:
		tid = either(tid, t->tid);
		mark = s->instant || (v[PF_BEGIN] != RK_NONE && v[PF_BEGIN] == v[PF_END]);
		put(r, RK_R_KIND, either(v[PF_KIND], mark ? r->mark_id : r->range_id));
		break;
	}
	put(r, common[r->table].name, name);
	put_times(r, s, end, common[r->table].start, common[r->table].duration);
	put(r, common[r->table].pid, v[PF_PID]);
	put(r, common[r->table].tid, tid);
	put(r, common[r->table].rank, v[PF_RANK]);
	put(r, common[r->table].node, v[PF_NODE]);
	r->b.nrows++;
out:
	if (r->error.code && err && !err->code)
		*err = r->error;
	return r->error.code;
}

/* ---- packets ---- */

enum { PACKET = 1 }; /* Trace.packet */

struct perfetto_source {
	struct rk_source base;
	struct rk_pb_stream file;
	struct pf_state state;
	struct pf_rows rows;
	bool over;
	size_t closing; /* the track whose open slices are emitted at the end */
};

/* Warns that the file ends inside a packet. */
static int cut(struct perfetto_source *s)
{
	if (s->file.damage.code)
		rk_pf_warn(&s->state, "cut-trace", s->file.damage.message);
	else
		rk_oddities_count(&s->state.odd, "cut-trace", 0, 1,
				  "the trace ends inside a packet at byte %" PRIu64
				  "; everything before it is read",
				  s->file.offset);
	return 0;
}

/* Reads the next packet of a bundle; at its end, or at damage, the bundle is used up. */
static int read_bundled(struct pf_state *s, struct rk_error *err)
{
	struct rk_cursor c =
		rk_cursor_over(s->bundle.data + s->bundle_at, s->bundle.len - s->bundle_at);
	struct rk_pb_field f = { 0 };

	if (rk_cursor_left(&c) > 2 && rk_pb_next(&c, &f) && f.number == PACKET &&
	    f.wire == RK_PB_BYTES) {
		s->bundle_at = (size_t)(c.pos - s->bundle.data);
		return rk_pf_packet(s, f.data, f.len, err);
	}
	if (c.bad || f.number)
		rk_pf_warn(
			s, "compressed-packets",
			"a bundle of compressed packets is damaged; its packets before that are read");
	rk_bytes_clear(&s->bundle);
	return 0;
}

/* Reads one packet. Returns 1, or 0 at the end. */
static int read_packet(struct perfetto_source *s, struct rk_error *err)
{
	struct rk_pb_stream *file = &s->file;
	struct rk_cursor c;
	uint64_t tag, len;
	size_t left;
	int rc;

	if (s->state.bundle.len) {
		rc = read_bundled(&s->state, err);
		return rc < 0 ? rc : 1;
	}
	rc = rk_pb_stream_gather(file, 20, err); /* at most two varints; fewer at the end */
	if (rc < 0)
		return rc;
	left = file->to - file->from;
	if (!left)
		return file->damage.code ? cut(s) : 0;
	c = rk_cursor_over(file->buf + file->from, left);
	tag = rk_cursor_varint(&c);
	len = rk_cursor_varint(&c);
	if (c.bad && left < 20)
		return cut(s);
	if (c.bad || tag != (PACKET << 3 | RK_PB_BYTES)) {
		rk_oddities_count(&s->state.odd, "damaged-trace", 0, 1,
				  "invalid packet at byte %" PRIu64
				  "; everything before it is read",
				  file->offset);
		return 0;
	}
	rk_pb_stream_skip(file, (uint64_t)(c.pos - (file->buf + file->from)), err);

	if (len > PF_MAX_PACKET) {
		rk_pf_warn(&s->state, "huge-packet", "a packet is larger than 16 MiB; skipped");
		rc = rk_pb_stream_skip(file, len, err);
		return rc == 0 ? cut(s) : rc;
	}
	rc = rk_pb_stream_gather(file, (size_t)len, err);
	if (rc <= 0)
		return rc < 0 ? rc : cut(s);
	rc = rk_pf_packet(&s->state, file->buf + file->from, (size_t)len, err);
	rk_pb_stream_skip(file, len, err);
	return rc < 0 ? rc : 1;
}

/* ---- source ---- */

/* Emits one slice that was never closed. Returns 1, or 0 if there are no more. */
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

static int perfetto_next(struct rk_source *base, const struct rk_batch **batch,
			 struct rk_error *err)
{
	struct perfetto_source *s = (struct perfetto_source *)base;
	struct rk_context *ctx = s->state.ctx;
	struct rk_builder *b = &s->rows.b;
	int rc = rk_reader_progress(s->file.in, ctx, err);

	if (rc < 0)
		return rc;
	rk_builder_reset(b);
	while (b->nrows + PF_MAX_COUNTERS <= b->cap) {
		int more = s->over ? close_one(s, err) : read_packet(s, err);

		if (more < 0)
			return more;
		if (more == 0 && s->over)
			break;
		s->over |= more == 0;
	}
	if (s->rows.range)
		rk_diag_add(ctx->diag, "number-out-of-range", s->state.path, 0, s->rows.range,
			    "a number does not fit its column; left empty");
	s->rows.range = 0;
	*batch = rk_builder_batch(b);
	if (!b->nrows)
		rk_oddities_tell(&s->state.odd, ctx->diag, s->state.path);
	return b->nrows > 0;
}

static void perfetto_source_close(struct rk_source *base)
{
	struct perfetto_source *s = (struct perfetto_source *)base;

	rk_pf_state_release(&s->state);
	rk_builder_release(&s->rows.b);
	rk_pb_stream_release(&s->file);
	rk_free(s);
}

static int perfetto_scan(struct rk_reader *base, enum rk_table t, uint64_t want,
			 struct rk_source **ret, struct rk_error *err)
{
	static const struct rk_source_ops ops = { perfetto_next, perfetto_source_close };
	struct rk_plain_reader *r = (struct rk_plain_reader *)base;
	struct perfetto_source *s = rk_calloc(1, sizeof(*s));
	struct rk_strtab *names = r->ctx->names;
	int rc;

	if (!s)
		return rk_fail_nomem(err);
	s->base = (struct rk_source){ &ops, rk_table_schema(t) };
	s->file.in = r->in;
	s->rows = (struct pf_rows){
		.ctx = r->ctx, .table = t, .want = want, .ordinals = base->ordinals
	};
	s->state = (struct pf_state){
		.ctx = r->ctx,
		.path = rk_instream_path(r->in),
		.table = t,
		.emit = add_rows,
		.arg = &s->rows,
	};
	rk_bytes_init(&s->state.bundle, PF_MAX_BUNDLE);
	if ((rc = rk_strtab_adds(names, "perfetto", &s->rows.source_id, err)) < 0 ||
	    (rc = rk_strtab_adds(names, "boottime", &s->rows.clock_id, err)) < 0 ||
	    (rc = rk_strtab_adds(names, "range", &s->rows.range_id, err)) < 0 ||
	    (rc = rk_strtab_adds(names, "mark", &s->rows.mark_id, err)) < 0 ||
	    (rc = rk_builder_init(&s->rows.b, s->base.schema, RK_BATCH_ROWS, err)) < 0 ||
	    (rc = rk_instream_rewind(r->in, err)) < 0) {
		perfetto_source_close(&s->base);
		return rc;
	}
	*ret = &s->base;
	return 0;
}

/* ---- reader ---- */

/* Checks the fields that identify a TracePacket, and their types. */
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
		{ 35, RK_PB_BYTES },  { 50, RK_PB_BYTES },  { 133, RK_PB_BYTES },
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

/* Is the packet there, which may end behind the head, a bundle of compressed packets and nothing else? */
static bool begins_with_bundle(struct rk_cursor c)
{
	uint64_t packet, tag, len;
	const uint8_t *content, *magic;

	rk_cursor_varint(&c); /* the tag of the packet */
	packet = rk_cursor_varint(&c);
	content = c.pos;
	tag = rk_cursor_varint(&c);
	len = rk_cursor_varint(&c);
	if (c.bad || len > packet || (uint64_t)(c.pos - content) != packet - len)
		return false;
	magic = rk_cursor_take(&c, 4);
	if (tag == (50 << 3 | RK_PB_BYTES))
		return magic && (magic[0] & 15) == 8 && (magic[0] << 8 | magic[1]) % 31 == 0;
	return tag == (133 << 3 | RK_PB_BYTES) && magic && !memcmp(magic, "\x28\xb5\x2f\xfd", 4);
}

/* Most of the packets that are complete in the head must look like packets. */
static int perfetto_probe(const struct rk_head *head)
{
	const struct rk_cursor first = rk_cursor_over(head->data, head->len);
	struct rk_cursor c = first, rest = first;
	struct rk_pb_field f;
	unsigned packets = 0, known = 0;

	if (!head->len || *head->data != (PACKET << 3 | RK_PB_BYTES))
		return 0;
	while (packets < 16 && rk_pb_next(&c, &f)) {
		if (f.number != PACKET || f.wire != RK_PB_BYTES)
			break;
		packets++;
		known += looks_like_packet(rk_pb_message(&f));
		rest = c;
	}
	/* a single ordinary packet proves nothing */
	if (packets < 2 && !head->whole)
		return begins_with_bundle(first) || (known && begins_with_bundle(rest)) ? 85 : 0;
	return known * 2 > packets ? 85 : 0;
}

static int perfetto_open(const struct rk_reader_ops *ops, struct rk_instream *in,
			 struct rk_context *ctx, struct rk_reader **ret, struct rk_error *err)
{
	uint32_t tables = RK_TABLE_BIT(RK_KERNELS) | RK_TABLE_BIT(RK_MEMCPY) |
			  RK_TABLE_BIT(RK_API) | RK_TABLE_BIT(RK_MARKERS) |
			  RK_TABLE_BIT(RK_COUNTERS) | RK_TABLE_BIT(RK_MEMALLOC);

	return rk_plain_reader_open(ops, tables, in, ctx, ret, err);
}

const struct rk_reader_ops rk_reader_perfetto = {
	.name = "perfetto",
	.help = "Perfetto traces with slices (rocprofv3 --output-format pftrace)",
	.probe = perfetto_probe,
	.open = perfetto_open,
	.ordinals = true,
	.scan = perfetto_scan,
	.close = rk_plain_reader_close,
	.serial = true,
	.precedence = RK_PRECEDENCE_PERFETTO,
};
