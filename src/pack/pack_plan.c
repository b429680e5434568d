/* pack_plan.c - decide which packages are built, and from which artifacts. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/list.h"
#include "base/text.h"
#include "base/words.h"
#include "pack/pack_plan_impl.h"
#include "pack/wheel/meta.h"

enum { NONCE_MAX = 64, FAMILIES_MAX = 256 };

static bool has_name(const char *const *names, const char *name)
{
	for (; names && *names; names++)
		if (strcmp(*names, name) == 0)
			return true;
	return false;
}

/* ---- families ---- */

static bool is_generic(const struct rk_artifact *a)
{
	return strcmp(a->family, "generic") == 0;
}

/* Is the artifact for this family? A suffix such as ":xnack+" is ignored. */
static bool is_of(const struct rk_artifact *a, const char *family)
{
	size_t n = rk_family_base(a->family);

	return strlen(family) == n && memcmp(a->family, family, n) == 0;
}

static bool is_asked(const struct rk_list *asked, const struct rk_artifact *a)
{
	if (!asked->n || is_generic(a))
		return true;
	for (size_t i = 0; i < asked->n; i++)
		if (is_of(a, asked->v[i]))
			return true;
	return false;
}

/* The families of the plan: the requested ones, or all. */
static int choose_families(struct rk_planner *pl, const struct rk_list *asked)
{
	struct rk_pack_plan *p = pl->p;
	const struct rk_artifacts *all = p->artifacts;
	const char **v = rk_arena_alloc(p->arena, (all->n + 1) * sizeof(*v));
	size_t n = 0, known = 0, kept = 0;

	/* all families, sorted, NULL at the end, whether requested or not */
	if (!v)
		return rk_fail_nomem(pl->err);
	for (size_t i = 0; i < all->n; i++) {
		const char *f = all->v[i].family;

		if (is_generic(&all->v[i]))
			continue;
		v[n] = rk_arena_text(p->arena, f, rk_family_base(f));
		if (!v[n++])
			return rk_fail_nomem(pl->err);
	}
	if (n)
		qsort(v, n, sizeof(*v), rk_by_text);
	for (size_t i = 0; i < n; i++)
		if (!known || strcmp(v[known - 1], v[i]) != 0)
			v[known++] = v[i];
	v[known] = NULL;

	for (size_t i = 0; i < asked->n; i++) {
		if (has_name(v, asked->v[i]))
			continue;
		if (known)
			return rk_fail_unknown(pl->err, "GPU family", asked->v[i], v);
		return rk_fail(pl->err, RK_E_USAGE,
			       "the artifacts have no GPU families, so '%s' cannot be selected",
			       asked->v[i]);
	}
	for (size_t i = 0; i < known; i++)
		if (!asked->n || rk_list_has(asked, v[i]))
			v[kept++] = v[i];
	if (kept > FAMILIES_MAX)
		return rk_fail(pl->err, RK_E_LIMIT, "more than %d GPU families", FAMILIES_MAX);
	p->families = v;
	p->nfamilies = kept;
	return 0;
}

/* ---- choosing artifacts ---- */

static const struct rk_pack_take *take_for(const struct rk_pack_kind *k,
					   const struct rk_artifact *a)
{
	for (size_t i = 0; i < k->ntakes; i++)
		if (k->takes[i].components >> a->component & 1 &&
		    has_name(k->takes[i].names, a->name))
			return &k->takes[i];
	return NULL;
}

static bool kind_names(const struct rk_pack_kind *k, const char *name)
{
	for (size_t i = 0; i < k->ntakes; i++)
		if (has_name(k->takes[i].names, name))
			return true;
	return false;
}

/* Does devel contain this component of the artifact? */
static bool devel_has(const struct rk_pack_kind *k, const struct rk_artifact *a, bool kpack)
{
	unsigned components = kpack ? k->components_kpack : k->components;

	return components >> a->component & 1 && !has_name(k->never, a->name);
}

static bool devel_also(const struct rk_pack_kind *k, const char *name, bool kpack)
{
	return has_name(k->also, name) || (kpack && has_name(k->also_kpack, name));
}

struct wanting {
	const struct rk_pack_table *table;
	const struct rk_list *families;
};

/* Could any package use the artifact? If not, it is not even read. */
static bool is_wanted(const void *arg, const struct rk_artifact *a, bool kpack)
{
	const struct wanting *w = arg;
	bool runtime = false, devel = false;

	if (!is_asked(w->families, a))
		return false;
	for (size_t i = 0; i < w->table->n; i++) {
		const struct rk_pack_kind *k = &w->table->kinds[i];

		if (take_for(k, a))
			return true;
		runtime |= k->role == RK_PACK_RUNTIME && kind_names(k, a->name);
	}
	for (size_t i = 0; i < w->table->n; i++) {
		const struct rk_pack_kind *k = &w->table->kinds[i];

		if (k->role == RK_PACK_DEVEL && devel_has(k, a, kpack))
			devel |= runtime || devel_also(k, a->name, kpack);
	}
	return devel;
}

/* Why the artifact was not read. */
static const char *unread(struct rk_planner *pl, const void *arg, const struct rk_artifact *a)
{
	const struct wanting *w = arg;
	struct rk_arena *arena = pl->p->arena;
	bool kpack = pl->p->kpack, named = false;

	if (!is_asked(w->families, a))
		return "its GPU family was not requested";
	if (is_wanted(w, a, kpack))
		return "it has no manifest";
	for (size_t i = 0; i < w->table->n; i++)
		named |= kind_names(&w->table->kinds[i], a->name) ||
			 devel_also(&w->table->kinds[i], a->name, kpack);
	if (!named)
		return rk_arena_textf(arena, "no package uses '%s'", a->name);
	return rk_arena_textf(arena, "no package uses '%s' of '%s'",
			      rk_component_names[a->component], a->name);
}

static bool dist_takes(const struct rk_pack_work *k, const struct rk_artifact *a)
{
	const struct rk_pack_plan *p = k->pl->p;
	const struct rk_pack_kind *kind = k->d->kind;
	bool fits;

	if (kind->role == RK_PACK_DEVICE)
		fits = is_of(a, k->d->family);
	else
		fits = (kind->role == RK_PACK_RUNTIME && !kind->per_family) || is_generic(a) ||
		       (!p->kpack && is_of(a, k->d->family));
	if (!a->read || !fits)
		return false;
	if (kind->role != RK_PACK_DEVEL)
		return take_for(kind, a);
	if (!devel_has(kind, a, p->kpack))
		return false;
	/* all artifact names that a runtime package uses */
	for (size_t i = 0; i < p->artifacts->n; i++)
		if (k->pl->taken[i] && strcmp(p->artifacts->v[i].name, a->name) == 0)
			return true;
	return devel_also(kind, a->name, p->kpack);
}

/* ---- one package ---- */

static int by_item_order(const void *a, const void *b)
{
	const struct rk_pack_item *x = a, *y = b;

	return rk_pack_order(x->path, x->action == RK_PACK_DIR, y->path, y->action == RK_PACK_DIR);
}

/* Merges the artifacts that the package uses; *ret_n is their number. */
static int lay_out(struct rk_pack_work *k, size_t *ret_n)
{
	struct rk_pack_plan *p = k->pl->p;
	const struct rk_pack_kind *kind = k->d->kind;

	*ret_n = 0;
	for (size_t i = 0; i < p->artifacts->n; i++) {
		const struct rk_pack_take *take = take_for(kind, &p->artifacts->v[i]);
		int rc;

		if (!dist_takes(k, &p->artifacts->v[i]))
			continue;
		*ret_n += !take || !take->extra;
		if (kind->role == RK_PACK_RUNTIME)
			k->pl->taken[i] = true;
		rc = rk_overlay_add(&k->tree, &p->artifacts->v[i], kind->include, kind->exclude,
				    kind->role == RK_PACK_DEVEL, p->diag, k->pl->err);
		if (rc < 0)
			return rc;
	}
	return rk_overlay_settle(&k->tree, p->diag, k->pl->err);
}

static int missing(struct rk_pack_work *k)
{
	const struct rk_pack_kind *kind = k->d->kind;
	char names[300] = "";
	size_t len = 0;

	for (size_t i = 0; i < kind->ntakes; i++)
		for (size_t j = 0; !kind->takes[i].extra && kind->takes[i].names[j]; j++) {
			const char *s = kind->takes[i].names[j];

			if (len + strlen(s) + 3 >= sizeof(names))
				break;
			if (len) {
				memcpy(names + len, ", ", 2);
				len += 2;
			}
			memcpy(names + len, s, strlen(s));
			len += strlen(s);
		}
	return rk_fail(k->pl->err, RK_E_FORMAT,
		       "'%s' has no artifact for the package '%s': it needs lib or run of %s",
		       k->pl->o->artifact_dir, k->d->dist, names);
}

/* Adds a package to the plan if there is anything to put in it. */
static int make_dist(struct rk_planner *pl, const struct rk_pack_kind *kind, const char *family,
		     const char *subdir)
{
	struct rk_pack_plan *p = pl->p;
	struct rk_dist *d = &p->dists[p->ndists];
	struct rk_pack_work k = { .pl = pl, .d = d };
	size_t n = 0;
	int rc = 0;

	*d = (struct rk_dist){ .kind = kind, .family = family, .subdir = subdir };
	d->dist = rk_pack_dist_name(p->arena, kind, p->kpack, family);
	d->module = rk_pack_module_name(p->arena, kind, p->kpack, family);
	d->platform = rk_pack_platform_name(p->arena, p->table, kind, p->kpack, family, p->nonce);
	if (!d->dist || !d->module || !d->platform)
		return rk_fail_nomem(pl->err);
	if (kind->role != RK_PACK_META) {
		rc = lay_out(&k, &n);
		if (rc == 0 && !n && kind->must_exist)
			rc = missing(&k);
		if (rc < 0 || !n)
			goto out;
	}
	switch (kind->role) {
	case RK_PACK_META:
		break;
	case RK_PACK_DEVICE:
		rc = rk_pack_device(&k);
		break;
	case RK_PACK_DEVEL:
		rc = rk_pack_devel(&k);
		break;
	case RK_PACK_RUNTIME:
		rc = rk_pack_runtime(&k);
		break;
	}
	if (rc < 0)
		goto out;

	rk_pack_mark(&k);
	rk_pack_say_scripts(&k);
	if (!p->machine)
		p->machine = d->machine;
	if (d->machine && d->machine != p->machine) {
		rc = rk_fail(pl->err, RK_E_FORMAT,
			     "'%s' is for machine %u, but the other packages are for machine %u",
			     k.machine_of, d->machine, p->machine);
		goto out;
	}
	if (d->n > 1)
		qsort(d->items, d->n, sizeof(*d->items), by_item_order);
	if (kind->role == RK_PACK_RUNTIME)
		rc = rk_pack_python(&k);
	for (size_t i = 0; rc == 0 && kind->role == RK_PACK_RUNTIME && i < d->n; i++)
		rc = rk_path_map_put(&pl->by_path[p->ndists], d->items[i].path, i, pl->err);
	p->ndists++;
out:
	rk_overlay_release(&k.tree);
	return rc;
}

/* ---- all packages ---- */

/* One package for all families, one for each, or none, depending on the mode. */
static int make_kind(struct rk_planner *pl, const struct rk_pack_kind *kind)
{
	struct rk_pack_plan *p = pl->p;
	bool split = p->nfamilies > 1 && !p->kpack;
	bool each = kind->per_family && !p->kpack && p->nfamilies;
	bool apart = split && (kind->role == RK_PACK_META || kind->role == RK_PACK_DEVEL);

	if (kind->role == RK_PACK_DEVICE && !p->kpack)
		return 0;
	if (kind->role == RK_PACK_DEVICE)
		each = true;
	else if (kind->role == RK_PACK_META)
		each = split;
	if (!each && kind->per_family && kind->role == RK_PACK_RUNTIME && !p->kpack)
		return 0; /* no families, so there is nothing to build per family */
	if (!each)
		return make_dist(pl, kind, "", "");
	for (size_t i = 0; i < p->nfamilies; i++) {
		int rc = make_dist(pl, kind, p->families[i], apart ? p->families[i] : "");

		if (rc < 0)
			return rc;
	}
	return 0;
}

static int make_all(struct rk_planner *pl)
{
	static const enum rk_pack_role order[] = { RK_PACK_RUNTIME, RK_PACK_DEVICE, RK_PACK_META,
						   RK_PACK_DEVEL };
	struct rk_pack_plan *p = pl->p;
	const struct rk_pack_table *t = p->table;
	size_t most = t->n * (p->nfamilies + 1);
	int rc = 0;

	p->dists = rk_arena_alloc(p->arena, most * sizeof(*p->dists));
	pl->by_path = rk_calloc(most, sizeof(*pl->by_path));
	pl->taken = rk_calloc(p->artifacts->n + 1, sizeof(*pl->taken));
	if (!p->dists || !pl->by_path || !pl->taken) {
		rc = rk_fail_nomem(pl->err);
		goto out;
	}
	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++)
		for (size_t k = 0; k < t->n; k++)
			if (t->kinds[k].role == order[i] && (rc = make_kind(pl, &t->kinds[k])) < 0)
				goto out;
out:
	for (size_t i = 0; pl->by_path && i < most; i++)
		rk_path_map_release(&pl->by_path[i]);
	rk_free(pl->by_path);
	rk_free(pl->taken);
	return rc;
}

static bool has_dist(const struct rk_pack_plan *p, const char *logical, const char *family)
{
	for (size_t i = 0; i < p->ndists; i++)
		if (strcmp(p->dists[i].kind->logical, logical) == 0 &&
		    strcmp(p->dists[i].family, family) == 0)
			return true;
	return false;
}

/* Families that were requested by name must have all their packages. */
static int check_asked(struct rk_planner *pl, const struct rk_list *asked)
{
	struct rk_pack_plan *p = pl->p;

	if (!asked->n || !p->kpack)
		return 0;
	if (!has_dist(p, "libraries", ""))
		return rk_fail(pl->err, RK_E_FORMAT, "'%s' has no artifact for rocm-sdk-libraries",
			       pl->o->artifact_dir);
	for (size_t i = 0; i < asked->n; i++)
		if (!has_dist(p, "device", asked->v[i]))
			return rk_fail(pl->err, RK_E_FORMAT,
				       "'%s' has no artifact for rocm-sdk-device-%s",
				       pl->o->artifact_dir, asked->v[i]);
	return 0;
}

/* ---- the plan ---- */

static int plan(struct rk_planner *pl, const char *version, const struct rk_list *asked)
{
	static const char fit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
	const char *nonce = rk_text_or_empty(pl->o->version_suffix), *own;
	struct rk_pack_plan *p = pl->p;
	struct wanting w = { .families = asked };
	const struct rk_artifact_filter filter = { .want = is_wanted, .arg = &w };
	int rc = rk_pack_table_load(p->arena, pl->o->profiler_name, &p->table, pl->err);

	if (rc < 0)
		return rc;
	w.table = p->table;
	if (strlen(nonce) > NONCE_MAX || nonce[strspn(nonce, fit)])
		return rk_fail(
			pl->err, RK_E_USAGE,
			"the suffix '%.80s' cannot be part of a module's name (letters, digits, "
			"'_')",
			nonce);
	p->nonce = rk_arena_text(p->arena, nonce, strlen(nonce));
	if (!p->nonce)
		return rk_fail_nomem(pl->err);
	rc = rk_artifacts_open(pl->o->artifact_dir, pl->o->tmpdir, pl->o->jobs, &filter, p->diag,
			       &p->artifacts, pl->err);
	if (rc < 0)
		return rc;
	p->kpack = p->artifacts->kpack;

	if (version) {
		p->version = rk_arena_text(p->arena, version, strlen(version));
		if (!p->version)
			return rk_fail_nomem(pl->err);
	} else {
		if (!p->artifacts->version)
			return rk_fail(pl->err, RK_E_FORMAT,
				       "the artifacts have no '.info/version': add '--version V'");
		own = rk_arena_textf(p->arena, "%s.dev0", p->artifacts->version);
		if (!own)
			return rk_fail_nomem(pl->err);
		rc = rk_pep440_normal(p->arena, own, &p->version, pl->err);
		if (rc == RK_E_USAGE && pl->err) /* nobody typed it */
			rc = pl->err->code = RK_E_FORMAT;
		if (rc < 0)
			return rc;
	}
	if ((rc = choose_families(pl, asked)) < 0 || (rc = make_all(pl)) < 0 ||
	    (rc = check_asked(pl, asked)) < 0)
		return rc;
	return rk_pack_list_left(pl, unread, &w);
}

int rk_pack_plan_make(const struct rk_pack_options *o, const char *version,
		      struct rk_pack_plan **ret, struct rk_error *err)
{
	struct rk_planner pl = { .o = o, .err = err };
	struct rk_list parts = { 0 }, asked = { 0 };
	struct rk_arena *arena = NULL;
	int rc = rk_arena_new(&arena, err);

	if (rc < 0)
		return rc;
	pl.p = rk_arena_alloc(arena, sizeof(*pl.p));
	if (!pl.p) {
		rk_arena_free(arena);
		return rk_fail_nomem(err);
	}
	pl.p->arena = arena;
	rc = rk_diag_new(&pl.p->diag, err);
	if (rc < 0)
		goto out;
	/* families as on the command line, "gfx942; gfx950", without suffixes such as ":xnack+" */
	rk_list_split(&parts, rk_text_or_empty(o->target_families), ",; ");
	for (size_t i = 0; i < parts.n; i++) {
		parts.v[i][rk_family_base(parts.v[i])] = '\0';
		rk_list_add_once(&asked, parts.v[i]);
	}
	if (parts.bad || asked.bad) {
		rc = rk_fail_nomem(err);
		goto out;
	}
	rc = plan(&pl, version, &asked);
	if (rc < 0)
		goto out;
	*ret = pl.p;
	pl.p = NULL;
out:
	rk_list_release(&parts);
	rk_list_release(&asked);
	rk_pack_plan_free(pl.p);
	return rc;
}

void rk_pack_plan_free(struct rk_pack_plan *p)
{
	if (!p)
		return;
	rk_artifacts_free(p->artifacts);
	rk_diag_free(p->diag);
	rk_arena_free(p->arena);
}
