/* run_energy.c - attribute sampled energy and power to the kernels of a run. */
#include "run/energy.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "run/run.h"

/* Drops warnings about the files: the scan that reads the tables for output reports them. */
static int add_table(struct rk_run *run, struct rk_energy *e, enum rk_table t, struct rk_error *err)
{
	const struct rk_batch *b;
	struct rk_source *rows = NULL;
	size_t warnings;
	int rc;

	if (!(rk_run_tables(run) >> t & 1))
		return 0;
	rk_diag_list(run->ctx.diag, &warnings);
	rc = rk_run_scan(run, t, rk_energy_wants(e, t), &rows, err);
	while (rc >= 0 && (rc = rk_source_next(rows, &b, err)) > 0)
		rc = rk_energy_add(e, b, err);
	rk_source_close(rows);
	rk_diag_reset(run->ctx.diag, warnings);
	return rc;
}

/* The GPUs that run.json lists: samples name them by their index there. */
static int add_addresses(struct rk_run *run, struct rk_energy *e, struct rk_error *err)
{
	for (size_t i = 0; i < run->records.n; i++) {
		const struct rk_run_record *r = &run->records.v[i];
		const char *name = r->text[RK_REC_NODE];
		uint32_t node = 0;
		int rc = 0;

		if (r->ngpus && name && name[0])
			rc = rk_strtab_adds(run->ctx.names, name, &node, err);
		for (size_t k = 0; rc == 0 && k < r->ngpus; k++)
			rc = rk_energy_address(e, node, r->gpus[k].index, r->gpus[k].pci, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

int rk_run_energy(struct rk_run *run, int key, struct rk_energy **ret, struct rk_error *err)
{
	uint32_t tables = rk_run_tables(run);
	struct rk_energy *e = NULL;
	int rc;

	*ret = NULL;
	if (!(tables >> RK_SAMPLES & 1) || !(tables >> RK_KERNELS & 1) ||
	    !rk_run_rescannable(run, RK_SAMPLES) || !rk_run_rescannable(run, RK_KERNELS) ||
	    !rk_run_rescannable(run, RK_AGENTS))
		return 0;
	if ((rc = rk_energy_new(&run->ctx, key, &e, err)) < 0 ||
	    (rc = add_table(run, e, RK_SAMPLES, err)) < 0 || !rk_energy_some(e) ||
	    (rc = add_addresses(run, e, err)) < 0 || (rc = add_table(run, e, RK_AGENTS, err)) < 0 ||
	    (rc = add_table(run, e, RK_KERNELS, err)) < 0 || (rc = rk_energy_finish(e, err)) < 0 ||
	    !rk_energy_found(e)) {
		rk_energy_free(e);
		return rc;
	}
	*ret = e;
	return 0;
}

int rk_run_energy_settle(struct rk_run *run, struct rk_error *err)
{
	if (run->energy.split)
		return 0;
	return rk_run_energy(run, RK_AGG_NO_KEY, &run->energy.split, err);
}

struct column {
	struct rk_source base;
	struct rk_source *rows;
	struct rk_energy *energy;
	struct rk_column *cols;
	struct rk_builder b; /* only energy_j */
	struct rk_batch batch;
};

static const struct rk_field energy_field = { "energy_j", RK_F64 };
static const struct rk_schema energy_schema = { RK_KERNELS, 1, &energy_field, -1 };

static int column_next(struct rk_source *base, const struct rk_batch **batch, struct rk_error *err)
{
	struct column *c = (struct column *)base;
	unsigned last = base->schema->nfields - 1;
	const struct rk_batch *b;
	double *v;
	int rc = rk_source_next(c->rows, &b, err);

	if (rc <= 0)
		return rc;
	if (c->b.cap < b->nrows) {
		rk_builder_release(&c->b);
		if (rk_builder_init(&c->b, &energy_schema, b->nrows, err) < 0)
			return RK_E_NOMEM;
	}
	rk_builder_reset(&c->b);
	v = rk_builder_column(&c->b, 0);
	if (!v)
		return rk_fail_nomem(err);
	for (size_t i = 0; i < b->nrows; i++) {
		v[i] = rk_energy_of_kernel(c->energy, b, i);
		if (isnan(v[i]) && !rk_builder_null(&c->b, 0, i))
			return rk_fail_nomem(err);
	}
	c->b.nrows = b->nrows;
	memcpy(c->cols, b->cols, last * sizeof(*c->cols));
	c->cols[last] = rk_builder_batch(&c->b)->cols[0];
	c->batch = (struct rk_batch){ base->schema, b->nrows, c->cols };
	*batch = &c->batch;
	return 1;
}

static void column_close(struct rk_source *base)
{
	struct column *c = (struct column *)base;

	rk_source_close(c->rows);
	rk_builder_release(&c->b);
	rk_free(c->cols);
	rk_free(c);
}

static const struct rk_source_ops column_ops = { .next = column_next, .close = column_close };

int rk_run_energy_open(struct rk_run *run, struct rk_source **rows, struct rk_error *err)
{
	const struct rk_schema *from = (*rows)->schema;
	struct rk_run_energy *to = &run->energy;
	unsigned n = from->nfields;
	struct column *c;
	int rc;

	if (!to->split)
		return 0;
	for (unsigned f = 0; f < n; f++)
		if (!strcmp(from->fields[f].name, energy_field.name))
			return 0;
	c = rk_calloc(1, sizeof(*c));
	if (!c) {
		rk_source_close(*rows);
		*rows = NULL;
		return rk_fail_nomem(err);
	}
	c->rows = *rows;
	c->energy = to->split;
	c->base = (struct rk_source){ &column_ops, &to->schema };
	*rows = NULL;

	/* kernels of a run always have the same schema */
	if (!to->fields) {
		to->fields = rk_calloc(n + 1, sizeof(*to->fields));
		if (!to->fields) {
			rc = rk_fail_nomem(err);
			goto fail;
		}
		memcpy(to->fields, from->fields, n * sizeof(*to->fields));
		to->fields[n] = energy_field;
		to->schema = *from;
		to->schema.fields = to->fields;
		to->schema.nfields = n + 1;
	}
	c->cols = rk_calloc(to->schema.nfields, sizeof(*c->cols));
	if (!c->cols) {
		rc = rk_fail_nomem(err);
		goto fail;
	}
	rc = rk_builder_init(&c->b, &energy_schema, RK_BATCH_ROWS, err);
	if (rc < 0)
		goto fail;
	*rows = &c->base;
	return 0;
fail:
	column_close(&c->base);
	return rc;
}
