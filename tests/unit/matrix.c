/* matrix.c - counter values by dispatch: what was put comes back, the rest is missing. */
#include "table/matrix.h"

#include <math.h>

#include "base/alloc.h"
#include "tap.h"
#include "world.h"

enum { COLS = 5, ROWS = 20000 };

static double value_of(int64_t pid, int64_t id, unsigned col)
{
	return (double)(pid * 1000003 + id * 7 + col) / 3;
}

static bool was_put(int64_t id, unsigned col)
{
	return (id + col) % 3 != 0;
}

TEST(a_matrix_gives_back_what_was_put)
{
	struct rk_matrix *m = NULL;
	const double *row;
	struct world w;
	size_t wrong = 0;

	world_open(&w, 1);
	CHECK_I64(rk_matrix_new(&w.ctx, COLS, &m, NULL), 0);
	for (int64_t pid = 7; pid < 9; pid++)
		for (int64_t id = 1; id <= ROWS; id++)
			CHECK_I64(rk_matrix_note(m, pid, id, NULL), 0);
	CHECK_I64(rk_matrix_layout(m, NULL), 0);
	/* backwards, so that blocks are written, dropped and read again */
	for (int64_t id = ROWS; id >= 1; id--)
		for (int64_t pid = 7; pid < 9; pid++)
			for (unsigned c = 0; c < COLS; c++)
				if (was_put(id, c))
					rk_matrix_put(m, pid, id, c, value_of(pid, id, c), NULL);
	for (int64_t pid = 7; pid < 9; pid++)
		for (int64_t id = 1; id <= ROWS; id++) {
			CHECK_I64(rk_matrix_row(m, pid, id, &row, NULL), 1);
			for (unsigned c = 0; c < COLS; c++)
				wrong += was_put(id, c) ? row[c] != value_of(pid, id, c) :
							  !isnan(row[c]);
		}
	CHECK_U64(wrong, 0);
	CHECK_I64(rk_matrix_row(m, 7, ROWS + 1, &row, NULL), 0);
	CHECK_I64(rk_matrix_row(m, 9, 1, &row, NULL), 0);
	CHECK_I64(rk_matrix_row(m, -1, 1, &row, NULL), 0);
	rk_matrix_free(m);
	world_close(&w);
}

TEST(one_process_needs_no_number)
{
	struct rk_matrix *m = NULL;
	const double *row;
	struct world w;

	world_open(&w, 1);
	CHECK_I64(rk_matrix_new(&w.ctx, 1, &m, NULL), 0);
	CHECK_I64(rk_matrix_note(m, 42, 3, NULL), 0);
	CHECK_I64(rk_matrix_layout(m, NULL), 0);
	CHECK_I64(rk_matrix_put(m, 42, 3, 0, 0.0, NULL), 0);
	CHECK_I64(rk_matrix_row(m, -1, 3, &row, NULL), 1);
	CHECK(row[0] == 0.0);
	CHECK_I64(rk_matrix_row(m, 41, 3, &row, NULL), 0);
	rk_matrix_free(m);
	world_close(&w);
}

TEST(numbers_too_far_apart_are_not_dispatches)
{
	static const int64_t far[][2] = { { 1, INT64_MAX },
					  { INT64_MIN, INT64_MAX },
					  { 0, 1 << 30 } };
	struct world w;

	world_open(&w, 1);
	for (unsigned i = 0; i < 3; i++) {
		struct rk_matrix *m = NULL;
		struct rk_error err = { 0 };

		CHECK_I64(rk_matrix_new(&w.ctx, 2, &m, NULL), 0);
		CHECK_I64(rk_matrix_note(m, 1, far[i][0], NULL), 0);
		CHECK_I64(rk_matrix_note(m, 1, far[i][1], NULL), 0);
		CHECK_I64(rk_matrix_layout(m, &err), RK_E_LIMIT);
		rk_matrix_free(m);
	}
	world_close(&w);
}

TEST(a_matrix_survives_every_failed_allocation)
{
	struct rk_matrix *m = NULL;
	struct rk_error err;
	struct world w;
	int rc = RK_E_NOMEM;

	world_open(&w, 1);
	for (uint64_t n = 1; rc < 0; n++) {
		err = (struct rk_error){ 0 };
		rk_alloc_fail_after(n);
		rc = rk_matrix_new(&w.ctx, 3, &m, &err);
		rk_alloc_fail_after(0);
		CHECK(rc == 0 || err.code == RK_E_NOMEM);
	}
	rk_matrix_free(m);
	world_close(&w);
}
