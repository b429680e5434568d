/* pack_members.c - what stands in a package, in order. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "pack/pack_build.h"

/* An arena gives nothing back, so lists double. */
static int add(struct rk_pack_plan *p, struct rk_pack_members *l, struct rk_pack_member m,
	       struct rk_error *err)
{
	if (l->n == l->cap) {
		size_t cap = l->cap ? 2 * l->cap : 64;
		struct rk_pack_member *v = rk_arena_alloc(p->arena, cap * sizeof(*v));

		if (!v)
			return rk_fail_nomem(err);
		if (l->n)
			memcpy(v, l->v, l->n * sizeof(*v));
		l->v = v;
		l->cap = cap;
	}
	l->v[l->n++] = m;
	return m.path ? 0 : rk_fail_nomem(err);
}

static bool inside(const char *path, const char *folder)
{
	size_t n = strlen(folder);

	return n && !strncmp(path, folder, n) && path[n] == '/';
}

/* In each folder its files by name, then its folders by name. */
static int walk_order(const void *a, const void *b)
{
	const char *x = ((const struct rk_pack_member *)a)->path;
	const char *y = ((const struct rk_pack_member *)b)->path;
	const char *x_deep, *y_deep;

	while (*x && *x == *y)
		x++, y++;
	/* the first component that differs: is it a folder's on either side? */
	x_deep = strchr(x, '/');
	y_deep = strchr(y, '/');
	if (!x_deep != !y_deep)
		return x_deep ? 1 : -1;
	/* '/' ends a name, before every other byte */
	if (*x == '/' || *y == '/')
		return *x == '/' ? -1 : 1;
	return (unsigned char)*x - (unsigned char)*y;
}

static int add_items(struct rk_pack_plan *p, const struct rk_dist *d, struct rk_pack_members *ret,
		     struct rk_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < d->n && rc == 0; i++) {
		const struct rk_pack_item *item = &d->items[i];
		struct rk_pack_member m = { NULL, item->content, item->mode | S_IFREG, item };

		if (!item->content)
			continue;
		m.path = rk_arena_textf(p->arena, "%s/%s", d->platform, item->path);
		rc = add(p, ret, m, err);
	}
	return rc;
}

static int add_made(struct rk_pack_plan *p, const struct rk_made_list *made, const char *folder,
		    bool in, struct rk_pack_members *ret, struct rk_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < made->n && rc == 0; i++) {
		const struct rk_made *m = &made->v[i];

		if (inside(m->path, folder) == in)
			rc = add(p, ret,
				 (struct rk_pack_member){ m->path, m->content, m->mode | S_IFREG,
							  NULL },
				 err);
	}
	return rc;
}

static int wheel_members(struct rk_pack_plan *p, const struct rk_dist *d, const char *tag,
			 struct rk_pack_members *ret, struct rk_error *err)
{
	bool tree = d->kind->role != RK_PACK_DEVEL; /* devel's is in its archive */
	struct rk_made_list python = { 0 }, info = { 0 };
	int rc = rk_meta_python(p, d, &python, err);

	if (rc == 0)
		rc = rk_meta_dist_info(p, d, tag, &info, err);
	if (rc == 0 && tree)
		rc = add_items(p, d, ret, err);
	if (rc == 0 && tree)
		rc = add_made(p, &python, d->platform, true, ret, err);
	if (rc < 0)
		return rc;
	if (ret->n)
		qsort(ret->v, ret->n, sizeof(*ret->v), walk_order);
	rc = add_made(p, &python, d->platform, false, ret, err);
	return rc < 0 ? rc : add_made(p, &info, d->platform, false, ret, err);
}

int rk_pack_members(struct rk_pack_plan *p, const struct rk_dist *d, const char *tag,
		    struct rk_pack_members *ret, struct rk_error *err)
{
	struct rk_made_list made = { 0 };
	int rc;

	*ret = (struct rk_pack_members){ 0 };
	if (d->kind->role != RK_PACK_META)
		return wheel_members(p, d, tag, ret, err);
	rc = rk_meta_sdist(p, d, &made, err);
	return rc < 0 ? rc : add_made(p, &made, "", false, ret, err);
}
