/*
 * sdist_extras.c - what the meta package asks for, always and as extras.
 *
 * An extra for each optional package, of the family chosen; where there is a choice of families also
 * "LOGICAL-FAMILY" and "LOGICAL-all" of each package that has one of its own for each. setup.py finds the
 * same at install time, for the family of that machine.
 */
#include <stdlib.h>
#include <string.h>

#include "pack/meta_parts.h"

static int add(struct rk_arena *a, struct rk_extras *e, const char *extra, const char *dist,
	       struct rk_error *err)
{
	size_t cap = e->cap ? e->cap * 2 : 16;
	struct rk_extra *v = e->v;

	if (e->n == e->cap) {
		v = rk_arena_alloc(a, cap * sizeof(*v));
		if (v && e->n)
			memcpy(v, e->v, e->n * sizeof(*v));
		if (v) {
			e->v = v;
			e->cap = cap;
		}
	}
	if (!v || !extra || !dist)
		return rk_fail_nomem(err);
	e->v[e->n++] = (struct rk_extra){ extra, dist };
	return 0;
}

/* "libraries-gfx94x-dcgpu": in the spelling that setuptools and pip compare. */
static const char *extra_name(struct rk_arena *a, const char *logical, const char *tail)
{
	const char *text = rk_arena_textf(a, "%s-%.*s", logical, (int)rk_family_base(tail), tail);

	return text ? rk_pep503_name(a, text, '-') : NULL;
}

/* Whether a family before it has the same packages. */
static bool seen(const char *const *families, size_t i)
{
	size_t len = rk_family_base(families[i]);

	for (size_t k = 0; k < i; k++)
		if (rk_family_base(families[k]) == len && !strncmp(families[k], families[i], len))
			return true;
	return false;
}

static int per_family(const struct rk_pack_plan *p, const struct rk_pack_kind *k,
		      const char *const *families, size_t n, struct rk_extras *e,
		      struct rk_error *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < n; i++) {
		const char *dist;

		if (seen(families, i))
			continue;
		dist = rk_kind_dist(p, k, families[i]);
		rc = add(p->arena, e, extra_name(p->arena, k->logical, families[i]), dist, err);
		if (rc == 0)
			rc = add(p->arena, e, extra_name(p->arena, k->logical, "all"), dist, err);
	}
	return rc;
}

static int of_kind(const struct rk_pack_plan *p, const struct rk_pack_kind *k,
		   const char *const *families, size_t n, struct rk_extras *e, struct rk_error *err)
{
	bool own = rk_kind_of_family(p, k);
	size_t different = 0;
	int rc;

	/* device packages belong to libraries that are one package for all families */
	if (k->role == RK_PACK_META || (own && !n) || (k->role == RK_PACK_DEVICE && !p->kpack))
		return 0;
	rc = add(p->arena, e, k->required ? "" : rk_pep503_name(p->arena, k->logical, '-'),
		 rk_kind_dist(p, k, n ? families[0] : ""), err);
	for (size_t i = 0; i < n; i++)
		different += !seen(families, i);
	if (rc < 0 || k->required || !own || different < 2)
		return rc;
	return per_family(p, k, families, n, e, err);
}

/* What an extra asks for is sorted, too. */
static int by_extra(const void *a, const void *b)
{
	const struct rk_extra *x = a, *y = b;
	int c = strcmp(x->extra, y->extra);

	return c ? c : strcmp(x->dist, y->dist);
}

int rk_extras_make(const struct rk_pack_plan *p, const struct rk_dist *d, struct rk_extras *ret,
		   struct rk_error *err)
{
	const char *const *families;
	size_t n = rk_dist_families(p, d, &families);
	struct rk_extras e = { 0 };
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < p->table->n; i++)
		rc = of_kind(p, &p->table->kinds[i], families, n, &e, err);
	if (rc < 0)
		return rc;
	if (e.n)
		qsort(e.v, e.n, sizeof(*e.v), by_extra);
	*ret = e;
	return 0;
}
