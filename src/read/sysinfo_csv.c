/*
 * sysinfo_csv.c - sysinfo.csv of rocprof-compute and omniperf: one row about the machine and the
 * program. Nine generations of headers are known; columns are matched by name.
 */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "read/headed_csv.h"

extern const struct rk_reader_ops rk_reader_sysinfo_csv;

struct sysinfo {
	struct rk_headed_csv file;
	uint32_t gpu_id; /* "GPU" */
};

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
	/* GB/s, until finish has made channels of it: the file does not tell the memory's size */
	{ "hbm_bw", RK_CELL_F64, RK_G_MEMORY },
	{ "hbmBW", RK_CELL_F64, RK_G_MEMORY },
	{ NULL },
};
/* Of a file with both, L2Banks is of one die. */
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

static bool has(const struct rk_csv_header *h, const char *name)
{
	return rk_csv_header_find(h, name) >= 0;
}

static bool is_sysinfo(const struct rk_csv_header *h)
{
	return has(h, "workload_name") && has(h, "ip_blocks") &&
	       (has(h, "gpu_arch") || has(h, "gpu_soc"));
}

static int sysinfo_probe(const void *head, size_t len, bool whole, const char *file_name)
{
	(void)file_name;
	return rk_headed_probe(head, len, whole, is_sysinfo);
}

static int sysinfo_open(struct rk_instream *in, struct rk_context *ctx, struct rk_reader **ret,
			struct rk_error *err)
{
	struct rk_headed_csv *file;
	struct sysinfo *r;
	int rc = rk_headed_new(&rk_reader_sysinfo_csv, RK_AGENTS, sizeof(*r), in, ctx, &file, err);

	if (rc < 0)
		return rc;
	r = (struct sysinfo *)file;
	rc = rk_strtab_add(ctx->names, "GPU", 3, &r->gpu_id, err);
	if (rc < 0) {
		rk_headed_close(&file->base);
		return rc;
	}
	if (has(&file->header, "command"))
		file->base.tables |= RK_TABLE_BIT(RK_PROCESSES);
	file->in = in;
	*ret = &file->base;
	return 0;
}

/*
 * A channel moves 32 bytes per clock. The tool's own bandwidth is right where its count of
 * channels is not (MI300A: 96 of 128); one that is no whole number of channels is of other make.
 */
static bool channels(double gb_s, int64_t mclk, int64_t *ret)
{
	double n = mclk > 0 ? gb_s * 1000 / (32 * (double)mclk) : 0;

	if (!(n >= 1 && n <= 4096) || fabs(n - round(n)) > 0.01)
		return false;
	*ret = (int64_t)round(n);
	return true;
}

static bool put_channels(struct rk_builder *b, size_t row, bool known, int64_t n)
{
	((int64_t *)b->data[RK_G_HBM_CHANNELS])[row] = n;
	if (known && b->nulls[RK_G_HBM_CHANNELS])
		b->valid[RK_G_HBM_CHANNELS][row / 64] |= UINT64_C(1) << row % 64;
	return known || rk_builder_null(b, RK_G_HBM_CHANNELS, row);
}

static int finish_channels(struct rk_builder *b, struct rk_error *err)
{
	const double *gb_s = b->data[RK_G_MEMORY];
	const int64_t *mclk = b->data[RK_G_MAX_MCLK];
	bool counted = b->data[RK_G_HBM_CHANNELS] != NULL;
	int64_t *ret = gb_s ? rk_builder_column(b, RK_G_HBM_CHANNELS) : NULL;

	if (gb_s && !ret)
		return rk_fail_nomem(err);
	for (size_t i = 0; gb_s && i < b->nrows; i++) {
		bool known = counted && !rk_builder_is_null(b, RK_G_HBM_CHANNELS, i);
		int64_t n = known ? ret[i] : 0;

		if (mclk && !rk_builder_is_null(b, RK_G_MEMORY, i) &&
		    !rk_builder_is_null(b, RK_G_MAX_MCLK, i))
			known |= channels(gb_s[i], mclk[i], &n);
		if (!put_channels(b, i, known, n) || !rk_builder_null(b, RK_G_MEMORY, i))
			return rk_fail_nomem(err);
	}
	return 0;
}

/* The file names the model; that is the product too. */
static int finish_agents(void *arg, struct rk_builder *b, struct rk_error *err)
{
	struct sysinfo *r = arg;
	const uint32_t *name = b->data[RK_G_NAME];
	uint32_t *type = rk_builder_column(b, RK_G_TYPE);
	uint32_t *product = rk_builder_column(b, RK_G_PRODUCT);

	if (!type || !product)
		return rk_fail_nomem(err);
	for (size_t i = 0; i < b->nrows; i++) {
		type[i] = r->gpu_id;
		if (name)
			product[i] = name[i];
		else if (!rk_builder_null(b, RK_G_PRODUCT, i))
			return rk_fail_nomem(err);
	}
	return finish_channels(b, err);
}

static uint64_t agent_needs(uint64_t want)
{
	if (want >> RK_G_PRODUCT & 1)
		want |= UINT64_C(1) << RK_G_NAME;
	if (want >> RK_G_HBM_CHANNELS & 1)
		want |= UINT64_C(1) << RK_G_MEMORY | UINT64_C(1) << RK_G_MAX_MCLK;
	return want;
}

static const struct rk_csv_bind *agent_binds(const struct rk_csv_header *h)
{
	return has(h, "total_l2_chan") || has(h, "totalL2Banks") ? agents_total : agents_banks;
}

static int sysinfo_scan(struct rk_reader *base, enum rk_table t, uint64_t want,
			struct rk_source **ret, struct rk_error *err)
{
	struct sysinfo *r = (struct sysinfo *)base;
	struct rk_csv_scan scan = {
		.in = r->file.in,
		.header = &r->file.header,
		.binds = t == RK_AGENTS ? agent_binds(&r->file.header) : processes,
		/* early versions wrote the command line as it was, commas and all */
		.free_header = "command",
		.schema = rk_table_schema(t),
		.want = t == RK_AGENTS ? agent_needs(want) : want,
		.finish = t == RK_AGENTS ? finish_agents : NULL,
		.arg = r,
	};

	return rk_csv_scan_open(&scan, r->file.ctx, ret, err);
}

const struct rk_reader_ops rk_reader_sysinfo_csv = {
	.name = "sysinfo-csv",
	.help = "sysinfo.csv of rocprof-compute and omniperf",
	.probe = sysinfo_probe,
	.open = sysinfo_open,
	.scan = sysinfo_scan,
	.close = rk_headed_close,
};
