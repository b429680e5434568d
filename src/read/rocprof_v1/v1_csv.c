/*
 * v1_csv.c - results.csv of rocprof v1, ROCm 3 to 6, and of rocprofv2 when told to write this
 * format.
 *
 * Counters are between obj and DispatchNs. Times exist only when requested; a run with
 * --stats or a trace has DurationNs too and its whole header in quotes.
 */
#include "read/wide/wide.h"

const struct rk_csv_bind rk_rocprof_v1_columns[] = {
	{ "Index", RK_CELL_SERIAL, RK_K_DISPATCH },
	{ "KernelName", RK_CELL_STR, RK_K_NAME },
	{ "gpu-id", RK_CELL_I64, RK_K_DEVICE },
	{ "queue-id", RK_CELL_I64, RK_K_QUEUE },
	{ "queue-index", RK_CELL_SKIP, 0 },
	{ "pid", RK_CELL_I64, RK_K_PID },
	{ "tid", RK_CELL_I64, RK_K_TID },
	{ "grd", RK_CELL_U32, RK_K_ITEMS_X },
	{ "wgr", RK_CELL_I32, RK_K_BLOCK_X },
	{ "lds", RK_CELL_I32, RK_K_SHARED_MEM },
	{ "scr", RK_CELL_I32, RK_K_SCRATCH },
	{ "vgpr", RK_CELL_I32, RK_K_VGPR }, /* to ROCm 5.1 */
	{ "arch_vgpr", RK_CELL_I32, RK_K_VGPR },
	{ "accum_vgpr", RK_CELL_I32, RK_K_ACCUM_VGPR },
	{ "sgpr", RK_CELL_I32, RK_K_SGPR },
	{ "fbar", RK_CELL_SKIP, 0 }, /* to ROCm 5.1 */
	{ "wave_size", RK_CELL_I32, RK_K_WAVE_SIZE },
	{ "sig", RK_CELL_SKIP, 0 },
	{ "obj", RK_CELL_SKIP, 0 },
	{ "DispatchNs", RK_CELL_SKIP, 0 },
	{ "BeginNs", RK_CELL_TIME, RK_K_START },
	{ "EndNs", RK_CELL_TIME, RK_K_DURATION },
	{ "CompleteNs", RK_CELL_SKIP, 0 },
	{ "DurationNs", RK_CELL_SKIP, 0 },
	{ 0 },
};

static const struct rk_wide_kind kinds[] = {
	{ .must = { "Index", "KernelName" },
	  .free_header = { "KernelName" },
	  .clock = "monotonic",
	  .absent = { "sig", "obj" },
	  .tables = { { RK_KERNELS, rk_rocprof_v1_columns, rk_wide_kernel_needs,
			rk_wide_finish_kernels } },
	  .ntables = 1,
	  .counters = true,
	  .barriers = true },
	{ .ntables = 0 },
};

extern const struct rk_reader_ops rk_reader_rocprof_v1_csv;
static const struct rk_wide_format format = { &rk_reader_rocprof_v1_csv, kinds };

static int v1_probe(const void *head, size_t len, bool whole, const char *file_name)
{
	(void)whole;
	(void)file_name;
	return rk_wide_probe(&format, head, len);
}

static int v1_open(struct rk_instream *in, struct rk_context *ctx, struct rk_reader **ret,
		   struct rk_error *err)
{
	return rk_wide_open(&format, in, ctx, ret, err);
}

const struct rk_reader_ops rk_reader_rocprof_v1_csv = {
	.name = "rocprof-v1-csv",
	.help = "results.csv of rocprof v1, with and without counters and times",
	.probe = v1_probe,
	.open = v1_open,
	.scan = rk_wide_scan,
	.close = rk_wide_close,
	.precedence_of = rk_wide_precedence,
	.raw_folder = "/rpl_data_",
};
