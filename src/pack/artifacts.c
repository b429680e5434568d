/*
 * artifacts.c - the folder of artifacts: list them in a fixed order, read their manifest and
 * version, and resolve links inside their trees without asking the file system.
 */
#include "pack/artifacts.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/num.h"
#include "base/pool.h"
#include "base/text.h"
#include "base/words.h"
#include "codec/json/tree.h"
#include "pack/artifacts_impl.h"

#define ROCK_MANIFEST "share/therock/therock_manifest.json"
#define ROCK_MANIFEST_PLACE "base_lib_generic/base/aux-overlay/stage/" ROCK_MANIFEST

enum { SMALL_FILE_MAX = 1 << 20, VERSION_MAX = 64 };

struct opener {
	struct rk_artifacts *all;
	const char *dir;
	unsigned jobs;
	const struct rk_artifact_filter *filter;
	struct artifact_spill *spill;
	struct rk_diag *diag;
	struct rk_error *err;
	struct rk_artifact *v; /* in file system order until settle() sorts them */
	size_t n, cap;
	uint32_t nstages;
};

size_t rk_family_base(const char *family)
{
	return strcspn(family, ":");
}

/* Length of an archive's name without ".tar.xz"; 0: not an archive. */
static size_t stem_of(const char *name)
{
	static const char *const endings[] = { ".tar.xz", ".tar.zst", ".tar.gz", ".tar" };
	size_t len = strlen(name);

	for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++)
		if (rk_text_ends(name, len, endings[i]))
			return len - strlen(endings[i]);
	return 0;
}

/* Splits the name into three parts separated by '_'; `at` gets the start of parts two and three. */
static bool split_name(const char *s, size_t len, size_t at[2])
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		if (s[i] != '_')
			continue;
		if (n == 2)
			return false;
		at[n++] = i + 1;
	}
	return n == 2 && at[0] > 1 && at[1] > at[0] + 1 && at[1] < len;
}

/* The family becomes part of package and folder names. */
static bool is_family(const char *s)
{
	if (*s == '-' || *s == '.' || *s == ':')
		return false;
	for (; *s; s++)
		if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-.:+",
			    *s))
			return false;
	return true;
}

/* A folder without a manifest is not an artifact: only warn. */
static int odd_component(struct opener *o, const struct rk_artifact *a, const size_t at[2])
{
	const char *manifest =
		rk_arena_textf(o->all->arena, "%s/%s/%s", o->dir, a->label, RK_ARTIFACT_MANIFEST);
	char word[64] = "";
	size_t len = at[1] - 1 - at[0];

	memcpy(word, a->label + at[0], rk_min(len, sizeof(word) - 1));
	if (!a->archive && (!manifest || access(manifest, F_OK) != 0)) {
		rk_diag_add(o->diag, "artifact-name", a->label, 0, 1,
			    "unknown component '%s' and no '%s': skipped", word,
			    RK_ARTIFACT_MANIFEST);
		return 0;
	}
	rk_fail_unknown(o->err, "component", word, rk_component_names);
	rk_error_at(o->err, a->label, 0, 0);
	if (o->err) /* a name of a file, not of an option */
		o->err->code = RK_E_FORMAT;
	return RK_E_FORMAT;
}

static int add_child(struct opener *o, int dirfd, const char *name)
{
	struct rk_artifact a = { 0 };
	size_t at[2], len, stem;
	int component = 0;
	struct stat st;
	void *p;

	if (name[0] == '.' || fstatat(dirfd, name, &st, 0))
		return 0;
	a.archive = S_ISREG(st.st_mode);
	stem = a.archive ? stem_of(name) : strlen(name);
	if (!stem || (!a.archive && !S_ISDIR(st.st_mode)))
		return 0;
	a.label = rk_arena_text(o->all->arena, name, strlen(name));
	if (!a.label)
		return rk_fail_nomem(o->err);
	if (!split_name(name, stem, at)) {
		rk_diag_add(o->diag, "artifact-name", name, 0, 1,
			    "its name is not NAME_COMPONENT_FAMILY: skipped");
		return 0;
	}

	len = at[1] - 1 - at[0];
	while (rk_component_names[component] &&
	       (strlen(rk_component_names[component]) != len ||
		memcmp(rk_component_names[component], name + at[0], len) != 0))
		component++;
	if (!rk_component_names[component])
		return odd_component(o, &a, at);
	a.component = (enum rk_component)component;
	a.name = rk_arena_text(o->all->arena, name, at[0] - 1);
	a.family = rk_arena_text(o->all->arena, name + at[1], stem - at[1]);
	if (!a.name || !a.family)
		return rk_fail_nomem(o->err);
	if (!is_family(a.family)) {
		rk_diag_add(o->diag, "artifact-name", name, 0, 1,
			    "'%s' cannot be the name of a GPU family: skipped", a.family);
		return 0;
	}

	p = rk_grow(o->v, &o->cap, o->n + 1, sizeof(*o->v));
	if (!p)
		return rk_fail_nomem(o->err);
	o->v = p;
	o->v[o->n++] = a;
	return 0;
}

/* Sorted, so that warnings come in a fixed order. */
static int list_children(struct opener *o)
{
	DIR *d = opendir(o->dir);
	struct rk_list names = { 0 };
	struct dirent *de;
	int rc = 0;

	if (!d)
		return rk_fail_errno(o->err, errno, "cannot open the artifacts in '%s'", o->dir);
	while ((errno = 0, de = readdir(d)))
		rk_list_add(&names, de->d_name);
	if (errno)
		rc = rk_fail_errno(o->err, errno, "cannot read '%s'", o->dir);
	else if (names.bad)
		rc = rk_fail_nomem(o->err);
	if (rc < 0)
		goto out;
	if (names.n)
		qsort(names.v, names.n, sizeof(*names.v), rk_by_text);
	for (size_t i = 0; i < names.n; i++) {
		rc = add_child(o, dirfd(d), names.v[i]);
		if (rc < 0)
			goto out;
	}
out:
	rk_list_release(&names);
	closedir(d);
	return rc;
}

static int by_name(const void *a, const void *b)
{
	const struct rk_artifact *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	if (order == 0)
		order = (int)x->component - (int)y->component;
	if (order == 0)
		order = strcmp(x->family, y->family);
	if (order == 0)
		order = strcmp(x->label, y->label);
	return order;
}

/* Sorts the artifacts and moves them to the arena. A duplicate name is an error. */
static int settle(struct opener *o)
{
	struct rk_artifacts *all = o->all;
	struct rk_artifact *v = rk_arena_alloc(all->arena, (o->n + 1) * sizeof(*v));

	if (!v)
		return rk_fail_nomem(o->err);
	if (o->n) {
		memcpy(v, o->v, o->n * sizeof(*v));
		qsort(v, o->n, sizeof(*v), by_name);
	}
	all->v = v;
	all->n = o->n;
	for (size_t i = 1; i < all->n; i++)
		if (strcmp(v[i].name, v[i - 1].name) == 0 && v[i].component == v[i - 1].component &&
		    strcmp(v[i].family, v[i - 1].family) == 0)
			return rk_fail(o->err, RK_E_FORMAT,
				       "'%s' and '%s' in '%s' are the same artifact: remove one",
				       v[i - 1].label, v[i].label, o->dir);
	return 0;
}

/* ---- reading ---- */

/* One artifact, read by one thread; settle_reading collects the results in order. */
struct reading {
	const struct opener *o;
	struct rk_artifact *artifact;
	struct rk_diag *diag;
	struct rk_error err;
	int rc;
	uint32_t nstages;
};

/* A task: the i-th of a list of readings. */
static void read_artifact(void *arg, size_t i, unsigned worker)
{
	struct reading *g = &((struct reading *)arg)[i];
	struct rk_artifact *a = g->artifact;
	struct artifact_reader r = { .artifact = a, .spill = g->o->spill };
	int rc;

	(void)worker;
	if ((rc = rk_arena_new(&a->arena, &g->err)) < 0 ||
	    (rc = rk_diag_new(&g->diag, &g->err)) < 0)
		goto out;
	r.arena = a->arena;
	r.diag = g->diag;
	r.path = rk_arena_textf(r.arena, "%s/%s", g->o->dir, a->label);
	if (!r.path) {
		rc = rk_fail_nomem(&g->err);
		goto out;
	}
	rc = rk_artifact_read(&r, &g->err);
	if (rc == 0)
		rk_diag_add(g->diag, "no-manifest", a->label, 0, 1, "it has no '%s': skipped",
			    RK_ARTIFACT_MANIFEST);
out:
	g->rc = rc < 0 ? rc : 0;
	g->nstages = (uint32_t)r.stages.n;
	rk_list_release(&r.stages);
	rk_free(r.v);
}

/* Stage numbers are unique over all artifacts. Warnings are in the order of artifacts. */
static int settle_reading(struct opener *o, struct reading *g)
{
	const struct rk_warning *w = NULL;
	size_t n = 0;

	for (size_t i = 0; i < g->artifact->nentries; i++)
		g->artifact->entries[i].stage += o->nstages;
	o->nstages += g->nstages;
	if (g->diag)
		w = rk_diag_list(g->diag, &n);
	for (size_t i = 0; i < n; i++)
		rk_diag_add(o->diag, w[i].kind, w[i].file, w[i].line, w[i].count, "%s",
			    w[i].message);
	rk_diag_free(g->diag);
	if (g->rc < 0 && o->err && !o->err->code)
		*o->err = g->err;
	return g->rc;
}

static int read_wanted(struct opener *o)
{
	const struct rk_artifact_filter *f = o->filter;
	struct reading *v = rk_calloc(o->all->n + 1, sizeof(*v));
	struct rk_pool *pool = NULL;
	size_t n = 0;
	int rc;

	if (!v)
		return rk_fail_nomem(o->err);
	for (size_t i = 0; i < o->all->n; i++) {
		struct rk_artifact *a = &o->all->v[i];

		if (!a->arena && (!f || f->want(f->arg, a, o->all->kpack)))
			v[n++] = (struct reading){ .o = o, .artifact = a };
	}
	rc = rk_pool_new(o->jobs ? o->jobs : 1, &pool, o->err);
	if (rc < 0)
		goto out;
	rk_pool_run(pool, n, read_artifact, v);
	/* report the first error in artifact order, but collect all results */
	for (size_t i = 0; i < n; i++) {
		int one = settle_reading(o, &v[i]);

		if (rc == 0)
			rc = one;
	}
out:
	rk_pool_free(pool);
	rk_free(v);
	return rc;
}

/* ---- manifest and version, from the base artifact ---- */

static const struct rk_entry *find_file(const struct rk_artifact *a, const char *path)
{
	for (size_t i = 0; a && i < a->nentries; i++)
		if (a->entries[i].kind == RK_ENTRY_FILE && strcmp(a->entries[i].path, path) == 0)
			return &a->entries[i];
	return NULL;
}

/* A small file's text; the caller frees it. */
static int read_small(const struct rk_entry *e, char **ret, size_t *ret_len, struct rk_error *err)
{
	char *text;
	int rc;

	if (e->origin->size > SMALL_FILE_MAX)
		return rk_fail(err, RK_E_LIMIT, "'%s' is too long", e->origin->name);
	text = rk_alloc(SMALL_FILE_MAX);
	if (!text)
		return rk_fail_nomem(err);
	rc = rk_origin_head(e->origin, text, SMALL_FILE_MAX, ret_len, err);
	if (rc < 0)
		rk_free(text);
	else
		*ret = text;
	return rc;
}

static int read_rock_manifest(struct opener *o, const struct rk_artifact *base)
{
	const struct rk_entry *e = find_file(base, ROCK_MANIFEST);
	struct rk_tree *root = NULL;
	char *text = NULL;
	size_t len;
	int rc;

	if (!e)
		return rk_fail(o->err, RK_E_FORMAT,
			       "'%s/%s' is missing: this is not a folder of ROCm artifacts", o->dir,
			       ROCK_MANIFEST_PLACE);
	rc = read_small(e, &text, &len, o->err);
	if (rc < 0)
		return rc;
	rc = rk_tree_parse_json(text, len, e->origin->name, &root, o->err);
	if (rc == 0)
		o->all->kpack = rk_tree_true(
			rk_tree_get(rk_tree_get(root, "flags"), "KPACK_SPLIT_ARTIFACTS"));
	rk_tree_free(root);
	rk_free(text);
	return rc;
}

/* base_lib_generic has the flags and the version for all artifacts, so it is read first. */
static int read_base(struct opener *o)
{
	struct rk_artifact *base = NULL;
	const struct rk_entry *e;
	char *text = NULL;
	size_t len = 0, n = 0;
	int rc;

	for (size_t i = 0; i < o->all->n; i++) {
		struct rk_artifact *a = &o->all->v[i];

		if (strcmp(a->name, "base") == 0 && a->component == RK_COMPONENT_LIB &&
		    strcmp(a->family, "generic") == 0)
			base = a;
	}
	if (base) {
		struct reading g = { .o = o, .artifact = base };

		read_artifact(&g, 0, 0);
		rc = settle_reading(o, &g);
		if (rc < 0)
			return rc;
	}
	rc = read_rock_manifest(o, base);
	if (rc < 0)
		return rc;

	e = find_file(base, ".info/version");
	if (!e)
		return 0;
	rc = read_small(e, &text, &len, o->err);
	if (rc < 0)
		return rc;
	while (n < len && n < VERSION_MAX && text[n] > 32 && text[n] < 127)
		n++;
	if (n)
		o->all->version = rk_arena_text(o->all->arena, text, n);
	rk_free(text);
	return n && !o->all->version ? rk_fail_nomem(o->err) : 0;
}

int rk_artifacts_open(const char *dir, const char *tmpdir, unsigned jobs,
		      const struct rk_artifact_filter *filter, struct rk_diag *diag,
		      struct rk_artifacts **ret, struct rk_error *err)
{
	struct artifact_spill spill = { .lock = PTHREAD_MUTEX_INITIALIZER };
	struct opener o = {
		.dir = dir, .jobs = jobs, .filter = filter, .spill = &spill, .diag = diag, .err = err
	};
	struct rk_arena *arena = NULL;
	struct rk_artifacts *all;
	int rc = rk_arena_new(&arena, err);

	if (rc < 0)
		return rc;
	all = o.all = rk_arena_alloc(arena, sizeof(*all));
	if (!all) {
		rk_arena_free(arena);
		return rk_fail_nomem(err);
	}
	all->arena = arena;
	if ((rc = list_children(&o)) < 0 || (rc = settle(&o)) < 0)
		goto out;
	for (size_t i = 0; i < all->n && !all->spill; i++)
		if (all->v[i].archive && (rc = rk_spill_new(tmpdir, &all->spill, err)) < 0)
			goto out;
	spill.file = all->spill;
	if ((rc = read_base(&o)) < 0 || (rc = read_wanted(&o)) < 0)
		goto out;
	*ret = all;
	all = NULL;
out:
	rk_free(o.v);
	rk_artifacts_free(all);
	return rc;
}

void rk_artifacts_free(struct rk_artifacts *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < a->n; i++)
		rk_arena_free(a->v[i].arena);
	rk_spill_free(a->spill);
	rk_arena_free(a->arena);
}

/* ---- links ---- */

enum { HOPS_MAX = 40 }; /* the kernel's limit */

const char rk_link_dangles[] = "dangles";
const char rk_link_absolute[] = "absolute";
const char rk_link_leaves[] = "leaves the tree";
const char rk_link_circle[] = "is part of a link loop";

static const struct rk_entry root = { .path = "", .kind = RK_ENTRY_DIR, .mode = 0755 };

struct follower {
	rk_entry_find_fn *find;
	const void *tree;
	char path[RK_ARTIFACT_PATH_MAX]; /* current position: a folder while names are left */
	size_t len;
	unsigned hops;
	const struct rk_entry *at;
	const char *why;
};

static bool give_up(struct follower *f, const char *why)
{
	f->why = why;
	return false;
}

/* Resolves the text from the folder f->path. Recursion is limited by the number of links. */
static bool follow(struct follower *f, const char *text)
{
	size_t n;

	if (text[0] == '/')
		return give_up(f, rk_link_absolute);
	f->at = f->len ? f->find(f->tree, f->path) : &root;
	for (; *text; text += n + (text[n] == '/')) {
		size_t old = f->len;

		n = strcspn(text, "/");
		if (n == 0 || (n == 1 && text[0] == '.'))
			continue;
		if (!f->at || f->at->kind != RK_ENTRY_DIR)
			return give_up(f, rk_link_dangles);
		if (n == 2 && memcmp(text, "..", 2) == 0) {
			if (!f->len)
				return give_up(f, rk_link_leaves);
			while (f->len && f->path[f->len - 1] != '/')
				f->len--;
			f->len -= f->len > 0; /* the slash */
			f->path[f->len] = '\0';
			f->at = f->len ? f->find(f->tree, f->path) : &root;
			continue;
		}

		if (f->len + n + 2 > sizeof(f->path))
			return give_up(f, rk_link_dangles);
		if (f->len)
			f->path[f->len++] = '/';
		memcpy(f->path + f->len, text, n);
		f->len += n;
		f->path[f->len] = '\0';
		f->at = f->find(f->tree, f->path);
		if (!f->at)
			return give_up(f, rk_link_dangles);
		if (f->at->kind != RK_ENTRY_LINK)
			continue;
		if (++f->hops > HOPS_MAX)
			return give_up(f, rk_link_circle);
		f->len = old;
		f->path[old] = '\0';
		if (!follow(f, f->at->link))
			return false;
	}
	return f->at || give_up(f, rk_link_dangles);
}

const struct rk_entry *rk_entry_resolve(rk_entry_find_fn *find, const void *tree,
					const struct rk_entry *link, const char **ret_why)
{
	struct follower f = { .find = find, .tree = tree };
	const char *slash = strrchr(link->path, '/');
	size_t len = slash ? (size_t)(slash - link->path) : 0;

	*ret_why = rk_link_dangles;
	if (len >= sizeof(f.path))
		return NULL;
	memcpy(f.path, link->path, len);
	f.len = len;
	if (!follow(&f, link->link)) {
		*ret_why = f.why;
		return NULL;
	}
	return f.at;
}

/* One stage of one artifact. Its entries are sorted. */
struct stage_of {
	const struct rk_artifact *artifact;
	uint32_t stage;
};

static const struct rk_entry *find_in_stage(const void *tree, const char *path)
{
	const struct stage_of *s = tree;
	size_t low = 0, high = s->artifact->nentries;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct rk_entry *e = &s->artifact->entries[mid];
		int order;

		if (e->stage != s->stage)
			order = e->stage < s->stage ? -1 : 1;
		else
			order = strcmp(e->path, path);
		if (order == 0)
			return e;
		if (order < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

const struct rk_entry *rk_artifacts_resolve(const struct rk_entry *link, const char **ret_why)
{
	struct stage_of s = { .artifact = link->artifact, .stage = link->stage };

	return rk_entry_resolve(find_in_stage, &s, link, ret_why);
}

/* Does the link text lead above the root of the tree by itself? */
static bool climbs_out(const char *path, const char *text)
{
	size_t depth = 0, n;

	for (; *path; path++)
		depth += *path == '/';
	for (; *text; text += n + (text[n] == '/')) {
		n = strcspn(text, "/");
		if (n == 0 || (n == 1 && text[0] == '.'))
			continue;
		if (n != 2 || memcmp(text, "..", 2) != 0)
			depth++;
		else if (depth-- == 0)
			return true;
	}
	return false;
}

int rk_artifact_link(struct artifact_reader *r, struct rk_entry *e, const char *text,
		     struct rk_error *err)
{
	const char *label = r->artifact->label;

	if (strlen(text) >= RK_ARTIFACT_PATH_MAX)
		return rk_fail(err, RK_E_LIMIT, "the link '%s' in '%s' is too long", e->path,
			       label);
	e->kind = RK_ENTRY_LINK;
	e->mode = 0777;
	e->link = rk_arena_text(r->arena, text, strlen(text));
	if (!e->link)
		return rk_fail_nomem(err);
	if (text[0] == '/') {
		e->fault = RK_LINK_ABSOLUTE;
		rk_diag_add(r->diag, "absolute-link", label, 0, 1,
			    "'%s' points to the absolute path '%s': left out", e->path, text);
	} else if (climbs_out(e->path, text)) {
		e->fault = RK_LINK_ESCAPES;
		rk_diag_add(r->diag, "escaping-link", label, 0, 1,
			    "'%s' points out of the tree ('%s'): left out", e->path, text);
	}
	return 0;
}
