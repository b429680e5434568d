/* ahead.c - working ahead changes no row and loses no error. */
#include "table/stages.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "tap.h"
#include "world.h"

enum { SERIAL, SPARSE, LATE, NFIELDS };

static const struct rk_field fields[NFIELDS] = {
	{ "serial", RK_I64 },
	{ "sparse", RK_I32 },
	{ "late", RK_F64 },
};
static const struct rk_schema schema = { RK_KERNELS, NFIELDS, fields, -1 };

/* Row i has the serial i, a sparse i unless i divides by three, and `late` from row 5000 on. */
struct rows {
	size_t n, at, batch, fail_at;
	struct rk_builder b;
};

static void put_row(struct rk_builder *b, size_t i, size_t row)
{
	((int64_t *)rk_builder_column(b, SERIAL))[i] = (int64_t)row;
	((int32_t *)rk_builder_column(b, SPARSE))[i] = (int32_t)row;
	if (row % 3 == 0)
		rk_builder_null(b, SPARSE, i);
	if (row >= 5000)
		((double *)rk_builder_column(b, LATE))[i] = (double)row / 2;
}

static const struct rk_batch *next_rows(void *arg)
{
	struct rows *r = arg;
	size_t n = r->n - r->at < r->batch ? r->n - r->at : r->batch;

	/* batches keep to one side of row 5000, so that a column is there or not */
	if (r->at < 5000 && r->at + n > 5000)
		n = 5000 - r->at;
	if (!n)
		return NULL;
	rk_builder_release(&r->b);
	CHECK_I64(rk_builder_init(&r->b, &schema, n, NULL), 0);
	for (size_t i = 0; i < n; i++)
		put_row(&r->b, i, r->at + i);
	r->b.nrows = n;
	r->at += n;
	return rk_builder_batch(&r->b);
}

static bool right(const struct rk_batch *b, size_t i, size_t row)
{
	const struct rk_column *c = b->cols;

	return ((const int64_t *)c[SERIAL].data)[i] == (int64_t)row &&
	       rk_column_has(&c[SPARSE], i) == (row % 3 != 0) &&
	       rk_column_has(&c[LATE], i) == (row >= 5000) &&
	       (row < 5000 || ((const double *)c[LATE].data)[i] == (double)row / 2);
}

static void same_rows(unsigned threads, size_t n, size_t batch)
{
	struct rows r = { .n = n, .batch = batch };
	const struct rk_batch *b;
	struct rk_source *s = NULL;
	size_t row = 0, wrong = 0;
	struct world w;

	world_open(&w, threads);
	CHECK_I64(rk_ahead_open(world_source(&schema, next_rows, &r), &w.ctx, &s, NULL), 0);
	while (rk_source_next(s, &b, NULL) > 0)
		for (size_t i = 0; i < b->nrows; i++)
			wrong += !right(b, i, row++);
	CHECK_U64(row, n);
	CHECK_U64(wrong, 0);
	CHECK_I64(rk_source_next(s, &b, NULL), 0);
	rk_source_close(s);
	rk_builder_release(&r.b);
	world_close(&w);
}

TEST(working_ahead_changes_no_row)
{
	same_rows(1, 100000, 777);
	same_rows(2, 100000, 777);
	same_rows(3, 100000, 40000);
	same_rows(2, 1, 1);
	same_rows(2, 0, 1);
	same_rows(2, 16384, 8192);
}

TEST(a_source_that_works_ahead_can_be_closed_at_any_time)
{
	for (unsigned taken = 0; taken < 4; taken++) {
		struct rows r = { .n = 200000, .batch = 1000 };
		const struct rk_batch *b;
		struct rk_source *s = NULL;
		struct world w;

		world_open(&w, 2);
		CHECK_I64(rk_ahead_open(world_source(&schema, next_rows, &r), &w.ctx, &s, NULL), 0);
		for (unsigned i = 0; i < taken; i++)
			CHECK(rk_source_next(s, &b, NULL) > 0);
		rk_source_close(s);
		rk_builder_release(&r.b);
		world_close(&w);
	}
}

static int fails(struct rk_source *s, const struct rk_batch **b, struct rk_error *err)
{
	(void)s;
	(void)b;
	return rk_fail(err, RK_E_IO, "no more of this");
}

static void closes(struct rk_source *s)
{
	(void)s;
}

TEST(an_error_met_ahead_reaches_the_user)
{
	static const struct rk_source_ops ops = { fails, closes };
	struct rk_source bad = { &ops, &schema }, *s = NULL;
	const struct rk_batch *b;
	struct rk_error err = { 0 };
	struct world w;

	world_open(&w, 2);
	CHECK_I64(rk_ahead_open(&bad, &w.ctx, &s, NULL), 0);
	CHECK_I64(rk_source_next(s, &b, &err), RK_E_IO);
	CHECK_STR(err.message, "no more of this");
	rk_source_close(s);
	world_close(&w);
}

/* Jobs of the pool may overlap: one is under way while another is run. */
static void count(void *arg, size_t i, unsigned worker)
{
	(void)i;
	(void)worker;
	atomic_fetch_add((_Atomic size_t *)arg, 1);
}

TEST(a_job_runs_while_another_is_under_way)
{
	for (unsigned threads = 1; threads <= 4; threads++) {
		struct rk_pool *p = NULL;
		_Atomic size_t one = 0, two = 0;

		CHECK_I64(rk_pool_new(threads, &p, NULL), 0);
		for (unsigned round = 0; round < 200; round++) {
			struct rk_job job = { .fn = count, .arg = &one, .n = 50 };

			rk_pool_start(p, &job);
			rk_pool_run(p, 20, count, &two);
			rk_pool_finish(p, &job);
			CHECK_U64(one, 50u * (round + 1));
			CHECK_U64(two, 20u * (round + 1));
		}
		rk_pool_free(p);
	}
}
