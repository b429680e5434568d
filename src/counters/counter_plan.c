/* counter_plan.c - the public calls that say what exists, and how many runs it costs. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/handle.h"
#include "base/list.h"
#include "base/words.h"
#include "counters/counter_ask.h"
#include "counters/counter_items.h"
#include "counters/counter_resolve.h"
#include "rockit/counters.h"

/* The public part first; strings of the plan are in `texts`. */
struct plan {
	struct rk_counter_plan pub;
	struct rk_list texts;
	uint64_t *hashes; /* of the names that were asked for, beside the checks */
	size_t checks_max;
};

static void destroy_plan(void *arg)
{
	struct plan *plan = arg;
	struct rk_counter_plan *p = arg; /* its first member */

	if (!p)
		return;
	for (size_t i = 0; i < p->nchecks; i++)
		rk_free((void *)p->checks[i].use);
	for (size_t i = 0; i < p->npasses; i++)
		rk_free((void *)p->passes[i].counters);
	rk_free(p->checks);
	rk_free(p->passes);
	rk_free(plan->hashes);
	rk_list_release(&plan->texts);
	rk_free(plan);
}

void rk_counter_plan_free(struct rk_counter_plan *p)
{
	rk_handle_close(RK_HANDLE_COUNTER_PLAN, p);
}

/* A copy that lives as long as the plan; NULL when out of memory. */
static const char *own(struct plan *p, const char *text)
{
	rk_list_add(&p->texts, text);
	return p->texts.bad ? NULL : p->texts.v[p->texts.n - 1];
}

static struct rk_counter_check *find_check(const struct plan *p, const char *asked)
{
	uint64_t hash = rk_name_hash(asked);

	for (size_t i = 0; i < p->pub.nchecks; i++)
		if (p->hashes[i] == hash && strcmp(p->pub.checks[i].asked, asked) == 0)
			return &p->pub.checks[i];
	return NULL;
}

static struct rk_counter_check *new_check(struct plan *p)
{
	if (p->pub.nchecks == p->checks_max) {
		size_t max = p->checks_max ? p->checks_max * 2 : 32;
		struct rk_counter_check *more = rk_reallocn(p->pub.checks, max, sizeof(*more));
		uint64_t *hashes = rk_reallocn(p->hashes, max, sizeof(*hashes));

		p->pub.checks = more ? more : p->pub.checks;
		p->hashes = hashes ? hashes : p->hashes;
		if (!more || !hashes)
			return NULL;
		p->checks_max = max;
	}
	return &p->pub.checks[p->pub.nchecks];
}

/* An answer in the plan's own memory. */
static int add_check(struct plan *p, const char *asked, const struct rk_counter_answer *a,
		     struct rk_error *err)
{
	struct rk_counter_check *c = new_check(p);
	const char **use = c ? rk_calloc(a->use.n + 1, sizeof(*use)) : NULL;

	if (!use)
		return rk_fail_nomem(err);
	c->use = use;
	c->status = a->status;
	c->asked = own(p, asked);
	c->reason = own(p, a->reason);
	p->hashes[p->pub.nchecks++] = rk_name_hash(asked);
	for (size_t i = 0; i < a->use.n; i++)
		use[i] = own(p, a->use.v[i]);
	return p->texts.bad ? rk_fail_nomem(err) : 0;
}

static int unknown_target(const struct rk_counter_table *t, const char *arch, struct rk_error *err)
{
	const char *names[RK_TARGETS_MAX + 1] = { NULL };
	const struct rk_counter_target *target;

	for (size_t i = 0; (target = rk_counter_table_target(t, i)) != NULL; i++)
		names[i] = target->name;
	return rk_fail_unknown(err, "target", arch, names);
}

/* Where the plan is being made: *p is not NULL once the target is known. */
static int begin(const char *arch, const struct rk_counter_table **table,
		 const struct rk_counter_target **target, struct plan **ret, struct rk_error *err)
{
	struct plan *p;

	*table = rk_counter_table_get(err);
	if (!*table)
		return err && err->code ? err->code : RK_E_NOMEM;
	*target = rk_counter_table_target_find(*table, arch);
	if (!*target)
		return unknown_target(*table, arch, err);
	p = rk_calloc(1, sizeof(*p));
	if (!p)
		return rk_fail_nomem(err);
	p->pub.arch = (*target)->name;
	*ret = p;
	return 0;
}

/* One name; `origin` NULL: an unknown one is MISSING like any other. */
static int check_name(struct plan *p, const struct rk_counter_table *t,
		      const struct rk_counter_target *target, const char *name, const char *origin,
		      struct rk_error *err)
{
	struct rk_counter_answer a = { .reason = "" };
	int rc;

	if (find_check(p, name))
		return 0;
	rc = rk_counter_resolve(t, target, name, &a, err);
	if (rc == 0 && a.unknown && origin)
		rc = rk_counter_ask_unknown(target, name, origin, a.use.n ? a.use.v[0] : NULL, err);
	if (rc == 0)
		rc = add_check(p, name, &a, err);
	rk_list_release(&a.use);
	return rc;
}

static int check_all(struct plan *p, const struct rk_counter_table *t,
		     const struct rk_counter_target *target, const char *spec, struct rk_error *err)
{
	struct rk_list names = { 0 }, origins = { 0 };
	int rc = rk_counter_ask(t, target, spec, &names, &origins, err);

	for (size_t i = 0; rc == 0 && i < names.n; i++)
		rc = check_name(p, t, target, names.v[i], NULL, err);
	rk_list_release(&names);
	rk_list_release(&origins);
	return rc;
}

int rk_counters_check(const char *arch, const char *const *names, size_t n,
		      struct rk_counter_plan **ret, struct rk_error *err)
{
	const struct rk_counter_target *target;
	const struct rk_counter_table *t;
	struct plan *p = NULL;
	int rc;

	if (!arch || !rk_texts_there(names, n) || !ret)
		return rk_misuse(__func__, err);
	rc = begin(arch, &t, &target, &p, err);
	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = check_all(p, t, target, names[i], err);
	if (rc == 0)
		rc = rk_handle_open(RK_HANDLE_COUNTER_PLAN, p, destroy_plan, err);
	if (rc < 0) {
		destroy_plan(p);
		return rc;
	}
	p->pub.optimal = true;
	*ret = &p->pub;
	return 0;
}

/* One requested name to the items; an accumulator goes with the level counter before it. */
static int add_item(struct rk_counter_items *items, struct rk_counter_check *c, const char *before,
		    struct rk_error *err)
{
	bool fits = true;
	int rc;

	if (c->status == RK_COUNTER_MISSING)
		return 0;
	if (!c->use[1] && rk_counter_items_accumulator(items, c->use[0], before))
		return rk_counter_items_accumulate(items, c->use[0], err);
	rc = rk_counter_items_add(items, c->use, &fits, err);
	if (rc == 0 && !fits) {
		c->status = RK_COUNTER_MISSING;
		c->reason = "needs more counters of a block at once than the GPU has";
	}
	return rc;
}

static int make_items(const struct plan *p, const struct rk_list *names,
		      struct rk_counter_items *items, struct rk_error *err)
{
	const char *before = NULL;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < names->n; i++) {
		struct rk_counter_check *c = find_check(p, names->v[i]);

		rc = add_item(items, c, before, err);
		before = c->status == RK_COUNTER_MISSING ? NULL : c->use[0];
	}
	return rc;
}

/* The names of run `at`, in the order they were asked for. */
static int fill_pass(struct rk_counter_pass *pass, const struct rk_counter_items *items,
		     const uint32_t *run_of, size_t at, struct rk_error *err)
{
	const char **names;
	size_t n = 0;

	for (size_t i = 0; i < items->nlisted; i++)
		n += run_of[items->listed[i].item] == at;
	names = rk_calloc(n + 1, sizeof(*names));
	if (!names)
		return rk_fail_nomem(err);
	pass->counters = names;
	for (size_t i = 0; i < items->nlisted; i++)
		if (run_of[items->listed[i].item] == at)
			names[pass->n++] = items->listed[i].name;
	return 0;
}

static int make_passes(struct plan *p, const struct rk_counter_items *items,
		       const struct rk_pack_result *r, struct rk_error *err)
{
	int rc = 0;

	p->pub.lower_bound = r->lower_bound;
	p->pub.optimal = r->optimal;
	p->pub.passes = rk_calloc(r->nruns + 1, sizeof(*p->pub.passes));
	if (!p->pub.passes)
		return rk_fail_nomem(err);
	p->pub.npasses = r->nruns;
	for (size_t i = 0; rc == 0 && i < r->nruns; i++)
		rc = fill_pass(&p->pub.passes[i], items, r->run_of, i, err);
	return rc;
}

static int pack(struct plan *p, const struct rk_counter_items *items, struct rk_error *err)
{
	const struct rk_pack_problem problem = {
		.registers = items->registers,
		.nregisters = items->nregisters,
		.limits = items->limits,
		.nblocks = items->nblocks,
		.items = items->items,
		.nitems = items->nitems,
	};
	struct rk_pack_result r = { .optimal = true };
	int rc;

	r.run_of = rk_calloc(items->nitems + 1, sizeof(*r.run_of));
	if (!r.run_of)
		return rk_fail_nomem(err);
	rc = rk_pack_solve(&problem, &r, err);
	if (rc == 0)
		rc = make_passes(p, items, &r, err);
	rk_free(r.run_of);
	return rc;
}

static int make_plan(struct plan *p, const struct rk_counter_table *t,
		     const struct rk_counter_target *target, const char *spec, struct rk_error *err)
{
	struct rk_counter_items items = { .table = t, .target = target };
	struct rk_list names = { 0 }, origins = { 0 };
	int rc = rk_counter_ask(t, target, spec, &names, &origins, err);

	for (size_t i = 0; rc == 0 && i < names.n; i++)
		rc = check_name(p, t, target, names.v[i], origins.v[i], err);
	if (rc == 0)
		rc = make_items(p, &names, &items, err);
	if (rc == 0)
		rc = pack(p, &items, err);
	rk_counter_items_release(&items);
	rk_list_release(&names);
	rk_list_release(&origins);
	return rc;
}

int rk_counters_plan(const char *arch, const char *spec, struct rk_counter_plan **ret,
		     struct rk_error *err)
{
	const struct rk_counter_target *target;
	const struct rk_counter_table *t;
	struct plan *p = NULL;
	int rc;

	if (!arch || !spec || !ret)
		return rk_misuse(__func__, err);
	rc = begin(arch, &t, &target, &p, err);
	if (rc == 0)
		rc = make_plan(p, t, target, spec, err);
	if (rc == 0)
		rc = rk_handle_open(RK_HANDLE_COUNTER_PLAN, p, destroy_plan, err);
	if (rc < 0) {
		destroy_plan(p);
		return rc;
	}
	*ret = &p->pub;
	return 0;
}
