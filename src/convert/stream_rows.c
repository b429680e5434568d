/* stream_rows.c - the rows that a stream is made of: as recorded, or in order of time. */
#include "convert/stream_rows.h"

#include <string.h>

#include "run/run_energy.h"
#include "table/ahead.h"
#include "table/sort.h"
#include "table/times.h"

/* What is to be read. */
struct wish {
	enum rk_table table;
	bool wide; /* kernels with counters and energy */
	bool all;
	uint64_t want;
};

static int find_field(const struct rk_schema *s, const char *name)
{
	for (unsigned f = 0; f < s->nfields; f++)
		if (!strcmp(s->fields[f].name, name))
			return (int)f;
	return -1;
}

/* Columns that the table itself does not have can only be those that kernels may have besides. */
static struct wish wish_of(enum rk_table t, const struct rk_stream_options *opt)
{
	const struct rk_schema *s = rk_table_schema(t);
	struct wish w = { t, !opt->columns && t == RK_KERNELS, !opt->columns, 0 };

	for (size_t i = 0; opt->columns && opt->columns[i]; i++) {
		int f = find_field(s, opt->columns[i]);

		if (f >= 0)
			w.want |= UINT64_C(1) << f;
		else
			w.wide = t == RK_KERNELS;
	}
	if (w.all || w.wide)
		w.want = RK_WANT_ALL;
	if (opt->sorted && s->time_field >= 0)
		w.want |= UINT64_C(1) << s->time_field;
	return w;
}

static int scan(struct rk_run *run, const struct wish *w, struct rk_source **ret,
		struct rk_error *err)
{
	return w->wide ? rk_run_scan_kernels(run, ret, err) :
			 rk_run_scan(run, w->table, w->want, ret, err);
}

static int drain(struct rk_source *rows, struct rk_error *err)
{
	const struct rk_batch *b;
	int rc;

	while ((rc = rk_source_next(rows, &b, err)) > 0)
		;
	rk_source_close(rows);
	return rc;
}

/*
 * Whether rows come so late that the window does not do: what was given to the user cannot be taken
 * back, so it has to be known before. Looks at the times alone where rows are as wide as usual; the
 * window's length depends on their width.
 */
static int look_ahead(struct rk_run *run, const struct wish *w, struct rk_error *err)
{
	const struct rk_schema *s = rk_table_schema(w->table);
	struct wish times = *w;
	struct rk_source *rows;
	size_t warnings;
	int rc;

	if (!w->wide || (!run->counters && !run->energy))
		times = (struct wish){ .table = w->table, .want = UINT64_C(1) << s->time_field };
	rk_diag_list(run->ctx.diag, &warnings);
	rc = scan(run, &times, &rows, err);
	if (rc == 0)
		rc = rk_sort_window_open(rows, &run->ctx, &rows, err);
	if (rc == 0)
		rc = drain(rows, err);
	rk_diag_reset(run->ctx.diag, warnings);
	return rc;
}

/* *spill: the window will not do. */
static int choose_sort(struct rk_run *run, const struct wish *w, bool *spill, struct rk_error *err)
{
	int rc = 0;

	*spill = !rk_run_rescannable(run, w->table);
	if (*spill || rk_table_schema(w->table)->time_field < 0)
		return 0;
	if (w->wide)
		rc = rk_run_counters(run, err);
	if (rc == 0)
		rc = look_ahead(run, w, err);
	if (rc != RK_E_UNSORTED)
		return rc;
	rk_error_clear(err);
	*spill = true;
	return 0;
}

int rk_rows_choose_sort(struct rk_run *run, enum rk_table t, bool *spill, struct rk_error *err)
{
	const struct rk_stream_options whole = { .sorted = true };
	const struct wish w = wish_of(t, &whole);

	return choose_sort(run, &w, spill, err);
}

static int sort(struct rk_run *run, bool spill, struct rk_source **rows, struct rk_error *err)
{
	int rc = spill ? rk_sort_spill_open(*rows, &run->ctx, rows, err) :
			 rk_sort_window_open(*rows, &run->ctx, rows, err);

	return rc == 0 && spill ? rk_ahead_open(*rows, &run->ctx, rows, err) : rc;
}

int rk_stream_rows(struct rk_run *run, enum rk_table t, const struct rk_stream_options *opt,
		   struct rk_source **ret, struct rk_error *err)
{
	const struct wish w = wish_of(t, opt);
	struct rk_source *rows;
	bool spill = false;
	int rc = 0;

	if (w.wide)
		rc = rk_run_energy_settle(run, err);
	if (rc == 0 && opt->sorted)
		rc = choose_sort(run, &w, &spill, err);
	if (rc == 0)
		rc = scan(run, &w, &rows, err);
	if (rc == 0 && opt->sorted)
		rc = sort(run, spill, &rows, err);
	/* what is odd about times is told to those who look at all of a table */
	if (rc == 0 && w.all)
		rc = rk_times_open(rows, &run->ctx, &rows, err);
	if (rc == 0)
		*ret = rows;
	return rc;
}
