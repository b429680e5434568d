/* api_pack.c - ROCm artifacts as Python packages: plan, show, build. */
#include "rockit/pack.h"

#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "base/handle.h"
#include "pack/pack_build.h"
#include "pack/pack_page.h"

struct rk_pack {
	struct rk_pack_options o;
	struct rk_arena *arena; /* of the version asked for */
	struct rk_pack_plan *plan;
	const char *tag;
	struct rk_pack_package *packages;
	size_t npackages;
};

enum { PAGE_MAX_BYTES = 1 << 30 };

/* ---- the plan as others see it ---- */

static const char *source_of(struct rk_arena *a, const struct rk_pack_item *item)
{
	if (!item || !item->entry)
		return "";
	return rk_arena_textf(a, "%s: %s", item->entry->artifact->label, item->entry->path);
}

static struct rk_pack_file file_of(struct rk_arena *a, const char *path,
				   const struct rk_content *content, uint32_t mode,
				   const struct rk_pack_item *item)
{
	struct rk_pack_file f = { .path = path,
				  .action =
					  rk_pack_action_names[item ? item->action : RK_PACK_MADE],
				  .edit = item && item->edit ? item->edit : "",
				  .reason = item && item->reason ? item->reason : "",
				  .source = source_of(a, item),
				  .size = content ? content->size : 0,
				  .mode = mode & 0777 };

	return f;
}

/* Members of the archive first, then what is only in devel's, or nowhere. */
static int fill(struct rk_pack *k, const struct rk_dist *d, const struct rk_pack_members *m,
		struct rk_pack_package *ret, struct rk_error *err)
{
	struct rk_arena *a = k->plan->arena;
	bool devel = d->kind->role == RK_PACK_DEVEL;
	struct rk_pack_file *files = rk_arena_alloc(a, (m->n + d->n + 1) * sizeof(*files));
	size_t n = 0;

	if (!files)
		return rk_fail_nomem(err);
	for (size_t i = 0; i < m->n; i++)
		files[n++] = file_of(a, m->v[i].path, m->v[i].content, m->v[i].mode, m->v[i].item);
	for (size_t i = 0; i < d->n; i++) {
		const struct rk_pack_item *item = &d->items[i];
		const char *path = rk_arena_textf(a, "%s/%s", d->platform, item->path);

		if (devel || !item->content)
			files[n++] = file_of(a, path, item->content, item->mode, item);
	}
	for (size_t i = 0; i < n; i++) {
		if (!files[i].path || !files[i].source)
			return rk_fail_nomem(err);
		ret->bytes += files[i].size;
	}
	ret->files = files;
	ret->nfiles = n;
	return 0;
}

static int show_dist(struct rk_pack *k, const struct rk_dist *d, struct rk_pack_package *ret,
		     struct rk_error *err)
{
	struct rk_pack_members members;
	int rc;

	*ret = (struct rk_pack_package){ .logical = d->kind->logical,
					 .dist = d->dist,
					 .family = d->family };
	rc = rk_pack_target(k->plan, d, k->tag, &ret->file, err);
	if (rc == 0)
		rc = rk_pack_members(k->plan, d, k->tag, &members, err);
	return rc < 0 ? rc : fill(k, d, &members, ret, err);
}

static int show(struct rk_pack *k, struct rk_error *err)
{
	int rc = 0;

	k->packages = rk_calloc(k->plan->ndists + 1, sizeof(*k->packages));
	if (!k->packages)
		return rk_fail_nomem(err);
	for (; k->npackages < k->plan->ndists && rc == 0; k->npackages++)
		rc = show_dist(k, &k->plan->dists[k->npackages], &k->packages[k->npackages], err);
	return rc;
}

/* ---- public ---- */

static void destroy_pack(void *arg)
{
	struct rk_pack *p = arg;

	rk_pack_plan_free(p->plan);
	rk_arena_free(p->arena);
	rk_free(p->packages);
	rk_free(p);
}

int rk_pack_new(const struct rk_pack_options *o, struct rk_pack **ret, struct rk_error *err)
{
	struct rk_pack *k;
	const char *version = NULL;
	int rc;

	if (!o || !o->artifact_dir || !ret)
		return rk_misuse(__func__, err);
	if (RK_CHECK_OPTIONS(o, __func__, err) < 0)
		return RK_E_USAGE;
	k = rk_calloc(1, sizeof(*k));
	if (!k)
		return rk_fail_nomem(err);
	k->o = *o;
	rc = rk_arena_new(&k->arena, err);
	if (rc == 0 && o->version)
		rc = rk_pep440_normal(k->arena, o->version, &version, err);
	if (rc == 0)
		rc = rk_pack_plan_make(&k->o, version, &k->plan, err);
	if (rc == 0)
		rc = rk_pack_tag(k->plan, k->o.platform_tag, &k->tag, err);
	if (rc == 0)
		rc = show(k, err);
	if (rc == 0)
		rc = rk_handle_open(RK_HANDLE_PACK, k, destroy_pack, err);
	if (rc == 0)
		*ret = k;
	else
		destroy_pack(k);
	return rc;
}

const struct rk_pack_package *rk_pack_packages(const struct rk_pack *p, size_t *ret_n)
{
	const struct rk_pack_package *packages;

	if (!ret_n)
		return NULL;
	*ret_n = 0;
	if (!rk_handle_hold(RK_HANDLE_PACK, p))
		return NULL;
	*ret_n = p->npackages;
	packages = p->packages;
	rk_handle_drop(p);
	return packages;
}

const struct rk_warning *rk_pack_warnings(const struct rk_pack *p, size_t *ret_n)
{
	const struct rk_warning *list;

	if (!ret_n)
		return NULL;
	*ret_n = 0;
	if (!rk_handle_hold(RK_HANDLE_PACK, p))
		return NULL;
	list = rk_diag_list(p->plan->diag, ret_n);
	rk_handle_drop(p);
	return list;
}

const struct rk_pack_left *rk_pack_left_out(const struct rk_pack *p, size_t *ret_n)
{
	const struct rk_pack_left *list;

	if (!ret_n)
		return NULL;
	*ret_n = 0;
	if (!rk_handle_hold(RK_HANDLE_PACK, p))
		return NULL;
	list = p->plan->left;
	*ret_n = p->plan->nleft;
	rk_handle_drop(p);
	return list;
}

const char *rk_pack_version(const struct rk_pack *p)
{
	const char *version;

	if (!rk_handle_hold(RK_HANDLE_PACK, p))
		return NULL;
	version = p->plan->version;
	rk_handle_drop(p);
	return version;
}

int rk_pack_render(const struct rk_pack *p, enum rk_report_format format, char **ret,
		   size_t *ret_len, struct rk_error *err)
{
	struct rk_pack_page page;
	struct rk_bytes out;

	if (!ret)
		return rk_misuse(__func__, err);
	if (rk_check_enum((unsigned)format, RK_REPORT_CSV, __func__, err) < 0)
		return RK_E_USAGE;
	if (rk_handle_use(RK_HANDLE_PACK, p, __func__, err) < 0)
		return RK_E_USAGE;
	page = (struct rk_pack_page){ .version = p->plan->version,
				      .packages = p->packages,
				      .npackages = p->npackages,
				      .left = p->plan->left,
				      .nleft = p->plan->nleft };
	page.warnings = rk_pack_warnings(p, &page.nwarnings);
	rk_bytes_init(&out, PAGE_MAX_BYTES);
	if (format == RK_REPORT_JSON)
		rk_pack_page_json(&out, &page);
	else if (format == RK_REPORT_CSV)
		rk_pack_page_csv(&out, &page);
	else
		rk_pack_page_text(&out, &page);
	rk_handle_drop(p);
	return rk_bytes_give(&out, ret, ret_len, err);
}

int rk_pack_build(struct rk_pack *p, struct rk_error *err)
{
	int rc = rk_handle_use(RK_HANDLE_PACK, p, __func__, err);

	if (rc < 0)
		return rc;
	if (p->o.dest_dir)
		rc = rk_pack_build_all(p->plan, &p->o, p->tag, err);
	else
		rc = rk_fail(err, RK_E_USAGE, "no folder to put packages into");
	rk_handle_drop(p);
	return rc;
}

void rk_pack_free(struct rk_pack *p)
{
	rk_handle_close(RK_HANDLE_PACK, p);
}
