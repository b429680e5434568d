/*
 * pack_rules.c - decide which items a package gets from its tree.
 *
 * Runtime packages: wheels cannot hold links, so each library is packed once, under the name that
 * loaders ask for (SONAME), and each link to a program becomes a launcher. Some programs dlopen or
 * preload a name without a version: the table lists these names, and each becomes a small library
 * that loads the real one, or a copy.
 *
 * The devel package has the whole tree: a link for each file of a runtime package, and a copy of
 * the rest.
 */
#include "pack/pack_plan_impl.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

/* ---- runtime and device packages ---- */

static int broken(struct rk_pack_work *k, const struct rk_entry *file,
		  const struct rk_file_facts *f)
{
	return rk_fail(k->pl->err, RK_E_FORMAT, "'%s' cannot be packed: %.300s", file->origin->name,
		       f->note);
}

/* Why a faulty link cannot be followed. */
static const char *const fault_words[] = {
	[RK_LINK_ABSOLUTE] = rk_link_absolute, [RK_LINK_ESCAPES] = rk_link_leaves
};

/* Facts about the target of a link; *ret_end is NULL if it is not a file. */
static int end_of(struct rk_pack_work *k, const struct rk_entry *link,
		  const struct rk_entry **ret_end, const struct rk_file_facts **ret,
		  const char **ret_why)
{
	const struct rk_entry *end = NULL;

	*ret_end = NULL;
	if (link->fault)
		*ret_why = fault_words[link->fault];
	else
		end = rk_artifacts_resolve(link, ret_why);
	if (!end)
		return 0;
	if (end->kind == RK_ENTRY_DIR) {
		*ret_why = "a folder";
		return 0;
	}
	*ret_end = end;
	return rk_file_facts(k->pl->p, end, ret, k->pl->err);
}

/* Will the package have a library with this SONAME next to `path`? 1: yes, 0: no. */
static int has_soname(struct rk_pack_work *k, const char *path, const char *soname)
{
	const char *where = rk_pack_sibling(k, path, soname), *why;
	const struct rk_file_facts *f = NULL;
	const struct rk_entry *e;
	int rc;

	if (!where)
		return RK_E_NOMEM;
	e = rk_overlay_find(&k->tree, where);
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

/* A library is packed under its SONAME only, unless no file has that name. */
static int put_regular(struct rk_pack_work *k, const struct rk_entry *file)
{
	const struct rk_file_facts *f;
	const char *reason = "";
	int rc = rk_file_facts(k->pl->p, file, &f, k->pl->err);

	if (rc < 0)
		return rc;
	if (f->type == RK_FILE_BROKEN)
		return broken(k, file, f);
	if (f->type == RK_FILE_LIBRARY && !f->soname) {
		reason = "library without SONAME";
	} else if (f->type == RK_FILE_LIBRARY &&
		   rk_text_same(rk_base_name(file->path), f->soname)) {
		reason = "SONAME";
	} else if (f->type == RK_FILE_LIBRARY) {
		rc = has_soname(k, file->path, f->soname);
		if (rc < 0)
			return rc;
		if (rc > 0)
			return put_alias(k, file, f->soname);
		reason = "library; no file next to it is named like its SONAME";
	}
	return rk_pack_put_file(k, file->path, file, RK_PACK_COPY, reason, false);
}

/* A dangling link. The reader already warned about links that lead out of the tree. */
static int drop_link(struct rk_pack_work *k, const struct rk_entry *link, const char *why)
{
	if (why == rk_link_circle && rk_entry_say(link))
		rk_diag_add(k->pl->p->diag, "looping-link", link->artifact->label, 0, 1,
			    "'%s' is part of a link loop: left out", link->path);
	return rk_pack_put_drop(k, link, rk_pack_text(k, "link '%s': %s", link->link, why));
}

static int put_link(struct rk_pack_work *k, const struct rk_entry *link)
{
	const struct rk_file_facts *f = NULL;
	const struct rk_entry *end, *there;
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
		/* a launcher needs its program in the same package */
		there = rk_overlay_find(&k->tree, end->path);
		if (there && there->kind == RK_ENTRY_FILE && rk_pack_has_launcher(f->machine))
			return rk_pack_put_launcher(k, link->path, end, f->machine);
		return rk_pack_put_file(k, link->path, end, RK_PACK_RESOLVED,
					there ? "link to a program: no launcher for its machine" :
						"link to a program that is not in this package",
					false);
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
	return rk_pack_put_file(k, link->path, end, RK_PACK_RESOLVED,
				"link, replaced by its content", false);
}

/*
 * Device packages add files to the tree of the libraries, under their own names; links become
 * copies.
 */
int rk_pack_device(struct rk_pack_work *k)
{
	for (size_t i = 0; i < k->tree.n; i++) {
		const struct rk_entry *e = k->tree.v[i], *end = e;
		enum rk_pack_action action = RK_PACK_COPY;
		const struct rk_file_facts *f = NULL;
		const char *why = "", *reason = "";
		int rc;

		if (e->kind == RK_ENTRY_DIR)
			continue;
		if (e->kind == RK_ENTRY_LINK) {
			action = RK_PACK_RESOLVED;
			reason = "link, replaced by its content";
			rc = end_of(k, e, &end, &f, &why);
		} else {
			rc = rk_file_facts(k->pl->p, e, &f, k->pl->err);
		}
		if (rc < 0)
			return rc;
		if (!end)
			rc = drop_link(k, e, why);
		else if (f->type == RK_FILE_BROKEN)
			rc = broken(k, end, f);
		else
			rc = rk_pack_put_file(k, e->path, end, action, reason, false);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* ---- extra names from the table ---- */

/* Returns an index, because the list may be reallocated. */
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
	if (i >= 0) /* a link that dangles in its own artifact may still resolve here */
		k->d->items[i] = k->d->items[--k->d->n];
	rc = rk_file_facts(k->pl->p, end, &f, k->pl->err);
	if (rc < 0)
		return rc;
	if (f->type == RK_FILE_PROGRAM && rk_pack_has_launcher(f->machine))
		return rk_pack_put_launcher(k, l->path, end, f->machine);
	return rk_pack_put_file(k, l->path, end, RK_PACK_RESOLVED, "well-known name", false);
}

/*
 * Adds the name of a library without the part after ".so": a copy, or an empty library that loads
 * it.
 */
static int add_alias(struct rk_pack_work *k, size_t real, const struct rk_file_facts *f, bool copy)
{
	const char *name = k->d->items[real].path, *so = strstr(rk_base_name(name), ".so.");
	size_t len = so ? (size_t)(so - name) + 3 : strlen(name);
	const char *path = rk_pack_text(k, "%.*s", (int)len, name);
	const char *reason = copy ? "name that programs preload" : "name that programs dlopen";
	struct rk_pack_item *item;
	ptrdiff_t i;

	if (!path)
		return RK_E_NOMEM;
	i = find_item(k, path);
	if (i >= 0) { /* the alias that devel knows about */
		item = &k->d->items[i];
		if (item->content)
			return 0;
		item->reason = reason;
	} else {
		item = rk_pack_item_add(k, path, RK_PACK_STUB, reason);
		if (!item)
			return RK_E_NOMEM;
	}
	item->link = f->soname;
	item->mode = k->d->items[real].mode;
	item->entry = k->d->items[real].entry;
	if (copy) {
		item->action = RK_PACK_COPY;
		item->content = k->d->items[real].content;
		item->edit = k->d->items[real].edit;
		return 0;
	}
	item->action = RK_PACK_STUB;
	item->edit = rk_pack_text(k, "loads '%s'", f->soname);
	if (!item->edit)
		return RK_E_NOMEM;
	return rk_pack_put_stub(k, item, f->soname, f->machine);
}

/* Only a library that is packed under its SONAME can have other names. */
static int add_aliases(struct rk_pack_work *k, const struct rk_pack_alias *a, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct rk_pack_item *item = &k->d->items[i];
		const struct rk_file_facts *f;
		int rc;

		if (!item->content || item->link || !item->entry || !item->entry->origin ||
		    item->action == RK_PACK_LAUNCHER || !rk_pack_glob(a->pattern, item->path))
			continue;
		rc = rk_file_facts(k->pl->p, item->entry, &f, k->pl->err);
		if (rc < 0)
			return rc;
		if (f->type != RK_FILE_LIBRARY || !f->soname || !f->machine ||
		    strcmp(f->soname, rk_base_name(item->path)) != 0)
			continue;
		rc = add_alias(k, i, f, a->copy);
		if (rc < 0)
			return rc;
	}
	return 0;
}

int rk_pack_runtime(struct rk_pack_work *k)
{
	const struct rk_pack_kind *kind = k->d->kind;
	size_t n;
	int rc;

	for (size_t i = 0; i < k->tree.n; i++) {
		const struct rk_entry *e = k->tree.v[i];

		if (e->kind == RK_ENTRY_DIR)
			continue;
		rc = e->kind == RK_ENTRY_FILE ? put_regular(k, e) : put_link(k, e);
		if (rc < 0)
			return rc;
	}
	for (size_t i = 0; i < kind->nlinks; i++) {
		rc = add_link(k, &kind->links[i]);
		if (rc < 0)
			return rc;
	}
	n = k->d->n; /* the added names get no further aliases */
	for (size_t i = 0; i < kind->naliases; i++) {
		rc = add_aliases(k, &kind->aliases[i], n);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* ---- Python packages and requirements ---- */

enum { NEEDS_BYTES = 1 << 20 };

static int add_need(struct rk_pack_work *k, const char *extra, const char *text)
{
	struct rk_dist *d = k->d;
	struct rk_pack_need *v =
		rk_arena_grow(k->pl->p->arena, d->needs, d->nneeds, &d->cap_needs, sizeof(*v));

	if (!v || !text)
		return rk_fail_nomem(k->pl->err);
	d->needs = v;
	v[d->nneeds++] = (struct rk_pack_need){ extra, text };
	return 0;
}

/* A line of a requirements file. Lines that PEP 508 does not allow are reported and left out. */
static int add_line(struct rk_pack_work *k, const struct rk_pack_extra *e,
		    const struct rk_pack_item *from, const char *line, size_t len)
{
	const char *comment = memchr(line, '#', len);

	if (comment)
		len = (size_t)(comment - line);
	while (len && isspace((unsigned char)line[len - 1]))
		len--;
	for (; len && isspace((unsigned char)*line); line++)
		len--;
	if (!len || line[0] == '-') /* options of pip are for other tools */
		return 0;
	for (size_t i = 0; i < len; i++)
		if (line[i] < ' ' || line[i] > '~' || (i == 0 && !isalnum((unsigned char)*line))) {
			rk_diag_add(k->pl->p->diag, "requirement", from->entry->artifact->label, 0,
				    1,
				    "'%s' has a line that is not a requirement of a package: "
				    "left out of the extra '%s'",
				    from->path, e->name);
			return 0;
		}
	return add_need(k, e->name, rk_arena_text(k->pl->p->arena, line, len));
}

static int add_extra(struct rk_pack_work *k, const struct rk_pack_extra *e)
{
	ptrdiff_t i = find_item(k, e->file);
	const struct rk_pack_item *item = i >= 0 ? &k->d->items[i] : NULL;
	size_t len, n;
	char *text;
	int rc = add_need(k, e->name, ""); /* the extra exists also without the file */

	if (rc < 0 || !item || !item->content || !item->entry)
		return rc;
	if (item->content->size > NEEDS_BYTES)
		return rk_fail(k->pl->err, RK_E_LIMIT, "'%s' has more than %d bytes",
			       item->entry->origin->name, NEEDS_BYTES);
	len = (size_t)item->content->size;
	text = rk_alloc(len + 1);
	if (!text)
		return rk_fail_nomem(k->pl->err);
	rc = rk_content_read(item->content, 0, text, len, k->pl->err);
	for (size_t at = 0; rc == 0 && at < len; at += n + 1) {
		const char *end = memchr(text + at, '\n', len - at);

		n = end ? (size_t)(end - text) - at : len - at;
		rc = add_line(k, e, item, text + at, n);
	}
	rk_free(text);
	return rc;
}

/* Adds the package NAME if the item is SITE/NAME/__init__.py. */
static int add_top(struct rk_pack_work *k, const char *path, const char *site, size_t site_len)
{
	const char *name = path + site_len + 1, *slash = strchr(path + site_len + 1, '/');
	struct rk_arena *a = k->pl->p->arena;
	struct rk_dist *d = k->d;
	struct rk_pack_top *v;

	if (!slash || strcmp(slash, "/__init__.py") != 0)
		return 0;
	name = rk_arena_text(a, name, (size_t)(slash - name));
	v = rk_arena_grow(a, d->tops, d->ntops, &d->cap_tops, sizeof(*v));
	if (!name || !v)
		return rk_fail_nomem(k->pl->err);
	d->tops = v;
	if (strcmp(name, d->module) == 0 || strcmp(name, d->platform) == 0)
		return rk_fail(k->pl->err, RK_E_FORMAT,
			       "'%s' has the name of the package's own folder '%s'", path, name);
	v[d->ntops].dir = rk_arena_textf(a, "%.*s/%s", (int)site_len, site, name);
	v[d->ntops].name = name;
	return v[d->ntops++].dir ? 0 : rk_fail_nomem(k->pl->err);
}

static int by_top(const void *a, const void *b)
{
	return strcmp(((const struct rk_pack_top *)a)->name, ((const struct rk_pack_top *)b)->name);
}

static int add_python(struct rk_pack_work *k, const struct rk_pack_python *p)
{
	const char *inside = rk_pack_text(k, "%s/%s/__init__.py", p->site, p->package);
	const char *site = NULL;
	size_t len;
	int rc = 0;

	if (!inside)
		return RK_E_NOMEM;
	/* the first folder by name that has the package */
	for (size_t i = 0; i < k->d->n; i++) {
		const struct rk_pack_item *item = &k->d->items[i];

		if (item->content && rk_pack_glob(inside, item->path) &&
		    (!site || strcmp(item->path, site) < 0))
			site = item->path;
	}
	if (!site)
		return 0;
	len = strlen(site) - strlen(p->package) - strlen("//__init__.py");
	for (size_t i = 0; i < k->d->n && rc == 0; i++) {
		const struct rk_pack_item *item = &k->d->items[i];

		if (item->content && !strncmp(item->path, site, len + 1))
			rc = add_top(k, item->path, site, len);
	}
	if (rc == 0 && k->d->ntops)
		qsort(k->d->tops, k->d->ntops, sizeof(*k->d->tops), by_top);
	for (size_t i = 0; rc == 0 && p->requires[i]; i++)
		rc = add_need(k, "", p->requires[i]);
	return rc;
}

int rk_pack_python(struct rk_pack_work *k)
{
	const struct rk_pack_kind *kind = k->d->kind;
	int rc = 0;

	for (size_t i = 0; i < kind->npython && rc == 0; i++)
		rc = add_python(k, &kind->python[i]);
	for (size_t i = 0; i < kind->nextras && rc == 0; i++)
		rc = add_extra(k, &kind->extras[i]);
	return rc;
}

/* ---- devel ---- */

/* The first runtime package that has the path, for this family or for none. */
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

static int put_devel_link(struct rk_pack_work *k, const struct rk_entry *e, const char *text,
			  const char *reason)
{
	struct rk_pack_item *item = rk_pack_item_add(k, e->path, RK_PACK_LINK, reason);

	if (!item)
		return RK_E_NOMEM;
	item->link = text;
	item->entry = e;
	item->mode = 0777;
	return 0;
}

/* Adds a link from the devel tree to the package next to it. */
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
	return put_devel_link(k, e, text, "in a runtime package");
}

/*
 * A link may point to a file that only the merged tree or another package has. If it still dangles,
 * warn and keep it unchanged.
 */
static int put_source_link(struct rk_pack_work *k, const struct rk_entry *e)
{
	const char *why = "", *kind = "escaping-link", *reason;

	if (e->fault)
		why = fault_words[e->fault];
	else if (rk_entry_resolve(rk_overlay_find, &k->tree, e, &why))
		return put_devel_link(k, e, e->link, "link");
	if (why == rk_link_circle)
		kind = "looping-link";
	else if (why == rk_link_dangles)
		kind = "dangling-link";
	/* the reader already warned about links with a fault */
	if (!e->fault && rk_entry_say(e))
		rk_diag_add(k->pl->p->diag, kind, e->artifact->label, 0, 1, "'%s' -> '%s' %s%s",
			    e->path, e->link, why, why == rk_link_dangles ? "" : ": left out");
	if (why == rk_link_dangles)
		return put_devel_link(k, e, e->link, "dangling link");
	reason = rk_pack_text(k, "link '%s': %s", e->link, why);
	return reason ? rk_pack_put_drop(k, e, reason) : RK_E_NOMEM;
}

static int put_entry(struct rk_pack_work *k, const struct rk_entry *e)
{
	const struct rk_dist *d = NULL;
	const struct rk_pack_item *item;
	const struct rk_file_facts *f;
	int rc;

	if (e->kind == RK_ENTRY_DIR) {
		struct rk_pack_item *dir = rk_pack_item_add(k, e->path, RK_PACK_DIR, "");

		if (!dir)
			return RK_E_NOMEM;
		dir->entry = e;
		dir->mode = 0755;
		return 0;
	}
	item = find_runtime(k, e->path, &d);
	if (item && item->link) {
		/* an alias: link to the SONAME next to it if that exists, else use the original */
		const char *beside = rk_pack_sibling(k, e->path, item->link);

		if (!beside)
			return RK_E_NOMEM;
		if (rk_overlay_find(&k->tree, beside) && strcmp(beside, e->path) != 0)
			return put_devel_link(k, e, item->link, "another name of the library");
		if (e->kind == RK_ENTRY_LINK)
			return put_source_link(k, e);
		return rk_pack_put_file(k, e->path, e, RK_PACK_COPY, "", true);
	}
	if (item && item->content)
		return put_outside(k, e, d->platform);
	if (e->kind == RK_ENTRY_LINK)
		return put_source_link(k, e);
	rc = rk_file_facts(k->pl->p, e, &f, k->pl->err);
	if (rc < 0)
		return rc;
	if (f->type == RK_FILE_BROKEN && rk_entry_say(e))
		rk_diag_add(k->pl->p->diag, "broken-elf", e->artifact->label, 0, 1,
			    "'%s' is copied unchanged: %.300s", e->path, f->note);
	return rk_pack_put_file(k, e->path, e, RK_PACK_COPY, "", true);
}

int rk_pack_devel(struct rk_pack_work *k)
{
	for (size_t i = 0; i < k->tree.n; i++) {
		int rc = put_entry(k, k->tree.v[i]);

		if (rc < 0)
			return rc;
	}
	return 0;
}
