/* pack_table.h - data/pack/packages.json: which packages exist and what belongs to them. */
#ifndef RK_PACK_TABLE_H
#define RK_PACK_TABLE_H

#include <stdbool.h>

#include "base/alloc.h"
#include "base/error.h"

enum rk_pack_role { RK_PACK_META, RK_PACK_RUNTIME, RK_PACK_DEVICE, RK_PACK_DEVEL };

/* Selects artifacts: any of `names` with any of `components` (bits of enum rk_component). */
struct rk_pack_take {
	const char *const *names; /* ends with NULL */
	unsigned components;
	bool extra; /* these alone do not make a package */
};

struct rk_pack_rpath {
	const char *kind; /* logical name of the package */
	const char *dir;  /* folder in its platform tree */
};

/*
 * Names that programs dlopen or preload: those of libraries matching the glob `pattern`, without
 * the version.
 */
struct rk_pack_alias {
	const char *pattern;
	bool copy; /* a copy of the library (because it is preloaded) instead of a stub */
};

/* A name that is added if it does not exist but its target does. Both are paths in the tree. */
struct rk_pack_link {
	const char *path, *target;
};

/* An extra of the package; its requirements are the lines of a file in the tree. */
struct rk_pack_extra {
	const char *name, *file;
};

/*
 * If the tree has `package` in a folder that matches `site`, the Python packages of the first such
 * folder can be imported: the wheel also has them at its top. `requires` ends with NULL.
 */
struct rk_pack_python {
	const char *site, *package;
	const char *const *requires;
};

/* A console script. A package only gets scripts whose program it has. */
struct rk_pack_script {
	const char *name; /* "amdclang++" */
	const char *path; /* the program it starts: "lib/llvm/bin/amdclang++" */
	bool plain;       /* runs without expanding the devel package */
	bool required;    /* essential: the package description mentions it when it is missing */
};

struct rk_pack_kind {
	const char *logical; /* "core" */
	enum rk_pack_role role;
	bool required;          /* the meta package always requires it */
	bool must_exist;        /* an error if there are no artifacts for it */
	bool per_family;        /* legacy mode: one per family; device: one per target */
	const char *dist;       /* "rocm-sdk-libraries-{family}" */
	const char *dist_kpack; /* "rocm-sdk-libraries"; same as dist if the table has none */
	const char *module;     /* pure Python package; "": none; NULL: dist with '_' */
	const char *overlays;   /* kind whose platform folder it fills; NULL: its own */
	const char *summary;
	struct rk_pack_take *takes;
	size_t ntakes;
	const char *const *include, *const *exclude; /* globs, end with NULL */
	struct rk_pack_rpath *rpaths;
	size_t nrpaths;
	struct rk_pack_alias *aliases;
	size_t naliases;
	struct rk_pack_extra *extras;
	size_t nextras;
	struct rk_pack_python *python;
	size_t npython;
	struct rk_pack_link *links;
	size_t nlinks;
	struct rk_pack_script *scripts;
	size_t nscripts;
	/* devel: names beyond those of runtime packages; names it never uses */
	const char *const *also, *const *also_kpack, *const *never;
	unsigned components, components_kpack;
};

struct rk_pack_table {
	struct rk_pack_kind *kinds;
	size_t n;
};

/*
 * Loads the built-in table. `profiler` renames the profiler's distribution (NULL:
 * rocm-sdk-profiler). RK_E_USAGE for an invalid name.
 */
int rk_pack_table_load(struct rk_arena *a, const char *profiler, const struct rk_pack_table **ret,
		       struct rk_error *err);
const struct rk_pack_kind *rk_pack_table_find(const struct rk_pack_table *t, const char *logical);

/*
 * The function in _cli.py for a console script: '+' becomes 'p', other characters except letters
 * and digits become '_' ("amdclang++" is amdclangpp). NULL: no memory.
 */
const char *rk_pack_script_function(struct rk_arena *a, const char *script);

/*
 * Names derived from the kind, the family ("": none) and the suffix of platform folders:
 * "rocm-sdk-core", "rocm_sdk_core", "_rocm_sdk_core". NULL: no memory. meta has no platform folder:
 * "".
 */
const char *rk_pack_dist_name(struct rk_arena *a, const struct rk_pack_kind *k, bool kpack,
			      const char *family);
const char *rk_pack_module_name(struct rk_arena *a, const struct rk_pack_kind *k, bool kpack,
				const char *family);
const char *rk_pack_platform_name(struct rk_arena *a, const struct rk_pack_table *t,
				  const struct rk_pack_kind *k, bool kpack, const char *family,
				  const char *nonce);

#endif
