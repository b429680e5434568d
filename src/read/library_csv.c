/* library_csv.c - library_trace.csv: calls of rocBLAS and its like, counted; ours and madengine's. */
#include "read/headed_csv.h"

extern const struct rk_reader_ops rk_reader_library_csv;

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
	static const char *const must[] = { "library", "config", "calls", NULL };

	return rk_headed_has(h, must);
}

static int library_probe(const void *head, size_t len, bool whole, const char *file_name)
{
	(void)file_name;
	return rk_headed_probe(head, len, whole, is_library_trace);
}

static int library_open(struct rk_instream *in, struct rk_context *ctx, struct rk_reader **ret,
			struct rk_error *err)
{
	struct rk_headed_csv *r;
	int rc = rk_headed_new(&rk_reader_library_csv, RK_LIBRARY_CALLS, sizeof(*r), in, ctx, &r,
			       err);

	if (rc < 0)
		return rc;
	r->in = in;
	*ret = &r->base;
	return 0;
}

static int library_scan(struct rk_reader *base, enum rk_table t, uint64_t want,
			struct rk_source **ret, struct rk_error *err)
{
	const struct rk_headed_csv *r = (struct rk_headed_csv *)base;
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
	.close = rk_headed_close,
};
