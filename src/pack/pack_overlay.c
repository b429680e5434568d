/* pack_overlay.c - merge the trees of several artifacts; list the files that are in no package. */
#include "pack/pack_plan_impl.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/num.h"
#include "pack/wheel/meta.h"

enum { NAMES_MAX = 400 }; /* max bytes of a list of names in a message */

/* Marks an entry that another one replaced in a tree; `why` is static. */
static void lose(struct rk_entry *e, const char *why)
{
	if (!e->left)
		e->left = why;
}

const struct rk_entry *rk_overlay_find(const void *tree, const char *path)
{
	const struct rk_overlay *t = tree;
	ptrdiff_t i = rk_path_map_find(&t->map, path, strlen(path));

	return i < 0 ? NULL : t->v[i];
}

void rk_overlay_release(struct rk_overlay *t)
{
	rk_path_map_release(&t->map);
	rk_free(t->v);
	*t = (struct rk_overlay){ 0 };
}

enum { COMPARE_BYTES = 256 << 10 };

/* Returns 1 if both are of the same kind and have the same bytes or link text, else 0. */
static int same(const struct rk_entry *a, const struct rk_entry *b, struct rk_error *err)
{
	uint64_t size;
	char *x, *y;
	int rc = 1;

	if (a->kind != b->kind)
		return 0;
	if (a->kind == RK_ENTRY_DIR)
		return 1;
	if (a->kind == RK_ENTRY_LINK)
		return strcmp(a->link, b->link) == 0;
	size = a->origin->size;
	if (size != b->origin->size)
		return 0;
	x = rk_alloc(2 * COMPARE_BYTES);
	if (!x)
		return rk_fail_nomem(err);
	y = x + COMPARE_BYTES;
	for (uint64_t at = 0; at < size && rc == 1; at += COMPARE_BYTES) {
		size_t n = (size_t)rk_min(size - at, COMPARE_BYTES);

		rc = rk_origin_read(a->origin, at, x, n, err);
		if (rc == 0)
			rc = rk_origin_read(b->origin, at, y, n, err);
		if (rc == 0)
			rc = memcmp(x, y, n) == 0;
	}
	rk_free(x);
	return rc;
}

static void say_overlap(struct rk_diag *diag, struct rk_entry *loser, const struct rk_entry *winner,
			const char *how)
{
	lose(loser, "another artifact has a different file of this name");
	if (!rk_entry_say(loser))
		return;
	rk_diag_add(diag, "overlap", winner->artifact->label, 0, 1, "its '%s' %s '%s'", loser->path,
		    how, loser->artifact->label);
}

static int add_entry(struct rk_overlay *t, struct rk_entry *e, struct rk_diag *diag,
		     struct rk_error *err)
{
	ptrdiff_t i = rk_path_map_find(&t->map, e->path, strlen(e->path));
	struct rk_entry **v;
	int equal;

	if (i >= 0) {
		equal = same(t->v[i], e, err);
		if (equal < 0)
			return equal;
		if (equal)
			t->v[i]->uses++; /* identical bytes are packed */
		else
			say_overlap(diag, t->v[i], e, "replaces that of");
		t->v[i] = e;
		return 0;
	}
	v = rk_grow(t->v, &t->cap, t->n + 1, sizeof(*v));
	if (!v)
		return rk_fail_nomem(err);
	t->v = v;
	t->v[t->n] = e;
	return rk_path_map_put(&t->map, e->path, t->n++, err);
}

/* Packages have generated files at these paths. */
static bool is_reserved(const char *path)
{
	static const char links[] = ".devel_links";
	const size_t n = sizeof(links) - 1;

	return strcmp(path, "__init__.py") == 0 || strncmp(path, ".device-", 8) == 0 ||
	       (strncmp(path, links, n) == 0 && (!path[n] || path[n] == '/'));
}

int rk_overlay_add(struct rk_overlay *t, const struct rk_artifact *a, const char *const *include,
		   const char *const *exclude, bool dirs, struct rk_diag *diag,
		   struct rk_error *err)
{
	for (size_t i = 0; i < a->nentries; i++) {
		struct rk_entry *e = &a->entries[i];

		if ((e->kind == RK_ENTRY_DIR && !dirs) ||
		    (include && *include && !rk_pack_glob_any(include, e->path)) ||
		    rk_pack_glob_any(exclude, e->path))
			continue;
		if (!is_reserved(e->path)) {
			int rc = add_entry(t, e, diag, err);

			if (rc < 0)
				return rc;
			continue;
		}
		lose(e, "packages generate their own file of this name");
		if (e->kind != RK_ENTRY_DIR && rk_entry_say(e))
			rk_diag_add(diag, "reserved-name", e->artifact->label, 0, 1,
				    "'%s' is left out: packages generate their own", e->path);
	}
	return 0;
}

static int by_order(const void *a, const void *b)
{
	const struct rk_entry *x = *(struct rk_entry *const *)a, *y = *(struct rk_entry *const *)b;

	return rk_pack_order(x->path, x->kind == RK_ENTRY_DIR, y->path, y->kind == RK_ENTRY_DIR);
}

int rk_overlay_settle(struct rk_overlay *t, struct rk_diag *diag, struct rk_error *err)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->n; i++) {
		const char *path = t->v[i] ? t->v[i]->path : "";

		/* remove files and links that block it */
		for (const char *s = strchr(path, '/'); s; s = strchr(s + 1, '/')) {
			ptrdiff_t at = rk_path_map_find(&t->map, path, (size_t)(s - path));

			if (at < 0 || !t->v[at] || t->v[at]->kind == RK_ENTRY_DIR)
				continue;
			say_overlap(diag, t->v[at], t->v[i],
				    "is a folder and replaces the file of");
			t->v[at] = NULL;
		}
	}
	for (size_t i = 0; i < t->n; i++)
		if (t->v[i])
			t->v[kept++] = t->v[i];
	t->n = kept;
	if (t->n > 1)
		qsort(t->v, t->n, sizeof(*t->v), by_order);
	rk_path_map_release(&t->map);
	for (size_t i = 0; i < t->n; i++)
		if (rk_path_map_put(&t->map, t->v[i]->path, i, err) < 0)
			return RK_E_NOMEM;
	return 0;
}

/* ---- files in no package ---- */

void rk_pack_mark(struct rk_pack_work *k)
{
	const struct rk_dist *d = k->d;

	for (size_t i = 0; i < k->tree.n; i++)
		k->tree.v[i]->uses++;
	for (size_t i = 0; i < d->n; i++) {
		/* cast is fine: the plan owns the entries */
		struct rk_entry *e = (struct rk_entry *)d->items[i].entry;

		if (d->items[i].action != RK_PACK_DROP)
			continue;
		e->uses--;
		lose(e, "link to a folder, dangling, or out of the tree");
	}
}

void rk_pack_say_scripts(struct rk_pack_work *k)
{
	const struct rk_pack_kind *kind = k->d->kind;
	struct rk_bytes names;
	const char *list;
	size_t n = 0, more = 0;

	rk_bytes_init(&names, 2 * NAMES_MAX);
	for (size_t i = 0; i < kind->nscripts; i++) {
		const char *name = kind->scripts[i].name;

		if (rk_script_works(k->d, &kind->scripts[i]))
			continue;
		n++;
		if (more || names.len + strlen(name) + 2 > NAMES_MAX)
			more++; /* names that do not fit */
		else
			rk_bytes_printf(&names, "%s%s", names.len ? ", " : "", name);
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

static bool is_left(const struct rk_entry *e)
{
	return e->kind != RK_ENTRY_DIR && !e->uses;
}

static int by_reason(const void *a, const void *b)
{
	const struct rk_pack_left *x = a, *y = b;
	int c = strcmp(x->artifact, y->artifact);

	if (!c)
		c = strcmp(x->reason, y->reason);
	if (!c)
		c = strcmp(x->path, y->path);
	return c;
}

int rk_pack_list_left(struct rk_planner *pl,
		      const char *(*unread)(struct rk_planner *pl, const void *arg,
					    const struct rk_artifact *a),
		      const void *arg)
{
	const struct rk_artifacts *all = pl->p->artifacts;
	struct rk_pack_left *v;
	size_t n = 0, most = 0;

	for (size_t i = 0; i < all->n; i++) {
		most += !all->v[i].read;
		for (size_t k = 0; k < all->v[i].nentries; k++)
			most += is_left(&all->v[i].entries[k]);
	}
	v = rk_arena_alloc(pl->p->arena, (most + 1) * sizeof(*v));
	if (!v)
		return rk_fail_nomem(pl->err);
	for (size_t i = 0; i < all->n; i++) {
		const struct rk_artifact *a = &all->v[i];

		if (!a->read) {
			v[n] = (struct rk_pack_left){ a->label, "", unread(pl, arg, a), { 0 } };
			if (!v[n++].reason)
				return rk_fail_nomem(pl->err);
		}
		for (size_t k = 0; k < a->nentries; k++) {
			const struct rk_entry *e = &a->entries[k];
			const char *reason = "no package uses files of this name";

			if (!is_left(e))
				continue;
			if (e->left)
				reason = e->left;
			v[n++] = (struct rk_pack_left){ a->label, e->path, reason, { 0 } };
		}
	}
	if (n)
		qsort(v, n, sizeof(*v), by_reason);
	pl->p->left = v;
	pl->p->nleft = n;
	return 0;
}
