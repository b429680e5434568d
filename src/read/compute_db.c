/*
 * compute_db.c - the analysis database of rocprof-compute, schemas 1 and 2.
 *
 * Kernels come from compute_dispatch, and the GPU and the command from the system information of a
 * workload, which is JSON. Samples of instructions are in compute_pcsampling, since schema 2 in
 * compute_pc_sample_state and tables around it. Metrics of the whole workload and the benchmark of
 * its roofline become samples without a time. Metrics of single kernels have no standard table: they
 * are counted in a warning.
 */
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "read/sql/sql.h"

enum { KERNEL_NAMES, METRICS, INSTRUCTIONS, STATES, REASONS, NDIMS };
/* values of dims */
enum { M_ID, M_NAME, M_UNIT };
enum { I_KERNEL, I_SOURCE, I_TEXT };

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

enum { PS_INSTRUCTION, PS_TOTAL, PS_STALLED, PS_NCOLUMNS };

static const struct sql_column state_columns[PS_NCOLUMNS] = {
	[PS_INSTRUCTION] =
		SQL_INT("instruction_uuid",
			SQL_BIT(RK_P_NAME) | SQL_BIT(RK_P_INSTRUCTION) | SQL_BIT(RK_P_SOURCE_LINE)),
	[PS_TOTAL] = SQL_INT("total_count", SQL_ALWAYS),
	[PS_STALLED] = SQL_INT("stall_count", SQL_ALWAYS),
};

static void put_instruction(struct sql_scan *s, size_t row, int64_t id)
{
	if (rk_sql_wants(s, RK_P_NAME))
		rk_sql_put(s, RK_P_NAME, row,
			   rk_sql_resolve(s, KERNEL_NAMES,
					  rk_sql_resolve(s, INSTRUCTIONS, id, I_KERNEL), 0));
	rk_sql_put(s, RK_P_SOURCE_LINE, row, rk_sql_resolve(s, INSTRUCTIONS, id, I_SOURCE));
	rk_sql_put(s, RK_P_INSTRUCTION, row, rk_sql_resolve(s, INSTRUCTIONS, id, I_TEXT));
}

/* The waves that did not stall; those that did have a row per reason. */
static int state_row(struct sql_scan *s, size_t row)
{
	int64_t total = rk_sql_cell(s, PS_TOTAL), stalled = rk_sql_cell(s, PS_STALLED), rest;

	if (total == RK_NONE || stalled == RK_NONE || stalled < 0 ||
	    !rk_sub_i64(total, stalled, &rest))
		rest = total;
	if (rest <= 0 && rest != RK_NONE)
		return 0;
	put_instruction(s, row, rk_sql_cell(s, PS_INSTRUCTION));
	rk_sql_put(s, RK_P_STALL, row, RK_NONE);
	rk_sql_put(s, RK_P_WAVE_COUNT, row, rest);
	return 1;
}

enum { R_STATE, R_TYPE, R_COUNT, R_NCOLUMNS };

static const struct sql_column reason_columns[R_NCOLUMNS] = {
	[R_STATE] = SQL_INT("pc_sample_state_uuid", SQL_BIT(RK_P_NAME) | SQL_BIT(RK_P_INSTRUCTION) |
							    SQL_BIT(RK_P_SOURCE_LINE)),
	[R_TYPE] = SQL_INT("pc_sample_stall_reason_type_uuid", SQL_BIT(RK_P_STALL)),
	[R_COUNT] = SQL_INT("count", SQL_BIT(RK_P_WAVE_COUNT)),
};

static int reason_row(struct sql_scan *s, size_t row)
{
	put_instruction(s, row, rk_sql_resolve(s, STATES, rk_sql_cell(s, R_STATE), 0));
	rk_sql_put(s, RK_P_STALL, row, rk_sql_resolve(s, REASONS, rk_sql_cell(s, R_TYPE), 0));
	rk_sql_put(s, RK_P_WAVE_COUNT, row, rk_sql_cell(s, R_COUNT));
	return 1;
}

static const struct sql_part sample_parts[] = {
	{ "compute_pcsampling", sample_columns, P_NCOLUMNS, sample_row, NULL, NULL },
	{ "compute_pc_sample_state", state_columns, PS_NCOLUMNS, state_row, NULL, NULL },
	{ "compute_pc_sample_stall_reason", reason_columns, R_NCOLUMNS, reason_row, NULL, NULL },
};

/* ---- metrics of the workload, and the benchmark ---- */

enum { V_METRIC, V_WHAT, V_VALUE, V_NCOLUMNS };

static const struct sql_column value_columns[V_NCOLUMNS] = {
	[V_METRIC] = SQL_INT("metric_uuid", SQL_BIT(RK_S_METRIC) | SQL_BIT(RK_S_UNIT)),
	[V_WHAT] = SQL_TEXT("value_name", SQL_BIT(RK_S_METRIC)),
	[V_VALUE] = SQL_REAL("value", SQL_BIT(RK_S_VALUE)),
};

/* The name is "2.1.0 VALU FLOPs (Avg)". */
static int value_row(struct sql_scan *s, size_t row)
{
	int64_t metric = rk_sql_cell(s, V_METRIC);

	rk_sql_put(s, RK_S_TIME, row, RK_NONE);
	rk_sql_put(s, RK_S_DEVICE, row, RK_NONE);
	rk_sql_put(s, RK_S_UNIT, row, rk_sql_resolve(s, METRICS, metric, M_UNIT));
	rk_sql_put_f64(s, RK_S_VALUE, row, V_VALUE);
	if (rk_sql_wants(s, RK_S_METRIC)) {
		const struct rk_strtab *names = s->r->ctx->names;
		int64_t id = rk_sql_resolve(s, METRICS, metric, M_ID);
		int64_t name = rk_sql_resolve(s, METRICS, metric, M_NAME);
		size_t len = 0;
		const char *what = rk_sqlite_text(s->c, V_WHAT, &len);
		struct rk_bytes text;

		rk_bytes_init(&text, 1 << 12);
		if (id != RK_NONE)
			rk_bytes_printf(&text, "%.200s ",
					rk_strtab_borrow(names, (uint32_t)id, NULL));
		if (name != RK_NONE)
			rk_bytes_printf(&text, "%.1000s",
					rk_strtab_borrow(names, (uint32_t)name, NULL));
		if (what)
			rk_bytes_printf(&text, " (%.*s)", (int)rk_min(len, 200), what);
		if (text.bad)
			rk_fail_nomem(&s->error);
		else
			rk_sql_put_text(s, RK_S_METRIC, row,
					text.len ? (const char *)text.data : NULL, text.len);
		rk_bytes_release(&text);
	}
	return 1;
}

/* Columns of roofline.csv, which this JSON object has as keys. */
static const struct {
	const char *name, *unit;
} benchmarks[] = {
	{ "HBMBw", "GB/s" },
	{ "MALLBw", "GB/s" },
	{ "L2Bw", "GB/s" },
	{ "L1Bw", "GB/s" },
	{ "L0Bw", "GB/s" },
	{ "LDSBw", "GB/s" },
	{ "FP16Flops", "GFLOP/s" },
	{ "FP32Flops", "GFLOP/s" },
	{ "FP64Flops", "GFLOP/s" },
	{ "MFMAF4Flops", "GFLOP/s" },
	{ "MFMAF6Flops", "GFLOP/s" },
	{ "MFMAF6F4Flops", "GFLOP/s" },
	{ "MFMAF8Flops", "GFLOP/s" },
	{ "MFMAF16Flops", "GFLOP/s" },
	{ "MFMABF16Flops", "GFLOP/s" },
	{ "MFMAF32Flops", "GFLOP/s" },
	{ "MFMAF64Flops", "GFLOP/s" },
	{ "MFMAXF32Flops", "GFLOP/s" },
	{ "MFMAI8Ops", "GOP/s" },
};

static const struct sql_column benchmark_columns[] = {
	SQL_TEXT("roofline_bench_extdata",
		 SQL_BIT(RK_S_METRIC) | SQL_BIT(RK_S_VALUE) | SQL_BIT(RK_S_UNIT)),
};

static const char *nth_benchmark(const struct rk_sqlite_table *t, size_t k)
{
	(void)t;
	return k < sizeof(benchmarks) / sizeof(benchmarks[0]) ? benchmark_columns[0].name : NULL;
}

static int benchmark_row(struct sql_scan *s, size_t row)
{
	struct sql_span value;
	double v;

	if (!rk_sql_json_field(rk_sql_json(s->c, 0), benchmarks[s->nth].name, &value) ||
	    rk_num_f64(value.s, value.len, &v) != RK_NUM_OK)
		return 0;
	rk_sql_put(s, RK_S_TIME, row, RK_NONE);
	rk_sql_put(s, RK_S_DEVICE, row, RK_NONE);
	rk_sql_put_word(s, RK_S_METRIC, row, benchmarks[s->nth].name);
	rk_sql_put_word(s, RK_S_UNIT, row, benchmarks[s->nth].unit);
	if (rk_sql_wants(s, RK_S_VALUE))
		((double *)s->col[RK_S_VALUE])[row] = v;
	return 1;
}

static const struct sql_part metric_parts[] = {
	{ "compute_workload", benchmark_columns, 1, benchmark_row, NULL, nth_benchmark },
	{ "compute_workload_metric_value", value_columns, V_NCOLUMNS, value_row, NULL, NULL },
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
	for (size_t i = 0; i < sizeof(gpu_numbers) / sizeof(gpu_numbers[0]); i++) {
		int64_t v = rk_sql_json_number(json, gpu_numbers[i].key);

		/* renamed in 3.8 */
		if (v == RK_NONE && gpu_numbers[i].field == RK_G_HBM_CHANNELS)
			v = rk_sql_json_number(json, "num_memory_channels");
		rk_sql_put(s, gpu_numbers[i].field, row, v);
	}
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

enum { SCHEMA_MAX = 2 }; /* the last one that this reader knows */

static int check_schema(struct sql_reader *r, struct rk_error *err)
{
	static const struct rk_sqlite_column column = { "schema_version", RK_SQLITE_TEXT };
	static const struct rk_sqlite_column id = { "value_uuid", RK_SQLITE_INT };
	const struct rk_sqlite_table *t = rk_sql_table(r, "compute_metadata", "");
	struct rk_sqlite_cursor *c = NULL;
	struct rk_error cause = { 0 };
	const char *text;
	char newer[160] = "";
	uint64_t n = 0;
	int64_t major;
	size_t len;
	int rc;

	if (t &&
	    (rc = rk_sqlite_cursor_open(r->db, t, &column, 1, RK_SQLITE_STORED, &c, &cause)) >= 0 &&
	    (rc = rk_sqlite_cursor_step(c, &cause)) > 0 && (text = rk_sqlite_text(c, 0, &len))) {
		const char *dot = memchr(text, '.', len);

		if (rk_num_i64(text, dot ? (size_t)(dot - text) : len, &major) != RK_NUM_OK ||
		    major > SCHEMA_MAX)
			snprintf(
				newer, sizeof(newer),
				"schema %.*s of rocprof-compute is newer than this rockit; some of "
				"it may not be read",
				(int)rk_min(len, 40), text);
	}
	if (newer[0]) /* once, although a file is opened for each table */
		rk_diag_most(r->ctx->diag, "unknown-schema", rk_instream_path(r->in), 0, 1, newer);
	rk_sqlite_cursor_close(c);
	c = NULL;
	if (t && (rc = rk_sql_damage(r, &cause, rc, err)) < 0)
		return rc;
	t = rk_sql_table(r, "compute_kernel_metric_value", "");
	if (!t)
		return 0;
	rc = rk_sqlite_cursor_open(r->db, t, &id, 1, RK_SQLITE_STORED, &c, &cause);
	while (rc >= 0 && (rc = rk_sqlite_cursor_step(c, &cause)) > 0)
		n++;
	rk_sqlite_cursor_close(c);
	if (n)
		rk_diag_most(r->ctx->diag, "kernel-metrics", rk_instream_path(r->in), 0, n,
			     "values of metrics of single kernels are not read; rockit computes "
			     "its own from the folder that was analysed");
	return rk_sql_damage(r, &cause, rc, err);
}

static int opened(struct sql_reader *r, struct rk_error *err)
{
	int rc = find_host(r, err);

	return rc < 0 ? rc : check_schema(r, err);
}

static const struct sql_plan plans[] = {
	{ .table = RK_KERNELS, .node_field = RK_K_NODE, .parts = dispatch_parts, .nparts = 1 },
	{ .table = RK_PC_SAMPLES, .node_field = RK_P_NODE, .parts = sample_parts, .nparts = 3 },
	{ .table = RK_SAMPLES, .node_field = RK_S_NODE, .parts = metric_parts, .nparts = 2 },
	{ .table = RK_AGENTS, .node_field = RK_G_NODE, .parts = gpu_parts, .nparts = 1 },
	{ .table = RK_PROCESSES, .node_field = RK_O_NODE, .parts = command_parts, .nparts = 1 },
};

static const struct sql_dim_def dims[] = {
	[KERNEL_NAMES] = { "compute_kernel",
			   1,
			   { { "kernel_uuid", RK_SQLITE_INT },
			     { "kernel_name", RK_SQLITE_TEXT } } },
	[METRICS] = { "compute_metric_definition",
		      3,
		      { { "metric_uuid", RK_SQLITE_INT },
			{ "metric_id", RK_SQLITE_TEXT },
			{ "name", RK_SQLITE_TEXT },
			{ "unit", RK_SQLITE_TEXT } } },
	[INSTRUCTIONS] = { "compute_instruction_line",
			   3,
			   { { "instruction_uuid", RK_SQLITE_INT },
			     { "kernel_uuid", RK_SQLITE_INT },
			     { "comment", RK_SQLITE_TEXT },
			     { "instruction", RK_SQLITE_TEXT } } },
	[STATES] = { "compute_pc_sample_state",
		     1,
		     { { "pc_sample_state_uuid", RK_SQLITE_INT },
		       { "instruction_uuid", RK_SQLITE_INT } } },
	[REASONS] = { "compute_pc_sample_stall_reason_type",
		      1,
		      { { "pc_sample_stall_reason_type_uuid", RK_SQLITE_INT },
			{ "text", RK_SQLITE_TEXT } } },
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
	.ndims = NDIMS,
	.scan_bytes = sizeof(struct sql_scan),
	.opened = opened,
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
