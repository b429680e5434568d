/* python_text.c - templates of Python files filled in; _dist_info.py. */
#include <string.h>

#include "base/data.h"
#include "pack/meta_parts.h"

/* ---- templates ---- */

enum { NWORDS = 8 };

struct word {
	const char *key, *value;
};

/* The functions of the scripts that start something. */
static void put_functions(struct rk_bytes *out, const struct rk_pack_plan *p,
			  const struct rk_dist *d)
{
	const char *between = "";

	for (size_t i = 0; i < d->kind->nscripts; i++) {
		const struct rk_pack_script *s = &d->kind->scripts[i];
		const char *name = rk_pack_script_function(p->arena, s->name);

		if (!rk_script_works(d, s))
			continue;
		if (!name)
			out->bad = true;
		rk_bytes_printf(out, "%sdef %s():\n    _exec(\"%s\"%s)", between, name ? name : "",
				s->path, s->plain ? ", expand=False" : "");
		between = "\n\n\n";
	}
}

static int make_words(struct word w[NWORDS], const struct rk_pack_plan *p, const struct rk_dist *d,
		      struct rk_error *err)
{
	const struct rk_pack_kind *k = rk_pack_table_find(p->table, "profiler");
	const char *dist = k ? rk_kind_dist(p, k, "") : "";
	const char *module = k ? rk_pack_module_name(p->arena, k, p->kpack, "") : "";

	w[0] = (struct word){ "@VERSION@", p->version };
	w[1] = (struct word){ "@DIST@", d->dist };
	w[2] = (struct word){ "@MODULE@", d->module };
	w[3] = (struct word){ "@PLATFORM@", d->platform };
	w[4] = (struct word){ "@FAMILY@", d->family };
	w[5] = (struct word){ "@PROFILER_DIST@", dist };
	w[6] = (struct word){ "@PROFILER_MODULE@", module };
	w[7] = (struct word){ "@SUMMARY@", d->kind->summary ? d->kind->summary : "" };
	return dist && module ? 0 : rk_fail_nomem(err);
}

static const struct word *word_at(const struct word w[NWORDS], const char *at, size_t left)
{
	for (size_t i = 0; i < NWORDS; i++) {
		size_t n = strlen(w[i].key);

		if (n <= left && !memcmp(at, w[i].key, n))
			return &w[i];
	}
	return NULL;
}

/* What stands at `at`, one word or one byte; returns how much of it was used. */
static size_t put_next(struct rk_bytes *out, const struct word w[NWORDS],
		       const struct rk_pack_plan *p, const struct rk_dist *d, const char *at,
		       size_t left)
{
	static const char scripts[] = "# @SCRIPTS@";
	const struct word *found;

	if (*at == '#' && left >= sizeof(scripts) - 1 &&
	    !memcmp(at, scripts, sizeof(scripts) - 1)) {
		put_functions(out, p, d);
		return sizeof(scripts) - 1;
	}
	found = *at == '@' ? word_at(w, at, left) : NULL;
	if (found) {
		rk_bytes_puts(out, found->value);
		return strlen(found->key);
	}
	rk_bytes_put_u8(out, (uint8_t)*at);
	return 1;
}

int rk_template_fill(struct rk_bytes *out, const struct rk_pack_plan *p, const struct rk_dist *d,
		     const char *text, size_t len, struct rk_error *err)
{
	struct word w[NWORDS];
	int rc = make_words(w, p, d, err);

	for (size_t i = 0; rc == 0 && i < len;)
		i += put_next(out, w, p, d, text + i, len - i);
	return rc == 0 && out->bad ? rk_fail_nomem(err) : rc;
}

int rk_template_put(struct rk_bytes *out, const struct rk_pack_plan *p, const struct rk_dist *d,
		    const char *name, struct rk_error *err)
{
	const char *full = rk_arena_textf(p->arena, "pack/templates/%s", name);
	const struct rk_data_file *f = full ? rk_data_find(full) : NULL;

	if (!full)
		return rk_fail_nomem(err);
	if (!f)
		return rk_fail(err, RK_E_UNSUPPORTED, "this build has no template '%s'", name);
	return rk_template_fill(out, p, d, f->text, f->len, err);
}

/* ---- _dist_info.py ---- */

static void put_assignment(struct rk_bytes *out, const char *before, const char *value,
			   const char *after)
{
	rk_bytes_puts(out, before);
	rk_python_repr(out, value);
	rk_bytes_puts(out, after);
}

static void put_families(struct rk_bytes *out, const struct rk_pack_plan *p,
			 const struct rk_dist *d)
{
	const char *const *families;
	size_t n = rk_dist_families(p, d, &families);

	if (n)
		put_assignment(out, "DEFAULT_TARGET_FAMILY = ", families[0], "\n");
	for (size_t i = 0; i < n; i++)
		put_assignment(out, "AVAILABLE_TARGET_FAMILIES.append(", families[i], ")\n");
}

int rk_dist_info_put(struct rk_bytes *out, const struct rk_pack_plan *p, const struct rk_dist *d,
		     struct rk_error *err)
{
	const struct rk_pack_kind *libraries = rk_pack_table_find(p->table, "libraries");
	int rc = rk_template_put(out, p, d, "_dist_info.py", err);

	if (rc < 0)
		return rc;
	put_assignment(out, "__version__ = ", p->version, "\n");
	put_assignment(out, "PY_PACKAGE_SUFFIX_NONCE = ", p->nonce, "\n");
	if (p->kpack && libraries)
		put_assignment(out, "ALL_PACKAGES['libraries'].dist_package_template = ",
			       libraries->dist_kpack, "\n");
	put_families(out, p, d);
	if (*d->family)
		put_assignment(out, "THIS_TARGET_FAMILY = ", d->family, "\n");
	else
		rk_bytes_puts(out, "THIS_TARGET_FAMILY = None\n");
	put_assignment(out, "THIS_PACKAGE_ENTRY = ALL_PACKAGES[", d->kind->logical, "]\n");
	return out->bad ? rk_fail_nomem(err) : 0;
}
