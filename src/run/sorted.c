/* sorted.c - see sorted.h. */
#include "run/sorted.h"

#include "table/sort.h"
#include "table/stages.h"

int rk_run_sorted(struct rk_sorted *s, int (*make)(void *arg, struct rk_error *err), void *arg,
		  struct rk_error *err)
{
	size_t warnings;

	rk_diag_list(s->run->ctx.diag, &warnings);
	for (;;) {
		int rc = make(arg, err);

		if (rc != RK_E_UNSORTED || s->spill >> s->last & 1)
			return rc;
		rk_error_clear(err);
		rk_diag_reset(s->run->ctx.diag, warnings);
		s->spill |= RK_TABLE_BIT(s->last);
	}
}

/* A pipe cannot be read again to change the kind of sort. */
static bool spills(const struct rk_sorted *s, enum rk_table t)
{
	return s->spill >> t & 1 || !rk_run_rescannable(s->run, t);
}

int rk_sorted_rows(struct rk_sorted *s, struct rk_source **rows, struct rk_error *err)
{
	struct rk_context *ctx = &s->run->ctx;
	int rc;

	s->last = (*rows)->schema->table;
	if (s->run->times) {
		rc = s->run->retime(s->run->times, rows, err);
		if (rc < 0)
			return rc;
	}
	if (!spills(s, s->last))
		return rk_sort_window_open(*rows, ctx, rows, err);
	rc = rk_sort_spill_open(*rows, ctx, rows, err);
	return rc < 0 ? rc : rk_ahead_open(*rows, ctx, rows, err);
}

int rk_sorted_table(struct rk_sorted *s, enum rk_table t, struct rk_source **ret,
		    struct rk_error *err)
{
	struct rk_source *rows;
	int rc;

	if (t == RK_KERNELS)
		rc = rk_run_scan_kernels(s->run, &rows, err);
	else
		rc = rk_run_scan(s->run, t, RK_WANT_ALL, &rows, err);
	if (rc < 0 || (rc = rk_sorted_rows(s, &rows, err)) < 0)
		return rc;
	return rk_times_open(rows, &s->run->ctx, ret, err);
}

int rk_sorted_look(struct rk_sorted *s, enum rk_table t, bool wide, struct rk_error *err)
{
	const struct rk_schema *schema = rk_table_schema(t);
	struct rk_run *run = s->run;
	struct rk_source *rows;
	const struct rk_batch *b;
	size_t warnings;
	int rc;

	if (spills(s, t) || schema->time_field < 0)
		return 0;
	if (wide && (rc = rk_run_counters(run, err)) < 0)
		return rc;
	rk_diag_list(run->ctx.diag, &warnings);
	/* the window size depends on the row width; for normal rows reading the times is enough */
	if (wide && (run->counters.set || run->energy.split))
		rc = rk_run_scan_kernels(run, &rows, err);
	else
		rc = rk_run_scan(run, t, UINT64_C(1) << schema->time_field, &rows, err);
	if (rc == 0 && (rc = rk_sort_window_open(rows, &run->ctx, &rows, err)) == 0) {
		while ((rc = rk_source_next(rows, &b, err)) > 0)
			;
		rk_source_close(rows);
	}
	rk_diag_reset(run->ctx.diag, warnings);
	if (rc != RK_E_UNSORTED)
		return rc;
	rk_error_clear(err);
	s->spill |= RK_TABLE_BIT(t);
	return 0;
}
