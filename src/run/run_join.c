/*
 * run_join.c - join counters to kernels.
 *
 * Counters are joined to the dispatches of the same process by dispatch id. A Parquet file written
 * with counters already has them as columns, which are used.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "run/run.h"

/*
 * ---- the time of a dispatch that was measured several times ----
 *
 * rocprof-compute writes the counters of all its passes into one long file: each row has the times
 * of the pass it is from, and the dispatch has as many durations as there were passes. The median
 * over its rows is used.
 */

#define BIT(f) (UINT64_C(1) << (f))

enum { DISTINCT = 32 }; /* max distinct durations kept per dispatch: the first ones */

struct times {
	struct rk_matrix *seen; /* DISTINCT durations, then the count of each */
	struct rk_matrix *to;
	unsigned col;
};

typedef int each_fn(struct times *t, int64_t pid, int64_t dispatch, double duration,
		    struct rk_error *err);

/* Reads kernel rows; `repeats`: every row of a dispatch. */
static int each_time(struct rk_run *run, struct rk_found *f, bool repeats, struct times *t,
		     each_fn *use, struct rk_error *err)
{
	uint64_t want = BIT(RK_K_DISPATCH) | BIT(RK_K_PID) | BIT(RK_K_START) | BIT(RK_K_DURATION);
	struct rk_reader *r = NULL;
	struct rk_source *rows = NULL;
	const struct rk_batch *b;
	int rc = rk_run_open_table(run, f, RK_KERNELS, want, repeats, &r, &rows, err);

	while (rc >= 0 && (rc = rk_source_next(rows, &b, err)) > 0)
		for (size_t i = 0; rc >= 0 && i < b->nrows; i++)
			if (rk_column_has(&b->cols[RK_K_DISPATCH], i) &&
			    rk_column_has(&b->cols[RK_K_DURATION], i))
				rc = use(t, rk_batch_int(b, RK_K_PID, i, -1),
					 rk_batch_int(b, RK_K_DISPATCH, i, 0),
					 (double)rk_batch_int(b, RK_K_DURATION, i, 0), err);
	rk_source_close(rows);
	rk_reader_close(r);
	return rc;
}

static int note_time(struct times *t, int64_t pid, int64_t dispatch, double duration,
		     struct rk_error *err)
{
	(void)duration;
	return rk_matrix_note(t->seen, pid, dispatch, err);
}

static int count_time(struct times *t, int64_t pid, int64_t dispatch, double duration,
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
	if (rc < 0)
		return rc;
	return rk_matrix_put(t->seen, pid, dispatch, DISTINCT + i, n, err);
}

struct seen {
	double duration, n;
};

static int by_duration(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;

	return (x->duration > y->duration) - (x->duration < y->duration);
}

/* The value at index `at` (from 0) of the sorted rows. */
static double at_place(const struct seen *v, unsigned n, double at)
{
	unsigned i = 0;

	for (; i + 1 < n && at >= v[i].n; i++)
		at -= v[i].n;
	return v[i].duration;
}

static int settle_time(struct times *t, int64_t pid, int64_t dispatch, double duration,
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

static int repeated_times(struct rk_run *run, struct rk_found *f, struct rk_matrix *m, unsigned col,
			  struct rk_error *err)
{
	struct times t = { .to = m, .col = col };
	int rc = rk_matrix_new(&run->ctx, 2 * DISTINCT, &t.seen, err);

	if (rc < 0)
		return rc;
	if ((rc = each_time(run, f, true, &t, note_time, err)) == 0 &&
	    (rc = rk_matrix_layout(t.seen, err)) == 0 &&
	    (rc = each_time(run, f, true, &t, count_time, err)) == 0)
		rc = each_time(run, f, false, &t, settle_time, err);
	rk_matrix_free(t.seen);
	return rc;
}

bool rk_run_has_counters(const struct rk_found *f)
{
	return f->used >> RK_COUNTERS & 1 && !f->kept;
}

bool rk_run_counts_for(const struct rk_found *o, const struct rk_found *f)
{
	return rk_run_has_counters(o) && o->ordinal == f->ordinal &&
	       !strcmp(o->program, f->program);
}

bool rk_run_is_separate(const struct rk_found *o, const struct rk_found *f)
{
	size_t len = strlen(f->group);

	if (o == f)
		return false;
	/* each file of a rocprof-compute directory is a separate execution */
	return strcmp(o->group, f->group) || (len && f->group[len - 1] == '/');
}

int rk_run_open_table(struct rk_run *run, struct rk_found *f, enum rk_table t, uint64_t want,
		      bool repeats, struct rk_reader **ret, struct rk_source **ret_rows,
		      struct rk_error *err)
{
	int rc = rk_reader_open_as(f->path, f->ops, &run->ctx, ret, err);

	if (rc < 0)
		return rc;
	(*ret)->repeats = repeats;
	(*ret)->ordinals = f->ops->ordinals;
	rc = f->ops->scan(*ret, t, want, ret_rows, err);
	if (rc == 0 && t == RK_COUNTERS)
		rc = rk_run_keyed_open(f, ret_rows, err);
	return rc;
}

/* ---- the join ---- */

/*
 * Adds a column for each counter of a file, and one more for each that was measured before in
 * another pass. Counters from such a pass or one with a level counter also feed the plain column,
 * which has the first value.
 */
static int add_counters(struct rk_counter_set *set, struct rk_run *run, const struct rk_found *f,
			bool many, struct rk_error *err)
{
	for (size_t i = 0; i < f->ncounters; i++) {
		const char *name = rk_strtab_borrow(run->ctx.names, f->counters[i], NULL);
		uint32_t key = f->keys[i], own = f->counters[i];
		uint32_t again;
		size_t at = 0, key_at = 0;
		unsigned more;
		int column, rc;

		if (many && !strcmp(name, RK_LEVEL_ACCUMULATOR))
			own = key;
		rc = rk_counter_set_add(set, &run->ctx, own, err);
		if (rc < 0)
			return rc;
		column = rk_counter_set_next(set, own, &at);
		if (column < 0)
			continue;
		if (!set->columns[column].pass)
			set->columns[column].pass = (unsigned)(f->passes[i] + 1);
		if (rk_counter_set_next(set, key, &key_at) >= 0)
			continue;
		rc = rk_counter_set_feed(set, key, (unsigned)column, err);
		if (rc < 0)
			return rc;
		if (!f->again[i])
			continue;
		if ((rc = rk_run_again_name(run, own, f->passes[i], &again, err)) < 0 ||
		    (rc = rk_counter_set_column(set, again, false, &more, err)) < 0 ||
		    (rc = rk_counter_set_feed(set, key, more, err)) < 0)
			return rc;
		set->columns[more].pass = (unsigned)(f->passes[i] + 1);
	}
	return 0;
}

static int settle_counters(struct rk_run *run, struct rk_error *err)
{
	struct rk_counter_set *set;
	const char *level = NULL;
	bool many = false; /* several level counters: one column cannot hold all integrals */
	int rc = rk_run_counter_names(run, err);

	if (rc < 0)
		return rc;
	set = rk_calloc(1, sizeof(*set));
	if (!set)
		return rk_fail_nomem(err);
	for (size_t i = 0; i < run->nfound; i++) {
		const struct rk_found *f = &run->found[i];

		if (!f->level || !*f->level)
			continue;
		many |= level && strcmp(level, f->level) != 0;
		level = f->level;
	}
	for (size_t i = 0; i < run->nfound; i++) {
		rc = add_counters(set, run, &run->found[i], many, err);
		if (rc < 0)
			goto out;
	}
	if (set->n) {
		rc = rk_counter_set_schema(set, &run->ctx, err);
		if (rc < 0)
			goto out;
		run->counters.set = set;
		set = NULL;
	}
	run->counters.settled = true;
out:
	if (set)
		rk_counter_set_release(set);
	rk_free(set);
	return rc;
}

int rk_run_counters(struct rk_run *run, struct rk_error *err)
{
	char message[96];
	int rc;

	if (!run->counters.settled && (rc = settle_counters(run, err)) < 0)
		return rc;
	if (!run->counters.set || !run->counters.set->more)
		return 0;
	snprintf(message, sizeof(message),
		 "more than %d counters; the others are only in the counters table",
		 RK_JOIN_MAX_COUNTERS);
	rk_diag_most(run->ctx.diag, "many-counters", "", 0, 1, message);
	return 0;
}

/* Adds the dispatches that the process has counters for, or with `set` fills in their values. */
static int over_process(struct rk_run *run, const struct rk_found *f, struct rk_matrix *m,
			const struct rk_counter_set *set, struct rk_error *err)
{
	uint64_t want = BIT(RK_N_DISPATCH) | BIT(RK_N_PID);
	int rc = 0;

	if (set)
		want |= BIT(RK_N_COUNTER) | BIT(RK_N_VALUE);
	for (size_t i = 0; rc == 0 && i < run->nfound; i++) {
		struct rk_found *o = &run->found[i];
		struct rk_source *rows = NULL;
		struct rk_reader *r = NULL;

		if (!rk_run_counts_for(o, f))
			continue;
		rc = rk_run_open_table(run, o, RK_COUNTERS, want, false, &r, &rows, err);
		if (rc == 0 && set)
			rc = rk_join_fill(m, set, rows, err);
		else if (rc == 0)
			rc = rk_join_note(m, rows, err);
		rk_source_close(rows);
		rk_reader_close(r);
	}
	return rc;
}

/* Joins counters of the same process by dispatch id. */
static int process_matrix(struct rk_run *run, const struct rk_found *f,
			  const struct rk_counter_set *set, struct rk_matrix **ret,
			  struct rk_error *err)
{
	struct rk_matrix *m;
	int rc = rk_matrix_new(&run->ctx, (unsigned)set->width, &m, err);

	if (rc < 0)
		return rc;
	if ((rc = over_process(run, f, m, NULL, err)) < 0 || (rc = rk_matrix_layout(m, err)) < 0 ||
	    (rc = over_process(run, f, m, set, err)) < 0) {
		rk_matrix_free(m);
		return rc;
	}
	*ret = m;
	return 0;
}

/* *ret stays NULL if no counters can be joined. */
static int matrix_of(struct rk_run *run, struct rk_found *f, const struct rk_counter_set *set,
		     struct rk_matrix **ret, bool *by_order, struct rk_error *err)
{
	struct rk_error why = { 0 };
	bool separate = false;
	int rc;

	for (size_t i = 0; i < run->nfound && !separate; i++)
		separate = rk_run_counts_for(&run->found[i], f) &&
			   rk_run_is_separate(&run->found[i], f);
	if (separate)
		rc = rk_run_pass_matrix(run, f, set, ret, by_order, &why);
	else
		rc = process_matrix(run, f, set, ret, &why);
	*by_order |= f->ops->ordinals && rk_run_has_counters(f);
	if (rc == RK_E_LIMIT) {
		rk_diag_add(run->ctx.diag, "counters-not-joined", f->path, 0, 1,
			    "%s; counters are only in the counters table", why.message);
		return 0;
	}
	if (rc < 0 && err)
		*err = why;
	return rc;
}

int rk_run_join(struct rk_run *run, struct rk_found *f, const struct rk_counter_set *set,
		struct rk_source **rows, struct rk_error *err)
{
	struct rk_matrix *m = NULL;
	bool by_order = false;
	int rc;

	if (rk_run_has_columns(f))
		return rk_run_columns_open(run, f, set, rows, err);
	rc = matrix_of(run, f, set, &m, &by_order, err);
	/* a long file of rocprof-compute has kernels and counters of all passes in the same rows */
	if (rc == 0 && m && set->times && rk_run_has_counters(f) && f->ops->repeats_dispatches)
		rc = repeated_times(run, f, m, (unsigned)set->n - 1, err);
	if (rc < 0) {
		rk_source_close(*rows);
		*rows = NULL;
		rk_matrix_free(m);
		return rc;
	}
	return rk_join_open(*rows, m, set, by_order, rows, err);
}
