/* verify_set.c - the files of packages that are installed together, and the way through their links. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "pack/verify/verify_impl.h"

enum { MAX_HOPS = 40 };

/* ---- making it ---- */

static bool in_group(const struct rk_proof_package *w, unsigned group)
{
	return !w->sdist && (w->group == 0 || w->group == group);
}

/* All folders above a path. */
static int put_folders(struct rk_proving *p, struct rk_proof_set *s, size_t any, const char *path,
		       struct rk_error *err)
{
	int rc = 0;

	for (const char *slash = strrchr(path, '/'); slash && rc == 0;
	     slash = memrchr(path, '/', (size_t)(slash - path))) {
		size_t len = (size_t)(slash - path);
		const char *folder;

		if (rk_path_map_find(&s->map, path, len) >= 0)
			return 0;
		folder = rk_proof_text(p, path, len);
		rc = folder ? rk_path_map_put(&s->map, folder, any, err) : RK_E_NOMEM;
	}
	return rc;
}

static void say_twice(struct rk_proving *p, const struct rk_proof_file *f,
		      const struct rk_proof_file *other)
{
	const struct rk_proof_package *w = &p->packages[f->package],
				      *o = &p->packages[other->package];

	/* of one distribution in two files more is said elsewhere */
	if (f->package != other->package && strcmp(w->name, o->name))
		rk_proof_fault(p, "path-twice", w, f->path, "'%s' has it, too", o->file);
}

static int put_file(struct rk_proving *p, struct rk_proof_set *s, size_t any,
		    const struct rk_proof_file *f, struct rk_error *err)
{
	ptrdiff_t have = rk_path_map_find(&s->map, f->path, strlen(f->path));
	const char *base = rk_base_name(f->path);
	int rc;

	if (f->kind == RK_PROOF_DIR)
		return have < 0 ? rk_path_map_put(&s->map, f->path, any, err) : 0;
	if (have >= 0 && (size_t)have != any)
		say_twice(p, f, s->v[have]);
	s->v[s->n] = f;
	rc = rk_path_map_put(&s->map, f->path, s->n, err);
	if (rc == 0 && f->elf && rk_path_map_find(&s->names, base, strlen(base)) < 0)
		rc = rk_path_map_put(&s->names, base, s->n, err);
	s->n++;
	return rc < 0 ? rc : put_folders(p, s, any, f->path, err);
}

/* Two files of one distribution cannot both be installed. */
static void check_distributions(struct rk_proving *p, unsigned group)
{
	for (size_t i = 0; i < p->npackages; i++)
		for (size_t k = 0; k < i; k++)
			if (in_group(&p->packages[i], group) && in_group(&p->packages[k], group) &&
			    p->packages[i].name[0] &&
			    !strcmp(p->packages[i].name, p->packages[k].name))
				rk_proof_fault(p, "distribution-twice", &p->packages[i], "",
					       "'%s' is the same distribution",
					       p->packages[k].file);
}

int rk_proof_set_make(struct rk_proving *p, unsigned group, struct rk_proof_set *ret)
{
	struct rk_error err = { 0 };
	size_t all = 0;
	int rc = 0;

	for (size_t i = 0; i < p->npackages; i++)
		all += in_group(&p->packages[i], group) ? p->packages[i].n : 0;
	check_distributions(p, group);
	ret->v = rk_reallocn(NULL, all + 1, sizeof(*ret->v));
	ret->any = all;
	if (!ret->v)
		rc = rk_fail_nomem(&err);
	for (size_t i = 0; i < p->npackages; i++)
		for (size_t k = 0; k < p->packages[i].n && rc == 0; k++)
			if (in_group(&p->packages[i], group) && p->packages[i].files[k].path[0])
				rc = put_file(p, ret, all, &p->packages[i].files[k], &err);
	if (rc < 0)
		rk_proof_stop(p, &err);
	return rc < 0 ? rc : p->rc;
}

void rk_proof_set_release(struct rk_proof_set *s)
{
	rk_path_map_release(&s->map);
	rk_path_map_release(&s->names);
	rk_free(s->v);
	*s = (struct rk_proof_set){ 0 };
}

/* ---- walking in it ---- */

/*
 * done: where we are, a path without links; todo: what is left of the way. Both end with NUL. ".." goes up
 * from where a link led to, as in the file system.
 */
struct way {
	char done[RK_PROOF_PATH_MAX], todo[RK_PROOF_PATH_MAX];
	size_t len, at; /* of done; in todo */
	unsigned hops;
};

static bool way_begin(struct way *w, const char *from, const char *rel, size_t rel_len)
{
	const char *slash = strrchr(from, '/');

	w->len = slash ? (size_t)(slash - from) : 0;
	w->at = w->hops = 0;
	if (w->len >= sizeof(w->done) || rel_len >= sizeof(w->todo))
		return false;
	memcpy(w->done, from, w->len);
	w->done[w->len] = '\0';
	memcpy(w->todo, rel, rel_len);
	w->todo[rel_len] = '\0';
	return true;
}

static void way_up(struct way *w)
{
	char *slash = memrchr(w->done, '/', w->len);

	w->len = slash ? (size_t)(slash - w->done) : 0;
	w->done[w->len] = '\0';
}

static bool way_down(struct way *w, const char *part, size_t n)
{
	if (w->len + n + 2 > sizeof(w->done))
		return false;
	if (w->len)
		w->done[w->len++] = '/';
	memcpy(w->done + w->len, part, n);
	w->len += n;
	w->done[w->len] = '\0';
	return true;
}

/* The link's text comes before what is left. */
static enum rk_proof_walk way_link(struct way *w, const char *link)
{
	char rest[RK_PROOF_PATH_MAX];
	int n;

	if (link[0] == '/')
		return RK_WAY_ABSOLUTE;
	if (++w->hops > MAX_HOPS)
		return RK_WAY_CIRCLE;
	n = snprintf(rest, sizeof(rest), "%s/%s", link, w->todo + w->at);
	if (n < 0 || (size_t)n >= sizeof(rest))
		return RK_WAY_NOWHERE;
	memcpy(w->todo, rest, (size_t)n + 1);
	w->at = 0;
	way_up(w);
	return RK_WAY_THERE;
}

/* One part of the way. */
static enum rk_proof_walk way_step(struct way *w, const struct rk_proof_set *s, const char *part,
				   size_t n, const struct rk_proof_file **ret)
{
	ptrdiff_t i;

	if (!n || (n == 1 && part[0] == '.'))
		return *ret ? RK_WAY_NOWHERE : RK_WAY_THERE;
	if (n == 2 && !strncmp(part, "..", 2)) {
		if (*ret || !w->len)
			return *ret ? RK_WAY_NOWHERE : RK_WAY_LEAVES;
		way_up(w);
		return RK_WAY_THERE;
	}
	if (*ret || !way_down(w, part, n))
		return RK_WAY_NOWHERE;
	i = rk_path_map_find(&s->map, w->done, w->len);
	if (i < 0)
		return RK_WAY_NOWHERE;
	if ((size_t)i == s->any)
		return RK_WAY_THERE;
	if (s->v[i]->kind == RK_PROOF_LINK)
		return way_link(w, s->v[i]->link ? s->v[i]->link : "");
	*ret = s->v[i];
	return RK_WAY_THERE;
}

enum rk_proof_walk rk_proof_walk(const struct rk_proof_set *s, const char *from, const char *rel,
				 size_t rel_len, const struct rk_proof_file **ret)
{
	enum rk_proof_walk how = RK_WAY_THERE;
	struct way w;

	*ret = NULL;
	if (!way_begin(&w, from, rel, rel_len))
		return RK_WAY_NOWHERE;
	while (how == RK_WAY_THERE && w.todo[w.at]) {
		const char *part = w.todo + w.at;
		size_t n = strcspn(part, "/");

		w.at += n + (part[n] == '/');
		/* a slash behind a file's name is let pass: links end with one here */
		if (n)
			how = way_step(&w, s, part, n, ret);
	}
	return how;
}
