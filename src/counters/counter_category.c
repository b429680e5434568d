/* counter_category.c - counters by subject, for those who ask the library. */
#include "base/alloc.h"
#include "base/handle.h"
#include "counters/counter_sets.h"
#include "rockit/counters.h"
#include "rockit/nearest.h"

/* Takes over the list. */
static int give(struct rk_list *l, struct rk_counter_names *ret, struct rk_error *err)
{
	if (l->bad) {
		rk_list_release(l);
		return rk_fail_nomem(err);
	}
	*ret = (struct rk_counter_names){ .names = l->v, .n = l->n };
	return 0;
}

int rk_counters_categories(struct rk_counter_names *ret, struct rk_error *err)
{
	struct rk_list l = { 0 };

	if (!ret)
		return rk_misuse(__func__, err);
	rk_counter_category_names(&l);
	return give(&l, ret, err);
}

static int unknown(const char *category, struct rk_error *err)
{
	struct rk_list known = { 0 };
	const char *near;
	int rc;

	rk_counter_category_names(&known);
	near = known.bad ? NULL : rk_nearest(category, (const char *const *)known.v);
	rc = rk_fail(err, RK_E_USAGE, "no category '%.60s'%s%s%s", category,
		     near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	rk_list_release(&known);
	return rc;
}

int rk_counters_of_category(const char *arch, const char *category, struct rk_counter_names *ret,
			    struct rk_error *err)
{
	const struct rk_counter_target *target;
	const struct rk_counter_table *t;
	struct rk_list l = { 0 };

	if (!arch || !category || !ret)
		return rk_misuse(__func__, err);
	t = rk_counter_table_get(err);
	if (!t)
		return RK_E_NOMEM;
	target = rk_counter_table_target_find(t, arch);
	if (!target)
		return rk_fail(err, RK_E_USAGE, "unknown target '%s'", arch);
	if (!rk_counter_category_add(t, target, category, &l)) {
		rk_list_release(&l);
		return unknown(category, err);
	}
	return give(&l, ret, err);
}

void rk_counter_names_release(struct rk_counter_names *n)
{
	struct rk_list l;

	if (!n)
		return;
	l = (struct rk_list){ .v = n->names, .n = n->n, .cap = n->n };
	rk_list_release(&l);
	*n = (struct rk_counter_names){ 0 };
}
