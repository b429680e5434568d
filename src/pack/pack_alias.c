/*
 * pack_alias.c - names that the table adds. Those without a version, for programs that dlopen or preload by
 * them: wheels have no links, so these are small libraries that bring the real one, or it again.
 */
#include <string.h>

#include "pack/pack_plan_impl.h"

/* By number, since the list may move. */
static ptrdiff_t find_item(struct rk_pack_work *k, const char *path)
{
	for (size_t i = 0; i < k->d->n; i++)
		if (strcmp(k->d->items[i].path, path) == 0)
			return (ptrdiff_t)i;
	return -1;
}

static int add_link(struct rk_pack_work *k, const struct rk_pack_link *l)
{
	const struct rk_entry *end = rk_overlay_find(&k->tree, l->target);
	ptrdiff_t i = find_item(k, l->path);
	const struct rk_file_facts *f;
	int rc;

	if (!end || end->kind != RK_ENTRY_FILE || (i >= 0 && k->d->items[i].content))
		return 0;
	if (i >= 0) /* a link that dangles in its own artifact is not the last word */
		k->d->items[i] = k->d->items[--k->d->n];
	rc = rk_file_facts(k->pl->p, end, &f, k->pl->err);
	if (rc < 0)
		return rc;
	if (f->type == RK_FILE_PROGRAM && rk_pack_has_launcher(f->machine))
		return rk_pack_put_launcher(k, l->path, end, f->machine);
	return rk_pack_put_file(k, l->path, end, RK_PACK_RESOLVED, "name that people know", false);
}

int rk_pack_add_links(struct rk_pack_work *k)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < k->d->kind->nlinks; i++)
		rc = add_link(k, &k->d->kind->links[i]);
	return rc;
}

/* "lib/libx.so.1.2" without what follows ".so"; NULL: no memory. */
static const char *unversioned(struct rk_pack_work *k, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *so = strstr(slash ? slash : path, ".so.");

	return rk_pack_text(k, "%.*s", so ? (int)(so - path) + 3 : (int)strlen(path), path);
}

/* The place for it: that of the alias which devel knows, or a new one; NULL: taken, or no memory. */
static struct rk_pack_item *place_of(struct rk_pack_work *k, const char *path, const char *reason,
				     bool *nomem)
{
	ptrdiff_t i = find_item(k, path);
	struct rk_pack_item *item;

	*nomem = false;
	if (i >= 0) {
		item = &k->d->items[i];
		if (item->content)
			return NULL;
		item->reason = reason;
		return item;
	}
	item = rk_pack_item_add(k, path, RK_PACK_STUB, reason);
	*nomem = !item;
	return item;
}

static int add_alias(struct rk_pack_work *k, size_t real, const char *soname, uint16_t machine,
		     bool copy)
{
	const char *path = unversioned(k, k->d->items[real].path);
	const char *reason = copy ? "name that programs preload" : "name that programs dlopen";
	struct rk_pack_item *item;
	bool nomem;

	if (!path)
		return RK_E_NOMEM;
	item = place_of(k, path, reason, &nomem);
	if (!item)
		return nomem ? RK_E_NOMEM : 0;
	item->link = soname;
	item->mode = k->d->items[real].mode;
	item->entry = k->d->items[real].entry;
	if (copy) {
		item->action = RK_PACK_COPY;
		item->content = k->d->items[real].content;
		item->edit = k->d->items[real].edit;
		return 0;
	}
	item->action = RK_PACK_STUB;
	item->edit = rk_pack_text(k, "brings '%s'", soname);
	return item->edit ? rk_pack_put_stub(k, item, soname, machine) : RK_E_NOMEM;
}

/* Only a library that is there under its SONAME has another name. */
static int alias_of(struct rk_pack_work *k, const struct rk_pack_alias *a, size_t i)
{
	const struct rk_pack_item *item = &k->d->items[i];
	const struct rk_file_facts *f;
	const char *slash = strrchr(item->path, '/');
	int rc;

	if (!item->content || item->link || !item->entry || !item->entry->origin ||
	    item->action == RK_PACK_LAUNCHER || !rk_pack_glob(a->pattern, item->path))
		return 0;
	rc = rk_file_facts(k->pl->p, item->entry, &f, k->pl->err);
	if (rc < 0 || f->type != RK_FILE_LIBRARY || !f->soname || !f->machine ||
	    strcmp(f->soname, slash ? slash + 1 : item->path) != 0)
		return rc;
	return add_alias(k, i, f->soname, f->machine, a->copy);
}

int rk_pack_add_aliases(struct rk_pack_work *k)
{
	const struct rk_pack_kind *kind = k->d->kind;
	size_t n = k->d->n; /* those that are added have none themselves */
	int rc = 0;

	for (size_t a = 0; a < kind->naliases; a++)
		for (size_t i = 0; rc == 0 && i < n; i++)
			rc = alias_of(k, &kind->aliases[a], i);
	return rc;
}
