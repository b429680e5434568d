/* metrics_input.c - inputs of formulas: the chips, and columns of doubles. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/num.h"
#include "metrics/metrics_impl.h"

/* ---- the chips that ran the kernels ---- */

static int kind_add(struct rk_kinds *k, const struct rk_metric_device *d, unsigned *ret,
		    struct rk_error *err)
{
	struct rk_metric_device *v;
	size_t i = 0;

	while (i < k->n && !rk_metric_device_equal(&k->v[i], d))
		i++;
	*ret = (unsigned)i;
	if (i < k->n)
		return 0;
	if (k->n == RK_KINDS_MAX)
		return rk_fail(err, RK_E_LIMIT,
			       "more than %d kinds of devices; describe the right one with "
			       "--sysinfo FILE",
			       RK_KINDS_MAX);
	v = rk_grow(k->v, &k->cap, k->n + 1, sizeof(*v));
	if (!v)
		return rk_fail_nomem(err);
	k->v = v;
	v[k->n++] = *d;
	return 0;
}

/* The user's options override the file. */
static int finish_device(struct rk_diag *diag, const struct rk_metrics_options *opt,
			 struct rk_metric_device *d, struct rk_error *err)
{
	struct rk_device_notes notes;
	char text[400];
	int rc;

	if (opt->arch && !rk_metric_arch_parse(opt->arch, d->arch))
		return rk_fail(err, RK_E_USAGE,
			       "unknown target or product '%s'; known: gfx906, gfx908, gfx90a, "
			       "gfx942, gfx950, gfx1030, gfx1100, gfx1151, gfx1201, ..., MI210, "
			       "MI300X, 'RX 7900 XTX', ...",
			       opt->arch);
	/* "MI300X" is more specific than its target */
	if (opt->arch && !*d->product && strncmp(opt->arch, "gfx", 3) != 0)
		snprintf(d->product, sizeof(d->product), "%s", opt->arch);
	rc = rk_metric_device_complete(d, &notes, err);
	if (rc < 0)
		return rc;
	if (*notes.assumed)
		rk_diag_most(diag, "assumed-device", "", 0, 1, notes.assumed);
	if (*notes.wrong) {
		snprintf(text, sizeof(text),
			 "the run describes an impossible %s; used instead, in parentheses: %s",
			 *d->product ? d->product : d->arch, notes.wrong);
		rk_diag_most(diag, "impossible-device", "", 0, 1, text);
	}
	return 0;
}

static int agent_add(struct rk_kinds *k, struct rk_run *run, struct rk_diag *diag,
		     const struct rk_metrics_options *opt, const struct rk_batch *b, size_t row,
		     struct rk_error *err)
{
	const struct rk_column *id = &b->cols[RK_G_DEVICE];
	struct rk_kind_agent a = { .any = !rk_column_has(id, row),
				   .device = -1,
				   .node = rk_batch_id(b, RK_G_NODE, row),
				   .file = run->scanned };
	struct rk_kind_agent *agents;
	struct rk_metric_device d;
	int rc;

	rk_metric_device_of_agent(b, row, run->ctx.names, &d);
	if ((rc = finish_device(diag, opt, &d, err)) < 0 ||
	    (rc = kind_add(k, &d, &a.kind, err)) < 0)
		return rc;
	if (!a.any)
		a.device = ((const int64_t *)id->data)[row];
	agents = rk_grow(k->agents, &k->cap_agents, k->nagents + 1, sizeof(*agents));
	if (!agents)
		return rk_fail_nomem(err);
	k->agents = agents;
	agents[k->nagents++] = a;
	return 0;
}

/* cpu: use agents that are not GPUs instead of GPUs. `diag` may be another run's. */
static int agents_of(struct rk_run *run, struct rk_diag *diag, const struct rk_metrics_options *opt,
		     bool cpu, struct rk_kinds *k, struct rk_error *err)
{
	const struct rk_batch *b;
	struct rk_source *rows;
	int rc = rk_run_scan(run, RK_AGENTS, RK_WANT_ALL, &rows, err);

	if (rc < 0)
		return rc;
	while ((rc = rk_source_next(rows, &b, err)) > 0) {
		for (size_t i = 0; i < b->nrows; i++) {
			uint32_t type = rk_batch_id(b, RK_G_TYPE, i);

			if (!strcmp(rk_strtab_borrow(run->ctx.names, type, NULL), "CPU") != cpu)
				continue;
			rc = agent_add(k, run, diag, opt, b, i, err);
			if (rc < 0)
				goto out;
		}
	}
out:
	rk_source_close(rows);
	return rc;
}

int rk_kinds_find(struct rk_run *run, const struct rk_metrics_options *opt, struct rk_kinds *ret,
		  struct rk_error *err)
{
	const struct rk_run_options how = { .threads = 1 };
	struct rk_metric_device d;
	struct rk_run *file = NULL;
	unsigned kind;
	int rc;

	ret->reading = SIZE_MAX;
	ret->described = opt->sysinfo;
	if (opt->sysinfo) {
		/*
		 * A file given by the user describes the devices of all nodes by number; its first
		 * device is used for numbers that it does not have.
		 */
		rc = rk_run_open(&opt->sysinfo, 1, &how, &file, err);
		if (rc == 0)
			rc = agents_of(file, run->ctx.diag, opt, false, ret, err);
		rk_run_close(file);
		if (rc < 0)
			return rc;
		if (!ret->nagents)
			return rk_fail(err, RK_E_FORMAT,
				       "'%s' describes no GPU; use a sysinfo.csv of "
				       "rocprof-compute or an agent_info.csv of rocprofv3",
				       opt->sysinfo);
		for (size_t i = 0; i < ret->nagents; i++)
			ret->agents[i].node = 0;
		return 0;
	}
	rc = agents_of(run, run->ctx.diag, opt, false, ret, err);
	/* OpenCL also runs kernels on CPUs */
	if (rc == 0 && !ret->n && !opt->arch)
		rc = agents_of(run, run->ctx.diag, opt, true, ret, err);
	if (rc < 0 || ret->n)
		return rc;
	rk_metric_device_clear(&d);
	rc = finish_device(run->ctx.diag, opt, &d, err);
	if (rc < 0)
		return rc;
	return kind_add(ret, &d, &kind, err);
}

/* How many folders two files have in common, and whether one process wrote both. */
static size_t nearness(const struct rk_found *a, const struct rk_found *b)
{
	size_t folders = 0;

	for (size_t i = 0; a->path[i] && a->path[i] == b->path[i]; i++)
		folders += a->path[i] == '/';
	return 2 * folders + !strcmp(a->group, b->group);
}

void rk_kinds_turn_to(struct rk_kinds *k, const struct rk_run *run, size_t file)
{
	const struct rk_found *to = &run->found[file];
	size_t most = 0;

	if (k->n < 2 || k->described || k->reading == file)
		return;
	k->reading = file;
	for (size_t i = 0; i < k->nagents; i++) {
		size_t near = nearness(&run->found[k->agents[i].file], to);

		most = rk_max(most, near);
	}
	for (size_t i = 0; i < k->nagents; i++)
		k->agents[i].near = nearness(&run->found[k->agents[i].file], to) == most;
}

/* The agent with that number, or the one that means all, or NULL. */
static const struct rk_kind_agent *agent_of(const struct rk_kinds *k, int64_t device, uint32_t node,
					    bool near)
{
	const struct rk_kind_agent *any = NULL;

	for (size_t i = 0; i < k->nagents; i++) {
		const struct rk_kind_agent *a = &k->agents[i];

		if ((near && !a->near) || (a->node && node && a->node != node))
			continue;
		if (!a->any && a->device == device)
			return a;
		if (a->any && !any)
			any = a;
	}
	return any;
}

unsigned rk_kind_of(const struct rk_kinds *k, int64_t device, uint32_t node)
{
	const struct rk_kind_agent *a = agent_of(k, device, node, true);

	if (!a)
		a = agent_of(k, device, node, false);
	if (!a && k->nagents)
		a = &k->agents[0];
	return a ? a->kind : 0;
}

void rk_kinds_release(struct rk_kinds *k)
{
	rk_free(k->v);
	rk_free(k->agents);
	*k = (struct rk_kinds){ 0 };
}

/* ---- columns ---- */

/* The column of times that were measured more than once. */
#define TIME_COLUMN "(median time)"

/* Passes with a level counter come after all others: they are second choice. */
enum { RK_LEVEL_PASSES = 1 << 24 };

/* Is it the column of a counter that was measured again in that pass: "NAME@2"? */
static bool is_again(const char *column, int pass, char ret_name[RK_COUNTER_NAME_MAX + 1])
{
	const char *at = strrchr(column, '@');
	char number[16];

	snprintf(number, sizeof(number), "@%d", pass);
	if (!at || pass < 0 || strcmp(at, number) != 0 || at - column > RK_COUNTER_NAME_MAX)
		return false;
	snprintf(ret_name, RK_COUNTER_NAME_MAX + 1, "%.*s", (int)(at - column), column);
	return true;
}

int rk_metric_names_of(struct rk_run *run, struct rk_formula_names **ret, struct rk_error *err)
{
	struct rk_strtab *texts = run->ctx.names;
	struct rk_formula_names *names = NULL;
	int rc;

	if ((rc = rk_run_counter_names(run, err)) < 0 ||
	    (rc = rk_formula_names_new(&names, err)) < 0)
		return rc;
	for (size_t n = 0; n < run->nfound; n++) {
		const struct rk_found *f = &run->found[n];

		for (size_t i = 0; i < f->ncounters; i++) {
			const char *name = rk_strtab_borrow(texts, f->counters[i], NULL);
			const char *pass = "";
			char plain[RK_COUNTER_NAME_MAX + 1];
			bool again = f->again[i] || is_again(name, f->passes[i], plain);

			/*
			 * a counter of a level pass: the level's integral, or one kept separate
			 * because of it
			 */
			if (f->keys[i] != f->counters[i] && *f->level) {
				if (strcmp(name, RK_LEVEL_ACCUMULATOR) == 0)
					name = rk_strtab_borrow(texts, f->keys[i], NULL);
				else
					pass = f->level;
			}
			/* a second measurement is only used together with the rest of its pass */
			rc = 0;
			if (!again || *pass)
				rc = rk_formula_names_add(names, name, pass, f->keys[i], err);
			if (rc == 0 && f->passes[i] >= 0)
				rc = rk_formula_names_in_pass(
					names, again && !f->again[i] ? plain : name,
					f->passes[i] + (*f->level ? RK_LEVEL_PASSES : 0),
					f->keys[i], err);
			if (rc < 0) {
				rk_formula_names_free(names);
				return rc;
			}
		}
		/*
		 * kernels and their counters are in the same rows, but a pipe can be read only once
		 */
		if (f->kept && f->used >> RK_COUNTERS & 1)
			rk_diag_most(run->ctx.diag, "counters-not-joined", f->path, 0, 1,
				     "cannot join counters from a pipe to kernels; save the "
				     "input to a file first");
	}
	*ret = names;
	return 0;
}

int rk_metric_columns_make(struct rk_run *run, const struct rk_metric_inputs *inputs,
			   struct rk_counter_set *set, struct rk_error *err)
{
	struct rk_strtab *names = run->ctx.names;
	unsigned column;
	uint32_t time, id;
	int rc;

	if (inputs->n >= RK_JOIN_MAX_COUNTERS)
		return rk_fail(err, RK_E_LIMIT, "the metrics need %zu counters; the limit is %d",
			       inputs->n, RK_JOIN_MAX_COUNTERS - 1);
	rc = rk_strtab_add(names, TIME_COLUMN, strlen(TIME_COLUMN), &time, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < inputs->n; i++) {
		const struct rk_metric_input *in = &inputs->v[i];

		if ((rc = rk_strtab_add(names, in->name, strlen(in->name), &id, err)) < 0 ||
		    (rc = rk_counter_set_column(set, id, in->n > 1, &column, err)) < 0)
			return rc;
		for (size_t k = 0; k < in->n; k++) {
			rc = rk_counter_set_feed(set, in->ids[k], column, err);
			if (rc < 0)
				return rc;
		}
	}
	rc = rk_counter_set_column(set, time, false, &column, err);
	if (rc < 0)
		return rc;
	set->times = true;
	return rk_counter_set_schema(set, &run->ctx, err);
}

int rk_metric_block_init(struct rk_metric_block *k, const struct rk_counter_set *set,
			 struct rk_error *err)
{
	*k = (struct rk_metric_block){ .set = set, .ncolumns = RK_MC_NFIXED + set->n };
	k->columns = rk_calloc(k->ncolumns, sizeof(*k->columns));
	k->store = rk_calloc(k->ncolumns, RK_PROGRAM_ROWS * sizeof(*k->store));
	if (!k->columns || !k->store)
		return rk_fail_nomem(err);
	return 0;
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
	if (b->schema->fields[field].type == RK_I64)
		return (double)((const int64_t *)c->data)[row];
	return (double)((const int32_t *)c->data)[row];
}

static const int fields[RK_MC_NFIXED] = {
	[RK_MC_TIME] = RK_K_DURATION,  [RK_MC_GRID] = RK_K_ITEMS_X,    [RK_MC_GROUP] = RK_K_BLOCK_X,
	[RK_MC_VGPR] = RK_K_VGPR,      [RK_MC_AGPR] = RK_K_ACCUM_VGPR, [RK_MC_SGPR] = RK_K_SGPR,
	[RK_MC_LDS] = RK_K_SHARED_MEM, [RK_MC_SCRATCH] = RK_K_SCRATCH,
};

/* Negative values and values that are not numbers become missing and count as damaged. */
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
	const struct rk_column *median = &b->cols[RK_K_NFIELDS + k->set->n - 1];

	memset(k->hurt, 0, o->n);
	for (unsigned c = 0; c < RK_MC_NFIXED; c++) {
		unsigned field = (unsigned)fields[c];
		double *to = k->store + (size_t)c * RK_PROGRAM_ROWS;

		k->columns[c] = b->cols[field].data ? to : NULL;
		if (!k->columns[c])
			continue;
		for (size_t i = 0; i < o->n; i++)
			to[i] = int_at(b, field, o->rows[i]);
		if (c != RK_MC_GRID && c != RK_MC_GROUP)
			continue;
		/* unknown sizes in y and z count as 1 if x is known */
		for (size_t i = 0; i < o->n; i++) {
			double y = int_at(b, field + 1, o->rows[i]);
			double z = int_at(b, field + 2, o->rows[i]);

			to[i] = to[i] * (isnan(y) ? 1 : y) * (isnan(z) ? 1 : z);
		}
	}
	for (size_t i = 0; i < o->n; i++) {
		if (rk_column_has(median, o->rows[i]))
			k->store[i] = ((const double *)median->data)[o->rows[i]];
		/* a kernel that ends before it starts has no time */
		else if (!k->columns[RK_MC_TIME] || k->store[i] < 0)
			k->store[i] = NAN;
	}
	k->columns[RK_MC_TIME] = k->store;
	for (unsigned i = 0; i + 1 < k->set->n; i++)
		load_counter(k, b, i, o);
}
