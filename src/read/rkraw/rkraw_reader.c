/* rkraw_reader.c - the reader around header, definitions and rows. */
#include "read/rkraw/rkraw_reader.h"

#include <string.h>

#include "base/alloc.h"

extern const struct rk_reader_ops rk_reader_rkraw;

struct rkraw {
	struct rk_reader base;
	struct rk_instream *in;
	struct rk_context *ctx;
	struct raw_file f;
	struct raw_names names;
	struct rk_oddities odd; /* of the definitions: told with every table */
};

struct rkraw_source {
	struct rk_source base;
	struct rkraw *r;
	struct raw_rows rows;
	struct rk_oddities odd;
	uint8_t *buf;
	uint64_t done; /* blocks that have been looked at */
	struct rk_cursor c;
	struct raw_history past;
	size_t next_agent;
	bool over;
};

/* ---- records of blocks ---- */

static uint64_t blocks_in_order(const struct raw_file *f)
{
	return f->turns ? f->nturns : f->nblocks - 1;
}

/* The next block that has something for the table; 1: there is one, 0: no more. */
static int next_block(struct rkraw_source *s, struct rk_error *err)
{
	uint32_t tags = rk_raw_tags_of(s->rows.table);
	struct raw_file *f = &s->r->f;

	while (s->done < blocks_in_order(f)) {
		uint64_t n = s->done++, index = f->turns ? f->turns[n].index : 1 + n;
		enum raw_block_fate fate;
		struct rk_raw_block b;
		int rc = rk_raw_block_peek(f, index, &b, &fate, err);

		if (rc < 0)
			return rc;
		if (fate != RAW_GOOD || b.kind != RK_RAW_DATA || !(b.types & tags))
			continue;
		rc = rk_raw_block_read(f, index, s->buf, &b, &fate, err);
		if (rc < 0)
			return rc;
		if (fate == RAW_GOOD) {
			s->c = rk_cursor_over(s->buf + sizeof(b), (uint32_t)b.published);
			s->past = (struct raw_history){ .thread = b.tid, .tid = b.tid };
			return 1;
		}
		rk_oddities_count(&s->odd, "damaged-block", index, 1,
				  "a block has a wrong checksum; passed over");
	}
	return 0;
}

/* Up to a full batch or the end of the block. */
static void read_records(struct rkraw_source *s)
{
	while (rk_cursor_left(&s->c) && s->rows.b.nrows < s->rows.b.cap) {
		uint8_t tag = rk_cursor_u8(&s->c);
		uint64_t len = rk_cursor_varint(&s->c);
		struct rk_cursor record = { 0 };

		if (!s->c.bad && len <= rk_cursor_left(&s->c)) {
			record = rk_cursor_over(rk_cursor_take(&s->c, (size_t)len), (size_t)len);
			if (rk_raw_rows_add(&s->rows, &s->past, tag, record))
				continue;
		}
		rk_oddities_count(&s->odd, "damaged-record", 0, 1,
				  "a record is damaged; the rest of its block is passed over");
		s->c = rk_cursor_over(NULL, 0);
	}
}

static int read_blocks(struct rkraw_source *s, struct rk_error *err)
{
	int rc = 1;

	while (rc > 0 && s->rows.b.nrows < s->rows.b.cap) {
		if (!rk_cursor_left(&s->c))
			rc = next_block(s, err);
		if (rc > 0)
			read_records(s);
	}
	return rc < 0 ? rc : 0;
}

/* ---- source ---- */

static int report_progress(const struct rkraw_source *s, struct rk_error *err)
{
	const struct rk_context *ctx = s->r->ctx;

	if (ctx->progress &&
	    ctx->progress(ctx->progress_arg, s->done * s->r->f.h.block_bytes, s->r->f.file->size))
		return rk_fail(err, RK_E_CANCELLED, "cancelled");
	return 0;
}

/* Clocks that jumped, told where times are given. */
static void odd_clocks(struct rkraw_source *s)
{
	const struct raw_names *n = &s->r->names;

	for (unsigned i = 0; i < n->nclocks; i++)
		if (rk_raw_clock_jumped(&n->clocks[i]))
			rk_oddities_count(
				&s->odd, "clock-drift", 0, 1,
				"a device's clock and the host's went apart by over 0.5 %%: "
				"times are by one difference");
}

static void tell(struct rkraw_source *s)
{
	const char *path = rk_instream_path(s->r->in);
	struct rk_oddities names = s->r->odd;

	if (s->over)
		return;
	s->over = true;
	rk_raw_file_odd(&s->r->f, &s->odd);
	odd_clocks(s);
	rk_oddities_tell(&s->odd, s->r->ctx->diag, path);
	rk_oddities_tell(&names, s->r->ctx->diag, path);
}

static int rkraw_next(struct rk_source *base, const struct rk_batch **batch, struct rk_error *err)
{
	struct rkraw_source *s = (struct rkraw_source *)base;
	int rc = report_progress(s, err);

	if (rc < 0)
		return rc;
	rk_raw_rows_reset(&s->rows);
	if (s->rows.table == RK_AGENTS)
		rk_raw_agents(&s->rows, &s->next_agent);
	else if (s->rows.table == RK_PROCESSES && !s->over)
		rk_raw_process(&s->rows);
	else if (s->rows.table != RK_PROCESSES)
		rc = read_blocks(s, err);
	if (rc == 0 && s->rows.nomem)
		rc = rk_fail_nomem(err);
	if (rc < 0)
		return rc;
	*batch = rk_raw_rows_batch(&s->rows);
	if (!s->rows.b.nrows || s->rows.table == RK_PROCESSES)
		tell(s);
	return s->rows.b.nrows > 0;
}

static void rkraw_source_close(struct rk_source *base)
{
	struct rkraw_source *s = (struct rkraw_source *)base;

	rk_raw_rows_release(&s->rows);
	rk_free(s->buf);
	rk_free(s);
}

static int rkraw_scan(struct rk_reader *base, enum rk_table t, uint64_t want,
		      struct rk_source **ret, struct rk_error *err)
{
	static const struct rk_source_ops ops = { rkraw_next, rkraw_source_close };
	struct rkraw *r = (struct rkraw *)base;
	struct rkraw_source *s = rk_calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return rk_fail_nomem(err);
	s->base = (struct rk_source){ &ops, rk_table_schema(t) };
	s->r = r;
	s->rows = (struct raw_rows){ .ctx = r->ctx,
				     .names = &r->names,
				     .h = &r->f.h,
				     .table = t,
				     .want = want,
				     .odd = &s->odd,
				     .nvidia = !strncmp(r->f.h.collector, "cupti",
							sizeof(r->f.h.collector)) };
	s->buf = rk_alloc(r->f.h.block_bytes);
	rc = s->buf ? rk_raw_rows_init(&s->rows, err) : rk_fail_nomem(err);
	if (rc < 0) {
		rkraw_source_close(&s->base);
		return rc;
	}
	*ret = &s->base;
	return 0;
}

/* ---- reader ---- */

static int rkraw_probe(const void *head, size_t len, bool whole, const char *file_name)
{
	(void)whole;
	(void)file_name;
	return len >= 8 && !memcmp(head, RK_RAW_MAGIC, 8) ? 100 : 0;
}

static uint32_t tables_of(const struct rkraw *r)
{
	/* kernels always: that there are none is an answer */
	uint32_t tables = RK_TABLE_BIT(RK_KERNELS) | RK_TABLE_BIT(RK_PROCESSES);

	for (int t = 0; t < RK_NTABLES; t++)
		if (rk_raw_tags_of((enum rk_table)t) & r->f.types)
			tables |= RK_TABLE_BIT(t);
	for (size_t i = 0; i < r->names.n; i++)
		if (r->names.defs[i].tag == RK_RAW_DEVICE)
			tables |= RK_TABLE_BIT(RK_AGENTS);
	return tables;
}

static int survey(struct raw_file *f, struct raw_names *names, struct rk_error *err)
{
	uint8_t *buf = rk_alloc(f->h.block_bytes);
	int rc = buf ? rk_raw_survey(f, buf, rk_raw_names_add, names, err) : rk_fail_nomem(err);

	rk_free(buf);
	return rc;
}

static void rkraw_close(struct rk_reader *base)
{
	struct rkraw *r = (struct rkraw *)base;

	rk_instream_close(r->in);
	rk_raw_names_release(&r->names);
	rk_raw_file_release(&r->f);
	rk_free(r);
}

static int rkraw_open(struct rk_instream *in, struct rk_context *ctx, struct rk_reader **ret,
		      struct rk_error *err)
{
	struct rkraw *r = rk_calloc(1, sizeof(*r));
	const char *path;
	int rc;

	if (!r)
		return rk_fail_nomem(err);
	r->base.ops = &rk_reader_rkraw;
	r->ctx = ctx;
	r->names.ctx = ctx;
	r->names.odd = &r->odd;
	rc = rk_instream_plain_path(in, ctx->tmpdir, &path, err);
	if (rc == 0)
		rc = rk_raw_file_open(path, &r->f, err);
	if (rc == 0)
		rc = survey(&r->f, &r->names, err);
	if (rc < 0) {
		rkraw_close(&r->base); /* `in` is still the caller's */
		return rc;
	}
	r->base.tables = tables_of(r);
	r->in = in;
	*ret = &r->base;
	return 0;
}

const struct rk_reader_ops rk_reader_rkraw = {
	.name = "rkraw",
	.help = "raw files of rockit's own collectors (.rkraw)",
	.probe = rkraw_probe,
	.open = rkraw_open,
	.scan = rkraw_scan,
	.close = rkraw_close,
	.serial = true,
};

/* ---- a file as a whole ---- */

static void fill_info(const struct raw_file *f, const struct raw_names *n,
		      struct rk_rkraw_info *ret)
{
	const struct rk_raw_header *h = &f->h;

	memcpy(ret->collector, h->collector, sizeof(h->collector));
	ret->pid = h->pid;
	ret->ppid = h->ppid;
	ret->clean = h->clean == 1;
	ret->window = h->flags & RK_RAW_WINDOW;
	ret->records = f->records;
	ret->dropped = rk_raw_dropped(h);
	ret->overwritten = h->overwritten;
	ret->pending = rk_raw_pending(h);
	ret->damaged_blocks = f->damaged;
	memcpy(ret->dropped_for, h->dropped, sizeof(ret->dropped_for));
	ret->start_ns = h->start.boot_ns;
	ret->end_ns = ret->clean ? h->end.boot_ns : h->last[h->last_slot & 1].boot_ns;
	ret->clock_error_ns = -1;
	for (unsigned i = 0; i < n->nclocks; i++) {
		int64_t error = rk_raw_clock_error(&n->clocks[i]);

		if (error > ret->clock_error_ns)
			ret->clock_error_ns = error;
	}
}

static void find_note(const struct rk_oddities *odd, struct rk_rkraw_info *ret)
{
	_Static_assert(sizeof(ret->note) >= sizeof(odd->list[0].message), "room for the words");
	for (unsigned i = 0; i < RK_ODDITIES; i++)
		if (odd->list[i].kind && !strcmp(odd->list[i].kind, "collector"))
			memcpy(ret->note, odd->list[i].message, sizeof(odd->list[i].message));
}

int rk_rkraw_info(const char *path, struct rk_rkraw_info *ret, struct rk_error *err)
{
	struct rk_context ctx = { 0 };
	struct rk_oddities odd = { 0 };
	struct raw_names *n = rk_calloc(1, sizeof(*n));
	struct raw_file f = { 0 };
	int rc = n ? rk_strtab_new(RK_NAMES_MAX_BYTES, &ctx.names, err) : rk_fail_nomem(err);

	if (rc < 0)
		goto out;
	n->ctx = &ctx;
	n->odd = &odd;
	rc = rk_raw_file_open(path, &f, err);
	if (rc == 0)
		rc = survey(&f, n, err);
	if (rc < 0)
		goto out;
	*ret = (struct rk_rkraw_info){ 0 };
	fill_info(&f, n, ret);
	find_note(&odd, ret);
out:
	rk_raw_file_release(&f);
	if (n)
		rk_raw_names_release(n);
	rk_free(n);
	rk_strtab_free(ctx.names);
	return rc;
}
