/* metric_plan.c - which metrics can be had from what was recorded, compiled for one chip. */
#include "metrics/formula/metric_plan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "metrics/formula/metric_lookup.h"
#include "metrics/metric_roofline.h"

static const char *const normals[] = {
	[RK_PER_KERNEL] = "1",
	[RK_PER_WAVE] = "waves",
	[RK_PER_CYCLE] = "G",
	[RK_PER_SECOND] = "T/1e9",
};

struct work {
	const struct rk_metric_set *set;
	struct rk_metric_lookup lookup;
	struct rk_names names;
	struct rk_arena *arena; /* of what is put together here */
	struct rk_metric_plan *plan;
};

/* The program's own words become the reason. */
static int set_absent(struct rk_metric_plan *p, const char *id, const char *reason,
		      struct rk_error *err)
{
	char *text = rk_strdup(reason);

	if (!text)
		return rk_fail_nomem(err);
	p->absent[p->nabsent++] = (struct rk_metric_absent){ id, text };
	return 0;
}

/* RK_NO_RESULT where a name is missing. */
static int add_maybe(struct work *w, const struct rk_expr *e, unsigned *ret, struct rk_error *err)
{
	struct rk_error why = { 0 };
	int rc = rk_program_add(w->plan->program, e, &w->names, ret, &why);

	if (rc == 0)
		return 0;
	*ret = RK_NO_RESULT;
	if (rc != RK_E_UNSUPPORTED && err)
		*err = why;
	return rc == RK_E_UNSUPPORTED ? 0 : rc;
}

static int peak_of(struct work *w, const struct rk_metric_def *def, double *ret,
		   struct rk_error *err)
{
	const struct rk_expr *e = rk_metric_case_for(def->peak, w->plan->device.arch);
	unsigned result;
	int rc;

	*ret = NAN;
	if (!e)
		return 0;
	rc = add_maybe(w, e, &result, err);
	if (rc == 0 && result != RK_NO_RESULT)
		*ret = rk_program_constant(w->plan->program, result);
	return rc;
}

static int add_metric(struct work *w, const struct rk_metric_def *def, struct rk_error *err)
{
	struct rk_metric_plan *p = w->plan;
	const struct rk_expr *e = rk_metric_case_for(def->expr, p->device.arch);
	struct rk_error why = { 0 };
	unsigned result;
	int rc;

	if (!e || !rk_metric_archs_has(def->archs, p->device.arch)) {
		snprintf(why.message, sizeof(why.message), "not defined for %s",
			 *p->device.arch ? p->device.arch : "an unknown target");
		return set_absent(p, def->id, why.message, err);
	}
	w->lookup.pass = def->pass;
	rc = rk_program_add(p->program, e, &w->names, &result, &why);
	if (rc == RK_E_UNSUPPORTED)
		return set_absent(p, def->id, why.message, err);
	if (rc < 0) {
		if (err)
			*err = why;
		return rc;
	}
	p->outputs[p->noutputs] = (struct rk_metric_output){ def, result, NAN };
	return peak_of(w, def, &p->outputs[p->noutputs++].peak, err);
}

/* A result that may be missing; `text` is made by us. */
static int add_text(struct work *w, const char *text, unsigned *ret, struct rk_error *err)
{
	const struct rk_expr *e;
	int rc = rk_expr_parse(w->arena, text, strlen(text), &e, err);

	*ret = RK_NO_RESULT;
	return rc < 0 ? rc : add_maybe(w, e, ret, err);
}

/* "matrix f16" is m_f16 in the terms, "vector f32" v_f32. */
static int add_pipe(struct work *w, const char *pipe, unsigned *ret, struct rk_error *err)
{
	const char *type = strrchr(pipe, ' ');
	char name[32];

	snprintf(name, sizeof(name), "%c_%s", pipe[0], type ? type + 1 : "");
	return add_text(w, name, ret, err);
}

static int add_totals(struct work *w, struct rk_error *err)
{
	static const char *const levels[RK_NLEVELS] = { "lds_bytes", "l1_bytes", "l1_l2_bytes",
							"fabric_total_bytes" };
	unsigned *totals = w->plan->totals;
	int rc = 0;

	for (unsigned i = 0; i < RK_NTOTALS; i++)
		totals[i] = RK_NO_RESULT;
	for (unsigned i = 0; rc == 0 && i < RK_NLEVELS; i++)
		rc = add_text(w, levels[i], &totals[RK_TOTAL_BYTES + i], err);
	for (unsigned i = 0; rc == 0 && rk_roof_pipes[i]; i++)
		rc = add_pipe(w, rk_roof_pipes[i], &totals[RK_TOTAL_OPS + i], err);
	return rc;
}

/* over - under * (1 + slack), and over / under */
static int add_check(struct work *w, const struct rk_metric_check *c, struct rk_metric_bound *ret,
		     struct rk_error *err)
{
	const char *arch = w->plan->device.arch;
	const struct rk_expr *over = rk_metric_case_for(c->over, arch);
	const struct rk_expr *under = rk_metric_case_for(c->under, arch);
	struct rk_expr slack = { .op = RK_EXPR_NUMBER, .number = 1 + c->slack, .index = -1 };
	struct rk_expr bound = { .op = RK_EXPR_MUL, .index = -1, .a = under, .b = &slack };
	struct rk_expr margin = { .op = RK_EXPR_SUB, .index = -1, .a = over, .b = &bound };
	struct rk_expr factor = { .op = RK_EXPR_DIV, .index = -1, .a = over, .b = under };
	int rc;

	*ret = (struct rk_metric_bound){ RK_NO_RESULT, RK_NO_RESULT };
	if (!over || !under || !rk_metric_archs_has(c->archs, arch))
		return 0;
	rc = add_maybe(w, &margin, &ret->margin, err);
	if (rc == 0 && ret->margin != RK_NO_RESULT)
		rc = add_maybe(w, &factor, &ret->factor, err);
	return rc;
}

static int plan_fill(struct work *w, struct rk_error *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < w->set->ndefs; i++)
		rc = add_metric(w, &w->set->defs[i], err);
	w->lookup.pass = "";
	for (size_t i = 0; rc == 0 && i < w->set->nchecks; i++)
		rc = add_check(w, &w->set->checks[i], &w->plan->checks[i], err);
	return rc < 0 ? rc : add_totals(w, err);
}

static int plan_memory(struct work *w, struct rk_error *err)
{
	struct rk_metric_plan *p = w->plan = rk_calloc(1, sizeof(*p));

	if (!p)
		return rk_fail_nomem(err);
	p->device = *w->lookup.device;
	p->outputs = rk_calloc(w->set->ndefs, sizeof(*p->outputs));
	p->absent = rk_calloc(w->set->ndefs, sizeof(*p->absent));
	p->checks = rk_calloc(w->set->nchecks, sizeof(*p->checks));
	if (!p->outputs || !p->absent || !p->checks)
		return rk_fail_nomem(err);
	return rk_program_new(&p->program, err);
}

int rk_metric_plan_new(const struct rk_metric_set *set, const struct rk_metric_device *device,
		       enum rk_normal normal, struct rk_counter_names *names,
		       struct rk_metric_inputs *inputs, struct rk_metric_plan **ret,
		       struct rk_error *err)
{
	struct work w = { .set = set, .lookup = { set, device, NULL, names, inputs, "", NULL, 0 } };
	int rc = rk_arena_new(&w.arena, err);

	w.names = (struct rk_names){ &w.lookup, rk_metric_look_up };
	if (rc == 0)
		rc = rk_expr_parse(w.arena, normals[normal], strlen(normals[normal]),
				   &w.lookup.normal, err);
	if (rc == 0)
		rc = plan_memory(&w, err);
	if (rc == 0)
		rc = plan_fill(&w, err);
	rk_free(w.lookup.instances);
	rk_arena_free(w.arena);
	if (rc < 0)
		rk_metric_plan_free(w.plan);
	else
		*ret = w.plan;
	return rc;
}

void rk_metric_plan_free(struct rk_metric_plan *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->nabsent; i++)
		rk_free((char *)p->absent[i].reason);
	rk_free(p->absent);
	rk_free(p->outputs);
	rk_free(p->checks);
	rk_program_free(p->program);
	rk_free(p);
}
