/*
 * sysinfo_csv.c - sysinfo.csv of rocprof-compute and omniperf: one row about the machine and the
 * program. Nine generations of headers are known; columns are matched by name.
 */
#include <string.h>

#include "base/text.h"
#include "format/headed_csv.h"

extern const struct rk_reader_ops rk_reader_sysinfo_csv;

struct sysinfo {
	struct rk_headed_csv file;
	uint32_t gpu_id; /* "GPU" */
};

static const struct rk_csv_bind agents[] = {
	{ "gpu_model", RK_CELL_STR, RK_G_NAME },      { "name", RK_CELL_STR, RK_G_NAME },
	{ "gpu_arch", RK_CELL_STR, RK_G_GFX },        { "gpu_soc", RK_CELL_STR, RK_G_GFX },
	{ "cu_per_gpu", RK_CELL_I64, RK_G_CU_COUNT }, { "numCU", RK_CELL_I64, RK_G_CU_COUNT },
	{ "max_sclk", RK_CELL_I64, RK_G_MAX_SCLK },   { "sclk", RK_CELL_I64, RK_G_MAX_SCLK },
	{ "max_mclk", RK_CELL_I64, RK_G_MAX_MCLK },   { "mclk", RK_CELL_I64, RK_G_MAX_MCLK },
	{ "num_xcd", RK_CELL_I64, RK_G_XCC },         { "wave_size", RK_CELL_I64, RK_G_WAVE_SIZE },
	{ "waveSize", RK_CELL_I64, RK_G_WAVE_SIZE },  { "hostname", RK_CELL_STR, RK_G_NODE },
	{ "host_name", RK_CELL_STR, RK_G_NODE },      { NULL },
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
	return 0;
}

static int sysinfo_scan(struct rk_reader *base, enum rk_table t, uint64_t want,
			struct rk_source **ret, struct rk_error *err)
{
	struct sysinfo *r = (struct sysinfo *)base;
	struct rk_csv_scan scan = {
		.in = r->file.in,
		.header = &r->file.header,
		.binds = t == RK_AGENTS ? agents : processes,
		/* early versions wrote the command line as it was, commas and all */
		.free_header = "command",
		.schema = rk_table_schema(t),
		.want = t == RK_AGENTS && want >> RK_G_PRODUCT & 1 ?
				want | UINT64_C(1) << RK_G_NAME :
				want,
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
