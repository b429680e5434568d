/*
 * meta.c - names of wheels and their members, lines of RECORD, requirements of the meta package,
 * and the files of NAME-VERSION.dist-info.
 */
#include "pack/wheel/meta.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "rockit/rockit.h"

/* ---- members ---- */

int rk_made_text(struct rk_arena *a, struct rk_made_list *out, const char *path,
		 struct rk_bytes *text, struct rk_error *err)
{
	struct rk_made *v = rk_arena_grow(a, out->v, out->n, &out->cap, sizeof(*v));
	const char *bytes = NULL;
	struct rk_content *c;
	int rc;

	if (v)
		out->v = v;
	if (!text->bad)
		bytes = rk_arena_text(a, text->data ? (const char *)text->data : "", text->len);
	if (!v || !path || !bytes) {
		rc = rk_fail_nomem(err);
		goto out;
	}
	if ((rc = rk_content_new(a, &c, err)) < 0 ||
	    (text->len && (rc = rk_content_bytes(a, c, bytes, text->len, err)) < 0))
		goto out;
	v[out->n++] = (struct rk_made){ path, c, 0644 };
out:
	rk_bytes_release(text);
	return rc;
}

/* ---- names ---- */

const char *rk_kind_dist(const struct rk_pack_plan *p, const struct rk_pack_kind *k,
			 const char *family)
{
	const char *base = rk_arena_text(p->arena, family, rk_family_base(family));

	return base ? rk_pack_dist_name(p->arena, k, p->kpack, base) : NULL;
}

size_t rk_dist_families(const struct rk_pack_plan *p, const struct rk_dist *d,
			const char *const **ret)
{
	if (d->kind->role == RK_PACK_META && *d->family) {
		*ret = &d->family;
		return 1;
	}
	*ret = (const char *const *)p->families;
	return p->nfamilies;
}

const char *rk_wheel_name(struct rk_arena *a, const struct rk_dist *d, const char *version,
			  const char *tag)
{
	const char *name = rk_pep503_name(a, d->dist, '_');

	return name ? rk_arena_textf(a, "%s-%s-py3-none-%s.whl", name, version, tag) : NULL;
}

const char *rk_dist_info_dir(struct rk_arena *a, const struct rk_dist *d, const char *version)
{
	const char *name = rk_pep503_name(a, d->dist, '_');

	return name ? rk_arena_textf(a, "%s-%s.dist-info", name, version) : NULL;
}

bool rk_script_works(const struct rk_dist *d, const struct rk_pack_script *s)
{
	for (size_t i = 0; i < d->n; i++)
		if (d->items[i].action <= RK_PACK_MADE && !strcmp(d->items[i].path, s->path))
			return true;
	return false;
}

/* ---- RECORD ---- */

void rk_record_line(struct rk_bytes *out, const char *path, const uint8_t sha256[RK_SHA256_BYTES],
		    uint64_t size)
{
	size_t from;

	rk_csv_cell(out, path, strlen(path));
	if (!sha256) {
		rk_bytes_puts(out, ",,\n");
		return;
	}
	rk_bytes_puts(out, ",sha256=");
	from = out->len;
	rk_base64_put(out, sha256, RK_SHA256_BYTES);
	if (out->bad)
		return;
	/* the alphabet for URLs, without padding: 32 bytes end with one '=' */
	for (size_t i = from; i < out->len; i++) {
		if (out->data[i] == '+')
			out->data[i] = '-';
		else if (out->data[i] == '/')
			out->data[i] = '_';
	}
	out->len--;
	rk_bytes_printf(out, ",%llu\n", (unsigned long long)size);
}

/* ---- requirements of the meta package, fixed and as extras ---- */

static int add_extra(struct rk_arena *a, struct rk_extras *e, const char *extra, const char *dist,
		     struct rk_error *err)
{
	struct rk_extra *v = rk_arena_grow(a, e->v, e->n, &e->cap, sizeof(*v));

	if (!v)
		return rk_fail_nomem(err);
	e->v = v;
	if (!extra || !dist)
		return rk_fail_nomem(err);
	v[e->n++] = (struct rk_extra){ extra, dist };
	return 0;
}

/* "libraries-gfx94x-dcgpu": normalised as setuptools and pip compare extras. */
static const char *extra_name(struct rk_arena *a, const char *logical, const char *tail)
{
	const char *text = rk_arena_textf(a, "%s-%.*s", logical, (int)rk_family_base(tail), tail);

	return text ? rk_pep503_name(a, text, '-') : NULL;
}

/* Does an earlier family have the same packages? */
static bool seen(const char *const *families, size_t i)
{
	size_t len = rk_family_base(families[i]);

	for (size_t k = 0; k < i; k++)
		if (rk_family_base(families[k]) == len && !strncmp(families[k], families[i], len))
			return true;
	return false;
}

static int of_kind(const struct rk_pack_plan *p, const struct rk_pack_kind *k,
		   const char *const *families, size_t n, struct rk_extras *e, struct rk_error *err)
{
	bool own = strstr(p->kpack ? k->dist_kpack : k->dist, "{family}"); /* one per family */
	const char *extra = "";
	size_t different = 0;
	int rc;

	/* device packages need libraries that are one package for all families */
	if (k->role == RK_PACK_META || (own && !n) || (k->role == RK_PACK_DEVICE && !p->kpack))
		return 0;
	if (!k->required)
		extra = rk_pep503_name(p->arena, k->logical, '-');
	rc = add_extra(p->arena, e, extra, rk_kind_dist(p, k, n ? families[0] : ""), err);
	for (size_t i = 0; i < n; i++)
		different += !seen(families, i);
	if (rc < 0 || k->required || !own || different < 2)
		return rc;
	for (size_t i = 0; i < n; i++) {
		const char *dist;

		if (seen(families, i))
			continue;
		dist = rk_kind_dist(p, k, families[i]);
		if ((rc = add_extra(p->arena, e, extra_name(p->arena, k->logical, families[i]),
				    dist, err)) < 0 ||
		    (rc = add_extra(p->arena, e, extra_name(p->arena, k->logical, "all"), dist,
				    err)) < 0)
			return rc;
	}
	return 0;
}

/* Sorts by extra, then by requirement. */
static int by_extra(const void *a, const void *b)
{
	const struct rk_extra *x = a, *y = b;
	int c = strcmp(x->extra, y->extra);

	return c ? c : strcmp(x->dist, y->dist);
}

int rk_extras_make(const struct rk_pack_plan *p, const struct rk_dist *d, struct rk_extras *ret,
		   struct rk_error *err)
{
	const char *const *families;
	size_t n = rk_dist_families(p, d, &families);
	struct rk_extras e = { 0 };

	for (size_t i = 0; i < p->table->n; i++) {
		int rc = of_kind(p, &p->table->kinds[i], families, n, &e, err);

		if (rc < 0)
			return rc;
	}
	if (e.n)
		qsort(e.v, e.n, sizeof(*e.v), by_extra);
	*ret = e;
	return 0;
}

/* ---- dist-info, all but RECORD ---- */

static int put_requirements(struct rk_bytes *out, const struct rk_pack_plan *p,
			    const struct rk_dist *d, struct rk_error *err)
{
	struct rk_extras e = { 0 };
	const char *last = "";
	int rc;

	if (d->kind->role == RK_PACK_DEVICE) {
		/* they are useless without the libraries of the same version */
		const struct rk_pack_kind *k = rk_pack_table_find(p->table, "libraries");
		const char *dist = k ? rk_kind_dist(p, k, d->family) : NULL;

		if (k && !dist)
			return rk_fail_nomem(err);
		if (k)
			rk_bytes_printf(out, "Requires-Dist: %s ==%s\n", dist, p->version);
		return 0;
	}
	for (size_t i = 0; i < d->nneeds; i++) {
		const struct rk_pack_need *n = &d->needs[i];
		const char *marker = strchr(n->text, ';');
		int len = (int)(marker ? marker - n->text : (ptrdiff_t)strlen(n->text));

		if (strcmp(n->extra, last))
			rk_bytes_printf(out, "Provides-Extra: %s\n", n->extra);
		last = n->extra;
		if (!*n->text)
			continue;
		rk_bytes_printf(out, "Requires-Dist: %.*s", len, n->text);
		if (*last && marker)
			rk_bytes_printf(out, "; (%s) and extra == \"%s\"",
					marker + 1 + strspn(marker + 1, " "), last);
		else if (*last)
			rk_bytes_printf(out, "; extra == \"%s\"", last);
		else if (marker)
			rk_bytes_puts(out, marker);
		rk_bytes_puts(out, "\n");
	}
	if (d->kind->role != RK_PACK_META)
		return 0;
	rc = rk_extras_make(p, d, &e, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < e.n; i++) {
		if (strcmp(e.v[i].extra, last))
			rk_bytes_printf(out, "Provides-Extra: %s\n", e.v[i].extra);
		last = e.v[i].extra;
		rk_bytes_printf(out, "Requires-Dist: %s==%s", e.v[i].dist, p->version);
		if (*last)
			rk_bytes_printf(out, "; extra == \"%s\"", last);
		rk_bytes_puts(out, "\n");
	}
	return 0;
}

int rk_metadata_put(struct rk_bytes *out, const struct rk_pack_plan *p, const struct rk_dist *d,
		    struct rk_error *err)
{
	static const char ends[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
	static const char inner[] = "-_.";
	const char *readme = rk_arena_textf(p->arena, "%s/README.md", d->kind->logical);
	const char *between = "\nThis build is without `";
	size_t n = strlen(d->dist);
	bool good = n && strchr(ends, d->dist[0]) && strchr(ends, d->dist[n - 1]);
	int rc;

	if (!readme)
		return rk_fail_nomem(err);
	/* names become parts of lines and file names, and families come from the user's folders */
	for (size_t i = 0; good && i < n; i++)
		good = strchr(ends, d->dist[i]) || strchr(inner, d->dist[i]);
	if (!good)
		return rk_fail(err, RK_E_FORMAT,
			       "invalid package name '%.100s': use letters and digits, with - _ . "
			       "between them",
			       d->dist);
	rk_bytes_puts(out, "Metadata-Version: 2.1\n");
	rk_bytes_printf(out, "Name: %s\nVersion: %s\n", d->dist, p->version);
	if (d->kind->summary && *d->kind->summary)
		rk_bytes_printf(out, "Summary: %s\n", d->kind->summary);
	if (d->kind->role != RK_PACK_DEVICE)
		rk_bytes_puts(out, "Requires-Python: >=3.8\n");
	rc = put_requirements(out, p, d, err);
	if (rc < 0)
		return rc;
	rk_bytes_puts(out, "Description-Content-Type: text/markdown\n\n");
	rc = rk_template_put(out, p, d, readme, err);
	if (rc < 0)
		return rc;

	/* the README describes a complete package: list the programs that this one does not have */
	for (size_t i = 0; i < d->kind->nscripts; i++) {
		const struct rk_pack_script *s = &d->kind->scripts[i];

		if (!s->required || rk_script_works(d, s))
			continue;
		rk_bytes_printf(out, "%s%s", between, s->name);
		between = "`, `";
	}
	if (between[0] == '`')
		rk_bytes_puts(out, "`.\n");
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp((*(const struct rk_pack_script *const *)a)->name,
		      (*(const struct rk_pack_script *const *)b)->name);
}

/* Console scripts whose program is in the package, sorted by name; no file if there are none. */
static int put_entry_points(struct rk_bytes *out, const struct rk_pack_plan *p,
			    const struct rk_dist *d, struct rk_error *err)
{
	const struct rk_pack_script **v = rk_calloc(d->kind->nscripts + 1, sizeof(*v));
	const char *function;
	size_t n = 0;

	if (!v)
		return rk_fail_nomem(err);
	for (size_t i = 0; i < d->kind->nscripts; i++)
		if (rk_script_works(d, &d->kind->scripts[i]))
			v[n++] = &d->kind->scripts[i];
	qsort(v, n, sizeof(*v), by_name);
	for (size_t i = 0; i < n; i++) {
		function = rk_pack_script_function(p->arena, v[i]->name);
		if (!function)
			out->bad = true;
		rk_bytes_printf(out, "%s%s = %s._cli:%s\n", i ? "" : "[console_scripts]\n",
				v[i]->name, d->module, rk_text_or_empty(function));
	}
	rk_free(v);
	return 0;
}

/* Adds `text` as FOLDER/name and releases it, also on failure. */
static int add_made(struct rk_pack_plan *p, const struct rk_dist *d, struct rk_made_list *out,
		    const char *name, struct rk_bytes *text, struct rk_error *err)
{
	const char *dir = rk_dist_info_dir(p->arena, d, p->version);
	const char *path = dir ? rk_arena_textf(p->arena, "%s/%s", dir, name) : NULL;

	return rk_made_text(p->arena, out, path, text, err);
}

int rk_meta_dist_info(struct rk_pack_plan *p, const struct rk_dist *d, const char *tag,
		      struct rk_made_list *out, struct rk_error *err)
{
	/* the devel tree's folder is created when it is expanded */
	const char *first = d->kind->role == RK_PACK_DEVEL ? "" : d->platform;
	const char *second = d->kind->role == RK_PACK_DEVICE ? "" : d->module;
	const char **names = rk_arena_alloc(p->arena, (d->ntops + 2) * sizeof(*names));
	struct rk_bytes text;
	size_t n = 0;
	int rc;

	if (!names)
		return rk_fail_nomem(err);
	rk_bytes_init(&text, RK_META_BYTES);
	if ((rc = rk_metadata_put(&text, p, d, err)) < 0 ||
	    (rc = add_made(p, d, out, "METADATA", &text, err)) < 0)
		goto out;

	/*
	 * Root-Is-Purelib is true although the files are for one machine: all packages must be in
	 * the same folder as the pure `rocm_sdk`, because run paths and links lead from one package
	 * to another. "false" would separate them on systems that keep platform files apart
	 * (lib64).
	 */
	rk_bytes_puts(&text, "Wheel-Version: 1.0\nGenerator: rockit " ROCKIT_VERSION
			     "\nRoot-Is-Purelib: true\n");
	/* "a.b" in a file name means two tags */
	for (size_t len; *tag; tag += len + (tag[len] == '.')) {
		len = strcspn(tag, ".");
		rk_bytes_printf(&text, "Tag: py3-none-%.*s\n", (int)len, tag);
	}
	if ((rc = add_made(p, d, out, "WHEEL", &text, err)) < 0 ||
	    (rc = put_entry_points(&text, p, d, err)) < 0)
		goto out;
	if ((text.len || text.bad) &&
	    (rc = add_made(p, d, out, "entry_points.txt", &text, err)) < 0)
		goto out;

	/* folders at the top of the wheel, sorted */
	for (size_t i = 0; i < d->ntops; i++)
		names[n++] = d->tops[i].name;
	names[n++] = first;
	names[n++] = second;
	qsort(names, n, sizeof(*names), rk_by_text);
	for (size_t i = 0; i < n; i++)
		if (*names[i])
			rk_bytes_printf(&text, "%s\n", names[i]);
	rc = add_made(p, d, out, "top_level.txt", &text, err);
out:
	rk_bytes_release(&text);
	return rc;
}
