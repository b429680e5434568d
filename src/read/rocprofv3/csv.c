/* csv.c - the CSV files rocprofv3 and `rocpd convert` write. */
#include "read/rocprofv3/csv.h"

#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "read/dispatch_once.h"
#include "read/stats_kind.h"

extern const struct rk_reader_ops rk_reader_rocprofv3_csv;

struct v3_reader {
	struct rk_reader base;
	struct rk_instream *in;
	struct rk_context *ctx;
	struct rk_csv_header header;
	const struct rk_v3_kind *kind;
	struct rk_v3_scan scan;
	bool empty[RK_NTABLES]; /* a pass over the file's other table met no row of this one */
};

/* Watches a scan to its end, to learn whether the file's other table has rows at all. */
struct v3_source {
	struct rk_source base;
	struct rk_source *rows;
	struct v3_reader *r;
	enum rk_table table;
};

static bool has_all(const struct rk_csv_header *h, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n && names[i]; i++)
		if (rk_csv_header_find(h, names[i]) < 0)
			return false;
	return true;
}

static bool has_none(const struct rk_csv_header *h, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n && names[i]; i++)
		if (rk_csv_header_find(h, names[i]) >= 0)
			return false;
	return true;
}

static const struct rk_v3_kind *kind_of(const struct rk_csv_header *h)
{
	for (const struct rk_v3_kind *k = rk_v3_kinds; k->name; k++)
		if (has_all(h, k->must, 6) && has_none(h, k->must_not, 4))
			return k;
	return NULL;
}

static int v3_probe(const void *head, size_t len, bool whole, const char *file_name)
{
	const struct rk_v3_kind *kind;
	struct rk_csv_header h;
	int rc = rk_csv_header_parse(head, len, whole, &h, NULL);

	(void)file_name;
	if (rc < 0)
		return rc == RK_E_NOMEM ? rc : 0;
	kind = kind_of(&h);
	rk_csv_header_release(&h);
	return kind ? 90 : 0;
}

static void v3_close(struct rk_reader *base)
{
	struct v3_reader *r = (struct v3_reader *)base;

	rk_csv_header_release(&r->header);
	rk_instream_close(r->in);
	rk_free(r);
}

static int intern(struct rk_context *ctx, const char *text, uint32_t *ret, struct rk_error *err)
{
	return rk_strtab_add(ctx->names, text, strlen(text), ret, err);
}

static int set_strings(struct v3_reader *r, const char *head, size_t len, struct rk_error *err)
{
	int rc = intern(r->ctx, "rocprofv3-csv", &r->scan.source_id, err);

	if (rc == 0)
		rc = intern(r->ctx, "boottime", &r->scan.clock_id, err);
	if (rc == 0 && r->base.tables & RK_TABLE_BIT(RK_STATS)) {
		r->base.stats_of = rk_stats_kind(head + r->header.bytes, len - r->header.bytes,
						 rk_instream_path(r->in));
		rc = intern(r->ctx, r->base.stats_of, &r->scan.stats_of_id, err);
	}
	return rc;
}

static int v3_open(struct rk_instream *in, struct rk_context *ctx, struct rk_reader **ret,
		   struct rk_error *err)
{
	struct v3_reader *r = rk_calloc(1, sizeof(*r));
	const void *head = NULL;
	size_t len = 0;
	int rc;

	if (!r)
		return rk_fail_nomem(err);
	r->base.ops = &rk_reader_rocprofv3_csv;
	r->in = in;
	r->ctx = ctx;
	rc = rk_instream_head(in, &head, &len, err);
	if (rc == 0)
		rc = rk_csv_header_parse(head, len, true, &r->header, err);
	r->kind = rc == 0 ? kind_of(&r->header) : NULL;
	for (unsigned i = 0; r->kind && i < r->kind->ntables; i++)
		r->base.tables |= RK_TABLE_BIT(r->kind->tables[i].table);
	if (rc == 0)
		rc = set_strings(r, head, len, err);
	if (rc < 0) {
		r->in = NULL; /* the caller's on failure */
		v3_close(&r->base);
		return rc;
	}
	*ret = &r->base;
	return 0;
}

static int v3_next(struct rk_source *base, const struct rk_batch **batch, struct rk_error *err)
{
	struct v3_source *s = (struct v3_source *)base;
	const struct rk_v3_kind *k = s->r->kind;
	int rc;

	if (s->r->empty[s->table])
		return 0;
	rc = rk_source_next(s->rows, batch, err);
	if (rc == 0 && k->ntables == 2 && k->tables[0].table == RK_API && !s->r->scan.other_rows)
		s->r->empty[s->table == RK_API ? RK_MARKERS : RK_API] = true;
	return rc;
}

static void v3_source_close(struct rk_source *base)
{
	struct v3_source *s = (struct v3_source *)base;

	rk_source_close(s->rows);
	rk_free(s);
}

static const struct rk_source_ops v3_source_ops = { .next = v3_next, .close = v3_source_close };

static const struct rk_v3_table *table_of(const struct v3_reader *r, enum rk_table t)
{
	const struct rk_v3_table *v = r->kind->tables;

	return v[0].table == t ? &v[0] : &v[1];
}

static int open_rows(struct v3_reader *r, const struct rk_v3_table *t, uint64_t want,
		     struct rk_source **ret, struct rk_error *err)
{
	struct rk_csv_scan scan = {
		.in = r->in,
		.header = &r->header,
		.binds = t->binds,
		.free_header = r->kind->free_header,
		.schema = rk_table_schema(t->table),
		.want = t->needs ? t->needs(want) : want,
		.finish = t->finish,
		.arg = &r->scan,
	};
	int rc;

	r->scan.ctx = r->ctx;
	r->scan.file = rk_instream_path(r->in);
	r->scan.has_stream = rk_csv_header_find(&r->header, "Stream_Id") >= 0;
	if (t->table == RK_KERNELS && !r->scan.has_stream && want >> RK_K_STREAM & 1)
		scan.want |= UINT64_C(1) << RK_K_QUEUE;
	r->scan.want = want;
	r->scan.other_rows = 0;
	rc = rk_csv_scan_open(&scan, r->ctx, ret, err);
	/* a counter file has a row per counter; as kernels, each dispatch counts once */
	if (rc == 0 && t->finish == rk_v3_finish_dispatches)
		rc = rk_dispatch_once_open(*ret, r->ctx, rk_instream_path(r->in), ret, err);
	return rc;
}

static int v3_scan(struct rk_reader *base, enum rk_table t, uint64_t want, struct rk_source **ret,
		   struct rk_error *err)
{
	struct v3_reader *r = (struct v3_reader *)base;
	struct v3_source *s = rk_calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return rk_fail_nomem(err);
	s->base = (struct rk_source){ &v3_source_ops, rk_table_schema(t) };
	s->r = r;
	s->table = t;
	rc = open_rows(r, table_of(r, t), want, &s->rows, err);
	if (rc < 0) {
		rk_free(s);
		return rc;
	}
	*ret = &s->base;
	return 0;
}

const struct rk_reader_ops rk_reader_rocprofv3_csv = {
	.name = "rocprofv3-csv",
	.help = "CSV files of rocprofv3 and rocpd convert, ROCm 6.2 to 10.0",
	.probe = v3_probe,
	.open = v3_open,
	.scan = v3_scan,
	.close = v3_close,
};
