/* pack_left.c - what of the artifacts is in no package, and which programs a package goes without. */
#include <stdlib.h>
#include <string.h>

#include "pack/meta_parts.h"
#include "pack/pack_plan_impl.h"

enum { NAMES_MAX = 400 }; /* of a list in a message */

void rk_pack_lost(struct rk_entry *e, const char *why)
{
	if (!e->left)
		e->left = why;
}

void rk_pack_mark(struct rk_pack_work *k)
{
	const struct rk_dist *d = k->d;

	for (size_t i = 0; i < k->tree.n; i++)
		k->tree.v[i]->uses++;
	for (size_t i = 0; i < d->n; i++) {
		/* entries belong to the plan */
		struct rk_entry *e = (struct rk_entry *)d->items[i].entry;

		if (d->items[i].action != RK_PACK_DROP)
			continue;
		e->uses--;
		rk_pack_lost(e, "a link to a folder, to nothing or out of the tree");
	}
}

/* ---- scripts ---- */

/* ", name", or how many did not fit. */
static void add_name(struct rk_bytes *out, const char *name, size_t *more)
{
	if (*more || out->len + strlen(name) + 2 > NAMES_MAX)
		++*more;
	else
		rk_bytes_printf(out, "%s%s", out->len ? ", " : "", name);
}

void rk_pack_say_scripts(struct rk_pack_work *k)
{
	const struct rk_pack_kind *kind = k->d->kind;
	struct rk_bytes names;
	const char *list;
	size_t n = 0, more = 0;

	rk_bytes_init(&names, 2 * NAMES_MAX);
	for (size_t i = 0; i < kind->nscripts; i++) {
		if (rk_script_works(k->d, &kind->scripts[i]))
			continue;
		add_name(&names, kind->scripts[i].name, &more);
		n++;
	}
	if (more)
		rk_bytes_printf(&names, " and %zu more", more);
	list = rk_bytes_str(&names);
	if (n && list)
		rk_diag_add(k->pl->p->diag, "no-program", k->d->dist, 0, 1,
			    "made without %s: no artifact has %s", list,
			    n == 1 ? "its program" : "their programs");
	rk_bytes_release(&names);
}

/* ---- the list ---- */

static bool is_left(const struct rk_entry *e)
{
	return e->kind != RK_ENTRY_DIR && !e->uses;
}

static size_t count_left(const struct rk_artifacts *all)
{
	size_t n = 0;

	for (size_t i = 0; i < all->n; i++) {
		n += !all->v[i].read;
		for (size_t k = 0; k < all->v[i].nentries; k++)
			n += is_left(&all->v[i].entries[k]);
	}
	return n;
}

static int by_reason(const void *a, const void *b)
{
	const struct rk_pack_left *x = a, *y = b;
	int c = strcmp(x->artifact, y->artifact);

	c = c ? c : strcmp(x->reason, y->reason);
	return c ? c : strcmp(x->path, y->path);
}

int rk_pack_list_left(struct rk_planner *pl,
		      const char *(*unread)(struct rk_planner *pl, const void *arg,
					    const struct rk_artifact *a),
		      const void *arg)
{
	const struct rk_artifacts *all = pl->p->artifacts;
	struct rk_pack_left *v = rk_arena_alloc(pl->p->arena, (count_left(all) + 1) * sizeof(*v));
	size_t n = 0;

	if (!v)
		return rk_fail_nomem(pl->err);
	for (size_t i = 0; i < all->n; i++) {
		const struct rk_artifact *a = &all->v[i];

		if (!a->read) {
			v[n] = (struct rk_pack_left){ a->label, "", unread(pl, arg, a), { 0 } };
			if (!v[n++].reason)
				return rk_fail_nomem(pl->err);
		}
		for (size_t e = 0; e < a->nentries; e++)
			if (is_left(&a->entries[e]))
				v[n++] = (struct rk_pack_left){
					a->label,
					a->entries[e].path,
					a->entries[e].left ? a->entries[e].left :
							     "no package takes files of this name",
					{ 0 }
				};
	}
	if (n)
		qsort(v, n, sizeof(*v), by_reason);
	pl->p->left = v;
	pl->p->nleft = n;
	return 0;
}
