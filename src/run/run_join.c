/*
 * run_join.c - which counters belong to which kernels.
 *
 * Counters are joined to the dispatches of the same process by dispatch id. A Parquet file that
 * was written with counters has them as columns already: those are taken over.
 */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "run/run.h"

#define BIT(f) (UINT64_C(1) << (f))

/* One pass over the counters in a file, given to `use`. */
static int with_counters(struct rk_run *run, struct rk_found *f, uint64_t want,
			 int (*use)(void *arg, struct rk_source *rows, struct rk_error *err),
			 void *arg, struct rk_error *err)
{
	struct rk_reader *r = NULL;
	struct rk_source *rows = NULL;
	int rc = rk_reader_open_as(f->path, f->ops, &run->ctx, &r, err);

	if (rc == 0)
		rc = f->ops->scan(r, RK_COUNTERS, want, &rows, err);
	if (rc == 0)
		rc = rk_run_keyed_open(f, &rows, err);
	if (rc == 0)
		rc = use(arg, rows, err);
	rk_source_close(rows);
	rk_reader_close(r);
	return rc;
}

/* More than one level counter was integrated: one column cannot hold all the integrals. */
static bool many_levels(const struct rk_run *run)
{
	const char *level = "";

	for (size_t i = 0; i < run->nfound; i++) {
		const struct rk_found *f = &run->found[i];

		if (!f->level || !*f->level)
			continue;
		if (*level && strcmp(level, f->level))
			return true;
		level = f->level;
	}
	return false;
}

static int column_of(struct rk_counter_set *set, struct rk_run *run, uint32_t name, int *ret,
		     struct rk_error *err)
{
	size_t at = 0;
	int rc = rk_counter_set_add(set, &run->ctx, name, err);

	*ret = rk_counter_set_next(set, name, &at);
	return rc;
}

/* A column for each counter of a file; what a pass with a level counter has feeds it too. */
static int add_counters(struct rk_counter_set *set, struct rk_run *run, const struct rk_found *f,
			bool many, struct rk_error *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < f->ncounters; i++) {
		const char *name = rk_strtab_borrow(run->ctx.names, f->counters[i], NULL);
		bool integral = many && !strcmp(name, RK_LEVEL_ACCUMULATOR);
		uint32_t key = f->keys[i];
		size_t at = 0;
		int column;

		rc = column_of(set, run, integral ? key : f->counters[i], &column, err);
		if (rc == 0 && column >= 0 && rk_counter_set_next(set, key, &at) < 0)
			rc = rk_counter_set_feed(set, key, (unsigned)column, err);
	}
	return rc;
}

static int settle_counters(struct rk_run *run, struct rk_error *err)
{
	struct rk_counter_set *set = rk_calloc(1, sizeof(*set));
	int rc = set ? rk_run_counter_names(run, err) : rk_fail_nomem(err);
	bool many = rc == 0 && many_levels(run);

	for (size_t i = 0; rc == 0 && i < run->nfound; i++)
		rc = add_counters(set, run, &run->found[i], many, err);
	if (rc == 0 && set->n)
		rc = rk_counter_set_schema(set, &run->ctx, err);
	run->counted = rc == 0;
	if (rc == 0 && set->n) {
		run->counters = set;
		return 0;
	}
	if (set)
		rk_counter_set_release(set);
	rk_free(set);
	return rc;
}

int rk_run_counters(struct rk_run *run, struct rk_error *err)
{
	char message[96];
	int rc = run->counted ? 0 : settle_counters(run, err);

	if (rc < 0 || !run->counters || !run->counters->more)
		return rc;
	snprintf(message, sizeof(message),
		 "more than %d counters; the others are in the counters table only",
		 RK_JOIN_MAX_COUNTERS);
	rk_diag_most(run->ctx.diag, "many-counters", "", 0, 1, message);
	return 0;
}

struct fill {
	struct rk_matrix *m;
	const struct rk_counter_set *set;
};

static int note(void *arg, struct rk_source *rows, struct rk_error *err)
{
	return rk_join_note(((struct fill *)arg)->m, rows, err);
}

static int fill(void *arg, struct rk_source *rows, struct rk_error *err)
{
	struct fill *f = arg;

	return rk_join_fill(f->m, f->set, rows, err);
}

static int over_process(struct rk_run *run, const struct rk_found *f, uint64_t want,
			int (*use)(void *arg, struct rk_source *rows, struct rk_error *err),
			struct fill *arg, struct rk_error *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < run->nfound; i++) {
		struct rk_found *o = &run->found[i];

		if (rk_run_counts_for(o, f))
			rc = with_counters(run, o, want, use, arg, err);
	}
	return rc;
}

/* Counters of the same process, by dispatch id. */
static int process_matrix(struct rk_run *run, const struct rk_found *f,
			  const struct rk_counter_set *set, struct rk_matrix **ret,
			  struct rk_error *err)
{
	struct fill arg = { .set = set };
	uint64_t ids = BIT(RK_N_DISPATCH) | BIT(RK_N_PID);
	int rc = rk_matrix_new(&run->ctx, (unsigned)set->width, &arg.m, err);

	if (rc < 0)
		return rc;
	rc = over_process(run, f, ids, note, &arg, err);
	if (rc == 0)
		rc = rk_matrix_layout(arg.m, err);
	if (rc == 0)
		rc = over_process(run, f, ids | BIT(RK_N_COUNTER) | BIT(RK_N_VALUE), fill, &arg,
				  err);
	if (rc < 0)
		rk_matrix_free(arg.m);
	else
		*ret = arg.m;
	return rc;
}

static bool in_other_passes(const struct rk_run *run, const struct rk_found *f)
{
	for (size_t i = 0; i < run->nfound; i++)
		if (rk_run_counts_for(&run->found[i], f) && rk_run_separate(&run->found[i], f))
			return true;
	return false;
}

/* *ret stays NULL when there are no counters that can be joined. */
static int matrix_of(struct rk_run *run, struct rk_found *f, const struct rk_counter_set *set,
		     struct rk_matrix **ret, bool *by_order, struct rk_error *err)
{
	struct rk_error why = { 0 };
	int rc = in_other_passes(run, f) ? rk_run_pass_matrix(run, f, set, ret, by_order, &why) :
					   process_matrix(run, f, set, ret, &why);

	if (rc == RK_E_LIMIT) {
		rk_diag_add(run->ctx.diag, "counters-not-joined", f->path, 0, 1,
			    "%s; counters are in the counters table only", why.message);
		return 0;
	}
	if (rc < 0 && err)
		*err = why;
	return rc;
}

/* A long file of rocprof-compute: kernels and the counters of all passes in the same rows. */
static bool has_repeats(const struct rk_found *f)
{
	return rk_run_has_counters(f) && f->ops->repeats_dispatches;
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
	if (rc == 0 && m && set->times && has_repeats(f))
		rc = rk_run_repeated_times(run, f, m, (unsigned)set->n - 1, err);
	if (rc < 0) {
		rk_source_close(*rows);
		*rows = NULL;
		rk_matrix_free(m);
		return rc;
	}
	return rk_join_open(*rows, m, set, by_order, rows, err);
}
