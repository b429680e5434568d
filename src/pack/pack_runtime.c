/*
 * pack_runtime.c - the rules of runtime packages: wheels hold no links, so each library is there once,
 * under the name that loaders ask for, and each link to a program is a launcher.
 */
#include <string.h>

#include "base/text.h"
#include "pack/pack_plan_impl.h"

static int broken(struct rk_pack_work *k, const struct rk_entry *file,
		  const struct rk_file_facts *f)
{
	return rk_fail(k->pl->err, RK_E_FORMAT, "'%s' cannot be packed: %.300s", file->origin->name,
		       f->note);
}

/* Facts of what a link ends at; NULL in *ret_end: at no file. */
static int end_of(struct rk_pack_work *k, const struct rk_entry *link,
		  const struct rk_entry **ret_end, const struct rk_file_facts **ret,
		  const char **ret_why)
{
	const struct rk_entry *end =
		link->fault ? NULL : rk_artifacts_resolve(k->pl->p->artifacts, link, ret_why);

	*ret_end = NULL;
	if (link->fault)
		*ret_why = link->fault == RK_LINK_ABSOLUTE ? rk_link_absolute : rk_link_leaves;
	if (end && end->kind == RK_ENTRY_DIR) {
		*ret_why = "a folder";
		return 0;
	}
	*ret_end = end;
	return end ? rk_file_facts(k->pl->p, end, ret, k->pl->err) : 0;
}

/* Will the package have a library with this SONAME beside `path`? 1 yes, 0 no. */
static int has_soname(struct rk_pack_work *k, const char *path, const char *soname)
{
	const char *where = rk_pack_sibling(k, path, soname), *why;
	const struct rk_entry *e = where ? rk_overlay_find(&k->tree, where) : NULL;
	const struct rk_file_facts *f = NULL;
	int rc = 0;

	if (!where)
		return RK_E_NOMEM;
	if (!e)
		return 0;
	if (e->kind == RK_ENTRY_LINK) {
		rc = end_of(k, e, &e, &f, &why);
		if (rc < 0 || !e)
			return rc;
	}
	rc = rk_file_facts(k->pl->p, e, &f, k->pl->err);
	if (rc < 0)
		return rc;
	return f->type == RK_FILE_LIBRARY && f->soname && rk_text_same(f->soname, soname);
}

static int put_alias(struct rk_pack_work *k, const struct rk_entry *e, const char *soname)
{
	struct rk_pack_item *item =
		rk_pack_item_add(k, e->path, RK_PACK_ALIAS, "another name of the library");

	if (!item)
		return RK_E_NOMEM;
	item->link = soname;
	item->entry = e;
	item->mode = 0;
	return 0;
}

/* A library goes by its SONAME alone, unless nothing has that name. */
static int put_library(struct rk_pack_work *k, const struct rk_entry *file,
		       const struct rk_file_facts *f)
{
	int rc;

	if (!f->soname)
		return rk_pack_put_file(k, file->path, file, RK_PACK_COPY, "library without SONAME",
					false);
	if (rk_text_same(rk_base_name(file->path), f->soname))
		return rk_pack_put_file(k, file->path, file, RK_PACK_COPY, "SONAME", false);
	rc = has_soname(k, file->path, f->soname);
	if (rc < 0)
		return rc;
	if (rc > 0)
		return put_alias(k, file, f->soname);
	return rk_pack_put_file(k, file->path, file, RK_PACK_COPY,
				"library; nothing beside it has the name of its SONAME", false);
}

static int put_regular(struct rk_pack_work *k, const struct rk_entry *file)
{
	const struct rk_file_facts *f;
	int rc = rk_file_facts(k->pl->p, file, &f, k->pl->err);

	if (rc < 0)
		return rc;
	if (f->type == RK_FILE_BROKEN)
		return broken(k, file, f);
	if (f->type == RK_FILE_LIBRARY)
		return put_library(k, file, f);
	return rk_pack_put_file(k, file->path, file, RK_PACK_COPY, "", false);
}

/* A launcher needs its program in the same package. */
static int put_program_link(struct rk_pack_work *k, const struct rk_entry *link,
			    const struct rk_entry *end, const struct rk_file_facts *f)
{
	const struct rk_entry *there = rk_overlay_find(&k->tree, end->path);

	if (there && there->kind == RK_ENTRY_FILE && rk_pack_has_launcher(f->machine))
		return rk_pack_put_launcher(k, link->path, end, f->machine);
	return rk_pack_put_file(k, link->path, end, RK_PACK_RESOLVED,
				there ? "link to a program: no launcher for its machine" :
					"link to a program that is not in this package",
				false);
}

/* A link that leads nowhere; those that lead out were warned of when they were read. */
static int drop_link(struct rk_pack_work *k, const struct rk_entry *link, const char *why)
{
	if (why == rk_link_circle && rk_entry_say(link))
		rk_diag_add(k->pl->p->diag, "looping-link", link->artifact->label, 0, 1,
			    "'%s' runs in a circle: left out", link->path);
	return rk_pack_put_drop(k, link, rk_pack_text(k, "link '%s': %s", link->link, why));
}

static int put_link(struct rk_pack_work *k, const struct rk_entry *link)
{
	const struct rk_file_facts *f = NULL;
	const struct rk_entry *end;
	const char *why = "";
	int rc = end_of(k, link, &end, &f, &why);

	if (rc < 0)
		return rc;
	if (!end)
		return drop_link(k, link, why);
	switch (f->type) {
	case RK_FILE_BROKEN:
		return broken(k, end, f);
	case RK_FILE_PROGRAM:
	case RK_FILE_STATIC:
		return put_program_link(k, link, end, f);
	case RK_FILE_LIBRARY:
		if (!f->soname)
			break;
		if (rk_text_same(rk_base_name(link->path), f->soname))
			return rk_pack_put_file(k, link->path, end, RK_PACK_RESOLVED, "SONAME",
						false);
		return put_alias(k, link, f->soname);
	case RK_FILE_DATA:
		break;
	}
	return rk_pack_put_file(k, link->path, end, RK_PACK_RESOLVED, "link: its content", false);
}

int rk_pack_runtime(struct rk_pack_work *k)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < k->tree.n; i++) {
		const struct rk_entry *e = k->tree.v[i];

		if (e->kind == RK_ENTRY_FILE)
			rc = put_regular(k, e);
		else if (e->kind == RK_ENTRY_LINK)
			rc = put_link(k, e);
	}
	return rc;
}

/* Device packages lie over the libraries: every file as it is called, links as their content. */
static int put_device(struct rk_pack_work *k, const struct rk_entry *e)
{
	const struct rk_entry *end = e;
	const struct rk_file_facts *f = NULL;
	const char *why = "";
	int rc = e->kind == RK_ENTRY_LINK ? end_of(k, e, &end, &f, &why) :
					    rk_file_facts(k->pl->p, e, &f, k->pl->err);

	if (rc < 0)
		return rc;
	if (!end)
		return drop_link(k, e, why);
	if (f->type == RK_FILE_BROKEN)
		return broken(k, end, f);
	return rk_pack_put_file(k, e->path, end, end == e ? RK_PACK_COPY : RK_PACK_RESOLVED,
				end == e ? "" : "link: its content", false);
}

int rk_pack_device(struct rk_pack_work *k)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < k->tree.n; i++)
		if (k->tree.v[i]->kind != RK_ENTRY_DIR)
			rc = put_device(k, k->tree.v[i]);
	return rc;
}
