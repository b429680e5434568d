/* v1_txt.c - raw text traces of rocprof, roctracer and rocprofv2. */
#include <string.h>

#include "base/alloc.h"
#include "base/num.h"
#include "base/text.h"
#include "codec/instream.h"
#include "read/reader.h"
#include "read/rocprof_v1/v1_lines.h"

enum { MAX_OPEN = 1 << 16 }; /* open ranges */

/* An open range. */
struct range {
	struct rk_txt_line line; /* its strings are no longer valid */
	uint32_t name;
};

/* Rows of one table. After the first error in a row, puts do nothing. */
struct rows {
	struct rk_context *ctx;
	struct rk_builder b;
	struct rk_error *err; /* for the current row; `rc` too */
	int rc;
	struct rk_txt_line dispatch; /* the last dispatch, for the counters after it */
	uint32_t dispatch_name;
	struct range *open;
	size_t nopen, cap_open;
	uint64_t lost_ends, unmatched, unclosed, dropped, out_of_range;
};

static void put(struct rows *r, unsigned field, const void *v, bool has)
{
	size_t size = rk_type_size(r->b.schema->fields[field].type), row = r->b.nrows;
	char *data;

	if (r->rc < 0)
		return;
	data = rk_builder_column(&r->b, field);
	if (data && has)
		memcpy(data + row * size, v, size);
	else if (!data || !rk_builder_null(&r->b, field, row))
		r->rc = rk_fail_nomem(r->err);
}

static void put_i64(struct rows *r, unsigned field, const struct rk_txt_line *l,
		    enum rk_txt_field f)
{
	put(r, field, &l->num[f], rk_txt_has(l, f));
}

static void put_i32(struct rows *r, unsigned field, int64_t v, bool has)
{
	int32_t small = (int32_t)v;

	if (has && small != v) {
		r->out_of_range++;
		has = false;
	}
	put(r, field, &small, has);
}

static void put_text(struct rows *r, unsigned field, const char *p, size_t len)
{
	uint32_t id = 0;

	if (r->rc == 0)
		r->rc = rk_strtab_add(r->ctx->names, p, len, &id, r->err);
	put(r, field, &id, true);
}

static void put_word(struct rows *r, unsigned field, const char *word)
{
	put_text(r, field, word, strlen(word));
}

static void put_duration(struct rows *r, unsigned field, const struct rk_txt_line *l)
{
	int64_t d = 0;
	bool has = rk_txt_has(l, RK_TXT_BEGIN) && rk_txt_has(l, RK_TXT_END) &&
		   rk_sub_i64(l->num[RK_TXT_END], l->num[RK_TXT_BEGIN], &d);

	put(r, field, &d, has);
}

static void put_api(struct rows *r, const struct rk_txt_line *l)
{
	bool hsa = rk_text_iprefix(l->name.p, l->name.len, "hsa_");

	if (l->domain.p)
		put_text(r, RK_A_DOMAIN, l->domain.p, l->domain.len);
	else
		put_word(r, RK_A_DOMAIN, hsa ? "HSA_API" : "HIP_API");
	put_text(r, RK_A_FUNCTION, l->name.p, l->name.len);
	put_i64(r, RK_A_START, l, RK_TXT_BEGIN);
	put_duration(r, RK_A_DURATION, l);
	put_i64(r, RK_A_CORRELATION, l, RK_TXT_CORRELATION);
	put_i64(r, RK_A_PID, l, RK_TXT_PID);
	put_i64(r, RK_A_TID, l, RK_TXT_TID);
}

static void put_copy(struct rows *r, const struct rk_txt_line *l)
{
	put_text(r, RK_C_DIRECTION, l->name.p, l->name.len);
	put_i64(r, RK_C_START, l, RK_TXT_BEGIN);
	put_duration(r, RK_C_DURATION, l);
	put_i64(r, RK_C_STREAM, l, RK_TXT_QUEUE);
	put_i64(r, RK_C_CORRELATION, l, RK_TXT_CORRELATION);
	put_i64(r, RK_C_PID, l, RK_TXT_PID);
}

static void put_kernel(struct rows *r, const struct rk_txt_line *l)
{
	static const struct {
		unsigned column;
		enum rk_txt_field field;
	} small[] = {
		{ RK_K_SHARED_MEM, RK_TXT_LDS }, { RK_K_SCRATCH, RK_TXT_SCRATCH },
		{ RK_K_VGPR, RK_TXT_VGPR },      { RK_K_ACCUM_VGPR, RK_TXT_ACCUM },
		{ RK_K_SGPR, RK_TXT_SGPR },      { RK_K_WAVE_SIZE, RK_TXT_WAVE },
		{ RK_K_STREAM, RK_TXT_QUEUE },
	};
	int64_t items = l->num[RK_TXT_GRID], block = l->num[RK_TXT_BLOCK], regs, groups;
	bool has_items = rk_txt_has(l, RK_TXT_GRID), has_block = rk_txt_has(l, RK_TXT_BLOCK), has;
	/* the tracer's name for a barrier; we use the same name as all other readers */
	const uint8_t barrier = rk_text_ieq(l->name.p, l->name.len, "Marker") ||
				rk_text_iprefix(l->name.p, l->name.len, "<barrier packet>") ||
				rk_text_iprefix(l->name.p, l->name.len, "hcCommandMarker");

	if (barrier)
		put_word(r, RK_K_NAME, "<barrier packet>");
	else
		put_text(r, RK_K_NAME, l->name.p, l->name.len);
	put(r, RK_K_BARRIER, &barrier, true);
	put_i64(r, RK_K_START, l, RK_TXT_BEGIN);
	put_duration(r, RK_K_DURATION, l);

	/* a size is one number: stored as x */
	groups = rk_grid_of(items, block);
	has = has_items && has_block && groups != RK_NONE;
	put_i32(r, RK_K_GRID_X, groups, has);
	put_i32(r, RK_K_BLOCK_X, block, has_block);
	put_i32(r, RK_K_ITEMS_X, items, has_items);
	for (unsigned i = 1; i < 3; i++) {
		put_i32(r, RK_K_GRID_X + i, 1, has);
		put_i32(r, RK_K_BLOCK_X + i, 1, has_block);
		put_i32(r, RK_K_ITEMS_X + i, 1, has_items);
	}

	regs = l->num[RK_TXT_VGPR];
	if (rk_txt_has(l, RK_TXT_ACCUM))
		regs = rk_add_saturated(regs, l->num[RK_TXT_ACCUM]);
	put_i32(r, RK_K_REGS, regs, rk_txt_has(l, RK_TXT_VGPR));
	for (unsigned i = 0; i < sizeof(small) / sizeof(small[0]); i++)
		put_i32(r, small[i].column, l->num[small[i].field], rk_txt_has(l, small[i].field));

	put_i64(r, RK_K_DEVICE, l, RK_TXT_DEVICE);
	put_i64(r, RK_K_QUEUE, l, RK_TXT_QUEUE);
	put_i64(r, RK_K_DISPATCH, l, RK_TXT_INDEX);
	put_i64(r, RK_K_CORRELATION, l, RK_TXT_CORRELATION);
	put_i64(r, RK_K_PID, l, RK_TXT_PID);
	put_i64(r, RK_K_TID, l, RK_TXT_TID);
	put_word(r, RK_K_SOURCE, "rocprof-txt");
	put_word(r, RK_K_CLOCK, "monotonic");
}

static void put_counter(struct rows *r, const struct rk_txt_line *l)
{
	put_i64(r, RK_N_DISPATCH, &r->dispatch, RK_TXT_INDEX);
	put(r, RK_N_NAME, &r->dispatch_name, rk_txt_has(&r->dispatch, RK_TXT_INDEX));
	put_text(r, RK_N_COUNTER, l->name.p, l->name.len);
	put(r, RK_N_VALUE, &l->value, true);
	put_i64(r, RK_N_DEVICE, &r->dispatch, RK_TXT_DEVICE);
	put_i64(r, RK_N_PID, &r->dispatch, RK_TXT_PID);
}

static void put_marker(struct rows *r, const struct rk_txt_line *l, uint32_t name, const char *kind)
{
	put(r, RK_R_NAME, &name, true);
	put_word(r, RK_R_KIND, kind);
	put_i64(r, RK_R_START, l, RK_TXT_BEGIN);
	put_duration(r, RK_R_DURATION, l);
	put_i64(r, RK_R_PID, l, RK_TXT_PID);
	put_i64(r, RK_R_TID, l, RK_TXT_TID);
}

/* ---- ranges ---- */

/* A pop closes the last push of its thread; a started range is closed by its id. */
static bool belongs(const struct rk_txt_line *begin, const struct rk_txt_line *end)
{
	if (begin->num[RK_TXT_OP] != end->num[RK_TXT_OP] - 1 ||
	    begin->num[RK_TXT_PID] != end->num[RK_TXT_PID])
		return false;
	if (end->num[RK_TXT_OP] == 2)
		return begin->num[RK_TXT_TID] == end->num[RK_TXT_TID];
	return begin->num[RK_TXT_ID] == end->num[RK_TXT_ID];
}

/*
 * rocprofv2 prints marks and pushes the same way, so a pop cannot be matched to its push: such
 * ranges have no end. Ranges with an id have an end, in a line without a message.
 */
static int put_mark(struct rows *r, struct rk_txt_line l)
{
	static const int64_t push = 1, start = 3, stop = 4;
	bool v2 = l.kind == RK_TXT_V2_MARK, mark = v2 && !l.num[RK_TXT_ID];
	const char *kind = "mark";
	struct range *open;
	size_t i = r->nopen;
	uint32_t name = 0;

	if (mark && !l.name.p) {
		r->lost_ends++;
		return 0;
	}
	if (v2 && !mark)
		l.num[RK_TXT_OP] = l.name.p ? start : stop;
	if (l.name.p)
		r->rc = rk_strtab_add(r->ctx->names, l.name.p, l.name.len, &name, r->err);
	if (r->rc < 0)
		return r->rc;

	if (!mark && (l.num[RK_TXT_OP] == push || l.num[RK_TXT_OP] == start)) {
		if (r->nopen == MAX_OPEN) {
			r->dropped++;
			return 0;
		}
		open = rk_grow(r->open, &r->cap_open, r->nopen + 1, sizeof(*open));
		if (!open)
			return rk_fail_nomem(r->err);
		r->open = open;
		open[r->nopen] = (struct range){ .line = l, .name = name };
		open[r->nopen++].line.name.p = NULL;
		return 0;
	}

	if (!mark && l.num[RK_TXT_OP]) { /* the end of a range */
		int64_t end = l.num[RK_TXT_BEGIN];

		while (i > 0 && !belongs(&r->open[i - 1].line, &l))
			i--;
		if (i == 0) {
			r->unmatched++;
			return 0;
		}
		l = r->open[i - 1].line;
		name = r->open[i - 1].name;
		kind = "range";
		memmove(&r->open[i - 1], &r->open[i], (r->nopen - i) * sizeof(*r->open));
		r->nopen--;
		l.num[RK_TXT_END] = end;
		l.has |= 1u << RK_TXT_END;
	} else { /* a mark has no duration; in rocprofv2's output it may be a range */
		l.num[RK_TXT_END] = l.num[RK_TXT_BEGIN];
		if (!v2)
			l.has |= 1u << RK_TXT_END;
	}
	put_marker(r, &l, name, kind);
	r->b.nrows += r->rc == 0;
	return r->rc;
}

/* Adds a row if the line has one. */
static int put_line(struct rows *r, const struct rk_txt_line *l, struct rk_error *err)
{
	static const struct {
		enum rk_txt_kind kind;
		enum rk_table table;
		void (*put)(struct rows *r, const struct rk_txt_line *l);
	} what[] = {
		{ RK_TXT_API, RK_API, put_api },
		{ RK_TXT_KERNEL, RK_KERNELS, put_kernel },
		{ RK_TXT_DISPATCH, RK_KERNELS, put_kernel },
		{ RK_TXT_COPY, RK_MEMCPY, put_copy },
		{ RK_TXT_COUNTER, RK_COUNTERS, put_counter },
	};
	enum rk_table table = r->b.schema->table;

	r->err = err;
	r->rc = 0;
	if (table == RK_MARKERS) {
		if (l->kind != RK_TXT_MARK && l->kind != RK_TXT_V2_MARK)
			return 0;
		return put_mark(r, *l);
	}
	if (table == RK_COUNTERS && l->kind == RK_TXT_DISPATCH) {
		r->dispatch = *l;
		return rk_strtab_add(r->ctx->names, l->name.p, l->name.len, &r->dispatch_name, err);
	}
	for (unsigned i = 0; i < sizeof(what) / sizeof(what[0]); i++) {
		if (what[i].kind != l->kind || what[i].table != table)
			continue;
		what[i].put(r, l);
		r->b.nrows += r->rc == 0;
	}
	return r->rc;
}

/* ---- the reader ---- */

struct source {
	struct rk_source base;
	struct rk_plain_reader *r;
	struct rk_lines lines;
	struct rows rows;
	uint64_t unknown, unknown_line, cut_line;
	bool done;
};

/* Statistics about the first lines. */
struct glance {
	unsigned records, unknown;
	uint32_t tables;
};

static struct glance look(const char *p, size_t len, bool whole)
{
	const char *end = p + len, *line;
	struct glance g = { 0 };
	struct rk_txt_line l;
	size_t n;

	if (len >= 3 && !memcmp(p, "\xef\xbb\xbf", 3))
		p += 3;
	while (rk_lines_take(&p, end, &line, &n)) {
		if (p == end && !whole)
			break; /* truncated by the end of the head */
		rk_txt_parse(line, n, &l);
		g.unknown += l.kind == RK_TXT_UNKNOWN;
		g.records += l.kind > RK_TXT_PREAMBLE;
		g.tables |= rk_txt_tables(&l);
		if (g.unknown > 8 + g.records)
			break;
	}
	return g;
}

/* Counter lines could be anything, and a log may quote a record or two. */
static int txt_probe(const struct rk_head *head)
{
	struct glance g;

	if (!head->len || memchr(head->data, 0, head->len))
		return 0;
	g = look(head->data, head->len, head->whole);
	return g.tables & ~RK_TABLE_BIT(RK_COUNTERS) && g.records > g.unknown ? 85 : 0;
}

static int txt_open(const struct rk_reader_ops *ops, struct rk_instream *in, struct rk_context *ctx,
		    struct rk_reader **ret, struct rk_error *err)
{
	const void *head = NULL;
	size_t len = 0;
	int rc = rk_instream_head(in, &head, &len, err);

	if (rc < 0)
		return rc;
	return rk_plain_reader_open(ops, look(head, len, len < (64 << 10)).tables, in, ctx, ret,
				    err);
}

static void tell(const struct source *s)
{
	const struct rows *r = &s->rows;
	const struct {
		const char *kind, *text;
		uint64_t count, line;
	} odd[] = {
		{ "unknown-line", "line is not a trace record; skipped", s->unknown,
		  s->unknown_line },
		{ "huge-row", "row is longer than 1 MiB; skipped", s->lines.huge,
		  s->lines.huge_line },
		{ "cut-row", "the file ends inside this row; skipped", s->cut_line != 0,
		  s->cut_line },
		{ "number-out-of-range", "number does not fit its column; treated as missing",
		  r->out_of_range, 0 },
		{ "range-end-lost",
		  "rocprofv2 does not distinguish marks from ranges; ranges without an id have no end",
		  r->lost_ends, 0 },
		{ "unmatched-range-end", "range end without a begin; skipped", r->unmatched, 0 },
		{ "open-range", "range never ended; it has no duration", r->unclosed, 0 },
		{ "too-many-ranges", "more than 65536 open ranges; the rest are skipped",
		  r->dropped, 0 },
	};

	for (unsigned i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
		if (odd[i].count)
			rk_diag_most(s->r->ctx->diag, odd[i].kind, rk_instream_path(s->r->in),
				     odd[i].line, odd[i].count, odd[i].text);
}

/* Returns 1 if a line was read, with or without a row; 0 at the end. */
static int step(struct source *s, struct rk_error *err)
{
	struct rk_txt_line l;
	struct rows *r = &s->rows;
	const struct range *open;
	const char *p;
	size_t len;
	int rc = 0;

	if (!s->done)
		rc = rk_lines_next(&s->lines, &p, &len, err);
	if (rc <= 0) {
		s->done = true;
		if (rc < 0 || !r->nopen)
			return rc;
		/* add a row for the next range that never ended */
		r->err = err;
		r->rc = 0;
		r->unclosed++;
		open = &r->open[--r->nopen];
		put_marker(r, &open->line, open->name, "range");
		r->b.nrows += r->rc == 0;
		return r->rc < 0 ? r->rc : 1;
	}
	rk_txt_parse(p, len, &l);
	if (l.kind == RK_TXT_UNKNOWN && !s->lines.ended)
		s->cut_line = s->lines.number;
	else if (l.kind == RK_TXT_UNKNOWN && !s->unknown++)
		s->unknown_line = s->lines.number;
	rc = put_line(r, &l, err);
	return rc < 0 ? rc : 1;
}

static int txt_next(struct rk_source *base, const struct rk_batch **batch, struct rk_error *err)
{
	struct source *s = (struct source *)base;
	int rc = rk_reader_progress(s->r->in, s->r->ctx, err);

	rk_builder_reset(&s->rows.b);
	while (rc >= 0 && s->rows.b.nrows < s->rows.b.cap)
		if ((rc = step(s, err)) == 0)
			break;
	if (rc < 0) {
		rk_error_at(err, rk_instream_path(s->r->in), s->lines.number, 0);
		return rc;
	}
	if (!s->rows.b.nrows)
		tell(s);
	*batch = rk_builder_batch(&s->rows.b);
	return s->rows.b.nrows != 0;
}

static void txt_source_close(struct rk_source *base)
{
	struct source *s = (struct source *)base;

	rk_lines_release(&s->lines);
	rk_builder_release(&s->rows.b);
	rk_free(s->rows.open);
	rk_free(s);
}

static const struct rk_source_ops txt_source_ops = { .next = txt_next, .close = txt_source_close };

static int txt_scan(struct rk_reader *base, enum rk_table t, uint64_t want, struct rk_source **ret,
		    struct rk_error *err)
{
	struct rk_plain_reader *r = (struct rk_plain_reader *)base;
	struct source *s = rk_calloc(1, sizeof(*s));
	int rc;

	(void)want; /* parsing a line costs more than storing it */
	if (!s)
		return rk_fail_nomem(err);
	s->base = (struct rk_source){ &txt_source_ops, rk_table_schema(t) };
	s->r = r;
	s->rows.ctx = r->ctx;
	if ((rc = rk_builder_init(&s->rows.b, s->base.schema, RK_BATCH_ROWS, err)) < 0 ||
	    (rc = rk_lines_begin(&s->lines, r->in, err)) < 0) {
		txt_source_close(&s->base);
		return rc;
	}
	*ret = &s->base;
	return 0;
}

/* File names of one process begin with its pid; a file without one has the rows of all. */
static enum rk_precedence txt_precedence(const char *file_name, enum rk_table t)
{
	bool part = *file_name >= '0' && *file_name <= '9';

	(void)t;
	if (strstr(file_name, "results.txt"))
		return part ? RK_PRECEDENCE_TEXT_RESULTS_PART : RK_PRECEDENCE_TEXT_RESULTS;
	return part ? RK_PRECEDENCE_TEXT_PART : RK_PRECEDENCE_TEXT;
}

const struct rk_reader_ops rk_reader_rocprof_v1_txt = {
	.name = "rocprof-txt",
	.help = "raw text traces of rocprof and roctracer, and printed output of rocprofv2",
	.probe = txt_probe,
	.open = txt_open,
	.scan = txt_scan,
	.close = rk_plain_reader_close,
	.serial = true,
	.precedence_of = txt_precedence,
};
