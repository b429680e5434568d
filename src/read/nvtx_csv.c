/* nvtx_csv.c - NVTX push/pop ranges as `nsys stats --report nvtx_pushpop_trace` writes them. */
#include <string.h>

#include "base/num.h"
#include "read/headed_csv.h"

extern const struct rk_reader_ops rk_reader_nvtx_csv;

struct nvtx_reader {
	struct rk_headed_csv file;
	uint32_t range_id; /* the word in the kind column */
	uint64_t want;
};

/* Header names come without white space. */
static const struct rk_csv_bind binds[] = {
	{ "Start(ns)", RK_CELL_TIME, RK_R_START, NULL },
	{ "End(ns)", RK_CELL_TIME, RK_R_DURATION, NULL },
	{ "Duration(ns)", RK_CELL_SKIP, 0, NULL },
	{ "DurChild(ns)", RK_CELL_SKIP, 0, NULL },
	{ "DurNonChild(ns)", RK_CELL_SKIP, 0, NULL },
	{ "Name", RK_CELL_STR, RK_R_NAME, NULL },
	{ "PID", RK_CELL_I64, RK_R_PID, NULL },
	{ "TID", RK_CELL_I64, RK_R_TID, NULL },
	{ "Lvl", RK_CELL_SKIP, 0, NULL },
	{ "NumChild", RK_CELL_SKIP, 0, NULL },
	{ "RangeId", RK_CELL_SKIP, 0, NULL },
	{ "ParentId", RK_CELL_SKIP, 0, NULL },
	{ "RangeStack", RK_CELL_SKIP, 0, NULL },
	{ 0 },
};

static bool is_nvtx(const struct rk_csv_header *h)
{
	static const char *const must[] = { "Start(ns)", "End(ns)",    "Name",    "PID",
					    "TID",       "RangeStack", "RangeId", NULL };

	return rk_headed_has(h, must);
}

static int nvtx_probe(const void *head, size_t len, bool whole, const char *file_name)
{
	(void)file_name;
	return rk_headed_probe(head, len, whole, is_nvtx);
}

static int nvtx_open(struct rk_instream *in, struct rk_context *ctx, struct rk_reader **ret,
		     struct rk_error *err)
{
	struct rk_headed_csv *file;
	struct nvtx_reader *r;
	int rc = rk_headed_new(&rk_reader_nvtx_csv, RK_MARKERS, sizeof(*r), in, ctx, &file, err);

	if (rc < 0)
		return rc;
	r = (struct nvtx_reader *)file;
	rc = rk_strtab_add(ctx->names, "range", 5, &r->range_id, err);
	if (rc < 0) {
		rk_headed_close(&file->base);
		return rc;
	}
	file->in = in;
	*ret = &file->base;
	return 0;
}

static bool is_null(const struct rk_builder *b, unsigned field, size_t row)
{
	return b->nulls[field] && !(b->valid[field][row / 64] >> (row % 64) & 1);
}

/* The duration column holds the end so far. */
static int durations(struct rk_builder *b, struct rk_error *err)
{
	const int64_t *start = b->data[RK_R_START];
	int64_t *end = b->data[RK_R_DURATION];

	for (size_t i = 0; start && end && i < b->nrows; i++)
		if (is_null(b, RK_R_START, i) || is_null(b, RK_R_DURATION, i) ||
		    !rk_sub_i64(end[i], start[i], &end[i]))
			if (!rk_builder_null(b, RK_R_DURATION, i))
				return rk_fail_nomem(err);
	return 0;
}

static int nvtx_finish(void *arg, struct rk_builder *b, struct rk_error *err)
{
	const struct nvtx_reader *r = arg;
	uint32_t *kind = NULL;

	if (r->want >> RK_R_KIND & 1) {
		kind = rk_builder_column(b, RK_R_KIND);
		if (!kind)
			return rk_fail_nomem(err);
	}
	for (size_t i = 0; kind && i < b->nrows; i++)
		kind[i] = r->range_id;
	return durations(b, err);
}

static int nvtx_scan(struct rk_reader *base, enum rk_table t, uint64_t want, struct rk_source **ret,
		     struct rk_error *err)
{
	struct nvtx_reader *r = (struct nvtx_reader *)base;
	struct rk_csv_scan scan = {
		.in = r->file.in,
		.header = &r->file.header,
		.binds = binds,
		.free_header = "Name",
		.schema = rk_table_schema(t),
		.want = want,
		.finish = nvtx_finish,
		.arg = r,
	};

	r->want = want;
	if (want >> RK_R_DURATION & 1)
		scan.want |= UINT64_C(1) << RK_R_START;
	return rk_csv_scan_open(&scan, r->file.ctx, ret, err);
}

const struct rk_reader_ops rk_reader_nvtx_csv = {
	.name = "nvtx-csv",
	.help = "NVTX push/pop trace of Nsight Systems as CSV",
	.probe = nvtx_probe,
	.open = nvtx_open,
	.scan = nvtx_scan,
	.close = rk_headed_close,
};
