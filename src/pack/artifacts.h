/* artifacts.h - the output of a ROCm build: folders and archives NAME_COMPONENT_FAMILY. */
#ifndef RK_ARTIFACTS_H
#define RK_ARTIFACTS_H

#include <stdbool.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "pack/content.h"

enum rk_component {
	RK_COMPONENT_LIB,
	RK_COMPONENT_RUN,
	RK_COMPONENT_DBG,
	RK_COMPONENT_DEV,
	RK_COMPONENT_DOC,
	RK_COMPONENT_TEST,
	RK_NCOMPONENTS,
};

extern const char *const rk_component_names[]; /* indexed by value, ends with NULL */

enum rk_entry_kind { RK_ENTRY_FILE, RK_ENTRY_DIR, RK_ENTRY_LINK };

/* Links that cannot be packed: to an absolute path, or out of the tree with "..". */
enum rk_link_fault { RK_LINK_FINE, RK_LINK_ABSOLUTE, RK_LINK_ESCAPES };

struct rk_file_facts;

/* A file in the install tree, from one stage of one artifact. */
struct rk_entry {
	const char *path; /* in the install tree: "lib/libx.so.1"; never absolute, no "." or ".." */
	enum rk_entry_kind kind;
	uint32_t mode;                  /* permission bits */
	const char *link;               /* the text of a link, else NULL */
	const struct rk_origin *origin; /* for files, else NULL */
	uint32_t stage;                 /* number over all artifacts */
	const struct rk_artifact *artifact;
	enum rk_link_fault fault; /* for links */
	bool said;                /* already warned about it */
	unsigned uses;            /* number of packages that contain it (pack_overlay.c) */
	const char *left; /* for people: why no package contains it; NULL: no rule matches */
	const struct rk_file_facts *facts; /* for files, filled on first use (pack_items.c) */
};

struct rk_artifact {
	const char *name, *family; /* "core-hip", "generic" */
	enum rk_component component;
	const char *label; /* the folder's or archive's name */
	bool archive;
	bool read;                /* the filter selected it and its entries are filled */
	struct rk_arena *arena;   /* owns the entries */
	struct rk_entry *entries; /* sorted by stage, then by path (bytewise) */
	size_t nentries;
};

struct rk_artifacts {
	struct rk_arena *arena;
	struct rk_spill *spill; /* NULL when there are no archives */
	struct rk_artifact *v;  /* sorted by name, component, family; never in file system order */
	size_t n;
	bool kpack;          /* flags.KPACK_SPLIT_ARTIFACTS of therock_manifest.json */
	const char *version; /* from base's .info/version, or NULL */
};

/* Should this artifact be read? Others are known by name only. `kpack`: see rk_artifacts. */
struct rk_artifact_filter {
	bool (*want)(const void *arg, const struct rk_artifact *a, bool kpack);
	const void *arg;
};

/*
 * Reads the names, links and sizes of the artifacts that `filter` selects (NULL: all). The contents
 * of archives are unpacked into a spill in `tmpdir`. Up to `jobs` artifacts are read in parallel.
 * It warns about skipped artifacts (no manifest, unexpected name format) and about links that lead
 * out of the tree. These are errors that name the file: an archive and a folder with the same name,
 * an unknown component, a member outside the listed stages, a name that is not UTF-8 or has control
 * characters, a file that is not a regular file, folder or link.
 */
int rk_artifacts_open(const char *dir, const char *tmpdir, unsigned jobs,
		      const struct rk_artifact_filter *filter, struct rk_diag *diag,
		      struct rk_artifacts **ret, struct rk_error *err);
void rk_artifacts_free(struct rk_artifacts *a); /* NULL is fine */

/*
 * The entry that a link finally resolves to, inside its own stage only. NULL: the link dangles,
 * leads out of the tree or loops; *ret_why says which (static text).
 */
const struct rk_entry *rk_artifacts_resolve(const struct rk_entry *link, const char **ret_why);
/*
 * The same for any tree: `find` returns the entry at a path, or NULL. The root is an entry with
 * path "".
 */
typedef const struct rk_entry *rk_entry_find_fn(const void *tree, const char *path);
const struct rk_entry *rk_entry_resolve(rk_entry_find_fn *find, const void *tree,
					const struct rk_entry *link, const char **ret_why);
extern const char rk_link_dangles[], rk_link_absolute[], rk_link_leaves[], rk_link_circle[];

/* Can a package contain a file with this name? It must be UTF-8 without control characters. */
bool rk_artifact_name_fits(const char *s);

/* Length of "gfx942" in "gfx942:xnack+". */
size_t rk_family_base(const char *family);

#endif
