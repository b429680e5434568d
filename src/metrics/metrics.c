/* metrics.c - metrics from the counters and trace of a run. */
#include <math.h>
#include <regex.h>
#include <string.h>

#include "base/alloc.h"
#include "base/data.h"
#include "base/handle.h"
#include "base/num.h"
#include "metrics/metrics_impl.h"
#include "table/stages.h"

#define BIT(f) (UINT64_C(1) << (f))

#define SKIPPED UINT32_MAX /* the group of skipped rows */

/* The rows of one batch. */
struct rows {
	uint32_t groups[RK_BATCH_ROWS];
	uint8_t kinds[RK_BATCH_ROWS];
};

struct filter {
	regex_t re;
	bool used;
	struct rk_idmap known; /* 1: no, 2: yes */
};

struct context {
	struct rk_metric_work work;
	struct filter filter;
	struct rows *rows;
	struct rk_metric_order order;
	/* for the callback: values of one dispatch, and the index of each definition in them */
	double *values;
	uint32_t *at;
	size_t nvalues;
};

/* Matches each distinct name only once. */
static int filter_takes(struct filter *f, struct rk_run *run, uint32_t name, struct rk_error *err)
{
	uint32_t *known;

	if (!f->used)
		return 1;
	known = rk_idmap_at(&f->known, name);
	if (!known)
		return rk_fail_nomem(err);
	if (!*known) {
		const char *text = rk_strtab_borrow(run->ctx.names, name, NULL);

		*known = regexec(&f->re, text, 0, NULL, 0) ? 1 : 2;
	}
	return *known == 2;
}

/* ---- preparation before the first row ---- */

static int plans_make(struct rk_metric_work *w, struct rk_error *err)
{
	size_t n = w->kinds.n;

	w->plans = rk_calloc(n, sizeof(*w->plans));
	w->states = rk_calloc(n, sizeof(*w->states));
	w->places = rk_calloc(n, sizeof(*w->places));
	if (!w->plans || !w->states || !w->places)
		return rk_fail_nomem(err);
	for (size_t k = 0; k < n; k++) {
		const struct rk_metric_plan *p;
		int rc = rk_metric_plan_new(w->set, &w->kinds.v[k], w->opt->normal, w->of_sums,
					    w->names, &w->inputs, &w->plans[k], err);

		if (rc < 0)
			return rc;
		p = w->plans[k];
		rc = rk_program_state_new(p->program, &w->states[k], err);
		if (rc < 0)
			return rc;
		w->places[k] = rk_calloc(p->noutputs, sizeof(**w->places));
		if (!w->places[k])
			return rk_fail_nomem(err);
		for (size_t i = 0; i < p->noutputs; i++)
			w->places[k][i] = (unsigned)(p->outputs[i].def - w->set->defs);
	}
	return 0;
}

/*
 * Loads the definitions. Releases of rocprof-compute compute some numbers differently, and their
 * users compare ours with its own: the release in the folder's sysinfo.csv decides, of several the
 * oldest.
 */
static int load_definitions(struct rk_metric_work *w, struct rk_error *err)
{
	const struct rk_data_file *f = rk_data_find("metrics/versions.json");
	const struct rk_tree *version = NULL;
	struct rk_tree *table = NULL;
	int64_t release = 0, from;
	int rc;

	if (!f)
		return rk_fail(err, RK_E_UNSUPPORTED, "this build has no table of versions");
	rc = rk_tree_parse_json(f->text, f->len, f->name, &table, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < w->run->nfound; i++) {
		int v = w->run->found[i].release;

		if (v && (!release || v < release))
			release = v;
	}
	RK_TREE_EACH(v, rk_tree_get(table, "versions"))
	if (rk_tree_int(rk_tree_get(v, "from"), &from) && release && release >= from)
		version = v;
	w->of_sums = !strcmp(rk_tree_text(rk_tree_get(version, "average"), ""), "sums");
	rc = rk_metric_set_load(w->opt->metrics, rk_tree_get(version, "definitions"), &w->set, err);
	rk_tree_free(table);
	return rc;
}

static int prepare(struct context *c, struct rk_error *err)
{
	static const struct rk_agg_fields fields = { RK_K_NAME, RK_K_START, RK_K_DURATION,
						     RK_AGG_NO_KEY, RK_K_BARRIER };
	struct rk_metric_work *w = &c->work;
	const char *regex = w->opt->kernel_regex;
	struct rk_context *ctx = rk_run_context(w->run);
	int rc;

	if (regex) {
		char why[128];

		rc = regcomp(&c->filter.re, regex, REG_EXTENDED | REG_NOSUB);
		if (rc != 0) {
			regerror(rc, &c->filter.re, why, sizeof(why));
			return rk_fail(err, RK_E_USAGE, "invalid regular expression '%s': %s",
				       regex, why);
		}
		c->filter.used = true;
	}
	/* a profiler that reads counters serialises kernels: gaps are its overhead */
	w->traced = true;
	for (size_t i = 0; i < w->run->nfound; i++) {
		const struct rk_found *f = &w->run->found[i];
		size_t len = strlen(f->group);

		if (f->used >> RK_KERNELS & 1 && !rk_run_has_columns(f) &&
		    (f->tables >> RK_COUNTERS & 1 || (len && f->group[len - 1] == '/')))
			w->traced = false;
	}
	c->rows = rk_calloc(1, sizeof(*c->rows));
	if (!c->rows)
		return rk_fail_nomem(err);
	if ((rc = load_definitions(w, err)) < 0 ||
	    (rc = rk_kinds_find(w->run, w->opt, &w->kinds, err)) < 0 ||
	    (rc = rk_metric_names_of(w->run, &w->names, err)) < 0 ||
	    (rc = plans_make(w, err)) < 0 ||
	    (rc = rk_metric_columns_make(w->run, &w->inputs, &w->columns, err)) < 0 ||
	    (rc = rk_metric_block_init(&w->block, &w->columns, err)) < 0 ||
	    (rc = rk_metric_sums_init(&w->sums, w->set->ndefs, w->set->nchecks, err)) < 0 ||
	    (rc = rk_agg_new(&fields, ctx, &w->agg, err)) < 0)
		return rc;
	return rk_timeline_new(ctx, &w->timeline, err);
}

/* ---- rows ---- */

/* Does a row have any counters, and does it have all of them? */
static void count_coverage(struct rk_metric_work *w, const struct rk_metric_order *o)
{
	const struct rk_metric_block *k = &w->block;
	size_t counters = k->ncolumns - RK_MC_NFIXED - 1;
	uint16_t has[RK_PROGRAM_ROWS] = { 0 };

	for (size_t c = 0; c < counters; c++) {
		const double *v = k->columns[RK_MC_NFIXED + c];

		for (size_t i = 0; v && i < o->n; i++)
			has[i] = (uint16_t)(has[i] + !isnan(v[i]));
	}
	for (size_t i = 0, at = 0; i < o->nruns; i++)
		for (; at < o->runs[i].end; at++) {
			w->sums.groups[o->runs[i].group].counted += has[at] > 0;
			w->partial += has[at] > 0 && has[at] < counters;
		}
}

static int tell_dispatches(struct context *c, const struct rk_batch *b, size_t first, size_t n,
			   unsigned kind, struct rk_error *err)
{
	struct rk_metric_work *w = &c->work;
	const struct rk_metric_plan *p = w->plans[kind];

	for (size_t i = 0; i < n; i++) {
		struct rk_metric_dispatch d = {
			.kernel = rk_strtab_borrow(w->run->ctx.names,
						   rk_batch_id(b, RK_K_NAME, first + i), NULL),
			.dispatch_id = rk_batch_int(b, RK_K_DISPATCH, first + i, -1),
			.device_id = rk_batch_int(b, RK_K_DEVICE, first + i, -1),
			.start_ns = rk_batch_int(b, RK_K_START, first + i, -1),
			.duration_ns = rk_batch_int(b, RK_K_DURATION, first + i, -1),
			.values = c->values,
		};

		for (size_t m = 0; m < c->nvalues; m++)
			c->values[m] = NAN;
		for (size_t m = 0; m < p->noutputs; m++)
			c->values[c->at[w->places[kind][m]]] =
				rk_program_result(w->states[kind], p->outputs[m].result)[i];
		if (w->opt->dispatch(w->opt->arg, &d))
			return rk_fail(err, RK_E_CANCELLED, "stopped");
	}
	return 0;
}

/* Adds consecutive rows for one kind of chip, none of them skipped. */
static int add_stretch(struct context *c, const struct rk_batch *b, size_t first, size_t n,
		       const uint32_t *groups, unsigned kind, struct rk_error *err)
{
	struct rk_metric_work *w = &c->work;
	struct rk_metric_rows rows = { w->plans[kind], w->states[kind], w->places[kind], &c->order,
				       w->block.store };
	int rc = rk_metric_order_make(&c->order, first, groups, n, w->sums.n, !w->opt->dispatch,
				      err);

	if (rc < 0)
		return rc;
	rk_metric_block_load(&w->block, b, &c->order);
	rk_program_run(w->states[kind], w->block.columns, n);
	for (size_t i = 0; i < n; i++)
		w->untimed += !(rows.time[i] > 0);
	count_coverage(w, &c->order);
	w->rows += n;
	w->kind_rows[kind] += n;
	rc = rk_metric_sums_add(&w->sums, &rows, err);
	if (rc < 0 || !w->opt->dispatch)
		return rc;
	return tell_dispatches(c, b, first, n, kind, err);
}

static int add_rows(struct context *c, const struct rk_batch *b, size_t first, size_t n,
		    struct rk_error *err)
{
	struct rk_metric_work *w = &c->work;
	const struct rk_column *barrier = &b->cols[RK_K_BARRIER];
	struct rows *r = c->rows;
	int rc;

	/* which group and which kind of chip each row belongs to */
	for (size_t i = 0; i < n; i++) {
		size_t row = first + i;
		uint32_t name = rk_batch_id(b, RK_K_NAME, row);
		unsigned kind = 0;

		if (w->kinds.n > 1)
			kind = rk_kind_of(&w->kinds, rk_batch_int(b, RK_K_DEVICE, row, -1),
					  rk_batch_id(b, RK_K_NODE, row));
		r->kinds[i] = (uint8_t)kind;
		r->groups[i] = SKIPPED;
		if (rk_column_has(barrier, row) && ((const uint8_t *)barrier->data)[row])
			continue;
		rc = filter_takes(&c->filter, w->run, name, err);
		if (rc > 0)
			rc = rk_metric_sums_group(&w->sums, name, kind, &r->groups[i], err);
		if (rc < 0)
			return rc;
	}

	for (size_t i = 0, end; i < n; i = end) {
		end = i + 1;
		if (r->groups[i] == SKIPPED)
			continue;
		while (end < n && r->groups[end] != SKIPPED && r->kinds[end] == r->kinds[i])
			end++;
		rc = add_stretch(c, b, first + i, end - i, r->groups + i, r->kinds[i], err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static const uint64_t kernel_fields =
	BIT(RK_K_NAME) | BIT(RK_K_START) | BIT(RK_K_DURATION) | BIT(RK_K_BLOCK_X) |
	BIT(RK_K_BLOCK_Y) | BIT(RK_K_BLOCK_Z) | BIT(RK_K_SHARED_MEM) | BIT(RK_K_DEVICE) |
	BIT(RK_K_DISPATCH) | BIT(RK_K_PID) | BIT(RK_K_NODE) | BIT(RK_K_VGPR) |
	BIT(RK_K_ACCUM_VGPR) | BIT(RK_K_SGPR) | BIT(RK_K_SCRATCH) | BIT(RK_K_ITEMS_X) |
	BIT(RK_K_ITEMS_Y) | BIT(RK_K_ITEMS_Z) | BIT(RK_K_BARRIER);

static int add_kernels(struct context *c, struct rk_error *err)
{
	struct rk_metric_work *w = &c->work;
	/* bits above the fields select counters */
	uint64_t want = kernel_fields | rk_timeline_wants(RK_KERNELS) | rk_times_needs(RK_KERNELS) |
			~(BIT(RK_K_NFIELDS) - 1);
	const struct rk_batch *b;
	struct rk_source *rows;
	int rc = rk_run_scan_joined(w->run, &w->columns, want, &rows, err);

	if (rc < 0)
		return rc;
	rc = rk_times_open(rows, rk_run_context(w->run), &rows, err);
	if (rc < 0)
		return rc;
	while ((rc = rk_source_next(rows, &b, err)) > 0) {
		if ((rc = rk_agg_add(w->agg, b, err)) < 0 ||
		    (rc = rk_timeline_add(w->timeline, b, err)) < 0)
			goto out;
		rk_kinds_turn_to(&w->kinds, w->run, w->run->scanned);
		for (size_t i = 0; i < b->nrows; i += RK_PROGRAM_ROWS) {
			rc = add_rows(c, b, i, rk_min(b->nrows - i, RK_PROGRAM_ROWS), err);
			if (rc < 0)
				goto out;
		}
	}
out:
	rk_source_close(rows);
	return rc;
}

static int add_copies(struct rk_metric_work *w, struct rk_error *err)
{
	const struct rk_batch *b;
	struct rk_source *rows;
	int rc = rk_run_scan(w->run, RK_MEMCPY, rk_timeline_wants(RK_MEMCPY), &rows, err);

	if (rc < 0)
		return rc;
	while ((rc = rk_source_next(rows, &b, err)) > 0) {
		rc = rk_timeline_add(w->timeline, b, err);
		if (rc < 0)
			break;
	}
	rk_source_close(rows);
	if (rc < 0)
		return rc;
	return rk_timeline_finish(w->timeline, &w->trace, err);
}

/* Adds benchmark results of the chip from rocprof-compute's roofline.csv. */
static int add_measures(struct rk_metric_work *w, struct rk_error *err)
{
	size_t cap = 0;
	const struct rk_batch *b;
	struct rk_source *rows;
	int rc = rk_run_scan(w->run, RK_SAMPLES,
			     BIT(RK_S_METRIC) | BIT(RK_S_VALUE) | BIT(RK_S_TIME), &rows, err);

	if (rc < 0)
		return rc;
	while ((rc = rk_source_next(rows, &b, err)) > 0) {
		for (size_t i = 0; i < b->nrows; i++) {
			void *grown;

			/* skip samples over time */
			if (rk_column_has(&b->cols[RK_S_TIME], i) ||
			    !rk_column_has(&b->cols[RK_S_VALUE], i))
				continue;
			grown = rk_grow(w->measured, &cap, w->nmeasured + 1, sizeof(*w->measured));
			if (!grown) {
				rc = rk_fail_nomem(err);
				goto out;
			}
			w->measured = grown;
			w->measured[w->nmeasured++] = (struct rk_roof_measure){
				rk_strtab_borrow(w->run->ctx.names, rk_batch_id(b, RK_S_METRIC, i),
						 NULL),
				((const double *)b->cols[RK_S_VALUE].data)[i]
			};
		}
	}
out:
	rk_source_close(rows);
	return rc;
}

/* Passes the metrics that dispatches can have, for all kinds of chips, to the callback. */
static int tell_begin(struct context *c, struct rk_error *err)
{
	const struct rk_metric_work *w = &c->work;
	size_t ndefs = w->set->ndefs;
	struct rk_metric_value *v;
	int stop = 0;

	if (!w->opt->dispatch)
		return 0;
	c->values = rk_calloc(ndefs, sizeof(*c->values));
	c->at = rk_calloc(ndefs, sizeof(*c->at));
	v = rk_calloc(ndefs, sizeof(*v));
	if (!v || !c->values || !c->at) {
		rk_free(v);
		return rk_fail_nomem(err);
	}
	for (size_t d = 0; d < ndefs; d++)
		c->at[d] = SKIPPED;
	for (size_t k = 0; k < w->kinds.n; k++) {
		for (size_t i = 0; i < w->plans[k]->noutputs; i++) {
			const struct rk_metric_output *o = &w->plans[k]->outputs[i];

			if (c->at[w->places[k][i]] != SKIPPED)
				continue;
			c->at[w->places[k][i]] = (uint32_t)c->nvalues;
			v[c->nvalues++] = (struct rk_metric_value){ .id = o->def->id,
								    .group = o->def->group,
								    .unit = o->def->unit,
								    .peak = o->peak };
		}
	}
	if (w->opt->begin)
		stop = w->opt->begin(w->opt->arg, v, c->nvalues);
	rk_free(v);
	if (stop)
		return rk_fail(err, RK_E_CANCELLED, "stopped");
	return 0;
}

static void context_release(struct context *c)
{
	struct rk_metric_work *w = &c->work;

	for (size_t i = 0; i < w->kinds.n; i++) {
		if (w->states)
			rk_program_state_free(w->states[i]);
		if (w->plans)
			rk_metric_plan_free(w->plans[i]);
		if (w->places)
			rk_free(w->places[i]);
	}
	rk_free(w->states);
	rk_free(w->plans);
	rk_free(w->places);
	rk_kinds_release(&w->kinds);
	rk_formula_names_free(w->names);
	rk_metric_inputs_release(&w->inputs);
	rk_counter_set_release(&w->columns);
	rk_metric_block_release(&w->block);
	rk_metric_sums_release(&w->sums);
	rk_agg_free(w->agg);
	rk_timeline_free(w->timeline);
	rk_free(w->trace.devices);
	rk_free(w->measured);
	rk_metric_set_free(w->set);
	if (c->filter.used)
		regfree(&c->filter.re);
	rk_idmap_release(&c->filter.known);
	rk_free(c->rows);
	rk_free(c->order.first);
	rk_free(c->values);
	rk_free(c->at);
}

int rk_run_metrics(struct rk_run *run, const struct rk_metrics_options *opt,
		   struct rk_metrics **ret, struct rk_error *err)
{
	static const struct rk_metrics_options nothing;
	struct context c = { .work = { .run = run, .opt = opt ? opt : &nothing } };
	struct rk_run_callback callback;
	int rc;

	if (!ret)
		return rk_misuse(__func__, err);
	if (RK_CHECK_OPTIONS(opt, __func__, err) < 0 ||
	    (opt && rk_check_enum((unsigned)opt->normal, RK_PER_SECOND, __func__, err) < 0) ||
	    rk_run_enter(run, __func__, err) < 0)
		return RK_E_USAGE;
	rk_run_call_back(&callback, run);
	rc = rk_run_check_clocks(run, err);
	rk_run_tolerate(run);
	if (rc < 0 || (rc = rk_run_warn_ranks(run, err)) < 0 || (rc = prepare(&c, err)) < 0 ||
	    (rc = tell_begin(&c, err)) < 0 || (rc = add_kernels(&c, err)) < 0 ||
	    (rc = add_copies(&c.work, err)) < 0 || (rc = add_measures(&c.work, err)) < 0)
		goto out;
	rk_run_tell_clocks(run);
	rc = rk_metric_result(&c.work, ret, err);
out:
	context_release(&c);
	rk_run_called_back(&callback);
	rk_run_leave(run);
	return rc;
}
