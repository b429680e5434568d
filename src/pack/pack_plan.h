/*
 * pack_plan.h - which file goes into which package, and how. The plan is plain data; nothing is
 * written before it is complete.
 */
#ifndef RK_PACK_PLAN_H
#define RK_PACK_PLAN_H

#include "rockit/pack.h"

#include "pack/artifacts.h"
#include "pack/content.h"
#include "pack/pack_table.h"

enum rk_pack_action {
	RK_PACK_COPY,     /* unchanged */
	RK_PACK_EDIT,     /* ELF file with a new run path */
	RK_PACK_RESOLVED, /* a link, replaced by a copy of its target */
	RK_PACK_LAUNCHER, /* a link to a program, replaced by a launcher */
	RK_PACK_STUB,     /* an alias library that programs dlopen */
	RK_PACK_MADE,     /* metadata and Python files */
	/* only in the devel archive: */
	RK_PACK_DIR,
	RK_PACK_LINK,
	/* not written: */
	RK_PACK_ALIAS, /* another name of a library: devel has a link for it */
	RK_PACK_DROP,
};

extern const char *const rk_pack_action_names[]; /* indexed by value */

struct rk_pack_item {
	const char *path; /* path in the install tree */
	enum rk_pack_action action;
	uint32_t mode;                    /* permission bits, owner may write */
	const struct rk_content *content; /* NULL when nothing is written */
	/* NULL if nothing is written */
	const char *link;
	/* for people: "rpath '...' (segment, +312 bytes)", "runs ../lib/x", or "" */
	const char *edit;
	const char *reason; /* for people: "SONAME", "link to a program", ... */
	/*
	 * the source of the bytes (for a link: its target), or the file left out; NULL: generated
	 */
	const struct rk_entry *entry;
};

/* A requirement of a distribution: "pyelftools>=0.31". */
struct rk_pack_need {
	const char *extra; /* "": always installed */
	const char *text;  /* "": the extra has no requirements */
};

/* A folder of the tree whose files the wheel also has at its top, under `name`. */
struct rk_pack_top {
	const char *dir, *name; /* "lib/python3/site-packages/x", "x" */
};

/* One distribution. */
struct rk_dist {
	const struct rk_pack_kind *kind;
	const char *family;   /* "" if none */
	const char *dist;     /* "rocm-sdk-libraries-gfx94X-dcgpu" */
	const char *platform; /* folder of the platform tree: "_rocm_sdk_core"; "" for meta */
	const char *module;   /* pure Python package: "rocm_sdk_core" */
	const char *subdir;   /* below dist/: "" or the family */
	uint16_t machine;     /* machine of its ELF files; 0: none */
	/* in wheel order: files of a folder by name, then its folders */
	struct rk_pack_item *items;
	size_t n, cap;
	struct rk_pack_need *needs; /* of runtime packages, sorted by extra */
	size_t nneeds, cap_needs;
	struct rk_pack_top *tops; /* sorted by name */
	size_t ntops, cap_tops;
};

struct rk_pack_plan {
	struct rk_arena *arena;
	struct rk_artifacts *artifacts;
	const struct rk_pack_table *table;
	struct rk_diag *diag;
	bool kpack;
	const char *version;   /* PEP 440, normalised */
	const char *nonce;     /* --version-suffix, or "" */
	const char **families; /* families of the artifacts, sorted; kpack: base targets */
	size_t nfamilies;
	uint16_t machine;                /* machine of all ELF files; 0 if there are none */
	const struct rk_pack_left *left; /* files in no package */
	size_t nleft;
	/* in build order: core, profiler, libraries, device, meta, devel */
	struct rk_dist *dists;
	size_t ndists;
};

/*
 * `version` must be normalised; NULL: the version of the artifacts plus ".dev0" (RK_E_USAGE if they
 * have none). Everything in *ret lives until rk_pack_plan_free.
 */
int rk_pack_plan_make(const struct rk_pack_options *o, const char *version,
		      struct rk_pack_plan **ret, struct rk_error *err);
void rk_pack_plan_free(struct rk_pack_plan *p); /* NULL is fine */

#endif
