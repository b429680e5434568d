/*
 * compute_db.c - the analysis database of rocprof-compute.
 *
 * Kernels come from compute_dispatch, samples per instruction from compute_pcsampling, and the GPU
 * and the command from the system information of a workload, which is JSON. The metrics are
 * averages over all dispatches of a kernel. There is no standard table for them, so they are not
 * read.
 */
#include "read/sql/sql.h"

enum { KERNEL_NAMES }; /* dim */

enum { K_KERNEL, K_DISPATCH, K_DEVICE, K_START, K_END, K_NCOLUMNS };

static const struct sql_column dispatch_columns[K_NCOLUMNS] = {
	[K_KERNEL] = SQL_INT("kernel_uuid", SQL_BIT(RK_K_NAME)),
	[K_DISPATCH] = SQL_INT("dispatch_id", SQL_BIT(RK_K_DISPATCH)),
	[K_DEVICE] = SQL_INT("gpu_id", SQL_BIT(RK_K_DEVICE)),
	[K_START] = SQL_INT("start_timestamp", SQL_BIT(RK_K_START) | SQL_BIT(RK_K_DURATION)),
	[K_END] = SQL_INT("end_timestamp", SQL_BIT(RK_K_DURATION)),
};

static int dispatch_row(struct sql_scan *s, size_t row)
{
	rk_sql_put_times(s, row, RK_K_START, RK_K_DURATION, K_START, K_END);
	if (rk_sql_wants(s, RK_K_NAME))
		rk_sql_put(s, RK_K_NAME, row,
			   rk_sql_resolve(s, KERNEL_NAMES, rk_sql_cell(s, K_KERNEL), 0));
	rk_sql_put(s, RK_K_DISPATCH, row, rk_sql_cell(s, K_DISPATCH));
	rk_sql_put(s, RK_K_DEVICE, row, rk_sql_cell(s, K_DEVICE));
	return 1;
}

static const struct sql_part dispatch_parts[] = {
	{ "compute_dispatch", dispatch_columns, K_NCOLUMNS, dispatch_row, NULL, NULL },
};

enum { P_KERNEL, P_SOURCE, P_INSTRUCTION, P_COUNT, P_STALL, P_NCOLUMNS };

static const struct sql_column sample_columns[P_NCOLUMNS] = {
	[P_KERNEL] = SQL_INT("kernel_uuid", SQL_BIT(RK_P_NAME)),
	[P_SOURCE] = SQL_TEXT("source", SQL_BIT(RK_P_SOURCE_LINE)),
	[P_INSTRUCTION] = SQL_TEXT("instruction", SQL_BIT(RK_P_INSTRUCTION)),
	[P_COUNT] = SQL_INT("count", SQL_BIT(RK_P_WAVE_COUNT)),
	[P_STALL] = SQL_TEXT("stall_reason", SQL_BIT(RK_P_STALL)),
};

/*
 * A row sums up all samples of one instruction: it has no time, and count is the number of waves.
 */
static int sample_row(struct sql_scan *s, size_t row)
{
	if (rk_sql_wants(s, RK_P_NAME))
		rk_sql_put(s, RK_P_NAME, row,
			   rk_sql_resolve(s, KERNEL_NAMES, rk_sql_cell(s, P_KERNEL), 0));
	rk_sql_put_column(s, RK_P_SOURCE_LINE, row, P_SOURCE);
	rk_sql_put_column(s, RK_P_INSTRUCTION, row, P_INSTRUCTION);
	rk_sql_put_column(s, RK_P_STALL, row, P_STALL);
	rk_sql_put(s, RK_P_WAVE_COUNT, row, rk_sql_cell(s, P_COUNT));
	return 1;
}

static const struct sql_part sample_parts[] = {
	{ "compute_pcsampling", sample_columns, P_NCOLUMNS, sample_row, NULL, NULL },
};

#define GPU_FIELDS                                                                             \
	(SQL_BIT(RK_G_TYPE) | SQL_BIT(RK_G_NAME) | SQL_BIT(RK_G_GFX) | SQL_BIT(RK_G_PRODUCT) | \
	 SQL_BIT(RK_G_CU_COUNT) | SQL_BIT(RK_G_MAX_SCLK) | SQL_BIT(RK_G_MAX_MCLK) |            \
	 SQL_BIT(RK_G_XCC) | SQL_BIT(RK_G_WAVE_SIZE) | SQL_BIT(RK_G_SE_COUNT) |                \
	 SQL_BIT(RK_G_SIMD_PER_CU) | SQL_BIT(RK_G_WAVES_PER_CU) | SQL_BIT(RK_G_L2_CHANNELS) |  \
	 SQL_BIT(RK_G_HBM_CHANNELS) | SQL_BIT(RK_G_LDS_BANKS) | SQL_BIT(RK_G_SQC_COUNT) |      \
	 SQL_BIT(RK_G_PIPES))

static const struct sql_column gpu_columns[] = { SQL_TEXT("sys_info_extdata", GPU_FIELDS) };
static const struct sql_column command_columns[] = {
	SQL_TEXT("sys_info_extdata", SQL_BIT(RK_O_COMMAND)),
};

/* The caller owns *ret. False: there is no such text. */
static bool json_text(struct sql_span json, const char *key, struct rk_bytes *ret)
{
	struct sql_span value;

	rk_bytes_init(ret, 1 << 16);
	return rk_sql_json_field(json, key, &value) && rk_sql_json_text(value, ret) && ret->len;
}

static void put_json_text(struct sql_scan *s, unsigned field, size_t row, struct sql_span json,
			  const char *key)
{
	struct rk_bytes text;
	bool has = json_text(json, key, &text);

	if (text.bad)
		rk_fail_nomem(&s->error);
	else
		rk_sql_put_text(s, field, row, has ? (const char *)text.data : NULL, text.len);
	rk_bytes_release(&text);
}

static const struct {
	unsigned field;
	const char *key;
} gpu_numbers[] = {
	{ RK_G_CU_COUNT, "cu_per_gpu" },        { RK_G_MAX_SCLK, "max_sclk" },
	{ RK_G_MAX_MCLK, "max_mclk" },          { RK_G_XCC, "num_xcd" },
	{ RK_G_WAVE_SIZE, "wave_size" },        { RK_G_SE_COUNT, "se_per_gpu" },
	{ RK_G_SIMD_PER_CU, "simd_per_cu" },    { RK_G_WAVES_PER_CU, "max_waves_per_cu" },
	{ RK_G_L2_CHANNELS, "total_l2_chan" },  { RK_G_HBM_CHANNELS, "num_hbm_channels" },
	{ RK_G_LDS_BANKS, "lds_banks_per_cu" }, { RK_G_SQC_COUNT, "sqc_per_gpu" },
	{ RK_G_PIPES, "pipes_per_gpu" },
};

static int gpu_row(struct sql_scan *s, size_t row)
{
	struct sql_span json = rk_sql_json(s->c, 0);

	rk_sql_put_word(s, RK_G_TYPE, row, "GPU");
	put_json_text(s, RK_G_NAME, row, json, "gpu_arch");
	put_json_text(s, RK_G_GFX, row, json, "gpu_arch");
	put_json_text(s, RK_G_PRODUCT, row, json, "gpu_model");
	for (size_t i = 0; i < sizeof(gpu_numbers) / sizeof(gpu_numbers[0]); i++)
		rk_sql_put(s, gpu_numbers[i].field, row,
			   rk_sql_json_number(json, gpu_numbers[i].key));
	return 1;
}

static int command_row(struct sql_scan *s, size_t row)
{
	put_json_text(s, RK_O_COMMAND, row, rk_sql_json(s->c, 0), "command");
	return 1;
}

static const struct sql_part gpu_parts[] = {
	{ "compute_workload", gpu_columns, 1, gpu_row, NULL, NULL },
};
static const struct sql_part command_parts[] = {
	{ "compute_workload", command_columns, 1, command_row, NULL, NULL },
};

/* Reads the first workload: a database holds the output of one run. */
static int find_host(struct sql_reader *r, struct rk_error *err)
{
	static const struct rk_sqlite_column column = { "sys_info_extdata", RK_SQLITE_TEXT };
	const struct rk_sqlite_table *t = rk_sql_table(r, "compute_workload", "");
	struct rk_sqlite_cursor *c = NULL;
	struct rk_error cause = { 0 };
	struct rk_bytes text = { 0 };
	uint32_t id;
	int rc;

	if (!t)
		return 0;
	if ((rc = rk_sqlite_cursor_open(r->db, t, &column, 1, RK_SQLITE_STORED, &c, &cause)) >= 0 &&
	    (rc = rk_sqlite_cursor_step(c, &cause)) > 0 &&
	    json_text(rk_sql_json(c, 0), "hostname", &text)) {
		rc = rk_strtab_add(r->ctx->names, (const char *)text.data, text.len, &id, &cause);
		if (rc >= 0)
			r->node = id;
	}
	if (text.bad)
		rc = rk_fail_nomem(&cause);
	rk_bytes_release(&text);
	rk_sqlite_cursor_close(c);
	return rk_sql_damage(r, &cause, rc, err);
}

static const struct sql_plan plans[] = {
	{ .table = RK_KERNELS, .node_field = RK_K_NODE, .parts = dispatch_parts, .nparts = 1 },
	{ .table = RK_PC_SAMPLES, .node_field = RK_P_NODE, .parts = sample_parts, .nparts = 1 },
	{ .table = RK_AGENTS, .node_field = RK_G_NODE, .parts = gpu_parts, .nparts = 1 },
	{ .table = RK_PROCESSES, .node_field = RK_O_NODE, .parts = command_parts, .nparts = 1 },
};

static const struct sql_dim_def dims[] = {
	[KERNEL_NAMES] = { "compute_kernel",
			   1,
			   { { "kernel_uuid", RK_SQLITE_INT },
			     { "kernel_name", RK_SQLITE_TEXT } } },
};

static const struct sql_format format = {
	.marks = { "CREATE TABLE compute_" },
	.source = "rocprof-compute-db",
	.clock = "unknown",
	.what = "rocprof-compute",
	.prefix = "",
	.plans = plans,
	.nplans = sizeof(plans) / sizeof(plans[0]),
	.dims = dims,
	.ndims = 1,
	.scan_bytes = sizeof(struct sql_scan),
	.opened = find_host,
};

static const struct rk_db_sign signs[] = { { "compute_dispatch", 80 },
					   { "compute_workload", 80 },
					   { 0 } };

const struct rk_reader_ops rk_reader_compute_db = {
	.name = "rocprof-compute-db",
	.help = "analysis database of rocprof-compute",
	.probe = rk_sql_probe,
	.open = rk_sql_open,
	.scan = rk_sql_scan,
	.close = rk_sql_close,
	.format = &format,
	.serial = true,
	.analysis = 1,
	.db_signs = signs,
};
