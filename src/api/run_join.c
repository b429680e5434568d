/*
 * run_join.c - which counters belong to which kernels.
 *
 * Counters are joined to the dispatches of the same process by dispatch id. A Parquet file that
 * was written with counters has them as columns already: those are taken over.
 */
#include <stdio.h>
#include <string.h>

#include "api/run.h"
#include "base/alloc.h"

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
		rc = use(arg, rows, err);
	rk_source_close(rows);
	rk_reader_close(r);
	return rc;
}

struct collect {
	struct rk_run *run;
	struct rk_counter_set *set;
};

static int collect_names(void *arg, struct rk_source *rows, struct rk_error *err)
{
	struct collect *c = arg;

	return rk_counter_set_scan(c->set, &c->run->ctx, rows, err);
}

/* Columns behind those of the kernels table, in a file that has such. */
static int collect_columns(struct collect *c, struct rk_found *f, struct rk_error *err)
{
	unsigned first = rk_table_schema(RK_KERNELS)->nfields;
	struct rk_reader *r = NULL;
	struct rk_source *rows = NULL;
	int rc = rk_reader_open_as(f->path, f->ops, &c->run->ctx, &r, err);

	if (rc == 0)
		rc = f->ops->scan(r, RK_KERNELS, 0, &rows, err);
	for (unsigned i = first; rc == 0 && i < rows->schema->nfields; i++) {
		const char *name = rows->schema->fields[i].name;
		uint32_t id;

		rc = rk_strtab_add(c->run->ctx.names, name, strlen(name), &id, err);
		if (rc == 0)
			rk_counter_set_add(c->set, &c->run->ctx, id);
	}
	rk_source_close(rows);
	rk_reader_close(r);
	return rc;
}

static bool has_columns(const struct rk_found *f)
{
	return f->used >> RK_KERNELS & 1 && !f->kept && !strcmp(f->ops->name, "parquet");
}

static int collect(struct collect *c, struct rk_error *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < c->run->nfound; i++) {
		struct rk_found *f = &c->run->found[i];

		if (rk_run_has_counters(f))
			rc = with_counters(c->run, f, BIT(RK_N_COUNTER), collect_names, c, err);
		if (rc == 0 && has_columns(f))
			rc = collect_columns(c, f, err);
	}
	return rc;
}

static int settle_counters(struct rk_run *run, struct rk_error *err)
{
	struct rk_counter_set *set = rk_calloc(1, sizeof(*set));
	struct collect c = { run, set };
	size_t warnings;
	int rc;

	if (!set)
		return rk_fail_nomem(err);
	/* what is odd about the file is told once, by the pass that writes its rows */
	rk_diag_list(run->ctx.diag, &warnings);
	rc = collect(&c, err);
	rk_diag_reset(run->ctx.diag, warnings);
	if (rc == 0 && set->n)
		rc = rk_counter_set_schema(set, &run->ctx, err);
	run->counted = rc == 0;
	if (rc == 0 && set->n) {
		run->counters = set;
		return 0;
	}
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
	int rc = rk_matrix_new(&run->ctx, set->n, &arg.m, err);

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

/* Columns of a file put where the run's schema has them. */
struct remap {
	struct rk_source base;
	struct rk_source *rows;
	int *from; /* per field of our schema: the file's column, -1 for none */
	struct rk_column *cols;
	struct rk_batch batch;
};

static int remap_next(struct rk_source *base, const struct rk_batch **batch, struct rk_error *err)
{
	struct remap *r = (struct remap *)base;
	const struct rk_batch *b;
	int rc = rk_source_next(r->rows, &b, err);

	if (rc <= 0)
		return rc;
	for (unsigned f = 0; f < base->schema->nfields; f++)
		r->cols[f] = r->from[f] < 0 ? (struct rk_column){ 0 } : b->cols[r->from[f]];
	r->batch = (struct rk_batch){ base->schema, b->nrows, r->cols };
	*batch = &r->batch;
	return 1;
}

static void remap_close(struct rk_source *base)
{
	struct remap *r = (struct remap *)base;

	rk_source_close(r->rows);
	rk_free(r->from);
	rk_free(r->cols);
	rk_free(r);
}

static const struct rk_source_ops remap_ops = { .next = remap_next, .close = remap_close };

static int find_field(const struct rk_schema *s, const char *name)
{
	for (unsigned f = 0; f < s->nfields; f++)
		if (!strcmp(s->fields[f].name, name))
			return (int)f;
	return -1;
}

static int remap_open(const struct rk_counter_set *set, struct rk_source **rows,
		      struct rk_error *err)
{
	struct remap *r = rk_calloc(1, sizeof(*r));

	if (r) {
		r->base = (struct rk_source){ &remap_ops, &set->schema };
		r->from = rk_calloc(set->schema.nfields, sizeof(*r->from));
		r->cols = rk_calloc(set->schema.nfields, sizeof(*r->cols));
	}
	if (!r || !r->from || !r->cols) {
		rk_source_close(*rows);
		*rows = NULL;
		if (r)
			remap_close(&r->base);
		return rk_fail_nomem(err);
	}
	for (unsigned f = 0; f < set->schema.nfields; f++)
		r->from[f] = find_field((*rows)->schema, set->schema.fields[f].name);
	r->rows = *rows;
	*rows = &r->base;
	return 0;
}

int rk_run_join(struct rk_run *run, struct rk_found *f, const struct rk_counter_set *set,
		struct rk_source **rows, struct rk_error *err)
{
	struct rk_matrix *m = NULL;
	bool by_order = false;
	int rc;

	if (has_columns(f))
		return remap_open(set, rows, err);
	rc = matrix_of(run, f, set, &m, &by_order, err);
	if (rc < 0) {
		rk_source_close(*rows);
		return rc;
	}
	return rk_join_open(*rows, m, set, by_order, rows, err);
}
