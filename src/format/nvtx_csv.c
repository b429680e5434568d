/* nvtx_csv.c - NVTX push/pop ranges as `nsys stats --report nvtx_pushpop_trace` writes them. */
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "codec/csv_scan.h"
#include "format/reader.h"

extern const struct rk_reader_ops rk_reader_nvtx_csv;

struct nvtx_reader {
	struct rk_reader base;
	struct rk_instream *in;
	struct rk_context *ctx;
	struct rk_csv_header header;
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
	static const char *const must[] = { "Start(ns)", "End(ns)",    "Name",   "PID",
					    "TID",       "RangeStack", "RangeId" };

	for (size_t i = 0; i < sizeof(must) / sizeof(must[0]); i++)
		if (rk_csv_header_find(h, must[i]) < 0)
			return false;
	return true;
}

static int nvtx_probe(const void *head, size_t len, bool whole, const char *file_name)
{
	struct rk_csv_header h;
	int rc = rk_csv_header_parse(head, len, whole, &h, NULL);
	bool is;

	(void)file_name;
	if (rc < 0)
		return rc == RK_E_NOMEM ? rc : 0;
	is = is_nvtx(&h);
	rk_csv_header_release(&h);
	return is ? 90 : 0;
}

static void nvtx_close(struct rk_reader *base)
{
	struct nvtx_reader *r = (struct nvtx_reader *)base;

	rk_csv_header_release(&r->header);
	rk_instream_close(r->in);
	rk_free(r);
}

static int nvtx_open(struct rk_instream *in, struct rk_context *ctx, struct rk_reader **ret,
		     struct rk_error *err)
{
	struct nvtx_reader *r = rk_calloc(1, sizeof(*r));
	const void *head = NULL;
	size_t len = 0;
	int rc;

	if (!r)
		return rk_fail_nomem(err);
	r->base.ops = &rk_reader_nvtx_csv;
	r->base.tables = RK_TABLE_BIT(RK_MARKERS);
	r->ctx = ctx;
	rc = rk_instream_head(in, &head, &len, err);
	if (rc == 0)
		rc = rk_csv_header_parse(head, len, true, &r->header, err);
	if (rc == 0)
		rc = rk_strtab_add(ctx->names, "range", 5, &r->range_id, err);
	if (rc < 0) {
		nvtx_close(&r->base);
		return rc;
	}
	r->in = in;
	*ret = &r->base;
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
		.in = r->in,
		.header = &r->header,
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
	return rk_csv_scan_open(&scan, r->ctx, ret, err);
}

const struct rk_reader_ops rk_reader_nvtx_csv = {
	.name = "nvtx-csv",
	.help = "NVTX push/pop trace of Nsight Systems as CSV",
	.probe = nvtx_probe,
	.open = nvtx_open,
	.scan = nvtx_scan,
	.close = nvtx_close,
};
