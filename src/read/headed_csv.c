/*
 * headed_csv.c - small CSV files recognised by the column names in their header: library_trace.csv,
 * NVTX ranges of Nsight Systems, sysinfo.csv.
 */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/num.h"
#include "base/text.h"
#include "read/rocprofv3/csv.h"

#define BIT(f) (UINT64_C(1) << (f))

struct headed {
	struct rk_reader base;
	struct rk_instream *in;
	struct rk_context *ctx;
	struct rk_csv_header header;
	uint32_t word_id; /* id of a constant text of every row */
	uint64_t want;    /* fields that the scan wants */
};

struct headed_format {
	const char *must[7],
		*either[2]; /* a header must have all of `must`, and one of `either` if set */
	enum rk_table table;
	const char *word; /* constant text of every row */
};

static bool has(const struct rk_csv_header *h, const char *name)
{
	return rk_csv_header_find(h, name) >= 0;
}

static int headed_probe(const struct rk_head *head)
{
	const struct headed_format *f = head->format;
	struct rk_csv_header h;
	bool yes;
	int rc = rk_csv_header_parse(head->data, head->len, head->whole, &h, NULL);

	if (rc < 0)
		return rc == RK_E_NOMEM ? rc : 0;
	yes = rk_v3_has_all(&h, f->must, 7) && (!f->either[0] || rk_v3_has_any(&h, f->either, 2));
	rk_csv_header_release(&h);
	return yes ? 90 : 0;
}

static void headed_close(struct rk_reader *base)
{
	struct headed *r = (struct headed *)base;

	rk_csv_header_release(&r->header);
	rk_instream_close(r->in);
	rk_free(r);
}

static int headed_open(const struct rk_reader_ops *ops, struct rk_instream *in,
		       struct rk_context *ctx, struct rk_reader **ret, struct rk_error *err)
{
	const struct headed_format *f = ops->format;
	struct headed *r = rk_calloc(1, sizeof(*r));
	const void *head = NULL;
	size_t len = 0;
	int rc;

	if (!r)
		return rk_fail_nomem(err);
	r->base.ops = ops;
	r->base.tables = RK_TABLE_BIT(f->table);
	r->ctx = ctx;
	if ((rc = rk_instream_head(in, &head, &len, err)) < 0 ||
	    (rc = rk_csv_header_parse(head, len, true, &r->header, err)) < 0 ||
	    (rc = rk_strtab_adds(ctx->names, f->word, &r->word_id, err)) < 0) {
		headed_close(&r->base); /* not `in`: on failure it still belongs to the caller */
		return rc;
	}
	r->in = in;
	*ret = &r->base;
	return 0;
}

/*
 * ---- library_trace.csv: counted calls of rocBLAS and similar libraries, from rockit and madengine
 * ----
 */

/* madengine has one text for function and configuration; we store it as the configuration. */
static const struct rk_csv_bind library_binds[] = {
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

static int library_scan(struct rk_reader *base, enum rk_table t, uint64_t want,
			struct rk_source **ret, struct rk_error *err)
{
	const struct headed *r = (struct headed *)base;
	const struct rk_csv_scan scan = {
		.in = r->in,
		.header = &r->header,
		.binds = library_binds,
		.free_header = "config",
		.schema = rk_table_schema(t),
		.want = want,
	};

	return rk_csv_scan_open(&scan, r->ctx, ret, err);
}

static const struct headed_format library = {
	.must = { "library", "config", "calls" },
	.table = RK_LIBRARY_CALLS,
	.word = "",
};

const struct rk_reader_ops rk_reader_library_csv = {
	.name = "library-csv",
	.help = "library_trace.csv of a run, or of madengine",
	.probe = headed_probe,
	.open = headed_open,
	.scan = library_scan,
	.close = headed_close,
	.format = &library,
};

/* ---- NVTX push/pop ranges as `nsys stats --report nvtx_pushpop_trace` writes them ---- */

/* White space was removed from header names. */
static const struct rk_csv_bind nvtx_binds[] = {
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

/* The duration column still holds the end time. */
static int nvtx_finish(void *arg, struct rk_builder *b, struct rk_error *err)
{
	const struct headed *r = arg;
	const int64_t *start = b->data[RK_R_START];
	int64_t *end = b->data[RK_R_DURATION];
	uint32_t *kind;

	if (r->want & BIT(RK_R_KIND)) {
		kind = rk_builder_column(b, RK_R_KIND);
		if (!kind)
			return rk_fail_nomem(err);
		for (size_t i = 0; i < b->nrows; i++)
			kind[i] = r->word_id;
	}
	for (size_t i = 0; start && end && i < b->nrows; i++)
		if (rk_builder_is_null(b, RK_R_START, i) ||
		    rk_builder_is_null(b, RK_R_DURATION, i) ||
		    !rk_sub_i64(end[i], start[i], &end[i]))
			if (!rk_builder_null(b, RK_R_DURATION, i))
				return rk_fail_nomem(err);
	return 0;
}

static int nvtx_scan(struct rk_reader *base, enum rk_table t, uint64_t want, struct rk_source **ret,
		     struct rk_error *err)
{
	struct headed *r = (struct headed *)base;
	struct rk_csv_scan scan = {
		.in = r->in,
		.header = &r->header,
		.binds = nvtx_binds,
		.free_header = "Name",
		.schema = rk_table_schema(t),
		.want = want,
		.finish = nvtx_finish,
		.arg = r,
	};

	r->want = want;
	if (want & BIT(RK_R_DURATION))
		scan.want |= BIT(RK_R_START);
	return rk_csv_scan_open(&scan, r->ctx, ret, err);
}

static const struct headed_format nvtx = {
	.must = { "Start(ns)", "End(ns)", "Name", "PID", "TID", "RangeStack", "RangeId" },
	.table = RK_MARKERS,
	.word = "range",
};

const struct rk_reader_ops rk_reader_nvtx_csv = {
	.name = "nvtx-csv",
	.help = "NVTX push/pop trace of Nsight Systems as CSV",
	.probe = headed_probe,
	.open = headed_open,
	.scan = nvtx_scan,
	.close = headed_close,
	.format = &nvtx,
};

/*
 * ---- sysinfo.csv of rocprof-compute and omniperf: one row about the machine and the program. We
 * know ten versions of the header; columns are matched by name. ----
 */

static const struct rk_csv_bind agents[] = {
	{ "gpu_model", RK_CELL_STR, RK_G_NAME },
	{ "name", RK_CELL_STR, RK_G_NAME },
	{ "gpu_arch", RK_CELL_STR, RK_G_GFX },
	{ "gpu_soc", RK_CELL_STR, RK_G_GFX },
	{ "cu_per_gpu", RK_CELL_I64, RK_G_CU_COUNT },
	{ "numCU", RK_CELL_I64, RK_G_CU_COUNT },
	{ "max_sclk", RK_CELL_I64, RK_G_MAX_SCLK },
	{ "sclk", RK_CELL_I64, RK_G_MAX_SCLK },
	{ "max_mclk", RK_CELL_I64, RK_G_MAX_MCLK },
	{ "mclk", RK_CELL_I64, RK_G_MAX_MCLK },
	{ "num_xcd", RK_CELL_I64, RK_G_XCC },
	{ "wave_size", RK_CELL_I64, RK_G_WAVE_SIZE },
	{ "waveSize", RK_CELL_I64, RK_G_WAVE_SIZE },
	{ "hostname", RK_CELL_STR, RK_G_NODE },
	{ "host_name", RK_CELL_STR, RK_G_NODE },
	{ "se_per_gpu", RK_CELL_I64, RK_G_SE_COUNT },
	{ "numSE", RK_CELL_I64, RK_G_SE_COUNT },
	{ "simd_per_cu", RK_CELL_I64, RK_G_SIMD_PER_CU },
	{ "numSIMD", RK_CELL_I64, RK_G_SIMD_PER_CU },
	{ "max_waves_per_cu", RK_CELL_I64, RK_G_WAVES_PER_CU },
	{ "maxWavesPerCU", RK_CELL_I64, RK_G_WAVES_PER_CU },
	{ "lds_banks_per_cu", RK_CELL_I64, RK_G_LDS_BANKS },
	{ "LDSBanks", RK_CELL_I64, RK_G_LDS_BANKS },
	{ "sqc_per_gpu", RK_CELL_I64, RK_G_SQC_COUNT },
	{ "numSQC", RK_CELL_I64, RK_G_SQC_COUNT },
	{ "pipes_per_gpu", RK_CELL_I64, RK_G_PIPES },
	{ "numPipes", RK_CELL_I64, RK_G_PIPES },
	{ "num_hbm_channels", RK_CELL_I64, RK_G_HBM_CHANNELS },
	{ "num_memory_channels", RK_CELL_I64, RK_G_HBM_CHANNELS }, /* since 3.8 */
	/* in GB/s until `finish` converts it to channels; the file does not have the memory size */
	{ "hbm_bw", RK_CELL_F64, RK_G_MEMORY },
	{ "hbmBW", RK_CELL_F64, RK_G_MEMORY },
	{ NULL },
};
/* If a file has both, L2Banks counts only one die. */
static const struct rk_csv_bind agents_total[] = {
	{ "total_l2_chan", RK_CELL_I64, RK_G_L2_CHANNELS },
	{ "totalL2Banks", RK_CELL_I64, RK_G_L2_CHANNELS },
	{ .more = agents },
};
static const struct rk_csv_bind agents_banks[] = {
	{ "L2Banks", RK_CELL_I64, RK_G_L2_CHANNELS },
	{ .more = agents },
};

static const struct rk_csv_bind processes[] = {
	{ "command", RK_CELL_STR, RK_O_COMMAND },
	{ "hostname", RK_CELL_STR, RK_O_NODE },
	{ "host_name", RK_CELL_STR, RK_O_NODE },
	{ NULL },
};

/* "7.14.0-66" is 71400; 0: not a release. */
static int release_of(struct rk_csv_span text)
{
	int parts[3] = { 0 }, n = 0;

	for (size_t i = 0; i < text.len && n < 3; i++) {
		if (text.p[i] == '.')
			n++;
		else if (!rk_is_digit(text.p[i]) || parts[n] > 9)
			break;
		else
			parts[n] = parts[n] * 10 + (text.p[i] - '0');
	}
	return n ? parts[0] * 10000 + parts[1] * 100 + parts[2] : 0;
}

/* In the first row, which is in the head of the file. */
static int find_release(const struct headed *r, struct rk_error *err)
{
	enum { CELLS_MAX = 128 };
	int column = rk_csv_header_find(&r->header, "rocm_version"), rc;
	struct rk_csv_span cells[CELLS_MAX];
	const void *head = NULL;
	const char *row;
	size_t len = 0;

	rc = rk_instream_head(r->in, &head, &len, err);
	if (rc < 0 || column < 0 || r->header.bytes >= len)
		return rc < 0 ? rc : 0;
	row = (const char *)head + r->header.bytes;
	len -= r->header.bytes;
	if (memchr(row, '\n', len))
		len = (size_t)((const char *)memchr(row, '\n', len) - row);
	if (r->header.ncols > CELLS_MAX ||
	    rk_csv_split(row, len, cells, CELLS_MAX) != r->header.ncols)
		return 0;
	return release_of(cells[column]);
}

static int sysinfo_open(const struct rk_reader_ops *ops, struct rk_instream *in,
			struct rk_context *ctx, struct rk_reader **ret, struct rk_error *err)
{
	int rc = headed_open(ops, in, ctx, ret, err);

	if (rc < 0)
		return rc;
	if (has(&((struct headed *)*ret)->header, "command"))
		(*ret)->tables |= RK_TABLE_BIT(RK_PROCESSES);
	rc = find_release((struct headed *)*ret, err);
	if (rc < 0) {
		((struct headed *)*ret)->in = NULL; /* still belongs to the caller */
		headed_close(*ret);
		return rc;
	}
	(*ret)->release = rc;
	return 0;
}

/*
 * Converts bandwidth to channels: a channel moves 32 bytes per clock. The tool's bandwidth is right
 * even if its count of channels is wrong (MI300A: 96 instead of 128). If it is not a whole number
 * of channels, the memory is of another kind and we keep the count.
 */
static int finish_channels(struct rk_builder *b, struct rk_error *err)
{
	const double *gb_s = b->data[RK_G_MEMORY];
	const int64_t *mclk = b->data[RK_G_MAX_MCLK];
	bool counted = b->data[RK_G_HBM_CHANNELS] != NULL;
	int64_t *channels;

	if (!gb_s)
		return 0;
	channels = rk_builder_column(b, RK_G_HBM_CHANNELS);
	if (!channels)
		return rk_fail_nomem(err);
	for (size_t i = 0; i < b->nrows; i++) {
		bool known = counted && !rk_builder_is_null(b, RK_G_HBM_CHANNELS, i);
		double n = 0;

		if (!known)
			channels[i] = 0;
		if (mclk && !rk_builder_is_null(b, RK_G_MEMORY, i) &&
		    !rk_builder_is_null(b, RK_G_MAX_MCLK, i) && mclk[i] > 0)
			n = gb_s[i] * 1000 / (32 * (double)mclk[i]);
		if (n >= 1 && n <= 4096 && fabs(n - round(n)) <= 0.01) {
			channels[i] = (int64_t)round(n);
			known = true;
			if (b->nulls[RK_G_HBM_CHANNELS])
				b->valid[RK_G_HBM_CHANNELS][i / 64] |= UINT64_C(1) << i % 64;
		}
		if ((!known && !rk_builder_null(b, RK_G_HBM_CHANNELS, i)) ||
		    !rk_builder_null(b, RK_G_MEMORY, i))
			return rk_fail_nomem(err);
	}
	return 0;
}

/* The file only has the model name; we also use it as the product name. */
static int finish_agents(void *arg, struct rk_builder *b, struct rk_error *err)
{
	struct headed *r = arg;
	const uint32_t *name = b->data[RK_G_NAME];
	uint32_t *type = rk_builder_column(b, RK_G_TYPE);
	uint32_t *product = rk_builder_column(b, RK_G_PRODUCT);

	if (!type || !product)
		return rk_fail_nomem(err);
	for (size_t i = 0; i < b->nrows; i++) {
		type[i] = r->word_id;
		if (name)
			product[i] = name[i];
		else if (!rk_builder_null(b, RK_G_PRODUCT, i))
			return rk_fail_nomem(err);
	}
	return finish_channels(b, err);
}

static int sysinfo_scan(struct rk_reader *base, enum rk_table t, uint64_t want,
			struct rk_source **ret, struct rk_error *err)
{
	struct headed *r = (struct headed *)base;
	struct rk_csv_scan scan = {
		.in = r->in,
		.header = &r->header,
		.binds = processes,
		/* early versions did not quote the command line, which may have commas */
		.free_header = "command",
		.schema = rk_table_schema(t),
		.want = want,
		.arg = r,
	};

	if (t == RK_AGENTS) {
		scan.binds = agents_banks;
		if (has(&r->header, "total_l2_chan") || has(&r->header, "totalL2Banks"))
			scan.binds = agents_total;
		scan.finish = finish_agents;
		if (want & BIT(RK_G_PRODUCT))
			scan.want |= BIT(RK_G_NAME);
		if (want & BIT(RK_G_HBM_CHANNELS))
			scan.want |= BIT(RK_G_MEMORY) | BIT(RK_G_MAX_MCLK);
	}
	return rk_csv_scan_open(&scan, r->ctx, ret, err);
}

static const struct headed_format sysinfo = {
	.must = { "workload_name", "ip_blocks" },
	.either = { "gpu_arch", "gpu_soc" },
	.table = RK_AGENTS,
	.word = "GPU",
};

const struct rk_reader_ops rk_reader_sysinfo_csv = {
	.name = "sysinfo-csv",
	.help = "sysinfo.csv of rocprof-compute and omniperf",
	.probe = headed_probe,
	.open = sysinfo_open,
	.scan = sysinfo_scan,
	.close = headed_close,
	.format = &sysinfo,
};
