/* dist_info.c - the files of NAME-VERSION.dist-info, all but RECORD. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "pack/meta_parts.h"
#include "rockit/rockit.h"

static const char python_floor[] = ">=3.8";

/* What is said of a package before its README; `d->module` needs a Python. */
static void put_header(struct rk_bytes *out, const struct rk_pack_plan *p, const struct rk_dist *d)
{
	rk_bytes_puts(out, "Metadata-Version: 2.1\n");
	rk_bytes_printf(out, "Name: %s\nVersion: %s\n", d->dist, p->version);
	if (d->kind->summary && *d->kind->summary)
		rk_bytes_printf(out, "Summary: %s\n", d->kind->summary);
	if (d->kind->role != RK_PACK_DEVICE)
		rk_bytes_printf(out, "Requires-Python: %s\n", python_floor);
}

/* The README is for a package with all it is for: what this one has not. */
static void put_absent(struct rk_bytes *out, const struct rk_dist *d)
{
	const char *between = "\nThis build is without `";

	for (size_t i = 0; i < d->kind->nscripts; i++) {
		const struct rk_pack_script *s = &d->kind->scripts[i];

		if (!s->required || rk_script_works(d, s))
			continue;
		rk_bytes_printf(out, "%s%s", between, s->name);
		between = "`, `";
	}
	if (between[0] == '`')
		rk_bytes_puts(out, "`.\n");
}

static int put_readme(struct rk_bytes *out, const struct rk_pack_plan *p, const struct rk_dist *d,
		      struct rk_error *err)
{
	const char *name = rk_arena_textf(p->arena, "%s/README.md", d->kind->logical);

	int rc;

	rk_bytes_puts(out, "Description-Content-Type: text/markdown\n\n");
	rc = name ? rk_template_put(out, p, d, name, err) : rk_fail_nomem(err);
	if (rc == 0)
		put_absent(out, d);
	return rc;
}

/* Files for a GPU are of no use without the libraries they belong to, of the same version. */
static int put_libraries(struct rk_bytes *out, const struct rk_pack_plan *p,
			 const struct rk_dist *d, struct rk_error *err)
{
	const struct rk_pack_kind *k = rk_pack_table_find(p->table, "libraries");
	const char *dist = k ? rk_kind_dist(p, k, d->family) : NULL;

	if (k && !dist)
		return rk_fail_nomem(err);
	if (k)
		rk_bytes_printf(out, "Requires-Dist: %s ==%s\n", dist, p->version);
	return 0;
}

static int put_requirements(struct rk_bytes *out, const struct rk_pack_plan *p,
			    const struct rk_dist *d, struct rk_error *err)
{
	struct rk_extras e = { 0 };
	const char *last = "";
	int rc;

	if (d->kind->role == RK_PACK_DEVICE)
		return put_libraries(out, p, d, err);
	if (d->kind->role != RK_PACK_META)
		return 0;
	rc = rk_extras_make(p, d, &e, err);
	for (size_t i = 0; rc == 0 && i < e.n; i++) {
		if (strcmp(e.v[i].extra, last))
			rk_bytes_printf(out, "Provides-Extra: %s\n", e.v[i].extra);
		last = e.v[i].extra;
		rk_bytes_printf(out, "Requires-Dist: %s==%s", e.v[i].dist, p->version);
		if (*last)
			rk_bytes_printf(out, "; extra == \"%s\"", last);
		rk_bytes_puts(out, "\n");
	}
	return rc;
}

/* A name is a part of lines and of files: families are folders of somebody's build. */
static int check_name(const char *name, struct rk_error *err)
{
	static const char ends[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
	size_t n = strlen(name);
	bool good = n && strchr(ends, name[0]) && strchr(ends, name[n - 1]);

	for (size_t i = 0; good && i < n; i++)
		good = strchr(ends, name[i]) || strchr("-_.", name[i]);
	if (good)
		return 0;
	return rk_fail(
		err, RK_E_USAGE,
		"'%.100s' cannot be the name of a package: letters, digits and - _ . between "
		"them",
		name);
}

int rk_metadata_put(struct rk_bytes *out, const struct rk_pack_plan *p, const struct rk_dist *d,
		    struct rk_error *err)
{
	int rc = check_name(d->dist, err);

	if (rc < 0)
		return rc;
	put_header(out, p, d);
	rc = put_requirements(out, p, d, err);
	return rc < 0 ? rc : put_readme(out, p, d, err);
}

/*
 * Root-Is-Purelib: the files are for one machine, but all packages must share one folder with the pure
 * `rocm_sdk`: run paths and links go from one to the other. Where a system keeps platform files apart
 * (lib64), "false" would part them.
 */
static void put_wheel(struct rk_bytes *out, const char *tag)
{
	rk_bytes_puts(out, "Wheel-Version: 1.0\nGenerator: rockit " ROCKIT_VERSION
			   "\nRoot-Is-Purelib: true\n");
	/* "a.b" in a file name is two tags */
	for (size_t n; *tag; tag += n + (tag[n] == '.')) {
		n = strcspn(tag, ".");
		rk_bytes_printf(out, "Tag: py3-none-%.*s\n", (int)n, tag);
	}
}

static int by_name(const void *a, const void *b)
{
	return strcmp((*(const struct rk_pack_script *const *)a)->name,
		      (*(const struct rk_pack_script *const *)b)->name);
}

/* Of the console scripts those that start something, by name; *ret is the caller's. */
static int working_scripts(const struct rk_dist *d, const struct rk_pack_script ***ret,
			   size_t *ret_n, struct rk_error *err)
{
	const struct rk_pack_script **v = rk_calloc(d->kind->nscripts + 1, sizeof(*v));
	size_t n = 0;

	if (!v)
		return rk_fail_nomem(err);
	for (size_t i = 0; i < d->kind->nscripts; i++)
		if (rk_script_works(d, &d->kind->scripts[i]))
			v[n++] = &d->kind->scripts[i];
	qsort(v, n, sizeof(*v), by_name);
	*ret = v;
	*ret_n = n;
	return 0;
}

/* Nothing at all when there are none. */
static int put_entry_points(struct rk_bytes *out, const struct rk_pack_plan *p,
			    const struct rk_dist *d, struct rk_error *err)
{
	const struct rk_pack_script **v = NULL;
	const char *function;
	size_t n = 0;
	int rc = working_scripts(d, &v, &n, err);

	for (size_t i = 0; i < n; i++) {
		function = rk_pack_script_function(p->arena, v[i]->name);
		if (!function)
			out->bad = true;
		rk_bytes_printf(out, "%s%s = %s._cli:%s\n", i ? "" : "[console_scripts]\n",
				v[i]->name, d->module, function ? function : "");
	}
	rk_free(v);
	return rc;
}

/* Folders at the top of the wheel. That of the devel tree is made when it is expanded. */
static void put_top_level(struct rk_bytes *out, const struct rk_dist *d)
{
	const char *a = d->kind->role == RK_PACK_DEVEL ? "" : d->platform;
	const char *b = d->kind->role == RK_PACK_DEVICE ? "" : d->module;
	bool swap = strcmp(a, b) > 0;

	for (int i = 0; i < 2; i++) {
		const char *name = swap == (i == 0) ? b : a;

		if (*name)
			rk_bytes_printf(out, "%s\n", name);
	}
}

/* Adds `text` as FOLDER/name; an error before it goes through. */
static int add(struct rk_pack_plan *p, const struct rk_dist *d, struct rk_made_list *out,
	       const char *name, struct rk_bytes *text, int rc, struct rk_error *err)
{
	const char *dir = rk_dist_info_dir(p->arena, d, p->version);

	if (rc == 0)
		return rk_made_text(p->arena, out,
				    dir ? rk_arena_textf(p->arena, "%s/%s", dir, name) : NULL, text,
				    err);
	rk_bytes_release(text);
	return rc;
}

int rk_meta_dist_info(struct rk_pack_plan *p, const struct rk_dist *d, const char *tag,
		      struct rk_made_list *out, struct rk_error *err)
{
	struct rk_bytes text;
	int rc;

	rk_bytes_init(&text, RK_META_BYTES);
	rc = rk_metadata_put(&text, p, d, err);
	rc = add(p, d, out, "METADATA", &text, rc, err);
	if (rc == 0) {
		put_wheel(&text, tag);
		rc = add(p, d, out, "WHEEL", &text, 0, err);
	}
	if (rc == 0)
		rc = put_entry_points(&text, p, d, err);
	if (rc < 0 || text.len || text.bad)
		rc = add(p, d, out, "entry_points.txt", &text, rc, err);
	if (rc < 0)
		return rc;
	put_top_level(&text, d);
	return add(p, d, out, "top_level.txt", &text, 0, err);
}
