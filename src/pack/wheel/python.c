/*
 * python.c - generate Python files: those of a wheel from templates and the plan, _dist_info.py,
 * and the _rocm_init.py for frameworks built against these packages.
 */
#include "pack/wheel/meta.h"

#include <string.h>

#include "base/data.h"
#include "base/handle.h"
#include "base/list.h"
#include "base/text.h"
#include "base/words.h"
#include "rockit/pack.h"

/* ---- strings as Python literals ---- */

/*
 * Decodes the UTF-8 character at s and returns its length. An invalid byte becomes a lone
 * surrogate, as in Python paths.
 */
static size_t character(const char *s, uint32_t *ret)
{
	const unsigned char *p = (const unsigned char *)s;
	size_t n = 1;

	if (p[0] >= 0xf0)
		n = 4;
	else if (p[0] >= 0xe0)
		n = 3;
	else if (p[0] >= 0x80)
		n = 2;
	if (strnlen(s, n) != n || rk_utf8_valid(s, n) != n) {
		*ret = 0xdc00u + p[0];
		return 1;
	}
	*ret = n == 1 ? p[0] : p[0] & (0xffu >> (n + 1));
	for (size_t i = 1; i < n; i++)
		*ret = *ret << 6 | (p[i] & 0x3f);
	return n;
}

void rk_python_repr(struct rk_bytes *out, const char *s)
{
	char quote = strchr(s, '\'') && !strchr(s, '"') ? '"' : '\'';
	uint32_t c;

	rk_bytes_put_u8(out, (uint8_t)quote);
	while (*s) {
		s += character(s, &c);
		if (c == '\n') {
			rk_bytes_puts(out, "\\n");
		} else if (c == '\r') {
			rk_bytes_puts(out, "\\r");
		} else if (c == '\t') {
			rk_bytes_puts(out, "\\t");
		} else if (c < 0x20 || (c >= 0x7f && c < 0x100)) {
			rk_bytes_printf(out, "\\x%02x", (unsigned)c);
		} else if (c >= 0x10000) {
			rk_bytes_printf(out, "\\U%08x", (unsigned)c);
		} else if (c >= 0x100) {
			rk_bytes_printf(out, "\\u%04x", (unsigned)c);
		} else {
			if (c == '\\' || c == (uint32_t)(unsigned char)quote)
				rk_bytes_put_u8(out, '\\');
			rk_bytes_put_u8(out, (uint8_t)c);
		}
	}
	rk_bytes_put_u8(out, (uint8_t)quote);
}

/* ---- templates ---- */

/* The functions of console scripts whose program is in the package. */
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
		rk_bytes_printf(out, "%sdef %s():\n    _exec(\"%s\"%s)", between,
				rk_text_or_empty(name), s->path, s->plain ? ", expand=False" : "");
		between = "\n\n\n";
	}
}

int rk_template_fill(struct rk_bytes *out, const struct rk_pack_plan *p, const struct rk_dist *d,
		     const char *text, size_t len, struct rk_error *err)
{
	static const char scripts[] = "# @SCRIPTS@";
	const struct rk_pack_kind *k = rk_pack_table_find(p->table, "profiler");
	const char *dist = k ? rk_kind_dist(p, k, "") : "";
	const char *module = k ? rk_pack_module_name(p->arena, k, p->kpack, "") : "";
	const struct {
		const char *key, *value;
	} words[] = {
		{ "@VERSION@", p->version },
		{ "@DIST@", d->dist },
		{ "@MODULE@", d->module },
		{ "@PLATFORM@", d->platform },
		{ "@FAMILY@", d->family },
		{ "@PROFILER_DIST@", dist },
		{ "@PROFILER_MODULE@", module },
		{ "@SUMMARY@", rk_text_or_empty(d->kind->summary) },
	};
	const size_t nwords = sizeof(words) / sizeof(*words);
	size_t n, w;

	if (!dist || !module)
		return rk_fail_nomem(err);
	for (const char *at = text; at < text + len; at += n) {
		const size_t left = (size_t)(text + len - at);

		n = sizeof(scripts) - 1;
		if (*at == '#' && n <= left && !memcmp(at, scripts, n)) {
			put_functions(out, p, d);
			continue;
		}
		for (w = *at == '@' ? 0 : nwords; w < nwords; w++) {
			n = strlen(words[w].key);
			if (n <= left && !memcmp(at, words[w].key, n))
				break;
		}
		if (w < nwords) {
			rk_bytes_puts(out, words[w].value);
		} else {
			n = 1;
			rk_bytes_put_u8(out, (uint8_t)*at);
		}
	}
	return out->bad ? rk_fail_nomem(err) : 0;
}

int rk_template_put(struct rk_bytes *out, const struct rk_pack_plan *p, const struct rk_dist *d,
		    const char *name, struct rk_error *err)
{
	const char *full = rk_arena_textf(p->arena, "pack/templates/%s", name);
	const struct rk_data_file *f;

	if (!full)
		return rk_fail_nomem(err);
	f = rk_data_find(full);
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

int rk_dist_info_put(struct rk_bytes *out, const struct rk_pack_plan *p, const struct rk_dist *d,
		     struct rk_error *err)
{
	const struct rk_pack_kind *libraries = rk_pack_table_find(p->table, "libraries");
	const char *const *families;
	size_t n;
	int rc = rk_template_put(out, p, d, "_dist_info.py", err);

	if (rc < 0)
		return rc;
	put_assignment(out, "__version__ = ", p->version, "\n");
	put_assignment(out, "PY_PACKAGE_SUFFIX_NONCE = ", p->nonce, "\n");
	if (p->kpack && libraries)
		put_assignment(out, "ALL_PACKAGES['libraries'].dist_package_template = ",
			       libraries->dist_kpack, "\n");
	n = rk_dist_families(p, d, &families);
	if (n)
		put_assignment(out, "DEFAULT_TARGET_FAMILY = ", families[0], "\n");
	for (size_t i = 0; i < n; i++)
		put_assignment(out, "AVAILABLE_TARGET_FAMILIES.append(", families[i], ")\n");
	if (*d->family)
		put_assignment(out, "THIS_TARGET_FAMILY = ", d->family, "\n");
	else
		rk_bytes_puts(out, "THIS_TARGET_FAMILY = None\n");
	put_assignment(out, "THIS_PACKAGE_ENTRY = ALL_PACKAGES[", d->kind->logical, "]\n");
	return out->bad ? rk_fail_nomem(err) : 0;
}

/* ---- the files of a wheel ---- */

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

/* One file of "pack/templates/LOGICAL/", or the _dist_info.py that all kinds share. */
static int add_template(struct rk_pack_plan *p, const struct rk_dist *d, struct rk_made_list *out,
			const char *name, struct rk_error *err)
{
	const char *full = below(p, d->kind->logical, name);
	struct rk_bytes text;
	int rc;

	if (!full)
		return rk_fail_nomem(err);
	rk_bytes_init(&text, RK_META_BYTES);
	if (!strcmp(name, "_dist_info.py"))
		rc = rk_dist_info_put(&text, p, d, err);
	else
		rc = rk_template_put(&text, p, d, full, err);
	if (rc == 0)
		return rk_made_text(p->arena, out, below(p, d->module, name), &text, err);
	rk_bytes_release(&text);
	return rc;
}

/* All Python templates of the kind, sorted by name, with the shared _dist_info.py in its place. */
static int add_pure(struct rk_pack_plan *p, const struct rk_dist *d, struct rk_made_list *out,
		    struct rk_error *err)
{
	static const char shared[] = "_dist_info.py";
	const char *dir = rk_arena_textf(p->arena, "pack/templates/%s/", d->kind->logical);
	bool added = false;
	int rc;

	if (!dir)
		return rk_fail_nomem(err);
	for (const struct rk_data_file *f = rk_data_files; f->name; f++) {
		const char *name = f->name + strlen(dir);

		if (strncmp(f->name, dir, strlen(dir)) ||
		    !rk_text_ends(f->name, strlen(f->name), ".py"))
			continue;
		if (!added && strcmp(name, shared) > 0) {
			rc = add_template(p, d, out, shared, err);
			if (rc < 0)
				return rc;
			added = true;
		}
		rc = add_template(p, d, out, name, err);
		if (rc < 0)
			return rc;
	}
	return added ? 0 : add_template(p, d, out, shared, err);
}

/* ---- device packages ---- */

/* The devel tree's link for a file: up to the folder that contains all packages, then down. */
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

/*
 * Other packages share the folder. The marker is at its top because pip removes empty folders only
 * below a folder from which it removes a file.
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
	rk_bytes_puts(&text, "{\n  \"version\": ");
	rk_json_string(&text, p->version, strlen(p->version));
	rk_bytes_puts(&text, ",\n  \"links\": [\n");
	put_link(&text, d, marker);
	for (size_t i = 0; i < d->n; i++) {
		if (d->items[i].action >= RK_PACK_MADE)
			continue;
		rk_bytes_puts(&text, ",\n");
		put_link(&text, d, d->items[i].path);
	}
	rk_bytes_puts(&text, "\n  ]\n}");
	return rk_made_text(p->arena, out, below(p, d->platform, name), &text, err);
}

int rk_meta_python(struct rk_pack_plan *p, const struct rk_dist *d, struct rk_made_list *out,
		   struct rk_error *err)
{
	if (d->kind->role == RK_PACK_DEVICE)
		return add_links(p, d, out, err);
	/* devel's file is in its inner archive */
	if (d->kind->role == RK_PACK_RUNTIME) {
		int rc = add_empty(p, out, below(p, d->platform, "__init__.py"), err);

		if (rc < 0)
			return rc;
	}
	return add_pure(p, d, out, err);
}

/* ---- _rocm_init.py ---- */

/* All libraries that rocm_sdk.initialize_process can load by a short name. */
static const char *const known[] = { "amdhip64",
				     "hipfile",
				     "hiprtc",
				     "roctx64",
				     "rocprofiler-sdk",
				     "rocprofiler-sdk-roctx",
				     "roctracer64",
				     "amd_comgr",
				     "rocm_kpack",
				     "rocm_smi64",
				     "rocdecode",
				     "rocjpeg",
				     "amd_smi",
				     "rocdxg",
				     "rocm_sysdeps_liblzma",
				     "rocm-openblas",
				     "rpp",
				     "hipblas",
				     "hipblaslt",
				     "hipfft",
				     "hiprand",
				     "hipsparse",
				     "hipsparselt",
				     "hipsolver",
				     "rccl",
				     "origami",
				     "miopen",
				     "hipdnn",
				     NULL };

/* The libraries that PyTorch's extensions link to, each after its own dependencies. */
static const char pytorch[] = "amd_comgr,amdhip64,roctx64,hiprtc,hipblas,hipfft,hiprand,hipsparse,"
			      "hipsparselt,hipsolver,rccl,hipblaslt,miopen";

/*
 * The version to lock to. A plain version is normalised as in the packages. A version with * is a
 * pattern that is matched literally, so it may only have characters that a version can have.
 */
static int find_lock(struct rk_arena *a, const struct rk_rocm_init_options *o, const char **ret,
		     struct rk_error *err)
{
	static const char may[] = "abcdefghijklmnopqrstuvwxyz0123456789.!+*";
	static const char digits[] = "0123456789";
	const char *version = NULL, *at;
	int rc;

	if (strchr(o->check_version, '*')) {
		if (o->minor)
			return rk_fail(
				err, RK_E_USAGE,
				"'%.100s' is already a pattern; give a plain version to lock "
				"to its major and minor numbers",
				o->check_version);
		*ret = o->check_version;
		if (!o->check_version[strspn(o->check_version, may)])
			return 0;
		return rk_fail(err, RK_E_USAGE,
			       "'%.100s' matches no version: use lower case letters, "
			       "digits, . ! + and * for anything",
			       o->check_version);
	}
	rc = rk_pep440_normal(a, o->check_version, &version, err);
	if (rc < 0)
		return rc;
	*ret = version;
	if (!o->minor)
		return 0;

	/*
	 * "7.0.*" for "7.0.0rc1". None for "7.0rc1", because a pattern for it would also match
	 * 7.01.
	 */
	at = strchr(version, '!');
	at = at ? at + 1 : version;
	at += strspn(at, digits);
	if (*at == '.')
		at += 1 + strspn(at + 1, digits);
	if (*at != '.')
		return rk_fail(
			err, RK_E_USAGE,
			"'%s' has no third number, so a pattern MAJOR.MINOR.* would not match it",
			version);
	*ret = rk_arena_textf(a, "%.*s.*", (int)(at - version), version);
	return *ret ? 0 : rk_fail_nomem(err);
}

int rk_rocm_init(const struct rk_rocm_init_options *o, char **ret, size_t *ret_len,
		 struct rk_error *err)
{
	struct rk_list names = { 0 };
	struct rk_arena *a = NULL;
	const char *lock = NULL;
	struct rk_bytes out;
	int rc;

	if (!o || !ret)
		return rk_misuse(__func__, err);
	if (RK_CHECK_OPTIONS(o, __func__, err) < 0)
		return RK_E_USAGE;
	rc = rk_arena_new(&a, err);
	if (rc < 0)
		return rc;
	rk_list_split(&names, o->preload ? o->preload : pytorch, ", ");
	if (names.bad) {
		rc = rk_fail_nomem(err);
		goto out;
	}
	for (size_t i = 0; i < names.n; i++) {
		size_t k = 0;

		while (known[k] && strcmp(known[k], names.v[i]))
			k++;
		if (!known[k]) {
			rc = rk_fail_unknown(err, "library", names.v[i], known);
			goto out;
		}
	}
	if (o->check_version)
		rc = find_lock(a, o, &lock, err);
	else if (o->minor || o->fail)
		rc = rk_fail(err, RK_E_USAGE, "no version to check");
	if (rc < 0)
		goto out;

	rk_bytes_init(&out, RK_META_BYTES);
	rk_bytes_puts(&out, "def initialize():\n"
			    "  import rocm_sdk\n"
			    "  rocm_sdk.initialize_process(preload_shortnames=[\n");
	for (size_t i = 0; i < names.n; i++) {
		rk_bytes_puts(&out, "    ");
		rk_python_repr(&out, names.v[i]);
		rk_bytes_puts(&out, ",\n");
	}
	rk_bytes_puts(&out, "  ]");
	if (lock) {
		rk_bytes_puts(&out, ",\n  check_version=");
		rk_python_repr(&out, lock);
	}
	if (lock && o->fail)
		rk_bytes_puts(&out, ",\n  fail_on_version_mismatch=True");
	rk_bytes_puts(&out, ")\n");
	rc = rk_bytes_give(&out, ret, ret_len, err);
out:
	rk_list_release(&names);
	rk_arena_free(a);
	return rc;
}
