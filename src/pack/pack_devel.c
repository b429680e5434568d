/*
 * pack_devel.c - the devel package: the whole tree. What a runtime package has is a link there; the
 * rest is copied.
 */
#include <string.h>

#include "pack/pack_plan_impl.h"

/* The first runtime package that has the path, of this family or of none. */
static const struct rk_pack_item *find_runtime(struct rk_pack_work *k, const char *path,
					       const struct rk_dist **ret)
{
	struct rk_pack_plan *p = k->pl->p;

	for (size_t i = 0; i < p->ndists; i++) {
		const struct rk_dist *d = &p->dists[i];
		ptrdiff_t at;

		if (d->kind->role != RK_PACK_RUNTIME ||
		    (*d->family && strcmp(d->family, k->d->family) != 0))
			continue;
		at = rk_path_map_find(&k->pl->by_path[i], path, strlen(path));
		if (at < 0 || d->items[at].action == RK_PACK_DROP)
			continue;
		*ret = d;
		return &d->items[at];
	}
	return NULL;
}

static int put_link(struct rk_pack_work *k, const struct rk_entry *e, const char *text,
		    const char *reason)
{
	struct rk_pack_item *item = text ? rk_pack_item_add(k, e->path, RK_PACK_LINK, reason) :
					   NULL;

	if (!item)
		return RK_E_NOMEM;
	item->link = text;
	item->entry = e;
	item->mode = 0777;
	return 0;
}

/* Out of the devel tree and into the package beside it. */
static int put_outside(struct rk_pack_work *k, const struct rk_entry *e, const char *platform)
{
	size_t up = 1, at = 0;
	char *text;

	for (const char *s = e->path; *s; s++)
		up += *s == '/';
	text = rk_arena_alloc(k->pl->p->arena, 3 * up + strlen(platform) + strlen(e->path) + 2);
	if (!text)
		return rk_fail_nomem(k->pl->err);
	for (; at < 3 * up; at += 3)
		memcpy(text + at, "../", 3);
	memcpy(text + at, platform, strlen(platform));
	at += strlen(platform);
	text[at++] = '/';
	memcpy(text + at, e->path, strlen(e->path));
	return put_link(k, e, text, "in a runtime package");
}

static void say_link(struct rk_pack_work *k, const struct rk_entry *e, const char *why)
{
	const char *kind = why == rk_link_circle  ? "looping-link" :
			   why == rk_link_dangles ? "dangling-link" :
						    "escaping-link";

	if (!e->fault &&
	    rk_entry_say(e)) /* those with a fault were warned of when they were read */
		rk_diag_add(k->pl->p->diag, kind, e->artifact->label, 0, 1, "'%s' -> '%s' %s%s",
			    e->path, e->link, why, why == rk_link_dangles ? "" : ": left out");
}

/*
 * A link may point at what only the merged tree has, or another package brings. One that points at nothing
 * all the same is warned of, and stays as it was made.
 */
static int put_source_link(struct rk_pack_work *k, const struct rk_entry *e)
{
	const char *why = "", *reason;

	if (e->fault)
		why = e->fault == RK_LINK_ABSOLUTE ? rk_link_absolute : rk_link_leaves;
	else if (rk_entry_resolve(rk_overlay_find_fn, &k->tree, e, &why))
		return put_link(k, e, e->link, "link");
	say_link(k, e, why);
	if (why == rk_link_dangles)
		return put_link(k, e, e->link, "link; it dangles");
	reason = rk_pack_text(k, "link '%s': %s", e->link, why);
	return reason ? rk_pack_put_drop(k, e, reason) : RK_E_NOMEM;
}

/* A library's other name: the SONAME beside it, where that is; else as the source has it. */
static int put_alias(struct rk_pack_work *k, const struct rk_entry *e, const char *soname)
{
	const char *beside = rk_pack_sibling(k, e->path, soname);

	if (!beside)
		return RK_E_NOMEM;
	if (!rk_overlay_find(&k->tree, beside) || strcmp(beside, e->path) == 0)
		return e->kind == RK_ENTRY_LINK ?
			       put_source_link(k, e) :
			       rk_pack_put_file(k, e->path, e, RK_PACK_COPY, "", true);
	return put_link(k, e, soname, "another name of the library");
}

static int put_file(struct rk_pack_work *k, const struct rk_entry *e)
{
	const struct rk_file_facts *f;
	int rc = rk_file_facts(k->pl->p, e, &f, k->pl->err);

	if (rc < 0)
		return rc;
	if (f->type == RK_FILE_BROKEN && rk_entry_say(e))
		rk_diag_add(k->pl->p->diag, "broken-elf", e->artifact->label, 0, 1,
			    "'%s' is copied as it is: %.300s", e->path, f->note);
	return rk_pack_put_file(k, e->path, e, RK_PACK_COPY, "", true);
}

static int put_dir(struct rk_pack_work *k, const struct rk_entry *e)
{
	struct rk_pack_item *item = rk_pack_item_add(k, e->path, RK_PACK_DIR, "");

	if (!item)
		return RK_E_NOMEM;
	item->entry = e;
	item->mode = 0755;
	return 0;
}

static int put_entry(struct rk_pack_work *k, const struct rk_entry *e)
{
	const struct rk_dist *d = NULL;
	const struct rk_pack_item *item;

	if (e->kind == RK_ENTRY_DIR)
		return put_dir(k, e);
	item = find_runtime(k, e->path, &d);
	if (item && item->link)
		return put_alias(k, e, item->link);
	if (item && item->content)
		return put_outside(k, e, d->platform);
	return e->kind == RK_ENTRY_LINK ? put_source_link(k, e) : put_file(k, e);
}

int rk_pack_devel(struct rk_pack_work *k)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < k->tree.n; i++)
		rc = put_entry(k, k->tree.v[i]);
	return rc;
}
