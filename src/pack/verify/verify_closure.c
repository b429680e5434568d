/*
 * verify_closure.c - everything a file needs is there: libraries by the folders of its own run path, what
 * launchers start, what links point at, and libraries under the names that programs dlopen.
 *
 * A library counts as found by its own run path alone. That of the program which loads it may help at run
 * time; it does not when somebody else loads it.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "pack/pack_table.h"
#include "pack/verify/verify_impl.h"

struct closing {
	struct rk_proving *p;
	const struct rk_proof_set *s;
	const struct rk_proof_package *w; /* of the file that is looked at */
	const struct rk_proof_file *f;
	const struct rk_proof_elf *elf; /* of the file, or of what the link leads to */
};

/* Part of glibc, or of gcc: on every machine that the wheels are for. */
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

/* What follows $ORIGIN in an entry, or NULL. */
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
			"its run path has an empty entry: the folder a program is started in");
	else if (entry[0] == '/')
		rk_proof_fault(c->p, "rpath-absolute", c->w, c->f->path,
			       "its run path has '%.*s', a folder of one machine", (int)len, entry);
	else if (!rest)
		rk_proof_fault(c->p, "rpath-relative", c->w, c->f->path,
			       "its run path has '%.*s', which does not begin with $ORIGIN",
			       (int)len, entry);
	else if (rk_proof_walk(c->s, c->f->path, rest, n, &end) == RK_WAY_LEAVES)
		rk_proof_fault(c->p, "rpath-escapes", c->w, c->f->path,
			       "its run path has '%.*s', which leads out of site-packages",
			       (int)len, entry);
}

static void check_entries(struct closing *c)
{
	const char *at = c->elf->path;

	while (at) {
		size_t n = strcspn(at, ":");

		check_entry(c, at, n);
		at = at[n] ? at + n + 1 : NULL;
	}
}

/* ---- libraries ---- */

/* The loader passes over files for other machines. */
static bool fits(const struct closing *c, const struct rk_proof_file *f)
{
	return f && f->elf && f->elf->machine == c->elf->machine && f->elf->kind == RK_ELF_SHARED;
}

static bool in_folder(const struct closing *c, const char *rest, size_t len, const char *name)
{
	char path[RK_PROOF_PATH_MAX];
	const struct rk_proof_file *found = NULL;
	int n = snprintf(path, sizeof(path), "%.*s/%s", (int)len, rest, name);

	return n > 0 && (size_t)n < sizeof(path) &&
	       rk_proof_walk(c->s, c->f->path, path, (size_t)n, &found) == RK_WAY_THERE &&
	       fits(c, found);
}

static bool in_run_path(const struct closing *c, const char *name)
{
	const char *at = c->elf->path;

	while (at) {
		size_t len, n = strcspn(at, ":");
		const char *rest = behind_origin(at, n, &len);

		if (rest && in_folder(c, rest, len, name))
			return true;
		at = at[n] ? at + n + 1 : NULL;
	}
	return false;
}

static void check_needed(struct closing *c, const char *name)
{
	ptrdiff_t i;

	if (strchr(name, '/')) {
		rk_proof_fault(c->p, "needed-path", c->w, c->f->path,
			       "needs '%s', a path and not a library's name", name);
		return;
	}
	if (in_run_path(c, name) || from_system(c->p, name))
		return;
	i = rk_path_map_find(&c->s->names, name, strlen(name));
	if (i >= 0)
		rk_proof_fault(c->p, "needed-unresolved", c->w, c->f->path,
			       "needs '%s': its run path does not lead to '%s'", name,
			       c->s->v[i]->path);
	else
		rk_proof_fault(c->p, "needed-unresolved", c->w, c->f->path,
			       "needs '%s', which no package has and not every system", name);
}

static void check_elf(struct closing *c)
{
	check_entries(c);
	for (size_t i = 0; i < c->elf->nneeded; i++)
		check_needed(c, c->elf->needed[i]);
}

static bool loadable(const struct rk_proof_elf *e)
{
	return e && (e->kind == RK_ELF_EXE || e->kind == RK_ELF_SHARED);
}

/* ---- links and launchers ---- */

/* By its text it stays in the tree it is in: nobody but the maker of that tree could have kept it whole. */
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
		[RK_WAY_NOWHERE] = { "link-dangling", "points at '%s', which no package has" },
		[RK_WAY_ABSOLUTE] = { "link-absolute", "points at '%s', a place of one machine" },
		[RK_WAY_LEAVES] = { "link-escapes", "points at '%s', out of site-packages" },
		[RK_WAY_CIRCLE] = { "link-circle", "points at '%s', and back to itself" },
	};
	const char *link = c->f->link ? c->f->link : "";
	const struct rk_proof_file *end = NULL;
	enum rk_proof_walk how = link[0] == '/' ?
					 RK_WAY_ABSOLUTE :
					 rk_proof_walk(c->s, c->f->path, link, strlen(link), &end);
	char text[RK_PROOF_PATH_MAX];

	if (how != RK_WAY_THERE) {
		const char *form = says[how].text, *hole = strstr(form, "%s");

		snprintf(text, sizeof(text), "%.*s%s%s", (int)(hole - form), form, link, hole + 2);
		if (how == RK_WAY_NOWHERE && stays_in_tree(c->f->path, link))
			rk_proof_note(c->p, says[how].kind, c->w, c->f->path, "%s", text);
		else
			rk_proof_fault(c->p, says[how].kind, c->w, c->f->path, "%s", text);
		return;
	}
	/* a library that is loaded by this name searches from here */
	c->elf = end && loadable(end->elf) && end->elf->kind == RK_ELF_SHARED ? end->elf : NULL;
	for (size_t i = 0; c->elf && i < c->elf->nneeded; i++)
		check_needed(c, c->elf->needed[i]);
}

static void check_launcher(struct closing *c)
{
	const struct rk_proof_file *end = NULL;
	const char *target = c->f->launcher;
	enum rk_proof_walk how = rk_proof_walk(c->s, c->f->path, target, strlen(target), &end);

	if (how != RK_WAY_THERE || !end)
		rk_proof_fault(c->p, "launcher-target", c->w, c->f->path,
			       "starts '%s', which is not there", target);
	else if (!(end->mode & 0111))
		rk_proof_fault(c->p, "launcher-target", c->w, c->f->path,
			       "starts '%s', which is not executable", target);
}

static void check_file(struct closing *c)
{
	c->elf = loadable(c->f->elf) ? c->f->elf : NULL;
	if (c->f->kind == RK_PROOF_LINK)
		check_link(c);
	else if (c->f->launcher)
		check_launcher(c);
	else if (c->elf)
		check_elf(c);
	if (c->f->kind == RK_PROOF_FILE && c->elf && c->elf->kind == RK_ELF_EXE &&
	    !(c->f->mode & 0111))
		rk_proof_fault(c->p, "not-executable", c->w, c->f->path,
			       "a program whose mode is %o", c->f->mode);
}

/* ---- names that programs dlopen ---- */

/* A library's name without its version: the length up to ".so"; 0: it has none. */
static size_t plain_length(const char *path)
{
	const char *base = rk_base_name(path), *so = strstr(base, ".so.");

	return so ? (size_t)(so - path) + 3 : 0;
}

static void check_dlopen(struct closing *c, const struct rk_pack_kind *k)
{
	const char *tree = strchr(c->f->path, '/');
	size_t len = plain_length(c->f->path);

	for (size_t i = 0; tree && len && i < k->naliases; i++) {
		if (!rk_pack_glob(k->aliases[i].pattern, tree + 1) ||
		    rk_path_map_find(&c->s->map, c->f->path, len) >= 0)
			continue;
		rk_proof_fault(c->p, "dlopen-missing", c->w, c->f->path,
			       "programs dlopen '%.*s', which is not there",
			       (int)(len - (size_t)(rk_base_name(c->f->path) - c->f->path)),
			       rk_base_name(c->f->path));
		return;
	}
}

static void check_names(struct closing *c, const struct rk_pack_table *t)
{
	if (c->f->inner || c->f->kind != RK_PROOF_FILE || !loadable(c->f->elf))
		return;
	for (size_t i = 0; i < t->n; i++)
		check_dlopen(c, &t->kinds[i]);
}

void rk_proof_closure(struct rk_proving *p, const struct rk_proof_set *s)
{
	const struct rk_pack_table *table = NULL;
	struct rk_error err = { 0 };

	if (rk_pack_table_load(p->arena, NULL, &table, &err) < 0) {
		rk_proof_stop(p, &err);
		return;
	}
	for (size_t i = 0; i < s->n && p->rc == 0; i++) {
		struct closing c = {
			.p = p, .s = s, .f = s->v[i], .w = &p->packages[s->v[i]->package]
		};

		check_file(&c);
		check_names(&c, table);
	}
}
