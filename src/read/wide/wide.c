/* wide.c - read files with one row per dispatch, for all formats that have them. */
#include "read/wide/wide.h"

#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/text.h"

#define BIT(f) (UINT64_C(1) << (f))

enum { MAX_HEADER_BYTES = 1 << 20, PROBE_BYTES = 4096 };

struct wide_reader {
	struct rk_reader base;
	struct rk_instream *in;
	struct rk_context *ctx;
	const struct rk_wide_kind *kind;
	struct rk_csv_header header;
	struct rk_wide_columns columns; /* if the kind has counters */
	struct rk_wide_scan scan;
};

static const struct rk_wide_kind *kind_of(const struct rk_wide_kind *k,
					  const struct rk_csv_header *h)
{
	for (; k->ntables; k++)
		if (rk_v3_has_all(h, k->must, 6) && !rk_v3_has_any(h, k->must_not, 6))
			return k;
	return NULL;
}

/*
 * The first columns identify a file. A header with thousands of counters is slow to parse each time
 * and may be longer than the head, so only a part of it is read if possible.
 */
int rk_wide_probe(const struct rk_head *head)
{
	const struct rk_wide_kind *kind;
	struct rk_csv_header h;
	int rc = rk_csv_header_parse(head->data, rk_min(head->len, PROBE_BYTES), true, &h, NULL);

	if (rc == RK_E_FORMAT && head->len > PROBE_BYTES) /* truncated inside quotes */
		rc = rk_csv_header_parse(head->data, head->len, true, &h, NULL);
	if (rc < 0)
		return rc == RK_E_NOMEM ? rc : 0;
	kind = kind_of(head->format, &h);
	rk_csv_header_release(&h);
	return kind ? 90 : 0;
}

void rk_wide_close(struct rk_reader *base)
{
	struct wide_reader *r = (struct wide_reader *)base;

	rk_wide_columns_release(&r->columns);
	rk_csv_header_release(&r->header);
	rk_instream_close(r->in);
	rk_free(r);
}

/* Reads the header from the file if the head is too short for it. */
static int long_header(struct wide_reader *r, struct rk_error *err)
{
	char *text = rk_alloc(MAX_HEADER_BYTES);
	size_t len = 0;
	int rc;

	if (!text)
		return rk_fail_nomem(err);
	if (!rk_instream_rewindable(r->in) &&
	    (rc = rk_instream_keep(r->in, r->ctx->tmpdir, err)) < 0)
		goto out;
	if ((rc = rk_instream_rewind(r->in, err)) < 0 ||
	    (rc = rk_instream_read(r->in, text, MAX_HEADER_BYTES, &len, err)) < 0)
		goto out;
	rc = rk_csv_header_parse(text, len, len < MAX_HEADER_BYTES, &r->header, err);
out:
	rk_free(text);
	return rc;
}

static void drop_column(struct rk_csv_header *h, const char *name)
{
	int col = rk_csv_header_find(h, name);

	rk_free(h->names[col]);
	h->ncols--;
	memmove(&h->names[col], &h->names[col + 1], (h->ncols - (unsigned)col) * sizeof(*h->names));
}

/* rocprofv2 of ROCm 6.1 wrote sig and obj in the header, but not in the rows. */
static void drop_absent(struct wide_reader *r, const char *head, size_t len)
{
	const char *const *absent = r->kind->absent, *p, *end = head + len;
	unsigned cells = 1;
	bool quoted = false;

	if (!absent[0] || r->header.bytes >= len || !rk_v3_has_all(&r->header, absent, 2))
		return;
	/* count the cells of the first row */
	for (p = head + r->header.bytes; p < end && (*p == '\n' || *p == '\r');)
		p++;
	for (; p < end && *p != '\n'; p++) {
		if (*p == '"')
			quoted = !quoted;
		cells += *p == ',' && !quoted;
	}
	if (p == end || cells + 2 != r->header.ncols)
		return;
	drop_column(&r->header, absent[0]);
	drop_column(&r->header, absent[1]);
}

int rk_wide_open(const struct rk_reader_ops *ops, struct rk_instream *in, struct rk_context *ctx,
		 struct rk_reader **ret, struct rk_error *err)
{
	static const char *const times[] = { "BeginNs", "Start_Timestamp", "Start_Time" };
	struct wide_reader *r = rk_calloc(1, sizeof(*r));
	const struct rk_wide_kind *k;
	const void *head = NULL;
	size_t len = 0;
	int rc;

	if (!r)
		return rk_fail_nomem(err);
	r->base.ops = ops;
	r->in = in;
	r->ctx = ctx;
	rc = rk_instream_head(in, &head, &len, err);
	if (rc < 0)
		goto out;
	rc = rk_csv_header_parse(head, len, len < (64 << 10), &r->header, err);
	if (rc == RK_E_FORMAT && len >= (64 << 10))
		rc = long_header(r, err);
	if (rc < 0)
		goto out;
	k = r->kind = kind_of(ops->format, &r->header);
	if (!k) {
		rc = rk_fail(err, RK_E_FORMAT, "the header does not match %s", ops->name);
		goto out;
	}
	drop_absent(r, head, len);
	if (k->counters) {
		rc = rk_wide_columns_make(&r->header, k->tables[0].binds, &r->columns, err);
		if (rc < 0)
			goto out;
	}

	if (k->stats)
		r->base.stats_of = "kernel";
	r->base.analysis = k->wrapped ? 2 : 0;
	r->base.untimed = !rk_v3_has_any(&r->header, times, sizeof(times) / sizeof(times[0]));
	r->scan.barriers = k->barriers;
	r->scan.wrapped = k->wrapped;
	r->scan.v3.ctx = ctx;
	r->scan.v3.file = rk_instream_path(in);
	if ((rc = rk_strtab_adds(ctx->names, ops->name, &r->scan.v3.source_id, err)) < 0 ||
	    (rc = rk_strtab_adds(ctx->names, k->clock ? k->clock : "unknown", &r->scan.v3.clock_id,
				 err)) < 0 ||
	    (k->barriers &&
	     (rc = rk_strtab_adds(ctx->names, "<barrier packet>", &r->scan.barrier_id, err)) < 0) ||
	    (k->stats &&
	     (rc = rk_strtab_adds(ctx->names, r->base.stats_of, &r->scan.v3.stats_of_id, err)) < 0))
		goto out;
	for (unsigned i = 0; i < k->ntables; i++)
		r->base.tables |= RK_TABLE_BIT(k->tables[i].table);
	if (r->columns.ncounters)
		r->base.tables |= RK_TABLE_BIT(RK_COUNTERS);
out:
	if (rc < 0) {
		r->in = NULL; /* the caller's on failure */
		rk_wide_close(&r->base);
		return rc;
	}
	*ret = &r->base;
	return 0;
}

/* If the file does not have a size in x, y and z are unknown, not 1. */
static uint64_t without_sizes(const struct rk_csv_header *h, uint64_t want)
{
	static const char *const grids[] = { "grd", "Grid_Size", NULL };
	static const char *const blocks[] = { "wgr", "Workgroup_Size", NULL };
	bool grid = rk_v3_has_any(h, grids, 3), block = rk_v3_has_any(h, blocks, 3);

	if (!grid)
		want &= ~(BIT(RK_K_ITEMS_Y) | BIT(RK_K_ITEMS_Z));
	if (!block)
		want &= ~(BIT(RK_K_BLOCK_Y) | BIT(RK_K_BLOCK_Z));
	if (!grid || !block)
		want &= ~(BIT(RK_K_GRID_Y) | BIT(RK_K_GRID_Z));
	return want;
}

int rk_wide_scan(struct rk_reader *base, enum rk_table t, uint64_t want, struct rk_source **ret,
		 struct rk_error *err)
{
	struct wide_reader *r = (struct wide_reader *)base;
	const struct rk_wide_kind *k = r->kind;
	struct rk_csv_scan scan = { .in = r->in, .header = &r->header };
	const struct rk_v3_table *table = k->tables;
	struct rk_source *rows;
	bool once;
	int rc;

	for (unsigned i = 0; i < 2 && !scan.free_header; i++)
		if (k->free_header[i] && rk_csv_header_find(&r->header, k->free_header[i]) >= 0)
			scan.free_header = k->free_header[i];
	while (table < k->tables + k->ntables && table->table != t)
		table++;

	if (table == k->tables + k->ntables) { /* counters: turn columns into rows */
		scan.binds = r->columns.counters;
		scan.schema = &r->columns.schema;
		scan.want = UINT64_MAX;
		if (!(want & BIT(RK_N_NAME)))
			scan.want = ~BIT(RK_W_NAME);
		rc = rk_csv_scan_open(&scan, r->ctx, &rows, err);
		if (rc < 0)
			return rc;
		return rk_wide_pivot_open(rows, &r->columns, r->ctx, want, ret, err);
	}

	once = t == RK_KERNELS && !r->base.repeats && (k->once || r->columns.per_xcc);
	if (t == RK_KERNELS)
		want = without_sizes(&r->header, want);
	r->scan.v3.want = want;
	scan.binds = r->columns.kernels ? r->columns.kernels : table->binds;
	scan.schema = rk_table_schema(t);
	scan.want = want | table->also;
	if (table->needs)
		scan.want = table->needs(want);
	if (once)
		scan.want |= BIT(RK_K_DISPATCH) | BIT(RK_K_PID);
	scan.finish = table->finish;
	scan.arg = &r->scan;
	rc = rk_csv_scan_open(&scan, r->ctx, ret, err);
	if (rc < 0 || !once)
		return rc;
	return rk_dispatch_once_open(*ret, r->ctx, r->scan.v3.file, ret, err);
}

enum rk_precedence rk_wide_precedence(const char *file_name, enum rk_table t)
{
	/* rocprof-compute: only the names of dispatches */
	if (t == RK_KERNELS && strstr(file_name, "pmc_dispatch_info"))
		return RK_PRECEDENCE_STATS;
	/* rocprofv2: names and times; its results also have sizes and registers */
	if (t == RK_KERNELS && strstr(file_name, "hcc_ops_trace_"))
		return RK_PRECEDENCE_JSON;
	return RK_PRECEDENCE_BY_TABLES;
}

/* ---- finishers: derive what wide files do not have, or name differently from rocprofv3 ---- */

uint64_t rk_wide_kernel_needs(uint64_t want)
{
	if (want & BIT(RK_K_DURATION))
		want |= BIT(RK_K_START);
	if (want & BIT(RK_K_GRID_X))
		want |= BIT(RK_K_BLOCK_X) | BIT(RK_K_ITEMS_X);
	if (want & BIT(RK_K_REGS))
		want |= BIT(RK_K_VGPR) | BIT(RK_K_ACCUM_VGPR);
	if (want & BIT(RK_K_STREAM))
		want |= BIT(RK_K_QUEUE);
	if (want & BIT(RK_K_BARRIER))
		want |= BIT(RK_K_NAME);
	return want;
}

/* Rejoins names that a table printer wrapped. */
static int unwrap_all(const struct rk_wide_scan *s, struct rk_builder *b, unsigned field,
		      struct rk_error *err)
{
	struct rk_strtab *names = s->v3.ctx->names;
	uint32_t *name = s->wrapped ? b->data[field] : NULL;
	int rc = 0;

	for (size_t i = 0; name && rc == 0 && i < b->nrows; i++) {
		size_t len;
		const char *text = rk_strtab_borrow(names, name[i], &len);
		struct rk_bytes line;

		if (!memchr(text, '\n', len))
			continue;
		rk_bytes_init(&line, len + 1);
		for (size_t k = 0; k < len; k++)
			if (text[k] != '\n' && text[k] != '\r')
				rk_bytes_put(&line, text + k, 1);
		if (line.bad)
			rc = rk_fail_nomem(err);
		else
			rc = rk_strtab_add(names, (const char *)line.data, line.len, &name[i], err);
		rk_bytes_release(&line);
	}
	return rc;
}

int rk_wide_finish_kernels(void *scan, struct rk_builder *b, struct rk_error *err)
{
	struct rk_wide_scan *s = scan;
	const uint32_t *name = b->data[RK_K_NAME];
	uint8_t *barrier;
	int rc = rk_v3_finish_dispatches(&s->v3, b, err);

	if (rc < 0)
		return rc;
	if (s->barriers && name && s->v3.want & BIT(RK_K_BARRIER)) {
		barrier = rk_builder_column(b, RK_K_BARRIER);
		if (!barrier)
			return rk_fail_nomem(err);
		for (size_t i = 0; i < b->nrows; i++)
			barrier[i] = name[i] == s->barrier_id;
	}
	return unwrap_all(s, b, RK_K_NAME, err);
}

int rk_wide_finish_stats(void *scan, struct rk_builder *b, struct rk_error *err)
{
	struct rk_wide_scan *s = scan;
	int rc = rk_v3_finish_stats(&s->v3, b, err);

	if (rc < 0)
		return rc;
	return unwrap_all(s, b, RK_T_NAME, err);
}

/* Id 0, the empty name, means an operation that is not a kernel. */
int rk_wide_finish_op_kernels(void *scan, struct rk_builder *b, struct rk_error *err)
{
	struct rk_wide_scan *s = scan;
	const uint32_t *name = b->data[RK_K_NAME];
	size_t n = 0;

	for (size_t i = 0; name && i < b->nrows; i++)
		if (name[i])
			rk_builder_move(b, n++, i);
	b->nrows = n;
	return rk_v3_finish_kernels(&s->v3, b, err);
}

/* Maps the tool's names to rocprofv3's longer ones; others stay unchanged. */
int rk_wide_finish_copies(void *scan, struct rk_builder *b, struct rk_error *err)
{
	struct rk_wide_scan *s = scan;
	struct rk_strtab *names = s->v3.ctx->names;
	uint32_t *direction = b->data[RK_C_DIRECTION];
	int rc;

	_Static_assert((int)RK_C_START == RK_M_START && (int)RK_C_DURATION == RK_M_DURATION,
		       "times of copies and of allocations are in the same columns");
	for (size_t i = 0; direction && i < b->nrows; i++) {
		const char *text = rk_strtab_borrow(names, direction[i], NULL);
		const char *word = rk_copy_direction(text);

		if (word != text && (rc = rk_strtab_adds(names, word, &direction[i], err)) < 0)
			return rc;
	}
	return rk_v3_finish_memalloc(&s->v3, b, err);
}

int rk_wide_finish_op_copies(void *scan, struct rk_builder *b, struct rk_error *err)
{
	struct rk_wide_scan *s = scan;
	const uint32_t *operation = b->data[RK_C_DIRECTION];
	size_t n = 0;

	for (size_t i = 0; operation && i < b->nrows; i++)
		if (rk_is_copy_word(rk_strtab_borrow(s->v3.ctx->names, operation[i], NULL)))
			rk_builder_move(b, n++, i);
	b->nrows = n;
	return rk_wide_finish_copies(scan, b, err);
}
