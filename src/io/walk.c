/* walk.c - the files below a directory, in sorted order. */
#include "io/dirs.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"

struct list {
	char **paths;
	size_t n, cap;
};

bool rk_is_dir(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

static int push(struct list *l, char *path, struct rk_error *err)
{
	size_t cap = l->cap ? l->cap * 2 : 64;
	char **paths;

	if (l->n >= RK_WALK_MAX_FILES)
		return rk_fail(err, RK_E_LIMIT, "more than %d files below one directory",
			       RK_WALK_MAX_FILES);
	if (l->n == l->cap) {
		paths = rk_reallocn(l->paths, cap, sizeof(*paths));
		if (!paths)
			return rk_fail_nomem(err);
		l->paths = paths;
		l->cap = cap;
	}
	l->paths[l->n++] = path;
	return 0;
}

static char *join(const char *dir, const char *name)
{
	size_t dlen = strlen(dir), nlen = strlen(name);
	char *p;

	while (dlen > 1 && dir[dlen - 1] == '/')
		dlen--;
	p = rk_alloc(dlen + nlen + 2);
	if (p)
		snprintf(p, dlen + nlen + 2, "%.*s/%s", (int)dlen, dir, name);
	return p;
}

static int walk(struct list *l, const char *dir, unsigned depth, struct rk_error *err);

/* Takes over `path`. Links to directories are left alone: they may lead in a circle. */
static int visit(struct list *l, char *path, unsigned depth, struct rk_error *err)
{
	struct stat st, target;
	int rc = 0;

	if (lstat(path, &st) || (S_ISLNK(st.st_mode) && stat(path, &target)))
		goto out; /* gone meanwhile, or a dangling link */
	if (S_ISDIR(st.st_mode)) {
		rc = walk(l, path, depth + 1, err);
	} else if (S_ISREG(st.st_mode) || (S_ISLNK(st.st_mode) && S_ISREG(target.st_mode))) {
		rc = push(l, path, err);
		if (!rc)
			return 0;
	}
out:
	rk_free(path);
	return rc;
}

static int walk(struct list *l, const char *dir, unsigned depth, struct rk_error *err)
{
	struct dirent *e;
	char *path;
	int rc = 0;
	DIR *d;

	if (depth > RK_WALK_MAX_DEPTH)
		return rk_fail(err, RK_E_LIMIT, "'%s' is more than %d directories deep", dir,
			       RK_WALK_MAX_DEPTH);
	d = opendir(dir);
	if (!d)
		return rk_fail_errno(err, errno, "cannot read directory '%s'", dir);
	while (!rc && (e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		path = join(dir, e->d_name);
		rc = path ? visit(l, path, depth, err) : rk_fail_nomem(err);
	}
	closedir(d);
	return rc;
}

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int rk_walk_dir(const char *dir, struct rk_walk *ret, struct rk_error *err)
{
	struct list l = { 0 };
	int rc = walk(&l, dir, 0, err);

	*ret = (struct rk_walk){ .paths = l.paths, .n = l.n };
	if (rc < 0) {
		rk_walk_release(ret);
		return rc;
	}
	if (l.n)
		qsort(l.paths, l.n, sizeof(*l.paths), by_bytes);
	return 0;
}

void rk_walk_release(struct rk_walk *w)
{
	for (size_t i = 0; i < w->n; i++)
		rk_free(w->paths[i]);
	rk_free(w->paths);
	*w = (struct rk_walk){ 0 };
}
