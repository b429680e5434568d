/* plan.c - compile the metrics that the recorded counters allow, for one chip. */
#include "metrics/formula/plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "metrics/metric_device.h"
#include "metrics/metric_roofline.h"

/* ---- the meaning of names in formulas, for one run on one chip ---- */

struct lookup {
	const struct rk_metric_set *set;
	const struct rk_metric_device *device;
	const struct rk_expr *normal; /* the meaning of D */
	struct rk_formula_names *names;
	struct rk_metric_inputs *inputs;
	const char *pass; /* pass of the current metric, or "" */
	int only;         /* the numbered pass to look in, -1: anywhere */
	int seen;         /* numbered pass of the counters found so far, -1: none, MANY_PASSES */
	bool any_chip;    /* unknown facts about the chip count as known */
	struct rk_name_instance *instances;
	size_t cap_instances;
};

enum {
	CHANNELS_PER_DIE = 16, /* of TCC, if numbered across all dies */
	MANY_PASSES = -2,
};

/* Names in formulas for columns of the kernels table. */
static const char *const fixed[RK_MC_NFIXED] = {
	[RK_MC_TIME] = "T",
	[RK_MC_GRID] = "Grid_Size",
	[RK_MC_GROUP] = "Workgroup_Size",
	[RK_MC_VGPR] = "Arch_VGPR",
	[RK_MC_AGPR] = "Accum_VGPR",
	[RK_MC_SGPR] = "SGPR",
	[RK_MC_LDS] = "LDS_Per_Workgroup",
	[RK_MC_SCRATCH] = "Scratch_Per_Workitem",
};

/* The column for the sum of these counters. */
static int input_of(struct rk_metric_inputs *in, const char *name, const uint32_t *ids, size_t n,
		    unsigned *ret, struct rk_error *err)
{
	struct rk_metric_input *v, *one;
	size_t i = 0;

	while (i < in->n && (in->v[i].n != n || memcmp(in->v[i].ids, ids, n * sizeof(*ids)) != 0))
		i++;
	*ret = RK_MC_NFIXED + (unsigned)i;
	if (i < in->n)
		return 0;
	v = rk_grow(in->v, &in->cap, in->n + 1, sizeof(*v));
	if (!v)
		return rk_fail_nomem(err);
	in->v = v;
	one = &v[in->n++];
	*one = (struct rk_metric_input){ rk_strdup(name), rk_calloc(n, sizeof(*ids)), n };
	if (!one->name || !one->ids)
		return rk_fail_nomem(err);
	memcpy(one->ids, ids, n * sizeof(*ids));
	return 0;
}

/* Removes all inputs from `from` on. */
static void inputs_drop(struct rk_metric_inputs *in, size_t from)
{
	for (; in->n > from; in->n--) {
		rk_free(in->v[in->n - 1].name);
		rk_free(in->v[in->n - 1].ids);
	}
}

void rk_metric_inputs_release(struct rk_metric_inputs *in)
{
	inputs_drop(in, 0);
	rk_free(in->v);
	*in = (struct rk_metric_inputs){ 0 };
}

static int as_instances(struct lookup *l, const char *name, const struct rk_counter_match *match,
			struct rk_name *ret, struct rk_error *err)
{
	struct rk_name_instance *v = rk_grow(l->instances, &l->cap_instances, match->n, sizeof(*v));
	int rc;

	if (!v)
		return rk_fail_nomem(err);
	l->instances = v;
	for (size_t i = 0; i < match->n; i++) {
		int64_t index = match->index[i];

		v[i] = (struct rk_name_instance){ .dims[RK_DIM_INSTANCE] = (uint32_t)index };
		/* L2 channels are numbered across the dies of a package */
		if (strncmp(name, "TCC", 3) == 0 && l->device->xcds > 1) {
			v[i].dims[RK_DIM_XCC] = (uint32_t)(index / CHANNELS_PER_DIE);
			v[i].dims[RK_DIM_INSTANCE] = (uint32_t)(index % CHANNELS_PER_DIE);
		}
		rc = input_of(l->inputs, name, &match->ids[i], 1, &v[i].column, err);
		if (rc < 0)
			return rc;
	}
	ret->kind = RK_NAME_INSTANCES;
	ret->instances = v;
	ret->ninstances = match->n;
	return 0;
}

static int find_counter(struct lookup *l, const char *name, enum rk_name_use use, int64_t index,
			struct rk_name *ret, struct rk_error *err)
{
	static const char *const once_per_die[] = { "GRBM_", "CPC_", "CPF_" };
	const char *pass = l->pass;
	struct rk_counter_match match;

	/* a separate pass has its own clocks, but percentages refer to those of the main pass */
	if (use == RK_USE_LEVEL || use == RK_USE_ONE || strncmp(name, "GRBM_", 5) == 0)
		pass = "";
	if (l->only >= 0)
		rk_formula_names_find_in(l->names, l->device->arch, name, use, index, l->only,
					 &match);
	else
		rk_formula_names_find(l->names, l->device->arch, name, use, index, pass, &match);
	if (!match.n)
		return 0;
	for (size_t i = 0; i < match.n; i++) {
		int of = rk_formula_names_pass_of(l->names, match.ids[i]);

		if (of >= 0 && of != l->seen)
			l->seen = l->seen == -1 ? of : MANY_PASSES;
	}
	if (use == RK_USE_INSTANCES && match.index[0] >= 0)
		return as_instances(l, name, &match, ret, err);
	/* with one die a block has one instance: its minimum and maximum equal its sum */
	for (size_t i = 0; i < sizeof(once_per_die) / sizeof(once_per_die[0]); i++)
		ret->single |= l->device->xcds == 1 &&
			       strncmp(name, once_per_die[i], strlen(once_per_die[i])) == 0;
	ret->kind = RK_NAME_COLUMN;
	return input_of(l->inputs, name, match.ids, match.n, &ret->column, err);
}

/* The function of struct rk_names; `arg` is a struct lookup. */
static int look_up(void *arg, const char *name, enum rk_name_use use, int64_t index,
		   struct rk_name *ret, struct rk_error *err)
{
	struct lookup *l = arg;
	char as[RK_COUNTER_NAME_MAX + 1];
	int rc;

	*ret = (struct rk_name){ .kind = RK_NAME_MISSING };
	rc = find_counter(l, name, use, index, ret, err);
	if (rc < 0 || ret->kind != RK_NAME_MISSING)
		return rc;
	rk_counter_name_spell(l->device->arch, name, as);
	if (use == RK_USE_LEVEL) {
		snprintf(ret->why, sizeof(ret->why), "the integral of %.96s was not collected", as);
		return 0;
	}
	if (use == RK_USE_ONE) {
		snprintf(ret->why, sizeof(ret->why), "%.96s[%lld] was not collected", as,
			 (long long)index);
		return 0;
	}
	for (unsigned i = 0; i < RK_MC_NFIXED; i++) {
		if (strcmp(fixed[i], name) == 0) {
			ret->kind = RK_NAME_COLUMN;
			ret->column = i;
			ret->single = true;
			return 0;
		}
	}
	if (strcmp(name, "D") == 0)
		ret->term = l->normal;
	else
		ret->term = rk_metric_term_for(l->set, name, l->device->arch);
	if (ret->term) {
		ret->kind = RK_NAME_TERM;
	} else if (rk_metric_device_constant(l->device, name, &ret->number)) {
		if (l->any_chip && isnan(ret->number))
			ret->number = 1;
		ret->kind = isnan(ret->number) ? RK_NAME_MISSING : RK_NAME_NUMBER;
		snprintf(ret->why, sizeof(ret->why), "%s of the chip is unknown", name);
	} else {
		snprintf(ret->why, sizeof(ret->why), "%.120s was not collected", as);
	}
	return 0;
}

/* ---- the plan ---- */

static const char *const normals[] = {
	[RK_PER_KERNEL] = "1",
	[RK_PER_WAVE] = "waves",
	[RK_PER_CYCLE] = "G",
	[RK_PER_SECOND] = "T/1e9",
};

struct work {
	struct lookup lookup;
	struct rk_names names;
	struct rk_metric_plan *plan;
	bool sides;
};

/* Adds an absent metric; the program's error message becomes the reason. */
static int set_absent(struct rk_metric_plan *p, const char *id, const char *reason,
		      struct rk_error *err)
{
	char *text = rk_strdup(reason);

	if (!text)
		return rk_fail_nomem(err);
	p->absent[p->nabsent++] = (struct rk_metric_absent){ id, text };
	return 0;
}

/*
 * Adds an expression. A counter that was measured in several passes has a value in each, and a
 * ratio of counters of one execution is better than one of two: the first pass that has everything
 * is used. If there is none, each counter is the first that was measured, and *ret_split is true if
 * they are from several passes. *ret_split may be NULL.
 */
static int add_expr(struct work *w, const struct rk_expr *e, unsigned *ret, bool *ret_split,
		    struct rk_error *err)
{
	struct lookup *l = &w->lookup;
	size_t before = l->inputs->n;
	int rc = RK_E_UNSUPPORTED;

	/* metrics of a level pass name it themselves */
	for (size_t i = 0; rc == RK_E_UNSUPPORTED && !*l->pass; i++) {
		l->only = rk_formula_names_pass(l->names, i);
		if (l->only < 0)
			break;
		rc = rk_program_add(w->plan->program, e, &w->names, ret, NULL);
		if (rc == RK_E_UNSUPPORTED)
			inputs_drop(l->inputs, before);
	}
	l->only = -1;
	l->seen = -1;
	if (rc == RK_E_UNSUPPORTED)
		rc = rk_program_add(w->plan->program, e, &w->names, ret, err);
	if (ret_split)
		*ret_split = l->seen == MANY_PASSES;
	return rc;
}

/* *ret is RK_NO_RESULT if a name is missing. */
static int add_maybe(struct work *w, const struct rk_expr *e, unsigned *ret, struct rk_error *err)
{
	struct rk_error why = { 0 };
	int rc = add_expr(w, e, ret, NULL, &why);

	if (rc == 0)
		return 0;
	*ret = RK_NO_RESULT;
	if (rc == RK_E_UNSUPPORTED)
		return 0;
	if (err)
		*err = why;
	return rc;
}

/* A / B, or a number minus that. The expression itself was added before, so its names are known. */
static int add_sides(struct work *w, const struct rk_expr *e, struct rk_metric_output *o,
		     struct rk_error *err)
{
	struct rk_expr whole = { .op = RK_EXPR_MUL, .index = -1 };
	struct rk_expr rest = { .op = RK_EXPR_SUB, .index = -1, .a = &whole };
	const struct rk_expr *over;
	unsigned first;
	int rc;

	while (e->op == RK_EXPR_OR) {
		rc = add_maybe(w, e->a, &first, err);
		if (rc < 0)
			return rc;
		e = first == RK_NO_RESULT ? e->b : e->a;
	}
	over = e->a;
	if (e->op == RK_EXPR_SUB && e->a->op == RK_EXPR_NUMBER && e->b->op == RK_EXPR_DIV) {
		whole.a = e->a;
		e = e->b;
		whole.b = e->b;
		rest.b = e->a;
		over = &rest;
	}
	if (e->op != RK_EXPR_DIV)
		return 0;
	rc = add_maybe(w, over, &o->over, err);
	return rc < 0 ? rc : add_maybe(w, e->b, &o->under, err);
}

static int add_metric(struct work *w, const struct rk_metric_def *def, struct rk_error *err)
{
	struct rk_metric_plan *p = w->plan;
	const struct rk_expr *e = rk_metric_case_for(def->expr, p->device.arch);
	const struct rk_expr *peak = rk_metric_case_for(def->peak, p->device.arch);
	struct rk_error why = { 0 };
	struct rk_metric_output *o;
	unsigned result;
	bool split;
	int rc;

	if (!e || !rk_metric_archs_has(def->archs, p->device.arch)) {
		const char *reason = rk_metric_reason_for(w->lookup.set, def, p->device.arch);

		snprintf(why.message, sizeof(why.message), "not defined for %s%s%s",
			 *p->device.arch ? p->device.arch : "an unknown target", reason ? ": " : "",
			 reason ? reason : "");
		return set_absent(p, def->id, why.message, err);
	}
	w->lookup.pass = def->pass;
	rc = add_expr(w, e, &result, &split, &why);
	if (rc == RK_E_UNSUPPORTED)
		return set_absent(p, def->id, why.message, err);
	if (rc < 0) {
		if (err)
			*err = why;
		return rc;
	}
	o = &p->outputs[p->noutputs++];
	*o = (struct rk_metric_output){ def, result, NAN, split, RK_NO_RESULT, RK_NO_RESULT };
	if (w->sides && (rc = add_sides(w, e, o, err)) < 0)
		return rc;
	if (!peak)
		return 0;
	rc = add_maybe(w, peak, &result, err);
	if (rc < 0)
		return rc;
	if (result != RK_NO_RESULT)
		o->peak = rk_program_constant(p->program, result);
	return 0;
}

static int add_totals(struct work *w, struct rk_error *err)
{
	static const char *const levels[RK_NLEVELS] = { "lds_bytes", "roof_l1_bytes",
							"roof_l2_bytes", "fabric_total_bytes" };
	unsigned *totals = w->plan->totals;
	struct rk_expr e = { .op = RK_EXPR_NAME, .index = -1 };
	int rc;

	for (unsigned i = 0; i < RK_NTOTALS; i++)
		totals[i] = RK_NO_RESULT;
	for (unsigned i = 0; i < RK_NLEVELS; i++) {
		e.name = levels[i];
		rc = add_maybe(w, &e, &totals[RK_TOTAL_BYTES + i], err);
		if (rc < 0)
			return rc;
	}
	for (unsigned i = 0; rk_roof_pipes[i]; i++) {
		char name[32];

		/* "matrix f16" is m_f16 in the terms, "vector f32" is v_f32 */
		snprintf(name, sizeof(name), "%c_%s", rk_roof_pipes[i][0],
			 strrchr(rk_roof_pipes[i], ' ') + 1);
		e.name = name;
		w->plan->countable[RK_TOTAL_OPS + i] =
			rk_metric_term_for(w->lookup.set, name, w->plan->device.arch);
		rc = add_maybe(w, &e, &totals[RK_TOTAL_OPS + i], err);
		if (rc < 0)
			return rc;
	}
	return 0;
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
	if (rc < 0 || ret->margin == RK_NO_RESULT)
		return rc;
	return add_maybe(w, &factor, &ret->factor, err);
}

int rk_metric_plan_new(const struct rk_metric_set *set, const struct rk_metric_device *device,
		       enum rk_normal normal, bool sides, struct rk_formula_names *names,
		       struct rk_metric_inputs *inputs, struct rk_metric_plan **ret,
		       struct rk_error *err)
{
	struct rk_metric_plan *p = rk_calloc(1, sizeof(*p));
	struct work w = { .plan = p, .sides = sides };
	struct rk_arena *arena = NULL;
	int rc;

	w.lookup = (struct lookup){ .set = set,
				    .device = device,
				    .names = names,
				    .inputs = inputs,
				    .pass = "",
				    .only = -1 };
	w.names = (struct rk_names){ &w.lookup, look_up };
	if (!p)
		return rk_fail_nomem(err);
	p->device = *device;
	p->outputs = rk_calloc(set->ndefs, sizeof(*p->outputs));
	p->absent = rk_calloc(set->ndefs, sizeof(*p->absent));
	p->checks = rk_calloc(set->nchecks, sizeof(*p->checks));
	if (!p->outputs || !p->absent || !p->checks) {
		rc = rk_fail_nomem(err);
		goto out;
	}
	if ((rc = rk_arena_new(&arena, err)) < 0 ||
	    (rc = rk_expr_parse(arena, normals[normal], strlen(normals[normal]), &w.lookup.normal,
				err)) < 0 ||
	    (rc = rk_program_new(&p->program, err)) < 0)
		goto out;
	for (size_t i = 0; i < set->ndefs; i++) {
		rc = add_metric(&w, &set->defs[i], err);
		if (rc < 0)
			goto out;
	}
	w.lookup.pass = "";
	for (size_t i = 0; i < set->nchecks; i++) {
		rc = add_check(&w, &set->checks[i], &p->checks[i], err);
		if (rc < 0)
			goto out;
	}
	rc = add_totals(&w, err);
	if (rc < 0)
		goto out;
	*ret = p;
	p = NULL;
out:
	rk_free(w.lookup.instances);
	rk_arena_free(arena);
	rk_metric_plan_free(p);
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

static int by_id(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* The ids of the counters that the program reads, each once. Free *ret with rk_free. */
static int ids_read(const struct rk_program *p, const struct rk_metric_inputs *in, uint32_t **ret,
		    size_t *ret_n, struct rk_error *err)
{
	size_t ncolumns, n = 0, unique = 0;
	const unsigned *columns = rk_program_columns(p, &ncolumns);
	uint32_t *ids;

	for (size_t i = 0; i < in->n; i++)
		n += in->v[i].n;
	ids = rk_calloc(n + 1, sizeof(*ids));
	if (!ids)
		return rk_fail_nomem(err);
	n = 0;
	for (size_t i = 0; i < ncolumns; i++) {
		const struct rk_metric_input *v;

		if (columns[i] < RK_MC_NFIXED)
			continue;
		v = &in->v[columns[i] - RK_MC_NFIXED];
		memcpy(ids + n, v->ids, v->n * sizeof(*ids));
		n += v->n;
	}
	qsort(ids, n, sizeof(*ids), by_id);
	for (size_t i = 0; i < n; i++)
		if (!unique || ids[unique - 1] != ids[i])
			ids[unique++] = ids[i];
	*ret = ids;
	*ret_n = unique;
	return 0;
}

int rk_metric_reads(const struct rk_metric_set *set, const char *arch,
		    struct rk_formula_names *names, rk_metric_reads_fn *use, void *arg,
		    struct rk_error *err)
{
	/* per dispatch */
	static const struct rk_expr one = { .op = RK_EXPR_NUMBER, .number = 1, .index = -1 };
	struct rk_metric_device chip;
	struct rk_metric_inputs inputs = { 0 };
	struct lookup l = { .set = set,
			    .device = &chip,
			    .normal = &one,
			    .names = names,
			    .inputs = &inputs,
			    .only = -1,
			    .any_chip = true };
	const struct rk_names look = { &l, look_up };
	int rc = 0;

	rk_metric_device_clear(&chip);
	snprintf(chip.arch, sizeof(chip.arch), "%s", arch);
	for (size_t i = 0; rc == 0 && i < set->ndefs + set->nchecks; i++) {
		const struct rk_metric_def *def = i < set->ndefs ? &set->defs[i] : NULL;
		const struct rk_metric_check *c = def ? NULL : &set->checks[i - set->ndefs];
		struct rk_expr both = { .op = RK_EXPR_SUB, .index = -1 };
		const struct rk_expr *e = &both;
		struct rk_program *program = NULL;
		struct rk_error why = { 0 };
		uint32_t *ids = NULL;
		unsigned result;
		size_t n = 0;

		if (def) {
			e = rk_metric_case_for(def->expr, arch);
		} else {
			both.a = rk_metric_case_for(c->over, arch);
			both.b = rk_metric_case_for(c->under, arch);
			if (!both.a || !both.b)
				continue;
		}
		if (!e || !rk_metric_archs_has(def ? def->archs : c->archs, arch))
			continue;
		l.pass = def ? def->pass : "";
		/* a program for each, because equal parts are shared */
		rc = rk_program_new(&program, err);
		if (rc < 0)
			break;
		rc = rk_program_add(program, e, &look, &result, &why);
		if (rc == 0) {
			rc = ids_read(program, &inputs, &ids, &n, err);
			if (rc == 0)
				rc = use(arg, def ? def->id : NULL, ids, n, err);
		} else if (rc == RK_E_UNSUPPORTED) {
			rc = 0;
		} else if (err) {
			*err = why;
		}
		rk_free(ids);
		inputs_drop(&inputs, 0);
		rk_program_free(program);
	}
	rk_metric_inputs_release(&inputs);
	rk_free(l.instances);
	return rc;
}
