/*
 * gen_counters.c - a kernels table with counters of an invented program on an MI300X.
 *
 *	gen-counters ROWS OUT.parquet
 *
 * 40 counters that hang together (hits below requests, parts below wholes), 64 kernels, the same
 * for the same number of rows.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/writer.h"
#include "model/batch.h"

static const char *const counters[] = {
	"GRBM_GUI_ACTIVE",
	"GRBM_COUNT",
	"GRBM_SPI_BUSY",
	"SQ_WAVES",
	"SQ_WAVE_CYCLES",
	"SQ_BUSY_CYCLES",
	"SQ_BUSY_CU_CYCLES",
	"SQ_INSTS",
	"SQ_INSTS_VALU",
	"SQ_INSTS_MFMA",
	"SQ_INSTS_SALU",
	"SQ_INSTS_SMEM",
	"SQ_INSTS_LDS",
	"SQ_INSTS_VMEM",
	"SQ_INSTS_BRANCH",
	"SQ_WAIT_ANY",
	"SQ_WAIT_INST_ANY",
	"SQ_ACTIVE_INST_ANY",
	"SQ_ACTIVE_INST_VALU",
	"SQ_THREAD_CYCLES_VALU",
	"SQ_VALU_MFMA_BUSY_CYCLES",
	"SQ_INSTS_VALU_ADD_F32",
	"SQ_INSTS_VALU_MUL_F32",
	"SQ_INSTS_VALU_FMA_F32",
	"SQ_INSTS_VALU_TRANS_F32",
	"SQ_LDS_IDX_ACTIVE",
	"SQ_LDS_BANK_CONFLICT",
	"TCP_TOTAL_CACHE_ACCESSES_sum",
	"TCP_TCC_READ_REQ_sum",
	"TCP_TCC_WRITE_REQ_sum",
	"TCP_TCC_ATOMIC_WITH_RET_REQ_sum",
	"TCP_TCC_ATOMIC_WITHOUT_RET_REQ_sum",
	"TCC_HIT_sum",
	"TCC_MISS_sum",
	"TCC_REQ_sum",
	"TCC_EA0_RDREQ_sum",
	"TCC_EA0_RDREQ_32B_sum",
	"TCC_BUBBLE_sum",
	"TCC_EA0_WRREQ_sum",
	"TCC_EA0_WRREQ_64B_sum",
};

enum { NCOUNTERS = sizeof(counters) / sizeof(counters[0]), KERNELS = 64 };

static void must(int rc, const struct rk_error *err)
{
	if (rc >= 0)
		return;
	fprintf(stderr, "gen-counters: %s\n", err->message);
	exit(1);
}

static uint64_t mix(uint64_t x)
{
	x ^= x >> 30;
	x *= UINT64_C(0xbf58476d1ce4e5b9);
	x ^= x >> 27;
	x *= UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

/* Later counters of a block are smaller, so that parts stay below wholes; times move by 2 %. */
static double value(uint64_t row, unsigned counter)
{
	uint64_t kernel = row % KERNELS;
	double scale = 1e7 / (1 + counter % 5) * (double)(1 + kernel);

	return (double)(uint64_t)(scale *
				  (1 + (double)(mix(row * NCOUNTERS + counter) % 1000) / 5e4));
}

static const struct rk_schema *schema_of(void)
{
	static struct rk_field fields[RK_K_NFIELDS + NCOUNTERS];
	static struct rk_schema schema;
	const struct rk_schema *kernels = rk_table_schema(RK_KERNELS);

	memcpy(fields, kernels->fields, RK_K_NFIELDS * sizeof(*fields));
	for (unsigned i = 0; i < NCOUNTERS; i++)
		fields[RK_K_NFIELDS + i] = (struct rk_field){ counters[i], RK_F64 };
	schema = *kernels;
	schema.fields = fields;
	schema.nfields = RK_K_NFIELDS + NCOUNTERS;
	return &schema;
}

static void fill(struct rk_builder *b, uint64_t first, size_t n, const uint32_t *names)
{
	uint32_t *name = rk_builder_column(b, RK_K_NAME);
	int64_t *start = rk_builder_column(b, RK_K_START),
		*time = rk_builder_column(b, RK_K_DURATION);
	int64_t *id = rk_builder_column(b, RK_K_DISPATCH),
		*device = rk_builder_column(b, RK_K_DEVICE);

	if (!name || !start || !time || !id || !device)
		exit(1);
	for (size_t i = 0; i < n; i++) {
		uint64_t row = first + i;

		name[i] = names[row % KERNELS];
		start[i] = 1000000000 + (int64_t)row * 200000;
		time[i] = 1000 * (int64_t)(1 + row % KERNELS) + (int64_t)(mix(row) % 100);
		id[i] = (int64_t)row + 1;
		device[i] = 4;
	}
	for (unsigned c = 0; c < NCOUNTERS; c++) {
		double *v = rk_builder_column(b, RK_K_NFIELDS + c);

		for (size_t i = 0; v && i < n; i++)
			v[i] = value(first + i, c);
	}
	b->nrows = n;
}

int main(int argc, char **argv)
{
	const struct rk_writer_ops *ops = rk_writer_by_name("parquet");
	struct rk_context ctx = { 0 };
	struct rk_error err = { 0 };
	struct rk_output *out;
	struct rk_writer *w;
	struct rk_builder b;
	uint32_t names[KERNELS];
	uint64_t rows = 0;

	if (argc != 3 || sscanf(argv[1], "%" SCNu64, &rows) != 1 || !rows) {
		fputs("usage: gen-counters ROWS OUT.parquet\n", stderr);
		return 2;
	}
	must(rk_strtab_new(1 << 20, &ctx.names, &err), &err);
	must(rk_diag_new(&ctx.diag, &err), &err);
	must(rk_pool_new(2, &ctx.pool, &err), &err);
	for (unsigned i = 0; i < KERNELS; i++) {
		char text[48];
		int n = snprintf(text, sizeof(text), "kernel_%u(float const*, float*)", i);

		must(rk_strtab_add(ctx.names, text, (size_t)n, &names[i], &err), &err);
	}
	must(rk_builder_init(&b, schema_of(), RK_BATCH_ROWS, &err), &err);
	must(rk_output_open(argv[2], &out, &err), &err);
	must(ops->open(out, schema_of(), &ctx, &w, &err), &err);
	for (uint64_t at = 0; at < rows; at += RK_BATCH_ROWS) {
		rk_builder_reset(&b);
		fill(&b, at, rows - at < RK_BATCH_ROWS ? (size_t)(rows - at) : RK_BATCH_ROWS,
		     names);
		must(ops->batch(w, rk_builder_batch(&b), &err), &err);
	}
	must(ops->finish(w, &err), &err);
	ops->close(w);
	must(rk_output_commit(out, &err), &err);
	return 0;
}
