/* rocprof_v1_txt.c - raw text traces of rocprof, roctracer and rocprofv2. */
#include <string.h>

#include "base/alloc.h"
#include "read/rocprof_v1/rocprof_txt.h"

extern const struct rk_reader_ops rk_reader_rocprof_v1_txt;

struct reader {
	struct rk_reader base;
	struct rk_instream *in;
	struct rk_context *ctx;
};

struct source {
	struct rk_source base;
	struct reader *r;
	struct rk_lines lines;
	struct rk_txt_rows rows;
	uint64_t unknown, unknown_line, cut_line;
	bool done;
};

/* What the first lines are. */
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
			break; /* cut by the end of what is looked at */
		rk_txt_parse(line, n, &l);
		g.unknown += l.kind == RK_TXT_UNKNOWN;
		g.records += l.kind > RK_TXT_PREAMBLE;
		g.tables |= rk_txt_tables(&l);
		if (g.unknown > 8 + g.records)
			break;
	}
	return g;
}

/* Counters alone could be anything; and a log may quote a record or two. */
static int txt_probe(const void *head, size_t len, bool whole, const char *file_name)
{
	struct glance g;

	(void)file_name;
	if (!len || memchr(head, 0, len))
		return 0;
	g = look(head, len, whole);
	return g.tables & ~RK_TABLE_BIT(RK_COUNTERS) && g.records > g.unknown ? 85 : 0;
}

static void txt_close(struct rk_reader *base)
{
	struct reader *r = (struct reader *)base;

	rk_instream_close(r->in);
	rk_free(r);
}

static int txt_open(struct rk_instream *in, struct rk_context *ctx, struct rk_reader **ret,
		    struct rk_error *err)
{
	struct reader *r = rk_calloc(1, sizeof(*r));
	const void *head = NULL;
	size_t len = 0;
	int rc = r ? rk_instream_head(in, &head, &len, err) : rk_fail_nomem(err);

	if (rc < 0) {
		rk_free(r);
		return rc;
	}
	*r = (struct reader){ .in = in, .ctx = ctx };
	r->base.ops = &rk_reader_rocprof_v1_txt;
	r->base.tables = look(head, len, len < (64 << 10)).tables;
	*ret = &r->base;
	return 0;
}

static void tell(const struct source *s)
{
	const struct rk_txt_rows *r = &s->rows;
	const struct {
		const char *kind, *text;
		uint64_t count, line;
	} odd[] = {
		{ "unknown-line", "line is no record of a trace; passed over", s->unknown,
		  s->unknown_line },
		{ "huge-row", "row is longer than 1 MiB; passed over", s->lines.huge,
		  s->lines.huge_line },
		{ "cut-row", "the file ends inside this row; passed over", s->cut_line != 0,
		  s->cut_line },
		{ "number-out-of-range", "number does not fit its column; taken as missing",
		  r->out_of_range, 0 },
		{ "range-end-lost",
		  "rocprofv2 prints marks and ranges alike; ranges without an id have no end",
		  r->lost_ends, 0 },
		{ "unmatched-range-end", "range ends that never began; passed over", r->unmatched,
		  0 },
		{ "open-range", "range never ended; it has no duration", r->unclosed, 0 },
		{ "too-many-ranges", "over 65536 ranges open at a time; passed over", r->dropped,
		  0 },
	};

	for (unsigned i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
		if (odd[i].count)
			rk_diag_most(s->r->ctx->diag, odd[i].kind, rk_instream_path(s->r->in),
				     odd[i].line, odd[i].count, odd[i].text);
}

static int progress(const struct source *s, struct rk_error *err)
{
	struct rk_context *ctx = s->r->ctx;
	uint64_t done, total;

	if (!ctx->progress)
		return 0;
	rk_instream_progress(s->r->in, &done, &total);
	return ctx->progress(ctx->progress_arg, done, total) ?
		       rk_fail(err, RK_E_CANCELLED, "cancelled") :
		       0;
}

/* 1: a line was taken, with or without a row of it; 0: there is nothing more. */
static int step(struct source *s, struct rk_error *err)
{
	struct rk_txt_line l;
	const char *p;
	size_t len;
	int rc = s->done ? 0 : rk_lines_next(&s->lines, &p, &len, err);

	if (rc <= 0) {
		s->done = true;
		return rc < 0 ? rc : rk_txt_put_open(&s->rows, err);
	}
	rk_txt_parse(p, len, &l);
	if (l.kind == RK_TXT_UNKNOWN && !s->lines.ended)
		s->cut_line = s->lines.number;
	else if (l.kind == RK_TXT_UNKNOWN && !s->unknown++)
		s->unknown_line = s->lines.number;
	rc = rk_txt_put(&s->rows, &l, err);
	return rc < 0 ? rc : 1;
}

static int txt_next(struct rk_source *base, const struct rk_batch **batch, struct rk_error *err)
{
	struct source *s = (struct source *)base;
	int rc = progress(s, err);

	rk_builder_reset(&s->rows.b);
	if (rc == 0)
		rc = 1;
	while (rc > 0 && s->rows.b.nrows < s->rows.b.cap)
		rc = step(s, err);
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
	rk_txt_rows_release(&s->rows);
	rk_free(s);
}

static const struct rk_source_ops txt_source_ops = { .next = txt_next, .close = txt_source_close };

static int txt_scan(struct rk_reader *base, enum rk_table t, uint64_t want, struct rk_source **ret,
		    struct rk_error *err)
{
	struct reader *r = (struct reader *)base;
	struct source *s = rk_calloc(1, sizeof(*s));
	int rc;

	(void)want; /* the parts of a line cost little beside finding them */
	if (!s)
		return rk_fail_nomem(err);
	s->base = (struct rk_source){ &txt_source_ops, rk_table_schema(t) };
	s->r = r;
	s->rows.ctx = r->ctx;
	rc = rk_builder_init(&s->rows.b, s->base.schema, RK_BATCH_ROWS, err);
	if (rc == 0)
		rc = rk_lines_begin(&s->lines, r->in, err);
	if (rc < 0) {
		txt_source_close(&s->base);
		return rc;
	}
	*ret = &s->base;
	return 0;
}

/* Files of one process begin with its number; those without one hold the rows of all. */
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
	.help = "raw text traces of rocprof and roctracer, and what rocprofv2 prints",
	.probe = txt_probe,
	.open = txt_open,
	.scan = txt_scan,
	.close = txt_close,
	.serial = true,
	.precedence_of = txt_precedence,
};
