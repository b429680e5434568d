/* detect_places.c - where profilers are installed. */
#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tool/detect_impl.h"

enum { MAX_NAMES = 256, MAX_ENTRIES = 20000 };

/* Names before which no version is read ("python3.12", "rocm-6.4.1"): digits begin it. */
static struct rk_version version_in(const char *name)
{
	struct rk_version v = { 0, 0, 0 };

	name += strcspn(name, "0123456789");
	rk_version_parse(name, &v);
	return v;
}

static void sort_newest_first(struct rk_list *l)
{
	for (size_t i = 1; i < l->n; i++) {
		char *name = l->v[i];
		size_t j = i;

		for (; j > 0 && rk_version_compare(version_in(l->v[j - 1]), version_in(name)) < 0;
		     j--)
			l->v[j] = l->v[j - 1];
		l->v[j] = name;
	}
}

bool rk_path_put(char ret[PATH_MAX], const char *fmt, ...)
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

void rk_names_below(const char *dir, const char *prefix, struct rk_list *ret)
{
	DIR *d = opendir(dir);
	const struct dirent *e;

	for (unsigned n = 0; d && n < MAX_ENTRIES && ret->n < MAX_NAMES && (e = readdir(d)); n++)
		if (!strncmp(e->d_name, prefix, strlen(prefix)) && e->d_name[0] != '.')
			rk_list_add(ret, e->d_name);
	if (d)
		closedir(d);
	sort_newest_first(ret);
}

static bool is_directory(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

static void add(struct rk_places *p, const char *label, const char *dir)
{
	if (!is_directory(dir))
		return;
	rk_list_add(&p->dirs, dir);
	rk_list_add(&p->labels, label);
}

/* Lists that were cut short for want of memory make the answer one, too. */
static void drop(struct rk_places *p, struct rk_list *l)
{
	p->dirs.bad = p->dirs.bad || l->bad;
	rk_list_release(l);
}

static void add_path(struct rk_places *p, const char *path)
{
	struct rk_list parts = { 0 };

	rk_list_split(&parts, path, ":");
	for (size_t i = 0; i < parts.n; i++)
		add(p, "PATH", parts.v[i]);
	drop(p, &parts);
}

/* TheRock's builds leave one of two files. */
static const char *brand(const char *prefix)
{
	static const char *const marks[] = { "dist_info.json", "therock_manifest.json" };
	char file[PATH_MAX];
	struct stat st;

	for (unsigned i = 0; i < 2; i++) {
		rk_path_put(file, "%s/share/therock/%s", prefix, marks[i]);
		if (!stat(file, &st))
			return " (TheRock)";
	}
	return "";
}

/* <prefix>/bin; a prefix that is too long for a path is not one. */
static void add_prefix(struct rk_places *p, const char *label, const char *prefix)
{
	char dir[PATH_MAX], name[PATH_MAX];

	if (rk_path_put(dir, "%s/bin", prefix) && rk_path_put(name, "%s%s", label, brand(prefix)))
		add(p, name, dir);
}

static void add_variables(struct rk_places *p)
{
	static const char *const names[] = { "ROCM_PATH", "ROCM_HOME", "HIP_PATH" };

	for (unsigned i = 0; i < 3; i++) {
		const char *prefix = getenv(names[i]);

		if (prefix && *prefix == '/')
			add_prefix(p, names[i], prefix);
	}
}

/* <root><dir>/<prefix>*<tail>, each called by its path without the root. */
static void add_each(struct rk_places *p, const char *root, const char *dir, const char *prefix,
		     const char *tail)
{
	struct rk_list names = { 0 };
	char path[PATH_MAX], label[PATH_MAX];

	rk_path_put(path, "%s%s", root, dir);
	rk_names_below(path, prefix, &names);
	for (size_t i = 0; i < names.n; i++) {
		rk_path_put(path, "%s%s/%s%s", root, dir, names.v[i], tail);
		rk_path_put(label, "%s/%s", dir, names.v[i]);
		add(p, label, path);
	}
	drop(p, &names);
}

static void add_system(struct rk_places *p, const char *root)
{
	static const char *const prefixes[] = { "/opt/rocm", "/usr/local/rocm" };
	char path[PATH_MAX];

	for (unsigned i = 0; i < 2; i++) {
		rk_path_put(path, "%s%s", root, prefixes[i]);
		add_prefix(p, prefixes[i], path);
	}
	add_each(p, root, "/opt", "rocm-", "/bin");
	add_each(p, root, "/opt/rocm", "core-", "/bin");
	add_each(p, root, "/opt/nvidia/nsight-systems", "", "/bin");
	add_each(p, root, "/opt/nvidia/nsight-compute", "", "");
	add_each(p, root, "/usr/local", "cuda", "/bin");
}

static void add_home(struct rk_places *p)
{
	static const char *const below[] = { "rocm", "therock", ".local/rocm" };
	const char *home = getenv("HOME");
	char path[PATH_MAX];

	for (unsigned i = 0; home && *home == '/' && i < 3; i++) {
		rk_path_put(path, "%s/%s", home, below[i]);
		add_prefix(p, path, path);
	}
}

/* "wheel rocm-sdk-core 7.0.0": the version stands in the name of the wheel's dist-info. */
static void wheel_label(struct rk_places *p, const char *site, const char *folder,
			char ret[PATH_MAX])
{
	const char *package = folder + 1; /* _rocm_sdk_core */
	struct rk_list names = { 0 };
	const char *version = "", *end;
	char prefix[PATH_MAX];

	if (rk_path_put(prefix, "%s-", package))
		rk_names_below(site, prefix, &names);
	if (names.n)
		version = names.v[0] + strlen(prefix);
	end = strstr(version, ".dist-info");
	rk_path_put(ret, "wheel %s%s%.*s", package, *version ? " " : "",
		    (int)(end ? (size_t)(end - version) : strlen(version)), version);
	for (size_t i = strlen("wheel "); i < strlen("wheel ") + strlen(package) && ret[i]; i++)
		if (ret[i] == '_')
			ret[i] = '-';
	drop(p, &names);
}

static void add_wheels(struct rk_places *p, const char *site)
{
	static const char *const packages[] = { "_rocm_sdk_core", "_rocm_profiler" };
	struct rk_list names = { 0 };
	char path[PATH_MAX], label[PATH_MAX];

	for (unsigned i = 0; i < 2; i++)
		rk_names_below(site, packages[i], &names);
	for (size_t i = 0; i < names.n; i++) {
		rk_path_put(path, "%s/%s/bin", site, names.v[i]);
		wheel_label(p, site, names.v[i], label);
		add(p, label, path);
	}
	drop(p, &names);
}

/* <prefix>/lib/python3*: site-packages, and dist-packages where Debian put them. */
static void add_python(struct rk_places *p, const char *prefix)
{
	static const char *const kinds[] = { "site-packages", "dist-packages" };
	struct rk_list names = { 0 };
	char path[PATH_MAX];

	rk_path_put(path, "%s/lib", prefix);
	rk_names_below(path, "python3", &names);
	for (size_t i = 0; i < names.n; i++) {
		for (unsigned k = 0; k < 2; k++) {
			rk_path_put(path, "%s/lib/%s/%s", prefix, names.v[i], kinds[k]);
			add_wheels(p, path);
		}
	}
	drop(p, &names);
}

static void add_pythons(struct rk_places *p, const char *root)
{
	static const char *const variables[] = { "VIRTUAL_ENV", "CONDA_PREFIX" };
	static const char *const prefixes[] = { "/usr", "/usr/local" };
	const char *home = getenv("HOME");
	char path[PATH_MAX];

	for (unsigned i = 0; i < 2; i++) {
		const char *prefix = getenv(variables[i]);

		if (prefix && *prefix == '/')
			add_python(p, prefix);
	}
	if (home && *home == '/') {
		rk_path_put(path, "%s/.local", home);
		add_python(p, path);
	}
	for (unsigned i = 0; i < 2; i++) {
		rk_path_put(path, "%s%s", root, prefixes[i]);
		add_python(p, path);
	}
}

void rk_places_find(struct rk_places *p, const char *root, const char *path)
{
	add_path(p, path);
	add_variables(p);
	add_system(p, root);
	add_pythons(p, root);
	add_home(p);
}

void rk_places_release(struct rk_places *p)
{
	rk_list_release(&p->dirs);
	rk_list_release(&p->labels);
}
