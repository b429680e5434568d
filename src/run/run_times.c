/*
 * run_times.c - the time of a dispatch that was measured several times.
 *
 * rocprof-compute writes the counters of all its passes into one long file: each row has the times
 * of the pass it is from, and the dispatch has as many durations as there were passes. The median
 * over its rows stands for it.
 */
#include <math.h>
#include <stdlib.h>

#include "run/run.h"

#define BIT(f) (UINT64_C(1) << (f))

enum { DISTINCT = 32 }; /* durations of a dispatch that are told apart; the first ones */

struct times {
	struct rk_matrix *seen; /* DISTINCT durations, then how often each came */
	struct rk_matrix *to;
	unsigned col;
};

typedef int each_fn(struct times *t, int64_t pid, int64_t dispatch, double duration,
		    struct rk_error *err);

/* Rows of kernels; `repeats`: every row that the file has of a dispatch. */
static int each_row(struct rk_run *run, struct rk_found *f, bool repeats, struct times *t,
		    each_fn *use, struct rk_error *err)
{
	uint64_t want = BIT(RK_K_DISPATCH) | BIT(RK_K_PID) | BIT(RK_K_START) | BIT(RK_K_DURATION);
	struct rk_reader *r = NULL;
	struct rk_source *rows = NULL;
	const struct rk_batch *b;
	int rc = rk_reader_open_as(f->path, f->ops, &run->ctx, &r, err);

	if (rc == 0) {
		r->repeats = repeats;
		rc = f->ops->scan(r, RK_KERNELS, want, &rows, err);
	}
	while (rc >= 0 && rows && (rc = rk_source_next(rows, &b, err)) > 0)
		for (size_t i = 0; rc >= 0 && i < b->nrows; i++)
			if (rk_column_has(&b->cols[RK_K_DISPATCH], i) &&
			    rk_column_has(&b->cols[RK_K_DURATION], i))
				rc = use(t, rk_batch_int(b, RK_K_PID, i, -1),
					 rk_batch_int(b, RK_K_DISPATCH, i, 0),
					 (double)rk_batch_int(b, RK_K_DURATION, i, 0), err);
	rk_source_close(rows);
	rk_reader_close(r);
	return rc < 0 ? rc : 0;
}

static int note(struct times *t, int64_t pid, int64_t dispatch, double duration,
		struct rk_error *err)
{
	(void)duration;
	return rk_matrix_note(t->seen, pid, dispatch, err);
}

static int count(struct times *t, int64_t pid, int64_t dispatch, double duration,
		 struct rk_error *err)
{
	const double *row;
	unsigned i = 0;
	double n;
	int rc = rk_matrix_row(t->seen, pid, dispatch, &row, err);

	if (rc <= 0)
		return rc;
	while (i < DISTINCT && !isnan(row[i]) && row[i] != duration)
		i++;
	if (i == DISTINCT)
		return 0;
	n = isnan(row[i]) ? 1 : row[DISTINCT + i] + 1;
	rc = rk_matrix_put(t->seen, pid, dispatch, i, duration, err);
	return rc < 0 ? rc : rk_matrix_put(t->seen, pid, dispatch, DISTINCT + i, n, err);
}

struct seen {
	double duration, n;
};

static int by_duration(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;

	return (x->duration > y->duration) - (x->duration < y->duration);
}

/* The value at place `at`, counted from 0, of the sorted rows. */
static double at_place(const struct seen *v, unsigned n, double at)
{
	unsigned i = 0;

	for (; i + 1 < n && at >= v[i].n; i++)
		at -= v[i].n;
	return v[i].duration;
}

static int settle(struct times *t, int64_t pid, int64_t dispatch, double duration,
		  struct rk_error *err)
{
	struct seen v[DISTINCT];
	const double *row;
	double rows = 0;
	unsigned n = 0;
	int rc = rk_matrix_row(t->seen, pid, dispatch, &row, err);

	(void)duration;
	if (rc <= 0)
		return rc;
	for (; n < DISTINCT && !isnan(row[n]); n++) {
		v[n] = (struct seen){ row[n], row[DISTINCT + n] };
		rows += v[n].n;
	}
	if (n < 2)
		return 0;
	qsort(v, n, sizeof(*v), by_duration);
	return rk_matrix_put(
		t->to, pid, dispatch, t->col,
		(at_place(v, n, floor((rows - 1) / 2)) + at_place(v, n, floor(rows / 2))) / 2, err);
}

int rk_run_repeated_times(struct rk_run *run, struct rk_found *f, struct rk_matrix *m, unsigned col,
			  struct rk_error *err)
{
	struct times t = { .to = m, .col = col };
	int rc = rk_matrix_new(&run->ctx, 2 * DISTINCT, &t.seen, err);

	if (rc == 0)
		rc = each_row(run, f, true, &t, note, err);
	if (rc == 0)
		rc = rk_matrix_layout(t.seen, err);
	if (rc == 0)
		rc = each_row(run, f, true, &t, count, err);
	if (rc == 0)
		rc = each_row(run, f, false, &t, settle, err);
	rk_matrix_free(t.seen);
	return rc;
}
