/* preset_find.c - presets by name: the user's folder, then the built-in ones. */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/data.h"
#include "base/handle.h"
#include "base/text.h"
#include "rockit/nearest.h"
#include "session/preset_draft.h"

enum { EXTENDS_MAX = 8, USER_MAX = 1000 };

/* The order of the documentation. */
static const char *const order[] = {
	"compute",      "memory",       "communication", "full",      "lightweight",
	"perfetto",     "api_overhead", "pc_sampling",   "roofline",  "compute_bound",
	"memory_bound", "multi_gpu",    "comprehensive", "multinode", NULL,
};

/* The user's folder; false when there is no place for one. It need not exist. */
static bool user_dir(char out[PATH_MAX])
{
	const char *own = getenv("ROCKIT_PRESET_DIR"), *xdg = getenv("XDG_CONFIG_HOME");
	const char *home = getenv("HOME");
	int n = -1;

	if (own && own[0])
		n = snprintf(out, PATH_MAX, "%s", own);
	else if (xdg && xdg[0] == '/')
		n = snprintf(out, PATH_MAX, "%s/rockit/presets", xdg);
	else if (home && home[0] == '/')
		n = snprintf(out, PATH_MAX, "%s/.config/rockit/presets", home);
	return n >= 0 && n < PATH_MAX;
}

static bool user_file(const char *name, char out[PATH_MAX])
{
	char dir[PATH_MAX];
	struct stat st;
	int n;

	if (!name[0] || name[0] == '.' || strchr(name, '/') || !user_dir(dir))
		return false;
	n = snprintf(out, PATH_MAX, "%s/%s.json", dir, name);
	/* Only regular files: listing must not block on a pipe. */
	return n >= 0 && n < PATH_MAX && stat(out, &st) == 0 && S_ISREG(st.st_mode);
}

/* The file's name without folder and ".json". */
static void stem_of(const char *file, char out[NAME_MAX + 1])
{
	const char *base = rk_base_name(file);
	size_t len = strlen(base);

	if (rk_text_ends(base, len, ".json"))
		len -= 5;
	if (len > NAME_MAX)
		len = NAME_MAX;
	memcpy(out, base, len);
	out[len] = '\0';
}

static int load(const char *name, const char *within, unsigned depth, struct rk_preset **ret,
		struct rk_error *err);

/* A preset, or a madengine context, from its JSON tree. */
static int from_tree(const struct rk_tree *root, const char *file, bool builtin, unsigned depth,
		     struct rk_preset **ret, struct rk_error *err)
{
	const struct rk_tree *extends = rk_tree_get(root, "extends");
	struct rk_preset *base = NULL;
	struct rk_draft *d = NULL;
	char stem[NAME_MAX + 1];
	int rc;

	stem_of(file, stem);
	if (extends && extends->kind == RK_TREE_TEXT) { /* else the parser says so */
		if (depth == EXTENDS_MAX)
			return rk_draft_wrong(extends, file, err,
					      "presets extend each other in a loop");
		rc = load(extends->text, stem, depth + 1, &base, err);
		if (rc < 0) {
			rk_error_at(err, file, extends->line, 0);
			return rc;
		}
	}
	rc = rk_draft_new(base, &d, err);
	rk_preset_free(base);
	if (rc < 0)
		return rc;
	if ((rc = rk_draft_set(d, RK_DRAFT_NAME, stem, err)) < 0 ||
	    (rc = rk_draft_set(d, RK_DRAFT_EXTENDS, "", err)) < 0)
		goto fail;
	if (rk_tree_get(root, "tools"))
		rc = rk_draft_context(d, root, file, err);
	else
		rc = rk_draft_parse(d, root, file, err);
	if (rc < 0)
		goto fail;
	rc = rk_draft_set(d, RK_DRAFT_SOURCE, builtin ? "built in" : file, err);
	if (rc < 0)
		goto fail;
	return rk_draft_seal(d, ret, err);
fail:
	rk_draft_free(d);
	return rc;
}

static int from_file(const char *path, unsigned depth, struct rk_preset **ret, struct rk_error *err)
{
	struct rk_tree *root = NULL;
	int rc = rk_tree_load(path, &root, err);

	if (rc < 0)
		return rc;
	rc = from_tree(root, path, false, depth, ret, err);
	rk_tree_free(root);
	return rc;
}

/* In the user's folder the file's name is the preset's, so that listed names can be loaded. */
static int from_user(const char *path, const char *name, unsigned depth, struct rk_preset **ret,
		     struct rk_error *err)
{
	struct rk_preset *p = NULL;
	int rc = from_file(path, depth, &p, err);

	if (rc < 0)
		return rc;
	if (strcmp(p->name, name) != 0) {
		rc = rk_draft_wrong(NULL, path, err,
				    "the preset's name is '%s'; rename its file to '%s.json', or "
				    "remove the name",
				    p->name, p->name);
		rk_preset_free(p);
		return rc;
	}
	*ret = p;
	return 0;
}

static int from_data(const struct rk_data_file *data, unsigned depth, struct rk_preset **ret,
		     struct rk_error *err)
{
	struct rk_tree *root = NULL;
	int rc = rk_tree_parse_json(data->text, data->len, data->name, &root, err);

	if (rc < 0)
		return rc;
	rc = from_tree(root, data->name, true, depth, ret, err);
	rk_tree_free(root);
	return rc;
}

static const struct rk_data_file *builtin(const char *name)
{
	char path[NAME_MAX + 32];

	snprintf(path, sizeof(path), "presets/%s.json", name);
	return rk_data_find(path);
}

static int unknown(const char *name, const char *plain, struct rk_error *err)
{
	struct rk_preset_names all = { 0 };
	const char *near;
	int rc = rk_preset_list(&all, err);

	if (rc < 0)
		return rc;
	near = rk_nearest(plain, (const char *const *)all.names);
	if (near)
		rc = rk_fail(err, RK_E_USAGE, "unknown preset '%s'; did you mean '%s'?", name,
			     near);
	else
		rc = rk_fail(err, RK_E_USAGE, "unknown preset '%s'; 'rockit presets' lists them",
			     name);
	rk_preset_names_release(&all);
	return rc;
}

/* `within`: the preset that extends this one; its file is not its own base. */
static int load(const char *name, const char *within, unsigned depth, struct rk_preset **ret,
		struct rk_error *err)
{
	static const char prefix[] = "rocprofv3_";
	const struct rk_data_file *data;
	const char *alias = name;
	char plain[NAME_MAX + 1], path[PATH_MAX];

	if (strchr(name, '/'))
		return from_file(name, depth, ret, err);
	/* what an alias means: no "rocprofv3_" before it, no ".json" after it */
	if (strncmp(name, prefix, sizeof(prefix) - 1) == 0)
		alias += sizeof(prefix) - 1;
	stem_of(alias, plain);
	if (strcmp(plain, "multi_node") == 0)
		memcpy(plain, "multinode", sizeof("multinode"));
	if (strcmp(name, within) != 0 && user_file(name, path))
		return from_user(path, name, depth, ret, err);
	if (strcmp(plain, within) != 0 && user_file(plain, path))
		return from_user(path, plain, depth, ret, err);
	data = builtin(plain);
	if (data)
		return from_data(data, depth, ret, err);
	if (access(name, F_OK) == 0)
		return from_file(name, depth, ret, err);
	return unknown(name, plain, err);
}

int rk_preset_load(const char *name, struct rk_preset **ret, struct rk_error *err)
{
	if (!name || !ret)
		return rk_misuse(__func__, err);
	return load(name, "", 0, ret, err);
}

int rk_preset_builtin(const char *name, struct rk_preset **ret, struct rk_error *err)
{
	const struct rk_data_file *data = builtin(name);

	if (!data)
		return unknown(name, name, err);
	return from_data(data, 0, ret, err);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The built-in presets, then those of the user's folder. An unreadable folder has none. */
int rk_preset_list(struct rk_preset_names *ret, struct rk_error *err)
{
	char dir[PATH_MAX], path[PATH_MAX], stem[NAME_MAX + 1];
	struct rk_list l = { 0 };
	struct dirent *e;
	DIR *d = NULL;
	size_t from;

	if (!ret)
		return rk_misuse(__func__, err);
	rk_list_addv(&l, (char *const *)order);
	from = l.n;
	if (user_dir(dir))
		d = opendir(dir);
	while (d && l.n < USER_MAX && (e = readdir(d)) != NULL) {
		if (e->d_name[0] == '.' || !rk_text_ends(e->d_name, strlen(e->d_name), ".json"))
			continue;
		stem_of(e->d_name, stem);
		if (stem[0] && user_file(stem, path))
			rk_list_add_once(&l, stem);
	}
	if (d)
		closedir(d);
	if (l.bad) {
		rk_list_release(&l);
		return rk_fail_nomem(err);
	}
	qsort(l.v + from, l.n - from, sizeof(*l.v), by_name);
	*ret = (struct rk_preset_names){ l.v, l.n };
	return 0;
}

void rk_preset_names_release(struct rk_preset_names *n)
{
	struct rk_list l;

	if (!n)
		return;
	l = (struct rk_list){ n->names, n->n, n->n, false };
	rk_list_release(&l);
	*n = (struct rk_preset_names){ 0 };
}
