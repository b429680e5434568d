/* rocm_init.c - the _rocm_init.py that a framework built against these packages carries. */
#include <string.h>

#include "base/handle.h"
#include "base/list.h"
#include "base/words.h"
#include "pack/meta_parts.h"
#include "rockit/pack.h"

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

/* What PyTorch's extensions link to, each after what it needs itself. */
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

/*
 * A version is written as the packages have it. One with * is a pattern: its text is matched as it is,
 * so only characters that a version can have make sense.
 */
static int check_pattern(const char *text, struct rk_error *err)
{
	static const char may[] = "abcdefghijklmnopqrstuvwxyz0123456789.!+*";
	size_t n = strspn(text, may);

	if (!text[n])
		return 0;
	return rk_fail(
		err, RK_E_USAGE,
		"'%.100s' matches no version: they are lower case letters, digits and . ! +, "
		"and * stands for anything",
		text);
}

/* "7.0.*" of "7.0.0rc1". Of "7.0rc1" there is none: what would match it would match 7.01 as well. */
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
		return rk_fail(err, RK_E_USAGE,
			       "'%s' has no third number: nothing that begins with its major and "
			       "minor numbers and a dot would match it",
			       version);
	text = rk_arena_textf(a, "%.*s.*", (int)(at - version), version);
	if (!text)
		return rk_fail_nomem(err);
	*ret = text;
	return 0;
}

/* What to lock to. */
static int find_lock(struct rk_arena *a, const struct rk_rocm_init_options *o, const char **ret,
		     struct rk_error *err)
{
	const char *version = NULL;
	int rc;

	if (strchr(o->check_version, '*')) {
		if (o->minor)
			return rk_fail(err, RK_E_USAGE,
				       "'%.100s' is a pattern already; give a version to lock to "
				       "its major and minor numbers",
				       o->check_version);
		*ret = o->check_version;
		return check_pattern(o->check_version, err);
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

static int make(struct rk_arena *a, const struct rk_rocm_init_options *o, struct rk_bytes *out,
		struct rk_error *err)
{
	struct rk_list names = { 0 };
	const char *lock = NULL;
	int rc;

	rk_list_split(&names, o->preload ? o->preload : pytorch, ", ");
	rc = check_names(&names, err);
	if (rc == 0 && o->check_version)
		rc = find_lock(a, o, &lock, err);
	else if (rc == 0 && (o->minor || o->fail))
		rc = rk_fail(err, RK_E_USAGE, "there is no version to check");
	if (rc == 0)
		put_text(out, &names, lock, o->fail);
	rk_list_release(&names);
	return rc;
}

int rk_rocm_init(const struct rk_rocm_init_options *o, char **ret, size_t *ret_len,
		 struct rk_error *err)
{
	struct rk_arena *a = NULL;
	struct rk_bytes out;
	int rc;

	if (!o || !ret)
		return rk_misuse(__func__, err);
	if (RK_CHECK_OPTIONS(o, __func__, err) < 0)
		return RK_E_USAGE;
	rc = rk_arena_new(&a, err);
	rk_bytes_init(&out, RK_META_BYTES);
	if (rc == 0)
		rc = make(a, o, &out, err);
	rk_arena_free(a);
	if (rc == 0)
		return rk_bytes_give(&out, ret, ret_len, err);
	rk_bytes_release(&out);
	return rc;
}
