/* pack_build.c - carry out a plan: list the members of each package, write wheels and sdists. */
#include "pack/pack_build.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "archive/zip_write.h"
#include "base/alloc.h"
#include "pack/paths.h"

/* ---- members ---- */

static int add_member(struct rk_pack_plan *p, struct rk_pack_members *l, struct rk_pack_member m,
		      struct rk_error *err)
{
	struct rk_pack_member *v = rk_arena_grow(p->arena, l->v, l->n, &l->cap, sizeof(*v));

	if (!v)
		return rk_fail_nomem(err);
	l->v = v;
	v[l->n++] = m;
	return m.path ? 0 : rk_fail_nomem(err);
}

static int by_order(const void *a, const void *b)
{
	return rk_pack_order(((const struct rk_pack_member *)a)->path, false,
			     ((const struct rk_pack_member *)b)->path, false);
}

/* Adds the generated files below the folder (`in`), or those outside it. */
static int add_made(struct rk_pack_plan *p, const struct rk_made_list *made, const char *folder,
		    bool in, struct rk_pack_members *ret, struct rk_error *err)
{
	size_t len = strlen(folder);

	for (size_t i = 0; i < made->n; i++) {
		const struct rk_made *m = &made->v[i];
		struct rk_pack_member member = { m->path, m->content, m->mode | S_IFREG, NULL };
		int rc;

		if ((len && !strncmp(m->path, folder, len) && m->path[len] == '/') != in)
			continue;
		rc = add_member(p, ret, member, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* A file of a Python package that can be imported is in the wheel twice, here without an edit. */
static int add_at_top(struct rk_pack_plan *p, const struct rk_dist *d, struct rk_pack_member m,
		      struct rk_pack_members *ret, struct rk_error *err)
{
	for (size_t i = 0; i < d->ntops; i++) {
		size_t len = strlen(d->tops[i].dir);
		struct rk_content *plain;
		int rc;

		if (strncmp(m.item->path, d->tops[i].dir, len) != 0 || m.item->path[len] != '/')
			continue;
		m.path = rk_arena_textf(p->arena, "%s%s", d->tops[i].name, m.item->path + len);
		if (*m.item->edit && m.item->entry && m.item->entry->origin) {
			if ((rc = rk_content_new(p->arena, &plain, err)) < 0 ||
			    (rc = rk_content_origin(p->arena, plain, m.item->entry->origin, NULL,
						    err)) < 0)
				return rc;
			m.content = plain;
		}
		return add_member(p, ret, m, err);
	}
	return 0;
}

int rk_pack_members(struct rk_pack_plan *p, const struct rk_dist *d, const char *tag,
		    struct rk_pack_members *ret, struct rk_error *err)
{
	struct rk_made_list python = { 0 }, info = { 0 };
	int rc;

	*ret = (struct rk_pack_members){ 0 };
	if (d->kind->role == RK_PACK_META) {
		rc = rk_meta_sdist(p, d, &info, err);
		return rc < 0 ? rc : add_made(p, &info, "", false, ret, err);
	}
	if ((rc = rk_meta_python(p, d, &python, err)) < 0 ||
	    (rc = rk_meta_dist_info(p, d, tag, &info, err)) < 0)
		return rc;
	if (d->kind->role != RK_PACK_DEVEL) { /* devel's tree is in its inner archive */
		for (size_t i = 0; i < d->n; i++) {
			const struct rk_pack_item *item = &d->items[i];
			struct rk_pack_member m = { NULL, item->content, item->mode | S_IFREG,
						    item };

			if (!item->content)
				continue;
			m.path = rk_arena_textf(p->arena, "%s/%s", d->platform, item->path);
			if ((rc = add_member(p, ret, m, err)) < 0 ||
			    (rc = add_at_top(p, d, m, ret, err)) < 0)
				return rc;
		}
		rc = add_made(p, &python, d->platform, true, ret, err);
		if (rc < 0)
			return rc;
	}
	if (ret->n)
		qsort(ret->v, ret->n, sizeof(*ret->v), by_order);
	rc = add_made(p, &python, d->platform, false, ret, err);
	return rc < 0 ? rc : add_made(p, &info, d->platform, false, ret, err);
}

/* A build in progress. */
struct build {
	struct rk_pack_plan *plan;
	const struct rk_pack_options *o;
	const char *tag;
	struct rk_pool *pool;
	int64_t epoch;
	int level;
	uint64_t done, total; /* bytes, for progress */
};

static int on_progress(void *arg, uint64_t done)
{
	struct build *b = arg;

	return b->o->progress(b->o->progress_arg, b->done + done, b->total);
}

/* ---- a wheel ---- */

/* Writes RECORD from the hashes and sizes that the zip writer found. */
static int add_record(struct build *b, const struct rk_dist *d, struct rk_zip *z,
		      const struct rk_zip_member *members, size_t n, struct rk_error *err)
{
	const char *dir = rk_dist_info_dir(b->plan->arena, d, b->plan->version);
	struct rk_zip_member record = { .mode = S_IFREG | 0644, .read = rk_zip_read_memory };
	struct rk_bytes text;
	int rc;

	if (!dir || !(record.name = rk_arena_textf(b->plan->arena, "%s/RECORD", dir)))
		return rk_fail_nomem(err);
	rk_bytes_init(&text, (size_t)1 << 30);
	for (size_t i = 0; i < n; i++)
		rk_record_line(&text, members[i].name, members[i].sha256, members[i].size);
	rk_record_line(&text, record.name, NULL, 0);
	record.size = text.len;
	record.arg = text.data;
	rc = text.bad ? rk_fail_nomem(err) : rk_zip_add(z, &record, 1, err);
	rk_bytes_release(&text);
	return rc;
}

static int zip_all(struct build *b, const struct rk_dist *d, struct rk_output *out,
		   const struct rk_pack_members *from, bool stored_last, struct rk_error *err)
{
	struct rk_zip_options zo = { .level = b->level, .epoch = b->epoch };
	struct rk_zip_member *members =
		rk_arena_alloc(b->plan->arena, (from->n + 1) * sizeof(*members));
	struct rk_zip *z = NULL;
	int rc;

	if (!members)
		return rk_fail_nomem(err);
	for (size_t i = 0; i < from->n; i++)
		members[i] = (struct rk_zip_member){ .name = from->v[i].path,
						     .mode = from->v[i].mode,
						     .size = from->v[i].content->size,
						     .read = rk_content_read,
						     .arg = from->v[i].content };
	if (stored_last)
		members[from->n - 1].stored = true;
	if (b->o->progress) {
		zo.progress = on_progress;
		zo.progress_arg = b;
	}
	if ((rc = rk_zip_new(out, b->pool, &zo, &z, err)) < 0 ||
	    (rc = rk_zip_add(z, members, from->n, err)) < 0 ||
	    (rc = add_record(b, d, z, members, from->n, err)) < 0)
		goto out;
	rc = rk_zip_finish(z, err);
out:
	rk_zip_free(z);
	return rc;
}

static int build_wheel(struct build *b, const struct rk_dist *d, const char *path,
		       struct rk_pack_members *members, struct rk_error *err)
{
	const bool devel = d->kind->role == RK_PACK_DEVEL, xz = b->o->devel_xz;
	struct rk_arena *arena = b->plan->arena;
	struct rk_output *out = NULL;
	struct rk_spill *spill = NULL;
	int rc;

	if (devel) {
		/*
		 * devel's tree is one file of its Python package, because wheels cannot hold links
		 */
		struct rk_pack_member m = { .mode = S_IFREG | 0644 };

		m.path = rk_arena_textf(arena, "%s/_devel.tar%s", d->module, xz ? ".xz" : "");
		if (!m.path)
			return rk_fail_nomem(err);
		if ((rc = rk_devel_tar(b->plan, d, b->epoch, xz, rk_pool_threads(b->pool),
				       b->o->tmpdir, &m.content, &spill, err)) < 0 ||
		    (rc = add_member(b->plan, members, m, err)) < 0)
			goto out;
	}
	rc = rk_output_open(path, &out, err);
	if (rc < 0)
		goto out;
	rc = zip_all(b, d, out, members, devel && xz, err);
	if (rc == 0)
		rc = rk_output_commit(out, err);
	else
		rk_output_abort(out);
out:
	rk_spill_free(spill);
	return rc;
}

/* ---- all packages ---- */

int rk_pack_target(struct rk_pack_plan *p, const struct rk_dist *d, const char *tag,
		   const char **ret, struct rk_error *err)
{
	const char *slash = *d->subdir ? "/" : "", *file;

	if (d->kind->role == RK_PACK_META)
		file = rk_arena_textf(p->arena, "%s-%s.tar.gz",
				      rk_pep503_name(p->arena, d->dist, '_'), p->version);
	else
		file = rk_wheel_name(p->arena, d, p->version, tag);
	*ret = file ? rk_arena_textf(p->arena, "dist/%s%s%s", d->subdir, slash, file) : NULL;
	return *ret ? 0 : rk_fail_nomem(err);
}

/*
 * Packages must stay below the destination, so no folder may be a link, which could lead anywhere.
 */
static int make_folder(char *path, size_t dest_len, struct rk_error *err)
{
	struct stat st;
	int rc = 0;

	for (char *s = path + dest_len + 1; rc == 0 && (s = strchr(s, '/')); *s++ = '/') {
		*s = '\0';
		if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
			rc = rk_fail(err, RK_E_USAGE,
				     "'%s' is a symbolic link: pass the folder it "
				     "points to as --dest-dir",
				     path);
		else
			rc = rk_make_dirs(path, err);
	}
	return rc;
}

static int build_dist(struct build *b, const struct rk_dist *d, struct rk_error *err)
{
	struct rk_made_list sources = { 0 };
	struct rk_pack_members members;
	const char *target = NULL;
	char *path;
	int rc;

	if ((rc = rk_pack_target(b->plan, d, b->tag, &target, err)) < 0 ||
	    (rc = rk_pack_members(b->plan, d, b->tag, &members, err)) < 0)
		return rc;
	path = rk_strf("%s/%s", b->o->dest_dir, target);
	if (!path)
		return rk_fail_nomem(err);
	rc = make_folder(path, strlen(b->o->dest_dir), err);
	if (rc < 0)
		goto out;
	if (d->kind->role == RK_PACK_META) {
		sources.n = sources.cap = members.n;
		sources.v = rk_arena_alloc(b->plan->arena, (members.n + 1) * sizeof(*sources.v));
		if (!sources.v) {
			rc = rk_fail_nomem(err);
			goto out;
		}
		for (size_t i = 0; i < members.n; i++)
			sources.v[i] = (struct rk_made){ members.v[i].path, members.v[i].content,
							 members.v[i].mode & 07777 };
		rc = rk_sdist_write(path, &sources, b->epoch, b->level ? b->level : 6, err);
	} else {
		rc = build_wheel(b, d, path, &members, err);
	}
	for (size_t i = 0; i < members.n; i++)
		b->done += members.v[i].content->size;
out:
	rk_free(path);
	return rc;
}

int rk_pack_build_all(struct rk_pack_plan *p, const struct rk_pack_options *o, const char *tag,
		      struct rk_error *err)
{
	struct build b = { .plan = p, .o = o, .tag = tag };
	int rc = rk_pool_new(o->jobs ? o->jobs : 1, &b.pool, err);

	/*
	 * total bytes to pack, for progress; devel's inner archive counts as the sum of its files
	 */
	for (size_t i = 0; i < p->ndists; i++)
		for (size_t k = 0; k < p->dists[i].n; k++)
			if (p->dists[i].items[k].content)
				b.total += p->dists[i].items[k].content->size;
	b.epoch = o->epoch ? o->epoch : RK_PACK_EPOCH;
	b.level = o->level ? o->level : 6;
	if (o->level == RK_PACK_STORED)
		b.level = 0;
	for (size_t i = 0; i < p->ndists && rc == 0; i++)
		rc = build_dist(&b, &p->dists[i], err);
	rk_pool_free(b.pool);
	return rc;
}
