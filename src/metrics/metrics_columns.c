/* metrics_columns.c - what formulas look at, as columns of doubles. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "metrics/metrics_impl.h"

/* The column of times that were measured more than once. */
#define TIME_COLUMN "(median time)"

static int add_names(struct rk_run *run, const struct rk_found *f, struct rk_counter_names *names,
		     struct rk_error *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < f->ncounters; i++) {
		const char *name = rk_strtab_borrow(run->ctx.names, f->counters[i], NULL);
		bool keyed = f->keys[i] != f->counters[i];
		bool integral = keyed && !strcmp(name, RK_LEVEL_ACCUMULATOR);

		if (integral)
			name = rk_strtab_borrow(run->ctx.names, f->keys[i], NULL);
		rc = rk_counter_names_add(names, name, keyed && !integral ? f->level : "",
					  f->keys[i], err);
	}
	return rc;
}

/* Kernels and their counters are in the same rows, but a pipe gives them once. */
static void tell_pipes(struct rk_run *run)
{
	for (size_t i = 0; i < run->nfound; i++) {
		const struct rk_found *f = &run->found[i];

		if (f->kept && f->used >> RK_COUNTERS & 1)
			rk_diag_most(run->ctx.diag, "counters-not-joined", f->path, 0, 1,
				     "counters from a pipe are not joined to kernels; save it to a "
				     "file first");
	}
}

int rk_metric_names_of(struct rk_run *run, struct rk_counter_names **ret, struct rk_error *err)
{
	struct rk_counter_names *names = NULL;
	int rc = rk_run_counter_names(run, err);

	if (rc == 0)
		rc = rk_counter_names_new(&names, err);
	for (size_t i = 0; rc == 0 && i < run->nfound; i++)
		rc = add_names(run, &run->found[i], names, err);
	tell_pipes(run);
	if (rc < 0)
		rk_counter_names_free(names);
	else
		*ret = names;
	return rc;
}

static int column_add(struct rk_run *run, const struct rk_metric_input *in,
		      struct rk_counter_set *set, struct rk_error *err)
{
	unsigned column;
	uint32_t name;
	int rc = rk_strtab_add(run->ctx.names, in->name, strlen(in->name), &name, err);

	if (rc == 0)
		rc = rk_counter_set_column(set, name, in->n > 1, &column, err);
	for (size_t i = 0; rc == 0 && i < in->n; i++)
		rc = rk_counter_set_feed(set, in->ids[i], column, err);
	return rc;
}

int rk_metric_columns_make(struct rk_run *run, const struct rk_metric_inputs *inputs,
			   struct rk_counter_set *set, struct rk_error *err)
{
	unsigned column;
	uint32_t name;
	int rc;

	if (inputs->n >= RK_JOIN_MAX_COUNTERS)
		return rk_fail(err, RK_E_LIMIT,
			       "the metrics need %zu counters; more than %d do not fit", inputs->n,
			       RK_JOIN_MAX_COUNTERS - 1);
	rc = rk_strtab_add(run->ctx.names, TIME_COLUMN, strlen(TIME_COLUMN), &name, err);
	for (size_t i = 0; rc == 0 && i < inputs->n; i++)
		rc = column_add(run, &inputs->v[i], set, err);
	if (rc == 0)
		rc = rk_counter_set_column(set, name, false, &column, err);
	set->times = true;
	return rc < 0 ? rc : rk_counter_set_schema(set, &run->ctx, err);
}

int rk_metric_block_init(struct rk_metric_block *k, const struct rk_counter_set *set,
			 struct rk_error *err)
{
	*k = (struct rk_metric_block){ .set = set, .ncolumns = RK_MC_NFIXED + set->n };
	k->columns = rk_calloc(k->ncolumns, sizeof(*k->columns));
	k->store = rk_calloc(k->ncolumns, RK_PROGRAM_ROWS * sizeof(*k->store));
	return k->columns && k->store ? 0 : rk_fail_nomem(err);
}

void rk_metric_block_release(struct rk_metric_block *k)
{
	rk_free((void *)k->columns);
	rk_free(k->store);
}

static double int_at(const struct rk_batch *b, unsigned field, size_t row)
{
	const struct rk_column *c = &b->cols[field];

	if (!rk_column_has(c, row))
		return NAN;
	return b->schema->fields[field].type == RK_I64 ? (double)((const int64_t *)c->data)[row] :
							 (double)((const int32_t *)c->data)[row];
}

/* Sizes of a grid that are not told count as 1, if x is. */
static double product_at(const struct rk_batch *b, unsigned x, size_t row)
{
	double p = int_at(b, x, row);

	for (unsigned i = 1; i < 3; i++) {
		double v = int_at(b, x + i, row);

		p *= isnan(v) ? 1 : v;
	}
	return p;
}

static const int fields[RK_MC_NFIXED] = {
	[RK_MC_TIME] = RK_K_DURATION,  [RK_MC_GRID] = RK_K_ITEMS_X,    [RK_MC_GROUP] = RK_K_BLOCK_X,
	[RK_MC_VGPR] = RK_K_VGPR,      [RK_MC_AGPR] = RK_K_ACCUM_VGPR, [RK_MC_SGPR] = RK_K_SGPR,
	[RK_MC_LDS] = RK_K_SHARED_MEM, [RK_MC_SCRATCH] = RK_K_SCRATCH,
};

static void load_fixed(struct rk_metric_block *k, const struct rk_batch *b,
		       const struct rk_metric_order *o)
{
	const struct rk_column *median = &b->cols[RK_K_NFIELDS + k->set->n - 1];

	for (unsigned c = 0; c < RK_MC_NFIXED; c++) {
		double *to = k->store + (size_t)c * RK_PROGRAM_ROWS;
		bool product = c == RK_MC_GRID || c == RK_MC_GROUP;

		k->columns[c] = b->cols[fields[c]].data ? to : NULL;
		for (size_t i = 0; k->columns[c] && i < o->n; i++)
			to[i] = product ? product_at(b, (unsigned)fields[c], o->rows[i]) :
					  int_at(b, (unsigned)fields[c], o->rows[i]);
	}
	for (size_t i = 0; i < o->n; i++) {
		if (rk_column_has(median, o->rows[i]))
			k->store[i] = ((const double *)median->data)[o->rows[i]];
		/* a kernel that ends before it begins has no time */
		else if (!k->columns[RK_MC_TIME] || k->store[i] < 0)
			k->store[i] = NAN;
	}
	k->columns[RK_MC_TIME] = k->store;
}

/* Of a value that is no number, or negative, nothing is left but that it was there. */
static void load_counter(struct rk_metric_block *k, const struct rk_batch *b, unsigned counter,
			 const struct rk_metric_order *o)
{
	const struct rk_column *c = &b->cols[RK_K_NFIELDS + counter];
	unsigned column = RK_MC_NFIXED + counter;
	double *to = k->store + (size_t)column * RK_PROGRAM_ROWS;
	const double *from = c->data;
	uint64_t damaged = 0;

	k->columns[column] = from ? to : NULL;
	for (size_t i = 0; from && i < o->n; i++) {
		double v = from[o->rows[i]];
		bool good = v >= 0 && v <= 1e300;

		damaged += !good;
		to[i] = good ? v : NAN;
	}
	for (size_t i = 0; from && (c->valid || damaged) && i < o->n; i++) {
		bool has = rk_column_has(c, o->rows[i]);

		if (has && isnan(to[i]) && !k->hurt[i]) {
			k->hurt[i] = 1;
			k->damaged++;
		}
		to[i] = has ? to[i] : NAN;
	}
}

void rk_metric_block_load(struct rk_metric_block *k, const struct rk_batch *b,
			  const struct rk_metric_order *o)
{
	memset(k->hurt, 0, o->n);
	load_fixed(k, b, o);
	for (unsigned i = 0; i + 1 < k->set->n; i++)
		load_counter(k, b, i, o);
}
