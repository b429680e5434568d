/*
 * detect.c - which profilers are installed, where, and of which release.
 *
 * No process is started: a rocprofv3 of 6.x has no --version, and asking Python scripts takes
 * longer than the whole search. Versions come from files beside the program.
 */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/handle.h"
#include "base/text.h"
#include "rockit/tools.h"
#include "tool/tool.h"

/* ---- where profilers are installed ---- */

enum {
	MAX_NAMES = 256,
	MAX_ENTRIES = 20000,
	MAX_FOUND = 4096,
	LINE_BYTES = 256,
	VERSION_BYTES = 32,
	OPTIONS_BYTES = 200,
};

/* Directories of programs and what each is called, two lists of one length. */
struct places {
	struct rk_list dirs, labels;
};

/* The version that begins with the first digit of a name: "python3.12", "rocm-6.4.1". */
static struct rk_version version_in(const char *name)
{
	struct rk_version v = { 0, 0, 0 };

	rk_version_parse(name + strcspn(name, "0123456789"), &v);
	return v;
}

/* False, and ret "", when it does not fit. */
__attribute__((format(printf, 2, 3))) static bool put_path(char ret[PATH_MAX], const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(ret, PATH_MAX, fmt, ap);
	va_end(ap);
	if (n >= 0 && n < PATH_MAX)
		return true;
	ret[0] = '\0';
	return false;
}

/* Names below `dir` that begin with `prefix`, the highest version first. */
static void names_below(const char *dir, const char *prefix, struct rk_list *ret)
{
	DIR *d = opendir(dir);
	const struct dirent *e;

	for (unsigned n = 0; d && n < MAX_ENTRIES && ret->n < MAX_NAMES && (e = readdir(d)); n++)
		if (!strncmp(e->d_name, prefix, strlen(prefix)) && e->d_name[0] != '.')
			rk_list_add(ret, e->d_name);
	if (d)
		closedir(d);
	for (size_t i = 1; i < ret->n; i++) {
		char *name = ret->v[i];
		size_t j = i;

		for (; j > 0 && rk_version_compare(version_in(ret->v[j - 1]), version_in(name)) < 0;
		     j--)
			ret->v[j] = ret->v[j - 1];
		ret->v[j] = name;
	}
}

static void add(struct places *p, const char *label, const char *dir)
{
	struct stat st;

	if (stat(dir, &st) || !S_ISDIR(st.st_mode))
		return;
	rk_list_add(&p->dirs, dir);
	rk_list_add(&p->labels, label);
}

/* A list that is incomplete because memory ran out makes the result bad. */
static void drop(bool *bad, struct rk_list *l)
{
	*bad = *bad || l->bad;
	rk_list_release(l);
}

/* <prefix>/bin; ignored if the prefix is too long for a path. */
static void add_prefix(struct places *p, const char *label, const char *prefix)
{
	static const char *const marks[] = { "dist_info.json", "therock_manifest.json" };
	const char *brand = "";
	char dir[PATH_MAX], name[PATH_MAX], file[PATH_MAX];
	struct stat st;

	/* builds of TheRock have one of two files */
	for (unsigned i = 0; i < 2; i++) {
		put_path(file, "%s/share/therock/%s", prefix, marks[i]);
		if (!stat(file, &st))
			brand = " (TheRock)";
	}
	if (put_path(dir, "%s/bin", prefix) && put_path(name, "%s%s", label, brand))
		add(p, name, dir);
}

/* <root><dir>/<prefix>*<tail>; the label is the path without the root. */
static void add_each(struct places *p, const char *root, const char *dir, const char *prefix,
		     const char *tail)
{
	struct rk_list names = { 0 };
	char path[PATH_MAX], label[PATH_MAX];

	put_path(path, "%s%s", root, dir);
	names_below(path, prefix, &names);
	for (size_t i = 0; i < names.n; i++) {
		put_path(path, "%s%s/%s%s", root, dir, names.v[i], tail);
		put_path(label, "%s/%s", dir, names.v[i]);
		add(p, label, path);
	}
	drop(&p->dirs.bad, &names);
}

static void add_wheels(struct places *p, const char *site)
{
	static const char *const packages[] = { "_rocm_sdk_core", "_rocm_profiler" };
	struct rk_list names = { 0 };
	char path[PATH_MAX], label[PATH_MAX], prefix[PATH_MAX];

	for (unsigned i = 0; i < 2; i++)
		names_below(site, packages[i], &names);
	for (size_t i = 0; i < names.n; i++) {
		const char *package = names.v[i] + 1, *version = "", *end;
		size_t first = strlen("wheel "), last = first + strlen(package), len;
		struct rk_list infos = { 0 };

		/* "wheel rocm-sdk-core 7.0.0": the version is in the name of the dist-info folder */
		if (put_path(prefix, "%s-", package))
			names_below(site, prefix, &infos);
		if (infos.n)
			version = infos.v[0] + strlen(prefix);
		end = strstr(version, ".dist-info");
		len = end ? (size_t)(end - version) : strlen(version);
		put_path(label, "wheel %s%s%.*s", package, *version ? " " : "", (int)len, version);
		for (size_t k = first; k < last && label[k]; k++)
			if (label[k] == '_')
				label[k] = '-';
		drop(&p->dirs.bad, &infos);
		put_path(path, "%s/%s/bin", site, names.v[i]);
		add(p, label, path);
	}
	drop(&p->dirs.bad, &names);
}

/* <prefix>/lib/python3*: site-packages, and Debian's dist-packages. */
static void add_python(struct places *p, const char *prefix)
{
	static const char *const kinds[] = { "site-packages", "dist-packages" };
	struct rk_list names = { 0 };
	char path[PATH_MAX];

	put_path(path, "%s/lib", prefix);
	names_below(path, "python3", &names);
	for (size_t i = 0; i < names.n; i++) {
		for (unsigned k = 0; k < 2; k++) {
			put_path(path, "%s/lib/%s/%s", prefix, names.v[i], kinds[k]);
			add_wheels(p, path);
		}
	}
	drop(&p->dirs.bad, &names);
}

/* All folders to search. `root` is put before absolute paths, `path` is split at colons. */
static void find_places(struct places *p, const char *root, const char *path)
{
	static const char *const rocm[] = { "ROCM_PATH", "ROCM_HOME", "HIP_PATH" };
	static const char *const installed[] = { "/opt/rocm", "/usr/local/rocm" };
	static const char *const python[] = { "VIRTUAL_ENV", "CONDA_PREFIX" };
	static const char *const python_system[] = { "/usr", "/usr/local" };
	static const char *const below_home[] = { "rocm", "therock", ".local/rocm" };
	const char *home = getenv("HOME"), *prefix;
	struct rk_list parts = { 0 };
	char full[PATH_MAX];

	if (home && *home != '/')
		home = NULL;
	rk_list_split(&parts, path, ":");
	for (size_t i = 0; i < parts.n; i++)
		add(p, "PATH", parts.v[i]);
	drop(&p->dirs.bad, &parts);
	for (unsigned i = 0; i < 3; i++) {
		prefix = getenv(rocm[i]);
		if (prefix && *prefix == '/')
			add_prefix(p, rocm[i], prefix);
	}

	for (unsigned i = 0; i < 2; i++) {
		put_path(full, "%s%s", root, installed[i]);
		add_prefix(p, installed[i], full);
	}
	add_each(p, root, "/opt", "rocm-", "/bin");
	add_each(p, root, "/opt/rocm", "core-", "/bin");
	add_each(p, root, "/opt/nvidia/nsight-systems", "", "/bin");
	add_each(p, root, "/opt/nvidia/nsight-compute", "", "");
	add_each(p, root, "/usr/local", "cuda", "/bin");

	for (unsigned i = 0; i < 2; i++) {
		prefix = getenv(python[i]);
		if (prefix && *prefix == '/')
			add_python(p, prefix);
	}
	if (home) {
		put_path(full, "%s/.local", home);
		add_python(p, full);
	}
	for (unsigned i = 0; i < 2; i++) {
		put_path(full, "%s%s", root, python_system[i]);
		add_python(p, full);
	}
	for (unsigned i = 0; home && i < 3; i++) {
		put_path(full, "%s/%s", home, below_home[i]);
		add_prefix(p, full, full);
	}
}

/* ---- versions from the files beside a program ---- */

struct found_version {
	char own[VERSION_BYTES], rocm[VERSION_BYTES]; /* "" when not known */
	bool bad;                                     /* out of memory */
};

/* The first line of a small file; false when it is not there. */
static bool first_line(const char *path, char ret[LINE_BYTES])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd < 0 ? -1 : read(fd, ret, LINE_BYTES - 1);

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return false;
	ret[n] = '\0';
	ret[strcspn(ret, "\r\n")] = '\0';
	return *ret;
}

static void put(char ret[VERSION_BYTES], struct rk_version v)
{
	snprintf(ret, VERSION_BYTES, "%d.%d.%d", v.major, v.minor, v.patch);
}

/* <prefix>/.info/version, "6.4.1-83". */
static bool from_info(const char *prefix, char ret[VERSION_BYTES])
{
	char path[PATH_MAX], text[LINE_BYTES];
	struct rk_version v;

	put_path(path, "%s/.info/version", prefix);
	if (!first_line(path, text) || !rk_version_parse(text, &v))
		return false;
	put(ret, v);
	return true;
}

/* A folder in the path that is called rocm-6.2.1 or core-7.13. */
static bool from_folder(const char *path, char ret[VERSION_BYTES])
{
	static const char *const words[] = { "/rocm-", "/core-" };
	struct rk_version v;

	for (unsigned i = 0; i < 2; i++) {
		const char *at = strstr(path, words[i]);

		if (at && rk_version_parse(at + strlen(words[i]), &v)) {
			put(ret, v);
			return true;
		}
	}
	return false;
}

/* `site` is a site-packages folder: of a program in a wheel, or of an environment with a script. */
static bool from_wheel(const char *site, struct found_version *ret)
{
	struct rk_list names = { 0 };
	struct rk_version v;
	bool ok;

	names_below(site, "rocm_sdk_core-", &names);
	ok = names.n && rk_version_parse(names.v[0] + strlen("rocm_sdk_core-"), &v);
	if (ok)
		put(ret->rocm, v);
	drop(&ret->bad, &names);
	return ok;
}

static bool from_environment(const char *prefix, struct found_version *ret)
{
	struct rk_list names = { 0 };
	char path[PATH_MAX];
	bool ok = false;

	put_path(path, "%s/lib", prefix);
	names_below(path, "python3", &names);
	for (size_t i = 0; !ok && i < names.n; i++) {
		put_path(path, "%s/lib/%s/site-packages", prefix, names.v[i]);
		ok = from_wheel(path, ret);
	}
	drop(&ret->bad, &names);
	return ok;
}

/* Cuts the last part of a path; false at the top. */
static bool up(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash || slash == path)
		return false;
	*slash = '\0';
	return true;
}

/* bin/x is one below its prefix, libexec/rocprofiler-compute/x two. */
static bool from_above(const char *file, struct found_version *ret)
{
	char dir[PATH_MAX];

	put_path(dir, "%s", file);
	for (unsigned i = 0; i < 4 && up(dir); i++)
		if (i > 0 && (from_info(dir, ret->rocm) || from_wheel(dir, ret)))
			return true;
	return false;
}

/* The library or file whose name or text has a program's own version. */
static const struct own_source {
	const char *program; /* its name, or the beginning of it */
	bool exact;
	const char *library; /* lib/<library>.so.N is a link to <library>.so.<version> */
	const char *file;    /* below the prefix; its first line is the version */
} own_sources[] = {
	{ "rocprofv3", false, "librocprofiler-sdk", NULL },
	{ "rocprof-attach", false, "librocprofiler-sdk", NULL },
	{ "rocprof-compute", false, NULL, "libexec/rocprofiler-compute/VERSION" },
	{ "rocprof-compute", false, NULL, "share/rocprofiler-compute/VERSION" },
	{ "omniperf", false, NULL, "libexec/omniperf/VERSION" },
	{ "omniperf", false, NULL, "share/omniperf/VERSION" },
	{ "rocprof-sys", false, "librocprof-sys", NULL },
	{ "omnitrace", false, "libomnitrace", NULL },
	{ "rocprofv2", true, "librocprofiler64", NULL },
	{ "rocprof", true, "librocprofiler64", NULL },
	{ "amd-smi", true, "libamd_smi", NULL },
	{ "rocm-smi", true, "librocm_smi64", NULL },
};

/* librocprofiler-sdk.so.1 -> librocprofiler-sdk.so.1.0.0 */
static bool from_link(const char *prefix, const char *library, char ret[VERSION_BYTES])
{
	char path[PATH_MAX], target[LINE_BYTES];
	struct rk_version v;

	for (unsigned major = 0; major < 40; major++) {
		const char *so;
		ssize_t n;

		put_path(path, "%s/lib/%s.so.%u", prefix, library, major);
		n = readlink(path, target, sizeof(target) - 1);
		if (n <= 0)
			continue;
		target[n] = '\0';
		so = strstr(target, ".so.");
		if (so && rk_version_parse(so + 4, &v)) {
			put(ret, v);
			return true;
		}
	}
	return false;
}

static bool own_version(const char *name, const char *prefix, char ret[VERSION_BYTES])
{
	char path[PATH_MAX], text[LINE_BYTES];
	struct rk_version v;

	for (size_t i = 0; i < sizeof(own_sources) / sizeof(own_sources[0]); i++) {
		const struct own_source *s = &own_sources[i];

		if (strncmp(name, s->program, strlen(s->program)) != 0 ||
		    (s->exact && name[strlen(s->program)]))
			continue;
		if (s->library)
			return from_link(prefix, s->library, ret);
		put_path(path, "%s/%s", prefix, s->file);
		if (first_line(path, text) && rk_version_parse(text, &v)) {
			put(ret, v);
			return true;
		}
	}
	return false;
}

/* .../nsight-systems/2024.5.1/..., nsight-compute-2024.3.0, or such a folder in cuda-12.6. */
static void nsight_version(const char *product, const char *real, struct found_version *ret)
{
	const char *at = strstr(real, product);
	struct rk_list names = { 0 };
	char dir[PATH_MAX];
	struct rk_version v;

	if (at && at[strlen(product)] && rk_version_parse(at + strlen(product) + 1, &v)) {
		put(ret->own, v);
		return;
	}
	put_path(dir, "%s", real);
	if (!up(dir) || !up(dir))
		return;
	names_below(dir, product, &names);
	if (names.n && strlen(names.v[0]) > strlen(product) &&
	    rk_version_parse(names.v[0] + strlen(product) + 1, &v))
		put(ret->own, v);
	drop(&ret->bad, &names);
}

/* `real` is `dir`/`name` with all links followed. */
static void version_beside(const char *name, const char *dir, const char *real,
			   struct found_version *ret)
{
	char prefix[PATH_MAX];
	struct rk_version v;

	*ret = (struct found_version){ "", "", false };
	if (!strcmp(name, "nsys") || !strcmp(name, "ncu")) {
		nsight_version(name[1] == 's' ? "nsight-systems" : "nsight-compute", real, ret);
		return;
	}
	put_path(prefix, "%s", dir);
	if (!up(prefix))
		return;
	own_version(name, prefix, ret->own);
	if (from_info(prefix, ret->rocm) || from_above(real, ret) || from_folder(real, ret->rocm) ||
	    from_folder(dir, ret->rocm) || from_environment(prefix, ret))
		return;
	if (*ret->own && rk_version_of_tool(name, ret->own, &v))
		put(ret->rocm, v);
}

/* Features of rocprofv3 that people ask for, and the first release that has them. */
static const struct feature {
	const char *word;
	int major, minor;
} features[] = {
	{ "rccl trace", 6, 3 },     { "--pmc", 6, 3 },
	{ "alloc trace", 6, 4 },    { "PC sampling by host_trap", 6, 4 },
	{ "stochastic", 7, 0 },     { "rocpd", 7, 0 },
	{ "thread trace", 7, 0 },   { "attach", 7, 1 },
	{ "several --pmc", 7, 13 }, { "SPM", 7, 14 },
	{ "kernel replay", 10, 1 },
};

/* One line about what `name` of release `rocm` (as text) has and lacks; "" for helpers. */
static void options_of(const char *name, const char *rocm, char ret[OPTIONS_BYTES])
{
	static const char *const lines[][2] = {
		{ "rocprofv2", "HIP, HSA, kernel, copy and marker traces, counters; no --" },
		{ "rocprof",
		  "HIP, HSA, kernel, copy and marker traces, counters; no --, one process" },
		{ "rocprof-compute", "its own metrics and roofline, many executions of the "
				     "program" },
		{ "omniperf", "its own metrics and roofline, many executions of the program" },
		{ "rocprof-sys-sample", "CPU call stacks beside GPU traces" },
		{ "omnitrace-sample", "CPU call stacks beside GPU traces" },
	};
	struct rk_version v = { 0, 0, 0 };
	size_t at = 0;

	ret[0] = '\0';
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		if (!strcmp(name, lines[i][0]))
			snprintf(ret, OPTIONS_BYTES, "%s", lines[i][1]);
	if (!strncmp(name, "rocprofv", 8) && name[8] > '3' && !name[9])
		snprintf(ret, OPTIONS_BYTES, "newer than this rockit");
	if (strcmp(name, "rocprofv3") != 0)
		return;
	if (!rk_version_parse(rocm, &v)) {
		snprintf(ret, OPTIONS_BYTES, "unknown release: called like the newest one");
		return;
	}
	/* "has rccl trace, --pmc; lacks alloc trace, ..." */
	for (int has = 1; has >= 0; has--) {
		const char *before = has ? "has " : "; lacks ";

		if (!has && !at)
			before = "lacks ";
		for (size_t i = 0; i < sizeof(features) / sizeof(features[0]); i++) {
			const struct feature *f = &features[i];

			if (rk_version_since(v, f->major, f->minor) != has || at >= OPTIONS_BYTES)
				continue;
			at += (size_t)snprintf(ret + at, OPTIONS_BYTES - at, "%s%s", before,
					       f->word);
			before = ", ";
		}
	}
}

/* ---- what was found ---- */

/* In the order of the result. rocprofv4 and later do not exist yet. */
static const char *const names[] = {
	"rocprofv3",
	"rocprofv4",
	"rocprofv5",
	"rocprofv6",
	"rocprofv2",
	"rocprof",
	"rocprofv3-avail",
	"rocprofv3_avail",
	"rocprof-attach",
	"rocprofv3-attach",
	"rocprof-compute",
	"omniperf",
	"rocprof-sys-run",
	"rocprof-sys-sample",
	"rocprof-sys-instrument",
	"rocprof-sys-avail",
	"rocprof-sys-causal",
	"rocprof-sys-attach",
	"omnitrace",
	"omnitrace-run",
	"omnitrace-sample",
	"omnitrace-instrument",
	"omnitrace-avail",
	"omnitrace-causal",
	"rocm-smi",
	"amd-smi",
	"nsys",
	"ncu",
};

enum { NNAMES = sizeof(names) / sizeof(names[0]) };

/* A program that was found. The real path shows whether PATH has it twice. */
struct hit {
	unsigned name;
	char *real;
	struct rk_tool_found found;
};

struct hits {
	struct hit *v;
	size_t n, cap;
};

static void free_found(struct rk_tool_found *f)
{
	rk_free((char *)f->path);
	rk_free((char *)f->version);
	rk_free((char *)f->rocm);
	rk_free((char *)f->place);
	rk_free((char *)f->options);
}

/* Adds the program `name` in `dir`, if it is there and new. False: out of memory. */
static bool look(struct hits *h, unsigned name, const char *dir, const char *place)
{
	struct hit hit = { .name = name, .found = { .name = names[name] } }, *v;
	struct rk_tool_found *f = &hit.found;
	struct found_version version;
	char path[PATH_MAX], real[PATH_MAX], options[OPTIONS_BYTES];
	struct stat st;

	if (!put_path(path, "%s/%s", dir, names[name]) || stat(path, &st) || !S_ISREG(st.st_mode) ||
	    !realpath(path, real))
		return true;
	for (size_t i = 0; i < h->n; i++)
		if (h->v[i].name == name && !strcmp(h->v[i].real, real))
			return true;
	if (h->n == MAX_FOUND)
		return true;
	version_beside(names[name], dir, real, &version);
	options_of(f->name, version.rocm, options);
	hit.real = rk_strdup(real);
	f->path = rk_strdup(path);
	f->version = rk_strdup(version.own);
	f->rocm = rk_strdup(version.rocm);
	f->place = rk_strdup(place);
	f->options = rk_strdup(options);
	f->usable = access(path, X_OK) == 0;
	if (version.bad || !hit.real || !f->path || !f->version || !f->rocm || !f->place ||
	    !f->options)
		goto fail;
	v = rk_grow(h->v, &h->cap, h->n + 1, sizeof(*v));
	if (!v)
		goto fail;
	h->v = v;
	v[h->n++] = hit;
	return true;
fail:
	rk_free(hit.real);
	free_found(f);
	return false;
}

int rk_tools_find(const struct rk_tools_options *opt, struct rk_tools_found *ret,
		  struct rk_error *err)
{
	const char *path = opt && opt->path ? opt->path : getenv("PATH");
	struct places places = { 0 };
	struct hits hits = { 0 };
	struct rk_tool_found *v = NULL;
	size_t n = 0;
	bool ok;

	if (!ret)
		return rk_misuse(__func__, err);
	if (RK_CHECK_OPTIONS(opt, __func__, err) < 0)
		return RK_E_USAGE;
	find_places(&places, rk_text_or_empty(opt ? opt->root : NULL), rk_text_or_empty(path));
	ok = !places.dirs.bad && !places.labels.bad;
	for (size_t d = 0; ok && d < places.dirs.n; d++)
		for (unsigned name = 0; ok && name < NNAMES; name++)
			ok = look(&hits, name, places.dirs.v[d], places.labels.v[d]);
	if (ok)
		v = rk_calloc(hits.n, sizeof(*v));

	/* move them to the result by name; of one name the order of the places stays */
	for (unsigned name = 0; v && name < NNAMES; name++) {
		bool first = true;

		for (size_t i = 0; i < hits.n; i++) {
			if (hits.v[i].name != name)
				continue;
			v[n] = hits.v[i].found;
			hits.v[i].found = (struct rk_tool_found){ 0 };
			v[n].first = first && v[n].usable;
			first = first && !v[n].first;
			n++;
		}
	}
	for (size_t i = 0; i < hits.n; i++) {
		rk_free(hits.v[i].real);
		free_found(&hits.v[i].found);
	}
	rk_free(hits.v);
	rk_list_release(&places.dirs);
	rk_list_release(&places.labels);
	if (!v)
		return rk_fail_nomem(err);
	*ret = (struct rk_tools_found){ v, n };
	return 0;
}

void rk_tools_release(struct rk_tools_found *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->n; i++)
		free_found(&t->tools[i]);
	rk_free(t->tools);
	*t = (struct rk_tools_found){ 0 };
}

const struct rk_tool_found *rk_tools_best(const struct rk_tools_found *found, const char *tool)
{
	const struct rk_tool_ops *ops = found && tool ? rk_tool_find(tool) : NULL;

	for (const char *const *p = ops ? ops->programs : NULL; p && *p; p++)
		for (size_t i = 0; i < found->n; i++)
			if (found->tools[i].first && !strcmp(found->tools[i].name, *p))
				return &found->tools[i];
	return NULL;
}
