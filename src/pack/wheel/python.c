/*
 * python.c - generate Python files: those of a wheel from templates and the plan, _dist_info.py,
 * and the _rocm_init.py that frameworks built against these packages include.
 */
#include "pack/wheel/meta.h"

#include <string.h>

#include "base/data.h"
#include "base/handle.h"
#include "base/list.h"
#include "base/text.h"
#include "base/words.h"
#include "rockit/pack.h"

/* ---- texts as Python literals ---- */

/* The character of a valid sequence of `n` bytes. */
static uint32_t decoded(const unsigned char *s, size_t n)
{
	uint32_t c = n == 1 ? s[0] : s[0] & (0xffu >> (n + 1));

	for (size_t i = 1; i < n; i++)
		c = c << 6 | (s[i] & 0x3f);
	return c;
}

/* Length of the UTF-8 character at s; 0: invalid. */
static size_t character(const char *s)
{
	unsigned char c = (unsigned char)*s;
	size_t n = 1;

	if (c >= 0x80)
		n = c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
	return strnlen(s, n) == n && rk_utf8_valid(s, n) == n ? n : 0;
}

static void put_character(struct rk_bytes *out, uint32_t c, char quote)
{
	if (c == '\n')
		rk_bytes_puts(out, "\\n");
	else if (c == '\r')
		rk_bytes_puts(out, "\\r");
	else if (c == '\t')
		rk_bytes_puts(out, "\\t");
	else if (c < 0x20 || (c >= 0x7f && c < 0x100))
		rk_bytes_printf(out, "\\x%02x", (unsigned)c);
	else if (c >= 0x10000)
		rk_bytes_printf(out, "\\U%08x", (unsigned)c);
	else if (c >= 0x100)
		rk_bytes_printf(out, "\\u%04x", (unsigned)c);
	else {
		if (c == '\\' || c == (uint32_t)(unsigned char)quote)
			rk_bytes_put_u8(out, '\\');
		rk_bytes_put_u8(out, (uint8_t)c);
	}
}

void rk_python_repr(struct rk_bytes *out, const char *s)
{
	char quote = strchr(s, '\'') && !strchr(s, '"') ? '"' : '\'';
	size_t n;

	rk_bytes_put_u8(out, (uint8_t)quote);
	for (; *s; s += n ? n : 1) {
		n = character(s);
		/* as in Python paths: a lone surrogate encodes the byte */
		put_character(out, n ? decoded((const unsigned char *)s, n) : 0xdc00u + (uint8_t)*s,
			      quote);
	}
	rk_bytes_put_u8(out, (uint8_t)quote);
}

/* ---- templates ---- */

enum { NWORDS = 8 };

struct word {
	const char *key, *value;
};

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

/* Writes the word or byte at `at`; returns how many bytes of the template it used. */
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

/* All Python templates of the kind, by name; the shared _dist_info.py is sorted in. */
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

/* The devel tree's link for a file: up to the folder of all packages, then down. */
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
 * The folder is shared with other packages. The marker is at its top because pip removes empty
 * folders only below a folder from which it removes a file.
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
	/* the devel package's is in its inner archive */
	if (d->kind->role == RK_PACK_RUNTIME)
		rc = add_empty(p, out, below(p, d->platform, "__init__.py"), err);
	return rc < 0 ? rc : add_pure(p, d, out, err);
}

/* ---- _rocm_init.py ---- */

/* All that rocm_sdk.initialize_process can load by a short name. */
static const char *const known[] = {
	"amdhip64",
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
	NULL,
};

/* The libraries that PyTorch's extensions link to, each after its own dependencies. */
static const char pytorch[] = "amd_comgr,amdhip64,roctx64,hiprtc,hipblas,hipfft,hiprand,hipsparse,"
			      "hipsparselt,hipsolver,rccl,hipblaslt,miopen";

static int check_names(const struct rk_list *names, struct rk_error *err)
{
	size_t k;

	if (names->bad)
		return rk_fail_nomem(err);
	for (size_t i = 0; i < names->n; i++) {
		for (k = 0; known[k] && strcmp(known[k], names->v[i]); k++)
			;
		if (!known[k])
			return rk_fail_unknown(err, "library", names->v[i], known);
	}
	return 0;
}

/* "7.0.*" for "7.0.0rc1". None for "7.0rc1": a pattern for it would match 7.01 as well. */
static int find_minor(struct rk_arena *a, const char *version, const char **ret,
		      struct rk_error *err)
{
	static const char digits[] = "0123456789";
	const char *at = strchr(version, '!');
	const char *text;

	at = at ? at + 1 : version;
	at += strspn(at, digits);
	at += *at == '.' ? 1 + strspn(at + 1, digits) : 0;
	if (*at != '.')
		return rk_fail(
			err, RK_E_USAGE,
			"'%s' has no third number, so a pattern MAJOR.MINOR.* would not match it",
			version);
	text = rk_arena_textf(a, "%.*s.*", (int)(at - version), version);
	if (!text)
		return rk_fail_nomem(err);
	*ret = text;
	return 0;
}

/*
 * The version to lock to. A version is normalised as in the packages. With * it is a pattern that
 * is matched literally, so only characters that can be in a version are allowed.
 */
static int find_lock(struct rk_arena *a, const struct rk_rocm_init_options *o, const char **ret,
		     struct rk_error *err)
{
	static const char may[] = "abcdefghijklmnopqrstuvwxyz0123456789.!+*";
	const char *version = NULL;
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
	if (rc == 0 && o->minor)
		rc = find_minor(a, version, &version, err);
	if (rc == 0)
		*ret = version;
	return rc;
}

static void put_text(struct rk_bytes *out, const struct rk_list *names, const char *lock, bool fail)
{
	rk_bytes_puts(out, "def initialize():\n"
			   "  import rocm_sdk\n"
			   "  rocm_sdk.initialize_process(preload_shortnames=[\n");
	for (size_t i = 0; i < names->n; i++) {
		rk_bytes_puts(out, "    ");
		rk_python_repr(out, names->v[i]);
		rk_bytes_puts(out, ",\n");
	}
	rk_bytes_puts(out, "  ]");
	if (lock) {
		rk_bytes_puts(out, ",\n  check_version=");
		rk_python_repr(out, lock);
	}
	if (lock && fail)
		rk_bytes_puts(out, ",\n  fail_on_version_mismatch=True");
	rk_bytes_puts(out, ")\n");
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
	rc = check_names(&names, err);
	if (rc == 0 && o->check_version)
		rc = find_lock(a, o, &lock, err);
	else if (rc == 0 && (o->minor || o->fail))
		rc = rk_fail(err, RK_E_USAGE, "no version to check");
	if (rc == 0) {
		rk_bytes_init(&out, RK_META_BYTES);
		put_text(&out, &names, lock, o->fail);
		rc = rk_bytes_give(&out, ret, ret_len, err);
	}
	rk_list_release(&names);
	rk_arena_free(a);
	return rc;
}
