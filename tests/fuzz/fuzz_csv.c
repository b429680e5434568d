/* fuzz_csv.c - any bytes as a file: every table of it drained, with the passes on top. */
#include <stdlib.h>

#include "fuzz_file.h"
#include "read/reader.h"
#include "table/sort.h"
#include "table/stages.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static int name_field(enum rk_table t)
{
	return t == RK_KERNELS ? RK_K_NAME : t == RK_COUNTERS ? RK_N_NAME : -1;
}

/* As a conversion would read the table: names, order, durations. */
static int open_rows(struct rk_reader *r, enum rk_table t, struct rk_context *ctx, bool spill,
		     struct rk_source **ret, struct rk_error *err)
{
	const struct rk_name_style style = { .truncate = spill };
	int rc = r->ops->scan(r, t, RK_WANT_ALL, ret, err);

	if (rc == 0 && name_field(t) >= 0)
		rc = rk_names_open(*ret, ctx, (unsigned)name_field(t), &style, ret, err);
	if (rc == 0)
		rc = spill ? rk_sort_spill_open(*ret, ctx, ret, err) :
			     rk_sort_window_open(*ret, ctx, ret, err);
	if (rc == 0)
		rc = rk_times_open(*ret, ctx, ret, err);
	return rc;
}

/* Rows come in order, and each has a name that can be borrowed. */
static void drain(struct rk_source *rows, struct rk_context *ctx)
{
	struct rk_error err = { 0 };
	const struct rk_batch *b;
	int64_t last = INT64_MIN;

	while (rk_source_next(rows, &b, &err) > 0) {
		for (size_t i = 0; i < b->nrows; i++) {
			for (unsigned f = 0; f < b->schema->nfields; f++)
				if (b->schema->fields[f].type == RK_STR &&
				    rk_column_has(&b->cols[f], i) &&
				    !rk_strtab_borrow(ctx->names,
						      ((const uint32_t *)b->cols[f].data)[i], NULL))
					abort();
			if (b->schema->time_field < 0)
				continue;
			if (rk_sort_key_of(&b->cols[b->schema->time_field], i) < last)
				abort();
			last = rk_sort_key_of(&b->cols[b->schema->time_field], i);
		}
	}
}

static void read_all(const char *path, struct rk_context *ctx, bool spill)
{
	struct rk_error err = { 0 };
	struct rk_reader *r = NULL;

	if (rk_reader_open(path, ctx, &r, &err) < 0)
		return;
	for (int t = 0; t < RK_NTABLES; t++) {
		struct rk_source *rows = NULL;

		if (!(r->tables >> t & 1) ||
		    open_rows(r, (enum rk_table)t, ctx, spill, &rows, &err))
			continue;
		drain(rows, ctx);
		rk_source_close(rows);
	}
	rk_reader_close(r);
}

/* The threads live as long as the process. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const char *path = fuzz_file(data, len);
	static struct rk_pool *pool;
	struct rk_context ctx = { 0 };

	if (!path || (!pool && rk_pool_new(2, &pool, NULL) < 0))
		return 0;
	ctx.pool = pool;
	if (!rk_strtab_new(1 << 20, &ctx.names, NULL) && !rk_diag_new(&ctx.diag, NULL))
		read_all(path, &ctx, len % 8 == 1);
	rk_diag_free(ctx.diag);
	rk_strtab_free(ctx.names);
	return 0;
}
