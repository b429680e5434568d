/* library_csv.c - library_trace.csv: calls of rocBLAS and its like, counted; ours and madengine's. */
#include "base/alloc.h"
#include "codec/csv_scan.h"
#include "format/reader.h"

extern const struct rk_reader_ops rk_reader_library_csv;

struct library_reader {
	struct rk_reader base;
	struct rk_instream *in;
	struct rk_context *ctx;
	struct rk_csv_header header;
};

/* madengine has one text for function and configuration; it stands as the configuration. */
static const struct rk_csv_bind binds[] = {
	{ "library", RK_CELL_STR, RK_L_LIBRARY },
	{ "function", RK_CELL_STR, RK_L_FUNCTION },
	{ "config", RK_CELL_STR, RK_L_CONFIG },
	{ "calls", RK_CELL_I64, RK_L_CALLS },
	{ "total_ns", RK_CELL_I64, RK_L_TOTAL },
	{ "jobid", RK_CELL_SKIP, 0 },
	{ "created_date", RK_CELL_SKIP, 0 },
	{ "model", RK_CELL_SKIP, 0 },
	{ 0 },
};

static bool is_library_trace(const struct rk_csv_header *h)
{
	static const char *const must[] = { "library", "config", "calls" };

	for (size_t i = 0; i < sizeof(must) / sizeof(must[0]); i++)
		if (rk_csv_header_find(h, must[i]) < 0)
			return false;
	return true;
}

static int library_probe(const void *head, size_t len, bool whole, const char *file_name)
{
	struct rk_csv_header h;
	int rc = rk_csv_header_parse(head, len, whole, &h, NULL);
	bool is;

	(void)file_name;
	if (rc < 0)
		return rc == RK_E_NOMEM ? rc : 0;
	is = is_library_trace(&h);
	rk_csv_header_release(&h);
	return is ? 90 : 0;
}

static void library_close(struct rk_reader *base)
{
	struct library_reader *r = (struct library_reader *)base;

	rk_csv_header_release(&r->header);
	rk_instream_close(r->in);
	rk_free(r);
}

static int library_open(struct rk_instream *in, struct rk_context *ctx, struct rk_reader **ret,
			struct rk_error *err)
{
	struct library_reader *r = rk_calloc(1, sizeof(*r));
	const void *head = NULL;
	size_t len = 0;
	int rc;

	if (!r)
		return rk_fail_nomem(err);
	r->base.ops = &rk_reader_library_csv;
	r->base.tables = RK_TABLE_BIT(RK_LIBRARY_CALLS);
	r->ctx = ctx;
	rc = rk_instream_head(in, &head, &len, err);
	if (rc == 0)
		rc = rk_csv_header_parse(head, len, true, &r->header, err);
	if (rc < 0) {
		library_close(&r->base);
		return rc;
	}
	r->in = in;
	*ret = &r->base;
	return 0;
}

static int library_scan(struct rk_reader *base, enum rk_table t, uint64_t want,
			struct rk_source **ret, struct rk_error *err)
{
	struct library_reader *r = (struct library_reader *)base;
	const struct rk_csv_scan scan = {
		.in = r->in,
		.header = &r->header,
		.binds = binds,
		.free_header = "config",
		.schema = rk_table_schema(t),
		.want = want,
	};

	return rk_csv_scan_open(&scan, r->ctx, ret, err);
}

const struct rk_reader_ops rk_reader_library_csv = {
	.name = "library-csv",
	.help = "library_trace.csv of a run, or of madengine",
	.probe = library_probe,
	.open = library_open,
	.scan = library_scan,
	.close = library_close,
};
