/* pack_table.c - the package table from data/pack/packages.json, and names derived from it. */
#include "pack/pack_table.h"

#include <string.h>

#include "base/data.h"
#include "base/words.h"
#include "codec/json/tree.h"
#include "pack/artifacts.h"

#define TABLE_FILE "pack/packages.json"

struct table_reader {
	struct rk_arena *arena;
	struct rk_error *err;
};

static int fault(struct table_reader *r, const struct rk_tree *at, const char *what)
{
	int rc = rk_fail(r->err, RK_E_FORMAT, "package table: %s", what);

	rk_error_at(r->err, TABLE_FILE, at ? at->line : 0, 0);
	return rc;
}

/* Copies the value to the arena; *ret is `missing` if the key is absent. */
static int read_text(struct table_reader *r, const struct rk_tree *t, const char *key,
		     const char *missing, const char **ret)
{
	const struct rk_tree *v = rk_tree_get(t, key);

	*ret = missing;
	if (!v)
		return 0;
	if (v->kind != RK_TREE_TEXT)
		return fault(r, v, "a value is not a text");
	*ret = rk_arena_text(r->arena, v->text, strlen(v->text));
	return *ret ? 0 : rk_fail_nomem(r->err);
}

static int read_needed(struct table_reader *r, const struct rk_tree *t, const char *key,
		       const char **ret)
{
	int rc = read_text(r, t, key, NULL, ret);

	if (rc < 0)
		return rc;
	return *ret ? 0 : fault(r, t, "a text is missing");
}

/*
 * Allocates space for the members of an array plus a NULL at the end; *ret_n is 0 if it is absent.
 */
static int read_room(struct table_reader *r, const struct rk_tree *list, size_t size, void *ret,
		     size_t *ret_n)
{
	size_t n = list ? list->n : 0;
	void *p = rk_arena_alloc(r->arena, (n + 1) * size);

	if (list && list->kind != RK_TREE_ARRAY)
		return fault(r, list, "a value is not a list");
	if (!p)
		return rk_fail_nomem(r->err);
	memcpy(ret, &p, sizeof(p));
	*ret_n = n;
	return 0;
}

static int read_names(struct table_reader *r, const struct rk_tree *t, const char *key,
		      const char *const **ret)
{
	const struct rk_tree *list = rk_tree_get(t, key);
	const char **v = NULL;
	size_t n, i = 0;
	int rc = read_room(r, list, sizeof(*v), &v, &n);

	if (rc < 0)
		return rc;
	RK_TREE_EACH(c, list)
	if (!(v[i++] = rk_arena_text(r->arena, c->text, strlen(c->text))))
		return rk_fail_nomem(r->err);
	*ret = v;
	return 0;
}

static int read_components(struct table_reader *r, const struct rk_tree *t, const char *key,
			   unsigned *ret)
{
	const struct rk_words words = { .what = "component",
					.names = rk_component_names,
					.n = RK_NCOMPONENTS };
	unsigned all = 0, one;
	int rc = 0;

	RK_TREE_EACH(c, rk_tree_get(t, key))
	{
		rc = rk_words_parse(&words, c->text, &one, r->err);
		if (rc < 0)
			return rc;
		all |= one;
	}
	*ret = all;
	return 0;
}

/* Reads one member of a list into its struct. */
typedef int member_fn(struct table_reader *r, const struct rk_tree *t, void *to);

static int read_list(struct table_reader *r, const struct rk_tree *t, const char *key,
		     member_fn *read, size_t size, void *ret, size_t *ret_n)
{
	const struct rk_tree *list = rk_tree_get(t, key);
	char *at;
	int rc = read_room(r, list, size, ret, ret_n);

	if (rc < 0)
		return rc;
	memcpy(&at, ret, sizeof(at));
	RK_TREE_EACH(c, list)
	{
		rc = read(r, c, at);
		if (rc < 0)
			return rc;
		at += size;
	}
	return 0;
}

static int read_take(struct table_reader *r, const struct rk_tree *t, void *to)
{
	struct rk_pack_take *take = to;
	int rc = read_names(r, t, "names", &take->names);

	take->extra = rk_tree_true(rk_tree_get(t, "extra"));
	return rc < 0 ? rc : read_components(r, t, "components", &take->components);
}

static int read_rpath(struct table_reader *r, const struct rk_tree *t, void *to)
{
	struct rk_pack_rpath *p = to;
	int rc = read_needed(r, t, "package", &p->kind);

	return rc < 0 ? rc : read_needed(r, t, "dir", &p->dir);
}

static int read_alias(struct table_reader *r, const struct rk_tree *t, void *to)
{
	struct rk_pack_alias *a = to;

	a->copy = rk_tree_true(rk_tree_get(t, "copy"));
	return read_needed(r, t, "pattern", &a->pattern);
}

static int read_extra(struct table_reader *r, const struct rk_tree *t, void *to)
{
	struct rk_pack_extra *e = to;
	int rc = read_needed(r, t, "name", &e->name);

	return rc < 0 ? rc : read_needed(r, t, "file", &e->file);
}

static int read_python(struct table_reader *r, const struct rk_tree *t, void *to)
{
	struct rk_pack_python *p = to;
	int rc;

	if ((rc = read_needed(r, t, "site", &p->site)) < 0 ||
	    (rc = read_needed(r, t, "package", &p->package)) < 0)
		return rc;
	return read_names(r, t, "requires", &p->requires);
}

static int read_link(struct table_reader *r, const struct rk_tree *t, void *to)
{
	struct rk_pack_link *l = to;
	int rc = read_needed(r, t, "path", &l->path);

	return rc < 0 ? rc : read_needed(r, t, "target", &l->target);
}

static int read_script(struct table_reader *r, const struct rk_tree *t, void *to)
{
	struct rk_pack_script *s = to;
	int rc;

	s->plain = rk_tree_true(rk_tree_get(t, "plain"));
	s->required = rk_tree_true(rk_tree_get(t, "required"));
	rc = read_needed(r, t, "name", &s->name);
	return rc < 0 ? rc : read_needed(r, t, "path", &s->path);
}

static int read_role(struct table_reader *r, const struct rk_tree *t, enum rk_pack_role *ret)
{
	static const char *const roles[] = { [RK_PACK_META] = "meta",
					     [RK_PACK_RUNTIME] = "runtime",
					     [RK_PACK_DEVICE] = "device",
					     [RK_PACK_DEVEL] = "devel" };
	const char *text = rk_tree_text(rk_tree_get(t, "role"), "");

	for (size_t i = 0; i < sizeof(roles) / sizeof(*roles); i++) {
		if (strcmp(text, roles[i]) == 0) {
			*ret = (enum rk_pack_role)i;
			return 0;
		}
	}
	return fault(r, t, "unknown role");
}

static int read_kind(struct table_reader *r, const struct rk_tree *t, void *to)
{
	struct rk_pack_kind *k = to;
	int rc;

	k->required = rk_tree_true(rk_tree_get(t, "required"));
	k->must_exist = k->required || rk_tree_true(rk_tree_get(t, "must_exist"));
	k->per_family = rk_tree_true(rk_tree_get(t, "per_family"));
	if ((rc = read_role(r, t, &k->role)) < 0 ||
	    (rc = read_needed(r, t, "logical", &k->logical)) < 0 ||
	    (rc = read_needed(r, t, "dist", &k->dist)) < 0 ||
	    (rc = read_text(r, t, "dist_kpack", k->dist, &k->dist_kpack)) < 0 ||
	    (rc = read_text(r, t, "module", NULL, &k->module)) < 0 ||
	    (rc = read_text(r, t, "overlays", NULL, &k->overlays)) < 0 ||
	    (rc = read_needed(r, t, "summary", &k->summary)) < 0 ||
	    (rc = read_list(r, t, "take", read_take, sizeof(*k->takes), &k->takes, &k->ntakes)) <
		    0 ||
	    (rc = read_names(r, t, "include", &k->include)) < 0 ||
	    (rc = read_names(r, t, "exclude", &k->exclude)) < 0 ||
	    (rc = read_list(r, t, "rpaths", read_rpath, sizeof(*k->rpaths), &k->rpaths,
			    &k->nrpaths)) < 0 ||
	    (rc = read_list(r, t, "aliases", read_alias, sizeof(*k->aliases), &k->aliases,
			    &k->naliases)) < 0 ||
	    (rc = read_list(r, t, "extras", read_extra, sizeof(*k->extras), &k->extras,
			    &k->nextras)) < 0 ||
	    (rc = read_list(r, t, "python", read_python, sizeof(*k->python), &k->python,
			    &k->npython)) < 0 ||
	    (rc = read_list(r, t, "links", read_link, sizeof(*k->links), &k->links, &k->nlinks)) <
		    0 ||
	    (rc = read_list(r, t, "scripts", read_script, sizeof(*k->scripts), &k->scripts,
			    &k->nscripts)) < 0 ||
	    (rc = read_names(r, t, "also", &k->also)) < 0 ||
	    (rc = read_names(r, t, "also_kpack", &k->also_kpack)) < 0 ||
	    (rc = read_names(r, t, "never", &k->never)) < 0 ||
	    (rc = read_components(r, t, "components", &k->components)) < 0)
		return rc;
	return read_components(r, t, "components_kpack", &k->components_kpack);
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Packaging standards allow letters and digits, with '-', '_' or '.' between them. */
static bool is_dist_name(const char *s)
{
	size_t len = strlen(s);

	if (!len || len > 100 || !is_word(s[0]) || !is_word(s[len - 1]))
		return false;
	for (size_t i = 0; i < len; i++)
		if (!is_word(s[i]) && !strchr("-_.", s[i]))
			return false;
	return true;
}

/* Lower case; everything but letters and digits becomes the same character. */
static char folded(char c)
{
	if (c >= 'A' && c <= 'Z')
		return (char)(c + 32);
	return is_word(c) ? c : '-';
}

/* Package names are equal if they differ only in case and in '-', '_', '.'. */
static bool same_dist(const char *a, const char *b)
{
	for (; *a && *b; a++, b++)
		if (folded(*a) != folded(*b))
			return false;
	return *a == *b;
}

static int rename_profiler(struct table_reader *r, struct rk_pack_table *t, const char *name)
{
	struct rk_pack_kind *profiler = NULL;

	if (!is_dist_name(name))
		return rk_fail(r->err, RK_E_USAGE,
			       "invalid package name '%.100s' (use letters, digits and '-')", name);
	for (size_t i = 0; i < t->n; i++) {
		if (strcmp(t->kinds[i].logical, "profiler") == 0)
			profiler = &t->kinds[i];
		else if (same_dist(t->kinds[i].dist, name) ||
			 same_dist(t->kinds[i].dist_kpack, name))
			return rk_fail(r->err, RK_E_USAGE,
				       "the profiler package cannot be called '%.100s': "
				       "another package has that name",
				       name);
	}
	if (!profiler)
		return fault(r, NULL, "there is no profiler");
	profiler->dist = rk_arena_text(r->arena, name, strlen(name));
	profiler->dist_kpack = profiler->dist;
	return profiler->dist ? 0 : rk_fail_nomem(r->err);
}

int rk_pack_table_load(struct rk_arena *a, const char *profiler, const struct rk_pack_table **ret,
		       struct rk_error *err)
{
	const struct rk_data_file *f = rk_data_find(TABLE_FILE);
	struct table_reader r = { .arena = a, .err = err };
	struct rk_pack_table *t = rk_arena_alloc(a, sizeof(*t));
	struct rk_tree *root = NULL;
	int rc;

	if (!t)
		return rk_fail_nomem(err);
	if (!f)
		return fault(&r, NULL, "missing in this build");
	rc = rk_tree_parse_json(f->text, f->len, TABLE_FILE, &root, err);
	if (rc < 0)
		return rc;
	rc = read_list(&r, root, "packages", read_kind, sizeof(*t->kinds), &t->kinds, &t->n);
	if (rc == 0 && !t->n)
		rc = fault(&r, root, "empty");
	rk_tree_free(root);
	if (rc == 0 && profiler)
		rc = rename_profiler(&r, t, profiler);
	if (rc < 0)
		return rc;
	*ret = t;
	return 0;
}

const struct rk_pack_kind *rk_pack_table_find(const struct rk_pack_table *t, const char *logical)
{
	for (size_t i = 0; i < t->n; i++)
		if (strcmp(t->kinds[i].logical, logical) == 0)
			return &t->kinds[i];
	return NULL;
}

/* ---- names of components, distributions, modules, folders and functions ---- */

const char *const rk_component_names[] = { "lib", "run", "dbg", "dev", "doc", "test", NULL };

/* Replaces characters that a Python name cannot have. */
static void to_identifier(char *s)
{
	for (; *s; s++)
		if (!is_word(*s))
			*s = '_';
}

const char *rk_pack_script_function(struct rk_arena *a, const char *script)
{
	char *s = rk_arena_alloc(a, strlen(script) + 1);

	if (!s)
		return NULL;
	memcpy(s, script, strlen(script));
	for (char *c = s; *c; c++)
		if (*c == '+')
			*c = 'p';
	to_identifier(s);
	return s;
}

const char *rk_pack_dist_name(struct rk_arena *a, const struct rk_pack_kind *k, bool kpack,
			      const char *family)
{
	const char *form = kpack ? k->dist_kpack : k->dist;
	const char *at = strstr(form, "{family}");

	if (!at)
		return form;
	return rk_arena_textf(a, "%.*s%s%s", (int)(at - form), form, family,
			      at + strlen("{family}"));
}

static const char *identifier(struct rk_arena *a, const char *before, const char *name,
			      const char *behind)
{
	const char *text = name ? rk_arena_textf(a, "%s%s%s", before, name, behind) : NULL;
	char *copy = text ? rk_arena_alloc(a, strlen(text) + 1) : NULL;

	if (!copy)
		return NULL;
	memcpy(copy, text, strlen(text));
	to_identifier(copy);
	return copy;
}

const char *rk_pack_module_name(struct rk_arena *a, const struct rk_pack_kind *k, bool kpack,
				const char *family)
{
	if (k->module)
		return k->module;
	return identifier(a, "", rk_pack_dist_name(a, k, kpack, family), "");
}

const char *rk_pack_platform_name(struct rk_arena *a, const struct rk_pack_table *t,
				  const struct rk_pack_kind *k, bool kpack, const char *family,
				  const char *nonce)
{
	const struct rk_pack_kind *whose = NULL;

	if (k->role == RK_PACK_META)
		return "";
	if (k->overlays)
		whose = rk_pack_table_find(t, k->overlays);
	if (!whose)
		whose = k;
	return identifier(a, "_", rk_pack_dist_name(a, whose, kpack, family), nonce);
}
