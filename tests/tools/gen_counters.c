/*
 * gen_counters.c - a kernels table with counters of an invented program on an MI300X.
 *
 *	gen-counters ROWS OUT.parquet
 *
 * 40 counters that hang together (hits below requests, parts below wholes), 64 kernels; the same
 * rows every time.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table/batch.h"
#include "write/writer.h"

/* What grows with the clocks of a kernel, and what with its waves; how much of it. */
enum basis { CLOCK, WAVE };

static const struct counter {
	const char *name;
	enum basis basis;
	double share;
} counters[] = {
	{ "GRBM_GUI_ACTIVE", CLOCK, 8 },
	{ "GRBM_COUNT", CLOCK, 8.4 },
	{ "GRBM_SPI_BUSY", CLOCK, 7.6 },
	{ "SQ_WAVES", WAVE, 1 },
	{ "SQ_WAVE_CYCLES", CLOCK, 800 },
	{ "SQ_BUSY_CYCLES", CLOCK, 30 },
	{ "SQ_BUSY_CU_CYCLES", CLOCK, 70 },
	{ "SQ_INSTS", WAVE, 900 },
	{ "SQ_INSTS_VALU", WAVE, 500 },
	{ "SQ_INSTS_MFMA", WAVE, 60 },
	{ "SQ_INSTS_SALU", WAVE, 120 },
	{ "SQ_INSTS_SMEM", WAVE, 20 },
	{ "SQ_INSTS_LDS", WAVE, 80 },
	{ "SQ_INSTS_VMEM", WAVE, 70 },
	{ "SQ_INSTS_BRANCH", WAVE, 30 },
	{ "SQ_WAIT_ANY", CLOCK, 420 },
	{ "SQ_WAIT_INST_ANY", CLOCK, 160 },
	{ "SQ_ACTIVE_INST_ANY", CLOCK, 200 },
	{ "SQ_ACTIVE_INST_VALU", CLOCK, 110 },
	{ "SQ_THREAD_CYCLES_VALU", CLOCK, 5600 },
	{ "SQ_VALU_MFMA_BUSY_CYCLES", CLOCK, 240 },
	{ "SQ_INSTS_VALU_ADD_F32", WAVE, 90 },
	{ "SQ_INSTS_VALU_MUL_F32", WAVE, 60 },
	{ "SQ_INSTS_VALU_FMA_F32", WAVE, 180 },
	{ "SQ_INSTS_VALU_TRANS_F32", WAVE, 10 },
	{ "SQ_LDS_IDX_ACTIVE", CLOCK, 90 },
	{ "SQ_LDS_BANK_CONFLICT", CLOCK, 12 },
	{ "TCP_TOTAL_CACHE_ACCESSES_sum", CLOCK, 60 },
	{ "TCP_TCC_READ_REQ_sum", CLOCK, 20 },
	{ "TCP_TCC_WRITE_REQ_sum", CLOCK, 8 },
	{ "TCP_TCC_ATOMIC_WITH_RET_REQ_sum", CLOCK, 0.02 },
	{ "TCP_TCC_ATOMIC_WITHOUT_RET_REQ_sum", CLOCK, 0.01 },
	{ "TCC_HIT_sum", CLOCK, 17 },
	{ "TCC_MISS_sum", CLOCK, 11 },
	{ "TCC_REQ_sum", CLOCK, 30 },
	{ "TCC_EA0_RDREQ_sum", CLOCK, 9 },
	{ "TCC_EA0_RDREQ_32B_sum", CLOCK, 0.2 },
	{ "TCC_BUBBLE_sum", CLOCK, 7 },
	{ "TCC_EA0_WRREQ_sum", CLOCK, 5 },
	{ "TCC_EA0_WRREQ_64B_sum", CLOCK, 4.5 },
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

static int64_t time_of(uint64_t row)
{
	return 1000 * (int64_t)(20 + row % KERNELS) + (int64_t)(mix(row) % 1000);
}

/* Counters of one dispatch move by up to 2 % against each other, as those of passes do. */
static double value(uint64_t row, unsigned counter)
{
	const struct counter *c = &counters[counter];
	double jitter = 1 + (double)(mix(row * NCOUNTERS + counter) % 1000) / 5e4;
	double basis = c->basis == CLOCK ? 2.1 * (double)time_of(row) :
					   (double)(4096 * (1 + row % KERNELS % 8));

	return (double)(uint64_t)(c->share * basis * (c->basis == CLOCK ? jitter : 1));
}

static const struct rk_schema *schema_of(void)
{
	static struct rk_field fields[RK_K_NFIELDS + NCOUNTERS];
	static struct rk_schema schema;
	const struct rk_schema *kernels = rk_table_schema(RK_KERNELS);

	memcpy(fields, kernels->fields, RK_K_NFIELDS * sizeof(*fields));
	for (unsigned i = 0; i < NCOUNTERS; i++)
		fields[RK_K_NFIELDS + i] = (struct rk_field){ counters[i].name, RK_F64 };
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
		time[i] = time_of(row);
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
