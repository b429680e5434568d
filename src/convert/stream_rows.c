/* stream_rows.c - the rows that a stream is made of: as recorded, or in order of time. */
#include "convert/stream_rows.h"

#include <string.h>

#include "run/run_energy.h"
#include "run/sorted.h"
#include "table/times.h"

/* What is to be read. */
struct wish {
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
	struct wish w = { !opt->columns && t == RK_KERNELS, !opt->columns, 0 };

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

int rk_stream_rows(struct rk_run *run, enum rk_table t, const struct rk_stream_options *opt,
		   struct rk_source **ret, struct rk_error *err)
{
	const struct wish w = wish_of(t, opt);
	struct rk_sorted sorted = { .run = run };
	struct rk_source *rows;
	int rc = 0;

	if (w.wide)
		rc = rk_run_energy_settle(run, err);
	/* what was given to the user cannot be taken back */
	if (rc == 0 && opt->sorted)
		rc = rk_sorted_look(&sorted, t, w.wide, err);
	if (rc == 0)
		rc = w.wide ? rk_run_scan_kernels(run, &rows, err) :
			      rk_run_scan(run, t, w.want, &rows, err);
	if (rc == 0 && opt->sorted)
		rc = rk_sorted_rows(&sorted, &rows, err);
	/* what is odd about times is told to those who look at all of a table */
	if (rc == 0 && w.all)
		rc = rk_times_open(rows, &run->ctx, &rows, err);
	if (rc == 0)
		*ret = rows;
	return rc;
}
