/* wheel_python.c - the Python files of a wheel, from templates and from what the plan says. */
#include <string.h>

#include "base/data.h"
#include "base/text.h"
#include "pack/meta_parts.h"

/* DIR/name; NULL: no memory. */
static const char *below(struct rk_pack_plan *p, const char *dir, const char *name)
{
	return rk_arena_textf(p->arena, "%s/%s", dir, name);
}

static int add_empty(struct rk_pack_plan *p, struct rk_made_list *out, const char *path,
		     struct rk_error *err)
{
	struct rk_bytes none;

	rk_bytes_init(&none, RK_META_BYTES);
	return rk_made_text(p->arena, out, path, &none, err);
}

/* One file of "pack/templates/LOGICAL/". */
static int add_template(struct rk_pack_plan *p, const struct rk_dist *d, struct rk_made_list *out,
			const char *name, struct rk_error *err)
{
	struct rk_bytes text;
	const char *full = below(p, d->kind->logical, name);
	int rc;

	rk_bytes_init(&text, RK_META_BYTES);
	rc = full ? rk_template_put(&text, p, d, full, err) : rk_fail_nomem(err);
	if (rc == 0)
		return rk_made_text(p->arena, out, below(p, d->module, name), &text, err);
	rk_bytes_release(&text);
	return rc;
}

static int add_dist_info(struct rk_pack_plan *p, const struct rk_dist *d, struct rk_made_list *out,
			 struct rk_error *err)
{
	struct rk_bytes text;
	int rc;

	rk_bytes_init(&text, RK_META_BYTES);
	rc = rk_dist_info_put(&text, p, d, err);
	if (rc == 0)
		return rk_made_text(p->arena, out, below(p, d->module, "_dist_info.py"), &text,
				    err);
	rk_bytes_release(&text);
	return rc;
}

/* All Python templates of the kind, by name; _dist_info.py, which all share, in its place. */
static int add_pure(struct rk_pack_plan *p, const struct rk_dist *d, struct rk_made_list *out,
		    struct rk_error *err)
{
	const char *dir = rk_arena_textf(p->arena, "pack/templates/%s/", d->kind->logical);
	const char *name;
	bool shared = false;
	int rc = dir ? 0 : rk_fail_nomem(err);

	for (const struct rk_data_file *f = rk_data_files; rc == 0 && f->name; f++) {
		if (strncmp(f->name, dir, strlen(dir)) ||
		    !rk_text_ends(f->name, strlen(f->name), ".py"))
			continue;
		name = f->name + strlen(dir);
		if (!shared && strcmp(name, "_dist_info.py") > 0) {
			rc = add_dist_info(p, d, out, err);
			shared = true;
		}
		if (rc == 0)
			rc = add_template(p, d, out, name, err);
	}
	return rc == 0 && !shared ? add_dist_info(p, d, out, err) : rc;
}

/* ---- device packages ---- */

/* The link that the devel tree has for a file: up to the folder of all packages, and down. */
static void put_link(struct rk_bytes *out, const struct rk_dist *d, const char *path)
{
	struct rk_bytes target;

	rk_bytes_init(&target, RK_META_BYTES);
	rk_bytes_puts(&target, "../");
	for (const char *s = strchr(path, '/'); s; s = strchr(s + 1, '/'))
		rk_bytes_puts(&target, "../");
	rk_bytes_printf(&target, "%s/%s", d->platform, path);
	rk_bytes_puts(out, "    {\n      \"relpath\": ");
	rk_json_string(out, path, strlen(path));
	rk_bytes_puts(out, ",\n      \"target\": ");
	rk_json_string(out, target.len ? (const char *)target.data : "", target.len);
	rk_bytes_puts(out, "\n    }");
	if (target.bad)
		out->bad = true;
	rk_bytes_release(&target);
}

static void put_links(struct rk_bytes *out, const struct rk_pack_plan *p, const struct rk_dist *d,
		      const char *marker)
{
	rk_bytes_puts(out, "{\n  \"version\": ");
	rk_json_string(out, p->version, strlen(p->version));
	rk_bytes_puts(out, ",\n  \"links\": [\n");
	put_link(out, d, marker);
	for (size_t i = 0; i < d->n; i++) {
		if (d->items[i].action >= RK_PACK_MADE)
			continue;
		rk_bytes_puts(out, ",\n");
		put_link(out, d, d->items[i].path);
	}
	rk_bytes_puts(out, "\n  ]\n}");
}

/*
 * In a folder that others share. The marker lies at its top: pip removes empty folders only below one
 * from which it removes a file.
 */
static int add_links(struct rk_pack_plan *p, const struct rk_dist *d, struct rk_made_list *out,
		     struct rk_error *err)
{
	int len = (int)rk_family_base(d->family);
	const char *name = rk_arena_textf(p->arena, ".devel_links/%.*s.json", len, d->family);
	const char *marker = rk_arena_textf(p->arena, ".device-%.*s", len, d->family);
	struct rk_bytes text;
	int rc;

	if (!name || !marker)
		return rk_fail_nomem(err);
	rc = add_empty(p, out, below(p, d->platform, marker), err);
	if (rc < 0)
		return rc;
	rk_bytes_init(&text, RK_META_BYTES);
	put_links(&text, p, d, marker);
	return rk_made_text(p->arena, out, below(p, d->platform, name), &text, err);
}

int rk_meta_python(struct rk_pack_plan *p, const struct rk_dist *d, struct rk_made_list *out,
		   struct rk_error *err)
{
	int rc = 0;

	if (d->kind->role == RK_PACK_DEVICE)
		return add_links(p, d, out, err);
	/* that of the devel package comes out of its archive */
	if (d->kind->role == RK_PACK_RUNTIME)
		rc = add_empty(p, out, below(p, d->platform, "__init__.py"), err);
	return rc < 0 ? rc : add_pure(p, d, out, err);
}
