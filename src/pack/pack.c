/* pack.c - the API of the packager: plan, build, and print the plan or the result of verify. */
#include "rockit/pack.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "base/handle.h"
#include "base/json_out.h"
#include "base/page.h"
#include "base/text.h"
#include "pack/pack_build.h"
#include "pack/tag.h"

struct rk_pack {
	struct rk_pack_options o;
	struct rk_arena *arena; /* owns the requested version */
	struct rk_pack_plan *plan;
	const char *tag;
	struct rk_pack_package *packages;
	size_t npackages;
};

/* ---- the plan, for people ---- */

/* "edit  lib/libx.so.1 <- core-hip_lib_generic: lib/libx.so.1.2; SONAME; rpath '...'" */
static void put_file(struct rk_bytes *out, const struct rk_pack_file *f)
{
	rk_bytes_printf(out, "  %-8s ", f->action);
	rk_put_printable(out, f->path, strlen(f->path), true);
	if (*f->source) {
		rk_bytes_puts(out, " <- ");
		rk_put_printable(out, f->source, strlen(f->source), true);
	}
	if (*f->reason)
		rk_bytes_printf(out, "; %s", f->reason);
	if (*f->edit) {
		rk_bytes_puts(out, "; ");
		rk_put_printable(out, f->edit, strlen(f->edit), true);
	}
	rk_bytes_put_u8(out, '\n');
}

static void put_plan_text(struct rk_bytes *out, const void *what,
			  const struct rk_render_options *look)
{
	const struct rk_pack *p = what;
	const struct rk_pack_left *v = p->plan->left;
	size_t n = p->plan->nleft, same;

	(void)look;
	for (size_t i = 0; i < p->npackages; i++) {
		const struct rk_pack_package *k = &p->packages[i];

		rk_bytes_printf(out, "%s%s: %zu files, %.1f MB\n", i ? "\n" : "", k->file,
				k->nfiles, (double)k->bytes / 1e6);
		for (size_t f = 0; f < k->nfiles; f++)
			put_file(out, &k->files[f]);
	}
	if (n)
		rk_bytes_puts(out, "\nleft out:\n");
	/* one line for each artifact and reason */
	for (size_t i = 0; i < n; i += same) {
		for (same = 1; i + same < n && !strcmp(v[i].artifact, v[i + same].artifact) &&
			       !strcmp(v[i].reason, v[i + same].reason);)
			same++;
		rk_bytes_puts(out, "  ");
		rk_put_printable(out, v[i].artifact, strlen(v[i].artifact), true);
		if (*v[i].path)
			rk_bytes_printf(out, ": %zu file%s; ", same, rk_plural(same));
		else
			rk_bytes_puts(out, ": whole artifact; ");
		rk_put_printable(out, v[i].reason, strlen(v[i].reason), true);
		rk_bytes_put_u8(out, '\n');
	}
}

/* ---- the plan, for programs ---- */

static void file_json(struct rk_json_out *j, const struct rk_pack_file *f)
{
	char mode[16];
	size_t n = 0;

	for (unsigned shift = 9; shift; shift -= 3)
		mode[n++] = (char)('0' + (f->mode >> (shift - 3) & 7));
	mode[n] = 0;
	rk_json_object_flat(j, NULL);
	rk_json_text(j, "path", f->path);
	rk_json_text(j, "action", f->action);
	rk_json_text(j, "mode", mode);
	rk_json_uint(j, "size", f->size);
	rk_json_text(j, "source", f->source);
	rk_json_text(j, "reason", f->reason);
	rk_json_text(j, "edit", f->edit);
	rk_json_close(j);
}

static void put_plan_json(struct rk_bytes *out, const void *what,
			  const struct rk_render_options *look)
{
	const struct rk_pack *p = what;
	const struct rk_pack_left *left = p->plan->left;
	const struct rk_warning *w;
	struct rk_json_out j;
	size_t n = 0;

	(void)look;
	rk_json_begin(&j, out);
	rk_json_int(&j, "schema", 1);
	rk_json_text(&j, "version", p->plan->version);
	rk_json_array(&j, "packages");
	for (size_t i = 0; i < p->npackages; i++) {
		const struct rk_pack_package *k = &p->packages[i];

		rk_json_object(&j, NULL);
		rk_json_text(&j, "package", k->logical);
		rk_json_text(&j, "dist", k->dist);
		rk_json_text(&j, "family", rk_text_or_null(k->family));
		rk_json_text(&j, "file", k->file);
		rk_json_uint(&j, "bytes", k->bytes);
		rk_json_array(&j, "files");
		for (size_t f = 0; f < k->nfiles; f++)
			file_json(&j, &k->files[f]);
		rk_json_close(&j);
		rk_json_close(&j);
	}
	rk_json_close(&j);
	rk_json_array(&j, "left_out");
	for (size_t i = 0; i < p->plan->nleft; i++) {
		rk_json_object_flat(&j, NULL);
		rk_json_text(&j, "artifact", left[i].artifact);
		rk_json_text(&j, "path", rk_text_or_null(left[i].path));
		rk_json_text(&j, "reason", left[i].reason);
		rk_json_close(&j);
	}
	rk_json_close(&j);
	rk_json_array(&j, "warnings");
	w = rk_diag_list(p->plan->diag, &n);
	for (size_t i = 0; i < n; i++) {
		rk_json_object_flat(&j, NULL);
		rk_json_text(&j, "kind", w[i].kind);
		rk_json_text(&j, "file", w[i].file);
		rk_json_uint(&j, "count", w[i].count);
		rk_json_text(&j, "message", w[i].message);
		rk_json_close(&j);
	}
	rk_json_close(&j);
	rk_json_end(&j);
}

static void put_plan_csv(struct rk_bytes *out, const void *what,
			 const struct rk_render_options *look)
{
	const struct rk_pack *p = what;

	(void)look;
	rk_bytes_puts(out, "package,file,path,action,size,source,reason,edit\n");
	for (size_t i = 0; i < p->npackages; i++) {
		const struct rk_pack_package *k = &p->packages[i];

		for (size_t f = 0; f < k->nfiles; f++) {
			rk_csv_text(out, k->logical, ',');
			rk_csv_text(out, k->file, ',');
			rk_csv_text(out, k->files[f].path, ',');
			rk_csv_text(out, k->files[f].action, ',');
			rk_bytes_printf(out, "%" PRIu64 ",", k->files[f].size);
			rk_csv_text(out, k->files[f].source, ',');
			rk_csv_text(out, k->files[f].reason, ',');
			rk_csv_text(out, k->files[f].edit, '\n');
		}
	}
}

/* ---- the result of verify ---- */

/* Names come from archives: escape control characters so that they cannot control the terminal. */
static void put_proof_text(struct rk_bytes *out, const void *what,
			   const struct rk_render_options *look)
{
	const struct rk_pack_proof *p = what;

	(void)look;
	for (size_t i = 0; i < p->nfindings; i++) {
		const struct rk_pack_finding *f = &p->findings[i];

		rk_put_plain(out, f->package);
		rk_bytes_puts(out, ": ");
		if (f->path[0]) {
			rk_put_plain(out, f->path);
			rk_bytes_puts(out, ": ");
		}
		rk_put_plain(out, f->text);
		rk_bytes_printf(out, f->note ? " [%s, note]\n" : " [%s]\n", f->kind);
	}
	rk_bytes_printf(out, "%zu package%s, %zu file%s, ", p->packages, rk_plural(p->packages),
			p->files, rk_plural(p->files));
	if (p->libraries == 1)
		rk_bytes_puts(out, "1 program or library: ");
	else
		rk_bytes_printf(out, "%zu programs and libraries: ", p->libraries);
	if (p->faults)
		rk_bytes_printf(out, "%zu fault%s", p->faults, rk_plural(p->faults));
	else
		rk_bytes_puts(out, "OK");
	if (p->nfindings > p->faults)
		rk_bytes_printf(out, ", %zu note%s", p->nfindings - p->faults,
				rk_plural(p->nfindings - p->faults));
	if (p->glibc[0])
		rk_bytes_printf(out, "; glibc %s", p->glibc);
	if (p->platform_tag[0])
		rk_bytes_printf(out, " (%s)", p->platform_tag);
	rk_bytes_puts(out, "\n");
}

static void put_proof_json(struct rk_bytes *out, const void *what,
			   const struct rk_render_options *look)
{
	const struct rk_pack_proof *p = what;
	struct rk_json_out j;

	(void)look;
	rk_json_begin(&j, out);
	rk_json_int(&j, "schema", 1);
	rk_json_bool(&j, "holds", !p->faults);
	rk_json_uint(&j, "packages", p->packages);
	rk_json_uint(&j, "files", p->files);
	rk_json_uint(&j, "libraries", p->libraries);
	rk_json_text(&j, "glibc", rk_text_or_null(p->glibc));
	rk_json_text(&j, "platform_tag", rk_text_or_null(p->platform_tag));
	rk_json_uint(&j, "faults", p->faults);
	rk_json_array(&j, "findings");
	for (size_t i = 0; i < p->nfindings; i++) {
		rk_json_object_flat(&j, NULL);
		rk_json_text(&j, "kind", p->findings[i].kind);
		rk_json_text(&j, "package", p->findings[i].package);
		rk_json_text(&j, "path", p->findings[i].path);
		rk_json_text(&j, "text", p->findings[i].text);
		rk_json_bool(&j, "note", p->findings[i].note);
		rk_json_close(&j);
	}
	rk_json_close(&j);
	rk_json_end(&j);
}

static void put_proof_csv(struct rk_bytes *out, const void *what,
			  const struct rk_render_options *look)
{
	const struct rk_pack_proof *p = what;

	(void)look;
	rk_bytes_puts(out, "kind,note,package,path,text\n");
	for (size_t i = 0; i < p->nfindings; i++) {
		const struct rk_pack_finding *f = &p->findings[i];

		rk_bytes_printf(out, "%s,%d,", f->kind, f->note);
		rk_csv_text(out, f->package, ',');
		rk_csv_text(out, f->path, ',');
		rk_csv_text(out, f->text, '\n');
	}
}

int rk_pack_proof_render(const struct rk_pack_proof *p, enum rk_report_format format, char **ret,
			 size_t *ret_len, struct rk_error *err)
{
	static rk_form *const forms[RK_NFORMS] = { put_proof_text, put_proof_json, put_proof_csv };
	const struct rk_render_options look = { .format = format };

	return rk_render(forms, p, &look, ret, ret_len, __func__, err);
}

/* ---- the plan for API users ---- */

/* `item` is NULL for generated files. The result's path or source is NULL when out of memory. */
static struct rk_pack_file file_of(struct rk_arena *a, const char *path,
				   const struct rk_content *content, uint32_t mode,
				   const struct rk_pack_item *item)
{
	struct rk_pack_file f = { .path = path,
				  .action = rk_pack_action_names[RK_PACK_MADE],
				  .edit = "",
				  .reason = "",
				  .source = "",
				  .size = content ? content->size : 0,
				  .mode = mode & 0777 };

	if (!item)
		return f;
	f.action = rk_pack_action_names[item->action];
	f.edit = rk_text_or_empty(item->edit);
	f.reason = rk_text_or_empty(item->reason);
	if (item->entry)
		f.source = rk_arena_textf(a, "%s: %s", item->entry->artifact->label,
					  item->entry->path);
	return f;
}

/* Members of the archive first, then files that are only in devel's inner archive or left out. */
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

static int show(struct rk_pack *k, struct rk_error *err)
{
	k->packages = rk_calloc(k->plan->ndists + 1, sizeof(*k->packages));
	if (!k->packages)
		return rk_fail_nomem(err);
	for (; k->npackages < k->plan->ndists; k->npackages++) {
		const struct rk_dist *d = &k->plan->dists[k->npackages];
		struct rk_pack_package *to = &k->packages[k->npackages];
		struct rk_pack_members members;
		int rc;

		*to = (struct rk_pack_package){ .logical = d->kind->logical,
						.dist = d->dist,
						.family = d->family };
		if ((rc = rk_pack_target(k->plan, d, k->tag, &to->file, err)) < 0 ||
		    (rc = rk_pack_members(k->plan, d, k->tag, &members, err)) < 0 ||
		    (rc = fill(k, d, &members, to, err)) < 0)
			return rc;
	}
	return 0;
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
	if ((rc = rk_arena_new(&k->arena, err)) < 0 ||
	    (o->version && (rc = rk_pep440_normal(k->arena, o->version, &version, err)) < 0) ||
	    (rc = rk_pack_plan_make(&k->o, version, &k->plan, err)) < 0 ||
	    (rc = rk_pack_tag(k->plan, k->o.platform_tag, &k->tag, err)) < 0 ||
	    (rc = show(k, err)) < 0 ||
	    (rc = rk_handle_open(RK_HANDLE_PACK, k, destroy_pack, err)) < 0) {
		destroy_pack(k);
		return rc;
	}
	*ret = k;
	return 0;
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
	static rk_form *const forms[RK_NFORMS] = { put_plan_text, put_plan_json, put_plan_csv };
	const struct rk_render_options look = { .format = format };
	int rc = rk_handle_use(RK_HANDLE_PACK, p, __func__, err);

	if (rc < 0)
		return rc;
	rc = rk_render(forms, p, &look, ret, ret_len, __func__, err);
	rk_handle_drop(p);
	return rc;
}

int rk_pack_build(struct rk_pack *p, struct rk_error *err)
{
	int rc = rk_handle_use(RK_HANDLE_PACK, p, __func__, err);

	if (rc < 0)
		return rc;
	if (p->o.dest_dir)
		rc = rk_pack_build_all(p->plan, &p->o, p->tag, err);
	else
		rc = rk_fail(err, RK_E_USAGE, "no destination folder for packages");
	rk_handle_drop(p);
	return rc;
}

void rk_pack_free(struct rk_pack *p)
{
	rk_handle_close(RK_HANDLE_PACK, p);
}
