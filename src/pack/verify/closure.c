/*
 * closure.c - check that everything a file needs exists: libraries in the folders of its run path,
 * programs that launchers start, targets of links, and libraries under the names that programs
 * dlopen.
 *
 * A library must be found through the run path of the file that needs it. At run time the program's
 * run path may help, but not if another program loads the file.
 */
#include "pack/verify/verify.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "pack/pack_table.h"

enum { MAX_HOPS = 40 };

/* Files that are installed together. */
struct file_set {
	struct rk_path_map map; /* number in v; `any` means a folder */
	const struct rk_proof_file **v;
	size_t n, any;
	struct rk_path_map names; /* last path components: number in v */
};

enum way_end { WAY_THERE, WAY_NOWHERE, WAY_ABSOLUTE, WAY_LEAVES, WAY_CIRCLE };

/* ---- the set ---- */

static bool in_group(const struct rk_proof_package *w, unsigned group)
{
	return !w->sdist && (w->group == 0 || w->group == group);
}

static int put_file(struct rk_proving *p, struct file_set *s, const struct rk_proof_file *f,
		    struct rk_error *err)
{
	ptrdiff_t have = rk_path_map_find(&s->map, f->path, strlen(f->path));
	const char *base = rk_base_name(f->path), *slash;
	int rc;

	if (f->kind == RK_PROOF_DIR)
		return have < 0 ? rk_path_map_put(&s->map, f->path, s->any, err) : 0;
	if (have >= 0 && (size_t)have != s->any) {
		const struct rk_proof_package *w = &p->packages[f->package];
		const struct rk_proof_package *o = &p->packages[s->v[have]->package];

		/* make_set reports two files of the same distribution */
		if (w != o && strcmp(w->name, o->name))
			rk_proof_fault(p, "path-twice", w, f->path, "'%s' has it as well", o->file);
	}
	s->v[s->n] = f;
	rc = rk_path_map_put(&s->map, f->path, s->n, err);
	if (rc == 0 && f->elf && rk_path_map_find(&s->names, base, strlen(base)) < 0)
		rc = rk_path_map_put(&s->names, base, s->n, err);
	s->n++;

	/* all folders above it */
	slash = strrchr(f->path, '/');
	while (rc == 0 && slash) {
		size_t len = (size_t)(slash - f->path);
		const char *folder;

		if (rk_path_map_find(&s->map, f->path, len) >= 0)
			break;
		folder = rk_proof_text(p, f->path, len);
		rc = folder ? rk_path_map_put(&s->map, folder, s->any, err) : RK_E_NOMEM;
		slash = memrchr(f->path, '/', len);
	}
	return rc;
}

static int make_set(struct rk_proving *p, unsigned group, struct file_set *ret)
{
	struct rk_error err = { 0 };
	int rc = 0;

	for (size_t i = 0; i < p->npackages; i++) {
		const struct rk_proof_package *w = &p->packages[i];

		if (!in_group(w, group))
			continue;
		ret->any += w->n;
		/* two files of one distribution cannot both be installed */
		for (size_t k = 0; k < i && w->name[0]; k++)
			if (in_group(&p->packages[k], group) &&
			    !strcmp(w->name, p->packages[k].name))
				rk_proof_fault(p, "distribution-twice", w, "",
					       "'%s' is the same distribution",
					       p->packages[k].file);
	}
	ret->v = rk_reallocn(NULL, ret->any + 1, sizeof(*ret->v));
	if (!ret->v) {
		rk_proof_nomem(p);
		return p->rc;
	}
	for (size_t i = 0; i < p->npackages; i++)
		for (size_t k = 0; k < p->packages[i].n && rc == 0; k++)
			if (in_group(&p->packages[i], group) && p->packages[i].files[k].path[0])
				rc = put_file(p, ret, &p->packages[i].files[k], &err);
	if (rc < 0)
		rk_proof_stop(p, &err);
	return rc < 0 ? rc : p->rc;
}

/* ---- following paths through links ---- */

/* The length of the folder that a path is in. */
static size_t folder_of(const char *path, size_t len)
{
	const char *slash = memrchr(path, '/', len);

	return slash ? (size_t)(slash - path) : 0;
}

/* Follows `rel` from the folder of `from`; ".." goes up from a link's target, as in the kernel. */
static enum way_end walk(const struct file_set *s, const char *from, const char *rel,
			 size_t rel_len, const struct rk_proof_file **ret)
{
	/* done: resolved path so far, without links; todo: the rest, NUL-terminated */
	char done[RK_PROOF_PATH_MAX], todo[RK_PROOF_PATH_MAX], rest[RK_PROOF_PATH_MAX];
	size_t len = folder_of(from, strlen(from)), at = 0;
	unsigned hops = 0;

	*ret = NULL;
	if (len >= sizeof(done) || rel_len >= sizeof(todo))
		return WAY_NOWHERE;
	memcpy(done, from, len);
	memcpy(todo, rel, rel_len);
	todo[rel_len] = '\0';
	while (todo[at]) {
		const char *part = todo + at, *link;
		size_t n = strcspn(part, "/");
		ptrdiff_t i;
		int joined;

		at += n + (part[n] == '/');
		/* accept a slash after a file name: some links end with one */
		if (!n)
			continue;
		if (*ret)
			return WAY_NOWHERE;
		if (n == 1 && part[0] == '.')
			continue;
		if (n == 2 && !strncmp(part, "..", 2)) {
			if (!len)
				return WAY_LEAVES;
			len = folder_of(done, len);
			continue;
		}

		if (len + n + 2 > sizeof(done))
			return WAY_NOWHERE;
		if (len)
			done[len++] = '/';
		memcpy(done + len, part, n);
		len += n;
		i = rk_path_map_find(&s->map, done, len);
		if (i < 0)
			return WAY_NOWHERE;
		if ((size_t)i == s->any)
			continue;
		if (s->v[i]->kind != RK_PROOF_LINK) {
			*ret = s->v[i];
			continue;
		}

		/* continue from the link's folder, with the link text before the rest */
		link = rk_text_or_empty(s->v[i]->link);
		if (link[0] == '/')
			return WAY_ABSOLUTE;
		if (++hops > MAX_HOPS)
			return WAY_CIRCLE;
		joined = snprintf(rest, sizeof(rest), "%s/%s", link, todo + at);
		if (joined < 0 || (size_t)joined >= sizeof(rest))
			return WAY_NOWHERE;
		memcpy(todo, rest, (size_t)joined + 1);
		at = 0;
		len = folder_of(done, len);
	}
	return WAY_THERE;
}

struct closing {
	struct rk_proving *p;
	const struct file_set *s;
	const struct rk_proof_package *w; /* package of the file being checked */
	const struct rk_proof_file *f;
	const struct rk_proof_elf *elf; /* of the file, or of the link's target */
};

/* Libraries of glibc and gcc exist on every machine that the wheels are for. */
static bool from_system(const struct rk_proving *p, const char *name)
{
	static const char *const always[] = {
		"libc.so.6",    "libm.so.6",     "libdl.so.2",     "libpthread.so.0",
		"librt.so.1",   "libutil.so.1",  "libresolv.so.2", "libanl.so.1",
		"libmvec.so.1", "libgcc_s.so.1", "libstdc++.so.6",
	};

	if (!strncmp(name, "ld-linux", 8))
		return true;
	for (unsigned i = 0; i < sizeof(always) / sizeof(*always); i++)
		if (!strcmp(name, always[i]))
			return true;
	for (const char *const *v = p->o->system; v && *v; v++)
		if (!strcmp(name, *v))
			return true;
	return false;
}

/* ---- run paths ---- */

/* The part of an entry after $ORIGIN, or NULL. */
static const char *behind_origin(const char *entry, size_t len, size_t *ret_len)
{
	static const char *const words[] = { "$ORIGIN", "${ORIGIN}" };

	for (unsigned i = 0; i < 2; i++) {
		size_t n = strlen(words[i]);

		if (len >= n && !strncmp(entry, words[i], n) && (len == n || entry[n] == '/')) {
			*ret_len = len - n;
			return entry + n;
		}
	}
	return NULL;
}

static void check_entry(struct closing *c, const char *entry, size_t len)
{
	const struct rk_proof_file *end;
	size_t n;
	const char *rest = behind_origin(entry, len, &n);

	if (!len)
		rk_proof_fault(
			c->p, "rpath-empty", c->w, c->f->path,
			"its run path has an empty entry, which means the current directory");
	else if (entry[0] == '/')
		rk_proof_fault(c->p, "rpath-absolute", c->w, c->f->path,
			       "its run path has the absolute folder '%.*s'", (int)len, entry);
	else if (!rest)
		rk_proof_fault(c->p, "rpath-relative", c->w, c->f->path,
			       "its run path has '%.*s', which does not begin with $ORIGIN",
			       (int)len, entry);
	else if (walk(c->s, c->f->path, rest, n, &end) == WAY_LEAVES)
		rk_proof_fault(c->p, "rpath-escapes", c->w, c->f->path,
			       "its run path has '%.*s', which leads out of site-packages",
			       (int)len, entry);
}

/* ---- libraries ---- */

static bool in_run_path(const struct closing *c, const char *name)
{
	char path[RK_PROOF_PATH_MAX];

	for (const char *at = c->elf->path; at;) {
		size_t len, n = strcspn(at, ":");
		const char *rest = behind_origin(at, n, &len);
		const struct rk_proof_file *found = NULL;
		int k;

		at = at[n] ? at + n + 1 : NULL;
		if (!rest)
			continue;
		k = snprintf(path, sizeof(path), "%.*s/%s", (int)len, rest, name);
		if (k <= 0 || (size_t)k >= sizeof(path) ||
		    walk(c->s, c->f->path, path, (size_t)k, &found) != WAY_THERE)
			continue;
		/* the loader skips files for other machines */
		if (found && found->elf && found->elf->machine == c->elf->machine &&
		    found->elf->kind == RK_ELF_SHARED)
			return true;
	}
	return false;
}

/* Searches for all needed libraries, starting from the folder of c->f. */
static void check_all_needed(struct closing *c)
{
	for (size_t k = 0; k < c->elf->nneeded; k++) {
		const char *name = c->elf->needed[k];
		ptrdiff_t i;

		if (strchr(name, '/')) {
			rk_proof_fault(c->p, "needed-path", c->w, c->f->path,
				       "needs '%s', which is a path, not a library name", name);
			continue;
		}
		if (in_run_path(c, name) || from_system(c->p, name))
			continue;
		i = rk_path_map_find(&c->s->names, name, strlen(name));
		if (i >= 0)
			rk_proof_fault(c->p, "needed-unresolved", c->w, c->f->path,
				       "needs '%s': its run path does not lead to '%s'", name,
				       c->s->v[i]->path);
		else
			rk_proof_fault(
				c->p, "needed-unresolved", c->w, c->f->path,
				"needs '%s', which no package has and not every system provides",
				name);
	}
}

/* ---- links and launchers ---- */

/* Does the link text stay in its tree? Then the link was dangling before it was packed. */
static bool stays_in_tree(const char *path, const char *link)
{
	size_t depth = 0, n;

	for (; *path; path++)
		depth += *path == '/';
	for (; *link; link += n + (link[n] == '/')) {
		n = strcspn(link, "/");
		if (n != 2 || memcmp(link, "..", 2) != 0)
			depth += n && !(n == 1 && link[0] == '.');
		else if (--depth == 0)
			return false;
	}
	return true;
}

static void check_link(struct closing *c)
{
	static const struct {
		const char *kind, *text;
	} says[] = {
		[WAY_NOWHERE] = { "link-dangling", "points to '%s', which no package has" },
		[WAY_ABSOLUTE] = { "link-absolute", "points to the absolute path '%s'" },
		[WAY_LEAVES] = { "link-escapes", "points to '%s', which is outside site-packages" },
		[WAY_CIRCLE] = { "link-circle", "points to '%s', which leads back to itself" },
	};
	const char *link = rk_text_or_empty(c->f->link);
	const struct rk_proof_file *end = NULL;
	enum way_end how = WAY_ABSOLUTE;
	char text[RK_PROOF_PATH_MAX];

	if (link[0] != '/')
		how = walk(c->s, c->f->path, link, strlen(link), &end);
	if (how != WAY_THERE) {
		const char *form = says[how].text, *hole = strstr(form, "%s");

		snprintf(text, sizeof(text), "%.*s%s%s", (int)(hole - form), form, link, hole + 2);
		if (how == WAY_NOWHERE && stays_in_tree(c->f->path, link))
			rk_proof_note(c->p, says[how].kind, c->w, c->f->path, "%s", text);
		else
			rk_proof_fault(c->p, says[how].kind, c->w, c->f->path, "%s", text);
		return;
	}
	/* a library loaded by this name searches from here */
	if (end && end->elf && end->elf->kind == RK_ELF_SHARED) {
		c->elf = end->elf;
		check_all_needed(c);
	}
}

static void check_file(struct closing *c)
{
	const struct rk_proof_file *end = NULL;
	const char *target = c->f->launcher;

	c->elf = rk_proof_is_loadable(c->f->elf) ? c->f->elf : NULL;
	if (c->f->kind == RK_PROOF_LINK) {
		check_link(c);
	} else if (target) {
		if (walk(c->s, c->f->path, target, strlen(target), &end) != WAY_THERE || !end)
			rk_proof_fault(c->p, "launcher-target", c->w, c->f->path,
				       "starts '%s', which does not exist", target);
		else if (!(end->mode & 0111))
			rk_proof_fault(c->p, "launcher-target", c->w, c->f->path,
				       "starts '%s', which is not executable", target);
	} else if (c->elf) {
		for (const char *at = c->elf->path; at;) {
			size_t n = strcspn(at, ":");

			check_entry(c, at, n);
			at = at[n] ? at + n + 1 : NULL;
		}
		check_all_needed(c);
	}
	if (c->f->kind == RK_PROOF_FILE && c->elf && c->elf->kind == RK_ELF_EXE &&
	    !(c->f->mode & 0111))
		rk_proof_fault(c->p, "not-executable", c->w, c->f->path,
			       "a program that is not executable (mode %o)", c->f->mode);
}

/* ---- names that programs dlopen ---- */

static void check_dlopen(struct closing *c, const struct rk_pack_kind *k)
{
	const char *path = c->f->path, *base = rk_base_name(path);
	const char *tree = strchr(path, '/'), *so = strstr(base, ".so.");
	size_t len = so ? (size_t)(so - path) + 3 : 0; /* length of the path without a version */

	for (size_t i = 0; tree && so && i < k->naliases; i++) {
		if (!rk_pack_glob(k->aliases[i].pattern, tree + 1) ||
		    rk_path_map_find(&c->s->map, path, len) >= 0)
			continue;
		rk_proof_fault(c->p, "dlopen-missing", c->w, path,
			       "programs dlopen '%.*s', which does not exist", (int)(so + 3 - base),
			       base);
		return;
	}
}

void rk_proof_closure(struct rk_proving *p, unsigned group)
{
	const struct rk_pack_table *table = NULL;
	struct file_set s = { 0 };
	struct rk_error err = { 0 };

	if (make_set(p, group, &s) < 0)
		goto out;
	if (rk_pack_table_load(p->arena, NULL, &table, &err) < 0) {
		rk_proof_stop(p, &err);
		goto out;
	}
	for (size_t i = 0; i < s.n && p->rc == 0; i++) {
		struct closing c = {
			.p = p, .s = &s, .f = s.v[i], .w = &p->packages[s.v[i]->package]
		};

		check_file(&c);
		if (c.f->inner || c.f->kind != RK_PROOF_FILE || !rk_proof_is_loadable(c.f->elf))
			continue;
		for (size_t k = 0; k < table->n; k++)
			check_dlopen(&c, &table->kinds[k]);
	}
out:
	rk_path_map_release(&s.map);
	rk_path_map_release(&s.names);
	rk_free(s.v);
}
