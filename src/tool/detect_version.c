/*
 * detect_version.c - the version of a program from the files beside it.
 *
 * No process is started: a rocprofv3 of 6.x has no --version, and asking Python scripts takes
 * longer than the whole search.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tool/detect_impl.h"

enum { MAX_TEXT = 256 };

/* The first line of a small file; false when it is not there. */
static bool first_line(const char *path, char ret[MAX_TEXT])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd < 0 ? -1 : read(fd, ret, MAX_TEXT - 1);

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return false;
	ret[n] = '\0';
	ret[strcspn(ret, "\r\n")] = '\0';
	return *ret;
}

static void put(char ret[RK_VERSION_TEXT], struct rk_version v)
{
	snprintf(ret, RK_VERSION_TEXT, "%d.%d.%d", v.major, v.minor, v.patch);
}

static void drop(struct rk_found_version *ret, struct rk_list *l)
{
	ret->bad = ret->bad || l->bad;
	rk_list_release(l);
}

/* <prefix>/.info/version, "6.4.1-83". */
static bool from_info(const char *prefix, char ret[RK_VERSION_TEXT])
{
	char path[PATH_MAX], text[MAX_TEXT];
	struct rk_version v;

	rk_path_put(path, "%s/.info/version", prefix);
	if (!first_line(path, text) || !rk_version_parse(text, &v))
		return false;
	put(ret, v);
	return true;
}

/* A folder of the path that is called rocm-6.2.1, core-7.13 or _rocm_sdk_core of a wheel. */
static bool from_folder(const char *path, char ret[RK_VERSION_TEXT])
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

/* site-packages beside the program, or those of the environment whose bin holds a script. */
static bool from_wheel(const char *site, struct rk_found_version *ret)
{
	struct rk_list names = { 0 };
	struct rk_version v;
	bool ok;

	rk_names_below(site, "rocm_sdk_core-", &names);
	ok = names.n && rk_version_parse(names.v[0] + strlen("rocm_sdk_core-"), &v);
	if (ok)
		put(ret->rocm, v);
	drop(ret, &names);
	return ok;
}

static bool from_environment(const char *prefix, struct rk_found_version *ret)
{
	struct rk_list names = { 0 };
	char path[PATH_MAX];
	bool ok = false;

	rk_path_put(path, "%s/lib", prefix);
	rk_names_below(path, "python3", &names);
	for (size_t i = 0; !ok && i < names.n; i++) {
		rk_path_put(path, "%s/lib/%s/site-packages", prefix, names.v[i]);
		ok = from_wheel(path, ret);
	}
	drop(ret, &names);
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
static bool from_above(const char *file, struct rk_found_version *ret)
{
	char dir[PATH_MAX];

	rk_path_put(dir, "%s", file);
	for (unsigned i = 0; i < 4 && up(dir); i++)
		if (i > 0 && (from_info(dir, ret->rocm) || from_wheel(dir, ret)))
			return true;
	return false;
}

/* Of which library's name, or which file, a program's own version is told. */
static const struct own_source {
	const char *program; /* what its name begins with, or all of it */
	bool exact;
	const char *library; /* lib/<library>.so.N is a link to <library>.so.<version> */
	const char *file;    /* below the prefix, holds the version in its first line */
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
static bool from_link(const char *prefix, const char *library, char ret[RK_VERSION_TEXT])
{
	char path[PATH_MAX], target[MAX_TEXT];
	struct rk_version v;

	for (unsigned major = 0; major < 40; major++) {
		const char *so;
		ssize_t n;

		rk_path_put(path, "%s/lib/%s.so.%u", prefix, library, major);
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

static bool own_version(const char *name, const char *prefix, char ret[RK_VERSION_TEXT])
{
	char path[PATH_MAX], text[MAX_TEXT];
	struct rk_version v;

	for (size_t i = 0; i < sizeof(own_sources) / sizeof(own_sources[0]); i++) {
		const struct own_source *s = &own_sources[i];

		if (strncmp(name, s->program, strlen(s->program)) != 0 ||
		    (s->exact && name[strlen(s->program)]))
			continue;
		if (s->library)
			return from_link(prefix, s->library, ret);
		rk_path_put(path, "%s/%s", prefix, s->file);
		if (first_line(path, text) && rk_version_parse(text, &v)) {
			put(ret, v);
			return true;
		}
	}
	return false;
}

/* .../nsight-systems/2024.5.1/..., nsight-compute-2024.3.0; cuda-12.6 holds either by name. */
static void nsight_version(const char *product, const char *real, struct rk_found_version *ret)
{
	const char *at = strstr(real, product);
	struct rk_list names = { 0 };
	char dir[PATH_MAX];
	struct rk_version v;

	if (at && at[strlen(product)] && rk_version_parse(at + strlen(product) + 1, &v)) {
		put(ret->own, v);
		return;
	}
	rk_path_put(dir, "%s", real);
	if (!up(dir) || !up(dir))
		return;
	rk_names_below(dir, product, &names);
	if (names.n && strlen(names.v[0]) > strlen(product) &&
	    rk_version_parse(names.v[0] + strlen(product) + 1, &v))
		put(ret->own, v);
	drop(ret, &names);
}

void rk_version_beside(const char *name, const char *dir, const char *real,
		       struct rk_found_version *ret)
{
	char prefix[PATH_MAX];
	struct rk_version v;

	*ret = (struct rk_found_version){ "", "", false };
	if (!strcmp(name, "nsys") || !strcmp(name, "ncu")) {
		nsight_version(name[1] == 's' ? "nsight-systems" : "nsight-compute", real, ret);
		return;
	}
	rk_path_put(prefix, "%s", dir);
	if (!up(prefix))
		return;
	own_version(name, prefix, ret->own);
	if (from_info(prefix, ret->rocm) || from_above(real, ret) || from_folder(real, ret->rocm) ||
	    from_folder(dir, ret->rocm) || from_environment(prefix, ret))
		return;
	if (*ret->own && rk_version_of_tool(name, ret->own, &v))
		put(ret->rocm, v);
}

/* What a release of rocprofv3 added that people ask for. */
static const struct feature {
	const char *word;
	int major, minor;
} features[] = {
	{ "rccl trace", 6, 3 },     { "--pmc", 6, 3 },
	{ "alloc trace", 6, 4 },    { "PC sampling by host_trap", 6, 4 },
	{ "stochastic", 7, 0 },     { "rocpd", 7, 0 },
	{ "thread trace", 7, 0 },   { "attach", 7, 1 },
	{ "several --pmc", 7, 13 },
};

static void rocprofv3_options(const char *rocm, char ret[RK_OPTIONS_TEXT])
{
	struct rk_version v = { 0, 0, 0 };
	size_t at = 0;

	if (!rk_version_parse(rocm, &v)) {
		snprintf(ret, RK_OPTIONS_TEXT, "release not known: spoken to like the newest");
		return;
	}
	for (int has = 1; has >= 0; has--) {
		bool some = false;

		for (size_t i = 0; i < sizeof(features) / sizeof(features[0]); i++) {
			const struct feature *f = &features[i];

			if (rk_version_since(v, f->major, f->minor) != has || at >= RK_OPTIONS_TEXT)
				continue;
			at += (size_t)snprintf(ret + at, RK_OPTIONS_TEXT - at, "%s%s",
					       some ? ", " :
					       has  ? "has " :
					       at   ? "; lacks " :
						      "lacks ",
					       f->word);
			some = true;
		}
	}
}

void rk_options_of(const char *name, const char *rocm, char ret[RK_OPTIONS_TEXT])
{
	static const char *const lines[][2] = {
		{ "rocprofv2", "HIP, HSA, kernel, copy and marker traces, counters; no --" },
		{ "rocprof",
		  "HIP, HSA, kernel, copy and marker traces, counters; no --, one process" },
		{ "rocprof-compute", "its own metrics and roofline, many runs of the program" },
		{ "omniperf", "its own metrics and roofline, many runs of the program" },
		{ "rocprof-sys-sample", "CPU call stacks beside GPU traces" },
		{ "omnitrace-sample", "CPU call stacks beside GPU traces" },
	};

	ret[0] = '\0';
	if (!strcmp(name, "rocprofv3")) {
		rocprofv3_options(rocm, ret);
		return;
	}
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		if (!strcmp(name, lines[i][0]))
			snprintf(ret, RK_OPTIONS_TEXT, "%s", lines[i][1]);
	if (!strncmp(name, "rocprofv", 8) && name[8] > '3' && !name[9])
		snprintf(ret, RK_OPTIONS_TEXT, "newer than this rockit knows");
}
