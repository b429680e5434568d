/* pack_table.h - data/pack/packages.json: which packages there are and what belongs to them. */
#ifndef RK_PACK_TABLE_H
#define RK_PACK_TABLE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"

enum rk_pack_role { RK_PACK_META, RK_PACK_RUNTIME, RK_PACK_DEVICE, RK_PACK_DEVEL };

/* Artifacts: any of `names` with any of `components` (bits of enum rk_component). */
struct rk_pack_take {
	const char *const *names; /* NULL at the end */
	unsigned components;
};

struct rk_pack_rpath {
	const char *kind; /* logical name of the package */
	const char *dir;  /* in its platform tree */
};

/* A name that programs dlopen or preload: `pattern` (glob of real libraries) loses its version. */
struct rk_pack_alias {
	const char *pattern;
	bool copy; /* the library again (it is preloaded), not a stub */
};

struct rk_pack_script {
	const char *name; /* "amdclang++" */
	const char *path; /* what it starts: "lib/llvm/bin/amdclang++" */
	bool plain;       /* never waits for the devel package to be expanded */
};

struct rk_pack_kind {
	const char *logical; /* "core" */
	enum rk_pack_role role;
	bool required;
	bool per_family;        /* legacy mode: one for each family */
	const char *dist;       /* "rocm-sdk-libraries-{family}" */
	const char *dist_kpack; /* "rocm-sdk-libraries" */
	const char *summary;
	struct rk_pack_take *takes;
	size_t ntakes;
	const char *const *include, *const *exclude; /* globs, NULL at the end */
	struct rk_pack_rpath *rpaths;
	size_t nrpaths;
	struct rk_pack_alias *aliases;
	size_t naliases;
	struct rk_pack_script *scripts;
	size_t nscripts;
};

struct rk_pack_table {
	struct rk_pack_kind *kinds;
	size_t n;
};

/*
 * The built-in table; `profiler` renames the profiler's distribution (NULL: rocm-sdk-profiler). RK_E_USAGE for
 * a name that cannot be one.
 */
int rk_pack_table_load(struct rk_arena *a, const char *profiler, const struct rk_pack_table **ret,
		       struct rk_error *err);
const struct rk_pack_kind *rk_pack_table_find(const struct rk_pack_table *t, const char *logical);

/* ** is any number of folders, also none, * and ? stay inside one; "x/ **" (no blank) is x and all below. */
bool rk_pack_glob(const char *pattern, const char *path);

#endif
